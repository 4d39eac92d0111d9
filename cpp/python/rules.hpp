// Arrays from Python, checked, and rules as a Python class.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "documents.hpp"
#include "rule_set.hpp"

namespace nb = nanobind;

namespace newfound::python {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object to_numpy(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
  auto* owner = new std::vector<T>(std::move(values));
  nb::capsule free(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owner->data(), shape, free));
}

// Documents, checked. They are copied first, because other threads may change the arrays at any
// time.
class Csr {
 public:
  Csr(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
      std::uint32_t n_features)
      : indptr_(indptr.data(), indptr.data() + indptr.shape(0)),
        indices_(indices.data(), indices.data() + indices.shape(0)) {
    if (indptr_.empty()) throw std::invalid_argument("indptr must have at least one entry");
    if (indptr_.front() != 0 || indptr_.back() != static_cast<std::int64_t>(indices_.size()))
      throw std::invalid_argument("indptr must run from 0 to the number of indices");
    if (!std::is_sorted(indptr_.begin(), indptr_.end()))
      throw std::invalid_argument("indptr must not decrease");
    const std::int32_t* f = indices_.data();
    for (std::size_t i = 0; i + 1 < indptr_.size(); ++i)
      for (std::int64_t j = indptr_[i]; j < indptr_[i + 1]; ++j)
        if (f[j] < 0 || static_cast<std::uint32_t>(f[j]) >= n_features ||
            (j > indptr_[i] && f[j] <= f[j - 1]))
          throw std::invalid_argument("each row's indices must be ascending feature numbers");
  }

  CsrView view() const { return {indptr_.data(), indices_.data(), rows()}; }
  std::int64_t rows() const { return static_cast<std::int64_t>(indptr_.size()) - 1; }

 private:
  std::vector<std::int64_t> indptr_;
  std::vector<std::int32_t> indices_;
};

template <class T>
std::span<const T> span_of(const Array1<T>& array) {
  return {array.data(), array.shape(0)};
}

inline void check(bool right, const char* message) {
  if (!right) throw std::invalid_argument(message);
}

// Checks that a list of bounds runs from 0 to n and does not decrease.
inline void check_bounds(const Array1<std::int64_t>& begin, std::size_t lists, std::size_t n) {
  check(begin.shape(0) == lists + 1 && begin.data()[0] == 0 &&
            begin.data()[lists] == static_cast<std::int64_t>(n) &&
            std::is_sorted(begin.data(), begin.data() + lists + 1),
        "bounds must run from 0 to the number of entries");
}

inline void check_below(std::span<const std::int32_t> numbers, std::int64_t n, bool missing) {
  for (const std::int32_t number : numbers)
    check(number < n && number >= (missing ? -1 : 0), "a number is out of range");
}

// Which rules documents match; get() returns a pointer to the rules, and may take long.
template <class Get>
nb::tuple matching(const Csr& documents, std::uint32_t n_threads, const Get& get) {
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> found;
  {
    nb::gil_scoped_release release;
    get()->matching(documents.view(), n_threads, begin, found);
  }
  const std::size_t n = begin.size(), m = found.size();
  return nb::make_tuple(to_numpy(std::move(begin), {n}), to_numpy(std::move(found), {m}));
}

// How many documents rules match, and how many of those are of their class.
template <class Get>
nb::tuple support(const Csr& documents, const std::vector<std::int32_t>& labels,
                  std::uint32_t n_classes, std::size_t n_rules, std::uint32_t n_threads,
                  const Get& get) {
  std::vector<std::int64_t> matches(n_rules), own(n_rules);
  {
    nb::gil_scoped_release release;
    get()->support(documents.view(), labels.data(), n_classes, n_threads, matches.data(),
                   own.data());
  }
  return nb::make_tuple(to_numpy(std::move(matches), {n_rules}),
                        to_numpy(std::move(own), {n_rules}));
}

class PyRuleSet {
 public:
  PyRuleSet(const Array1<std::int64_t>& begin, const Array1<std::int32_t>& literals,
            std::uint32_t n_features)
      : rules_(std::make_shared<const RuleSet>(span_of(begin), span_of(literals), n_features)) {}

  const std::shared_ptr<const RuleSet>& rules() const { return rules_; }

  nb::tuple matching(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                     std::uint32_t n_threads) const {
    const Csr documents(indptr, indices, rules_->n_features());
    return python::matching(documents, n_threads, [&] { return rules_; });
  }

  // How many documents each rule matches, and how many of those are among some.
  nb::tuple count(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
                  const Array1<bool>& among, std::uint32_t n_threads) const {
    const Csr documents(indptr, indices, rules_->n_features());
    check(static_cast<std::int64_t>(among.shape(0)) == documents.rows(),
          "there must be one entry for each document");
    std::vector<std::int32_t> labels(among.shape(0));
    std::transform(among.data(), among.data() + labels.size(), labels.begin(), std::logical_not{});
    return support(documents, labels, 1, rules_->size(), n_threads, [&] { return rules_; });
  }

 private:
  std::shared_ptr<const RuleSet> rules_;
};

}  // namespace newfound::python
