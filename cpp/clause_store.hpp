// The clauses in training: their literals, whether they match a document, and feedback to them.
//
// - Rows hold the automata, with decrements deferred or foreseen (ClauseRows).
// - A clause's list holds up to 64 plain literals that were found to be included. They leave their
//   row, and the list is the truth for them, until they are moved back. For each, the next
//   decrement is drawn in advance from the geometric law: the Ib event at which it happens. Until
//   then nothing is to be done.
// - Which clauses a document has to be compared with is found by the WatchIndex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "answer_memory.hpp"
#include "clause_rows.hpp"
#include "documents.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "open_document.hpp"

namespace newfound {

constexpr std::uint32_t kListCapacity = 64;
static_assert(kListCapacity <= 64);  // a set of listed literals is one 64-bit word

struct LiteralList {
  alignas(64) std::uint8_t state[kListCapacity];
  std::uint32_t literal[kListCapacity];
  std::uint32_t due[kListCapacity];  // the Ib event at which the literal goes down next
};

// A clause's place in the WatchIndex: in the chain of a word, or among the clauses that watch none.
struct Watch {
  std::uint32_t listed = kNone;  // index in the clause's list of the literal that it watches
  std::uint32_t next = kNone, previous = kNone;
  std::uint32_t asked_since = 0;  // an Ib event, and how often the clause was asked since
  std::uint32_t asks = 0;
  std::uint32_t empty_until =
      kNone;  // see ClauseStore::empty_until(); kNone: not known to be empty
};

class ClauseStore {
 public:
  ClauseStore(Machine& machine, const Documents& documents);

  const Parameters& parameters() const { return machine_.parameters(); }

  // begin() comes before any other call for a clause; finish() brings its row up to date.
  void begin(std::uint32_t c);
  void finish(std::uint32_t c);
  // The machine that finish() would leave, without a change to this one.
  Machine finished_copy() const;

  // In this order, these tell whether a literal refutes the document; if none does, the clause
  // matches.
  bool refuted_by_list(std::uint32_t c, const OpenDocument& document) {
    const LiteralList& list = lists_[c];
    for (std::uint32_t i = 0, n = states_[c].n_listed; i < n; ++i) {
      if (document.truth(list.literal[i])) continue;
      settle_listed(c, i);
      if (list.state[i] >= kInclude) return true;
    }
    return false;
  }
  bool refuted_by_plain_words(std::uint32_t c, const OpenDocument& document);
  bool refuted_by_negated_words(std::uint32_t c, const OpenDocument& document);

  // Feedback.
  std::uint32_t count_included(std::uint32_t c);
  // The clause's weight, negative if it votes against its class.
  std::int32_t votes(std::uint32_t c) const { return votes_[c]; }
  void raise_weight(std::uint32_t c) {
    const std::int32_t votes = votes_[c];
    if (std::abs(votes) < static_cast<std::int32_t>(kMostVotes)) votes_[c] += votes > 0 ? 1 : -1;
  }
  void lower_weight(std::uint32_t c) {
    const std::int32_t votes = votes_[c];
    if (std::abs(votes) > 1) votes_[c] -= votes > 0 ? 1 : -1;
  }
  void type_ia(std::uint32_t c, const OpenDocument& document);
  void type_ii(std::uint32_t c, const OpenDocument& document);
  // One more Ib event. Returns whether the WatchIndex has something to do.
  bool type_ib(std::uint32_t c) { return ++rows_.ib_counts()[c] >= watch_due_[c]; }
  // Kernels::select_ib for the clauses [begin, end), counted from `first`.
  std::size_t select_ib(std::uint32_t first, std::uint32_t begin, std::uint32_t end,
                        std::uint32_t limit, std::uint64_t key, std::uint32_t* out,
                        AnswerMemory& answers, std::int64_t* events) {
    std::uint32_t* changed = answers.changed();
    return kernels_.select_ib(rows_.ib_counts() + first, watch_due_.data() + first,
                              matched_.data() + first, begin, end, limit, key, out,
                              changed ? changed + first : nullptr, answers.visit(), events);
  }
  // Marks the clauses that match the present document: they get no Ib event.
  void set_matched(std::uint32_t c, bool matched) { matched_[c] = matched; }

  // For WatchIndex.
  Watch& watch(std::uint32_t c) { return states_[c].watch; }
  // Sets the Ib event at which it has something to do.
  void set_watch_due(std::uint32_t c, std::uint32_t ib) { watch_due_[c] = ib; }
  ClauseRows& rows() { return rows_; }
  const Kernels& kernels() const { return kernels_; }
  // The listed literal with the rarest plain word that is included; kNone if there is none.
  std::uint32_t rarest_plain(std::uint32_t c);
  const LiteralList& list(std::uint32_t c) const { return lists_[c]; }
  // The Ib event up to which the clause is known to include nothing, so that a comparison would do
  // nothing but find a match: the first decrement of a listed literal. 0 if it may include
  // something.
  std::uint32_t empty_until(std::uint32_t c) const;
  // Applies the decrements of a listed literal that are due.
  void settle_listed(std::uint32_t c, std::uint32_t index) {
    if (rows_.ib(c) >= lists_[c].due[index]) apply_due(rows_, lists_[c], c, index);
  }

  // Fetches what a comparison with the clause begins with.
  void prefetch_comparison(std::uint32_t c) const {
    prefetch(&states_[c]);
    prefetch(lists_[c].literal);
    rows_.prefetch_negated(c);
  }
  // Fetches what an event on the clause begins with.
  void prefetch_event(std::uint32_t c, bool type_ia) const;

 private:
  struct ClauseState {
    Watch watch;
    std::uint16_t n_listed = 0;
    std::uint8_t uncleared = 0;  // events since the dead lanes were set to 0
  };

  void feedback(std::uint32_t c, const OpenDocument& document, bool type_ia);
  void settle_list(std::uint32_t c) {
    for (std::uint32_t i = 0, n = states_[c].n_listed; i < n; ++i) settle_listed(c, i);
  }
  static void apply_due(ClauseRows& rows, LiteralList& list, std::uint32_t c, std::uint32_t index);
  static std::uint32_t draw_due(ClauseRows& rows, std::uint32_t c, std::uint32_t from);
  // Settles the clause's row and puts the listed literals back into it.
  static void put_back_all(ClauseRows& rows, LiteralList& list, std::uint32_t n_listed,
                           std::uint32_t c);
  // Moves included lanes of a settled line to the list, as many as it has room for.
  void move_to_list(std::uint32_t c, std::uint32_t line, std::uint64_t lanes);
  void move_to_row(std::uint32_t c, std::uint32_t index);
  // Moves literals far below inclusion back, after an event that visited their lines.
  void compact_list(std::uint32_t c);
  // Moves excluded literals back. Returns whether the list has room.
  bool make_room(std::uint32_t c);

  Machine& machine_;
  const Kernels& kernels_;
  ClauseRows rows_;
  std::vector<ClauseState> states_;
  std::vector<LiteralList> lists_;
  std::vector<std::int32_t> votes_;
  std::vector<std::uint32_t> watch_due_;
  std::vector<std::uint8_t> matched_;
};

}  // namespace newfound
