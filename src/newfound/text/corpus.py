"""The documents that a describer was fitted on, kept while it is in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LearnedCorpus"]


@dataclass(frozen=True)
class LearnedCorpus:
    """Texts with their sides, words and held-out votes.

    Attributes
    ----------
    texts : list of str
        The raw texts.
    novel : (n_documents,) ndarray of bool
        Which of them are novel.
    matrix : (n_documents, n_words) CSR matrix
        The words of each text.
    held_out : (n_documents,) ndarray of float64
        Mean vote on each text of the machines that were not trained on it, from -1 (known) to 1
        (novel); nan if all machines were trained on it.
    """

    texts: list[str]
    novel: NDArray[np.bool_]
    matrix: Any
    held_out: NDArray[np.float64]
