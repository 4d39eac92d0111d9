// The clauses while they are being trained. Work that nobody can see yet stays undone:
//
// - A clause counts its Ib events (`ib`). A line of its row is brought up to date only when it is
//   looked at, by one draw for all the trials it has missed. Only Type Ia and II events go through
//   a row: all plain lines (II) or all negated ones (Ia), and the others with a document's words.
// - For plain and for negated words, a bit for each block says whether any is included, as of the
//   last look: decrements only take away from it, so what it does not name is certainly excluded.
//   Which negated words those are is kept as a mask for each such block.
// - Plain words found to be included, and some negated ones that refuted a document, move from the
//   row to the clause's list, which is then the truth for them, included or not, until they are
//   written back. Each has its decrements drawn ahead: the number of Ib events at which it goes
//   down next. Lanes of listed literals are dead: now and then set to 0, too low to matter.
// - Whether a clause matches a document is remembered: a match until the clause's next event, since
//   decrements cannot undo it; refutations by listed literals, found for all documents at once,
//   until one of those goes down next. A clause that matches several documents between two events
//   is compared with all documents at once.
// - A clause with a plain word in its list hangs on it: only documents with that word need to look
//   at the clause.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bits.hpp"
#include "documents.hpp"
#include "kernels.hpp"
#include "machine.hpp"

namespace newfound {

inline constexpr std::uint32_t kNone = UINT32_MAX;
inline constexpr std::uint32_t kListCapacity = 64;
inline constexpr std::uint32_t kNegatedRoom = 24;    // negated words join lists shorter than this
inline constexpr std::uint8_t kEventsToClear = 120;  // dead lanes rise by one an event at most
inline constexpr std::uint8_t kMatchesToLearn = 8;
static_assert(kEventsToClear < kInclude);
static_assert(kListCapacity <= 64);  // sets of listed literals are words

// A literal is its place in a row: line * 64 + lane, so bit 6 says whether it is negated.
inline bool is_negated(std::uint32_t literal) { return literal & 64; }
inline std::uint32_t word_of(std::uint32_t literal) { return (literal >> 7) * 64 + (literal & 63); }

struct List {
  alignas(64) std::uint8_t state[kListCapacity];
  std::uint32_t literal[kListCapacity];
  std::uint32_t due[kListCapacity];  // the Ib event at which it goes down next
};

struct ClauseState {
  std::uint64_t seed;
  std::uint64_t refuting = 0;      // by their places in the list: whose refutations are remembered
  std::uint32_t base_ib = 0;       // the Ib events from which the lines' trials are counted
  std::uint32_t ia = 0;            // the Type Ia events from there on
  std::uint32_t answer_until = 0;  // remembered refutations hold while ib is below this
  std::uint32_t window = 0;        // of the remembered answers
  std::uint32_t hang = kNone;      // index in the list of the word that the clause hangs on
  std::uint32_t next = kNone, previous = kNone;  // neighbours on the same word
  std::uint32_t free_at = kNone;                 // place in the list of clauses that hang on none
  std::uint16_t listed = 0;
  bool unlisted = false;       // some are remembered that the listed literals do not vouch for
  std::uint8_t matches = 0;    // documents found to match since the last event
  std::uint8_t uncleared = 0;  // events since the dead lanes were set to 0
};

class ClauseStore {
 public:
  ClauseStore(Machine& machine, const Documents& documents);

  Machine& machine;
  const Documents& documents;
  const DecrementLaw law;
  const Kernels& kernel;
  std::vector<std::uint32_t> ib;   // Ib events of each clause so far
  std::vector<std::uint32_t> due;  // at how many the word it hangs on goes down
  std::vector<std::uint8_t> matched;
  std::vector<ClauseState> clause;

  // Reads the clause's row; each clause, before anything else is asked of it.
  void begin(std::uint32_t c);
  List& list(std::uint32_t c) { return lists_[c]; }
  std::uint64_t next_key(std::uint32_t c) {
    return mix64(clause[c].seed + ++machine.draws(c) * kGolden64);
  }

  // Answers are remembered for the documents of a window, each at its place there: all documents
  // if they are few, else those that come next.
  bool one_window() const { return documents.size() <= window_size(); }
  std::int64_t window_size() const { return window_size_; }
  // Begins the next window. No thread may be asking meanwhile.
  void open_window(const std::uint32_t* begin, const std::uint32_t* end);

