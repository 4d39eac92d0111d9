"""What a describer computes from its documents and the clauses of its machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.description.calibration import VerdictCalibration
from newfound.description.description import Description, LateThemes
from newfound.description.novelty import Evidence, word_evidence
from newfound.description.phrases import find_phrases
from newfound.description.scores import stability
from newfound.description.words import WordTable
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.committee import held_out_rows, read
from newfound.rules import ClauseTable
from newfound.stories.evidence import document_weights
from newfound.text.copies import fold_copies
from newfound.text.corpus import Corpus
from newfound.text.filters import calendar_terms
from newfound.text.vectorizer import TextVectorizer

__all__ = ["described", "with_tables", "without_calendar"]


def without_calendar(
    vectorizer: TextVectorizer, matrix: Any, texts: Sequence[str]
) -> tuple[Any, dict[str, str]]:
    """Leave calendar words, numbers and single letters out of a fitted vectorizer and its matrix.

    Parameters
    ----------
    vectorizer : TextVectorizer
        Fitted; it forgets these words.
    matrix : (n_documents, n_words) CSR matrix
        What it returned for the texts.
    texts : sequence of str
        The texts.

    Returns
    -------
    matrix : CSR matrix
        Without the columns of these words.
    set_aside : dict of str to str
        The words that were left out, the most frequent first, with their kind. None are left out
        where nothing else would be left.
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

    Parameters
    ----------
    machines : sequence of TsetlinMachineClassifier
        Fitted.
    rows : sequence of array of int
        The documents that each machine was trained on.
    corpus : Corpus
        The documents.
    columns : ndarray of int
        The words that rules may use.
    narrow : (n_documents, n_columns) CSR matrix
        These columns of the documents.
    vectorizer : TextVectorizer
        The one that made the matrix.
    parameters : mapping
        Every parameter that was used; `fold_copies` says whether copied documents and passages
        count once as evidence.
    **more
        Other attributes of the description.
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
    return with_tables(
        clauses,
        len(machines),
        np.stack((matrix.T @ (1 - counts), matrix.T @ counts)),
        evidence,
        vectorizer,
        parameters,
        corpus=corpus,
        grouped=LateThemes(corpus, copies, evidence, vectorizer),
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


def with_tables(
    clauses: ClauseTable,
    n_machines: int,
    documents: NDArray[np.int64],
    evidence: Evidence,
    vectorizer: TextVectorizer,
    parameters: Mapping[str, Any],
    **more: Any,
) -> Description:
    """Return a description with its words and rules: their scores, and how many machines agree.

    Parameters
    ----------
    clauses : ClauseTable
        The clauses of all machines, one machine after the other.
    n_machines : int
        The number of machines.
    documents : (2, n_words) ndarray of int
        The number of known and of novel documents with each word.
    evidence, vectorizer, parameters, **more
        As in `Description`.
    """
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
