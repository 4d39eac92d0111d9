// Linear classifiers of sparse documents, learned by sums in a fixed order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fixed_order.hpp"

namespace newfound {

struct LinearTask {
  SparseRows rows;
  const std::int32_t* classes;  // of each row: 0 ... n_classes - 1
  std::size_t n_classes;
  double C;          // how much the errors count, against the squared length of the weights
  bool intercept;    // whether there is one
  double tolerance;  // when to stop
  std::uint32_t n_iterations;
  std::function<bool()> stopped;  // asked now and then; learning then ends early
};

// The weights of each feature, one column for each class but one if there are two, and in a last
// row the intercepts.
struct LinearWeights {
  std::size_t n_columns;
  std::vector<double> values;
};

// Logistic regression, multinomial for more than two classes: the sum of `row_weights` times the
// logarithms of the probabilities. The intercept is not shrunk. By L-BFGS, until no part of the
// gradient of the mean loss exceeds the tolerance.
LinearWeights logistic_regression(const LinearTask& task, const double* row_weights);

// Linear support vector machines with a squared loss, each class against all others, by dual
// coordinate descent (Hsieh et al., 2008). The intercept is the weight of a feature that is 1. Two
// classes have one machine.
LinearWeights support_vectors(const LinearTask& task, std::uint64_t seed);

}  // namespace newfound
