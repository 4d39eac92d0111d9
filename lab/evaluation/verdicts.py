"""Suites for the verdicts of `explain`: held-out texts, beside tuned logistic regression.

Each suite takes a `Setting` and returns a `Table` with a row for each method and a column for each
ratio of known to novel training documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from lab.datasets import load_abcnews, load_bbcsport, load_clinc150
from lab.evaluation.suites import (
    C_GRID,
    N_CV_FOLDS,
    SuiteSetting,
    Values,
    add_value,
    means,
)
from newfound.description.describer import NoveltyDescriber
from newfound.table import Table

__all__ = ["RATIOS", "SUITES", "Setting", "balanced_accuracy"]

RATIOS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"1:1": (5, 5), "1:5": (1, 5), "5:1": (5, 1)}
)


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suites.

    Attributes
    ----------
    seeds : int
        The number of draws of sides and documents.
    first_seed : int
        The seed of the first draw.
    """

    seeds: int = 5
    first_seed: int = 0


def bbcsport(setting: Setting) -> Table:
    """Balanced accuracy on BBC Sport: three of the five classes are known, two are novel.

    Columns are ratios of known to novel training documents, of which the larger side has at most
    150. As many others of each side are held out. A text that is unclear counts as half right.
    """
    corpus = load_bbcsport(setting.data)
    labels = np.array(corpus.labels)

    def sides(draw: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        names = draw.permutation(sorted(set(labels)))
        return np.isin(labels, names[:3]), np.isin(labels, names[3:])

    return _compare(setting, "BBC Sport", corpus.texts, sides, 150)


def clinc150(setting: Setting) -> Table:
    """Balanced accuracy on CLINC150: one domain is known, another one is novel.

    As for BBC Sport, with at most 1,000 training documents of a side.
    """
    corpus = load_clinc150(setting.data)
    domains = np.array(corpus.domains)

    def sides(draw: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        names = draw.permutation(sorted(set(domains) - {"oos"}))
        return domains == names[0], domains == names[1]

    return _compare(setting, "CLINC150", corpus.texts, sides, 1000)


def abcnews(setting: Setting) -> Table:
    """Balanced accuracy on headlines: one month is known, the next one is novel.

    As for BBC Sport, with at most 2,000 training documents of a side.
    """
    corpus = load_abcnews(setting.data)
    months = np.array([str(date)[:7] for date in corpus.dates or ()])

    def sides(draw: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        names = sorted(set(months))[1:-1]  # the first and the last are not whole
        first = int(draw.integers(len(names) - 1))
        return months == names[first], months == names[first + 1]

    return _compare(setting, "ABC News", corpus.texts, sides, 2000)


def balanced_accuracy(verdicts: Sequence[str], novel: NDArray[np.bool_]) -> float:
    """Return the mean over both sides of the share of right verdicts; unclear is half right.

    Examples
    --------
    >>> balanced_accuracy(["known", "novel", "unclear"], np.array([False, False, True]))
    0.5
    """
    right = np.where(novel, "novel", "known") == np.array(verdicts)
    points = np.where(np.array(verdicts) == "unclear", 0.5, right.astype(np.float64))
    return float((points[novel].mean() + points[~novel].mean()) / 2)


def _compare(
    setting: Setting,
    name: str,
    texts: Sequence[str],
    sides: Callable[[np.random.Generator], tuple[NDArray[np.bool_], NDArray[np.bool_]]],
    most: int,
) -> Table:
    """Train both methods on the same documents, and judge the same others."""
    rows: Values = {}
    for seed in range(setting.first_seed, setting.first_seed + setting.seeds):
        draw = np.random.default_rng(seed)
        known, novel = (draw.permutation(np.flatnonzero(side)) for side in sides(draw))
        size = min(most, len(known) // 2, len(novel) // 2)
        test = np.concatenate((known[size : 2 * size], novel[size : 2 * size]))
        is_new = np.arange(2 * size) >= size
        for ratio, (of_known, of_novel) in RATIOS.items():
            setting.say(f"{name}, {ratio}, seed {seed}")
            n = size * of_known // 5, size * of_novel // 5
            learned = [texts[i] for i in (*known[: n[0]], *novel[: n[1]])]
            labels = ["known"] * n[0] + ["novel"] * n[1]
            for method, judge in (("newfound: explain", _newfound), ("logistic_regression", _peer)):
                verdicts = judge(setting, learned, labels, [texts[i] for i in test], seed)
                add_value(rows, method, ratio, balanced_accuracy(verdicts, is_new))
    return means(rows)


def _newfound(
    setting: Setting, texts: list[str], labels: list[str], others: list[str], seed: int
) -> list[str]:
    describer = NoveltyDescriber(random_state=seed, n_jobs=setting.n_jobs).fit(texts, labels)
    return [describer.explain(text).verdict for text in others]


def _peer(
    setting: Setting, texts: list[str], labels: list[str], others: list[str], seed: int
) -> list[str]:
    model = LogisticRegression(class_weight="balanced", max_iter=2000)
    search = GridSearchCV(
        make_pipeline(TfidfVectorizer(), model),
        {"logisticregression__C": list(C_GRID)},
        cv=N_CV_FOLDS,
        scoring="balanced_accuracy",
    )
    found: list[str] = search.fit(texts, labels).predict(others).tolist()
    return found


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {"bbcsport": bbcsport, "clinc150": clinc150, "abcnews": abcnews}
)
