// Random decrements of lines of automata, written once over the lane types of an instruction set.
// Included by kernels.inl.

namespace {

// Each lane is hit with probability hit_threshold / 2^32, compared byte by byte: further bytes are
// drawn only while some lane is undecided.
Mask draw_hits(const DecrementTables& law, const Stream& stream, std::uint32_t& index) {
  if (law.hit_threshold >> 32) return Mask::of(~0ULL);
  const auto p = static_cast<std::uint32_t>(law.hit_threshold);
  const Bytes first = stream.at(index++);
  Mask hit = first.below(static_cast<std::uint8_t>(p >> 24));
  Mask open = first.equal(static_cast<std::uint8_t>(p >> 24));
  for (int shift = 16; shift >= 0 && open.any(); shift -= 8) {
    const Bytes next = stream.at(index++);
    hit = hit | (open & next.below(static_cast<std::uint8_t>(p >> shift)));
    open = open & next.equal(static_cast<std::uint8_t>(p >> shift));
  }
  return hit;
}

// The lanes that each of kWindow trials hits, with the same law. One vector of second bytes serves
// the lanes that the first bytes leave undecided in one trial; where a lane is undecided in two of
// them, each trial has second bytes of its own. So the first bytes alone decide who uses which.
NEWFOUND_INLINE inline void draw_window(const DecrementTables& law, const Stream& stream,
                                        std::uint32_t index, Mask (&hit)[kWindow]) {
  if (law.hit_threshold >> 32) {
    for (Mask& trial : hit) trial = Mask::of(~0ULL);
    return;
  }
  const auto p = static_cast<std::uint32_t>(law.hit_threshold);
  const auto byte = [&](int i) { return static_cast<std::uint8_t>(p >> (24 - 8 * i)); };
  Mask open[kWindow], once = Mask::of(0), twice = Mask::of(0);
  NEWFOUND_UNROLL for (std::uint32_t t = 0; t < kWindow; ++t) {
    const Bytes first = stream.at(index + t);
    hit[t] = first.below(byte(0));
    open[t] = first.equal(byte(0));
    twice = twice | (once & open[t]);
    once = once | open[t];
  }
  int decided = 1;
  if (!twice.any()) {
    const Bytes second = stream.at(index + kWindow);
    const Mask below = second.below(byte(1)), equal = second.equal(byte(1));
    NEWFOUND_UNROLL for (std::uint32_t t = 0; t < kWindow; ++t) {
      hit[t] = hit[t] | (open[t] & below);
      open[t] = open[t] & equal;
    }
    if (!(once & equal).any()) return;
    decided = 2;
  }
  for (std::uint32_t t = 0; t < kWindow; ++t)
    for (int i = decided; i < 4 && open[t].any(); ++i) {
      const Bytes next = stream.at(index + kWindow + 1 + 3 * t + static_cast<std::uint32_t>(i - 1));
      hit[t] = hit[t] | (open[t] & next.below(byte(i)));
      open[t] = open[t] & next.equal(byte(i));
    }
}

// Draws what no byte of a BinomialTable decided.
std::uint8_t draw_last(const BinomialTable& table, double u) {
  std::uint32_t d = 0;
  while (d + 1 < table.n_last && u >= table.last[d]) ++d;
  d += table.last_first;
  return static_cast<std::uint8_t>(d < 255 ? d : 255);  // no automaton can go down further
}

// The rare end of decrement_batch: draws for the lanes of `d` that are left over. Where two lines
// of a pair had left over the same lane (`collision`), the second and third byte are still to be
// used, by each line its own.
template <int n>
NEWFOUND_NOINLINE void draw_leftover(Lanes (&d)[n], const BinomialTable* const (&table)[n],
                                     bool collision, const Stream& stream,
                                     const std::uint32_t (&index)[n]) {
  for (int i = 0; i < n; ++i) {
    Mask open = d[i].included();
    for (std::uint32_t byte = 1; collision && byte < BinomialTable::kBytes && open.any(); ++byte) {
      d[i].replace(open, stream.at(index[i] + byte).look_up(table[i]->byte[byte]));
      open = d[i].included();
    }
    if (!open.any()) continue;
    alignas(64) std::uint8_t draw[kLine];
    d[i].store(draw);
    for (std::uint64_t lanes = open.bits(); lanes; lanes &= lanes - 1) {
      const std::uint32_t lane = lowest_bit(lanes);
      const std::uint64_t at = (static_cast<std::uint64_t>(index[i]) << 8) + lane;
      draw[lane] = draw_last(*table[i], to_unit(mix64(stream.key(), at)));
    }
    d[i] = Lanes::load(draw);
  }
}

// Lowers each of n lines by a draw from its table, clamped at 0. Line i uses the bytes at index[i].
// For lanes that these leave over, the second and third byte are shared by a pair of lines, unless
// both lines left over the same lane: so no byte serves two lanes, and the first bytes alone decide
// who uses which. `low`: many automata are expected at 0, where no draw matters.
template <int n, bool low>
NEWFOUND_INLINE inline void decrement_batch(Lanes (&x)[n], const BinomialTable* const (&table)[n],
                                            bool same, const Stream& stream,
                                            const std::uint32_t (&index)[n]) {
  static_assert(ByteLaw::kLeftover == kInclude);  // so that included() finds the lanes left over
  Lanes d[n];
  Mask open[n], twice = Mask::of(0), any = Mask::of(0);
  NEWFOUND_UNROLL for (int i = 0; i < n; ++i) {
    d[i] = stream.at(index[i]).look_up(table[i]->byte[0]);
    if (low) d[i].keep(x[i].positive());
    open[i] = d[i].included();
    if (i & 1) twice = twice | (open[i - 1] & open[i]);
  }
  const bool collision = twice.any();
  for (std::uint32_t byte = 1; byte < BinomialTable::kBytes && !collision; ++byte) {
    any = Mask::of(0);
    Bytes u;
    Lanes next;
    NEWFOUND_UNROLL for (int i = 0; i < n; ++i) {
      if (!(i & 1)) u = stream.at(index[i] + byte);
      if (!(i & 1) || !same) next = u.look_up(table[i]->byte[byte]);
      d[i].replace(open[i], next);
      open[i] = d[i].included();
      any = any | open[i];
    }
    if (!any.any()) break;
  }
  if ((twice | any).any()) {
    // Copies, so that the originals can stay in registers.
    Lanes draws[n];
    const BinomialTable* from[n];
    std::uint32_t at[n];
    for (int i = 0; i < n; ++i) {
      draws[i] = d[i];
      from[i] = table[i];
      at[i] = index[i];
    }
    draw_leftover<n>(draws, from, collision, stream, at);
    for (int i = 0; i < n; ++i) d[i] = draws[i];
  }
  NEWFOUND_UNROLL for (int i = 0; i < n; ++i) x[i].lower_by(d[i]);
}

// Lowers every lane by Binomial(trials, 1/s), clamped at 0.
inline void decrement(Lanes& x, std::uint32_t trials, const DecrementTables& law,
                      const Stream& stream, std::uint32_t& index) {
  while (trials > 0 && !x.zero()) {
    const std::uint32_t k = trials < law.max_step ? trials : law.max_step;
    Lanes lines[1] = {x};
    decrement_batch<1, true>(lines, {&law.binomial[k]}, true, stream, {index});
    x = lines[0];
    index += BinomialTable::kBytes;
    trials -= k;
  }
}

// A Type Ia event: true literals go up unless hit, or always if boosted; false ones down if hit.
void reinforce_lanes(Lanes& x, Mask up, bool boost, const DecrementTables& law,
                     const Stream& stream, std::uint32_t& index) {
  const Mask hit = draw_hits(law, stream, index);
  x.lower(without(hit, up));
  x.raise(boost ? up : without(up, hit));
}

}  // namespace
