#include "conjunctions.hpp"

#include <stdexcept>

namespace newfound {

Conjunctions::Conjunctions(std::span<const std::int64_t> begin, std::span<const std::int32_t> words,
                           std::uint32_t n_words)
    : n_words_(n_words) {
  if (begin.empty() || begin.front() != 0 ||
      begin.back() != static_cast<std::int64_t>(words.size()))
    throw std::invalid_argument("begin must run from 0 to the number of words");
  std::vector<std::uint32_t> frequency(n_words, 0);
  for (const std::int32_t word : words) {
    if (word < 0 || static_cast<std::uint32_t>(word) >= n_words)
      throw std::invalid_argument("the words of ANDs must be below n_words");
    ++frequency[static_cast<std::size_t>(word)];
  }
  const std::size_t n = begin.size() - 1;
  watched_.resize(n);
  watching_begin_.assign(n_words + 1, 0);
  others_begin_.assign(n + 1, 0);
  others_.reserve(words.size() - std::min(n, words.size()));
  for (std::size_t j = 0; j < n; ++j) {
    if (begin[j + 1] <= begin[j]) throw std::invalid_argument("each AND must have a word");
    const auto own = words.subspan(static_cast<std::size_t>(begin[j]),
                                   static_cast<std::size_t>(begin[j + 1] - begin[j]));
    std::size_t rarest = 0;
    for (std::size_t i = 1; i < own.size(); ++i)
      if (frequency[static_cast<std::size_t>(own[i])] <
          frequency[static_cast<std::size_t>(own[rarest])])
        rarest = i;
    watched_[j] = own[rarest];
    ++watching_begin_[static_cast<std::size_t>(own[rarest]) + 1];
    for (std::size_t i = 0; i < own.size(); ++i)
      if (i != rarest) others_.push_back(own[i]);
    others_begin_[j + 1] = static_cast<std::int64_t>(others_.size());
  }
  for (std::size_t word = 0; word < n_words; ++word)
    watching_begin_[word + 1] += watching_begin_[word];
  watching_.resize(n);
  std::vector<std::int64_t> next(watching_begin_.begin(), watching_begin_.end() - 1);
  for (std::size_t j = 0; j < n; ++j)
    watching_[static_cast<std::size_t>(next[static_cast<std::size_t>(watched_[j])]++)] =
        static_cast<std::int32_t>(j);
  having_begin_.assign(n_words + 1, 0);
  for (std::size_t word = 0; word < n_words; ++word)
    having_begin_[word + 1] = having_begin_[word] + frequency[word];
  having_.resize(words.size());
  next.assign(having_begin_.begin(), having_begin_.end() - 1);
  for (std::size_t j = 0; j < n; ++j)
    for (std::int64_t i = begin[j]; i < begin[j + 1]; ++i) {
      const auto word = static_cast<std::size_t>(words[static_cast<std::size_t>(i)]);
      having_[static_cast<std::size_t>(next[word]++)] = static_cast<std::int32_t>(j);
    }
}

void Conjunctions::matching(std::span<const std::int32_t> document, Marks& marks,
                            std::vector<std::int32_t>& found) const {
  found.clear();
  marks.clear();
  for (const std::int32_t word : document) marks.add(word);
  for (const std::int32_t word : document) {
    const auto w = static_cast<std::size_t>(word);
    for (std::int64_t i = watching_begin_[w]; i < watching_begin_[w + 1]; ++i) {
      const auto j = static_cast<std::size_t>(watching_[static_cast<std::size_t>(i)]);
      const auto* other = others_.data() + others_begin_[j];
      const auto* end = others_.data() + others_begin_[j + 1];
      while (other != end && marks.has(*other)) ++other;
      if (other == end) found.push_back(static_cast<std::int32_t>(j));
    }
  }
  std::sort(found.begin(), found.end());
}

Conjunctions::Nearly Conjunctions::nearly(std::span<const std::int32_t> document) const {
  Marks marks(n_words_);
  for (const std::int32_t word : document) marks.add(word);
  std::vector<std::int32_t> candidates;
  for (const std::int32_t word : document) {
    const auto w = static_cast<std::size_t>(word);
    candidates.insert(candidates.end(), having_.begin() + having_begin_[w],
                      having_.begin() + having_begin_[w + 1]);
  }
  std::sort(candidates.begin(), candidates.end());
  Nearly out;
  for (std::size_t i = 0; i < candidates.size();) {
    const std::int32_t candidate = candidates[i];
    const auto j = static_cast<std::size_t>(candidate);
    std::int64_t present = 0;
    for (; i < candidates.size() && candidates[i] == candidate; ++i) ++present;
    const std::int64_t missing = 1 + others_begin_[j + 1] - others_begin_[j] - present;
    if (missing == 0) out.matching.push_back(candidate);
    if (missing != 1) continue;
    const auto* other = others_.data() + others_begin_[j];
    const auto* end = others_.data() + others_begin_[j + 1];
    while (other != end && marks.has(*other)) ++other;
    out.lacking.push_back(candidate);
    out.word.push_back(other != end ? *other : watched_[j]);
  }
  return out;
}

}  // namespace newfound
