"""Functions of numbers that give the same bits on every processor.

NumPy, SciPy and the C library have several versions of each elementary function and choose one by
processor; the versions differ in the last digit. What is compared, ranked or kept is therefore made
by the functions here, which the core computes in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound import _core

__all__ = [
    "beta_binomial_tail",
    "binomial_tail",
    "dot",
    "exp",
    "expm1",
    "hypergeometric_tail",
    "log",
    "log1p",
    "log_beta",
    "log_choose",
    "log_gamma",
    "log_logistic",
    "logistic",
    "logit",
    "norm",
    "normal_quantile",
    "power",
    "xlogy",
]

Floats = NDArray[np.float64]
Number = TypeVar("Number", float, NDArray[Any])  # a number gives a number, an array an array


def _each(function: Callable[..., Any], value: Number, *others: ArrayLike) -> Number:
    """Call a function of the core for each element; numbers give a number."""
    arrays = [np.asarray(each, np.float64) for each in (value, *others)]
    if others:
        arrays = list(np.broadcast_arrays(*arrays))
    results = function(*(np.ascontiguousarray(array).ravel() for array in arrays))
    of_each: Any = results.reshape(arrays[0].shape) if arrays[0].ndim else float(results[0])
    number: Number = of_each
    return number


def exp(x: Number) -> Number:
    """Return e to the power of x.

    Examples
    --------
    >>> exp(1.0)
    2.718281828459045
    """
    return _each(_core.exp, x)


def expm1(x: Number) -> Number:
    """Return exp(x) - 1, accurate also near 0."""
    return _each(_core.expm1, x)


def log(x: Number) -> Number:
    """Return the natural logarithm; -inf of 0 and nan of less, without a warning.

    Examples
    --------
    >>> log([1.0, 10.0]).tolist()
    [0.0, 2.302585092994046]
    """
    return _each(_core.log, x)


def log1p(x: Number) -> Number:
    """Return log(1 + x), accurate also near 0."""
    return _each(_core.log1p, x)


@overload
def power(x: float, y: float) -> float: ...
@overload
def power(x: ArrayLike, y: ArrayLike) -> Floats: ...
def power(x: Any, y: Any) -> Any:
    """Return x to the power of y, for x of at least 0.

    Examples
    --------
    >>> round(power(2.0, 0.5), 12), power(0.0, 0.5)
    (1.414213562373, 0.0)
    """
    return exp(xlogy(y, x))


@overload
def xlogy(x: float, y: float) -> float: ...
@overload
def xlogy(x: ArrayLike, y: ArrayLike) -> Floats: ...
def xlogy(x: Any, y: Any) -> Any:
    """Return x log(y), 0 where x is 0."""
    return _each(_core.xlogy, x, y)


def logistic(x: Number) -> Number:
    """Return the probability with log-odds x: 1 / (1 + exp(-x))."""
    return _each(_core.logistic, x)


def log_logistic(x: Number) -> Number:
    """Return the logarithm of `logistic`, accurate also where that is nearly 0 or 1."""
    return _each(_core.log_logistic, x)


def logit(p: float) -> float:
    """Return the log-odds of a probability."""
    return log(p) - log1p(-p)


def log_gamma(x: Number) -> Number:
    """Return the logarithm of the gamma function, x > 0.

    Examples
    --------
    >>> round(exp(log_gamma(5)), 9)
    24.0
    """
    return _each(_core.log_gamma, x)


def log_beta(a: ArrayLike, b: ArrayLike) -> Any:
    """Return the logarithm of the beta function."""
    one, other = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return log_gamma(one) + log_gamma(other) - log_gamma(one + other)


def log_choose(n: ArrayLike, k: ArrayLike) -> Any:
    """Return the logarithm of the number of ways to choose k of n."""
    there, chosen = np.asarray(n, np.float64), np.asarray(k, np.float64)
    return log_gamma(there + 1) - log_gamma(chosen + 1) - log_gamma(there - chosen + 1)


def normal_quantile(p: Number) -> Number:
    """Return the point below which a standard normal number is with probability p.

    Examples
    --------
    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return _each(_core.normal_quantile, p)


@overload
def binomial_tail(k: float, n: float, p: float) -> float: ...
@overload
def binomial_tail(k: ArrayLike, n: ArrayLike, p: ArrayLike) -> Floats: ...
def binomial_tail(k: Any, n: Any, p: Any) -> Any:
    """Return the probability of at least k successes in n trials of probability p.

    Examples
    --------
    >>> round(binomial_tail(2, 3, 0.5), 12)
    0.5
    """
    return _each(_core.binomial_tail, k, n, p)


@overload
def hypergeometric_tail(k: float, total: float, good: float, n: float) -> float: ...
@overload
def hypergeometric_tail(
    k: ArrayLike, total: ArrayLike, good: ArrayLike, n: ArrayLike
) -> Floats: ...
def hypergeometric_tail(k: Any, total: Any, good: Any, n: Any) -> Any:
    """Return the probability of at least k good ones among n that are drawn of a total.

    Examples
    --------
    >>> round(hypergeometric_tail(2, 4, 2, 2), 12)
    0.166666666667
    """
    return _each(_core.hypergeometric_tail, k, total, good, n)


def beta_binomial_tail(k: float, n: float, a: float, b: float) -> float:
    """Return the probability of at least k successes in n trials of a Beta(a, b) probability.

    Examples
    --------
    >>> round(beta_binomial_tail(3, 10, 1, 1), 12)
    0.727272727273
    """
    return _core.beta_binomial_tail(k, n, a, b)


def dot(a: ArrayLike, b: ArrayLike) -> float:
    """Return the sum of the products of two vectors."""
    one, other = (np.ascontiguousarray(each, np.float64) for each in (a, b))
    return _core.dot(one, other)


def norm(x: ArrayLike) -> float:
    """Return the length of a vector.

    Examples
    --------
    >>> norm([3, 4])
    5.0
    """
    return math.sqrt(dot(x, x))
