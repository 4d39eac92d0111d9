"""Two piles made equal in a column, such as the source or the region of their documents.

Where one pile has more documents of a source than the other, the words of that source are new, and
nothing happened. Here documents are left out at random until each value of the column has the same
ratio of known to novel documents. Words, rules, themes, shares and chance are then all those of
piles that do not differ in the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.marks import counted
from newfound.text.documents import Documents
from newfound.text.records import DocumentError

__all__ = ["Matched", "matched", "matched_rows"]


@dataclass(frozen=True)
class Matched:
    """Documents of both sides with the same shares of each value of a column.

    Attributes
    ----------
    known, novel : Documents
        The documents that are left.
    summary : str
        What was left out, in a sentence.
    """

    known: Documents
    novel: Documents
    summary: str


def matched(known: Documents, novel: Documents, column: str) -> Matched:
    """Return the documents of both sides that can be compared within each value of a column.

    Examples
    --------
    >>> first = Documents(tuple("abcdef"), tuple("012345"), columns={"by": tuple("xxxxyy")})
    >>> second = Documents(tuple("ghij"), tuple("0123"), columns={"by": tuple("xxyz")})
    >>> found = matched(first, second, "by")
    >>> len(found.known), len(found.novel), found.novel.columns["by"]
    (6, 3, ('x', 'x', 'y'))
    >>> found.summary
    'Held by constant: compared are 6 of 6 known and 3 of 4 novel documents, in 2 of 3 values.'
    """
    piles = {"known": known, "novel": novel}
    for side, pile in piles.items():
        if column not in pile.columns:
            has = ", ".join(pile.columns) or "no other columns"
            raise DocumentError(
                f"The {side} documents have no column {column!r}; they have: {has}."
            )
    values = [list(map(_name, pile.columns[column])) for pile in piles.values()]
    kept = matched_rows(*values)
    if not all(map(len, kept)):
        raise DocumentError(
            f"No value of {column!r} has documents of both sides, so nothing can be compared "
            "within it; leave it out."
        )
    left = [pile.take(rows.tolist()) for pile, rows in zip(piles.values(), kept, strict=True)]
    everything = {*values[0], *values[1]}
    n_values = len({values[0][row] for row in kept[0].tolist()})
    return Matched(
        left[0],
        left[1],
        f"Held {column} constant: compared are {len(left[0]):,} of {len(known):,} known and "
        f"{len(left[1]):,} of {counted(len(novel), 'novel document')}, in {n_values:,} of "
        f"{counted(len(everything), 'value')}.",
    )


def _name(value: Any) -> str:
    return "" if value is None else str(value).strip()


def matched_rows(
    known: Sequence[str], novel: Sequence[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows of both sides with the same ratio of known to novel in each value.

    Of the ratios of the values and that of all, the one is taken that leaves the most to compare.

    Examples
    --------
    >>> sides = ["a"] * 30 + ["b"] * 10, ["a"] * 10 + ["b"] * 30
    >>> rows = matched_rows(*sides)
    >>> [[side[row] for row in own].count("a") for side, own in zip(sides, rows)]
    [10, 10]
    """
    names = sorted({*known} & {*novel})
    if not names:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    sides = [np.array(side, dtype=object) for side in (known, novel)]
    sizes = np.array([[(side == name).sum() for name in names] for side in sides], np.int64)

    def kept(ratio: float) -> NDArray[np.int64]:
        n_known = np.minimum(sizes[0], sizes[1] * ratio)
        return np.maximum(np.rint([n_known, n_known / ratio]).astype(np.int64), 1)

    def compared(ratio: float) -> float:
        known_left, novel_left = kept(ratio)
        return float((known_left * novel_left / (known_left + novel_left)).sum())

    ratios = {float(sizes[0].sum() / sizes[1].sum()), *(sizes[0] / sizes[1]).tolist()}
    best = max(sorted(ratios), key=compared)
    rng = np.random.default_rng(0)
    rows: list[list[int]] = [[], []]
    for number, name in enumerate(names):
        for side, values, n in zip(rows, sides, kept(best)[:, number], strict=True):
            own = np.flatnonzero(values == name)
            side += rng.permutation(own)[: int(n)].tolist()
    return np.sort(np.array(rows[0], np.intp)), np.sort(np.array(rows[1], np.intp))
