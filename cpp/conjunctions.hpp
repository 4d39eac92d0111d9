// ANDs of words, and which of them a document matches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace newfound {

// A set of the numbers below n. To empty it costs nothing.
class Marks {
 public:
  explicit Marks(std::size_t n) : stamps_(n, 0) {}

  void clear() {
    if (++now_ != 0) return;
    std::fill(stamps_.begin(), stamps_.end(), 0U);
    now_ = 1;
  }
  void add(std::int32_t i) { stamps_[static_cast<std::size_t>(i)] = now_; }
  bool has(std::int32_t i) const { return stamps_[static_cast<std::size_t>(i)] == now_; }

 private:
  std::vector<std::uint32_t> stamps_;
  std::uint32_t now_ = 1;
};

// Each AND watches the one of its words that fewest ANDs have. The candidates of a document are the
// ANDs that watch one of its words; only their other words have to be looked up.
class Conjunctions {
 public:
  // The words of AND j are words[begin[j]] to words[begin[j + 1]], at least one, below n_words.
  Conjunctions(std::span<const std::int64_t> begin, std::span<const std::int32_t> words,
               std::uint32_t n_words);

  std::size_t size() const { return others_begin_.size() - 1; }
  std::uint32_t n_words() const { return n_words_; }

  // Stores the numbers of the ANDs that a document matches, ascending. Its words, distinct, are
  // left in `marks`, which has room for n_words.
  void matching(std::span<const std::int32_t> document, Marks& marks,
                std::vector<std::int32_t>& found) const;

  // The ANDs that a document matches, and those that lack one word, both ascending.
  struct Nearly {
    std::vector<std::int32_t> matching, lacking, word;  // the word that is lacking
  };
  Nearly nearly(std::span<const std::int32_t> document) const;

 private:
  std::uint32_t n_words_;
  std::vector<std::int32_t> watched_;         // by AND
  std::vector<std::int64_t> watching_begin_;  // by word: where its ANDs begin in watching_
  std::vector<std::int32_t> watching_;
  std::vector<std::int64_t> others_begin_;  // by AND: where its other words begin in others_
  std::vector<std::int32_t> others_;
  std::vector<std::int64_t> having_begin_;  // by word: where the ANDs that have it begin in having_
  std::vector<std::int32_t> having_;
};

}  // namespace newfound
