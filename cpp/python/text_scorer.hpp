// Scores of texts as Python classes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "removal_search.hpp"
#include "rules.hpp"
#include "text_scorer.hpp"

namespace newfound::python {

template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rules and their arrays; see RuleTables.
struct PyRules {
  std::shared_ptr<const RuleSet> rules;
  Lists rules_of;
  Array1<std::int64_t> weight_begin;
  Array1<std::int32_t> weight_class;
  Array1<std::int64_t> weight;
  Array1<double> squares;
  Array1<std::int64_t> base;
  double base_square, unit;
  Array1<std::int32_t> learned;

  RuleTables tables(const double* alone) const {
    return {rules.get(),   &rules_of,      weight_begin.data(), weight_class.data(),
            weight.data(), squares.data(), base.data(),         base_square,
            unit,          alone,          span_of(learned)};
  }

  void check_fits() const {
    const auto n_classes = static_cast<std::int64_t>(base.shape(0));
    check(squares.shape(0) == rules->size() && weight_class.shape(0) == weight.shape(0),
          "the arrays of the rules do not fit");
    check_bounds(weight_begin, rules->size(), weight.shape(0));
    check_below(span_of(weight_class), n_classes, false);
    check_below(span_of(learned), n_classes, false);
    for (std::size_t j = 0; j < rules->size(); ++j)
      check(std::is_sorted(weight_class.data() + weight_begin.data()[j],
                           weight_class.data() + weight_begin.data()[j + 1]),
            "the classes of a rule must ascend");
  }

  // The votes of each document for each class, the number of rules that it matches, and what these
  // add to its squared length.
  nb::tuple votes(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices) const {
    const Csr documents(indptr, indices, rules->n_features());
    const auto n = static_cast<std::size_t>(documents.rows()), n_classes = base.shape(0);
    std::vector<std::int64_t> votes(n * n_classes), matched(n);
    std::vector<double> square(n);
    {
      nb::gil_scoped_release release;
      RuleSet::Reader reader(*rules);
      const RuleTables weighted = tables(nullptr);
      for (std::size_t i = 0; i < n; ++i) {
        std::int64_t* own = votes.data() + i * n_classes;
        std::copy_n(base.data(), n_classes, own);
        const auto found =
            weighted.vote(row_of(documents.view(), static_cast<std::int64_t>(i)), reader, own);
        matched[i] = found.n;
        square[i] = found.square;
      }
    }
    return nb::make_tuple(to_numpy(std::move(votes), {n, n_classes}),
                          to_numpy(std::move(matched), {n}), to_numpy(std::move(square), {n}));
  }

  // The rules that a document matches, with their weights for a class, heaviest first; the `most`
  // heaviest rules for the class that lack one word, with weights and these words; and what the
  // matches add to the squared length of the document.
  nb::tuple explain(const Array1<std::int32_t>& document, std::int32_t number,
                    std::size_t most) const {
    check_below(span_of(document), rules->n_features(), false);
    check(std::ranges::is_sorted(span_of(document)), "the terms of a document must ascend");
    check(number >= 0 && static_cast<std::size_t>(number) < base.shape(0),
          "there is no such class");
    const RuleReasons found = tables(nullptr).explain(span_of(document), number, most);
    nb::list matching, lacking;
    for (const auto& rule : found.matching) matching.append(nb::make_tuple(rule.rule, rule.weight));
    for (const auto& rule : found.lacking)
      lacking.append(nb::make_tuple(rule.rule, rule.weight, rule.word));
    return nb::make_tuple(matching, lacking, found.square);
  }
};

// The arrays of known classes; see ClassTables.
struct PyClasses {
  Array1<double> rarity;
  Array1<bool> is_pair;
  Array1<double> rate;
  Array2<float> counts, weights;
  Array1<float> intercepts;
  Array1<std::int64_t> sizes;
  double unseen_rarity, unseen_surprise;
  Array1<double> evidence, likeness;
  double unseen_evidence, unseen_likeness, prior, elsewhere;
  Array1<std::int64_t> near_sizes, class_begin;
  Array1<std::int32_t> classes;
  Array1<std::int64_t> document_begin;
  Array1<std::int32_t> places;
  Array1<float> values;
  std::uint32_t n_nearest;

  ClassTables tables() const {
    return {static_cast<std::uint32_t>(rarity.shape(0)),
            static_cast<std::uint32_t>(sizes.shape(0)),
            rarity.data(),
            is_pair.data(),
            rate.data(),
            counts.data(),
            weights.data(),
            intercepts.data(),
            sizes.data(),
            unseen_rarity,
            unseen_surprise,
            evidence.data(),
            likeness.data(),
            unseen_evidence,
            unseen_likeness,
            prior,
            elsewhere,
            near_sizes.data(),
            static_cast<std::uint32_t>(near_sizes.shape(0)),
            class_begin.data(),
            classes.data(),
            document_begin.data(),
            places.data(),
            values.data(),
            n_nearest};
  }

