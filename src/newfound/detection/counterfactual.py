"""A small set of words without which a novel text would be known.

`smallest_removal` says what is searched for. It scores the text without the words, each time anew.
`Scorer.smallest_removal` finds the same in the core, from the words of the text in their order, for
texts of which the other words are read in the same way when a word is cut out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from newfound.text.tokens import UNSPACED

__all__ = ["CANDIDATES", "WordSequence", "is_plain", "n_blank_lines", "smallest_removal"]

CANDIDATES = 24  # words that are tried in each step

# Where cutting out a word can change how its neighbours are read: signs that join words, if nothing
# is left on one side, and all but common punctuation.
_ODD = re.compile(r"_|[^\w\s!-~‘’“”–—…£€]|(?<![^\W_])['’-]|['’-](?![^\W_])|\d['’-]\d", re.UNICODE)
_BLANK_LINE = re.compile(r"\n(?=[^\S\n]*\n)")


@dataclass(frozen=True)
class WordSequence:
    """The words of a text in their order.

    Attributes
    ----------
    columns : mapping of str to int
        The column of each distinct word, -1 for one never seen.
    places : sequence of int
        Which of these words each place of the text has; -1 where neighbours are no pair.
    """

    columns: Mapping[str, int]
    places: Sequence[int]


def is_plain(text: str) -> bool:
    """Return whether words can be cut out of a text, and the others are read as before.

    Lines that become empty are another matter; see `n_blank_lines`.

    Examples
    --------
    >>> [is_plain(text) for text in ("Don't pay, please", "the 'best' card", "6-4", "a -- b")]
    [True, False, False, False]
    """
    return not (_ODD.search(text) or UNSPACED.search(text))


def n_blank_lines(text: str) -> int:
    r"""Return the number of blank lines, which part the words of a pair.

    Examples
    --------
    >>> n_blank_lines("one\n\n \ntwo\nthree")
    2
    """
    return len(_BLANK_LINE.findall(text))


def smallest_removal(
    words: Sequence[str], margins: Callable[[Sequence[Sequence[str]]], Any], most: int
) -> tuple[str, ...] | None:
    """Find a small set of words to remove until a margin is not above 0.

    A greedy search: the word whose removal lowers the margin most is removed, again and again.
    Then every word that need not be removed is put back.

    Parameters
    ----------
    words : sequence of str
        The words, those to try first in front.
    margins : callable
        Returns the margin after the removal of each of some sets of words.
    most : int
        The maximum number of words to remove.

    Returns
    -------
    tuple of str or None
        None if the margin stays above 0.

    Examples
    --------
    >>> weights = {"a": 3, "b": 1, "c": 2}
    >>> def margins(removals):
    ...     return [4 - sum(weights[word] for word in removed) for removed in removals]
    >>> smallest_removal(["b", "a", "c"], margins, 3)
    ('a', 'c')
    >>> smallest_removal(["b", "a", "c"], margins, 1) is None
    True
    """
    removed: list[str] = []
    while len(removed) < most:
        left = [word for word in words if word not in removed][:CANDIDATES]
        found = list(margins([[*removed, word] for word in left]))
        best = min(range(len(found)), key=found.__getitem__)
        removed.append(left[best])
        if found[best] <= 0:
            break
    else:
        return None
    for word in removed[:-1]:
        fewer = [other for other in removed if other != word]
        if margins([fewer])[0] <= 0:
            removed = fewer
    return tuple(removed)
