"""From two piles of documents to the words and rules that tell them apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped,unused-ignore]
from sklearn.utils.validation import (  # type: ignore[import-untyped,unused-ignore]
    check_is_fitted,
)

from newfound.description.context import Context, ContextIndex, ContextMatrix
from newfound.description.explanation import Explanation, Mention
from newfound.description.novelty import Evidence, document_weights, word_evidence
from newfound.description.phrases import find_phrases
from newfound.description.presets import resolve
from newfound.description.scores import shared_role, stability
from newfound.description.senses import Senses, find_senses
from newfound.description.state import DescriberParts, describer_from_state, describer_state
from newfound.description.words import WordTable
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import EpochInfo
from newfound.machine.committee import new_machines, read, rule_columns, rule_min_df, train
from newfound.machine.validation import whole
from newfound.rules import ClauseTable
from newfound.sides import SIDES
from newfound.storage.fields import Fields
from newfound.storage.model_file import load_model, save_model
from newfound.table import Table
from newfound.text.corpus import Corpus
from newfound.text.documents import DocumentError, as_documents
from newfound.text.sentences import SentenceFinder
from newfound.text.validation import check_matrix, labelled_texts
from newfound.text.vectorizer import TextVectorizer
from newfound.wiring import carried_out

__all__ = ["NoveltyDescriber", "describe"]

_VECTORIZER = (
    "language", "stop_words", "lemmatize", "min_df", "max_df", "max_features", "ngram_range",
)  # fmt: skip


class NoveltyDescriber(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Describe what is new in novel documents, against known ones.

    A committee of Tsetlin Machines learns rules that tell the two apart; each word is scored by the
    role it plays in them, and ranked by how sure the documents are that it is new.

    Parameters
    ----------
    preset : {"default", "paper"} or None, default=None
        Where every parameter that is None comes from; None is "default".

        "default" is fast and gives short rules: ``n_machines=10, n_clauses=500, T=200, s=10.0,
        epochs=10, boost_true_positive=True, max_literals=16, min_df=2, rule_min_df=0``. "paper" is
        the setting of the paper: ``n_machines=1, n_clauses=10000, T=50, s=25.0, epochs=100,
        boost_true_positive=False, max_literals=0, min_df=1, rule_min_df=1``.
        ``docs/words.md`` says how the default was chosen.
    n_machines : int, optional
        How many machines, up to 1,000. Each of several learns from its own 70 % of the documents of
        each side, and the rest tell how right its rules are; a single one learns from all.
    n_clauses, T, s, epochs, boost_true_positive : optional
        Those of `TsetlinMachineClassifier`; clauses are counted for each of the two classes.
    max_literals : int, optional
        A budget of words for each rule; 0 for none.
    rule_min_df : int, optional
        Rules use only words of at least so many documents; 0 is a two-hundredth of the documents,
        but at most 8. Rarer words are ranked all the same. Rules without them are found faster and
        say more: a rare word tells a few documents apart by chance.
    language, stop_words, lemmatize, min_df, max_df, max_features, ngram_range : optional
        Those of `TextVectorizer`. To leave no words out, pass ``stop_words=()``.
    shared_low, shared_high : float, optional
        A word that both sides use is known up to the one score, novel from the other on, and
        common between; 0.25 and 4.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The result is the same on any. A file does not keep it.
    random_state : int, RandomState or None, default=None
        The seed: the same one gives the same result.
    verbose : int, default=0
        1 prints a line for each epoch on standard error.

    Attributes
    ----------
    words_ : WordTable
        All words with their novelty and their scores, the most novel first.
    clauses_ : ClauseTable
        The rules of all machines, duplicates folded: those with a plain word first, and of them
        those that tell the two sides apart best.
    phrases_ : Table
        Words that rules use together and that say more together, the strongest first; its columns
        are those of `newfound.description.phrases.find_phrases`.
    machines_ : tuple of TsetlinMachineClassifier
        The machines; empty in a describer that was loaded without its automata.
    n_machines_ : int
        How many machines have learned.
    corpus_ : Corpus or None
        The documents that it has learned from; None in a describer that was loaded.
    vectorizer_ : TextVectorizer
        What turns texts into words.
    n_documents_ : dict of str to int
        How many "known" and "novel" documents it has learned from.
    classes_ : ndarray of str
        "known" and "novel".

    Examples
    --------
    >>> known = ["A wicket fell", "The wicket and an over", "Out after an over of spin"] * 5
    >>> novel = ["A scrum and a try", "The try came from a scrum", "A try, no wicket"] * 5
    >>> describer = NoveltyDescriber(n_machines=3, n_clauses=20, T=5, random_state=1)
    >>> describer = describer.fit(known + novel, ["known"] * 15 + ["novel"] * 15)
    >>> describer.words_["word"][:2].tolist()
    ['try', 'scrum']
    >>> describer.explain("What a try!").verdict
    'novel'
    """

    words_: WordTable
    clauses_: ClauseTable
    phrases_: Table
    machines_: tuple[TsetlinMachineClassifier, ...]
    n_machines_: int
    corpus_: Corpus | None
    vectorizer_: TextVectorizer
    n_documents_: dict[str, int]
    classes_: NDArray[np.str_]
    _table: ClauseTable
    _documents: NDArray[np.int64]
    _evidence: Evidence
    _seconds: dict[str, float]  # what took how long, for the report
    _chosen: dict[str, Any]  # every parameter that `fit` went by, with what the preset said

    def __init__(
        self,
        *,
        preset: str | None = None,
        n_machines: int | None = None,
        n_clauses: int | None = None,
        T: int | None = None,
        s: float | None = None,
        epochs: int | None = None,
        boost_true_positive: bool | None = None,
        max_literals: int | None = None,
        rule_min_df: int | None = None,
        language: str | None = None,
        stop_words: str | Iterable[str] | None = None,
        lemmatize: bool | None = None,
        min_df: float | None = None,
        max_df: float | None = None,
        max_features: int | None = None,
        ngram_range: tuple[int, int] | None = None,
        shared_low: float | None = None,
        shared_high: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.preset = preset
        self.n_machines = n_machines
        self.n_clauses = n_clauses
        self.T = T
        self.s = s
        self.epochs = epochs
        self.boost_true_positive = boost_true_positive
        self.max_literals = max_literals
        self.rule_min_df = rule_min_df
        self.language = language
        self.stop_words = stop_words
        self.lemmatize = lemmatize
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.ngram_range = ngram_range
        self.shared_low = shared_low
        self.shared_high = shared_high
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Iterable[str],
        y: ArrayLike,
        *,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Self:
        """Learn what tells known and novel texts apart.

        Parameters
        ----------
        X : iterable of str
            The texts; a missing or blank one is left out.
        y : array
            "known" or "novel" for each, or 0 and 1 (novel).
        callback : callable, optional
            Called with an `EpochInfo` after each epoch of a machine, which counts those of all
            machines; a true result ends training.

        Returns
        -------
        self
        """
        began = perf_counter()
        chosen = self._resolved()
        texts, novel = labelled_texts(X, y)
        machines = self._new_machines(chosen)
        vectorizer = TextVectorizer(**self._vectorizer_parameters(chosen))
        matrix = vectorizer.fit_transform(texts)
        check_matrix(matrix, novel)
        chosen["rule_min_df"] = rule_min_df(chosen["rule_min_df"], len(texts))
        columns = rule_columns(vectorizer.document_frequencies_, chosen["rule_min_df"])
        rows = train(
            machines,
            matrix[:, columns],
            novel,
            chosen["epochs"],
            n_jobs=self.n_jobs,
            callback=callback,
        )
        self.vectorizer_, self._chosen = vectorizer, chosen
        begun = [number for number, mine in enumerate(rows) if len(mine)]
        self._describe(
            [machines[number] for number in begun],
            [rows[number] for number in begun],
            texts,
            matrix,
            novel,
        )
        self._seconds = {"learning": perf_counter() - began}
        return self

    def partial_fit(
        self,
        X: Iterable[str],
        y: ArrayLike,
        *,
        epochs: int = 1,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Self:
        """Go on training, with the words known so far; the first call is a `fit`.

        Numbers of documents, also those that rules match, are then those of this call. Parameters
        are those of `fit`, but for `n_jobs` and `verbose`.

        Parameters
        ----------
        X, y
            As in `fit`.
        epochs : int, default=1
            Passes over these texts; the first call does those of the parameter.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self
        """
        if not hasattr(self, "clauses_"):
            return self.fit(X, y, callback=callback)
        if not self.machines_:
            raise ValueError(
                "This describer has no automata, so training cannot go on; save it with its "
                "automata, or fit anew."
            )
        texts, novel = labelled_texts(X, y)
        matrix = self.vectorizer_.transform(texts)
        check_matrix(matrix, novel)
        for machine in self.machines_:
            machine.verbose = self.verbose
        narrow = matrix[:, self._rule_columns]
        rows = train(
            self.machines_,
            narrow,
            novel,
            epochs,
            n_jobs=self.n_jobs,
            callback=callback,
            first=False,
        )
        return self._describe(self.machines_, rows, texts, matrix, novel)

    def context(self, word: str, other: str | None = None, n: int = 200) -> Context:
        """Give the words that rules use together with a word, or how it goes with one other.

        Parameters
        ----------
        word : str
            A word, in any form.
        other : str, optional
            Another word.
        n : int, default=200
            How many of the strongest partners.

        Returns
        -------
        Context
            With a table for "known", for "novel" and for "both".
        """
        check_is_fitted(self, "clauses_")
        other = None if other is None else self._term(other)
        return self._context.partners(self._term(word), other, n)

    def context_matrix(self, words: Sequence[str]) -> ContextMatrix:
        """Give counts and contextual scores of all pairs of some words.

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
        """Give the company that a word keeps on each side, with an example of each.

        Parameters
        ----------
        word : str
            A word, in any form.
        n : int, default=5
            How much company of each side at most.

        Returns
        -------
        Senses
        """
        check_is_fitted(self, "clauses_")
        if self.corpus_ is None:
            raise ValueError(
                "A describer from a file has no documents to look at; call remember with them, or "
                "fit anew."
            )
        if n < 1:
            raise ValueError(f"n={n!r}: expected a number of words from 1.")
        term = self._term(word)
        column = self._table.column(term)
        context = self._context.partners(term, n=len(self.words_))
        finder = SentenceFinder(self.vectorizer_)
        return find_senses(term, column, self.corpus_, finder, context, n)

    def remember(self, known: object, novel: object) -> Self:
        """Take documents for examples, after loading: a file holds no texts.

        Parameters
        ----------
        known, novel : iterable of str, series, frame or Documents
            The documents that it has learned from.

        Returns
        -------
        self
        """
        check_is_fitted(self, "clauses_")
        texts, labels = _piles(known, novel)
        is_novel = np.array(labels) == "novel"
        matrix = self.vectorizer_.transform(texts)
        self.corpus_ = Corpus.without_votes(texts, is_novel, matrix)
        return self

    def explain(self, text: str) -> Explanation:
        """Say why a text is known or novel: its words, the rules it matches, the votes.

        Parameters
        ----------
        text : str
            Any text, as it is.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self, "clauses_")
        words, unknown, columns = [], [], set()
        for token in self.vectorizer_.tokens(text):
            place = (token.start, token.end, token.surface, token.term)
            if token.index >= 0:
                columns.add(token.index)
                row = self.words_.number(token.term)
                role = self.words_["role"][row] or self.words_["group"][row]
                words.append(Mention(*place, float(self.words_["score"][row]), str(role)))
            elif " " not in token.term:
                unknown.append(Mention(*place, float("nan"), "unknown"))
        rules = self.clauses_[self.clauses_.matching(sorted(columns))]
        novel = int(rules.counts[rules.is_novel].sum())
        votes = {"known": int(rules.counts.sum()) - novel, "novel": novel}
        return Explanation(text, tuple(words), tuple(unknown), rules, votes)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        known: object = None,
        novel: object = None,
        title: str | None = None,
        force: bool = False,
    ) -> None:
        """Write one HTML page that shows what is new; it works offline, whatever the corpus.

        Parameters
        ----------
        path : path
            The file.
        known, novel : iterable of str, series, frame or Documents, optional
            The documents that it has learned from, where it comes from a file: that holds no
            texts, and without texts the page has no examples.
        title : str, optional
            What stands on top.
        force : bool, default=False
            Replace a file that is there.
        """
        check_is_fitted(self, "clauses_")
        carried_out(
            "NoveltyDescriber.report",
            path, self, known=known, novel=novel, title=title, force=force,
        )  # fmt: skip

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        with_automata: bool = False,
        force: bool = False,
    ) -> None:
        """Write the describer to a file; the options are those of `newfound.save`."""
        check_is_fitted(self, "clauses_")
        save_model(
            path, "describer", lambda: self.to_state(with_automata=with_automata), force=force
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a describer from a file."""
        return load_model(path, {"describer": cls.from_state})

    def _resolved(self) -> dict[str, Any]:
        """Fill in what the preset says, and check what nobody else checks."""
        chosen = resolve(self.preset, self.get_params(deep=False))
        if chosen["max_literals"] == 0:
            chosen["max_literals"] = None
        whole("rule_min_df", chosen["rule_min_df"], 0)
        shared_role([], chosen["shared_low"], chosen["shared_high"])
        return chosen

    @property
    def _rule_columns(self) -> NDArray[np.intp]:
        """The words that rules use."""
        return rule_columns(
            self.vectorizer_.document_frequencies_, int(self._chosen["rule_min_df"])
        )

    def _vectorizer_parameters(self, chosen: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return {name: (chosen or self._chosen)[name] for name in _VECTORIZER}

    def _new_machines(self, chosen: Mapping[str, Any]) -> list[TsetlinMachineClassifier]:
        return new_machines(chosen, self.random_state, n_jobs=self.n_jobs, verbose=self.verbose)

    def _describe(
        self,
        machines: Sequence[TsetlinMachineClassifier],
        rows: Sequence[NDArray[np.intp]],
        texts: list[str],
        matrix: Any,
        novel: NDArray[np.bool_],
    ) -> Self:
        """Keep what was learned and what the documents say, and derive the rest from them."""
        columns = self._rule_columns
        learned = read(machines, rows, matrix[:, columns], novel)
        counts = novel.astype(np.int64)
        self.machines_, self.n_machines_ = tuple(machines), len(machines)
        self.classes_ = np.array(SIDES)
        self.n_documents_ = {"known": int((~novel).sum()), "novel": int(novel.sum())}
        self.corpus_ = Corpus(texts, novel, matrix, learned.votes)
        self._documents = np.stack((matrix.T @ (1 - counts), matrix.T @ counts))
        signed = document_weights(matrix, novel)
        self._evidence = word_evidence(matrix, novel, signed)
        self._restore(
            ClauseTable(
                learned.clauses.spread(columns, matrix.shape[1]),
                list(self.vectorizer_.vocabulary_),
                n_documents=(self.n_documents_["known"], self.n_documents_["novel"]),
                held_out=learned.held_out,
            )
        )
        self.phrases_ = find_phrases(self._table, matrix, signed)
        return self

    def _restore(self, table: ClauseTable) -> None:
        """Derive words and rules from the clauses of all machines."""
        self._table = table
        self.__dict__.pop("_context", None)
        self.clauses_ = table.fold().sorted(plain_first=True)
        n = len(table) // self.n_machines_
        members = (table[k * n : (k + 1) * n].bags() for k in range(self.n_machines_))
        self.words_ = WordTable.from_clauses(
            table,
            self._documents,
            self.vectorizer_.forms_,
            self._evidence,
            stability=stability(members, table.bags()),
            shared_low=self._chosen["shared_low"],
            shared_high=self._chosen["shared_high"],
        )

    @cached_property
    def _context(self) -> ContextIndex:
        return ContextIndex(self._table)

    def _term(self, word: str) -> str:
        """Find the word of the vocabulary behind any form of it."""
        if not isinstance(word, str):
            raise ValueError(f"word={word!r}: expected a str, got {type(word).__name__}.")
        if word not in self.vectorizer_.vocabulary_:
            spans = [token for token in self.vectorizer_.tokens(word) if token.index >= 0]
            whole = [token for token in spans if len(token.surface) == len(word.strip())]
            return whole[-1].term if whole else word
        return word

    def to_state(self, *, with_automata: bool = False) -> dict[str, Any]:
        """Return what a model file keeps: nested plain values and arrays."""
        check_is_fitted(self, "clauses_")
        if with_automata and not self.machines_:
            raise ValueError("This describer has no automata to save; save it without them.")
        parts = DescriberParts(
            parameters=self.get_params(deep=False),
            chosen=self._chosen,
            vectorizer=self.vectorizer_,
            n_documents=(self.n_documents_["known"], self.n_documents_["novel"]),
            n_machines=self.n_machines_,
            table=self._table,
            documents=self._documents,
            evidence=self._evidence,
            phrases=self.phrases_,
            machines=self.machines_ if with_automata else (),
        )
        return describer_state(parts)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the describer of a state that `to_state` made; a ValueError says what is wrong."""
        parts = describer_from_state(Fields(state), cls().get_params(deep=False))
        describer = cls(**parts.parameters)
        describer._chosen, describer.vectorizer_ = parts.chosen, parts.vectorizer
        describer.classes_, describer.corpus_ = np.array(SIDES), None
        describer.n_documents_ = dict(zip(SIDES, parts.n_documents, strict=True))
        describer.machines_, describer.n_machines_ = parts.machines, parts.n_machines
        describer._documents, describer._evidence = parts.documents, parts.evidence
        describer.phrases_ = parts.phrases
        describer._restore(parts.table)
        return describer

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "clauses_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags


def describe(
    known: object,
    novel: object,
    *,
    mixture: bool = False,
    callback: Callable[[EpochInfo], bool | None] | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in novel documents, against known ones.

    Parameters
    ----------
    known, novel : iterable of str, series, frame or Documents
        The documents of each side; what `newfound.text.documents.as_documents` takes.
    mixture : bool, default=False
        The second pile is a mixture of known and novel documents: those that a
        `NoveltyDetector` takes for known are left out, and ``mixture_`` of the describer says
        which these are and which share of the pile is new.
    callback : callable, optional
        Called with an `EpochInfo` after each epoch; a true result ends training.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    NoveltyDescriber
        Fitted.

    Examples
    --------
    >>> known = ["A wicket fell", "The wicket and an over", "Out after an over of spin"] * 5
    >>> novel = ["A scrum and a try", "The try came from a scrum", "A try, no wicket"] * 5
    >>> describer = describe(known, novel, n_clauses=20, T=5, random_state=1)
    >>> describer.words_.top(2)["word"].tolist()
    ['try', 'scrum']
    """
    describer = NoveltyDescriber(**parameters)
    texts, labels = _piles(known, novel)
    if not mixture:
        return describer.fit(texts, labels, callback=callback)
    mixed: NoveltyDescriber = carried_out(
        "describe.mixture", describer, texts, labels, callback=callback
    )
    return mixed


def _piles(known: object, novel: object) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    labels: list[str] = []
    for side, documents in (("known", known), ("novel", novel)):
        try:
            found = as_documents(documents)
        except DocumentError as error:
            raise DocumentError(f"{side}: {error}") from error
        texts += found.texts
        labels += [side] * len(found)
    return texts, labels
