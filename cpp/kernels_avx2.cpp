#include "compiler.hpp"
#include "kernels.hpp"
#include "lanes_avx2.hpp"

namespace newfound::avx2 {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"avx2",    settle, feedback,  reinforce,
                               select_ib, unite,  unite_all, included};
  return kernels;
}

}  // namespace newfound::avx2
