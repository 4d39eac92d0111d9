"""The choice of themes and their parts among candidates, and figures from documents left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import power
from newfound.stories.candidates import Candidates, Rules
from newfound.stories.evidence import (
    MIN_EVIDENCE,
    PSEUDO_DOCUMENTS,
    SURE,
    Piles,
    beyond_chance,
    deviance_root,
)

__all__ = ["Draft", "choose_themes", "held_out_shares"]

MOST_THEMES = 300  # that are chosen before the surest of them are kept
MIN_FRESH = 0.6  # share of a theme's novel documents that no earlier theme has
MIN_INSIDE = 0.7  # share of a part's novel documents that are in the theme
MAX_PART = 0.6  # of the novel documents of the theme, in a part
PARTED = 0.6  # of the novelty of a theme, that its parts have if it joins several stories
LESS_ALIKE = (
    0.92  # a theme that joins stories than its parts: cohesion to the power of the fineness
)
BLOCKED = 0.25  # share of a candidate's novel documents that a theme has, to stand in its way
BETTER = 1.15  # times the novelty of a theme, by cohesion, of the candidates that replace it
MIN_OVERLAP = 0.25  # Jaccard, of a theme and its counterpart from half of the documents
N_HALVES = 2

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Draft:
    """A theme to be: the documents that rules find, and its parts."""

    rows: Rows
    rules: Rules
    evidence: float
    by_chance: float
    parts: tuple[Draft, ...] = ()


class _Choice:
    """Candidates that are novel enough, chosen one by one."""

    def __init__(self, candidates: Candidates, piles: Piles, search: Floats) -> None:
        self.piles, self.search = piles, search
        self.novel = piles.novel.astype(np.float32)
        roots, novel, possible = candidates.measured(piles, piles.novel)
        evidence = beyond_chance(roots, self.search)
        places = np.flatnonzero(possible & (evidence >= MIN_EVIDENCE))
        self.candidates = candidates.take(places)
        self.members, self.totals = self.candidates.members, self.candidates.sizes
        self.sizes, self.evidence, self.search = novel[places], evidence[places], search[places]

    def best_first(self, most: int, among: Bools, left: Any, fineness: float) -> list[int]:
        """Choose again and again the candidate with the most evidence in the documents `left`.

        Of candidates with the same evidence, that with the more similar documents is chosen, the
        more so the greater the fineness: a theme should not join two topics.
        """
        left, among = left.copy(), among.copy()
        similar = power(self.candidates.cohesion, fineness)
        chosen: list[int] = []
        while among.any() and len(chosen) < most:
            novel = np.asarray(self.members @ (left * self.novel), np.float64)
            sizes = np.asarray(self.members @ left, np.float64)
            roots = deviance_root(novel, sizes, self.piles.share, PSEUDO_DOCUMENTS)
            evidence = beyond_chance(roots, self.search)
            # What was taken once stays taken: fresh documents only become fewer.
            among &= (evidence >= MIN_EVIDENCE) & (novel >= MIN_FRESH * self.sizes)
            keys = np.where(among, evidence * similar, 0.0)
            best = int(np.argmax(keys))
            if keys[best] <= 0:
                break
            among[best] = False
            left[self.candidates.rows(best)] = 0.0
            chosen.append(best)
        return chosen

    def parts(self, place: int, fineness: float) -> list[int]:
        """Return the parts of a chosen candidate: smaller ones most of whose documents it has."""
        inside = np.zeros(len(self.novel), np.float32)
        inside[self.candidates.rows(place)] = 1.0
        among = self.members @ (inside * self.novel) >= MIN_INSIDE * self.sizes
        among &= (self.sizes <= MAX_PART * self.sizes[place]) & (self.evidence >= SURE)
        found = self.best_first(len(among), among, inside, fineness)
        return found if len(found) > 1 else []

    def stories(self, place: int, fineness: float) -> list[int]:
        """Return a chosen candidate, or its parts if it joins several stories.

        The parts of such a theme have most of what is new in it, and their documents are more
        alike than its own.
        """
        parts = self.parts(place, fineness)
        excess = self.sizes - self.piles.share * self.totals
        cohesion, totals = self.candidates.cohesion, self.totals[parts]
        alike = (cohesion[parts] * totals).sum() / max(totals.sum(), 1.0)
        novel = excess[parts].sum() >= PARTED * excess[place]
        less = power(cohesion[place], fineness) < LESS_ALIKE * power(alike, fineness)
        return parts if novel and less else [place]

    def replaced(self, chosen: Sequence[int], fineness: float) -> list[int]:
        """Return chosen candidates, those replaced that stand in the way of several better ones.

        A theme of documents that are unlike each other may have parts of several topics, none of
        which is chosen then. It is replaced if candidates whose documents are more alike have
        more of what is new beyond the other themes, each weighted by its cohesion.
        """
        kept = list(chosen)
        taken = np.zeros(len(self.novel), np.int64)
        for place in chosen:
            taken[self.candidates.rows(place)] += 1
        cohesion = self.candidates.cohesion
        for place in sorted(chosen, key=lambda place: -self.sizes[place]):
            rows = self.candidates.rows(place)
            taken[rows] -= 1
            left = (taken == 0).astype(np.float32)
            inside = np.zeros(len(self.novel), np.float32)
            inside[rows] = 1.0
            among = self.members @ (inside * self.novel) >= BLOCKED * self.sizes
            among &= (self.sizes <= MAX_PART * self.sizes[place]) & (self.evidence >= SURE)
            among &= cohesion > cohesion[place]
            among[kept] = False
            others = self.best_first(len(among), among, left, fineness)
            own = self._fresh(place, left)
            better = 0.0
            for other in others:
                better += self._fresh(other, left)
                left[self.candidates.rows(other)] = 0.0
            if len(others) > 1 and better > BETTER * own:
                kept.remove(place)
                kept += others
            else:
                others = [place]
            for other in others:
                taken[self.candidates.rows(other)] += 1
        return kept

    def _fresh(self, place: int, left: Any) -> float:
        """Return what is new of a candidate in the documents `left`, times its cohesion."""
        rows = self.candidates.rows(place)
        novel, every = float((left[rows] * self.novel[rows]).sum()), float(left[rows].sum())
        return (novel - self.piles.share * every) * float(self.candidates.cohesion[place])

    def draft(self, place: int, parts: Iterable[int] = ()) -> Draft:
        """Return a candidate as a theme to be, with its parts."""
        rows, rules = self.candidates.rows(place), self.candidates.rules[place]
        evidence, search = float(self.evidence[place]), float(self.search[place])
        return Draft(rows, rules, evidence, search, tuple(map(self.draft, parts)))


def choose_themes(
    candidates: Candidates, piles: Piles, search: Floats, most: int, fineness: float = 0.5
) -> list[Draft]:
    """Return at most so many themes with their parts, the one with the most evidence first.

    `search` is the deviance that the search for each candidate gives by chance.
    """
    choice = _Choice(candidates, piles, search)
    everywhere = np.ones(len(piles.novel), np.float32)
    among = np.ones(len(choice.sizes), bool)
    chosen = choice.best_first(max(most, MOST_THEMES), among, everywhere, fineness)
    stories = dict.fromkeys(story for place in chosen for story in choice.stories(place, fineness))
    found = choice.replaced(list(stories), fineness)
    surest = sorted(found, key=lambda place: -choice.evidence[place])[:most]
    return [choice.draft(place, choice.parts(place, fineness)) for place in surest]


def held_out_shares(
    drafts: list[Draft], candidates: Candidates, piles: Piles, search: Floats, random_state: int
) -> Floats:
    """Return the shares of known and of novel documents found by themes that a half chose.

    Each half of the documents chooses among the candidates by its own sides, and the documents of
    the other half are counted; nan for a theme that no half gives.
    """
    parts = _halves(piles.novel, random_state)
    counted = np.zeros((len(drafts), 2))
    total = np.zeros((len(drafts), 2))
    for part in range(N_HALVES):
        own, rest = np.flatnonzero(parts != part), parts == part
        half = piles.take(own)
        if not 0 < half.share < 1:
            continue
        inside = replace(candidates, members=candidates.members[:, own])
        full = np.flatnonzero(np.diff(inside.members.indptr) > 0)
        others = choose_themes(inside.take(full), half, search[full], 2 * len(drafts))
        for number, draft in enumerate(drafts):
            twin = _counterpart(draft.rows[~rest[draft.rows]], others, own)
            if twin is not None:
                rows = piles.found(twin.rules)
                counted[number] += piles.sides(rows[rest[rows]])
                total[number] += piles.sides(np.flatnonzero(rest))
    shares = np.full_like(counted, np.nan)
    np.divide(counted, total, out=shares, where=total > 0)
    return shares


def _halves(novel: Bools, random_state: int) -> Rows:
    """Return the half of each document; the halves have equal shares of both sides."""
    rng = np.random.default_rng(random_state)
    parts = np.zeros(len(novel), dtype=np.intp)
    for side in (novel, ~novel):
        rows = rng.permutation(np.flatnonzero(side))
        parts[rows] = np.arange(len(rows)) % N_HALVES
    return parts


def _counterpart(inside: Rows, others: list[Draft], own: Rows) -> Draft | None:
    """Return the theme of a half that has most documents in common with given ones."""
    best, twin = MIN_OVERLAP, None
    for other in others:
        rows = own[other.rows]
        common = len(np.intersect1d(inside, rows, assume_unique=True))
        overlap = common / max(len(inside) + len(rows) - common, 1)
        if overlap > best:
            best, twin = overlap, other
    return twin
