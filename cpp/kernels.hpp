// The vector work on lines of 64 automata, one implementation for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "documents.hpp"
#include "tables.hpp"

namespace newfound {

inline constexpr int kLine = 64;               // automata in a line: one cache line
inline constexpr std::uint8_t kInclude = 128;  // the lowest state that includes its literal
inline constexpr std::uint32_t kAbreast = 4;   // lines that draw together, on every instruction set

// What a line's count of trials holds, with room to spare.
inline constexpr std::uint32_t kMostTrials = 65000;
// Indices of random bytes that belong to a line in one event. Each step of a decrement takes some,
// and the hits of a Type Ia event take up to 4. There are at most kMostTrials / kLargestStep + 1
// steps; fewer, before all lanes are at 0, where 1/s is so large that steps are shorter.
inline constexpr std::uint32_t kIndexBits = 9;
static_assert((kMostTrials / DecrementLaw::kLargestStep + 1) * BinomialTable::kBytes + 4 <=
              1U << kIndexBits);

inline constexpr std::uint32_t kSetWords = 16;  // sets of documents are multiples of that long

// One clause's automata, for the kernel that goes through all of them.
struct RowView {
  std::uint8_t* states;        // lines: plain and negated of block 0, of block 1, ...
  std::uint16_t* seen[2];      // for each plain, each negated line: the trials that it has seen
  std::uint64_t* included[2];  // a bit for each block: includes plain, negated words, or may
  std::uint64_t* negated;      // for each block that does: its included negated words, or more
  std::uint32_t n_blocks;
};

struct Kernels {
  const char* name;

  // Every lane of the line goes down by Binomial(trials, 1/s). Returns the included lanes.
  std::uint64_t (*settle)(std::uint8_t* line, std::uint32_t trials, const DecrementLaw& law,
                          std::uint64_t key);

  // A Type Ia (reinforce) or Type II event after now[0] trials of the plain lines, now[1] of the
  // negated ones. `absent` has the words that the document lacks, for each block; the blocks give
  // those that it has. Lines whose automata are raised are brought up to date first. The trial of
  // a Type Ia event is the next one of all lines; of the plain ones only, if boosted.
  void (*event)(const RowView& row, const std::uint16_t* now, const std::uint64_t* absent,
                const Documents::Block* begin, const Documents::Block* end, bool reinforce,
                bool boost, const DecrementLaw& law, std::uint64_t key);

  // One Type Ia event on a line whose true literals are `up`.
  void (*reinforce)(std::uint8_t* line, std::uint64_t up, bool boost, const DecrementLaw& law,
                    std::uint64_t key);

  // Draws which of the clauses [begin, end) get Type I feedback, each if hash32(key, clause) <=
  // limit. Those that do not match count one more Ib in `ib`; the ones whose count reaches `due`
  // are written to `out`. Returns how many were written; adds the number of Ib events to *events.
  std::size_t (*advance)(std::uint32_t* ib, const std::uint32_t* due, const std::uint8_t* matched,
                         std::uint32_t begin, std::uint32_t end, std::uint32_t limit,
                         std::uint64_t key, std::uint32_t* out, std::int64_t* events);

  // out |= in ^ flip, for sets of documents, in n words: a multiple of kSetWords.
  void (*unite)(std::uint64_t* out, const std::uint64_t* in, std::uint64_t flip, std::uint32_t n);
  // out |= sets[w * n ...], for all words w of a list.
  void (*unite_all)(std::uint64_t* out, const std::uint64_t* sets, const std::uint32_t* words,
                    std::size_t n_words, std::uint32_t n);

  // The included lanes.
  std::uint64_t (*look)(const std::uint8_t* line);
};

// The kernels in use: the best that this processor runs, unless select_kernels() chose others.
const Kernels& kernels();
// "avx512", "avx2", "plain" or "auto"; false if this processor or build does not have it.
bool select_kernels(const char* name);
// Every set that runs here, best first, ended by a null pointer.
const Kernels* const* available_kernels();

}  // namespace newfound
