// Rules, indexed so that documents can be compared with all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler.hpp"
#include "documents.hpp"

namespace newfound {

// Lists of numbers, one for each of n keys.
struct Lists {
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> items;

  std::span<const std::uint32_t> of(std::size_t key) const {
    return {items.data() + begin[key], items.data() + begin[key + 1]};
  }
};

// ANDs of features and negated features. Each rule watches the rarest of its plain features. The
// candidates of a document are the rules that watch one of its features, and those without plain
// features. Rules that negate one of its features are removed: for features that many rules negate
// with a bit set over the rules, for others with a list. What remains is checked for its other
// plain features. Empty rules match nothing.
class RuleSet {
 public:
  // The literals of rule j are literals[begin[j]] to literals[begin[j + 1]]: a feature, or
  // n_features + feature if it is negated. `rarity`, a number for each feature, says which is the
  // rarest; by default it is the one that fewest rules have.
  RuleSet(std::span<const std::int64_t> begin, std::span<const std::int32_t> literals,
          std::uint32_t n_features, std::span<const std::uint32_t> rarity = {});

  std::uint32_t size() const { return static_cast<std::uint32_t>(watched_.size()); }
  std::uint32_t n_features() const { return n_features_; }
  std::size_t n_plain(std::uint32_t rule) const {
    return watched_[rule] == kNone ? 0 : 1 + other_plain_.of(rule).size();
  }
  // Calls visit(feature) for the plain features of a rule.
  template <class Visit>
  void for_each_plain(std::uint32_t rule, const Visit& visit) const {
    if (watched_[rule] != kNone) visit(watched_[rule]);
    for (const std::uint32_t feature : other_plain_.of(rule)) visit(feature);
  }
  // For each feature the rules that ask for it, ascending.
  Lists rules_by_plain() const;

  // One thread's memory for comparing documents with the rules.
  class Reader {
   public:
    explicit Reader(const RuleSet& rules)
        : rules_(&rules), candidates_(rules.words_), present_(rules.n_features_, 0) {}

    // Calls match(rule) for the rules that a document matches, ascending.
    template <class Match>
    void read(std::span<const std::int32_t> document, const Match& match) {
      const RuleSet& rules = *rules_;
      if (++now_ == 0) {
        std::fill(present_.begin(), present_.end(), std::uint8_t{0});
        now_ = 1;
      }
      std::size_t n_watching = 0;
      for (const std::int32_t feature : document) {
        const auto f = static_cast<std::size_t>(feature);
        present_[f] = now_;
        n_watching += rules.watching_.begin[f + 1] - rules.watching_.begin[f];
      }
      if (!rules.has_negated_ && n_watching <= rules.words_) {  // a list of them is shorter
        found_.clear();
        for (const std::int32_t feature : document)
          for (const std::uint32_t rule : rules.watching_.of(static_cast<std::size_t>(feature)))
            if (has_other_plain(rule)) found_.push_back(rule);
        std::sort(found_.begin(), found_.end());
        for (const std::uint32_t rule : found_) match(rule);
        return;
      }
      std::copy(rules.without_plain_.begin(), rules.without_plain_.end(), candidates_.begin());
      for (const std::int32_t feature : document)
        for (const std::uint32_t rule : rules.watching_.of(static_cast<std::size_t>(feature)))
          candidates_[rule >> 6] |= 1ULL << (rule & 63);
      if (rules.has_negated_)
        for (const std::int32_t feature : document)
          remove_negating(static_cast<std::size_t>(feature));
      for (std::uint32_t w = 0; w < rules.words_; ++w)
        for (std::uint64_t bits = candidates_[w]; bits; bits &= bits - 1) {
          const std::uint32_t rule = 64 * w + lowest_bit(bits);
          if (has_other_plain(rule)) match(rule);
        }
    }

   private:
    void remove_negating(std::size_t feature) {
      const std::int32_t row = rules_->dense_[feature];
      if (row < 0) {
        for (const std::uint32_t rule : rules_->negated_.of(feature))
          candidates_[rule >> 6] &= ~(1ULL << (rule & 63));
        return;
      }
      const std::uint64_t* negating =
          &rules_->rows_[static_cast<std::size_t>(row) * rules_->words_];
      for (std::uint32_t w = 0; w < rules_->words_; ++w) candidates_[w] &= ~negating[w];
    }

    bool has_other_plain(std::uint32_t rule) const {
      for (const std::uint32_t feature : rules_->other_plain_.of(rule))
        if (present_[feature] != now_) return false;
      return true;
    }

    const RuleSet* rules_;
    std::vector<std::uint64_t> candidates_;  // the rules that nothing has refuted yet
    std::vector<std::uint32_t> found_;       // the rules that match, where candidates are few
    std::vector<std::uint8_t> present_;      // by feature: `now_` if the document has it
    std::uint8_t now_ = 0;
  };

  // The rules that each document matches, as rows of a CSR matrix with ascending columns.
  void matching(const CsrView& documents, std::uint32_t n_threads, std::vector<std::int64_t>& begin,
                std::vector<std::int32_t>& rules) const;
  // Where rules belong to classes, each class has as many of them, and they are in its order.
  // For each rule: the documents it matches, and how many of those have its class.
  void support(const CsrView& documents, const std::int32_t* labels, std::uint32_t n_classes,
               std::uint32_t n_threads, std::int64_t* matches, std::int64_t* own) const;
  // (rows, n_classes): the votes of the matching rules of each class, added up.
  void votes(const CsrView& documents, const std::int32_t* votes_of_rule, std::uint32_t n_classes,
             std::uint32_t n_threads, std::int32_t* out) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::uint32_t n_features_;
  std::uint32_t words_;                       // 64-bit words of a set of rules
  bool has_negated_ = false;                  // whether any rule does
  std::vector<std::uint32_t> watched_;        // by rule: its rarest plain feature, or kNone
  std::vector<std::uint64_t> without_plain_;  // rules that have negated features only
  Lists watching_;                            // by feature: the rules that watch it
  Lists other_plain_;                         // by rule: its other plain features
  Lists negated_;                    // by feature: rules that negate it, where they are few
  std::vector<std::int32_t> dense_;  // by feature: row of `rows_`, or -1
  std::vector<std::uint64_t> rows_;  // sets of rules that negate a frequent feature
};

inline std::span<const std::int32_t> row_of(const CsrView& documents, std::int64_t row) {
  return {documents.indices + documents.indptr[row], documents.indices + documents.indptr[row + 1]};
}

}  // namespace newfound
