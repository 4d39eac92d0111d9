"""The classifier as its users meet it. That it keeps the law is shown in test_law_*.py."""

import copy
import os
import pickle
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from newfound import EpochInfo, TsetlinMachineClassifier
from newfound.machine.clauses import Clauses
from newfound.machine.native import MachineParameters, NativeMachine
from waiting import PATIENCE, wait_for_work
from work import count_calls


def make_documents(
    n: int = 120, n_features: int = 150, n_classes: int = 2, seed: int = 0
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Documents in which every class uses some features more than the others do."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    chance = np.full((n_classes, n_features), 0.1)
    for cls in range(n_classes):
        chance[cls, cls::n_classes] = 0.3
    return rng.random((n, n_features)) < chance[y], y


def machine(**parameters: object) -> TsetlinMachineClassifier:
    settings = {"n_clauses": 60, "T": 15, "s": 4.0, "epochs": 8, "random_state": 7} | parameters
    return TsetlinMachineClassifier(**settings)  # type: ignore[arg-type]


# scikit-learn's contract


def signs(X):  # type: ignore[no-untyped-def]
    """Return which numbers are positive; what is not made of numbers, as it is."""
    values = X.tocsr().data if sp.issparse(X) else np.asarray(X)
    if values.dtype.kind == "O":
        values = values.astype(float)
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        return X
    if sp.issparse(X):
        return X.tocsr() > 0
    return X > 0 if hasattr(X, "columns") else values > 0


class Signs(TsetlinMachineClassifier):
    """Takes any numbers and sees their signs, as scikit-learn's checks need it."""

    def fit(self, X, y, **options):  # type: ignore[no-untyped-def]
        return super().fit(signs(X), y, **options)

    def partial_fit(self, X, y, classes=None, **options):  # type: ignore[no-untyped-def]
        return super().partial_fit(signs(X), y, classes, **options)

    def class_sums(self, X):  # type: ignore[no-untyped-def]
        return super().class_sums(signs(X))


@pytest.mark.filterwarnings("ignore")
def test_passes_every_check_of_scikit_learn_on_the_signs_of_its_data() -> None:
    estimator = Signs(n_clauses=100, T=20, s=3.0, random_state=0)
    results = check_estimator(estimator, on_fail=None)
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert not failed
    assert sum(r["status"] == "passed" for r in results) > 45


@pytest.mark.filterwarnings("ignore")
def test_fails_checks_of_scikit_learn_only_where_their_data_is_not_boolean() -> None:
    # These look for the wording of another error, and meet ours about the data first.
    other_wording = {
        "check_classifiers_one_label",
        "check_classifiers_regression_target",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_positive_only_tag_during_fit",
    }
    for result in check_estimator(machine(), on_fail=None):
        if result["status"] == "failed" and result["check_name"] not in other_wording:
            refused = str(result["exception"])
            assert "Boolean or 0 and 1" in refused, result


# what goes in


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.float32),
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        np.asfortranarray,
        sp.csr_array,
        sp.csr_matrix,
        lambda X: sp.csc_array(X.astype(np.int64)),
        lambda X: sp.coo_matrix(X.astype(np.float64)),
        lambda X: sp.csr_array(X, dtype=np.uint8),
    ],
)
def test_every_kind_of_boolean_matrix_gives_the_same_machine(convert) -> None:  # type: ignore[no-untyped-def]
    X, y = make_documents()
    expected = machine().fit(X, y).states_
    np.testing.assert_array_equal(machine().fit(convert(X), y).states_, expected)


