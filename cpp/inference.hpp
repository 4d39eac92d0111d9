// Trained clauses, indexed so that documents can be compared with all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "documents.hpp"
#include "machine.hpp"

namespace newfound {

// Each clause watches its rarest plain word. The candidates of a document are the clauses that
// watch one of its words, and those without plain words. Clauses that negate one of its words are
// removed: for frequent words with a bit set over the clauses, for others with a list. What remains
// is checked for its other plain words. Empty clauses match nothing.
class Inference {
 public:
  Inference(const ClauseLists& clauses, std::uint32_t n_features, std::uint32_t n_classes,
            std::uint32_t n_clauses, const std::vector<std::uint32_t>& position,
            const std::vector<std::uint32_t>& weights);

  // (rows, n_classes): the weights of matching positive minus those of matching negative clauses.
  void votes(const CsrView& documents, std::uint32_t n_threads, std::int32_t* out) const;
  // For each clause: the documents it matches, and how many of those have its class.
  void support(const CsrView& documents, const std::int32_t* labels, std::uint32_t n_threads,
               std::int64_t* matches, std::int64_t* own) const;
  // The matching clauses of each document, as rows of a CSR matrix with ascending columns.
  void matching(const CsrView& documents, std::uint32_t n_threads, std::vector<std::int64_t>& begin,
                std::vector<std::int32_t>& clauses) const;

 private:
  // Lists of numbers, one for each of n keys.
  struct Lists {
    std::vector<std::size_t> begin;
    std::vector<std::uint32_t> items;
  };
  class Reader;

  std::uint32_t n_features_, n_classes_, n_clauses_;
  std::vector<std::int32_t> votes_;           // by clause: its weight, negative if it votes against
  std::uint32_t words_;                       // 64-bit words of a set of clauses
  std::vector<std::uint64_t> without_plain_;  // clauses that have negated words only
  Lists watching_;                   // by feature: clauses with it as their rarest plain one
  Lists other_plain_;                // by clause: its other plain features
  Lists negated_;                    // by feature: clauses that negate it, where they are few
  std::vector<std::int32_t> dense_;  // by feature: row of `rows_`, or -1
  std::vector<std::uint64_t> rows_;  // sets of clauses that negate a frequent feature
};

}  // namespace newfound
