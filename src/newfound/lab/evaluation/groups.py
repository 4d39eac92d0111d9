"""Groups of novel documents, beside k-means with the true number of groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from newfound.detection.groups import find_groups
from newfound.lab.datasets import load_clinc150
from newfound.lab.evaluation.suites import SuiteSetting, Values, add_value, means
from newfound.table import Table
from newfound.text.vectorizer import TextVectorizer

__all__ = ["groups", "matched_f1"]

N_INTENTS = 15
N_TEXTS = 60  # of each intent
DRAWS = range(20, 30)


def groups(setting: SuiteSetting) -> Table:
    """Compare groups of requests of 15 unseen intents with k-means that is told the number.

    60 requests of each intent of CLINC150, ten draws of intents; the requests of all others are
    known. k-means is on TF-IDF of all words, the best of ten starts. "matched F1" is the mean over
    the intents of the F1 with the group that is matched to it one to one.
    """
    corpus = load_clinc150(setting.data)
    labels = np.array(corpus.labels)
    intents = sorted(set(labels.tolist()) - {"oos"})
    rows: Values = {}
    for seed in DRAWS:
        setting.say(f"groups, seed {seed}")
        draw = np.random.default_rng(seed)
        chosen = draw.permutation(intents)[:N_INTENTS]
        own = [draw.permutation(np.flatnonzero(labels == name))[:N_TEXTS] for name in chosen]
        new = draw.permutation(np.concatenate(own))
        old = np.flatnonzero(~np.isin(labels, chosen) & (labels != "oos"))
        texts = [corpus.texts[i] for i in new]
        told = KMeans(N_INTENTS, n_init=10, random_state=seed).fit_predict(
            TfidfVectorizer().fit_transform(texts)
        )
        found = _groups(texts, [corpus.texts[i] for i in old], seed)
        for name, codes in (("newfound: groups", found), ("k-means, told the number", told)):
            rand = float(adjusted_rand_score(labels[new], codes))
            add_value(rows, name, "adjusted Rand index", rand)
            add_value(rows, name, "matched F1", matched_f1(labels[new], codes))
            add_value(rows, name, "groups", float(len(set(codes.tolist()))))
    return means(rows, row_name="method")


def _groups(texts: list[str], known: list[str], seed: int) -> NDArray[np.int64]:
    """Group texts as a detection does."""
    vectorizer = TextVectorizer(min_df=2)
    matrix = vectorizer.fit_transform(texts)
    words = list(vectorizer.vocabulary_)
    counts = np.asarray(vectorizer.transform(known).sum(axis=0)).ravel().tolist()
    frequencies = dict(zip(words, counts, strict=True))
    codes = np.zeros(len(texts), np.int64)
    for number, (rows, _) in enumerate(find_groups(matrix, words, frequencies, len(known), seed)):
        codes[rows] = number
    return codes


def matched_f1(labels: NDArray[np.str_], codes: NDArray[np.int64]) -> float:
    """Return the mean F1 of labels with the groups that are matched to them one to one.

    Examples
    --------
    >>> matched_f1(np.array(["a", "a", "b", "b"]), np.array([1, 1, 0, 0]))
    1.0
    """
    _, truth = np.unique(labels, return_inverse=True)
    _, group = np.unique(codes, return_inverse=True)
    together = np.zeros((truth.max() + 1, group.max() + 1))
    np.add.at(together, (truth, group), 1)
    f1 = 2 * together / (together.sum(axis=1, keepdims=True) + together.sum(axis=0))
    matched = linear_sum_assignment(-f1)
    return float(f1[matched].sum() / len(together))
