// The kernels, written once over the lane types of an instruction set. Included by
// kernels_<set>.cpp after `Lanes`, `Mask`, `Bytes`, `Stream` and `select_ib16` are in scope.

#include "draws.inl"

namespace {

std::uint64_t settle(std::uint8_t* line, std::uint32_t trials, const DecrementTables& law,
                     std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0;
  decrement(x, trials, law, Stream(key), index);
  x.store(line);
  return x.included().bits();
}

// The tables for a batch of lines, looked up again only when the pending trials differ.
struct BatchTables {
  const BinomialTable* table[kBatch] = {};
  std::uint16_t seen[kBatch] = {};
  bool known = false, same = false, pending = false, several_steps = false;

  void find(const std::uint16_t (&wanted)[kBatch], std::uint16_t now, const DecrementTables& law) {
    std::uint32_t differ = !known;
    for (std::uint32_t i = 0; i < kBatch; ++i)
      differ |= static_cast<std::uint32_t>(seen[i] ^ wanted[i]);
    if (!differ) return;
    for (std::uint32_t i = 0; i < kBatch; ++i) seen[i] = wanted[i];
    known = same = true;
    pending = several_steps = false;
    for (std::uint32_t i = 0; i < kBatch; ++i) {
      const auto trials = static_cast<std::uint32_t>(now - seen[i]);
      same &= seen[i] == seen[0];
      pending |= trials > 0;
      several_steps |= trials > law.max_step;
      table[i] = &law.binomial[trials < law.max_step ? trials : law.max_step];
    }
  }
};

void record(const RowView& row, bool side, std::uint32_t block, Mask included) {
  if (side) row.negated[block] = included.bits();
  std::uint64_t& blocks = row.included[side][block >> 6];
  blocks = (blocks & ~(1ULL << (block & 63))) | static_cast<std::uint64_t>(included.any())
                                                    << (block & 63);
}

// Foreseen lines. `x`: the automata now; `ahead`: the hits of the window's other trials.
void record_foreseen(const RowView& row, std::uint32_t block, Lanes x, const Lanes& ahead) {
  record(row, true, block, x.included());
  x.lower_by(ahead.count_ones());
  row.sure[block] = x.included().bits();
}

void foresee(const RowView& row, const DecrementTables& law, std::uint64_t key) {
  const Stream stream(key);
  for (std::uint32_t b = 0; b < row.n_foreseen; ++b) {
    std::uint8_t *states = row.states + (std::size_t{2} * b + 1) * kLine,
                 *hits = row.hits + std::size_t{b} * kLine;
    Lanes x = Lanes::load(states), ahead = Lanes::all(0);
    x.lower_by(Lanes::load(hits).count_ones());
    Mask hit[kWindow];
    draw_window(law, stream, b << kIndexBits, hit);
    NEWFOUND_UNROLL for (std::uint32_t trial = 0; trial < kWindow; ++trial) {
      Lanes bit = Lanes::all(static_cast<std::uint8_t>(1U << trial));
      bit.keep(hit[trial]);
      ahead.unite(bit);
    }
    x.store(states);
    ahead.store(hits);
    record_foreseen(row, b, x, ahead);
  }
}

// The automata of a foreseen line after `elapsed` trials of the window.
Lanes after(const std::uint8_t* states, const std::uint8_t* hits, std::uint32_t elapsed) {
  Lanes x = Lanes::load(states), happened = Lanes::load(hits);
  happened.intersect(Lanes::all(static_cast<std::uint8_t>((1U << elapsed) - 1)));
  x.lower_by(happened.count_ones());
  return x;
}

std::uint64_t included_after(const std::uint8_t* states, const std::uint8_t* hits,
                             std::uint32_t elapsed) {
  return after(states, hits, elapsed).included().bits();
}

void unforesee(const RowView& row, std::uint32_t elapsed) {
  for (std::uint32_t b = 0; b < row.n_foreseen; ++b) {
    std::uint8_t *states = row.states + (std::size_t{2} * b + 1) * kLine,
                 *hits = row.hits + std::size_t{b} * kLine;
    const Lanes x = after(states, hits, elapsed);
    x.store(states);
    Lanes::all(0).store(hits);
    record(row, true, b, x.included());
  }
}

// A Type Ia or Type II event on a row. `side` is 0 for plain lines and 1 for negated ones.
struct Event {
  const RowView row;
  const std::uint16_t now[2];
  const DecrementTables& law;
  const Stream stream;
  const bool type_ia, boost;

