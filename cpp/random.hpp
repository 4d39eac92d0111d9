// Counter-based randomness: a value depends on a key and a position, never on who asks or when.
// Static, like all functions that kernels include: each file compiles its own.
#pragma once

#include <cstdint>

namespace newfound {

constexpr std::uint64_t kGolden64 = 0x9E3779B97F4A7C15ULL;
constexpr std::uint32_t kGolden32 = 0x9E3779B9U;
constexpr std::uint32_t kHashMul1 = 0x7FEB352DU;
constexpr std::uint32_t kHashMul2 = 0x846CA68BU;

// A bijection of 64 bits in which every output bit depends on every input bit.
static inline std::uint64_t mix64(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

static inline std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  return mix64(mix64(a + kGolden64) ^ (b * kGolden64));
}

// The 32-bit value at `position` of the stream `key`; the vector code computes the same function.
static inline std::uint32_t hash32(std::uint64_t key, std::uint32_t position) {
  std::uint32_t x = static_cast<std::uint32_t>(key) + position * kGolden32;
  x ^= x >> 16;
  x *= kHashMul1;
  x ^= static_cast<std::uint32_t>(key >> 32);
  x ^= x >> 15;
  x *= kHashMul2;
  return x ^ (x >> 16);
}

static inline double to_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

// A threshold t with P(hash32 < t) = p, clipped to 2^32 for p = 1.
static inline std::uint64_t threshold32(double p) {
  const double scaled = p * 4294967296.0;
  return scaled >= 4294967296.0 ? 4294967296ULL : static_cast<std::uint64_t>(scaled + 0.5);
}

}  // namespace newfound
