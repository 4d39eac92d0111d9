// A small set of words without which a novel text would be known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "text_scorer.hpp"

namespace newfound {

// The columns of pairs of words, by the numbers of their words.
struct PairTable {
  std::span<const std::int64_t> keys;     // ascending: the left number times 2^32 plus the right
  std::span<const std::int32_t> columns;  // of each key
};

// One text as a sequence of its distinct words.
struct WordSequence {
  std::span<const std::int32_t> words;         // at each place: which word; -1 separates pairs
  std::span<const std::int32_t> columns;       // by word: its term, -1 if it was never seen
  std::span<const std::int64_t> numbers;       // by word: its number in pairs, -1 if it has none
  std::span<const std::int32_t> unseen_place;  // by word: its place in UnseenWords, -1 if seen
};

// How parts become a novelty, and above which a text is novel.
struct NoveltyLaw {
  std::span<const double> centre;  // coefficients of log(1 + words), kParts each, the constant last
  std::span<const double> scale;   // kParts
  double low, high;                // beyond these lengths the centre is constant
  std::span<const double> threshold;  // by class
  bool by_rules;
};

// Removes the word whose removal lowers the novelty most, again and again, until the text is known;
// then puts back every word that need not be removed.
class RemovalSearch {
 public:
  RemovalSearch(const TextScorer& scorer, const PairTable& pairs, const WordSequence& text,
                const UnseenWords& unseen, const NoveltyLaw& law);

  // Looks for at most `most` of the words in `tried`, those to try first in front, `candidates` in
  // each step. Returns whether there are such words, and stores them.
  bool run(std::span<const std::int32_t> tried, std::size_t most, std::size_t candidates,
           std::vector<std::int32_t>& removed);

 private:
  // How far the text is above its threshold without the removed words.
  double margin();
  std::int32_t column_of_pair(std::int32_t left, std::int32_t right) const;

  const TextScorer& scorer_;
  PairTable pairs_;
  WordSequence text_;
  UnseenWords unseen_;
  NoveltyLaw law_;
  TextScorer::Workspace space_;
  std::vector<char> is_removed_, is_present_;
  std::vector<std::int64_t> keys_;
  std::vector<std::int32_t> terms_, unseen_places_;
};

}  // namespace newfound