  void check_fits() const {
    const std::size_t n = rarity.shape(0), k = sizes.shape(0), m = classes.shape(0);
    const std::size_t near = near_sizes.shape(0);
    check(k > 0 && is_pair.shape(0) == n && rate.shape(0) == n && counts.shape(0) == k &&
              counts.shape(1) == n && weights.shape(0) == n && weights.shape(1) == k &&
              intercepts.shape(0) == k && evidence.shape(0) == n && likeness.shape(0) == n &&
              values.shape(0) == places.shape(0) && (near == k || near == 1),
          "the arrays of the classes do not fit");
    check_bounds(class_begin, n, m);
    check_bounds(document_begin, m, places.shape(0));
    check_below(span_of(classes), static_cast<std::int64_t>(near), false);
    for (std::size_t i = 0; i < m; ++i)
      for (std::int64_t j = document_begin.data()[i]; j < document_begin.data()[i + 1]; ++j)
        check(places.data()[j] >= 0 && places.data()[j] < near_sizes.data()[classes.data()[i]],
              "a document is not of its class");
  }
};

using UnseenWeights = std::optional<Array2<float>>;
using UnseenSquares = std::optional<Array1<double>>;

class PyTextScorer {
 public:
  PyTextScorer(PyClasses classes, std::optional<PyRules> rules, std::optional<Array1<double>> alone)
      : classes_(std::move(classes)),
        rules_(std::move(rules)),
        alone_(std::move(alone)),
        scorer_(made()) {}

  nb::tuple parts(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& terms,
                  const Array1<std::int64_t>& unseen_indptr, const Array1<std::int32_t>& unseen,
                  const Array1<std::int64_t>& unseen_pairs, const Array1<std::int64_t>& n_pairs,
                  const UnseenWeights& weights, const UnseenSquares& squares, bool by_rules) {
    const Csr texts(indptr, terms, scorer_.tables().n_terms);
    const auto n = static_cast<std::size_t>(texts.rows());
    check(unseen_pairs.shape(0) == n && n_pairs.shape(0) == n, "one number for each text");
    const Csr others(unseen_indptr, unseen, n_unseen(unseen, weights, squares));
    check(static_cast<std::size_t>(others.rows()) == n, "one list of unseen words for each text");
    std::vector<double> parts(n * kParts);
    std::vector<std::int64_t> nearest(n);
    std::vector<std::uint8_t> named(n);
    {
      nb::gil_scoped_release release;
      const Borrowed space(*this);
      const CsrView rows = texts.view(), lists = others.view();
      for (std::size_t i = 0; i < n; ++i) {
        const auto words = list(lists, i);
        const TextScore found =
            scorer_.score({list(rows, i), words, static_cast<std::int64_t>(words.size()),
                           unseen_pairs.data()[i], n_pairs.data()[i]},
                          unseen_words(weights, squares), by_rules, *space);
        std::copy(found.parts.begin(), found.parts.end(),
                  parts.begin() + static_cast<std::ptrdiff_t>(i * kParts));
        nearest[i] = found.nearest;
        named[i] = found.by_rules;
      }
    }
    return nb::make_tuple(to_numpy(std::move(parts), {n, kParts}),
                          to_numpy(std::move(nearest), {n}), to_numpy(std::move(named), {n}));
  }

  nb::tuple shares(const Array1<std::int32_t>& terms, const Array1<std::int32_t>& unseen,
                   std::int64_t unseen_pairs, const UnseenWeights& weights,
                   const UnseenSquares& squares, std::int32_t nearest) {
    check_below(span_of(terms), scorer_.tables().n_terms, false);
    check_below(span_of(unseen), n_unseen(unseen, weights, squares), false);
    check(nearest >= 0 && static_cast<std::uint32_t>(nearest) < scorer_.tables().n_classes,
          "there is no such class");
    const Borrowed space(*this);
    TermShares found = scorer_.shares({span_of(terms), span_of(unseen),
                                       static_cast<std::int64_t>(unseen.shape(0)), unseen_pairs, 0},
                                      unseen_words(weights, squares), nearest, *space);
    return nb::make_tuple(to_numpy(std::move(found.by_term), {terms.shape(0), 4}),
                          to_numpy(std::move(found.by_unseen), {unseen.shape(0), 4}),
                          found.by_unseen_pair);
  }

