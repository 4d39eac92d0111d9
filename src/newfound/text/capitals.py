"""How texts write a word: with capitals or without.

Words are compared in lower case. A reader expects *SARS*, *Jesus* and *GnuPG*: a word is shown with
the capitals that most texts give it inside sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from newfound.text.tokens import Token, fold

if TYPE_CHECKING:
    from newfound.text.corpus import Corpus
    from newfound.text.vectorizer import TextVectorizer

__all__ = ["MOST_CAPITALS", "Capitals", "SpellingCounter", "corpus_spellings", "spelled_form"]

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

    Attributes
    ----------
    documents : Counter of str
        Number of texts that have a word with a capital after a lower-case word or a comma; keys are
        in lower case.
    nouns : set of str
        Words with a capital that follow *a* or *an* and are not part of a longer name, in lower
        case.

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

    Parameters
    ----------
    words : iterable of str
        The words, as a vectorizer has them. Of a pair of words, each is counted by itself.

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
