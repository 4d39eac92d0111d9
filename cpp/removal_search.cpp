#include "removal_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "elementary.hpp"

namespace newfound {

RemovalSearch::RemovalSearch(const TextScorer& scorer, const PairTable& pairs,
                             const WordSequence& text, const UnseenWords& unseen,
                             const NoveltyLaw& law)
    : scorer_(scorer),
      pairs_(pairs),
      text_(text),
      unseen_(unseen),
      law_(law),
      space_(scorer),
      is_removed_(text.columns.size(), 0),
      is_present_(text.columns.size(), 0) {}

std::int32_t RemovalSearch::column_of_pair(std::int32_t left, std::int32_t right) const {
  const std::int64_t a = text_.numbers[static_cast<std::size_t>(left)];
  const std::int64_t b = text_.numbers[static_cast<std::size_t>(right)];
  if (a < 0 || b < 0) return -1;
  const std::int64_t key = a << 32 | b;
  const auto found = std::lower_bound(pairs_.keys.begin(), pairs_.keys.end(), key);
  if (found == pairs_.keys.end() || *found != key) return -1;
  return pairs_.columns[static_cast<std::size_t>(found - pairs_.keys.begin())];
}

double RemovalSearch::margin() {
  const std::size_t n = text_.columns.size();
  std::fill(is_present_.begin(), is_present_.end(), 0);
  terms_.clear();
  unseen_places_.clear();
  keys_.clear();
  std::int32_t previous = -1;
  for (const std::int32_t word : text_.words) {
    if (word >= 0 && is_removed_[static_cast<std::size_t>(word)]) continue;
    if (word >= 0) {
      is_present_[static_cast<std::size_t>(word)] = 1;
      if (previous >= 0) keys_.push_back(static_cast<std::int64_t>(previous) << 32 | word);
    }
    previous = word;
  }
  std::int64_t n_words = 0;
  for (std::size_t word = 0; word < n; ++word) {
    if (!is_present_[word]) continue;
    ++n_words;
    if (text_.columns[word] >= 0)
      terms_.push_back(text_.columns[word]);
    else
      unseen_places_.push_back(text_.unseen_place[word]);
  }
  if (!n_words) return std::numeric_limits<double>::infinity();
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  std::int64_t unseen_pairs = 0;
  for (const std::int64_t key : keys_) {
    const std::int32_t column = column_of_pair(static_cast<std::int32_t>(key >> 32),
                                               static_cast<std::int32_t>(key & 0xffffffff));
    if (column >= 0)
      terms_.push_back(column);
    else
      ++unseen_pairs;
  }
  std::sort(terms_.begin(), terms_.end());
  std::sort(unseen_places_.begin(), unseen_places_.end());
  const TextView text{terms_, unseen_places_, static_cast<std::int64_t>(unseen_places_.size()),
                      unseen_pairs, static_cast<std::int64_t>(keys_.size())};
  const TextScore found = scorer_.score(text, unseen_, law_.by_rules, space_);
  const double length =
      std::min(std::max(exact_log1p(static_cast<double>(n_words)), law_.low), law_.high);
  double novelty = 0.0;
  for (std::size_t p = 0; p < kParts; ++p) {
    double centre = law_.centre[p];
    for (std::size_t i = kParts; i < law_.centre.size(); i += kParts)
      centre = centre * length + law_.centre[i + p];
    novelty += (found.parts[p] - centre) * law_.scale[p];
  }
  return novelty - law_.threshold[static_cast<std::size_t>(found.nearest)];
}

bool RemovalSearch::run(std::span<const std::int32_t> tried, std::size_t most,
                        std::size_t candidates, std::vector<std::int32_t>& removed) {
  removed.clear();
  std::fill(is_removed_.begin(), is_removed_.end(), 0);
  for (bool known = false; !known;) {
    if (removed.size() >= most) return false;
    std::int32_t best = -1;
    double lowest = 0.0;
    std::size_t n_tried = 0;
    for (const std::int32_t word : tried) {
      if (is_removed_[static_cast<std::size_t>(word)]) continue;
      if (n_tried++ == candidates) break;
      is_removed_[static_cast<std::size_t>(word)] = 1;
      const double left = margin();
      is_removed_[static_cast<std::size_t>(word)] = 0;
      if (best < 0 || left < lowest) {
        best = word;
        lowest = left;
      }
    }
    if (best < 0) return false;
    is_removed_[static_cast<std::size_t>(best)] = 1;
    removed.push_back(best);
    known = lowest <= 0;
  }
  for (std::size_t i = 0; i + 1 < removed.size();) {
    is_removed_[static_cast<std::size_t>(removed[i])] = 0;
    if (margin() <= 0) {
      removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      is_removed_[static_cast<std::size_t>(removed[i])] = 1;
      ++i;
    }
  }
  return true;
}

}  // namespace newfound
