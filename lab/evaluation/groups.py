"""Groups of novel documents, beside k-means with the true number of groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from lab.datasets import load_20newsgroups, load_bbcsport, load_clinc150
from lab.evaluation.meaning import chosen_encoders
from lab.evaluation.suites import SuiteSetting, Values, add_value, means
from newfound.detection.meaning import encoded
from newfound.stories.clusters import find_groups
from newfound.table import Table
from newfound.text.vectorizer import TextVectorizer

__all__ = ["groups", "matched_f1"]

N_INTENTS, N_REQUESTS = 15, 60  # of each draw; of each intent
N_NEWSGROUPS, N_POSTS = 3, 100
DRAWS = range(20, 30)


def groups(setting: SuiteSetting) -> Table:
    """Compare groups of novel documents with k-means that is told the number of groups.

    Ten draws of each corpus. CLINC150: 60 requests of each of 15 intents are novel, those of all
    other intents known. BBC Sport: the articles of two classes are novel, of three known. 20
    Newsgroups, without headers: 100 posts of each of 3 groups are novel, as many of 3 others known.
    With the encoders of NEWFOUND_ENCODER, vectors count beside words. k-means is on TF-IDF of all
    words, the best of ten starts, and on the vectors alone. "ARI" is the adjusted Rand index,
    "F1" the mean over the classes of the F1 with the group that is matched to it one to one.
    """
    rows: Values = {}
    encoders = chosen_encoders()
    for name, corpus, n_novel, n_known, most in (
        ("CLINC150", load_clinc150(setting.data), N_INTENTS, None, N_REQUESTS),
        ("BBC Sport", load_bbcsport(setting.data), 2, 3, None),
        ("20 Newsgroups", load_20newsgroups(setting.data), N_NEWSGROUPS, 3, N_POSTS),
    ):
        labels = np.array(corpus.labels)
        for seed in DRAWS:
            setting.say(f"groups: {name}, seed {seed}")
            draw = np.random.default_rng(seed)
            kinds = draw.permutation(sorted(set(labels.tolist()) - {"oos"}))
            chosen, others = kinds[:n_novel], kinds[n_novel:][:n_known]
            own = [draw.permutation(np.flatnonzero(labels == kind))[:most] for kind in chosen]
            new = draw.permutation(np.concatenate(own))
            old = [np.flatnonzero(labels == kind) for kind in others]
            if n_known is not None:
                old = [which[:most] for which in old]
            texts = [corpus.texts[i] for i in new]
            known = [corpus.texts[i] for i in np.concatenate(old)]
            told = KMeans(n_novel, n_init=10, random_state=seed)
            found = {
                "newfound: groups": _groups(texts, known, seed),
                "k-means, told the number": told.fit_predict(
                    TfidfVectorizer().fit_transform(texts)
                ),
            }
            for encoder in encoders:
                vectors = encoded(encoder, [" ".join(text.split()) for text in texts])
                found[f"newfound: groups, {encoder.name}"] = _groups(texts, known, seed, vectors)
                found[f"k-means, told the number, {encoder.name}"] = told.fit_predict(vectors)
            for method, codes in found.items():
                rand = float(adjusted_rand_score(labels[new], codes))
                add_value(rows, method, f"{name}, ARI", rand)
                add_value(rows, method, f"{name}, F1", matched_f1(labels[new], codes))
                add_value(rows, method, f"{name}, groups", float(len(set(codes.tolist()))))
    return means(rows, row_name="method")


def _groups(
    texts: list[str], known: list[str], seed: int, vectors: NDArray[np.int16] | None = None
) -> NDArray[np.int64]:
    """Group texts as a detection does."""
    vectorizer = TextVectorizer(min_df=2)
    matrix = vectorizer.fit_transform(texts)
    words = list(vectorizer.vocabulary_)
    counts = np.asarray(vectorizer.transform(known).sum(axis=0)).ravel().tolist()
    frequencies = dict(zip(words, counts, strict=True))
    codes = np.full(len(texts), -1, np.int64)  # those of no group count as one more group
    made = find_groups(matrix, words, frequencies, len(known), seed, vectors)
    for number, group in enumerate(made):
        codes[group.documents] = number
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
