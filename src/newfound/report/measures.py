"""The measures that rank the words of a page and decide which side they indicate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newfound.description.novelty import SIGNIFICANT

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["BEYOND_CHANCE", "SIGNIFICANT", "Measures"]

BEYOND_CHANCE = 2.0  # standard deviations


@dataclass(frozen=True)
class Measures:
    """The measures of each word, in the order of the table.

    `novelty` ranks the words: how sure it is that a word is new. `times` is how many times more
    frequent it is, with the 90 % interval `low` to `high`. `q` is the expected share of false
    discoveries among the words of its side up to this one. `stability` is the share of the
    machines that put the word on the same side.
    """

    novelty: NDArray[np.float64]
    times: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    q: NDArray[np.float64]
    stability: NDArray[np.float64]

    @classmethod
    def of(cls, description: Description) -> Measures:
        """Read the columns of a describer's words."""
        names = ("novelty", "times", "low", "high", "q", "stability")
        return cls(*(description.words[name] for name in names))

    @property
    def sides(self) -> NDArray[np.str_]:
        """The side that each word indicates: "novel", "known", or "neither" if it is not clear.

        It is clear if the q-value is at most 5 %, and so the whole interval on that side, and if
        the novelty is beyond what chance reaches.
        """
        novel = (self.low > 1) & (self.novelty >= BEYOND_CHANCE)
        known = (self.high < 1) & (self.novelty <= -BEYOND_CHANCE)
        return np.select([novel, known], ["novel", "known"], "neither")

    @property
    def new(self) -> NDArray[np.bool_]:
        """Which words are new."""
        found: NDArray[np.bool_] = self.sides == "novel"
        return found
