"""How the parts of a score are centred, scaled and weighted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import log1p
from newfound.linear import polynomial

__all__ = ["LONG", "PARTS", "WEIGHTS", "WEIGHTS_OF_LONG", "WEIGHTS_WITHOUT_LABELS", "Scales"]

PARTS = ("margin", "surprise", "neighbours", "pairs", "rules")

# The weight of each part, in units of its spread over known documents; how they were chosen is in
# lab/notes/detector-constants.md.
WEIGHTS = {"margin": 1.75, "surprise": 1.0, "neighbours": 0.5, "pairs": 1.0, "rules": 1.75}

# Long documents of a new kind are often near a known class; their neighbours and pairs tell more.
WEIGHTS_OF_LONG = {"margin": 0.25, "surprise": 0.5, "neighbours": 3.0, "pairs": 1.5, "rules": 0.5}

# Without labels there is one class, which has no margin and no rules, and of which surprise says
# only which words are unseen; or there are groups made of words, which new words fit as well.
WEIGHTS_WITHOUT_LABELS = {
    "margin": 0.5,
    "surprise": 0.5,
    "neighbours": 2.0,
    "pairs": 1.0,
    "rules": 0.5,
}

LONG = 20  # different words, in the median
_MIN_FOR_LENGTH = 200  # documents; with fewer, those of all lengths have the same centre


@dataclass(frozen=True)
class Scales:
    """How the parts are centred and scaled: ``(parts - centres) * scale`` adds up to the novelty.

    The parts of a short document vary more, and in another way, than those of a long one. They are
    compared with what is expected of a known document with as many words: a polynomial of the
    second degree of the logarithm of the number of words. With fewer than 200 documents to fit it
    to, the number of words does not matter.

    Attributes
    ----------
    centre : (degree + 1, n_parts) array
        The coefficients of the polynomial, the constant last.
    scale : (n_parts,) array
        What each part is multiplied by.
    low, high : float
        The shortest and the longest documents that the polynomial was fitted to, as logarithms of
        1 + their words. Beyond them it is constant.
    """

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    low: float = 0.0
    high: float = 0.0

    @classmethod
    def of(
        cls,
        parts: NDArray[np.float64],
        n_words: NDArray[np.int64],
        weights: Mapping[str, float] = WEIGHTS,
        *,
        constant: Sequence[str] = (),
    ) -> Scales:
        """Return the scales that give the parts of some texts mean 0 and their weights as spread.

        Parameters
        ----------
        parts : (n_texts, n_parts) array
            The parts of some known documents.
        n_words : (n_texts,) array of int
            The number of different words of each.
        weights : mapping of str to float
            The weight of each part.
        constant : sequence of str
            Parts that have the same centre for documents of all lengths.

        Examples
        --------
        >>> parts = np.array([[0.0, 1, 2, 3, 4], [2.0, 1, 2, 3, 4]])
        >>> scales = Scales.of(parts, np.array([5, 9]))
        >>> scales.centre.round(9).tolist(), scales.scale.tolist()
        ([[1.0, 1.0, 2.0, 3.0, 4.0]], [1.75, 1.0, 0.5, 1.0, 1.75])
        """
        lengths = log1p(n_words)
        low, high = (float(x) for x in np.quantile(lengths, (0.01, 0.99)))
        lengths = np.clip(lengths, low, high)
        degree = 2 if len(parts) >= _MIN_FOR_LENGTH and len(np.unique(lengths)) > 2 else 0
        centre = polynomial(lengths, parts, degree)
        fixed = [PARTS.index(name) for name in constant]
        centre[:, fixed], centre[-1, fixed] = 0.0, parts[:, fixed].mean(axis=0)
        scales = cls(np.ascontiguousarray(centre), np.ones(parts.shape[1]), low, high)
        spread = (parts - scales.centres(n_words)).std(axis=0)
        wanted = np.array([weights[name] for name in PARTS])
        return replace(scales, scale=wanted / np.where(spread > 1e-9, spread, 1.0))

    @classmethod
    def of_known(
        cls,
        parts: NDArray[np.float64],
        n_words: NDArray[np.int64],
        n_classes: int,
        *,
        labelled: bool = True,
    ) -> Scales:
        """Return the scales for the parts of some known documents.

        The weights depend on whether there are classes, on whether these are labels or groups that
        were found, and on how long the documents are.
        """
        if n_classes == 1:
            return cls.of(parts, n_words, WEIGHTS_WITHOUT_LABELS)
        if np.median(n_words) >= LONG:
            return cls.of(parts, n_words, WEIGHTS_OF_LONG, constant=PARTS)
        # Similarities are those of texts of length 1. A known class has documents of many lengths,
        # and a text shorter than they are is new.
        weights = WEIGHTS if labelled else WEIGHTS_WITHOUT_LABELS
        return cls.of(parts, n_words, weights, constant=("neighbours",))

    @classmethod
    def none(cls) -> Scales:
        """Return the scales that leave the parts as they are."""
        return cls(np.zeros((1, len(PARTS))), np.ones(len(PARTS)))

    def centres(self, n_words: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the expected parts of known documents with so many words.

        One row for all documents if their length does not matter.
        """
        lengths = np.minimum(np.maximum(log1p(n_words), self.low), self.high)[:, None]
        centres = self.centre[:1]
        for coefficients in self.centre[1:]:
            centres = centres * lengths + coefficients
        return centres
