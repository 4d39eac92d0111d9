#include "compiler.hpp"
#include "kernels.hpp"
#include "lanes_neon.hpp"

namespace newfound::neon {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"neon",    settle, feedback,  reinforce,
                               select_ib, unite,  unite_all, included};
  return kernels;
}

}  // namespace newfound::neon
