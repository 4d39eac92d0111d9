"""Themes: what is new, as a few groups of words, rules and documents.

A theme starts as a topic of a mixture (`newfound.stories.mixtures`). Rules that find its
documents are chosen (`newfound.stories.choice`), and the documents of the theme are those
that the rules find. Themes are then chosen one by one: always the one that explains most of what
the earlier themes leave (`newfound.stories.choice`). The *evidence* of a theme is the
root of the deviance of its documents from the share of novel documents in the corpus, less what the
best of many groups reaches by chance.

The rules are a greedy cover of the documents of a topic, not clauses of a machine. The time is
linear in the number of documents. Beside the matrix, which is copied once as float32 in a fixed
order, the memory is a few numbers for each document.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.stories.choice import ANDRule, choose_themes, held_out_figures
from newfound.stories.evidence import (
    MIN_EVIDENCE,
    SURE,
    Piles,
    document_weights,
    evidence_of_sets,
)
from newfound.stories.mixtures import Draft
from newfound.stories.names import strong_words
from newfound.table import AsTable, Table, jsonable

__all__ = [
    "N_TYPICAL",
    "Theme",
    "ThemeRule",
    "ThemeTuple",
    "Themes",
    "find_themes",
    "first_distinct",
    "recounted",
    "rule_rows",
    "text_key",
    "unexplained_share",
    "with_copies",
]

N_WORDS = 20
N_TYPICAL = 3

_SHARES = ("share_novel", "share_known", "held_out_share_novel", "held_out_share_known")
_COLUMNS = ("name", "evidence", "words", "rules", "documents_novel", "documents_known", *_SHARES)

Matrix = Any
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]


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


@dataclass(frozen=True, eq=False)
class Theme:
    """A group of novel documents, with the words and rules that find it.

    Attributes
    ----------
    name : str
        Its two to four most telling words, in the order in which its documents have them.
    words : tuple of (str, float)
        Its words and their weights, the strongest first.
    rules : tuple of ThemeRule
        A document belongs to the theme if it matches any of them.
    novel_documents, known_documents : ndarray of int
        The rows of the documents that the rules find.
    share_novel, share_known : float
        Their shares of all novel and of all known documents.
    evidence : float
        How sure it is that the theme is novel, in standard deviations, after a correction for the
        search. Every theme has at least 2; below 3 it may be chance.
    typical : tuple of int
        The rows of up to three typical novel documents.
    joined : tuple of (str, str, float)
        How its first words were joined: pairs of words and their normalised pointwise mutual
        information in novel documents, from -1 to 1.
    held_out_share_novel, held_out_share_known : float
        The shares that rules reach on documents that took no part in their choice: each half of
        the documents is searched by the rules that the other half gives. nan if a half alone does
        not give the theme.
    counted : (int, int) or None
        If the rows are those of a sample only: the number of known and of novel documents of all
        that the rules find. Counts, shares and evidence are then of all documents.
    """

    name: str
    words: tuple[tuple[str, float], ...]
    rules: tuple[ThemeRule, ...]
    novel_documents: Rows
    known_documents: Rows
    share_novel: float
    share_known: float
    evidence: float
    typical: tuple[int, ...]
    joined: tuple[tuple[str, str, float], ...]
    held_out_share_novel: float = float("nan")
    held_out_share_known: float = float("nan")
    counted: tuple[int, int] | None = None

    @property
    def documents_known(self) -> int:
        """The number of known documents that the rules find."""
        return len(self.known_documents) if self.counted is None else self.counted[0]

    @property
    def documents_novel(self) -> int:
        """The number of novel documents that the rules find."""
        return len(self.novel_documents) if self.counted is None else self.counted[1]

    @property
    def may_be_chance(self) -> bool:
        """Whether the evidence is so small that chance may have made the theme."""
        return self.evidence < SURE

    def __str__(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Return the theme as plain data, with numbers of documents instead of their rows."""
        return {
            "name": self.name,
            "evidence": self.evidence,
            "words": [word for word, _ in self.words],
            "rules": [str(rule) for rule in self.rules],
            "documents_novel": self.documents_novel,
            "documents_known": self.documents_known,
            **{name: jsonable(getattr(self, name)) for name in _SHARES},
        }


class ThemeTuple(AsTable, tuple[Theme, ...]):
    """Themes as a tuple that is also a table, with the columns of `Theme.to_dict`."""

    def to_table(self) -> Table:
        """Return a table with a row for each theme."""
        return Table.from_records((theme.to_dict() for theme in self), _COLUMNS)


@dataclass(frozen=True)
class Themes:
    """The themes of a description.

    `unexplained` is the share of the novelty that no theme explains; nan if no word is novel.
    """

    themes: tuple[Theme, ...]
    unexplained: float

    def renumbered(self, places: Rows) -> Themes:
        """Return the same themes for documents in another order: `places` has the new rows."""

        def moved(theme: Theme) -> Theme:
            return replace(
                theme,
                novel_documents=np.sort(places[theme.novel_documents]),
                known_documents=np.sort(places[theme.known_documents]),
                typical=tuple(places[list(theme.typical)].tolist()),
            )

        return replace(self, themes=tuple(map(moved, self.themes)))