  static std::uint32_t index_of(bool side, std::uint32_t block) {
    return (2 * block + side) << kIndexBits;
  }
  std::uint8_t* line(bool side, std::uint32_t block) const {
    return row.states + (std::size_t{2} * block + side) * kLine;
  }

  // Settles a line, then raises `up`. Type Ia raises with probability 1 - 1/s: that is raising for
  // certain, and a trial of 1/s, which may stay pending like any other. Not so where an automaton
  // is in the highest state and cannot be raised first, or where boosted lanes get no trial.
  NEWFOUND_NOINLINE Mask visit(bool side, std::uint8_t* states, std::uint16_t& seen,
                               std::uint32_t index, std::uint64_t up) const {
    Lanes x = Lanes::load(states);
    decrement(x, static_cast<std::uint32_t>(now[side] - seen), law, stream, index);
    seen = now[side];
    if (type_ia && (boost || x.at_least(255))) {
      reinforce_lanes(x, Mask::of(up), boost, law, stream, index);
      seen = static_cast<std::uint16_t>(now[side] + !(boost && side));
    } else {
      x.raise(Mask::of(up));
    }
    x.store(states);
    return x.included();
  }
  void visit(bool side, std::uint32_t block, std::uint64_t up) const {
    record(row, side, block,
           visit(side, line(side, block), row.seen[side][block], index_of(side, block), up));
  }

  // Lines that are visited together.
  struct Batch {
    std::uint8_t* states[kBatch];
    std::uint16_t* seen[kBatch];
    std::uint32_t index[kBatch];
    std::uint64_t up[kBatch];
  };

  // Returns whether any lane is included afterwards.
  template <bool side>
  NEWFOUND_INLINE bool visit_batch(const Batch& batch, BatchTables& tables) const {
    constexpr int n = kBatch;
    Lanes x[n], all;
    std::uint16_t seen[n];
    NEWFOUND_UNROLL for (int i = 0; i < n; ++i) {
      x[i] = Lanes::load(batch.states[i]);
      if (i == 0) all = x[0];
      all.unite(x[i]);
      seen[i] = *batch.seen[i];
    }
    if (type_ia) {
      bool one_by_one = false;
      for (int i = 0; i < n; ++i)
        one_by_one |= boost ? !side || batch.up[i] != ~0ULL : x[i].at_least(255);
      if (one_by_one) {
        Mask any = Mask::of(0);
        for (int i = 0; i < n; ++i)
          any = any | visit(side, batch.states[i], *batch.seen[i], batch.index[i], batch.up[i]);
        return any.any();
      }
    }
    tables.find(seen, now[side], law);
    if (tables.pending && !all.zero()) {
      decrement_batch<n, side>(x, tables.table, tables.same, stream, batch.index);
      for (int i = 0; tables.several_steps && i < n; ++i)
        if (!x[i].zero())
          x[i] = decrement_further(x[i], static_cast<std::uint32_t>(now[side] - seen[i]),
                                   batch.index[i]);
    }
    NEWFOUND_UNROLL for (int i = 0; i < n; ++i) {
      x[i].raise(Mask::of(batch.up[i]));
      x[i].store(batch.states[i]);
      *batch.seen[i] = now[side];
      if (i == 0) all = x[0];
      all.unite(x[i]);
    }
    return all.included().any();
  }
  // The trials beyond the first max_step.
  NEWFOUND_NOINLINE Lanes decrement_further(Lanes x, std::uint32_t trials,
                                            std::uint32_t index) const {
    index += BinomialTable::kBytes;
    if (trials > law.max_step) decrement(x, trials - law.max_step, law, stream, index);
    return x;
  }

  // Visits all lines of a side and raises the words that the document lacks.
  template <bool side>
  void visit_side(const std::uint64_t* absent) const {
    constexpr std::uint32_t kAhead = 24, n = kBatch;
    static_assert(64 % n == 0);
    const Event event = *this;  // a copy, since states are bytes, and bytes may alias anything
    const std::uint32_t n_blocks = row.n_blocks, in_batches = n_blocks / n * n;
    std::uint32_t b = side ? row.n_foreseen : 0;
    for (; b % n && b < n_blocks; ++b) visit(side, b, absent[b]);
    if (b == n_blocks) return;
    std::uint8_t* states = line(side, b);
    std::uint16_t* seen = row.seen[side] + b;
    BatchTables tables;
    for (; b < in_batches; b += n, states += 2 * kLine * n, seen += n) {
      Batch batch;
      const bool more = b + kAhead + n <= n_blocks;
      NEWFOUND_UNROLL for (std::uint32_t i = 0; i < n; ++i) {
        // The hardware's prefetcher stops at every page; this one does not.
        if (more) prefetch(states + (i + kAhead) * 2 * kLine);
        batch.states[i] = states + i * 2 * kLine;
        batch.seen[i] = seen + i;
        batch.index[i] = index_of(side, b) + index_of(false, i);
        batch.up[i] = absent[b + i];
      }
      const bool any = event.template visit_batch<side>(batch, tables);
      event.row.included[side][b >> 6] &= ~(((1ULL << n) - 1) << (b & 63));
      for (std::uint32_t i = 0; any && i < n; ++i)
        record(event.row, side, b + i, Lanes::load(batch.states[i]).included());
      for (std::uint32_t i = 0; side && !any && i < n; ++i) event.row.negated[b + i] = 0;
    }
    for (; b < n_blocks; ++b) visit(side, b, absent[b]);
  }

