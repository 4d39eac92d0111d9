#include "compiler.hpp"
#include "kernels.hpp"
#include "lanes_plain.hpp"

namespace newfound::plain {

#include "kernels.inl"

const Kernels& table() {
  static const Kernels kernels{"plain",   settle, feedback,  reinforce,
                               select_ib, unite,  unite_all, included};
  return kernels;
}

}  // namespace newfound::plain
