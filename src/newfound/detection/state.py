"""The state of a detector in a model file; docs/model-file.md lists its fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.calibration import Calibration, check_alpha
from newfound.detection.class_statistics import ClassStatistics
from newfound.detection.known_groups import KnownGroups
from newfound.detection.rulebank import RuleBank, new_machine
from newfound.detection.scoring import PARTS, Scales, Scorer
from newfound.detection.split import check_share
from newfound.detection.subwords import Subwords
from newfound.machine.state import (
    clauses_from_state,
    clauses_state,
    machine_from_state,
    machine_state,
)
from newfound.storage.fields import Fields, is_text
from newfound.storage.parameters import parameters_from_state, parameters_state
from newfound.text.state import vectorizer_from_state, vectorizer_state
from newfound.text.vectorizer import TextVectorizer

__all__ = ["DetectorParts", "detector_from_state", "detector_state"]

_MAX_COEFFICIENTS = 3  # of the polynomials of the scales
_VECTORIZER = ("language", "stop_words", "lemmatize", "max_features")


@dataclass(frozen=True)
class DetectorParts:
    """What a detector has learned, and what it learned with.

    Attributes
    ----------
    parameters : dict
        The parameters of its constructor.
    seed : int
        The seed in use.
    scorer : Scorer
        The words, the statistics and the rules of the known classes.
    calibration : Calibration
        The scores of the held-back documents.
    held_back : list of str
        The held-back documents.
    """

    parameters: dict[str, Any]
    seed: int
    scorer: Scorer
    calibration: Calibration
    held_back: list[str]


def detector_state(parts: DetectorParts, *, with_automata: bool = False) -> dict[str, Any]:
    """Return the state of a detector: plain values and arrays.

    It holds the held-back texts in full, because they are scored again when more is learned.
    """
    scorer, calibration = parts.scorer, parts.calibration
    vectorizer, statistics = scorer.vectorizer, scorer.statistics
    classes = scorer.classes.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ValueError("Only classes that are strings or numbers can be saved.")
    state = {
        "parameters": parameters_state(parts.parameters, vectorizer.stop_words_),
        "seed": parts.seed,
        "classes": classes,
        "keeps_function_words": not vectorizer.stop_words_,
        "vectorizer": vectorizer_state(vectorizer),
        "documents": {
            "indptr": statistics.matrix.indptr,
            "indices": statistics.matrix.indices,
            "codes": statistics.codes,
        },
        "weights": statistics.weights,
        "scales": {
            "centre": scorer.scales.centre,
            "scale": scorer.scales.scale,
            "lengths": np.array([scorer.scales.low, scorer.scales.high]),
        },
        "rules": [_bank_state(bank, with_automata=with_automata) for bank in scorer.banks],
        "held_back": {
            "texts": [_storable(text) for text in parts.held_back],
            "scores": calibration.scores,
            "nearest": calibration.nearest,
        },
    }
    if scorer.groups is not None:
        bank = _bank_state(scorer.groups.bank, with_automata=with_automata)
        state["groups"] = {"names": list(scorer.groups.names), **bank}
    if statistics.subwords is not None:
        state["subwords"] = _subwords_state(statistics.subwords)
    return state


def detector_from_state(fields: Fields, names: Iterable[str]) -> DetectorParts:
    """Return the parts of a detector from a state that `detector_state` made.

    Parameters
    ----------
    fields : Fields
        The state.
    names : iterable of str
        The parameters of the constructor.

    Raises
    ------
    ValueError
        If a value is missing, has the wrong type or range, or contradicts another one.
    """
    parameters = _parameters(fields.fields("parameters"), names)
    seed = fields.integer("seed", most=2**32)
    classes = _classes(fields)
    chosen = {name: parameters[name] for name in _VECTORIZER}
    if chosen["stop_words"] == "auto":
        chosen["stop_words"] = None if fields.boolean("keeps_function_words") else "default"
    vectorizer = vectorizer_from_state(
        fields.fields("vectorizer"), {**chosen, "ngram_range": (1, 2)}
    )
    held_back = fields.fields("held_back")
    texts = held_back.texts("texts")
    held_back.require(len(texts) > 0, "texts", "at least one text")
    calibration = Calibration(
        held_back.floats("scores", (len(texts),)),
        held_back.integers("nearest", np.int64, (len(texts),), most=len(classes) - 1),
        float(parameters["alpha"]),
        classwise=parameters["classwise"],
    )
    scorer = Scorer(
        classes,
        vectorizer,
        _statistics(fields, vectorizer, len(classes)),
        [_bank(bank, parameters, seed, vectorizer, classes) for bank in fields.items("rules")],
        _scales(fields.fields("scales")),
        correct_typos=parameters["correct_typos"],
        groups=_groups(fields, parameters, seed, vectorizer, len(classes)),
    )
    return DetectorParts(parameters, seed, scorer, calibration, texts)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _parameters(fields: Fields, names: Iterable[str]) -> dict[str, Any]:
    # Files of newfound 0.1.0 do not have it, and their detectors did not correct.
    parameters = {"correct_typos": False, **parameters_from_state(fields, names)}
    for name in names:
        if name != "correct_typos" or name in fields:
            fields.value(name)
    for name in ("classwise", "lemmatize", *({"correct_typos"} & set(fields))):
        fields.boolean(name)
    check_alpha(parameters["alpha"])
    check_share(parameters["held_back"])
    new_machine(parameters, 0).check_parameters()
    return parameters


def _classes(fields: Fields) -> NDArray[Any]:
    classes = fields.entries("classes")
    names = [label for label in classes if is_text(label) or isinstance(label, int | float)]
    finite = all(math.isfinite(label) for label in names if isinstance(label, float))
    sound = len(names) == len(classes) == len(set(names)) > 0 and finite
    fields.require(sound, "classes", "strings or finite numbers, each once")
    mixed = len({type(label) for label in classes}) > 1
    return np.array(classes, dtype=object if mixed else None)


def _statistics(fields: Fields, vectorizer: TextVectorizer, n_classes: int) -> ClassStatistics:
    documents, n_terms = fields.fields("documents"), len(vectorizer.vocabulary_)
    size, n = documents.length("indices"), documents.length("codes")
    indptr = documents.integers("indptr", np.int64, (n + 1,), most=size)
    indices = documents.integers("indices", np.int32, (size,), most=n_terms - 1)
    sound = indptr[0] == 0 and indptr[-1] == size and bool((np.diff(indptr) >= 0).all())
    documents.require(bool(n and sound), "indptr", "ascending positions of all indices")
    codes = documents.integers("codes", np.int64, (n,), most=n_classes - 1)
    weights = fields.floats("weights", (n_classes, n_terms + 1), np.float32)
    matrix = sparse.csr_matrix((np.ones(size, bool), indices, indptr), shape=(n, n_terms))
    documents.require(
        bool(matrix.has_canonical_format), "indices", "ascending terms in each document"
    )
    # Files of newfound 0.1.0 have no n-grams.
    subwords = _subwords(fields.fields("subwords"), n_classes) if "subwords" in fields else None
    terms = list(vectorizer.vocabulary_)
    return ClassStatistics(matrix, codes, n_classes, terms, weights=weights, subwords=subwords)


def _scales(fields: Fields) -> Scales:
    n_parts = len(PARTS)
    scale = fields.floats("scale", (n_parts,))
    if "lengths" not in fields:  # newfound 0.1.0: the same centre for documents of all lengths
        return Scales(fields.floats("centre", (n_parts,))[None], scale)
    shape = fields.array("centre").shape
    rows = min(max(shape[0], 1), _MAX_COEFFICIENTS) if shape else 1
    low, high = fields.floats("lengths", (2,)).tolist()
    fields.require(0 <= low <= high, "lengths", "two ascending numbers from 0")
    return Scales(fields.floats("centre", (rows, n_parts)), scale, low, high)


def _groups(
    fields: Fields,
    parameters: Mapping[str, Any],
    seed: int,
    vectorizer: TextVectorizer,
    n_classes: int,
) -> KnownGroups | None:
    if "groups" not in fields or n_classes > 1:
        return None
    groups = fields.fields("groups")
    names = groups.texts("names")
    bank = _bank(groups, parameters, seed, vectorizer, np.arange(len(names)))
    sound = np.array_equal(bank.classes, np.arange(len(names)))
    groups.require(sound, "classes", "a number for each name")
    return KnownGroups(tuple(names), bank)


def _subwords_state(subwords: Subwords) -> dict[str, Any]:
    return {
        "ngrams": list(subwords.ngrams),
        "rarity": subwords.rarity,
        "unseen_rarity": subwords.unseen_rarity,
        "weights": subwords.weights,
    }


def _subwords(fields: Fields, n_classes: int) -> Subwords:
    names = fields.texts("ngrams")
    numbers = {name: number for number, name in enumerate(names)}
    fields.require(len(numbers) == len(names), "ngrams", "n-grams, each once")
    return Subwords(
        numbers,
        fields.floats("rarity", (len(names),)),
        fields.number("unseen_rarity"),
        fields.floats("weights", (len(names), n_classes), np.float32),
    )


def _bank_state(bank: RuleBank, *, with_automata: bool) -> dict[str, Any]:
    state: dict[str, Any] = {
        "columns": bank.columns,
        "classes": bank.classes,
        "clauses": clauses_state(bank.clauses),
    }
    if with_automata and bank.machine is not None:
        state["machine"] = machine_state(bank.machine)
    return state


def _bank(
    fields: Fields,
    parameters: Mapping[str, Any],
    seed: int,
    vectorizer: TextVectorizer,
    all_classes: NDArray[Any],
) -> RuleBank:
    n_features, n_classes = fields.length("columns"), fields.length("classes")
    n_terms = len(vectorizer.vocabulary_)
    columns = fields.integers("columns", np.int64, (n_features,), most=n_terms - 1)
    ascending = n_features > 0 and bool((np.diff(columns) > 0).all())
    fields.require(ascending, "columns", "ascending columns of terms")
    most = len(all_classes) - 1
    classes = fields.integers("classes", np.int64, (n_classes,), least=-1, most=most)
    ascending = n_classes > 1 and bool((np.diff(classes) > 0).all())
    fields.require(ascending, "classes", "at least two ascending classes")
    clauses = clauses_from_state(fields.fields("clauses"), n_features, n_classes)
    if "machine" not in fields:
        return RuleBank(None, columns, classes, clauses=clauses)
    machine = new_machine(parameters, seed)
    machine_from_state(fields.fields("machine"), machine, classes, clauses)
    return RuleBank(machine, columns, classes)
