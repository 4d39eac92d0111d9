"""Context of words: which words the clauses use with them, and the documents of each side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.checks import check_count
from newfound.description.scores import (
    ContextCounts,
    ContextScores,
    context_counts,
    context_scores,
    pair_strength,
)
from newfound.rules import ClauseTable
from newfound.sides import SIDES
from newfound.table import AsTable, Table, jsonable
from newfound.text.corpus import Corpus, SentenceFinder

__all__ = [
    "Context",
    "ContextIndex",
    "ContextMatrix",
    "PairScores",
    "Senses",
    "find_senses",
]

_WHERE = (*SIDES, "both")
_PRIOR = 1.0  # documents, of each count
_EXAMPLES_FROM = 25


@dataclass(frozen=True)
class Context(AsTable):
    """The words that clauses use together with a word.

    `known` and `novel` count clauses in which both words have that role; `both` is the sum of the
    two. Each is a table, sorted by strength, with the columns ``word`` (the partner),
    ``F_i`` (clauses with the word), ``F_j`` (with the partner), ``F_ij`` (with both), ``lift``,
    ``pmi``, ``equation`` (see `newfound.description.scores.ContextScores`) and ``strength`` (see
    `newfound.description.scores.pair_strength`).
    """

    word: str
    known: Table
    novel: Table
    both: Table

    def __getitem__(self, side: str) -> Table:
        """Return the table of "known", "novel" or "both"."""
        table: Table = getattr(self, _checked(side))
        return table

    def to_table(self) -> Table:
        """Return one table of all three, with a column ``side``."""
        return Table.stacked("side", {side: self[side] for side in _WHERE})

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {"word": self.word, **{side: self[side].to_records() for side in _WHERE}}


class PairScores(NamedTuple):
    """Counts and scores of all pairs of some words; the scores are nan on the diagonal.

    `F_i` has an entry for each word, the others a row and a column.
    """

    F_i: NDArray[np.int64]
    F_ij: NDArray[np.int64]
    lift: NDArray[np.float64]
    pmi: NDArray[np.float64]
    equation: NDArray[np.float64]


@dataclass(frozen=True)
class ContextMatrix:
    """Counts and scores of all pairs of some words in clauses.

    `known` and `novel` count clauses in which both words have that role; `both` is the sum.
    """

    words: tuple[str, ...]
    known: PairScores
    novel: PairScores
    both: PairScores

    def __getitem__(self, side: str) -> PairScores:
        """Return the scores of "known", "novel" or "both"."""
        scores: PairScores = getattr(self, _checked(side))
        return scores

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        sides = {side: jsonable(self[side]._asdict()) for side in _WHERE}
        return {"words": list(self.words), **sides}


class ContextIndex:
    """The context of words in the clauses of a machine, computed by sparse products.

    Examples
    --------
    >>> from newfound.rules import Clause
    >>> table = ClauseTable.from_clauses(
    ...     [
    ...         Clause("novel", 1, ("rugby", "scrum"), ("wicket",)),
    ...         Clause("novel", 1, ("rugby", "scrum")),
    ...         Clause("novel", 1, ("rugby", "try")),
    ...         Clause("known", 1, ("wicket",)),
    ...     ]
    ... )
    >>> context = ContextIndex(table).partners("rugby")
    >>> context.novel["word"].tolist(), context.novel["F_ij"].tolist()
    (['scrum', 'try'], [2, 1])
    >>> context.novel["lift"].round(2).tolist()
    [1.33, 1.33]
    """

    def __init__(self, table: ClauseTable) -> None:
        self.table = table

    def partners(self, word: str, other: str | None = None, n: int = 200) -> Context:
        """Return the n strongest partners of a word on each side, or a single one."""
        check_count("n", n, "words", 1)
        i = self.table.column(word)
        chosen = None if other is None else np.array([self.table.column(other)])
        counts = self._counts(np.array([i]), chosen)
        tables = {}
        for side, (F_i, F_j, F_ij) in counts.items():
            j = np.flatnonzero(F_ij[0]) if chosen is None else np.arange(1)
            j = j[j != i] if chosen is None else j
            scores = self._scores(side, F_i[0], F_j[j], F_ij[0, j])
            strength = pair_strength(F_ij[0, j], scores.pmi)
            order = np.lexsort((j, -scores.lift, -strength))[:n]
            columns = (j if chosen is None else chosen)[order]
            tables[side] = Table(
                {
                    "word": self._words[columns],
                    "F_i": np.full(len(order), F_i[0]),
                    "F_j": F_j[j][order],
                    "F_ij": F_ij[0, j][order],
                    **{name: values[order] for name, values in scores._asdict().items()},
                    "strength": strength[order],
                }
            )
        return Context(word, **tables)

    def matrix(self, words: Sequence[str]) -> ContextMatrix:
        """Return the counts and scores of all pairs of these words."""
        columns = np.array([self.table.column(word) for word in words], np.intp)
        if len(set(columns.tolist())) < len(columns) or not len(columns):
            raise ValueError("words: expected at least one word, and each only once.")
        sides = {}
        for side, (F_i, F_j, F_ij) in self._counts(columns, columns).items():
            scores = self._scores(side, F_i[:, None], F_j, F_ij)
            for values in scores:
                np.fill_diagonal(values, np.nan)
            sides[side] = PairScores(F_i, F_ij, **scores._asdict())
        return ContextMatrix(tuple(words), **sides)

    @cached_property
    def _words(self) -> NDArray[np.object_]:
        return np.array(self.table.vocabulary, dtype=object)

    @cached_property
    def _roles(self) -> dict[str, Any]:
        return dict(zip(SIDES, self.table.roles(), strict=True))

    @cached_property
    def _sizes(self) -> dict[str, tuple[int, int]]:
        """The size of the bag and the number of clauses, by side."""
        counts, novel = self.table.counts, self.table.is_novel
        (F_K, F_N), m = self.table.bags(), int(counts[novel].sum())
        known, both = int(F_K.sum()), int(F_K.sum() + F_N.sum())
        M = int(counts.sum())
        return {"known": (known, M - m), "novel": (both - known, m), "both": (both, M)}

    def _counts(
        self, words: NDArray[np.intp], others: NDArray[np.intp] | None
    ) -> dict[str, ContextCounts]:
        weights = self.table.counts
        counts = weights if (weights != 1).any() else None
        known, novel = (
            context_counts(self._roles[side], words, others, counts=counts) for side in SIDES
        )
        both = ContextCounts(*(a + b for a, b in zip(known, novel, strict=True)))
        return {"known": known, "novel": novel, "both": both}

    def _scores(self, side: str, F_i: Any, F_j: Any, F_ij: Any) -> ContextScores:
        bag_size, m = self._sizes[side]
        return context_scores(F_i, F_j, F_ij, self._sizes["both"][1], bag_size=bag_size, m=m)


def _checked(side: str) -> str:
    if side not in _WHERE:
        raise KeyError(f"side={side!r}: expected 'known', 'novel' or 'both'.")
    return side


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
