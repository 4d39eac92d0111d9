"""The describer: what is new in novel documents, compared with known ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped,unused-ignore]
from sklearn.utils.validation import (  # type: ignore[import-untyped,unused-ignore]
    check_is_fitted,
)

from newfound.description.answers import AnswersMixin
from newfound.description.estimator import SideClassifierMixin
from newfound.description.learning import Training, findings, without_calendar, word_table
from newfound.description.presets import VECTORIZER, check_parameters, resolve
from newfound.description.state import DescriberParts, describer_from_state, describer_state
from newfound.description.timeline import Timeline, timeline_of
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import EpochInfo
from newfound.machine.committee import Train, new_machines, rule_min_df, train
from newfound.rules import ClauseTable
from newfound.sides import SIDES
from newfound.storage.fields import Fields
from newfound.storage.model_file import load_model, save_model
from newfound.table import Table
from newfound.text.corpus import Corpus
from newfound.text.validation import labelled_texts
from newfound.text.vectorizer import TextVectorizer

__all__ = ["NoveltyDescriber"]


class NoveltyDescriber(AnswersMixin, SideClassifierMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Describe what is new in novel documents, compared with known ones.

    Several Tsetlin Machines learn rules that separate the two. Each word is scored by its role in
    the rules, and ranked by its novelty: the evidence of the documents that it is new.

    Parameters
    ----------
    preset : {"default", "paper"} or None, default=None
        The parameter set that replaces every parameter that is None; None is "default".

        "default" is fast and gives short rules: ``n_machines=10, n_clauses=500, T=100, s=10.0,
        epochs=10, boost_true_positive=True, max_literals=16, max_documents=1000, min_df=2,
        rule_min_df=0, calendar=False, fold_copies=True``. "paper" is that of the paper:
        ``n_machines=1, n_clauses=10000, T=50, s=25.0, epochs=100, boost_true_positive=False,
        max_literals=0, max_documents=0, min_df=1, rule_min_df=1, calendar=True,
        fold_copies=False``.
        ``docs/words.md`` says how the default was chosen.
    n_machines : int, optional
        The number of machines, up to 1,000. Each of several is trained on its own 70 % of the
        documents of each side. A fifth of the documents is held out of all of them: rules are
        measured on these. A single machine is trained on all documents.
    n_clauses, T, s, epochs, boost_true_positive : optional
        Those of `TsetlinMachineClassifier`; clauses are counted for each of the two classes.
    max_literals : int, optional
        The maximum number of words in a rule; 0 for no limit.
    max_documents : int, optional
        The maximum number of documents of each side that a machine is trained on, drawn at random;
        0 for no limit. Evidence, counts and themes always come from all documents.
    rule_min_df : int, optional
        Rules use only words of at least so many documents; 0 is a two-hundredth of the documents,
        but at most 8. Rarer words are ranked, too. Without them, training is faster and rules
        depend less on chance.
    language, stop_words, lemmatize, min_df, max_df, max_features, ngram_range, ignore : optional
        Those of `TextVectorizer`. To keep all words, pass ``stop_words=()``.
    calendar : bool, optional
        Keep calendar words, numbers, time zones and single letters. They are new in every
        comparison of periods; without them, ``set_aside_`` says which words these are.
    fold_copies : bool, optional
        Count copied documents and passages once as evidence; see `newfound.text.copies`.
    redact : bool, default=False
        Whether numbers, e-mail addresses and URLs are replaced in all texts that it learns from or
        explains; see `newfound.redact`.
    shared_low, shared_high : float, optional
        A word that both sides use is known up to the one score, novel from the other on, and
        common in between; 0.25 and 4.
    n_jobs : int or None, default=None
        The number of threads; None is 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        The seed: the same one gives the same result.
    verbose : int, default=0
        1 prints a line for each epoch on standard error.

    Attributes
    ----------
    words_ : WordTable
        All words with their novelty and their scores, the most novel first.
    themes_ : ThemeTuple
        What is new as a few themes, each with words, rules and documents, the one that explains
        most first: a tuple of `Theme` that is also a table. Found when first asked for.
    unexplained_ : float
        The share of the novelty that no theme explains; nan if no word is novel.
    timeline_ : Timeline, CountedTimeline or None
        The dates of the documents in bins of a day, a week or a month; None without dates. Of a
        stream, the documents of words and themes in these bins.
    clauses_ : ClauseTable
        The rules of all machines, duplicates merged: those with a plain word first, sorted by how
        well they separate the two sides.
    phrases_ : Table
        Words that rules use together and that occur together, the strongest first; see
        `newfound.description.phrases.find_phrases`.
    set_aside_ : dict of str to str
        The calendar words, numbers, time zones and letters that were left out, with their kind.
    copies_ : Copies or None
        Copied documents and passages, which count once as evidence; None if `fold_copies` is off,
        and in a describer that was loaded.
    machines_ : tuple of TsetlinMachineClassifier
        The machines; empty in a describer that was loaded without its automata.
    n_machines_ : int
        The number of machines that were trained.
    corpus_ : Corpus or None
        The documents that it was fitted on; None in a describer that was loaded.
    vectorizer_ : TextVectorizer
        Splits texts into words.
    n_documents_ : dict of str to int
        The number of "known" and "novel" documents that it was fitted on.
    classes_ : ndarray of str
        "known" and "novel".
    parameters_ : dict
        Every parameter that `fit` used, with those of the preset.
    all_clauses_ : ClauseTable
        The clauses of all machines, one machine after the other, in the order of learning.
    document_counts_ : (2, n_words) ndarray of int
        The number of known and of novel documents with each word of the vocabulary.
    evidence_ : Evidence
        The evidence of the documents for each word of the vocabulary.
    calibration_ : VerdictCalibration or None
        The probability of novel for the words of a text and the votes of the machines, from
        documents that were held out; None if there were none, as for a single machine.
    seconds_ : dict of str to float
        How long "learning" took; empty in a describer that was loaded.
    names_ : Names
        What the known and the novel documents are called in explanations; it can be set.

    Examples
    --------
    >>> known = [f"{who} took a wicket in the {when} over" for who in ("Ann", "Bob", "Cy")
    ...          for when in ("first", "third", "sixth", "ninth", "last")]
    >>> novel = [f"{who} scored a try after the {when} scrum" for who in ("Ann", "Bob", "Cy")
    ...          for when in ("first", "third", "sixth", "ninth", "last")]
    >>> describer = NoveltyDescriber(n_machines=3, n_clauses=20, T=5, random_state=1)
    >>> describer = describer.fit(known + novel, ["known"] * 15 + ["novel"] * 15)
    >>> sorted(describer.words_["word"][:3].tolist())
    ['scored', 'scrum', 'try']
    >>> describer.explain("Bob scored a try from the scrum").verdict
    'novel'
    """

    phrases_: Table
    machines_: tuple[TsetlinMachineClassifier, ...]
    n_documents_: dict[str, int]
    classes_: NDArray[np.str_]
    parameters_: dict[str, Any]
    document_counts_: NDArray[np.int64]
    seconds_: dict[str, float]

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
        max_documents: int | None = None,
        rule_min_df: int | None = None,
        language: str | None = None,
        stop_words: str | Iterable[str] | None = None,
        lemmatize: bool | None = None,
        min_df: float | None = None,
        max_df: float | None = None,
        max_features: int | None = None,
        ngram_range: tuple[int, int] | None = None,
        ignore: str | None = None,
        calendar: bool | None = None,
        fold_copies: bool | None = None,
        redact: bool = False,
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
        self.max_documents = max_documents
        self.rule_min_df = rule_min_df
        self.language = language
        self.stop_words = stop_words
        self.lemmatize = lemmatize
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.ngram_range = ngram_range
        self.ignore = ignore
        self.calendar = calendar
        self.fold_copies = fold_copies
        self.redact = redact
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
        dates: Iterable[Any] | None = None,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Self:
        """Learn what separates known from novel texts.

        Parameters
        ----------
        X : iterable of str
            The texts; a missing or blank one is left out.
        y : array
            "known" or "novel" for each, or 0 and 1 (novel).
        dates : iterable, optional
            The date of each text, for `curve`; None where it is missing.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch of a machine, which counts the epochs of
            all machines; a true result ends training.

        Returns
        -------
        self
        """
        return self.fit_with(train, X, y, dates=dates, callback=callback)

    def fit_with(
        self,
        train: Train,
        X: Iterable[str],
        y: ArrayLike,
        *,
        dates: Iterable[Any] | None = None,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Self:
        """Learn as `fit`, with another way to train the machines, such as tasks of an engine.

        Parameters
        ----------
        train : callable
            Called as `newfound.machine.committee.train`; it may replace machines in the list.
        X, y, dates, callback
            As in `fit`.

        Returns
        -------
        self
        """
        began = perf_counter()
        parameters = self.resolve_parameters()
        texts, novel, dates = labelled_texts(X, y, dates, redact=self.redact)
        machines = new_machines(
            parameters, self.random_state, n_jobs=self.n_jobs, verbose=self.verbose
        )
        vectorizer = TextVectorizer(**{name: parameters[name] for name in VECTORIZER})
        matrix = vectorizer.fit_transform(texts)
        set_aside: dict[str, str] = {}
        if not parameters["calendar"]:
            matrix, set_aside = without_calendar(vectorizer, matrix, texts)
        parameters["rule_min_df"] = rule_min_df(parameters["rule_min_df"], len(texts))
        training = Training.of(texts, novel, matrix, vectorizer, parameters["rule_min_df"])
        epochs = parameters["epochs"]
        rows = train(
            machines,
            training.narrow,
            novel,
            epochs,
            n_jobs=self.n_jobs,
            callback=callback,
            most=parameters["max_documents"] or None,
        )
        self.vectorizer_, self.parameters_ = vectorizer, parameters
        self.set_aside_, self.timeline_ = set_aside, timeline_of(dates)
        begun = [number for number, mine in enumerate(rows) if len(mine)]
        self._find([machines[k] for k in begun], [rows[k] for k in begun], training)
        self.seconds_ = {"learning": perf_counter() - began}
        return self

    def partial_fit(
        self,
        X: Iterable[str],
        y: ArrayLike,
        *,
        dates: Iterable[Any] | None = None,
        epochs: int = 1,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Self:
        """Continue training, with the vocabulary known so far; the first call is a `fit`.

        Counts of documents, also of those that rules match, are then those of this call.
        Parameters are those of `fit`, except `n_jobs` and `verbose`.

        Parameters
        ----------
        X, y, dates
            As in `fit`.
        epochs : int, default=1
            The number of passes over these texts; ignored in the first call.
        callback : callable, optional
            As in `fit`.

        Returns
        -------
        self
        """
        if not hasattr(self, "clauses_"):
            return self.fit(X, y, dates=dates, callback=callback)
        if not self.machines_:
            raise ValueError(
                "This describer has no automata, so training cannot continue; save it with its "
                "automata, or fit it again."
            )
        began = perf_counter()
        texts, novel, dates = labelled_texts(X, y, dates, redact=self.redact)
        matrix, least = self.vectorizer_.transform(texts), int(self.parameters_["rule_min_df"])
        training = Training.of(texts, novel, matrix, self.vectorizer_, least)
        for machine in self.machines_:
            machine.verbose = self.verbose
        options: dict[str, Any] = {"n_jobs": self.n_jobs, "callback": callback, "first": False}
        options["most"] = self.parameters_["max_documents"] or None
        rows = train(self.machines_, training.narrow, novel, epochs, **options)
        self.timeline_ = timeline_of(dates)
        self._find(self.machines_, rows, training)
        self.seconds_ = {"learning": perf_counter() - began}
        return self

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

    def resolve_parameters(self) -> dict[str, Any]:
        """Return all parameters, with those of the preset for those that are None.

        A ValueError names the first one that has an impossible value.

        Examples
        --------
        >>> NoveltyDescriber(preset="paper", T=20).resolve_parameters()["T"]
        20
        """
        parameters = resolve(self.preset, self.get_params(deep=False))
        if parameters["max_literals"] == 0:
            parameters["max_literals"] = None
        check_parameters({**self.get_params(deep=False), **parameters})
        return parameters

    def _find(
        self,
        machines: Sequence[TsetlinMachineClassifier],
        rows: Sequence[NDArray[np.intp]],
        training: Training,
    ) -> None:
        """Set the attributes from trained machines and their documents."""
        fold = bool(self.parameters_["fold_copies"])
        found = findings(machines, rows, training, self.vectorizer_, fold=fold)
        self.machines_, self.n_machines_ = tuple(machines), len(machines)
        self.classes_, self.corpus_ = np.array(SIDES), found.corpus
        self.n_documents_ = dict(zip(SIDES, found.clauses.n_documents, strict=True))
        self.document_counts_, self.evidence_ = found.documents, found.evidence
        self.phrases_, self.copies_ = found.phrases, found.copies
        self.calibration_ = found.calibration
        self._derive(found.clauses)

    def _derive(self, clauses: ClauseTable) -> None:
        """Set the words and the rules from the clauses of all machines."""
        self.all_clauses_ = clauses
        self._forget()
        self.clauses_ = clauses.fold().sorted(plain_first=True)
        self.words_ = word_table(
            clauses,
            self.n_machines_,
            self.document_counts_,
            self.evidence_,
            self.vectorizer_.forms_,
            self.parameters_,
        )

    def to_state(self, *, with_automata: bool = False) -> dict[str, Any]:
        """Return what a model file keeps: nested plain values and arrays."""
        check_is_fitted(self, "clauses_")
        if with_automata and not self.machines_:
            raise ValueError("This describer has no automata to save; save it without them.")
        parts = DescriberParts(
            parameters=self.get_params(deep=False),
            chosen=self.parameters_,
            vectorizer=self.vectorizer_,
            n_documents=(self.n_documents_["known"], self.n_documents_["novel"]),
            n_machines=self.n_machines_,
            table=self.all_clauses_,
            documents=self.document_counts_,
            evidence=self.evidence_,
            phrases=self.phrases_,
            machines=self.machines_ if with_automata else (),
            set_aside=self.set_aside_,
            calibration=self.calibration_,
            names=self.names_,
            **self._in_order_of_sides(),
        )
        return describer_state(parts)

    def _in_order_of_sides(self) -> dict[str, Any]:
        """Return themes and timeline with the known documents first: the order of `remember`."""
        if self.corpus_ is None:
            return {"themes": self._themes, "timeline": self.timeline_}
        order = np.argsort(self.corpus_.novel, kind="stable")
        timeline = self.timeline_
        if isinstance(timeline, Timeline):
            timeline = Timeline(timeline.dates[order], timeline.by)
        ranks = np.argsort(order)
        # Of a sample, the documents of each side are numbered as the first ones of all.
        left_out = self.n_documents_["known"] - int((~self.corpus_.novel).sum())
        ranks[self.corpus_.novel] += left_out
        return {"themes": self._themes.renumbered(ranks), "timeline": timeline}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the describer of a state that `to_state` made; a ValueError says what is wrong."""
        return cls.from_parts(describer_from_state(Fields(state), cls().get_params(deep=False)))

    @classmethod
    def from_parts(cls, parts: DescriberParts, corpus: Corpus | None = None) -> Self:
        """Return a describer that has learned elsewhere, with documents for examples if given."""
        describer = cls(**parts.parameters)
        describer.parameters_, describer.vectorizer_ = parts.chosen, parts.vectorizer
        describer.classes_, describer.corpus_ = np.array(SIDES), corpus
        describer.n_documents_ = dict(zip(SIDES, parts.n_documents, strict=True))
        describer.machines_, describer.n_machines_ = parts.machines, parts.n_machines
        describer.document_counts_, describer.evidence_ = parts.documents, parts.evidence
        describer.phrases_, describer.seconds_ = parts.phrases, {}
        describer.set_aside_, describer.copies_ = parts.set_aside, None
        describer.timeline_, describer.calibration_ = parts.timeline, parts.calibration
        describer.names_ = parts.names
        describer._derive(parts.table)
        describer._themes = parts.themes
        return describer

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "clauses_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_class = False
        return tags
