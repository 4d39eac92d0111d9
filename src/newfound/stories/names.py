"""Names of themes: a few strong words, in the order in which texts have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise, permutations

__all__ = ["in_reading_order", "theme_name"]

NAME_STRENGTH = 0.45  # of a word in a name, relative to the strongest word
MAX_WORDS = 4
MIN_SHARE = 0.1  # of the texts, in which two words stand side by side, for their order to count


def theme_name(words: Sequence[tuple[str, float]], first: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the words of a name: two to four strong words, at most one of several forms.

    Parameters
    ----------
    words : sequence of (str, float)
        The words of a theme and their weights, the strongest first.
    first : sequence of str
        Words that the name has in any case.

    Examples
    --------
    >>> theme_name([("iraq", 9.0), ("iraqi", 8.0), ("war", 7.0), ("howard", 2.0)])
    ('iraq', 'war')
    """
    chosen = list(first)
    for word, weight in words:
        if len(chosen) >= MAX_WORDS:
            break
        strong = weight >= NAME_STRENGTH * words[0][1] or len(chosen) < 2
        if strong and not any(_akin(word, other) for other in chosen):
            chosen.append(word)
    return tuple(chosen)


def _akin(one: str, other: str) -> bool:
    """Return whether two words begin alike, but for the last letter of the shorter: iraq, iraqi."""
    shared = min(len(one), len(other))
    return one[: max(4, shared - 1)] == other[: max(4, shared - 1)]


def in_reading_order(words: Sequence[str], texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return words in the order in which texts have them, where they often stand side by side.

    Other words stay in the given order.

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
    n = 0
    for text in texts:
        n += 1
        for pair in set(pairwise(text)) & before.keys():
            before[pair] += 1

    def lead(one: str, other: str) -> int:
        found = before[one, other] - before[other, one]
        return found if abs(found) >= MIN_SHARE * n else 0

    # Of several best orders, max takes the first, and the given one comes first.
    return max(
        permutations(words),
        key=lambda order: sum(lead(one, other) for one, other in combinations(order, 2)),
    )
