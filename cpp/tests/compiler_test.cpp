// The portable code of compiler.hpp against what compilers have built in, and both against what is
// known; and which instruction sets a processor has, against what the compiler says.
#include "compiler.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "dispatch.hpp"
#include "kernels.hpp"
#include "random.hpp"

namespace {

using namespace newfound;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

// All sums and differences of two powers of two, which have carries of every length, and many
// random numbers of every length.
std::vector<std::uint64_t> numbers() {
  std::vector<std::uint64_t> out{0, 1, ~0ULL};
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j <= i; ++j) {
      out.push_back((1ULL << i) + (1ULL << j));
      out.push_back((1ULL << i) - (1ULL << j));
    }
  for (std::uint64_t i = 0; i < 2000; ++i) out.push_back(mix64(1, i) >> (i % 64));
  return out;
}

// The upper half of the product, bit by bit.
std::uint64_t slow_multiply_high(std::uint64_t a, std::uint64_t b) {
  std::uint64_t high = 0, low = 0;
  for (int i = 63; i >= 0; --i) {
    high = high << 1 | low >> 63;
    low <<= 1;
    if (!(b >> i & 1)) continue;
    low += a;
    high += low < a;
  }
  return high;
}

void check_products() {
  require(multiply_high_portable(~0ULL, ~0ULL) == ~0ULL - 1, "the largest product");
  require(multiply_high_portable(1ULL << 63, 2) == 1, "the smallest upper half");
  require(multiply_high_portable(1ULL << 63, 1) == 0, "no upper half");
  const std::vector<std::uint64_t> all = numbers();
  std::uint64_t n = 0;
  for (const std::uint64_t a : all)
    for (const std::uint64_t b : all) {
      const std::uint64_t found = multiply_high_portable(a, b);
      require(found == multiply_high(a, b), "portable product");
      if (++n % 97 == 0) require(found == slow_multiply_high(a, b), "product");
    }
  std::printf("%llu products are the same\n", static_cast<unsigned long long>(n));
}

void check_bits() {
  for (const std::uint64_t x : numbers()) {
    std::uint32_t count = 0, lowest = 64, highest = 0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      if (!(x >> i & 1)) continue;
      ++count;
      highest = i;
      if (lowest == 64) lowest = i;
    }
    require(count_bits(x) == count && count_bits_portable(x) == count, "count of bits");
    if (x == 0) continue;
    require(lowest_bit(x) == lowest && lowest_bit_portable(x) == lowest, "lowest bit");
    require(highest_bit(x) == highest && highest_bit_portable(x) == highest, "highest bit");
  }
}

void check_features() {
  constexpr std::uint32_t leaf1 = 1U << 28 | 1U << 23, avx2 = 1U << 3 | 1U << 5;
  constexpr std::uint32_t avx512 = 1U << 3 | 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31;
  for (std::uint32_t bit = 0; bit < 32; ++bit) {  // each of these bits is needed, and no other
    const std::uint32_t without = ~(1U << bit);
    require(x86_features(leaf1 & without, avx2, 6).avx2 == !(leaf1 >> bit & 1), "AVX2, leaf 1");
    require(x86_features(leaf1, avx2 & without, 6).avx2 == !(avx2 >> bit & 1), "AVX2, leaf 7");
    require(x86_features(leaf1, avx2, 6 & without).avx2 == !(6U >> bit & 1), "AVX2, registers");
    require(x86_features(leaf1 & without, avx512, 0xE6).avx512 == !(leaf1 >> bit & 1), "leaf 1");
    require(x86_features(leaf1, avx512 & without, 0xE6).avx512 == !(avx512 >> bit & 1), "leaf 7");
    require(x86_features(leaf1, avx512, 0xE6 & without).avx512 == !(0xE6U >> bit & 1),
            "AVX-512, registers");
  }
  const std::string lanes = available_kernels()[0]->name;
#if defined(NEWFOUND_X86) && defined(NEWFOUND_GNU)
  __builtin_cpu_init();
  const bool bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
  const bool has_avx2 = bits && __builtin_cpu_supports("avx2");
  const bool has_avx512 = bits && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  require((find_kernels("avx2") != nullptr) == has_avx2, "AVX2 as the compiler sees it");
  require((find_kernels("avx512") != nullptr) == has_avx512, "AVX-512 as the compiler sees it");
#elif defined(NEWFOUND_ARM64)
  require(lanes == "neon", "lanes of this processor");
#endif
  std::printf("this processor runs %s\n", lanes.c_str());
}

}  // namespace

int main() {
  check_products();
  check_bits();
  check_features();
  std::printf("3 passed, 0 failed\n");
  return 0;
}
