// The kernels, written once over the lane types of an instruction set. Included by
// kernels_<set>.cpp after `Lanes`, `Mask`, `Random`, `Random16` and `advance16` are in scope.

namespace {

// Each lane is hit with probability hit_threshold / 2^32, compared byte by byte: further bytes are
// drawn only while some lane is undecided.
Mask hits(const DecrementLaw& law, std::uint64_t key, std::uint32_t& index) {
  if (law.hit_threshold() >> 32) return Mask::of(~0ULL);
  const auto p = static_cast<std::uint32_t>(law.hit_threshold());
  Random first(key, index++);
  Mask hit = first.below(static_cast<std::uint8_t>(p >> 24));
  Mask open = first.equal(static_cast<std::uint8_t>(p >> 24));
  for (int shift = 16; shift >= 0 && open.any(); shift -= 8) {
    Random next(key, index++);
    hit = hit | (open & next.below(static_cast<std::uint8_t>(p >> shift)));
    open = open & next.equal(static_cast<std::uint8_t>(p >> shift));
  }
  return hit;
}

void lower_leftover(Lanes& x, std::uint64_t lanes, const BinomialTable& table, std::uint64_t key,
                    std::uint32_t index) {
  alignas(64) std::uint8_t state[kLine];
  x.store(state);
  for (; lanes; lanes &= lanes - 1) {
    const std::uint32_t lane = lowest_bit(lanes);
    const double u = to_unit(mix64(key, (static_cast<std::uint64_t>(index) << 8) + lane));
    std::uint32_t d = 0;
    while (d + 1 < table.leftover.size() && u >= table.leftover[d]) ++d;
    d += table.leftover_first;
    state[lane] = static_cast<std::uint8_t>(state[lane] > d ? state[lane] - d : 0);
  }
  x = Lanes::load(state);
}

// Every lane goes down by Binomial(trials, 1/s), clamped at 0.
inline void decrement(Lanes& x, std::uint32_t trials, const DecrementLaw& law, std::uint64_t key,
                      std::uint32_t& index) {
  while (trials > 0) {
    const std::uint32_t k = trials < law.max_step() ? trials : law.max_step();
    const BinomialTable& table = law.binomial(k);
    const Random16 u(key, index);
    index += 2;
    const std::uint64_t leftover = u.below(static_cast<std::uint16_t>(table.residual));
    const Lanes before = x;
    // Low lines need only know whether a lane goes down by one, or by two or more.
    const std::uint32_t cells = x.at_least(3) || table.cells < 2 ? table.cells : 2;
    x.lower_by(u.count(table.edge, cells), table.least);
    if (leftover) {
      x.restore(before, Mask::of(leftover));
      lower_leftover(x, leftover, table, key, index);
    }
    trials -= k;
    if (trials > 0 && x.zero()) return;
  }
}

void reinforce_lanes(Lanes& x, Mask up, bool boost, const DecrementLaw& law, std::uint64_t key,
                     std::uint32_t& index) {
  const Mask hit = hits(law, key, index);
  x.lower(without(hit, up));
  x.raise(boost ? up : without(up, hit));
}

std::uint64_t settle(std::uint8_t* line, std::uint32_t trials, const DecrementLaw& law,
                     std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0;
  decrement(x, trials, law, key, index);
  x.store(line);
  return x.included();
}

// The same for two lines with as many trials, so that the processor can overlap them.
inline void decrement_pair(Lanes& x, Lanes& y, std::uint32_t trials, const DecrementLaw& law,
                           std::uint64_t key, std::uint32_t& index_x, std::uint32_t& index_y) {
  if (trials == 0) return;
  if (trials > law.max_step()) {
    decrement(x, trials, law, key, index_x);
    decrement(y, trials, law, key, index_y);
    return;
  }
  const BinomialTable& table = law.binomial(trials);
  const Random16 u(key, index_x), v(key, index_y);
  index_x += 2;
  index_y += 2;
  const std::uint64_t left_x = u.below(static_cast<std::uint16_t>(table.residual));
  const std::uint64_t left_y = v.below(static_cast<std::uint16_t>(table.residual));
  const Lanes before_x = x, before_y = y;
  const bool low = !x.at_least(3) && !y.at_least(3) && table.cells > 2;
  const std::uint32_t cells = low ? 2 : table.cells;
  const auto [down_x, down_y] = count_pair(u, v, table.edge, cells);
  x.lower_by(down_x, table.least);
  y.lower_by(down_y, table.least);
  if (left_x) {
    x.restore(before_x, Mask::of(left_x));
    lower_leftover(x, left_x, table, key, index_x);
  }
  if (left_y) {
    y.restore(before_y, Mask::of(left_y));
    lower_leftover(y, left_y, table, key, index_y);
  }
}

// Whether a line may be raised with its trials still to come: if all of them hit, no lane would
// fall below 0, and none is raised to include its literal. Then the order does not matter.
inline bool can_wait(const Lanes& x, std::uint32_t trials, std::uint64_t valid) {
  return trials < kInclude - 3 && !x.at_least(kInclude - 1) &&
         (x.below(static_cast<std::uint8_t>(trials + 2)) & valid) == 0;
}

void event(const RowView& row, std::uint16_t now, const Documents::Block* begin,
           const Documents::Block* end, bool reinforce, bool boost, const DecrementLaw& law,
           std::uint64_t key) {
  constexpr std::uint32_t kAhead = 24;
  const Documents::Block* next = begin;
  const auto apply = [&](Lanes& x, std::uint64_t up, std::uint32_t line, std::uint32_t& index) {
    row.seen[line] = now;
    if (reinforce && (boost || x.at_least(255))) {
      reinforce_lanes(x, Mask::of(up), boost, law, key, index);
    } else {
      // Away from the upper clamp, Type Ia is: raise `up`, then a trial for every lane.
      x.raise(Mask::of(up));
      if (reinforce) row.seen[line] = static_cast<std::uint16_t>(now - 1);
    }
    x.store(row.states + line * kLine);
    return x.included();
  };
  for (std::uint32_t b = 0; b < row.n_blocks; ++b) {
    // The hardware's prefetcher stops at every page; this one does not.
    prefetch(row.states + (2 * b + kAhead) * kLine);
    prefetch(row.states + (2 * b + kAhead + 1) * kLine);
    std::uint64_t present = 0;
    if (next != end && next->index == b) present = next++->words;
    const std::uint64_t absent = ~present & (b + 1 == row.n_blocks ? row.last_valid : ~0ULL);
    Lanes plain = Lanes::load(row.states + 2 * b * kLine);
    Lanes negated = Lanes::load(row.states + (2 * b + 1) * kLine);
    const auto plain_trials = static_cast<std::uint32_t>(now - row.seen[2 * b]);
    const auto negated_trials = static_cast<std::uint32_t>(now - row.seen[2 * b + 1]);
    std::uint32_t plain_index = b << 10, negated_index = (b << 10) + 512;
    const std::uint64_t valid = present | absent;
    if (!boost && can_wait(plain, plain_trials, valid) &&
        can_wait(negated, negated_trials, valid)) {
      // A trial for every lane belongs to Type Ia: it is one more to catch up with.
      const std::uint16_t behind = reinforce;
      plain.raise(Mask::of(reinforce ? present : absent));
      negated.raise(Mask::of(reinforce ? absent : present));
      plain.store(row.states + 2 * b * kLine);
      negated.store(row.states + (2 * b + 1) * kLine);
      row.seen[2 * b] = static_cast<std::uint16_t>(row.seen[2 * b] - behind);
      row.seen[2 * b + 1] = static_cast<std::uint16_t>(row.seen[2 * b + 1] - behind);
      continue;
    }
    if (plain_trials == negated_trials && !plain.zero()) {
      decrement_pair(plain, negated, plain_trials, law, key, plain_index, negated_index);
    } else {
      if (!plain.zero()) decrement(plain, plain_trials, law, key, plain_index);
      decrement(negated, negated_trials, law, key, negated_index);
    }
    const std::uint64_t included = apply(plain, reinforce ? present : absent, 2 * b, plain_index);
    row.negated[b] = apply(negated, reinforce ? absent : present, 2 * b + 1, negated_index);
    const std::uint64_t bit = 1ULL << (b & 63);
    std::uint64_t& blocks = row.plain_blocks[b >> 6];
    blocks = included ? blocks | bit : blocks & ~bit;
  }
}

void unite(std::uint64_t* out, const std::uint64_t* in, std::uint64_t flip, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] |= in[i] ^ flip;
}

void reinforce(std::uint8_t* line, std::uint64_t up, bool boost, const DecrementLaw& law,
               std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0;
  reinforce_lanes(x, Mask::of(up), boost, law, key, index);
  x.store(line);
}

std::size_t advance(std::uint32_t* ib, const std::uint32_t* due, const std::uint8_t* matched,
                    std::uint32_t begin, std::uint32_t end, std::uint32_t limit, std::uint64_t key,
                    std::uint32_t* out, std::int64_t* events) {
  std::size_t written = 0;
  std::int64_t selected = 0;
  for (std::uint32_t j = begin; j < end; j += 16) {
    const std::uint32_t n = end - j < 16 ? end - j : 16;
    std::uint32_t reached = 0;
    selected +=
        __builtin_popcount(advance16(ib + j, due + j, matched + j, j, n, limit, key, &reached));
    for (; reached; reached &= reached - 1)
      out[written++] = j + static_cast<std::uint32_t>(__builtin_ctz(reached));
  }
  *events += selected;
  return written;
}

std::uint64_t look(const std::uint8_t* line) { return Lanes::load(line).included(); }

}  // namespace
