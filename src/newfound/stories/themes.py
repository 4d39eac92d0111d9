"""Themes: what is new, as a few groups of words, rules and documents.

A theme is a candidate (`newfound.stories.candidates`): the documents that a few rules find.
Candidates do not depend on which documents are novel. Themes are chosen among them one by one:
always the one that explains most of what the earlier themes leave (`newfound.stories.choice`). The
*evidence* of a theme is the root of the deviance of its documents from the share of novel documents
in the corpus, less what the best of all candidates reaches where the sides are permuted.

The rules are a greedy cover of a topic or single words, not clauses of a machine. The time is
linear in the number of documents. Beside the matrix, which is copied once as float32 in a fixed
order, the memory is that of the candidates, a few numbers for each word of the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.checks import check_whole_number
from newfound.stories.candidates import find_candidates
from newfound.stories.choice import Draft, choose_themes, held_out_shares
from newfound.stories.evidence import SURE, Piles, document_weights, evidence_of_sets
from newfound.stories.names import strong_words
from newfound.table import AsTable, Table, jsonable

__all__ = [
    "AMOUNTS",
    "N_TYPICAL",
    "LooseWord",
    "Theme",
    "ThemeRule",
    "ThemeTuple",
    "Themes",
    "check_amount",
    "completed",
    "find_themes",
    "first_distinct",
    "recounted",
    "rule_rows",
    "text_key",
    "with_copies",
]

N_WORDS = 20
N_TYPICAL = 3
HELD = 0.5  # of the share of a theme, among documents left out
IN_THEME = 0.5  # of the novel documents of a word
AMOUNTS = {"few": (12, 0.25), "default": (100, 0.5), "many": (300, 1.5)}  # most themes, fineness

_SHARES = ("share_novel", "share_known", "held_out_share_novel", "held_out_share_known")
_COLUMNS = (
    "name", "evidence", "may_be_chance", "words", "rules", "documents_novel", "documents_known",
    *_SHARES, "parts",
)  # fmt: skip

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

    Examples
    --------
    >>> rule = ThemeRule(("anzac", "day"), known=2, novel=31)
    >>> print(rule)
    anzac AND day
    """

    words: tuple[str, ...]
    known: int
    novel: int

    def __str__(self) -> str:
        return " AND ".join(self.words)


@dataclass(frozen=True, eq=False)
class Theme:
    """A group of documents that is more frequent on one side, with the rules that find it.

    It is a theme of the novel documents, or of the known ones if it is less frequent than before.

    Attributes
    ----------
    name : str
        A phrase that its documents have; several, with commas, if half of them have none.
    words : tuple of (str, float)
        Its words and their weights, the strongest first.
    rules : tuple of ThemeRule
        A document belongs to the theme if it matches any of them.
    novel_documents, known_documents : ndarray of int
        The rows of the documents that the rules find.
    share_novel, share_known : float
        Their shares of all novel and of all known documents.
    evidence : float
        How sure it is that the theme is more frequent, in standard deviations, after a correction
        for the search. Every theme has at least 2. It is below 3 if one in twenty permutations of
        the sides gives as much: then it may be chance.
    typical : tuple of int
        The rows of up to three typical documents of its side; the first one has the name.
    held_out_share_novel, held_out_share_known : float
        The shares among documents that took no part in the choice: each half of the documents
        chooses, and the other half is counted. nan if no half alone gives the theme.
    counted : (int, int) or None
        If the rows are those of a sample only: the number of known and of novel documents of all
        that the rules find. Counts, shares and evidence are then of all documents.
    parts : tuple of Theme
        What a large theme is made of; its documents may be in several parts or in none.
    gone : bool
        Whether it is a theme of the known documents, less frequent in the novel ones.
    by_chance : float
        The deviance that the search gives by chance, which is subtracted in the evidence.
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
    held_out_share_novel: float = float("nan")
    held_out_share_known: float = float("nan")
    counted: tuple[int, int] | None = None
    parts: tuple[Theme, ...] = ()
    gone: bool = False
    by_chance: float = 0.0

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

    @property
    def holds(self) -> bool:
        """Whether it is surely no chance, and documents left out have half of its share or more."""
        shares = (self.share_known, self.held_out_share_known)
        own, left_out = shares if self.gone else (self.share_novel, self.held_out_share_novel)
        return not self.may_be_chance and left_out >= HELD * own

    def __str__(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Return the theme as plain data, with numbers of documents instead of their rows."""
        return {
            "name": self.name,
            "evidence": self.evidence,
            "may_be_chance": self.may_be_chance,
            "words": [word for word, _ in self.words],
            "rules": [str(rule) for rule in self.rules],
            "documents_novel": self.documents_novel,
            "documents_known": self.documents_known,
            **{name: jsonable(getattr(self, name)) for name in _SHARES},
            "parts": [part.to_dict() for part in self.parts],
        }

    def renumbered(self, places: Rows) -> Theme:
        """Return the theme, but not its parts, for documents in another order."""
        return replace(
            self,
            novel_documents=np.sort(places[self.novel_documents]),
            known_documents=np.sort(places[self.known_documents]),
            typical=tuple(places[list(self.typical)].tolist()),
        )


