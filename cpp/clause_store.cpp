#include "clause_store.hpp"

#include <algorithm>

namespace newfound {
namespace {

constexpr std::uint8_t kNearly = 4;  // listed literals this far below inclusion may come back soon
constexpr int kMoved = 4;  // plain literals that move to the list when a line refutes a document
constexpr std::uint32_t kNegatedRoom = 24;    // negated literals join lists shorter than this
constexpr std::uint8_t kEventsToClear = 120;  // an event raises a dead lane by one at most
constexpr std::uint8_t kMatchesToCacheAll = 8;
static_assert(kEventsToClear < kInclude);

std::uint64_t keep_highest(std::uint64_t lanes, int n) {
  std::uint64_t kept = 0;
  for (; lanes && n > 0; --n) {
    const std::uint64_t bit = 1ULL << highest_bit(lanes);
    kept |= bit;
    lanes ^= bit;
  }
  return kept;
}

}  // namespace

ClauseStore::ClauseStore(Machine& machine, const Documents& documents)
    : machine_(machine),
      kernels_(*machine.execution().kernels),
      rows_(machine),
      cache_(machine, documents),
      all_cached_(cache_.has_postings(machine.parameters().n_features - 1)),
      states_(machine.total_clauses()),
      lists_(machine.total_clauses()),
      votes_(machine.total_clauses()),
      watch_due_(machine.total_clauses(), kNone),
      matched_(machine.total_clauses(), 0) {}

void ClauseStore::begin(std::uint32_t c) {
  const std::uint32_t n = parameters().n_clauses;
  const auto weight = static_cast<std::int32_t>(machine_.weight(c));
  votes_[c] = c % n < n / 2 ? weight : -weight;
  rows_.begin(c);
}

void ClauseStore::finish(std::uint32_t c) {
  machine_.weight(c) = static_cast<std::uint32_t>(std::abs(votes_[c]));
  put_back_all(rows_, lists_[c], states_[c].n_listed, c);
  states_[c].n_listed = 0;
  states_[c].watch.listed = kNone;
}

Machine ClauseStore::finished_copy() const {
  Machine copy = machine_.copy();
  ClauseRows rows(rows_, copy);
  for (std::uint32_t c = 0; c < copy.total_clauses(); ++c) {
    LiteralList list = lists_[c];
    copy.weight(c) = static_cast<std::uint32_t>(std::abs(votes_[c]));
    put_back_all(rows, list, states_[c].n_listed, c);
  }
  return copy;
}

void ClauseStore::put_back_all(ClauseRows& rows, LiteralList& list, std::uint32_t n_listed,
                               std::uint32_t c) {
  rows.settle_row(c);
  for (std::uint32_t i = n_listed; i-- > 0;) {
    apply_due(rows, list, c, i);
    rows.put_back(c, list.literal[i], list.state[i]);
  }
}

void ClauseStore::prefetch_event(std::uint32_t c, bool type_ia) const {
  prefetch(&states_[c]);
  prefetch(lists_[c].state);
  prefetch(lists_[c].literal);
  prefetch(lists_[c].due);
  rows_.prefetch_row(c, type_ia);
}

// Matching.

bool ClauseStore::refuted_by_plain_words(std::uint32_t c, const OpenDocument& document) {
  // Rare words first: they refute most documents.
  for (std::uint32_t group = rows_.n_groups(); group-- > 0;)
    for (std::uint64_t blocks = rows_.included_blocks(c, false)[group]; blocks;) {
      const std::uint32_t high = highest_bit(blocks);
      blocks ^= 1ULL << high;
      const std::uint32_t block = 64 * group + high;
      const std::uint64_t lanes = rows_.settle_line(c, 2 * block);
      if (!lanes) continue;
      const std::uint64_t refuting = lanes & ~document.block(block);
      move_to_list(c, 2 * block, refuting ? keep_highest(refuting, kMoved) : lanes);
      if (refuting) return true;
    }
  return false;
}

bool ClauseStore::refuted_by_negated_words(std::uint32_t c, const OpenDocument& document) {
  const std::uint64_t *some = rows_.included_blocks(c, true), *occupied = document.occupied();
  std::uint64_t both = 0;
  for (std::uint32_t group = 0; group < rows_.n_groups(); ++group)
    both |= some[group] & occupied[group];
  if (!both) return false;
  const std::uint64_t* masks = rows_.negated_words(c);
  for (const WordBlock* b = document.blocks_begin(); b != document.blocks_end(); ++b) {
    if (!(some[b->index >> 6] >> (b->index & 63) & 1) || !(masks[b->index] & b->words)) continue;
    const std::uint32_t line = 2 * b->index + 1;
    const std::uint64_t refuting = rows_.settle_line(c, line) & b->words;
    if (!refuting) continue;
    // The most frequent word joins the list: it will refute other documents too.
    if (states_[c].n_listed >= kNegatedRoom) make_room(c);
    if (states_[c].n_listed < kNegatedRoom)
      move_to_list(c, line, refuting & (0 - refuting));
    else
      cache_refuted(c, document.slot());
    return true;
  }
  return false;
}

// Feedback.

void ClauseStore::type_ia(std::uint32_t c, const OpenDocument& document) {
  settle_list(c);
  LiteralList& list = lists_[c];
  if (const std::uint32_t n = states_[c].n_listed; n > 0) {
    std::uint64_t up = 0;
    for (std::uint32_t i = 0; i < n; ++i)
      up |= static_cast<std::uint64_t>(document.truth(list.literal[i])) << i;
    kernels_.reinforce(list.state, up, parameters().boost_true_positive, rows_.law().tables(),
                       rows_.next_key(c));
  }
  feedback(c, document, true);
}

void ClauseStore::type_ii(std::uint32_t c, const OpenDocument& document) {
  settle_list(c);
  LiteralList& list = lists_[c];
  for (std::uint32_t i = 0; i < states_[c].n_listed; ++i)
    list.state[i] = static_cast<std::uint8_t>(
        list.state[i] + (list.state[i] < kInclude && !document.truth(list.literal[i])));
  feedback(c, document, false);
}

void ClauseStore::feedback(std::uint32_t c, const OpenDocument& document, bool type_ia) {
  ClauseState& state = states_[c];
  if (++state.uncleared == kEventsToClear) {
    for (std::uint32_t i = 0; i < state.n_listed; ++i) rows_.clear(c, lists_[c].literal[i]);
    state.uncleared = 0;
  }
  rows_.feedback(c, document, type_ia);
  compact_list(c, type_ia);
  state.valid_until = 0;
  state.refuting = 0;
  state.others_cached = state.brief_cached = false;
  state.refuting_known = state.all_included = false;
  state.n_matches = 0;
  cache_.clear(c);
}

std::uint32_t ClauseStore::count_included(std::uint32_t c) {
  settle_list(c);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < states_[c].n_listed; ++i) count += lists_[c].state[i] >= kInclude;
  for (std::uint32_t side = 0; side < 2; ++side)
    for (std::uint32_t group = 0; group < rows_.n_groups(); ++group)
      for (std::uint64_t blocks = rows_.included_blocks(c, side)[group]; blocks;
           blocks &= blocks - 1)
        count += count_bits(rows_.settle_line(c, 2 * (64 * group + lowest_bit(blocks)) + side));
  return count;
}

