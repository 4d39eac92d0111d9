"""Themes: what is new, as a few groups of words, rules and documents.

A theme starts as a topic of a mixture (`newfound.stories.mixtures`). Rules that find its
documents are chosen (`newfound.stories.rules`), and the documents of the theme are those
that the rules find. Themes are then chosen one by one: always the one that explains most of what
the earlier themes leave (`newfound.stories.choice`). The *evidence* of a theme is the
root of the deviance of its documents from the share of novel documents in the corpus, less what the
best of many groups reaches by chance.

The rules are a greedy cover of the documents of a topic, not clauses of a machine. The time is
linear in the number of documents. Beside the matrix, which is copied once as float32 in a fixed
order, the memory is a few numbers for each document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.stories.choice import Draft, HeldOut, choose_themes, held_out_figures
from newfound.stories.evidence import document_weights, evidence_of_sets
from newfound.stories.mixtures import MIN_EVIDENCE, Group
from newfound.stories.names import in_reading_order, theme_name
from newfound.stories.rules import ThemeRule, found_rows, matching_rows
from newfound.table import AsTable, Table, jsonable
from newfound.text.capitals import SpellingCounter
from newfound.text.tokens import Token

__all__ = [
    "N_TYPICAL",
    "Theme",
    "ThemeTuple",
    "Themes",
    "find_themes",
    "named_as_read",
    "rows_of_theme",
    "text_key",
    "unexplained_share",
    "with_copies",
]

N_WORDS = 20
N_TYPICAL = 3
SURE = 3.0  # evidence of a theme that is hardly chance
N_READ = 100  # documents, at most about, that tell the order of the words of a name
N_LETTERS = 1000  # of the beginning of each of them

_SHARES = ("share_novel", "share_known", "held_out_share_novel", "held_out_share_known")
_COLUMNS = ("name", "evidence", "words", "rules", "documents_novel", "documents_known", *_SHARES)

Matrix = Any
Bools = NDArray[np.bool_]
Rows = NDArray[np.intp]


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

    Attributes
    ----------
    themes : tuple of Theme
        The one that explains most first.
    unexplained : float
        The share of the novelty that no theme explains; nan if no word is novel.
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

    Parameters
    ----------
    matrix : sparse matrix of bool of shape (n_documents, n_terms)
        The bags of words of all documents, known and novel.
    novel : array of bool
        Which documents are novel.
    terms : sequence of str
        The word of each column.
    evidence : array of float, optional
        How sure each word is novel, in standard deviations, below 0 for known; by default computed
        from the counts.
    texts : sequence of str, optional
        The documents. With them, typical documents with the same text are shown once.
    n_themes : int, default=12
        The largest number of themes.
    held_out : bool, default=True
        Measure the rules also on documents that took no part in their choice. Takes about twice
        the time.
    random_state : int, default=0
        Seed for the halves that the held-out figures are measured on. Themes do not depend on it.

    Returns
    -------
    list of Theme
        The one that explains most of the novelty first. Empty if nothing is surely novel.

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
    # Themes do not depend on the order of documents or words.
    order, places = _canonical_order(matrix, novel, terms)
    matrix, novel = matrix[order][:, places], novel[order]
    terms = [str(terms[place]) for place in places]
    given_scores = None if evidence is None else np.asarray(evidence)[places]
    scores = _word_scores(matrix, novel, given_scores)
    texts = None if texts is None else [texts[row] for row in order]
    drafts = choose_themes(matrix, novel, scores, n_themes)
    figures = HeldOut({}, np.full((len(drafts), 2), np.nan))
    if held_out and drafts:
        figures = held_out_figures(drafts, matrix, novel, random_state)
    documents = _Documents(matrix, novel, terms, scores, texts)
    found = tuple(
        _theme(draft, documents, figures.rules, share)
        for draft, share in zip(drafts, figures.shares, strict=True)
    )
    return _distinct(Themes(found, float("nan")).renumbered(order).themes)


def unexplained_share(
    themes: Sequence[Theme], matrix: Matrix, novel: ArrayLike, evidence: ArrayLike | None = None
) -> float:
    """Return the share of the novelty that no theme explains.

    The novelty is the excess of the novel words: how much more often novel documents have them
    than the known documents let expect. A theme explains the part that is in its documents.

    Parameters
    ----------
    themes : sequence of Theme
        The themes of these documents.
    matrix, novel, evidence
        As for `find_themes`.

    Returns
    -------
    float
        Between 0 and 1; nan if no word is novel.
    """
    novel = np.asarray(novel, dtype=bool)
    matrix = sparse.csr_matrix(matrix, dtype=np.float64)
    scores = _word_scores(matrix, novel, evidence)
    words = np.flatnonzero(scores >= MIN_EVIDENCE)
    if not len(words) or novel.all() or not novel.any():
        return float("nan")
    counts = np.asarray(matrix[:, words].sum(axis=1)).ravel()
    counts = np.where(novel, counts, -counts * novel.sum() / (~novel).sum())
    rows = [row for theme in themes for row in (theme.novel_documents, theme.known_documents)]
    explained = np.zeros(len(novel), dtype=bool)
    explained[np.concatenate([*rows, np.empty(0, dtype=np.intp)])] = True
    return float(np.clip(1 - counts[explained].sum() / counts.sum(), 0.0, 1.0))


def rows_of_theme(theme: Theme, columns: Matrix, place: Mapping[str, int]) -> Rows:
    """Return the documents that match a rule of a theme.

    Parameters
    ----------
    theme : Theme
        The theme.
    columns : sparse matrix of shape (n_documents, n_terms), CSC
        The bags of words.
    place : mapping of str to int
        The column of each word.
    """
    return found_rows(columns, [[place[word] for word in rule.words] for rule in theme.rules])


def with_copies(
    themes: Iterable[Theme], matrix: Matrix, novel: ArrayLike, terms: Sequence[str]
) -> list[Theme]:
    """Return themes that were found without copied text, with all documents that rules find.

    Evidence and held-out figures stay as they are.

    Parameters
    ----------
    themes : iterable of Theme
        The themes.
    matrix, novel, terms
        As for `find_themes`, with copied text.
    """
    is_novel = np.asarray(novel, dtype=bool)
    columns = sparse.csc_matrix(matrix)
    place = {term: number for number, term in enumerate(terms)}
    found = []
    for theme in themes:
        by_rule = [
            matching_rows(columns, [place[word] for word in rule.words]) for rule in theme.rules
        ]
        rows = np.unique(np.concatenate(by_rule))
        new = is_novel[rows]
        sides = [is_novel[own] for own in by_rule]
        rules = [
            replace(rule, known=int((~side).sum()), novel=int(side.sum()))
            for rule, side in zip(theme.rules, sides, strict=True)
        ]
        found.append(
            replace(
                theme,
                rules=tuple(sorted(rules, key=lambda rule: -rule.novel)),
                novel_documents=rows[new],
                known_documents=rows[~new],
                share_novel=int(new.sum()) / int(is_novel.sum()),
                share_known=int((~new).sum()) / int((~is_novel).sum()),
            )
        )
    return found


def named_as_read(
    themes: Iterable[Theme],
    texts: Sequence[str],
    tokens: Callable[[str], Sequence[Token]],
) -> list[Theme]:
    """Return themes with names that novel documents would give them.

    A rule of several words that finds most documents of the theme is part of the name. A word of
    an earlier name is not, unless a rule has it. The words have the order in which documents have
    them, and the capitals that most documents give them.

    Parameters
    ----------
    themes : iterable of Theme
        The themes, the first one first.
    texts : sequence of str
        All documents, known and novel.
    tokens : callable
        Returns the words of a text, in order, as the themes have them.
    """
    themes = list(themes)
    used: set[str] = set()
    names, orders = [], []
    for theme in themes:
        names.append(_name_words(theme, used))
        used.update(names[-1])
    counter = SpellingCounter(part for word in used for part in word.split(" "))
    for theme, name in zip(themes, names, strict=True):
        rows = theme.novel_documents
        some = [texts[row][:N_LETTERS] for row in rows[:: max(1, len(rows) // N_READ)].tolist()]
        found = [tokens(text) for text in some]
        for text, words in zip(some, found, strict=True):
            counter.read(text, words)
        orders.append(in_reading_order(name, ([token.term for token in one] for one in found)))
    spelling = counter.spellings()
    return [
        replace(theme, name=" ".join(spelling[part] for part in " ".join(order).split(" ")))
        for theme, order in zip(themes, orders, strict=True)
    ]


def _name_words(theme: Theme, used: Set[str]) -> tuple[str, ...]:
    """Return the words of a name, those of a rule that finds most documents first."""
    rule = theme.rules[0]
    most = len(rule.words) > 1 and 2 * rule.novel > theme.documents_novel
    of_rules = {word for rule in theme.rules for word in rule.words}
    own = [pair for pair in theme.words if pair[0] in of_rules or pair[0] not in used]
    return theme_name(own if len(own) > 1 else theme.words, rule.words if most else ())


def _distinct(themes: Sequence[Theme]) -> list[Theme]:
    """Leave out a theme whose two strongest words are those of an earlier one."""
    found: dict[frozenset[str], Theme] = {}
    for theme in themes:
        found.setdefault(frozenset(theme.name.split()[:2]), theme)
    return list(found.values())


def _word_scores(matrix: Matrix, novel: Bools, evidence: ArrayLike | None) -> NDArray[np.float64]:
    """Return the evidence of words: as given, or from the counts of documents."""
    if evidence is not None:
        return np.asarray(evidence, dtype=np.float64)
    if novel.all() or not novel.any():
        return np.zeros(matrix.shape[1])
    return evidence_of_sets(matrix, document_weights(matrix, novel))


def _canonical_order(matrix: Matrix, novel: Bools, terms: Sequence[str]) -> tuple[Rows, Rows]:
    """Return an order of documents and one of words that depend on their content only."""
    columns = np.array(sorted(range(len(terms)), key=lambda column: terms[column]), dtype=np.intp)
    keys = np.zeros(len(terms))
    keys[columns] = np.random.default_rng(0).random(len(terms))
    # Sums of integers do not depend on the order of the words.
    codes = 2 * (matrix @ np.floor(keys * 2**36)) + novel
    return np.argsort(codes, kind="stable").astype(np.intp), columns


class _Documents:
    """What themes are described with."""

    def __init__(
        self,
        matrix: Matrix,
        novel: Bools,
        terms: Sequence[str],
        scores: NDArray[np.float64],
        texts: Sequence[str] | None,
    ) -> None:
        self.matrix, self.columns = matrix, matrix.tocsc()
        self.novel, self.terms, self.scores, self.texts = novel, terms, scores, texts


def _theme(
    draft: Draft,
    documents: _Documents,
    held_out: Mapping[tuple[int, ...], NDArray[np.intp]],
    shares: NDArray[np.float64],
) -> Theme:
    """Collect the figures of a theme."""
    group, rows, novel, terms = draft.group, draft.rows, documents.novel, documents.terms
    new = rows[novel[rows]]
    # A word is telling if it marks both the group and the novel side.
    weights = group.weights * np.maximum(documents.scores[group.words], 0.1)
    order = np.argsort(-weights, kind="stable")
    words = tuple((str(terms[group.words[i]]), float(weights[i])) for i in order[:N_WORDS])
    rank = {int(group.words[i]): place for place, i in enumerate(order)}
    rules = [_rule(rule, rank, documents, held_out.get(rule, (0, 0))) for rule in draft.rules]
    known_share, novel_share = shares.tolist()
    return Theme(
        name=" ".join(theme_name(words)),
        words=words,
        rules=tuple(sorted(rules, key=lambda rule: -rule.novel)),
        novel_documents=new,
        known_documents=rows[~novel[rows]],
        share_novel=len(new) / int(novel.sum()),
        share_known=(len(rows) - len(new)) / int((~novel).sum()),
        evidence=draft.evidence,
        typical=_typical(group, new, documents),
        joined=tuple((terms[a], terms[b], strength) for a, b, strength in group.links[:N_WORDS]),
        held_out_share_novel=novel_share,
        held_out_share_known=known_share,
    )


def _rule(
    rule: tuple[int, ...], rank: Mapping[int, int], documents: _Documents, held_out: Any
) -> ThemeRule:
    """Return a rule in words, the strongest word first."""
    side = documents.novel[matching_rows(documents.columns, rule)]
    order = sorted(rule, key=lambda word: rank.get(word, len(rank)))
    words = tuple(documents.terms[word] for word in order)
    known, novel = (int(count) for count in held_out)
    return ThemeRule(words, int((~side).sum()), int(side.sum()), known, novel)


def _typical(group: Group, new: Rows, documents: _Documents) -> tuple[int, ...]:
    """Return the novel documents that the rules find and that fit the group best."""
    strength = np.zeros(documents.matrix.shape[1])
    strength[group.words[:N_WORDS]] = group.weights[:N_WORDS]
    part = documents.matrix[new]
    lengths = np.diff(part.indptr)
    score = (part @ strength) / np.sqrt(lengths + np.median(lengths))
    chosen: list[int] = []
    seen: set[Any] = set()
    for place in np.argsort(-score, kind="stable"):
        row = int(new[place])
        bag = part.indices[part.indptr[place] : part.indptr[place + 1]]
        words = "" if documents.texts is None else text_key(documents.texts[row])
        key = words or frozenset(bag.tolist())
        if key not in seen:
            seen.add(key)
            chosen.append(row)
        if len(chosen) == N_TYPICAL:
            break
    return tuple(chosen)


def text_key(text: str) -> str:
    """Return what texts have in common that are shown once: their words, in lower case."""
    return " ".join(text.lower().split())
