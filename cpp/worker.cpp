#include "worker.hpp"

#include <algorithm>

namespace newfound {

Worker::Worker(ClauseStore& store, std::uint32_t index, std::uint32_t count)
    : store_(store), n_clauses_(store.machine.parameters().n_clauses) {
  const Parameters& p = store.machine.parameters();
  truth_.resize(static_cast<std::size_t>(store.machine.n_lines()) * kLine);
  for (std::size_t l = 0; l < truth_.size(); ++l)
    truth_[l] = is_negated(static_cast<std::uint32_t>(l));
  for (std::uint32_t b = 0; b < store.machine.n_blocks(); ++b)
    absent_.push_back(store.machine.valid(b));
  own_.resize(p.n_classes);
  const std::uint64_t half = p.n_clauses / 2;
  for (std::uint32_t cls = 0; cls < p.n_classes; ++cls) {
    OwnClass& o = own_[cls];
    o.head.assign(p.n_features, kNone);
    for (std::uint32_t polarity = 0; polarity < 2; ++polarity) {
      const auto first = static_cast<std::uint32_t>(cls * p.n_clauses + polarity * half);
      o.half[polarity] = {first + static_cast<std::uint32_t>(half * index / count),
                          first + static_cast<std::uint32_t>(half * (index + 1) / count)};
    }
  }
  due_.resize(half / count + 2);
}

void Worker::begin() {
  for (OwnClass& o : own_)
    for (const Share& half : o.half)
      for (std::uint32_t c = half.begin; c < half.end; ++c) {
        store_.begin(c);
        set_free(c);
      }
}

void Worker::open(std::uint32_t document, std::uint32_t place) {
  document_ = document;
  place_ = place;
  for (const std::uint32_t* w = store_.documents.begin(document);
       w != store_.documents.end(document); ++w) {
    const std::uint32_t plain = (*w >> 6) * 128 + (*w & 63);
    truth_[plain] = 1;
    truth_[plain + 64] = 0;
    absent_[*w >> 6] ^= 1ULL << (*w & 63);
  }
}

void Worker::close() {
  for (const std::uint32_t* w = store_.documents.begin(document_);
       w != store_.documents.end(document_); ++w) {
    const std::uint32_t plain = (*w >> 6) * 128 + (*w & 63);
    truth_[plain] = 0;
    truth_[plain + 64] = 1;
    absent_[*w >> 6] ^= 1ULL << (*w & 63);
  }
}

std::int32_t Worker::vote(std::uint32_t cls) {
  OwnClass& o = own_[cls];
  std::int32_t votes = 0;
  const auto ask = [&](std::uint32_t c) {
    if (!matches(c)) return;
    o.matched.push_back(c);
    store_.matched[c] = 1;
    votes += c < o.half[1].begin ? 1 : -1;
  };
  for (std::size_t i = o.free.size(); i-- > 0;) {
    if (i >= 4) store_.fetch(o.free[i - 4], place_);
    ask(o.free[i]);
  }
  for (const std::uint32_t* w = store_.documents.begin(document_);
       w != store_.documents.end(document_); ++w)
    for (std::uint32_t c = o.head[*w], next; c != kNone; c = next) {
      next = store_.clause[c].next;
      if (next != kNone) store_.fetch(next, place_);
      ask(c);
    }
  return votes;
}

bool Worker::matches(std::uint32_t c) {
  if (const int answer = store_.remembered(c, place_); answer >= 0) return answer;
  if (refuted_by_list(c)) return false;
  if (store_.lacks(c, document_)) {
    hang_on_rarest(c);
    return false;
  }
  if (store_.breaks(c, document_, place_)) return false;
  store_.remember_match(c, place_);
  return true;
}

bool Worker::refuted_by_list(std::uint32_t c) {
  const List& list = store_.list(c);
  for (std::uint32_t i = 0; i < store_.clause[c].listed; ++i) {
    if (truth_[list.literal[i]]) continue;
    store_.settle_listed(c, i);
    if (list.state[i] >= kInclude) return true;
  }
  return false;
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
  const std::uint32_t word = word_of(store_.list(c).literal[state.hang]);
  if (state.previous == kNone)
    o.head[word] = state.next;
  else
    store_.clause[state.previous].next = state.next;
  if (state.next != kNone) store_.clause[state.next].previous = state.previous;
  state.hang = kNone;
}

void Worker::hang_on_rarest(std::uint32_t c) {
  ClauseState& state = store_.clause[c];
  const List& list = store_.list(c);
  std::uint32_t best = kNone;
  for (std::uint32_t i = 0; i < state.listed; ++i) {
    if (is_negated(list.literal[i])) continue;
    store_.settle_listed(c, i);
    if (list.state[i] >= kInclude && (best == kNone || list.literal[i] > list.literal[best]))
      best = i;
  }
  if (best == state.hang && (best != kNone || state.free_at != kNone)) return;
  unhang(c);
  state.hang = best;
  if (best == kNone) {
    set_free(c);
    return;
  }
  std::uint32_t& head = own(c).head[word_of(list.literal[best])];
  state.next = head;
  state.previous = kNone;
  if (head != kNone) store_.clause[head].previous = c;
  head = c;
  store_.due[c] = list.due[best];
}

// An Ib event took the clause to the count at which the word it hangs on goes down.
void Worker::word_hit(std::uint32_t c) {
  ClauseState& state = store_.clause[c];
  const std::uint32_t index = state.hang;
  if (store_.list(c).state[index] > kInclude) {
    store_.settle_listed(c, index);
    store_.due[c] = store_.list(c).due[index];
  } else {
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
  List& list = store_.list(c);
  const std::uint32_t listed = store_.clause[c].listed;
  if (listed > 0) {
    std::uint64_t up = 0;
    for (std::uint32_t i = 0; i < listed; ++i)
      up |= static_cast<std::uint64_t>(truth_[list.literal[i]]) << i;
    store_.kernel.reinforce(list.state, up, p.boost_true_positive, store_.law, store_.next_key(c));
  }
  store_.event(c, document_, absent_.data(), true);
  if (store_.clause[c].hang == kNone) hang_on_rarest(c);
}

void Worker::reject(std::uint32_t c) {
  ++counts.type_ii;
  store_.settle_list(c);
  List& list = store_.list(c);
  for (std::uint32_t i = 0; i < store_.clause[c].listed; ++i)
    list.state[i] = static_cast<std::uint8_t>(
        list.state[i] + (list.state[i] < kInclude && !truth_[list.literal[i]]));
  store_.event(c, document_, absent_.data(), false);
  if (store_.clause[c].hang == kNone) hang_on_rarest(c);
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
    chosen_.clear();
    for (const std::uint32_t c : o.matched)
      if (hash32(key, c - first) <= limit) chosen_.push_back(c);
    const auto is_type_i = [&](std::uint32_t c) { return c >= type_i.begin && c < type_i.end; };
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (i + 1 < chosen_.size()) store_.fetch_row(chosen_[i + 1], is_type_i(chosen_[i + 1]));
      if (is_type_i(chosen_[i]))
        reinforce(chosen_[i]);
      else
        reject(chosen_[i]);
    }
    const std::size_t n = store_.kernel.advance(
        store_.ib.data() + first, store_.due.data() + first, store_.matched.data() + first,
        type_i.begin - first, type_i.end - first, limit, key, due_.data(), &counts.type_ib);
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
