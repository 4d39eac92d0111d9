"""Classification by rules: ANDs of words with whole numbers as weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from newfound.arithmetic import exp, log
from newfound.checks import check_whole_number
from newfound.linear import logistic_regression, support_vectors, unit_rows
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import Clauses, RuleSet
from newfound.machine.native import EpochInfo
from newfound.machine.validation import boolean_csr, encode_labels
from newfound.rules.weighted import WeightedRule, WeightedRules

__all__ = ["RuleClassifier", "learn_rules", "new_classifier"]

LARGEST_WEIGHT = 100
# Logistic regression keeps some 25 copies of its coefficients. Above so many, one class after the
# other is separated from the rest (LinearSVC), which needs one.
MOST_COEFFICIENTS = 5_000_000
_MIN_MATCHES = 5  # of an AND
_MIN_Z = 2.0  # by how much an AND must be purer than its parts, in standard errors
_PARTS_UP_TO = 3  # words: longer parts of an AND are not looked at, as they would be too many
_BASE_RARITY = 4.0  # of the rule without words, which matches every document
_SCALE = 0.5  # of an AND in the regression; the penalty grows as the inverse square
_LONGEST = 16  # words of a rule of a detector, where no maximum is given


class RuleClassifier(ClassifierMixin, BaseEstimator):
    """Classifier by rules: ANDs of words, each with a whole number as weight for some classes.

    A document has the class for which the weights of the rules that match it add up to most. The
    rules are of two kinds: ANDs of words that a Tsetlin Machine learns, with focused negatives and
    without negations, and each word by itself; one more has no words and matches every document.
    The machine finds the rules; their weights are fitted afterwards, all together, by logistic
    regression on which rules match which document, and rounded. An AND is left out where it matches
    few documents or says no more than a shorter rule of its words; and since it was chosen on these
    documents, its penalty is four times that of a word.

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
    rules_ : WeightedRules
        The rules.
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
    >>> told = rules.explain(X[0], "both", ["left", "right", "neither"])
    >>> [rule.words for rule in told if len(rule.words) > 1 and rule.weight > 0]
    [('left', 'right')]
    """

    rules_: WeightedRules

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
        self.check_parameters()
        documents = self._read(X, y=y, reset=True)
        with _many_small_classes():
            self.classes_, codes = encode_labels(y, documents.shape[0])
        n_words = documents.shape[1]
        words = [(j,) for j in range(n_words)]
        conjunctions = self._learn(documents, codes, callback) if self.max_words > 1 else []
        rules = [*words, *_with_parts(conjunctions, documents)]
        matches = RuleSet.of(rules, n_words).matching(documents)
        of_class = sp.csr_array((np.ones(len(codes)), (np.arange(len(codes)), codes)))
        counts = (matches.T.astype(np.float64) @ of_class).toarray()
        kept = np.flatnonzero(_useful(rules, counts, self.min_matches))
        if not len(kept):
            raise ValueError(
                f"No word is in min_matches={self.min_matches} documents; use more documents or a "
                "smaller number."
            )
        chosen = RuleSet.of([rules[j] for j in kept.tolist()], n_words)
        self.rules_ = _weighted(chosen, matches[:, kept], counts[kept], codes, float(self.C))
        self._frequent_class = int(np.bincount(codes).argmax())
        return self

    @property
    def rule_words_(self) -> list[tuple[int, ...]]:
        """The features of each rule."""
        ends = self.rules_.indptr[1:-1]
        return [tuple(words.tolist()) for words in np.split(self.rules_.literals, ends)]

    @property
    def weights_(self) -> sp.csr_array:
        """The weight of each rule for each class."""
        return self.rules_.weights

    def check_parameters(self) -> None:
        """Raise a ValueError or TypeError that names a parameter of a wrong value or type."""
        check_whole_number("max_words", self.max_words, 1)
        check_whole_number("min_matches", self.min_matches, 1)
        if isinstance(self.C, bool) or not isinstance(self.C, Real) or not self.C > 0:
            raise ValueError(f"C={self.C!r} must be a positive number.")
        self._machine().check_parameters()

    def decision_function(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.float64]:
        """Return the score of each class: the weights of the rules that match, added up.

        For two classes, the score of the second one; that of the first is its negative.
        """
        scores = self.scores(X).astype(np.float64)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def scores(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.int64]:
        """Return the score of each class, in the order of ``classes_``, whatever their number."""
        return self._votes(X)[0]

    def predict(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[Any]:
        """Return the class with the highest score; without any rule, the most frequent class."""
        scores, n_matching, _ = self._votes(X)
        codes = np.where(n_matching > 0, scores.argmax(axis=1), self._frequent_class)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    def predict_proba(self, X: ArrayLike | sp.spmatrix | sp.sparray) -> NDArray[np.float64]:
        """Return a probability for each class, by the regression that the weights are from."""
        scores, _, squares = self._votes(X)
        z = scores * self.rules_.unit
        z /= np.sqrt(squares + self.rules_.base_rarity**2)[:, None]
        z = exp(z - z.max(axis=1, keepdims=True))
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
            A class of ``classes_``. The weights add up to its score. One rule has no words: what
            every document adds.
        feature_names : sequence of str, optional
            The word of each feature; by default its number.

        Returns
        -------
        list of WeightedRule
            Those of the largest weights first.
        """
        check_is_fitted(self, "rules_")
        rows: Any = x if sp.issparse(x) else np.atleast_2d(np.asarray(x))
        if rows.shape[0] != 1:
            raise ValueError(f"x has {rows.shape[0]:,} documents; explain one at a time.")
        documents = self._fitted_read(rows)
        code = self._code_of(class_)
        column = self.weights_[:, [code]].toarray().ravel()
        names: Any = feature_names if feature_names is not None else range(self.n_features_in_)
        if len(names) != self.n_features_in_:
            raise ValueError(
                f"There are {len(names):,} feature names for {self.n_features_in_:,} features; "
                "pass one for each."
            )
        found = [
            WeightedRule(tuple(map(str, self.rules_.words(j, names)[0])), int(column[j]))
            for j in self.rules_.matching(documents).indices.tolist()
            if column[j]
        ]
        base = int(self.rules_.base[code])
        found += [WeightedRule((), base)] if base else []
        return sorted(found, key=lambda rule: (-abs(rule.weight), rule.words))

    def _code_of(self, class_: Any) -> int:
        classes: list[Any] = self.classes_.tolist()
        if class_ not in classes:
            shown = ", ".join(map(repr, classes[:10])) + (", ..." if len(classes) > 10 else "")
            raise ValueError(f"class_={class_!r} is not a class of this model: {shown}.")
        return classes.index(class_)

    def _read(self, X: Any, *, y: Any = "no_validation", reset: bool) -> sp.csr_array:
        indptr, indices = boolean_csr(self, X, y=y, reset=reset)
        shape = (len(indptr) - 1, self.n_features_in_)
        return sp.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape)

    def _machine(self) -> TsetlinMachineClassifier:
        return TsetlinMachineClassifier(
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

    def _learn(
        self,
        documents: sp.csr_array,
        codes: NDArray[np.int32],
        callback: Callable[[EpochInfo], bool | None] | None,
    ) -> list[tuple[int, ...]]:
        """Return the distinct ANDs of two to `max_words` words that a machine learns."""
        machine = self._machine()
        with _many_small_classes():
            machine.fit(documents, codes, callback=callback)
        return _conjunctions(machine.clauses_, self.max_words)

    def _fitted_read(self, X: Any) -> sp.csr_array:
        check_is_fitted(self, "rules_")
        return self._read(X, reset=False)

    def _votes(self, X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        return self.rules_.votes(self._fitted_read(X))


def new_classifier(parameters: Mapping[str, Any], seed: int) -> RuleClassifier:
    """Return an unfitted classifier by rules, with the parameters of a detector."""
    names = ("n_clauses", "T", "s", "epochs", "n_jobs")
    longest = parameters["max_literals"]
    return RuleClassifier(
        **{name: parameters[name] for name in names},
        max_words=_LONGEST if longest is None else longest,
        min_matches=1,
        random_state=seed,
    )


def learn_rules(
    classifier: RuleClassifier,
    matrix: Any,
    codes: NDArray[np.int64],
    n_classes: int,
    usable: NDArray[np.bool_],
    callback: Callable[[EpochInfo], bool | None] | None = None,
) -> WeightedRules | None:
    """Learn rules for classes; return None if there is only one class or no usable word.

    Some of the classes may have no document, and get no weights; `usable` says which terms rules
    may use.
    """
    columns = np.flatnonzero(usable)
    if not len(columns) or len(np.unique(codes)) < 2:
        return None
    classifier.fit(matrix[:, columns], codes, callback=callback)
    rules, classes = classifier.rules_, np.asarray(classifier.classes_)

    def of_all(values: sp.csr_array) -> sp.csr_array:
        found = sp.coo_array(values)
        places = (found.row, classes[found.col])
        return sp.csr_array((found.data, places), (len(rules), n_classes))

    base = np.zeros(n_classes, np.int64)
    base[classes] = rules.base
    return replace(
        rules.widened(columns, matrix.shape[1]),
        weights=of_all(rules.weights),
        counts=of_all(rules.counts),
        base=base,
    )


@contextmanager
def _many_small_classes() -> Iterator[None]:
    """Allow many small classes, which scikit-learn supposes to be a regression target."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")
        yield


def _conjunctions(clauses: Clauses, max_words: int) -> list[tuple[int, ...]]:
    lengths = clauses.lengths
    found: dict[tuple[int, ...], None] = {}
    for j in np.flatnonzero((lengths >= 2) & (lengths <= max_words)).tolist():
        found[tuple(clauses.literals[clauses.indptr[j] : clauses.indptr[j + 1]].tolist())] = None
    return list(found)


def _with_parts(
    conjunctions: list[tuple[int, ...]], documents: sp.csr_array
) -> list[tuple[int, ...]]:
    """Return the ANDs that match enough documents and all shorter ANDs of their words."""
    if not conjunctions:
        return []
    matches = RuleSet.of(conjunctions, documents.shape[1]).matching(documents)
    counts = np.bincount(matches.indices, minlength=len(conjunctions))
    found: dict[tuple[int, ...], None] = {}
    for j in np.flatnonzero(counts >= _MIN_MATCHES).tolist():
        for n in range(2, min(len(conjunctions[j]), _PARTS_UP_TO) + 1):
            found.update(dict.fromkeys(combinations(conjunctions[j], n)))
        found[conjunctions[j]] = None
    return sorted(found, key=len)


def _useful(
    rules: Sequence[tuple[int, ...]], counts: NDArray[np.float64], min_matches: int
) -> NDArray[np.bool_]:
    """Return which rules to keep: frequent words, and ANDs that say more than their parts."""
    total = counts.sum(axis=1)
    shares = counts / np.maximum(total, 1)[:, None]
    classes = shares.argmax(axis=1)
    useful: NDArray[np.bool_] = total >= min_matches
    place = {rule: j for j, rule in enumerate(rules)}
    for j, rule in enumerate(rules):  # the shorter ones first
        if len(rule) == 1:
            continue
        n, cls = total[j], classes[j]
        sizes = range(1, min(len(rule) - 1, _PARTS_UP_TO) + 1)
        parts = [place[part] for size in sizes for part in combinations(rule, size)]
        best = max(shares[i, cls] for i in parts)
        error = np.sqrt(max(best * (1 - best), 1e-3) / max(n, 1))
        useful[j] = n >= _MIN_MATCHES and shares[j, cls] - best > _MIN_Z * error
    return useful


def _coefficients(rows: sp.csr_array, codes: NDArray[np.int32], C: float) -> NDArray[np.float64]:
    """Return the coefficients of logistic regression, or of a machine that needs less memory."""
    if rows.shape[1] * (int(codes.max()) + 1) > MOST_COEFFICIENTS:
        return support_vectors(rows, codes, C=C / 10, intercept=False).coefficients
    # The weights are rounded; further steps change little.
    return logistic_regression(rows, codes, C=C, intercept=False, n_iterations=50).coefficients


def _weighted(
    rules: RuleSet,
    matches: sp.csr_array,
    counts: NDArray[np.float64],
    codes: NDArray[np.int32],
    C: float,
) -> WeightedRules:
    """Fit the weights of the rules."""
    n = matches.shape[0]
    frequency = np.bincount(matches.indices, minlength=matches.shape[1])
    rarity = (log((1 + n) / (1 + frequency)) + 1) * np.where(rules.lengths > 1, _SCALE, 1.0)
    # Every document counts alike, however long it is. That does not change which class has the
    # highest score, because the intercept is a rule like the others.
    base = sp.csr_array(np.full((n, 1), _BASE_RARITY))
    rows = unit_rows(sp.hstack((matches.astype(np.float64) @ sp.diags_array(rarity), base)))
    weights = _coefficients(rows, codes, C)
    if len(weights) == 1:  # of the second of two classes
        weights = np.vstack((-weights, weights)) / 2
    weights *= np.append(rarity, _BASE_RARITY)  # in place: these are the largest arrays
    unit = max(float(weights.max()), -float(weights.min())) / LARGEST_WEIGHT or 1.0
    weights /= unit
    whole = np.rint(weights, out=weights).T.astype(np.int8)
    return WeightedRules(
        rules.indptr,
        rules.literals,
        rules.n_features,
        weights=sp.csr_array(whole[:-1]).astype(np.int64),
        counts=sp.csr_array(counts).astype(np.int64),
        rarity=rarity,
        unit=unit,
        base=whole[-1].astype(np.int64),
        base_rarity=_BASE_RARITY,
    )
