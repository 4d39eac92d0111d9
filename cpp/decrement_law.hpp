// The exact laws of repeated decrements with probability 1/s, tabulated.
#pragma once

#include <cstdint>
#include <vector>

#include "decrement_tables.hpp"

namespace newfound {

class DecrementLaw {
 public:
  explicit DecrementLaw(double s);
  DecrementLaw(const DecrementLaw&) = delete;
  DecrementLaw& operator=(const DecrementLaw&) = delete;

  // How far k trials lower an automaton; valid as long as this object.
  const DecrementTables& tables() const { return tables_; }
  // How many trials until the first hit, counting from one.
  std::uint64_t geometric(std::uint64_t key) const;

 private:
  std::vector<BinomialTable> binomial_;
  std::vector<std::vector<double>> last_;  // what BinomialTable::last points to
  DecrementTables tables_;
  std::vector<std::uint64_t> geometric_;       // geometric_[g] = 2^32 P(first hit <= g + 1)
  std::vector<std::uint16_t> geometric_from_;  // where to start looking, by the highest byte
};

}  // namespace newfound
