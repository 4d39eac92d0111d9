// The kernels, written once over the lane types of an instruction set. Included by
// kernels_<set>.cpp after `Lanes`, `Mask`, `Random`, `Random16` and `advance16` are in scope.

namespace {

alignas(64) constexpr std::uint8_t kFull[kLine] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

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

// Every lane goes down by Binomial(trials, 1/s), clamped at 0. No lane is above `bound`.
inline void decrement(Lanes& x, std::uint32_t trials, std::uint32_t bound, const DecrementLaw& law,
                      std::uint64_t key, std::uint32_t& index) {
  while (trials > 0) {
    const std::uint32_t k = trials < law.max_step() ? trials : law.max_step();
    const BinomialTable& table = law.binomial(k);
    const Random16 u(key, index);
    index += 2;
    // A leftover lane counts no edge, so that undoing `first` leaves it as it was.
    const std::uint64_t leftover = u.below(static_cast<std::uint16_t>(table.residual));
    const std::uint32_t cells = table.cells < bound ? table.cells : bound;
    if (leftover) {
      Lanes before = x;
      x.lower_by(u.count(table.edge, cells), static_cast<std::uint8_t>(table.first));
      x.keep(Mask::of(~leftover));
      before.keep(Mask::of(leftover));
      x.join(before);
      lower_leftover(x, leftover, table, key, index);
    } else {
      x.lower_by(u.count(table.edge, cells), static_cast<std::uint8_t>(table.first));
    }
    trials -= k;
    if (trials > 0 && x.zero()) return;
  }
}

// A lane that may have met the lower clamp on its way: `hits` of all trials hit it, which ones is
// drawn here, and the steps are gone through in their order.
std::uint8_t replay_lane(std::uint32_t state, std::uint32_t lane, std::uint32_t hits,
                         std::uint32_t trials, const Step* steps, std::uint32_t n_steps,
                         std::uint32_t ib, std::uint64_t key) {
  std::uint64_t draw = 0;
  const auto go_down = [&](std::uint32_t n) {
    for (; n > 0; --n, --trials) {
      const std::uint64_t r = mix64(key ^ kGolden64, (++draw << 8) + lane);
      if (to_unit(r) * trials >= hits) continue;
      --hits;
      state -= state > 0;
    }
  };
  std::uint32_t pending = 0;
  for (std::uint32_t i = 0; i < n_steps; ++i) {
    go_down(pending + steps[i].ib);
    pending = steps[i].reinforce;
    state += steps[i].up >> lane & 1;
  }
  go_down(pending + ib);
  return static_cast<std::uint8_t>(state);
}

// All steps at once, for lines far from both clamps, where ups and downs commute.
void settle_together(Lanes& x, const Step* steps, std::uint32_t n_steps, std::uint32_t ib,
                     std::uint32_t trials, std::uint64_t valid, const DecrementLaw& law,
                     std::uint64_t key) {
  const Lanes before = x;
  std::uint32_t index = 0;
  decrement(x, trials, 255, law, key, index);
  const std::uint64_t clamped = x.zero_lanes() & valid;
  if (clamped) {
    // Drawn again from the same numbers, so high that no lane is clamped: how many hits were there?
    Lanes high = Lanes::load(kFull);
    index = 0;
    decrement(high, trials, 255, law, key, index);
    alignas(64) std::uint8_t state[kLine], left[kLine];
    before.store(state);
    high.store(left);
    for (std::uint32_t i = 0; i < n_steps; ++i) x.raise(Mask::of(steps[i].up));
    alignas(64) std::uint8_t after[kLine];
    x.store(after);
    for (std::uint64_t lanes = clamped; lanes; lanes &= lanes - 1) {
      const std::uint32_t lane = lowest_bit(lanes);
      after[lane] = replay_lane(state[lane], lane, 255U - left[lane], trials, steps, n_steps, ib, key);
    }
    x = Lanes::load(after);
    return;
  }
  for (std::uint32_t i = 0; i < n_steps; ++i) x.raise(Mask::of(steps[i].up));
}

void reinforce_lanes(Lanes& x, Mask up, bool boost, const DecrementLaw& law, std::uint64_t key,
                     std::uint32_t& index) {
  const Mask hit = hits(law, key, index);
  x.lower(without(hit, up));
  x.raise(boost ? up : without(up, hit));
}

inline Settled summary(const Lanes& x) {
  const std::uint64_t included = x.included();
  Lanes excluded = x;
  if (included) excluded.keep(Mask::of(~included));
  return {included, excluded.highest()};
}

Settled settle(std::uint8_t* line, const Step* steps, std::uint32_t n_steps, std::uint32_t ib,
               std::uint64_t valid, bool boost, const DecrementLaw& law, std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0, trials = 0;
  std::uint32_t bound = x.highest();
  // Far from the upper clamp, Type Ia on a line is: raise `up`, then one trial for every lane. That
  // trial joins the following ones.
  const bool clamp = boost || bound + n_steps >= 255;
  if (n_steps > 1 && !clamp) {
    std::uint32_t all = ib;
    for (std::uint32_t i = 0; i < n_steps; ++i) all += steps[i].ib + steps[i].reinforce;
    // Six standard deviations: rarely wrong, and then replay_lane() sets it right.
    const double mean = all * law.hit_probability();
    const double room = x.lowest_of(valid) - mean;
    if (mean < 100.0 && room > 4.0 && room * room > 36.0 * mean) {
      settle_together(x, steps, n_steps, ib, all, valid, law, key);
      x.keep(Mask::of(valid));
      x.store(line);
      return summary(x);
    }
  }
  for (std::uint32_t i = 0; i < n_steps; ++i) {
    const Step& step = steps[i];
    trials += step.ib;
    if (step.up == 0 && !(step.reinforce && clamp)) {
      trials += step.reinforce;
      continue;
    }
    if (bound > 0) decrement(x, trials, bound, law, key, index);
    trials = 0;
    const Mask up = Mask::of(step.up);
    if (step.reinforce && clamp) {
      reinforce_lanes(x, up, boost, law, key, index);
    } else {
      x.raise(up);
      trials = step.reinforce;
    }
    ++bound;
  }
  trials += ib;
  if (bound > 0) decrement(x, trials, bound, law, key, index);
  x.keep(Mask::of(valid));
  x.store(line);
  return summary(x);
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
    selected += __builtin_popcount(advance16(ib + j, due + j, matched + j, j, n, limit, key, &reached));
    for (; reached; reached &= reached - 1)
      out[written++] = j + static_cast<std::uint32_t>(__builtin_ctz(reached));
  }
  *events += selected;
  return written;
}

Settled look(const std::uint8_t* line) { return summary(Lanes::load(line)); }

}  // namespace
