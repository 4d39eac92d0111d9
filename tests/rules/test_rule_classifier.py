"""Classification by rules with weights."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score

from lab.evaluation.rules import MAX_WORDS, Setting, Task, compare
from newfound import RuleClassifier, WeightedRule
from newfound.rules import classifier

N_WORDS = 40


def topics(seed: int, n: int = 300) -> tuple[Any, NDArray[np.str_]]:
    """Three classes of which one can be told by a pair of words only: both of words 0 and 1."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, N_WORDS)) < 0.15
    X[:, :2] = rng.random((n, 2)) < 0.5
    X[:, 2] = rng.random(n) < 0.3
    y = np.where(X[:, 2], "third", np.where(X[:, 0] & X[:, 1], "both", "other"))
    return sp.csr_array(X), y


@pytest.fixture(scope="module")
def fitted() -> RuleClassifier:
    return RuleClassifier(n_clauses=40, random_state=3).fit(*topics(1))


def test_pairs_of_words_are_found_and_used(fitted: RuleClassifier) -> None:
    X, y = topics(2)
    assert (fitted.predict(X) == y).mean() > 0.9
    assert (0, 1) in fitted.rule_words_
    alone = RuleClassifier(max_words=1, random_state=3).fit(*topics(1))
    assert max(len(words) for words in alone.rule_words_) == 1
    assert fitted.score(X, y) >= alone.score(X, y)


def test_a_score_is_the_sum_of_the_weights_of_matching_rules(fitted: RuleClassifier) -> None:
    X, _ = topics(4, 30)
    scores = fitted.decision_function(X)
    bags = [set(np.flatnonzero(row).tolist()) for row in X.toarray()]
    weights = fitted.weights_.toarray()
    for bag, row, found in zip(bags, X.toarray(), scores, strict=True):
        matching = [j for j, words in enumerate(fitted.rule_words_) if bag.issuperset(words)]
        assert found.tolist() == (weights[matching].sum(axis=0) + fitted.rules_.base).tolist()
        for code, name in enumerate(fitted.classes_):
            told = fitted.explain(row, name, [f"w{i}" for i in range(N_WORDS)])
            assert sum(rule.weight for rule in told) == found[code]
            assert all(isinstance(rule, WeightedRule) and rule.weight for rule in told)


@pytest.mark.parametrize(
    ("documents", "class_", "names", "message"),
    [
        (slice(0, 2), "both", None, "x has 2 documents; explain one at a time"),
        (slice(0, 1), "fourth", None, "class_='fourth' is not a class of this model: 'both', "),
        (slice(0, 1), "both", ["a"], "There are 1 feature names for 40 features; pass one for"),
    ],
)
@pytest.mark.parametrize("as_given", [sp.csr_array, lambda X: X.toarray()])
def test_what_cannot_be_explained_is_said(
    fitted: RuleClassifier, documents: slice, class_: str, names: Any, message: str, as_given: Any
) -> None:
    X, _ = topics(4, 30)
    with pytest.raises(ValueError, match=message):
        fitted.explain(as_given(X[documents]), class_, names)


def test_a_row_and_a_matrix_of_one_row_are_explained_alike(fitted: RuleClassifier) -> None:
    X, _ = topics(4, 30)
    told = fitted.explain(X[:1], np.str_("both"))
    assert told and told == fitted.explain(X.toarray()[0], "both")
    assert told == fitted.explain(X.toarray()[:1], "both")


@pytest.mark.parametrize("C", [0, "a", float("nan"), None, True])
def test_C_must_be_a_positive_number(C: Any) -> None:
    with pytest.raises(ValueError, match=f"C={C!r} must be a positive number"):
        RuleClassifier(C=C).fit(*topics(1))


def test_weights_are_whole_and_bounded(fitted: RuleClassifier) -> None:
    assert fitted.weights_.dtype.kind == "i"
    assert np.abs(fitted.weights_.data).max() == 100


def test_probabilities_agree_with_the_scores(fitted: RuleClassifier) -> None:
    X, _ = topics(5, 50)
    probabilities = fitted.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (probabilities.argmax(axis=1) == fitted.decision_function(X).argmax(axis=1)).all()


def test_scores_are_numbers_that_scikit_learn_calibrates(fitted: RuleClassifier) -> None:
    X, y = topics(1)
    assert fitted.decision_function(X).dtype == np.float64
    calibrated = CalibratedClassifierCV(FrozenEstimator(fitted), method="sigmoid").fit(X, y)
    assert (calibrated.predict(X) == y).mean() > 0.8


def test_two_classes_have_opposite_scores() -> None:
    X, y = topics(1)
    two = RuleClassifier(n_clauses=20, random_state=0).fit(X, y == "both")
    assert two.scores(X).sum(axis=1).any() == np.False_
    assert two.decision_function(X).tolist() == two.scores(X)[:, 1].tolist()


def test_without_a_matching_rule_the_most_frequent_class_is_named(fitted: RuleClassifier) -> None:
    _, y = topics(1)
    names, counts = np.unique(y, return_counts=True)
    assert fitted.predict(np.zeros((1, N_WORDS), bool)).tolist() == [names[counts.argmax()]]


def test_one_seed_gives_the_same_rules_on_any_number_of_threads() -> None:
    X, y = topics(6)
    one, two = (
        RuleClassifier(n_clauses=40, n_jobs=jobs, random_state=1).fit(X, y) for jobs in (1, 2)
    )
    assert one.rule_words_ == two.rule_words_
    assert (one.weights_ != two.weights_).nnz == 0


def test_an_and_that_says_no_more_than_its_words_is_left_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((400, 12)) < 0.4
    rules = RuleClassifier(n_clauses=60, random_state=0).fit(X, np.where(X[:, 0], "a", "b"))
    assert not any(len(words) > 1 and 0 in words for words in rules.rule_words_)


def test_many_coefficients_are_fitted_in_less_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "MOST_COEFFICIENTS", 10)
    X, y = topics(2)
    frugal = RuleClassifier(n_clauses=40, random_state=3).fit(*topics(1))
    assert (frugal.predict(X) == y).mean() > 0.9
    assert frugal.weights_.dtype.kind == "i"


def test_it_is_a_classifier_of_scikit_learn(fitted: RuleClassifier) -> None:
    X, y = topics(7, 120)
    model = clone(fitted).set_params(epochs=3, n_clauses=10)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.7
    assert (
        GridSearchCV(model, {"max_words": [1, 2]}, cv=2).fit(X, y).best_score_ > 0.5
    )  # chance: 0.4
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(X).tolist() == fitted.predict(X).tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_words": 0}, "max_words=0"),
        ({"min_matches": 0}, "min_matches=0"),
        ({"C": -1.0}, "C=-1.0"),
        ({"min_matches": 1000}, "No word is in min_matches=1000 documents"),
        ({"n_clauses": 3}, "n_clauses=3"),
    ],
)
def test_impossible_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleClassifier(**parameters).fit(*topics(1, 30))


def test_rules_are_compared_with_logistic_regression() -> None:
    texts = ["the cat sat here", "a cat ran", "dogs bark loud", "dogs run here"] * 10
    labels = ["cat", "cat", "dog", "dog"] * 10
    rows = compare(Task.read(texts, labels, texts, labels, stop_words=None), Setting())
    assert [row["method"].startswith("rules") for row in rows] == [True] * len(MAX_WORDS) + [False]
    assert all(row["accuracy"] == 1.0 for row in rows)
