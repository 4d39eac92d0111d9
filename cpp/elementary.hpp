// Elementary functions that give the same bits everywhere. Those of the C library do not: it has
// several versions of each, and chooses one by processor. These use additions, multiplications,
// divisions and square roots only, in a fixed order; errors are about one unit in the last place.
#pragma once

#include <cstddef>

namespace newfound {

double exact_exp(double x);
void exact_exp(double* values, std::size_t n);  // of each, in their place
double exact_expm1(double x);
double exact_log(double x);
double exact_log1p(double x);

// x log y, 0 where x is 0.
double exact_xlogy(double x, double y);

// log(1 / (1 + exp(-x))), and 1 / (1 + exp(-x)).
double log_logistic(double x);
double logistic(double x);

// The logarithm of the gamma function, x > 0.
double log_gamma(double x);

// The point below which a standard normal number is with probability p.
double normal_quantile(double p);

// Laws of whole numbers. P(X >= k), X the number of successes: in n trials of probability p; among
// n that are drawn of `total`, `good` of which are successes; in n trials of a probability that
// itself has the law Beta(a, b). Counts are whole numbers from 0, those of a part at most those of
// the whole; a and b are at least 1.
double binomial_tail(double k, double n, double p);
double hypergeometric_tail(double k, double total, double good, double n);
double beta_binomial_tail(double k, double n, double a, double b);

}  // namespace newfound
