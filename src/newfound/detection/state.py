"""A detector as plain data and arrays and back; nothing that comes back is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.calibration import Calibration, check_alpha
from newfound.detection.class_statistics import ClassStatistics
from newfound.detection.rulebank import RuleBank, new_machine
from newfound.detection.scoring import PARTS, Scales, Scorer, pair_columns
from newfound.machine.clauses import Clauses
from newfound.storage.state import (
    array_from_state,
    count_from_state,
    machine_from_state,
    machine_state,
    vectorizer_from_state,
    vectorizer_state,
)
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector

__all__ = ["detector_from_state", "detector_state"]

Arrays = Mapping[str, NDArray[Any]]

_MOST = 2**53
_MOST_AUTOMATA = 2**31
_IN, _OUT = 160, 96  # stand-ins for automata that were not kept, to vote with, not to learn on from
_VECTORIZER = ("language", "stop_words", "lemmatize", "max_features")


def detector_state(
    detector: NoveltyDetector, *, with_automata: bool = False
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Give all that a file has to keep: what JSON can hold, and arrays.

    The held-back texts are kept as they are, since what is learned later changes their scores.
    """
    parameters = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in detector.get_params(deep=False).items()
    }
    vectorizer = detector.vectorizer_
    if not isinstance(parameters["stop_words"], str | None):
        parameters["stop_words"] = sorted(vectorizer.stop_words_)
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = None  # a generator has no place in a file
    parameters["n_jobs"] = None  # a matter of the computer, not of the model
    classes = detector.classes_.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ValueError("Only classes that are strings or numbers can be saved.")
    scorer, calibration = detector.scorer_, detector.calibration_
    statistics = scorer.statistics
    meta: dict[str, Any] = {
        "parameters": parameters,
        "seed": detector.seed_,
        "classes": classes,
        "keeps_function_words": not vectorizer.stop_words_,
        "held_back": [_storable(text) for text in detector.held_back_texts_],
        "banks": [],
    }
    meta["vectorizer"], arrays = vectorizer_state(vectorizer)
    arrays |= {
        "indptr": statistics.matrix.indptr.astype(np.int64),
        "indices": statistics.matrix.indices.astype(np.int32),
        "codes": statistics.codes,
        "weights": statistics.weights,
        "centre": scorer.scales.centre,
        "scale": scorer.scales.scale,
        "scores": calibration.scores,
        "nearest": calibration.nearest,
    }
    for i, bank in enumerate(scorer.banks):
        described, more = _bank_state(bank, with_automata=with_automata)
        meta["banks"].append(described)
        arrays |= {f"{name} {i}": array for name, array in more.items()}
    return meta, arrays


def detector_from_state(
    detector: NoveltyDetector, meta: Mapping[str, Any], arrays: Arrays
) -> NoveltyDetector:
    """Fill an unfitted detector with what `detector_state` gave."""
    check_alpha(detector.alpha)
    new_machine(detector.get_params(deep=False), 0).check_parameters()
    classes = meta["classes"]
    _expect(isinstance(classes, list) and len(classes) > 0, "classes are a list")
    _expect(all(isinstance(label, str | int | float) for label in classes), "classes have names")
    _expect(len(set(classes)) == len(classes), "no class is there twice")
    detector.classes_ = np.array(classes, dtype=object if _mixed(classes) else None)
    detector.seed_ = count_from_state(meta, "seed", most=2**32)
    chosen = {name: getattr(detector, name) for name in _VECTORIZER}
    if chosen["stop_words"] == "auto":
        chosen["stop_words"] = None if meta["keeps_function_words"] else "default"
    chosen["ngram_range"] = (1, 2)
    vectorizer = vectorizer_from_state(meta["vectorizer"], arrays, chosen)
    banks = meta["banks"]
    _expect(isinstance(banks, list), "rules are a list")
    n_parts = len(PARTS)
    detector.scorer_ = Scorer(
        detector.classes_,
        vectorizer,
        _statistics(vectorizer, arrays, len(classes)),
        [_bank(detector, vectorizer, bank, arrays, i) for i, bank in enumerate(banks)],
        Scales(_numbers(arrays, "centre", (n_parts,)), _numbers(arrays, "scale", (n_parts,))),
    )
    texts = meta["held_back"]
    _expect(isinstance(texts, list), "held-back documents are a list")
    _expect(all(isinstance(text, str) for text in texts), "held-back documents are texts")
    detector.held_back_texts_ = texts
    n = len(texts)
    _expect(n > 0, "some documents are held back")
    detector.calibration_ = Calibration(
        _numbers(arrays, "scores", (n,)),
        array_from_state(arrays, "nearest", np.int64, (n,), most=len(classes) - 1),
        float(detector.alpha),
        classwise=bool(detector.classwise),
    )
    detector.n_documents_ = {
        "learned": detector.scorer_.statistics.n_documents,
        "held_back": n,
    }
    return detector


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _mixed(classes: list[Any]) -> bool:
    return len({type(label) for label in classes}) > 1


