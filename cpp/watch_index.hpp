// Which clauses a document has to be compared with: an index of watched literals.
//
// A clause that includes a plain literal is refuted by every document without that word. It watches
// one such literal, the rarest that is listed, and is chained under its word; a document asks only
// the chains of its own words, and the clauses that watch nothing. SAT solvers watch literals for
// the same reason.
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

  // Adds a clause that watches nothing yet.
  void add(std::uint32_t c);
  // Chooses the literal to watch anew.
  void watch_rarest(std::uint32_t c);
  // After an event: a clause that watches nothing may have something to watch now.
  void watch_if_none(std::uint32_t c) {
    if (store_.watch(c).listed == kNone) watch_rarest(c);
  }
  // An Ib event reached the count at which the watched literal goes down.
  void watched_is_due(std::uint32_t c);

  // The clauses of a class, or of all if they are together, that watch nothing: any document may
  // match them.
  const std::vector<std::uint32_t>& unwatched(std::uint32_t cls) const {
    return groups_[cls].unwatched;
  }
  // Calls ask(clause) for each of the others that the document may match. ask() may change what its
  // clause watches.
  template <class Ask>
  void for_each_watching(std::uint32_t cls, const OpenDocument& document, const Ask& ask) {
    const Group& index = groups_[cls];
    for (const std::uint32_t* w = document.words_begin(); w != document.words_end(); ++w)
      for (std::uint32_t c = index.first[*w], next; c != kNone; c = next) {
        next = store_.watch(c).next;
        if (next != kNone) store_.prefetch_clause(next, document.slot());
        ask(c);
      }
  }

 private:
  struct Group {
    std::vector<std::uint32_t> first;      // by word: the first clause that watches it
    std::vector<std::uint32_t> unwatched;  // clauses that watch nothing
  };

  Group& group_of(std::uint32_t c) { return groups_[c / group_size_]; }
  void remove(std::uint32_t c);

  ClauseStore& store_;
  const std::uint32_t group_size_;
  std::vector<Group> groups_;
};

}  // namespace newfound
