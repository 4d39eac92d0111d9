#include "clause_store.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace newfound {
namespace {

constexpr std::uint32_t kLargestIb = 65000;  // what fits the lines' counts, with room to spare
// Lines count trials from here, so that they can be behind: by one for each Type Ia event whose
// trials wait. A line that is behind as far as that does not wait any longer.
constexpr std::uint16_t kSeenBase = kInclude;
constexpr std::size_t kAnswerBytes = std::size_t{24} << 20;
constexpr std::size_t kPostingBytes = std::size_t{8} << 20;
constexpr int kWatches = 4;  // plain words taken from a line that refutes a document

std::uint64_t keep_highest(std::uint64_t lanes, int n) {
  std::uint64_t kept = 0;
  for (; lanes && n > 0; --n) {
    const std::uint64_t bit = 1ULL << (63 - __builtin_clzll(lanes));
    kept |= bit;
    lanes ^= bit;
  }
  return kept;
}

std::atomic<std::uint32_t> documents_to_remember{4096};

}  // namespace

std::uint32_t remembered_documents() { return documents_to_remember; }
void set_remembered_documents(std::uint32_t n) { documents_to_remember = n; }

ClauseStore::ClauseStore(Machine& m, const Documents& d)
    : machine(m), documents(d), law(m.parameters().s), kernel(kernels()) {
  const std::size_t n = machine.total_clauses();
  ib.assign(n, 0);
  due.assign(n, kNone);
  matched.assign(n + 16, 0);
  clause.resize(n);
  lists_.resize(n);
  seen_.assign(n * machine.n_lines(), kSeenBase);
  negated_.resize(n * machine.n_blocks());
  plain_words_ = (machine.n_blocks() + 63) / 64;
  plain_blocks_.assign(n * plain_words_, 0);
  const std::size_t wanted =
      std::min<std::size_t>(static_cast<std::size_t>(documents.size()), remembered_documents());
  answer_words_ = static_cast<std::uint32_t>(std::min((wanted + 63) / 64, kAnswerBytes / 16 / n));
  answers_.assign(n * 2 * answer_words_, 0);
  posted_words_ = static_cast<std::uint32_t>(std::min<std::size_t>(
      machine.parameters().n_features, kPostingBytes / 8 / std::max(1U, answer_words_)));
  if (!one_window()) return;
  std::vector<std::uint32_t> all(static_cast<std::size_t>(documents.size()));
  std::iota(all.begin(), all.end(), 0U);
  open_window(all.data(), all.data() + all.size());
}

void ClauseStore::open_window(const std::uint32_t* begin, const std::uint32_t* end) {
  ++window_;
  postings_.assign(static_cast<std::size_t>(posted_words_) * answer_words_, 0);
  for (const std::uint32_t* document = begin; document != end; ++document) {
    const auto place = static_cast<std::size_t>(document - begin);
    for (const std::uint32_t* w = documents.begin(*document);
         w != documents.end(*document) && *w < posted_words_; ++w)
      postings_[static_cast<std::size_t>(*w) * answer_words_ + (place >> 6)] |= 1ULL
                                                                                << (place & 63);
  }
}

void ClauseStore::begin(std::uint32_t c) {
  clause[c].seed = mix64(machine.parameters().seed, c);
  if (machine.fresh()) {
    machine.fill(c);
    return;
  }
  for (std::uint32_t line = 0; line < machine.n_lines(); ++line)
    note(c, line, kernel.look(line_of(c, line)));
}

void ClauseStore::note(std::uint32_t c, std::uint32_t line, std::uint64_t included) {
  const std::uint32_t block = line >> 1;
  if (line & 1) {
    negated(c, block) = included;
  } else {
    std::uint64_t& blocks = plain_blocks(c)[block >> 6];
    const std::uint64_t bit = 1ULL << (block & 63);
    blocks = included ? blocks | bit : blocks & ~bit;
  }
}

RowView ClauseStore::row_view(std::uint32_t c) {
  return {machine.row(c),  &seen(c, 0),        &negated(c, 0),
          plain_blocks(c), machine.n_blocks(), machine.valid(machine.n_blocks() - 1)};
}

