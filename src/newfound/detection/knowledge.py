"""What a detector learns from known documents: one value, made once and never changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.calibration import Calibration
from newfound.detection.learning import grow, learn_scorer, new_vectorizer
from newfound.detection.scoring import Scorer
from newfound.detection.split import (
    check_given,
    draw_more_held_back,
    group_classes,
    n_held_back,
    split_held_back,
    warn_single_document_classes,
)
from newfound.machine.clauses import EpochInfo
from newfound.rules.classifier import new_classifier

__all__ = ["Knowledge", "extended_classes", "learn"]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What a detector has learned from known documents.

    `NoveltyDetector.fit` learns one, and holds it as ``knowledge_``. Learning more makes another.

    Attributes
    ----------
    scorer : Scorer
        The words, the statistics and the rules of the known classes; reads and scores texts.
    calibration : Calibration
        The scores of the held-back documents.
    held_back : tuple of str
        The held-back documents; empty if they were forgotten.
    seed : int
        The seed in use.
    """

    scorer: Scorer
    calibration: Calibration
    held_back: tuple[str, ...]
    seed: int

    @classmethod
    def of(
        cls, scorer: Scorer, held_back: list[str], parameters: Mapping[str, Any], seed: int
    ) -> Knowledge:
        """Score the held-back documents with what was learned from the others."""
        scores = scorer.score_texts(held_back)
        calibration = Calibration(
            scores.novelty,
            scores.nearest,
            float(parameters["alpha"]),
            classwise=parameters["classwise"],
        )
        return cls(scorer, calibration, tuple(held_back), seed)

    @property
    def n_documents(self) -> dict[str, int]:
        """The number of known documents that were "learned" and that were "held_back"."""
        return {
            "learned": self.scorer.statistics.n_documents,
            "held_back": len(self.calibration),
        }

    def grown(
        self, texts: list[str], labels: NDArray[Any], parameters: Mapping[str, Any]
    ) -> Knowledge:
        """Return what is known with more documents, of known classes or of new ones.

        A share of them is held back, too, and all held-back documents are scored again.

        Parameters
        ----------
        texts : list of str
            More known documents.
        labels : ndarray
            The class of each.
        parameters : mapping
            The parameters of the detector.
        """
        classes, codes = extended_classes(self.scorer.classes, labels)
        aside = draw_more_held_back(
            codes,
            parameters["held_back"],
            n_known_classes=len(self.scorer.classes),
            seed=(self.seed, sum(self.n_documents.values())),
        )
        train = np.setdiff1d(np.arange(len(codes)), aside)
        scorer = grow(
            self.scorer,
            [texts[i] for i in train.tolist()],
            codes[train],
            classes,
            classifier=new_classifier(parameters, self.seed),
            seed=self.seed,
        )
        held_back = [*self.held_back, *(texts[i] for i in aside.tolist())]
        return Knowledge.of(scorer, held_back, parameters, self.seed)


def learn(
    texts: list[str],
    labels: NDArray[Any] | None,
    held_back: list[str] | None,
    parameters: Mapping[str, Any],
    seed: int,
    callback: Callable[[EpochInfo], bool | None] | None = None,
) -> Knowledge:
    """Learn from known documents.

    Parameters
    ----------
    texts : list of str
        The known documents.
    labels : ndarray or None
        The class of each; without them all are in one class, or in groups.
    held_back : list of str or None
        Known documents to hold back, instead of a share of the texts.
    parameters : mapping
        The parameters of a detector.
    seed : int
        The seed.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch of a machine.
    """
    alpha, share = float(parameters["alpha"]), parameters["held_back"]
    if held_back is None:
        n_held_back(len(texts), alpha, share)
    else:
        check_given(len(held_back), alpha)
    labelled = labels is not None
    if labels is not None:
        warn_single_document_classes(labels)
    else:
        vectorizer = new_vectorizer(parameters, texts)
        labels = group_classes(texts, parameters["n_groups"], vectorizer, seed)
    classes, every = np.unique(labels, return_inverse=True)
    codes = every.astype(np.int64)
    if held_back is None:
        train, aside = split_held_back(codes, alpha, share, seed)
        held_back = [texts[i] for i in aside.tolist()]
        texts, codes = [texts[i] for i in train.tolist()], codes[train]
    scorer = learn_scorer(texts, codes, classes, parameters, seed, callback, labelled=labelled)
    return Knowledge.of(scorer, held_back, parameters, seed)


def extended_classes(
    classes: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes with new ones appended, and the index of the class of each label.

    Examples
    --------
    >>> classes, codes = extended_classes(np.array(["b", "c"]), np.array(["c", "a", "b", "a"]))
    >>> classes.tolist(), codes.tolist()
    (['b', 'c', 'a'], [1, 2, 0, 2])
    """
    number = {label: k for k, label in enumerate(classes.tolist())}
    codes = [number.setdefault(label, len(number)) for label in labels.tolist()]
    mixed = len({type(label) for label in number}) > 1
    named = np.array(list(number), dtype=object if mixed else None)
    return named, np.array(codes, dtype=np.int64)
