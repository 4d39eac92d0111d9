"""The columns of a table of words by which a page goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from newfound.words import WordTable

__all__ = ["SURE", "Measures"]

SURE = 0.05  # the share of false discoveries that is borne
_CLEAR = np.log(4)  # a score of 4 or of 1/4, where nothing says how sure it is


@dataclass(frozen=True)
class Measures:
    """What is known of each word, in the order of the table; nan where there is nothing.

    `novelty` ranks the words; above 0 it speaks for novel. `low` and `high` bound it, `q` is the
    share of false discoveries among words this novel, `stability` the share of the machines
    that put the word on the same side. `unit` is "deviation" where novelty is in standard
    deviations, and "logarithm" where it is that of the score.
    """

    novelty: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    q: NDArray[np.float64]
    stability: NDArray[np.float64]
    unit: str = "deviation"

    @classmethod
    def of(cls, words: WordTable) -> Measures:
        """Read the columns; without a committee the paper's score stands in, and no bounds."""
        nothing = np.full(len(words), np.nan)

        def column(name: str) -> NDArray[np.float64]:
            return np.asarray(words[name], float) if name in words.columns else nothing

        novelty, unit = column("novelty"), "deviation"
        if np.isnan(novelty).all():
            novelty, unit = column("log_score"), "logarithm"
        return cls(novelty, column("low"), column("high"), column("q"), column("stability"), unit)

    @property
    def sides(self) -> NDArray[np.str_]:
        """What each word speaks for: "novel" or "known" where that is sure, else "neither"."""
        bounded = ~np.isnan(self.low)
        with np.errstate(invalid="ignore"):
            novel = np.where(bounded, self.low > 0, self.novelty >= _CLEAR)
            known = np.where(bounded, self.high < 0, self.novelty <= -_CLEAR)
        return np.select([novel, known], ["novel", "known"], "neither")

    @property
    def new(self) -> NDArray[np.bool_]:
        """Which words are new: surely novel, with few false discoveries among them."""
        with np.errstate(invalid="ignore"):
            few = np.isnan(self.q) | (self.q <= SURE)
        found: NDArray[np.bool_] = (self.sides == "novel") & few
        return found
