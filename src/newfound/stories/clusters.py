"""Groups of similar documents: k-means on weighted words, after a singular value decomposition.

Novel documents are weighted by how rare their words are among known documents, so that what they
share with those does not group them. The number of groups is the one with the greatest evidence:
the marginal likelihood of the words, if each group has its own share of documents for each word and
these shares vary around those of all novel documents. One group is among the choices. The words of
a long document are no independent evidence, since they tell one story: they count as seven.

Documents that have nothing in common end in groups, too. A group is kept if it holds together: half
of its documents have words that several of them share and that are more frequent in novel than in
known documents, or most of them have its first word. Of the others, those that share a word that
known documents hardly have are a group by that word; what remains belongs to no group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.arithmetic import binomial_tail, log, log_beta, log_gamma, norm
from newfound.linear import Tfidf, k_means, principal_axes, product, unit_rows
from newfound.rules.classifier import RuleClassifier, learn_rules
from newfound.rules.weighted import WeightedRules
from newfound.stories.names import N_LISTED, listed
from newfound.table import Table

__all__ = [
    "Group",
    "KnownGroups",
    "characteristic",
    "choose_groups",
    "find_groups",
    "find_known_groups",
    "group_bags",
    "name_groups",
    "without_group",
]

_DIMENSIONS = 50
_MAX_GROUPS = 60
_MAX_CLUSTERED = 3000  # further documents are assigned to the nearest group
_PRIOR = 10.0  # documents that the shares of all novel documents count as, in each group
_INDEPENDENT = 7.0  # words that a document counts as at most, on average
_MEANING = 1.5  # how much vectors count beside words: lab/notes/meaning.md
_PATIENCE = 5  # numbers of groups that are tried after the best
_LEAST_RARITY = 0.01  # of a word that all known documents have
_WORDS = 20  # listed for each group
_CHANCE = 0.001  # of as many novel documents with a word, if they were like known ones
_SHARED = 3  # documents of a group that have a word that holds it together
_TIMES = 3.0  # how many times as frequent such a word is in novel documents
_HELD = 0.5  # the share of the documents of a group that have such words
_OF_FIRST = 2 / 3  # or the share that has the first word
_TIMES_ALONE = 20.0  # as _TIMES, for a word that makes a group by itself
_MAX_SAMPLED = 3000  # known documents to find groups in, and to learn their rules from
_MAX_KNOWN_GROUPS = 30
_MIN_GROUPED = 4


@dataclass(frozen=True, eq=False)
class Group:
    """Similar novel documents.

    Attributes
    ----------
    documents : ndarray of int
        Their rows in the detection.
    words : Table
        The words that characterise the group, the most characteristic first. Columns: ``word``;
        ``score``, the log of how many times as frequent the word is in the group as in all other
        documents, times its share of the group; ``documents``, the number of documents of the group
        that have it; ``known``, the number of known documents that have it.
    """

    documents: NDArray[np.int64]
    words: Table

    @property
    def size(self) -> int:
        """The number of documents."""
        return len(self.documents)

    @property
    def name(self) -> str:
        """The first words."""
        return listed(self.words["word"].tolist())


def without_group(n: int, groups: Sequence[Group]) -> str:
    """Return one sentence on those of n novel documents that are in no group; empty if none is."""
    alone = n - sum(group.size for group in groups)
    if not alone:
        return ""
    if not groups:
        return "They have too little in common to form groups."
    return f"The other {alone:,} have too little in common to form groups."


def find_groups(
    matrix: Any,
    words: Sequence[str],
    known: Mapping[str, int],
    n_known: int,
    seed: int,
    vectors: NDArray[Any] | None = None,
) -> list[Group]:
    """Group novel documents; return the groups, the largest first.

    Documents that have too little in common with others are in no group. Of the `n_known` known
    documents, `known` has the number that have a word. With the `vectors` of an encoder, documents
    are similar by these and by words.
    """
    n = matrix.shape[0]
    in_known = np.array([known.get(word, 0) for word in words])
    rarity = log((1 + n_known) / (1 + np.minimum(in_known, n_known))) + _LEAST_RARITY
    meant = None if vectors is None else vectors[:_MAX_CLUSTERED]
    codes = choose_groups(matrix[:_MAX_CLUSTERED], rarity, seed, vectors=meant)
    if n > _MAX_CLUSTERED:
        centres = np.stack(
            [_mean(matrix[: len(codes)][codes == k]) for k in range(codes.max() + 1)]
        )
        similar = product(matrix[_MAX_CLUSTERED:], centres.T)
        codes = np.concatenate((codes, np.argmax(similar, axis=1)))
    in_novel = np.asarray(matrix.sum(axis=0)).ravel()
    expected = np.minimum((in_known + 1) / (n_known + 1), 1.0)
    times = in_novel / n / expected
    times[binomial_tail(in_novel, n, expected) > _CHANCE] = 0.0

    def described(rows: NDArray[np.int64]) -> Group:
        counts = np.asarray(matrix[rows].sum(axis=0)).ravel()
        scores = characteristic(counts, len(rows), in_known + in_novel, n_known + n)
        top = np.argsort(-scores, kind="stable")[:_WORDS]
        top = top[counts[top] > 0]
        columns = {
            "word": np.array([words[j] for j in top.tolist()], dtype=object),
            "score": scores[top],
            "documents": counts[top],
            "known": in_known[top].astype(np.int64),
        }
        return Group(rows, Table(columns))

    candidates = [described(np.flatnonzero(codes == k)) for k in range(int(codes.max()) + 1)]
    found = [group for group in candidates if _holds_together(matrix, group, times)]
    loose = [group.documents for group in candidates if group not in found]
    if loose:
        found += map(described, _by_new_words(matrix, np.sort(np.concatenate(loose)), times))
    return sorted(found, key=lambda group: (-group.size, int(group.documents[0])))


def _holds_together(matrix: Any, group: Group, times: NDArray[np.float64]) -> bool:
    """Return whether the documents of a group have enough in common."""
    if not len(group.words):
        return False
    inside = matrix[group.documents]
    counts = np.asarray(inside.sum(axis=0)).ravel()
    shared = (counts >= min(_SHARED, group.size)) & (times >= _TIMES)
    held = np.diff(inside[:, shared].indptr) > 0
    return bool(held.mean() >= _HELD or int(group.words["documents"][0]) >= _OF_FIRST * group.size)


def _by_new_words(
    matrix: Any, rows: NDArray[np.int64], times: NDArray[np.float64]
) -> list[NDArray[np.int64]]:
    """Return documents by the words that make a group by themselves, the most frequent first."""
    found = []
    left = matrix[rows].tocsc()[:, times >= _TIMES_ALONE]
    free = np.ones(len(rows), dtype=bool)
    while left.shape[1]:
        counts = np.asarray(left[free].sum(axis=0)).ravel()
        best = int(np.argmax(counts))
        if counts[best] < _SHARED:
            break
        own = free & np.asarray(left[:, [best]].todense(), dtype=bool).ravel()
        found.append(rows[own])
        free &= ~own
    return found


def characteristic(
    counts: NDArray[Any], size: int, frequencies: NDArray[Any], n_all: int
) -> NDArray[np.float64]:
    """Return how characteristic each word is of a group; see `Group`."""
    here = (counts + 0.5) / (size + 1)
    elsewhere = (frequencies - counts + 0.5) / (n_all - size + 1)
    scores: NDArray[np.float64] = counts / size * log(here / elsewhere)
    return scores


def name_groups(matrix: Any, codes: NDArray[np.int64], terms: Sequence[str]) -> list[str]:
    """Return the name of each group: the words that are characteristic of it.

    Examples
    --------
    >>> bags = sparse.csr_matrix(np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]]) > 0)
    >>> name_groups(bags, np.array([0, 0, 1]), ["rain", "today", "tax"])
    ['rain, today, tax', 'tax, rain, today']
    """
    frequencies, names = np.asarray(matrix.sum(axis=0)).ravel(), []
    for k, size in enumerate(np.bincount(codes).tolist()):
        counts = np.asarray(matrix[codes == k].sum(axis=0)).ravel()
        scores = characteristic(counts, size, frequencies, len(codes))
        names.append(listed([terms[j] for j in np.argsort(-scores, kind="stable")[:N_LISTED]]))
    return names


def _mean(matrix: Any) -> NDArray[np.float64]:
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    return mean / (norm(mean) or 1.0)


def group_bags(matrix: Any, n_groups: int, seed: int) -> NDArray[np.int64]:
    """Return the index of the group of each bag; group 0 is the largest.

    Examples
    --------
    >>> from scipy import sparse
    >>> bags = sparse.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 3 + [[1, 1, 0, 0]]) > 0)
    >>> group_bags(bags, 2, seed=0).tolist()
    [0, 1, 0, 1, 0, 1, 0]
    """
    n = matrix.shape[0]
    if n_groups <= 1 or n <= 1:
        return np.zeros(n, np.int64)
    points = unit_rows(_reduced(Tfidf.of(matrix)(matrix), _DIMENSIONS, seed))
    return _k_means(points, n_groups, seed)


def choose_groups(
    matrix: Any,
    weights: NDArray[np.float64],
    seed: int,
    most: int = _MAX_GROUPS,
    vectors: NDArray[Any] | None = None,
) -> NDArray[np.int64]:
    """Return the index of the group of each bag, for the number of groups with most evidence.

    Group 0 is the largest. A word counts by its weight for the similarity of documents; vectors of
    their meaning count beside words.

    Examples
    --------
    >>> from scipy import sparse
    >>> bags = sparse.csr_matrix(np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 9) > 0)
    >>> len(set(choose_groups(bags, np.ones(4), seed=0)))
    2
    >>> len(set(choose_groups(bags[::2], np.ones(4), seed=0)))
    1
    """
    n = matrix.shape[0]
    best = np.zeros(n, np.int64)
    if n < 4:
        return best
    most = min(most, n // 2)
    points = _reduced(matrix.astype(np.float64) @ sparse.diags_array(weights), most, seed)
    meant = np.zeros((n, 0)) if vectors is None else _MEANING * _centred(vectors)
    greatest, tried = _evidence(matrix, best), 0
    for k in (*range(2, min(most, 20) + 1), *range(24, most + 1, 4)):
        codes = _k_means(np.hstack((unit_rows(points[:, : max(k, 2)]), meant)), k, seed)
        found = _evidence(matrix, codes)
        tried += 1
        if found > greatest:
            best, greatest, tried = codes, found, 0
        if tried >= _PATIENCE:
            break
    return best


def _centred(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Return vectors without what all of them have in common, of length 1."""
    rows = vectors.astype(np.float64)
    centred: NDArray[np.float64] = unit_rows(rows - rows.sum(axis=0) / len(rows))
    return centred


