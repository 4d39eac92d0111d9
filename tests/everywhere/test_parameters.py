"""Parameters of the wrong type or range are refused by name, given in Python or in a model file."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detector_files import small_detector
from model_files import KNOWN, LABELS, NOVEL, assemble, fitted, take_apart
from newfound import (
    ModelFileError,
    Monitor,
    NoveltyDescriber,
    NoveltyDetector,
    RuleClassifier,
    TextVectorizer,
    TsetlinMachineClassifier,
    load,
)
from newfound.description.describer import check_parameters as check_describer
from newfound.description.learning import resolve
from newfound.detection.learning import check_parameters as check_detector

NAN, INF = float("nan"), float("inf")
VALUES = [NAN, INF, -1, 0, 2, 0.5, True, "x", b"x", [2], {"a": 1}, (1,)]
WHOLE, SWITCH, NUMBER, SHARE, FROM_0 = [2], [0, True], [2, 0.5], [0.5], [0, 2]
# Of the values above those that a parameter may have; of others of that name, none.
SOUND: dict[str, list[Any]] = {
    **dict.fromkeys(("n_clauses", "T", "s", "epochs", "max_literals", "max_words"), WHOLE),
    **dict.fromkeys(("min_matches", "n_groups", "n_machines", "max_features", "themes"), WHOLE),
    **dict.fromkeys(("max_documents", "rule_min_df"), FROM_0),
    **dict.fromkeys(("classwise", "lemmatize", "correct_typos", "redact", "calendar"), SWITCH),
    **dict.fromkeys(("fold_copies", "boost_true_positive", "weighted", "negations"), SWITCH),
    **dict.fromkeys(("alpha", "held_back"), SHARE),
    **dict.fromkeys(("min_df", "max_df"), NUMBER),
    "min_word_length": WHOLE,
    "C": [INF, *NUMBER],
    "shared_low": [0, *NUMBER],
    "shared_high": [INF, *NUMBER],
    "n_jobs": [-1, 2],
    "random_state": [-1, 0, 2, True],
    "verbose": [0, 2, True],
    "stop_words": [{"a": 1}],
    "ignore": ["x"],
}
X, Y = np.arange(400).reshape(50, 8) % 7 > 3, np.arange(50) % 2
FIT: dict[type, Callable[[Any], object]] = {
    NoveltyDetector: lambda made: made.fit(KNOWN, ["a", "b"] * 12),
    NoveltyDescriber: lambda made: made.fit([*KNOWN, *NOVEL], LABELS),
    TextVectorizer: lambda made: made.fit(KNOWN),
    TsetlinMachineClassifier: lambda made: made.fit(X, Y),
    RuleClassifier: lambda made: made.fit(X, Y),
}


def wrong_values() -> Iterator[tuple[type, str, Any]]:
    for kind in FIT:
        for name in list(signature(kind).parameters):
            sound = SOUND.get(name, [])
            if (kind, name) == (NoveltyDescriber, "max_literals"):
                sound = FROM_0  # 0 is no limit
            for value in VALUES:
                if not any(value is one or (value == one and type(value) is type(one))
                           for one in sound):  # fmt: skip
                    yield kind, name, value


@pytest.mark.parametrize("kind", FIT)
def test_a_wrong_value_is_refused_with_its_name(kind: type) -> None:
    for of, name, value in wrong_values():
        if of is kind:
            with pytest.raises(ValueError) as caught:
                FIT[kind](kind(**{name: value}))
            message = str(caught.value)
            assert name in message or name == "random_state", (name, value, message)
            assert "not supported between" not in message and "unhashable" not in message


def test_stop_words_that_can_be_read_only_once_are_used() -> None:
    words = TextVectorizer(stop_words=iter(["a", "match"])).fit(KNOWN)
    assert "match" not in words.vocabulary_ and words.stop_words_ == {"a", "match"}


@pytest.mark.parametrize("value", [NAN, INF, -1, 0.5, "x", None, [2], True])
def test_a_number_of_things_is_refused_unless_it_is_one(value: Any) -> None:
    described = fitted()
    asked: list[Callable[[], object]] = [
        lambda: described.words_.top(value),
        lambda: described.context("rugby", n=value),
        lambda: described.senses("rugby", n=value),
    ]
    for ask in asked:
        with pytest.raises(ValueError, match=rf"n={re.escape(repr(value))}: expected a number of"):
            ask()


@pytest.mark.parametrize("value", [NAN, INF, -1, 0, 2, True, "x", None, [2]])
def test_a_rate_of_a_monitor_is_a_share(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ValueError, match="fdr="):
        Monitor(small_detector(), state=tmp_path / "state", fdr=value)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    folder = tmp_path_factory.mktemp("models")
    small_detector().save(folder / "detector")
    fitted().save(folder / "describer")
    return {one.name: take_apart(one.read_bytes()) for one in folder.iterdir()}


@pytest.mark.parametrize(
    ("kind", "place"),
    [("detector", "parameters"), ("describer", "parameters"), ("describer", "chosen")],
)
def test_a_model_file_has_only_parameters_that_can_be_used(
    files: dict[str, tuple[Any, Any]], tmp_path: Path, kind: str, place: str
) -> None:
    """What is loaded passes the checks of a fit; what would not is refused with its file."""
    document, arrays = files[kind]
    refused = []
    for name in document["state"][place]:
        for value in [-1, 0, 2, 0.5, 1e300, True, None, "x", [], [1, 2], [1, 2, 3], ["a"], {}]:
            forged = copy.deepcopy(document)
            forged["state"][place][name] = value
            (tmp_path / "model").write_bytes(assemble(forged, arrays, tmp_path))
            try:
                model = load(tmp_path / "model")
            except ModelFileError as error:
                assert str(tmp_path / "model") in str(error), error
                refused.append((name, value))
                continue
            given = model.get_params(deep=False)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if kind == "detector":
                    check_detector(given)
                else:
                    model.resolve_parameters()
                    check_describer({**resolve(None, {}), **model.parameters_})
    assert ("stop_words", 2) in refused and ("lemmatize", "x") in refused
    assert ("n_groups", -1) in refused or kind == "describer"