std::uint64_t ClauseStore::settle_line(std::uint32_t c, std::uint32_t line) {
  if (ib[c] - clause[c].base_ib > kLargestIb) settle_row(c);
  const std::uint32_t now = ib[c] - clause[c].base_ib + kSeenBase;
  const std::uint32_t trials = now - seen(c, line);
  if (trials == 0) return line & 1 ? negated(c, line >> 1) : kernel.look(line_of(c, line));
  seen(c, line) = static_cast<std::uint16_t>(now);
  const std::uint64_t lanes = kernel.settle(line_of(c, line), trials, law, next_key(c));
  note(c, line, lanes);
  return lanes;
}

void ClauseStore::settle_row(std::uint32_t c) {
  const std::uint32_t now = ib[c] - clause[c].base_ib + kSeenBase;
  for (std::uint32_t line = 0; line < machine.n_lines(); ++line) {
    const std::uint32_t trials = now - seen(c, line);
    if (trials > 0) note(c, line, kernel.settle(line_of(c, line), trials, law, next_key(c)));
    seen(c, line) = kSeenBase;
  }
  clause[c].base_ib = ib[c];
}

void ClauseStore::event(std::uint32_t c, std::uint32_t document, bool reinforce) {
  ClauseState& state = clause[c];
  if (++state.uncleared == kEventsToClear) {
    for (std::uint32_t i = 0; i < state.listed; ++i) machine.row(c)[list(c).literal[i]] = 0;
    state.uncleared = 0;
  }
  if (ib[c] - state.base_ib > kLargestIb) settle_row(c);
  kernel.event(row_view(c), static_cast<std::uint16_t>(ib[c] - state.base_ib + kSeenBase),
               documents.blocks_begin(document), documents.blocks_end(document), reinforce,
               machine.parameters().boost_true_positive, law, next_key(c));
  state.answer_until = 0;
  state.matches = 0;
  std::fill_n(answers(c), 2 * answer_words_, 0);
}

bool ClauseStore::lacks(std::uint32_t c, std::uint32_t document) {
  // Rare words first: they refute most documents.
  for (std::uint32_t w = plain_words_; w-- > 0;)
    for (std::uint64_t blocks = plain_blocks(c)[w]; blocks;) {
      const std::uint32_t high = 63 - static_cast<std::uint32_t>(__builtin_clzll(blocks));
      blocks ^= 1ULL << high;
      const std::uint32_t block = 64 * w + high;
      const std::uint64_t lanes = settle_line(c, 2 * block);
      if (!lanes) continue;
      const std::uint64_t absent = lanes & ~documents.block(document, block);
      take(c, 2 * block, absent ? keep_highest(absent, kWatches) : lanes);
      if (absent) return true;
    }
  return false;
}

