// Arithmetic with the same bits everywhere, as functions of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "elementary.hpp"
#include "fixed_order.hpp"
#include "linear_models.hpp"
#include "text_scorer.hpp"

namespace newfound::python {

inline void check_finite(const double* values, std::size_t n) {
  check(std::all_of(values, values + n, [](double x) { return std::isfinite(x); }),
        "values must be finite");
}

// A sparse matrix, checked. Its structure is copied first, because other threads may change the
// arrays at any time; wrong values cannot lead outside of them.
class Sparse {
 public:
  Sparse(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
         const Array1<double>& values, std::size_t n_columns)
      : indptr_(indptr.data(), indptr.data() + indptr.shape(0)),
        indices_(indices.data(), indices.data() + indices.shape(0)),
        values_(values),
        n_columns_(n_columns) {
    check(!indptr_.empty() && values.shape(0) == indices_.size(), "the arrays do not fit");
    check(indptr_.front() == 0 && std::is_sorted(indptr_.begin(), indptr_.end()) &&
              indptr_.back() == static_cast<std::int64_t>(indices_.size()),
          "bounds must run from 0 to the number of entries");
    check_below(indices_, static_cast<std::int64_t>(n_columns), false);
    check_finite(values.data(), values.shape(0));
  }

  SparseRows rows() const {
    return {indptr_.data(), indices_.data(), values_.data(), n_rows(), n_columns_};
  }
  std::size_t n_rows() const { return indptr_.size() - 1; }

 private:
  std::vector<std::int64_t> indptr_;
  std::vector<std::int32_t> indices_;
  Array1<double> values_;
  std::size_t n_columns_;
};

// Whether the user has interrupted the program.
class Interruption {
 public:
  bool operator()() {
    if (seen_) return true;
    const nb::gil_scoped_acquire gil;
    seen_ = PyErr_CheckSignals() != 0;
    if (seen_) PyErr_Fetch(&type_, &value_, &trace_);
    return seen_;
  }
  void raise() {
    if (!seen_) return;
    PyErr_Restore(type_, value_, trace_);
    nb::raise_python_error();
  }

 private:
  bool seen_ = false;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

template <class Function, class... Arrays>
nb::object each(const Function& function, const Array1<double>& first, const Arrays&... others) {
  const std::size_t n = first.shape(0);
  check(((others.shape(0) == n) && ...), "the arrays must have the same length");
  std::vector<double> out(n);
  {
    const nb::gil_scoped_release release;
    for (std::size_t i = 0; i < n; ++i) out[i] = function(first.data()[i], others.data()[i]...);
  }
  return to_numpy(std::move(out), {n});
}

template <double (*function)(double)>
void bind_function(nb::module_& m, const char* name) {
  m.def(name, [](const Array1<double>& x) { return each(function, x); }, nb::arg("x"));
}

struct PyLinearTask {
  Sparse matrix;
  std::vector<std::int32_t> classes;
  Interruption interruption;
  LinearTask task;

  PyLinearTask(const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
               const Array1<double>& values, std::size_t n_columns,
               const Array1<std::int32_t>& codes, std::size_t n_classes, double C, bool intercept,
               double tolerance, std::uint32_t n_iterations)
      : matrix(indptr, indices, values, n_columns),
        classes(codes.data(), codes.data() + codes.shape(0)),
        task{matrix.rows(), classes.data(), n_classes,    C,
             intercept,     tolerance,      n_iterations, [this] { return interruption(); }} {
    check(classes.size() == matrix.n_rows(), "each row must have a class");
    check(n_classes >= 2, "there must be at least two classes");
    check(C > 0 && std::isfinite(C) && tolerance > 0, "C and the tolerance must be positive");
    check(n_classes <= classes.size(), "there must be a row for each class");
    check_below(classes, static_cast<std::int64_t>(n_classes), false);
  }

