// How automata and documents lie in memory: constants and plain structs, shared with the kernels.
//
// Words are numbered by document frequency, the most frequent first, and grouped in blocks of 64.
// A clause's row of automata is a sequence of lines of 64 bytes: line 2 b holds the plain literals
// of block b, line 2 b + 1 its negated ones. A literal is its place in the row: line * 64 + lane.
#pragma once

#include <cstdint>

namespace newfound {

constexpr int kLine = 64;               // automata in a line: one cache line
constexpr std::uint8_t kInclude = 128;  // the lowest state that includes its literal
constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint32_t kWindow = 8;  // trials that are drawn ahead in a foreseen line
static_assert(kWindow <= 8);          // one bit of a byte for each

static inline bool is_negated(std::uint32_t literal) { return literal & 64; }
static inline std::uint32_t word_of(std::uint32_t literal) {
  return (literal >> 7) * 64 + (literal & 63);
}

// Some words of one block: bit i is the block's i-th word.
struct WordBlock {
  std::uint32_t index;
  std::uint64_t words;
};

// One clause's automata and what is known of them. [0] is for plain literals, [1] for negated ones.
struct RowView {
  std::uint8_t* states;
  std::uint16_t* seen[2];      // for each line: the trials already applied to it
  std::uint64_t* included[2];  // a bit for each block: whether a literal of it may be included
  std::uint64_t* negated;      // for each block: a superset of its included negations
  std::uint32_t n_blocks;
  std::uint32_t n_foreseen;  // the negated lines of the first blocks are foreseen
  std::uint8_t* hits;   // of each automaton of these lines: which trials of the window lower it
  std::uint64_t* sure;  // for each of these blocks: the negations included until the window ends
};

}  // namespace newfound
