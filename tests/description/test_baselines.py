"""The baselines compute what their equations say, checked against other implementations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import chi2_contingency, chisquare
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from newfound.baselines import (
    BASELINES,
    chi_squared,
    document_frequency_z,
    frequency_ratio,
    g_squared,
    log_odds,
    logistic_regression,
    tfidf_by_group,
    tfidf_difference,
    tfidf_scores,
)

NAMES = sorted(BASELINES)


@pytest.fixture(scope="module")
def corpus() -> tuple[Any, NDArray[np.bool_]]:
    """Return counts of 30 words in 80 documents; word 0 is novel, word 1 known, 29 in none."""
    rng = np.random.default_rng(5)
    counts = rng.poisson(0.4, (80, 30))
    novel = rng.random(80) < 0.4
    counts[novel, 0] += 2
    counts[~novel, 1] += 2
    counts[:, 29] = 0
    return sparse.csr_matrix(counts), novel


@pytest.mark.parametrize("name", NAMES)
def test_novel_words_are_above_known_ones_and_unused_ones_are_0(
    name: str, corpus: tuple[Any, NDArray[np.bool_]]
) -> None:
    matrix, novel = corpus
    scores = BASELINES[name](matrix, novel)
    assert scores.shape == (30,) and np.isfinite(scores).all()
    assert scores[0] > scores[1]
    assert scores[29] == pytest.approx(0)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "tfidf"])
def test_turning_the_groups_round_turns_the_sign(
    name: str, corpus: tuple[Any, NDArray[np.bool_]]
) -> None:
    matrix, novel = corpus
    scores, turned = BASELINES[name](matrix, novel), BASELINES[name](matrix, ~novel)
    assert scores == pytest.approx(-turned, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_matrices_may_be_boolean_and_are_left_alone(
    name: str, corpus: tuple[Any, NDArray[np.bool_]]
) -> None:
    matrix, novel = (corpus[0] > 0).tocsr(), corpus[1]
    before = matrix.copy()
    scores = BASELINES[name](matrix, novel)
    assert scores == pytest.approx(BASELINES[name](matrix.astype(int), novel))
    assert (matrix != before).nnz == 0 and matrix.dtype == bool


def test_tfidf_is_the_papers_equation(corpus: tuple[Any, NDArray[np.bool_]]) -> None:
    matrix, novel = corpus
    counts = matrix.toarray()
    scores = tfidf_by_group(matrix, novel)
    for rows, found in ((~novel, scores.known), (novel, scores.novel)):
        for word in range(29):
            tf = counts[rows, word].sum() / counts[rows].sum()
            idf = math.log2(80 / (np.count_nonzero(counts[:, word]) + 1))
            assert found[word] == pytest.approx(tf * idf)
    assert tfidf_scores(matrix, novel) == pytest.approx(scores.novel)
    assert tfidf_difference(matrix, novel) == pytest.approx(scores.novel - scores.known)


def test_chi_squared_compares_occurrences_with_the_shares_of_documents(
    corpus: tuple[Any, NDArray[np.bool_]],
) -> None:
    matrix, novel = corpus
    counts = matrix.toarray()
    found = chi_squared(matrix, novel)
    for word in range(29):
        observed = np.array([counts[~novel, word].sum(), counts[novel, word].sum()])
        expected = observed.sum() * np.array([(~novel).mean(), novel.mean()])
        assert abs(found[word]) == pytest.approx(chisquare(observed, expected).statistic)
        assert (found[word] > 0) == (observed[1] > expected[1])


def test_the_best_c_is_chosen_by_cross_validation(
    corpus: tuple[Any, NDArray[np.bool_]],
) -> None:
    matrix, novel = corpus
    chosen = logistic_regression(matrix, novel, C=(0.01, 1.0, 100.0))
    fixed = {C: logistic_regression(matrix, novel, C=C) for C in (0.01, 1.0, 100.0)}
    assert any(np.array_equal(chosen, scores) for scores in fixed.values())
    areas = {}
    for C in fixed:
        held_out = np.zeros(80)
        for train, test in StratifiedKFold(3).split(np.zeros(80), novel):
            words = logistic_regression(matrix[train], novel[train], C=C)
            tfidf = TfidfTransformer().fit(matrix[train]).transform(matrix[test])
            held_out[test] = tfidf @ words
            areas.setdefault(C, []).append(roc_auc_score(novel[test], held_out[test]))
    best = max(areas, key=lambda C: np.mean(areas[C]))
    assert np.array_equal(chosen, fixed[best])


def test_g_squared_is_that_of_scipy(corpus: tuple[Any, NDArray[np.bool_]]) -> None:
    matrix, novel = corpus
    counts = matrix.toarray()
    old, new = counts[~novel].sum(axis=0), counts[novel].sum(axis=0)
    found = g_squared(matrix, novel)
    for word in range(29):
        table = [
            [old[word], old.sum() - old[word]],
            [new[word], new.sum() - new[word]],
        ]
        expected = chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
        assert abs(found[word]) == pytest.approx(expected)


def test_document_frequency_z_squared_is_the_chi_squared_of_documents(
    corpus: tuple[Any, NDArray[np.bool_]],
) -> None:
    matrix, novel = corpus
    has = matrix.toarray() > 0
    found = document_frequency_z(matrix, novel)
    for word in range(29):
        table = [[np.sum(has[rows, word] == on) for on in (0, 1)] for rows in (~novel, novel)]
        assert found[word] ** 2 == pytest.approx(chi2_contingency(table, correction=False)[0])


def test_log_odds_are_those_of_monroe(corpus: tuple[Any, NDArray[np.bool_]]) -> None:
    matrix, novel = corpus
    counts = matrix.toarray()
    old, new = counts[~novel].sum(axis=0), counts[novel].sum(axis=0)
    found = log_odds(matrix, novel, prior=50)
    for word in range(29):
        a = 50 * (old + new)[word] / (old + new).sum()
        odds = [math.log((y[word] + a) / (y.sum() + 50 - y[word] - a)) for y in (old, new)]
        spread = math.sqrt(1 / (old[word] + a) + 1 / (new[word] + a))
        assert found[word] == pytest.approx((odds[1] - odds[0]) / spread)


def test_a_word_of_every_document_is_no_evidence_by_documents() -> None:
    matrix, novel = np.array([[1, 1], [1, 0], [1, 1]]), np.array([True, False, True])
    assert document_frequency_z(matrix, novel)[0] == 0
    assert frequency_ratio(matrix, novel)[1] == pytest.approx(math.log((2 / 4) / (1 / 1)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("matrix", "novel", "said"),
    [
        ([[1], [1]], [True, True], "None of the 2 documents is known"),
        ([[1], [1]], [False, False], "None of the 2 documents is novel"),
        ([[1], [1]], [True], "each of the 2 documents"),
        ([[1], [1]], [True], r"type bool and shape \(1,\)"),
        ([[1], [1]], [0, 1], "True or False"),
        ([[1], [1]], [0, 1], r"type int64 and shape \(2,\)"),
        ([[1], [-1]], [False, True], "numbers from 0"),
    ],
)
def test_wrong_input_is_refused(name: str, matrix: Any, novel: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        BASELINES[name](sparse.csr_matrix(np.array(matrix)), np.array(novel))


def test_a_prior_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="prior=0"):
        log_odds(np.eye(2), np.array([True, False]), prior=0)
