"""A describer as plain data and arrays, and back: what its file holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from newfound.description.describer import NoveltyDescriber
from newfound.description.novelty import Evidence, evidence_of_counts
from newfound.description.phrases import phrase_table
from newfound.description.presets import resolve
from newfound.description.scores import shared_role
from newfound.machine.committee import MOST_MACHINES
from newfound.machine.validation import whole
from newfound.rules import ClauseTable
from newfound.sides import SIDES
from newfound.storage.state import (
    array_from_state,
    clauses_from_state,
    clauses_state,
    count_from_state,
    floats_from_state,
    machine_from_state,
    machine_state,
    vectorizer_from_state,
    vectorizer_state,
)
from newfound.table import Table

__all__ = ["describer_from_state", "describer_state"]

_MOST_PHRASES = 10_000  # and words in them all
_MOST_LETTERS = 1_000_000
_COUNTS = ("count", "documents_known", "documents_novel")
_VALUES = ("precision", "held_out_precision", "novelty", "strength")

D = TypeVar("D", bound=NoveltyDescriber)


def describer_state(
    describer: NoveltyDescriber, *, with_automata: bool
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Give all that a file has to keep: what JSON can hold, and arrays."""
    parameters, chosen = (
        {name: value.item() if isinstance(value, np.generic) else value for name, value in kept}
        for kept in (describer.get_params(deep=False).items(), describer._chosen.items())
    )
    for words in (parameters, chosen):
        if not isinstance(words["stop_words"], str | None):
            words["stop_words"] = sorted(describer.vectorizer_.stop_words_)
    if not isinstance(parameters["random_state"], int | None):
        parameters["random_state"] = None  # a generator has no place in a file
    parameters["n_jobs"] = None  # a matter of the computer, not of the model
    meta: dict[str, Any] = {
        "parameters": parameters,
        "chosen": chosen,
        "n_documents": describer.n_documents_,
        "n_machines": describer.n_machines_,
    }
    meta["vectorizer"], arrays = vectorizer_state(describer.vectorizer_)
    table = describer._table
    meta["clauses"], more = clauses_state(table.arrays)
    arrays |= more
    arrays["held_out"] = table.held_out
    arrays["documents"] = describer._documents
    arrays |= {name: values for name, values in describer._evidence._asdict().items()}
    arrays |= _phrases_state(describer.phrases_, table)
    if with_automata:
        if not describer.machines_:
            raise ValueError("This describer has no automata to save; save it without them.")
        meta["machines"] = []
        for number, machine in enumerate(describer.machines_):
            state, more = machine_state(machine)
            meta["machines"].append(state)
            arrays |= {f"{name} {number}": array for name, array in more.items()}
    return meta, arrays


