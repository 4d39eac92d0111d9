#include "documents.hpp"

#include <algorithm>

namespace newfound {

Documents::Documents(const CsrView& csr, const std::vector<std::uint32_t>& position)
    : groups_((position.size() + 4095) / 4096) {
  begin_.reserve(static_cast<std::size_t>(csr.rows) + 1);
  begin_.push_back(0);
  block_begin_.push_back(0);
  words_.reserve(static_cast<std::size_t>(csr.indptr[csr.rows] - csr.indptr[0]));
  occupied_.assign(groups_ * static_cast<std::size_t>(csr.rows), 0);
  rank_.assign(occupied_.size(), 0);
  for (std::int64_t doc = 0; doc < csr.rows; ++doc) {
    const std::size_t first = words_.size();
    for (std::int64_t i = csr.indptr[doc]; i < csr.indptr[doc + 1]; ++i)
      words_.push_back(position[static_cast<std::size_t>(csr.indices[i])]);
    std::sort(words_.begin() + static_cast<std::ptrdiff_t>(first), words_.end());
    begin_.push_back(static_cast<std::int64_t>(words_.size()));
    std::uint32_t last = UINT32_MAX;
    for (std::size_t i = first; i < words_.size(); ++i) {
      const std::uint32_t b = words_[i] >> 6;
      if (b != last) {
        blocks_.push_back({b, 0});
        occupied_[static_cast<std::size_t>(doc) * groups_ + (b >> 6)] |= 1ULL << (b & 63);
        last = b;
      }
      blocks_.back().words |= 1ULL << (words_[i] & 63);
    }
    std::uint32_t rank = 0;
    for (std::size_t g = static_cast<std::size_t>(doc) * groups_;
         g < (static_cast<std::size_t>(doc) + 1) * groups_; ++g) {
      rank_[g] = rank;
      rank += count_bits(occupied_[g]);
    }
    block_begin_.push_back(static_cast<std::int64_t>(blocks_.size()));
  }
}

}  // namespace newfound
