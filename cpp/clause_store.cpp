#include "clause_store.hpp"

#include <algorithm>

#include "bits.hpp"

namespace newfound {
namespace {
constexpr std::uint32_t kLargestIb = 65000;  // what fits LineMeta::ib, with room to spare
constexpr std::size_t kAnswerBytes = std::size_t{32} << 20;
}

ClauseStore::ClauseStore(Machine& m, const Documents& d)
    : machine(m), documents(d), law(m.parameters().s), kernel(kernels()), lines(m.n_lines()) {
  const std::size_t n = machine.total_clauses();
  ib.assign(n, 0);
  due.assign(n, kNone);
  matched.assign(n + 16, 0);
  clause.resize(n);
  meta.resize(n * lines);
  negated.resize(n * machine.n_blocks());
  literal.resize(n * kListCapacity);
  log.resize(n * kLogCapacity);
  answer_words_ = static_cast<std::uint32_t>(std::min(
      (static_cast<std::size_t>(documents.size()) + 63) / 64, kAnswerBytes / sizeof(Answers) / n));
  answers_.assign(n * answer_words_, {0, 0});
  list_memory_.assign(n * kListCapacity + 64, 0);
  list_states_ = list_memory_.data() + (64 - reinterpret_cast<std::uintptr_t>(list_memory_.data()) % 64) % 64;
  for (std::uint32_t c = 0; c < n; ++c) {
    clause[c].seed = mix64(machine.parameters().seed, c);
    clause[c].plain_from = machine.n_blocks();
    for (std::uint32_t line = 0; line < lines; ++line) {
      meta_of(c, line) = {0, 0, 0};
      note(c, line, kernel.look(machine.row(c) + line * kLine));
    }
  }
}

void ClauseStore::note(std::uint32_t c, std::uint32_t line, const Settled& settled) {
  const bool plain = (line & 1) == 0;
  meta_of(c, line).highest = plain && settled.included ? kInclude : settled.highest_excluded;
  if (!plain) mask(c, line >> 1) = settled.included;
}

bool ClauseStore::reaches_include(std::uint32_t c, std::uint32_t line) {
  const LineMeta m = meta_of(c, line);
  const Event* events = &log[static_cast<std::size_t>(c) * kLogCapacity];
  const bool negated_line = line & 1;
  std::uint32_t reach = m.highest;
  for (std::uint32_t e = m.events; e < clause[c].logged && reach < kInclude; ++e)
    reach += negated_line == events[e].reinforce || documents.block(events[e].document, line >> 1) != 0;
  return reach >= kInclude;
}

int ClauseStore::remembered(std::uint32_t c, std::uint32_t document) {
  if (document >> 6 >= answer_words_) return -1;
  Answers* answers = &answers_[static_cast<std::size_t>(c) * answer_words_];
  if (clause[c].answer_ib != ib[c]) {
    clause[c].answer_ib = ib[c];
    for (std::uint32_t w = 0; w < answer_words_; ++w) answers[w].known &= answers[w].match;
  }
  const Answers a = answers[document >> 6];
  if (!(a.known >> (document & 63) & 1)) return -1;
  return static_cast<int>(a.match >> (document & 63) & 1);
}

void ClauseStore::remember(std::uint32_t c, std::uint32_t document, bool match) {
  if (document >> 6 >= answer_words_) return;
  Answers& a = answers_[static_cast<std::size_t>(c) * answer_words_ + (document >> 6)];
  const std::uint64_t bit = 1ULL << (document & 63);
  a.known |= bit;
  a.match = match ? a.match | bit : a.match & ~bit;
}

std::uint64_t ClauseStore::replay(std::uint32_t c, std::uint32_t line) {
  const LineMeta& m = meta_of(c, line);
  const ClauseState& state = clause[c];
  const Event* events = &log[static_cast<std::size_t>(c) * kLogCapacity];
  const std::uint64_t valid = machine.valid(line >> 1);
  Step steps[kLogCapacity];
  std::uint32_t n_steps = 0, since = m.ib;
  for (std::uint32_t e = m.events; e < state.logged; ++e) {
    const Event& event = events[e];
    const std::uint64_t present = documents.block(event.document, line >> 1);
    const std::uint64_t up = ((line & 1) != 0) == event.reinforce ? ~present & valid : present;
    steps[n_steps++] = {up, event.ib - since, event.reinforce};
    since = event.ib;
  }
  const Settled settled =
      kernel.settle(machine.row(c) + line * kLine, steps, n_steps, ib[c] - state.base_ib - since,
                    valid, machine.parameters().boost_true_positive, law, next_key(c));
  note(c, line, settled);
  return settled.included;
}

std::uint64_t ClauseStore::settle_line(std::uint32_t c, std::uint32_t line) {
  if (ib[c] - clause[c].base_ib > kLargestIb) settle_rows(c);
  LineMeta& m = meta_of(c, line);
  if (m.ib == ib[c] - clause[c].base_ib && m.events == clause[c].logged) {
    if (line & 1) return mask(c, line >> 1);
    return m.highest < kInclude ? 0 : kernel.look(machine.row(c) + line * kLine).included;
  }
  const std::uint64_t lanes = replay(c, line);
  m.ib = static_cast<std::uint16_t>(ib[c] - clause[c].base_ib);
  m.events = clause[c].logged;
  return lanes;
}

void ClauseStore::settle_rows(std::uint32_t c) {
  for (std::uint32_t line = 0; line < lines; ++line) {
    if (line + 8 < lines) prefetch(machine.row(c) + (line + 8) * kLine);
    replay(c, line);
    meta_of(c, line).ib = 0;
    meta_of(c, line).events = 0;
  }
  clause[c].base_ib = ib[c];
  clause[c].logged = 0;
}

std::uint64_t ClauseStore::included_plain(std::uint32_t c, std::uint32_t block) {
  const std::uint64_t lanes = settle_line(c, 2 * block);
  if (!lanes) return 0;
  const std::uint32_t* list = listed(c);
  std::uint64_t dead = 0;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i)
    if (list[i] >> 6 == 2 * block) dead |= 1ULL << (list[i] & 63);
  dead &= lanes;
  if (dead) {
    std::uint8_t* states = machine.row(c) + 2 * block * kLine;
    for (std::uint64_t d = dead; d; d &= d - 1) states[lowest_bit(d)] = 0;
    note(c, 2 * block, kernel.look(states));
  }
  return lanes & ~dead;
}

