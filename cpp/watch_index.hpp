// Which clauses a document has to be compared with.
//
// - A clause that includes a plain literal is refuted by every document without that word. It
//   watches one such literal, the rarest that is listed, and is chained under its word; a document
//   asks only the chains of its own words, and the clauses that watch nothing. SAT solvers watch
//   literals for the same reason.
// - A clause that includes a negated literal is refuted by every document with that word. For each
//   frequent word there is a set of the clauses that are sure to include its negation until their
//   foreseen trials are used up (ClauseRows), as bits. The sets of a document's words, united, are
//   clauses that it refutes.
#pragma once

#include <cstdint>
#include <vector>

#include "clause_store.hpp"
#include "open_document.hpp"

namespace newfound {

class WatchIndex {
 public:
  // Clauses are asked by class, or those of all classes together.
  WatchIndex(ClauseStore& store, bool together);

  // Adds a clause that watches nothing yet. All clauses are added before anything else.
  void add(std::uint32_t c);
  // After all clauses were added.
  void begin();
  // Chooses the literal to watch anew.
  void watch_rarest(std::uint32_t c);
  // After a Type Ia or Type II event: other literals may be sure, foreseen trials may be used up,
  // and a clause that watches nothing may have something to watch now.
  void after_event(std::uint32_t c);
  // An Ib event reached the count at which the watched literal goes down, or at which foreseen
  // trials are used up.
  void due(std::uint32_t c);

  // The place of a clause among those of its class, or of all if they are together.
  std::uint32_t place(std::uint32_t c) const { return place_[c]; }

  // After a comparison that found a match. A clause that includes nothing matches every document
  // until its next event; it is no candidate then, but among the empty ones.
  void found_match(std::uint32_t c);

  // The clauses of a class, or of all if they are together, that the document may match, without
  // the empty ones.
  const std::vector<std::uint32_t>& candidates(std::uint32_t cls, const OpenDocument& document);

  // Calls act(clause) for the empty ones.
  template <class Act>
  void for_each_empty(std::uint32_t cls, const Act& act) const {
    const Group& group = groups_[cls];
    for (std::uint32_t i = 0; i < group.n_words; ++i)
      for (std::uint64_t left = group.empty[i]; left; left &= left - 1)
        act(group.clauses[64 * i + lowest_bit(left)]);
  }

 private:
  struct Group {
    std::vector<std::uint32_t> first;      // by word: the first clause that watches it
    std::vector<std::uint32_t> clauses;    // the group's clauses, by their place in the sets
    std::uint32_t n_words = 0;             // 64-bit words of a set of clauses
    std::vector<std::uint64_t> unwatched;  // the clauses that watch nothing, but the empty ones
    std::vector<std::uint64_t> empty;      // those that are known to include nothing
    // By word: the clauses that are sure to negate it. Those whose trials are deferred have old
    // bits.
    std::vector<std::uint64_t> sure;
    std::vector<std::uint64_t> sure_of;  // by clause: the words that it is sure to negate
  };

  Group& group_of(std::uint32_t c) { return groups_[c / group_size_]; }
  void set_unwatched(std::uint32_t c, bool unwatched);
  void forget_empty(std::uint32_t c);
  void remove(std::uint32_t c);
  void foresee(std::uint32_t c);
  void renew(std::uint32_t c);
  void count_asks_anew(std::uint32_t c);
  bool asked_while_foreseen(std::uint32_t c);
  void update_sure(std::uint32_t c);
  void set_due(std::uint32_t c);

  ClauseStore& store_;
  const std::uint32_t group_size_;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> place_;  // of each clause in the sets of its group
  std::vector<std::uint64_t> refuted_;
  std::vector<std::uint32_t> candidates_;
};

}  // namespace newfound
