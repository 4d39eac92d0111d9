"""Rules that find the documents of a theme: a short OR of ANDs of one to three words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.stories.mixtures import deviance_root

__all__ = ["ThemeRule", "choose_rules", "found_rows", "matching_rows"]

MAX_RULES = 8
N_WORDS = 40  # words that may be in rules
N_TRIPLES = 60
MIN_GAIN = 0.015  # relative, that a further rule has to bring
MIN_EVIDENCE = 1.0  # of an AND alone
MIN_MATCHES = 3
MIN_FURTHER = 5  # novel documents that a further rule has to add
MIN_PART = 0.03  # of the documents found, that a further rule has to add

Matrix = Any


@dataclass(frozen=True)
class ThemeRule:
    """An AND of words, with the number of documents that it finds.

    Attributes
    ----------
    words : tuple of str
        The words that a document must have.
    known, novel : int
        The number of documents of each side that have them.
    held_out_known, held_out_novel : int
        The same among documents that took no part in the choice of the rule; both 0 if it was
        chosen with all documents only.

    Examples
    --------
    >>> rule = ThemeRule(("anzac", "day"), known=2, novel=31)
    >>> print(rule)
    anzac AND day
    """

    words: tuple[str, ...]
    known: int
    novel: int
    held_out_known: int = 0
    held_out_novel: int = 0

    def __str__(self) -> str:
        return " AND ".join(self.words)


def choose_rules(
    columns: Matrix,
    wanted: NDArray[np.bool_],
    novel: NDArray[np.bool_],
    words: NDArray[np.intp],
) -> list[tuple[int, ...]]:
    """Choose ANDs of words whose OR agrees best with a group of documents and is novel.

    What is maximised is F1 times the evidence of the documents found. Each AND must be more
    frequent in novel documents.

    Parameters
    ----------
    columns : CSC matrix of bool
        The words of all documents.
    wanted : ndarray of bool
        The documents to find.
    novel : ndarray of bool
        Which documents are novel.
    words : ndarray of int
        The columns that rules may have, the strongest first.

    Returns
    -------
    list of tuple of int
        The columns of each AND, in the order of choice.
    """
    words = words[:N_WORDS]
    rows = np.unique(np.concatenate([*(_column_rows(columns, word) for word in words), []]))
    rows = rows.astype(np.intp)
    if not len(rows):
        return []
    part = columns[:, words][rows].astype(np.float64).tocsc()
    target = wanted[rows].astype(np.float64)
    ands, matches = _candidates(part, target)
    new, share = novel[rows].astype(np.float64), float(novel.mean())
    total = np.asarray(matches.sum(axis=1)).ravel()
    is_novel = deviance_root(matches @ new, total, share) >= MIN_EVIDENCE
    if not is_novel.any():
        return []
    ands, matches = [ands[i] for i in np.flatnonzero(is_novel)], matches[is_novel]
    n_wanted = float(wanted.sum())
    chosen: list[tuple[int, ...]] = []
    left = np.ones(len(rows))
    counts, score = np.zeros(3), 0.0
    lengths = np.array([len(rule) for rule in ands])
    while len(chosen) < MAX_RULES:
        gains = counts[:, None] + [matches @ (left * each) for each in (target, 1.0, new)]
        hits, found, found_new = gains
        scores = 2 * hits / (found + n_wanted)
        # A rule must add documents of the group, not only a few of them.
        scores[hits - counts[0] < max(MIN_MATCHES, MIN_PART * hits.max())] = 0.0
        if chosen:
            scores[found_new - counts[2] < MIN_FURTHER] = 0.0
        scores *= np.maximum(deviance_root(found_new, np.maximum(found, 1), share), 0)
        best = int(np.argmax(scores * (1 - 1e-6 * lengths)))
        if scores[best] <= score * (1 + MIN_GAIN):
            break
        counts, score = gains[:, best], scores[best]
        left[matches[[best]].indices] = 0.0
        chosen.append(tuple(sorted(int(words[number]) for number in ands[best])))
    return _without_implied(chosen)


def matching_rows(columns: Matrix, rule: Sequence[int]) -> NDArray[np.intp]:
    """Return the documents that have all words of a rule."""
    rows = _column_rows(columns, rule[0])
    for word in rule[1:]:
        rows = np.intersect1d(rows, _column_rows(columns, word), assume_unique=True)
    return rows


def found_rows(columns: Matrix, rules: Iterable[Sequence[int]]) -> NDArray[np.intp]:
    """Return the documents that match any of some rules."""
    return np.unique(np.concatenate([matching_rows(columns, rule) for rule in rules]))


def _column_rows(columns: Matrix, word: int) -> NDArray[np.intp]:
    """Return the documents that have a word, from a CSC matrix."""
    found = columns.indices[columns.indptr[word] : columns.indptr[word + 1]]
    return np.sort(found).astype(np.intp)


def _candidates(part: Matrix, target: NDArray[np.float64]) -> tuple[list[tuple[int, ...]], Matrix]:
    """Return single words, pairs and triples, and which documents they find."""
    size = part.shape[1]
    inside = part.T @ sparse.diags(target) @ part
    inside, total = inside.toarray(), (part.T @ part).toarray()
    ands: list[tuple[int, ...]] = [(number,) for number in range(size)]
    pairs = [
        (a, b)
        for a, b in combinations(range(size), 2)
        if inside[a, b] >= MIN_MATCHES
        and inside[a, b] / total[a, b]
        > 1.1 * max(inside[a, a] / total[a, a], inside[b, b] / total[b, b])
    ]
    pairs.sort(key=lambda pair: -inside[pair])
    triples = {
        tuple(sorted({*one, *other}))
        for one, other in combinations(pairs[:N_TRIPLES], 2)
        if len({*one, *other}) == 3
    }
    ands += pairs + sorted(triples)[:500]
    ands = list(dict.fromkeys(tuple(sorted(rule)) for rule in ands))
    lengths = np.array([len(rule) for rule in ands])
    rule_of = np.repeat(np.arange(len(ands)), lengths)
    literals = sparse.csr_matrix(
        (np.ones(len(rule_of)), (np.concatenate(ands), rule_of)), shape=(size, len(ands))
    )
    present = (part @ literals).tocoo()
    full = present.data >= lengths[present.col] - 0.5
    ones = np.ones(int(full.sum()))
    shape = (len(ands), part.shape[0])
    return ands, sparse.csr_matrix((ones, (present.col[full], present.row[full])), shape=shape)


def _without_implied(rules: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Leave out ANDs that a shorter chosen AND contains."""
    sets = [set(rule) for rule in rules]
    return [
        rule
        for rule, words in zip(rules, sets, strict=True)
        if not any(other < words for other in sets)
    ]
