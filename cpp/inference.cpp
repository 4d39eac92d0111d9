#include "inference.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace newfound {

Inference::Inference(const ClauseLists& clauses, std::uint32_t n_features, std::uint32_t n_classes,
                     std::uint32_t n_clauses, const std::vector<std::uint32_t>& position)
    : n_features_(n_features),
      n_classes_(n_classes),
      n_clauses_(n_clauses),
      filed_begin_(n_features + 1, 0),
      breaks_begin_(n_features + 1, 0),
      negative_votes_(n_classes, 0) {
  const std::uint32_t total = n_classes * n_clauses;
  const auto rarer = [&](std::uint32_t a, std::uint32_t b) { return position[a] > position[b]; };
  const auto commoner = [&](std::uint32_t a, std::uint32_t b) { return position[a] < position[b]; };
  std::vector<std::vector<std::uint32_t>> plain(total), negated(total);
  for (std::uint32_t c = 0; c < total; ++c) {
    for (std::int64_t i = clauses.begin[c]; i < clauses.begin[c + 1]; ++i) {
      const auto literal =
          static_cast<std::uint32_t>(clauses.literals[static_cast<std::size_t>(i)]);
      if (literal < n_features)
        plain[c].push_back(literal);
      else
        negated[c].push_back(literal - n_features);
    }
    std::sort(plain[c].begin(), plain[c].end(), rarer);
    std::sort(negated[c].begin(), negated[c].end(), commoner);
    if (!plain[c].empty()) {
      ++filed_begin_[plain[c][0] + 1];
    } else if (!negated[c].empty()) {
      for (const std::uint32_t f : negated[c]) ++breaks_begin_[f + 1];
    }
  }
  for (std::uint32_t f = 0; f < n_features; ++f) {
    filed_begin_[f + 1] += filed_begin_[f];
    breaks_begin_[f + 1] += breaks_begin_[f];
  }
  filed_.resize(filed_begin_[n_features]);
  breaks_.resize(breaks_begin_[n_features]);
  std::vector<std::uint32_t> filed_at(filed_begin_.begin(), filed_begin_.end() - 1);
  std::vector<std::uint32_t> breaks_at(breaks_begin_.begin(), breaks_begin_.end() - 1);
  for (std::uint32_t c = 0; c < total; ++c) {
    if (!plain[c].empty()) {
      Filed& filed = filed_[filed_at[plain[c][0]]++];
      filed.clause = c;
      filed.begin = static_cast<std::uint32_t>(rest_.size());
      rest_.insert(rest_.end(), plain[c].begin() + 1, plain[c].end());
      filed.first_negated = static_cast<std::uint32_t>(rest_.size());
      rest_.insert(rest_.end(), negated[c].begin(), negated[c].end());
      filed.end = static_cast<std::uint32_t>(rest_.size());
    } else if (!negated[c].empty()) {
      for (const std::uint32_t f : negated[c])
        breaks_[breaks_at[f]++] = static_cast<std::uint32_t>(negative_.size());
      negative_.push_back(c);
      negative_votes_[c / n_clauses_] += sign(c);
    }
  }
}

// What one thread needs to read documents.
class Inference::Reader {
 public:
  explicit Reader(const Inference& index)
      : index_(index), present_(index.n_features_, 0), broken_by_(index.negative_.size(), -1) {}

  template <class Match, class Broken>
  void read(const CsrView& documents, std::int64_t doc, Match match, Broken broken) {
    const std::int32_t* begin = documents.indices + documents.indptr[doc];
    const std::int32_t* end = documents.indices + documents.indptr[doc + 1];
    for (const std::int32_t* f = begin; f != end; ++f) present_[static_cast<std::uint32_t>(*f)] = 1;
    for (const std::int32_t* f = begin; f != end; ++f) {
      const auto feature = static_cast<std::uint32_t>(*f);
      for (std::uint32_t i = index_.filed_begin_[feature]; i < index_.filed_begin_[feature + 1];
           ++i)
        if (holds(index_.filed_[i])) match(index_.filed_[i].clause);
      for (std::uint32_t i = index_.breaks_begin_[feature]; i < index_.breaks_begin_[feature + 1];
           ++i) {
        const std::uint32_t n = index_.breaks_[i];
        if (broken_by_[n] == doc) continue;
        broken_by_[n] = doc;
        broken(index_.negative_[n]);
      }
    }
    for (const std::int32_t* f = begin; f != end; ++f) present_[static_cast<std::uint32_t>(*f)] = 0;
  }

