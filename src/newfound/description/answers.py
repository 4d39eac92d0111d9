"""The questions that a fitted describer answers about words, themes and texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
from sklearn.utils.validation import (  # type: ignore[import-untyped,unused-ignore]
    check_is_fitted,
)

from newfound.checks import check_count
from newfound.description.calibration import VerdictCalibration
from newfound.description.context import Context, ContextIndex, ContextMatrix
from newfound.description.counted_timeline import CountedTimeline
from newfound.description.explanation import Explanation, explain
from newfound.description.learning import themes_of
from newfound.description.novelty import Evidence
from newfound.description.senses import Senses, find_senses
from newfound.description.timeline import Curve, Timeline
from newfound.description.words import WordTable
from newfound.rules import ClauseTable
from newfound.sides import PLAIN_NAMES, Names
from newfound.stories.themes import Theme, Themes, ThemeTuple
from newfound.text.capitals import corpus_spellings
from newfound.text.copies import Copies
from newfound.text.corpus import Corpus
from newfound.text.documents import as_sides
from newfound.text.redaction import redact
from newfound.text.sentences import SentenceFinder
from newfound.text.validation import check_explainable
from newfound.text.vectorizer import TextVectorizer
from newfound.wiring import call_registered

__all__ = ["AnswersMixin"]

_NO_DOCUMENTS = (
    "A describer that was loaded from a file has no documents; pass them to remember, or fit it "
    "again."
)


class AnswersMixin:
    """Answers from the attributes of a fitted `NoveltyDescriber`, which has their description."""

    redact: bool
    words_: WordTable
    clauses_: ClauseTable
    all_clauses_: ClauseTable
    n_machines_: int
    vectorizer_: TextVectorizer
    evidence_: Evidence
    corpus_: Corpus | None
    copies_: Copies | None
    set_aside_: dict[str, str]
    timeline_: Timeline | CountedTimeline | None
    calibration_: VerdictCalibration | None

    names_: Names = PLAIN_NAMES

    @property
    def themes_(self) -> ThemeTuple:
        """The themes of the novel documents, the one that explains most first."""
        check_is_fitted(self, "clauses_")
        return ThemeTuple(self._themes.themes)

    @property
    def unexplained_(self) -> float:
        """The share of the novelty that no theme explains; nan if no word is novel."""
        check_is_fitted(self, "clauses_")
        return self._themes.unexplained

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
        check_is_fitted(self, "clauses_")
        other = None if other is None else self._term(other)
        return self._context.partners(self._term(word), other, n)

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
        check_is_fitted(self, "clauses_")
        if isinstance(words, str):
            raise ValueError(f"words={words!r}: expected several words; wrap it in a list.")
        return self._context.matrix([self._term(word) for word in words])

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
        check_is_fitted(self, "clauses_")
        if self.corpus_ is None:
            raise ValueError(_NO_DOCUMENTS)
        check_count("n", n, "words", 1)
        term = self._term(word)
        column = self.all_clauses_.column(term)
        context = self._context.partners(term, n=len(self.words_))
        finder = SentenceFinder(self.vectorizer_)
        return find_senses(term, column, self.corpus_, finder, context, n)

    def curve(self, what: str | Theme) -> Curve:
        """Return how often a word or a theme occurs over time.

        Parameters
        ----------
        what : str or Theme
            A word, in any form, or one of ``themes_``.

        Returns
        -------
        Curve
            With its documents in each bin of ``timeline_``, the day of the first and of the last
            one, and the bin with the most.
        """
        check_is_fitted(self, "clauses_")
        if self.timeline_ is None:
            raise ValueError("The documents have no dates; pass dates to fit.")
        if isinstance(self.timeline_, CountedTimeline):
            if not isinstance(what, Theme):
                return self.timeline_.word_curve(self.all_clauses_.column(self._term(what)))
            places = [i for i, theme in enumerate(self.themes_) if theme is what]
            if not places:
                raise ValueError(f"{what} is not one of the themes of this description.")
            return self.timeline_.theme_curve(places[0])
        if isinstance(what, Theme):
            return self.timeline_.curve(
                np.concatenate((what.known_documents, what.novel_documents))
            )
        if self.corpus_ is None:
            raise ValueError(_NO_DOCUMENTS)
        column = self.all_clauses_.column(self._term(what))
        return self.timeline_.curve(self.corpus_.with_word(column))

    def remember(self, known: object, novel: object) -> Self:
        """Keep documents for examples, after loading: a file holds no texts.

        Parameters
        ----------
        known, novel : iterable of str, series, frame or Documents
            The documents that it was fitted on.

        Returns
        -------
        self
        """
        check_is_fitted(self, "clauses_")
        sides = as_sides(known, novel, redact=self.redact)
        texts = [text for documents in sides.values() for text in documents.texts]
        is_novel = np.arange(len(texts)) >= len(sides["known"])
        matrix = self.vectorizer_.transform(texts)
        self.corpus_ = Corpus.without_votes(texts, is_novel, matrix)
        return self

    def explain(self, text: str) -> Explanation:
        """Explain why a text is known or novel: its words, the rules it matches, the votes.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            If the text has more than 250,000 characters.
        """
        check_is_fitted(self, "clauses_")
        check_explainable(text)
        return explain(
            redact(text) if self.redact else text,
            self.vectorizer_,
            self.words_,
            self.clauses_,
            set_aside=self.set_aside_,
            calibration=self.calibration_,
            n_machines=self.n_machines_,
            names=self.names_,
        )

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
        check_is_fitted(self, "clauses_")
        call_registered(
            "NoveltyDescriber.report",
            path, self, known=known, novel=novel,
            known_name=known_name, novel_name=novel_name, title=title, force=force,
        )  # fmt: skip

    def spellings(self, words: Sequence[str]) -> dict[str, str]:
        """Return words with the capitals that most documents give them inside sentences.

        A describer that was loaded has no documents; it returns words as they are.

        Parameters
        ----------
        words : sequence of str
            Words of ``words_``.
        """
        check_is_fitted(self, "clauses_")
        if self.corpus_ is None:
            return {word: word for word in words}
        return corpus_spellings(self.corpus_, self.vectorizer_, words)

    @cached_property
    def _themes(self) -> Themes:
        assert self.corpus_ is not None  # a describer that was loaded has its themes
        return themes_of(self.corpus_, self.copies_, self.evidence_, self.vectorizer_)

    @cached_property
    def _context(self) -> ContextIndex:
        return ContextIndex(self.all_clauses_)

    def _forget(self) -> None:
        """Drop what was found when first asked for, after the attributes have changed."""
        for name in ("_context", "_themes"):
            self.__dict__.pop(name, None)

    def _term(self, word: str) -> str:
        """Return the word of the vocabulary for any form of it."""
        if not isinstance(word, str):
            raise ValueError(f"word={word!r}: expected a str, got {type(word).__name__}.")
        if word not in self.vectorizer_.vocabulary_:
            spans = [token for token in self.vectorizer_.tokens(word) if token.index >= 0]
            whole = [token for token in spans if len(token.surface) == len(word.strip())]
            return whole[-1].term if whole else word
        return word
