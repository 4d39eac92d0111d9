"""How texts write a word: with capitals or without, and with typing errors.

Words are compared in lower case. A reader expects *SARS*, *Jesus* and *GnuPG*: a word is shown with
the capitals that most texts give it inside sentences. A typing error is read as the known spelling
that is one edit away.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import simplemma
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from newfound.text.tokens import Token, fold

if TYPE_CHECKING:
    from newfound.text.corpus import Corpus
    from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "MOST_CAPITALS",
    "Capitals",
    "Spelling",
    "SpellingCounter",
    "corpus_spellings",
    "spelled_form",
]

MIN_SHARE = 0.8  # of the occurrences inside sentences, that have capitals
MIN_OCCURRENCES = 2
MOST_CAPITALS = 0.5  # of all words inside sentences; beyond this, texts are titles
N_READ = 20  # documents that tell the spelling of a word
MOST_READ = 1_000  # documents that tell the spellings of all words
N_LETTERS = 2_000  # of the beginning of each of them

_CAPITAL = re.compile(r"[A-ZÀ-ÞΑ-ΩА-Я](?<=[a-zß-ÿα-ωа-я,][ \n].)\w++(?!-)")
_NOUN = re.compile(r" an? ([A-Z]\w++)(?!['’-]| [A-Z])")
_INSIDE = re.compile(r"(?<=[^\W_]|,) ([^\W\d_])")


class Capitals:
    """Counts of the words that texts write with a capital inside sentences.

    Examples
    --------
    >>> capitals = Capitals()
    >>> capitals.count("Two men, an American and John Smith, met a German in Wales.")
    >>> sorted(capitals.documents), sorted(capitals.nouns)
    (['american', 'german', 'john', 'smith', 'wales'], ['american', 'german'])
    """

    def __init__(self) -> None:
        self._documents: Counter[str] = Counter()
        self._nouns: set[str] = set()

    @classmethod
    def of(cls, documents: Mapping[str, int], nouns: Iterable[str]) -> Capitals:
        """Return counts that were made elsewhere, such as sums of the counts of many batches."""
        capitals = cls()
        capitals._documents.update(documents)
        capitals._nouns.update(nouns)
        return capitals

    def count(self, text: str) -> None:
        """Add the words of a text."""
        self._documents.update(set(_CAPITAL.findall(text)))
        self._nouns.update(_NOUN.findall(text))

    def counted(self, texts: Iterable[str]) -> Iterable[str]:
        """Return texts of which the words are added: a sequence now, an iterator on the way."""
        if not isinstance(texts, Sequence):
            return self._counted_on_the_way(texts)
        for text in texts:
            self.count(text)
        return texts

    def _counted_on_the_way(self, texts: Iterable[str]) -> Iterator[str]:
        for text in texts:
            self.count(text)
            yield text

    @property
    def documents(self) -> Counter[str]:  # noqa: D102
        # Folding each word once here is much faster than folding each text.
        folded: Counter[str] = Counter()
        for word, n in self._documents.items():
            folded[word.lower()] += n
        return folded

    @property
    def nouns(self) -> set[str]:  # noqa: D102
        return {noun.lower() for noun in self._nouns}


class SpellingCounter:
    """Counts how texts write some words.

    Only words after another word or a comma count: the first word of a sentence has a capital in
    any case. A text without small letters says nothing. Where more than half of all words have a
    capital, texts are titles, and a capital counts only if it is not the first letter.

    Of a pair of words, each is counted by itself.

    Examples
    --------
    >>> from newfound.text.vectorizer import TextVectorizer
    >>> texts = ["She left Kenya, and the BBC knew it.", "All of Kenya saw the BBC's news."]
    >>> vectorizer = TextVectorizer().fit(texts)
    >>> counter = SpellingCounter(["bbc", "kenya", "news"])
    >>> for text in texts:
    ...     counter.read(text, vectorizer.tokens(text))
    >>> counter.spellings()
    {'bbc': 'BBC', 'kenya': 'Kenya', 'news': 'news'}
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(words)
        self._counts: dict[str, Counter[str]] = {
            part: Counter() for word in self._words for part in word.split(" ")
        }
        self._capitals = self._inside = 0

    def read(self, text: str, tokens: Iterable[Token]) -> None:
        """Count the words of a text; `tokens` are those of the vectorizer."""
        if text.isupper():
            return
        first = _INSIDE.findall(text)
        self._inside += len(first)
        self._capitals += sum(map(str.isupper, first))
        for token in tokens:
            counts = self._counts.get(token.term)
            if counts is not None and _is_inside(text, token.start):
                counts[_spelled(token)] += 1

    def spellings(self) -> dict[str, str]:
        """Return each word as most texts write it."""
        titles = self._capitals > MOST_CAPITALS * self._inside
        usual = {part: _usual(part, counts, titles) for part, counts in self._counts.items()}
        return {word: " ".join(usual[part] for part in word.split(" ")) for word in self._words}


