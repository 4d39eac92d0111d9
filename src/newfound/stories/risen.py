"""Words that have become more frequent than in a reference, and the groups that they form.

If the documents of some windows and the reference are alike, those that have a word are a random
draw from both (Fisher's exact test). Words are tested together with Tarone's correction: a word
that is too rare to be significant does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from newfound.arithmetic import exp, hypergeometric_tail, log, log_choose

__all__ = [
    "Bag",
    "Reference",
    "RisenGroup",
    "RisenWord",
    "group_words",
    "log_probabilities",
    "risen_words",
    "tarone",
    "word_p_values",
]

MIN_DOCUMENTS = 3  # that a topic begins with
_LINK = 0.3  # share of the documents of the rarer word that have the other one, too
PURE = 0.7  # share of the documents of a word that the reference must not explain

Bag = frozenset[str]


@dataclass(frozen=True)
class RisenWord:
    """A word that is more frequent in some windows than in the reference.

    Attributes
    ----------
    word : str
        The word.
    documents : int
        The number of documents of the windows that have it.
    expected : float
        The number expected from the reference.
    p_value : float
        How probable so many are by chance, adjusted for the number of words.
    novel : bool
        Whether only documents called novel were counted.
    pure : bool
        Whether the word alone tells that a document belongs to its topic, because the reference
        explains few of all documents that have it.
    """

    word: str
    documents: int
    expected: float
    p_value: float
    novel: bool = False
    pure: bool = True


@dataclass(frozen=True)
class Reference:
    """Documents that windows are compared with."""

    counts: NDArray[np.int64]
    size: int

    def with_words(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many words that number of documents have, with those of windows added.

        All words of the reference are tested, those that the windows lack, too: the number of tests
        must not depend on which of the documents are those of the windows. Words of fewer than
        `MIN_DOCUMENTS` are not.
        """
        numbers = np.bincount(self.counts + counts, minlength=MIN_DOCUMENTS)
        numbers[:MIN_DOCUMENTS] = 0
        return numbers


@dataclass(frozen=True)
class RisenGroup:
    """Risen words that occur together, the strongest first, and their documents.

    A document belongs to the group if it has one of `rules`, or if it is called novel and has one
    of `novel_rules`; `rows` are these documents.
    """

    words: tuple[RisenWord, ...]
    rules: tuple[str, ...]
    novel_rules: tuple[str, ...]
    rows: tuple[int, ...]


def risen_words(
    counts: NDArray[np.int64],
    size: int,
    before: Reference,
    level: float,
    names: Sequence[str],
) -> list[RisenWord]:
    """Return the words that have become more frequent, the most significant first.

    `counts` are those of `size` documents of the windows, for the same words as the reference.
    `level` is the probability that any word is returned although nothing has changed.

    Examples
    --------
    >>> names, before = ("rain", "cup", "sars"), Reference(np.array([40, 9, 0]), 1000)
    >>> [word.word for word in risen_words(np.array([3, 0, 6]), 100, before, 0.01, names)]
    ['sars']
    """
    words, total = np.flatnonzero(counts >= MIN_DOCUMENTS), before.size
    if not len(words) or not total:
        return []
    bound = tarone(before.with_words(counts), size, total, level)
    x, f = counts[words], before.counts[words]
    # The exact law takes time. A word that is as frequent as expected is not significant, and no
    # word is if this very number of documents is more probable than the bound.
    mean = (x + f) * size / (size + total)
    high = np.flatnonzero(x > mean + 2 * np.sqrt(mean))
    high = high[log_probabilities(x[high], size, f[high], total) <= log(bound) + 1e-6]
    p = np.ones(len(x))
    p[high] = word_p_values(x[high], size, f[high], total)
    found = [
        RisenWord(
            names[words[row]],
            int(x[row]),
            float(f[row] * size / total),
            float(p[row]) * level / bound,
            pure=bool(f[row] * size <= (1 - PURE) * total * x[row]),
        )
        for row in np.flatnonzero(p <= bound).tolist()
    ]
    return sorted(found, key=lambda word: (word.p_value, -word.documents, word.word))


