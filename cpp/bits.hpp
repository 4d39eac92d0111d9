// Bit operations. Static, like all functions that kernels include: each file compiles its own.
#pragma once

#include <cstdint>

namespace newfound {

static inline std::uint32_t count_bits(std::uint64_t x) {
#if defined(__POPCNT__) || defined(__aarch64__)
  return static_cast<std::uint32_t>(__builtin_popcountll(x));
#else
  x -= (x >> 1) & 0x5555555555555555ULL;
  x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
  return static_cast<std::uint32_t>((x * 0x0101010101010101ULL) >> 56);
#endif
}

static inline std::uint32_t lowest_bit(std::uint64_t x) {
  return static_cast<std::uint32_t>(__builtin_ctzll(x));
}

static inline std::uint32_t highest_bit(std::uint64_t x) {
  return 63 - static_cast<std::uint32_t>(__builtin_clzll(x));
}

static inline void prefetch(const void* p) { __builtin_prefetch(p, 1); }

}  // namespace newfound
