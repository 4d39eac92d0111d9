// The clauses while they are being trained. Work that nobody can see yet stays undone:
//
// - A clause counts its Ib events (`ib`); a line of its row is brought up to date only when
//   somebody looks at it. Type Ia and II events are written to the clause's log, from which lines
//   are replayed. A line whose highest state is too low to include anything is not looked at.
// - Which negated literals a clause includes is kept as a mask for each block, as of the block's
//   last look: decrements only take away from it, so what it does not name is certainly excluded.
// - Plain words found to be included, and some negated ones that refuted a document, move from the
//   row to the clause's list, which is then the truth for them, included or not, until they are
//   written back. Each has its decrements drawn ahead: the number of Ib events at which it goes
//   down next. Lanes of listed literals are dead: now and then set to 0, too low to matter.
// - Whether a clause matches a document is remembered: a match until the clause's next event, since
//   decrements cannot undo it; refutations by listed literals, found for all documents at once,
//   until one of those goes down next.
// - A clause with a plain word in its list hangs on it: only documents with that word need to look
//   at the clause.
#pragma once

#include <cstdint>
#include <vector>

#include "bits.hpp"
#include "documents.hpp"
#include "kernels.hpp"
#include "machine.hpp"

namespace newfound {

inline constexpr std::uint32_t kNone = UINT32_MAX;
inline constexpr std::uint32_t kListCapacity = 64;
inline constexpr std::uint32_t kLogCapacity = 32;
inline constexpr std::uint32_t kNegatedRoom = 24;  // negated words join lists shorter than this
inline constexpr std::uint8_t kEventsToClear = 90;   // dead lanes reach at most this + the log
static_assert(kEventsToClear + kLogCapacity < kInclude);

// A literal is its place in a row: line * 64 + lane, so bit 6 says whether it is negated.
inline bool is_negated(std::uint32_t literal) { return literal & 64; }
inline std::uint32_t word_of(std::uint32_t literal) { return (literal >> 7) * 64 + (literal & 63); }

struct LineMeta {
  std::uint16_t ib;      // Ib events seen, counted from the clause's base
  std::uint8_t events;   // entries of the log replayed
  std::uint8_t highest;  // highest excluded state at that time; kInclude if a plain line in the
                         // row includes something
};

struct Event {
  std::uint32_t document;
  std::uint16_t ib;  // Ib events before this one, counted from the clause's base
};

struct List {
  alignas(64) std::uint8_t state[kListCapacity];
  std::uint32_t literal[kListCapacity];
  std::uint32_t due[kListCapacity];  // the Ib event at which it goes down next
};

struct ClauseState {
  std::uint64_t seed;
  std::uint32_t base_ib = 0;
  std::uint32_t answer_until = 0;  // remembered refutations hold while ib is below this
  std::uint32_t hang = kNone;  // index in the list of the word that the clause hangs on
  std::uint32_t next = kNone, previous = kNone;  // neighbours on the same word
  std::uint32_t free_at = kNone;                 // place in the list of clauses that hang on none
  std::uint32_t plain_from = kNone;  // plain lines from this block on include nothing but the list
  std::uint16_t listed = 0;
  std::uint32_t reinforced = 0;  // bit e: the log's event e is of Type Ia, else of Type II
  std::uint8_t logged = 0;
  std::uint8_t uncleared = 0;  // events since the dead lanes were set to 0
};

struct ClauseStore {
  ClauseStore(Machine& machine, const Documents& documents);

  Machine& machine;
  const Documents& documents;
  const DecrementLaw law;
  const Kernels& kernel;
  const std::uint32_t lines;
  std::vector<std::uint32_t> ib;   // Ib events of each clause so far
  std::vector<std::uint32_t> due;  // at how many the word it hangs on goes down
  std::vector<ClauseState> clause;
  std::vector<std::uint8_t> matched;
  std::vector<LineMeta> meta;  // plain lines of a clause, then negated ones
  std::vector<std::uint64_t> negated;  // see above
  std::vector<Event> log;              // kLogCapacity for each clause

