"""How sure it is that a set of documents is novel.

The evidence is the signed root of a binomial deviance, above 0 for novel and below 0 for known, in
standard deviations: the documents of the set by side, against the share of novel documents that is
expected where the set says nothing. A set is the documents that have a word, match a rule or belong
to a theme.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.arithmetic import log, xlogy
from newfound.machine.clauses import rows_with

__all__ = [
    "MIN_EVIDENCE",
    "PRIOR",
    "PSEUDO_DOCUMENTS",
    "SURE",
    "DocumentWeights",
    "Piles",
    "agreeing",
    "beyond_chance",
    "deviance_root",
    "document_weights",
    "evidence_of_sets",
    "excess",
    "weighted_root",
]

PRIOR = 16.0  # documents of no evidence that are added to each set
MIN_EVIDENCE = 2.0  # of a word that may start a theme, and of a theme
SURE = 3.0  # evidence of a theme that is hardly chance
PSEUDO_DOCUMENTS = 8.0  # with the expected share of novel ones, so that few documents are no proof
TELLING = 2.5  # standard deviations, of a word of a group
PSEUDO_WORDS = 10.0  # added to a group, in the proportions of all documents

Matrix = Any
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class DocumentWeights(NamedTuple):
    """How much each document counts, and what is expected of a word that says nothing.

    Attributes
    ----------
    weight : (n_documents,) ndarray of float64
        The longer a document, the less it counts; the median document counts 1.
    novel : (n_documents,) ndarray of bool
        Which documents are novel.
    base : float
        The share of novel documents, by weight, among those that have a word that says nothing.
    mean, mean_square : float
        Mean weight, and mean squared weight, of the document of a word.
    """

    weight: NDArray[np.float64]
    novel: NDArray[np.bool_]
    base: float
    mean: float
    mean_square: float


def document_weights(matrix: Any, novel: ArrayLike) -> DocumentWeights:
    """Weigh documents by their length.

    Examples
    --------
    >>> weights = document_weights(sparse.csr_array([[1, 0], [1, 1], [1, 1]]), [False, True, True])
    >>> weights.weight.round(2).tolist(), round(weights.base, 2)
    ([1.33, 1.0, 1.0], 0.75)
    """
    bags = sparse.csr_array(matrix)
    is_novel = np.asarray(novel, bool)
    lengths = np.diff(bags.indptr).astype(np.float64)
    full = lengths > 0
    typical = float(np.median(lengths[full])) if full.any() else 1.0
    weight = np.where(full, 2 / (1 + lengths / typical), 0.0)
    mass = weight * lengths
    total = float(mass.sum()) or 1.0
    base = float(mass[is_novel].sum()) / total
    cells = max(float(lengths.sum()), 1.0)
    return DocumentWeights(
        weight=weight,
        novel=is_novel,
        base=min(max(base, 1e-9), 1 - 1e-9),
        mean=total / cells,
        mean_square=float((mass * weight).sum()) / cells or 1.0,
    )


def evidence_of_sets(sets: Any, weights: DocumentWeights) -> NDArray[np.float64]:
    """Return the evidence that each set of documents is novel.

    A column of `sets` has the documents that have a word, match a rule or belong to a theme.

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 1, 0]] * 40 + [[1, 0, 1]] * 40)
    >>> weights = document_weights(matrix, [False] * 40 + [True] * 40)
    >>> evidence_of_sets(matrix, weights).round(1).tolist()
    [0.0, -5.6, 5.6]
    """
    members = sparse.csr_array(sets, dtype=np.float64).T.tocsr()
    novel = weights.novel.astype(np.float64)
    size = members @ weights.weight
    own = members @ (weights.weight * novel)
    variance = members @ weights.weight**2 * weights.base * (1 - weights.base)
    found = weighted_root(own, size * weights.base, size, variance, weights, PRIOR)
    full = weights.weight > 0
    sizes = (int((full & ~weights.novel).sum()), int((full & weights.novel).sum()))
    return agreeing(found, np.stack((members @ (1 - novel), members @ novel)), sizes)


def _signed_root(own: Any, size: Any, expected: Any, dispersion: Any = 1.0) -> Any:
    """Return signed roots of the deviance of counts from what is expected of them.

    `dispersion` says how much more the counts vary than those of a binomial distribution.
    """
    deviance = xlogy(own, own / expected)
    rest = np.maximum(size - own, 0), np.maximum(size - expected, 1e-12)
    deviance = deviance + xlogy(rest[0], rest[0] / rest[1])
    root = np.sqrt(2 * np.maximum(deviance, 0) / dispersion)
    return np.sign(own - expected) * root


def weighted_root(
    own: NDArray[np.float64],
    expected: NDArray[np.float64],
    size: NDArray[np.float64],
    variance: NDArray[np.float64],
    weights: DocumentWeights,
    prior: float,
) -> NDArray[np.float64]:
    """Return signed roots of deviances of weighted counts, with `prior` documents of no evidence.

    The deviance of counts is divided by how much more they vary than plain counts would.
    """
    added, chance = prior * weights.mean, weights.base * (1 - weights.base)
    plain = expected * (size - expected) / np.maximum(size, 1e-12) + added * chance
    dispersion = (variance + prior * weights.mean_square * chance) / np.maximum(plain, 1e-12)
    dispersion = np.maximum(dispersion, 1e-12)
    own, expected = own + added * weights.base, expected + added * weights.base
    size = size + added
    found: NDArray[np.float64] = _signed_root(own, size, expected, dispersion)
    return found


def agreeing(
    found: NDArray[np.float64], counts: NDArray[Any], sizes: tuple[int, int]
) -> NDArray[np.float64]:
    """Set to 0 what contradicts the plain shares of documents with words."""
    return np.where(found * excess(counts, sizes) > 0, found, 0.0)


def excess(counts: NDArray[Any], sizes: tuple[int, int]) -> NDArray[np.float64]:
    """Return the share of the novel documents less that of the known ones."""
    known, novel = counts / np.maximum(np.array(sizes, np.float64)[:, None], 1.0)
    excess: NDArray[np.float64] = novel - known
    return excess


def deviance_root(novel: Any, total: Any, share: Any, prior: float = 0.0) -> Any:
    """Return the signed root of the deviance of `novel` of `total` documents from a share.

    `prior` documents with the expected share are added.

    Examples
    --------
    >>> round(float(deviance_root(30.0, 40.0, 0.5)), 2)
    3.23
    """
    size = np.maximum(total + prior, 1e-12)
    return _signed_root(novel + prior * share, size, size * share)


def beyond_chance(roots: Any, by_chance: Any) -> Any:
    """Return evidence: roots of deviance, less the deviance that the search gives by chance.

    Examples
    --------
    >>> beyond_chance(np.array([5.0, 3.0, -5.0]), 16.0).tolist()
    [3.0, 0.0, 0.0]
    """
    beyond = np.sqrt(np.maximum(roots * roots - by_chance, 0.0))
    return np.where(roots > 0, beyond, 0.0)


class Piles:
    """Known and novel documents, and what is counted of some of them."""

    def __init__(self, matrix: Matrix, novel: Bools) -> None:
        self.matrix, self.novel, self.share = matrix, novel, float(novel.mean())

    def take(self, rows: Rows) -> Piles:
        """Return some of the documents."""
        return Piles(self.matrix[rows], self.novel[rows])

    def reversed(self) -> Piles:
        """Return the same documents with the sides exchanged."""
        return Piles(self.matrix, ~self.novel)

    @cached_property
    def columns(self) -> Matrix:
        """The matrix by words, in CSC format."""
        return self.matrix.tocsc()

    @cached_property
    def rates(self) -> Floats:
        """The share of each word in all words of all documents."""
        counts = np.asarray(self.matrix.sum(axis=0)).ravel().astype(np.float64)
        rates: Floats = counts / max(self.matrix.nnz, 1)
        return rates

    def matching(self, rule: Sequence[int]) -> Rows:
        """Return the documents that have all words of a rule."""
        return rows_with(self.columns, rule)

    def found(self, rules: Iterable[Sequence[int]]) -> Rows:
        """Return the documents that match any of some rules."""
        return np.unique(np.concatenate([self.matching(rule) for rule in rules]))

    def sides(self, rows: Rows) -> tuple[int, int]:
        """Return the number of known and of novel documents among these."""
        novel = int(self.novel[rows].sum())
        return len(rows) - novel, novel

    def telling(self, rows: Rows) -> tuple[Rows, Floats]:
        """Return the words that are significantly more frequent in documents, and their weights.

        The strongest word comes first.
        """
        counts = np.asarray(self.matrix[rows].sum(axis=0)).ravel().astype(np.float64)
        total = counts.sum()
        expected = self.rates * total
        strength = (counts - expected) / np.sqrt(expected + 1)
        # A theme has a name of at least two words.
        least = np.sort(strength)[-2] if len(strength) > 1 else 0.0
        words = np.flatnonzero((counts > expected) & (strength >= min(TELLING, least)))
        words = words[(counts[words] >= 2) | (strength[words] <= TELLING)]
        base = self.rates[words]
        ratios = log((counts[words] + PSEUDO_WORDS * base) / (total + PSEUDO_WORDS) / base)
        weights = ratios * np.sqrt(counts[words])
        order = np.argsort(-weights, kind="stable")
        return words[order], weights[order]
