// The automata of the clauses in training, with decrements deferred or drawn ahead.
//
// An Ib event gives every automaton of a clause a trial: down with probability 1/s. Instead of
// drawing at each event, a clause counts its Ib events, and each line of its row remembers how many
// trials it has seen. When somebody needs a line, it is settled: one draw from the binomial law for
// all trials that it has missed.
//
// Decrements can only exclude literals. What a line included when it was last settled is therefore
// a superset of what it includes now, and a block that is not marked as including something
// certainly includes nothing.
//
// The negated lines of the most frequent words can be foreseen instead: their next trials are drawn
// before they happen. What these lines include is then known without a draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler.hpp"
#include "decrement_law.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "open_document.hpp"
#include "random.hpp"

namespace newfound {

class ClauseRows {
 public:
  // The negated lines of the first n_foreseen blocks can be foreseen.
  ClauseRows(Machine& machine, std::uint32_t n_foreseen);
  // The same rows, with the automata in a copy of the machine.
  ClauseRows(const ClauseRows& other, Machine& copy);

  // Reads the clause's row. Must come before any other call for the clause.
  void begin(std::uint32_t c);

  const DecrementLaw& law() const { return law_; }
  // A new random key of the clause. The clause alone decides which: not threads, not timing.
  std::uint64_t next_key(std::uint32_t c) {
    return mix64(counts_[c].seed + ++machine_.draws(c) * kGolden64);
  }

  // Ib events of each clause so far.
  std::uint32_t ib(std::uint32_t c) const { return ib_[c]; }
  std::uint32_t* ib_counts() { return ib_.data(); }

  // Groups of 64 blocks, and a bit for each block: whether one of its plain, or its negated,
  // literals may be included.
  std::uint32_t n_groups() const { return n_groups_; }
  const std::uint64_t* included_blocks(std::uint32_t c, bool negated) const {
    return &included_[(static_cast<std::size_t>(c) * 2 + negated) * n_groups_];
  }
  // For each block: a superset of its words whose negation is included.
  const std::uint64_t* negated_words(std::uint32_t c) const {
    return &negated_[static_cast<std::size_t>(c) * machine_.n_blocks()];
  }

  // The negated lines of the first blocks, those of the most frequent words, can be foreseen: their
  // trials are then drawn some events ahead (Kernels::foresee).
  std::uint32_t n_foreseen() const { return n_foreseen_; }
  bool foreseen(std::uint32_t c) const { return foreseen_until_[c] != kNone; }
  // The Ib event at which the trials drawn are used up, kNone if there are none. At once foresee()
  // must then draw more, or unforesee() defer trials again.
  std::uint32_t foreseen_until(std::uint32_t c) const { return foreseen_until_[c]; }
  void foresee(std::uint32_t c);
  void unforesee(std::uint32_t c);
  // For each foreseen block, the words whose negation is included until then.
  const std::uint64_t* sure_words(std::uint32_t c) const {
    return &sure_[static_cast<std::size_t>(c) * n_foreseen_];
  }

  // Settles a line, or looks at a foreseen one. Returns its included lanes.
  std::uint64_t settle_line(std::uint32_t c, std::uint32_t line);
  void finish(std::uint32_t c);
  // A Type Ia or Type II event.
  void feedback(std::uint32_t c, const OpenDocument& document, bool type_ia);

  // A literal may live outside of its row for a while. Its lane is then dead: set to 0 here and by
  // clear(), so low that nothing raises it to inclusion.
  std::uint8_t take_out(std::uint32_t c, std::uint32_t literal);
  void clear(std::uint32_t c, std::uint32_t literal) { machine_.row(c)[literal] = 0; }
  void put_back(std::uint32_t c, std::uint32_t literal, std::uint8_t state);
  // Records what the line includes after literals were taken out of it.
  void update_included(std::uint32_t c, std::uint32_t line);

  void prefetch_negated(std::uint32_t c) const {
    constexpr std::uint32_t kBlocks = 32;  // those of the most frequent words
    prefetch(included_blocks(c, true));
    for (std::uint32_t b = 0; b < std::min(kBlocks, machine_.n_blocks()); b += 8)
      prefetch(negated_words(c) + b);
    prefetch(&seen_[seen_at(c, 1)]);
  }
  void prefetch_row(std::uint32_t c, bool type_ia) const;

 private:
  struct Counts {
    std::uint64_t seed = 0;
    std::uint32_t base_ib = 0;  // the Ib events from which the trials of lines are counted
    std::uint32_t ia = 0;       // Type Ia events since then
  };

  std::uint8_t* line_of(std::uint32_t c, std::uint32_t line) {
    return machine_.row(c) + static_cast<std::size_t>(line) * kLine;
  }
  std::size_t seen_at(std::uint32_t c, std::uint32_t line) const {
    return (static_cast<std::size_t>(c) * 2 + (line & 1)) * machine_.n_blocks() + (line >> 1);
  }
  std::uint16_t& seen(std::uint32_t c, std::uint32_t line) { return seen_[seen_at(c, line)]; }
  // Each Ib event is a trial for every automaton, and each Type Ia event for those that it does
  // not raise for certain. The kernels deal with the few exceptions.
  std::uint32_t trials_of(std::uint32_t c, bool negated) const {
    return ib_[c] - counts_[c].base_ib + (negated && boost_ ? 0 : counts_[c].ia);
  }
  // Whether the line is a foreseen one.
  bool foreseen(std::uint32_t c, std::uint32_t line) const {
    return (line & 1) && line / 2 < n_foreseen_ && foreseen(c);
  }
  // The trials of the window that have happened.
  std::uint32_t elapsed(std::uint32_t c) const {
    return foreseen(c) ? kWindow - (foreseen_until_[c] - ib_[c]) : 0;
  }
  void settle_row(std::uint32_t c);
  void record_included(std::uint32_t c, std::uint32_t line, std::uint64_t lanes);
  RowView view(std::uint32_t c);

  Machine& machine_;
  const Kernels& kernels_;
  const DecrementLaw law_;
  const bool boost_;
  const std::uint32_t n_groups_, n_foreseen_;
  std::vector<std::uint32_t> ib_;
  std::vector<Counts> counts_;
  std::vector<std::uint16_t> seen_;  // trials that each line has seen, counted from base_ib
  std::vector<std::uint64_t> included_;
  std::vector<std::uint32_t> foreseen_until_;
  std::vector<std::uint8_t> hits_;
  std::vector<std::uint64_t> sure_;
  std::vector<std::uint64_t> negated_;
};

}  // namespace newfound
