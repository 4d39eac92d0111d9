#include "fixed_order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels.hpp"
#include "random.hpp"

namespace newfound {
namespace {

constexpr std::size_t kOversampling = 10;
constexpr std::size_t kTile = 64;      // points that are compared together
constexpr double kNegligible = 1e-10;  // of the largest eigenvalue
constexpr double kNothingNew = 1e-13;  // of the square of a column: what rounding leaves of it
constexpr double kTolerance = 1e-4;    // of the mean variance, for the movement of centres

const Kernels& kernels() { return *available_kernels()[0]; }

// Numbers in (0, 1), one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : key_(mix64(seed, 0)) {}
  double next() { return to_unit(mix64(key_, ++count_)); }

 private:
  std::uint64_t key_, count_ = 0;
};

SparseRows transposed(const SparseRows& matrix, std::vector<std::int64_t>& indptr,
                      std::vector<std::int32_t>& indices, std::vector<double>& values) {
  const auto n_cells = static_cast<std::size_t>(matrix.indptr[matrix.n_rows]);
  indptr.assign(matrix.n_columns + 1, 0);
  indices.resize(n_cells);
  values.resize(n_cells);
  for (std::size_t c = 0; c < n_cells; ++c)
    ++indptr[static_cast<std::size_t>(matrix.indices[c]) + 1];
  std::partial_sum(indptr.begin(), indptr.end(), indptr.begin());
  std::vector<std::int64_t> next(indptr.begin(), indptr.end() - 1);
  for (std::size_t i = 0; i < matrix.n_rows; ++i)
    for (auto c = static_cast<std::size_t>(matrix.indptr[i]),
              end = static_cast<std::size_t>(matrix.indptr[i + 1]);
         c < end; ++c) {
      const auto place =
          static_cast<std::size_t>(next[static_cast<std::size_t>(matrix.indices[c])]++);
      indices[place] = static_cast<std::int32_t>(i);
      values[place] = matrix.values[c];
    }
  return {indptr.data(), indices.data(), values.data(), matrix.n_columns, matrix.n_rows};
}

// The products of all pairs of columns: n x n, the upper half only.
std::vector<double> gram(const std::vector<double>& rows, std::size_t n) {
  std::vector<double> out(n * n, 0.0);
  const auto add = kernels().add_rows;
  for (std::size_t r = 0; r < rows.size(); r += n)
    for (std::size_t i = 0; i < n; ++i)
      add(&out[i * n + i], n - i, &rows[r + i], nullptr, 1, &rows[r + i]);
  return out;
}

// Makes the columns orthonormal, by Cholesky's decomposition of their products. A column that the
// earlier ones explain becomes 0.
void orthonormalise(std::vector<double>& rows, std::size_t n) {
  std::vector<double> upper = gram(rows, n);
  const auto add = kernels().add_rows;
  std::vector<double> inverse(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double pivot = upper[i * n + i];
    double* row = &upper[i * n];
    double length = 0;
    for (std::size_t k = 0; k < i; ++k) length += upper[k * n + i] * upper[k * n + i];
    if (pivot <= kNothingNew * (pivot + length)) {
      std::fill(row + i, row + n, 0.0);
      continue;
    }
    const double root = std::sqrt(pivot);
    inverse[i] = 1 / root;
    for (std::size_t j = i; j < n; ++j) row[j] /= root;
    for (std::size_t k = i + 1; k < n; ++k) {
      const double weight = -row[k];
      add(&upper[k * n + k], n - k, &weight, nullptr, 1, row + k);
    }
  }
  for (std::size_t r = 0; r < rows.size(); r += n)
    for (std::size_t i = 0; i < n; ++i) {
      const double value = rows[r + i] *= inverse[i], weight = -value;
      add(rows.data() + r + i + 1, n - i - 1, &weight, nullptr, 1, upper.data() + i * n + i + 1);
    }
}

// Eigenvectors of a symmetric matrix (upper half), as rows, the largest eigenvalue first: Jacobi's
// rotations.
std::vector<double> eigenvectors(std::vector<double> a, std::size_t n,
                                 std::vector<double>& values) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) a[i * n + j] = a[j * n + i];
  std::vector<double> axes(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) axes[i * n + i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, all = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) (i == j ? all : off) += a[i * n + j] * a[i * n + j];
    if (off <= 1e-26 * all) break;
    for (std::size_t p = 0; p + 1 < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double between = a[p * n + q];
        if (between == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * between);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        double *row_p = &a[p * n], *row_q = &a[q * n];
        for (std::size_t k = 0; k < n; ++k) {
          const double x = row_p[k], y = row_q[k];
          row_p[k] = c * x - s * y;
          row_q[k] = s * x + c * y;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double x = a[k * n + p], y = a[k * n + q];
          a[k * n + p] = c * x - s * y;
          a[k * n + q] = s * x + c * y;
        }
        double *axis_p = &axes[p * n], *axis_q = &axes[q * n];
        for (std::size_t k = 0; k < n; ++k) {
          const double x = axis_p[k], y = axis_q[k];
          axis_p[k] = c * x - s * y;
          axis_q[k] = s * x + c * y;
        }
      }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return a[i * n + i] > a[j * n + j]; });
  std::vector<double> sorted;
  sorted.reserve(n * n);
  values.clear();
  for (const std::size_t i : order) {
    values.push_back(a[i * n + i]);
    sorted.insert(sorted.end(), axes.begin() + static_cast<std::ptrdiff_t>(i * n),
                  axes.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
  }
  return sorted;
}

