"""Context in rules: the partners of a word, a matrix, the strongest pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.description.scores import pair_strength
from newfound.report.words import rounded
from newfound.sides import SIDES

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["Company"]


class Company:
    """Counts and scores of all pairs of some words in rules.

    The strength of a pair is that of `newfound.description.scores.pair_strength`.

    Parameters
    ----------
    description : Description
        Fitted.
    words : sequence of str
        The words, without duplicates.
    """

    def __init__(self, description: Description, words: Sequence[str]) -> None:
        self.words = list(words)
        self._numbers = {word: number for number, word in enumerate(self.words)}
        self._scores = description.context_matrix(self.words) if self.words else None
        self._strength = {side: self._strengths(side) for side in SIDES}

    def partners(self, word: str, side: str, most: int) -> list[list[Any]]:
        """Return the strongest partners of a word: word, rules with both, lift."""
        i = self._numbers[word]
        strength, scores = self._strength[side][i], self._side(side)
        order = np.argsort(-strength, kind="stable")[:most]
        return [
            [self.words[j], int(scores.F_ij[i, j]), rounded(float(scores.lift[i, j]), 3)]
            for j in order[strength[order] > 0].tolist()
        ]

    def matrix(self, words: Sequence[str]) -> dict[str, Any] | None:
        """Return counts and lifts of all pairs of these words by side; None for fewer than two."""
        if len(words) < 2:
            return None
        places = np.array([self._numbers[word] for word in words])
        square = np.ix_(places, places)
        made: dict[str, Any] = {"words": list(words)}
        for side in (*SIDES, "both"):
            scores = self._side(side)
            lifts = scores.lift[square].tolist()
            made[side] = {
                "F_i": scores.F_i[places].tolist(),
                "F_ij": scores.F_ij[square].tolist(),
                "lift": [[rounded(value, 3) for value in row] for row in lifts],
            }
        return made

    def pairs(self, words: Sequence[str], most: int) -> list[dict[str, Any]]:
        """Return the strongest pairs of these words on either side, the strongest first."""
        places = np.array(sorted(self._numbers[word] for word in words), np.intp)
        rows: list[dict[str, Any]] = []
        for side in SIDES:
            strength = np.triu(self._strength[side][np.ix_(places, places)], k=1)
            for a, b in np.argwhere(strength > 0).tolist():
                i, j, scores = places[a], places[b], self._side(side)
                rows.append(
                    {
                        "a": self.words[i],
                        "b": self.words[j],
                        "side": side,
                        "rules": int(scores.F_ij[i, j]),
                        "lift": rounded(float(scores.lift[i, j]), 3),
                        "strength": rounded(float(strength[a, b])),
                    }
                )
        rows.sort(key=lambda row: -row["strength"])
        return rows[:most]

    def _side(self, side: str) -> Any:
        assert self._scores is not None  # else there are no words
        return self._scores[side]

    def _strengths(self, side: str) -> NDArray[np.float64]:
        if self._scores is None:
            return np.zeros((0, 0))
        scores = self._scores[side]
        return np.nan_to_num(pair_strength(scores.F_ij, scores.pmi))
