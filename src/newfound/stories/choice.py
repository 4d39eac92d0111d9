"""The choice of themes among groups of documents: rules, and figures from documents left out."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.arithmetic import dot, log, norm
from newfound.machine.clauses import RuleSet
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

__all__ = ["ANDRule", "choose_rules", "choose_themes", "held_out_figures"]

MAX_RULES = 8
N_WORDS = 40  # words that may be in rules
N_TRIPLES = 60
MIN_GAIN = 0.015  # relative, that a further rule has to bring
MIN_RULE_EVIDENCE = 1.0  # of an AND alone
MIN_MATCHES = 3
MIN_FURTHER = 5  # novel documents that a further rule has to add
MIN_PART = 0.03  # of the documents found, that a further rule has to add

ANDRule = tuple[int, ...]


def choose_rules(piles: Piles, wanted: NDArray[np.intp], words: NDArray[np.intp]) -> list[ANDRule]:
    """Choose ANDs of words whose OR agrees best with a group of documents and is novel.

    What is maximised is F1 times the evidence of the documents found. Each AND must be more
    frequent in novel documents.

    `wanted` has the rows of the documents to find, and `words` the columns that rules may have, the
    strongest first.
    """
    words = words[:N_WORDS]
    if not len(words):
        return []
    rows = piles.found([[word] for word in words])
    if not len(rows):
        return []
    part = piles.columns[:, words][rows].astype(np.float64).tocsc()
    target = np.zeros(len(piles.novel))
    target[wanted] = 1.0
    target = target[rows]
    ands, matches = _candidates(part, target)
    new, share = piles.novel[rows].astype(np.float64), piles.share
    total = np.asarray(matches.sum(axis=1)).ravel()
    is_novel = deviance_root(matches @ new, total, share) >= MIN_RULE_EVIDENCE
    if not is_novel.any():
        return []
    ands, matches = [ands[i] for i in np.flatnonzero(is_novel)], matches[is_novel]
    chosen: list[ANDRule] = []
    left = np.ones(len(rows))
    counts, score = np.zeros(3), 0.0
    lengths = np.array([len(rule) for rule in ands])
    while len(chosen) < MAX_RULES:
        gains = counts[:, None] + [matches @ (left * each) for each in (target, 1.0, new)]
        hits, found, found_new = gains
        scores = 2 * hits / (found + len(wanted))
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
    # Without ANDs that a shorter chosen one contains.
    return [rule for rule in chosen if not any(set(other) < set(rule) for other in chosen)]


def _candidates(part: Any, target: NDArray[np.float64]) -> tuple[list[ANDRule], Any]:
    """Return single words, pairs and triples, and which documents they find."""
    size = part.shape[1]
    inside = part.T @ sparse.diags(target) @ part
    inside, total = inside.toarray(), (part.T @ part).toarray()
    ands: list[ANDRule] = [(number,) for number in range(size)]
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
    found = RuleSet.of(ands, size).matching(part.tocsr())
    return ands, sparse.csr_matrix(found.T, dtype=np.float64)


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

    Returned are, for rules that a half gives, how many known and novel documents of the other one
    they find; and for each theme the shares of known and of novel documents found, nan if unknown.
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
