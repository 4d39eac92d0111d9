"""The describer: what is new in novel documents, compared with known ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from time import perf_counter
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (  # type: ignore[import-untyped,unused-ignore]
    BaseEstimator,
    ClassifierMixin,
    TransformerMixin,
)
from sklearn.utils.validation import (  # type: ignore[import-untyped,unused-ignore]
    check_is_fitted,
)

from newfound.description.calibration import VerdictCalibration
from newfound.description.description import Description
from newfound.description.learning import (
    VECTORIZER,
    check_parameters,
    described,
    resolve,
    without_calendar,
)
from newfound.description.novelty import Evidence
from newfound.description.state import description_from_state, description_state
from newfound.description.timeline import Timeline, timeline_of
from newfound.description.words import WordTable
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.committee import Train, new_machines, rule_columns, rule_min_df, train
from newfound.machine.native import EpochInfo
from newfound.rules import ClauseTable
from newfound.sides import SIDES, Names
from newfound.storage.fields import Fields
from newfound.storage.model_file import load_model, save_model
from newfound.stories.themes import LooseWord, ThemeTuple
from newfound.table import Table
from newfound.text.copies import Copies
from newfound.text.corpus import Corpus
from newfound.text.documents import as_sides
from newfound.text.validation import check_matrix, check_texts, is_novel, labelled_texts
from newfound.text.vectorizer import TextVectorizer

__all__ = ["NoveltyDescriber"]

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


class Held(Generic[T]):
    """An attribute of an estimator that its description holds, by the same name without ``_``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, describer: None, owner: type) -> Self: ...
    @overload
    def __get__(self, describer: NoveltyDescriber, owner: type) -> T: ...
    def __get__(self, describer: NoveltyDescriber | None, owner: type) -> Self | T:
        if describer is None:
            return self
        if "description_" not in vars(describer):
            check_is_fitted(describer)  # raises
        value: T = getattr(describer.description_, self.name[:-1])
        return value

    def __set__(self, describer: NoveltyDescriber, value: T) -> None:
        check_is_fitted(describer)
        changed: dict[str, Any] = {self.name[:-1]: value}
        describer.description_ = replace(describer.description_, **changed)


def answered(
    method: Callable[Concatenate[Description, P], R],
) -> Callable[Concatenate[Any, P], R]:
    """Return the method of an estimator that its description answers."""

    @wraps(method)
    def answer(self: Any, /, *args: P.args, **options: P.kwargs) -> R:
        check_is_fitted(self)
        return method(self.description_, *args, **options)

    return answer