  nb::object smallest_removal(
      const Array1<std::int32_t>& words, const Array1<std::int32_t>& columns,
      const Array1<std::int64_t>& numbers, const Array1<std::int32_t>& unseen_place,
      const UnseenWeights& weights, const UnseenSquares& squares,
      const Array1<std::int64_t>& pair_keys, const Array1<std::int32_t>& pair_columns,
      const Array2<double>& centre, const Array1<double>& scale, double low, double high,
      const Array1<double>& threshold, bool by_rules, const Array1<std::int32_t>& tried,
      std::size_t most, std::size_t candidates) {
    const ClassTables& t = scorer_.tables();
    const std::size_t n = columns.shape(0);
    check(numbers.shape(0) == n && unseen_place.shape(0) == n, "one number for each word");
    check(pair_keys.shape(0) == pair_columns.shape(0), "one column for each pair");
    check(centre.shape(0) > 0 && centre.shape(1) == kParts && scale.shape(0) == kParts &&
              threshold.shape(0) == t.n_classes,
          "the law of novelty does not fit");
    check_below(span_of(words), static_cast<std::int64_t>(n), true);
    check_below(span_of(tried), static_cast<std::int64_t>(n), false);
    check_below(span_of(columns), t.n_terms, true);
    check_below(span_of(pair_columns), t.n_terms, true);
    check_below(span_of(unseen_place), n_unseen(unseen_place, weights, squares), true);
    for (std::size_t i = 0; i < n; ++i)
      check(columns.data()[i] >= 0 || unseen_place.data()[i] >= 0, "an unseen word has no place");
    std::vector<std::int32_t> removed;
    bool found = false;
    {
      nb::gil_scoped_release release;
      RemovalSearch search(
          scorer_, {span_of(pair_keys), span_of(pair_columns)},
          {span_of(words), span_of(columns), span_of(numbers), span_of(unseen_place)},
          unseen_words(weights, squares),
          {{centre.data(), centre.shape(0) * kParts},
           span_of(scale),
           low,
           high,
           span_of(threshold),
           by_rules});
      found = search.run(span_of(tried), most, candidates, removed);
    }
    if (!found) return nb::none();
    nb::list out;
    for (const std::int32_t word : removed) out.append(word);
    return out;
  }