def test_stored_zeros_and_unsorted_indices_of_sparse_input_do_not_matter() -> None:
    X, y = make_documents()
    messy = sp.csr_array(X.astype(np.int8))
    messy.data[:5] = 0
    clean = X.copy()
    clean[messy.nonzero()] = True
    clean &= messy.toarray() != 0
    for row in range(len(y)):
        part = slice(messy.indptr[row], messy.indptr[row + 1])
        messy.indices[part] = messy.indices[part][::-1].copy()
        messy.data[part] = messy.data[part][::-1].copy()
    messy = sp.csr_array((messy.data, messy.indices, messy.indptr), shape=messy.shape)
    before = messy.indices.copy()
    np.testing.assert_array_equal(machine().fit(messy, y).states_, machine().fit(clean, y).states_)
    np.testing.assert_array_equal(messy.indices, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X.astype(int) * 2, y), r"has 2 in row 0, column \d+; binarise"),
        (lambda X, y: (-X.astype(int), y), r"has -1 in row 0, column"),
        (lambda X, y: (sp.csr_array(X.astype(float) * 3), y), r"has 3.0 in row 0"),
        (lambda X, y: (np.where(X, np.nan, 0.0), y), "NaN"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X[:, :0], y), "0 feature"),
        (lambda X, y: (X[0], y), "1D"),
        (lambda X, y: (X, y[:-1]), r"y has the shape \(119,\), but there are 120 documents"),
        (lambda X, y: (X, np.zeros_like(y)), "only the class"),
        (lambda X, y: (X, y + 0.5), "Unknown label type"),
        (lambda X, y: (X, None), "requires y"),
        (lambda X, y: (np.array([["a", "b"]] * len(y)), y), "X holds text"),
        (lambda X, y: (np.array([["a", 1]] * len(y), object), y), "turn documents into"),
        (lambda X, y: (["one text", "another"], [0, 1]), "X holds text|1D"),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(change, message) -> None:  # type: ignore[no-untyped-def]
    X, y = change(*make_documents())
    with pytest.raises(ValueError, match=message):
        machine().fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clauses": 7}, "n_clauses=7 must be even"),
        ({"n_clauses": 0}, "n_clauses=0 must be a whole number of at least 2"),
        ({"n_clauses": 10.5}, "n_clauses=10.5 must be a whole number"),
        ({"T": 0}, "T=0 must be"),
        ({"s": 0.5}, "s=0.5 must be a number from 1"),
        ({"s": 8001.0}, "s=8001.0 must be a number from 1 to 8000"),
        ({"n_jobs": 5000}, "n_jobs=5000 must be"),
        ({"s": float("nan")}, "s=nan must be"),
        ({"s": "25"}, "s='25' must be"),
        ({"epochs": 0}, "epochs=0 must be"),
        ({"max_literals": 0}, "max_literals=0 must be"),
        ({"n_jobs": 0}, "n_jobs=0 must be"),
    ],
)
def test_wrong_parameters_are_refused_in_a_sentence(parameters, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        machine(**parameters).fit(*make_documents())


def test_sample_weight_is_refused_and_other_keywords_are_unknown() -> None:
    X, y = make_documents()
    with pytest.raises(ValueError, match="takes no sample_weight"):
        machine().fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        machine().partial_fit(X, y, weights=1)


@pytest.mark.parametrize("texts", [["a b", "c d"], ("a b", "c d"), pd.Series(["a b", "c d"])])
def test_texts_are_refused_with_what_to_do(texts: Any) -> None:
    with pytest.raises(ValueError, match=r"X holds text; .* newfound\.TextVectorizer"):
        machine().fit(texts, [0, 1])


@pytest.mark.parametrize("labels", [np.array(["a", 1, "a"], object), pd.Series(["a", 1, "a"])])
def test_labels_that_mix_texts_and_numbers_are_refused(labels: Any) -> None:
    with pytest.raises(ValueError, match="y mixes texts with other labels, such as 1; pass labels"):
        machine().fit(np.eye(3, dtype=bool), labels)


@pytest.mark.parametrize("name", ["boost_true_positive", "weighted", "negations"])
def test_a_switch_is_true_or_false(name: str) -> None:
    X, y = make_documents()
    with pytest.raises(ValueError, match=f"{name}='no' must be True or False"):
        machine(**{name: "no"}).fit(X, y)
    machine(epochs=1, **{name: np.True_}).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_are_calibrated_by_scikit_learn(n_classes: int) -> None:
    X, y = make_documents(n_classes=n_classes)
    fitted = CalibratedClassifierCV(machine(), cv=2, method="sigmoid").fit(X, y)
    probabilities = fitted.predict_proba(X)
    assert probabilities.shape == (len(y), n_classes)
    assert (probabilities.argmax(axis=1) == y).mean() > 0.8


def test_other_width_at_prediction_is_refused() -> None:
    X, y = make_documents()
    fitted = machine().fit(X, y)
    with pytest.raises(ValueError, match="149 features"):
        fitted.predict(X[:, :-1])


def test_before_fit_everything_says_so() -> None:
    X, _ = make_documents()
    for ask in (machine().predict, machine().decision_function, machine().matching_clauses):
        with pytest.raises(NotFittedError):
            ask(X)


def test_documents_and_vocabularies_may_be_larger_than_sixteen_bits() -> None:
    n = 70_000
    X = sp.csr_array(np.vstack([np.ones(n, bool), np.arange(n) % 2 == 0, np.zeros(n, bool)]))
    fitted = machine(n_clauses=4, epochs=3).fit(X, ["all", "half", "none"])
    clauses = fitted.clauses_
    assert fitted.states_.shape == (3, 4, 2, n)
    assert clauses.literals.max() >= 65_536 and clauses.lengths.max() > 65_535
    matching = fitted.matching_clauses(X).toarray()
    plain, negated, dense = clauses.plain, clauses.negated, X.astype(np.int64)
    broken = (plain.astype(np.int64) @ (1 - dense.toarray()).T) + negated.astype(np.int64) @ dense.T
    np.testing.assert_array_equal(matching.T, (broken == 0) & (clauses.lengths > 0)[:, None])


# what comes out


@pytest.mark.parametrize("n_classes", [2, 3])
def test_clauses_votes_and_support_agree_with_the_automata(n_classes: int) -> None:
    X, y = make_documents(n_classes=n_classes)
    labels = np.array(["apple", "bear", "cat"])[y]
    fitted = machine().fit(X, labels)
    clauses, states = fitted.clauses_, fitted.states_
    included = states.reshape(n_classes * 60, 2, -1) >= 128
    np.testing.assert_array_equal(clauses.plain.toarray(), included[:, 0])
    np.testing.assert_array_equal(clauses.negated.toarray(), included[:, 1])
    matches = ~((included[:, 0] @ ~X.T) | (included[:, 1] @ X.T)) & included.any((1, 2))[:, None]
    np.testing.assert_array_equal(fitted.matching_clauses(X).toarray(), matches.T)
    np.testing.assert_array_equal(clauses.matches, matches.sum(1))
    own = (matches & (clauses.class_index[:, None] == y)).sum(1)
    expected = np.where(clauses.polarity > 0, own, matches.sum(1) - own)
    np.testing.assert_array_equal(clauses.agrees, expected)
    votes = np.zeros((len(y), n_classes), int)
    np.add.at(votes.T, clauses.class_index, matches * clauses.polarity[:, None])
    np.testing.assert_array_equal(fitted.class_sums(X), votes)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[votes.argmax(1)])
    decision = votes[:, 1] - votes[:, 0] if n_classes == 2 else votes
    np.testing.assert_array_equal(fitted.decision_function(X), decision)
    assert fitted.score(X, labels) > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_support_counts_any_documents(n_classes: int, n_jobs: int) -> None:
    X, y = make_documents(n_classes=n_classes)
    labels = np.array(["apple", "bear", "cat"])
    fitted = machine(n_jobs=n_jobs).fit(X, labels[y])
    clauses = fitted.clauses_
    matches, agrees = fitted.support(X, labels[y])
    np.testing.assert_array_equal(matches, clauses.matches)
    np.testing.assert_array_equal(agrees, clauses.agrees)
    others, of_others = make_documents(n=70, n_classes=n_classes, seed=1)
    matches, agrees = fitted.support(sp.csr_array(others), labels[of_others])
    matching = fitted.matching_clauses(others).toarray()
    np.testing.assert_array_equal(matches, matching.sum(0))
    own = (matching & (clauses.class_index == of_others[:, None])).sum(0)
    np.testing.assert_array_equal(agrees, np.where(clauses.polarity > 0, own, matches - own))
    assert 0 < agrees.sum() < matches.sum()
    # Documents of a single class will do.
    one = of_others == 0
    matches, agrees = fitted.support(others[one], labels[of_others[one]])
    np.testing.assert_array_equal(matches, matching[one].sum(0))


