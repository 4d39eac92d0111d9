#include "linear_models.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <utility>

#include "elementary.hpp"
#include "kernels.hpp"
#include "random.hpp"

namespace newfound {
namespace {

constexpr std::size_t kMemory = 10;                   // steps that L-BFGS remembers
constexpr double kDecrease = 1e-4, kCurvature = 0.9;  // of Wolfe's conditions
constexpr int kMostTrials = 30;                       // of a line search

using Vector = std::vector<double>;

void add(double weight, const Vector& from, Vector& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * from[i];
}

double dot(const Vector& a, const Vector& b) { return newfound::dot(a.data(), b.data(), a.size()); }

// The mean loss of logistic regression, and its gradient.
class LogisticLoss {
 public:
  LogisticLoss(const LinearTask& task, const double* row_weights)
      : task_(task),
        row_weights_(row_weights),
        n_columns_(task.n_classes == 2 ? 1 : task.n_classes),
        size_((task.rows.n_columns + task.intercept) * n_columns_),
        total_(std::accumulate(row_weights, row_weights + task.rows.n_rows, 0.0)),
        scores_(n_columns_) {}

  std::size_t size() const { return size_; }
  std::size_t n_columns() const { return n_columns_; }

  double operator()(const Vector& weights, Vector& gradient) {
    const SparseRows& rows = task_.rows;
    const auto add_rows = available_kernels()[0]->add_rows;
    const std::size_t n = n_columns_, shrunk = rows.n_columns * n;
    gradient.assign(size_, 0.0);
    double loss = 0;
    for (std::size_t i = 0; i < rows.n_rows; ++i) {
      const std::int64_t begin = rows.indptr[i];
      const std::int32_t* places = rows.indices + begin;
      const double* values = rows.values + begin;
      const std::size_t length = rows.length(i);
      if (task_.intercept)
        std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(shrunk), n, scores_.begin());
      else
        std::fill(scores_.begin(), scores_.end(), 0.0);
      if (n == 1)
        for (std::size_t t = 0; t < length; ++t)
          scores_[0] += values[t] * weights[static_cast<std::size_t>(places[t])];
      else
        add_rows(scores_.data(), n, values, places, length, weights.data());
      loss += row_weights_[i] * replace_by_slopes(task_.classes[i]);
      for (double& slope : scores_) slope *= row_weights_[i];
      if (n == 1)
        for (std::size_t t = 0; t < length; ++t)
          gradient[static_cast<std::size_t>(places[t])] += values[t] * scores_[0];
      else
        for (std::size_t t = 0; t < length; ++t)
          add_rows(&gradient[static_cast<std::size_t>(places[t]) * n], n, values + t, nullptr, 1,
                   scores_.data());
      if (task_.intercept)
        for (std::size_t c = 0; c < n; ++c) gradient[shrunk + c] += scores_[c];
    }
    const double shrinkage = 1 / task_.C;
    for (std::size_t j = 0; j < shrunk; ++j) gradient[j] += shrinkage * weights[j];
    for (double& slope : gradient) slope /= total_;
    const double square = newfound::dot(weights.data(), weights.data(), shrunk);
    return (loss + 0.5 * shrinkage * square) / total_;
  }

 private:
  // Returns the loss of one row, and replaces its scores by the slopes of the loss.
  double replace_by_slopes(std::int32_t own) {
    if (n_columns_ == 1) {
      const double score = own ? scores_[0] : -scores_[0], miss = logistic(-score);
      scores_[0] = own ? -miss : miss;
      return -log_logistic(score);
    }
    const double most = *std::max_element(scores_.begin(), scores_.end());
    const double right = scores_[static_cast<std::size_t>(own)];
    double sum = 0;
    for (double& score : scores_) score -= most;
    exact_exp(scores_.data(), scores_.size());
    for (const double score : scores_) sum += score;
    for (double& score : scores_) score /= sum;
    scores_[static_cast<std::size_t>(own)] -= 1;
    return exact_log(sum) + most - right;
  }