def _statistics(vectorizer: TextVectorizer, arrays: Arrays, n_classes: int) -> ClassStatistics:
    terms = vectorizer.vocabulary_
    size, n = len(arrays["indices"]), len(arrays["codes"])
    indptr = array_from_state(arrays, "indptr", np.int64, (n + 1,), most=size)
    indices = array_from_state(arrays, "indices", np.int32, (size,), most=len(terms) - 1)
    sound = indptr[0] == 0 and indptr[-1] == size and bool((np.diff(indptr) >= 0).all())
    _expect(bool(n and sound), "documents have their words")
    matrix = sparse.csr_matrix((np.ones(size, bool), indices, indptr), shape=(n, len(terms)))
    _expect(bool(matrix.has_canonical_format), "no document has a word twice")
    return ClassStatistics(
        matrix,
        array_from_state(arrays, "codes", np.int64, (n,), most=n_classes - 1),
        n_classes,
        pair_columns(vectorizer),
        weights=_numbers(arrays, "weights", (n_classes, len(terms) + 1)).astype(np.float32),
    )


def _bank_state(
    bank: RuleBank, *, with_automata: bool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    clauses = bank.machine.clauses_
    meta, arrays = machine_state(bank.machine)
    if not (with_automata and bank.goes_on):
        del arrays["states"]
    arrays |= {
        "columns": bank.columns,
        "classes": bank.classes,
        "lengths": clauses.lengths,
        "literals": clauses.literals,
        "matches": clauses.matches,
        "agrees": clauses.agrees,
    }
    return meta, arrays


def _bank(
    detector: NoveltyDetector,
    vectorizer: TextVectorizer,
    meta: Mapping[str, Any],
    all_arrays: Arrays,
    number: int,
) -> RuleBank:
    end = f" {number}"
    arrays = {name.removesuffix(end): a for name, a in all_arrays.items() if name.endswith(end)}
    n_features, n_classes = len(arrays["columns"]), len(arrays["classes"])
    columns = array_from_state(
        arrays, "columns", np.int64, (n_features,), most=len(vectorizer.vocabulary_) - 1
    )
    _expect(bool((np.diff(columns) > 0).all()), "the words of rules are in order")
    most = len(detector.classes_) - 1
    classes = array_from_state(arrays, "classes", np.int64, (n_classes,), least=-1, most=most)
    _expect(bool(n_classes > 1 and (np.diff(classes) > 0).all()), "classes of rules are in order")
    machine = new_machine(detector.get_params(deep=False), detector.seed_)
    n_clauses = int(machine.n_clauses)
    automata = n_classes * n_clauses * 2 * n_features
    _expect(0 < automata <= _MOST_AUTOMATA, "the automata are not too many")
    clauses = _clauses(arrays, n_classes, n_clauses, n_features)
    goes_on = "states" in arrays
    if not goes_on:
        states = np.full((n_classes * n_clauses, 2 * n_features), _OUT, np.uint8)
        states[np.repeat(np.arange(len(clauses)), clauses.lengths), clauses.literals] = _IN
        arrays["states"] = states.reshape(n_classes, n_clauses, 2, n_features)
    filled = machine_from_state(meta, arrays, machine, classes, clauses)
    return RuleBank(filled, columns, classes, goes_on=goes_on)


def _clauses(arrays: Arrays, n_classes: int, n_clauses: int, n_features: int) -> Clauses:
    n, size = n_classes * n_clauses, len(arrays["literals"])
    lengths = array_from_state(arrays, "lengths", np.int64, (n,), most=min(size, 2 * n_features))
    _expect(int(lengths.sum()) == size, "rules have all words there are")
    matches = array_from_state(arrays, "matches", np.int64, (n,), most=_MOST)
    agrees = array_from_state(arrays, "agrees", np.int64, (n,), most=_MOST)
    _expect(bool((agrees <= matches).all()), "rules are right at most as often as they match")
    return Clauses(
        class_index=np.repeat(np.arange(n_classes, dtype=np.int32), n_clauses),
        polarity=np.tile(np.repeat(np.array([1, -1], np.int8), n_clauses // 2), n_classes),
        indptr=np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))),
        literals=array_from_state(arrays, "literals", np.int32, (size,), most=2 * n_features - 1),
        matches=matches,
        agrees=agrees,
        n_features=n_features,
    )


def _numbers(arrays: Arrays, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(arrays[name])
    _expect(array.shape == shape and array.dtype.kind == "f", f"{name} has the right shape")
    _expect(bool(np.isfinite(array).all()), f"{name} has finite numbers")
    return array.astype(np.float64)


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"The model is damaged: it does not hold that {what}.")
