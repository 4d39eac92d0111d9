"""Many ranges of whole numbers as one array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["concatenated_ranges"]


def concatenated_ranges(starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of all ranges, one range after the other.

    Parameters
    ----------
    starts, sizes : ndarray of int
        The first number of each range, and how many numbers it has.

    Examples
    --------
    >>> concatenated_ranges(np.array([5, 1, 9]), np.array([2, 0, 3])).tolist()
    [5, 6, 9, 10, 11]
    """
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    found: NDArray[np.int64] = np.repeat(starts - ends + sizes, sizes) + np.arange(total)
    return found
