"""One thread for linear algebra: for baselines, whose libraries use BLAS."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

__all__ = ["one_blas_thread"]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    Several threads add numbers in another order, so the last digits would depend on their number;
    and for small matrices they mostly wait for each other.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     (np.ones((2, 2)) @ np.ones((2, 2))).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, user_api="blas")
    return limits
