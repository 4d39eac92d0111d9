// Finds out at run time which kernels this processor runs.
#include "dispatch.hpp"

#include <cstring>

#include "compiler.hpp"
#include "kernels.hpp"

namespace newfound {

namespace plain {
const Kernels& table();
}
#ifdef NEWFOUND_AVX_KERNELS
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}
#endif
#ifdef NEWFOUND_NEON_KERNELS
namespace neon {
const Kernels& table();
}
#endif

const Kernels* const* available_kernels() {
  static const Kernels* list[4] = {};
  static const bool filled = [] {
    int n = 0;
#ifdef NEWFOUND_AVX_KERNELS
    const std::uint32_t known = cpuid(1).ecx;
    const X86Features found =
        x86_features(known, cpuid(7).ebx, known & kSavesRegisters ? saved_registers() : 0);
    if (found.avx512) list[n++] = &avx512::table();
    if (found.avx2) list[n++] = &avx2::table();
#endif
#ifdef NEWFOUND_NEON_KERNELS
    list[n++] = &neon::table();  // every 64-bit Arm processor has it
#endif
    list[n] = &plain::table();
    return true;
  }();
  (void)filled;
  return list;
}

const Kernels* find_kernels(const char* name) {
  for (const Kernels* const* k = available_kernels(); *k; ++k)
    if (std::strcmp((*k)->name, name) == 0) return *k;
  return nullptr;
}

}  // namespace newfound
