"""The choice of themes among groups of documents, and figures from documents left out of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import dot, log, norm
from newfound.stories.evidence import document_weights, evidence_of_sets
from newfound.stories.mixtures import (
    MAX_LEARNED,
    MIN_DOCUMENTS,
    MIN_EVIDENCE,
    DocumentSpace,
    Group,
    deviance_root,
    find_groups,
    telling_words,
)
from newfound.stories.rules import choose_rules, found_rows, matching_rows

__all__ = ["Draft", "HeldOut", "choose_themes", "held_out_figures", "theme_evidence"]

SEARCH = 5.0  # deviance that the best of many groups reaches by chance
RULE_SEARCH = 0.7  # the same for each further rule
STRONG = 3.0  # evidence of a word that is a theme of its own
MIN_FRESH = 0.6  # share of a theme's novel documents that no earlier theme has
MIN_GROWTH = 1.5  # how many times as frequent a theme is on the novel side, at least
MIN_SIMILARITY = 0.45  # cosine, of the documents of the rules of one theme without their words
MIN_SHARE = 0.0025  # of the novel documents, for a theme
MIN_OVERLAP = 0.25  # Jaccard, of a theme and its counterpart from half of the documents
N_PARTS = 2
PSEUDO_DOCUMENTS = 8.0  # with the expected share of novel ones, so that few documents are no proof

Matrix = Any
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]
Rule = tuple[int, ...]


@dataclass(frozen=True)
class Draft:
    """A theme in columns and rows: its group, its rules, the documents that they find."""

    group: Group
    rules: list[Rule]
    rows: Rows
    evidence: float


@dataclass(frozen=True)
class HeldOut:
    """Figures from documents that took no part in the choice.

    Attributes
    ----------
    rules : dict
        For rules that a part of the documents gives: how many known and novel documents of the
        other parts they find.
    shares : ndarray of shape (n_themes, 2)
        For each theme, the share of known and of novel documents found; nan if unknown.
    """

    rules: dict[Rule, NDArray[np.intp]]
    shares: NDArray[np.float64]


def choose_themes(
    matrix: Matrix,
    novel: Bools,
    evidence: NDArray[np.float64],
    n_themes: int,
    most: int = MAX_LEARNED,
) -> list[Draft]:
    """Find groups of documents and their rules, and choose the themes among them.

    Parameters
    ----------
    matrix : CSR matrix
        The words of all documents.
    novel : ndarray of bool
        Which documents are novel.
    evidence : ndarray of float64
        The evidence of each word.
    n_themes : int
        The largest number of themes.
    most : int, default=9,000
        The largest number of documents that topics are learned from.
    """
    if novel.all() or not novel.any():
        return []
    columns = matrix.tocsc()
    rates = np.asarray(matrix.sum(axis=0)).ravel().astype(np.float64) / max(matrix.nnz, 1)
    candidates: dict[tuple[Rule, ...], Draft] = {}
    groups, space = find_groups(matrix, novel, evidence, most)
    for group in groups:
        if _evidence(group.rows, novel) < MIN_EVIDENCE:
            continue
        wanted = np.zeros(len(novel), dtype=bool)
        wanted[group.rows] = True
        rules = choose_rules(columns, wanted, novel, group.words)
        for part in _similar_rules(rules, columns, space):
            rows = found_rows(columns, part)
            key = tuple(sorted(part))
            if key not in candidates and _evidence(rows, novel, len(part)) >= MIN_EVIDENCE:
                own = Group(rows, *telling_words(matrix, rates, rows), group.links)
                candidates[key] = Draft(own, part, rows, _evidence(rows, novel, len(part)))
    chosen = _best_first(list(candidates.values()), novel, n_themes, space)
    words = _single_words(matrix, columns, novel, evidence, chosen)
    chosen = [draft for draft in chosen if not any(_covers(word, draft, novel) for word in words)]
    chosen += words
    return sorted(chosen, key=lambda draft: -draft.evidence)[:n_themes]


def held_out_figures(
    drafts: list[Draft],
    matrix: Matrix,
    novel: Bools,
    random_state: int,
) -> HeldOut:
    """Search each half of the documents by the rules that the other half gives."""
    columns = matrix.tocsc()
    parts = _parts(novel, random_state)
    rules: dict[Rule, NDArray[np.intp]] = {}
    found = np.zeros((len(drafts), 2))
    total = np.zeros((len(drafts), 2))
    for part in range(N_PARTS):
        learned, rest = np.flatnonzero(parts != part), parts == part
        narrow, side = matrix[learned], novel[learned]
        scores = evidence_of_sets(narrow, document_weights(narrow, side))
        others = choose_themes(narrow, side, scores, 2 * len(drafts), MAX_LEARNED // N_PARTS)
        for rule in {rule for other in others for rule in other.rules}:
            counts = _sides(matching_rows(columns, rule), rest, novel)
            rules[rule] = rules.get(rule, np.zeros(2, dtype=np.intp)) + counts
        for number, draft in enumerate(drafts):
            own = draft.rows[~rest[draft.rows]]
            twin = _counterpart(own, [(learned[other.rows], other) for other in others])
            if twin is not None:
                found[number] += _sides(found_rows(columns, twin.rules), rest, novel)
                total[number] += _sides(np.arange(len(novel)), rest, novel)
    shares = np.full_like(found, np.nan)
    np.divide(found, total, out=shares, where=total > 0)
    return HeldOut(rules, shares)


def _evidence(rows: Rows, novel: Bools, n_rules: int = 1) -> float:
    """Return the evidence of documents, given by their rows; see `theme_evidence`."""
    return theme_evidence(float(novel[rows].sum()), len(rows), float(novel.mean()), n_rules)


def theme_evidence(novel: float, total: float, share: float, n_rules: int = 1) -> float:
    """Return the deviance root of documents, less what the search reaches by chance.

    Parameters
    ----------
    novel, total : float
        The number of novel documents, and of all documents, that the rules find.
    share : float
        The share of novel documents in the corpus.
    n_rules : int, default=1
        The number of rules.

    Examples
    --------
    >>> round(theme_evidence(30, 40, 0.5), 2), round(theme_evidence(30, 40, 0.5, n_rules=3), 2)
    (1.9, 1.48)
    """
    root = float(deviance_root(novel, total, share, PSEUDO_DOCUMENTS))
    by_chance = SEARCH + RULE_SEARCH * (n_rules - 1)
    return float(np.sign(root) * np.sqrt(max(root * root - by_chance, 0.0)))


def _growth(rows: Rows, novel: Bools) -> float:
    """Return how many times as frequent documents are on the novel side, shrunk a little."""
    count, base = float(novel[rows].sum()), float(novel.mean())
    return (count + 1) / (len(rows) - count + 1) * (1 - base) / base


def _similar_rules(
    rules: list[Rule], columns: Matrix, space: DocumentSpace | None
) -> list[list[Rule]]:
    """Part rules that find documents of different topics."""
    parts: list[list[Rule]] = []
    means: list[NDArray[Any]] = []
    for rule in rules:
        rows = matching_rows(columns, rule)
        own = np.ones(1) if space is None else space.mean_without(rows, rule)
        near = [_cosine(own, mean) for mean in means]
        best = int(np.argmax(near)) if near else -1
        if near and near[best] >= MIN_SIMILARITY:
            parts[best].append(rule)
            means[best] = means[best] + len(rows) * own
        else:
            parts.append([rule])
            means.append(len(rows) * own)
    return parts


def _cosine(one: NDArray[Any], other: NDArray[Any]) -> float:
    return dot(one, other) / max(norm(one) * norm(other), 1e-12)


def _length(space: DocumentSpace | None, rows: Rows) -> float:
    """Return how similar documents are, from 0 to 1."""
    return 1.0 if space is None else norm(space.mean(rows))


def _best_first(
    candidates: list[Draft], novel: Bools, n_themes: int, space: DocumentSpace | None
) -> list[Draft]:
    """Choose again and again the draft with the most evidence in the documents that are left.

    Of two drafts with the same evidence the one with the more similar documents is chosen: a theme
    should not join two topics.
    """
    left = np.ones(len(novel), dtype=bool)
    few = max(MIN_DOCUMENTS, MIN_SHARE * novel.sum())
    drafts = [
        draft
        for draft in candidates
        if _growth(draft.rows, novel) >= MIN_GROWTH and novel[draft.rows].sum() >= few
    ]
    cohesion = [_length(space, draft.rows) for draft in drafts]
    chosen: list[Draft] = []
    while drafts and len(chosen) < n_themes:
        fresh = [draft.rows[left[draft.rows]] for draft in drafts]
        gains = [
            _evidence(rows, novel, len(draft.rules))
            for rows, draft in zip(fresh, drafts, strict=True)
        ]
        keys = [
            gain * math.sqrt(cohesive) if gain >= MIN_EVIDENCE else 0.0
            for gain, cohesive in zip(gains, cohesion, strict=True)
        ]
        best = int(np.argmax(keys))
        if keys[best] <= 0:
            break
        draft = drafts.pop(best)
        cohesion.pop(best)
        if novel[fresh[best]].sum() >= MIN_FRESH * novel[draft.rows].sum():
            left[draft.rows] = False
            chosen.append(draft)
    return chosen


def _single_words(
    matrix: Matrix, columns: Matrix, novel: Bools, evidence: NDArray[np.float64], have: list[Draft]
) -> list[Draft]:
    """Return themes of one word, for strong words that no theme has yet.

    A word that occurs in many contexts, such as the name of a holiday, does not make a topic.
    """
    left = np.ones(len(novel), dtype=bool)
    for draft in have:
        left[draft.rows] = False
    by_chance = 2 * log(max(matrix.shape[1], 2))
    found: list[Draft] = []
    strong = np.flatnonzero(evidence >= STRONG)
    for word in strong[np.argsort(-evidence[strong], kind="stable")]:
        rows = matching_rows(columns, (int(word),))
        fresh = rows[left[rows]]
        count, few = int(novel[fresh].sum()), max(MIN_DOCUMENTS, MIN_SHARE * novel.sum())
        if count < few or count < MIN_FRESH * novel[rows].sum():
            continue
        root = deviance_root(float(count), len(fresh), float(novel.mean()), PSEUDO_DOCUMENTS)
        if root * root - by_chance < STRONG * STRONG or root < 0:
            continue
        words, weights = _company(matrix, rows, int(word))
        found.append(
            Draft(Group(rows, words, weights, ()), [(int(word),)], rows, _evidence(rows, novel))
        )
        left[rows] = False
    return found


def _covers(word: Draft, draft: Draft, novel: Bools) -> bool:
    """Return whether the theme of a word has most of the novel documents of another theme."""
    new = draft.rows[novel[draft.rows]]
    return len(np.intersect1d(word.rows, new, assume_unique=True)) > MIN_FRESH * len(new)


def _company(matrix: Matrix, rows: Rows, word: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return a word and the words that are significantly more frequent in its documents."""
    inside = np.asarray(matrix[rows].sum(axis=0)).ravel()
    expected = np.asarray(matrix.sum(axis=0)).ravel() * len(rows) / matrix.shape[0]
    strength = (inside - expected) / np.sqrt(expected + 1)
    strength[word] = np.inf
    order = np.argsort(-strength, kind="stable")[:20]
    order = order[(strength[order] > STRONG) & (inside[order] >= 2)]
    weights = strength[order]
    weights[0] = 2 * weights[1] if len(weights) > 1 else 1.0
    return order.astype(np.intp), weights


def _parts(novel: Bools, random_state: int) -> Rows:
    """Return the part of each document; the parts have equal shares of both sides."""
    rng = np.random.default_rng(random_state)
    parts = np.zeros(len(novel), dtype=np.intp)
    for side in (novel, ~novel):
        rows = rng.permutation(np.flatnonzero(side))
        parts[rows] = np.arange(len(rows)) % N_PARTS
    return parts


def _sides(rows: Rows, rest: Bools, novel: Bools) -> NDArray[np.intp]:
    """Count known and novel documents among those of the rest."""
    side = novel[rows[rest[rows]]]
    return np.array([(~side).sum(), side.sum()], dtype=np.intp)


def _counterpart(own: Rows, others: list[tuple[Rows, Draft]]) -> Draft | None:
    """Return the theme of a part that has most documents in common with given ones."""
    best, found = MIN_OVERLAP, None
    for rows, other in others:
        common = len(np.intersect1d(own, rows, assume_unique=True))
        overlap = common / max(len(own) + len(rows) - common, 1)
        if overlap > best:
            best, found = overlap, other
    return found
