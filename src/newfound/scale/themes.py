"""Themes and phrases over all documents: how many documents have them, and which are typical.

Themes and phrases are found in a sample. Their rules are ANDs of words, so that a batch of any
documents tells which of them they find. The documents of each theme are counted, and of each part
of a theme; a *group* is either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.machine.clauses import RuleSet
from newfound.scale.counting import place_of
from newfound.stories.evidence import (
    MIN_EVIDENCE,
    PSEUDO_DOCUMENTS,
    beyond_chance,
    deviance_root,
)
from newfound.stories.themes import (
    N_TYPICAL,
    Theme,
    Themes,
    first_distinct,
    recounted,
    text_key,
)
from newfound.table import Table

__all__ = [
    "ThemeCounts",
    "ThemeSearch",
    "counted_phrases",
    "measured_themes",
]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ThemeSearch:
    """Finds the documents of groups and phrases in a matrix of words."""

    ands: RuleSet  # the rules of all groups, group by group, then the phrases
    group_of: Any  # CSR matrix of the groups of each rule, a row for each AND
    gone: Bools  # which groups are of the known side
    words: tuple[tuple[NDArray[np.intp], Floats], ...]  # columns and weights, for each group
    lengths: Floats  # the median length of the documents of each group on its side
    # The least score of a typical document of each group: that of the last one in the sample.
    least: Floats

    @classmethod
    def of(
        cls,
        groups: Sequence[Theme],
        phrases: Iterable[Sequence[str]],
        vocabulary: dict[str, int],
        sample: Any,
        texts: Sequence[str],
        novel: Bools,
    ) -> ThemeSearch:
        """Return the search for groups and phrases; the sample says what a typical document is.

        The sample is the one that they were found in, with the words of all documents: their
        columns are in `vocabulary`.
        """
        rules = [(number, rule) for number, group in enumerate(groups) for rule in group.rules]
        named = [*(rule.words for _, rule in rules), *phrases]
        numbers = [number for number, _ in rules]
        cells = (np.ones(len(rules), np.int64), (np.arange(len(rules)), numbers))
        search = cls(
            ands=RuleSet.of(
                [[vocabulary[word] for word in words] for words in named], len(vocabulary)
            ),
            group_of=sparse.csr_array(cells, shape=(len(named), len(groups))),
            gone=np.array([group.gone for group in groups], bool),
            words=tuple(
                (
                    np.array([vocabulary[word] for word, _ in group.words], np.intp),
                    np.array([weight for _, weight in group.words]),
                )
                for group in groups
            ),
            lengths=np.ones(len(groups)),
            least=np.full(len(groups), -np.inf),
        )
        members = search.members(search.matches(sample))
        sizes = np.diff(sample.indptr)
        own = [search.of_side(members, number, novel) for number in range(len(groups))]
        lengths = np.array([np.median(sizes[rows]) if len(rows) else 1.0 for rows in own])
        search = replace(search, lengths=lengths)
        least = [-np.inf] * len(groups)
        found = search.typical(sample, members, novel, texts)
        for number in range(len(groups)):
            scores = [score for group, score, _ in found if group == number]
            if len(scores) == N_TYPICAL:
                least[number] = scores[-1]
        return replace(search, least=np.array(least))

    def matches(self, matrix: Any) -> Any:
        """Return the ANDs that each document matches, as a CSR matrix."""
        return sparse.csr_array(self.ands.matching(matrix), dtype=np.int64)

    def members(self, matches: Any) -> Any:
        """Return the groups that each document is in, as a CSC matrix of Booleans."""
        return ((matches @ self.group_of) > 0).tocsc()

    def of_side(self, members: Any, number: int, novel: Bools) -> NDArray[np.intp]:
        """Return the documents of a group that are of its side."""
        begin, end = members.indptr[number : number + 2]
        rows = np.sort(members.indices[begin:end])
        own: NDArray[np.intp] = rows[novel[rows] != self.gone[number]]
        return own

    def typical(
        self, matrix: Any, members: Any, novel: Bools, texts: Sequence[str]
    ) -> list[tuple[int, float, str]]:
        """Return the typical documents of each group: its number, the score, the text.

        The choice from several parts of the documents has those of all among it.
        """
        sizes, found = np.diff(matrix.indptr), []
        for number, (columns, weights) in enumerate(self.words):
            rows = self.of_side(members, number, novel)
            if not len(rows):
                continue
            part = matrix[rows][:, columns].astype(np.float64) @ weights
            scores = part / np.sqrt(sizes[rows] + self.lengths[number])
            good = scores >= self.least[number]
            chosen = ((s, texts[i]) for s, i in zip(scores[good], rows[good], strict=True))
            found += [(number, score, text) for score, text in _first_distinct(chosen)]
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
    groups: Integers  # (2, n_groups): the same of each group
    typical: list[tuple[int, bool, str]]  # numbers of groups, and texts that may be typical


def measured_themes(
    sample: Themes,
    found: ThemeCounts,
    sizes: tuple[int, int],
    not_copied: Floats,
    typical: Sequence[tuple[int, ...]],
) -> tuple[Themes, list[int]]:
    """Return themes with counts, shares and evidence of all documents, the most evident first.

    Also returned are the numbers that their groups had in the sample. Those that all documents do
    not bear out are left out. In the sample, a share `not_copied` of each group's documents of each
    side is no copied text: copies count as documents, but not as evidence.
    """
    groups = sample.groups
    first = np.cumsum([0, *(len(group.rules) for group in groups)])
    number_of = {id(group): number for number, group in enumerate(groups)}
    share = sizes[1] / sum(sizes)

    kept: dict[int, int] = {}  # the numbers of groups by their new rules

    def measured(group: Theme) -> Theme | None:
        number = number_of[id(group)]
        known, novel = found.groups[:, number].tolist()
        own, other = np.array([novel, known]) * not_copied[number][::-1]
        expected = share
        if group.gone:
            own, other, expected = other, own, 1 - share
        root = deviance_root(own, own + other, expected, PSEUDO_DOCUMENTS)
        evidence = float(beyond_chance(root, group.by_chance))
        if evidence < MIN_EVIDENCE:
            return None
        by_rule = found.ands.T[first[number] : first[number + 1]].tolist()
        more = {"evidence": evidence, "counted": (known, novel), "typical": typical[number]}
        changed = recounted(group, by_rule, (known, novel), sizes, **more)
        kept[id(changed.rules)] = number
        return changed

    themes = sample.mapped(measured)
    first_side, other_side = (
        tuple(sorted(side, key=lambda theme: -theme.evidence))
        for side in (themes.themes, themes.gone)
    )
    themes = replace(themes, themes=first_side, gone=other_side)
    return themes, [kept[id(group.rules)] for group in themes.groups]


def counted_phrases(phrases: Table, found: ThemeCounts) -> Table:
    """Return phrases with the numbers of all documents, and their precision."""
    known, novel = found.ands[:, found.ands.shape[1] - len(phrases) :]
    own = np.where(phrases["side"] == "novel", novel, known)
    precision = np.full(len(phrases), np.nan)
    np.divide(own, known + novel, out=precision, where=known + novel > 0)
    more = {"documents_known": known, "documents_novel": novel, "precision": precision}
    return Table({name: more.get(name, phrases[name]) for name in phrases.columns})