class ThemeTuple(AsTable, tuple[Theme, ...]):
    """Themes as a tuple that is also a table, with the columns of `Theme.to_dict`."""

    def to_table(self) -> Table:
        """Return a table with a row for each theme."""
        rows = ({**theme.to_dict(), "parts": len(theme.parts)} for theme in self)
        return Table.from_records(rows, _COLUMNS)


@dataclass(frozen=True)
class LooseWord:
    """A word that is surely new and in no theme, and the row of a document that has it."""

    word: str
    document: int


@dataclass(frozen=True)
class Themes:
    """The themes of a description.

    Attributes
    ----------
    themes : tuple of Theme
        The themes of the novel documents, the one with the most evidence first.
    gone : tuple of Theme
        Those that are less frequent than in the known documents.
    unexplained : float
        Of the novel documents that have a word that is surely new, the share that is in no theme
        beyond chance; nan if no word is surely new.
    loose : tuple of LooseWord
        The words that are surely new and in no such theme.
    """

    themes: tuple[Theme, ...] = ()
    gone: tuple[Theme, ...] = ()
    unexplained: float = float("nan")
    loose: tuple[LooseWord, ...] = ()

    @property
    def groups(self) -> tuple[Theme, ...]:
        """The themes of both sides, each followed by its parts."""
        return tuple(
            group for theme in (*self.themes, *self.gone) for group in (theme, *theme.parts)
        )

    def mapped(self, change: Callable[[Theme], Theme | None]) -> Themes:
        """Return the same with each theme and part changed, or left out for None."""

        def changed(themes: Iterable[Theme]) -> tuple[Theme, ...]:
            pairs = ((theme, change(theme)) for theme in themes)
            return tuple(
                replace(new, parts=changed(old.parts)) for old, new in pairs if new is not None
            )

        return replace(self, themes=changed(self.themes), gone=changed(self.gone))

    def renumbered(self, places: Rows) -> Themes:
        """Return the same themes for documents in another order: `places` has the new rows."""
        loose = (replace(word, document=int(places[word.document])) for word in self.loose)
        return replace(self.mapped(lambda theme: theme.renumbered(places)), loose=tuple(loose))


def check_amount(amount: Any) -> None:
    """Raise a ValueError unless this says how many themes are wanted."""
    if isinstance(amount, str):
        if amount not in AMOUNTS:
            raise ValueError(f"themes={amount!r}: expected {', '.join(AMOUNTS)} or a number.")
        return
    check_whole_number("themes", amount, 1)


def find_themes(
    matrix: Matrix,
    novel: ArrayLike,
    terms: Sequence[str],
    *,
    evidence: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
    amount: str | int = "default",
    held_out: bool = True,
    random_state: int = 0,
) -> Themes:
    """Return the themes of the novel documents, and those that are gone.

    `evidence` says how sure each term is novel, in standard deviations, below 0 for known; by
    default it is computed from the counts. With `texts`, typical documents with the same text are
    shown once. `amount` is "few", "default", "many" or the largest number of themes. With
    `held_out`, themes are also counted in documents that took no part in their choice;
    `random_state` is the seed for these halves, and themes do not depend on it.

    Examples
    --------
    >>> from newfound.text.sample import load_sample
    >>> from newfound.text.vectorizer import TextVectorizer
    >>> banking, travel = load_sample()
    >>> vectorizer = TextVectorizer(min_df=2)
    >>> matrix = vectorizer.fit_transform([*banking, *travel])
    >>> terms = list(vectorizer.get_feature_names_out())
    >>> novel = [False] * len(banking) + [True] * len(travel)
    >>> found = find_themes(matrix, novel, terms)
    >>> str(found.themes[0].rules[0])
    'alert'
    """
    novel = np.asarray(novel, dtype=bool)
    matrix = sparse.csr_matrix(matrix, dtype=np.float32)
    if matrix.shape != (len(novel), len(terms)):
        raise ValueError(
            f"matrix has shape {matrix.shape}, but there are {len(novel)} values of novel and "
            f"{len(terms)} terms."
        )
    if novel.all() or not novel.any():
        return Themes()
    # Themes do not depend on the order of documents or words.
    order, places = _canonical_order(matrix, novel, terms)
    piles = Piles(matrix[order][:, places], novel[order])
    terms = [str(terms[place]) for place in places]
    scores = _word_scores(piles, None if evidence is None else np.asarray(evidence)[places])
    texts = None if texts is None else [texts[row] for row in order]
    candidates = find_candidates(piles)
    if candidates is None:
        return Themes()
    most, fineness = AMOUNTS[amount] if isinstance(amount, str) else (amount, 0.5)
    search, sides = candidates.searched(piles), []
    for gone in (False, True):
        side = piles.reversed() if gone else piles
        drafts = choose_themes(candidates, side, search, most, fineness)
        shares = np.full((len(drafts), 2), np.nan)
        if held_out and drafts:
            shares = held_out_shares(drafts, candidates, side, search, random_state)
        shares = shares[:, :: -1 if gone else 1]
        themes = (
            replace(
                _theme(draft, side, terms, -scores if gone else scores, texts, gone),
                held_out_share_known=known,
                held_out_share_novel=new,
            )
            for draft, (known, new) in zip(drafts, shares.tolist(), strict=True)
        )
        sides.append(tuple(themes))
    return Themes(sides[0], sides[1]).renumbered(order)


