// Finds out at run time which kernels this processor runs.
#include <cstring>

#include "kernels.hpp"

namespace newfound {

namespace plain {
const Kernels& table();
}
#ifdef NEWFOUND_X86
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}
#endif
#ifdef NEWFOUND_ARM64
namespace neon {
const Kernels& table();
}
#endif

const Kernels* const* available_kernels() {
  static const Kernels* list[4] = {};
  static const bool filled = [] {
    int n = 0;
#ifdef NEWFOUND_X86
    __builtin_cpu_init();
    const bool bits = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
    if (bits && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      list[n++] = &avx512::table();
    if (bits && __builtin_cpu_supports("avx2")) list[n++] = &avx2::table();
#endif
#ifdef NEWFOUND_ARM64
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