def find_themes(
    matrix: Matrix,
    novel: ArrayLike,
    terms: Sequence[str],
    *,
    evidence: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
    n_themes: int = 12,
    held_out: bool = True,
    random_state: int = 0,
) -> list[Theme]:
    """Return the themes of the novel documents.

    `evidence` says how sure each term is novel, in standard deviations, below 0 for known; by
    default it is computed from the counts. With `texts`, typical documents with the same text are
    shown once. With `held_out`, the rules are measured also on documents that took no part in their
    choice, in about twice the time; `random_state` is the seed for their halves, and themes do not
    depend on it. The theme that explains most of the novelty comes first. There is none if nothing
    is surely novel.

    Examples
    --------
    >>> from newfound.text.sample import load_sample
    >>> from newfound.text.vectorizer import TextVectorizer
    >>> banking, travel = load_sample()
    >>> vectorizer = TextVectorizer(min_df=2)
    >>> matrix = vectorizer.fit_transform([*banking, *travel])
    >>> terms = list(vectorizer.get_feature_names_out())
    >>> novel = [False] * len(banking) + [True] * len(travel)
    >>> sorted(str(theme.rules[0]) for theme in find_themes(matrix, novel, terms)[:2])
    ['flight', 'travel']
    """
    novel = np.asarray(novel, dtype=bool)
    matrix = sparse.csr_matrix(matrix, dtype=np.float32)
    if matrix.shape != (len(novel), len(terms)):
        raise ValueError(
            f"matrix has shape {matrix.shape}, but there are {len(novel)} values of novel and "
            f"{len(terms)} terms."
        )
    if novel.all() or not novel.any():
        return []
    # Themes do not depend on the order of documents or words.
    order, places = _canonical_order(matrix, novel, terms)
    piles = Piles(matrix[order][:, places], novel[order])
    terms = [str(terms[place]) for place in places]
    scores = _word_scores(piles, None if evidence is None else np.asarray(evidence)[places])
    texts = None if texts is None else [texts[row] for row in order]
    drafts = choose_themes(piles, scores, n_themes)
    rules: dict[ANDRule, Any] = {}
    shares = np.full((len(drafts), 2), np.nan)
    if held_out and drafts:
        rules, shares = held_out_figures(drafts, piles, random_state)
    themes = [
        _theme(draft, piles, terms, scores, texts, rules, of_sides)
        for draft, of_sides in zip(drafts, shares.tolist(), strict=True)
    ]
    # Of two themes with the same two strongest words, the first one.
    return first_distinct(
        Themes(tuple(themes), float("nan")).renumbered(order).themes,
        lambda theme: frozenset(theme.name.split()[:2]),
    )


def unexplained_share(
    themes: Sequence[Theme], matrix: Matrix, novel: ArrayLike, evidence: ArrayLike | None = None
) -> float:
    """Return the share of the novelty that no theme explains.

    The novelty is the excess of the novel words: how much more often novel documents have them
    than expected from the known documents. A theme explains the part that is in its documents.

    It is nan if no word is novel. The parameters are those of `find_themes`.
    """
    novel = np.asarray(novel, dtype=bool)
    if novel.all() or not novel.any():
        return float("nan")
    piles = Piles(sparse.csr_matrix(matrix, dtype=np.float64), novel)
    words = np.flatnonzero(_word_scores(piles, evidence) >= MIN_EVIDENCE)
    if not len(words):
        return float("nan")
    counts = np.asarray(piles.matrix[:, words].sum(axis=1)).ravel()
    counts = np.where(novel, counts, -counts * novel.sum() / (~novel).sum())
    explained = np.zeros(len(novel), dtype=bool)
    for theme in themes:
        explained[theme.novel_documents] = explained[theme.known_documents] = True
    return float(np.clip(1 - counts[explained].sum() / counts.sum(), 0.0, 1.0))


def rule_rows(theme: Theme, piles: Piles, place: Mapping[str, int]) -> list[Rows]:
    """Return the documents of each rule of a theme; `place` has the column of each word."""
    return [piles.matching([place[word] for word in rule.words]) for rule in theme.rules]


def recounted(
    theme: Theme,
    by_rule: Iterable[Sequence[int]],
    documents: Sequence[int],
    sizes: Sequence[int],
    **more: Any,
) -> Theme:
    """Return a theme with the counts of other documents, always of known and of novel ones.

    They are the documents that each rule finds, those that any rule finds, and all documents.
    """
    rules = [
        replace(rule, known=int(known), novel=int(novel))
        for rule, (known, novel) in zip(theme.rules, by_rule, strict=True)
    ]
    return replace(
        theme,
        rules=tuple(sorted(rules, key=lambda rule: -rule.novel)),
        share_known=documents[0] / sizes[0],
        share_novel=documents[1] / sizes[1],
        **more,
    )