  List& list(std::uint32_t c) { return lists_[c]; }
  std::uint64_t next_key(std::uint32_t c) {
    return mix64(clause[c].seed + ++machine.draws(c) * kGolden64);
  }

  std::uint64_t& mask(std::uint32_t c, std::uint32_t block) {
    return negated[static_cast<std::size_t>(c) * machine.n_blocks() + block];
  }

  LineMeta& meta_of(std::uint32_t c, std::uint32_t line) {
    return meta[static_cast<std::size_t>(c) * lines + (line & 1) * machine.n_blocks() + (line >> 1)];
  }

  // Whether looking at the line may show literals as included that were not before. False is
  // certain.
  bool may_gain(std::uint32_t c, std::uint32_t line) {
    const LineMeta m = meta_of(c, line);
    if (m.highest + (clause[c].logged - m.events) < kInclude) return false;
    return m.highest >= kInclude || reaches_include(c, line);
  }
  // Brings a line up to date; returns its included lanes.
  std::uint64_t settle_line(std::uint32_t c, std::uint32_t line);
  void fetch(std::uint32_t c, std::uint32_t document) const {
    prefetch(&clause[c]);
    if (document >> 6 < answer_words_)
      prefetch(&answers_[static_cast<std::size_t>(c) * answer_words_ + (document >> 6)]);
  }
  bool remembers(std::uint32_t document) const { return document >> 6 < answer_words_; }
  // 1 or 0 if it is known whether the clause matches the document, else -1.
  int remembered(std::uint32_t c, std::uint32_t document) {
    if (!remembers(document)) return -1;
    if (ib[c] >= clause[c].answer_until) recall(c);
    const Answers a = answers_of(c)[document >> 6];
    if (!(a.known >> (document & 63) & 1)) return -1;
    return static_cast<int>(a.match >> (document & 63) & 1);
  }
  void remember_match(std::uint32_t c, std::uint32_t document) {
    if (!remembers(document)) return;
    answers_of(c)[document >> 6].known |= 1ULL << (document & 63);
    answers_of(c)[document >> 6].match |= 1ULL << (document & 63);
  }
  // Whether the clause includes a negated word of the document.
  bool breaks(std::uint32_t c, std::uint32_t document);
  void settle_rows(std::uint32_t c);
  // Brings listed literals up to date.
  void settle_listed(std::uint32_t c, std::uint32_t index) {
    if (ib[c] >= list(c).due[index]) settle_due(c, index);
  }
  void settle_list(std::uint32_t c) {
    for (std::uint32_t i = 0; i < clause[c].listed; ++i) settle_listed(c, i);
  }
  // Moves included lanes of an up-to-date line to the list; false if it is full.
  bool take(std::uint32_t c, std::uint32_t line, std::uint64_t lanes);
  std::uint32_t count_included(std::uint32_t c);
  void record(std::uint32_t c, std::uint32_t document, bool reinforce);
  // Writes everything back: the row is the truth again.
  void finish(std::uint32_t c);

 private:
  bool reaches_include(std::uint32_t c, std::uint32_t line);
  void settle_due(std::uint32_t c, std::uint32_t index);
  std::uint32_t draw_due(std::uint32_t c, std::uint32_t from);
  void list_one(std::uint32_t c, std::uint32_t line, std::uint64_t lanes);
  void recall(std::uint32_t c);
  void recall_listed(std::uint32_t c, std::uint32_t index);
  void note(std::uint32_t c, std::uint32_t line, const Settled& settled);
  std::uint64_t replay(std::uint32_t c, std::uint32_t line);
  void write_back(std::uint32_t c, std::uint32_t index);
  bool make_room(std::uint32_t c);

  struct Answers {
    std::uint64_t known, match;
  };

  Answers* answers_of(std::uint32_t c) {
    return &answers_[static_cast<std::size_t>(c) * answer_words_];
  }

  std::uint32_t answer_words_;  // for each clause: the first 64 answer_words_ documents
  std::vector<Answers> answers_;
  std::uint32_t posted_words_;           // the most frequent words
  std::vector<std::uint64_t> postings_;  // for each: which of those documents have it
  std::vector<List> lists_;
};

}  // namespace newfound
