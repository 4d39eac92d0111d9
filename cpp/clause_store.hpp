// The clauses while they are being trained. Work that nobody can see yet stays undone:
//
// - A clause counts its Ib events (`ib`); a line of its row is brought up to date only when
//   somebody looks at it. Type Ia and II events are written to the clause's log, from which lines
//   are replayed. A line whose highest state is too low to include anything is not looked at.
// - Which negated literals a clause includes is kept as a mask for each block, as of the block's
//   last look: decrements only take away from it, so what it does not name is certainly excluded.
// - Plain words found to be included move from the row to the clause's list, which is then the
//   truth for them (their lanes in the row are dead), included or not, until they are written back.
// - Whether a clause matched a document is remembered: a match until the clause's next event, since
//   decrements cannot undo it, anything else until its next Ib.
// - A clause with a plain word in its list hangs on it: only documents with that word need to look
//   at the clause. The word's decrements are drawn ahead, as the number of Ib events (`due`) at
//   which it goes down next.
#pragma once

#include <cstdint>
#include <vector>

#include "documents.hpp"
#include "kernels.hpp"
#include "machine.hpp"

namespace newfound {

inline constexpr std::uint32_t kNone = UINT32_MAX;
inline constexpr std::uint32_t kListCapacity = 64;
inline constexpr std::uint32_t kLogCapacity = 16;

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
  bool reinforce;    // Type Ia, else Type II
};

struct ClauseState {
  std::uint64_t seed;
  std::uint32_t base_ib = 0;
  std::uint32_t list_ib = 0;    // Ib events that the list has seen
  std::uint32_t answer_ib = 0;  // Ib events that the remembered answers have seen
  std::uint32_t hang = kNone;  // index in the list of the word that the clause hangs on
  std::uint32_t next = kNone, previous = kNone;  // neighbours on the same word
  std::uint32_t free_at = kNone;                 // place in the list of clauses that hang on none
  std::uint32_t plain_from = kNone;  // plain lines from this block on include nothing but the list
  std::uint16_t listed = 0;
  std::uint8_t logged = 0;
  bool negated_known = false;  // the masks name every included negated word
  bool seen_match = false;     // matched since the last event
};

struct ClauseStore {
  ClauseStore(Machine& machine, const Documents& documents);

  Machine& machine;
  const Documents& documents;
  const DecrementLaw law;
  const Kernels& kernel;
  const std::uint32_t lines;
  std::vector<std::uint32_t> ib, due;
  std::vector<ClauseState> clause;
  std::vector<std::uint8_t> matched;
  std::vector<LineMeta> meta;  // plain lines of a clause, then negated ones
  std::vector<std::uint64_t> negated;  // see above
  std::vector<std::uint32_t> literal;  // kListCapacity for each clause
  std::vector<Event> log;              // kLogCapacity for each clause

  std::uint8_t* listed_states(std::uint32_t c) {
    return list_states_ + static_cast<std::size_t>(c) * kListCapacity;
  }
  std::uint32_t* listed(std::uint32_t c) {
    return literal.data() + static_cast<std::size_t>(c) * kListCapacity;
  }
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
  // The same for plain words, less the dead lanes of the listed ones.
  std::uint64_t included_plain(std::uint32_t c, std::uint32_t block);
  // 1 or 0 if it is known whether the clause matches the document, else -1.
  int remembered(std::uint32_t c, std::uint32_t document);
  void remember(std::uint32_t c, std::uint32_t document, bool match);
  // Whether the clause includes a negated word of the document.
  bool breaks(std::uint32_t c, std::uint32_t document);
  void settle_rows(std::uint32_t c);
  void settle_list(std::uint32_t c);
  // Moves included lanes of an up-to-date plain line to the list; false if it is full.
  bool take(std::uint32_t c, std::uint32_t block, std::uint64_t lanes);
  // Looks at every line of negated words that may have gained.
  void know_negated(std::uint32_t c);
  std::uint32_t count_included(std::uint32_t c);
  void record(std::uint32_t c, std::uint32_t document, bool reinforce);
  // Writes everything back: the row is the truth again.
  void finish(std::uint32_t c);

 private:
  bool reaches_include(std::uint32_t c, std::uint32_t line);
  void note(std::uint32_t c, std::uint32_t line, const Settled& settled);
  std::uint64_t replay(std::uint32_t c, std::uint32_t line);
  void write_back(std::uint32_t c, std::uint32_t index);
  bool make_room(std::uint32_t c);

  struct Answers {
    std::uint64_t known, match;
  };

  std::uint32_t answer_words_;  // for each clause: the first 64 answer_words_ documents
  std::vector<Answers> answers_;
  std::vector<std::uint8_t> list_memory_;
  std::uint8_t* list_states_;
};

}  // namespace newfound
