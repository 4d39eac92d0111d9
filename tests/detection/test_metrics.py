"""Curves follow the scores, and what is held out is held out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from lab.evaluation.holdout import folds, held_out_words, near_duplicates
from newfound.metrics import document_scores, ranking_curves


@pytest.mark.parametrize("digits", [0, 1, 6])
def test_curves_follow_the_scores_from_the_highest_down(digits: int) -> None:
    rng = np.random.default_rng(digits)
    labels = rng.random(60) < 0.3
    scores = np.round(rng.normal(labels, 1.0), digits)  # few digits: many ties
    found = ranking_curves(labels, scores)
    cuts = np.unique(scores)[::-1]
    positives = np.array([(labels & (scores >= cut)).sum() for cut in cuts])
    chosen = np.array([(scores >= cut).sum() for cut in cuts])
    assert found.recall == pytest.approx(positives / labels.sum())
    assert found.precision == pytest.approx(positives / chosen)
    assert found.true_positive_rate[1:] == pytest.approx(found.recall)
    assert found.false_positive_rate[1:] == pytest.approx((chosen - positives) / (~labels).sum())
    pairs = scores[labels][:, None] - scores[~labels][None]
    assert found.auroc == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    gains = np.diff(found.recall, prepend=0.0)
    assert found.average_precision == pytest.approx((gains * found.precision).sum())


@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([True, True], [1, 2], "same"),
        ([True, False], [1, np.nan], "NaN"),
        ([True, False], [1.0, 2.0, 3.0], "inconsistent"),
    ],
)
def test_wrong_labels_and_scores_are_errors(labels: Any, scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking_curves(labels, scores)


def test_a_word_counts_once_a_document() -> None:
    matrix = sparse.csr_matrix([[3, 0, 1], [0, 0, 0]])
    assert document_scores(matrix, [2.0, 5.0, -0.5]).tolist() == [1.5, 0.0]
    with pytest.raises(ValueError, match="each of the 3 words"):
        document_scores(matrix, [1.0])


def test_held_out_words_are_judged_by_shares_not_counts() -> None:
    # Ten known documents and two novel ones: 3 of 10 is less than 1 of 2.
    matrix = np.zeros((12, 4), int)
    matrix[[0, 1, 2, 10], 0] = 1
    matrix[[0, 1, 2, 3, 4, 10], 1] = 1  # 5 of 10, 1 of 2: equal, so not judged
    matrix[[0, 10], 2] = 1  # too few
    matrix[[0, 1, 2], 3] = 1
    words = held_out_words(matrix, np.arange(12) >= 10, min_documents=3)
    assert words.judged.tolist() == [True, False, False, True]
    assert words.novel[words.judged].tolist() == [True, False]


def test_folds_hold_every_document_out_once_and_keep_shares() -> None:
    labels = np.array(["cricket"] * 40 + ["rugby"] * 20)
    parts = list(folds(labels, 4, random_state=3))
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(60))
    for train, test in parts:
        assert not set(train.tolist()) & set(test.tolist()) and len(train) + len(test) == 60
        assert (labels[test] == "rugby").sum() == 5


def test_folds_do_not_split_groups() -> None:
    rng = np.random.default_rng(0)
    labels, groups = rng.integers(0, 2, 90), rng.integers(0, 40, 90)
    for train, test in folds(labels, 3, groups=groups):
        assert not set(groups[train]) & set(groups[test])
        assert 20 <= len(test) <= 40


def test_the_seed_decides_what_is_held_out() -> None:
    labels = [0] * 30 + [1] * 30
    first, again, other = (next(folds(labels, random_state=seed))[1].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_too_many_folds_are_an_error() -> None:
    with pytest.raises(ValueError, match="has 1 distinct document, too few for 2 folds"):
        next(folds([0, 0, 1], 2))
    with pytest.raises(ValueError, match="has 1 distinct document"):
        next(folds([0, 0, 1, 1], 2, groups=[0, 1, 2, 2]))
    with pytest.raises(ValueError, match="n_splits=1"):
        next(folds([0, 1], 1))


def test_near_duplicates_are_linked_by_chains_and_across_blocks() -> None:
    rng = np.random.default_rng(2)
    matrix = (rng.random((1200, 60)) < 0.3).astype(int)
    matrix[1100] = matrix[3]  # far apart, beyond a block of 512
    a = np.arange(60) < 20
    matrix[5], matrix[6], matrix[7] = a, np.roll(a, 1), np.roll(a, 2)
    matrix[9] = 0
    groups = near_duplicates(sparse.csr_matrix(matrix), threshold=0.9)
    assert groups[1100] == groups[3]
    assert groups[5] == groups[6] == groups[7]  # 19 of 21 words shared, 5 and 7 only 18 of 22
    assert len(set(groups.tolist())) == 1200 - 3
    with pytest.raises(ValueError, match="threshold=0"):
        near_duplicates(matrix, threshold=0)