  bool broken(std::size_t negative, std::int64_t doc) const { return broken_by_[negative] == doc; }

 private:
  bool holds(const Filed& filed) const {
    for (std::uint32_t i = filed.begin; i < filed.first_negated; ++i)
      if (!present_[index_.rest_[i]]) return false;
    for (std::uint32_t i = filed.first_negated; i < filed.end; ++i)
      if (present_[index_.rest_[i]]) return false;
    return true;
  }

  const Inference& index_;
  std::vector<std::uint8_t> present_;
  std::vector<std::int64_t> broken_by_;
};

namespace {

// Calls work(thread, begin, end) on equal ranges of the rows.
template <class Work>
void share_rows(std::int64_t rows, std::uint32_t n_threads, Work work) {
  const auto n = static_cast<std::int64_t>(std::max(1U, n_threads));
  std::vector<std::thread> threads;
  for (std::int64_t t = 1; t < n; ++t)
    threads.emplace_back(
        [=] { work(static_cast<std::size_t>(t), rows * t / n, rows * (t + 1) / n); });
  work(std::size_t{0}, std::int64_t{0}, rows / n);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void Inference::votes(const CsrView& documents, std::uint32_t n_threads, std::int32_t* out) const {
  share_rows(documents.rows, n_threads,
             [&, out](std::size_t, std::int64_t begin, std::int64_t end) {
               Reader reader(*this);
               for (std::int64_t doc = begin; doc < end; ++doc) {
                 std::int32_t* row = out + doc * n_classes_;
                 std::copy(negative_votes_.begin(), negative_votes_.end(), row);
                 reader.read(
                     documents, doc, [&](std::uint32_t c) { row[c / n_clauses_] += sign(c); },
                     [&](std::uint32_t c) { row[c / n_clauses_] -= sign(c); });
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
    for (std::int64_t doc = begin; doc < end; ++doc) {
      const auto add = [&](std::uint32_t c, std::int64_t by) {
        count[c] += by;
        if (static_cast<std::int32_t>(c / n_clauses_) == labels[doc]) count[total + c] += by;
      };
      for (const std::uint32_t c : negative_) add(c, 1);
      reader.read(
          documents, doc, [&](std::uint32_t c) { add(c, 1); },
          [&](std::uint32_t c) { add(c, -1); });
    }
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
  std::vector<std::int64_t> count(static_cast<std::size_t>(documents.rows), 0);
  share_rows(documents.rows, n, [&](std::size_t t, std::int64_t from, std::int64_t to) {
    Reader reader(*this);
    std::vector<std::int32_t>& list = found[t];
    for (std::int64_t doc = from; doc < to; ++doc) {
      const std::size_t start = list.size();
      reader.read(
          documents, doc, [&](std::uint32_t c) { list.push_back(static_cast<std::int32_t>(c)); },
          [](std::uint32_t) {});
      for (std::size_t i = 0; i < negative_.size(); ++i)
        if (!reader.broken(i, doc)) list.push_back(static_cast<std::int32_t>(negative_[i]));
      std::sort(list.begin() + static_cast<std::ptrdiff_t>(start), list.end());
      count[static_cast<std::size_t>(doc)] = static_cast<std::int64_t>(list.size() - start);
    }
  });
  begin.assign(1, 0);
  for (const std::int64_t k : count) begin.push_back(begin.back() + k);
  clauses.clear();
  for (const auto& list : found) clauses.insert(clauses.end(), list.begin(), list.end());
}

}  // namespace newfound
