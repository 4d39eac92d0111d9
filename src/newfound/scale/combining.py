"""The description of all documents, from that of a sample and the sums of all."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.arithmetic import log
from newfound.description.calibration import VerdictCalibration
from newfound.description.description import Description
from newfound.description.learning import with_tables
from newfound.description.novelty import WordSums, evidence_from_sums, not_contradicted
from newfound.rules import ClauseTable
from newfound.scale.statistics import UNIT, Plan, Statistics
from newfound.scale.themes import counted_phrases, measured_themes, unexplained
from newfound.stories.evidence import Piles
from newfound.stories.themes import Theme, Themes, rule_rows
from newfound.text.corpus import Corpus

__all__ = ["combined", "widened_calibration"]


def combined(
    sample: Description,
    plan: Plan,
    found: Statistics,
    corpus: Corpus,
    sizes: tuple[int, int],
    stands_for: NDArray[np.float64],
) -> Description:
    """Return the description of all documents.

    Parameters
    ----------
    sample : Description
        Of the sample, without its machines.
    plan : Plan
        That of the last pass.
    found : Statistics
        The sums over all documents.
    corpus : Corpus
        The sample.
    sizes : (int, int)
        The number of known and of novel documents.
    stands_for : ndarray of float64
        The number of documents that each one of the sample stands for, as a copy of it.
    """
    vectorizer, documents = plan.vectorizer, found.words[0]
    counted, lengths = _without_copies(found, sample, plan, corpus, stands_for)
    evidence = not_contradicted(
        evidence_from_sums(counted, counted.weights, *lengths), documents, sizes
    )
    not_copied = _not_copied(sample, plan, found, corpus, stands_for)
    themes = measured_themes(sample.themes, found.themes, sizes, not_copied)
    left = unexplained(
        [number for number, _ in themes], found.themes, documents, counted.documents,
        evidence.novelty, sizes,
    )  # fmt: skip
    kept = _kept(sample, plan, documents.sum(axis=0), sum(sizes))
    typical = _typical(plan, found, [number for number, _ in themes])
    vectorizer.document_frequencies_ = documents.sum(axis=0)
    vectorizer.keep(kept)
    places = np.full(documents.shape[1], -1)
    places[kept] = np.arange(len(kept))
    columns = places[plan.columns]
    whole, rows = _with_typical(corpus, columns, plan, typical)
    return with_tables(
        _clauses(sample, found, columns, list(vectorizer.vocabulary_), sizes),
        sample.n_machines,
        documents[:, kept],
        type(evidence)(*(values[kept] for values in evidence)),
        vectorizer,
        sample.parameters,
        given=sample.given,
        phrases=counted_phrases(sample.phrases, found.themes),
        grouped=Themes(
            tuple(
                replace(theme, typical=own) for (_, theme), own in zip(themes, rows, strict=True)
            ),
            left,
        ),
        timeline=found.timeline(plan, places, [number for number, _ in themes], len(kept)),
        calibration=widened_calibration(sample.calibration, columns, len(kept), len(corpus)),
        set_aside=sample.set_aside,
        names=sample.names,
        corpus=whole,
    )


def _clauses(
    sample: Description,
    found: Statistics,
    columns: NDArray[np.intp],
    vocabulary: list[str],
    sizes: tuple[int, int],
) -> ClauseTable:
    """Return the clauses of the machines with the words and the support of all documents."""
    table = sample.all_clauses
    novel_first = table.arrays.class_index == 1
    for_novel = novel_first == (table.arrays.polarity > 0)
    arrays = replace(
        table.arrays.widened(columns, len(vocabulary)),
        matches=found.rules.sum(axis=0),
        agrees=np.where(for_novel, found.rules[1], found.rules[0]),
    )
    return ClauseTable(arrays, vocabulary, n_documents=sizes, held_out=table.held_out)


def _typical(plan: Plan, found: Statistics, themes: list[int]) -> list[list[str]]:
    """Return the typical texts of some themes among those that were found in the batches."""
    texts = sorted({text for _, text in found.themes.typical})
    matrix = plan.vectorizer.transform(texts)
    masks = plan.themes.masks(plan.themes.matches(matrix), len(texts))
    # A text may occur on both sides; all of these were novel.
    chosen = plan.themes.typical(matrix, masks, np.ones(len(texts), bool), texts)
    return [[text for number, _, text in chosen if number == theme] for theme in themes]


def _with_typical(
    corpus: Corpus, columns: NDArray[np.intp], plan: Plan, typical: list[list[str]]
) -> tuple[Corpus, list[tuple[int, ...]]]:
    """Return the sample with the typical documents that it lacks, and the rows of these."""
    novel = np.flatnonzero(corpus.novel).tolist()
    rows = {corpus.texts[row]: row for row in reversed(novel)}
    more = [text for text in dict.fromkeys(chain.from_iterable(typical)) if text not in rows]
    rows.update((text, len(corpus) + number) for number, text in enumerate(more))
    width = len(plan.vectorizer.vocabulary_)
    widened = sparse.csr_matrix(
        (corpus.matrix.data, columns[corpus.matrix.indices], corpus.matrix.indptr),
        shape=(len(corpus), width),
    )
    matrix = widened
    if more:
        matrix = sparse.vstack((widened, plan.vectorizer.transform(more)), format="csr")
    whole = Corpus(
        texts=[*corpus.texts, *more],
        novel=np.append(corpus.novel, np.ones(len(more), bool)),
        matrix=matrix,
        held_out=np.append(corpus.held_out, np.full(len(more), np.nan)),
    )
    return whole, [tuple(rows[text] for text in own) for own in typical]


def _not_copied(
    sample: Description,
    plan: Plan,
    found: Statistics,
    corpus: Corpus,
    stands_for: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the share of the documents of each theme and side that is no copied text."""
    themes: tuple[Theme, ...] = sample.themes
    shares = np.ones((len(themes), 2))
    if sample.copies is None:
        return shares
    matrix = plan.vectorizer.transform(corpus.texts)
    masks = plan.themes.masks(plan.themes.matches(matrix), len(corpus))
    first = Piles(sample.copies.first, corpus.novel)
    of_theme, side, documents = found.themes.themes.T
    for number, theme in enumerate(themes):
        inside = of_theme == number
        by_rule = rule_rows(theme, first, sample.vectorizer.vocabulary_)
        not_copied = first.sides(np.unique(np.concatenate(by_rule)))
        for novel in (0, 1):
            rows = (masks >> number & 1 == 1) & (corpus.novel == novel)
            total = documents[inside & (side == novel)].sum()
            left_out = (stands_for[rows] - 1).sum()
            shares[number, novel] = _share(total, left_out, rows.sum(), not_copied[novel])
    return shares


