#include "inference.hpp"

#include <algorithm>

#include "compiler.hpp"
#include "threads.hpp"

namespace newfound {
namespace {

constexpr std::uint32_t kBitsOfAnItem = 32;

template <class Count, class Each>
void fill_lists(std::vector<std::size_t>& begin, std::vector<std::uint32_t>& items, std::size_t n,
                const Count& count, const Each& each) {
  begin.assign(n + 1, 0);
  for (std::size_t key = 0; key < n; ++key) begin[key + 1] = begin[key] + count(key);
  items.resize(begin[n]);
  std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
  each([&](std::size_t key, std::uint32_t item) { items[at[key]++] = item; });
}

// Calls work(thread, begin, end) on equal ranges of the rows.
template <class Work>
void share_rows(std::int64_t rows, std::uint32_t n_threads, const Work& work) {
  const std::int64_t n = std::max<std::int64_t>(1, std::min<std::int64_t>(n_threads, rows));
  run_parallel(static_cast<std::uint32_t>(n),
               [&](std::uint32_t t) { work(std::size_t{t}, rows * t / n, rows * (t + 1) / n); });
}

}  // namespace

Inference::Inference(const ClauseLists& clauses, std::uint32_t n_features, std::uint32_t n_classes,
                     std::uint32_t n_clauses, const std::vector<std::uint32_t>& position,
                     const std::vector<std::uint32_t>& weights)
    : n_features_(n_features), n_classes_(n_classes), n_clauses_(n_clauses) {
  const std::uint32_t total = n_classes * n_clauses;
  votes_.reserve(total);
  for (std::uint32_t c = 0; c < total; ++c) {
    const auto weight = static_cast<std::int32_t>(weights[c]);
    votes_.push_back(c % n_clauses < n_clauses / 2 ? weight : -weight);
  }
  words_ = (total + 63) / 64;
  without_plain_.assign(words_, 0);
  constexpr std::uint32_t kNo = UINT32_MAX;
  std::vector<std::uint32_t> rarest(total, kNo), watching(n_features, 0), other_plain(total, 0),
      negated(n_features, 0);
  const auto for_each_literal = [&](const auto& visit) {
    for (std::uint32_t c = 0; c < total; ++c)
      for (std::int64_t i = clauses.begin[c]; i < clauses.begin[c + 1]; ++i)
        visit(c, static_cast<std::uint32_t>(clauses.literals[static_cast<std::size_t>(i)]));
  };
  for_each_literal([&](std::uint32_t c, std::uint32_t literal) {
    if (literal >= n_features) {
      ++negated[literal - n_features];
    } else {
      if (rarest[c] != kNo) ++other_plain[c];
      if (rarest[c] == kNo || position[literal] > position[rarest[c]]) rarest[c] = literal;
    }
  });
  for (std::uint32_t c = 0; c < total; ++c) {
    if (rarest[c] != kNo)
      ++watching[rarest[c]];
    else if (clauses.begin[c] < clauses.begin[c + 1])
      without_plain_[c >> 6] |= 1ULL << (c & 63);
  }
  dense_.assign(n_features, -1);
  std::int32_t n_rows = 0;
  for (std::uint32_t f = 0; f < n_features; ++f)
    if (std::uint64_t{negated[f]} * kBitsOfAnItem > std::uint64_t{words_} * 64)
      dense_[f] = n_rows++;
  rows_.assign(static_cast<std::size_t>(n_rows) * words_, 0);
  fill_lists(
      watching_.begin, watching_.items, n_features, [&](std::size_t f) { return watching[f]; },
      [&](const auto& put) {
        for (std::uint32_t c = 0; c < total; ++c)
          if (rarest[c] != kNo) put(rarest[c], c);
      });
  fill_lists(
      other_plain_.begin, other_plain_.items, total, [&](std::size_t c) { return other_plain[c]; },
      [&](const auto& put) {
        for_each_literal([&](std::uint32_t c, std::uint32_t literal) {
          if (literal < n_features && literal != rarest[c]) put(c, literal);
        });
      });
  fill_lists(
      negated_.begin, negated_.items, n_features,
      [&](std::size_t f) { return dense_[f] < 0 ? negated[f] : 0; },
      [&](const auto& put) {
        for_each_literal([&](std::uint32_t c, std::uint32_t literal) {
          if (literal < n_features) return;
          const std::int32_t row = dense_[literal - n_features];
          if (row < 0)
            put(literal - n_features, c);
          else
            rows_[static_cast<std::size_t>(row) * words_ + (c >> 6)] |= 1ULL << (c & 63);
        });
      });
}

// One thread's memory for comparing documents with the clauses.
class Inference::Reader {
 public:
  explicit Reader(const Inference& index)
      : index_(index), candidates_(index.words_), present_(index.n_features_, 0) {}

