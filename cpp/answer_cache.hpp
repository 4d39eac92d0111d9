// Cached answers: for which documents it is known whether a clause matches them.
//
// For each clause there are three sets of documents, as bits: those that are known to match or to
// be refuted, those among them that match, and those that are refuted for a short time only.
// Answers are kept for the documents of a window, each at its slot: all documents if they are few,
// else those that come next in the epoch. Postings (for each frequent word, the set of documents of
// the window that contain it) answer for all documents at once.
//
// When answers expire is decided in ClauseStore.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler.hpp"
#include "documents.hpp"
#include "kernels.hpp"
#include "machine.hpp"

namespace newfound {

class AnswerCache {
 public:
  AnswerCache(const Machine& machine, const Documents& documents);

  bool one_window() const { return documents_.size() <= window_size_; }
  std::int64_t window_size() const { return window_size_; }
  // The number of the present window; answers of another one are stale.
  std::uint32_t window() const { return window_; }
  // Begins the next window with these documents. No other thread may use the cache meanwhile.
  void open_window(const std::uint32_t* begin, const std::uint32_t* end);

  bool has_slot(std::uint32_t slot) const { return slot >> 6 < n_words_; }
  // 1 if the clause matches the document at a slot, 0 if it does not, -1 if that is not known.
  int answer(std::uint32_t c, std::uint32_t slot) const {
    const std::uint64_t* known = known_of(c) + (slot >> 6);
    if (*known >> (slot & 63) & 1) return static_cast<int>(known[n_words_] >> (slot & 63) & 1);
    return known[2 * n_words_] >> (slot & 63) & 1 ? 0 : -1;
  }
  void prefetch_answer(std::uint32_t c, std::uint32_t slot) const {
    if (has_slot(slot)) prefetch(known_of(c) + (slot >> 6));
  }

  void add_match(std::uint32_t c, std::uint32_t slot);
  void add_refuted_briefly(std::uint32_t c, std::uint32_t slot);
  // The following need postings of the word.
  bool has_postings(std::uint32_t word) const { return word < n_posted_; }
  // All documents that a literal is false for are refuted.
  void add_refuted_by(std::uint32_t c, std::uint32_t word, bool negated);
  // All documents that none of these literals is false for match.
  void add_matches(std::uint32_t c, const std::vector<std::uint32_t>& plain,
                   const std::vector<std::uint32_t>& negated);

  void clear(std::uint32_t c);
  void keep_matches_only(std::uint32_t c);
  // Forgets what add_refuted_briefly() added.
  void clear_brief(std::uint32_t c);

 private:
  static constexpr std::size_t kSets = 3;

  const std::uint64_t* known_of(std::uint32_t c) const {
    return answers_.data() + static_cast<std::size_t>(c) * kSets * n_words_;
  }
  std::uint64_t* known_of(std::uint32_t c) {
    return answers_.data() + static_cast<std::size_t>(c) * kSets * n_words_;
  }
  std::uint64_t* matching_of(std::uint32_t c) { return known_of(c) + n_words_; }
  std::uint64_t* brief_of(std::uint32_t c) { return known_of(c) + std::size_t{2} * n_words_; }
  const std::uint64_t* posting(std::uint32_t word) const {
    return postings_.data() + static_cast<std::size_t>(word) * n_words_;
  }

  const Documents& documents_;
  const Kernels& kernels_;
  std::uint32_t n_words_;  // 64-bit words of a set of documents
  std::int64_t window_size_;
  std::uint32_t window_ = 0;
  std::vector<std::uint64_t> answers_;
  std::uint32_t n_posted_;  // the most frequent words have postings
  std::vector<std::uint64_t> postings_;
};

}  // namespace newfound