// The list.

std::uint32_t ClauseStore::draw_due(ClauseRows& rows, std::uint32_t c, std::uint32_t from) {
  const std::uint64_t at = from + rows.law().geometric(rows.next_key(c));
  return at < kNone ? static_cast<std::uint32_t>(at) : kNone;
}

void ClauseStore::apply_due(ClauseRows& rows, LiteralList& list, std::uint32_t c,
                            std::uint32_t index) {
  while (rows.ib(c) >= list.due[index] && list.due[index] != kNone) {
    if (list.state[index] > 0) --list.state[index];
    list.due[index] = draw_due(rows, c, list.due[index]);
  }
}

std::uint32_t ClauseStore::rarest_plain(std::uint32_t c) {
  const LiteralList& list = lists_[c];
  std::uint32_t rarest = kNone;
  for (std::uint32_t i = 0; i < states_[c].n_listed; ++i) {
    if (is_negated(list.literal[i])) continue;
    settle_listed(c, i);
    if (list.state[i] >= kInclude && (rarest == kNone || list.literal[i] > list.literal[rarest]))
      rarest = i;
  }
  return rarest;
}

void ClauseStore::move_to_list(std::uint32_t c, std::uint32_t line, std::uint64_t lanes) {
  ClauseState& state = states_[c];
  LiteralList& list = lists_[c];
  for (; lanes; lanes &= lanes - 1) {
    if (state.n_listed == kListCapacity && !make_room(c)) break;
    const std::uint32_t index = state.n_listed++;
    list.literal[index] = line * kLine + lowest_bit(lanes);
    list.due[index] = draw_due(rows_, c, rows_.ib(c));
    list.state[index] = rows_.take_out(c, list.literal[index]);
    state.list_due = std::min(state.list_due, list.due[index]);
    cache_refutations_of(c, index);
  }
  rows_.update_included(c, line);
}

void ClauseStore::move_to_row(std::uint32_t c, std::uint32_t index) {
  ClauseState& state = states_[c];
  LiteralList& list = lists_[c];
  settle_listed(c, index);
  rows_.put_back(c, list.literal[index], list.state[index]);
  const std::uint32_t last = --state.n_listed;
  state.others_cached |= state.refuting >> index & 1;
  if (index != last) {
    const std::uint64_t moved = state.refuting >> last & 1;
    state.refuting = (state.refuting & ~(1ULL << index)) | moved << index;
  }
  state.refuting &= ~(1ULL << last);
  list.literal[index] = list.literal[last];
  list.state[index] = list.state[last];
  list.due[index] = list.due[last];
  if (state.watch.listed == last) state.watch.listed = index;
}

