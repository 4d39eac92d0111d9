"""The company that words keep in rules: a matrix, and a network of the strongest pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.clauses import SIDES
from newfound.report.words import rounded

if TYPE_CHECKING:
    from newfound.describer import NoveltyDescriber

__all__ = ["matrix", "pairs"]


def matrix(describer: NoveltyDescriber, words: Sequence[str]) -> dict[str, Any] | None:
    """Give how often rules use two of these words together, and how much more than by chance."""
    if len(words) < 2:
        return None
    found = describer.context_matrix(words)
    return {
        "words": list(words),
        **{
            side: {
                "F_i": found[side].F_i.tolist(),
                "F_ij": found[side].F_ij.tolist(),
                "lift": [[rounded(x, 3) for x in row] for row in found[side].lift.tolist()],
            }
            for side in (*SIDES, "both")
        },
    }


def pairs(describer: NoveltyDescriber, words: Sequence[str], most: int) -> list[dict[str, Any]]:
    """Give the strongest pairs of some words on each side, the strongest first.

    As in `newfound.context`, strength is (F_ij - 1) · PMI: a single rule is no evidence.
    """
    if len(words) < 2:
        return []
    found = describer.context_matrix(words)
    rows: list[dict[str, Any]] = []
    for side in SIDES:
        scores = found[side]
        i, j = np.nonzero(np.triu(scores.F_ij > 1, k=1))
        strength = (scores.F_ij[i, j] - 1) * scores.pmi[i, j]
        for a, b, value in zip(i.tolist(), j.tolist(), strength.tolist(), strict=True):
            if value > 0:
                rows.append(
                    {
                        "a": words[a],
                        "b": words[b],
                        "side": side,
                        "rules": int(scores.F_ij[a, b]),
                        "lift": rounded(float(scores.lift[a, b]), 3),
                        "strength": rounded(value),
                    }
                )
    rows.sort(key=lambda row: -row["strength"])
    return rows[:most]
