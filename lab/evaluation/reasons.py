"""Do the words of an explanation say what is new? Requests of intents that were not learned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.datasets import LabelledDocuments
from lab.evaluation.suites import Values, add_value, means
from newfound.table import Table

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.verdict import Verdict

__all__ = ["WordUse", "explained_requests"]

LISTED = 10  # words that are listed, from the first one on
SHARE = 0.75  # of the intents that are learned
OUT_OF_SCOPE = "oos"
SPLITS = {"validation": ("val", 100), "test": ("test", 200)}  # the split, and the first seed


@dataclass(frozen=True)
class WordUse:
    """How many documents have each word.

    Examples
    --------
    >>> visa, others = WordUse(Counter(visa=3, my=2), 4), WordUse(Counter(my=5), 5)
    >>> [visa.is_greater(word, others) for word in ("visa", "my")]
    [True, False]
    """

    counts: Counter[str]
    n: int

    @classmethod
    def of(cls, detector: NoveltyDetector, texts: Sequence[str]) -> WordUse:
        """Count the words of texts as a detector reads them."""
        counts: Counter[str] = Counter()
        for text in texts:
            terms = {token.term for token in detector.vectorizer_.tokens(text)}
            counts.update(term for term in terms if " " not in term)
        return cls(counts, len(texts))

    def is_greater(self, word: str, other: WordUse, *, and_this: int = 0) -> bool:
        """Return whether a greater share of these documents than of others has a word.

        `and_this` is 1 to count one more document that has it.
        """
        own, n = self.counts[word] + and_this, self.n + and_this
        return own * other.n > other.counts[word] * n


def explained_requests(
    corpus: LabelledDocuments,
    learn: Callable[[int], NoveltyDetector],
    draws: int,
    say: Callable[[str], None],
) -> Table:
    """Explain requests of CLINC150 that are new, and count what the words tell.

    `learn` makes a detector for a seed.
    """
    texts, splits = np.array(corpus.texts, dtype=object), np.array(corpus.splits)
    labels = np.array(corpus.labels)
    intents, values = np.unique(labels[labels != OUT_OF_SCOPE]), Values()
    for name, (split, first) in SPLITS.items():
        for seed in range(first, first + draws):
            say(f"reasons: {name}, draw {seed - first + 1}")
            drawn = np.random.RandomState(seed).permutation(intents)
            learned = np.isin(labels, drawn[: round(SHARE * len(intents))])
            train = (splits == "train") & learned
            detector = learn(seed).fit(texts[train].tolist(), labels[train])
            known = WordUse.of(detector, texts[train].tolist())
            figures: dict[str, list[dict[str, float]]] = {}
            for label in np.unique(labels[~learned]).tolist():
                others = texts[(labels == label) & (splits == "train")].tolist()
                asked = texts[(labels == label) & (splits == split)].tolist()
                use = WordUse.of(detector, others)
                kind = "out of scope" if label == OUT_OF_SCOPE else "unseen intents"
                found = [v for v in detector.explain_texts(asked) if v.verdict == "novel"]
                figures.setdefault(kind, []).extend(_figures(v, use, known) for v in found)
            for kind, rows in figures.items():
                _add(values, f"{name}, {kind}", rows)
    return means(values, row_name="requests")


def _add(values: Values, row: str, found: Sequence[dict[str, float]]) -> None:
    if found:
        add_value(values, row, "true alarms", float(len(found)))
        for column in found[0]:
            add_value(values, row, column, float(np.mean([each[column] for each in found])))


def _figures(verdict: Verdict, use: WordUse, known: WordUse) -> dict[str, Any]:
    """Return what the words of one true alarm tell; `use` is that of its intent."""
    listed = verdict.words[:LISTED]
    named = [word.word for word in verdict.telling]

    def of_intent(words: Iterable[str], and_this: int = 0) -> bool:
        return any(use.is_greater(word, known, and_this=and_this) for word in words)

    return {
        "words sum to novel": _total(verdict, listed) > verdict.threshold,
        "first word": of_intent(named[:1], 1),
        "first word, in other requests": of_intent(named[:1]),
        "one of three, in other requests": of_intent(named[:3]),
        "baseline is novel": verdict.baseline > verdict.threshold,
        "useful rules": bool(verdict.useful_rules),
    }


def _total(verdict: Verdict, words: Iterable[Any]) -> float:
    return float(verdict.baseline + sum(word.contribution for word in words))