def describer_from_state(
    kind: type[D], meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> D:
    """Make a describer of what `describer_state` gave."""
    parameters, chosen = dict(meta["parameters"]), dict(meta["chosen"])
    for kept in (parameters, chosen):
        if kept.get("ngram_range") is not None:
            kept["ngram_range"] = tuple(kept["ngram_range"])
    if not isinstance(parameters.get("random_state"), int | None):
        raise ValueError("The model is damaged: its seed is not a number.")
    # How many threads to start is not for a file to say.
    describer = kind(**{**parameters, "n_jobs": None})
    # What the presets of this version say counts only for a parameter that is newer.
    presets = resolve(describer.preset, parameters)
    if not set(chosen) <= set(presets):
        raise ValueError("The model has parameters that this version does not know.")
    # Without it, rules could use all words.
    describer._chosen = {**presets, "rule_min_df": 1, **chosen}
    shared_role([], describer._chosen["shared_low"], describer._chosen["shared_high"])
    # Format 1 had a single machine, and neither evidence nor phrases.
    first_format = "n_machines" not in meta
    if first_format:
        describer._chosen["n_machines"] = 1
    n_machines = 1 if first_format else count_from_state(meta, "n_machines", most=MOST_MACHINES)
    if not 1 <= n_machines <= describer._chosen["n_machines"]:
        raise ValueError("The model is damaged: it has another number of machines.")
    machines = describer._new_machines({**describer._chosen, "n_machines": n_machines})
    describer.n_machines_, describer.corpus_ = n_machines, None
    describer.classes_ = np.array(SIDES)
    n_documents = [count_from_state(meta["n_documents"], side) for side in SIDES]
    describer.n_documents_ = dict(zip(SIDES, n_documents, strict=True))
    describer.vectorizer_ = vectorizer_from_state(
        meta["vectorizer"], arrays, describer._vectorizer_parameters()
    )
    clauses = clauses_from_state(meta["clauses"], arrays)
    words, n = clauses.n_features, len(clauses)
    if first_format:
        held_out = np.zeros((2, n), np.int64)
    else:
        held_out = array_from_state(arrays, "held_out", np.int64, (2, n), most=2**53)
    table = ClauseTable(
        clauses,
        list(describer.vectorizer_.vocabulary_),
        n_documents=(n_documents[0], n_documents[1]),
        held_out=held_out,
    )
    if n != 2 * n_machines * describer._chosen["n_clauses"]:
        raise ValueError("The model is damaged: it has another number of clauses.")
    describer._documents = array_from_state(
        arrays, "documents", np.int64, (2, words), most=max(n_documents)
    )
    matches = (table.matches_known, table.matches_novel)
    for size, *counts in zip(n_documents, describer._documents, matches, strict=True):
        if any(count.max(initial=0) > size for count in counts):
            raise ValueError("The model is damaged: it counts more documents than there are.")
    if (held_out[0] > clauses.matches).any() or (held_out[1] > held_out[0]).any():
        raise ValueError("The model is damaged: it holds out more documents than there are.")
    if first_format:
        describer._evidence = evidence_of_counts(
            describer._documents, (n_documents[0], n_documents[1])
        )
        describer.phrases_ = phrase_table([])
    else:
        describer._evidence = Evidence(
            *(floats_from_state(arrays, name, (words,)) for name in Evidence._fields)
        )
        describer.phrases_ = _phrases_from_state(arrays, table)
    describer._restore(table)
    describer.machines_ = ()
    automata = [meta["machine"]] if "machine" in meta else meta.get("machines")
    if automata is not None:
        if not isinstance(automata, list) or len(automata) != n_machines:
            raise ValueError("The model is damaged: its automata are of other machines.")
        whole("rule_min_df", describer._chosen["rule_min_df"], 1)
        narrow = clauses.narrowed(describer._rule_columns)
        describer.machines_ = tuple(
            machine_from_state(
                state,
                arrays if first_format else _own(arrays, number),
                machine,
                describer.classes_,
                narrow.take(np.arange(n // n_machines) + number * (n // n_machines)),
            )
            for number, (state, machine) in enumerate(zip(automata, machines, strict=True))
        )
    return describer


def _own(arrays: Mapping[str, NDArray[Any]], number: int) -> dict[str, NDArray[Any]]:
    ending = f" {number}"
    return {
        name.removesuffix(ending): array for name, array in arrays.items() if name.endswith(ending)
    }


def _phrases_state(phrases: Table, table: ClauseTable) -> dict[str, NDArray[Any]]:
    columns = [[table.column(word) for word in words] for words in phrases["words"]]
    return {
        "phrase_lengths": np.array([len(row) for row in columns], np.int32),
        "phrase_words": np.array([i for row in columns for i in row], np.int32),
        "phrase_novel": np.array(phrases["side"] == "novel", np.uint8),
        "phrase_counts": np.stack([phrases[name] for name in _COUNTS]),
        "phrase_values": np.stack([phrases[name] for name in _VALUES]),
    }


def _phrases_from_state(arrays: Mapping[str, NDArray[Any]], table: ClauseTable) -> Table:
    size = len(arrays["phrase_words"])
    n = len(arrays["phrase_lengths"])
    # A phrase is a string of its own: a file must not ask for more of them than there can be.
    if max(n, size) > _MOST_PHRASES:
        raise ValueError("The model is damaged: it has more phrases than there can be.")
    lengths = array_from_state(arrays, "phrase_lengths", np.int64, (n,), least=2, most=max(size, 2))
    if int(lengths.sum()) != size:
        raise ValueError("The model is damaged: its phrases have other words.")
    most = len(table.vocabulary) - 1
    columns = array_from_state(arrays, "phrase_words", np.int64, (size,), most=most)
    if sum(len(table.vocabulary[i]) for i in columns.tolist()) > _MOST_LETTERS:
        raise ValueError("The model is damaged: its phrases are too long.")
    novel = array_from_state(arrays, "phrase_novel", np.int64, (n,), most=1)
    counts = array_from_state(arrays, "phrase_counts", np.int64, (len(_COUNTS), n), most=2**53)
    if (counts[1:] > np.array(table.n_documents)[:, None]).any():
        raise ValueError("The model is damaged: phrases are in more documents than there are.")
    values = floats_from_state(arrays, "phrase_values", (len(_VALUES), n), nan=True)
    parts = np.split(columns, np.cumsum(lengths)[:-1]) if n else []
    words = np.empty(n, dtype=object)
    words[:] = [tuple(table.vocabulary[i] for i in part) for part in parts]
    return Table(
        {
            "phrase": np.array([" AND ".join(names) for names in words], dtype=object),
            "words": words,
            "side": np.array(SIDES, dtype=object)[novel],
            **dict(zip(_COUNTS, counts, strict=True)),
            **dict(zip(_VALUES, values, strict=True)),
        }
    )