def test_support_of_documents_that_do_not_fit() -> None:
    X, y = make_documents()
    with pytest.raises(NotFittedError):
        machine().support(X, y)
    fitted = machine().fit(X, y)
    with pytest.raises(ValueError, match="149 features"):
        fitted.support(X[:, :-1], y)
    with pytest.raises(ValueError, match="label 7, which is not among the classes"):
        fitted.support(X, np.full(len(y), 7))
    with pytest.raises(ValueError, match="one label for each"):
        fitted.support(X, y[:-1])


def test_clauses_can_be_taken_and_joined() -> None:
    X, y = make_documents()
    one, other = (machine(random_state=seed).fit(X, y).clauses_ for seed in (1, 2))
    names = ("class_index", "polarity", "matches", "agrees", "lengths")
    rows = np.random.default_rng(0).permutation(120)[:50]
    for chosen in (rows, rows[:0], np.arange(120), np.array([5, 5, 7])):
        taken = one.take(chosen)
        assert len(taken) == len(chosen)
        for name in names:
            np.testing.assert_array_equal(getattr(taken, name), getattr(one, name)[chosen])
        np.testing.assert_array_equal(taken.plain.toarray(), one.plain.toarray()[chosen])
        np.testing.assert_array_equal(taken.negated.toarray(), one.negated.toarray()[chosen])
    joined = Clauses.concatenate([one, other, one.take(rows[:0]), one.take(rows)])
    assert len(joined) == 120 + 120 + 50
    parts = [joined.take(np.arange(120)), joined.take(np.arange(120, 240))]
    parts.append(joined.take(np.arange(240, 290)))
    for part, expected in zip(parts, (one, other, one.take(rows)), strict=True):
        for name in (*names, "indptr", "literals"):
            np.testing.assert_array_equal(getattr(part, name), getattr(expected, name))
            assert getattr(part, name).dtype == getattr(expected, name).dtype
    assert Clauses.concatenate([one]).literals.tolist() == one.literals.tolist()