// An event has just visited the lines of this side: after Type II no trial is pending there, after
// Type Ia one. So moving a literal back costs little.
void ClauseStore::compact_list(std::uint32_t c, bool negated) {
  for (std::uint32_t i = states_[c].n_listed; i-- > 0;)
    if (is_negated(lists_[c].literal[i]) == negated && lists_[c].state[i] < kInclude - kNearly)
      move_to_row(c, i);
}

bool ClauseStore::make_room(std::uint32_t c) {
  if (states_[c].all_included && rows_.ib(c) < states_[c].list_due)
    return states_[c].n_listed < kListCapacity;
  for (std::uint32_t i = states_[c].n_listed; i-- > 0;) {
    settle_listed(c, i);
    if (lists_[c].state[i] < kInclude) move_to_row(c, i);
  }
  states_[c].all_included = true;
  return states_[c].n_listed < kListCapacity;
}

// Cached answers.

void ClauseStore::cache_match(std::uint32_t c, std::uint32_t slot) {
  if (!cache_.has_slot(slot)) return;
  cache_.add_match(c, slot);
  std::uint8_t& n = states_[c].n_matches;
  if (n < kMatchesToCacheAll && ++n == kMatchesToCacheAll) cache_all_matches(c);
}

// A refutation by a literal that stays in the row, and may go down with the next Ib event.
void ClauseStore::cache_refuted(std::uint32_t c, std::uint32_t slot) {
  if (!cache_.has_slot(slot)) return;
  cache_.add_refuted_briefly(c, slot);
  states_[c].valid_until = std::min(states_[c].valid_until, rows_.ib(c) + 1);
  states_[c].brief_cached = true;
}

void ClauseStore::cache_refutations_of(std::uint32_t c, std::uint32_t index) {
  const LiteralList& list = lists_[c];
  const std::uint32_t word = word_of(list.literal[index]);
  if (!cache_.has_postings(word)) return;
  states_[c].valid_until = std::min(states_[c].valid_until, list.due[index]);
  states_[c].refuting_due = std::min(states_[c].refuting_due, list.due[index]);
  states_[c].refuting |= 1ULL << index;
  cache_.add_refuted_by(c, word, is_negated(list.literal[index]));
}

// A listed literal went down, an event changed the clause, or a new window began.
void ClauseStore::refresh_answers(std::uint32_t c) {
  ClauseState& state = states_[c];
  const LiteralList& list = lists_[c];
  const bool same_window = state.window == cache_.window();
  if (same_window && state.refuting_known && !state.others_cached && rows_.ib(c) < state.list_due) {
    state.valid_until = state.refuting_due;
    forget_brief(c);
    return;
  }
  std::uint64_t refuting = 0;
  std::uint32_t until = kNone, due = kNone;
  for (std::uint32_t i = 0; i < state.n_listed; ++i) {
    settle_listed(c, i);
    due = std::min(due, list.due[i]);
    if (list.state[i] < kInclude || !cache_.has_postings(word_of(list.literal[i]))) continue;
    refuting |= 1ULL << i;
    until = std::min(until, list.due[i]);
  }
  set_list_due(c, due);
  state.refuting_due = until;
  state.refuting_known = true;
  if (same_window && refuting == state.refuting && !state.others_cached) {
    state.valid_until = until;
    forget_brief(c);
    return;
  }
  if (same_window) {
    cache_.keep_matches_only(c);
  } else {
    cache_.clear(c);
    state.n_matches = 0;
  }
  state.window = cache_.window();
  state.others_cached = state.brief_cached = false;
  state.refuting = 0;
  state.valid_until = kNone;
  for (; refuting; refuting &= refuting - 1) cache_refutations_of(c, lowest_bit(refuting));
}

// Finds all documents that no literal refutes which may be included: they match for certain.
void ClauseStore::cache_all_matches(std::uint32_t c) {
  for (std::uint32_t group = 0; group < rows_.n_groups(); ++group)
    if (rows_.included_blocks(c, false)[group]) return;
  std::vector<std::uint32_t> plain, negated;
  const LiteralList& list = lists_[c];
  for (std::uint32_t i = 0; i < states_[c].n_listed; ++i) {
    settle_listed(c, i);
    if (list.state[i] < kInclude) continue;
    const std::uint32_t word = word_of(list.literal[i]);
    if (!cache_.has_postings(word)) return;
    (is_negated(list.literal[i]) ? negated : plain).push_back(word);
  }
  for (std::uint32_t group = 0; group < rows_.n_groups(); ++group)
    for (std::uint64_t blocks = rows_.included_blocks(c, true)[group]; blocks;
         blocks &= blocks - 1) {
      const std::uint32_t block = 64 * group + lowest_bit(blocks);
      for (std::uint64_t lanes = rows_.negated_words(c)[block]; lanes; lanes &= lanes - 1)
        negated.push_back(64 * block + lowest_bit(lanes));
    }
  // Those of the row are in ascending order, so the last one is the rarest.
  if (!negated.empty() && !cache_.has_postings(negated.back())) return;
  cache_.add_matches(c, plain, negated);
}

}  // namespace newfound
