// One thread's share of the clauses: lets them vote on a document and gives them feedback.
#pragma once

#include <cstdint>
#include <vector>

#include "answer_memory.hpp"
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
  // Whether to remember which clauses matched a document at its last visit, and whether that would
  // take little enough memory.
  void remember_answers(bool remember) { answers_.set_active(remember); }
  static bool can_remember(const Machine& machine, const Documents& documents) {
    return AnswerMemory::affordable(documents.size(), n_groups(machine), group_size(machine));
  }

  // For each document: open(), for each class concerned vote() and then, if it is due, feedback(),
  // close().
  void open(std::uint32_t document) {
    document_.open(document);
    answers_.open(document);
  }
  std::int64_t vote(std::uint32_t cls);  // of the worker's own clauses
  // The same for all classes at once, if the machine draws the other class by its votes; then
  // keep_class() for those that get feedback.
  void vote_all(std::int64_t* votes);
  void keep_class(std::uint32_t cls);
  void feedback(std::uint32_t cls, bool positive, std::int64_t votes, std::uint64_t key);
  void close();

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

  // Clauses are asked by class, or those of all classes together.
  static std::uint32_t n_groups(const Machine& machine) {
    return machine.parameters().focus > 0 ? 1 : machine.parameters().n_classes;
  }
  static std::uint32_t group_size(const Machine& machine) {
    return machine.total_clauses() / n_groups(machine);
  }
  template <class Do>
  void for_each_clause(const Do& act) const {
    for (const OwnClass& own : own_)
      for (const Range& half : own.half)
        for (std::uint32_t c = half.begin; c < half.end; ++c) act(c);
  }
  void set_matched(std::uint32_t c, OwnClass& own) {
    own.matched.push_back(c);
    store_.set_matched(c, true);
  }
  // Calls act(clause) for each clause of a class, or of all if they are together, that matches.
  template <class Act>
  void for_each_match(std::uint32_t cls, const Act& act);
  bool compare(std::uint32_t c);
  void type_ia(std::uint32_t c);
  void type_ii(std::uint32_t c);

  ClauseStore& store_;
  const std::uint32_t n_clauses_;
  OpenDocument document_;
  WatchIndex watches_;
  AnswerMemory answers_;
  std::vector<OwnClass> own_;
  std::vector<std::uint32_t> all_matched_;   // the clauses of all classes that vote_all() found
  std::vector<std::uint32_t> open_classes_;  // those with matched clauses
  std::vector<std::uint32_t> unknown_, chosen_, due_;
  EpochCounts counts_;
};

}  // namespace newfound
