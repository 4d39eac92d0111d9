#include <cstring>

#include "bits.hpp"
#include "kernels.hpp"
#include "lanes_plain.hpp"

namespace newfound::plain {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"plain", settle, event, reinforce, advance, unite, unite_all, look};
  return kernels;
}

}  // namespace newfound::plain
