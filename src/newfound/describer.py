"""From two piles of documents to the words and rules that tell them apart."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator  # type: ignore[import-untyped,unused-ignore]
from sklearn.utils.validation import (  # type: ignore[import-untyped,unused-ignore]
    check_is_fitted,
)

from newfound.clauses import SIDES, ClauseTable
from newfound.context import Context, ContextIndex, ContextMatrix
from newfound.documents import DocumentError, as_documents
from newfound.explanation import Explanation, Mention
from newfound.labelled import check_matrix, labelled_texts
from newfound.machine import Clauses, EpochInfo, TsetlinMachineClassifier
from newfound.presets import resolve
from newfound.scoring import shared_role
from newfound.state import (
    array_from_state,
    clauses_from_state,
    clauses_state,
    count_from_state,
    machine_from_state,
    machine_state,
    vectorizer_from_state,
    vectorizer_state,
)
from newfound.text import TextVectorizer
from newfound.words import WordTable

__all__ = ["NoveltyDescriber", "describe"]

_MACHINE = ("n_clauses", "T", "s", "epochs", "boost_true_positive", "max_literals")
_VECTORIZER = (
    "language", "stop_words", "lemmatize", "min_df", "max_df", "max_features", "ngram_range",
)  # fmt: skip


class NoveltyDescriber(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Describe what is new in novel documents, against known ones.

    A Tsetlin Machine learns rules that tell the two apart; each word is scored by the role it
    plays in them.

    Parameters
    ----------
    preset : {"default", "paper"} or None, default=None
        Where every parameter that is None comes from; None is "default".

        "default" is fast and gives short rules: ``n_clauses=1000, T=200, s=10.0, epochs=20,
        boost_true_positive=True, max_literals=16, min_df=2``. Measured by
        ``python benchmarks/describe_defaults.py`` on BBC Sport, rugby against cricket and football
        (536 documents): 2.4 s on one thread, 15.2 words a rule; documents held out (3 folds) are
        ranked by the votes with an AUROC of 0.995, by the sum of their words' log scores 0.991, by
        that of the 30 words of the highest score 0.984. T = 50 does much the same there (0.998,
        0.992, 0.980), but too little where the sides are hard to tell apart: 30 words, each planted
        in 5 % of the documents of one random half of two newsgroups, get a mean average precision
        of 0.62, and with T = 200 0.98 (3 seeds).

        "paper" is the setting of the paper: ``n_clauses=10000, T=50, s=25.0, epochs=100,
        boost_true_positive=False, max_literals=0, min_df=1``; 11.2 s for the same documents, and
        76.6 words a rule.
    n_clauses, T, s, epochs, boost_true_positive : optional
        Those of `TsetlinMachineClassifier`; clauses are counted for each of the two classes.
    max_literals : int, optional
        A budget of words for each rule; 0 for none.
    language, stop_words, lemmatize, min_df, max_df, max_features, ngram_range : optional
        Those of `TextVectorizer`. To leave no words out, pass ``stop_words=()``.
    shared_low, shared_high : float, optional
        A word that both sides use is known up to the one score, novel from the other on, and
        common between; 0.25 and 4.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. A file does not keep it.
    random_state : int, RandomState or None, default=None
        The seed: the same one gives the same result.
    verbose : int, default=0
        1 prints a line for each epoch on standard error.

    Attributes
    ----------
    words_ : WordTable
        All words with their scores, the most novel first.
    clauses_ : ClauseTable
        The rules, duplicates folded: those with a plain word first, and of them those that tell
        the two sides apart best.
    machine_ : TsetlinMachineClassifier or None
        The machine; None in a describer that was loaded without its automata.
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
    >>> describer = NoveltyDescriber(n_clauses=20, T=5, random_state=1)
    >>> describer = describer.fit(known + novel, ["known"] * 15 + ["novel"] * 15)
    >>> describer.words_["word"][:2].tolist()
    ['try', 'scrum']
    >>> describer.explain("What a try!").verdict
    'novel'
    """

    words_: WordTable
    clauses_: ClauseTable
    machine_: TsetlinMachineClassifier | None
    vectorizer_: TextVectorizer
    n_documents_: dict[str, int]
    classes_: NDArray[np.str_]
    _chosen: dict[str, Any]  # every parameter that `fit` went by, with what the preset said

    def __init__(
        self,
        *,
        preset: str | None = None,
        n_clauses: int | None = None,
        T: int | None = None,
        s: float | None = None,
        epochs: int | None = None,
        boost_true_positive: bool | None = None,
        max_literals: int | None = None,
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
        self.n_clauses = n_clauses
        self.T = T
        self.s = s
        self.epochs = epochs
        self.boost_true_positive = boost_true_positive
        self.max_literals = max_literals
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
            Called with an `EpochInfo` after each epoch; a true result ends training.

        Returns
        -------
        self
        """
        chosen = self._resolved()
        texts, novel = labelled_texts(X, y)
        machine = self._new_machine(chosen)
        machine._check_parameters()
        vectorizer = TextVectorizer(**{name: chosen[name] for name in _VECTORIZER})
        matrix = vectorizer.fit_transform(texts)
        check_matrix(matrix, novel)
        machine.fit(matrix, np.array(SIDES)[novel.astype(int)], callback=callback)
        self.machine_, self.vectorizer_, self._chosen = machine, vectorizer, chosen
        return self._describe(machine.clauses_, matrix, novel)

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
        if self.machine_ is None:
            raise ValueError(
                "This describer has no automata, so training cannot go on; save it with its "
                "automata, or fit anew."
            )
        texts, novel = labelled_texts(X, y)
        matrix = self.vectorizer_.transform(texts)
        check_matrix(matrix, novel)
        labels = np.array(SIDES)[novel.astype(int)]
        self.machine_.set_params(n_jobs=self.n_jobs, verbose=self.verbose)
        self.machine_.partial_fit(matrix, labels, epochs=epochs, callback=callback)
        return self._describe(self.machine_.clauses_, matrix, novel)

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

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the describer to a file; the options are those of `newfound.persistence.save`."""
        from newfound.persistence import save

        check_is_fitted(self, "clauses_")
        save(self, path, **options)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a describer from a file."""
        from newfound.persistence import load

        loaded = load(path)
        if not isinstance(loaded, cls):
            raise ValueError(f"{path} holds a {type(loaded).__name__}, not a {cls.__name__}.")
        return loaded

    def _resolved(self) -> dict[str, Any]:
        """Fill in what the preset says, and check what nobody else checks."""
        chosen = resolve(self.preset, self.get_params(deep=False))
        if chosen["max_literals"] == 0:
            chosen["max_literals"] = None
        shared_role([], chosen["shared_low"], chosen["shared_high"])
        return chosen

    def _new_machine(self, chosen: Mapping[str, Any]) -> TsetlinMachineClassifier:
        return TsetlinMachineClassifier(
            **{name: chosen[name] for name in _MACHINE},
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=self.verbose,
        )

    def _describe(self, clauses: Clauses, matrix: Any, novel: NDArray[np.bool_]) -> Self:
        """Keep the clauses and the document counts, and derive the rest from them."""
        rows = novel.astype(np.int64)
        documents = np.stack((matrix.T @ (1 - rows), matrix.T @ rows))
        self.classes_ = np.array(SIDES)
        self.n_documents_ = {"known": int((~novel).sum()), "novel": int(novel.sum())}
        self._restore(clauses, documents)
        return self

    def _restore(self, clauses: Clauses, documents: NDArray[np.int64]) -> None:
        sizes = (self.n_documents_["known"], self.n_documents_["novel"])
        table = ClauseTable(clauses, list(self.vectorizer_.vocabulary_), n_documents=sizes)
        self._table, self._documents = table, documents
        self.__dict__.pop("_context", None)
        self.clauses_ = table.fold().sorted(plain_first=True)
        self.words_ = WordTable.from_clauses(
            table,
            documents,
            self.vectorizer_.forms_,
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

    def _state(self, *, with_automata: bool = False) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give all that a file has to keep: what JSON can hold, and arrays."""
        check_is_fitted(self, "clauses_")
        parameters, chosen = (
            {name: value.item() if isinstance(value, np.generic) else value for name, value in kept}
            for kept in (self.get_params(deep=False).items(), self._chosen.items())
        )
        for words in (parameters, chosen):
            if not isinstance(words["stop_words"], str | None):
                words["stop_words"] = sorted(self.vectorizer_.stop_words_)
        if not isinstance(parameters["random_state"], int | None):
            parameters["random_state"] = None  # a generator has no place in a file
        parameters["n_jobs"] = None  # a matter of the computer, not of the model
        meta: dict[str, Any] = {
            "parameters": parameters,
            "chosen": chosen,
            "n_documents": self.n_documents_,
        }
        meta["vectorizer"], arrays = vectorizer_state(self.vectorizer_)
        meta["clauses"], more = clauses_state(self._table.arrays)
        arrays |= more
        arrays["documents"] = self._documents
        if with_automata:
            if self.machine_ is None:
                raise ValueError("This describer has no automata to save; save it without them.")
            meta["machine"], more = machine_state(self.machine_)
            arrays |= more
        return meta, arrays

    @classmethod
    def _from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make a describer of what `_state` gave."""
        parameters, chosen = dict(meta["parameters"]), dict(meta["chosen"])
        for kept in (parameters, chosen):
            if kept.get("ngram_range") is not None:
                kept["ngram_range"] = tuple(kept["ngram_range"])
        if not isinstance(parameters.get("random_state"), int | None):
            raise ValueError("The model is damaged: its seed is not a number.")
        # How many threads to start is not for a file to say.
        self = cls(**{**parameters, "n_jobs": None})
        # What the presets of this version say counts only for a parameter that is newer.
        presets = resolve(self.preset, parameters)
        if not set(chosen) <= set(presets):
            raise ValueError("The model has parameters that this version does not know.")
        self._chosen = {**presets, **chosen}
        shared_role([], self._chosen["shared_low"], self._chosen["shared_high"])
        machine = self._new_machine(self._chosen)
        machine._check_parameters()
        self.classes_ = np.array(SIDES)
        n_documents = [count_from_state(meta["n_documents"], side) for side in SIDES]
        self.n_documents_ = dict(zip(SIDES, n_documents, strict=True))
        self.vectorizer_ = vectorizer_from_state(
            meta["vectorizer"], arrays, {name: self._chosen[name] for name in _VECTORIZER}
        )
        clauses = clauses_from_state(meta["clauses"], arrays)
        shape = (2, clauses.n_features)
        documents = array_from_state(arrays, "documents", np.int64, shape, most=max(n_documents))
        self._restore(clauses, documents)
        matches = (self._table.matches_known, self._table.matches_novel)
        for n, *counts in zip(n_documents, documents, matches, strict=True):
            if any(count.max(initial=0) > n for count in counts):
                raise ValueError("The model is damaged: it counts more documents than there are.")
        self.machine_ = None
        if "machine" in meta:
            self.machine_ = machine_from_state(
                meta["machine"], arrays, machine, self.classes_, clauses
            )
        return self

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
    callback: Callable[[EpochInfo], bool | None] | None = None,
    **parameters: Any,
) -> NoveltyDescriber:
    """Describe what is new in novel documents, against known ones.

    Parameters
    ----------
    known, novel : iterable of str, series, frame or Documents
        The documents of each side; what `newfound.documents.as_documents` takes.
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
    texts: list[str] = []
    labels: list[str] = []
    for side, documents in (("known", known), ("novel", novel)):
        try:
            found = as_documents(documents)
        except DocumentError as error:
            raise DocumentError(f"{side}: {error}") from error
        texts += found.texts
        labels += [side] * len(found)
    return describer.fit(texts, labels, callback=callback)