// k-means of one start.
class Clustering {
 public:
  Clustering(std::span<const double> points, std::size_t n_dimensions, std::size_t n_clusters)
      : points_(points),
        d_(n_dimensions),
        k_(n_clusters),
        n_(points.size() / n_dimensions),
        squares_(n_),
        centres_(k_ * d_),
        columns_(k_ * d_),
        clusters_(n_, -1),
        distances_(n_),
        scores_(k_),
        lengths_(k_) {
    tiles_.resize((n_ + kTile - 1) / kTile * kTile * d_);
    for (std::size_t i = 0; i < n_; ++i) {
      squares_[i] = dot(point(i), point(i), d_);
      for (std::size_t j = 0; j < d_; ++j)
        tiles_[(i / kTile * d_ + j) * kTile + i % kTile] = point(i)[j];
    }
  }

  // Chooses points that are far from those chosen so far; of several draws the best one.
  void begin(Draws& draws) {
    clusters_.assign(n_, -1);
    distances_.assign(n_, std::numeric_limits<double>::infinity());
    const auto n_tries = static_cast<std::size_t>(2 + 2 * std::bit_width(k_) / 3);
    for (std::size_t c = 0; c < k_; ++c) {
      std::vector<std::size_t> drawn;
      const double total = c ? std::accumulate(distances_.begin(), distances_.end(), 0.0) : 0;
      for (std::size_t trial = 0; trial < (c ? n_tries : 1); ++trial) {
        const double share = draws.next();
        drawn.push_back(c ? at_distance(share * total)
                          : static_cast<std::size_t>(share * static_cast<double>(n_)));
      }
      std::copy_n(point(nearer(drawn)), d_, &centres_[c * d_]);
    }
  }

  // Returns the sum of squared distances.
  double run(std::uint32_t n_iterations, double tolerance) {
    bool changed = assign();
    for (std::uint32_t iteration = 0; changed && iteration < n_iterations; ++iteration) {
      const double moved = move();
      changed = assign() && moved > tolerance;
    }
    return std::accumulate(distances_.begin(), distances_.end(), 0.0);
  }

  const std::vector<std::int32_t>& clusters() const { return clusters_; }

 private:
  const double* point(std::size_t i) const { return &points_[i * d_]; }

  // The point at which the sum of the distances reaches a value.
  std::size_t at_distance(double left) const {
    std::size_t i = 0;
    while (i + 1 < n_ && (left -= distances_[i]) >= 0) ++i;
    return i;
  }

  // Returns the one of some points that is nearest to all, and lowers the distances by it.
  std::size_t nearer(const std::vector<std::size_t>& drawn) {
    const std::size_t n = drawn.size();
    std::vector<double> sums(n, 0.0), all(n * n_), products(kTile);
    const auto add = kernels().add_rows;
    for (std::size_t from = 0; from < n_; from += kTile)
      for (std::size_t t = 0; t < n; ++t) {
        std::fill(products.begin(), products.end(), 0.0);
        add(products.data(), kTile, point(drawn[t]), nullptr, d_, &tiles_[from * d_]);
        for (std::size_t i = from; i < std::min(from + kTile, n_); ++i) {
          const double distance = squares_[i] + squares_[drawn[t]] - 2 * products[i - from];
          sums[t] += all[t * n_ + i] = std::min(distances_[i], std::max(distance, 0.0));
        }
      }
    const auto best =
        static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    std::copy_n(&all[best * n_], n_, distances_.begin());
    return drawn[best];
  }

  bool assign() {
    for (std::size_t c = 0; c < k_; ++c) {
      lengths_[c] = dot(&centres_[c * d_], &centres_[c * d_], d_);
      for (std::size_t j = 0; j < d_; ++j) columns_[j * k_ + c] = -2 * centres_[c * d_ + j];
    }
    bool changed = false;
    const auto add = kernels().add_rows;
    for (std::size_t i = 0; i < n_; ++i) {
      std::copy(lengths_.begin(), lengths_.end(), scores_.begin());
      add(scores_.data(), k_, point(i), nullptr, d_, columns_.data());
      const auto nearest = std::min_element(scores_.begin(), scores_.end());
      const auto cluster = static_cast<std::int32_t>(nearest - scores_.begin());
      changed |= clusters_[i] != cluster;
      clusters_[i] = cluster;
      distances_[i] = std::max(squares_[i] + *nearest, 0.0);
    }
    return changed;
  }

