// The parts of the novelty of a text, compared with its nearest known class. What each part means
// is said in newfound/detection/class_statistics.py and scoring.py.
//
// All sums are in a fixed order, in the order of the terms of a text, so that a text has the same
// score alone and among others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rule_set.hpp"

namespace newfound {

inline constexpr std::size_t kParts = 5;  // margin, surprise, neighbours, pairs, rules

// What is known of the classes. The arrays belong to the caller; those by class and term are
// matrices in row order.
struct ClassTables {
  std::uint32_t n_terms, n_classes;
  const double* rarity;       // by term
  const bool* is_pair;        // by term
  const double* rate;         // by term: share of the known documents
  const float* counts;        // by class and term: documents
  const float* weights;       // by term and class: linear classifier
  const float* intercepts;    // by class
  const std::int64_t* sizes;  // by class: documents
  double unseen_rarity, unseen_surprise;
  // How much a term weighs in the surprise and, squared, in the similarity to known documents; the
  // same for a word never seen.
  const double* evidence;
  const double* likeness;
  double unseen_evidence, unseen_likeness;
  double prior;  // pseudo-documents that shrink the rate of a word in a class to its overall one
  double elsewhere;  // how new a pair is that only other classes have
  // Known documents, by class or all as one class. For each term the classes that have it,
  // ascending, and for each of those the documents with the term: their places within the class and
  // the weights of the term.
  const std::int64_t* near_sizes;      // by class: documents
  std::uint32_t n_near_classes;        // n_classes or 1
  const std::int64_t* class_begin;     // by term
  const std::int32_t* classes;         // by combination of term and class
  const std::int64_t* document_begin;  // by combination
  const std::int32_t* places;
  const float* values;
  std::uint32_t n_nearest;  // documents that similarity is averaged over

  // The class of the documents that a text with this nearest class is compared with.
  std::int32_t near_class(std::int32_t nearest) const { return n_near_classes == 1 ? 0 : nearest; }
};

// Which rules a text matches, and which of a class it nearly matches.
struct RuleReasons {
  struct Weighted {
    std::int32_t rule;
    std::int64_t weight;
    std::int32_t word = -1;  // the one that is lacking
  };
  std::vector<Weighted> matching, lacking;
  double square;  // what the matches add to the squared length of the text
};

// Rules of plain words, with whole numbers as weights for classes.
struct RuleTables {
  const RuleSet* rules;
  const Lists* rules_of;             // by term: the rules that have it
  const std::int64_t* weight_begin;  // by rule
  const std::int32_t* weight_class;  // ascending within a rule
  const std::int64_t* weight;
  const double* squares;     // by rule: what a match adds to the squared length of a text
  const std::int64_t* base;  // by class: what every text adds to the votes
  double base_square;
  double unit;          // what a vote is worth in a text of length 1
  const double* alone;  // by term: what a word that is no rule adds to the squared length
  std::span<const std::int32_t> learned;  // the classes that rules may name

  std::int64_t weight_of(std::int32_t rule, std::int32_t number) const;

  // The rules that a text matches: their number, and what they add to its squared length.
  struct Matched {
    std::int64_t n;
    double square;
  };
  // Stores the votes of a text for each class.
  Matched vote(std::span<const std::int32_t> terms, RuleSet::Reader& reader,
               std::int64_t* votes) const;

  // The rules with a weight for a class that a text matches, the heaviest first, and the `most`
  // heaviest ones for the class that lack one word.
  RuleReasons explain(std::span<const std::int32_t> terms, std::int32_t number,
                      std::size_t most) const;
};

// Words never seen, by their place: what they weigh for each class, and which share is known.
struct UnseenWords {
  const float* weights = nullptr;  // null where the linear classifier knows whole words only
  const double* squares = nullptr;
};

// One text. Terms are ascending, and so are the places of its unseen words.
struct TextView {
  std::span<const std::int32_t> terms;
  std::span<const std::int32_t> unseen;
  std::int64_t unseen_words, unseen_pairs, n_pairs;
};

struct TextScore {
  std::array<double, kParts> parts;
  std::int32_t nearest;
  bool by_rules;
};

// What each term adds to the first four parts; the intercept of the margin is left out.
struct TermShares {
  std::vector<double> by_term, by_unseen;  // four for each
  double by_unseen_pair;                   // to the fourth part
};

class TextScorer {
 public:
  TextScorer(const ClassTables& tables, const RuleTables* rules)
      : tables_(tables), rules_(rules ? *rules : RuleTables{}) {}

  // What a thread needs to score texts.
  class Workspace {
   public:
    explicit Workspace(const TextScorer& scorer);

   private:
    friend class TextScorer;
    std::optional<RuleSet::Reader> reader_;
    std::vector<std::int64_t> votes_;
    std::vector<float> decisions_, unseen_decisions_, similar_;
    std::vector<std::int32_t> touched_;
    struct Near {
      float similarity;
      std::int32_t place;
    };
    std::vector<Near> nearest_;
  };

  // `by_rules`: whether rules name the nearest class, where any matches.
  TextScore score(const TextView& text, const UnseenWords& unseen, bool by_rules,
                  Workspace& space) const;

  TermShares shares(const TextView& text, const UnseenWords& unseen, std::int32_t nearest,
                    Workspace& space) const;

  const ClassTables& tables() const { return tables_; }

 private:
  double n_compared(std::int32_t nearest) const;
  double surprise(std::int32_t term, std::int32_t nearest) const;
  std::int32_t named_by_linear(const TextView& text, const UnseenWords& unseen, double norm,
                               Workspace& space) const;
  void find_nearest(std::span<const std::int32_t> terms, double norm, std::int32_t number,
                    Workspace& space) const;
  std::int64_t combination(std::int32_t term, std::int32_t number) const;

  ClassTables tables_;
  RuleTables rules_;
};

}  // namespace newfound
