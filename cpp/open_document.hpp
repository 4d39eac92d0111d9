// One document, laid out so that clauses can be compared with it. Each thread has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "documents.hpp"
#include "layout.hpp"
#include "machine.hpp"

namespace newfound {

class OpenDocument {
 public:
  OpenDocument(const Machine& machine, const Documents& documents) : documents_(documents) {
    for (std::uint32_t b = 0; b < machine.n_blocks(); ++b) absent_.push_back(machine.valid(b));
    present_.resize(absent_.size());
  }

  void open(std::uint32_t document) {
    document_ = document;
    toggle_words();
  }
  void close() { toggle_words(); }

  // 1 if the literal is true, else 0.
  std::uint8_t truth(std::uint32_t literal) const {
    return (absent_[literal >> 7] >> (literal & 63) & 1) == is_negated(literal);
  }
  // For each block, the words that the document lacks.
  const std::uint64_t* absent() const { return absent_.data(); }
  // For each block, the words that it has.
  const std::uint64_t* present() const { return present_.data(); }

  // Whether it is faster to go through its own blocks than through all.
  bool few_blocks() const {
    return 4 * static_cast<std::size_t>(blocks_end() - blocks_begin()) < present_.size();
  }

  const std::uint32_t* words_begin() const { return documents_.begin(document_); }
  const std::uint32_t* words_end() const { return documents_.end(document_); }
  const WordBlock* blocks_begin() const { return documents_.blocks_begin(document_); }
  const WordBlock* blocks_end() const { return documents_.blocks_end(document_); }

 private:
  void toggle_words() {
    for (const WordBlock* b = blocks_begin(); b != blocks_end(); ++b) {
      absent_[b->index] ^= b->words;
      present_[b->index] ^= b->words;
    }
  }

  const Documents& documents_;
  std::vector<std::uint64_t> absent_, present_;
  std::uint32_t document_ = 0;
};

}  // namespace newfound
