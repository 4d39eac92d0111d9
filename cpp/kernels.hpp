// The work on lines of 64 automata, with one implementation for each instruction set.
//
// Kernels take raw pointers and plain structs only. A kernel file is compiled with instructions
// that not every processor has; any function of a header that it shared with other files could be
// the copy that the linker keeps for all of them. cpp/tests/check_symbols.py shows that there is
// none.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decrement_tables.hpp"
#include "layout.hpp"

namespace newfound {

constexpr std::uint32_t kBatch = 4;  // lines that are drawn together, on every instruction set

// How many trials of a line may be pending; its counter has 16 bits.
constexpr std::uint32_t kMostTrials = 65000;
// Indices of random bytes that belong to a line in one event. Each step of a decrement uses
// kBytes, and the hits of a Type Ia event use up to 4. There are at most kMostTrials / kLargestStep
// + 1 steps; where 1/s is so large that steps are shorter, all automata reach 0 before.
constexpr std::uint32_t kIndexBits = 9;
static_assert((kMostTrials / DecrementTables::kLargestStep + 1) * BinomialTable::kBytes + 4 <=
              1U << kIndexBits);
static_assert(4 * kWindow + 1 <= 1U << kIndexBits);  // those of a window

// Sets of clauses have multiples of kSetWords words, smaller ones of kSmallSetWords.
constexpr std::uint32_t kSetWords = 16, kSmallSetWords = 4;

struct Kernels {
  const char* name;

  // Lowers every automaton of a line by Binomial(trials, 1/s). Returns the included lanes.
  std::uint64_t (*settle)(std::uint8_t* line, std::uint32_t trials, const DecrementTables& law,
                          std::uint64_t key);

  // Foreseen lines: the next kWindow trials are drawn before they happen. `states` are those before
  // the window's first trial or, if that is later, after the last event; bit t of `hits` says
  // whether the window's trial t lowers the automaton. So what a line includes now, and what it is
  // sure to include until the window ends, is known without a draw.

  // Ends the window and draws the next one.
  void (*foresee)(const RowView& row, const DecrementTables& law, std::uint64_t key);
  // The included lanes of a foreseen line after `elapsed` trials of the window.
  std::uint64_t (*included_after)(const std::uint8_t* states, const std::uint8_t* hits,
                                  std::uint32_t elapsed);
  // Applies the trials so far and forgets the others.
  void (*unforesee)(const RowView& row, std::uint32_t elapsed);

  // A Type Ia (type_ia) or Type II event on a row, of whose plain lines now[0] trials are due, of
  // its negated ones now[1]. `absent` has, for each block, the words that the document lacks; the
  // blocks [begin, end) have those that it contains. Lines with automata that go up are settled
  // first. The trial of a Type Ia event is left pending for all lines; if boosted, for plain lines.
  // In foreseen lines `elapsed` trials of the window have happened, and the trial of a Type Ia
  // event is the next one. Without `negations`, negated lines are left alone.
  void (*feedback)(const RowView& row, const std::uint16_t* now, std::uint32_t elapsed,
                   const std::uint64_t* absent, const WordBlock* begin, const WordBlock* end,
                   bool type_ia, bool boost, bool negations, const DecrementTables& law,
                   std::uint64_t key);

  // A Type Ia event on a line whose true literals are `up`.
  void (*reinforce)(std::uint8_t* line, std::uint64_t up, bool boost, const DecrementTables& law,
                    std::uint64_t key);

  // Draws which of the clauses [begin, end) get Type I feedback: those with hash32(key, clause) <=
  // limit. Those that do not match count one more Ib event in `ib`; the ones whose count reaches
  // `due` are written to `out`. Their place in `changed`, if that is not null, is set to `visit`.
  // Returns how many were written to `out`; adds the Ib events to *events.
  std::size_t (*select_ib)(std::uint32_t* ib, const std::uint32_t* due, const std::uint8_t* matched,
                           std::uint32_t begin, std::uint32_t end, std::uint32_t limit,
                           std::uint64_t key, std::uint32_t* out, std::uint32_t* changed,
                           std::uint32_t visit, std::int64_t* events);

  // out |= sets[w * n ...], for all words w of a list: sets of n 64-bit words.
  void (*unite_all)(std::uint64_t* out, const std::uint64_t* sets, const std::uint32_t* words,
                    std::size_t n_words, std::uint32_t n);

  // The first of the places [from, n) at which two arrays of sets have a common element; n if none.
  std::uint32_t (*first_common)(const std::uint64_t* a, const std::uint64_t* b, std::uint32_t from,
                                std::uint32_t n);

  // The lanes of a line that include their literal.
  std::uint64_t (*included)(const std::uint8_t* line);

  // out[j] += weights[t] * rows[places[t] * n + j] for t = 0, 1, ..., one after the other: the same
  // sums on every instruction set. Without places, rows are taken in their order.
  void (*add_rows)(double* out, std::size_t n, const double* weights, const std::int32_t* places,
                   std::size_t n_weights, const double* rows);

  // Replaces values by their exp_within.
  void (*exp_all)(double* values, std::size_t n);
};

// The kernels that this processor runs, the fastest first, ended by a null pointer.
const Kernels* const* available_kernels();
// "avx512", "avx2", "neon" or "plain"; a null pointer if this processor or build does not have it.
const Kernels* find_kernels(const char* name);

}  // namespace newfound
