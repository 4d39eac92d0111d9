#include "clause_store.hpp"

#include <algorithm>

#include "bits.hpp"

namespace newfound {
namespace {
constexpr std::uint32_t kLargestIb = 65000;  // what fits LineMeta::ib, with room to spare
constexpr std::size_t kAnswerBytes = std::size_t{24} << 20;
constexpr std::size_t kPostingBytes = std::size_t{8} << 20;
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
  log.resize(n * kLogCapacity);
  answer_words_ = static_cast<std::uint32_t>(std::min(
      (static_cast<std::size_t>(documents.size()) + 63) / 64, kAnswerBytes / sizeof(Answers) / n));
  answers_.assign(n * answer_words_, {0, 0});
  posted_words_ = static_cast<std::uint32_t>(std::min<std::size_t>(
      machine.parameters().n_features, kPostingBytes / 8 / std::max(1U, answer_words_)));
  postings_.assign(static_cast<std::size_t>(posted_words_) * answer_words_, 0);
  const std::int64_t remembered_documents = std::min<std::int64_t>(documents.size(), 64LL * answer_words_);
  for (std::int64_t doc = 0; doc < remembered_documents; ++doc)
    for (const std::uint32_t* w = documents.begin(doc); w != documents.end(doc) && *w < posted_words_; ++w)
      postings_[static_cast<std::size_t>(*w) * answer_words_ + static_cast<std::size_t>(doc >> 6)] |= 1ULL << (doc & 63);
  lists_.resize(n);
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
  const auto all = static_cast<std::uint32_t>(((1ULL << clause[c].logged) - 1) & ~((1ULL << m.events) - 1));
  const std::uint32_t reinforced = all & clause[c].reinforced;
  const std::uint32_t raise_line = line & 1 ? reinforced : all & ~reinforced;
  std::uint32_t reach = m.highest + count_bits(raise_line);
  const Event* events = &log[static_cast<std::size_t>(c) * kLogCapacity];
  for (std::uint32_t rest = all & ~raise_line; rest && reach < kInclude; rest &= rest - 1)
    reach += documents.has_block(events[lowest_bit(rest)].document, line >> 1);
  return reach >= kInclude;
}

void ClauseStore::recall_listed(std::uint32_t c, std::uint32_t index) {
  const List& l = list(c);
  const std::uint32_t word = word_of(l.literal[index]);
  if (word >= posted_words_) return;
  clause[c].answer_until = std::min(clause[c].answer_until, l.due[index]);
  const std::uint64_t flip = is_negated(l.literal[index]) ? 0 : ~0ULL;
  const std::uint64_t* having = &postings_[static_cast<std::size_t>(word) * answer_words_];
  Answers* answers = answers_of(c);
  for (std::uint32_t w = 0; w < answer_words_; ++w) answers[w].known |= having[w] ^ flip;
}

// A listed literal went down, or an event came: which documents do the listed literals refute?
void ClauseStore::recall(std::uint32_t c) {
  Answers* answers = answers_of(c);
  for (std::uint32_t w = 0; w < answer_words_; ++w) answers[w].known &= answers[w].match;
  clause[c].answer_until = kNone;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) {
    settle_listed(c, i);
    if (list(c).state[i] >= kInclude) recall_listed(c, i);
  }
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
    const bool reinforce = state.reinforced >> e & 1;
    const std::uint64_t present = documents.block(event.document, line >> 1);
    const std::uint64_t up = ((line & 1) != 0) == reinforce ? ~present & valid : present;
    steps[n_steps++] = {up, event.ib - since, reinforce};
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
  clause[c].reinforced = 0;
}

// A line that is up to date refutes a document by these lanes: lists the most frequent word, if
// there is room.
void ClauseStore::list_one(std::uint32_t c, std::uint32_t line, std::uint64_t lanes) {
  if (clause[c].listed >= kNegatedRoom) make_room(c);
  if (clause[c].listed < kNegatedRoom) take(c, line, lanes & (0 - lanes));
}