def completed(
    found: Themes, matrix: Matrix, novel: ArrayLike, terms: Sequence[str], sure: Rows
) -> Themes:
    """Return themes with what they leave out, given the columns of the words that are surely new.

    A word is in a theme if half of its novel documents are. Its document is the one that has most
    such words for its length.
    """
    if not len(sure):
        return found
    piles = Piles(sparse.csr_matrix(matrix, dtype=np.float32), np.asarray(novel, dtype=bool))
    inside = np.zeros(len(piles.novel), dtype=bool)
    for theme in found.themes:
        inside[theme.novel_documents] |= not theme.may_be_chance
    own = piles.columns[:, sure]
    n_words = np.asarray(own.sum(axis=1)).ravel()
    having = piles.novel & (n_words > 0)
    if not having.any():
        return found
    telling = n_words / np.sqrt(1 + np.diff(piles.matrix.indptr))
    loose = []
    for column in sure.tolist():
        rows = piles.matching((column,))
        rows = rows[piles.novel[rows]]
        if len(rows) and inside[rows].mean() < IN_THEME:
            loose.append(LooseWord(str(terms[column]), int(rows[np.argmax(telling[rows])])))
    left = float((having & ~inside).sum() / having.sum())
    return replace(found, unexplained=left, loose=tuple(loose))


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
        rules=_most_first(rules, theme.gone),
        share_known=documents[0] / sizes[0],
        share_novel=documents[1] / sizes[1],
        **more,
    )


def _most_first(rules: Iterable[ThemeRule], gone: bool) -> tuple[ThemeRule, ...]:
    return tuple(sorted(rules, key=lambda rule: -(rule.known if gone else rule.novel)))


def with_copies(found: Themes, matrix: Matrix, novel: ArrayLike, terms: Sequence[str]) -> Themes:
    """Return themes that were found without copied text, with all documents that rules find.

    Evidence and held-out figures stay as they are. The parameters are those of `find_themes`.
    """
    piles = Piles(sparse.csr_matrix(matrix), np.asarray(novel, dtype=bool))
    place = {term: number for number, term in enumerate(terms)}
    sizes = piles.sides(np.arange(len(piles.novel)))

    def whole(theme: Theme) -> Theme:
        by_rule = rule_rows(theme, piles, place)
        rows = np.unique(np.concatenate(by_rule))
        new = piles.novel[rows]
        return recounted(
            theme,
            map(piles.sides, by_rule),
            piles.sides(rows),
            sizes,
            novel_documents=rows[new],
            known_documents=rows[~new],
        )

    return found.mapped(whole)


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
    gone: bool,
) -> Theme:
    """Collect the figures of a theme of the side that `piles` call novel: the known one if gone."""
    rows = draft.rows
    new = piles.novel[rows]
    columns, weights = piles.telling(rows)
    # A word is telling if it marks both the group and the side.
    weights = weights * np.maximum(scores[columns], 0.1)
    order = np.argsort(-weights, kind="stable")[:N_WORDS]
    columns, weights = columns[order], weights[order]
    words = tuple(
        (terms[column], weight)
        for column, weight in zip(columns.tolist(), weights.tolist(), strict=True)
    )
    rank = {column: place for place, column in enumerate(columns.tolist())}

    def rule_of(rule: Sequence[int]) -> ThemeRule:
        strongest = sorted(rule, key=lambda word: rank.get(word, len(rank)))
        counts = piles.sides(piles.matching(rule))[:: -1 if gone else 1]
        return ThemeRule(tuple(terms[word] for word in strongest), *counts)

    own, others = rows[new], rows[~new]
    n_others, n_own = piles.sides(np.arange(len(piles.novel)))
    theme = Theme(
        name=" ".join(strong_words(words)),
        words=words,
        rules=_most_first(map(rule_of, draft.rules), gone),
        novel_documents=own,
        known_documents=others,
        share_novel=len(own) / n_own,
        share_known=len(others) / n_others,
        evidence=draft.evidence,
        by_chance=draft.by_chance,
        gone=gone,
        typical=_typical(columns, weights, own, piles.matrix, texts),
        parts=tuple(_theme(part, piles, terms, scores, texts, gone) for part in draft.parts),
    )
    if not gone:
        return theme
    return replace(
        theme,
        novel_documents=others,
        known_documents=own,
        share_novel=theme.share_known,
        share_known=theme.share_novel,
    )


def _typical(
    columns: Rows,
    weights: NDArray[np.float64],
    new: Rows,
    matrix: Matrix,
    texts: Sequence[str] | None,
) -> tuple[int, ...]:
    """Return the documents of the side that the rules find and that fit the group best."""
    strength = np.zeros(matrix.shape[1])
    strength[columns] = weights
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
