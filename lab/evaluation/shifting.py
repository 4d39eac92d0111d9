"""Two piles of the same topics, of which some are more frequent in the second pile."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ShiftedPiles", "shifted_piles"]


class ShiftedPiles(NamedTuple):
    """The rows of each pile, and the topics that are more and less frequent in the novel one."""

    known: NDArray[np.intp]
    novel: NDArray[np.intp]
    grown: list[str]
    shrunk: list[str]


def shifted_piles(
    topics: NDArray[np.str_],
    *,
    seed: int,
    times: int = 3,
    n_topics: int | None = None,
    n_grown: int | None = None,
) -> ShiftedPiles:
    """Draw two piles of documents that differ in how frequent some topics are.

    All topics have the same number b of documents in both piles, but for the grown ones, which have
    `times` b in the novel pile, and for as many shrunk ones, which have `times` b in the known
    pile. The piles have no document in common and the same size.

    Parameters
    ----------
    topics : (n_documents,) array of str
        The topic of each document.
    seed : int
        The seed of the draw.
    times : int, default=3
        How many times as frequent a grown topic is.
    n_topics : int, optional
        How many topics to draw; by default all.
    n_grown : int, optional
        How many topics grow; by default a tenth of them, at least 2.

    Returns
    -------
    ShiftedPiles

    Examples
    --------
    >>> piles = shifted_piles(np.repeat(["a", "b", "c", "d"], 8), seed=1, n_grown=1)
    >>> len(piles.known), len(piles.novel), len(piles.grown), len(piles.shrunk)
    (12, 12, 1, 1)
    """
    draw = np.random.default_rng([seed, 11])
    names, counts = np.unique(topics, return_counts=True)
    order = draw.permutation(len(names))[:n_topics]
    names, base = names[order], int(counts[order].min()) // (times + 1)
    n = max(2, len(names) // 10) if n_grown is None else n_grown
    if base < 1 or 2 * n > len(names):
        raise ValueError(
            f"{len(names)} topics of at least {int(counts[order].min())} documents are too few for "
            f"{n} that grow {times} times."
        )
    known, novel = [], []
    for number, name in enumerate(names):
        rows = draw.permutation(np.flatnonzero(topics == name))
        before, after = (
            (base, times * base)
            if number < n
            else (times * base, base)
            if number < 2 * n
            else (base, base)
        )
        known.append(rows[:before])
        novel.append(rows[before : before + after])
    return ShiftedPiles(
        np.concatenate(known), np.concatenate(novel), names[:n].tolist(), names[n : 2 * n].tolist()
    )
