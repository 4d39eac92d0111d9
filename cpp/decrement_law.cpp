#include "decrement_law.hpp"

#include <algorithm>
#include <iterator>

#include "random.hpp"

namespace newfound {
namespace {

constexpr std::uint32_t kLargestStep = DecrementTables::kLargestStep;
constexpr double kNegligible = 1e-22;
constexpr int kGeometricCells = 256;

// Only + - * / in this file: the tables, and so the models, must be the same on every platform.

constexpr std::size_t kOutcomes = 15;        // of a byte, beside kLeftover
constexpr std::uint32_t kMostLeftover = 32;  // of 256, for the first byte

// Divides the 256 values of a byte among the most probable outcomes, and replaces `law` by the law
// of the draw given that the byte did not decide. Returns how many values are left undecided.
std::uint32_t tabulate(std::vector<double>& law, ByteLaw& table) {
  std::vector<std::uint32_t> parts(law.size());
  std::vector<std::size_t> chosen;
  for (std::size_t d = 0; d < law.size(); ++d) {
    parts[d] = static_cast<std::uint32_t>(law[d] * 256.0);
    if (parts[d] > 0) chosen.push_back(d);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a] > parts[b]; });
  chosen.resize(std::min(chosen.size(), kOutcomes));

  std::uint8_t outcome[16];
  std::uint32_t weight[16] = {};
  std::fill(std::begin(outcome), std::end(outcome), ByteLaw::kLeftover);
  weight[15] = 256;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i] >= ByteLaw::kLeftover) continue;
    outcome[i] = static_cast<std::uint8_t>(chosen[i]);
    weight[i] = std::min(parts[chosen[i]], weight[15]);
    weight[15] -= weight[i];
    law[chosen[i]] -= weight[i] / 256.0;
  }
  const std::uint32_t leftover = weight[15];
  double total = 0.0;
  for (double& p : law) {
    p = std::max(0.0, p);
    total += p;
  }
  if (total > 0.0)
    for (double& p : law) p /= total;

  // Walker's method: each of 16 columns takes what is left of one outcome and is filled up with
  // another.
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < 16; ++i) (weight[i] < 16 ? small : large).push_back(i);
  for (int column = 0; column < 16; ++column) {
    const std::size_t big = large.back();
    std::size_t low = big;  // if none is small, all that are left have 16
    if (!small.empty()) {
      low = small.back();
      small.pop_back();
    }
    const std::uint32_t own = std::min(weight[low], 16U);
    table.above[column] = static_cast<std::uint8_t>(own > 0 ? 16 * own - 1 : 255);
    table.main[column] = outcome[own > 0 ? low : big];
    table.other[column] = outcome[big];
    weight[big] -= 16 - own;
    if (low == big || weight[big] < 16) large.pop_back();
    if (low != big && weight[big] < 16) small.push_back(big);
  }
  for (std::uint32_t u = 0; u < 256; ++u)
    table.draw[u] = u > table.above[u & 15] ? table.other[u & 15] : table.main[u & 15];
  return leftover;
}

// Tabulates a law; `last` receives what no byte decides. Returns false if the law needs too many
// outcomes, or leaves too much to the second byte.
bool tabulate(std::vector<double> law, BinomialTable& table, std::vector<double>& last) {
  const bool too_far = law.size() > ByteLaw::kLeftover && law[ByteLaw::kLeftover] > kNegligible;
  if (too_far || tabulate(law, table.byte[0]) > kMostLeftover) return false;
  for (int i = 1; i < BinomialTable::kBytes; ++i) tabulate(law, table.byte[i]);
  // A probability that is a multiple of 1/256 leaves nothing over, also between other outcomes.
  while (!law.empty() && law.back() < kNegligible) law.pop_back();
  double total = 0.0;
  for (std::size_t d = 0; d < law.size(); ++d) {
    if (last.empty() && law[d] < kNegligible) continue;
    if (last.empty()) table.last_first = static_cast<std::uint32_t>(d);
    total += law[d];
    last.push_back(total);
  }
  return true;
}

}  // namespace

DecrementLaw::DecrementLaw(double s) {
  const double p = 1.0 / s;
  std::vector<double> pmf(1, 1.0);  // of Binomial(k, p)
  for (std::uint32_t k = 0; k <= kLargestStep; ++k) {
    if (k > 0) {
      pmf.push_back(0.0);
      for (std::size_t d = k; d > 0; --d) pmf[d] = pmf[d] * (1.0 - p) + pmf[d - 1] * p;
      pmf[0] *= 1.0 - p;
    }
    BinomialTable table;
    std::vector<double> last;
    if (!tabulate(pmf, table, last)) break;
    binomial_.push_back(table);
    last_.push_back(std::move(last));
  }
  for (std::size_t k = 0; k < binomial_.size(); ++k) {
    binomial_[k].last = last_[k].data();
    binomial_[k].n_last = static_cast<std::uint32_t>(last_[k].size());
  }
  tables_ = {binomial_.data(), static_cast<std::uint32_t>(binomial_.size()) - 1, threshold32(p)};
  double none = 1.0;
  for (int g = 0; g < kGeometricCells; ++g) {
    none *= 1.0 - p;
    geometric_.push_back(threshold32(1.0 - none));
  }
  for (std::uint64_t byte = 0; byte < 256; ++byte)
    geometric_from_.push_back(static_cast<std::uint16_t>(
        std::upper_bound(geometric_.begin(), geometric_.end(), byte << 24) - geometric_.begin()));
}

std::uint64_t DecrementLaw::geometric(std::uint64_t key) const {
  std::uint64_t waited = 0;
  for (std::uint32_t round = 0;; ++round) {
    const std::uint64_t u = hash32(key, round);
    std::size_t cell = geometric_from_[u >> 24];
    while (cell < geometric_.size() && u >= geometric_[cell]) ++cell;
    if (cell < geometric_.size()) return waited + cell + 1;
    waited += geometric_.size();
  }
}

}  // namespace newfound
