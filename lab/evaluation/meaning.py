"""The suite on encoders: the detector with and without them, and baselines on their vectors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.evaluation.suites import Values, add_value, means
from lab.evaluation.unseen_intents import open_scores
from lab.tables import table_of
from newfound.detection.detector import NOVEL, NoveltyDetector
from newfound.detection.encoder_shelf import load_encoder
from newfound.detection.meaning import ClassShapes
from newfound.linear import unit_rows
from newfound.table import Table

__all__ = ["ENCODER", "Case", "chosen_encoders", "encoder_folders", "measure_encoder"]

ENCODER = "NEWFOUND_ENCODER"
ALPHA, OPEN_ALPHAS = 0.05, (0.05, 0.1)


@dataclass(frozen=True)
class Case:
    """Known documents to learn from and to hold back, and documents to tell apart.

    With the classes of the known ones to tell apart, the open ones are a class, too.
    """

    name: str
    texts: list[str]
    labels: NDArray[Any]
    held_back: list[str] | None
    known: list[str]
    novel: list[str]
    seed: int = 0
    known_labels: NDArray[Any] | None = None


@dataclass
class Remembering:
    """An encoder that encodes each text once."""

    encoder: Any
    vectors: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """The name of the encoder."""
        return str(self.encoder.name)

    def encode(self, texts: list[str]) -> NDArray[np.float64]:
        """Return a row for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if new:
            began = time.process_time()
            self.vectors.update(zip(new, self.encoder.encode(new), strict=True))
            self.seconds += time.process_time() - began
        return np.array([self.vectors[text] for text in texts])


def chosen_encoders() -> list[Remembering]:
    """Return the encoders of the folders that NEWFOUND_ENCODER names."""
    return [Remembering(load_encoder(folder, n_jobs=-1)) for folder in encoder_folders()]


def encoder_folders() -> list[str]:
    """Return the folders that NEWFOUND_ENCODER names."""
    return [folder for folder in os.environ.get(ENCODER, "").split(os.pathsep) if folder]


def measure_encoder(
    cases: Iterator[Case],
    detector: Callable[..., NoveltyDetector],
    auroc: Callable[[NDArray[np.float64], NDArray[np.float64]], float],
) -> Table:
    """Measure a detector with words only, and with each encoder, beside baselines."""
    encoders = chosen_encoders()
    values: dict[tuple[str, str], Values] = {}
    for case in cases:
        for kind, labels in (("labels", case.labels), ("no labels", None)):
            found = values.setdefault((case.name, kind), {})

            def add(scorer: str, figures: dict[str, float], found: Values = found) -> None:
                for column, value in figures.items():
                    add_value(found, scorer, column, value)

            options = {f"words and {encoder.name}": encoder for encoder in encoders}
            for scorer, each in {"words": None, **options}.items():
                made = detector(seed=case.seed, encoder=each)
                made.fit(case.texts, labels, held_back=case.held_back)
                known, novel = made.novelty(case.known), made.novelty(case.novel)
                figures = {"AUROC": auroc(known, novel)}
                for column, texts in (("recall at 5 %", case.novel), ("false alarms", case.known)):
                    figures[column] = float((made.p_values(texts) <= ALPHA).mean())
                if labels is not None and case.known_labels is not None:
                    figures |= _open_scores(made, case, case.known_labels)
                add(scorer, figures)
            for encoder in encoders:
                for scorer, known, novel in _baselines(encoder, case, labels):
                    add(f"{encoder.name}, {scorer}", {"AUROC": auroc(known, novel)})
    rows = [
        {"data": name, "known by": kind, **row}
        for (name, kind), found in values.items()
        for row in means(found)
    ]
    for encoder in encoders:
        speed = len(encoder.vectors) / max(encoder.seconds, 1e-9)
        rows.append({"data": "texts encoded", "scorer": encoder.name, "texts a second": speed})
    return table_of(rows)


def _open_scores(made: NoveltyDetector, case: Case, known_labels: NDArray[Any]) -> dict[str, float]:
    """Return F1 of open and of known intents at two false-alarm rates."""
    found = {}
    given = np.concatenate((known_labels, np.full(len(case.novel), NOVEL, dtype=object)))
    for alpha in OPEN_ALPHAS:
        made.set_params(alpha=alpha)
        scores = open_scores(given, made.predict([*case.known, *case.novel]))
        for name in ("F1 open", "F1 known"):
            found[f"{name}, alpha={alpha:g}"] = scores[name]
    made.set_params(alpha=ALPHA)
    return found


def _baselines(
    encoder: Remembering, case: Case, labels: NDArray[Any] | None
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the scores of known and of novel texts by vectors alone."""

    def vectors(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.asarray(unit_rows(encoder.encode([" ".join(text.split()) for text in texts])))

    learned, known, novel = (vectors(texts) for texts in (case.texts, case.known, case.novel))

    def nearest(rows: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        highest = np.sort(rows @ learned.T, axis=1)[:, -k:]
        return np.asarray(-highest.mean(axis=1), np.float64)

    for k in (1, 5):
        yield f"{k} nearest", nearest(known, k), nearest(novel, k)
    if labels is not None:
        from sklearn.linear_model import LogisticRegression

        names, codes = np.unique(labels, return_inverse=True)
        shapes = ClassShapes.of(learned, codes, len(names))
        yield "relative Mahalanobis", shapes.distances(known), shapes.distances(novel)
        model = LogisticRegression(C=10.0, max_iter=1000).fit(learned, codes)
        highest = [-model.predict_proba(rows).max(axis=1) for rows in (known, novel)]
        yield "logistic regression, max probability", highest[0], highest[1]
