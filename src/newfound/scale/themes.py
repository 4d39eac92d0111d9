"""Themes and phrases over all documents: how many documents have them, and which are typical.

Themes and phrases are found in a sample. Their rules are ANDs of words, so that a batch of any
documents tells which of them they find. A document is in a set of themes, written as a number with
a bit for each theme. The documents of each theme are counted, and the words of the documents that
are in one theme only, and in several. What themes explain follows from these counts, which are no
more for long documents, that are in many themes, than for short ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.machine.clauses import RuleSet
from newfound.scale.counting import place_of
from newfound.stories.evidence import MIN_EVIDENCE, theme_evidence
from newfound.stories.themes import N_TYPICAL, Theme, first_distinct, recounted, text_key
from newfound.table import Table

__all__ = [
    "ThemeCounts",
    "ThemeSearch",
    "counted_phrases",
    "measured_themes",
    "members_of",
    "theme_groups",
    "unexplained",
]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ThemeSearch:
    """Finds the documents of themes and phrases in a matrix of words."""

    ands: RuleSet  # the rules of all themes, theme by theme, then the phrases
    theme_of: Integers  # the theme of each rule
    words: tuple[tuple[NDArray[np.intp], Floats], ...]  # columns and weights, for each theme
    lengths: Floats  # the median length of the novel documents of each theme
    # The least score of a typical document of each theme: that of the last one in the sample.
    least: Floats

    @classmethod
    def of(
        cls,
        themes: Sequence[Theme],
        phrases: Iterable[Sequence[str]],
        vocabulary: dict[str, int],
        sample: Any,
        texts: Sequence[str],
        novel: Bools,
    ) -> ThemeSearch:
        """Return the search for themes and phrases; the sample says what a typical document is.

        The sample is the one that they were found in, with the words of all documents: their
        columns are in `vocabulary`.
        """
        rules = [(number, rule) for number, theme in enumerate(themes) for rule in theme.rules]
        named = [*(rule.words for _, rule in rules), *phrases]
        search = cls(
            ands=RuleSet.of(
                [[vocabulary[word] for word in words] for words in named], len(vocabulary)
            ),
            theme_of=np.array([number for number, _ in rules], np.int64),
            words=tuple(
                (
                    np.array([vocabulary[word] for word, _ in theme.words], np.intp),
                    np.array([weight for _, weight in theme.words]),
                )
                for theme in themes
            ),
            lengths=np.ones(len(themes)),
            least=np.full(len(themes), -np.inf),
        )
        masks = search.masks(search.matches(sample), len(texts))
        sizes = np.diff(sample.indptr)
        own = [(masks >> number & 1).astype(bool) & novel for number in range(len(themes))]
        lengths = np.array([np.median(sizes[rows]) if rows.any() else 1.0 for rows in own])
        search = replace(search, lengths=lengths)
        least = [-np.inf] * len(themes)
        found = search.typical(sample, masks, novel, texts)
        for number in range(len(themes)):
            scores = [score for theme, score, _ in found if theme == number]
            if len(scores) == N_TYPICAL:
                least[number] = scores[-1]
        return replace(search, least=np.array(least))

    def matches(self, matrix: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows of documents, and the numbers of the ANDs that they match."""
        found = self.ands.matching(matrix)
        return np.repeat(np.arange(found.shape[0]), np.diff(found.indptr)), found.indices

    def masks(self, matches: tuple[NDArray[np.intp], NDArray[np.intp]], n: int) -> Integers:
        """Return the set of themes of each of n documents, a bit for each theme."""
        rows, ands = matches
        of_theme = ands < len(self.theme_of)
        masks = np.zeros(n, np.int64)
        bits = np.left_shift(1, self.theme_of[ands[of_theme]])
        np.bitwise_or.at(masks, rows[of_theme], bits)
        return masks

    def typical(
        self, matrix: Any, masks: Integers, novel: Bools, texts: Sequence[str]
    ) -> list[tuple[int, float, str]]:
        """Return the typical novel documents of each theme: its number, the score, the text.

        The choice from several parts of the documents has those of all among it.
        """
        sizes, found = np.diff(matrix.indptr), []
        for number, (columns, weights) in enumerate(self.words):
            rows = np.flatnonzero((masks >> number & 1).astype(bool) & novel)
            if not len(rows):
                continue
            part = matrix[rows][:, columns].astype(np.float64) @ weights
            scores = part / np.sqrt(sizes[rows] + self.lengths[number])
            good = scores >= self.least[number]
            chosen = ((s, texts[i]) for s, i in zip(scores[good], rows[good], strict=True))
            found += [(number, score, text) for score, text in _first_distinct(chosen)]
        return found


