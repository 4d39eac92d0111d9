"""What is fitted, as plain data and arrays and back: the part of a model file that has meaning.

Nothing here is trusted to come back as it was given: what does not fit together is a `ValueError`.
Numbers are compared as they were stored, before any conversion can wrap or cut them off, and
everything that becomes a size or an index is held against what is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from newfound.machine.classifier import HISTORY_COLUMNS, TsetlinMachineClassifier
from newfound.machine.clauses import Clauses, TrainedState
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "array_from_state",
    "clauses_from_state",
    "clauses_state",
    "count_from_state",
    "floats_from_state",
    "machine_from_state",
    "machine_state",
    "vectorizer_from_state",
    "vectorizer_state",
]

State = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_MOST_FEATURES = 2**30
_MOST = 2**53  # whole numbers up to here are exact as floats, too


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
    words, forms, stop_words = (meta[name] for name in ("vocabulary", "forms", "stop_words"))
    _expect(all(isinstance(one, list) for one in (words, forms, stop_words)), "words are lists")
    _expect(all(isinstance(form, dict) for form in forms), "each word has forms")
    strings = (*words, *stop_words)
    _expect(all(isinstance(word, str) for word in strings), "words are strings")
    vectorizer = TextVectorizer(**parameters)
    vectorizer.check_parameters()
    vectorizer.vocabulary_ = {word: column for column, word in enumerate(words)}
    _expect(len(vectorizer.vocabulary_) == len(words) > 0, "no word is there twice")
    n = vectorizer.n_documents_ = count_from_state(meta, "n_documents")
    counts = (count for form in forms for count in form.values())
    _expect(all(type(count) is int and 0 <= count <= n for count in counts), "forms have counts")
    vectorizer.forms_ = dict(zip(words, forms, strict=True))
    vectorizer.stop_words_ = frozenset(stop_words)
    vectorizer.document_frequencies_ = array_from_state(
        arrays, "document_frequencies", np.int64, (len(words),), most=n
    )
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
    n, size = len(arrays["class_index"]), len(arrays["literals"])
    n_features = count_from_state(meta, "n_features", most=_MOST_FEATURES)
    lengths = array_from_state(arrays, "lengths", np.int64, (n,), most=size)
    # Each is at most `size`, so that below 2**63 neither the sum nor the running sum can wrap.
    _expect(n * size < 2**63 and int(lengths.sum()) == size, "clauses have all words there are")
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    matches = array_from_state(arrays, "matches", np.int64, (n,), most=_MOST)
    clauses = Clauses(
        class_index=array_from_state(arrays, "class_index", np.int32, (n,), most=1),
        polarity=array_from_state(arrays, "polarity", np.int8, (n,), least=-1, most=1),
        indptr=indptr,
        literals=array_from_state(arrays, "literals", np.int32, (size,), most=2 * n_features - 1),
        matches=matches,
        agrees=array_from_state(arrays, "agrees", np.int64, (n,), most=_MOST),
        n_features=n_features,
    )
    _expect(bool((clauses.polarity != 0).all()), "polarities are 1 or -1")
    _expect(
        bool((clauses.agrees <= matches).all()),
        "clauses match documents of their side among all they match",
    )
    ascending = np.ones(size, bool)
    ascending[1:] = clauses.literals[1:] > clauses.literals[:-1]
    ascending[indptr[:-1][lengths > 0]] = True
    _expect(bool(ascending.all()), "the words of a clause are in order, each once")
    return clauses


def machine_state(machine: TsetlinMachineClassifier) -> State:
    """Give the automata of a machine and all it needs to go on; its clauses are kept apart."""
    state = machine.trained_state()
    meta: dict[str, Any] = {
        "seed": state.seed,
        "n_epochs": len(state.history),
        "stop_reason": state.stop_reason,
        "epochs_drawn": int(state.epochs_drawn),
        "history_columns": list(HISTORY_COLUMNS),
    }
    arrays: dict[str, NDArray[Any]] = {
        "states": state.states,
        "position": state.position,
        "draws": state.draws,
        "history": state.history,
    }
    return meta, arrays


def machine_from_state(
    meta: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    machine: TsetlinMachineClassifier,
    classes: NDArray[Any],
    clauses: Clauses,
) -> TsetlinMachineClassifier:
    """Fill an unfitted machine with what `machine_state` gave."""
    machine.check_parameters()
    n = len(classes) * int(machine.n_clauses)
    _expect(len(clauses) == n, "there are as many clauses as the machine has")
    shape = (len(classes), int(machine.n_clauses), 2, clauses.n_features)
    names = list(HISTORY_COLUMNS)
    _expect(meta["history_columns"] == names, f"the history has the columns {', '.join(names)}")
    n_epochs = count_from_state(meta, "n_epochs")
    history = array_from_state(arrays, "history", np.int64, (n_epochs, len(names)), most=2**63 - 1)
    _expect(isinstance(meta["stop_reason"], str), "the reason why training ended is a word")
    n_features = clauses.n_features
    state = TrainedState(
        seed=count_from_state(meta, "seed", most=2**64 - 1),
        states=array_from_state(arrays, "states", np.uint8, shape, most=255),
        position=array_from_state(
            arrays, "position", np.uint32, (n_features,), most=n_features - 1
        ),
        draws=array_from_state(arrays, "draws", np.uint64, (n,), most=2**64 - 1),
        epochs_drawn=count_from_state(meta, "epochs_drawn"),
        history=history,
        stop_reason=meta["stop_reason"],
    )
    machine.random_state = state.seed  # decides which of a committee's documents it learns from
    return machine.restore(state, classes, clauses)


def count_from_state(meta: Mapping[str, Any], name: str, *, most: int = _MOST) -> int:
    """Give a whole number from 0 to `most`."""
    value = meta[name]
    _expect(type(value) is int and 0 <= value <= most, f"{name} is a number from 0 to {most:,}")
    count: int = value
    return count


def array_from_state(
    arrays: Mapping[str, NDArray[Any]],
    name: str,
    dtype: DTypeLike,
    shape: tuple[int, ...],
    *,
    least: int = 0,
    most: int,
) -> NDArray[Any]:
    """Give whole numbers from `least` to `most`, which have to be within the type."""
    array = np.asarray(arrays[name])
    _expect(array.shape == shape, f"{name} has {' by '.join(map(str, shape))} entries")
    _expect(array.dtype.kind in "iu", f"{name} has whole numbers")
    within = not array.size or least <= int(array.min()) <= int(array.max()) <= most
    _expect(within, f"{name} has numbers from {least:,} to {most:,}")
    return np.ascontiguousarray(array, dtype)


def floats_from_state(
    arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...], *, nan: bool = False
) -> NDArray[np.float64]:
    """Give numbers that are finite, or nan where that may be."""
    array = np.asarray(arrays[name])
    _expect(array.shape == shape, f"{name} has {' by '.join(map(str, shape))} entries")
    _expect(array.dtype == np.float64, f"{name} has numbers")
    sound = np.isfinite(array) | (np.isnan(array) & nan)
    _expect(bool(sound.all()), f"{name} has finite numbers")
    return array


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"The model is damaged: it does not hold that {what}.")
