"""The words of a page and their columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.report.limits import Limits

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["choose", "rounded", "words"]


def choose(
    novelty: NDArray[np.float64], frequency: NDArray[np.int64], most: int
) -> NDArray[np.intp]:
    """Choose rows of the table of words: the most novel, the most known and the most frequent.

    If there are more than `most` words, five ninths are the most novel, a quarter the most known,
    and the rest the most frequent. They are sorted by novelty.

    Examples
    --------
    >>> novelty = np.array([3.0, 2.5, 2.0, 1.5, 1.0, 0.5, -1.0, -2.0, np.nan])
    >>> choose(novelty, np.array([1, 1, 1, 1, 1, 9, 1, 1, 9]), 6).tolist()
    [0, 1, 2, 3, 5, 7]
    """
    ranked = np.flatnonzero(~np.isnan(novelty))
    ranked = ranked[np.argsort(-novelty[ranked], kind="stable")]
    if len(ranked) <= most:
        return ranked
    n_novel, n_known = -(-most * 5 // 9), most // 4
    taken = np.zeros(len(novelty), bool)
    taken[ranked[:n_novel]] = True
    taken[ranked[len(ranked) - n_known :]] = True
    frequent = ranked[np.argsort(-frequency[ranked], kind="stable")]
    rest = frequent[~taken[frequent]][: most - int(taken.sum())]
    taken[rest] = True
    return ranked[taken[ranked]]


def words(description: Description, rows: NDArray[np.intp], limits: Limits) -> dict[str, Any]:
    """Return the columns of the words of a page, in the order of `rows`."""
    table = description.words.take(rows)
    columns = {
        "word": table["word"].tolist(),
        "side": table.sides.tolist(),
        "new": (table.sides == "novel").tolist(),
        **{
            name: [rounded(value) for value in table[name].tolist()]
            for name in ("novelty", "times", "low", "high", "q", "stability", "score")
        },
        **{
            name: table[name].tolist()
            for name in ("F_N", "F_K", "documents_novel", "documents_known", "group")
        },
        "forms": [list(forms[: limits.forms]) for forms in table["forms"]],
    }
    return {
        "columns": columns,
        "total": len(description.words),
        "new": int((description.words.sides == "novel").sum()),
        "several_machines": description.n_machines > 1,
    }


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Return a number with some significant digits; None if it is not finite.

    Examples
    --------
    >>> rounded(123.456), rounded(0.0012345678), rounded(float("nan"))
    (123.5, 0.001235, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")
