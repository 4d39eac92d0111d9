// One thread's share of the clauses: looks them up for a document and gives them feedback.
#pragma once

#include <cstdint>
#include <vector>

#include "clause_store.hpp"
#include "trainer.hpp"

namespace newfound {

class Worker {
 public:
  // Owns the `index`-th of `count` equal shares of each polarity of each class.
  Worker(ClauseStore& store, std::uint32_t index, std::uint32_t count);

  void begin();
  // The document that the next calls speak of, and its place in the store's window.
  void open(std::uint32_t document, std::uint32_t place);
  std::int32_t vote(std::uint32_t cls);  // of its clauses; remembers which ones matched
  void feedback(std::uint32_t cls, bool positive, std::int32_t votes, std::uint64_t key);
  void forget(std::uint32_t cls);  // instead of feedback()
  void close();
  void finish();

  EpochCounts counts;

 private:
  struct Share {
    std::uint32_t begin, end;
  };
  struct OwnClass {
    Share half[2];                    // of the positive, of the negative clauses
    std::vector<std::uint32_t> head;  // first clause that hangs on a word
    std::vector<std::uint32_t> free;  // clauses that hang on none
    std::vector<std::uint32_t> matched;
  };

  bool matches(std::uint32_t c);
  bool refuted_by_list(std::uint32_t c);
  void reinforce(std::uint32_t c);
  void reject(std::uint32_t c);
  void word_hit(std::uint32_t c);
  void hang_on_rarest(std::uint32_t c);
  void unhang(std::uint32_t c);
  void set_free(std::uint32_t c);
  OwnClass& own(std::uint32_t c) { return own_[c / n_clauses_]; }

  ClauseStore& store_;
  const std::uint32_t n_clauses_;
  std::vector<OwnClass> own_;
  std::vector<std::uint8_t> truth_;    // of each literal, in the open document
  std::vector<std::uint64_t> absent_;  // for each block, the words that the open document lacks
  std::vector<std::uint32_t> chosen_, due_;
  std::uint32_t document_ = 0, place_ = 0;
};

}  // namespace newfound