  const LinearTask& task_;
  const double* row_weights_;
  std::size_t n_columns_, size_;
  double total_;
  Vector scores_;
};

// A place on the line from a point along a direction.
struct Step {
  double length = 0, value = 0, slope = 0;
};

// Where the cubic that fits two places has its minimum, kept away from their ends.
double between(const Step& a, const Step& b) {
  const double d = a.slope + b.slope - 3 * (a.value - b.value) / (a.length - b.length);
  const double square = d * d - a.slope * b.slope;
  double found = 0.5 * (a.length + b.length);
  if (square >= 0) {
    const double root = a.length < b.length ? std::sqrt(square) : -std::sqrt(square);
    const double below = b.slope - a.slope + 2 * root;
    if (below != 0) found = b.length - (b.length - a.length) * ((b.slope + root - d) / below);
  }
  const double low = std::min(a.length, b.length), high = std::max(a.length, b.length);
  const double margin = 0.1 * (high - low);
  return std::isfinite(found) ? std::clamp(found, low + margin, high - margin) : 0.5 * (low + high);
}

// Minimises a smooth function by L-BFGS with a line search by Wolfe's conditions (Nocedal and
// Wright, 2006, algorithms 3.5, 3.6 and 7.4).
template <class Function>
void minimise(Function& function, const LinearTask& task, Vector& x) {
  struct Pair {
    Vector step, change;
    double product;
  };
  std::deque<Pair> pairs;
  Vector gradient, direction, point(x.size()), slopes;
  double value = function(x, gradient);
  for (std::uint32_t iteration = 0; iteration < task.n_iterations && !task.stopped(); ++iteration) {
    double steepest = 0;
    for (const double slope : gradient) steepest = std::max(steepest, std::abs(slope));
    if (steepest <= task.tolerance) return;
    direction = gradient;
    std::vector<double> shares;
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
      shares.push_back(dot(pair->step, direction) / pair->product);
      add(-shares.back(), pair->change, direction);
    }
    if (!pairs.empty()) {
      const double scale = pairs.back().product / dot(pairs.back().change, pairs.back().change);
      for (double& part : direction) part *= scale;
    }
    for (const Pair& pair : pairs) {
      add(shares.back() - dot(pair.change, direction) / pair.product, pair.step, direction);
      shares.pop_back();
    }
    for (double& part : direction) part = -part;
    const Step start{0, value, dot(gradient, direction)};
    if (start.slope >= 0) return;
    const auto at = [&](double length) {
      point = x;
      add(length, direction, point);
      Step step{length, function(point, slopes), 0};
      step.slope = dot(slopes, direction);
      return step;
    };
    const auto falls = [&](const Step& step) {
      return step.value <= start.value + kDecrease * step.length * start.slope;
    };
    Step low = start, high{}, found{};
    bool bracketed = false, done = false;
    double length = pairs.empty() ? std::min(1.0, 1 / std::sqrt(dot(gradient, gradient))) : 1.0;
    for (int trial = 0; trial < kMostTrials && !done; ++trial) {
      found = at(bracketed ? between(low, high) : length);
      if (!falls(found) || ((bracketed || low.length > 0) && found.value >= low.value)) {
        high = found;
        bracketed = true;
        continue;
      }
      if (std::abs(found.slope) <= -kCurvature * start.slope) {
        done = true;
      } else if (bracketed ? found.slope * (high.length - low.length) >= 0 : found.slope >= 0) {
        high = low;
        bracketed = true;
      }
      low = found;
      length *= 2;
    }
    if (!done) {
      if (low.length == 0) return;  // as far as the digits go
      found = at(low.length);
    }
    Pair pair{point, slopes, 0};
    add(-1, x, pair.step);
    add(-1, gradient, pair.change);
    pair.product = dot(pair.step, pair.change);
    const double before = value;
    x.swap(point);
    gradient.swap(slopes);
    value = found.value;
    const double scale = std::max({std::abs(before), std::abs(value), 1.0});
    if (before - value <= 64 * std::numeric_limits<double>::epsilon() * scale) return;
    if (pair.product > 0) {
      if (pairs.size() == kMemory) pairs.pop_front();
      pairs.push_back(std::move(pair));
    }
  }
}

