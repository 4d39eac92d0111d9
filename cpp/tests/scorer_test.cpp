// Scores of texts without Python, for the sanitisers: matches must be what the ANDs say, a text has
// the same score whatever was scored before, shares add up to the parts, and a removal that is
// found makes a text known.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "random.hpp"
#include "removal_search.hpp"
#include "rule_set.hpp"
#include "text_scorer.hpp"

namespace {

using namespace newfound;

constexpr std::uint32_t kTerms = 60, kWords = 40, kClasses = 4, kUnseen = 7, kAnds = 150;

std::uint64_t drawn = 0;
int passed = 0;

std::uint32_t draw(std::uint32_t n) { return static_cast<std::uint32_t>(mix64(5, ++drawn) % n); }
double share() { return draw(1U << 20) / static_cast<double>(1U << 20); }

void require(bool right, const std::string& what) {
  if (right) return;
  std::printf("FAILED: %s\n", what.c_str());
  std::exit(1);
}

template <class T>
std::vector<T> numbers(std::size_t n, double low, double high) {
  std::vector<T> out(n);
  for (T& one : out) one = static_cast<T>(low + (high - low) * share());
  return out;
}

// Some of the numbers below n, ascending.
std::vector<std::int32_t> some(std::uint32_t n, double each) {
  std::vector<std::int32_t> out;
  for (std::uint32_t i = 0; i < n; ++i)
    if (share() < each) out.push_back(static_cast<std::int32_t>(i));
  return out;
}

// Known classes, the last of them without documents, and rules. Texts are compared with documents
// of their nearest class, or of all classes.
struct Known {
  std::vector<double> rarity = numbers<double>(kTerms, 1, 8), rate = numbers<double>(kTerms, 0, 1);
  std::vector<double> evidence = numbers<double>(kTerms, 0.1, 9);
  std::vector<double> likeness = numbers<double>(kTerms, 0.1, 3);
  std::vector<float> counts = numbers<float>(kClasses * kTerms, 0, 9);
  std::vector<float> weights = numbers<float>(kTerms * kClasses, -1, 1);
  std::vector<float> intercepts = numbers<float>(kClasses, -1, 0), values;
  std::vector<std::int64_t> sizes{9, 3, 6, 0}, near_sizes, class_begin{0}, document_begin{0};
  std::vector<std::int32_t> classes, places;
  std::vector<std::int64_t> and_begin{0}, weight_begin{0}, weight;
  std::vector<std::int32_t> words, weight_class, learned{0, 1, 2};
  std::vector<double> squares = numbers<double>(kAnds, 0, 9), alone = numbers<double>(kTerms, 0, 9);
  std::vector<std::int64_t> base{1, -2, 0, 3};
  bool is_pair[kTerms] = {};
  std::vector<float> unseen = numbers<float>(kUnseen * kClasses, -1, 1);
  std::vector<double> unseen_squares = numbers<double>(kUnseen, 0, 1);

  explicit Known(bool by_class) {
    near_sizes = by_class ? sizes : std::vector<std::int64_t>{18};
    for (double& one : rate) one += 0.01;
    for (std::uint32_t i = kWords; i < kTerms; ++i) is_pair[i] = true;
    for (std::uint32_t term = 0; term < kTerms; ++term) {
      for (std::uint32_t k = 0; k < near_sizes.size(); ++k) {
        const auto own = some(static_cast<std::uint32_t>(near_sizes[k]), 0.4);
        if (own.empty()) continue;
        classes.push_back(static_cast<std::int32_t>(k));
        places.insert(places.end(), own.begin(), own.end());
        document_begin.push_back(static_cast<std::int64_t>(places.size()));
      }
      class_begin.push_back(static_cast<std::int64_t>(classes.size()));
    }
    values = numbers<float>(places.size(), 0.01, 1);
    for (std::uint32_t j = 0; j < kAnds; ++j) {
      auto own = some(kWords, 0.04);
      if (own.empty()) own.push_back(static_cast<std::int32_t>(draw(kWords)));
      words.insert(words.end(), own.begin(), own.end());
      and_begin.push_back(static_cast<std::int64_t>(words.size()));
      for (const std::int32_t k : some(3, 0.6)) {
        weight_class.push_back(k);
        weight.push_back(static_cast<std::int64_t>(draw(41)) - 20);
      }
      weight_begin.push_back(static_cast<std::int64_t>(weight.size()));
    }
  }

