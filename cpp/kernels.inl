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

// Whether a line may be raised with its trials still to come: no lane would fall below 0 by the
// largest draw that the tables know (a larger one has a probability below 1e-20), and none is
// raised to include its literal. Then the order does not matter.
inline bool can_wait(const Lanes& x, std::uint32_t trials, std::uint64_t valid,
                     const DecrementLaw& law) {
  if (trials > law.max_step()) return false;
  const std::uint32_t most = law.binomial(trials).most;
  return most < kInclude && !x.at_least(kInclude - 1) &&
         (x.below(static_cast<std::uint8_t>(most)) & valid) == 0;
}

void event(const RowView& row, std::uint16_t now, const Documents::Block* begin,
           const Documents::Block* end, bool reinforce, bool boost, const DecrementLaw& law,
           std::uint64_t key) {
  constexpr std::uint32_t kAhead = 24;
  const std::uint32_t side = reinforce;    // of the lines in which absent words are raised
  const std::uint16_t behind = reinforce;  // a trial for every lane belongs to Type Ia
  // Lines that cannot wait, gathered so that the processor can overlap their draws.
  struct Late {
    std::uint32_t line;
    std::uint64_t up;
  };
  constexpr std::uint32_t kGathered = 64;
  Late late[kGathered];
  std::uint32_t gathered = 0;
  const auto catch_up = [&](const Late& l) {
    Lanes x = Lanes::load(row.states + l.line * kLine);
    std::uint16_t& seen = row.seen[l.line];
    std::uint32_t index = l.line << 9;
    if (!x.zero()) decrement(x, static_cast<std::uint32_t>(now - seen), law, key, index);
    seen = now;
    if (reinforce && (boost || x.at_least(255))) {
      reinforce_lanes(x, Mask::of(l.up), boost, law, key, index);
    } else {
      // Away from the upper clamp, Type Ia is: raise `up`, then a trial for every lane.
      x.raise(Mask::of(l.up));
      seen = static_cast<std::uint16_t>(now - behind);
    }
    x.store(row.states + l.line * kLine);
    const std::uint64_t included = x.included();
    const std::uint32_t block = l.line >> 1;
    if (l.line & 1) {
      row.negated[block] = included;
    } else {
      const std::uint64_t bit = 1ULL << (block & 63);
      std::uint64_t& blocks = row.plain_blocks[block >> 6];
      blocks = included ? blocks | bit : blocks & ~bit;
    }
  };
  const auto visit = [&](std::uint32_t line, std::uint64_t up, std::uint64_t valid) {
    Lanes x = Lanes::load(row.states + line * kLine);
    std::uint16_t& seen = row.seen[line];
    const bool waits =
        !boost && seen >= behind && can_wait(x, static_cast<std::uint32_t>(now - seen), valid, law);
    late[gathered] = {line, up};
    gathered += !waits;
    if (waits) {
      x.raise(Mask::of(up));
      x.store(row.states + line * kLine);
      seen = static_cast<std::uint16_t>(seen - behind);
    }
  };
  const Documents::Block* next = begin;
  for (std::uint32_t b = 0; b < row.n_blocks; ++b) {
    // The hardware's prefetcher stops at every page; this one does not.
    prefetch(row.states + (2 * b + kAhead + side) * kLine);
    const std::uint64_t valid = b + 1 == row.n_blocks ? row.last_valid : ~0ULL;
    std::uint64_t present = 0;
    if (next != end && next->index == b) present = next++->words;
    visit(2 * b + side, valid & ~present, valid);
    // Of the other line, an event raises the words that are there; Type Ia is a trial for the rest.
    const std::uint32_t other = 2 * b + 1 - side;
    if (present || row.seen[other] < behind)
      visit(other, present, valid);
    else
      row.seen[other] = static_cast<std::uint16_t>(row.seen[other] - behind);
    if (gathered + 2 <= kGathered && b + 1 < row.n_blocks) continue;
    for (std::uint32_t i = 0; i < gathered; ++i) catch_up(late[i]);
    gathered = 0;
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