def _evidence(matrix: Any, codes: NDArray[np.int64]) -> float:
    """Return the logarithm of the marginal likelihood of the words and of the groups."""
    n, k = len(codes), int(codes.max()) + 1
    member = sparse.csr_array((np.ones(n), (codes, np.arange(n))), (k, n))
    counts = np.asarray((member @ matrix.astype(np.float64)).todense())
    sizes = np.bincount(codes, minlength=k)
    share = (counts.sum(axis=0) + 0.5) / (n + 1)
    yes, no = _PRIOR * share, _PRIOR * (1 - share)
    words = log_beta(counts + yes, sizes[:, None] - counts + no) - log_beta(yes, no)
    of_groups = log_gamma(k) - log_gamma(n + k) + log_gamma(sizes + 1).sum()
    length = max(matrix.sum() / n, 1.0)
    return float(min(_INDEPENDENT / length, 1.0) * words.sum() + of_groups)


def _reduced(weighted: Any, dimensions: int, seed: int) -> NDArray[np.float64]:
    """Return weighted bags of length 1 in a few dimensions, the most important first."""
    unit = unit_rows(weighted)
    size = min(dimensions, min(unit.shape) - 1)
    if size < 1:
        return np.asarray(unit.todense())
    return product(unit, principal_axes(unit, size, seed=seed))


