"""A description: what is new in novel documents, compared with known ones, as one value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.checks import check_count
from newfound.description.calibration import VerdictCalibration
from newfound.description.context import Context, ContextIndex, ContextMatrix, Senses, find_senses
from newfound.description.explanation import (
    SideExplanation,
    explain,
    feature_names,
    word_features,
)
from newfound.description.novelty import Evidence
from newfound.description.timeline import CountedTimeline, Curve, Timeline
from newfound.description.words import WordTable
from newfound.rules import ClauseTable
from newfound.sides import PLAIN_NAMES, SIDES, Names
from newfound.stories.names import named_as_read
from newfound.stories.themes import (
    LooseWord,
    Theme,
    Themes,
    ThemeTuple,
    completed,
    find_themes,
    with_copies,
)
from newfound.table import Table
from newfound.text.copies import Copies
from newfound.text.corpus import Corpus, SentenceFinder
from newfound.text.redaction import redact
from newfound.text.spelling import corpus_spellings
from newfound.text.validation import check_explainable
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.detection.mixture import Mixture

__all__ = ["Description", "LateThemes"]

_NO_DOCUMENTS = (
    "A describer that was loaded from a file has no documents; pass them to remember, or fit it "
    "again."
)


@dataclass(eq=False)
class LateThemes:
    """Themes that are found when they are first asked for, once for all copies of a description.

    Copied text counts once as evidence for them. To find them takes a third of the time of
    learning the rest, which those who only want words do not spend.
    """

    corpus: Corpus
    copies: Copies | None  # None if all text counts
    evidence: Evidence
    vectorizer: TextVectorizer
    sure: NDArray[np.intp]  # columns of the words that are surely new
    amount: str | int = "default"

    @cached_property
    def themes(self) -> Themes:
        """The themes of both sides, and what they leave out."""
        copies, corpus = self.copies, self.corpus
        matrix = corpus.matrix if copies is None else copies.first
        terms = list(self.vectorizer.vocabulary_)
        found = find_themes(
            matrix, corpus.novel, terms,
            evidence=self.evidence.novelty, texts=corpus.texts, amount=self.amount,
        )  # fmt: skip
        if copies is not None:
            found = with_copies(found, corpus.matrix, corpus.novel, terms)
        found = completed(found, corpus.matrix, corpus.novel, terms, self.sure)
        return named_as_read(found, corpus.texts, self.vectorizer.tokens)


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """What is new in novel documents, compared with known ones.

    `NoveltyDescriber.fit` learns one, and holds it as ``description_``. It does not change;
    `dataclasses.replace` makes another one, such as one with other names.

    Attributes
    ----------
    given : dict
        The parameters of the describer's constructor.
    parameters : dict
        Every parameter that `fit` used, with those of the preset.
    vectorizer : TextVectorizer
        Splits texts into words.
    words : WordTable
        All words with their novelty and their scores, the most novel first.
    clauses : ClauseTable
        The rules of all machines, duplicates merged: those with a plain word first, sorted by how
        well they separate the two sides.
    all_clauses : ClauseTable
        The clauses of all machines, one machine after the other, in the order of learning.
    n_machines : int
        The number of machines that were trained.
    document_counts : (2, n_words) ndarray of int
        The number of known and of novel documents with each word of the vocabulary.
    evidence : Evidence
        The evidence of the documents for each word of the vocabulary.
    phrases : Table
        Words that rules use together and that occur together, the strongest first; see
        `newfound.description.words.find_phrases`.
    grouped : Themes or LateThemes
        The themes, or what finds them when they are first asked for.
    set_aside : dict of str to str
        The calendar words, numbers, time zones and letters that were left out, with their kind.
    copies : Copies or None
        Copied documents and passages, which count once as evidence; None if `fold_copies` is off,
        and in a description that was loaded.
    calibration : VerdictCalibration or None
        The probability of novel for the words of a text and the votes of the machines, from
        documents that were held out; None if there were none, as for a single machine.
    timeline : Timeline or None
        The dates of the documents in bins of a day, a week or a month; None without dates. Of a
        stream, the documents of words and themes in these bins.
    corpus : Corpus or None
        The documents that it was fitted on; None in a description that was loaded.
    names : Names
        What the known and the novel documents are called in explanations.
    seconds : dict of str to float
        How long "learning" took; empty in a description that was loaded.
    mixture : Mixture or None
        Which documents of a mixture were new; None where all novel documents are described.

    Examples
    --------
    >>> import newfound
    >>> known = [f"{who} took a wicket" for who in ("Ann", "Bob", "Cy", "Di")] * 4
    >>> novel = [f"{who} scored a try" for who in ("Ann", "Bob", "Cy", "Di")] * 4
    >>> describer = newfound.describe(known, novel, n_clauses=10, T=5, random_state=1)
    >>> description = describer.description_
    >>> description
    <Description of 16 known and 16 novel documents, 8 words>
    >>> sorted(description.words["word"][:2]), description.n_documents["novel"]
    (['scored', 'try'], 16)
    """

    given: dict[str, Any]
    parameters: dict[str, Any]
    vectorizer: TextVectorizer
    words: WordTable
    clauses: ClauseTable
    all_clauses: ClauseTable
    n_machines: int
    document_counts: NDArray[np.int64]
    evidence: Evidence
    phrases: Table
    grouped: Themes | LateThemes
    set_aside: dict[str, str] = field(default_factory=dict)
    copies: Copies | None = None
    calibration: VerdictCalibration | None = None
    timeline: Timeline | None = None
    corpus: Corpus | None = None
    names: Names = PLAIN_NAMES
    seconds: dict[str, float] = field(default_factory=dict)
    mixture: Mixture | None = None

    def __repr__(self) -> str:
        known, novel = self.all_clauses.n_documents
        return (
            f"<Description of {known:,} known and {novel:,} novel documents, "
            f"{len(self.words):,} words>"
        )

    @property
    def n_documents(self) -> dict[str, int]:
        """The number of "known" and of "novel" documents."""
        return dict(zip(SIDES, self.all_clauses.n_documents, strict=True))

    @property
    def themes(self) -> ThemeTuple:
        """The themes of the novel documents, the one with the most evidence first."""
        return ThemeTuple(self.all_themes.themes)

    @property
    def gone(self) -> ThemeTuple:
        """The themes that are less frequent than in the known documents."""
        return ThemeTuple(self.all_themes.gone)

    @property
    def loose(self) -> tuple[LooseWord, ...]:
        """The words that are surely new and in no theme, with a document of each."""
        return self.all_themes.loose

    @property
    def unexplained(self) -> float:
        """Of the novel documents with a surely new word, the share that is in no sure theme.

        It is nan if no word is surely new.
        """
        return self.all_themes.unexplained

    def context(self, word: str, other: str | None = None, n: int = 200) -> Context:
        """Return the words that rules use together with a word, or the scores of one pair.

        Parameters
        ----------
        word : str
            A word, in any form.
        other : str, optional
            Another word.
        n : int, default=200
            The maximum number of partners.

        Returns
        -------
        Context
            With a table for "known", for "novel" and for "both".
        """
        other = None if other is None else self._term(other)
        return self._contexts.partners(self._term(word), other, n)

    def context_matrix(self, words: Sequence[str]) -> ContextMatrix:
        """Return counts and contextual scores of all pairs of some words.

        Parameters
        ----------
        words : sequence of str
            Words, in any form.

        Returns
        -------
        ContextMatrix
            With scores for "known", for "novel" and for "both".
        """
        if isinstance(words, str):
            raise ValueError(f"words={words!r}: expected several words; wrap it in a list.")
        return self._contexts.matrix([self._term(word) for word in words])

    def senses(self, word: str, n: int = 5) -> Senses:
        """Return the words that go with a word on each side, with an example of each.

        Parameters
        ----------
        word : str
            A word, in any form.
        n : int, default=5
            The maximum number of words of each side.

        Returns
        -------
        Senses
        """
        if self.corpus is None:
            raise ValueError(_NO_DOCUMENTS)
        check_count("n", n, "words", 1)
        term = self._term(word)
        column = self.all_clauses.column(term)
        context = self._contexts.partners(term, n=len(self.words))
        return find_senses(term, column, self.corpus, SentenceFinder(self.vectorizer), context, n)

    def curve(self, what: str | Theme) -> Curve:
        """Return how often a word or a theme occurs over time.

        Parameters
        ----------
        what : str or Theme
            A word, in any form, or one of the themes.

        Returns
        -------
        Curve
            With its documents in each bin of the timeline, the day of the first and of the last
            one, and the bin with the most.
        """
        if self.timeline is None:
            raise ValueError("The documents have no dates; pass dates to fit.")
        if isinstance(self.timeline, CountedTimeline):
            if not isinstance(what, Theme):
                return self.timeline.word_curve(self.all_clauses.column(self._term(what)))
            groups = self.all_themes.groups
            places = [i for i, theme in enumerate(groups) if theme is what]
            if not places:
                raise ValueError(f"{what} is not one of the themes of this description.")
            return self.timeline.theme_curve(places[0])
        if isinstance(what, Theme):
            return self.timeline.curve(np.concatenate((what.known_documents, what.novel_documents)))
        if self.corpus is None:
            raise ValueError(_NO_DOCUMENTS)
        return self.timeline.curve(self.corpus.with_word(self.all_clauses.column(self._term(what))))

    def explain(self, text: str) -> SideExplanation:
        """Explain why a text is known or novel: its words, the rules it matches, the votes.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        SideExplanation

        Raises
        ------
        ValueError
            If the text has more than 250,000 characters.
        """
        check_explainable(text)
        return explain(redact(text) if self.given.get("redact") else text, self)

    def transform(self, texts: Iterable[str]) -> Any:
        """Return what each word adds to the log-odds of novel, as features for other models.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        CSR matrix of float64
            A row for each text, a column for each word of the vocabulary and each stop word that
            counts, one for the rules and one for what is left; see `get_feature_names_out`. A row
            adds up to the log-odds of novel; that of a text without a known word is empty. If no
            documents were held out, a word has the logarithm of its score.
        """
        given = (redact(text) for text in texts) if self.given.get("redact") else texts
        return word_features(given, self)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`."""
        return np.array(feature_names(self), dtype=object)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        known: object = None,
        novel: object = None,
        known_name: str | None = None,
        novel_name: str | None = None,
        title: str | None = None,
        force: bool = False,
    ) -> None:
        """Write a report: one HTML page that works offline.

        Parameters
        ----------
        path : path
            The file.
        known, novel : iterable of str, series, frame or Documents, optional
            The documents that it was fitted on, if it was loaded from a file, which holds no
            texts. Without texts the page has no examples.
        known_name, novel_name : str, optional
            What the two sides are called on the page, such as "2023" and "2024".
        title : str, optional
            The title of the page.
        force : bool, default=False
            Overwrite an existing file.
        """
        from newfound.show.page import write_report

        write_report(
            path, self, known=known, novel=novel,
            known_name=known_name, novel_name=novel_name, title=title, force=force,
        )  # fmt: skip

    def spellings(self, words: Sequence[str]) -> dict[str, str]:
        """Return words with the capitals that most documents give them inside sentences.

        Without documents, as after loading, words are returned as they are.

        Parameters
        ----------
        words : sequence of str
            Words of the table of words.
        """
        if self.corpus is None:
            return {word: word for word in words}
        return corpus_spellings(self.corpus, self.vectorizer, words)

    @property
    def all_themes(self) -> Themes:
        """The themes of both sides, and what they leave out."""
        return self.grouped if isinstance(self.grouped, Themes) else self.grouped.themes

    @cached_property
    def _contexts(self) -> ContextIndex:
        return ContextIndex(self.all_clauses)

    def _term(self, word: str) -> str:
        """Return the word of the vocabulary for any form of it."""
        if not isinstance(word, str):
            raise ValueError(f"word={word!r}: expected a str, got {type(word).__name__}.")
        if word not in self.vectorizer.vocabulary_:
            spans = [token for token in self.vectorizer.tokens(word) if token.index >= 0]
            whole = [token for token in spans if len(token.surface) == len(word.strip())]
            return whole[-1].term if whole else word
        return word
