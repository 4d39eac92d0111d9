"""The score of a text: five parts, compared with its nearest known class.

The nearest class is the one that the rules name, if they name classes about as well as the linear
classifier does (see `newfound.detection.learning`), and the one of the linear classifier otherwise,
and where no rule matches. Four parts are those of `newfound.detection.class_statistics`; the fifth
is minus the strength of the rules of the class. Of each, what is expected of a known document of
that length is subtracted; then it is divided by its spread over known documents and weighted.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.class_rules import ClassRules, RuleScores, learn_rules
from newfound.detection.class_statistics import ClassStatistics, WeightedBags
from newfound.detection.known_groups import KnownGroups, find_known_groups
from newfound.detection.memory import check_memory
from newfound.detection.scales import PARTS, Scales
from newfound.machine.clauses import EpochInfo
from newfound.rules.classifier import RuleClassifier
from newfound.text.bags import BagReader, Bags
from newfound.text.spelling import Spelling
from newfound.text.vectorizer import TextVectorizer

__all__ = ["Contributions", "Scorer", "Scores", "usable_terms"]

_BATCH = 20_000  # texts that are scored at a time,
_MAX_SCORES = 20_000_000  # and at most so many scores of classes
_MAX_WORDS = 1 << 16  # word forms that are remembered
_FEW = 5  # documents of a class whose words are all of use, those of one document too


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
    by_rules : (n_texts,) array of bool
        Whether rules named it; otherwise the linear classifier did.
    novelty : (n_texts,) array
        The sum of the parts: 0 is an average known document of its length, higher is more novel.
    """

    bags: Bags
    parts: NDArray[np.float64]
    nearest: NDArray[np.int64]
    by_rules: NDArray[np.bool_]

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
    """What the terms of one text add to its novelty, rules left out.

    Attributes
    ----------
    by_term : ndarray of float
        What each term of the vocabulary adds.
    by_unseen_word : ndarray of float
        What each word that is not in the vocabulary adds.
    unseen_pair : float
        What each pair that is not in the vocabulary adds.
    """

    by_term: NDArray[np.float64]
    by_unseen_word: NDArray[np.float64]
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
    rules : ClassRules or None
        The rules of the classes; None where there is one class.
    scales : Scales, optional
        How the parts are scaled; without it, they are not.
    correct_typos : bool, default=True
        Whether a word that looks like a typing error is read as the known word; see
        `newfound.text.spelling`.
    by_rules : bool, default=True
        Whether rules name the nearest class.
    groups : KnownGroups, optional
        Groups of the known documents, if there is one class; their rules explain texts.

    Attributes
    ----------
    classes, vectorizer, statistics, rules, scales, by_rules, groups
        As given.
    terms : list of str
        The name of each column.
    """

    def __init__(
        self,
        classes: NDArray[Any],
        vectorizer: TextVectorizer,
        statistics: ClassStatistics,
        rules: ClassRules | None,
        scales: Scales | None = None,
        *,
        correct_typos: bool = True,
        by_rules: bool = True,
        groups: KnownGroups | None = None,
    ) -> None:
        self.classes, self.vectorizer, self.statistics = classes, vectorizer, statistics
        self.rules, self.by_rules = rules, by_rules
        self.scales = scales or Scales.none()
        self.groups = groups
        self.terms = list(vectorizer.vocabulary_)
        self.spelling = Spelling.of(vectorizer) if correct_typos else None
        self._words: dict[str, tuple[str, str | None]] = {}

    @classmethod
    def learn(
        cls,
        texts: list[str],
        codes: NDArray[np.int64],
        classes: NDArray[Any],
        *,
        vectorizer: TextVectorizer,
        classifier: RuleClassifier,
        seed: int,
        scales: Scales | None = None,
        by_rules: bool = True,
        correct_typos: bool = True,
        find_groups: bool = False,
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
        classifier : RuleClassifier
            Not fitted.
        seed : int
            Seed of the linear classifier.
        scales : Scales, optional
            How the parts are scaled.
        by_rules : bool, default=True
            Whether rules name the nearest class.
        correct_typos : bool, default=True
            Whether typing errors are corrected in the texts to score.
        find_groups : bool, default=False
            Whether to find groups of the documents if there is one class.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch of the machine.

        Returns
        -------
        Scorer
        """
        matrix = vectorizer.fit_transform(texts)
        check_memory(vectorizer, len(classes), classifier.n_clauses)
        terms = list(vectorizer.vocabulary_)
        statistics = ClassStatistics(matrix, codes, len(classes), terms, seed=seed)
        usable, groups = usable_terms(statistics), None
        rules = learn_rules(classifier, matrix, codes, len(classes), usable, callback)
        if find_groups and len(classes) == 1:
            groups = find_known_groups(
                matrix, terms, usable, statistics.rarity, classifier=classifier, seed=seed
            )
        return cls(
            classes,
            vectorizer,
            statistics,
            rules,
            scales,
            correct_typos=correct_typos,
            by_rules=by_rules,
            groups=groups,
        )

    @cached_property
    def _reader(self) -> BagReader:
        return BagReader(self.vectorizer, self.spelling)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the caches behind: the reader's holds functions, which cannot be pickled."""
        state = {k: v for k, v in self.__dict__.items() if k != "_reader"}
        return {**state, "_words": {}}

    def read(self, texts: Iterable[str]) -> Bags:
        """Read texts to bags of words and pairs."""
        return self._reader.read(texts)

    def corrected(self, form: str) -> str:
        """Return a word form as it is read: the known spelling of a typing error."""
        return form if self.spelling is None else self.spelling.corrected(form)

    def read_word(self, form: str) -> tuple[str, str | None]:
        """Return a word form as it is read, and its term; None for a word that is left out."""
        found = self._words.get(form)
        if found is None:
            known = self.corrected(form)
            if len(self._words) >= _MAX_WORDS:
                self._words.clear()
            found = self._words[form] = known, self.vectorizer.term(known)
        return found

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
        n, step = len(bags), min(_BATCH, max(_MAX_SCORES // self.statistics.n_classes, 1))
        parts, nearest = np.zeros((n, len(PARTS))), np.zeros(n, np.int64)
        by_rules = np.zeros(n, bool)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            some = bags if n <= step else bags.part(start, min(start + step, n))
            found, nearest[rows], by_rules[rows] = self._parts(some)
            parts[rows] = (found - self.scales.centres(some.n_words)) * self.scales.scale
            if progress is not None:
                progress(min(start + step, n))
        return Scores(bags, parts, nearest, by_rules)

    def score_texts(self, texts: Iterable[str]) -> Scores:
        """Read and score texts."""
        return self.score(self.read(texts))

    def _parts(
        self, bags: Bags
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Return the five parts of each text as they are, its nearest class, and who named it."""
        texts, said = self.statistics.weighted(bags), self._rule_scores(bags)
        nearest, by_rules = self._named(texts, said, by_rules=self.by_rules)
        return self._compared(texts, said, nearest), nearest, by_rules

    def _compared(
        self, texts: WeightedBags, said: RuleScores | None, nearest: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the five parts of each text, compared with its nearest class."""
        n = len(nearest)
        parts = np.empty((n, len(PARTS)))
        parts[:, :-1] = self.statistics.parts(texts, nearest)
        parts[:, -1] = -(np.zeros(n) if said is None else said.strengths(nearest))
        return parts

    def _named(
        self, texts: WeightedBags, said: RuleScores | None, *, by_rules: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the nearest class of each text, and whether rules named it."""
        named = np.full(len(texts.bags), by_rules and said is not None)
        if said is not None:
            named &= said.nearest >= 0
        if said is not None and named.all():
            return said.nearest, named
        nearest = np.zeros(len(named), np.int64) if said is None else said.nearest.copy()
        others = np.flatnonzero(~named)
        nearest[others] = self.statistics.class_scores(texts, others).argmax(axis=1)
        return nearest, named

    def naming(self, *, by_rules: bool) -> Scorer:
        """Return a scorer whose nearest class is named by rules, or by the linear classifier."""
        other = copy.copy(self)
        other.by_rules = by_rules
        return other

    def _rule_scores(self, bags: Bags) -> RuleScores | None:
        if self.rules is None:
            return None
        return self.rules.scores(bags, self.squares_without_rule(bags))

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        """The squared rarity of each word that is no rule, 0 for the others."""
        assert self.rules is not None
        alone = self.rules.without_rule & ~self.statistics.is_pair
        return np.where(alone, self.statistics.rarity**2, 0.0)

    def squares_without_rule(self, bags: Bags) -> NDArray[np.float64]:
        """Return the squared rarity of the words of each text that no rule has."""
        known = np.bincount(bags.rows, self._squares[bags.indices], len(bags))
        squares: NDArray[np.float64] = known + bags.unseen_words * self.statistics.unseen_rarity**2
        return squares

    def votes(self, bags: Bags) -> NDArray[np.int64]:
        """Return the weights of the rules that match, added up, a column for each class."""
        said = self._rule_scores(bags)
        if said is None:
            return np.zeros((len(bags), self.statistics.n_classes), np.int64)
        return said.votes

    @property
    def rule_weight(self) -> float:
        """What the strength of the rules is multiplied by in the novelty."""
        return float(self.scales.scale[PARTS.index("rules")])

    def contributions(
        self,
        columns: NDArray[np.int64],
        unseen_words: Sequence[str],
        unseen_pairs: int,
        nearest: int,
    ) -> Contributions:
        """Attribute the novelty of one text to its terms, rules left out.

        Parameters
        ----------
        columns : ndarray of int
            The terms of the text that are in the vocabulary.
        unseen_words : sequence of str
            The words that are not.
        unseen_pairs : int
            The number of pairs that are not.
        nearest : int
            The nearest class.

        Returns
        -------
        Contributions
        """
        by_term, by_unseen, by_pair = self.statistics.contributions(
            columns, unseen_words, unseen_pairs, nearest
        )
        scale = self.scales.scale[: by_term.shape[1]]
        return Contributions(by_term @ scale, by_unseen @ scale, float(by_pair * scale[-1]))

    def measure(self, bags: Bags, codes: NDArray[np.int64], *, worse: float) -> tuple[bool, Scales]:
        """Return whether rules name classes well, and the scales of the parts.

        Parameters
        ----------
        bags : Bags
            Known documents that this scorer has not learned from.
        codes : ndarray of int
            The index of the class of each.
        worse : float
            By which share rules may name fewer classes right than the linear classifier does.

        Returns
        -------
        by_rules : bool
            Whether rules name classes well.
        scales : Scales
            Of the parts, if the class is named that way.
        """
        texts, said = self.statistics.weighted(bags), self._rule_scores(bags)
        nearest = {
            by_rules: self._named(texts, said, by_rules=by_rules)[0] for by_rules in (True, False)
        }
        right = {by_rules: float((found == codes).mean()) for by_rules, found in nearest.items()}
        chosen = said is not None and right[True] >= right[False] - worse
        parts = self._compared(texts, said, nearest[chosen])
        return chosen, Scales.of_known(parts, bags.n_words, self.statistics.n_classes)

    def measure_scales(self, bags: Bags) -> Scales:
        """Return the scales of the parts over texts that this scorer has not learned from."""
        return Scales.of_known(self._parts(bags)[0], bags.n_words, self.statistics.n_classes)


def usable_terms(statistics: ClassStatistics) -> NDArray[np.bool_]:
    """Return which terms rules may use: words of two documents, or of a class of few documents."""
    few = statistics.class_sizes < _FEW
    usable = (statistics.frequencies >= 2) | (statistics.counts[few] > 0).any(axis=0)
    found: NDArray[np.bool_] = usable & ~statistics.is_pair
    return found
