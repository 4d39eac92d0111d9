"""Deletion test: how many words must be removed until a novel text becomes known."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.tables import table_of
from newfound.detection.split import KNOWN
from newfound.table import Table

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.verdict import Verdict

__all__ = ["deletion", "needs_at_most_as_many"]

_LIME_SAMPLES = 500  # for each text
_RANDOM_ORDERS = 3


def deletion(
    detector: NoveltyDetector, texts: Sequence[str], *, say: Callable[[str], None]
) -> Table:
    """Remove words of novel texts, in several orders, until the texts become known.

    Parameters
    ----------
    detector : NoveltyDetector
        A fitted detector.
    texts : sequence of str
        The texts. Those that are known from the start are left out.
    say : callable
        Called with a message about the progress.

    Returns
    -------
    Table
        For each order of words: the share of the texts that become known before their last word is
        removed; the mean number of words removed, where a text that stays novel counts with all
        its words; the share of the texts that our counterfactual makes known with at most as many
        words; and milliseconds a text.
    """
    verdicts = [v for v in map(detector.explain, texts) if v.verdict == "novel"]
    removed: dict[str, list[int | None]] = {}
    seconds: dict[str, float] = {}

    def measure(name: str, count: Callable[[Verdict], int | None]) -> None:
        say(f"deletion: {name}, {len(verdicts)} texts")
        started = time.perf_counter()
        removed[name] = [count(verdict) for verdict in verdicts]
        seconds[name] = (time.perf_counter() - started) / max(len(verdicts), 1)

    measure("newfound, counterfactual", lambda v: _counterfactual(detector, v))
    measure(
        "newfound, by contribution", lambda v: _until_known(detector, v, [w.word for w in v.words])
    )
    try:
        explainer: Any = importlib.import_module("lime.lime_text").LimeTextExplainer
    except ImportError:
        say("deletion: LIME is left out; to include it: pip install lime")
    else:
        measure(
            f"LIME, {_LIME_SAMPLES} samples",
            lambda v: _until_known(detector, v, _lime_order(explainer, detector, v)),
        )
    random = np.random.RandomState(0)
    for number in range(_RANDOM_ORDERS):
        measure(
            f"random words, {number + 1}",
            lambda v: _until_known(
                detector, v, random.permutation([w.word for w in v.words]).tolist()
            ),
        )
    sizes = np.array([len(verdict.words) for verdict in verdicts])
    ours = removed["newfound, counterfactual"]
    return table_of(
        [
            {
                "words": name,
                "flipped": float(np.mean([n is not None for n in counts])),
                "mean words": float(_filled(counts, sizes).mean()),
                "ours needs at most as many": float(
                    needs_at_most_as_many(ours, counts, sizes).mean()
                ),
                "ms a text": 1000 * seconds[name],
            }
            for name, counts in removed.items()
        ]
    )


def needs_at_most_as_many(
    ours: Sequence[int | None], theirs: Sequence[int | None], sizes: Any
) -> NDArray[np.bool_]:
    """Return where `ours` makes the text known with at most as many words as `theirs`.

    Parameters
    ----------
    ours, theirs : sequence of int or None
        The number of words removed from each text; None where it stays novel.
    sizes : sequence of int
        The number of words of each text.

    Returns
    -------
    array of bool
        False where `ours` leaves the text novel, even if `theirs` does too.

    Examples
    --------
    >>> needs_at_most_as_many([2, None, 3], [2, None, 1], [5, 5, 5]).tolist()
    [True, False, False]
    """
    flipped = np.array([n is not None for n in ours], dtype=bool)
    fewer: NDArray[np.bool_] = flipped & (_filled(ours, sizes) <= _filled(theirs, sizes))
    return fewer


def _filled(counts: Sequence[int | None], sizes: Any) -> Any:
    return np.array([size if n is None else n for n, size in zip(counts, sizes, strict=True)])


def _counterfactual(detector: NoveltyDetector, verdict: Verdict) -> int | None:
    """Remove the words of the counterfactual at once, and predict again."""
    words = verdict.counterfactual
    return None if words is None or not _is_known(detector, verdict, words) else len(words)


def _until_known(detector: NoveltyDetector, verdict: Verdict, order: Sequence[str]) -> int | None:
    """Remove words in an order until the text is known, but never the last one."""
    for n in range(1, len(verdict.words)):
        if _is_known(detector, verdict, order[:n]):
            return n
    return None


def _is_known(detector: NoveltyDetector, verdict: Verdict, words: Sequence[str]) -> bool:
    """Return whether the text is known without some words; a text without words is not."""
    scores = detector.score_texts([verdict.without(list(words))])
    return scores.judged(detector.calibration_).verdict(0) == KNOWN


def _lime_order(explainer: Any, detector: NoveltyDetector, verdict: Verdict) -> list[str]:
    """Return the words of a text in the order of LIME's weights for novel."""
    nearest = int(np.flatnonzero(detector.classes_ == verdict.nearest)[0])
    threshold = detector.calibration_.threshold(nearest)

    def probabilities(texts: Sequence[str]) -> Any:
        novel = 1 / (1 + np.exp(threshold - detector.novelty(texts)))
        return np.column_stack((1 - novel, novel))

    # LIME splits at what is not a word; here only at white space, as words may have hyphens.
    words = [verdict.text[start:end] for w in verdict.words for start, end in w.spans]
    term_of = {verdict.text[start:end]: w.word for w in verdict.words for start, end in w.spans}
    made = explainer(
        class_names=["known", "novel"], bow=True, random_state=0, split_expression=r"\s+"
    )
    explanation = made.explain_instance(
        verdict.text, probabilities, num_features=len(words), num_samples=_LIME_SAMPLES
    )
    weights: dict[str, float] = {w.word: 0.0 for w in verdict.words}
    for surface, weight in explanation.as_list():
        bare = surface.strip('.,;:!?"()')
        if bare in term_of:
            weights[term_of[bare]] += weight
    return sorted(weights, key=lambda word: -weights[word])
