// One document, laid out so that clauses can be compared with it. Each thread has its own.
#pragma once

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
  }

  // `slot` is the document's place in the window of cached answers.
  void open(std::uint32_t document, std::uint32_t slot) {
    document_ = document;
    slot_ = slot;
    toggle_words();
  }
  void close() { toggle_words(); }

  std::uint32_t slot() const { return slot_; }
  // 1 if the literal is true, else 0.
  std::uint8_t truth(std::uint32_t literal) const {
    return (absent_[literal >> 7] >> (literal & 63) & 1) == is_negated(literal);
  }
  // For each block, the words that the document lacks.
  const std::uint64_t* absent() const { return absent_.data(); }

  const std::uint32_t* words_begin() const { return documents_.begin(document_); }
  const std::uint32_t* words_end() const { return documents_.end(document_); }
  const WordBlock* blocks_begin() const { return documents_.blocks_begin(document_); }
  const WordBlock* blocks_end() const { return documents_.blocks_end(document_); }
  std::uint64_t block(std::uint32_t b) const { return documents_.block(document_, b); }
  const std::uint64_t* occupied() const { return documents_.occupied(document_); }

 private:
  void toggle_words() {
    for (const WordBlock* b = blocks_begin(); b != blocks_end(); ++b) absent_[b->index] ^= b->words;
  }

  const Documents& documents_;
  std::vector<std::uint64_t> absent_;
  std::uint32_t document_ = 0, slot_ = 0;
};

}  // namespace newfound