bool ClauseStore::breaks(std::uint32_t c, std::uint32_t document) {
  const Documents::Block *begin = documents.blocks_begin(document), *end = documents.blocks_end(document);
  const std::uint64_t* masks = &mask(c, 0);
  const auto broken_in = [&](const Documents::Block& block) {
    const std::uint32_t line = 2 * block.index + 1;
    const std::uint64_t lanes = settle_line(c, line) & block.words;
    if (lanes) list_one(c, line, lanes);
    return lanes != 0;
  };
  for (const Documents::Block* b = begin; b != end; ++b)
    if ((masks[b->index] & b->words) && broken_in(*b)) return true;
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
        if (broken_in(*queue[i])) return true;
      ahead = 0;
    }
  }
  return false;
}

std::uint32_t ClauseStore::draw_due(std::uint32_t c, std::uint32_t from) {
  const std::uint64_t at = from + law.geometric(next_key(c));
  return at < kNone ? static_cast<std::uint32_t>(at) : kNone;
}

void ClauseStore::settle_due(std::uint32_t c, std::uint32_t index) {
  List& l = list(c);
  while (ib[c] >= l.due[index] && l.due[index] != kNone) {
    if (l.state[index] > 0) --l.state[index];
    l.due[index] = draw_due(c, l.due[index]);
  }
}

void ClauseStore::write_back(std::uint32_t c, std::uint32_t index) {
  ClauseState& state = clause[c];
  List& l = list(c);
  settle_listed(c, index);
  const std::uint32_t line = l.literal[index] >> 6;
  settle_line(c, line);
  std::uint8_t* row = machine.row(c) + line * kLine;
  row[l.literal[index] & 63] = l.state[index];
  note(c, line, kernel.look(row));
  const std::uint32_t last = --state.listed;
  l.literal[index] = l.literal[last];
  l.state[index] = l.state[last];
  l.due[index] = l.due[last];
  if (state.hang == last) state.hang = index;
}

bool ClauseStore::make_room(std::uint32_t c) {
  for (std::uint32_t i = clause[c].listed; i-- > 0;) {
    settle_listed(c, i);
    if (list(c).state[i] < kInclude) write_back(c, i);
  }
  return clause[c].listed < kListCapacity;
}

bool ClauseStore::take(std::uint32_t c, std::uint32_t line, std::uint64_t lanes) {
  ClauseState& state = clause[c];
  List& l = list(c);
  std::uint8_t* row = machine.row(c) + line * kLine;
  bool room = true;
  for (; lanes; lanes &= lanes - 1) {
    if (state.listed == kListCapacity && !make_room(c)) {
      room = false;
      break;
    }
    const std::uint32_t lane = lowest_bit(lanes);
    l.literal[state.listed] = line * kLine + lane;
    l.due[state.listed] = draw_due(c, ib[c]);
    l.state[state.listed++] = row[lane];
    row[lane] = 0;
    recall_listed(c, state.listed - 1u);
  }
  note(c, line, kernel.look(row));
  return room;
}

std::uint32_t ClauseStore::count_included(std::uint32_t c) {
  settle_list(c);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) count += list(c).state[i] >= kInclude;
  for (std::uint32_t b = 0; b < machine.n_blocks(); ++b) {
    if (may_gain(c, 2 * b)) count += count_bits(settle_line(c, 2 * b));
    if (mask(c, b) || may_gain(c, 2 * b + 1)) count += count_bits(settle_line(c, 2 * b + 1));
  }
  return count;
}

void ClauseStore::record(std::uint32_t c, std::uint32_t document, bool reinforce) {
  ClauseState& state = clause[c];
  if (++state.uncleared == kEventsToClear) {
    for (std::uint32_t i = 0; i < state.listed; ++i) machine.row(c)[list(c).literal[i]] = 0;
    state.uncleared = 0;
  }
  if (state.logged == kLogCapacity || ib[c] - state.base_ib > kLargestIb) settle_rows(c);
  log[static_cast<std::size_t>(c) * kLogCapacity + state.logged] = {
      document, static_cast<std::uint16_t>(ib[c] - state.base_ib)};
  state.reinforced |= static_cast<std::uint32_t>(reinforce) << state.logged;
  ++state.logged;
  state.plain_from = machine.n_blocks();
  state.answer_until = 0;
  std::fill_n(&answers_[static_cast<std::size_t>(c) * answer_words_], answer_words_, Answers{0, 0});
}

void ClauseStore::finish(std::uint32_t c) {
  settle_rows(c);
  while (clause[c].listed > 0) write_back(c, clause[c].listed - 1u);
  clause[c].hang = kNone;
}

}  // namespace newfound
