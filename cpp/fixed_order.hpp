// Linear algebra whose sums are in a fixed order, so that threads, processors and libraries do not
// change a digit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace newfound {

// A sparse matrix by rows.
struct SparseRows {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const double* values;
  std::size_t n_rows, n_columns;

  std::size_t length(std::size_t row) const {
    return static_cast<std::size_t>(indptr[row + 1] - indptr[row]);
  }
};

double dot(const double* a, const double* b, std::size_t n);

// out (n_rows x n) += matrix * dense (n_columns x n).
void add_product(const SparseRows& matrix, const double* dense, std::size_t n, double* out);

// The first right singular vectors of a matrix: n_columns x n, the most important first, by
// subspace iteration from random vectors. An axis points where its largest coordinate is positive.
// Axes are 0 whose singular value is below 1e-5 of the first, as where the rank is lower.
std::vector<double> principal_axes(const SparseRows& matrix, std::size_t n,
                                   std::uint32_t n_iterations, std::uint64_t seed);

// The cluster of each point (n_points x n_dimensions), by k-means from n_starts starts; a cluster
// may be empty where there are fewer distinct points.
std::vector<std::int32_t> k_means(std::span<const double> points, std::size_t n_dimensions,
                                  std::size_t n_clusters, std::uint32_t n_starts,
                                  std::uint32_t n_iterations, std::uint64_t seed);

}  // namespace newfound