def _k_means(points: NDArray[np.float64], n_groups: int, seed: int) -> NDArray[np.int64]:
    found = k_means(points, n_groups, n_starts=4, seed=seed)
    _, codes = np.unique(found, return_inverse=True)
    order = np.argsort(-np.bincount(codes), kind="stable")
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    numbered: NDArray[np.int64] = places[codes].astype(np.int64)
    return numbered


@dataclass(frozen=True, eq=False)
class KnownGroups:
    """Groups that were found among known documents."""

    names: tuple[str, ...]
    rules: WeightedRules

    def with_terms(self, n_terms: int) -> KnownGroups:
        """Return the same groups for texts with more terms."""
        columns = np.arange(self.rules.n_features)
        return KnownGroups(self.names, self.rules.widened(columns, n_terms))


def find_known_groups(
    matrix: Any,
    terms: Sequence[str],
    usable: NDArray[np.bool_],
    rarity: NDArray[np.float64],
    *,
    classifier: RuleClassifier,
    seed: int,
) -> KnownGroups | None:
    """Find groups of known documents, and learn their rules.

    `usable` are the columns that groups and rules may use, and `rarity` is how much each column
    counts for the similarity of documents. The classifier is not fitted. None if there are too few
    documents or no usable words.
    """
    n = matrix.shape[0]
    if n > _MAX_SAMPLED:
        rows = np.random.RandomState(seed).permutation(n)[:_MAX_SAMPLED]
        matrix, n = matrix[np.sort(rows)], _MAX_SAMPLED
    columns = np.flatnonzero(usable)
    if n < _MIN_GROUPED or not len(columns):
        return None
    words = matrix[:, columns]
    codes = choose_groups(words, rarity[columns], seed, _MAX_KNOWN_GROUPS)
    if not codes.any():  # no evidence for groups; two of them still give rules
        codes = group_bags(words, 2, seed)
    names = name_groups(words, codes, [terms[j] for j in columns.tolist()])
    rules = learn_rules(classifier, matrix, codes, len(names), usable)
    return None if rules is None else KnownGroups(tuple(names), rules)
