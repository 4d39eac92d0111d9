// Which instruction sets an x86 processor has, by what its CPUID instruction says.
#pragma once

#include <cstdint>

namespace newfound {

struct X86Features {
  bool avx2, avx512;  // all that the kernels of that name are compiled for
};

constexpr std::uint32_t kSavesRegisters = 1U << 27;  // of ECX of leaf 1: XGETBV may be asked

// `leaf1_ecx`, `leaf7_ebx`: registers after CPUID. `saved`: the registers that the operating system
// saves, after XGETBV; 0 where that may not be asked.
constexpr X86Features x86_features(std::uint32_t leaf1_ecx, std::uint32_t leaf7_ebx,
                                   std::uint64_t saved) {
  const auto has = [](std::uint64_t bits, std::uint64_t wanted) {
    return (bits & wanted) == wanted;
  };
  const std::uint32_t avx = 1U << 28, popcnt = 1U << 23;                          // of leaf 1
  const std::uint32_t bmi = 1U << 3, avx2 = 1U << 5;                              // of leaf 7
  const std::uint32_t f = 1U << 16, dq = 1U << 17, bw = 1U << 30, vl = 1U << 31;  // AVX-512
  const std::uint64_t ymm = 0x06, zmm = 0xE6;  // with all smaller registers
  const bool vectors = has(leaf1_ecx, avx | popcnt) && has(leaf7_ebx, bmi) && has(saved, ymm);
  return {vectors && has(leaf7_ebx, avx2),
          vectors && has(saved, zmm) && has(leaf7_ebx, f | dq | bw | vl)};
}

}  // namespace newfound
