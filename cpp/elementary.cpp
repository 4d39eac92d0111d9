#include "elementary.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "exponential.hpp"
#include "kernels.hpp"

namespace newfound {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kWithin = 708;  // of exp_within
constexpr double kRoot = 1.4142135623730951;
constexpr double kHalfLogTwoPi = 0.91893853320467274178;
constexpr int kFactorials = 15;  // 15! and 2^k times it are exact

// The error of Stirling's formula: log n! = (n + 1/2) log n - n + log(2 pi) / 2 + this.
double stirling_error(double n) {
  if (n <= kFactorials && n == std::floor(n)) {
    static const std::array<double, kFactorials + 1> table = [] {
      std::array<double, kFactorials + 1> out{};
      double factorial = 1;
      for (int i = 1; i <= kFactorials; ++i) {
        factorial *= i;
        out[static_cast<std::size_t>(i)] =
            exact_log(factorial) - (i + 0.5) * exact_log(i) + i - kHalfLogTwoPi;
      }
      return out;
    }();
    return table[static_cast<std::size_t>(n)];
  }
  const double r = 1 / (n * n);
  return (1.0 / 12 -
          r * (1.0 / 360 -
               r * (1.0 / 1260 - r * (1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360)))))) /
         n;
}

// x log(x / m) + m - x, also where x and m are nearly the same.
double deviance(double x, double m) {
  if (std::abs(x - m) < 0.1 * (x + m)) {
    const double v = (x - m) / (x + m);
    double sum = (x - m) * v, power = 2 * x * v;
    for (int j = 3; j < 1000; j += 2) {
      power *= v * v;
      const double next = sum + power / j;
      if (next == sum) break;
      sum = next;
    }
    return sum;
  }
  return x * exact_log(x / m) + m - x;
}

// The probability of k successes in n trials of probability p = 1 - q, by the saddle point (Loader,
// 2000), which is accurate also for millions of trials.
double binomial_point(double k, double n, double p, double q) {
  if (k < 0 || k > n) return 0;
  if (p == 0) return k == 0 ? 1 : 0;
  if (q == 0) return k == n ? 1 : 0;
  if (k == 0) return exact_exp(p < 0.1 ? n * exact_log1p(-p) : n * exact_log(q));
  if (k == n) return exact_exp(q < 0.1 ? n * exact_log1p(-q) : n * exact_log(p));
  const double rest = stirling_error(n) - stirling_error(k) - stirling_error(n - k) -
                      deviance(k, n * p) - deviance(n - k, n * q);
  return exact_exp(rest) * std::sqrt(n / (2 * 3.14159265358979323846 * k * (n - k)));
}

// P(X >= k) of a law on [least, most] with one mode: its point at k, and how the probability
// changes from x to x + 1. Sums on the side of k that is away from the mode.
template <class Ratio>
double tail(double k, double least, double most, double mean, double point, const Ratio& ratio) {
  double sum = 0, term = point;
  if (k >= mean) {
    for (double x = k; x <= most && term > 0; ++x) {
      const double next = sum + term;
      if (next == sum) break;
      sum = next;
      term *= ratio(x);
    }
    return sum < 1 ? sum : 1;
  }
  for (double x = k - 1; x >= least; --x) {  // below k
    term /= ratio(x);
    const double next = sum + term;
    if (next == sum) break;
    sum = next;
  }
  return sum < 1 ? 1 - sum : 0;
}

double polynomial(const std::array<double, 8>& coefficients, double x) {
  double sum = coefficients[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + coefficients[static_cast<std::size_t>(i)];
  return sum;
}

}  // namespace

double exact_exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.782712893384) return kInfinity;
  if (x < -745.1332191019412) return 0;
  // Beyond the range of exp_within: in two steps of which the second is a power of two.
  if (x > kWithin) return exp_within(x - 64 * kLog2High) * (1 - 64 * kLog2Low) * 0x1p64;
  if (x < -kWithin) return exp_within(x + 64 * kLog2High) * (1 + 64 * kLog2Low) * 0x1p-64;
  return exp_within(x);
}

void exact_exp(double* values, std::size_t n) {
  constexpr std::size_t kBlock = 256;
  for (std::size_t from = 0; from < n; from += kBlock) {
    const std::size_t end = from + kBlock < n ? from + kBlock : n;
    bool within = true;
    for (std::size_t i = from; i < end; ++i) within &= std::abs(values[i]) <= kWithin;
    if (within)
      available_kernels()[0]->exp_all(values + from, end - from);
    else
      for (std::size_t i = from; i < end; ++i) values[i] = exact_exp(values[i]);
  }
}

double exact_expm1(double x) {
  if (std::abs(x) < 0.34) return x + x * x * exp_rest(x);
  return exact_exp(x) - 1;
}

double exact_log(double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  if (x <= 0) return x == 0 ? -kInfinity : kNan;
  std::int64_t k = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<std::uint64_t>(x);
  k += static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > kRoot) {
    m /= 2;
    ++k;
  }
  // log(1 + f) = 2 artanh(s), s = f / (2 + f): f - s (f - series), where the series is small.
  const double f = m - 1, s = f / (2 + f), z = s * s;
  double series = 2.0 / 25;
  for (const double odd : {23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0})
    series = series * z + 2.0 / odd;
  series *= z;
  const auto times = static_cast<double>(k);
  const double half = 0.5 * f * f;
  return times * kLog2High - ((half - (s * (half + series) + times * kLog2Low)) - f);
}

