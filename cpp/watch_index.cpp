#include "watch_index.hpp"

namespace newfound {

WatchIndex::WatchIndex(ClauseStore& store, bool together)
    : store_(store),
      group_size_(store.parameters().n_clauses * (together ? store.parameters().n_classes : 1)),
      groups_(together ? 1 : store.parameters().n_classes) {
  for (Group& group : groups_) group.first.assign(store.parameters().n_features, kNone);
}

void WatchIndex::add(std::uint32_t c) {
  Group& index = group_of(c);
  store_.watch(c).unwatched_at = static_cast<std::uint32_t>(index.unwatched.size());
  store_.set_watch_due(c, kNone);
  index.unwatched.push_back(c);
}

void WatchIndex::remove(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  Group& index = group_of(c);
  if (watch.unwatched_at != kNone) {
    const std::uint32_t last = index.unwatched.back();
    index.unwatched[watch.unwatched_at] = last;
    store_.watch(last).unwatched_at = watch.unwatched_at;
    index.unwatched.pop_back();
    watch.unwatched_at = kNone;
    return;
  }
  if (watch.listed == kNone) return;
  if (watch.previous == kNone)
    index.first[word_of(store_.list(c).literal[watch.listed])] = watch.next;
  else
    store_.watch(watch.previous).next = watch.next;
  if (watch.next != kNone) store_.watch(watch.next).previous = watch.previous;
  watch.listed = kNone;
}

void WatchIndex::watch_rarest(std::uint32_t c) {
  Watch& watch = store_.watch(c);
  const std::uint32_t rarest = store_.rarest_plain(c);
  if (rarest == watch.listed && (rarest != kNone || watch.unwatched_at != kNone)) return;
  remove(c);
  watch.listed = rarest;
  if (rarest == kNone) {
    add(c);
    return;
  }
  std::uint32_t& first = group_of(c).first[word_of(store_.list(c).literal[rarest])];
  watch.next = first;
  watch.previous = kNone;
  if (first != kNone) store_.watch(first).previous = c;
  first = c;
  store_.set_watch_due(c, store_.list(c).due[rarest]);
}

void WatchIndex::watched_is_due(std::uint32_t c) {
  const std::uint32_t index = store_.watch(c).listed;
  if (store_.list(c).state[index] > kInclude) {
    store_.settle_listed(c, index);
    store_.set_watch_due(c, store_.list(c).due[index]);
  } else {
    remove(c);
    watch_rarest(c);
  }
}

}  // namespace newfound
