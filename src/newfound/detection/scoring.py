"""The score of a text: five parts, compared with its nearest known class.

Four parts are those of `newfound.detection.class_statistics`; the fifth is minus the votes of the
rules of the class. Each is centred and divided by its spread over known documents, then weighted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.class_statistics import ClassStatistics
from newfound.detection.rulebank import RuleBank, learn_rules
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import EpochInfo
from newfound.rules import Rule
from newfound.text.bags import BagReader, Bags
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "PARTS",
    "WEIGHTS",
    "Contributions",
    "Scales",
    "Scorer",
    "Scores",
    "pair_columns",
    "usable_terms",
]

PARTS = ("margin", "surprise", "neighbours", "pairs", "rules")

# The weight of each part, in units of its spread over known documents; docs/detect.md says how
# they were chosen.
WEIGHTS = {"margin": 1.0, "surprise": 1.0, "neighbours": 1.0, "pairs": 1.0, "rules": 0.5}

_BATCH = 20_000


@dataclass(frozen=True)
class Scales:
    """How the parts are centred and scaled: ``(parts - centre) * scale`` adds up to the novelty."""

    centre: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, parts: NDArray[np.float64]) -> Scales:
        """Return the scales that give the parts of some texts mean 0 and their weights as spread.

        Examples
        --------
        >>> scales = Scales.of(np.array([[0.0, 1, 2, 3, 4], [2.0, 1, 2, 3, 4]]))
        >>> scales.centre.tolist(), scales.scale.tolist()
        ([1.0, 1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0, 0.5])
        """
        spread, weights = parts.std(axis=0), np.array([WEIGHTS[name] for name in PARTS])
        return cls(parts.mean(axis=0), weights / np.where(spread > 1e-9, spread, 1.0))


@dataclass(frozen=True)
class Scores:
    """Texts that were read and scored.

    Attributes
    ----------
    bags : Bags
        Their words.
    parts : (n_texts, 5) array
        What each part adds to the novelty, in the order of `PARTS`.
    nearest : (n_texts,) array of int
        The index of the nearest class of each.
    novelty : (n_texts,) array
        The sum of the parts: 0 is an average known document, higher is more novel.
    """

    bags: Bags
    parts: NDArray[np.float64]
    nearest: NDArray[np.int64]

    @cached_property
    def novelty(self) -> NDArray[np.float64]:
        """The sum of the parts."""
        # Not a product of matrices, which rounds a single row differently from one among many.
        total: NDArray[np.float64] = self.parts.sum(axis=1)
        return total

    @property
    def has_words(self) -> NDArray[np.bool_]:
        """Which texts have any words; the others cannot be judged."""
        has: NDArray[np.bool_] = self.bags.n_words > 0
        return has

    def __len__(self) -> int:
        return len(self.nearest)


@dataclass(frozen=True)
class Contributions:
    """What the terms of one text add to its novelty, the votes of rules left out.

    Attributes
    ----------
    by_term : ndarray of float
        What each term of the vocabulary adds.
    unseen_word, unseen_pair : float
        What each word and each pair that is not in the vocabulary adds.
    """

    by_term: NDArray[np.float64]
    unseen_word: float
    unseen_pair: float


class Scorer:
    """Reads and scores texts; knows the words, the statistics and the rules of known classes.

    A scorer is not changed once it is made; `newfound.detection.growing` makes another one.

    Parameters
    ----------
    classes : ndarray
        The names of the known classes.
    vectorizer : TextVectorizer
        Fitted, of words and pairs.
    statistics : ClassStatistics
        Of the known documents.
    banks : sequence of RuleBank
        The rules of the classes; empty where there is one class.
    scales : Scales, optional
        How the parts are scaled; without it, they are not.

    Attributes
    ----------
    classes, vectorizer, statistics, banks, scales
        As given.
    terms : list of str
        The name of each column.
    """

    def __init__(
        self,
        classes: NDArray[Any],
        vectorizer: TextVectorizer,
        statistics: ClassStatistics,
        banks: Iterable[RuleBank],
        scales: Scales | None = None,
    ) -> None:
        self.classes, self.vectorizer, self.statistics = classes, vectorizer, statistics
        self.banks = tuple(banks)
        self.scales = scales or Scales(np.zeros(len(PARTS)), np.ones(len(PARTS)))
        self.terms = list(vectorizer.vocabulary_)
        self._rules: dict[int, tuple[Rule, ...]] = {}

    @classmethod
    def learn(
        cls,
        texts: list[str],
        codes: NDArray[np.int64],
        classes: NDArray[Any],
        *,
        vectorizer: TextVectorizer,
        machine: TsetlinMachineClassifier,
        seed: int,
        scales: Scales | None = None,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Scorer:
        """Learn words, statistics and rules from known documents.

        Parameters
        ----------
        texts : list of str
            The known documents.
        codes : ndarray of int
            The index of the class of each.
        classes : ndarray
            The names of the classes.
        vectorizer : TextVectorizer
            Not fitted.
        machine : TsetlinMachineClassifier
            Not fitted.
        seed : int
            Seed of the linear classifier.
        scales : Scales, optional
            How the parts are scaled.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch of the machine.

        Returns
        -------
        Scorer
        """
        matrix = vectorizer.fit_transform(texts)
        pairs = pair_columns(vectorizer)
        statistics = ClassStatistics(matrix, codes, len(classes), pairs, seed=seed)
        bank = learn_rules(machine, matrix, codes, usable_terms(statistics), callback=callback)
        return cls(classes, vectorizer, statistics, () if bank is None else (bank,), scales)

    @cached_property
    def _reader(self) -> BagReader:
        return BagReader(self.vectorizer)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the caches behind: the reader's holds functions, which cannot be pickled."""
        return {k: v for k, v in self.__dict__.items() if k != "_reader"}

    def read(self, texts: Iterable[str]) -> Bags:
        """Read texts to bags of words and pairs."""
        return self._reader.read(texts)

    def score(self, bags: Bags, progress: Callable[[int], None] | None = None) -> Scores:
        """Score texts that were read.

        Parameters
        ----------
        bags : Bags
            What `read` returns.
        progress : callable, optional
            Called after each batch with the number of texts scored so far.

        Returns
        -------
        Scores
        """
        n = len(bags)
        parts, nearest = np.zeros((n, len(PARTS))), np.zeros(n, np.int64)
        for start in range(0, n, _BATCH):
            rows = slice(start, start + _BATCH)
            some = bags if n <= _BATCH else bags.take(np.arange(n)[rows])
            found, nearest[rows] = self._parts(some)
            parts[rows] = (found - self.scales.centre) * self.scales.scale
            if progress is not None:
                progress(min(start + _BATCH, n))
        return Scores(bags, parts, nearest)

    def score_texts(self, texts: Iterable[str]) -> Scores:
        """Read and score texts."""
        return self.score(self.read(texts))

    def _parts(self, bags: Bags) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the five parts of each text as they are, and its nearest class."""
        nearest = self.statistics.class_scores(bags).argmax(axis=1).astype(np.int64)
        votes = self.votes(bags)[np.arange(len(bags)), nearest]
        return np.column_stack((self.statistics.parts(bags, nearest), -votes)), nearest

    def votes(self, bags: Bags) -> NDArray[np.int64]:
        """Return the votes of the rules, a column for each class."""
        votes = np.zeros((len(bags), self.statistics.n_classes), np.int64)
        for bank in self.banks:
            own = bank.classes >= 0
            votes[:, bank.classes[own]] = bank.class_sums(bags.matrix)[:, own]
        return votes

    def rules(self, number: int) -> tuple[Rule, ...]:
        """Return the rules of a class."""
        if number not in self._rules:
            self._rules[number] = tuple(
                rule
                for bank in self.banks
                if number in bank.classes
                for rule in bank.rules(number, self.classes[number], self.terms)
            )
        return self._rules[number]

    @property
    def rule_weight(self) -> float:
        """What one vote takes from the novelty."""
        return float(self.scales.scale[PARTS.index("rules")])

    def contributions(
        self, columns: NDArray[np.int64], unseen_words: int, unseen_pairs: int, nearest: int
    ) -> Contributions:
        """Attribute the novelty of one text to its terms, the votes of rules left out.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text that are in the vocabulary.
        unseen_words, unseen_pairs : int
            The number of words and pairs that are not.
        nearest : int
            The nearest class.

        Returns
        -------
        Contributions
        """
        by_term, by_unseen = self.statistics.contributions(
            columns, unseen_words, unseen_pairs, nearest
        )
        scale = self.scales.scale[: len(by_unseen)]
        return Contributions(
            by_term @ scale,
            float(by_unseen[:3] @ scale[:3]),
            float(by_unseen[3] * scale[3]),
        )

    def measure_scales(self, texts: Iterable[str]) -> Scales:
        """Return the scales of the parts over texts that this scorer has not learned from."""
        return Scales.of(self._parts(self.read(texts))[0])


def pair_columns(vectorizer: TextVectorizer) -> NDArray[np.bool_]:
    """Return which terms of a vectorizer are pairs of words."""
    terms = vectorizer.vocabulary_
    return np.fromiter((" " in term for term in terms), bool, len(terms))


def usable_terms(statistics: ClassStatistics) -> NDArray[np.bool_]:
    """Return which terms rules may use: words of at least two documents."""
    usable: NDArray[np.bool_] = (statistics.frequencies >= 2) & ~statistics.is_pair
    return usable
