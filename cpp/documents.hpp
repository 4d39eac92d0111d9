// Boolean documents with words in the machine's order: as word lists and as 64-word blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace newfound {

// Documents as a caller holds them: rows of a CSR matrix, each with distinct features.
struct CsrView {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  std::int64_t rows;
};

class Documents {
 public:
  // `position[feature]` is the feature's place in the machine's order.
  Documents(const CsrView& csr, const std::vector<std::uint32_t>& position);

  std::int64_t size() const { return static_cast<std::int64_t>(begin_.size()) - 1; }
  double mean_words() const {
    return static_cast<double>(words_.size()) /
           static_cast<double>(std::max<std::int64_t>(1, size()));
  }
  // The words of a document, ascending (the most frequent ones first).
  const std::uint32_t* begin(std::int64_t doc) const {
    return words_.data() + begin_[static_cast<std::size_t>(doc)];
  }
  const std::uint32_t* end(std::int64_t doc) const {
    return words_.data() + begin_[static_cast<std::size_t>(doc) + 1];
  }

  // The blocks of 64 words in which the document has any, ascending, with those it has.
  const WordBlock* blocks_begin(std::int64_t doc) const {
    return blocks_.data() + block_begin_[static_cast<std::size_t>(doc)];
  }
  const WordBlock* blocks_end(std::int64_t doc) const {
    return blocks_.data() + block_begin_[static_cast<std::size_t>(doc) + 1];
  }

 private:
  std::vector<std::int64_t> begin_;
  std::vector<std::uint32_t> words_;
  std::vector<std::int64_t> block_begin_;
  std::vector<WordBlock> blocks_;
};

}  // namespace newfound
