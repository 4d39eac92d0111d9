// Arithmetic gives the same bits on every processor: the sums of all instruction sets are compared,
// and the digits of everything else have kept hashes.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "elementary.hpp"
#include "fixed_order.hpp"
#include "kernels.hpp"
#include "linear_models.hpp"
#include "random.hpp"

namespace {

using namespace newfound;

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what.c_str());
  std::exit(1);
}

double draw(std::uint64_t key, std::uint64_t place) { return to_unit(mix64(key, place)); }

std::uint64_t hash_of(const std::vector<double>& values) {
  std::uint64_t hash = values.size();
  for (const double value : values) hash = mix64(hash, std::bit_cast<std::uint64_t>(value));
  return hash;
}

// The same on every processor: whoever changes a function on purpose replaces the numbers in
// main(); nobody else may.
void check_hash(const std::vector<double>& values, std::uint64_t expected, const char* name) {
  const std::uint64_t hash = hash_of(values);
  std::printf("%s: 0x%016llXULL\n", name, static_cast<unsigned long long>(hash));
  require(hash == expected, std::string(name) + ": other digits than on other processors");
}

void check_sums_of_all_instruction_sets() {
  const Kernels& plain = *find_kernels("plain");
  for (std::size_t n = 1; n <= 150; n += n < 40 ? 1 : 37) {
    std::vector<double> rows(20 * n), weights(12), start(n);
    std::vector<std::int32_t> places;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = draw(n, i) - 0.5;
    for (std::size_t t = 0; t < weights.size(); ++t) {
      weights[t] = draw(n + 1000, t) * 1e3;
      places.push_back(static_cast<std::int32_t>(mix64(n, t) % 20));
    }
    for (std::size_t j = 0; j < n; ++j) start[j] = draw(n + 2000, j);
    for (const std::int32_t* chosen : {static_cast<const std::int32_t*>(nullptr),
                                       static_cast<const std::int32_t*>(places.data())}) {
      std::vector<double> expected = start;
      plain.add_rows(expected.data(), n, weights.data(), chosen, weights.size(), rows.data());
      for (const Kernels* const* k = available_kernels(); *k; ++k) {
        std::vector<double> found = start;
        (*k)->add_rows(found.data(), n, weights.data(), chosen, weights.size(), rows.data());
        require(hash_of(found) == hash_of(expected), std::string("sums of ") + (*k)->name);
      }
    }
  }
}

void check_exponentials_of_all_instruction_sets() {
  std::vector<double> x(1003), expected;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1400 * (draw(4, i) - 0.5);
  for (const double value : x) expected.push_back(exact_exp(value));
  for (const Kernels* const* k = available_kernels(); *k; ++k) {
    std::vector<double> found = x;
    (*k)->exp_all(found.data(), found.size());
    require(hash_of(found) == hash_of(expected), std::string("exponentials of ") + (*k)->name);
  }
}

std::vector<double> elementary_values() {
  std::vector<double> out;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const double u = draw(1, i), x = 80 * (u - 0.5), y = exact_exp(x);
    out.insert(out.end(), {y, exact_expm1(x / 40), exact_log(y), exact_log1p(x / 81), logistic(x),
                           log_logistic(x), log_gamma(y), normal_quantile(u)});
    const auto n = static_cast<double>(mix64(2, i) % 2000 + 1);
    const double k = static_cast<double>(static_cast<int>(u * n)), p = draw(3, i);
    out.insert(out.end(),
               {binomial_tail(k, n, p), hypergeometric_tail(static_cast<int>(k / 2), 2 * n, n, k),
                beta_binomial_tail(k, n, 1 + x * x, 5)});
  }
  for (const double x : {708.5, 709.7, -708.5, -744.0, 5e-324, 1e-310})
    out.insert(out.end(), {exact_exp(x), exact_log(std::abs(x)), exact_expm1(x)});
  return out;
}

struct Task {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices, classes;
  std::vector<double> values;
  SparseRows rows() const { return {indptr.data(), indices.data(), values.data(), 90, 40}; }
  LinearTask linear(std::size_t n_classes, std::vector<std::int32_t>& codes) const {
    codes = classes;
    for (std::int32_t& code : codes) code %= static_cast<std::int32_t>(n_classes);
    return {rows(), codes.data(), n_classes, 3.0, true, 1e-4, 200, [] { return false; }};
  }
};

Task make_task() {
  Task task;
  for (std::uint64_t i = 0; i < 90; ++i) {
    for (std::uint64_t j = 0; j < 40; ++j)
      if (draw(i, j) < (j % 3 == i % 3 ? 0.4 : 0.1)) {
        task.indices.push_back(static_cast<std::int32_t>(j));
        task.values.push_back(draw(i + 500, j));
      }
    task.indptr.push_back(static_cast<std::int64_t>(task.indices.size()));
    task.classes.push_back(static_cast<std::int32_t>(i % 3));
  }
  return task;
}

}  // namespace

int main() {
  check_sums_of_all_instruction_sets();
  check_exponentials_of_all_instruction_sets();
  check_hash(elementary_values(), 0xD15BD216AF9B00F8ULL, "elementary functions and tails");
  const Task task = make_task();
  const std::vector<double> axes = principal_axes(task.rows(), 7, 3, 1);
  check_hash(axes, 0x7ABAA97EF42DE198ULL, "principal axes");
  std::vector<double> points(std::size_t{90} * 7, 0.0);
  add_product(task.rows(), axes.data(), 7, points.data());
  const std::vector<std::int32_t> clusters = k_means(points, 7, 5, 3, 50, 1);
  check_hash({clusters.begin(), clusters.end()}, 0xE8A224428BD55DD9ULL, "k-means");
  std::vector<std::int32_t> codes;
  const std::vector<double> weights(90, 1.5);
  for (const std::size_t n : {std::size_t{2}, std::size_t{3}}) {
    const LinearTask linear = task.linear(n, codes);
    check_hash(logistic_regression(linear, weights.data()).values,
               n == 2 ? 0xFC93ED6A060CFAD8ULL : 0x793AD2F39A9666F2ULL, "logistic regression");
    check_hash(support_vectors(linear, 1).values,
               n == 2 ? 0xE79864734A2A9B57ULL : 0x0DD4F59539B89A0BULL, "support vectors");
  }
  std::puts("all passed");
}
