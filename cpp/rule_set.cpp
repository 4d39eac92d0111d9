#include "rule_set.hpp"

#include <stdexcept>

#include "threads.hpp"

namespace newfound {
namespace {

constexpr std::uint32_t kBitsOfAnItem = 32;

// Calls each(put) twice: put(key, item) first counts the items of each key, then stores them.
template <class Each>
Lists made_lists(std::size_t n, const Each& each) {
  Lists lists{std::vector<std::size_t>(n + 1, 0), {}};
  each([&](std::size_t key, std::uint32_t) { ++lists.begin[key + 1]; });
  for (std::size_t key = 0; key < n; ++key) lists.begin[key + 1] += lists.begin[key];
  lists.items.resize(lists.begin[n]);
  std::vector<std::size_t> at(lists.begin.begin(), lists.begin.end() - 1);
  each([&](std::size_t key, std::uint32_t item) { lists.items[at[key]++] = item; });
  return lists;
}

// Calls work(thread, begin, end) on equal ranges of the rows.
template <class Work>
void share_rows(std::int64_t rows, std::uint32_t n_threads, const Work& work) {
  const std::int64_t n = std::max<std::int64_t>(1, std::min<std::int64_t>(n_threads, rows));
  run_parallel(static_cast<std::uint32_t>(n),
               [&](std::uint32_t t) { work(std::size_t{t}, rows * t / n, rows * (t + 1) / n); });
}

}  // namespace

RuleSet::RuleSet(std::span<const std::int64_t> begin, std::span<const std::int32_t> literals,
                 std::uint32_t n_features, std::span<const std::uint32_t> rarity)
    : n_features_(n_features) {
  if (begin.empty() || begin.front() != 0 ||
      begin.back() != static_cast<std::int64_t>(literals.size()) ||
      !std::is_sorted(begin.begin(), begin.end()))
    throw std::invalid_argument("begin must run from 0 to the number of literals");
  for (const std::int32_t literal : literals)
    if (literal < 0 || static_cast<std::uint32_t>(literal) >= std::uint64_t{2} * n_features)
      throw std::invalid_argument("literals must be below twice the number of features");
  const auto total = static_cast<std::uint32_t>(begin.size() - 1);
  words_ = (total + 63) / 64;
  const auto for_each_literal = [&](const auto& visit) {
    for (std::uint32_t rule = 0; rule < total; ++rule)
      for (std::int64_t i = begin[rule]; i < begin[rule + 1]; ++i)
        visit(rule, static_cast<std::uint32_t>(literals[static_cast<std::size_t>(i)]));
  };
  std::vector<std::uint32_t> plain(n_features, 0), negated(n_features, 0);
  for_each_literal([&](std::uint32_t, std::uint32_t literal) {
    ++(literal < n_features ? plain[literal] : negated[literal - n_features]);
  });
  const auto rarer = [&](std::uint32_t one, std::uint32_t other) {
    return rarity.empty() ? plain[one] < plain[other] : rarity[one] > rarity[other];
  };
  watched_.assign(total, kNone);
  for_each_literal([&](std::uint32_t rule, std::uint32_t literal) {
    std::uint32_t& watched = watched_[rule];
    if (literal < n_features && (watched == kNone || rarer(literal, watched))) watched = literal;
  });
  without_plain_.assign(words_, 0);
  for (std::uint32_t rule = 0; rule < total; ++rule)
    if (watched_[rule] == kNone && begin[rule] < begin[rule + 1])
      without_plain_[rule >> 6] |= 1ULL << (rule & 63);
  watching_ = made_lists(n_features, [&](const auto& put) {
    for (std::uint32_t rule = 0; rule < total; ++rule)
      if (watched_[rule] != kNone) put(watched_[rule], rule);
  });
  other_plain_ = made_lists(total, [&](const auto& put) {
    for_each_literal([&](std::uint32_t rule, std::uint32_t literal) {
      if (literal < n_features && literal != watched_[rule]) put(rule, literal);
    });
  });
  dense_.assign(n_features, -1);
  std::int32_t n_rows = 0;
  for (std::uint32_t f = 0; f < n_features; ++f) {
    has_negated_ |= negated[f] > 0;
    if (std::uint64_t{negated[f]} * kBitsOfAnItem > std::uint64_t{words_} * 64)
      dense_[f] = n_rows++;
  }
  rows_.assign(static_cast<std::size_t>(n_rows) * words_, 0);
  negated_ = made_lists(n_features, [&](const auto& put) {
    for_each_literal([&](std::uint32_t rule, std::uint32_t literal) {
      if (literal < n_features) return;
      const std::int32_t row = dense_[literal - n_features];
      if (row < 0)
        put(literal - n_features, rule);
      else
        rows_[static_cast<std::size_t>(row) * words_ + (rule >> 6)] |= 1ULL << (rule & 63);
    });
  });
}

Lists RuleSet::rules_by_plain() const {
  return made_lists(n_features_, [&](const auto& put) {
    for (std::uint32_t rule = 0; rule < size(); ++rule)
      for_each_plain(rule, [&](std::uint32_t feature) { put(feature, rule); });
  });
}

void RuleSet::matching(const CsrView& documents, std::uint32_t n_threads,
                       std::vector<std::int64_t>& begin, std::vector<std::int32_t>& rules) const {
  const std::uint32_t n = std::max(1U, n_threads);
  std::vector<std::vector<std::int32_t>> found(n);
  begin.assign(static_cast<std::size_t>(documents.rows) + 1, 0);
  share_rows(documents.rows, n, [&](std::size_t t, std::int64_t from, std::int64_t to) {
    Reader reader(*this);
    for (std::int64_t doc = from; doc < to; ++doc) {
      const std::size_t start = found[t].size();
      reader.read(row_of(documents, doc),
                  [&](std::uint32_t rule) { found[t].push_back(static_cast<std::int32_t>(rule)); });
      begin[static_cast<std::size_t>(doc) + 1] = static_cast<std::int64_t>(found[t].size() - start);
    }
  });
  for (std::size_t doc = 1; doc < begin.size(); ++doc) begin[doc] += begin[doc - 1];
  rules.clear();
  for (const auto& list : found) rules.insert(rules.end(), list.begin(), list.end());
}

void RuleSet::support(const CsrView& documents, const std::int32_t* labels, std::uint32_t n_classes,
                      std::uint32_t n_threads, std::int64_t* matches, std::int64_t* own) const {
  const std::size_t total = size();
  const std::uint32_t n = std::max(1U, n_threads), of_class = size() / n_classes;
  std::vector<std::vector<std::int64_t>> partial(n, std::vector<std::int64_t>(2 * total, 0));
  share_rows(documents.rows, n, [&](std::size_t t, std::int64_t begin, std::int64_t end) {
    Reader reader(*this);
    std::int64_t* count = partial[t].data();
    for (std::int64_t doc = begin; doc < end; ++doc)
      reader.read(row_of(documents, doc), [&](std::uint32_t rule) {
        ++count[rule];
        count[total + rule] += static_cast<std::int32_t>(rule / of_class) == labels[doc];
      });
  });
  for (std::size_t rule = 0; rule < total; ++rule) {
    matches[rule] = own[rule] = 0;
    for (const auto& count : partial) {
      matches[rule] += count[rule];
      own[rule] += count[total + rule];
    }
  }
}

void RuleSet::votes(const CsrView& documents, const std::int32_t* votes_of_rule,
                    std::uint32_t n_classes, std::uint32_t n_threads, std::int32_t* out) const {
  const std::uint32_t of_class = size() / n_classes;
  share_rows(documents.rows, n_threads, [&](std::size_t, std::int64_t begin, std::int64_t end) {
    Reader reader(*this);
    std::vector<std::int64_t> sums(n_classes);
    for (std::int64_t doc = begin; doc < end; ++doc) {
      std::fill(sums.begin(), sums.end(), 0);
      reader.read(row_of(documents, doc),
                  [&](std::uint32_t rule) { sums[rule / of_class] += votes_of_rule[rule]; });
      for (std::uint32_t cls = 0; cls < n_classes; ++cls)
        out[doc * n_classes + cls] =
            static_cast<std::int32_t>(std::clamp<std::int64_t>(sums[cls], -INT32_MAX, INT32_MAX));
    }
  });
}

}  // namespace newfound
