"""A small set of words without which a novel text would be known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["CANDIDATES", "smallest_removal"]

CANDIDATES = 24  # words that are tried in each step


def smallest_removal(
    words: Sequence[str], margins: Callable[[Sequence[Sequence[str]]], Any], most: int
) -> tuple[str, ...] | None:
    """Find a small set of words to remove until a margin is not above 0.

    A greedy search: the word whose removal lowers the margin most is removed, again and again.
    Then every word that need not be removed is put back.

    Parameters
    ----------
    words : sequence of str
        The words, those to try first in front.
    margins : callable
        Returns the margin after the removal of each of some sets of words.
    most : int
        The maximum number of words to remove.

    Returns
    -------
    tuple of str or None
        None if the margin stays above 0.

    Examples
    --------
    >>> weights = {"a": 3, "b": 1, "c": 2}
    >>> def margins(removals):
    ...     return [4 - sum(weights[word] for word in removed) for removed in removals]
    >>> smallest_removal(["b", "a", "c"], margins, 3)
    ('a', 'c')
    >>> smallest_removal(["b", "a", "c"], margins, 1) is None
    True
    """
    removed: list[str] = []
    while len(removed) < most:
        left = [word for word in words if word not in removed][:CANDIDATES]
        found = list(margins([[*removed, word] for word in left]))
        best = min(range(len(found)), key=found.__getitem__)
        removed.append(left[best])
        if found[best] <= 0:
            break
    else:
        return None
    for word in removed[:-1]:
        fewer = [other for other in removed if other != word]
        if margins([fewer])[0] <= 0:
            removed = fewer
    return tuple(removed)
