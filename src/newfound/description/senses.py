"""Senses: the words that go with a word on each side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.description.context import Context
from newfound.sides import SIDES
from newfound.table import AsTable, Table
from newfound.text.corpus import Corpus, SentenceFinder

__all__ = ["Senses", "find_senses"]

_PRIOR = 1.0  # documents, of each count
_EXAMPLES_FROM = 25


@dataclass(frozen=True)
class Senses(AsTable):
    """A word that both sides use, with the words that go with it on each side.

    `known` and `novel` are tables, sorted by contrast: ``word``; ``documents_known``,
    ``documents_novel``, the number of documents with both words; ``rules``, the number of rules of
    this side with both; ``contrast``, the evidence that the word is typical of this side, in
    standard deviations; and ``example``, a sentence. `documents` counts the documents that have
    the word.
    """

    word: str
    documents: dict[str, int]
    known: Table
    novel: Table

    def __getitem__(self, side: str) -> Table:
        """Return the table of "known" or "novel"."""
        if side not in SIDES:
            raise KeyError(f"side={side!r}: expected 'known' or 'novel'.")
        return self.known if side == "known" else self.novel

    def to_table(self) -> Table:
        """Return one table of both sides, with a column ``side``."""
        return Table.stacked("side", {side: self[side] for side in SIDES})

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        sides = {side: self[side].to_records() for side in SIDES}
        return {"word": self.word, "documents": dict(self.documents), **sides}


def find_senses(
    word: str,
    column: int,
    corpus: Corpus,
    finder: SentenceFinder,
    context: Context,
    n: int = 5,
) -> Senses:
    """Find the words that go with a word on one side and not on the other.

    Among the documents with the word, each other word is tested for a difference between its
    shares on the two sides (two proportions, with one pseudo-document for each count).

    Parameters
    ----------
    word : str
        A word of the vocabulary.
    column : int
        Its number.
    corpus : Corpus
        The documents.
    finder : SentenceFinder
        Finds the examples, with the vectorizer of the documents.
    context : Context
        The partners of the word in rules.
    n : int, default=5
        The maximum number of words of each side.

    Returns
    -------
    Senses
    """
    rows = corpus.with_word(column)
    novel = corpus.novel[rows]
    with_it = sparse.csr_array(corpus.matrix[rows], dtype=np.int64)
    counts = {
        "known": np.asarray(with_it[~novel].sum(axis=0)).ravel(),
        "novel": np.asarray(with_it[novel].sum(axis=0)).ravel(),
    }
    sizes = {"known": int((~novel).sum()), "novel": int(novel.sum())}
    shares = {side: (counts[side] + _PRIOR) / (sizes[side] + 2 * _PRIOR) for side in SIDES}
    error = np.sqrt(
        sum(shares[side] * (1 - shares[side]) / (sizes[side] + 2 * _PRIOR) for side in SIDES)
    )
    contrast = (shares["novel"] - shares["known"]) / error
    names = finder.vectorizer.get_feature_names_out()
    tables = {}
    for side, sign in zip(SIDES, (-1.0, 1.0), strict=True):
        leaning = sign * contrast
        leaning[column] = -np.inf
        leaning[counts[side] == 0] = -np.inf
        best = np.lexsort((np.arange(len(leaning)), -leaning))[:n]
        best = best[leaning[best] > 0]
        examples = [
            finder.example(
                [corpus.texts[row] for row in _with_both(with_it, rows, novel, side, other)],
                (word, str(names[other])),
            )
            for other in best
        ]
        rules = dict(zip(context[side]["word"], context[side]["F_ij"].tolist(), strict=True))
        tables[side] = Table(
            {
                "word": names[best],
                "documents_known": counts["known"][best],
                "documents_novel": counts["novel"][best],
                "rules": np.array([rules.get(name, 0) for name in names[best]], np.int64),
                "contrast": leaning[best],
                "example": np.array(examples, dtype=object),
            }
        )
    return Senses(word, sizes, **tables)


def _with_both(
    with_it: Any, rows: NDArray[np.intp], novel: NDArray[np.bool_], side: str, other: int
) -> list[int]:
    """Return the first documents of a side with both words, the shortest first."""
    there = with_it[:, [other]].toarray().ravel() > 0
    here = np.flatnonzero(there & (novel if side == "novel" else ~novel))
    lengths = np.diff(with_it.indptr)[here]
    order = here[np.argsort(lengths, kind="stable")[:_EXAMPLES_FROM]]
    return [int(row) for row in rows[order]]
