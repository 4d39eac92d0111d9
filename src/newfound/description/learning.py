"""Parameters of a describer, and what it computes from its documents and the clauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.checks import check_switch, check_verbose, check_whole_number
from newfound.description.calibration import VerdictCalibration
from newfound.description.description import Description, LateThemes
from newfound.description.novelty import Evidence, word_evidence
from newfound.description.scores import SHARED_HIGH, SHARED_LOW, check_cut_offs, stability
from newfound.description.words import WordTable, find_phrases
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.committee import check_machines, held_out_rows, read
from newfound.rules import ClauseTable
from newfound.stories.evidence import document_weights
from newfound.stories.themes import Themes, check_amount
from newfound.text.copies import fold_copies
from newfound.text.corpus import Corpus
from newfound.text.filters import calendar_terms
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "PRESETS",
    "VECTORIZER",
    "check_parameters",
    "described",
    "resolve",
    "sure_columns",
    "with_tables",
    "without_calendar",
]

# The parameters that a describer passes on to its vectorizer.
VECTORIZER = (
    "language", "stop_words", "lemmatize", "min_df", "max_df", "max_features", "ngram_range",
    "ignore",
)  # fmt: skip

_TEXT: Mapping[str, Any] = {
    "language": "en",
    "stop_words": "default",
    "lemmatize": True,
    "max_df": 1.0,
    "max_features": None,
    "ngram_range": (1, 1),
    "ignore": None,
    "shared_low": SHARED_LOW,
    "shared_high": SHARED_HIGH,
}
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": MappingProxyType(
            {
                "n_machines": 10,
                "n_clauses": 500,
                "T": 100,
                "s": 10.0,
                "epochs": 10,
                "boost_true_positive": True,
                "max_literals": 16,
                "max_documents": 1_000,
                "min_df": 2,
                "rule_min_df": 0,
                "calendar": False,
                "fold_copies": True,
                **_TEXT,
            }
        ),
        "paper": MappingProxyType(
            {
                "n_machines": 1,
                "n_clauses": 10_000,
                "T": 50,
                "s": 25.0,
                "epochs": 100,
                "boost_true_positive": False,
                "max_literals": 0,
                "max_documents": 0,
                "min_df": 1,
                "rule_min_df": 1,
                "calendar": True,
                "fold_copies": False,
                **_TEXT,
            }
        ),
    }
)


def resolve(preset: str | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a preset, replaced by those that are given and not None.

    Examples
    --------
    >>> resolve("paper", {"T": 20, "s": None})["T"], resolve("paper", {"T": 20, "s": None})["s"]
    (20, 25.0)
    """
    name = "default" if preset is None else preset
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"preset={name!r}: expected one of {', '.join(PRESETS)}.")
    return {
        key: value if given.get(key) is None else given[key] for key, value in PRESETS[name].items()
    }


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first parameter with an impossible value."""
    for name in ("rule_min_df", "max_documents"):
        check_whole_number(name, parameters[name], 0)
    for name in ("calendar", "fold_copies", "redact"):
        check_switch(name, parameters.get(name, False))
    check_amount(parameters.get("themes", "default"))
    check_verbose(parameters.get("verbose", 0))
    check_cut_offs(parameters["shared_low"], parameters["shared_high"], of="shared_")
    check_machines(parameters)
    TextVectorizer(**{name: parameters[name] for name in VECTORIZER}).check_parameters()


def without_calendar(
    vectorizer: TextVectorizer, matrix: Any, texts: Sequence[str]
) -> tuple[Any, dict[str, str]]:
    """Leave calendar words, numbers and single letters out of a vectorizer and its matrix.

    Also returns these words with their kind, the most frequent first. None are left out where
    nothing else would be left.
    """
    terms = list(vectorizer.vocabulary_)
    kinds = calendar_terms(terms, vectorizer.language, texts)
    kept = kinds == ""
    if not kept.any():
        return matrix, {}
    order = np.argsort(-vectorizer.document_frequencies_, kind="stable").tolist()
    set_aside = {terms[i]: str(kinds[i]) for i in order if not kept[i]}
    vectorizer.keep(np.flatnonzero(kept))
    return matrix[:, kept], set_aside


def described(
    machines: Sequence[TsetlinMachineClassifier],
    rows: Sequence[NDArray[np.intp]],
    corpus: Corpus,
    columns: NDArray[np.intp],
    narrow: Any,
    vectorizer: TextVectorizer,
    parameters: Mapping[str, Any],
    **more: Any,
) -> Description:
    """Read the clauses of trained machines, and compute the evidence of the documents.

    Each machine was trained on its `rows` of the documents, and on `columns` of their words, of
    which `narrow` is the matrix.
    """
    matrix, novel = corpus.matrix, corpus.novel
    learned = read(machines, rows, narrow, novel)
    held_out = np.setdiff1d(held_out_rows(novel), np.concatenate(list(rows)))
    n_novel = int(novel.sum())
    counts = novel.astype(np.int64)
    fold = parameters["fold_copies"]
    copies = fold_copies(corpus.texts, novel, matrix, vectorizer) if fold else None
    counted = matrix if copies is None else copies.first
    weights = document_weights(counted, novel)
    clauses = ClauseTable(
        learned.clauses.widened(columns, matrix.shape[1]),
        list(vectorizer.vocabulary_),
        n_documents=(len(novel) - n_novel, n_novel),
        held_out=learned.held_out,
    )
    corpus = replace(corpus, texts=list(corpus.texts), held_out=learned.votes)
    evidence = word_evidence(counted, novel, None if copies is None else matrix)
    description = with_tables(
        clauses,
        len(machines),
        np.stack((matrix.T @ (1 - counts), matrix.T @ counts)),
        evidence,
        vectorizer,
        parameters,
        corpus=corpus,
        grouped=Themes(),
        phrases=find_phrases(clauses, matrix, weights, held_out=held_out),
        copies=copies,
        calibration=VerdictCalibration.of(
            learned.leads,
            novel,
            counted,
            {} if copies is None else copies.stop_words,
            None if copies is None else copies.stops,
        ),
        **more,
    )
    sure, amount = sure_columns(description), description.given.get("themes", "default")
    late = LateThemes(corpus, copies, evidence, vectorizer, sure, amount)
    return replace(description, grouped=late)


def sure_columns(description: Description) -> NDArray[np.intp]:
    """Return the columns of the words that are surely new, the most novel first."""
    place, words = description.vectorizer.vocabulary_, description.words
    sure = words["word"][words.sides == "novel"]
    return np.array([place[word] for word in sure.tolist()], dtype=np.intp)


def with_tables(
    clauses: ClauseTable,
    n_machines: int,
    documents: NDArray[np.int64],
    evidence: Evidence,
    vectorizer: TextVectorizer,
    parameters: Mapping[str, Any],
    **more: Any,
) -> Description:
    """Return a description with its words and rules: their scores, and how many machines agree."""
    n = len(clauses) // n_machines
    members = (clauses[k * n : (k + 1) * n].bags() for k in range(n_machines))
    words = WordTable.from_clauses(
        clauses,
        documents,
        vectorizer.forms_,
        evidence,
        stability=stability(members, clauses.bags()),
        shared_low=parameters["shared_low"],
        shared_high=parameters["shared_high"],
    )
    return Description(
        words=words,
        clauses=clauses.fold().sorted(plain_first=True),
        all_clauses=clauses,
        n_machines=n_machines,
        document_counts=documents,
        evidence=evidence,
        vectorizer=vectorizer,
        parameters=dict(parameters),
        **more,
    )