def test_clauses_of_nothing_can_be_taken_and_joined() -> None:
    X, y = make_documents()
    short = machine(max_literals=1, epochs=1, n_clauses=200).fit(X, y).clauses_
    empty = np.flatnonzero(short.lengths == 0)
    assert len(empty) > 0
    joined = Clauses.concatenate([short.take(empty), short, short.take(empty)])
    assert joined.lengths.tolist() == [0] * len(empty) + short.lengths.tolist() + [0] * len(empty)


def test_twenty_thousand_clauses_are_looked_at_in_no_loop() -> None:
    X, y = make_documents(n=60, n_features=2000)
    fitted = machine(n_clauses=10_000, T=50, epochs=2).fit(X, y)
    clauses = fitted.clauses_
    assert len(clauses) == 20_000
    assert count_calls(lambda: (clauses.plain, clauses.negated, clauses.lengths)) < 2_000


def test_history_counts_events_and_says_why_training_ended() -> None:
    X, y = make_documents()
    fitted = machine(epochs=5, T=50).fit(X, y)
    assert (fitted.n_epochs_, fitted.stop_reason_) == (5, "epochs")
    assert {len(column) for column in fitted.history_.values()} == {5}
    assert fitted.history_["type_ib"].sum() > fitted.history_["type_ia"].sum() > 0
    easy = machine(T=3, epochs=200).fit(X, y)
    assert easy.stop_reason_ == "converged" and easy.n_epochs_ < 200
    assert easy.history_["documents_at_target"][-1] == len(y)
    assert sum(easy.history_[kind][-1] for kind in ("type_ia", "type_ib", "type_ii")) == 0


