"""Learn a scorer from known documents, with the parameters of a detector."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.checks import check_switch, check_whole_number
from newfound.detection.calibration import check_alpha
from newfound.detection.class_rules import new_classifier
from newfound.detection.scales import Scales
from newfound.detection.scoring import Scorer
from newfound.detection.split import check_share, sample_for_scales
from newfound.machine.clauses import EpochInfo
from newfound.text.vectorizer import TextVectorizer

__all__ = ["check_parameters", "learn_scorer", "new_vectorizer"]

_WORSE = 0.01  # by which rules may name fewer classes right than the linear classifier
_SHORT = 20  # if documents have a median of fewer words, function words are kept


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first parameter of a detector with an impossible value."""
    check_alpha(parameters["alpha"])
    check_share(parameters["held_back"])
    check_whole_number("n_groups", parameters["n_groups"], 1)
    if parameters["max_literals"] is not None:
        check_whole_number("max_literals", parameters["max_literals"], 1)
    for name in ("classwise", "correct_typos", "redact"):
        check_switch(name, parameters.get(name, False))
    new_classifier(parameters, 0).check_parameters()
    new_vectorizer(parameters, []).check_parameters()


def learn_scorer(
    texts: list[str],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    parameters: Mapping[str, Any],
    seed: int,
    callback: Callable[[EpochInfo], bool | None] | None = None,
    *,
    labelled: bool = True,
) -> Scorer:
    """Learn a scorer from known documents.

    Whether rules name the class, and the spread of the parts, are measured on a sample, by a scorer
    that learned from the other documents only. They have to be known before held-back documents
    are scored, or p-values would not be exact.

    Parameters
    ----------
    texts : list of str
        The known documents.
    codes : ndarray of int
        The index of the class of each.
    classes : ndarray
        The names of the classes.
    parameters : mapping
        The parameters of a detector.
    seed : int
        The seed.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch of the two machines.
    labelled : bool, default=True
        Whether the classes are labels; otherwise they are groups that were found. Groups are made
        of words, so that what a word tells of its group is no evidence.

    Returns
    -------
    Scorer
    """
    sample = sample_for_scales(codes, seed)
    others = np.setdiff1d(np.arange(len(texts)), sample)

    def learn(
        rows: NDArray[np.int64],
        scales: Scales | None = None,
        *,
        by_rules: bool = True,
        informed: bool | None = None if labelled else False,
    ) -> Scorer:
        some = [texts[i] for i in rows.tolist()]
        return Scorer.learn(
            some,
            codes[rows],
            classes,
            vectorizer=new_vectorizer(parameters, some),
            classifier=new_classifier(parameters, seed),
            seed=seed,
            scales=scales,
            by_rules=by_rules,
            correct_typos=parameters["correct_typos"],
            find_groups=scales is not None,
            informed=informed,
            callback=callback,
        )

    first = learn(others)
    some = [texts[i] for i in sample.tolist()]
    by_rules, scales = measure(first, some, codes[sample], labelled=labelled)
    informed = first.statistics.informed
    del first  # before the second scorer needs its memory
    return learn(np.arange(len(texts)), scales, by_rules=by_rules, informed=informed)


def measure(
    scorer: Scorer, texts: list[str], codes: NDArray[np.int64], *, labelled: bool = True
) -> tuple[bool, Scales]:
    """Return whether rules name classes well, and the scales of the parts.

    Parameters
    ----------
    scorer : Scorer
        Has not learned from the texts.
    texts : list of str
        Known documents.
    codes : ndarray of int
        The index of the class of each.
    labelled : bool, default=True
        Whether the classes are labels.

    Returns
    -------
    by_rules : bool
        Whether rules name the class as often as the linear classifier does, less a point.
    scales : Scales
        Of the parts, if the class is named that way.
    """
    return scorer.measure(scorer.read(texts), codes, worse=_WORSE, labelled=labelled)


def new_vectorizer(parameters: Mapping[str, Any], texts: Sequence[str]) -> TextVectorizer:
    """Return an unfitted vectorizer with the parameters of a detector.

    Stop words that are "auto" depend on how long the texts are.
    """
    names = ("language", "stop_words", "lemmatize", "max_features", "ignore")
    chosen = {name: parameters[name] for name in names}
    if isinstance(chosen["stop_words"], str) and chosen["stop_words"] == "auto":
        lengths = [text.count(" ") + 1 for text in texts[:1000]]
        chosen["stop_words"] = None if np.median(lengths or [0]) < _SHORT else "default"
    return TextVectorizer(**chosen, ngram_range=(1, 2))
