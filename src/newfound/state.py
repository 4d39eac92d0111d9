"""What is fitted, as plain data and arrays and back: the part of a model file that has meaning.

Nothing here is trusted to come back as it was given: what does not fit together is a `ValueError`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from newfound.machine import Clauses, TsetlinMachineClassifier
from newfound.text import TextVectorizer

__all__ = [
    "clauses_from_state",
    "clauses_state",
    "machine_from_state",
    "machine_state",
    "vectorizer_from_state",
    "vectorizer_state",
]

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def vectorizer_state(vectorizer: TextVectorizer) -> State:
    """Give the words of a vectorizer; its parameters are kept by its owner."""
    meta = {
        "vocabulary": list(vectorizer.vocabulary_),
        "forms": [vectorizer.forms_[word] for word in vectorizer.vocabulary_],
        "stop_words": sorted(vectorizer.stop_words_),
        "n_documents": vectorizer.n_documents_,
    }
    return meta, {"document_frequencies": vectorizer.document_frequencies_}


def vectorizer_from_state(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], parameters: Mapping[str, Any]
) -> TextVectorizer:
    """Make a vectorizer of what `vectorizer_state` gave."""
    words = meta["vocabulary"]
    vectorizer = TextVectorizer(**parameters)
    vectorizer._check_parameters()
    vectorizer.vocabulary_ = {word: column for column, word in enumerate(words)}
    vectorizer.forms_ = dict(zip(words, meta["forms"], strict=True))
    strings = (*words, *meta["stop_words"], *(form for forms in meta["forms"] for form in forms))
    _expect(all(isinstance(word, str) for word in strings), "words are strings")
    _expect(len(vectorizer.vocabulary_) == len(words) > 0, "no word is there twice")
    vectorizer.stop_words_ = frozenset(meta["stop_words"])
    vectorizer.n_documents_ = int(meta["n_documents"])
    frequencies = _array(arrays, "document_frequencies", np.int64, len(words))
    vectorizer.document_frequencies_ = frequencies
    return vectorizer


def clauses_state(clauses: Clauses) -> State:
    """Give clauses; their words as the smallest whole numbers that will do."""
    arrays: dict[str, NDArray[Any]] = {
        "class_index": clauses.class_index.astype(np.uint8),
        "polarity": clauses.polarity,
        "lengths": clauses.lengths.astype(np.int32),
        "literals": clauses.literals.astype(np.min_scalar_type(2 * clauses.n_features)),
        "matches": clauses.matches,
        "agrees": clauses.agrees,
    }
    return {"n_features": clauses.n_features}, arrays


def clauses_from_state(meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Clauses:
    """Make clauses of what `clauses_state` gave."""
    n, n_features = len(arrays["class_index"]), int(meta["n_features"])
    lengths = _array(arrays, "lengths", np.int64, n)
    _expect(bool((lengths >= 0).all()), "clauses have lengths")
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    clauses = Clauses(
        class_index=_array(arrays, "class_index", np.int32, n),
        polarity=_array(arrays, "polarity", np.int8, n),
        indptr=indptr,
        literals=_array(arrays, "literals", np.int32, int(indptr[-1])),
        matches=_array(arrays, "matches", np.int64, n),
        agrees=_array(arrays, "agrees", np.int64, n),
        n_features=n_features,
    )
    literals = clauses.literals
    _expect(not n or set(np.unique(clauses.polarity)) <= {-1, 1}, "polarities are 1 or -1")
    _expect(
        not len(literals) or (literals.min() >= 0 and literals.max() < 2 * n_features),
        "clauses are made of the words there are",
    )
    _expect(
        bool(((clauses.agrees >= 0) & (clauses.agrees <= clauses.matches)).all()),
        "clauses match documents of their side among all they match",
    )
    return clauses


def machine_state(machine: TsetlinMachineClassifier) -> State:
    """Give the automata of a machine and all it needs to go on; its clauses are kept apart."""
    state = machine.__getstate__()
    states, (position, draws, epochs_drawn) = state["_frozen"]
    meta = {
        "seed": state["_seed"],
        "n_epochs": int(machine.n_epochs_),
        "stop_reason": machine.stop_reason_,
        "epochs_drawn": int(epochs_drawn),
        "history_columns": list(machine.history_),
    }
    arrays = {"states": states, "position": position, "draws": draws, "history": state["_history"]}
    return meta, arrays


def machine_from_state(
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    machine: TsetlinMachineClassifier,
    classes: NDArray[Any],
    clauses: Clauses,
) -> TsetlinMachineClassifier:
    """Fill an unfitted machine with what `machine_state` gave."""
    machine._check_parameters()
    shape = (len(classes), int(machine.n_clauses), 2, clauses.n_features)
    states = np.ascontiguousarray(arrays["states"], np.uint8)
    _expect(states.shape == shape, "there is a state for each automaton")
    history = np.asarray(arrays["history"], np.int64)
    names = list(meta["history_columns"])
    _expect(history.ndim == 2 and history.shape[1] == len(names), "the history has its columns")
    counters = (
        np.ascontiguousarray(arrays["position"], np.uint32),
        np.ascontiguousarray(arrays["draws"], np.uint64),
        int(meta["epochs_drawn"]),
    )
    machine.__setstate__(
        {
            **machine.get_params(deep=False),
            "classes_": classes,
            "n_features_in_": clauses.n_features,
            "clauses_": clauses,
            "n_epochs_": int(meta["n_epochs"]),
            "stop_reason_": str(meta["stop_reason"]),
            "history_": dict(zip(names, history.T, strict=True)),
            "_history": history,
            "_seed": int(meta["seed"]),
            "_frozen": (states, counters),
        }
    )
    return machine


def _array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, length: int
) -> NDArray[Any]:
    array = np.asarray(arrays[name])
    _expect(array.shape == (length,) and array.dtype.kind in "iu", f"{name} has {length} entries")
    return np.ascontiguousarray(array, dtype)


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"The model is damaged: it does not hold that {what}.")