def test_a_literal_budget_makes_clauses_short() -> None:
    X, y = make_documents(n=300)
    free = machine(epochs=20, s=10.0).fit(X, y).clauses_.lengths.mean()
    short = machine(epochs=20, s=10.0, max_literals=5).fit(X, y).clauses_.lengths.mean()
    assert short < free / 2


def test_same_seed_same_machine_on_any_number_of_threads() -> None:
    X, y = make_documents(n_classes=3)
    one = machine(n_jobs=1).fit(X, y)
    for n_jobs in (None, 2, 8, -1):
        other = machine(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(other.states_, one.states_)
        np.testing.assert_array_equal(other.class_sums(X), one.class_sums(X))
    assert not np.array_equal(machine(random_state=8).fit(X, y).states_, one.states_)


def test_any_random_state_of_scikit_learn_will_do() -> None:
    X, y = make_documents()
    first = machine(random_state=np.random.RandomState(3)).fit(X, y).states_
    again = machine(random_state=np.random.RandomState(3)).fit(X, y).states_
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(
        machine(random_state=None).fit(X, y).states_, machine(random_state=None).fit(X, y).states_
    )


# going on


def test_partial_fit_goes_on_and_knows_classes_up_front() -> None:
    X, y = make_documents(n_classes=3)
    fitted = machine()
    fitted.partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert fitted.n_epochs_ == 1 and list(fitted.classes_) == [0, 1, 2]
    for _ in range(7):
        fitted.partial_fit(X, y)
    assert fitted.n_epochs_ == 8 and len(fitted.history_["type_ia"]) == 8
    assert fitted.score(X, y) > 0.9
    with pytest.raises(ValueError, match="label 3, which is not among the classes"):
        fitted.partial_fit(X, np.where(y == 2, 3, y))
    with pytest.raises(ValueError, match="not the same as on the first call"):
        fitted.partial_fit(X, y, classes=[0, 1])


def test_a_pickled_machine_is_the_same_and_goes_on_the_same() -> None:
    X, y = make_documents()
    fitted = machine().fit(X, y)
    twin = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(twin.states_, fitted.states_)
    np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
    other = copy.deepcopy(fitted)
    for each in (fitted, twin, other):
        each.partial_fit(X, y, epochs=2)
    np.testing.assert_array_equal(twin.states_, fitted.states_)
    np.testing.assert_array_equal(other.states_, fitted.states_)


def test_a_wrong_first_call_leaves_nothing_behind() -> None:
    X, y = make_documents()
    fitted = machine()
    with pytest.raises(ValueError, match="not among the classes"):
        fitted.partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="epochs=0"):
        fitted.partial_fit(X, y, epochs=0)
    with pytest.raises(NotFittedError):
        fitted.predict(X)
    assert list(fitted.partial_fit(X, y).classes_) == [0, 1]


def test_parameters_changed_after_the_fit_do_not_change_the_machine() -> None:
    X, y = make_documents()
    fitted = machine().fit(X, y)
    fitted.set_params(n_clauses=10, s=3.0)
    assert len(fitted.clauses_) == 120 and fitted.matching_clauses(X).shape == (len(y), 120)
    twin = pickle.loads(pickle.dumps(fitted))
    for each in (fitted, twin):
        each.partial_fit(X, y)
    np.testing.assert_array_equal(twin.states_, fitted.states_)


def test_changing_the_documents_afterwards_does_not_change_what_clauses_match() -> None:
    X, y = make_documents()
    matrix = sp.csr_array(X)
    fitted = machine().fit(matrix, y)
    matrix.indices[:] = 0
    np.testing.assert_array_equal(fitted.clauses_.matches, machine().fit(X, y).clauses_.matches)


def test_threads_may_ask_one_machine_at_the_same_time() -> None:
    X, y = make_documents()
    expected = machine().fit(X, y)
    sums, matches = expected.class_sums(X), expected.clauses_.matches
    for _ in range(20):
        shared = machine().fit(X, y)
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(shared.class_sums, X) for _ in range(8)]
            read = [pool.submit(getattr, shared, "clauses_") for _ in range(8)]
        assert all(np.array_equal(each.result(), sums) for each in asked)
        assert all(np.array_equal(each.result().matches, matches) for each in read)


