"""The metrics agree with scikit-learn's, and what is held out is held out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics as theirs

from newfound.lab.evaluation import (
    auroc,
    average_precision,
    document_scores,
    folds,
    held_out_documents,
    held_out_words,
    near_duplicates,
    precision_recall_curve,
    roc_curve,
)


@pytest.mark.parametrize("digits", [0, 1, 6])
@pytest.mark.parametrize("seed", range(4))
def test_curves_and_areas_are_those_of_scikit_learn(seed: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.random(60) < 0.3
    scores = np.round(rng.normal(labels, 1.0), digits)  # few digits: many ties
    fpr, tpr, thresholds = theirs.roc_curve(labels, scores, drop_intermediate=False)
    ours = roc_curve(labels, scores)
    assert ours.false_positive_rate == pytest.approx(fpr)
    assert ours.true_positive_rate == pytest.approx(tpr)
    assert ours.thresholds[1:] == pytest.approx(thresholds[1:])
    assert ours.auroc == pytest.approx(theirs.roc_auc_score(labels, scores))
    precision, recall, cuts = theirs.precision_recall_curve(labels, scores)
    curve = precision_recall_curve(labels, scores)
    assert curve.precision == pytest.approx(precision[:-1][::-1])
    assert curve.recall == pytest.approx(recall[:-1][::-1])
    assert curve.thresholds == pytest.approx(cuts[::-1])
    expected = theirs.average_precision_score(labels, scores)
    assert curve.average_precision == pytest.approx(expected)
    assert auroc(labels, scores) == ours.auroc
    assert average_precision(labels, scores) == curve.average_precision


def test_equal_scores_are_a_coin_toss() -> None:
    assert auroc([True, False, False, True], np.zeros(4)) == 0.5
    assert average_precision([True, False, False, True], np.zeros(4)) == 0.5


@pytest.mark.parametrize(
    ("labels", "scores", "said"),
    [
        ([True, True], [1, 2], "same"),
        ([True, False], [1, np.nan], "nan"),
        ([True, False], [1.0, 2.0, 3.0], "each of the 3"),
        (["known", "novel"], [1, 2], "True or False"),
        ([0, 2], [1, 2], "True or False"),
    ],
)
def test_wrong_labels_and_scores_are_refused(labels: Any, scores: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        roc_curve(labels, scores)


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
    first, again, other = (
        held_out_documents(labels, random_state=seed)[1].tolist() for seed in (1, 1, 2)
    )
    assert first == again != other


def test_too_many_folds_and_too_large_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="has 1 different document, too few for 2 folds"):
        next(folds([0, 0, 1], 2))
    with pytest.raises(ValueError, match="has 1 different document"):
        next(folds([0, 0, 1, 1], 2, groups=[0, 1, 2, 2]))
    with pytest.raises(ValueError, match="at least 2"):
        next(folds([0, 1], 1))
    with pytest.raises(ValueError, match=r"share=0\.9"):
        held_out_documents([0, 1], 0.9)


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
