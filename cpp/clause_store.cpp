#include "clause_store.hpp"

#include <algorithm>

namespace newfound {
namespace {

constexpr std::uint8_t kNearly = 4;  // listed literals this far below inclusion may come back soon
constexpr double kShort = 20;        // words in a document
constexpr int kMoved = 4;  // plain literals that move to the list when a line refutes a document
constexpr std::uint8_t kEventsToClear = 120;  // an event raises a dead lane by one at most
static_assert(kEventsToClear < kInclude);

// To foresee a line takes time at every eighth trial, and spares comparisons with documents that
// have one of its words. Words of more blocks refute long documents.
std::uint32_t blocks_to_foresee(const Machine& machine, const Documents& documents) {
  const std::uint32_t given = machine.execution().foreseen_blocks;
  if (given != kNone) return given;
  return documents.mean_words() < kShort ? 2 : 4;
}

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
      rows_(machine, blocks_to_foresee(machine, documents)),
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
  rows.finish(c);
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
      const std::uint64_t refuting = lanes & ~document.present()[block];
      move_to_list(c, 2 * block, refuting ? keep_highest(refuting, kMoved) : lanes);
      if (refuting) return true;
    }
  return false;
}

bool ClauseStore::refuted_by_negated_words(std::uint32_t c, const OpenDocument& document) {
  if (!parameters().negations) return false;
  const std::uint64_t *masks = rows_.negated_words(c), *present = document.present();
  if (document.few_blocks()) {
    for (const WordBlock* b = document.blocks_begin(); b != document.blocks_end(); ++b)
      if (masks[b->index] & b->words && rows_.settle_line(c, 2 * b->index + 1) & b->words)
        return true;
    return false;
  }
  const std::uint32_t n = machine_.n_blocks();
  for (std::uint32_t b = kernels_.first_common(masks, present, 0, n); b < n;
       b = kernels_.first_common(masks, present, b + 1, n))
    if (rows_.settle_line(c, 2 * b + 1) & present[b]) return true;
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
  if (!type_ia) compact_list(c);
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

std::uint32_t ClauseStore::empty_until(std::uint32_t c) const {
  for (std::uint32_t side = 0; side < 2; ++side)
    for (std::uint32_t group = 0; group < rows_.n_groups(); ++group)
      if (rows_.included_blocks(c, side)[group]) return 0;
  const LiteralList& list = lists_[c];
  std::uint32_t until = kNone - 1;
  for (std::uint32_t i = 0; i < states_[c].n_listed; ++i) {
    if (list.state[i] >= kInclude) return 0;
    until = std::min(until, list.due[i]);
  }
  return until;
}

std::uint32_t ClauseStore::rarest_plain(std::uint32_t c) {
  const LiteralList& list = lists_[c];
  std::uint32_t rarest = kNone;
  for (std::uint32_t i = 0; i < states_[c].n_listed; ++i) {
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
  }
  rows_.update_included(c, line);
}

void ClauseStore::move_to_row(std::uint32_t c, std::uint32_t index) {
  ClauseState& state = states_[c];
  LiteralList& list = lists_[c];
  settle_listed(c, index);
  rows_.put_back(c, list.literal[index], list.state[index]);
  const std::uint32_t last = --state.n_listed;
  list.literal[index] = list.literal[last];
  list.state[index] = list.state[last];
  list.due[index] = list.due[last];
  if (state.watch.listed == last) state.watch.listed = index;
}

// A Type II event has just visited all plain lines, and no trial is pending there: so moving a
// literal back costs little.
void ClauseStore::compact_list(std::uint32_t c) {
  for (std::uint32_t i = states_[c].n_listed; i-- > 0;)
    if (lists_[c].state[i] < kInclude - kNearly) move_to_row(c, i);
}

bool ClauseStore::make_room(std::uint32_t c) {
  for (std::uint32_t i = states_[c].n_listed; i-- > 0;) {
    settle_listed(c, i);
    if (lists_[c].state[i] < kInclude) move_to_row(c, i);
  }
  return states_[c].n_listed < kListCapacity;
}

}  // namespace newfound