def corpus_spellings(
    corpus: Corpus, vectorizer: TextVectorizer, words: Sequence[str]
) -> dict[str, str]:
    """Return words as the novel documents of a corpus write them, or else the known ones.

    The vectorizer is the one that made the matrix of the corpus, and has the words.
    """
    rows: dict[int, None] = {}
    for part in dict.fromkeys(part for word in words for part in word.split(" ")):
        column = vectorizer.vocabulary_.get(part)
        if column is not None and len(rows) < MOST_READ:
            own = corpus.with_word(column)
            novel = own[corpus.novel[own]]
            rows.update(dict.fromkeys((novel if len(novel) else own)[:N_READ].tolist()))
    counter = SpellingCounter(words)
    for row in rows:
        text = corpus.texts[row][:N_LETTERS]
        counter.read(text, vectorizer.tokens(text))
    return counter.spellings()


def spelled_form(form: str, term: str, spelling: str) -> str:
    """Return a form of a word with the capitals of the word.

    Examples
    --------
    >>> spelled_form("mps", "mp", "MP"), spelled_form("men", "man", "man")
    ('MPs', 'men')
    """
    if form.startswith(term):
        return spelling + form[len(term) :]
    return form[:1].upper() + form[1:] if spelling[:1].isupper() else form


def _is_inside(text: str, start: int) -> bool:
    """Return whether a word follows another word or a comma, on the same line."""
    before = text[max(0, start - 3) : start]
    last = before.rstrip()
    return bool(last) and (last[-1].isalnum() or last[-1] == ",") and "\n" not in before


def _spelled(token: Token) -> str:
    """Return a word with the capitals that a text gives it."""
    term, surface = token.term, token.surface
    if fold(surface[: len(term)]) == term:
        return surface[: len(term)]
    written = term
    if len(surface) > 1 and surface.isupper():
        written = term.upper()
    elif surface[:1].isupper():
        written = term[:1].upper() + term[1:]
    return written if fold(written) == term else term  # *straße* has no capital of each letter


def _usual(word: str, counts: Mapping[str, int], titles: bool) -> str:
    total, first = sum(counts.values()), int(titles)
    capitals = {
        written: n for written, n in counts.items() if written[first:] != written[first:].lower()
    }
    if total < MIN_OCCURRENCES or sum(capitals.values()) < MIN_SHARE * total:
        return word
    return max(capitals, key=lambda written: (capitals[written], written))


_SHORTEST = 3  # letters of a word that is corrected,
_SHORTEST_KNOWN = 4  # and of its known spelling; too many shorter words are one edit apart
_SHORTEST_OF_LONG = 5  # of both, in long texts
_MAX_FORMS = 50_000  # the most frequent known spellings; each has an entry for each letter


