"""What a page goes by when it ranks words and says which side they speak for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from newfound.description.novelty import q_values

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber

__all__ = ["SURE", "Measures"]

SURE = 0.05  # the share of false discoveries that is borne


@dataclass(frozen=True)
class Measures:
    """What is known of each word, in the order of the table.

    `novelty` ranks the words, with the 90 % interval `low` to `high`; `q` is the share of false
    discoveries among words this novel, `q_known` the same the other way round; `stability` is the
    share of the machines that put the word on the same side, nan where there is one machine.
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
        """What each word speaks for: "novel" or "known" where that is sure, else "neither".

        It is sure if the whole interval and, with few false discoveries, the count of documents
        say so.
        """
        novel = (self.low > 0) & (self.q <= SURE)
        known = (self.high < 0) & (self.q_known <= SURE)
        return np.select([novel, known], ["novel", "known"], "neither")

    @property
    def new(self) -> NDArray[np.bool_]:
        """Which words are new."""
        found: NDArray[np.bool_] = self.sides == "novel"
        return found