  ClassTables tables() const {
    return {kTerms,
            kClasses,
            rarity.data(),
            is_pair,
            rate.data(),
            counts.data(),
            weights.data(),
            intercepts.data(),
            sizes.data(),
            9.0,
            3.0,
            evidence.data(),
            likeness.data(),
            4.0,
            2.0,
            0.5,
            0.5,
            near_sizes.data(),
            static_cast<std::uint32_t>(near_sizes.size()),
            class_begin.data(),
            classes.data(),
            document_begin.data(),
            places.data(),
            values.data(),
            5};
  }
  RuleTables rules(const RuleSet& ands, const Lists& rules_of) const {
    return {&ands,
            &rules_of,
            weight_begin.data(),
            weight_class.data(),
            weight.data(),
            squares.data(),
            base.data(),
            16.0,
            0.1,
            alone.data(),
            learned};
  }
  UnseenWords unseen_words() const { return {unseen.data(), unseen_squares.data()}; }
};

struct Text {
  std::vector<std::int32_t> terms = some(kTerms, 0.15), unseen = some(kUnseen, 0.2);
  std::int64_t unseen_pairs = draw(4);
  TextView view() const {
    const auto n = static_cast<std::int64_t>(unseen.size());
    return {terms, unseen, n, unseen_pairs, unseen_pairs + 5};
  }
};

void check_ands(const Known& known, const RuleTables& rules) {
  RuleSet::Reader reader(*rules.rules);
  for (int round = 0; round < 200; ++round) {
    const auto document = some(kTerms, 0.02 * (round % 20));
    const std::int32_t k = round % 3;
    std::vector<std::int32_t> found, matching, lacking;
    reader.read(document, [&](std::uint32_t j) { found.push_back(static_cast<std::int32_t>(j)); });
    const RuleReasons reasons = rules.explain(document, k, kAnds);
    for (std::size_t j = 0; j < kAnds; ++j) {
      std::int64_t present = 0;
      for (std::int64_t i = known.and_begin[j]; i < known.and_begin[j + 1]; ++i)
        present += std::binary_search(document.begin(), document.end(),
                                      known.words[static_cast<std::size_t>(i)]);
      const std::int64_t size = known.and_begin[j + 1] - known.and_begin[j];
      if (present == size) matching.push_back(static_cast<std::int32_t>(j));
      if (present && present + 1 == size && rules.weight_of(static_cast<std::int32_t>(j), k) > 0)
        lacking.push_back(static_cast<std::int32_t>(j));
    }
    require(found == matching, "ANDs that match");
    std::erase_if(matching, [&](std::int32_t j) { return !rules.weight_of(j, k); });
    const auto numbers_of = [](const auto& reasons_of_kind) {
      std::vector<std::int32_t> out;
      for (const auto& one : reasons_of_kind) out.push_back(one.rule);
      std::sort(out.begin(), out.end());
      return out;
    };
    require(numbers_of(reasons.matching) == matching, "ANDs of a class that match");
    require(numbers_of(reasons.lacking) == lacking, "ANDs of a class that lack a word");
    for (const auto& one : reasons.lacking)
      require(!std::binary_search(document.begin(), document.end(), one.word) &&
                  std::binary_search(
                      known.words.begin() + known.and_begin[static_cast<std::size_t>(one.rule)],
                      known.words.begin() + known.and_begin[static_cast<std::size_t>(one.rule) + 1],
                      one.word),
              "the word that lacks");
  }
  ++passed;
}

void check_scores(const Known& known, const TextScorer& scorer, bool by_rules) {
  TextScorer::Workspace used(scorer);
  for (int round = 0; round < 300; ++round) {
    const Text text;
    const UnseenWords unseen = round % 3 ? known.unseen_words() : UnseenWords{};
    const TextScore found = scorer.score(text.view(), unseen, by_rules, used);
    TextScorer::Workspace fresh(scorer);
    const TextScore again = scorer.score(text.view(), unseen, by_rules, fresh);
    require(found.parts == again.parts && found.nearest == again.nearest, "the same score");
    require(found.nearest >= 0 && found.nearest < 4 && (by_rules || !found.by_rules), "a class");
    const TextScore linear = scorer.score(text.view(), unseen, false, fresh);
    require(linear.parts[0] == found.parts[0], "the same margin");
    const TermShares shares = scorer.shares(text.view(), unseen, found.nearest, used);
    for (std::size_t part : {0U, 1U, 2U}) {
      double total = 0.0;
      for (std::size_t i = 0; i < text.terms.size(); ++i) total += shares.by_term[4 * i + part];
      for (std::size_t i = 0; i < text.unseen.size(); ++i) total += shares.by_unseen[4 * i + part];
      if (part == 0) total -= known.intercepts[static_cast<std::size_t>(linear.nearest)];
      require(std::abs(total - found.parts[part]) < 1e-5, "shares that add up");
    }
  }
  ++passed;
}

void check_removals(const Known& known, const TextScorer& scorer) {
  std::vector<std::int64_t> keys;
  std::vector<std::int32_t> pairs;
  for (std::int64_t i = 0; i < kTerms - kWords; ++i) {
    keys.push_back(2 * i << 32 | (2 * i + 1) % kWords);
    pairs.push_back(static_cast<std::int32_t>(kWords + i));
  }
  int n_found = 0;
  for (int round = 0; round < 300; ++round) {
    // Each word twice, with a break in between.
    std::vector<std::int32_t> columns = some(kWords, 0.2), unseen_place(columns.size(), -1);
    std::vector<std::int64_t> numbers_of(columns.begin(), columns.end());
    for (std::int32_t place = 0; place < 3; ++place) {
      columns.push_back(-1);
      unseen_place.push_back(place);
      numbers_of.push_back(-1);
    }
    const auto n = static_cast<std::int32_t>(columns.size());
    std::vector<std::int32_t> sequence, tried;
    for (std::int32_t i = 0; i < n; ++i) sequence.push_back(i);
    sequence.push_back(-1);
    for (std::int32_t i = n; i-- > 0;) sequence.push_back(i);
    for (std::int32_t i = 0; i < n; ++i) tried.push_back((i * 7 + 3) % n);
    std::sort(tried.begin(), tried.end());
    tried.erase(std::unique(tried.begin(), tried.end()), tried.end());
    const std::vector<double> centre(2 * kParts, 0.1), scale(kParts, 1.0);
    const std::vector<double> threshold = numbers<double>(kClasses, -3, 1);
    const NoveltyLaw law{centre, scale, 0.5, 3.0, threshold, round % 2 == 0};
    RemovalSearch search(scorer, {keys, pairs}, {sequence, columns, numbers_of, unseen_place},
                         known.unseen_words(), law);
    std::vector<std::int32_t> removed, again;
    const auto most = static_cast<std::size_t>(n - 1);
    const bool found = search.run(tried, most, 4, removed);
    n_found += found;
    require(!found || (!removed.empty() && removed.size() <= most), "a removal of some words");
    require(search.run(tried, most, 4, again) == found && again == removed, "the same removal");
    require(!search.run(tried, 0, 4, again), "no removal of no words");
  }
  require(n_found > 20 && n_found < 300, "removals of both kinds");
  ++passed;
}

}  // namespace

int main() {
  for (const bool by_class : {true, false}) {
    const Known known(by_class);
    const RuleSet ands(known.and_begin, known.words, kTerms);
    const Lists rules_of = ands.rules_by_plain();
    const RuleTables rules = known.rules(ands, rules_of);
    const TextScorer with_rules(known.tables(), &rules), without(known.tables(), nullptr);
    check_ands(known, rules);
    check_scores(known, with_rules, true);
    check_scores(known, with_rules, false);
    check_scores(known, without, true);
    check_removals(known, with_rules);
    check_removals(known, without);
  }
  std::printf("%d passed, 0 failed\n", passed);
  return 0;
}