def members_of(masks: Integers) -> tuple[Integers, Integers]:
    """Return the rows of documents and the themes that they are in, given their sets of themes.

    Examples
    --------
    >>> members_of(np.array([0b101, 0, 0b10]))
    (array([0, 0, 2]), array([0, 2, 1]))
    """
    n = int(masks.max(initial=0)).bit_length()
    rows, themes = np.nonzero(masks[:, None] >> np.arange(n) & 1)
    return rows.astype(np.int64), themes.astype(np.int64)


def theme_groups(masks: Integers) -> Integers:
    """Return 1 + the theme of documents that are in one theme, and 0 for those in several.

    Examples
    --------
    >>> theme_groups(np.array([0b101, 0b1, 0b100]))
    array([0, 1, 3])
    """
    single = masks & (masks - 1) == 0
    found: Integers = np.where(single, np.frexp(masks)[1], 0).astype(np.int64)
    return found


def _first_distinct(scored: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the texts with the greatest scores that differ in more than spaces and capitals."""
    # Copies are many: their places need be computed once only.
    best = {text: float(score) for score, text in scored}
    order = sorted(best.items(), key=lambda item: (-item[1], place_of(item[0]), item[0]))
    chosen = first_distinct(order, lambda item: text_key(item[0]), N_TYPICAL)
    return [(score, text) for text, score in chosen]


class ThemeCounts(NamedTuple):
    """What was counted over all documents; a side is 0 or 1."""

    ands: Integers  # (2, n_ands): the known and the novel documents that match each AND
    themes: Integers  # rows of theme, side, and number of documents
    words: Integers  # rows of what `theme_groups` returns, word, side, and number of documents
    typical: list[tuple[int, str]]  # numbers of themes, and texts that may be typical


def measured_themes(
    themes: Sequence[Theme],
    found: ThemeCounts,
    sizes: tuple[int, int],
    not_copied: Floats,
) -> list[tuple[int, Theme]]:
    """Return themes with counts, shares and evidence of all documents, the most evident first.

    Each has the number that it had. Those that all documents do not bear out are left out. In the
    sample, a share `not_copied` of each theme's documents of each side is no copied text: copies
    count as documents, but not as evidence.
    """
    measured, first = [], 0
    for number, theme in enumerate(themes):
        inside = found.themes[found.themes[:, 0] == number]
        known, novel = (int(inside[inside[:, 1] == side, 2].sum()) for side in (0, 1))
        by_rule = found.ands.T[first : first + len(theme.rules)].tolist()
        first += len(by_rule)
        old, new = np.array([known, novel]) * not_copied[number]
        evidence = theme_evidence(float(new), float(old + new), sizes[1] / sum(sizes), len(by_rule))
        counted = (known, novel)
        whole = recounted(theme, by_rule, counted, sizes, evidence=evidence, counted=counted)
        if evidence >= MIN_EVIDENCE:
            measured.append((number, whole))
    return sorted(measured, key=lambda item: -item[1].evidence)


def unexplained(
    kept: Iterable[int],
    found: ThemeCounts,
    documents: Integers,
    counted: Integers,
    novelty: Floats,
    sizes: tuple[int, int],
) -> float:
    """Return the share of the novelty that no theme explains, as `unexplained_share` does.

    A document that is in several themes counts as explained if any theme is kept. `kept` has their
    numbers; `documents` and `counted` have the number of documents of each word and side, with
    copied text and without it.
    """
    words = novelty >= MIN_EVIDENCE
    if not words.any():
        return float("nan")
    groups = [number + 1 for number in kept]
    _, word, side, number = found.words[
        np.isin(found.words[:, 0], [0, *groups] if groups else [])
    ].T
    inside = np.zeros(documents.shape)
    np.add.at(inside, (side, word), number)
    inside *= counted / np.maximum(documents, 1)
    signs = np.array([[-sizes[1] / sizes[0]], [1.0]])
    explained, total = ((values * signs)[:, words].sum() for values in (inside, counted))
    return float(np.clip(1 - explained / total, 0.0, 1.0)) if total > 0 else float("nan")


def counted_phrases(phrases: Table, found: ThemeCounts) -> Table:
    """Return phrases with the numbers of all documents, and their precision."""
    known, novel = found.ands[:, found.ands.shape[1] - len(phrases) :]
    own = np.where(phrases["side"] == "novel", novel, known)
    precision = np.full(len(phrases), np.nan)
    np.divide(own, known + novel, out=precision, where=known + novel > 0)
    more = {"documents_known": known, "documents_novel": novel, "precision": precision}
    return Table({name: more.get(name, phrases[name]) for name in phrases.columns})
