#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace newfound {

Machine::Machine(const Parameters& parameters)
    : p_(parameters), n_blocks_((parameters.n_features + 63) / 64) {
  const std::size_t alignment = std::size_t{1} << 21;
  const std::size_t size = (n_bytes() + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(n_bytes() >= alignment ? alignment : 64,
                                    n_bytes() >= alignment ? size : n_bytes());
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  if (n_bytes() >= alignment) madvise(memory, size, MADV_HUGEPAGE);
#endif
  states_.reset(static_cast<std::uint8_t*>(memory));
  draws_.assign(total_clauses(), 0);
  position_.resize(p_.n_features);
  std::iota(position_.begin(), position_.end(), 0U);
  std::memset(states_.get(), kInclude - 1, n_bytes());
  for (std::uint32_t c = 0; c < total_clauses(); ++c)
    for (std::uint32_t half = 0; half < 2; ++half) {
      std::uint8_t* line = row(c) + (n_lines() - 2 + half) * kLine;
      for (int lane = 0; lane < kLine; ++lane)
        if (!(valid(n_blocks_ - 1) >> lane & 1)) line[lane] = 0;
    }
}

void Machine::order_by_frequency(const CsrView& documents) {
  std::vector<std::int64_t> frequency(p_.n_features, 0);
  for (std::int64_t i = documents.indptr[0]; i < documents.indptr[documents.rows]; ++i)
    ++frequency[static_cast<std::size_t>(documents.indices[i])];
  std::vector<std::uint32_t> features(p_.n_features);
  std::iota(features.begin(), features.end(), 0U);
  std::stable_sort(features.begin(), features.end(), [&](std::uint32_t a, std::uint32_t b) {
    return frequency[a] > frequency[b];
  });
  std::vector<std::uint32_t> position(p_.n_features);
  for (std::uint32_t rank = 0; rank < p_.n_features; ++rank) position[features[rank]] = rank;
  set_position(std::move(position));
}

void Machine::set_position(std::vector<std::uint32_t> position) {
  position_ = std::move(position);
  ordered_ = true;
}

void Machine::copy_states(std::uint8_t* out) const {
  for (std::uint32_t c = 0; c < total_clauses(); ++c) {
    const std::uint8_t* from = row(c);
    std::uint8_t* to = out + static_cast<std::size_t>(c) * 2 * p_.n_features;
    for (std::uint32_t f = 0; f < p_.n_features; ++f) {
      const std::size_t at = static_cast<std::size_t>(position_[f] >> 6) * 2 * kLine + (position_[f] & 63);
      to[f] = from[at];
      to[p_.n_features + f] = from[at + kLine];
    }
  }
}

void Machine::set_states(const std::uint8_t* in) {
  ordered_ = true;  // the automata now mean something: their places must not change any more
  for (std::uint32_t c = 0; c < total_clauses(); ++c) {
    std::uint8_t* to = row(c);
    const std::uint8_t* from = in + static_cast<std::size_t>(c) * 2 * p_.n_features;
    for (std::uint32_t f = 0; f < p_.n_features; ++f) {
      const std::size_t at = static_cast<std::size_t>(position_[f] >> 6) * 2 * kLine + (position_[f] & 63);
      to[at] = from[f];
      to[at + kLine] = from[p_.n_features + f];
    }
  }
}

ClauseLists Machine::clauses() const {
  std::vector<std::int32_t> feature(static_cast<std::size_t>(n_blocks_) * 64, 0);
  for (std::uint32_t f = 0; f < p_.n_features; ++f) feature[position_[f]] = static_cast<std::int32_t>(f);
  ClauseLists lists;
  lists.begin.reserve(total_clauses() + 1);
  lists.begin.push_back(0);
  for (std::uint32_t c = 0; c < total_clauses(); ++c) {
    const std::uint8_t* states = row(c);
    for (std::uint32_t line = 0; line < n_lines(); ++line) {
      std::uint64_t words[8];
      std::memcpy(words, states + line * kLine, kLine);
      for (int w = 0; w < 8; ++w) {
        std::uint64_t bits = words[w] & 0x8080808080808080ULL;
        for (; bits; bits &= bits - 1) {
          const std::uint32_t lane = static_cast<std::uint32_t>(8 * w + (__builtin_ctzll(bits) >> 3));
          const std::int32_t f = feature[(line >> 1) * 64 + lane];
          lists.literals.push_back(line & 1 ? f + static_cast<std::int32_t>(p_.n_features) : f);
        }
      }
    }
    std::sort(lists.literals.begin() + lists.begin.back(), lists.literals.end());
    lists.begin.push_back(static_cast<std::int64_t>(lists.literals.size()));
  }
  return lists;
}

}  // namespace newfound
