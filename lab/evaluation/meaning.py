"""The suite on encoders: the detector with and without one, and baselines on the same vectors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.evaluation.suites import Values, add_value, means
from lab.tables import table_of
from newfound.detection.detector import NoveltyDetector
from newfound.detection.encoder_shelf import load_encoder
from newfound.detection.meaning import ClassShapes
from newfound.linear import unit_rows
from newfound.table import Table

__all__ = ["ENCODER", "Case", "measure_encoder"]

ENCODER = "NEWFOUND_ENCODER"
ALPHA = 0.05


@dataclass(frozen=True)
class Case:
    """Known documents to learn from and to hold back, and documents to tell apart."""

    name: str
    texts: list[str]
    labels: NDArray[Any]
    held_back: list[str] | None
    known: list[str]
    novel: list[str]
    seed: int = 0


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


def measure_encoder(
    cases: Iterator[Case],
    detector: Callable[..., NoveltyDetector],
    auroc: Callable[[NDArray[np.float64], NDArray[np.float64]], float],
) -> Table:
    """Measure a detector with words only and, if there is an encoder, with it and by baselines."""
    folder = os.environ.get(ENCODER)
    encoder = Remembering(load_encoder(folder)) if folder else None
    values: dict[tuple[str, str], Values] = {}
    for case in cases:
        for kind, labels in (("labels", case.labels), ("no labels", None)):
            found = values.setdefault((case.name, kind), {})

            def add(scorer: str, figures: dict[str, float], found: Values = found) -> None:
                for column, value in figures.items():
                    add_value(found, scorer, column, value)

            options = {"words": None, **({f"words and {encoder.name}": encoder} if encoder else {})}
            for scorer, each in options.items():
                made = detector(seed=case.seed, encoder=each)
                made.fit(case.texts, labels, held_back=case.held_back)
                known, novel = made.novelty(case.known), made.novelty(case.novel)
                figures = {"AUROC": auroc(known, novel)}
                for column, texts in (("recall at 5 %", case.novel), ("false alarms", case.known)):
                    figures[column] = float((made.p_values(texts) <= ALPHA).mean())
                add(scorer, figures)
            if encoder is not None:
                for scorer, known, novel in _baselines(encoder, case, labels):
                    add(f"{encoder.name}, {scorer}", {"AUROC": auroc(known, novel)})
    rows = [
        {"data": name, "known by": kind, **row}
        for (name, kind), found in values.items()
        for row in means(found)
    ]
    if encoder is not None and encoder.vectors:
        speed = len(encoder.vectors) / max(encoder.seconds, 1e-9)
        rows.append({"data": "texts encoded", "texts a second": speed})
    return table_of(rows)


def _baselines(
    encoder: Remembering, case: Case, labels: NDArray[Any] | None
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """Yield the scores of known and of novel texts by vectors alone."""

    def vectors(texts: Sequence[str]) -> NDArray[np.float64]:
        return np.asarray(unit_rows(encoder.encode([" ".join(text.split()) for text in texts])))

    learned, known, novel = (vectors(texts) for texts in (case.texts, case.known, case.novel))

    def nearest(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        highest = np.sort(rows @ learned.T, axis=1)[:, -5:]
        return np.asarray(-highest.mean(axis=1), np.float64)

    yield "5 nearest", nearest(known), nearest(novel)
    if labels is not None:
        from sklearn.linear_model import LogisticRegression

        names, codes = np.unique(labels, return_inverse=True)
        shapes = ClassShapes.of(learned, codes, len(names))
        yield "relative Mahalanobis", shapes.distances(known), shapes.distances(novel)
        model = LogisticRegression(C=10.0, max_iter=1000).fit(learned, codes)
        highest = [-model.predict_proba(rows).max(axis=1) for rows in (known, novel)]
        yield "logistic regression, max probability", highest[0], highest[1]
