"""The corpora of the suites for words, and what machines learn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.datasets import load_20newsgroups, load_abcnews, load_bbcsport, load_clinc150
from lab.evaluation.planting import (
    PlantedPairs,
    PlantedWords,
    plant_pairs,
    plant_words,
    random_halves,
)
from lab.evaluation.suites import SuiteSetting
from newfound.description.learning import resolve
from newfound.description.scores import word_scores
from newfound.machine.committee import Learned, new_machines, read, rule_columns, rule_min_df, train
from newfound.rules import ClauseTable
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "LEMMAS",
    "Corpus",
    "Headlines",
    "Matrix",
    "Setting",
    "bags_of_words",
    "fitted_words",
    "learned_rules",
]

GROUPS = ("comp.graphics", "talk.politics.guns", "rec.sport.baseball")
LEMMAS = ("texts", "dictionary", "none")
Matrix = Any


def bags_of_words(texts: Sequence[str], lemmas: str = "texts") -> Matrix:
    """Return the Boolean bags of words of texts, rare words included.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    lemmas : {"texts", "dictionary", "none"}, default="texts"
        Lemmas of the dictionary corrected by the texts, as a describer has them; those of the
        dictionary alone; or each form as its own word.

    Examples
    --------
    >>> texts = ["Rugby matches", "A rugby match"]
    >>> [bags_of_words(texts, lemmas).shape[1] for lemmas in LEMMAS]
    [2, 2, 3]
    """
    vectorizer = TextVectorizer(min_df=1, lemmatize=lemmas != "none")
    if lemmas == "dictionary":
        # A vectorizer that has seen no text with several forms has no corrections to pass on.
        return vectorizer.fit(["word"]).fitted_on(texts).transform(texts)
    return vectorizer.fit_transform(texts)


@dataclass(frozen=True)
class Corpus:
    """Boolean bags of words, which documents are novel, and the splits if there are any."""

    matrix: Matrix
    novel: NDArray[np.bool_]
    texts: tuple[str, ...]
    splits: NDArray[np.str_] | None = None

    @classmethod
    def of(
        cls,
        texts: tuple[str, ...],
        novel: NDArray[np.bool_],
        splits: NDArray[np.str_] | None = None,
        lemmas: str = "texts",
    ) -> Corpus:
        """Split texts into words; see `bags_of_words`."""
        return cls(bags_of_words(texts, lemmas), novel, texts, splits)


@dataclass(frozen=True)
class Headlines:
    """Boolean bags of words of dated headlines, and the month of each as ``YYYY-MM``."""

    matrix: Matrix
    months: NDArray[np.str_]


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suites, and the corpora that they use.

    Attributes
    ----------
    seeds : int
        The number of seeds.
    parameters : mapping
        Parameters of the describer that are not the default ones.
    lemmas : {"texts", "dictionary", "none"}
        The lemmas of the words; see `bags_of_words`.
    """

    seeds: int = 5
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lemmas: str = "texts"

    @cached_property
    def bbcsport(self) -> Corpus:
        """Cricket and football are known, rugby is novel."""
        corpus = load_bbcsport(self.data).only("cricket", "football", "rugby")
        novel = np.array(corpus.labels) == "rugby"
        return Corpus.of(corpus.texts, novel, lemmas=self.lemmas)

    @cached_property
    def newsgroups(self) -> Corpus:
        """Graphics and guns are known, baseball is novel; without headers."""
        corpus = load_20newsgroups(self.data, remove=("headers",)).only(*GROUPS)
        novel = np.array(corpus.labels) == GROUPS[2]
        return Corpus.of(corpus.texts, novel, np.array(corpus.splits), lemmas=self.lemmas)

    @cached_property
    def requests(self) -> Corpus:
        """Requests of CLINC150: banking is known, travel is novel."""
        corpus = load_clinc150(self.data)
        domains = np.array(corpus.domains)
        rows = np.flatnonzero(np.isin(domains, ["banking", "travel"]))
        texts = tuple(corpus.texts[row] for row in rows)
        return Corpus.of(texts, domains[rows] == "travel", lemmas=self.lemmas)

    def topics(self, name: str) -> tuple[Matrix, NDArray[np.str_]]:
        """Return bags of words and the topic of each document: of all intents, or newsgroups."""
        return self._intents if name == "CLINC150" else self._groups

    @cached_property
    def _intents(self) -> tuple[Matrix, NDArray[np.str_]]:
        corpus = load_clinc150(self.data)
        rows = np.flatnonzero(np.array(corpus.labels) != "oos")
        texts = [corpus.texts[row] for row in rows]
        return bags_of_words(texts, self.lemmas), np.array(corpus.labels)[rows]

    @cached_property
    def _groups(self) -> tuple[Matrix, NDArray[np.str_]]:
        corpus = load_20newsgroups(self.data, remove=("headers",))
        return bags_of_words(corpus.texts, self.lemmas), np.array(corpus.labels)

    @cached_property
    def headlines(self) -> Headlines:
        """The headlines of ABC News, with the month of each."""
        found = load_abcnews(self.data)
        months = np.array([str(date)[:7] for date in found.dates or ()])
        return Headlines(bags_of_words(found.texts, self.lemmas), months)

    def month(self, month: str) -> Corpus:
        """Return the headlines up to a month, with those of the month as novel."""
        rows = np.flatnonzero(self.headlines.months <= month)
        return Corpus(self.headlines.matrix[rows], self.headlines.months[rows] == month, ())

    def halves(self, seed: int, share: float = 0.5) -> tuple[Matrix, NDArray[np.bool_]]:
        """Split the known newsgroups at random, so that nothing is novel."""
        known = self.newsgroups.matrix[~self.newsgroups.novel]
        return known, random_halves(known.shape[0], seed, share)

    def planted_words(self, seed: int, q: float) -> PlantedWords:
        """Return random halves of the known newsgroups with planted words."""
        return plant_words(*self.halves(seed), seed, q)

    def planted_pairs(self, seed: int) -> PlantedPairs:
        """Return random halves of the known newsgroups with planted pairs."""
        return plant_pairs(*self.halves(seed), seed)


def learned_rules(
    setting: Setting, matrix: Matrix, novel: NDArray[np.bool_], seed: int, **parameters: Any
) -> Learned:
    """Train a committee on bags of words as a describer does, and return what it learned."""
    given = {**setting.parameters, **parameters}
    chosen = resolve(given.get("preset"), given)
    chosen["max_literals"] = chosen["max_literals"] or None
    columns = rule_columns(
        np.asarray(matrix.sum(axis=0)).ravel(), rule_min_df(chosen["rule_min_df"], len(novel))
    )
    machines = new_machines(chosen, seed)
    narrow = matrix[:, columns]
    rows = train(
        machines, narrow, novel, chosen["epochs"], n_jobs=setting.n_jobs,
        most=chosen["max_documents"] or None,
    )  # fmt: skip
    learned = read(machines, rows, narrow, novel)
    return learned._replace(clauses=learned.clauses.widened(columns, matrix.shape[1]))


def fitted_words(
    setting: Setting, matrix: Matrix, novel: NDArray[np.bool_], seed: int, **parameters: Any
) -> tuple[ClauseTable, NDArray[np.float64]]:
    """Return all clauses of a committee, and the log scores of the words."""
    learned = learned_rules(setting, matrix, novel, seed, **parameters)
    names = [str(number) for number in range(matrix.shape[1])]
    sizes = (int((~novel).sum()), int(novel.sum()))
    table = ClauseTable(learned.clauses, names, n_documents=sizes, held_out=learned.held_out)
    return table, np.nan_to_num(word_scores(*table.bags()).log_score)