bool ClauseStore::breaks(std::uint32_t c, std::uint32_t document, std::uint32_t place) {
  const std::uint64_t* masks = &negated(c, 0);
  for (const Documents::Block* b = documents.blocks_begin(document);
       b != documents.blocks_end(document); ++b) {
    if (!(masks[b->index] & b->words)) continue;
    const std::uint32_t line = 2 * b->index + 1;
    const std::uint64_t lanes = settle_line(c, line) & b->words;
    if (!lanes) continue;
    // The most frequent word joins the list: it will refute other documents too.
    if (clause[c].listed >= kNegatedRoom) make_room(c);
    if (clause[c].listed < kNegatedRoom)
      take(c, line, lanes & (0 - lanes));
    else
      remember_refuted(c, place);
    return true;
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

void ClauseStore::take(std::uint32_t c, std::uint32_t line, std::uint64_t lanes) {
  ClauseState& state = clause[c];
  List& l = list(c);
  std::uint8_t* states = line_of(c, line);
  for (; lanes; lanes &= lanes - 1) {
    if (state.listed == kListCapacity && !make_room(c)) break;
    const std::uint32_t lane = lowest_bit(lanes);
    l.literal[state.listed] = line * kLine + lane;
    l.due[state.listed] = draw_due(c, ib[c]);
    l.state[state.listed++] = states[lane];
    states[lane] = 0;
    recall_listed(c, state.listed - 1u);
  }
  note(c, line, kernel.look(states));
}

bool ClauseStore::make_room(std::uint32_t c) {
  for (std::uint32_t i = clause[c].listed; i-- > 0;) {
    settle_listed(c, i);
    if (list(c).state[i] < kInclude) write_back(c, i);
  }
  return clause[c].listed < kListCapacity;
}

void ClauseStore::write_back(std::uint32_t c, std::uint32_t index) {
  ClauseState& state = clause[c];
  List& l = list(c);
  settle_listed(c, index);
  const std::uint32_t line = l.literal[index] >> 6;
  settle_line(c, line);
  line_of(c, line)[l.literal[index] & 63] = l.state[index];
  note(c, line, kernel.look(line_of(c, line)));
  const std::uint32_t last = --state.listed;
  l.literal[index] = l.literal[last];
  l.state[index] = l.state[last];
  l.due[index] = l.due[last];
  if (state.hang == last) state.hang = index;
}

void ClauseStore::recall_listed(std::uint32_t c, std::uint32_t index) {
  const List& l = list(c);
  const std::uint32_t word = word_of(l.literal[index]);
  if (word >= posted_words_) return;
  clause[c].answer_until = std::min(clause[c].answer_until, l.due[index]);
  const std::uint64_t flip = is_negated(l.literal[index]) ? 0 : ~0ULL;
  kernel.unite(answers(c), postings_.data() + static_cast<std::size_t>(word) * answer_words_, flip,
               answer_words_);
}

// A listed literal went down, or an event came: which documents do the listed literals refute?
void ClauseStore::recall(std::uint32_t c) {
  if (clause[c].window != window_) {
    clause[c].window = window_;
    std::fill_n(answers(c), 2 * answer_words_, 0);
  }
  std::copy_n(answers(c) + answer_words_, answer_words_, answers(c));
  clause[c].answer_until = kNone;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) {
    settle_listed(c, i);
    if (list(c).state[i] >= kInclude) recall_listed(c, i);
  }
}

void ClauseStore::remember_match(std::uint32_t c, std::uint32_t place) {
  if (!remembers(place)) return;
  answers(c)[place >> 6] |= 1ULL << (place & 63);
  answers(c)[answer_words_ + (place >> 6)] |= 1ULL << (place & 63);
  if (clause[c].matches < kMatchesToLearn && ++clause[c].matches == kMatchesToLearn)
    learn_matches(c);
}

void ClauseStore::remember_refuted(std::uint32_t c, std::uint32_t place) {
  if (!remembers(place)) return;
  answers(c)[place >> 6] |= 1ULL << (place & 63);
  clause[c].answer_until = std::min(clause[c].answer_until, ib[c] + 1);
}

// Finds the documents that nothing refutes which may be included: they match for certain.
void ClauseStore::learn_matches(std::uint32_t c) {
  for (std::uint32_t w = 0; w < plain_words_; ++w)
    if (plain_blocks(c)[w]) return;
  std::vector<std::uint64_t> refuted(answer_words_, 0);
  const auto refute = [&](std::uint32_t word, std::uint64_t flip) {
    kernel.unite(refuted.data(), postings_.data() + static_cast<std::size_t>(word) * answer_words_,
                 flip, answer_words_);
  };
  const List& l = list(c);
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) {
    settle_listed(c, i);
    if (l.state[i] < kInclude) continue;
    if (word_of(l.literal[i]) >= posted_words_) return;
    refute(word_of(l.literal[i]), is_negated(l.literal[i]) ? 0 : ~0ULL);
  }
  for (std::uint32_t b = 0; b < machine.n_blocks(); ++b)
    for (std::uint64_t lanes = negated(c, b); lanes; lanes &= lanes - 1) {
      const std::uint32_t word = 64 * b + lowest_bit(lanes);
      if (word >= posted_words_) return;
      refute(word, 0);
    }
  kernel.unite(answers(c), refuted.data(), ~0ULL, answer_words_);
  kernel.unite(answers(c) + answer_words_, refuted.data(), ~0ULL, answer_words_);
}

std::uint32_t ClauseStore::count_included(std::uint32_t c) {
  settle_list(c);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) count += list(c).state[i] >= kInclude;
  for (std::uint32_t b = 0; b < machine.n_blocks(); ++b) {
    if (plain_blocks(c)[b >> 6] >> (b & 63) & 1) count += count_bits(settle_line(c, 2 * b));
    if (negated(c, b)) count += count_bits(settle_line(c, 2 * b + 1));
  }
  return count;
}

void ClauseStore::finish(std::uint32_t c) {
  settle_row(c);
  while (clause[c].listed > 0) write_back(c, clause[c].listed - 1u);
  clause[c].hang = kNone;
}

}  // namespace newfound
