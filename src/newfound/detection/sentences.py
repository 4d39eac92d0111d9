"""Which sentences of a text are new: each is scored as a text and ranked among known sentences.

The p-value of a sentence is that of hierarchical conformal prediction (Lee, Barber and Willett,
"Distribution-free inference with hierarchical data", 2023). Sentences of one document are alike, so
that each held-back document counts once: its sentences share a weight of 1. A sentence that is
drawn from a known document has a p-value of at most alpha with a probability of at most alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from newfound.detection.scoring import Scorer
from newfound.explanation import FEWEST_WORDS
from newfound.text.sentences import sentence_spans

__all__ = [
    "HeldBackSentences",
    "KnownSentences",
    "newest_sentences",
    "no_sentences",
]


_MOST_DOCUMENTS = 5_000  # whose sentences are scored


def no_sentences() -> None:
    """Return None, where no known sentences are kept."""


@dataclass(frozen=True, eq=False)
class HeldBackSentences:
    """The novelty of the sentences of held-back documents.

    Attributes
    ----------
    scores : ndarray of float
        The novelty of each sentence that has words.
    sizes : ndarray of int
        How many of them each document has, in their order; documents without any are left out.

    Examples
    --------
    >>> known = HeldBackSentences(np.array([1.0, 5.0, 2.0, 3.0]), np.array([2, 1, 1]))
    >>> known.p_values(np.array([9.0, 4.0, 3.0])).tolist()
    [0.25, 0.375, 0.625]
    """

    scores: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, scorer: Scorer, texts: Sequence[str]) -> HeldBackSentences:
        """Score the sentences of held-back documents, of up to 5,000 that are drawn."""
        rows = np.sort(np.random.RandomState(0).permutation(len(texts))[:_MOST_DOCUMENTS])
        sentences, sizes = _split(texts[i] for i in rows.tolist())
        scores = scorer.by_words.score_texts(sentences)
        owners = np.repeat(np.arange(len(sizes)), sizes)[scores.has_words]
        counts = np.bincount(owners, minlength=len(sizes))
        return cls(scores.novelty[scores.has_words], counts[counts > 0])

    def p_values(self, novelty: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the p-value of sentences; 1 if no document was held back."""
        above = self._above[np.searchsorted(self._ascending, novelty, side="left")]
        p: NDArray[np.float64] = (1.0 + above) / (len(self.sizes) + 1)
        return np.minimum(p, 1.0)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self.scores, kind="stable")

    @cached_property
    def _ascending(self) -> NDArray[np.float64]:
        return self.scores[self._order]

    @cached_property
    def _above(self) -> NDArray[np.float64]:
        """The weight of each sentence and of all with higher scores, ascending; then 0."""
        weights = np.repeat(1.0 / self.sizes, self.sizes)[self._order]
        return np.append(np.cumsum(weights[::-1])[::-1], 0.0)


# Returns the known sentences when they are first needed.
KnownSentences = Callable[[], HeldBackSentences | None]


def newest_sentences(scorer: Scorer, texts: Sequence[str]) -> list[str]:
    """Return the sentence of each text with the greatest novelty; empty if there is none."""
    sentences, sizes = _split(texts)
    ends = np.cumsum(sizes)
    several = np.repeat(np.array(sizes) > 1, sizes)  # a single sentence need not be scored
    novelty, n_words = np.zeros(len(sentences)), np.zeros(len(sentences), np.int64)
    if several.any():
        scores = scorer.by_words.score_texts(
            [sentences[i] for i in np.flatnonzero(several).tolist()]
        )
        novelty[several], n_words[several] = scores.novelty, scores.bags.n_words
    levels = (n_words >= FEWEST_WORDS).astype(np.int64) + (n_words > 0)
    order = np.lexsort((-np.arange(len(sentences)), novelty, levels))  # the newest last
    ranks = np.empty(len(sentences), np.int64)
    ranks[order] = np.arange(len(sentences))
    return [
        sentences[end - size + int(ranks[end - size : end].argmax())] if size else ""
        for end, size in zip(ends.tolist(), sizes, strict=True)
    ]


def _split(texts: Iterable[str]) -> tuple[list[str], list[int]]:
    """Return the sentences of all texts, and how many each text has."""
    sentences: list[str] = []
    sizes: list[int] = []
    for text in texts:
        spans = sentence_spans(text)
        sentences += [text[begin:end] for begin, end in spans]
        sizes.append(len(spans))
    return sentences, sizes
