#include "documents.hpp"

#include <algorithm>

namespace newfound {

Documents::Documents(const CsrView& csr, const std::vector<std::uint32_t>& position) {
  begin_.reserve(static_cast<std::size_t>(csr.rows) + 1);
  begin_.push_back(0);
  block_begin_.push_back(0);
  words_.reserve(static_cast<std::size_t>(csr.indptr[csr.rows] - csr.indptr[0]));
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
        last = b;
      }
      blocks_.back().words |= 1ULL << (words_[i] & 63);
    }
    block_begin_.push_back(static_cast<std::int64_t>(blocks_.size()));
  }
}

}  // namespace newfound
