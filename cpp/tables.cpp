#include "tables.hpp"

#include <algorithm>

namespace newfound {
namespace {

constexpr std::uint32_t kLargestStep = 512;
constexpr double kNegligible = 1e-22;
constexpr int kGeometricCells = 256;

// Only + - * / in this file: the tables, and so the models, must be the same on every platform.

// Splits 65536 values of U among the draws; false if that takes more cells than a table has.
bool tabulate(const std::vector<double>& pmf, BinomialTable& table) {
  std::vector<std::uint32_t> width(pmf.size());
  std::size_t first = pmf.size(), last = 0, widest = 0;
  std::uint32_t covered = 0;
  for (std::size_t d = 0; d < pmf.size(); ++d) {
    width[d] = static_cast<std::uint32_t>(std::min(65536.0 - covered, pmf[d] * 65536.0));
    covered += width[d];
    if (width[d] == 0) continue;
    first = std::min(first, d);
    last = d;
    if (width[d] > width[widest]) widest = d;
  }
  if (last - first > BinomialTable::kMaxCells) return false;
  if (covered == 65536) {
    --width[widest];
    --covered;
  }
  table.residual = 65536 - covered;
  table.least = static_cast<std::uint8_t>(std::min<std::size_t>(first, 255));
  table.cells = static_cast<std::uint32_t>(last - first);
  std::fill(table.edge, table.edge + BinomialTable::kMaxCells + 1, std::uint16_t{65535});
  std::uint32_t end = table.residual;
  for (std::size_t d = first; d < last; ++d) {
    end += width[d];
    table.edge[d - first] = static_cast<std::uint16_t>(end - 1);
  }
  double total = 0.0;
  for (std::size_t d = 0; d < pmf.size(); ++d) {
    const double rest = pmf[d] * 65536.0 - width[d];
    if (table.leftover.empty() && rest < kNegligible) continue;
    if (table.leftover.empty()) table.leftover_first = static_cast<std::uint32_t>(d);
    total += std::max(0.0, rest);
    table.leftover.push_back(total);
    if (d > last && pmf[d] < kNegligible) break;
  }
  for (double& value : table.leftover) value /= total;
  table.most = static_cast<std::uint32_t>(
      std::max(last + 1, table.leftover_first + table.leftover.size()) - 1);
  return true;
}

}  // namespace

DecrementLaw::DecrementLaw(double s) : hit_threshold_(threshold32(1.0 / s)) {
  const double p = 1.0 / s;
  binomial_.resize(1);
  std::vector<double> pmf(1, 1.0);
  for (std::uint32_t k = 1; k <= kLargestStep; ++k) {
    pmf.push_back(0.0);
    for (std::size_t d = k; d > 0; --d) pmf[d] = pmf[d] * (1.0 - p) + pmf[d - 1] * p;
    pmf[0] *= 1.0 - p;
    BinomialTable table;
    if (!tabulate(pmf, table)) break;
    binomial_.push_back(std::move(table));
  }
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
