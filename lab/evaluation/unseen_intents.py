"""Open intent classification: some intents are known, the others are to be recognised as open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.detector import NOVEL

__all__ = ["PUBLISHED", "OpenIntents", "draw_intents", "open_scores"]

SHARES = (0.25, 0.5, 0.75)

# F1 of open and of known intents in %, 75 % of the intents known, mean of ten draws. The first
# three are of TEXTOIR (Zhang et al., 2021), the last of Adaptive-Boundary. All fine-tune BERT.
PUBLISHED: tuple[dict[str, Any], ...] = tuple(
    {
        "scorer": f"{name} (BERT, published)",
        "known intents": 0.75,
        "F1 open": f1_open,
        "F1 known": f1_known,
    }
    for name, f1_open, f1_known in (
        ("MSP", 0.639, 0.837),
        ("ADB", 0.849, 0.890),
        ("DA-ADB", 0.860, 0.884),
        ("margin loss, Adaptive-Boundary", 0.784, 0.923),
    )
)


@dataclass(frozen=True)
class OpenIntents:
    """A draw of known intents.

    Attributes
    ----------
    train, validation : list of str
        Requests of known intents, to learn from and to set the threshold by.
    train_labels : ndarray
        The intents of `train`.
    test : list of str
        Requests of all intents, and out-of-scope requests.
    test_labels : ndarray
        Their intents; "novel" for all that are not known.
    """

    train: list[str]
    train_labels: NDArray[Any]
    validation: list[str]
    test: list[str]
    test_labels: NDArray[Any]


def draw_intents(
    train: tuple[Sequence[str], NDArray[Any]],
    validation: tuple[Sequence[str], NDArray[Any]],
    test: tuple[Sequence[str], NDArray[Any]],
    out_of_scope: Sequence[str],
    *,
    share: float,
    seed: int,
) -> OpenIntents:
    """Draw which intents are known.

    Examples
    --------
    >>> labels = np.array(["a", "b", "c", "d"])
    >>> texts = ["1", "2", "3", "4"]
    >>> drawn = draw_intents((texts, labels), (texts, labels), (texts, labels), ["5"],
    ...                      share=0.5, seed=0)
    >>> drawn.train, drawn.test_labels.tolist()
    (['3', '4'], ['novel', 'novel', 'c', 'd', 'novel'])
    """
    intents = np.unique(train[1])
    size = round(share * len(intents))
    known = np.random.RandomState(seed).permutation(intents)[:size]

    def kept(part: tuple[Sequence[str], NDArray[Any]]) -> tuple[list[str], NDArray[Any]]:
        rows = np.flatnonzero(np.isin(part[1], known))
        return [part[0][i] for i in rows.tolist()], part[1][rows]

    texts, labels = kept(train)
    opened = np.where(np.isin(test[1], known), test[1].astype(object), NOVEL)
    return OpenIntents(
        texts,
        labels,
        kept(validation)[0],
        [*test[0], *out_of_scope],
        np.concatenate((opened, np.full(len(out_of_scope), NOVEL, dtype=object))),
    )


def open_scores(labels: NDArray[Any], predicted: NDArray[Any]) -> dict[str, float]:
    """Return the accuracy, and F1 of the open class and of known classes (their mean).

    Examples
    --------
    >>> labels = np.array(["a", "a", "b", "novel", "novel"], dtype=object)
    >>> found = open_scores(labels, np.array(["a", "novel", "b", "novel", "b"], dtype=object))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'accuracy': 0.6, 'F1 open': 0.5, 'F1 known': 0.667}
    """
    from sklearn.metrics import f1_score

    given, found = labels.astype(str), predicted.astype(str)
    known = sorted(set(given.tolist()) - {NOVEL})
    scores = f1_score(given, found, labels=[NOVEL, *known], average=None, zero_division=0)
    return {
        "accuracy": float((given == found).mean()),
        "F1 open": float(scores[0]),
        "F1 known": float(scores[1:].mean()),
    }
