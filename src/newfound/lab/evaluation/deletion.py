"""Deletion test: how many words have to go until a novel text is known, in whose order."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.table import Table

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.verdict import Verdict

__all__ = ["deletion"]

_SAMPLES = 500  # of LIME, for each text
_RANDOM_ORDERS = 3


def deletion(
    detector: NoveltyDetector, texts: Sequence[str], *, say: Callable[[str], None]
) -> Table:
    """Remove words of novel texts until they are known; texts that are known are left out.

    Gives for each order of words the share of texts that become known before their last word is
    gone, the mean number of words that it takes, a text that never flips counted with all its
    words, and for which share our counterfactual makes the text known with at most as many.
    """
    verdicts = [v for v in map(detector.explain, texts) if v.verdict == "novel"]
    found: dict[str, list[int | None]] = {}
    seconds: dict[str, float] = {}

    def measure(name: str, needed: Callable[[Verdict], int | None]) -> None:
        say(f"deletion: {name}, {len(verdicts)} texts")
        started = time.perf_counter()
        found[name] = [needed(verdict) for verdict in verdicts]
        seconds[name] = (time.perf_counter() - started) / max(len(verdicts), 1)

    measure("newfound, counterfactual", _counterfactual)
    measure("newfound, by contribution", lambda v: _until_known(v, [w.word for w in v.words]))
    try:
        explainer: Any = importlib.import_module("lime.lime_text").LimeTextExplainer
    except ImportError:
        say("deletion: LIME is left out; to include it: pip install lime")
    else:
        measure(f"LIME, {_SAMPLES} samples", lambda v: _until_known(v, _lime(explainer, v)))
    random = np.random.RandomState(0)
    for number in range(_RANDOM_ORDERS):
        measure(
            f"random words, {number + 1}",
            lambda v: _until_known(v, random.permutation([w.word for w in v.words]).tolist()),
        )
    sizes = np.array([len(verdict.words) for verdict in verdicts])
    ours = found["newfound, counterfactual"]
    return Table(
        {
            "words": np.array(list(found), dtype=object),
            "flipped": np.array([np.mean([n is not None for n in ns]) for ns in found.values()]),
            "mean words": np.array([_filled(ns, sizes).mean() for ns in found.values()]),
            "ours needs at most as many": np.array(
                [_at_most_as_many(ours, ns, sizes).mean() for ns in found.values()]
            ),
            "ms a text": np.array([1000 * seconds[name] for name in found]),
        }
    )


def _filled(needed: Sequence[int | None], sizes: Any) -> Any:
    return np.array([size if n is None else n for n, size in zip(needed, sizes, strict=True)])


def _at_most_as_many(
    ours: Sequence[int | None], theirs: Sequence[int | None], sizes: Any
) -> NDArray[np.bool_]:
    """Tell where our words make the text known, and are no more; where nobody's do, none wins."""
    flipped = np.array([n is not None for n in ours], dtype=bool)
    fewer: NDArray[np.bool_] = flipped & (_filled(ours, sizes) <= _filled(theirs, sizes))
    return fewer


def _counterfactual(verdict: Verdict) -> int | None:
    """Remove the words it names, at once, from the text, and ask again."""
    gone = verdict.counterfactual
    return None if gone is None or not _is_known(verdict, list(gone)) else len(gone)


def _until_known(verdict: Verdict, order: Sequence[str]) -> int | None:
    """Remove words in an order until the text is known, but never the last one."""
    for n in range(1, len(verdict.words)):
        if _is_known(verdict, list(order[:n])):
            return n
    return None


def _is_known(verdict: Verdict, gone: list[str]) -> bool:
    detector = verdict._detector
    left = verdict.without(gone)
    return bool(detector.predict([left])[0] not in (None, "novel"))


def _lime(explainer: Any, verdict: Verdict) -> list[str]:
    """Give the words of a text in LIME's order, those that speak most for novel first."""
    detector = verdict._detector

    def probabilities(texts: Sequence[str]) -> Any:
        novelty, nearest, _ = detector._scored(texts)
        limits = np.array([detector.calibration_.threshold(k) for k in nearest.tolist()])
        novel = 1 / (1 + np.exp(-(novelty - limits)))
        return np.column_stack((1 - novel, novel))

    # LIME splits at what is not a word; the words here are already parted by single spaces.
    words = [verdict.text[start:end] for w in verdict.words for start, end in w.spans]
    term_of = {verdict.text[start:end]: w.word for w in verdict.words for start, end in w.spans}
    made = explainer(
        class_names=["known", "novel"], bow=True, random_state=0, split_expression=r"\s+"
    )
    told = made.explain_instance(
        verdict.text, probabilities, num_features=len(words), num_samples=_SAMPLES
    )
    weights: dict[str, float] = {w.word: 0.0 for w in verdict.words}
    for surface, weight in told.as_list():
        bare = surface.strip('.,;:!?"()')
        if bare in term_of:
            weights[term_of[bare]] += weight
    return sorted(weights, key=lambda word: -weights[word])
