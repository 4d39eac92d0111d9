// Trained clauses laid out for looking documents up.
#pragma once

#include <cstdint>
#include <vector>

#include "documents.hpp"
#include "machine.hpp"

namespace newfound {

// A clause with plain words is filed under its rarest one, so that only documents with that word
// look at it; a clause of negated words alone is filed under each of them, so that a document
// finds the ones it breaks. Empty clauses match nothing.
class Inference {
 public:
  Inference(const ClauseLists& clauses, std::uint32_t n_features, std::uint32_t n_classes,
            std::uint32_t n_clauses, const std::vector<std::uint32_t>& position);

  // (rows, n_classes): matching positive minus matching negative clauses.
  void votes(const CsrView& documents, std::uint32_t n_threads, std::int32_t* out) const;
  // For each clause: the documents it matches, and how many of those have its class.
  void support(const CsrView& documents, const std::int32_t* labels, std::uint32_t n_threads,
               std::int64_t* matches, std::int64_t* own) const;
  // The matching clauses of each document, as rows of a CSR matrix with ascending columns.
  void matching(const CsrView& documents, std::uint32_t n_threads, std::vector<std::int64_t>& begin,
                std::vector<std::int32_t>& clauses) const;

 private:
  struct Filed {
    std::uint32_t clause;
    std::uint32_t begin, end;  // its other literals in `rest_`, plain ones first
    std::uint32_t first_negated;
  };
  class Reader;

  std::int32_t sign(std::uint32_t clause) const {
    return clause % n_clauses_ < n_clauses_ / 2 ? 1 : -1;
  }

  std::uint32_t n_features_, n_classes_, n_clauses_;
  std::vector<std::uint32_t> filed_begin_;  // by feature
  std::vector<Filed> filed_;
  std::vector<std::uint32_t> rest_;
  std::vector<std::uint32_t> negative_;       // clauses of negated words alone
  std::vector<std::uint32_t> breaks_begin_;   // by feature
  std::vector<std::uint32_t> breaks_;         // indices into `negative_`
  std::vector<std::int32_t> negative_votes_;  // by class, if no clause of `negative_` is broken
};

}  // namespace newfound
