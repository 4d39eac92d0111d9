#include "worker.hpp"

#include <algorithm>
#include <utility>

#include "random.hpp"

namespace newfound {
namespace {

// The first of n clauses that belongs to the `index`-th of `count` equal shares.
std::uint32_t share_begin(std::uint64_t n, std::uint64_t index, std::uint64_t count) {
  return static_cast<std::uint32_t>(n * index / count);
}

std::uint32_t share(std::uint64_t n, std::uint64_t index, std::uint64_t count) {
  return share_begin(n, index + 1, count) - share_begin(n, index, count);
}

}  // namespace

Worker::Worker(ClauseStore& store, const Machine& machine, const Documents& documents,
               std::uint32_t index, std::uint32_t count)
    : store_(store),
      n_clauses_(store.parameters().n_clauses),
      document_(machine, documents),
      watches_(store, store.parameters().focus > 0),
      answers_(documents.size(), machine.total_clauses(), n_groups(machine),
               group_size(machine) / n_clauses_ * 2 * share(n_clauses_ / 2, index, count)),
      own_(store.parameters().n_classes) {
  const std::uint64_t half = n_clauses_ / 2;
  for (std::uint32_t cls = 0; cls < own_.size(); ++cls)
    for (std::uint32_t polarity = 0; polarity < 2; ++polarity) {
      const auto first = static_cast<std::uint32_t>(cls * n_clauses_ + polarity * half);
      own_[cls].half[polarity] = {first + share_begin(half, index, count),
                                  first + share_begin(half, index + 1, count)};
    }
  due_.resize(half / count + 2);
}

void Worker::begin() {
  for_each_clause([&](std::uint32_t c) {
    store_.begin(c);
    watches_.add(c);
  });
  watches_.begin();
}

void Worker::finish() {
  for_each_clause([&](std::uint32_t c) { store_.finish(c); });
}

template <class Act>
void Worker::for_each_match(std::uint32_t cls, const Act& act) {
  constexpr std::size_t kAhead = 4;
  const std::vector<std::uint32_t>* asked = &watches_.candidates(cls, document_);
  if (answers_.active()) {
    answers_.ask(cls);
    unknown_.clear();
    for (const std::uint32_t c : *asked) {
      const std::uint32_t place = watches_.place(c);
      const int answer = answers_.answer(c, place);
      if (answer < 0)
        unknown_.push_back(c);
      else
        answers_.add(place, answer);
      if (answer > 0) act(c);
    }
    asked = &unknown_;
  }
  watches_.for_each_empty(cls, [&](std::uint32_t c) {
    act(c);
    if (answers_.active()) answers_.add(watches_.place(c), true);
  });
  for (std::size_t i = 0; i < asked->size(); ++i) {
    if (i + kAhead < asked->size()) store_.prefetch_comparison((*asked)[i + kAhead]);
    const std::uint32_t c = (*asked)[i];
    const bool matches = compare(c);
    if (matches) {
      act(c);
      watches_.found_match(c);
    }
    if (answers_.active()) answers_.add(watches_.place(c), matches);
  }
}

std::int64_t Worker::vote(std::uint32_t cls) {
  OwnClass& own = own_[cls];
  std::int64_t votes = 0;
  for_each_match(cls, [&](std::uint32_t c) {
    set_matched(c, own);
    votes += store_.votes(c);
  });
  open_classes_.push_back(cls);
  return votes;
}

void Worker::vote_all(std::int64_t* votes) {
  std::fill_n(votes, own_.size(), 0);
  all_matched_.clear();
  for_each_match(0, [&](std::uint32_t c) {
    all_matched_.push_back(c);
    votes[c / n_clauses_] += store_.votes(c);
  });
}

void Worker::keep_class(std::uint32_t cls) {
  const std::uint32_t first = cls * n_clauses_;
  for (const std::uint32_t c : all_matched_)
    if (c - first < n_clauses_) set_matched(c, own_[cls]);
  open_classes_.push_back(cls);
}

bool Worker::compare(std::uint32_t c) {
  if (store_.refuted_by_list(c, document_)) return false;
  if (store_.refuted_by_plain_words(c, document_)) {
    watches_.watch_rarest(c);
    return false;
  }
  return !store_.refuted_by_negated_words(c, document_);
}

void Worker::feedback(std::uint32_t cls, bool positive, std::int64_t votes, std::uint64_t key) {
  OwnClass& own = own_[cls];
  const auto T = static_cast<std::int64_t>(store_.parameters().T);
  const std::int64_t clipped = std::max(-T, std::min(T, votes));
  const auto distance = static_cast<std::uint64_t>(positive ? T - clipped : T + clipped);
  if (distance == 0) return;
  // A clause gets feedback if its hash is at most this: with probability distance / 2T.
  const auto limit =
      static_cast<std::uint32_t>((distance << 32) / (2 * static_cast<std::uint64_t>(T)) - 1);
  const Range& type_i = own.half[positive ? 0 : 1];
  const auto is_type_i = [&](std::uint32_t c) { return c >= type_i.begin && c < type_i.end; };
  const std::uint32_t first = cls * n_clauses_;
  chosen_.clear();
  for (const std::uint32_t c : own.matched)
    if (hash32(key, c - first) <= limit) chosen_.push_back(c);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    if (i + 1 < chosen_.size()) store_.prefetch_event(chosen_[i + 1], is_type_i(chosen_[i + 1]));
    if (is_type_i(chosen_[i]))
      type_ia(chosen_[i]);
    else
      type_ii(chosen_[i]);
  }
  const std::size_t n = store_.select_ib(first, type_i.begin - first, type_i.end - first, limit,
                                         key, due_.data(), answers_, &counts_.type_ib);
  for (std::size_t i = 0; i < n; ++i) watches_.due(first + due_[i]);
}

void Worker::close() {
  for (const std::uint32_t cls : open_classes_) {
    for (const std::uint32_t c : own_[cls].matched) store_.set_matched(c, false);
    own_[cls].matched.clear();
  }
  open_classes_.clear();
  document_.close();
}

void Worker::type_ia(std::uint32_t c) {
  const std::uint32_t budget = store_.parameters().max_literals;
  if (budget > 0 && store_.count_included(c) > budget) {
    ++counts_.type_ib;
    answers_.add_trial(c);
    if (store_.type_ib(c)) watches_.due(c);
    return;
  }
  ++counts_.type_ia;
  answers_.add_event(c);
  if (store_.parameters().weighted) store_.raise_weight(c);
  store_.type_ia(c, document_);
  watches_.after_event(c);
}

void Worker::type_ii(std::uint32_t c) {
  ++counts_.type_ii;
  answers_.add_event(c);
  if (store_.parameters().weighted) store_.lower_weight(c);
  store_.type_ii(c, document_);
  watches_.after_event(c);
}

EpochCounts Worker::take_counts() { return std::exchange(counts_, {}); }

}  // namespace newfound
