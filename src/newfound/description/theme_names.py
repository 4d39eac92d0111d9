"""Names of themes: a few strong words, in the order in which texts have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations

__all__ = ["in_reading_order", "theme_name"]

NAME_STRENGTH = 0.45  # of a word in a name, relative to the strongest word
MAX_WORDS = 4
NEAR = 3  # words apart at most, for the order of two words to count


def theme_name(words: Sequence[tuple[str, float]]) -> tuple[str, ...]:
    """Return the words of a name: two to four strong words, at most one of several forms.

    Parameters
    ----------
    words : sequence of (str, float)
        The words of a theme and their weights, the strongest first.

    Examples
    --------
    >>> theme_name([("iraq", 9.0), ("iraqi", 8.0), ("war", 7.0), ("howard", 2.0)])
    ('iraq', 'war')
    """
    chosen: list[str] = []
    for word, weight in words:
        strong = weight >= NAME_STRENGTH * words[0][1] or len(chosen) < 2
        if strong and not any(_akin(word, other) for other in chosen):
            chosen.append(word)
        if len(chosen) == MAX_WORDS:
            break
    return tuple(chosen)


def _akin(one: str, other: str) -> bool:
    """Return whether two words are probably forms of one, such as iraq and iraqi."""
    shared = min(len(one), len(other))
    return one[: max(4, shared - 1)] == other[: max(4, shared - 1)]


def in_reading_order(words: Sequence[str], texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return words in the order that most texts have them in, where they are near each other.

    Words that are never near each other stay in the given order.

    Parameters
    ----------
    words : sequence of str
        The words of a name.
    texts : iterable of sequence of str
        The words of each text, in order.

    Examples
    --------
    >>> in_reading_order(["day", "australia"], [["australia", "day", "honours"]])
    ('australia', 'day')
    """
    before = {pair: 0 for pair in permutations(words, 2)}
    for text in texts:
        places = [(place, word) for place, word in enumerate(text) if word in words]
        near = {
            (one, other)
            for (first, one), (second, other) in combinations(places, 2)
            if second - first <= NEAR and one != other
        }
        for pair in near:
            before[pair] += 1

    def agreeing(order: tuple[str, ...]) -> int:
        return sum(
            before[one, other] - before[other, one] for one, other in combinations(order, 2)
        )

    # Of several best orders, max takes the first, and the given one comes first.
    return max(permutations(words), key=agreeing)
