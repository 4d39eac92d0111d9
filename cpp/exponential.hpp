// exp of one number, for kernels and for all others: without branches, so that compilers vectorise
// loops of it. Static, like all functions that kernels include: each file compiles its own.
#pragma once

#include <cstdint>
#include <cstring>

namespace newfound {

// log 2 in two parts, the first of which ends in zeros, so that its small multiples are exact.
constexpr double kLog2High = 0x1.62e42fefa38p-1, kLog2Low = 0x1.ef35793c7673p-45;

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2, by Taylor's series.
static inline double exp_rest(double r) {
  double sum = 1.0 / 1307674368000.0;
  sum = sum * r + 1.0 / 87178291200.0;
  sum = sum * r + 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  return sum * r + 1.0 / 2.0;
}

// For |x| <= 708: otherwise the result has no meaning.
static inline double exp_within(double x) {
  // x = k log 2 + r. Adding 1.5 * 2^52 leaves k in the last bits of a number.
  constexpr double kShift = 0x1.8p52;
  const double shifted = x * 1.4426950408889634 + kShift, times = shifted - kShift;
  const double high = x - times * kLog2High, low = times * kLog2Low, r = high - low;
  // What the subtraction and the sum lose, for the last digit.
  const double lost = (high - r) - low, sum = 1 + r, rest = r - (sum - 1);
  const double value = sum + (rest + (r * r * exp_rest(r) + lost));
  std::int64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = static_cast<std::int64_t>(static_cast<std::uint64_t>(bits + 1023) << 52);
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return value * scale;
}

}  // namespace newfound
