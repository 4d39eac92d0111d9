#include "compiler.hpp"
#include "kernels.hpp"
#include "lanes_avx512.hpp"

namespace newfound::avx512 {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"avx512",  settle, feedback,  reinforce,
                               select_ib, unite,  unite_all, included};
  return kernels;
}

}  // namespace newfound::avx512