double exact_log1p(double x) {
  if (std::abs(x) < 0x1p-53) return x;
  const double u = 1 + x;
  if (u <= 0 || std::isnan(u) || u == kInfinity) return exact_log(u);
  return exact_log(u) - ((u - 1) - x) / u;
}

double exact_xlogy(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * exact_log(y); }

double log_logistic(double x) {
  return x < 0 ? x - exact_log1p(exact_exp(x)) : -exact_log1p(exact_exp(-x));
}

double logistic(double x) {
  if (x >= 0) return 1 / (1 + exact_exp(-x));
  const double e = exact_exp(x);
  return e / (1 + e);
}

double log_gamma(double x) {
  if (std::isnan(x) || x == kInfinity) return x;
  if (x <= 0) return kInfinity;
  double product = 1;
  while (x < 15) product *= x++;
  const double value = (x - 0.5) * exact_log(x) - x + kHalfLogTwoPi + stirling_error(x);
  return product == 1 ? value : value - exact_log(product);
}

// Algorithm AS 241 of Wichura (1988).
double normal_quantile(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return kNan;
  if (p == 0) return -kInfinity;
  if (p == 1) return kInfinity;
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    constexpr std::array<double, 8> above{3.3871328727963666080e0, 1.3314166789178437745e2,
                                          1.9715909503065514427e3, 1.3731693765509461125e4,
                                          4.5921953931549871457e4, 6.7265770927008700853e4,
                                          3.3430575583588128105e4, 2.5090809287301226727e3};
    constexpr std::array<double, 8> below{1,
                                          4.2313330701600911252e1,
                                          6.8718700749205790830e2,
                                          5.3941960214247511077e3,
                                          2.1213794301586595867e4,
                                          3.9307895800092710610e4,
                                          2.8729085735721942674e4,
                                          5.2264952788528545610e3};
    const double r = 0.180625 - q * q;
    return q * polynomial(above, r) / polynomial(below, r);
  }
  const double r = std::sqrt(-exact_log(q < 0 ? p : 1 - p));
  double value;
  if (r <= 5) {
    constexpr std::array<double, 8> above{1.42343711074968357734e0,  4.63033784615654529590e0,
                                          5.76949722146069140550e0,  3.64784832476320460504e0,
                                          1.27045825245236838258e0,  2.41780725177450611770e-1,
                                          2.27238449892691845833e-2, 7.74545014278341407640e-4};
    constexpr std::array<double, 8> below{1,
                                          2.05319162663775882187e0,
                                          1.67638483018380384940e0,
                                          6.89767334985100004550e-1,
                                          1.48103976427480074590e-1,
                                          1.51986665636164571966e-2,
                                          5.47593808499534494600e-4,
                                          1.05075007164441684324e-9};
    value = polynomial(above, r - 1.6) / polynomial(below, r - 1.6);
  } else {
    constexpr std::array<double, 8> above{6.65790464350110377720e0,  5.46378491116411436990e0,
                                          1.78482653991729133580e0,  2.96560571828504891230e-1,
                                          2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                          2.71155556874348757815e-5, 2.01033439929228813265e-7};
    constexpr std::array<double, 8> below{1,
                                          5.99832206555887937690e-1,
                                          1.36929880922735805310e-1,
                                          1.48753612908506148525e-2,
                                          7.86869131145613259100e-4,
                                          1.84631831751005468180e-5,
                                          1.42151175831644588870e-7,
                                          2.04426310338993978564e-15};
    value = polynomial(above, r - 5) / polynomial(below, r - 5);
  }
  return q < 0 ? -value : value;
}

double binomial_tail(double k, double n, double p) {
  if (std::isnan(k + n + p)) return kNan;
  if (k <= 0) return 1;
  if (k > n || p <= 0) return 0;
  if (p >= 1) return 1;
  const double q = 1 - p;
  return tail(k, 0, n, n * p, binomial_point(k, n, p, q),
              [=](double x) { return (n - x) / (x + 1) * (p / q); });
}

double hypergeometric_tail(double k, double total, double good, double n) {
  if (std::isnan(k + total + good + n)) return kNan;
  const double bad = total - good, least = n - bad > 0 ? n - bad : 0, most = n < good ? n : good;
  if (k <= least) return 1;
  if (k > most) return 0;
  const double p = n / total, q = (total - n) / total;
  const double point = binomial_point(k, good, p, q) * binomial_point(n - k, bad, p, q) /
                       binomial_point(n, total, p, q);
  return tail(k, least, most, n * (good / total), point,
              [=](double x) { return (good - x) / (x + 1) * ((n - x) / (bad - n + x + 1)); });
}

double beta_binomial_tail(double k, double n, double a, double b) {
  if (std::isnan(k + n + a + b)) return kNan;
  if (k <= 0) return 1;
  if (k > n) return 0;
  const auto log_beta = [](double x, double y) {
    return log_gamma(x) + log_gamma(y) - log_gamma(x + y);
  };
  const double log_choose = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
  const double point = exact_exp(log_choose + log_beta(k + a, n - k + b) - log_beta(a, b));
  return tail(k, 0, n, n * (a / (a + b)), point,
              [=](double x) { return (n - x) / (x + 1) * ((x + a) / (n - x - 1 + b)); });
}

}  // namespace newfound