bool ClauseStore::breaks(std::uint32_t c, std::uint32_t document) {
  const Documents::Block *begin = documents.blocks_begin(document), *end = documents.blocks_end(document);
  const std::uint64_t* masks = &mask(c, 0);
  for (const Documents::Block* b = begin; b != end; ++b)
    if ((masks[b->index] & b->words) && (settle_line(c, 2 * b->index + 1) & b->words)) return true;
  if (clause[c].negated_known) return false;
  // Lines are fetched several at a time: most of the cost of a look is waiting for memory.
  constexpr std::uint32_t kAhead = 8;
  const Documents::Block* queue[kAhead];
  std::uint32_t ahead = 0;
  for (const Documents::Block* b = begin; b != end; ++b) {
    if (may_gain(c, 2 * b->index + 1)) {
      prefetch(machine.row(c) + (2 * b->index + 1) * kLine);
      queue[ahead++] = b;
    }
    if (ahead == kAhead || b + 1 == end) {
      for (std::uint32_t i = 0; i < ahead; ++i)
        if (settle_line(c, 2 * queue[i]->index + 1) & queue[i]->words) return true;
      ahead = 0;
    }
  }
  return false;
}

void ClauseStore::settle_list(std::uint32_t c) {
  ClauseState& state = clause[c];
  const std::uint32_t trials = ib[c] - state.list_ib;
  if (trials == 0) return;
  state.list_ib = ib[c];
  if (state.listed == 0) return;
  std::uint8_t* states = listed_states(c);
  const std::uint8_t kept = state.hang == kNone ? 0 : states[state.hang];
  kernel.settle(states, nullptr, 0, trials, ~0ULL, false, law, next_key(c));
  if (state.hang != kNone) states[state.hang] = kept;
}

