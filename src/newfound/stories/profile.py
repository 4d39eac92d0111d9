"""What the documents of a story have in common, and whether another document resembles them.

A document resembles a story as far as its words, by how rare they are, are words of the documents
of the story, by how many of these have them. It is like the story if it resembles it at least half
as much as a typical first document of the story resembles the others: a headline that shares one
of five words with others is of their story more easily than an article that shares one of a
hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np

from newfound.stories.risen import Bag

__all__ = ["Profile"]

_LIKE = 0.5  # of how much a typical first document resembles the others
_SHARED = 0.2  # of the documents have a word that two documents share
_WORDS = 80  # that are kept
_MEMORY = 200.0  # documents, after which earlier ones count half

Rarity = Callable[[str], float]


@dataclass
class Profile:
    """How many documents of a story have each word, later ones with more weight.

    Attributes
    ----------
    documents : float
        The number of documents that count.
    counts : dict of str to float
        How many of them have each word; the most frequent words.
    least : float
        How much a document must resemble them.

    Examples
    --------
    >>> first = [frozenset(text.split()) for text in ("croc bites man", "croc bites boat")]
    >>> story = Profile.of(first, lambda word: 1.0)
    >>> [story.likeness(frozenset(text.split()), lambda word: 1.0) >= 1
    ...  for text in ("croc bites again", "man wins boat race in darwin today")]
    [True, False]
    """

    documents: float = 0.0
    counts: dict[str, float] = field(default_factory=dict)
    least: float = 0.0

    @classmethod
    def of(cls, bags: Sequence[Bag], rarity: Rarity) -> Profile:
        """Return the profile of the first documents of a story, of which there is at least one."""
        profile = cls()
        for bag in bags:
            profile.add(bag)
        alike = [profile._resemblance(bag, rarity, own=True) for bag in bags]
        profile.least = _LIKE * float(np.median(alike))
        return profile

    def add(self, bag: Bag) -> None:
        """Count another document of the story."""
        self.documents += 1
        counts = self.counts
        for word in bag:
            counts[word] = counts.get(word, 0.0) + 1
        if self.documents >= _MEMORY:
            self.documents /= 2
            for word in counts:
                counts[word] /= 2
        if len(counts) > 4 * _WORDS:
            kept = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_WORDS]
            self.counts = dict(kept)

    def shared(self, bag: Bag) -> int:
        """Return how many words of a document a fifth of the documents of the story have."""
        least = max(_SHARED * self.documents, 2.0)
        return sum(self.counts.get(word, 0.0) >= least for word in bag)

    def frequent(self, least: float) -> list[str]:
        """Return the words that a share of the documents has, the most frequent first."""
        found = [(n, word) for word, n in self.counts.items() if n >= least * self.documents]
        return [word for _, word in sorted(found, key=lambda item: (-item[0], item[1]))]

    def likeness(self, bag: Bag, rarity: Rarity) -> float:
        """Return how much a document resembles the story; from 1 on it is like it."""
        return self._resemblance(bag, rarity) / max(self.least, 1e-9)

    def _resemblance(self, bag: Bag, rarity: Rarity, *, own: bool = False) -> float:
        """Return how much a document resembles the others; its `own` counts do not count."""
        others = self.documents - own
        if others <= 0:
            return 1.0
        weights = {word: rarity(word) for word in bag}
        shared = (
            weights[word] * (self.counts[word] - own) / others
            for word in bag
            if word in self.counts
        )
        # A plain sum would depend on the order of the words of a set.
        return fsum(shared) / max(fsum(weights.values()), 1e-9)
