#include "text_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "elementary.hpp"

namespace newfound {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double root(double squares) { return std::sqrt(squares > 0 ? squares : 1.0); }

}  // namespace

std::int64_t RuleTables::weight_of(std::int32_t rule, std::int32_t number) const {
  const std::int32_t* begin = weight_class + weight_begin[rule];
  const std::int32_t* end = weight_class + weight_begin[rule + 1];
  const std::int32_t* found = std::lower_bound(begin, end, number);
  return found != end && *found == number ? weight[found - weight_class] : 0;
}

RuleTables::Matched RuleTables::vote(std::span<const std::int32_t> terms, RuleSet::Reader& reader,
                                     std::int64_t* votes) const {
  Matched out{0, 0.0};
  reader.read(terms, [&](std::uint32_t rule) {
    ++out.n;
    out.square += squares[rule];
    for (std::int64_t i = weight_begin[rule]; i < weight_begin[rule + 1]; ++i)
      votes[weight_class[i]] += weight[i];
  });
  return out;
}

RuleReasons RuleTables::explain(std::span<const std::int32_t> terms, std::int32_t number,
                                std::size_t most) const {
  std::vector<std::uint32_t> candidates;
  for (const std::int32_t term : terms) {
    const auto having = rules_of->of(at(term));
    candidates.insert(candidates.end(), having.begin(), having.end());
  }
  std::sort(candidates.begin(), candidates.end());
  RuleReasons out{{}, {}, 0.0};
  for (std::size_t i = 0; i < candidates.size();) {
    const auto rule = static_cast<std::int32_t>(candidates[i]);
    std::size_t missing = rules->n_plain(candidates[i]);
    for (const std::uint32_t one = candidates[i]; i < candidates.size() && candidates[i] == one;
         ++i)
      --missing;
    if (missing > 1) continue;
    const std::int64_t own = weight_of(rule, number);
    if (missing == 0) {
      out.square += squares[rule];
      if (own) out.matching.push_back({rule, own});
    } else if (own > 0) {
      std::int32_t lacking = -1;
      rules->for_each_plain(static_cast<std::uint32_t>(rule), [&](std::uint32_t word) {
        const auto term = static_cast<std::int32_t>(word);
        if (!std::binary_search(terms.begin(), terms.end(), term)) lacking = term;
      });
      out.lacking.push_back({rule, own, lacking});
    }
  }
  std::ranges::stable_sort(out.matching, [](const auto& a, const auto& b) {
    return std::abs(a.weight) > std::abs(b.weight);
  });
  std::ranges::stable_sort(out.lacking,
                           [](const auto& a, const auto& b) { return a.weight > b.weight; });
  if (out.lacking.size() > most) out.lacking.resize(most);
  return out;
}

TextScorer::Workspace::Workspace(const TextScorer& scorer) {
  const ClassTables& t = scorer.tables_;
  if (scorer.rules_.rules) reader_.emplace(*scorer.rules_.rules);
  const std::int64_t largest = *std::max_element(t.near_sizes, t.near_sizes + t.n_near_classes);
  votes_.resize(t.n_classes);
  similar_.assign(at(largest), 0.0F);
}

// The number of documents that the similarity of a text is averaged over.
double TextScorer::n_compared(std::int32_t nearest) const {
  const std::int64_t size = tables_.near_sizes[tables_.near_class(nearest)];
  return static_cast<double>(
      std::clamp<std::int64_t>(size, 1, static_cast<std::int64_t>(tables_.n_nearest)));
}

double TextScorer::surprise(std::int32_t term, std::int32_t nearest) const {
  const ClassTables& t = tables_;
  const double here = t.counts[at(nearest) * t.n_terms + at(term)];
  const double rate = t.rate[term];
  return exact_log(rate * (static_cast<double>(t.sizes[nearest]) + t.prior) /
                   (here + t.prior * rate));
}

std::int32_t TextScorer::named_by_linear(const TextView& text, const UnseenWords& unseen,
                                         double norm, Workspace& space) const {
  const ClassTables& t = tables_;
  const std::size_t n = t.n_classes;
  space.decisions_.assign(n, 0.0F);
  for (const std::int32_t term : text.terms) {
    const auto value = static_cast<float>(t.rarity[term]);
    const float* row = t.weights + at(term) * n;
    for (std::size_t k = 0; k < n; ++k) space.decisions_[k] += value * row[k];
  }
  if (unseen.weights && !text.unseen.empty()) {
    space.unseen_decisions_.assign(n, 0.0F);
    for (const std::int32_t place : text.unseen) {
      const auto value = static_cast<float>(t.unseen_rarity);
      const float* row = unseen.weights + at(place) * n;
      for (std::size_t k = 0; k < n; ++k) space.unseen_decisions_[k] += value * row[k];
    }
    for (std::size_t k = 0; k < n; ++k) space.decisions_[k] += space.unseen_decisions_[k];
  }
  const auto length = static_cast<float>(norm);
  for (std::size_t k = 0; k < n; ++k)
    space.decisions_[k] = space.decisions_[k] / length + t.intercepts[k];
  const auto best = std::max_element(space.decisions_.begin(), space.decisions_.end());
  return static_cast<std::int32_t>(best - space.decisions_.begin());
}

