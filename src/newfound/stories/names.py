"""Names of groups: a few strong words, in the order and with the capitals that texts give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from itertools import combinations, pairwise, permutations
from typing import TYPE_CHECKING

from newfound.text.spelling import SpellingCounter
from newfound.text.tokens import Token

if TYPE_CHECKING:
    from newfound.stories.themes import Theme

__all__ = ["N_LISTED", "in_reading_order", "listed", "named_as_read", "same_stem", "strong_words"]

NAME_STRENGTH = 0.45  # of a word in a name, relative to the strongest word
MAX_WORDS = 4
MIN_SHARE = 0.1  # of the texts, in which two words stand side by side, for their order to count
N_LISTED = 3  # words that name a group of which no more is known than its words
N_READ = 100  # documents, at most about, that tell the order of the words of a name
N_LETTERS = 1000  # of the beginning of each of them


def listed(words: Sequence[str]) -> str:
    """Return the name of a group, given its words, the most characteristic first."""
    return ", ".join(words[:N_LISTED])


def strong_words(words: Sequence[tuple[str, float]], first: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the words of a name: two to four strong words, at most one of several forms.

    The strongest word comes first. The name has the words of `first` in any case.

    Examples
    --------
    >>> strong_words([("iraq", 9.0), ("iraqi", 8.0), ("war", 7.0), ("howard", 2.0)])
    ('iraq', 'war')
    """
    chosen = list(first)
    for word, weight in words:
        if len(chosen) >= MAX_WORDS:
            break
        strong = weight >= NAME_STRENGTH * words[0][1] or len(chosen) < 2
        if strong and not any(same_stem(word, other) for other in chosen):
            chosen.append(word)
    return tuple(chosen)


def same_stem(one: str, other: str, most: int | None = None) -> bool:
    """Return whether two words begin alike, with at least four letters: iraq, iraqi.

    With `most`, the shorter word has to be the beginning of the longer one, which has at most so
    many letters more. Otherwise its last letter may differ, and endings may be of any length.

    Examples
    --------
    >>> same_stem("house", "housing"), same_stem("house", "housing", most=2)
    (True, False)
    """
    shared = min(len(one), len(other))
    if most is None:
        return one[: max(4, shared - 1)] == other[: max(4, shared - 1)]
    close = shared >= 4 and abs(len(one) - len(other)) <= most
    return close and one[:shared] == other[:shared]


def in_reading_order(words: Sequence[str], texts: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return words in the order in which texts have them, where they often stand side by side.

    Other words stay in the given order.

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
        more = before[one, other] - before[other, one]
        return more if abs(more) >= MIN_SHARE * n else 0

    # Of several best orders, max takes the first, and the given one comes first.
    return max(
        permutations(words),
        key=lambda order: sum(lead(one, other) for one, other in combinations(order, 2)),
    )


def named_as_read(
    themes: Sequence[Theme], texts: Sequence[str], tokens: Callable[[str], Sequence[Token]]
) -> list[Theme]:
    """Return themes with names that novel documents would give them.

    A rule of several words that finds most documents of the theme is part of the name. A word of
    an earlier name is not, unless a rule has it. The words have the order in which documents have
    them, and the capitals that most documents give them.

    `tokens` returns the words of a text, in order, as the themes have them.
    """
    used: set[str] = set()
    names = []
    for theme in themes:
        names.append(_name_words(theme, used))
        used.update(names[-1])
    counter = SpellingCounter(used)
    orders = []
    for theme, name in zip(themes, names, strict=True):
        rows = theme.novel_documents
        begins = [texts[row][:N_LETTERS] for row in rows[:: max(1, len(rows) // N_READ)].tolist()]
        read = [(text, tokens(text)) for text in begins]
        for text, words in read:
            counter.read(text, words)
        orders.append(in_reading_order(name, ([word.term for word in words] for _, words in read)))
    spelling = counter.spellings()
    return [
        replace(theme, name=" ".join(map(spelling.__getitem__, order)))
        for theme, order in zip(themes, orders, strict=True)
    ]


def _name_words(theme: Theme, used: Set[str]) -> tuple[str, ...]:
    """Return the words of a name, those of a rule that finds most documents first."""
    rule = theme.rules[0]
    most = len(rule.words) > 1 and 2 * rule.novel > theme.documents_novel
    of_rules = {word for rule in theme.rules for word in rule.words}
    fresh = [pair for pair in theme.words if pair[0] in of_rules or pair[0] not in used]
    return strong_words(fresh if len(fresh) > 1 else theme.words, rule.words if most else ())
