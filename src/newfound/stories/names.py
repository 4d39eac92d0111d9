"""Names of groups of documents: phrases that their documents have, or else a few strong words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from newfound.text.tokens import Token, fold

if TYPE_CHECKING:
    from newfound.stories.themes import Theme, Themes

__all__ = ["N_LISTED", "listed", "named_as_read", "phrase_name", "same_stem", "strong_words"]

NAME_STRENGTH = 0.45  # of a word in a name, relative to the strongest word
MAX_WORDS = 4
N_LISTED = 3  # words that name a group of which no more is known than its words
N_READ = 200  # documents of a theme, at most about, that tell its name
N_LETTERS = 3000  # of the beginning of each of them
MOST_PHRASES = 3  # of a name
WHOLE = 0.5  # of the documents have a phrase that is a name by itself
MIN_SHARE = 0.15  # of the documents, that a further phrase adds
LEAST = 0.4  # of the documents, for a phrase that stands for one that is taken

# What may stand between the words of a phrase: a space, a hyphen, or a small word of this kind.
_SMALL = "of|the|and|in|for|on|at|to|with|by|de|du|des|del|la|le|les|el|los|y|et|von|van|der|und"
_GAP = re.compile(rf"[\s\-‐‑]{{1,3}}(?:(?:{_SMALL})\s{{1,2}}(?:the\s)?)?|[./]", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")


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


def named_as_read(
    found: Themes, texts: Sequence[str], tokens: Callable[[str], Sequence[Token]]
) -> Themes:
    """Return themes and their parts with the names that their documents give them.

    A name is the phrase that most of the documents have and that has the most telling words, as
    they write it. If it is in less than half of them, phrases of the others follow. The first
    typical document is one that has the name, and is not yet the first one of another theme.

    `tokens` returns the words of a text, in order, as the themes have them.
    """
    taken: set[str] = set()
    shown: set[int] = set()
    whole = {id(theme) for theme in (*found.themes, *found.gone)}

    def named(theme: Theme) -> Theme | None:
        own = theme.known_documents if theme.gone else theme.novel_documents
        some = own[:: max(1, len(own) // N_READ)].tolist()
        read = {row: texts[row][:N_LETTERS] for row in {*some, *theme.typical}}
        documents = [_Phrases(text, tokens(text)) for text in read.values()]
        of_rules = {word for rule in theme.rules for word in rule.words}
        weights = dict.fromkeys(of_rules, 0.0) | dict(theme.words)
        name = _name(documents, weights, of_rules, taken)
        if name is None and id(theme) not in whole:
            return None  # a part that says no more than the theme
        name = name or theme.name
        taken.add(fold(name))
        first = fold(name.split(", ")[0])
        spaced = {row: fold(" ".join(read[row].split())) for row in theme.typical}
        typical = sorted(theme.typical, key=lambda row: (row in shown, first not in spaced[row]))
        shown.update(typical[:1])
        return replace(theme, name=name, typical=tuple(typical))

    return found.mapped(named)


def phrase_name(
    texts: Sequence[str],
    tokens: Callable[[str], Sequence[Token]],
    weights: Mapping[str, float],
    rules: Iterable[str],
) -> str | None:
    """Return the phrase that names some texts, as they write it; None if most of them have none.

    `weights` are those of the words that tell, and `rules` are the words that the texts are known
    by.
    """
    documents = [_Phrases(text[:N_LETTERS], tokens(text[:N_LETTERS])) for text in texts[:N_READ]]
    return _name(documents, weights, set(rules), set())


class _Phrases:
    """The phrases of a document: up to four words that follow each other in one sentence."""

    def __init__(self, text: str, words: Sequence[Token]) -> None:
        self._text, self._words = text, words

    def of(self, weights: Mapping[str, float]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the words and the text of each phrase that begins and ends with a weighed word."""
        words, text = self._words, self._text
        for first, word in enumerate(words):
            if word.term not in weights:
                continue
            last = word
            terms = [word.term]
            yield (word.term,), self._written(word.start, word.end)
            for other in words[first + 1 : first + MAX_WORDS]:
                if not _GAP.fullmatch(text[last.end : other.start]):
                    break
                terms.append(other.term)
                last = other
                if other.term in weights:
                    yield tuple(terms), self._written(word.start, other.end)

    def _written(self, start: int, end: int) -> str:
        """Return the text of a phrase; one that begins a sentence in small letters."""
        written = " ".join(_POSSESSIVE.sub("", self._text[start:end]).split())
        before = self._text[:start].rstrip(" ")[-1:]
        begins = not (before.isalnum() or before == ",")
        if begins and written[:1].isupper() and written.split(" ")[0][1:].islower():
            return written[:1].lower() + written[1:]
        return written


def _name(
    documents: Sequence[_Phrases],
    weights: Mapping[str, float],
    of_rules: set[str],
    taken: set[str],
) -> str | None:
    """Return the name of a group; None if most documents have no phrase that is not taken."""
    where: defaultdict[tuple[str, ...], set[int]] = defaultdict(set)
    written: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for number, document in enumerate(documents):
        for terms, text in document.of(weights):
            where[terms].add(number)
            written[terms][text] += 1
    chosen: list[tuple[str, ...]] = []
    left, is_taken = set(range(len(documents))), False
    while where and len(chosen) < MOST_PHRASES:

        def value(terms: tuple[str, ...], left: set[int] = left) -> float:
            share = len(where[terms] & left) / len(documents)
            whole = 1.5 if share >= WHOLE else 1.0
            return share * whole * sum(weights.get(term, 0.0) for term in set(terms))

        best = max(where, key=lambda terms: (value(terms), terms))
        if not chosen:
            best = _longest(best, where, WHOLE * len(documents))
        new = where.pop(best)
        stands_in = of_rules.intersection(best) and len(new) >= LEAST * len(documents)
        if not chosen and is_taken and not stands_in:
            return None
        name = _usual(written[best])
        if chosen and len(new & left) < max(2, MIN_SHARE * len(documents)):
            break
        if any(same_stem(one, two) for other in chosen for one in other for two in best):
            continue
        if not chosen and fold(name) in taken:
            is_taken = True
            continue
        chosen.append(best)
        left = left - new
        if len(left) <= WHOLE * len(documents):
            break
    return ", ".join(_usual(written[terms]) for terms in chosen) or None


def _longest(
    phrase: tuple[str, ...], where: Mapping[tuple[str, ...], set[int]], least: float
) -> tuple[str, ...]:
    """Return the longest phrase with this one in it that so many documents have, or itself."""
    wider = [
        terms
        for terms, documents in where.items()
        if len(documents) >= least
        and any(
            terms[first : first + len(phrase)] == phrase
            for first in range(len(terms) - len(phrase) + 1)
        )
    ]
    return max(wider, key=lambda terms: (len(terms), len(where[terms]), terms), default=phrase)


def _usual(written: Counter[str]) -> str:
    """Return how a phrase is written most often; of the same number, in small letters."""
    return min(written.items(), key=lambda item: (-item[1], item[0].swapcase()))[0]
