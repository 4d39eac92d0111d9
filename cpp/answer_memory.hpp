// Answers that are remembered from a document's last visit.
//
// Once most documents have their votes, few clauses change from one visit of a document to the
// next. A match holds until the clause's next Type Ia or II event, since decrements only remove
// literals; a refutation holds until its next event or trial. So for each document two sets of
// clauses are kept, as bits, those that matched and those that were compared and did not, and for
// each clause when it changed last.
#pragma once

#include <cstdint>
#include <vector>

namespace newfound {

class AnswerMemory {
 public:
  // For the clauses of n_groups groups, in each of which a clause has a place below group_size.
  AnswerMemory(std::int64_t n_documents, std::size_t n_clauses, std::uint32_t n_groups,
               std::uint32_t group_size);
  // Whether answers would take little enough memory, for all clauses of a machine.
  static bool affordable(std::int64_t n_documents, std::uint32_t n_groups,
                         std::uint32_t group_size);

  // Remembers answers from now on, or does not.
  void set_active(bool active);
  bool active() const { return active_; }
  // Begins a visit of a document.
  void open(std::uint32_t document) {
    document_ = document;
    ++visit_;
  }

  // Asks about the clauses of a group, and forgets their answers at the last visit.
  void ask(std::uint32_t group);
  // 1 if the clause, at this place of the group, matches, 0 if it does not, -1 if that is not
  // known.
  int answer(std::uint32_t clause, std::uint32_t place) const {
    const std::uint32_t word = place >> 6, bit = place & 63;
    if (matched_[word] >> bit & 1 && event_[clause] < since_) return 1;
    return refuted_[word] >> bit & 1 && changed_[clause] < since_ ? 0 : -1;
  }
  // Remembers an answer, also one that was known.
  void add(std::uint32_t place, bool matches) {
    now_[(matches ? 0 : n_words_) + (place >> 6)] |= 1ULL << (place & 63);
  }

  // Says that clauses have changed.
  void add_event(std::uint32_t clause) {
    if (active_) event_[clause] = changed_[clause] = visit_;
  }
  void add_trial(std::uint32_t clause) {
    if (active_) changed_[clause] = visit_;
  }
  // For each clause, the visit of its last change, to be set to visit(); null if not active.
  std::uint32_t* changed() { return active_ ? changed_.data() : nullptr; }
  std::uint32_t visit() const { return visit_; }

 private:
  std::size_t n_documents_, n_clauses_;
  std::uint32_t n_groups_, n_words_;    // groups, and 64-bit words of a set of clauses of one
  std::vector<std::uint64_t> answers_;  // for each document and group, matches, then refutations
  std::vector<std::uint32_t> visited_;  // for each document and group, its last visit
  std::vector<std::uint32_t> event_, changed_;
  std::vector<std::uint64_t> matched_, refuted_;  // the answers of the last visit
  std::uint64_t* now_ = nullptr;
  std::uint32_t since_ = 0;
  std::uint32_t document_ = 0, visit_ = 0;
  bool active_ = false;
};

}  // namespace newfound