class NoveltyDescriber(TransformerMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
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
        ``lab/notes/word-ranking.md`` says how the default was chosen.
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
    themes : {"few", "default", "many"} or int, default="default"
        How fine themes are, or how many there are at most.
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
    description_ : Description
        What was learned. What it has is an attribute of the describer, too, with ``_`` after its
        name: ``words_``, ``themes_``, ``gone_``, ``loose_``, ``unexplained_``, ``timeline_``,
        ``clauses_``, ``phrases_``, ``set_aside_``, ``copies_``, ``n_machines_``, ``corpus_``,
        ``vectorizer_``, ``n_documents_``, ``parameters_``, ``all_clauses_``,
        ``document_counts_``, ``evidence_``, ``calibration_``, ``seconds_``, ``names_`` and
        ``mixture_``. Setting one replaces the description.
    machines_ : tuple of TsetlinMachineClassifier
        The machines; empty in a describer that was loaded without its automata.
    classes_ : ndarray of str
        "known" and "novel".

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

    machines_: tuple[TsetlinMachineClassifier, ...]
    classes_: NDArray[np.str_]
    description_: Description

    words_ = Held[WordTable]()
    themes_ = Held[ThemeTuple]()
    gone_ = Held[ThemeTuple]()
    loose_ = Held[tuple[LooseWord, ...]]()
    unexplained_ = Held[float]()
    timeline_ = Held[Timeline | None]()
    clauses_ = Held[ClauseTable]()
    phrases_ = Held[Table]()
    set_aside_ = Held[dict[str, str]]()
    copies_ = Held[Copies | None]()
    n_machines_ = Held[int]()
    corpus_ = Held[Corpus | None]()
    vectorizer_ = Held[TextVectorizer]()
    n_documents_ = Held[dict[str, int]]()
    parameters_ = Held[dict[str, Any]]()
    all_clauses_ = Held[ClauseTable]()
    document_counts_ = Held[NDArray[np.int64]]()
    evidence_ = Held[Evidence]()
    calibration_ = Held[VerdictCalibration | None]()
    seconds_ = Held[dict[str, float]]()
    names_ = Held[Names]()
    mixture_ = Held[Any]()

    context = answered(Description.context)
    context_matrix = answered(Description.context_matrix)
    senses = answered(Description.senses)
    curve = answered(Description.curve)
    explain = answered(Description.explain)
    report = answered(Description.report)
    transform = answered(Description.transform)
    get_feature_names_out = answered(Description.get_feature_names_out)
    spellings = answered(Description.spellings)

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
        themes: str | int = "default",
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
        self.themes = themes
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
        """Learn as `fit`; `train` replaces `newfound.machine.committee.train`, as for an engine."""
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
        self._learn(
            train, machines, Corpus.without_votes(texts, novel, matrix), vectorizer, parameters,
            dates, began, epochs=parameters["epochs"], callback=callback, set_aside=set_aside,
        )  # fmt: skip
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
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, dates=dates, callback=callback)
        if not self.machines_:
            raise ValueError(
                "This describer has no automata, so training cannot continue; save it with its "
                "automata, or fit it again."
            )
        began = perf_counter()
        texts, novel, dates = labelled_texts(X, y, dates, redact=self.redact)
        last = self.description_
        corpus = Corpus.without_votes(texts, novel, last.vectorizer.transform(texts))
        for machine in self.machines_:
            machine.verbose = self.verbose
        self._learn(
            train, list(self.machines_), corpus, last.vectorizer, last.parameters, dates, began,
            epochs=epochs, callback=callback, first=False, set_aside=last.set_aside,
            names=last.names,
        )  # fmt: skip
        return self

    def _learn(
        self,
        train: Train,
        machines: list[TsetlinMachineClassifier],
        corpus: Corpus,
        vectorizer: TextVectorizer,
        parameters: dict[str, Any],
        dates: Iterable[Any] | None,
        began: float,
        *,
        epochs: int,
        callback: Callable[[EpochInfo], bool | None] | None,
        first: bool = True,
        **more: Any,
    ) -> None:
        """Train machines on documents, and hold the description of what they learned."""
        check_matrix(corpus.matrix, corpus.novel)
        columns = rule_columns(vectorizer.document_frequencies_, int(parameters["rule_min_df"]))
        narrow, most = corpus.matrix[:, columns], parameters["max_documents"] or None
        rows = train(
            machines, narrow, corpus.novel, epochs,
            n_jobs=self.n_jobs, callback=callback, most=most, first=first,
        )  # fmt: skip
        begun = [k for k, mine in enumerate(rows) if len(mine) or not first]
        self.machines_, self.classes_ = tuple(machines[k] for k in begun), np.array(SIDES)
        description = described(
            self.machines_, [rows[k] for k in begun], corpus, columns, narrow, vectorizer,
            parameters, given=self.get_params(deep=False), timeline=timeline_of(dates), **more,
        )  # fmt: skip
        self.description_ = replace(description, seconds={"learning": perf_counter() - began})

    def predict(self, texts: Iterable[str]) -> NDArray[np.str_]:
        """Return the verdict of `explain` for each text.

        Parameters
        ----------
        texts : iterable of str
            Any texts.

        Returns
        -------
        ndarray of str
            "known" or "novel"; another word if the text cannot be judged.
        """
        return np.array([self.explain(text).verdict for text in check_texts(texts)], dtype=np.str_)

    def score(self, X: Iterable[str], y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict`; a text that cannot be judged is an error.

        Parameters
        ----------
        X : iterable of str
            Any texts.
        y : array
            "known" or "novel" for each, or 0 and 1 (novel).
        sample_weight : array, optional
            The weight of each text.

        Returns
        -------
        float
        """
        predicted = self.predict(X).tolist()
        expected = [SIDES[is_novel(label)] for label in np.asarray(y).tolist()]
        if len(expected) != len(predicted):
            raise ValueError(
                f"y has {len(expected):,} labels for {len(predicted):,} texts; pass one for each."
            )
        right = [a == b for a, b in zip(predicted, expected, strict=True)]
        return float(np.average(right, weights=sample_weight))

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
        check_is_fitted(self)
        sides = as_sides(known, novel, redact=self.redact)
        texts = [text for documents in sides.values() for text in documents.texts]
        matrix = self.vectorizer_.transform(texts)
        is_new = np.arange(len(texts)) >= len(sides["known"])
        self.corpus_ = Corpus.without_votes(texts, is_new, matrix)
        return self

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        with_automata: bool = False,
        force: bool = False,
    ) -> None:
        """Write the describer to a file; the options are those of `newfound.save`."""
        check_is_fitted(self)
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

    def to_state(self, *, with_automata: bool = False) -> dict[str, Any]:
        """Return what a model file keeps: nested plain values and arrays."""
        check_is_fitted(self)
        if with_automata and not self.machines_:
            raise ValueError("This describer has no automata to save; save it without them.")
        description = replace(self.description_, given=self.get_params(deep=False))
        return description_state(description, self.machines_ if with_automata else ())

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Return the describer of a state that `to_state` made; a ValueError says what is wrong."""
        names = cls().get_params(deep=False)
        return cls.from_description(*description_from_state(Fields(state), names))

    @classmethod
    def from_description(
        cls, description: Description, machines: tuple[TsetlinMachineClassifier, ...] = ()
    ) -> Self:
        """Return a describer that holds a description, and the machines that are to learn more."""
        describer = cls(**description.given)
        describer.description_, describer.machines_ = description, machines
        describer.classes_ = np.array(SIDES)
        return describer

    def __sklearn_is_fitted__(self) -> bool:
        return "description_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_class = False
        return tags
