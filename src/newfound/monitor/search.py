"""Words that have become more frequent than in the reference, and the topics that they form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newfound.arithmetic import log
from newfound.monitor.laws import log_probabilities, tarone, word_p_values

__all__ = ["Draft", "Reference", "RisenWord", "group_words", "risen_words"]

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
    """Documents that windows are compared with.

    Attributes
    ----------
    counts : ndarray of int
        The number of documents that have each word.
    size : int
        The number of all documents.
    """

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
class Draft:
    """Risen words that occur together, the strongest first, and their documents.

    Attributes
    ----------
    words : tuple of RisenWord
        The words.
    rules : tuple of str
        Those of which a single one tells that a document belongs to the topic.
    novel_rules : tuple of str
        Those that tell it of documents called novel only.
    rows : tuple of int
        The documents that match a rule.
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

    Parameters
    ----------
    counts : ndarray of int
        The number of documents of the windows that have each word.
    size : int
        The number of all documents of the windows.
    before : Reference
        The same words in the reference.
    level : float
        The probability that any word is returned although nothing has changed.
    names : sequence of str
        The words.

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
) -> list[Draft]:
    """Return the topics that risen words form: those that documents have together.

    Parameters
    ----------
    words : sequence of RisenWord
        The risen words, the most significant first.
    bags : sequence of frozenset of str
        The words of each document of the windows.
    novel : sequence of bool
        Which of the documents are called novel.

    Examples
    --------
    >>> words = [RisenWord(word, 4, 0.0, 1e-6) for word in ("sars", "virus", "cyclone")]
    >>> bags = [frozenset({"sars", "virus"})] * 4 + [frozenset({"cyclone"})] * 4
    >>> [draft.rules for draft in group_words(words, bags, [True] * 8)]
    [('sars', 'virus'), ('cyclone',)]
    """
    by_name = {word.word: word for word in words}
    rows: dict[str, set[int]] = defaultdict(set)
    together: Counter[tuple[str, str]] = Counter()
    for row, bag in enumerate(bags):
        own = [
            name
            for name, word in by_name.items()
            if name in bag and (novel[row] or not word.novel or word.pure)
        ]
        for name in own:
            rows[name].add(row)
        together.update((one, other) for one in own for other in own if one < other)
    group_of = {name: name for name in by_name}

    def root(name: str) -> str:
        while group_of[name] != name:
            name = group_of[name]
        return name

    order = {name: place for place, name in enumerate(by_name)}
    for (one, other), n in together.items():
        if n >= 2 and n >= _LINK * min(len(rows[one]), len(rows[other])):
            first, second = sorted((root(one), root(other)), key=order.__getitem__)
            group_of[second] = first
    groups: dict[str, list[RisenWord]] = defaultdict(list)
    for name, word in by_name.items():
        groups[root(name)].append(word)
    return [_draft(group, rows) for group in groups.values()]


def _draft(words: Sequence[RisenWord], rows: Mapping[str, set[int]]) -> Draft:
    """Return a topic; its rules are pure words, or words of novel documents, or its best word."""
    rules = [word for word in words if word.pure]
    of_novel = [word for word in words if word.novel and not word.pure]
    if not rules and not of_novel:
        rules = [min(words, key=lambda word: word.expected / word.documents)]
    found = set().union(*(rows[word.word] for word in (*rules, *of_novel)))
    return Draft(
        tuple(words),
        tuple(word.word for word in rules),
        tuple(word.word for word in of_novel),
        tuple(sorted(found)),
    )