  // Visits the lines of a side that hold words of the document, and raises those words.
  template <bool side>
  void visit_blocks(const WordBlock* begin, const WordBlock* end) const {
    constexpr std::uint32_t n = kBatch;
    const Event event = *this;
    BatchTables tables;
    for (; end - begin >= n; begin += n) {
      Batch batch;
      NEWFOUND_UNROLL for (std::uint32_t i = 0; i < n; ++i) {
        batch.states[i] = event.line(side, begin[i].index);
        batch.seen[i] = event.row.seen[side] + begin[i].index;
        batch.index[i] = index_of(side, begin[i].index);
        batch.up[i] = begin[i].words;
      }
      const bool any = event.template visit_batch<side>(batch, tables);
      for (std::uint32_t i = 0; i < n; ++i)
        record(event.row, side, begin[i].index,
               any ? Lanes::load(batch.states[i]).included() : Mask::of(0));
    }
    for (; begin != end; ++begin) visit(side, begin->index, begin->words);
  }

  // An event on a foreseen line. The trial of a Type Ia event is the window's next one. Not so
  // where an automaton is in the highest state and cannot be raised first, or where boosted.
  void visit_foreseen(std::uint32_t block, std::uint32_t elapsed, std::uint64_t up) const {
    std::uint8_t *states = line(true, block), *hits = row.hits + std::size_t{block} * kLine;
    Lanes x = after(states, hits, elapsed), ahead = Lanes::load(hits);
    ahead.intersect(Lanes::all(static_cast<std::uint8_t>(0xFFU << elapsed)));
    if (type_ia && boost) {
      std::uint32_t index = index_of(true, block);
      reinforce_lanes(x, Mask::of(up), boost, law, stream, index);
    } else {
      if (type_ia && x.at_least(255)) {
        Lanes highest = x, others = ahead;
        highest.lower_by(Lanes::all(255 - kInclude));
        others.intersect(Lanes::all(static_cast<std::uint8_t>(~(1U << elapsed))));
        ahead.replace(highest.included() & Mask::of(up), others);
      }
      x.raise(Mask::of(up));
    }
    x.store(states);
    ahead.store(hits);
    record_foreseen(row, block, x, ahead);
  }
};

void feedback(const RowView& row, const std::uint16_t* now, std::uint32_t elapsed,
              const std::uint64_t* absent, const WordBlock* begin, const WordBlock* end,
              bool type_ia, bool boost, bool negations, const DecrementTables& law,
              std::uint64_t key) {
  const Event event{row, {now[0], now[1]}, law, Stream(key), type_ia, boost};
  for (const WordBlock* block = begin; block != end; ++block) {
    prefetch(event.line(!type_ia, block->index));
    prefetch(row.seen[!type_ia] + block->index);
  }
  // Type Ia raises true literals: negated absent words and plain present ones. Type II raises false
  // ones: the other way round.
  if (type_ia) {
    for (std::uint32_t b = 0; b < row.n_foreseen; ++b) event.visit_foreseen(b, elapsed, absent[b]);
    if (negations) event.visit_side<true>(absent);
    event.visit_blocks<false>(begin, end);
  } else {
    event.visit_side<false>(absent);
    if (!negations) return;
    for (; begin != end && begin->index < row.n_foreseen; ++begin)
      event.visit_foreseen(begin->index, elapsed, begin->words);
    event.visit_blocks<true>(begin, end);
  }
}

void reinforce(std::uint8_t* line, std::uint64_t up, bool boost, const DecrementTables& law,
               std::uint64_t key) {
  Lanes x = Lanes::load(line);
  std::uint32_t index = 0;
  reinforce_lanes(x, Mask::of(up), boost, law, Stream(key), index);
  x.store(line);
}

std::size_t select_ib(std::uint32_t* ib, const std::uint32_t* due, const std::uint8_t* matched,
                      std::uint32_t begin, std::uint32_t end, std::uint32_t limit,
                      std::uint64_t key, std::uint32_t* out, std::uint32_t* changed,
                      std::uint32_t visit, std::int64_t* events) {
  std::size_t written = 0;
  std::int64_t selected = 0;
  for (std::uint32_t j = begin; j < end; j += 16) {
    const std::uint32_t n = end - j < 16 ? end - j : 16;
    std::uint32_t reached = 0;
    std::uint32_t hit = select_ib16(ib + j, due + j, matched + j, j, n, limit, key, &reached);
    selected += count_bits(hit);
    for (; changed && hit; hit &= hit - 1) changed[j + lowest_bit(hit)] = visit;
    for (; reached; reached &= reached - 1) out[written++] = j + lowest_bit(reached);
  }
  *events += selected;
  return written;
}

template <std::uint32_t step>
void unite_in_steps(std::uint64_t* out, const std::uint64_t* sets, const std::uint32_t* words,
                    std::size_t n_words, std::uint32_t n) {
  for (std::uint32_t from = 0; from < n; from += step) {
    std::uint64_t part[step];
    for (std::uint32_t i = 0; i < step; ++i) part[i] = out[from + i];
    for (std::size_t w = 0; w < n_words; ++w) {
      const std::uint64_t* set = sets + static_cast<std::size_t>(words[w]) * n + from;
      for (std::uint32_t i = 0; i < step; ++i) part[i] |= set[i];
    }
    for (std::uint32_t i = 0; i < step; ++i) out[from + i] = part[i];
  }
}

void unite_all(std::uint64_t* out, const std::uint64_t* sets, const std::uint32_t* words,
               std::size_t n_words, std::uint32_t n) {
  if (n < kSetWords)
    unite_in_steps<kSmallSetWords>(out, sets, words, n_words, n);
  else
    unite_in_steps<kSetWords>(out, sets, words, n_words, n);
}

std::uint32_t first_common(const std::uint64_t* a, const std::uint64_t* b, std::uint32_t from,
                           std::uint32_t n) {
  constexpr std::uint32_t kStep = 8;
  for (; from + kStep <= n; from += kStep) {
    std::uint64_t any = 0;
    for (std::uint32_t i = 0; i < kStep; ++i) any |= a[from + i] & b[from + i];
    if (any) break;
  }
  while (from < n && !(a[from] & b[from])) ++from;
  return from;
}

std::uint64_t included(const std::uint8_t* line) { return Lanes::load(line).included().bits(); }

// A block of columns at a time, whose sums stay in registers.
template <std::size_t kVectors>
std::size_t add_columns(double* out, std::size_t n, std::size_t from, const double* weights,
                        const std::int32_t* places, std::size_t n_weights, const double* rows) {
  constexpr std::size_t kColumns = kVectors * Doubles::kSize;
  for (; from + kColumns <= n; from += kColumns) {
    Doubles sums[kVectors];
    for (std::size_t j = 0; j < kVectors; ++j)
      sums[j] = Doubles::load(out + from + j * Doubles::kSize);
    for (std::size_t t = 0; t < n_weights; ++t) {
      const std::size_t place = places ? static_cast<std::size_t>(places[t]) : t;
      const double *row = rows + place * n + from, weight = weights[t];
      for (std::size_t j = 0; j < kVectors; ++j) sums[j].add(weight, row + j * Doubles::kSize);
    }
    for (std::size_t j = 0; j < kVectors; ++j) sums[j].store(out + from + j * Doubles::kSize);
  }
  return from;
}

void add_rows(double* out, std::size_t n, const double* weights, const std::int32_t* places,
              std::size_t n_weights, const double* rows) {
  std::size_t done = add_columns<8>(out, n, 0, weights, places, n_weights, rows);
  done = add_columns<4>(out, n, done, weights, places, n_weights, rows);
  done = add_columns<2>(out, n, done, weights, places, n_weights, rows);
  done = add_columns<1>(out, n, done, weights, places, n_weights, rows);
  for (; done < n; ++done)
    for (std::size_t t = 0; t < n_weights; ++t) {
      const std::size_t place = places ? static_cast<std::size_t>(places[t]) : t;
      out[done] += weights[t] * rows[place * n + done];
    }
}

void exp_all(double* values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) values[i] = exp_within(values[i]);
}

}  // namespace