void ClauseStore::write_back(std::uint32_t c, std::uint32_t index) {
  ClauseState& state = clause[c];
  std::uint32_t* list = listed(c);
  std::uint8_t* states = listed_states(c);
  const std::uint32_t line = list[index] >> 6;
  settle_line(c, line);
  std::uint8_t* row = machine.row(c) + line * kLine;
  row[list[index] & 63] = states[index];
  note(c, line, kernel.look(row));
  const std::uint32_t last = --state.listed;
  list[index] = list[last];
  states[index] = states[last];
  if (state.hang == last) state.hang = index;
}

bool ClauseStore::make_room(std::uint32_t c) {
  const std::uint8_t* states = listed_states(c);
  for (std::uint32_t i = clause[c].listed; i-- > 0;)
    if (states[i] < kInclude) write_back(c, i);
  return clause[c].listed < kListCapacity;
}

bool ClauseStore::take(std::uint32_t c, std::uint32_t block, std::uint64_t lanes) {
  settle_list(c);
  ClauseState& state = clause[c];
  std::uint8_t* row = machine.row(c) + 2 * block * kLine;
  bool room = true;
  for (; lanes; lanes &= lanes - 1) {
    if (state.listed == kListCapacity && !make_room(c)) {
      room = false;
      break;
    }
    const std::uint32_t lane = lowest_bit(lanes);
    listed(c)[state.listed] = 2 * block * kLine + lane;
    listed_states(c)[state.listed++] = row[lane];
    row[lane] = 0;
  }
  note(c, 2 * block, kernel.look(row));
  return room;
}

void ClauseStore::know_negated(std::uint32_t c) {
  constexpr std::uint32_t kAhead = 16;
  std::uint32_t queue[kAhead], ahead = 0;
  for (std::uint32_t line = 1; line < lines; line += 2) {
    if (may_gain(c, line)) {
      prefetch(machine.row(c) + line * kLine);
      queue[ahead++] = line;
    }
    if (ahead == kAhead || line + 2 >= lines) {
      for (std::uint32_t i = 0; i < ahead; ++i) settle_line(c, queue[i]);
      ahead = 0;
    }
  }
  clause[c].negated_known = true;
}

std::uint32_t ClauseStore::count_included(std::uint32_t c) {
  settle_list(c);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) count += listed_states(c)[i] >= kInclude;
  for (std::uint32_t b = 0; b < machine.n_blocks(); ++b) {
    if (may_gain(c, 2 * b)) count += count_bits(included_plain(c, b));
    if (mask(c, b) || may_gain(c, 2 * b + 1)) count += count_bits(settle_line(c, 2 * b + 1));
  }
  clause[c].negated_known = true;
  return count;
}

void ClauseStore::record(std::uint32_t c, std::uint32_t document, bool reinforce) {
  ClauseState& state = clause[c];
  if (state.logged == kLogCapacity || ib[c] - state.base_ib > kLargestIb) settle_rows(c);
  log[static_cast<std::size_t>(c) * kLogCapacity + state.logged++] = {
      document, static_cast<std::uint16_t>(ib[c] - state.base_ib), reinforce};
  state.plain_from = machine.n_blocks();
  state.negated_known = state.seen_match = false;
  std::fill_n(&answers_[static_cast<std::size_t>(c) * answer_words_], answer_words_, Answers{0, 0});
}

void ClauseStore::finish(std::uint32_t c) {
  settle_list(c);
  settle_rows(c);
  while (clause[c].listed > 0) write_back(c, clause[c].listed - 1u);
  clause[c].hang = kNone;
}

}  // namespace newfound
