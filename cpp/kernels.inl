// The kernels, written once over the lane types of an instruction set. Included by
// kernels_<set>.cpp after `Lanes`, `Mask`, `Bytes`, `Stream` and `advance16` are in scope.

namespace {

// Each lane is hit with probability hit_threshold / 2^32, compared byte by byte: further bytes are
// drawn only while some lane is undecided.
Mask hits(const DecrementLaw& law, const Stream& stream, std::uint32_t& index) {
  if (law.hit_threshold() >> 32) return Mask::of(~0ULL);
  const auto p = static_cast<std::uint32_t>(law.hit_threshold());
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

// The draws of lanes that are still left over: by all bytes or, `apart`, by the first ones, where
// both lines of a pair have left over the same lane.
template <int n>
[[gnu::noinline]] void draw_leftover(Lanes (&d)[n], const BinomialTable* const (&table)[n],
                                     bool apart, const Stream& stream,
                                     const std::uint32_t (&index)[n]) {
  for (int i = 0; i < n; ++i) {
    Mask late = d[i].included();
    for (std::uint32_t byte = 1; apart && byte < BinomialTable::kBytes && late.any(); ++byte) {
      d[i].replace(late, stream.at(index[i] + byte).look_up(table[i]->byte[byte]));
      late = d[i].included();
    }
    if (!late.any()) continue;
    alignas(64) std::uint8_t draw[kLine];
    d[i].store(draw);
    for (std::uint64_t lanes = late.bits(); lanes; lanes &= lanes - 1) {
      const std::uint32_t lane = lowest_bit(lanes);
      const std::uint64_t at = (static_cast<std::uint64_t>(index[i]) << 8) + lane;
      draw[lane] = table[i]->draw_last(to_unit(mix64(stream.key(), at)));
    }
    d[i] = Lanes::load(draw);
  }
}

// Each of n lines goes down by a draw of its table, clamped at 0. Line i takes the bytes at
// index[i]; if these leave lanes over, those at index[i] + 1 and + 2, or at the same places of the
// line before if the two have no such lane in common: then no byte serves twice, and the first
// bytes alone have decided that. `low`: many lanes are expected at 0, where it does not matter what
// is left over.
template <int n, bool low>
[[gnu::always_inline]] inline void decrement_abreast(Lanes (&x)[n],
                                                     const BinomialTable* const (&table)[n],
                                                     bool same, const Stream& stream,
                                                     const std::uint32_t (&index)[n]) {
  static_assert(ByteLaw::kLeftover == kInclude);
  Lanes d[n];
  Mask late[n], twice = Mask::of(0), any = Mask::of(0);
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i) {
    d[i] = stream.at(index[i]).look_up(table[i]->byte[0]);
    if (low) d[i].keep(x[i].positive());
    late[i] = d[i].included();
    if (i & 1) twice = twice | (late[i - 1] & late[i]);
  }
  // Further bytes serve two lines at once, unless both need them for the same lane.
  const bool apart = twice.any();
  for (std::uint32_t byte = 1; byte < BinomialTable::kBytes && !apart; ++byte) {
    any = Mask::of(0);
    Bytes u;
    Lanes next;
#pragma GCC unroll 4
    for (int i = 0; i < n; ++i) {
      if (!(i & 1)) u = stream.at(index[i] + byte);
      if (!(i & 1) || !same) next = u.look_up(table[i]->byte[byte]);
      d[i].replace(late[i], next);
      late[i] = d[i].included();
      any = any | late[i];
    }
    if (!any.any()) break;
  }
  if ((twice | any).any()) {
    // Copies, so that the rest can stay in registers.
    Lanes draws[n];
    const BinomialTable* from[n];
    std::uint32_t at[n];
    for (int i = 0; i < n; ++i) {
      draws[i] = d[i];
      from[i] = table[i];
      at[i] = index[i];
    }
    draw_leftover<n>(draws, from, apart, stream, at);
    for (int i = 0; i < n; ++i) d[i] = draws[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i) x[i].lower_by(d[i]);
}

// Every lane goes down by Binomial(trials, 1/s), clamped at 0.
inline void decrement(Lanes& x, std::uint32_t trials, const DecrementLaw& law, const Stream& stream,
                      std::uint32_t& index) {
  while (trials > 0 && !x.zero()) {
    const std::uint32_t k = trials < law.max_step() ? trials : law.max_step();
    Lanes lines[1] = {x};
    decrement_abreast<1, true>(lines, {&law.binomial(k)}, true, stream, {index});
    x = lines[0];
    index += BinomialTable::kBytes;
    trials -= k;
  }
}

void reinforce_lanes(Lanes& x, Mask up, bool boost, const DecrementLaw& law, const Stream& stream,
                     std::uint32_t& index) {
  const Mask hit = hits(law, stream, index);
  x.lower(without(hit, up));
  x.raise(boost ? up : without(up, hit));
}

std::uint64_t settle(std::uint8_t* line, std::uint32_t trials, const DecrementLaw& law,
                     std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0;
  decrement(x, trials, law, Stream(key), index);
  x.store(line);
  return x.included().bits();
}

// Tables for lines that are drawn together, looked up again only if others are needed.
struct Tables {
  const BinomialTable* table[kAbreast];
  std::uint16_t seen[kAbreast] = {};
  bool known = false, same = false, late = false, more = false;

  void find(const std::uint16_t (&wanted)[kAbreast], std::uint16_t now, const DecrementLaw& law) {
    std::uint32_t differ = !known;
    for (std::uint32_t i = 0; i < kAbreast; ++i)
      differ |= static_cast<std::uint32_t>(seen[i] ^ wanted[i]);
    if (!differ) return;
    for (std::uint32_t i = 0; i < kAbreast; ++i) seen[i] = wanted[i];
    known = same = true;
    late = more = false;
    for (std::uint32_t i = 0; i < kAbreast; ++i) {
      const auto trials = static_cast<std::uint32_t>(now - seen[i]);
      same &= seen[i] == seen[0];
      late |= trials > 0;
      more |= trials > law.max_step();
      table[i] = &law.binomial(trials < law.max_step() ? trials : law.max_step());
    }
  }
};

// An event on the lines of a row; `side` says which, the plain or the negated ones.
struct Event {
  const RowView row;
  const std::uint16_t now[2];
  const DecrementLaw& law;
  const Stream stream;
  const bool reinforce, boost;

  static std::uint32_t index_of(bool side, std::uint32_t block) {
    return (2 * block + side) << kIndexBits;
  }
  std::uint8_t* line(bool side, std::uint32_t block) const {
    return row.states + (std::size_t{2} * block + side) * kLine;
  }
  void note(bool side, std::uint32_t block, Mask included) const {
    if (side && included.any()) row.negated[block] = included.bits();
    std::uint64_t& blocks = row.included[side][block >> 6];
    blocks = (blocks & ~(1ULL << (block & 63))) | static_cast<std::uint64_t>(included.any())
                                                      << (block & 63);
  }

  // Brings a line up to date, then raises `up`. Type Ia is that and a trial for every lane: the
  // next one that the line has not seen, unless a lane is at its highest state. Boosted, there is
  // no trial for the lanes that go up.
  [[gnu::noinline]] Mask visit(bool side, std::uint8_t* states, std::uint16_t& seen,
                               std::uint32_t index, std::uint64_t up) const {
    Lanes x = Lanes::load(states);
    decrement(x, static_cast<std::uint32_t>(now[side] - seen), law, stream, index);
    seen = now[side];
    if (reinforce && (boost || x.at_least(255))) {
      reinforce_lanes(x, Mask::of(up), boost, law, stream, index);
      seen = static_cast<std::uint16_t>(now[side] + !(boost && side));
    } else {
      x.raise(Mask::of(up));
    }
    x.store(states);
    return x.included();
  }
  void visit(bool side, std::uint32_t block, std::uint64_t up) const {
    note(side, block,
         visit(side, line(side, block), row.seen[side][block], index_of(side, block), up));
  }

  // Lines that are visited together.
  struct Lines {
    std::uint8_t* states[kAbreast];
    std::uint16_t* seen[kAbreast];
    std::uint32_t index[kAbreast];
    std::uint64_t up[kAbreast];
  };

  // Returns whether any lane is included now.
  template <bool side>
  [[gnu::always_inline]] bool visit_abreast(const Lines& lines, Tables& tables) const {
    constexpr int n = kAbreast;
    Lanes x[n], all;
    std::uint16_t seen[n];
#pragma GCC unroll 4
    for (int i = 0; i < n; ++i) {
      x[i] = Lanes::load(lines.states[i]);
      if (i == 0) all = x[0];
      all.unite(x[i]);
      seen[i] = *lines.seen[i];
    }
    if (reinforce) {
      bool alone = false;
      for (int i = 0; i < n; ++i)
        alone |= boost ? !side || lines.up[i] != ~0ULL : x[i].at_least(255);
      if (alone) {
        Mask any = Mask::of(0);
        for (int i = 0; i < n; ++i)
          any = any | visit(side, lines.states[i], *lines.seen[i], lines.index[i], lines.up[i]);
        return any.any();
      }
    }
    tables.find(seen, now[side], law);
    if (tables.late && !all.zero()) {
      decrement_abreast<n, side>(x, tables.table, tables.same, stream, lines.index);
      for (int i = 0; tables.more && i < n; ++i)
        if (!x[i].zero())
          x[i] =
              decrement_more(x[i], static_cast<std::uint32_t>(now[side] - seen[i]), lines.index[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < n; ++i) {
      x[i].raise(Mask::of(lines.up[i]));
      x[i].store(lines.states[i]);
      *lines.seen[i] = now[side];
      if (i == 0) all = x[0];
      all.unite(x[i]);
    }
    return all.included().any();
  }
  // The trials beyond max_step().
  [[gnu::noinline]] Lanes decrement_more(Lanes x, std::uint32_t trials, std::uint32_t index) const {
    index += BinomialTable::kBytes;
    if (trials > law.max_step()) decrement(x, trials - law.max_step(), law, stream, index);
    return x;
  }

  // All lines of a side.
  template <bool side>
  void sweep(const std::uint64_t* absent) const {
    constexpr std::uint32_t kAhead = 24, n = kAbreast;
    static_assert(64 % n == 0);
    const Event event = *this;  // a copy, since states are bytes, and bytes may be anything
    const std::uint32_t n_blocks = row.n_blocks, whole = n_blocks / n * n;
    std::uint8_t* states = line(side, 0);
    std::uint16_t* seen = row.seen[side];
    Tables tables;
    for (std::uint32_t b = 0; b < whole; b += n, states += 2 * kLine * n, seen += n) {
      Lines lines;
      const bool more = b + kAhead + n <= n_blocks;
#pragma GCC unroll 4
      for (std::uint32_t i = 0; i < n; ++i) {
        // The hardware's prefetcher stops at every page; this one does not.
        if (more) prefetch(states + (i + kAhead) * 2 * kLine);
        lines.states[i] = states + i * 2 * kLine;
        lines.seen[i] = seen + i;
        lines.index[i] = index_of(side, b) + index_of(false, i);
        lines.up[i] = absent[b + i];
      }
      const bool any = event.template visit_abreast<side>(lines, tables);
      event.row.included[side][b >> 6] &= ~(((1ULL << n) - 1) << (b & 63));
      for (std::uint32_t i = 0; any && i < n; ++i)
        event.note(side, b + i, Lanes::load(lines.states[i]).included());
    }
    for (std::uint32_t block = whole; block < n_blocks; ++block) visit(side, block, absent[block]);
  }

  // The lines of a side that hold the words of a document, which are raised.
  template <bool side>
  void touch(const Documents::Block* begin, const Documents::Block* end) const {
    constexpr std::uint32_t n = kAbreast;
    const Event event = *this;
    Tables tables;
    for (; end - begin >= n; begin += n) {
      Lines lines;
#pragma GCC unroll 4
      for (std::uint32_t i = 0; i < n; ++i) {
        lines.states[i] = event.line(side, begin[i].index);
        lines.seen[i] = event.row.seen[side] + begin[i].index;
        lines.index[i] = index_of(side, begin[i].index);
        lines.up[i] = begin[i].words;
      }
      const bool any = event.template visit_abreast<side>(lines, tables);
      for (std::uint32_t i = 0; i < n; ++i)
        event.note(side, begin[i].index,
                   any ? Lanes::load(lines.states[i]).included() : Mask::of(0));
    }
    for (; begin != end; ++begin) visit(side, begin->index, begin->words);
  }
};

void event(const RowView& row, const std::uint16_t* now, const std::uint64_t* absent,
           const Documents::Block* begin, const Documents::Block* end, bool reinforce, bool boost,
           const DecrementLaw& law, std::uint64_t key) {
  const Event event{row, {now[0], now[1]}, law, Stream(key), reinforce, boost};
  for (const Documents::Block* block = begin; block != end; ++block) {
    prefetch(event.line(!reinforce, block->index));
    prefetch(row.seen[!reinforce] + block->index);
  }
  // Absent words are raised in one side's lines, present ones in the other's.
  if (reinforce) {
    event.sweep<true>(absent);
    event.touch<false>(begin, end);
  } else {
    event.sweep<false>(absent);
    event.touch<true>(begin, end);
  }
}

void unite(std::uint64_t* out, const std::uint64_t* in, std::uint64_t flip, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] |= in[i] ^ flip;
}

void unite_all(std::uint64_t* out, const std::uint64_t* sets, const std::uint32_t* words,
               std::size_t n_words, std::uint32_t n) {
  for (std::uint32_t from = 0; from < n; from += kSetWords) {
    std::uint64_t part[kSetWords];
    for (std::uint32_t i = 0; i < kSetWords; ++i) part[i] = out[from + i];
    for (std::size_t w = 0; w < n_words; ++w) {
      const std::uint64_t* set = sets + static_cast<std::size_t>(words[w]) * n + from;
      for (std::uint32_t i = 0; i < kSetWords; ++i) part[i] |= set[i];
    }
    for (std::uint32_t i = 0; i < kSetWords; ++i) out[from + i] = part[i];
  }
}

void reinforce(std::uint8_t* line, std::uint64_t up, bool boost, const DecrementLaw& law,
               std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0;
  reinforce_lanes(x, Mask::of(up), boost, law, Stream(key), index);
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

std::uint64_t look(const std::uint8_t* line) { return Lanes::load(line).included().bits(); }

}  // namespace
