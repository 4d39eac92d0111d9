"""The choice of themes among groups of documents, and figures from documents left out of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import dot, log, norm
from newfound.stories.evidence import (
    MIN_EVIDENCE,
    PSEUDO_DOCUMENTS,
    Piles,
    deviance_root,
    document_weights,
    evidence_of_sets,
)
from newfound.stories.mixtures import (
    MAX_LEARNED,
    MIN_DOCUMENTS,
    DocumentSpace,
    Draft,
    find_groups,
)
from newfound.stories.rules import ANDRule, choose_rules

__all__ = ["choose_themes", "held_out_figures"]

STRONG = 3.0  # evidence of a word that is a theme of its own
MIN_FRESH = 0.6  # share of a theme's novel documents that no earlier theme has
MIN_GROWTH = 1.5  # how many times as frequent a theme is on the novel side, at least
MIN_SIMILARITY = 0.45  # cosine, of the documents of the rules of one theme without their words
MIN_SHARE = 0.0025  # of the novel documents, for a theme
MIN_OVERLAP = 0.25  # Jaccard, of a theme and its counterpart from half of the documents
N_PARTS = 2

Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]


def choose_themes(
    piles: Piles, evidence: NDArray[np.float64], n_themes: int, most: int = MAX_LEARNED
) -> list[Draft]:
    """Find groups of documents and their rules, and choose at most so many themes among them."""
    candidates: dict[tuple[ANDRule, ...], Draft] = {}
    groups, space = find_groups(piles, evidence, most)
    for group in groups:
        if piles.evidence(group.rows) < MIN_EVIDENCE:
            continue
        rules = choose_rules(piles, group.rows, group.words)
        for part in _similar_rules(rules, piles, space):
            rows = piles.found(part)
            key, sure = tuple(sorted(part)), piles.evidence(rows, len(part))
            if key not in candidates and sure >= MIN_EVIDENCE:
                candidates[key] = Draft(rows, *piles.telling(rows), group.links, tuple(part), sure)
    chosen = _best_first(list(candidates.values()), piles, n_themes, space)
    words = _single_words(piles, evidence, chosen)
    chosen = [draft for draft in chosen if not any(_covers(word, draft, piles) for word in words)]
    chosen += words
    return sorted(chosen, key=lambda draft: -draft.evidence)[:n_themes]


def held_out_figures(
    drafts: list[Draft], piles: Piles, random_state: int
) -> tuple[dict[ANDRule, NDArray[np.intp]], NDArray[np.float64]]:
    """Search each half of the documents by the rules that the other half gives.

    Returns
    -------
    rules : dict
        For rules that a half gives: how many known and novel documents of the other one they find.
    shares : ndarray of shape (n_themes, 2)
        For each theme, the share of known and of novel documents found; nan if unknown.
    """
    parts = _parts(piles.novel, random_state)
    rules: dict[ANDRule, NDArray[np.intp]] = {}
    found = np.zeros((len(drafts), 2))
    total = np.zeros((len(drafts), 2))
    for part in range(N_PARTS):
        learned, rest = np.flatnonzero(parts != part), parts == part
        half = Piles(piles.matrix[learned], piles.novel[learned])
        others = []
        if 0 < half.share < 1:
            scores = evidence_of_sets(half.matrix, document_weights(half.matrix, half.novel))
            others = choose_themes(half, scores, 2 * len(drafts), MAX_LEARNED // N_PARTS)

        def counts(rows: Rows, rest: Bools = rest) -> tuple[int, int]:
            return piles.sides(rows[rest[rows]])

        for rule in {rule for other in others for rule in other.rules}:
            before = rules.get(rule, np.zeros(2, dtype=np.intp))
            rules[rule] = before + counts(piles.matching(rule))
        for number, draft in enumerate(drafts):
            inside = draft.rows[~rest[draft.rows]]
            twin = _counterpart(inside, [(learned[other.rows], other) for other in others])
            if twin is not None:
                found[number] += counts(piles.found(twin.rules))
                total[number] += counts(np.arange(len(rest)))
    shares = np.full_like(found, np.nan)
    np.divide(found, total, out=shares, where=total > 0)
    return rules, shares


def _similar_rules(
    rules: list[ANDRule], piles: Piles, space: DocumentSpace | None
) -> list[list[ANDRule]]:
    """Part rules that find documents of different topics."""
    parts: list[list[ANDRule]] = []
    means: list[NDArray[Any]] = []
    for rule in rules:
        rows = piles.matching(rule)
        mean = np.ones(1) if space is None else space.mean_without(rows, rule)
        near = [_cosine(mean, other) for other in means]
        best = int(np.argmax(near)) if near else -1
        if near and near[best] >= MIN_SIMILARITY:
            parts[best].append(rule)
            means[best] = means[best] + len(rows) * mean
        else:
            parts.append([rule])
            means.append(len(rows) * mean)
    return parts


def _cosine(one: NDArray[Any], other: NDArray[Any]) -> float:
    return dot(one, other) / max(norm(one) * norm(other), 1e-12)


def _best_first(
    candidates: list[Draft], piles: Piles, n_themes: int, space: DocumentSpace | None
) -> list[Draft]:
    """Choose again and again the draft with the most evidence in the documents that are left.

    Of two drafts with the same evidence the one with the more similar documents is chosen: a theme
    should not join two topics.
    """
    left = np.ones(len(piles.novel), dtype=bool)
    few = _few(piles)
    drafts = [
        draft
        for draft in candidates
        if piles.growth(draft.rows) >= MIN_GROWTH and piles.sides(draft.rows)[1] >= few
    ]
    cohesion = [1.0 if space is None else norm(space.mean(draft.rows)) for draft in drafts]
    chosen: list[Draft] = []
    while drafts and len(chosen) < n_themes:
        fresh = [draft.rows[left[draft.rows]] for draft in drafts]
        gains = [
            piles.evidence(rows, len(draft.rules))
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
        if piles.sides(fresh[best])[1] >= MIN_FRESH * piles.sides(draft.rows)[1]:
            left[draft.rows] = False
            chosen.append(draft)
    return chosen


def _few(piles: Piles) -> float:
    """Return the number of novel documents that a theme has at least."""
    return max(MIN_DOCUMENTS, MIN_SHARE * int(piles.novel.sum()))


def _single_words(piles: Piles, evidence: NDArray[np.float64], chosen: list[Draft]) -> list[Draft]:
    """Return themes of one word, for strong words that no theme has yet.

    A word that occurs in many contexts, such as the name of a holiday, does not make a topic.
    """
    left = np.ones(len(piles.novel), dtype=bool)
    for draft in chosen:
        left[draft.rows] = False
    by_chance = 2 * log(max(piles.matrix.shape[1], 2))
    drafts: list[Draft] = []
    strong = np.flatnonzero(evidence >= STRONG)
    for word in strong[np.argsort(-evidence[strong], kind="stable")].tolist():
        rows = piles.matching((word,))
        fresh = rows[left[rows]]
        _, count = piles.sides(fresh)
        if count < _few(piles) or count < MIN_FRESH * piles.sides(rows)[1]:
            continue
        root = deviance_root(float(count), len(fresh), piles.share, PSEUDO_DOCUMENTS)
        if root * root - by_chance < STRONG * STRONG or root < 0:
            continue
        words, weights = _company(piles.matrix, rows, word)
        drafts.append(Draft(rows, words, weights, (), ((word,),), piles.evidence(rows)))
        left[rows] = False
    return drafts


def _covers(word: Draft, draft: Draft, piles: Piles) -> bool:
    """Return whether the theme of a word has most of the novel documents of another theme."""
    new = draft.rows[piles.novel[draft.rows]]
    return len(np.intersect1d(word.rows, new, assume_unique=True)) > MIN_FRESH * len(new)


def _company(matrix: Any, rows: Rows, word: int) -> tuple[Rows, NDArray[np.float64]]:
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


def _counterpart(inside: Rows, others: list[tuple[Rows, Draft]]) -> Draft | None:
    """Return the theme of a part that has most documents in common with given ones."""
    best, twin = MIN_OVERLAP, None
    for rows, other in others:
        common = len(np.intersect1d(inside, rows, assume_unique=True))
        overlap = common / max(len(inside) + len(rows) - common, 1)
        if overlap > best:
            best, twin = overlap, other
    return twin
