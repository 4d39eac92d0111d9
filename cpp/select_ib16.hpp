// Type I selection of up to 16 clauses in portable C++; see Kernels::select_ib.
#pragma once

#include <cstdint>

#include "random.hpp"

namespace newfound {

// Returns the selected clauses that do not match, as bits, and in `reached` those among them whose
// count of Ib events has reached `due`.
static inline std::uint32_t select_ib16_portable(std::uint32_t* ib, const std::uint32_t* due,
                                                 const std::uint8_t* matched, std::uint32_t first,
                                                 std::uint32_t n, std::uint32_t limit,
                                                 std::uint64_t key, std::uint32_t* reached) {
  std::uint32_t selected = 0, reach = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t hit = (hash32(key, first + i) <= limit) & (matched[i] == 0);
    ib[i] += hit;
    selected |= hit << i;
    reach |= (hit & (ib[i] >= due[i])) << i;
  }
  *reached = reach;
  return selected;
}

}  // namespace newfound