def with_copies(
    themes: Iterable[Theme], matrix: Matrix, novel: ArrayLike, terms: Sequence[str]
) -> list[Theme]:
    """Return themes that were found without copied text, with all documents that rules find.

    Evidence and held-out figures stay as they are. The parameters are those of `find_themes`.
    """
    piles = Piles(sparse.csr_matrix(matrix), np.asarray(novel, dtype=bool))
    place = {term: number for number, term in enumerate(terms)}
    whole = []
    for theme in themes:
        by_rule = rule_rows(theme, piles, place)
        rows = np.unique(np.concatenate(by_rule))
        new = piles.novel[rows]
        whole.append(
            recounted(
                theme,
                map(piles.sides, by_rule),
                piles.sides(rows),
                piles.sides(np.arange(len(piles.novel))),
                novel_documents=rows[new],
                known_documents=rows[~new],
            )
        )
    return whole


def _word_scores(piles: Piles, evidence: ArrayLike | None) -> NDArray[np.float64]:
    """Return the evidence of words: as given, or from the counts of documents."""
    if evidence is not None:
        return np.asarray(evidence, dtype=np.float64)
    return evidence_of_sets(piles.matrix, document_weights(piles.matrix, piles.novel))


def _canonical_order(matrix: Matrix, novel: Bools, terms: Sequence[str]) -> tuple[Rows, Rows]:
    """Return an order of documents and one of words that depend on their content only."""
    columns = np.array(sorted(range(len(terms)), key=lambda column: terms[column]), dtype=np.intp)
    keys = np.zeros(len(terms))
    keys[columns] = np.random.default_rng(0).random(len(terms))
    # Sums of integers do not depend on the order of the words.
    codes = 2 * (matrix @ np.floor(keys * 2**36)) + novel
    return np.argsort(codes, kind="stable").astype(np.intp), columns


def _theme(
    draft: Draft,
    piles: Piles,
    terms: Sequence[str],
    scores: NDArray[np.float64],
    texts: Sequence[str] | None,
    held_out: Mapping[ANDRule, Any],
    shares: Sequence[float],
) -> Theme:
    """Collect the figures of a theme."""
    rows = draft.rows
    new = piles.novel[rows]
    n_known, n_novel = piles.sides(np.arange(len(piles.novel)))
    # A word is telling if it marks both the group and the novel side.
    weights = draft.weights * np.maximum(scores[draft.words], 0.1)
    order = np.argsort(-weights, kind="stable")
    words = tuple((terms[draft.words[i]], float(weights[i])) for i in order[:N_WORDS])
    rank = {int(draft.words[i]): place for place, i in enumerate(order)}

    def rule_of(columns: ANDRule) -> ThemeRule:
        strongest = sorted(columns, key=lambda word: rank.get(word, len(rank)))
        counts = (*piles.sides(piles.matching(columns)), *map(int, held_out.get(columns, (0, 0))))
        return ThemeRule(tuple(terms[word] for word in strongest), *counts)

    return Theme(
        name=" ".join(strong_words(words)),
        words=words,
        rules=tuple(sorted(map(rule_of, draft.rules), key=lambda rule: -rule.novel)),
        novel_documents=rows[new],
        known_documents=rows[~new],
        share_novel=int(new.sum()) / n_novel,
        share_known=int((~new).sum()) / n_known,
        evidence=draft.evidence,
        typical=_typical(draft, rows[new], piles.matrix, texts),
        joined=tuple((terms[a], terms[b], strength) for a, b, strength in draft.links[:N_WORDS]),
        held_out_share_novel=shares[1],
        held_out_share_known=shares[0],
    )


def _typical(
    draft: Draft, new: Rows, matrix: Matrix, texts: Sequence[str] | None
) -> tuple[int, ...]:
    """Return the novel documents that the rules find and that fit the group best."""
    strength = np.zeros(matrix.shape[1])
    strength[draft.words[:N_WORDS]] = draft.weights[:N_WORDS]
    part = matrix[new]
    lengths = np.diff(part.indptr)
    score = (part @ strength) / np.sqrt(lengths + np.median(lengths))

    def key(place: int) -> Hashable:
        bag = part.indices[part.indptr[place] : part.indptr[place + 1]]
        words = "" if texts is None else text_key(texts[new[place]])
        return words or frozenset(bag.tolist())

    best = first_distinct(np.argsort(-score, kind="stable").tolist(), key, N_TYPICAL)
    return tuple(new[best].tolist())


Item = TypeVar("Item")


def first_distinct(
    items: Iterable[Item], key: Callable[[Item], Hashable], most: int | None = None
) -> list[Item]:
    """Return the first of the items with the same key, and no more than so many.

    Examples
    --------
    >>> first_distinct(["Rain", "rain", "Sun", "Wind"], str.lower, 2)
    ['Rain', 'Sun']
    """
    distinct: dict[Hashable, Item] = {}
    for item in items:
        distinct.setdefault(key(item), item)
        if len(distinct) == most:
            break
    return list(distinct.values())


def text_key(text: str) -> str:
    """Return what texts have in common that are shown once: their words, in lower case."""
    return " ".join(text.lower().split())