  // Calls match(clause) for the matching clauses, ascending.
  template <class Match>
  void read(const CsrView& documents, std::int64_t doc, const Match& match) {
    const std::int32_t* begin = documents.indices + documents.indptr[doc];
    const std::int32_t* end = documents.indices + documents.indptr[doc + 1];
    std::copy(index_.without_plain_.begin(), index_.without_plain_.end(), candidates_.begin());
    for (const std::int32_t* f = begin; f != end; ++f) {
      const auto feature = static_cast<std::size_t>(*f);
      present_[feature] = 1;
      for (std::size_t i = index_.watching_.begin[feature]; i < index_.watching_.begin[feature + 1];
           ++i)
        candidates_[index_.watching_.items[i] >> 6] |= 1ULL << (index_.watching_.items[i] & 63);
    }
    for (const std::int32_t* f = begin; f != end; ++f)
      remove_negating(static_cast<std::size_t>(*f));
    for (std::uint32_t w = 0; w < index_.words_; ++w)
      for (std::uint64_t bits = candidates_[w]; bits; bits &= bits - 1) {
        const std::uint32_t c = 64 * w + lowest_bit(bits);
        if (has_other_plain(c)) match(c);
      }
    for (const std::int32_t* f = begin; f != end; ++f) present_[static_cast<std::size_t>(*f)] = 0;
  }

 private:
  void remove_negating(std::size_t feature) {
    const std::int32_t row = index_.dense_[feature];
    if (row >= 0) {
      const std::uint64_t* negating = &index_.rows_[static_cast<std::size_t>(row) * index_.words_];
      for (std::uint32_t w = 0; w < index_.words_; ++w) candidates_[w] &= ~negating[w];
    } else {
      for (std::size_t i = index_.negated_.begin[feature]; i < index_.negated_.begin[feature + 1];
           ++i)
        candidates_[index_.negated_.items[i] >> 6] &= ~(1ULL << (index_.negated_.items[i] & 63));
    }
  }

  bool has_other_plain(std::uint32_t c) const {
    for (std::size_t i = index_.other_plain_.begin[c]; i < index_.other_plain_.begin[c + 1]; ++i)
      if (!present_[index_.other_plain_.items[i]]) return false;
    return true;
  }

  const Inference& index_;
  std::vector<std::uint64_t> candidates_;  // the clauses that nothing has refuted yet
  std::vector<std::uint8_t> present_;
};

void Inference::votes(const CsrView& documents, std::uint32_t n_threads, std::int32_t* out) const {
  share_rows(documents.rows, n_threads, [&](std::size_t, std::int64_t begin, std::int64_t end) {
    Reader reader(*this);
    std::vector<std::int64_t> sums(n_classes_);
    for (std::int64_t doc = begin; doc < end; ++doc) {
      std::fill(sums.begin(), sums.end(), 0);
      reader.read(documents, doc, [&](std::uint32_t c) { sums[c / n_clauses_] += votes_[c]; });
      for (std::uint32_t cls = 0; cls < n_classes_; ++cls)
        out[doc * n_classes_ + cls] =
            static_cast<std::int32_t>(std::clamp<std::int64_t>(sums[cls], -INT32_MAX, INT32_MAX));
    }
  });
}

void Inference::support(const CsrView& documents, const std::int32_t* labels,
                        std::uint32_t n_threads, std::int64_t* matches, std::int64_t* own) const {
  const std::size_t total = static_cast<std::size_t>(n_classes_) * n_clauses_;
  const std::uint32_t n = std::max(1U, n_threads);
  std::vector<std::vector<std::int64_t>> partial(n, std::vector<std::int64_t>(2 * total, 0));
  share_rows(documents.rows, n, [&](std::size_t t, std::int64_t begin, std::int64_t end) {
    Reader reader(*this);
    std::int64_t* count = partial[t].data();
    for (std::int64_t doc = begin; doc < end; ++doc)
      reader.read(documents, doc, [&](std::uint32_t c) {
        ++count[c];
        count[total + c] += static_cast<std::int32_t>(c / n_clauses_) == labels[doc];
      });
  });
  for (std::size_t c = 0; c < total; ++c) {
    matches[c] = own[c] = 0;
    for (const auto& count : partial) {
      matches[c] += count[c];
      own[c] += count[total + c];
    }
  }
}

void Inference::matching(const CsrView& documents, std::uint32_t n_threads,
                         std::vector<std::int64_t>& begin,
                         std::vector<std::int32_t>& clauses) const {
  const std::uint32_t n = std::max(1U, n_threads);
  std::vector<std::vector<std::int32_t>> found(n);
  begin.assign(static_cast<std::size_t>(documents.rows) + 1, 0);
  share_rows(documents.rows, n, [&](std::size_t t, std::int64_t from, std::int64_t to) {
    Reader reader(*this);
    for (std::int64_t doc = from; doc < to; ++doc) {
      const std::size_t start = found[t].size();
      reader.read(documents, doc,
                  [&](std::uint32_t c) { found[t].push_back(static_cast<std::int32_t>(c)); });
      begin[static_cast<std::size_t>(doc) + 1] = static_cast<std::int64_t>(found[t].size() - start);
    }
  });
  for (std::size_t doc = 1; doc < begin.size(); ++doc) begin[doc] += begin[doc - 1];
  clauses.clear();
  for (const auto& list : found) clauses.insert(clauses.end(), list.begin(), list.end());
}

}  // namespace newfound