  void fetch(std::uint32_t c, std::uint32_t place) const {
    prefetch(&clause[c]);
    if (remembers(place))
      prefetch(&answers_[static_cast<std::size_t>(c) * 2 * answer_words_ + (place >> 6)]);
  }
  // What an event begins with, while the one before it is still going on.
  void fetch_row(std::uint32_t c, bool reinforce);
  bool remembers(std::uint32_t place) const { return place >> 6 < answer_words_; }
  // 1 or 0 if it is known whether the clause matches the document at a place, else -1.
  int remembered(std::uint32_t c, std::uint32_t place) {
    if (!remembers(place)) return -1;
    if (ib[c] >= clause[c].answer_until || clause[c].window != window_) recall(c);
    const std::uint64_t* known = answers(c) + (place >> 6);
    if (!(*known >> (place & 63) & 1)) return -1;
    return static_cast<int>(known[answer_words_] >> (place & 63) & 1);
  }
  void remember_match(std::uint32_t c, std::uint32_t place);
  // By a literal that may go down with the next Ib event.
  void remember_refuted(std::uint32_t c, std::uint32_t place);

  // Whether the clause includes a plain word of the row, not of the list, that the document lacks.
  // Lists what it finds.
  bool lacks(std::uint32_t c, std::uint32_t document);
  // Whether the clause includes a negated word of the document; true is remembered.
  bool breaks(std::uint32_t c, std::uint32_t document, std::uint32_t place);

  // Brings listed literals up to date.
  void settle_listed(std::uint32_t c, std::uint32_t index) {
    if (ib[c] >= list(c).due[index]) settle_due(c, index);
  }
  void settle_list(std::uint32_t c) {
    for (std::uint32_t i = 0; i < clause[c].listed; ++i) settle_listed(c, i);
  }
  std::uint32_t count_included(std::uint32_t c);
  // A Type Ia or II event for the row; the list is the caller's. `absent`: for each block, the
  // words that the document lacks.
  void event(std::uint32_t c, std::uint32_t document, const std::uint64_t* absent, bool reinforce);
  // Writes everything back: the row is the truth again.
  void finish(std::uint32_t c);

 private:
  std::uint8_t* line_of(std::uint32_t c, std::uint32_t line) {
    return machine.row(c) + static_cast<std::size_t>(line) * kLine;
  }
  std::uint16_t& seen(std::uint32_t c, std::uint32_t line) {
    return seen_[(static_cast<std::size_t>(c) * 2 + (line & 1)) * machine.n_blocks() + (line >> 1)];
  }
  // Each Ib event is a trial for every automaton, and each Type Ia event for those that it does
  // not raise for certain. The few exceptions to this are made where an event meets them.
  std::uint32_t trials_of(std::uint32_t c, bool negated) const {
    return ib[c] - clause[c].base_ib + (negated && boost_ ? 0 : clause[c].ia);
  }
  // A bit for each block: whether it includes plain, or negated words, or may.
  std::uint64_t* included(std::uint32_t c, bool negated) {
    return &included_[(static_cast<std::size_t>(c) * 2 + negated) * groups_];
  }
  // For each of those blocks: its included negated words, or more.
  std::uint64_t* negated(std::uint32_t c) {
    return &negated_[static_cast<std::size_t>(c) * machine.n_blocks()];
  }
  // The documents for which the answer is known, then those that match.
  std::uint64_t* answers(std::uint32_t c) {
    return answers_.data() + static_cast<std::size_t>(c) * 2 * answer_words_;
  }
  RowView row_view(std::uint32_t c);
  // Brings a line up to date; returns its included lanes.
  std::uint64_t settle_line(std::uint32_t c, std::uint32_t line);
  void settle_row(std::uint32_t c);
  void note(std::uint32_t c, std::uint32_t line, std::uint64_t lanes);
  // Moves included lanes of an up-to-date line to the list, as many as it has room for.
  void take(std::uint32_t c, std::uint32_t line, std::uint64_t lanes);
  void tidy(std::uint32_t c, bool negated);
  bool make_room(std::uint32_t c);
  void write_back(std::uint32_t c, std::uint32_t index);
  void settle_due(std::uint32_t c, std::uint32_t index);
  std::uint32_t draw_due(std::uint32_t c, std::uint32_t from);
  void recall(std::uint32_t c);
  void recall_listed(std::uint32_t c, std::uint32_t index);
  void learn_matches(std::uint32_t c);

  const bool boost_;
  std::uint32_t groups_;             // of 64 blocks
  std::vector<std::uint16_t> seen_;  // trials that each line has seen, from base_ib on
  std::vector<std::uint64_t> included_;
  std::unique_ptr<std::uint64_t[]> negated_;  // memory that is not used is not touched
  std::vector<List> lists_;
  std::uint32_t answer_words_;  // 64-bit words of a set of the window's documents
  std::int64_t window_size_;
  std::uint32_t window_ = 0;
  std::vector<std::uint64_t> answers_;
  std::uint32_t posted_words_;           // the most frequent words
  std::vector<std::uint64_t> postings_;  // for each: which of those documents have it
};

// For how many documents answers are remembered at most; tests make it small.
std::uint32_t remembered_documents();
void set_remembered_documents(std::uint32_t n);

}  // namespace newfound