// The number of a combination of term and class, -1 if no document has it.
std::int64_t TextScorer::combination(std::int32_t term, std::int32_t number) const {
  const ClassTables& t = tables_;
  const std::int32_t* begin = t.classes + t.class_begin[term];
  const std::int32_t* end = t.classes + t.class_begin[term + 1];
  const std::int32_t* found = std::lower_bound(begin, end, number);
  return found != end && *found == number ? found - t.classes : -1;
}

// Finds the most similar documents of a class; of equally similar ones, the first. Those that have
// nothing in common with the text are left out.
void TextScorer::find_nearest(std::span<const std::int32_t> terms, double norm, std::int32_t number,
                              Workspace& space) const {
  const ClassTables& t = tables_;
  float* similar = space.similar_.data();
  space.touched_.clear();
  for (const std::int32_t term : terms) {
    const std::int64_t found = combination(term, number);
    if (found < 0) continue;
    const auto value = static_cast<float>(t.likeness[term] / norm);
    for (std::int64_t i = t.document_begin[found]; i < t.document_begin[found + 1]; ++i) {
      const std::int32_t place = t.places[i];
      if (similar[place] == 0.0F) space.touched_.push_back(place);
      similar[place] += value * t.values[i];
    }
  }
  auto& nearest = space.nearest_;
  nearest.clear();
  const auto before = [](const Workspace::Near& a, const Workspace::Near& b) {
    return a.similarity != b.similarity ? a.similarity > b.similarity : a.place < b.place;
  };
  for (const std::int32_t place : space.touched_) {
    const Workspace::Near one{similar[place], place};
    similar[place] = 0.0F;
    if (one.similarity == 0.0F) continue;  // met before, or too small a number
    if (nearest.size() == t.n_nearest && !before(one, nearest.back())) continue;
    if (nearest.size() == t.n_nearest) nearest.pop_back();
    nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), one, before), one);
  }
}

TextScore TextScorer::score(const TextView& text, const UnseenWords& unseen, bool by_rules,
                            Workspace& space) const {
  const ClassTables& t = tables_;
  const auto n_unseen = static_cast<double>(text.unseen_words);
  const double unseen_square = t.unseen_rarity * t.unseen_rarity;
  double squares = 0.0, likeness = 0.0, known = 0.0;
  for (const std::int32_t term : text.terms) {
    squares += t.rarity[term] * t.rarity[term];
    likeness += t.likeness[term] * t.likeness[term];
  }
  if (unseen.squares)
    for (const std::int32_t place : text.unseen) known += unseen.squares[place];
  const double norm = root(unseen.squares ? squares + known * unseen_square : squares);
  const double full_norm = root(likeness + n_unseen * (t.unseen_likeness * t.unseen_likeness));

  TextScore out{};
  out.nearest = -1;
  double per_vote = 0.0;
  if (rules_.rules) {
    std::copy_n(rules_.base, t.n_classes, space.votes_.begin());
    const RuleTables::Matched matched =
        rules_.vote(text.terms, *space.reader_, space.votes_.data());
    double alone = 0.0;
    for (const std::int32_t term : text.terms) alone += rules_.alone[term];
    const double length = matched.square + (alone + n_unseen * unseen_square);
    per_vote = rules_.unit / std::sqrt(length + rules_.base_square);
    if (by_rules && matched.n)
      for (const std::int32_t k : rules_.learned)
        if (out.nearest < 0 || space.votes_[at(k)] > space.votes_[at(out.nearest)]) out.nearest = k;
  }
  out.by_rules = out.nearest >= 0;
  const std::int32_t linear = named_by_linear(text, unseen, norm, space);
  if (!out.by_rules) out.nearest = linear;

  const auto nearest = at(out.nearest);
  const float* counts = t.counts + nearest * t.n_terms;
  double margin = 0.0, total = 0.0, surprises = 0.0;
  std::int64_t elsewhere = 0;
  for (const std::int32_t term : text.terms) {
    const double rarity = t.rarity[term];
    margin += rarity * static_cast<double>(t.weights[at(term) * t.n_classes + at(linear)]);
    if (t.is_pair[term]) {
      elsewhere += counts[term] == 0.0F;
    } else {
      total += t.evidence[term];
      surprises += t.evidence[term] * surprise(term, out.nearest);
    }
  }
  if (unseen.weights) {
    double adds = 0.0;
    for (const std::int32_t place : text.unseen)
      adds += t.unseen_rarity *
              static_cast<double>(unseen.weights[at(place) * t.n_classes + at(linear)]);
    margin += adds;
  }
  total += n_unseen * t.unseen_evidence;
  surprises += n_unseen * (t.unseen_evidence * t.unseen_surprise);
  find_nearest(text.terms, 1.0, t.near_class(out.nearest), space);
  double similar = 0.0;
  for (const Workspace::Near& one : space.nearest_) similar += static_cast<double>(one.similarity);
  similar /= n_compared(out.nearest);
  out.parts[0] = -(margin / norm + static_cast<double>(t.intercepts[linear]));
  out.parts[1] = surprises / (total > 0 ? total : 1.0);
  out.parts[2] = -similar / full_norm;
  out.parts[3] =
      (static_cast<double>(text.unseen_pairs) + t.elsewhere * static_cast<double>(elsewhere)) /
      static_cast<double>(std::max<std::int64_t>(text.n_pairs, 1));
  out.parts[4] = rules_.rules ? -(static_cast<double>(space.votes_[nearest]) * per_vote) : 0.0;
  return out;
}