def group_words(
    words: Sequence[RisenWord], bags: Sequence[Bag], novel: Sequence[bool]
) -> list[RisenGroup]:
    """Return the groups that risen words form: those that documents have together.

    The most significant word comes first; `novel` are the documents that are called novel.

    Examples
    --------
    >>> words = [RisenWord(word, 4, 0.0, 1e-6) for word in ("sars", "virus", "cyclone")]
    >>> bags = [frozenset({"sars", "virus"})] * 4 + [frozenset({"cyclone"})] * 4
    >>> [group.rules for group in group_words(words, bags, [True] * 8)]
    [('sars', 'virus'), ('cyclone',)]
    """
    place = {word.word: number for number, word in enumerate(words)}
    pairs = [
        (place[name], row)
        for row, bag in enumerate(bags)
        for name in bag & place.keys()
        if novel[row] or words[place[name]].pure or not words[place[name]].novel
    ]
    numbers, rows = np.array(pairs, np.int64).reshape(-1, 2).T
    ones = np.ones(len(rows), np.int64)
    member = sparse.csr_array((ones, (numbers, rows)), shape=(len(words), len(bags)))
    together, sizes = (member @ member.T).tocoo(), np.diff(member.indptr)
    least = _LINK * np.minimum(sizes[together.row], sizes[together.col])
    linked = (together.data >= 2) & (together.data >= least)
    pair = (together.row[linked], together.col[linked])
    _, labels = connected_components(
        sparse.csr_array((linked[linked], pair), shape=together.shape), directed=False
    )
    documents = {
        word.word: set(member.indices[begin:end].tolist())
        for word, begin, end in zip(words, member.indptr, member.indptr[1:], strict=False)
    }
    groups: dict[int, list[RisenWord]] = {}
    for word, label in zip(words, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(word)
    return [_group(group, documents) for group in groups.values()]


def _group(words: Sequence[RisenWord], documents: Mapping[str, set[int]]) -> RisenGroup:
    """Return a group; its rules are pure words, or words of novel documents, or its best word."""
    rules = [word for word in words if word.pure]
    of_novel = [word for word in words if word.novel and not word.pure]
    if not rules and not of_novel:
        rules = [min(words, key=lambda word: word.expected / word.documents)]
    rows = set().union(*(documents[word.word] for word in (*rules, *of_novel)))
    return RisenGroup(
        tuple(words),
        tuple(word.word for word in rules),
        tuple(word.word for word in of_novel),
        tuple(sorted(rows)),
    )


def word_p_values(
    counts: ArrayLike, size: int, before: ArrayLike, total: int
) -> NDArray[np.float64]:
    """Return how probable so many documents with each word are in a window.

    `counts` and `before` are the documents that have the word, in the window and in the reference;
    `size` and `total` all documents of both.

    Examples
    --------
    >>> (word_p_values([5, 2], 100, [0, 20], 1000) < 0.001).tolist()
    [True, False]
    """
    x, f = np.asarray(counts), np.asarray(before)
    return hypergeometric_tail(x, size + total, x + f, size)


def log_probabilities(
    counts: ArrayLike, size: int, before: ArrayLike, total: int
) -> NDArray[np.float64]:
    """Return the logarithm of how probable exactly so many documents with each word are.

    The parameters are those of `word_p_values`.

    Examples
    --------
    >>> (log_probabilities([5, 2], 100, [0, 20], 1000) < log([1e-4, 0.5])).tolist()
    [True, True]
    """
    x, f = np.asarray(counts, np.int64), np.asarray(before, np.int64)
    found: NDArray[np.float64] = (
        log_choose(size, x) + log_choose(total, f) - log_choose(size + total, x + f)
    )
    return found


def tarone(numbers: ArrayLike, size: int, total: int, level: float) -> float:
    """Return the level of each word, so that one of all is below it with probability `level`.

    The first of `numbers` is how many words no document has, window and reference taken together,
    the second how many words one has; `size` and `total` are the documents of both.

    Examples
    --------
    >>> numbers = [0, 1000, 0, 0, 0, 10]  # 1,000 words are too rare to be significant
    >>> 0.01 / 20 < tarone(numbers, 100, 1000, 0.01) <= 0.01 / 10
    True
    """
    kinds = np.asarray(numbers, dtype=np.int64)
    values = np.flatnonzero(kinds)
    least = log_choose(size, np.minimum(values, size)) - log_choose(
        size + total, np.minimum(values, size + total)
    )
    least[values > size] = -np.inf
    testable, bound = int(kinds.sum()), log(level)
    for value, smallest in zip(values.tolist(), least.tolist(), strict=True):  # the rarest first
        if smallest <= log(level / testable):
            break
        testable -= int(kinds[value])
        bound = min(bound, smallest - 1e-9)  # out of the reach of the words that do not count
        if not testable:
            break
    return min(level / max(testable, 1), exp(bound))
