// All that depends on the compiler or the processor: GCC and clang on the one hand, MSVC on the
// other, and portable code for the rest. No other file may use what only some compilers know;
// cpp/tests/check_portable.py looks for it.
//
// Functions are static, like all functions that kernels include: each file compiles its own.
#pragma once

#include <cstdint>

#if defined(__x86_64__) || (defined(_M_X64) && !defined(_M_ARM64EC))
#define NEWFOUND_X86 1
#elif defined(__aarch64__) || defined(_M_ARM64)
#define NEWFOUND_ARM64 1
#endif

#if defined(__GNUC__)  // clang too, but where it stands in for MSVC
#define NEWFOUND_GNU 1
#endif

#if defined(__GNUC__) || defined(__clang__)
#define NEWFOUND_INLINE [[gnu::always_inline]]
#define NEWFOUND_NOINLINE [[gnu::noinline]]
#define NEWFOUND_UNROLL _Pragma("GCC unroll 4")
#elif defined(_MSC_VER)
#define NEWFOUND_INLINE [[msvc::forceinline]]
#define NEWFOUND_NOINLINE [[msvc::noinline]]
#define NEWFOUND_UNROLL
#else
#define NEWFOUND_INLINE
#define NEWFOUND_NOINLINE
#define NEWFOUND_UNROLL
#endif

#ifdef _MSC_VER
#include <intrin.h>
#elif defined(NEWFOUND_X86)
#include <cpuid.h>
#endif

namespace newfound {

static inline std::uint32_t count_bits_portable(std::uint64_t x) {
  x -= (x >> 1) & 0x5555555555555555ULL;
  x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
  x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
  return static_cast<std::uint32_t>((x * 0x0101010101010101ULL) >> 56);
}

static inline std::uint32_t count_bits(std::uint64_t x) {
#if defined(NEWFOUND_GNU) && (defined(__POPCNT__) || defined(NEWFOUND_ARM64))
  return static_cast<std::uint32_t>(__builtin_popcountll(x));
#elif defined(_MSC_VER) && defined(__AVX2__)
  return static_cast<std::uint32_t>(__popcnt64(x));
#else
  return count_bits_portable(x);
#endif
}

// The lowest and the highest bit are those of a number that is not 0.
static inline std::uint32_t lowest_bit_portable(std::uint64_t x) {
  return count_bits_portable((x & (0 - x)) - 1);
}

static inline std::uint32_t highest_bit_portable(std::uint64_t x) {
  std::uint32_t bit = 0;
  while (x >>= 1) ++bit;
  return bit;
}

static inline std::uint32_t lowest_bit(std::uint64_t x) {
#if defined(NEWFOUND_GNU)
  return static_cast<std::uint32_t>(__builtin_ctzll(x));
#elif defined(_MSC_VER)
  unsigned long bit;
  _BitScanForward64(&bit, x);
  return bit;
#else
  return lowest_bit_portable(x);
#endif
}

static inline std::uint32_t highest_bit(std::uint64_t x) {
#if defined(NEWFOUND_GNU)
  return 63 - static_cast<std::uint32_t>(__builtin_clzll(x));
#elif defined(_MSC_VER)
  unsigned long bit;
  _BitScanReverse64(&bit, x);
  return bit;
#else
  return highest_bit_portable(x);
#endif
}

// The upper half of the product, by four products of halves.
static inline std::uint64_t multiply_high_portable(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t a_low = a & 0xFFFFFFFFULL, a_high = a >> 32;
  const std::uint64_t b_low = b & 0xFFFFFFFFULL, b_high = b >> 32;
  const std::uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
  const std::uint64_t other = a_low * b_high + (middle & 0xFFFFFFFFULL);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

static inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 Product;
  return static_cast<std::uint64_t>((static_cast<Product>(a) * b) >> 64);
#elif defined(_MSC_VER)
  return __umulh(a, b);
#else
  return multiply_high_portable(a, b);
#endif
}

// Asks for a cache line that will be written.
static inline void prefetch(const void* p) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(p, 1);
#elif defined(_MSC_VER) && defined(NEWFOUND_X86)
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
#elif defined(_MSC_VER) && defined(NEWFOUND_ARM64)
  __prefetch(p);
#else
  (void)p;
#endif
}

// For a thread that spins: lets another one of the same core go ahead.
static inline void pause_spinning() {
#if defined(NEWFOUND_GNU) && defined(NEWFOUND_X86)
  __builtin_ia32_pause();
#elif defined(NEWFOUND_GNU) && defined(NEWFOUND_ARM64)
  asm volatile("yield");
#elif defined(_MSC_VER) && defined(NEWFOUND_X86)
  _mm_pause();
#elif defined(_MSC_VER) && defined(NEWFOUND_ARM64)
  __yield();
#endif
}

#ifdef NEWFOUND_X86
struct Cpuid {
  std::uint32_t eax, ebx, ecx, edx;
};

// All zero where the processor does not know the leaf.
static inline Cpuid cpuid(std::uint32_t leaf) {
  Cpuid out{};
#ifdef _MSC_VER
  int most[4], found[4];
  __cpuid(most, 0);
  if (static_cast<std::uint32_t>(most[0]) < leaf) return out;
  __cpuidex(found, static_cast<int>(leaf), 0);
  out = {static_cast<std::uint32_t>(found[0]), static_cast<std::uint32_t>(found[1]),
         static_cast<std::uint32_t>(found[2]), static_cast<std::uint32_t>(found[3])};
#else
  __get_cpuid_count(leaf, 0, &out.eax, &out.ebx, &out.ecx, &out.edx);
#endif
  return out;
}

// Which registers the operating system saves. Only where it has switched that on: see dispatch.cpp.
static inline std::uint64_t saved_registers() {
#ifdef _MSC_VER
  return _xgetbv(0);
#else
  std::uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
#endif
}
#endif

}  // namespace newfound
