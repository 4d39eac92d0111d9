"""The measures that rank the words of a page and decide which side they indicate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newfound.description.novelty import q_values

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber

__all__ = ["SURE", "Measures"]

SURE = 0.05  # the false discovery rate


@dataclass(frozen=True)
class Measures:
    """The measures of each word, in the order of the table.

    `novelty` ranks the words, with the 90 % interval `low` to `high`. `q` is the expected share of
    false discoveries among words this novel, `q_known` the same for known words. `stability` is
    the share of the machines that put the word on the same side.
    """

    novelty: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    q: NDArray[np.float64]
    q_known: NDArray[np.float64]
    stability: NDArray[np.float64]

    @classmethod
    def of(cls, describer: NoveltyDescriber) -> Measures:
        """Read the columns of a describer's words."""
        words, n = describer.words_, describer.n_documents_
        known, novel = words["documents_known"], words["documents_novel"]
        return cls(
            words["novelty"],
            words["low"],
            words["high"],
            words["q"],
            q_values(novel, known, n["novel"], n["known"]),
            words["stability"],
        )

    @property
    def sides(self) -> NDArray[np.str_]:
        """The side that each word indicates: "novel", "known", or "neither" if it is not clear.

        It is clear if the whole interval is on that side and the q-value is at most 5 %.
        """
        novel = (self.low > 0) & (self.q <= SURE)
        known = (self.high < 0) & (self.q_known <= SURE)
        return np.select([novel, known], ["novel", "known"], "neither")

    @property
    def new(self) -> NDArray[np.bool_]:
        """Which words are new."""
        found: NDArray[np.bool_] = self.sides == "novel"
        return found