# while it runs


def test_a_callback_sees_every_epoch_and_can_end_training() -> None:
    X, y = make_documents()
    seen: list[EpochInfo] = []

    def watch(info: EpochInfo) -> bool:
        seen.append(info)
        return info.epoch == 3

    fitted = machine(T=50).fit(X, y, callback=watch)
    assert [info.epoch for info in seen] == [1, 2, 3]
    assert (fitted.n_epochs_, fitted.stop_reason_) == (3, "callback")
    assert seen[0].epochs == 8 and seen[0].documents == len(y)
    assert seen[2].type_ia == fitted.history_["type_ia"][2]
    np.testing.assert_array_equal(fitted.states_, machine(T=50, epochs=3).fit(X, y).states_)


def test_an_error_in_a_callback_reaches_the_caller() -> None:
    def fail(info: EpochInfo) -> bool:
        raise RuntimeError(f"epoch {info.epoch}")

    X, y = make_documents()
    fitted = machine()
    with pytest.raises(RuntimeError, match="epoch 1"):
        fitted.fit(X, y, callback=fail)
    assert (fitted.n_epochs_, fitted.stop_reason_) == (1, "callback")
    assert len(fitted.predict(X)) == len(y)


def test_control_c_in_a_callback_leaves_the_model_of_that_epoch() -> None:
    def interrupt(info: EpochInfo) -> bool:
        raise KeyboardInterrupt

    fitted = machine()
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(*make_documents(), callback=interrupt)
    assert (fitted.n_epochs_, fitted.stop_reason_) == (1, "interrupted")


def test_verbose_prints_a_line_for_each_epoch_on_standard_error(capsys) -> None:  # type: ignore[no-untyped-def]
    machine(T=50, epochs=2, verbose=1).fit(*make_documents())
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("documents at T") == 2


def test_the_documents_may_be_changed_after_a_fit() -> None:
    indptr, indices = np.arange(9), np.tile(np.array([0, 1], np.int32), 4)
    codes = indices.copy()
    counted = []
    for change in (False, True):
        native = NativeMachine(MachineParameters(4, 2, 3.0, False, 0), 2, 2, seed=1)
        native.fit((indptr, indices), codes, epochs=20)
        if change:
            for array in (indptr, indices, codes):
                array[:] = 0
        counted.append(native.clauses())
    assert counted[0].matches.sum() > 0
    for name in ("matches", "agrees"):
        np.testing.assert_array_equal(getattr(counted[1], name), getattr(counted[0], name))


