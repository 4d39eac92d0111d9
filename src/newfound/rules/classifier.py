"""Classification by rules: ANDs of words with whole numbers as weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from newfound.blas import one_blas_thread
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import Clauses, EpochInfo
from newfound.machine.validation import boolean_csr, check_whole_number, encode_labels

__all__ = ["RuleClassifier", "WeightedRule"]

LARGEST_WEIGHT = 100
_MIN_MATCHES = 5  # of an AND
_MIN_Z = 2.0  # by how much an AND must be purer than its parts, in standard errors
_PARTS_UP_TO = 3  # words: longer parts of an AND are not looked at, as they would be too many
_SCALE = 0.5  # of an AND in the regression; the penalty grows as the inverse square


@dataclass(frozen=True)
class WeightedRule:
    """A rule that matches a document, and what it weighs for a class.

    Attributes
    ----------
    words : tuple of str
        The words that a document must have.
    weight : int
        What the rule adds to the score of the class.

    Examples
    --------
    >>> str(WeightedRule(("credit", "card"), 12))
    'credit AND card: +12'
    """

    words: tuple[str, ...]
    weight: int

    def __str__(self) -> str:
        return f"{' AND '.join(self.words)}: {self.weight:+d}"


class RuleClassifier(ClassifierMixin, BaseEstimator):
    """Classifier by rules: ANDs of words, each with a whole number as weight for some classes.

    A document has the class for which the weights of the rules that match it add up to most. The
    rules are of two kinds: ANDs of words that a Tsetlin Machine learns, with focused negatives and
    without negations, and each word by itself. The machine finds the rules; their weights are
    fitted afterwards, all together, by logistic regression on which rules match which document,
    and rounded. An AND is left out where it matches few documents or says no more than a shorter
    rule of its words; and since it was chosen on these documents, its penalty is four times that of
    a word.

    Parameters
    ----------
    n_clauses : int, default=200
        Number of the machine's clauses for each class. Must be even.
    T : int, default=20
        Voting target of the machine.
    s : float, default=10.0
        Specificity of the machine.
    epochs : int, default=10
        Number of passes of the machine over the documents.
    max_words : int, default=4
        The most words of a rule; 1 uses single words only.
    min_matches : int, default=2
        How many documents a word must be in; an AND must match at least 5.
    C : float, default=10.0
        Inverse strength of the regression's penalty.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores.
    random_state : int, RandomState or None, default=None
        Seed of the machine.

    Attributes
    ----------
    classes_ : ndarray
        The class labels.
    n_features_in_ : int
        The number of features.
    rule_words_ : list of tuple of int
        The features of each rule.
    weights_ : (n_rules, n_classes) sparse array of int
        The weight of each rule for each class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] * 5, dtype=bool)
    >>> y = np.array(["both", "one", "one", "none"] * 5)
    >>> rules = RuleClassifier(random_state=1).fit(X, y)
    >>> rules.predict(X[:4]).tolist()
    ['both', 'one', 'one', 'none']
    >>> rules.explain(X[0], "both", ["left", "right", "neither"])[0].words
    ('left', 'right')
    """

    rule_words_: list[tuple[int, ...]]
    weights_: sp.csr_array

    def __init__(
        self,
        n_clauses: int = 200,
        T: int = 20,
        s: float = 10.0,
        epochs: int = 10,
        *,
        max_words: int = 4,
        min_matches: int = 2,
        C: float = 10.0,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clauses = n_clauses
        self.T = T
        self.s = s
        self.epochs = epochs
        self.max_words = max_words
        self.min_matches = min_matches
        self.C = C
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike | sp.spmatrix | sp.sparray,
        y: ArrayLike,
        *,
        callback: Callable[[EpochInfo], bool | None] | None = None,
    ) -> Self:
        """Learn rules and their weights.

        Parameters
        ----------
        X : (n_documents, n_features) array or sparse matrix of bool or of 0 and 1
            Documents.
        y : (n_documents,) array
            The class of each.
        callback : callable, optional
            Called with an `EpochInfo` after each epoch of the machine.

        Returns
        -------
        self
        """
        check_whole_number("max_words", self.max_words, 1)
        check_whole_number("min_matches", self.min_matches, 1)
        if not float(self.C) > 0:
            raise ValueError(f"C={self.C!r} must be a positive number.")
        documents = self._read(X, y=y, reset=True)
        self.classes_, codes = encode_labels(y, documents.shape[0])
        n_words = documents.shape[1]
        words = [(j,) for j in range(n_words)]
        conjunctions = self._learn(documents, codes, callback) if self.max_words > 1 else []
        self._set_rules([*words, *self._with_parts(conjunctions, documents)], n_words)
        matches = self._matches(documents)
        kept = np.flatnonzero(self._useful(matches, codes))
        if not len(kept):
            raise ValueError(
                f"No word is in min_matches={self.min_matches} documents; use more documents or a "
                "smaller number."
            )
        self._set_rules([self.rule_words_[j] for j in kept.tolist()], n_words)
        self._weigh(matches[:, kept], codes)
        return self

    def decision_function(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.int64]:
        """Return the score of each class: the weights of the rules that match, added up.

        For two classes, the score of the second one; that of the first is its negative.
        """
        scores = self.scores(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def scores(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.int64]:
        """Return the score of each class, in the order of ``classes_``, whatever their number."""
        check_is_fitted(self, "weights_")
        matches = self._matches(self._read(X, reset=False))
        found: NDArray[np.int64] = (matches.astype(np.int64) @ self.weights_).toarray()
        return found

    def predict(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[Any]:
        """Return the class with the highest score; without any rule, the most frequent class."""
        scores = self.scores(X)
        codes = np.where(scores.any(axis=1), scores.argmax(axis=1), self._frequent_class)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    def predict_proba(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.float64]:
        """Return a probability for each class, by the regression that the weights are from."""
        check_is_fitted(self, "weights_")
        matches = self._matches(self._read(X, reset=False))
        lengths = np.sqrt(matches.astype(np.float64) @ self._rarity**2)
        scores = (matches.astype(np.int64) @ self.weights_).toarray()
        z = scores * self._unit / np.where(lengths > 0, lengths, 1.0)[:, None]
        z = np.exp(z - z.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = z / z.sum(axis=1, keepdims=True)
        return probabilities

    def explain(
        self, x: ArrayLike, class_: Any, feature_names: Sequence[str] | None = None
    ) -> list[WeightedRule]:
        """Return the rules that match one document and have a weight for a class.

        Parameters
        ----------
        x : (n_features,) array, or sparse matrix of one row
            The document.
        class_ : object
            A class of ``classes_``. The weights add up to its score.
        feature_names : sequence of str, optional
            The word of each feature; by default its number.

        Returns
        -------
        list of WeightedRule
            Those of the largest weights first.
        """
        check_is_fitted(self, "weights_")
        (code,) = np.flatnonzero(self.classes_ == class_)
        matches = self._matches(self._read(x if sp.issparse(x) else [x], reset=False))
        column = self.weights_[:, [int(code)]].toarray().ravel()
        names = feature_names if feature_names is not None else range(self.n_features_in_)
        found = [
            WeightedRule(tuple(str(names[i]) for i in self.rule_words_[j]), int(column[j]))
            for j in matches.indices.tolist()
            if column[j]
        ]
        return sorted(found, key=lambda rule: (-abs(rule.weight), rule.words))

    def _read(self, X: Any, *, y: Any = "no_validation", reset: bool) -> sp.csr_array:
        indptr, indices = boolean_csr(self, X, y=y, reset=reset)
        shape = (len(indptr) - 1, self.n_features_in_)
        return sp.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape)

    def _learn(
        self,
        documents: sp.csr_array,
        codes: NDArray[np.int32],
        callback: Callable[[EpochInfo], bool | None] | None,
    ) -> list[tuple[int, ...]]:
        """Return the distinct ANDs of two to `max_words` words that a machine learns."""
        machine = TsetlinMachineClassifier(
            self.n_clauses,
            self.T,
            self.s,
            self.epochs,
            boost_true_positive=True,
            max_literals=2 * self.max_words,
            negative_sampling="focused",
            negations=False,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # Many small classes are classes, not a regression target as scikit-learn supposes.
            warnings.filterwarnings("ignore", "The number of unique classes")
            machine.fit(documents, codes, callback=callback)
        return _conjunctions(machine.clauses_, self.max_words)

    def _with_parts(
        self, conjunctions: list[tuple[int, ...]], documents: sp.csr_array
    ) -> list[tuple[int, ...]]:
        """Return the ANDs that match enough documents and all shorter ANDs of their words."""
        if not conjunctions:
            return []
        self._set_rules(conjunctions, documents.shape[1])
        matches = np.bincount(self._matches(documents).indices, minlength=len(conjunctions))
        found: dict[tuple[int, ...], None] = {}
        for j in np.flatnonzero(matches >= _MIN_MATCHES).tolist():
            for n in range(2, min(len(conjunctions[j]), _PARTS_UP_TO) + 1):
                found.update(dict.fromkeys(combinations(conjunctions[j], n)))
            found[conjunctions[j]] = None
        return sorted(found, key=len)

    def _set_rules(self, rules: list[tuple[int, ...]], n_words: int) -> None:
        self.rule_words_ = rules
        lengths = np.array([len(rule) for rule in rules])
        words = np.concatenate([np.asarray(rule, np.int64) for rule in rules])
        owners = np.repeat(np.arange(len(rules)), lengths)
        ones = np.ones(len(words), np.int8)
        self._words_to_rules = sp.csr_array((ones, (words, owners)), (n_words, len(rules)))
        self._lengths = lengths.astype(np.int8)

    def _matches(self, documents: sp.csr_array) -> sp.csr_array:
        """Return which rules match which documents."""
        found = (documents @ self._words_to_rules).tocsr()
        found.data = (found.data == self._lengths[found.indices]).astype(np.int8)
        found.eliminate_zeros()
        found.sort_indices()
        return found

    def _useful(self, matches: sp.csr_array, codes: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which rules to keep: frequent words, and ANDs that say more than their parts."""
        of_class = sp.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
        counts = (matches.T.astype(np.float64) @ of_class).toarray()
        total = counts.sum(axis=1)
        shares = counts / np.maximum(total, 1)[:, None]
        classes = shares.argmax(axis=1)
        useful: NDArray[np.bool_] = total >= self.min_matches
        place = {rule: j for j, rule in enumerate(self.rule_words_)}
        for j in np.flatnonzero(self._lengths > 1).tolist():  # the shorter ones first
            rule, n, cls = self.rule_words_[j], total[j], classes[j]
            sizes = range(1, min(len(rule) - 1, _PARTS_UP_TO) + 1)
            parts = [place[part] for size in sizes for part in combinations(rule, size)]
            best = max(shares[i, cls] for i in parts)
            error = np.sqrt(max(best * (1 - best), 1e-3) / max(n, 1))
            useful[j] = n >= _MIN_MATCHES and shares[j, cls] - best > _MIN_Z * error
        return useful

    def _weigh(self, matches: sp.csr_array, codes: NDArray[np.int32]) -> None:
        """Fit the weights of the rules."""
        n = matches.shape[0]
        frequency = np.bincount(matches.indices, minlength=matches.shape[1])
        scale = np.where(self._lengths > 1, _SCALE, 1.0)
        self._rarity = (np.log((1 + n) / (1 + frequency)) + 1) * scale
        self._frequent_class = int(np.bincount(codes).argmax())
        # Every document counts alike, however long it is. That does not change which class has
        # the highest score, because there is no intercept.
        rows = normalize(matches.astype(np.float64) @ sp.diags_array(self._rarity))
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the weights are rounded; further steps change little
            regression = LogisticRegression(C=float(self.C), max_iter=50, fit_intercept=False)
            regression.fit(rows, codes)
        weights = regression.coef_ * self._rarity
        if len(weights) == 1:  # of the second of two classes
            weights = np.vstack((-weights, weights)) / 2
        self._unit = float(np.abs(weights).max()) / LARGEST_WEIGHT or 1.0
        self.weights_ = sp.csr_array(np.rint(weights.T / self._unit).astype(np.int64))


def _conjunctions(clauses: Clauses, max_words: int) -> list[tuple[int, ...]]:
    lengths = clauses.lengths
    found: dict[tuple[int, ...], None] = {}
    for j in np.flatnonzero((lengths >= 2) & (lengths <= max_words)).tolist():
        found[tuple(clauses.literals[clauses.indptr[j] : clauses.indptr[j + 1]].tolist())] = None
    return list(found)
