#include "clause_store.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace newfound {
namespace {

constexpr std::size_t kAnswerBytes = std::size_t{24} << 20;
constexpr std::size_t kPostingBytes = std::size_t{8} << 20;
constexpr std::uint8_t kNearly = 4;  // listed literals this far below inclusion may come back soon
constexpr int kWatches = 4;          // plain words taken from a line that refutes a document

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
    : machine(m),
      documents(d),
      law(m.parameters().s),
      kernel(kernels()),
      boost_(m.parameters().boost_true_positive) {
  const std::size_t n = machine.total_clauses();
  ib.assign(n, 0);
  due.assign(n, kNone);
  matched.assign(n, 0);
  clause.resize(n);
  lists_.resize(n);
  seen_.assign(n * machine.n_lines(), 0);
  groups_ = (machine.n_blocks() + 63) / 64;
  included_.assign(n * 2 * groups_, 0);
  negated_.reset(new std::uint64_t[n * machine.n_blocks()]);
  const std::size_t wanted =
      std::min<std::size_t>(static_cast<std::size_t>(documents.size()), remembered_documents());
  const std::size_t words = (wanted + 64 * kSetWords - 1) / (64 * kSetWords) * kSetWords;
  answer_words_ =
      static_cast<std::uint32_t>(std::min(words, kAnswerBytes / 16 / n / kSetWords * kSetWords));
  window_size_ = std::min(static_cast<std::int64_t>(wanted), std::int64_t{64} * answer_words_);
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

void ClauseStore::fetch_row(std::uint32_t c, bool reinforce) {
  constexpr std::uint32_t kLines = 24;  // from there on the event looks ahead itself
  prefetch(&clause[c]);
  prefetch(list(c).state);
  prefetch(list(c).literal);
  prefetch(list(c).due);
  prefetch(included(c, reinforce));
  const std::uint32_t n = std::min(kLines, machine.n_blocks());
  for (std::uint32_t b = 0; b < n; ++b) prefetch(line_of(c, 2 * b + reinforce));
  for (std::uint32_t b = 0; b < machine.n_blocks(); b += 32) prefetch(&seen(c, 2 * b + reinforce));
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

void ClauseStore::note(std::uint32_t c, std::uint32_t line, std::uint64_t lanes) {
  const std::uint32_t block = line >> 1;
  if ((line & 1) && lanes) negated(c)[block] = lanes;
  std::uint64_t& blocks = included(c, line & 1)[block >> 6];
  const std::uint64_t bit = 1ULL << (block & 63);
  blocks = lanes ? blocks | bit : blocks & ~bit;
}

RowView ClauseStore::row_view(std::uint32_t c) {
  return {machine.row(c),
          {&seen(c, 0), &seen(c, 1)},
          {included(c, false), included(c, true)},
          negated(c),
          machine.n_blocks()};
}

std::uint64_t ClauseStore::settle_line(std::uint32_t c, std::uint32_t line) {
  if (trials_of(c, false) > kMostTrials) settle_row(c);
  const std::uint32_t now = trials_of(c, line & 1);
  const std::uint32_t trials = now - seen(c, line);
  if (trials == 0) return kernel.look(line_of(c, line));
  seen(c, line) = static_cast<std::uint16_t>(now);
  const std::uint64_t lanes = kernel.settle(line_of(c, line), trials, law, next_key(c));
  note(c, line, lanes);
  return lanes;
}

void ClauseStore::settle_row(std::uint32_t c) {
  for (std::uint32_t line = 0; line < machine.n_lines(); ++line) {
    const std::uint32_t trials = trials_of(c, line & 1) - seen(c, line);
    if (trials > 0) note(c, line, kernel.settle(line_of(c, line), trials, law, next_key(c)));
    seen(c, line) = 0;
  }
  clause[c].base_ib = ib[c];
  clause[c].ia = 0;
}

void ClauseStore::event(std::uint32_t c, std::uint32_t document, const std::uint64_t* absent,
                        bool reinforce) {
  ClauseState& state = clause[c];
  if (++state.uncleared == kEventsToClear) {
    for (std::uint32_t i = 0; i < state.listed; ++i) machine.row(c)[list(c).literal[i]] = 0;
    state.uncleared = 0;
  }
  if (trials_of(c, false) > kMostTrials) settle_row(c);
  const std::uint16_t now[2] = {static_cast<std::uint16_t>(trials_of(c, false)),
                                static_cast<std::uint16_t>(trials_of(c, true))};
  kernel.event(row_view(c), now, absent, documents.blocks_begin(document),
               documents.blocks_end(document), reinforce, boost_, law, next_key(c));
  state.ia += reinforce;  // a trial that lines have not seen, and listed literals have
  tidy(c, reinforce);
  state.answer_until = 0;
  state.refuting = 0;
  state.unlisted = false;
  state.matches = 0;
  std::fill_n(answers(c), 2 * answer_words_, 0);
}

bool ClauseStore::lacks(std::uint32_t c, std::uint32_t document) {
  // Rare words first: they refute most documents.
  for (std::uint32_t group = groups_; group-- > 0;)
    for (std::uint64_t blocks = included(c, false)[group]; blocks;) {
      const std::uint32_t high = 63 - static_cast<std::uint32_t>(__builtin_clzll(blocks));
      blocks ^= 1ULL << high;
      const std::uint32_t block = 64 * group + high;
      const std::uint64_t lanes = settle_line(c, 2 * block);
      if (!lanes) continue;
      const std::uint64_t absent = lanes & ~documents.block(document, block);
      take(c, 2 * block, absent ? keep_highest(absent, kWatches) : lanes);
      if (absent) return true;
    }
  return false;
}

bool ClauseStore::breaks(std::uint32_t c, std::uint32_t document, std::uint32_t place) {
  const std::uint64_t *some = included(c, true), *occupied = documents.occupied(document);
  std::uint64_t both = 0;
  for (std::uint32_t group = 0; group < groups_; ++group) both |= some[group] & occupied[group];
  if (!both) return false;
  const std::uint64_t* masks = negated(c);
  for (const Documents::Block* b = documents.blocks_begin(document);
       b != documents.blocks_end(document); ++b) {
    if (!(some[b->index >> 6] >> (b->index & 63) & 1) || !(masks[b->index] & b->words)) continue;
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

// Literals that have gone well below inclusion leave the list when an event has just gone through
// the lines of their side: after Type II nothing is left to be settled there, after Ia one trial.
void ClauseStore::tidy(std::uint32_t c, bool negated) {
  for (std::uint32_t i = clause[c].listed; i-- > 0;)
    if (is_negated(list(c).literal[i]) == negated && list(c).state[i] < kInclude - kNearly)
      write_back(c, i);
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
  if (seen(c, line) != trials_of(c, line & 1)) settle_line(c, line);
  line_of(c, line)[l.literal[index] & 63] = l.state[index];
  if (l.state[index] >= kInclude) note(c, line, kernel.look(line_of(c, line)));
  const std::uint32_t last = --state.listed;
  state.unlisted |= state.refuting >> index & 1;
  if (index != last) {
    const std::uint64_t moved = state.refuting >> last & 1;
    state.refuting = (state.refuting & ~(1ULL << index)) | moved << index;
  }
  state.refuting &= ~(1ULL << last);
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
  clause[c].refuting |= 1ULL << index;
  const std::uint64_t flip = is_negated(l.literal[index]) ? 0 : ~0ULL;
  kernel.unite(answers(c), postings_.data() + static_cast<std::size_t>(word) * answer_words_, flip,
               answer_words_);
}

// A listed literal went down, or an event came: which documents do the listed literals refute?
void ClauseStore::recall(std::uint32_t c) {
  ClauseState& state = clause[c];
  const List& l = list(c);
  std::uint64_t refuting = 0;
  std::uint32_t until = kNone;
  for (std::uint32_t i = 0; i < state.listed; ++i) {
    settle_listed(c, i);
    if (l.state[i] < kInclude || word_of(l.literal[i]) >= posted_words_) continue;
    refuting |= 1ULL << i;
    until = std::min(until, l.due[i]);
  }
  if (state.window == window_ && refuting == state.refuting && !state.unlisted) {
    state.answer_until = until;
    return;
  }
  if (state.window != window_) {
    std::fill_n(answers(c), 2 * answer_words_, 0);
    state.matches = 0;
  }
  state.window = window_;
  state.unlisted = false;
  state.refuting = 0;
  state.answer_until = kNone;
  std::copy_n(answers(c) + answer_words_, answer_words_, answers(c));
  for (; refuting; refuting &= refuting - 1) recall_listed(c, lowest_bit(refuting));
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
  clause[c].unlisted = true;
}

// Finds the documents that nothing refutes which may be included: they match for certain.
void ClauseStore::learn_matches(std::uint32_t c) {
  for (std::uint32_t group = 0; group < groups_; ++group)
    if (included(c, false)[group]) return;
  std::vector<std::uint64_t> refuted(answer_words_, 0);
  std::vector<std::uint32_t> words;  // included negated ones
  const List& l = list(c);
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) {
    settle_listed(c, i);
    if (l.state[i] < kInclude) continue;
    const std::uint32_t word = word_of(l.literal[i]);
    if (word >= posted_words_) return;
    if (is_negated(l.literal[i]))
      words.push_back(word);
    else
      kernel.unite(refuted.data(),
                   postings_.data() + static_cast<std::size_t>(word) * answer_words_, ~0ULL,
                   answer_words_);
  }
  for (std::uint32_t group = 0; group < groups_; ++group)
    for (std::uint64_t blocks = included(c, true)[group]; blocks; blocks &= blocks - 1) {
      const std::uint32_t block = 64 * group + lowest_bit(blocks);
      for (std::uint64_t lanes = negated(c)[block]; lanes; lanes &= lanes - 1)
        words.push_back(64 * block + lowest_bit(lanes));
    }
  // In order, but for the listed ones, which were looked up.
  if (!words.empty() && words.back() >= posted_words_) return;
  kernel.unite_all(refuted.data(), postings_.data(), words.data(), words.size(), answer_words_);
  kernel.unite(answers(c), refuted.data(), ~0ULL, answer_words_);
  kernel.unite(answers(c) + answer_words_, refuted.data(), ~0ULL, answer_words_);
}

std::uint32_t ClauseStore::count_included(std::uint32_t c) {
  settle_list(c);
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < clause[c].listed; ++i) count += list(c).state[i] >= kInclude;
  for (std::uint32_t side = 0; side < 2; ++side)
    for (std::uint32_t group = 0; group < groups_; ++group)
      for (std::uint64_t blocks = included(c, side)[group]; blocks; blocks &= blocks - 1)
        count += count_bits(settle_line(c, 2 * (64 * group + lowest_bit(blocks)) + side));
  return count;
}

void ClauseStore::finish(std::uint32_t c) {
  settle_row(c);
  while (clause[c].listed > 0) write_back(c, clause[c].listed - 1u);
  clause[c].hang = kNone;
}

}  // namespace newfound
