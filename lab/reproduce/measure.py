"""One seed of an experiment: a fit to all documents, and fits evaluated on held-out documents.

Results are plain data, so that a finished seed can be stored in a file.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import roc_auc_score

from lab.datasets import LabelledDocuments
from lab.evaluation.holdout import folds, held_out_words, near_duplicates
from lab.reproduce.cost import Cost
from lab.reproduce.published import Experiment
from newfound.baselines import BASELINES, one_blas_thread, tfidf_by_group
from newfound.description.describer import NoveltyDescriber
from newfound.description.learning import resolve
from newfound.description.words import WordTable
from newfound.metrics import document_scores, ranking_curves
from newfound.table import jsonable
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "GRID",
    "GROUPS",
    "OURS",
    "QUANTILES",
    "Fitting",
    "is_novel",
    "measure_corpus",
    "measure_held_out",
    "measure_seed",
    "quietly",
]

GROUPS = ("known", "novel", "shared")
OURS = "score"
GRID = np.linspace(0, 1, 101)
QUANTILES = np.linspace(0, 1, 201)
MIN_DOCUMENTS = 3
N_FOLDS = 3

_RULES, _NEGATED_SHOWN = 10, 6

Fitting = Callable[[str], AbstractContextManager[Any]]


def quietly(_: str) -> AbstractContextManager[Any]:
    """Return a context without a callback; the default of `fitting`."""
    return nullcontext()


def is_novel(experiment: Experiment, corpus: LabelledDocuments) -> NDArray[np.bool_]:
    """Return which documents of an experiment are novel."""
    return np.isin(np.array(corpus.labels), experiment.novel)


def measure_seed(
    experiment: Experiment,
    corpus: LabelledDocuments,
    seed: int,
    parameters: dict[str, Any],
    fitting: Fitting = quietly,
) -> dict[str, Any]:
    """Run one seed.

    Parameters
    ----------
    experiment : Experiment
        The experiment of the paper.
    corpus : LabelledDocuments
        Its documents.
    seed : int
        The seed of the machines, and of the folds.
    parameters : dict
        Parameters of `NoveltyDescriber`.
    fitting : callable
        Called with a message before each fit; returns a context manager that yields a callback
        for epochs, or None.

    Returns
    -------
    dict
        ``all``, of the fit to all documents, and ``held_out``, a list with an entry for each fold.
    """
    novel = is_novel(experiment, corpus)
    texts = np.array(corpus.texts, dtype=object)
    describer, cost = _fit(texts, novel, seed, parameters, fitting, "all documents")
    whole = {**_describe(experiment, describer), "cost": cost}
    del describer
    parts = list(train_test_parts(experiment, corpus, novel, seed))
    held_out = []
    for number, (train, test) in enumerate(parts, 1):
        what = "training documents" + (f", fold {number} of {len(parts)}" if parts[1:] else "")
        fold = measure_held_out(
            texts[train], novel[train], texts[test], novel[test], seed, parameters, fitting, what
        )
        held_out.append(fold)
    return jsonable({"seed": seed, "all": whole, "held_out": held_out})  # type: ignore[no-any-return]


def measure_corpus(
    experiment: Experiment, corpus: LabelledDocuments, parameters: dict[str, Any]
) -> dict[str, Any]:
    """Measure what does not depend on the seed: the words of the documents and their TF-IDF."""
    novel = is_novel(experiment, corpus)
    chosen = resolve(parameters.get("preset"), parameters)
    own = inspect.signature(TextVectorizer).parameters
    vectorizer = TextVectorizer(**{name: chosen[name] for name in own if name in chosen})
    vectorizer.fit(corpus.texts)
    counts = count_words(vectorizer, corpus.texts)
    with Cost() as cost:
        scores = tfidf_by_group(counts, novel)
    in_known = np.asarray((counts[~novel] > 0).sum(axis=0)).ravel()
    in_novel = np.asarray((counts[novel] > 0).sum(axis=0)).ravel()
    only_known, only_novel = in_novel == 0, in_known == 0
    shared = ~only_known & ~only_novel
    for group, found in zip(GROUPS, (only_known, only_novel, shared), strict=True):
        if not found.any():
            raise ValueError(
                f"{corpus.source or 'The corpus'} has no {group} words; give more documents."
            )
    curves = {
        "known": scores.known[only_known],
        "novel": scores.novel[only_novel],
        "shared_by_known": scores.known[shared],
        "shared_by_novel": scores.novel[shared],
    }
    return jsonable(  # type: ignore[no-any-return]
        {
            "documents": {"known": int((~novel).sum()), "novel": int(novel.sum())},
            "vocabulary": list(vectorizer.vocabulary_),
            "documents_known": in_known,
            "documents_novel": in_novel,
            "tfidf": {name: np.quantile(values, QUANTILES) for name, values in curves.items()},
            "tfidf_distance": _distance(curves["known"], curves["novel"]),
            # TF is a share: a word used once has a greater TF in the smaller group.
            "tfidf_distance_unscaled": _distance(
                curves["known"] * counts[~novel].sum(), curves["novel"] * counts[novel].sum()
            ),
            "tfidf_separation": roc_auc_score(
                only_novel[~shared], (scores.novel - scores.known)[~shared]
            ),
            "tfidf_seconds": cost.seconds,
        }
    )


def count_words(vectorizer: TextVectorizer, texts: Any) -> Any:
    """Return a matrix with the number of times that each text contains each word.

    Examples
    --------
    >>> vectorizer = TextVectorizer().fit(["Rugby, rugby and cricket"])
    >>> count_words(vectorizer, ["Rugby and more rugby"]).toarray().tolist()
    [[0, 2]]
    """
    rows = [
        Counter(token.index for token in vectorizer.tokens(text) if token.index >= 0)
        for text in texts
    ]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    indices = np.array([index for row in rows for index in row], np.int32)
    data = np.array([n for row in rows for n in row.values()], np.int64)
    shape = (len(rows), len(vectorizer.vocabulary_))
    return sparse.csr_array((data, indices, indptr), shape)


def measure_held_out(
    train: NDArray[Any],
    train_novel: NDArray[np.bool_],
    test: NDArray[Any],
    test_novel: NDArray[np.bool_],
    seed: int,
    parameters: dict[str, Any],
    fitting: Fitting = quietly,
    what: str = "training documents",
) -> dict[str, Any]:
    """Fit to training documents, and evaluate all scorers on test documents."""
    describer, cost = _fit(train, train_novel, seed, parameters, fitting, what)
    vectorizer = describer.vectorizer_
    counts, has = count_words(vectorizer, train), vectorizer.transform(test)
    scorers = {
        OURS: _by_column(describer, "log_score"),
        "novelty": _by_column(describer, "novelty"),
    }
    scorers |= {name: baseline(counts, train_novel) for name, baseline in BASELINES.items()}
    judged = held_out_words(has, test_novel, min_documents=MIN_DOCUMENTS)
    documents = np.asarray((counts > 0).T @ np.stack((~train_novel, train_novel), axis=1))
    shared = (documents > 0).all(axis=1) & judged.judged
    found: dict[str, Any] = {}
    for name, scores in scorers.items():
        regressed = _regressed(counts, train_novel, scores, has)
        found[name] = {
            "words": curves_on_grid(judged.novel[judged.judged], scores[judged.judged]),
            "shared_words": roc_auc_score(judged.novel[shared], scores[shared]),
            "documents": curves_on_grid(test_novel, document_scores(has, scores)),
            "regression": curves_on_grid(test_novel, regressed),
        }
    votes = describer.machines_[0].decision_function(has).astype(np.float64)
    found["votes"] = {"documents": curves_on_grid(test_novel, votes)}
    return {
        "train": len(train),
        "test": len(test),
        "test_novel": int(test_novel.sum()),
        "words": len(vectorizer.vocabulary_),
        "judged": int(judged.judged.sum()),
        "judged_novel": int(judged.novel[judged.judged].sum()),
        "epochs": describer.machines_[0].n_epochs_,
        "cost": cost,
        "scorers": found,
    }


def train_test_parts(
    experiment: Experiment, corpus: LabelledDocuments, novel: NDArray[np.bool_], seed: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the split of the corpus, or three folds that keep near-duplicates together."""
    if experiment.split:
        splits = np.array(corpus.splits)
        yield np.flatnonzero(splits == "train"), np.flatnonzero(splits == "test")
        return
    groups = near_duplicates(TextVectorizer().fit_transform(corpus.texts))
    yield from folds(np.array(corpus.labels), N_FOLDS, groups=groups, random_state=seed)