  // Returns how far the centres move, squared. A centre without points goes to the point that is
  // farthest from its own.
  double move() {
    std::vector<double> old = centres_;
    std::vector<double> sizes(k_, 0.0);
    std::fill(centres_.begin(), centres_.end(), 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      const auto c = static_cast<std::size_t>(clusters_[i]);
      ++sizes[c];
      for (std::size_t j = 0; j < d_; ++j) centres_[c * d_ + j] += point(i)[j];
    }
    for (std::size_t c = 0; c < k_; ++c) {
      if (sizes[c] > 0) {
        for (std::size_t j = 0; j < d_; ++j) centres_[c * d_ + j] /= sizes[c];
        continue;
      }
      const auto farthest = static_cast<std::size_t>(
          std::max_element(distances_.begin(), distances_.end()) - distances_.begin());
      std::copy_n(point(farthest), d_, &centres_[c * d_]);
      distances_[farthest] = 0;
    }
    double moved = 0;
    for (std::size_t j = 0; j < k_ * d_; ++j)
      moved += (centres_[j] - old[j]) * (centres_[j] - old[j]);
    return moved;
  }

  std::span<const double> points_;
  std::size_t d_, k_, n_;
  std::vector<double> squares_, tiles_, centres_, columns_;
  std::vector<std::int32_t> clusters_;
  std::vector<double> distances_, scores_, lengths_;
};

}  // namespace

double dot(const double* a, const double* b, std::size_t n) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (std::size_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  for (std::size_t j = 0; i < n; ++i, ++j) sums[j] += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

void add_product(const SparseRows& matrix, const double* dense, std::size_t n, double* out) {
  const auto add = kernels().add_rows;
  for (std::size_t i = 0; i < matrix.n_rows; ++i) {
    const std::int64_t begin = matrix.indptr[i];
    add(out + i * n, n, matrix.values + begin, matrix.indices + begin, matrix.length(i), dense);
  }
}

std::vector<double> principal_axes(const SparseRows& matrix, std::size_t n,
                                   std::uint32_t n_iterations, std::uint64_t seed) {
  const std::size_t most = std::min(matrix.n_rows, matrix.n_columns);
  const std::size_t size = std::min(n + kOversampling, most);
  std::vector<std::int64_t> indptr;
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  const SparseRows by_column = transposed(matrix, indptr, indices, values);
  Draws draws(seed);
  std::vector<double> axes(matrix.n_columns * size), images;
  for (double& value : axes) value = draws.next() - 0.5;
  for (std::uint32_t iteration = 0; iteration <= n_iterations; ++iteration) {
    images.assign(matrix.n_rows * size, 0.0);
    add_product(matrix, axes.data(), size, images.data());
    orthonormalise(images, size);
    axes.assign(axes.size(), 0.0);
    add_product(by_column, images.data(), size, axes.data());
  }
  // The images are orthonormal, so that the axes have the singular values of the matrix as lengths
  // once they are turned to be orthogonal.
  std::vector<double> eigenvalues;
  const std::vector<double> turn = eigenvectors(gram(axes, size), size, eigenvalues);
  std::vector<double> columns(size * n, 0.0);  // turn, transposed, and scaled to unit length
  for (std::size_t a = 0; a < std::min(n, size); ++a)
    if (eigenvalues[a] > kNegligible * eigenvalues[0])
      for (std::size_t j = 0; j < size; ++j)
        columns[j * n + a] = turn[a * size + j] / std::sqrt(eigenvalues[a]);
  std::vector<double> found(matrix.n_columns * n, 0.0);
  for (std::size_t i = 0; i < matrix.n_columns; ++i)
    kernels().add_rows(&found[i * n], n, &axes[i * size], nullptr, size, columns.data());
  for (std::size_t a = 0; a < n; ++a) {
    double largest = 0;
    for (std::size_t i = 0; i < matrix.n_columns; ++i)
      if (std::abs(found[i * n + a]) > std::abs(largest)) largest = found[i * n + a];
    if (largest < 0)
      for (std::size_t i = 0; i < matrix.n_columns; ++i) found[i * n + a] = -found[i * n + a];
  }
  return found;
}

std::vector<std::int32_t> k_means(std::span<const double> points, std::size_t n_dimensions,
                                  std::size_t n_clusters, std::uint32_t n_starts,
                                  std::uint32_t n_iterations, std::uint64_t seed) {
  const std::size_t n = points.size() / n_dimensions;
  double spread = 0;
  for (std::size_t j = 0; j < n_dimensions; ++j) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) sum += points[i * n_dimensions + j];
    const double mean = sum / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double from_mean = points[i * n_dimensions + j] - mean;
      squares += from_mean * from_mean;
    }
    spread += squares / static_cast<double>(n);
  }
  const double tolerance = kTolerance * spread / static_cast<double>(n_dimensions);
  Clustering clustering(points, n_dimensions, n_clusters);
  std::vector<std::int32_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t start = 0; start < n_starts; ++start) {
    Draws draws(mix64(seed, start));
    clustering.begin(draws);
    const double inertia = clustering.run(n_iterations, tolerance);
    if (inertia < least || best.empty()) {
      least = inertia;
      best = clustering.clusters();
    }
  }
  return best;
}

}  // namespace newfound