  nb::object result(LinearWeights&& found) {
    interruption.raise();
    return to_numpy(std::move(found.values), {task.rows.n_columns + 1, found.n_columns});
  }
};

inline void bind_arithmetic(nb::module_& m) {
  m.def(
      "exp",
      [](const Array1<double>& x) {
        const std::size_t n = x.shape(0);
        std::vector<double> out(x.data(), x.data() + n);
        {
          const nb::gil_scoped_release release;
          exact_exp(out.data(), n);
        }
        return to_numpy(std::move(out), {n});
      },
      nb::arg("x"));
  bind_function<exact_expm1>(m, "expm1");
  bind_function<exact_log>(m, "log");
  bind_function<exact_log1p>(m, "log1p");
  bind_function<logistic>(m, "logistic");
  bind_function<log_logistic>(m, "log_logistic");
  bind_function<log_gamma>(m, "log_gamma");
  bind_function<normal_quantile>(m, "normal_quantile");
  m.def(
      "xlogy",
      [](const Array1<double>& x, const Array1<double>& y) { return each(exact_xlogy, x, y); },
      nb::arg("x"), nb::arg("y"));
  m.def(
      "binomial_tail",
      [](const Array1<double>& k, const Array1<double>& n, const Array1<double>& p) {
        return each(binomial_tail, k, n, p);
      },
      nb::arg("k"), nb::arg("n"), nb::arg("p"));
  m.def(
      "hypergeometric_tail",
      [](const Array1<double>& k, const Array1<double>& total, const Array1<double>& good,
         const Array1<double>& n) { return each(hypergeometric_tail, k, total, good, n); },
      nb::arg("k"), nb::arg("total"), nb::arg("good"), nb::arg("n"));
  m.def("beta_binomial_tail", beta_binomial_tail, nb::arg("k"), nb::arg("n"), nb::arg("a"),
        nb::arg("b"));
  m.def(
      "dot",
      [](const Array1<double>& a, const Array1<double>& b) {
        check(a.shape(0) == b.shape(0), "the arrays must have the same length");
        return dot(a.data(), b.data(), a.shape(0));
      },
      nb::arg("a"), nb::arg("b"));
  m.def(
      "sparse_product",
      [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
         const Array1<double>& values, const Array2<double>& dense) {
        const Sparse matrix(indptr, indices, values, dense.shape(0));
        const std::size_t n = dense.shape(1);
        check(n == 0 || matrix.n_rows() <= SIZE_MAX / sizeof(double) / n,
              "the product is too large");
        std::vector<double> out(matrix.n_rows() * n, 0.0);
        {
          const nb::gil_scoped_release release;
          add_product(matrix.rows(), dense.data(), n, out.data());
        }
        return to_numpy(std::move(out), {matrix.n_rows(), n});
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("dense"));
  m.def(
      "principal_axes",
      [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
         const Array1<double>& values, std::size_t n_columns, std::size_t n,
         std::uint32_t n_iterations, std::uint64_t seed) {
        const Sparse matrix(indptr, indices, values, n_columns);
        check(n >= 1 && n <= std::min(matrix.n_rows(), n_columns),
              "there are no more axes than rows and columns");
        std::vector<double> out;
        {
          const nb::gil_scoped_release release;
          out = principal_axes(matrix.rows(), n, n_iterations, seed);
        }
        return to_numpy(std::move(out), {n_columns, n});
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("n_columns"), nb::arg("n"),
      nb::arg("n_iterations"), nb::arg("seed"));
  m.def(
      "k_means",
      [](const Array2<double>& points, std::size_t n_clusters, std::uint32_t n_starts,
         std::uint32_t n_iterations, std::uint64_t seed) {
        const std::size_t n = points.shape(0), d = points.shape(1);
        check(n >= 1 && d >= 1 && n_clusters >= 1 && n_clusters <= n && n_starts >= 1,
              "there must be points, and no more clusters than points");
        check_finite(points.data(), n * d);
        std::vector<std::int32_t> out;
        {
          const nb::gil_scoped_release release;
          out = k_means({points.data(), n * d}, d, n_clusters, n_starts, n_iterations, seed);
        }
        return to_numpy(std::move(out), {n});
      },
      nb::arg("points"), nb::arg("n_clusters"), nb::arg("n_starts"), nb::arg("n_iterations"),
      nb::arg("seed"));
  m.def(
      "logistic_regression",
      [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
         const Array1<double>& values, std::size_t n_columns, const Array1<std::int32_t>& classes,
         std::size_t n_classes, const Array1<double>& row_weights, double C, bool intercept,
         double tolerance, std::uint32_t n_iterations) {
        PyLinearTask made(indptr, indices, values, n_columns, classes, n_classes, C, intercept,
                          tolerance, n_iterations);
        check(row_weights.shape(0) == made.matrix.n_rows(), "each row must have a weight");
        LinearWeights found;
        {
          const nb::gil_scoped_release release;
          found = logistic_regression(made.task, row_weights.data());
        }
        return made.result(std::move(found));
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("n_columns"),
      nb::arg("classes"), nb::arg("n_classes"), nb::arg("row_weights"), nb::arg("C"),
      nb::arg("intercept"), nb::arg("tolerance"), nb::arg("n_iterations"));
  m.def(
      "support_vectors",
      [](const Array1<std::int64_t>& indptr, const Array1<std::int32_t>& indices,
         const Array1<double>& values, std::size_t n_columns, const Array1<std::int32_t>& classes,
         std::size_t n_classes, double C, bool intercept, double tolerance,
         std::uint32_t n_iterations, std::uint64_t seed) {
        PyLinearTask made(indptr, indices, values, n_columns, classes, n_classes, C, intercept,
                          tolerance, n_iterations);
        LinearWeights found;
        {
          const nb::gil_scoped_release release;
          found = support_vectors(made.task, seed);
        }
        return made.result(std::move(found));
      },
      nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("n_columns"),
      nb::arg("classes"), nb::arg("n_classes"), nb::arg("C"), nb::arg("intercept"),
      nb::arg("tolerance"), nb::arg("n_iterations"), nb::arg("seed"));
}

}  // namespace newfound::python
