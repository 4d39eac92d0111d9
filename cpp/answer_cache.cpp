#include "answer_cache.hpp"

#include <algorithm>
#include <numeric>

namespace newfound {
namespace {

constexpr std::size_t kAnswerBytes = std::size_t{24} << 20;  // of two of the three sets
constexpr std::size_t kPostingBytes = std::size_t{8} << 20;

}  // namespace

AnswerCache::AnswerCache(const Machine& machine, const Documents& documents)
    : documents_(documents), kernels_(*machine.execution().kernels) {
  const std::size_t n = machine.total_clauses();
  const std::size_t wanted = std::min<std::size_t>(static_cast<std::size_t>(documents.size()),
                                                   machine.execution().cached_documents);
  const std::size_t words = (wanted + 64 * kSetWords - 1) / (64 * kSetWords) * kSetWords;
  n_words_ =
      static_cast<std::uint32_t>(std::min(words, kAnswerBytes / 16 / n / kSetWords * kSetWords));
  window_size_ = std::min(static_cast<std::int64_t>(wanted), std::int64_t{64} * n_words_);
  answers_.assign(n * kSets * n_words_, 0);
  n_posted_ = static_cast<std::uint32_t>(std::min<std::size_t>(
      machine.parameters().n_features, kPostingBytes / 8 / std::max(1U, n_words_)));
  if (!one_window()) return;
  std::vector<std::uint32_t> all(static_cast<std::size_t>(documents.size()));
  std::iota(all.begin(), all.end(), 0U);
  open_window(all.data(), all.data() + all.size());
}

void AnswerCache::open_window(const std::uint32_t* begin, const std::uint32_t* end) {
  ++window_;
  postings_.assign(static_cast<std::size_t>(n_posted_) * n_words_, 0);
  for (const std::uint32_t* document = begin; document != end; ++document) {
    const auto slot = static_cast<std::size_t>(document - begin);
    for (const std::uint32_t* w = documents_.begin(*document);
         w != documents_.end(*document) && *w < n_posted_; ++w)
      postings_[static_cast<std::size_t>(*w) * n_words_ + (slot >> 6)] |= 1ULL << (slot & 63);
  }
}

void AnswerCache::add_match(std::uint32_t c, std::uint32_t slot) {
  known_of(c)[slot >> 6] |= 1ULL << (slot & 63);
  matching_of(c)[slot >> 6] |= 1ULL << (slot & 63);
}

void AnswerCache::add_refuted_briefly(std::uint32_t c, std::uint32_t slot) {
  brief_of(c)[slot >> 6] |= 1ULL << (slot & 63);
}

void AnswerCache::add_refuted_by(std::uint32_t c, std::uint32_t word, bool negated) {
  kernels_.unite(known_of(c), posting(word), negated ? 0 : ~0ULL, n_words_);
}

void AnswerCache::add_matches(std::uint32_t c, const std::vector<std::uint32_t>& plain,
                              const std::vector<std::uint32_t>& negated) {
  std::vector<std::uint64_t> refuted(n_words_, 0);
  for (const std::uint32_t word : plain)
    kernels_.unite(refuted.data(), posting(word), ~0ULL, n_words_);
  kernels_.unite_all(refuted.data(), postings_.data(), negated.data(), negated.size(), n_words_);
  kernels_.unite(known_of(c), refuted.data(), ~0ULL, n_words_);
  kernels_.unite(matching_of(c), refuted.data(), ~0ULL, n_words_);
}

void AnswerCache::clear(std::uint32_t c) { std::fill_n(known_of(c), kSets * n_words_, 0); }

void AnswerCache::keep_matches_only(std::uint32_t c) {
  std::copy_n(matching_of(c), n_words_, known_of(c));
  clear_brief(c);
}

void AnswerCache::clear_brief(std::uint32_t c) { std::fill_n(brief_of(c), n_words_, 0); }

}  // namespace newfound
