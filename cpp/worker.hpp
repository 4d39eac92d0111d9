// One thread's share of the clauses: lets them vote on a document and gives them feedback.
#pragma once

#include <cstdint>
#include <vector>

#include "clause_store.hpp"
#include "open_document.hpp"
#include "trainer.hpp"
#include "watch_index.hpp"

namespace newfound {

class Worker {
 public:
  // Owns the `index`-th of `count` equal shares of each polarity of each class.
  Worker(ClauseStore& store, const Machine& machine, const Documents& documents,
         std::uint32_t index, std::uint32_t count);

  void begin();
  void finish();

  // For each document: open(), for each class concerned vote() and then either feedback() or
  // skip_feedback(), close(). `slot`: its place in the window of cached answers.
  void open(std::uint32_t document, std::uint32_t slot) { document_.open(document, slot); }
  std::int32_t vote(std::uint32_t cls);  // of the worker's own clauses
  void feedback(std::uint32_t cls, bool positive, std::int32_t votes, std::uint64_t key);
  void skip_feedback(std::uint32_t cls);
  void close() { document_.close(); }

  // The events since the last call.
  EpochCounts take_counts();

 private:
  struct Range {
    std::uint32_t begin, end;
  };
  struct OwnClass {
    Range half[2];                       // of the positive, of the negative clauses
    std::vector<std::uint32_t> matched;  // those that match the open document
  };

  template <class Do>
  void for_each_clause(const Do& act) const {
    for (const OwnClass& own : own_)
      for (const Range& half : own.half)
        for (std::uint32_t c = half.begin; c < half.end; ++c) act(c);
  }
  bool matches(std::uint32_t c);
  void type_ia(std::uint32_t c);
  void type_ii(std::uint32_t c);

  ClauseStore& store_;
  const std::uint32_t n_clauses_;
  OpenDocument document_;
  WatchIndex watches_;
  std::vector<OwnClass> own_;
  std::vector<std::uint32_t> chosen_, due_;
  EpochCounts counts_;
};

}  // namespace newfound
