#include <cstring>

#include "bits.hpp"
#include "kernels.hpp"
#include "lanes_avx2.hpp"

namespace newfound::avx2 {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"avx2", settle, event, reinforce, advance, unite, unite_all, look};
  return kernels;
}

}  // namespace newfound::avx2