def _fit(
    texts: Any,
    novel: NDArray[np.bool_],
    seed: int,
    parameters: dict[str, Any],
    fitting: Fitting,
    what: str,
) -> tuple[NoveltyDescriber, dict[str, float]]:
    # The paper uses one machine; a describer uses a committee by default.
    describer = NoveltyDescriber(**{**parameters, "n_machines": 1}, random_state=seed)
    with fitting(what) as callback, Cost() as cost:
        describer.fit(list(texts), novel, callback=callback)
    return describer, cost.to_dict()


def _describe(experiment: Experiment, describer: NoveltyDescriber) -> dict[str, Any]:
    """Return what the paper reports of a fit to all documents."""
    words, table = describer.words_, describer.clauses_
    order = np.argsort([describer.vectorizer_.vocabulary_[word] for word in words["word"]])
    frequency = words["documents_known"] + words["documents_novel"]
    often = frequency >= sum(describer.n_documents_.values()) / 10
    known, novel = (_ranked(words.only(group)) for group in ("known", "novel"))
    counts = table.counts
    return {
        "epochs": describer.machines_[0].n_epochs_,
        "clauses": int(counts.sum()),
        "plain_words": float((np.diff(table.plain.indptr) * counts).sum() / counts.sum()),
        "negated_words": float((np.diff(table.negated.indptr) * counts).sum() / counts.sum()),
        "bags": {"known": int(words["F_K"].sum()), "novel": int(words["F_N"].sum())},
        "words": {group: _statistics(words.only(group), experiment.cut) for group in GROUPS},
        "shared": {
            role: _composition(words.take(words["role"] == role))
            for role in ("known", "novel", "common")
        },
        "distance": _distance(known, novel),
        "separation": roc_auc_score(
            np.repeat([False, True], [len(known), len(novel)]), np.concatenate((known, novel))
        ),
        "novel_above": float(np.mean(novel > np.quantile(known, 0.9))),
        "frequent_median": _median(words["score"][often]),
        "novel_correlation": _rank_correlation(words.only("novel")),
        "probe": _probe(experiment, words),
        "context": _context(experiment, describer),
        "F_K": words["F_K"][order],
        "F_N": words["F_N"][order],
        "rules": _rules(describer),
    }


