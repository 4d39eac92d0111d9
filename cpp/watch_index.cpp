#include "watch_index.hpp"

#include <algorithm>

namespace newfound {
namespace {

constexpr std::uint32_t kOften = 4;  // asks within kWindow trials

std::uint32_t set_words(std::size_t n_clauses) {
  const std::size_t words = (n_clauses + 63) / 64;
  const std::size_t step = words + kSmallSetWords > kSetWords ? kSetWords : kSmallSetWords;
  return static_cast<std::uint32_t>((words + step - 1) / step * step);
}

}  // namespace

WatchIndex::WatchIndex(ClauseStore& store, bool together)
    : store_(store),
      group_size_(store.parameters().n_clauses * (together ? store.parameters().n_classes : 1)),
      groups_(together ? 1 : store.parameters().n_classes),
      place_(std::size_t{store.parameters().n_clauses} * store.parameters().n_classes) {
  for (Group& group : groups_) group.first.assign(store.parameters().n_features, kNone);
}

void WatchIndex::add(std::uint32_t c) {
  Group& group = group_of(c);
  place_[c] = static_cast<std::uint32_t>(group.clauses.size());
  group.clauses.push_back(c);
}

void WatchIndex::begin() {
  const std::size_t n_foreseen = store_.rows().n_foreseen();
  for (Group& group : groups_) {
    group.n_words = set_words(group.clauses.size());
    group.unwatched.assign(group.n_words, 0);
    group.empty.assign(group.n_words, 0);
    group.sure.assign(64 * n_foreseen * group.n_words, 0);
    group.sure_of.assign(group.clauses.size() * n_foreseen, 0);
    refuted_.resize(std::max<std::size_t>(refuted_.size(), group.n_words));
    for (const std::uint32_t c : group.clauses) {
      set_unwatched(c, true);
      foresee(c);
      set_due(c);
    }
  }
}

void WatchIndex::set_unwatched(std::uint32_t c, bool unwatched) {
  std::uint64_t& word = group_of(c).unwatched[place_[c] >> 6];
  const std::uint64_t bit = 1ULL << (place_[c] & 63);
  word = unwatched ? word | bit : word & ~bit;
}

void WatchIndex::found_match(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  if (watch.listed != kNone) return;
  const std::uint32_t until = store_.empty_until(c);
  if (until <= store_.rows().ib(c)) return;
  watch.empty_until = until;
  set_unwatched(c, false);
  group_of(c).empty[place_[c] >> 6] |= 1ULL << (place_[c] & 63);
  set_due(c);
}

void WatchIndex::forget_empty(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  if (watch.empty_until == kNone) return;
  watch.empty_until = kNone;
  set_unwatched(c, true);
  group_of(c).empty[place_[c] >> 6] &= ~(1ULL << (place_[c] & 63));
}

void WatchIndex::remove(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  Group& group = group_of(c);
  if (watch.listed == kNone) {
    set_unwatched(c, false);
    return;
  }
  if (watch.previous == kNone)
    group.first[word_of(store_.list(c).literal[watch.listed])] = watch.next;
  else
    store_.watch(watch.previous).next = watch.next;
  if (watch.next != kNone) store_.watch(watch.next).previous = watch.previous;
  watch.listed = kNone;
}

void WatchIndex::watch_rarest(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  const std::uint32_t rarest = store_.rarest_plain(c);
  if (rarest != watch.listed) {
    remove(c);
    watch.listed = rarest;
    if (rarest == kNone) {
      set_unwatched(c, true);
      if (!store_.rows().foreseen(c)) foresee(c);
    } else {
      std::uint32_t& first = group_of(c).first[word_of(store_.list(c).literal[rarest])];
      watch.next = first;
      watch.previous = kNone;
      if (first != kNone) store_.watch(first).previous = c;
      first = c;
    }
  }
  set_due(c);
}

void WatchIndex::set_due(std::uint32_t c) {
  const Watch& watch = store_.watch(c);
  const std::uint32_t literal = watch.listed == kNone ? kNone : store_.list(c).due[watch.listed];
  store_.set_watch_due(c, std::min({literal, store_.rows().foreseen_until(c), watch.empty_until}));
}

void WatchIndex::foresee(std::uint32_t c) {
  if (store_.rows().n_foreseen() == 0) return;
  store_.rows().foresee(c);
  count_asks_anew(c);
  update_sure(c);
}

void WatchIndex::update_sure(std::uint32_t c) {
  Group& group = group_of(c);
  const std::uint32_t n = store_.rows().n_foreseen();
  const std::uint64_t* now = store_.rows().sure_words(c);
  std::uint64_t* known = &group.sure_of[std::size_t{place_[c]} * n];
  std::uint64_t* column = group.sure.data() + (place_[c] >> 6);
  const std::uint64_t bit = 1ULL << (place_[c] & 63);
  for (std::uint32_t b = 0; b < n; ++b) {
    for (std::uint64_t changed = known[b] ^ now[b]; changed; changed &= changed - 1)
      column[(std::size_t{64} * b + lowest_bit(changed)) * group.n_words] ^= bit;
    known[b] = now[b];
  }
}

// Draws more trials ahead if those drawn are used up. For clauses that watch a word and are asked
// seldom, trials are deferred instead.
void WatchIndex::renew(std::uint32_t c) {
  ClauseRows& rows = store_.rows();
  if (rows.ib(c) < rows.foreseen_until(c)) return;
  const Watch& watch = store_.watch(c);
  if (watch.listed == kNone || watch.asks >= kOften) {
    foresee(c);
  } else {
    rows.unforesee(c);
    count_asks_anew(c);
  }
}

void WatchIndex::count_asks_anew(std::uint32_t c) {
  store_.watch(c).asked_since = store_.rows().ib(c);
  store_.watch(c).asks = 0;
}

// Counts that a clause that watches a word is asked. Returns whether its trials are drawn ahead; if
// not, and it is asked often, they are from now on.
bool WatchIndex::asked_while_foreseen(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  const ClauseRows& rows = store_.rows();
  if (rows.n_foreseen() == 0) return false;
  ++watch.asks;
  if (rows.foreseen(c)) return true;
  if (rows.ib(c) - watch.asked_since > kWindow) {
    count_asks_anew(c);
  } else if (watch.asks >= kOften) {
    foresee(c);
    set_due(c);
  }
  return false;
}

void WatchIndex::after_event(std::uint32_t c) {
  forget_empty(c);
  const ClauseRows& rows = store_.rows();
  if (rows.foreseen(c)) {
    update_sure(c);
    renew(c);
  }
  if (store_.watch(c).listed == kNone)
    watch_rarest(c);
  else
    set_due(c);
}

void WatchIndex::due(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  if (store_.rows().ib(c) >= watch.empty_until) forget_empty(c);
  renew(c);
  if (watch.listed != kNone && store_.rows().ib(c) >= store_.list(c).due[watch.listed]) {
    if (store_.list(c).state[watch.listed] > kInclude)
      store_.settle_listed(c, watch.listed);
    else
      watch_rarest(c);
  }
  set_due(c);
}

const std::vector<std::uint32_t>& WatchIndex::candidates(std::uint32_t cls,
                                                         const OpenDocument& document) {
  const Group& group = groups_[cls];
  const std::uint32_t *begin = document.words_begin(), *end = document.words_end();
  const std::uint32_t* sure_end = std::lower_bound(begin, end, 64 * store_.rows().n_foreseen());
  std::fill_n(refuted_.begin(), group.n_words, 0);
  store_.kernels().unite_all(refuted_.data(), group.sure.data(), begin,
                             static_cast<std::size_t>(sure_end - begin), group.n_words);
  candidates_.clear();
  for (std::uint32_t i = 0; i < group.n_words; ++i)
    for (std::uint64_t open = group.unwatched[i] & ~refuted_[i]; open; open &= open - 1)
      candidates_.push_back(group.clauses[64 * i + lowest_bit(open)]);
  for (const std::uint32_t* w = begin; w != end; ++w)
    for (std::uint32_t c = group.first[*w]; c != kNone; c = store_.watch(c).next) {
      if (!asked_while_foreseen(c) || !(refuted_[place_[c] >> 6] >> (place_[c] & 63) & 1))
        candidates_.push_back(c);
    }
  return candidates_;
}

}  // namespace newfound
