// The automata of a Tsetlin Machine, and what else it keeps between two fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "documents.hpp"
#include "kernels.hpp"
#include "layout.hpp"

namespace newfound {

constexpr std::uint32_t kMostVotes = 1U << 30;  // the largest weight of a clause

struct Parameters {
  std::uint32_t n_classes;
  std::uint32_t n_features;
  std::uint32_t n_clauses;  // for each class; the first half votes for it, the second against
  std::uint32_t T;
  double s;
  bool boost_true_positive;
  std::uint32_t max_literals;  // 0: no budget
  std::uint64_t seed;
  // The other class that a document is a negative example of is drawn in proportion to this power
  // of its update probability, (T + votes) / 2T. 0: every class alike.
  std::uint32_t focus = 0;
  // A clause votes with its weight: one more after each Type Ia event, one less after each Type II
  // event of a matching clause, at least 1.
  bool weighted = false;
  // Whether clauses may include negated literals. If not, their automata stay in the lowest state.
  bool negations = true;
};

// How the work is done. The kernels never change the model of a seed; foreseen lines and remembered
// answers change which random numbers are used, but not their law. For tests: the defaults suit
// everyone else.
struct Execution {
  const Kernels* kernels = available_kernels()[0];
  std::uint32_t foreseen_blocks = kNone;  // kNone: by the length of the documents
  // Answers are remembered while, in the epoch before, a smaller share than this of the clauses of
  // a document's classes got feedback.
  double quiet_share = 0.05;
  // Threads wait for each other at every document. With fewer clauses of a class than this for each
  // of them, the waiting outweighs the work as soon as another program uses a core.
  std::uint32_t clauses_per_thread = 256;
  // Another number of threads after every few documents, up to all of them.
  bool change_teams = false;
};

// The clauses as sorted lists of literals: a feature, or n_features + feature if negated.
struct ClauseLists {
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> literals;
};

// One row of automata for each clause, laid out as layout.hpp says. Words are ordered by document
// frequency, so that frequent ones share lines and rare ones share lines.
class Machine {
 public:
  explicit Machine(const Parameters& parameters, const Execution& execution = {});
  Machine(Machine&&) = default;
  // A machine with the same automata and counters.
  Machine copy() const;

  const Parameters& parameters() const { return p_; }
  const Execution& execution() const { return execution_; }
  std::uint32_t total_clauses() const { return p_.n_classes * p_.n_clauses; }
  std::uint32_t n_lines() const { return 2 * n_blocks_; }
  std::uint32_t n_blocks() const { return n_blocks_; }
  // The lanes of a block that belong to words.
  std::uint64_t valid(std::uint32_t block) const {
    const std::uint32_t rest = p_.n_features - 64 * block;
    return rest >= 64 ? ~0ULL : (1ULL << rest) - 1;
  }
  std::uint8_t* row(std::uint32_t clause) {
    return states_.get() + static_cast<std::size_t>(clause) * n_lines() * kLine;
  }
  const std::uint8_t* row(std::uint32_t clause) const {
    return const_cast<Machine*>(this)->row(clause);
  }
  // The rows of a fresh machine are not written yet: each training thread fills its own.
  bool fresh() const { return fresh_; }
  void fill(std::uint32_t clause);
  void set_filled() { fresh_ = false; }
  // Training that fails leaves automata without the decrements that they are due; such a machine
  // cannot be used until its states are set.
  void set_incomplete() { incomplete_ = true; }
  void check_complete() const {
    if (incomplete_)
      throw std::runtime_error("the machine is incomplete, because a fit failed; fit a new one");
  }
  // How many random keys the clause has used: with the seed, all of its random state.
  std::uint64_t& draws(std::uint32_t clause) { return draws_[clause]; }
  // With how many votes the clause votes.
  std::uint32_t& weight(std::uint32_t clause) { return weights_[clause]; }
  std::uint64_t epochs_seen() const { return epochs_seen_; }
  void count_epoch() { ++epochs_seen_; }

  // position()[feature]: its place in the machine's order; set once, by the first documents.
  const std::vector<std::uint32_t>& position() const { return position_; }
  bool ordered() const { return ordered_; }
  void order_by_frequency(const CsrView& documents);
  void set_position(std::vector<std::uint32_t> position);

  // (n_classes, n_clauses, 2, n_features): plain automata, then negated ones.
  void copy_states(std::uint8_t* out) const;
  void set_states(const std::uint8_t* in);
  std::vector<std::uint64_t>& all_draws() { return draws_; }
  const std::vector<std::uint64_t>& all_draws() const { return draws_; }
  const std::vector<std::uint32_t>& weights() const { return weights_; }
  void set_weights(std::vector<std::uint32_t> weights) { weights_ = std::move(weights); }
  // With how many votes each clause votes for its class; negative if it votes against it.
  std::vector<std::int32_t> signed_weights() const {
    std::vector<std::int32_t> out(weights_.begin(), weights_.end());
    const std::uint32_t n = parameters().n_clauses;
    for (std::uint32_t c = 0; c < out.size(); ++c)
      if (c % n >= n / 2) out[c] = -out[c];
    return out;
  }
  void set_epochs_seen(std::uint64_t n) { epochs_seen_ = n; }

  ClauseLists clauses(std::uint32_t n_threads) const;

 private:
  struct Free {
    std::align_val_t alignment;
    void operator()(std::uint8_t* p) const { ::operator delete(p, alignment); }
  };
  using States = std::unique_ptr<std::uint8_t[], Free>;
  static States allocate(std::size_t size, std::size_t alignment) {
    const auto aligned = static_cast<std::align_val_t>(alignment);
    return {static_cast<std::uint8_t*>(::operator new(size, aligned)), Free{aligned}};
  }
  std::size_t n_bytes() const {
    return static_cast<std::size_t>(total_clauses()) * n_lines() * kLine;
  }

  Parameters p_;
  Execution execution_;
  std::uint32_t n_blocks_;
  States states_{nullptr, Free{}};
  std::vector<std::uint64_t> draws_;
  std::vector<std::uint32_t> weights_;
  std::vector<std::uint32_t> position_;
  bool ordered_ = false;
  bool fresh_ = true;
  bool incomplete_ = false;
  std::uint64_t epochs_seen_ = 0;
};

}  // namespace newfound