// One support vector machine: the class `own` against all others.
class Machine {
 public:
  Machine(const LinearTask& task, const Vector& squares, std::int32_t own, std::uint64_t key)
      : task_(task), squares_(squares), own_(own), key_(key) {}

  // Returns the weights of the features and the intercept.
  Vector learn() {
    const SparseRows& rows = task_.rows;
    const double diagonal = 0.5 / task_.C, infinity = std::numeric_limits<double>::infinity();
    Vector weights(rows.n_columns + 1, 0.0), alpha(rows.n_rows, 0.0);
    double& intercept = weights.back();
    std::vector<std::uint32_t> order(rows.n_rows);
    std::iota(order.begin(), order.end(), 0U);
    std::size_t active = order.size();
    double bound = infinity;  // of the gradients of the last round
    std::uint64_t draw = 0;
    for (std::uint32_t round = 0; round < task_.n_iterations; ++round) {
      if (task_.stopped()) break;
      for (std::size_t i = 0; i + 1 < active; ++i) {
        const auto other = static_cast<std::size_t>(to_unit(mix64(key_, ++draw)) *
                                                    static_cast<double>(active - i));
        std::swap(order[i], order[i + other]);
      }
      double most = -infinity, least = infinity;
      for (std::size_t at = 0; at < active; ++at) {
        const std::uint32_t i = order[at];
        const std::int64_t begin = rows.indptr[i];
        const std::int32_t* places = rows.indices + begin;
        const double *values = rows.values + begin, sign = task_.classes[i] == own_ ? 1 : -1;
        const std::size_t length = rows.length(i);
        double score = task_.intercept ? intercept : 0.0;
        for (std::size_t t = 0; t < length; ++t)
          score += values[t] * weights[static_cast<std::size_t>(places[t])];
        const double slope = sign * score - 1 + alpha[i] * diagonal;
        if (alpha[i] == 0) {
          if (slope > bound) {  // will hardly change any more
            std::swap(order[at--], order[--active]);
            continue;
          }
          if (slope >= 0) {
            most = std::max(most, 0.0);
            least = std::min(least, 0.0);
            continue;
          }
        }
        most = std::max(most, slope);
        least = std::min(least, slope);
        const double before = alpha[i];
        alpha[i] = std::max(before - slope / (squares_[i] + diagonal), 0.0);
        const double change = sign * (alpha[i] - before);
        if (change == 0) continue;
        for (std::size_t t = 0; t < length; ++t)
          weights[static_cast<std::size_t>(places[t])] += change * values[t];
        if (task_.intercept) intercept += change;
      }
      if (most - least <= task_.tolerance) {
        if (active == order.size()) break;
        active = order.size();  // look at all of them again
        bound = infinity;
      } else {
        bound = most > 0 ? most : infinity;
      }
    }
    return weights;
  }

 private:
  const LinearTask& task_;
  const Vector& squares_;
  std::int32_t own_;
  std::uint64_t key_;
};

}  // namespace

LinearWeights logistic_regression(const LinearTask& task, const double* row_weights) {
  LogisticLoss loss(task, row_weights);
  Vector weights(loss.size(), 0.0);
  minimise(loss, task, weights);
  weights.resize((task.rows.n_columns + 1) * loss.n_columns(), 0.0);
  return {loss.n_columns(), std::move(weights)};
}

LinearWeights support_vectors(const LinearTask& task, std::uint64_t seed) {
  const SparseRows& rows = task.rows;
  Vector squares(rows.n_rows, task.intercept ? 1.0 : 0.0);
  for (std::size_t i = 0; i < rows.n_rows; ++i)
    squares[i] += dot(rows.values + rows.indptr[i], rows.values + rows.indptr[i], rows.length(i));
  const std::size_t n = task.n_classes == 2 ? 1 : task.n_classes;
  LinearWeights found{n, Vector((rows.n_columns + 1) * n)};
  for (std::size_t c = 0; c < n; ++c) {
    const auto own = static_cast<std::int32_t>(n == 1 ? 1 : c);
    const Vector weights = Machine(task, squares, own, mix64(seed, c)).learn();
    for (std::size_t j = 0; j < weights.size(); ++j) found.values[j * n + c] = weights[j];
  }
  return found;
}

}  // namespace newfound