def test_what_a_signal_handler_raises_reaches_the_caller() -> None:
    def too_late(number: int, frame: object) -> None:
        raise TimeoutError("too late")

    before = signal.signal(signal.SIGALRM, too_late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        fitted = machine(n_clauses=200, T=100, epochs=100_000)
        with pytest.raises(TimeoutError, match="too late"):
            fitted.fit(*make_documents(n_features=1000))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert fitted.stop_reason_ == "interrupted" and fitted.n_epochs_ > 0


class Interrupt(threading.Thread):
    """Sends this process Control-C when the core has trained for some seconds of the processor.

    A shell starts background processes with Control-C ignored, so it is turned on until `join`.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        super().__init__()
        self.seconds, self.begun, fit = seconds, threading.Event(), NativeMachine.fit

        def begin(*arguments: Any, **options: Any) -> Any:
            self.begun.set()
            return fit(*arguments, **options)

        monkeypatch.setattr(NativeMachine, "fit", begin)
        self.before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.start()

    def join(self, timeout: float | None = None) -> None:
        super().join(timeout)
        signal.signal(signal.SIGINT, self.before)

    def run(self) -> None:
        if self.begun.wait(PATIENCE):
            wait_for_work(os.getpid(), self.seconds)
            os.kill(os.getpid(), signal.SIGINT)


def test_control_c_ends_endless_training_with_the_model_of_the_last_full_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = make_documents(n=100, n_features=1000)
    settings = {"n_clauses": 300, "T": 500, "s": 20.0, "n_jobs": 2}
    fitted = machine(**settings, epochs=10**7)
    interrupt = Interrupt(monkeypatch, 0.5)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(X, y)
    interrupt.join()
    assert fitted.stop_reason_ == "interrupted" and fitted.n_epochs_ >= 1
    assert len(fitted.predict(X)) == len(y)
    same = machine(**settings, epochs=fitted.n_epochs_).fit(X, y)
    np.testing.assert_array_equal(same.states_, fitted.states_)


def test_control_c_in_an_epoch_too_long_to_finish_leaves_a_valid_model_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    words = rng.integers(0, 4000, (60_000, 80))
    ends = np.arange(0, words.size + 1, 80)
    X = sp.csr_array((np.ones(words.size, np.int8), words.ravel(), ends), shape=(60_000, 4000)) > 0
    y = rng.integers(0, 2, 60_000)
    fitted = machine(n_clauses=2000, T=2000, s=10.0)
    interrupt = Interrupt(monkeypatch, 0.3)
    with (
        warnings.catch_warnings(record=True) as said,
        pytest.raises(KeyboardInterrupt),
    ):
        warnings.simplefilter("always")
        fitted.fit(X, y)
    interrupt.join()
    assert fitted.n_epochs_ == 0 and fitted.stop_reason_ == "interrupted"
    assert "holds what was learned in that part of the epoch" in str(said[0].message)
    assert len(fitted.predict(X[:10])) == 10


# rules


def test_rules_have_the_names_of_the_features() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50, dtype=bool)
    y = np.where(X[:, 0] & ~X[:, 1], "picnic", "home")
    fitted = machine(n_clauses=20, T=4, s=3.0, epochs=20).fit(X, y)
    rules = fitted.rules(["sun", "wind"])
    assert "sun AND NOT wind → picnic" in repr(rules)
    best = next(rule for rule in rules if str(rule) == "sun AND NOT wind → picnic")
    assert (best.support, best.n_matches, best.precision) == (50, 50, 1.0)
    assert sum(rule.count for rule in rules) == int((fitted.clauses_.lengths > 0).sum())
    assert [rule.support for rule in rules] == sorted((r.support for r in rules), reverse=True)
    assert "x0 AND NOT x1 → picnic" in map(str, fitted.rules())
    table = rules.to_pandas()
    assert table["rule"].tolist() == list(map(str, rules)) and "class" in table.columns
    assert "picnic" in rules._repr_html_()
    with pytest.raises(ValueError, match="3 feature names for 2 features"):
        fitted.rules(["a", "b", "c"])


def test_rules_say_what_a_match_adds_to_the_votes() -> None:
    X, y = make_documents(n_classes=3)
    for weighted in (False, True):
        fitted = machine(weighted=weighted, epochs=3).fit(X, y)
        rules = fitted.rules()
        sums = np.zeros((len(y), 3), int)
        for rule, votes in zip(rules, rules.votes, strict=True):
            for row, document in enumerate(X):
                if rule.matches({f"x{j}" for j in np.flatnonzero(document)}):
                    sums[row, rule.class_name] += rule.polarity * votes
        np.testing.assert_array_equal(sums, fitted.class_sums(X))
        assert rules[2:5].to_pandas()["votes"].tolist() == list(rules.votes[2:5])
        assert ("; votes: " in repr(rules)) is weighted


def test_rules_take_the_columns_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"sun": [True, False] * 30, "wind": [True, True, False, False] * 15})
    fitted = machine(n_clauses=10, T=4, s=3.0, epochs=10).fit(X, X["sun"])
    assert fitted.feature_names_in_.tolist() == ["sun", "wind"]
    words = {word for rule in fitted.rules() for word in (*rule.plain, *rule.negated)}
    assert "sun" in words <= {"sun", "wind"}
    twin = pickle.loads(pickle.dumps(fitted))
    assert list(map(str, twin.rules())) == list(map(str, fitted.rules()))
