// Exact laws of repeated 1/s decrements, tabulated for vector look-up.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"

namespace newfound {

// A law drawn by one uniform byte U, in the way of Walker (1977): with b = U mod 16, the draw is
// U > above[b] ? other[b] : main[b]. What 256 equal parts cannot say is left to another law: the
// draw is then kLeftover.
struct ByteLaw {
  static constexpr std::uint8_t kLeftover = 128;
  std::uint8_t above[16], main[16], other[16];
  std::uint8_t draw[256];  // the same for each U, where there is no vector look-up
};

// Binomial(k, p) by one byte, seldom by more, and hardly ever by a number of 53 bits: the binomial
// law itself, not an approximation of it.
struct BinomialTable {
  static constexpr int kBytes = 3;
  ByteLaw byte[kBytes];
  std::uint32_t last_first = 0;  // the smallest draw in `last`
  std::vector<double> last;      // cumulative law of the draw that the bytes left over

  // Inlined, like all that kernels use: each instruction set must have its own.
  [[gnu::always_inline]] std::uint8_t draw_last(double u) const {
    std::uint32_t d = 0;
    while (d + 1 < last.size() && u >= last[d]) ++d;
    d += last_first;
    return static_cast<std::uint8_t>(d < 255 ? d : 255);  // no automaton can go down further
  }
};

class DecrementLaw {
 public:
  static constexpr std::uint32_t kLargestStep = 512;

  explicit DecrementLaw(double s);

  // k beyond max_step() is settled in several draws, whose sum has the same law.
  [[gnu::always_inline]] std::uint32_t max_step() const {
    return static_cast<std::uint32_t>(binomial_.size()) - 1;
  }
  [[gnu::always_inline]] const BinomialTable& binomial(std::uint32_t k) const {
    return binomial_[k];
  }
  // P(hit) = hit_threshold() / 2^32
  [[gnu::always_inline]] std::uint64_t hit_threshold() const { return hit_threshold_; }
  // How many events until the first hit, counting from one.
  std::uint64_t geometric(std::uint64_t key) const;

 private:
  std::vector<BinomialTable> binomial_;
  std::vector<std::uint64_t> geometric_;       // geometric_[g] = 2^32 P(first hit <= g + 1)
  std::vector<std::uint16_t> geometric_from_;  // where to start looking, by the highest byte
  std::uint64_t hit_threshold_;
};

}  // namespace newfound
