#include "answer_memory.hpp"

#include <algorithm>

namespace newfound {
namespace {

constexpr std::size_t kMostBytes = std::size_t{32} << 20;
constexpr std::int64_t kMostDocuments = 1 << 16;

}  // namespace

AnswerMemory::AnswerMemory(std::int64_t n_documents, std::size_t n_clauses, std::uint32_t n_groups,
                           std::uint32_t group_size)
    : n_documents_(static_cast<std::size_t>(n_documents)),
      n_clauses_(n_clauses),
      n_groups_(n_groups),
      n_words_((group_size + 63) / 64) {}

bool AnswerMemory::affordable(std::int64_t n_documents, std::uint32_t n_groups,
                              std::uint32_t group_size) {
  const std::size_t bytes = 16 * std::size_t{(group_size + 63) / 64} + 4;
  return n_documents <= kMostDocuments &&
         static_cast<std::size_t>(n_documents) * n_groups * bytes <= kMostBytes;
}

void AnswerMemory::set_active(bool active) {
  if (active && !active_) {  // changes were not followed meanwhile
    answers_.resize(n_documents_ * n_groups_ * 2 * n_words_);
    visited_.assign(n_documents_ * n_groups_, 0);
    event_.resize(n_clauses_);
    changed_.resize(n_clauses_);
  }
  active_ = active;
}

void AnswerMemory::ask(std::uint32_t group) {
  const std::size_t at = std::size_t{document_} * n_groups_ + group, n = n_words_;
  now_ = &answers_[at * 2 * n];
  matched_.assign(now_, now_ + n);
  refuted_.assign(now_ + n, now_ + 2 * n);
  std::fill_n(now_, 2 * n, 0);
  since_ = visited_[at];
  visited_[at] = visit_;
}

}  // namespace newfound