def _statistics(words: WordTable, cut: float) -> dict[str, Any]:
    scores = _ranked(words)
    return {
        "count": len(words),
        "ranked": len(scores),
        "mean": float(scores.mean()),
        "sd": float(scores.std()),
        "median": float(np.median(scores)),
        "below_1": float(np.mean(scores < 1)),
        "below_cut": float(np.mean(scores < cut)),
        "quantiles": np.quantile(scores, QUANTILES),
    }


def _composition(words: WordTable) -> dict[str, Any]:
    scores = _ranked(words)
    return {
        "count": len(words),
        "mean": float(scores.mean()) if len(scores) else None,
        "sd": float(scores.std()) if len(scores) else None,
    }


def _ranked(words: WordTable) -> NDArray[np.float64]:
    """Return the scores that are not nan."""
    scores: NDArray[np.float64] = words["score"][~np.isnan(words["score"])]
    return scores


def _median(scores: NDArray[np.float64]) -> float | None:
    known = scores[~np.isnan(scores)]
    return float(np.median(known)) if len(known) else None


def _distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Return the Kolmogorov-Smirnov statistic of two samples."""
    from scipy.stats import ks_2samp

    return float(ks_2samp(a, b).statistic)


def _rank_correlation(words: WordTable) -> float | None:
    """Return the rank correlation of scores and document frequencies."""
    from scipy.stats import spearmanr

    kept = ~np.isnan(words["score"])
    scores, documents = words["score"][kept], words["documents_novel"][kept]
    if len(set(scores.tolist())) < 2 or len(set(documents.tolist())) < 2:
        return None
    return float(spearmanr(documents, scores).statistic)


def _probe(experiment: Experiment, words: WordTable) -> dict[str, Any] | None:
    if experiment.probe is None or experiment.probe[0] not in words:
        return None
    row = words.row(experiment.probe[0])
    return {key: row[key] for key in ("word", "F_K", "F_N", "score")}


def _context(experiment: Experiment, describer: NoveltyDescriber) -> dict[str, Any] | None:
    vocabulary = describer.vectorizer_.vocabulary_
    if not all(word in vocabulary for word in experiment.context_words):
        return None
    return describer.context_matrix(experiment.context_words).to_dict()


def _rules(describer: NoveltyDescriber) -> list[dict[str, Any]]:
    """Return the rules of each side that separate the sides best."""
    table = describer.clauses_
    rules = []
    for side in ("novel", "known"):
        for clause in table[table.side == side][:_RULES]:
            parts = [*clause.plain, *(f"NOT {word}" for word in clause.negated[:_NEGATED_SHOWN])]
            hidden = len(clause.negated) - _NEGATED_SHOWN
            if hidden > 0:
                parts.append(f"NOT {hidden:,} other{'s' if hidden > 1 else ''}")
            rule = clause.to_dict()
            rules.append(
                {
                    "side": side,
                    "rule": " AND ".join(parts),
                    **{key: rule[key] for key in ("matches_known", "matches_novel", "precision")},
                    "plain": len(clause.plain),
                    "negated": len(clause.negated),
                    "count": clause.count,
                }
            )
    return rules


def _by_column(describer: NoveltyDescriber, name: str) -> NDArray[np.float64]:
    """Return a column of the table of words in the order of the matrix, with 0 for nan."""
    words, vocabulary = describer.words_, describer.vectorizer_.vocabulary_
    values = np.zeros(len(vocabulary))
    values[[vocabulary[word] for word in words["word"]]] = np.nan_to_num(words[name])
    return values


def _regressed(
    counts: Any, novel: NDArray[np.bool_], scores: NDArray[np.float64], test: Any
) -> NDArray[np.float64]:
    """Return decision values of a logistic regression on the scores of the words of documents.

    The features of a document are the scores of its words, scaled to unit length.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    train, held_out = (
        normalize(sparse.csr_array(matrix, dtype=bool).astype(float).multiply(scores).tocsr())
        for matrix in (counts, test)
    )
    with one_blas_thread():
        model = LogisticRegression(max_iter=1000).fit(train, novel)
    decision: NDArray[np.float64] = model.decision_function(held_out)
    return decision


def curves_on_grid(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> dict[str, Any]:
    """Return both areas, and both curves on a common grid, so that folds can be averaged."""
    found = ranking_curves(labels, scores)
    # Of several points with the same false-positive rate, the highest counts. The precision at a
    # recall is that of the first threshold that reaches it.
    last = np.append(np.diff(found.false_positive_rate) > 0, True)
    places = np.searchsorted(found.recall, np.maximum(GRID, 1e-9) - 1e-12)
    return {
        "auroc": found.auroc,
        "average_precision": found.average_precision,
        "roc": np.interp(GRID, found.false_positive_rate[last], found.true_positive_rate[last]),
        "precision": found.precision[places],
    }