def _share(documents: Any, left_out: Any, whole: Any, first: Any) -> NDArray[np.float64]:
    """Return the share of documents that are no copies; 1 where the sample has none of them.

    Parameters
    ----------
    documents : int or array
        The number of all documents.
    left_out : float or array
        Those of them that were left out of the sample because it had copies of them.
    whole, first : int or array
        The documents of the sample, and those of them that are no copies.
    """
    rest = 1 - left_out / np.maximum(documents, 1)
    return np.where(whole > 0, rest * first / np.maximum(whole, 1), 1.0)


def _without_copies(
    found: Statistics,
    sample: Description,
    plan: Plan,
    corpus: Corpus,
    stands_for: NDArray[np.float64],
) -> tuple[WordSums, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the sums of words, and the documents by length, less the share that is copied text.

    Of all documents, copies cannot be found batch by batch. What is copied often is copied in the
    sample, too, and how often a text of the sample occurs in all documents is known.
    """
    share, of_documents = np.ones(found.words.shape[1:]), np.ones((2, 1))
    for number, rows in enumerate((~corpus.novel, corpus.novel)):
        if sample.copies is None:
            break
        whole, first = corpus.matrix[rows], sample.copies.first[rows]
        n, more = whole.shape[1], stands_for[rows] - 1
        left_out = np.bincount(whole.indices, np.repeat(more, np.diff(whole.indptr)), n)
        counts = [np.bincount(each.indices, minlength=n) for each in (whole, first)]
        documents = found.words[0, number, plan.columns]
        share[number, plan.columns] = _share(documents, left_out, *counts)
        sizes = [(np.diff(each.indptr) > 0).sum() for each in (whole, first)]
        of_documents[number] = _share(found.lengths[number, 1:].sum(), more.sum(), *sizes)
    documents = np.rint(found.words[0] * share).astype(np.int64)
    weight, *rest = found.words[1:] / UNIT * share
    sums = WordSums(documents, weight.sum(axis=0), weight[1], *(one.sum(axis=0) for one in rest))
    by_side = np.rint(found.lengths * of_documents).astype(np.int64)
    lengths = np.flatnonzero(by_side.any(axis=0))
    return sums, (lengths, by_side[:, lengths])


def _kept(
    sample: Description, plan: Plan, frequencies: NDArray[np.int64], n: int
) -> NDArray[np.intp]:
    """Return the columns of words with as many documents as asked for, and those of the sample."""
    least, most = (
        df * n if isinstance(df, float) else df
        for df in (sample.parameters["min_df"], sample.parameters["max_df"])
    )
    kept = (frequencies >= least) & (frequencies <= most)
    kept[plan.columns] = True
    found: NDArray[np.intp] = np.flatnonzero(kept)
    return found


def widened_calibration(
    calibration: VerdictCalibration | None,
    columns: NDArray[np.intp],
    n_words: int,
    n_documents: int,
) -> VerdictCalibration | None:
    """Return a calibration for more words, which say nothing; stop words come after all words."""
    if calibration is None:
        return None
    whole = n_words + len(calibration.stop_words)
    places = np.concatenate((columns, np.arange(n_words, whole)))
    weights, idf = np.zeros(whole), np.full(whole, log(n_documents + 1) + 1)
    weights[places], idf[places] = calibration.weights, calibration.idf
    return replace(calibration, weights=weights, idf=idf)