 private:
  // A workspace for as long as it lives; made once, and used again.
  class Borrowed {
   public:
    explicit Borrowed(PyTextScorer& owner) : owner_(owner) {
      const std::lock_guard lock(owner.mutex_);
      if (!owner.free_.empty()) {
        space_ = std::move(owner.free_.back());
        owner.free_.pop_back();
      } else {
        space_ = std::make_unique<TextScorer::Workspace>(owner.scorer_);
      }
    }
    ~Borrowed() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.free_.push_back(std::move(space_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    TextScorer::Workspace& operator*() const { return *space_; }

   private:
    PyTextScorer& owner_;
    std::unique_ptr<TextScorer::Workspace> space_;
  };

  TextScorer made() const {
    classes_.check_fits();
    const ClassTables tables = classes_.tables();
    if (!rules_) return {tables, nullptr};
    check(alone_ && alone_->shape(0) == tables.n_terms &&
              rules_->rules->n_features() == tables.n_terms &&
              rules_->base.shape(0) == tables.n_classes,
          "the arrays of the rules do not fit");
    const RuleTables rules = rules_->tables(alone_->data());
    return {tables, &rules};
  }

  static std::span<const std::int32_t> list(const CsrView& rows, std::size_t i) {
    return {rows.indices + rows.indptr[i],
            static_cast<std::size_t>(rows.indptr[i + 1] - rows.indptr[i])};
  }

  // How many places of unseen words there are.
  std::uint32_t n_unseen(const Array1<std::int32_t>& unseen, const UnseenWeights& weights,
                         const UnseenSquares& squares) const {
    check(weights.has_value() == squares.has_value(), "weights and squares go together");
    if (!weights)  // the places are only counted
      return unseen.shape(0) ? 1U + static_cast<std::uint32_t>(*std::max_element(
                                        unseen.data(), unseen.data() + unseen.shape(0)))
                             : 0U;
    check(weights->shape(1) == scorer_.tables().n_classes && squares->shape(0) == weights->shape(0),
          "the weights of unseen words do not fit");
    return static_cast<std::uint32_t>(weights->shape(0));
  }

  static UnseenWords unseen_words(const UnseenWeights& weights, const UnseenSquares& squares) {
    if (!weights) return {};
    return {weights->data(), squares->data()};
  }

  PyClasses classes_;
  std::optional<PyRules> rules_;
  std::optional<Array1<double>> alone_;
  TextScorer scorer_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TextScorer::Workspace>> free_;
};

inline void bind_text_scorer(nb::module_& m) {
  nb::class_<PyRuleSet>(m, "RuleSet")
      .def(nb::init<const Array1<std::int64_t>&, const Array1<std::int32_t>&, std::uint32_t>(),
           nb::arg("begin"), nb::arg("literals"), nb::arg("n_features"))
      .def("matching", &PyRuleSet::matching, nb::arg("indptr"), nb::arg("indices"),
           nb::arg("n_threads") = 1)
      .def("count", &PyRuleSet::count, nb::arg("indptr"), nb::arg("indices"), nb::arg("among"),
           nb::arg("n_threads") = 1);
  nb::class_<PyRules>(m, "Rules")
      .def(
          "__init__",
          [](PyRules* self, const PyRuleSet& rules, Array1<std::int64_t> weight_begin,
             Array1<std::int32_t> weight_class, Array1<std::int64_t> weight, Array1<double> squares,
             Array1<std::int64_t> base, double base_square, double unit,
             Array1<std::int32_t> learned) {
            new (self) PyRules{rules.rules(), rules.rules()->rules_by_plain(),
                               weight_begin,  weight_class,
                               weight,        squares,
                               base,          base_square,
                               unit,          learned};
            self->check_fits();
          },
          nb::arg("rules"), nb::arg("weight_begin"), nb::arg("weight_class"), nb::arg("weight"),
          nb::arg("squares"), nb::arg("base"), nb::arg("base_square"), nb::arg("unit"),
          nb::arg("learned"))
      .def("votes", &PyRules::votes, nb::arg("indptr"), nb::arg("indices"))
      .def("explain", &PyRules::explain, nb::arg("document"), nb::arg("number"), nb::arg("most"));
  nb::class_<PyTextScorer>(m, "TextScorer")
      .def(
          "__init__",
          [](PyTextScorer* self, Array1<double> rarity, Array1<bool> is_pair, Array1<double> rate,
             Array2<float> counts, Array2<float> weights, Array1<float> intercepts,
             Array1<std::int64_t> sizes, double unseen_rarity, double unseen_surprise,
             Array1<double> evidence, Array1<double> likeness, double unseen_evidence,
             double unseen_likeness, double prior, double elsewhere,
             Array1<std::int64_t> near_sizes, Array1<std::int64_t> class_begin,
             Array1<std::int32_t> classes, Array1<std::int64_t> document_begin,
             Array1<std::int32_t> places, Array1<float> values, std::uint32_t n_nearest,
             const PyRules* rules, std::optional<Array1<double>> alone) {
            new (self) PyTextScorer(
                PyClasses{rarity,          is_pair,    rate,           counts,
                          weights,         intercepts, sizes,          unseen_rarity,
                          unseen_surprise, evidence,   likeness,       unseen_evidence,
                          unseen_likeness, prior,      elsewhere,      near_sizes,
                          class_begin,     classes,    document_begin, places,
                          values,          n_nearest},
                rules ? std::optional<PyRules>(*rules) : std::nullopt, std::move(alone));
          },
          nb::arg("rarity"), nb::arg("is_pair"), nb::arg("rate"), nb::arg("counts"),
          nb::arg("weights"), nb::arg("intercepts"), nb::arg("sizes"), nb::arg("unseen_rarity"),
          nb::arg("unseen_surprise"), nb::arg("evidence"), nb::arg("likeness"),
          nb::arg("unseen_evidence"), nb::arg("unseen_likeness"), nb::arg("prior"),
          nb::arg("elsewhere"), nb::arg("near_sizes"), nb::arg("class_begin"), nb::arg("classes"),
          nb::arg("document_begin"), nb::arg("places"), nb::arg("values"), nb::arg("n_nearest"),
          nb::arg("rules").none() = nb::none(), nb::arg("alone").none() = nb::none())
      .def("parts", &PyTextScorer::parts, nb::arg("indptr"), nb::arg("terms"),
           nb::arg("unseen_indptr"), nb::arg("unseen"), nb::arg("unseen_pairs"), nb::arg("n_pairs"),
           nb::arg("weights").none(), nb::arg("squares").none(), nb::arg("by_rules"))
      .def("shares", &PyTextScorer::shares, nb::arg("terms"), nb::arg("unseen"),
           nb::arg("unseen_pairs"), nb::arg("weights").none(), nb::arg("squares").none(),
           nb::arg("nearest"))
      .def("smallest_removal", &PyTextScorer::smallest_removal, nb::arg("words"),
           nb::arg("columns"), nb::arg("numbers"), nb::arg("unseen_place"),
           nb::arg("weights").none(), nb::arg("squares").none(), nb::arg("pair_keys"),
           nb::arg("pair_columns"), nb::arg("centre"), nb::arg("scale"), nb::arg("low"),
           nb::arg("high"), nb::arg("threshold"), nb::arg("by_rules"), nb::arg("tried"),
           nb::arg("most"), nb::arg("candidates"));
}

}  // namespace newfound::python
