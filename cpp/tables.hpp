// Exact laws of repeated 1/s decrements, tabulated for vector look-up.
#pragma once

#include <cstdint>
#include <vector>

#include "random.hpp"

namespace newfound {

// Binomial(k, p) as a mixture: a 16-bit uniform U >= residual lands in cell d of width
// floor(65536 P(d)); the few values U < residual draw from what the rounding left over. The mixture
// is the binomial law itself, not an approximation of it. A draw is
//   least + #{i < cells : U > edge[i]}   if U >= residual, else from `leftover`.
struct BinomialTable {
  static constexpr std::uint32_t kMaxCells = 63;
  alignas(64) std::uint16_t edge[kMaxCells + 1];  // ascending; 65535 beyond `cells`
  std::uint8_t least = 0;                         // at most 255: no automaton can go down further
  std::uint32_t cells = 0;
  std::uint32_t residual = 0;        // at least 1
  std::uint32_t leftover_first = 0;  // the smallest draw in `leftover`
  std::vector<double> leftover;      // cumulative law of the draw, given U < residual
  std::uint32_t most = 0;            // the largest draw there is
};

class DecrementLaw {
 public:
  explicit DecrementLaw(double s);

  // k beyond max_step() is settled in several draws, whose sum has the same law.
  std::uint32_t max_step() const { return static_cast<std::uint32_t>(binomial_.size()) - 1; }
  const BinomialTable& binomial(std::uint32_t k) const { return binomial_[k]; }
  // P(hit) = hit_threshold() / 2^32
  std::uint64_t hit_threshold() const { return hit_threshold_; }
  // How many events until the first hit, counting from one.
  std::uint64_t geometric(std::uint64_t key) const;

 private:
  std::vector<BinomialTable> binomial_;
  std::vector<std::uint64_t> geometric_;       // geometric_[g] = 2^32 P(first hit <= g + 1)
  std::vector<std::uint16_t> geometric_from_;  // where to start looking, by the highest byte
  std::uint64_t hit_threshold_;
};

}  // namespace newfound
