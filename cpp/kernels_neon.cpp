#include "compiler.hpp"
#include "exponential.hpp"
#include "kernels.hpp"
#include "lanes_neon.hpp"

namespace newfound::neon {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"neon",   settle,    foresee,   included_after, unforesee,
                               feedback, reinforce, select_ib, unite_all,      first_common,
                               included, add_rows,  exp_all};
  return kernels;
}

}  // namespace newfound::neon
