#include "worker.hpp"

#include <algorithm>

namespace newfound {
namespace {

constexpr int kWatches = 4;  // literals taken from a line that refutes a document

std::uint64_t keep_highest(std::uint64_t lanes, int n) {
  std::uint64_t kept = 0;
  for (; lanes && n > 0; --n) {
    const std::uint64_t bit = 1ULL << (63 - __builtin_clzll(lanes));
    kept |= bit;
    lanes ^= bit;
  }
  return kept;
}

}  // namespace

Worker::Worker(ClauseStore& store, std::uint32_t index, std::uint32_t count)
    : store_(store), n_clauses_(store.machine.parameters().n_clauses) {
  const Parameters& p = store.machine.parameters();
  truth_.resize(static_cast<std::size_t>(store.lines) * kLine);
  for (std::size_t l = 0; l < truth_.size(); ++l) truth_[l] = is_negated(static_cast<std::uint32_t>(l));
  own_.resize(p.n_classes);
  const std::uint64_t half = p.n_clauses / 2;
  for (std::uint32_t cls = 0; cls < p.n_classes; ++cls) {
    OwnClass& o = own_[cls];
    o.head.assign(p.n_features, kNone);
    for (std::uint32_t polarity = 0; polarity < 2; ++polarity) {
      const auto first = static_cast<std::uint32_t>(cls * p.n_clauses + polarity * half);
      o.half[polarity] = {first + static_cast<std::uint32_t>(half * index / count),
                          first + static_cast<std::uint32_t>(half * (index + 1) / count)};
      for (std::uint32_t c = o.half[polarity].begin; c < o.half[polarity].end; ++c) set_free(c);
    }
  }
  due_.resize(half / count + 2);
}

void Worker::open(std::uint32_t document) {
  document_ = document;
  for (const std::uint32_t* w = store_.documents.begin(document); w != store_.documents.end(document); ++w) {
    const std::uint32_t plain = (*w >> 6) * 128 + (*w & 63);
    truth_[plain] = 1;
    truth_[plain + 64] = 0;
  }
}

void Worker::close() {
  for (const std::uint32_t* w = store_.documents.begin(document_); w != store_.documents.end(document_); ++w) {
    const std::uint32_t plain = (*w >> 6) * 128 + (*w & 63);
    truth_[plain] = 0;
    truth_[plain + 64] = 1;
  }
}

std::int32_t Worker::vote(std::uint32_t cls) {
  OwnClass& o = own_[cls];
  std::int32_t votes = 0;
  const auto ask = [&](std::uint32_t c) {
    int answer = store_.remembered(c, document_);
    if (answer < 0) {
      answer = matches(c);
      store_.remember(c, document_, answer != 0);
    }
    if (!answer) return;
    o.matched.push_back(c);
    store_.matched[c] = 1;
    votes += c < o.half[1].begin ? 1 : -1;
  };
  for (std::size_t i = o.free.size(); i-- > 0;) ask(o.free[i]);
  for (const std::uint32_t* w = store_.documents.begin(document_); w != store_.documents.end(document_); ++w)
    for (std::uint32_t c = o.head[*w], next; c != kNone; c = next) {
      next = store_.clause[c].next;
      ask(c);
    }
  return votes;
}

// The index of a literal in the list that is false and included, -1 if there is none, or -2 if
// the list would have to be settled to know.
int Worker::refuted_by_list(std::uint32_t c, bool exact) {
  const ClauseState& state = store_.clause[c];
  const std::uint32_t trials = exact ? 0 : store_.ib[c] - state.list_ib;
  const std::uint32_t* list = store_.listed(c);
  const std::uint8_t* states = store_.listed_states(c);
  int answer = -1;
  for (std::uint32_t i = 0; i < state.listed; ++i) {
    if (truth_[list[i]] || states[i] < kInclude) continue;
    if (states[i] - kInclude >= trials || i == state.hang) return static_cast<int>(i);
    answer = -2;
  }
  return answer;
}

bool Worker::matches(std::uint32_t c) {
  int by = refuted_by_list(c, false);
  if (by == -2) {
    store_.settle_list(c);
    by = refuted_by_list(c, true);
  }
  if (by < 0) return search(c);
  ClauseState& state = store_.clause[c];
  const auto index = static_cast<std::uint32_t>(by);
  if (state.hang == kNone && !is_negated(store_.listed(c)[index])) {
    hang_on_rarest(c);
  } else if (index > 0) {
    const std::uint32_t front = index / 2;
    std::swap(store_.listed(c)[index], store_.listed(c)[front]);
    std::swap(store_.listed_states(c)[index], store_.listed_states(c)[front]);
    if (state.hang == index)
      state.hang = front;
    else if (state.hang == front)
      state.hang = index;
  }
  return false;
}

// The list does not refute the document: does the row?
bool Worker::search(std::uint32_t c) {
  ClauseState& state = store_.clause[c];
  std::uint32_t& from = state.plain_from;
  bool room = true;
  for (std::uint32_t b = from; b-- > 0;) {
    if (store_.may_gain(c, 2 * b)) {
      if (const std::uint64_t lanes = store_.included_plain(c, b)) {
        const std::uint64_t absent = lanes & ~store_.documents.block(document_, b);
        if (absent) {
          store_.take(c, b, keep_highest(absent, kWatches));
          hang_on_rarest(c);
          return false;
        }
        room = store_.take(c, b, lanes) && room;
      }
    }
    if (room) from = b;
  }
  if (store_.breaks(c, document_)) return false;
  if (state.seen_match && !state.negated_known) store_.know_negated(c);
  state.seen_match = true;
  return true;
}

void Worker::set_free(std::uint32_t c) {
  OwnClass& o = own(c);
  store_.clause[c].free_at = static_cast<std::uint32_t>(o.free.size());
  store_.due[c] = kNone;
  o.free.push_back(c);
}

void Worker::unhang(std::uint32_t c) {
  ClauseState& state = store_.clause[c];
  OwnClass& o = own(c);
  if (state.free_at != kNone) {
    const std::uint32_t moved = o.free.back();
    o.free[state.free_at] = moved;
    store_.clause[moved].free_at = state.free_at;
    o.free.pop_back();
    state.free_at = kNone;
    return;
  }
  if (state.hang == kNone) return;
  const std::uint32_t word = word_of(store_.listed(c)[state.hang]);
  if (state.previous == kNone)
    o.head[word] = state.next;
  else
    store_.clause[state.previous].next = state.next;
  if (state.next != kNone) store_.clause[state.next].previous = state.previous;
  state.hang = kNone;
}

void Worker::hang_on_rarest(std::uint32_t c) {
  store_.settle_list(c);
  ClauseState& state = store_.clause[c];
  const std::uint32_t* list = store_.listed(c);
  const std::uint8_t* states = store_.listed_states(c);
  std::uint32_t best = kNone;
  for (std::uint32_t i = 0; i < state.listed; ++i)
    if (!is_negated(list[i]) && states[i] >= kInclude && (best == kNone || list[i] > list[best])) best = i;
  if (best == state.hang) {
    if (best == kNone && state.free_at == kNone) set_free(c);
    return;
  }
  unhang(c);
  state.hang = best;
  if (best == kNone) {
    set_free(c);
    return;
  }
  std::uint32_t& head = own(c).head[word_of(list[best])];
  state.next = head;
  state.previous = kNone;
  if (head != kNone) store_.clause[head].previous = c;
  head = c;
  const std::uint64_t due = store_.ib[c] + store_.law.geometric(store_.next_key(c));
  store_.due[c] = due < kNone ? static_cast<std::uint32_t>(due) : kNone;
}

// An Ib event took the clause to the count at which the word it hangs on goes down.
void Worker::word_hit(std::uint32_t c) {
  ClauseState& state = store_.clause[c];
  if (--store_.listed_states(c)[state.hang] >= kInclude) {
    const std::uint64_t due = store_.ib[c] + store_.law.geometric(store_.next_key(c));
    store_.due[c] = due < kNone ? static_cast<std::uint32_t>(due) : kNone;
  } else {
    store_.settle_list(c);
    unhang(c);
    hang_on_rarest(c);
  }
}

void Worker::reinforce(std::uint32_t c) {
  const Parameters& p = store_.machine.parameters();
  if (p.max_literals > 0 && store_.count_included(c) > p.max_literals) {
    ++counts.type_ib;
    if (++store_.ib[c] >= store_.due[c]) word_hit(c);
    return;
  }
  ++counts.type_ia;
  store_.settle_list(c);
  const std::uint32_t* list = store_.listed(c);
  const std::uint32_t listed = store_.clause[c].listed;
  if (listed > 0) {
    std::uint64_t up = 0;
    for (std::uint32_t i = 0; i < listed; ++i) up |= static_cast<std::uint64_t>(truth_[list[i]]) << i;
    store_.kernel.reinforce(store_.listed_states(c), up, p.boost_true_positive, store_.law,
                            store_.next_key(c));
  }
  store_.record(c, document_, true);
}

void Worker::reject(std::uint32_t c) {
  ++counts.type_ii;
  store_.settle_list(c);
  const std::uint32_t* list = store_.listed(c);
  std::uint8_t* states = store_.listed_states(c);
  for (std::uint32_t i = 0; i < store_.clause[c].listed; ++i)
    states[i] = static_cast<std::uint8_t>(states[i] + (states[i] < kInclude && !truth_[list[i]]));
  store_.record(c, document_, false);
}

void Worker::forget(std::uint32_t cls) {
  for (const std::uint32_t c : own_[cls].matched) store_.matched[c] = 0;
  own_[cls].matched.clear();
}

void Worker::feedback(std::uint32_t cls, bool positive, std::int32_t votes, std::uint64_t key) {
  OwnClass& o = own_[cls];
  const auto T = static_cast<std::int32_t>(store_.machine.parameters().T);
  const std::int32_t clipped = std::max(-T, std::min(T, votes));
  const auto distance = static_cast<std::uint64_t>(positive ? T - clipped : T + clipped);
  if (distance > 0) {
    const auto limit =
        static_cast<std::uint32_t>((distance << 32) / (2 * static_cast<std::uint64_t>(T)) - 1);
    const Share& type_i = o.half[positive ? 0 : 1];
    const std::uint32_t first = cls * n_clauses_;
    for (const std::uint32_t c : o.matched) {
      if (hash32(key, c - first) > limit) continue;
      if (c >= type_i.begin && c < type_i.end)
        reinforce(c);
      else
        reject(c);
    }
    const std::size_t n =
        store_.kernel.advance(store_.ib.data() + first, store_.due.data() + first,
                              store_.matched.data() + first, type_i.begin - first,
                              type_i.end - first, limit, key, due_.data(), &counts.type_ib);
    for (std::size_t i = 0; i < n; ++i) word_hit(first + due_[i]);
  }
  forget(cls);
}

void Worker::finish() {
  for (OwnClass& o : own_)
    for (const Share& half : o.half)
      for (std::uint32_t c = half.begin; c < half.end; ++c) store_.finish(c);
}

}  // namespace newfound
