#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "compiler.hpp"
#include "threads.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace newfound {

Machine::Machine(const Parameters& parameters, const Execution& execution)
    : p_(parameters), execution_(execution), n_blocks_((parameters.n_features + 63) / 64) {
  const std::size_t alignment = std::size_t{1} << 21;
  const std::size_t size = (n_bytes() + alignment - 1) / alignment * alignment;
  const bool large = n_bytes() >= alignment;
  states_ = allocate(large ? size : n_bytes(), large ? alignment : 64);
#ifdef __linux__
  if (large) madvise(states_.get(), size, MADV_HUGEPAGE);
#endif
  draws_.assign(total_clauses(), 0);
  weights_.assign(total_clauses(), 1);
  position_.resize(p_.n_features);
  std::iota(position_.begin(), position_.end(), 0U);
}

Machine Machine::copy() const {
  Machine other(p_, execution_);
  if (!fresh_) std::memcpy(other.states_.get(), states_.get(), n_bytes());
  other.draws_ = draws_;
  other.weights_ = weights_;
  other.position_ = position_;
  other.ordered_ = ordered_;
  other.fresh_ = fresh_;
  other.incomplete_ = incomplete_;
  other.epochs_seen_ = epochs_seen_;
  return other;
}

void Machine::fill(std::uint32_t clause) {
  std::uint8_t* states = row(clause);
  std::memset(states, kInclude - 1, static_cast<std::size_t>(n_lines()) * kLine);
  if (!p_.negations)
    for (std::uint32_t line = 1; line < n_lines(); line += 2)
      std::memset(states + static_cast<std::size_t>(line) * kLine, 0, kLine);
  const std::uint64_t used = valid(n_blocks_ - 1);
  std::uint8_t* last = states + static_cast<std::size_t>(n_lines() - 2) * kLine;
  for (int lane = 0; lane < kLine; ++lane)
    if (!(used >> lane & 1)) last[lane] = last[kLine + lane] = 0;
}

void Machine::order_by_frequency(const CsrView& documents) {
  std::vector<std::int64_t> frequency(p_.n_features, 0);
  for (std::int64_t i = documents.indptr[0]; i < documents.indptr[documents.rows]; ++i)
    ++frequency[static_cast<std::size_t>(documents.indices[i])];
  std::vector<std::uint32_t> features(p_.n_features);
  std::iota(features.begin(), features.end(), 0U);
  std::stable_sort(features.begin(), features.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return frequency[a] > frequency[b]; });
  std::vector<std::uint32_t> position(p_.n_features);
  for (std::uint32_t rank = 0; rank < p_.n_features; ++rank) position[features[rank]] = rank;
  set_position(std::move(position));
}

void Machine::set_position(std::vector<std::uint32_t> position) {
  position_ = std::move(position);
  ordered_ = true;
}

void Machine::copy_states(std::uint8_t* out) const {
  check_complete();
  if (fresh_) {
    std::memset(out, kInclude - 1, static_cast<std::size_t>(total_clauses()) * 2 * p_.n_features);
    if (!p_.negations)
      for (std::uint32_t c = 0; c < total_clauses(); ++c)
        std::memset(out + (static_cast<std::size_t>(c) * 2 + 1) * p_.n_features, 0, p_.n_features);
    return;
  }
  for (std::uint32_t c = 0; c < total_clauses(); ++c) {
    const std::uint8_t* from = row(c);
    std::uint8_t* to = out + static_cast<std::size_t>(c) * 2 * p_.n_features;
    for (std::uint32_t f = 0; f < p_.n_features; ++f) {
      const std::size_t at =
          static_cast<std::size_t>(position_[f] >> 6) * 2 * kLine + (position_[f] & 63);
      to[f] = from[at];
      to[p_.n_features + f] = from[at + kLine];
    }
  }
}

void Machine::set_states(const std::uint8_t* in) {
  ordered_ = true;  // from now on the automata belong to their features
  for (std::uint32_t c = 0; c < total_clauses(); ++c) {
    std::uint8_t* to = row(c);
    if (fresh_) fill(c);
    const std::uint8_t* from = in + static_cast<std::size_t>(c) * 2 * p_.n_features;
    for (std::uint32_t f = 0; f < p_.n_features; ++f) {
      const std::size_t at =
          static_cast<std::size_t>(position_[f] >> 6) * 2 * kLine + (position_[f] & 63);
      to[at] = from[f];
      to[at + kLine] = from[p_.n_features + f];
    }
  }
  fresh_ = incomplete_ = false;
}

ClauseLists Machine::clauses(std::uint32_t n_threads) const {
  check_complete();
  ClauseLists lists;
  lists.begin.assign(total_clauses() + 1, 0);
  if (fresh_) return lists;
  std::vector<std::int32_t> feature(static_cast<std::size_t>(n_blocks_) * 64, 0);
  for (std::uint32_t f = 0; f < p_.n_features; ++f)
    feature[position_[f]] = static_cast<std::int32_t>(f);
  const auto negation = static_cast<std::int32_t>(p_.n_features);
  const std::uint32_t n = std::max(1U, std::min(n_threads, total_clauses()));
  std::vector<std::vector<std::int32_t>> found(n);
  const auto read = [&](std::uint32_t t) {
    const auto from = static_cast<std::uint32_t>(std::uint64_t{total_clauses()} * t / n);
    const auto to = static_cast<std::uint32_t>(std::uint64_t{total_clauses()} * (t + 1) / n);
    std::vector<std::int32_t>& literals = found[t];
    for (std::uint32_t c = from; c < to; ++c) {
      const std::size_t start = literals.size();
      for (std::uint32_t line = 0; line < n_lines(); ++line)
        for (std::uint64_t lanes = execution_.kernels->included(row(c) + line * kLine); lanes;
             lanes &= lanes - 1)
          literals.push_back(feature[(line >> 1) * 64 + lowest_bit(lanes)] +
                             (line & 1 ? negation : 0));
      std::sort(literals.begin() + static_cast<std::ptrdiff_t>(start), literals.end());
      lists.begin[c + 1] = static_cast<std::int64_t>(literals.size() - start);
    }
  };
  run_parallel(n, read);
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  for (const auto& literals : found)
    lists.literals.insert(lists.literals.end(), literals.begin(), literals.end());
  return lists;
}

}  // namespace newfound