TermShares TextScorer::shares(const TextView& text, const UnseenWords& unseen, std::int32_t number,
                              Workspace& space) const {
  const ClassTables& t = tables_;
  const auto nearest = at(number);
  const auto n_unseen = static_cast<double>(text.unseen_words);
  const double unseen_square = t.unseen_rarity * t.unseen_rarity;
  const float* counts = t.counts + nearest * t.n_terms;
  double squares = 0.0, likeness = 0.0, known = 0.0, total = 0.0;
  std::int64_t n_pairs = text.unseen_pairs;
  for (const std::int32_t term : text.terms) {
    squares += t.rarity[term] * t.rarity[term];
    likeness += t.likeness[term] * t.likeness[term];
    n_pairs += t.is_pair[term];
    if (!t.is_pair[term]) total += t.evidence[term];
  }
  total += n_unseen * t.unseen_evidence;
  if (unseen.squares)
    for (const std::int32_t place : text.unseen) known += unseen.squares[place];
  const double norm = root(unseen.squares ? squares + known * unseen_square : squares);
  const double full_norm = root(likeness + n_unseen * (t.unseen_likeness * t.unseen_likeness));

  const std::int32_t linear = named_by_linear(text, unseen, norm, space);

  TermShares out;
  out.by_unseen_pair = 1.0 / static_cast<double>(std::max<std::int64_t>(n_pairs, 1));
  out.by_term.assign(4 * text.terms.size(), 0.0);
  out.by_unseen.assign(4 * text.unseen.size(), 0.0);
  for (std::size_t i = 0; i < text.terms.size(); ++i) {
    const std::int32_t term = text.terms[i];
    double* adds = out.by_term.data() + 4 * i;
    const double rarity = t.rarity[term];
    adds[0] = -rarity * static_cast<double>(t.weights[at(term) * t.n_classes + at(linear)]) / norm;
    if (t.is_pair[term])
      adds[3] = counts[term] == 0.0F ? out.by_unseen_pair * t.elsewhere : 0.0;
    else if (total > 0)
      adds[1] = t.evidence[term] * surprise(term, number) / total;
  }
  for (std::size_t i = 0; i < text.unseen.size(); ++i) {
    double* adds = out.by_unseen.data() + 4 * i;
    if (unseen.weights)
      adds[0] = -t.unseen_rarity *
                static_cast<double>(unseen.weights[at(text.unseen[i]) * t.n_classes + at(linear)]) /
                norm;
    adds[1] = t.unseen_evidence * t.unseen_surprise / total;
  }
  find_nearest(text.terms, full_norm, t.near_class(number), space);
  const double n_top = n_compared(number);
  auto& near = space.nearest_;
  std::sort(near.begin(), near.end(),
            [](const Workspace::Near& a, const Workspace::Near& b) { return a.place < b.place; });
  for (std::size_t i = 0; i < text.terms.size(); ++i) {
    const std::int64_t found = combination(text.terms[i], t.near_class(number));
    if (found < 0) continue;
    const std::int32_t* begin = t.places + t.document_begin[found];
    const std::int32_t* end = t.places + t.document_begin[found + 1];
    double sum = 0.0;
    for (const Workspace::Near& one : near) {
      begin = std::lower_bound(begin, end, one.place);
      if (begin != end && *begin == one.place)
        sum += static_cast<double>(t.values[begin - t.places]);
    }
    out.by_term[4 * i + 2] = -(t.likeness[text.terms[i]] / full_norm) * sum / n_top;
  }
  return out;
}

}  // namespace newfound