class Spelling:
    """The spellings that known documents have.

    A word is taken for a typing error of a known spelling if no known document and no dictionary
    has it, and one edit makes it the known spelling: a letter added, left out or replaced, or two
    neighbouring letters exchanged, but not the first letter. Of several spellings the most frequent
    one is taken. Languages without a dictionary have no corrections. In any language, *dont* is
    read as *don't* if that is known.

    In `long` texts, where an error weighs little and short new words are often names, the word and
    the known spelling have at least five letters, and two documents have the spelling. In others
    the word has at least three letters, and the spelling four.

    `documents` has the number of known documents of each word form.

    Examples
    --------
    >>> spelling = Spelling({"account": 7, "house": 3}, "en")
    >>> [spelling.corrected(form) for form in ("acount", "accuont", "mouse", "zyxwv")]
    ['account', 'account', 'mouse', 'zyxwv']
    """

    def __init__(self, documents: Mapping[str, int], language: str, *, long: bool = False) -> None:
        self.documents, self.language, self.long = documents, language, long

    @classmethod
    def of(cls, vectorizer: TextVectorizer, *, long: bool = False) -> Spelling:
        """Return the spellings of the documents that a vectorizer was fitted on."""
        documents = {
            form: n
            for term, forms in vectorizer.forms_.items()
            if " " not in term
            for form, n in forms.items()
        }
        return cls(documents, vectorizer.language, long=long)

    def corrected(self, form: str) -> str:
        """Return the known spelling of a word form, or the form itself if there is none."""
        if form in self.documents:
            return form
        plain = form.replace("'", "")
        if (joined := self._by_letters.get(plain)) is not None:
            return joined
        if (
            len(form) < (_SHORTEST_OF_LONG if self.long else _SHORTEST)
            or not form.isalpha()
            or self.language not in SUPPORTED_LANGUAGES
        ):
            return form
        found = {
            known
            for shorter in _deletions(form)
            for known in self._by_deletion.get(shorter, ())
            if _one_edit_apart(form, known)
        }
        # The dictionary is asked last, because that takes longest.
        if not found or simplemma.is_known(form, lang=self.language):
            return form
        return min(found, key=lambda known: (-self.documents[known], known))

    @cached_property
    def _by_letters(self) -> dict[str, str]:
        """Known spellings with an apostrophe, by their letters, and those without one by theirs."""
        listed = [form for form in self.documents if "'" in form]
        listed.sort(key=lambda form: (self.documents[form], form))
        return {form.replace("'", ""): form for form in listed}

    @cached_property
    def _by_deletion(self) -> dict[str, list[str]]:
        """Known spellings, by themselves and by what is left of them without one letter."""
        shortest, fewest = (_SHORTEST_OF_LONG, 2) if self.long else (_SHORTEST_KNOWN, 1)
        usable = [
            form
            for form, n in self.documents.items()
            if len(form) >= shortest and n >= fewest and form.isalpha()
        ]
        usable.sort(key=lambda form: (-self.documents[form], form))
        index: dict[str, list[str]] = {}
        for form in usable[:_MAX_FORMS]:
            for shorter in _deletions(form):
                index.setdefault(shorter, []).append(form)
        return index


def _deletions(form: str) -> set[str]:
    """Return a form, and what is left of it without each of its letters but the first.

    Two forms that are one edit apart have one of these in common.
    """
    return {form, *(form[:i] + form[i + 1 :] for i in range(1, len(form)))}


def _one_edit_apart(one: str, other: str) -> bool:
    """Return whether one edit, not of the first letter, makes two different forms equal."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    i = 0
    while i < len(one) and one[i] == other[i]:
        i += 1
    if not i:
        return False
    if len(one) < len(other):
        return one[i:] == other[i + 1 :]
    exchanged = one[i : i + 2] == other[i : i + 2][::-1] and one[i + 2 :] == other[i + 2 :]
    return exchanged or one[i + 1 :] == other[i + 1 :]
