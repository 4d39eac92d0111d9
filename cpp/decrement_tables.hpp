// Tables of the binomial law of decrements, in plain structs that the kernels read.
#pragma once

#include <cstdint>

namespace newfound {

// A law drawn by one uniform byte U with an alias table (Walker 1977): with b = U mod 16, the draw
// is U > above[b] ? other[b] : main[b]. Probabilities that are no multiple of 1/256 leave some
// values of U undecided: the draw is then kLeftover, and the next table decides.
struct ByteLaw {
  static constexpr std::uint8_t kLeftover = 128;
  std::uint8_t above[16], main[16], other[16];
  std::uint8_t draw[256];  // the same by U itself, for code without vector look-up
};

// Binomial(k, 1/s): decided by one byte, seldom by two or three, and in the last resort by a
// uniform number of 53 bits. Together they are the binomial law itself, not an approximation.
struct BinomialTable {
  static constexpr int kBytes = 3;
  ByteLaw byte[kBytes];
  const double* last = nullptr;  // cumulative law of the draw, given that no byte decided
  std::uint32_t n_last = 0;
  std::uint32_t last_first = 0;  // the draw that last[0] stands for
};

// The tables for one value of s.
struct DecrementTables {
  static constexpr std::uint32_t kLargestStep = 512;
  const BinomialTable* binomial;  // binomial[k] for k = 0 ... max_step
  std::uint32_t max_step;         // more trials are drawn in several steps, with the same total law
  std::uint64_t hit_threshold;    // a single trial hits with probability hit_threshold / 2^32
};

}  // namespace newfound
