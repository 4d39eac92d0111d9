"""Lemmas of words: those of the dictionary, and those that the texts themselves show.

`lemmatize` looks at a word alone: it takes the lemma of simplemma, with the corrections of
``data/lemmas/en.txt``. `lemmas_from_texts` finds the words of a corpus for which that lemma is
wrong, or is not the name that a reader expects.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache

import simplemma
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from newfound.text.capitals import MOST_CAPITALS, Capitals
from newfound.text.languages import code_of
from newfound.text.tokens import is_word, read_data, stop_words

__all__ = [
    "check_language",
    "lemma_of",
    "lemmas_from_texts",
    "lemmatize",
    "without_clitics",
]

_CLITIC = {
    "en": re.compile(r"(?<=.)(?:'(?:s|ll|re|ve|d|m))+$"),
    "ca": re.compile(r"^[dlmnst]'(?=.)"),
    "fr": re.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'(?=.)"),
    "it": re.compile(
        r"^(?:[cdlmstv]|un|gl|(?:d|all?|dall?|dell?|nell?|sull?|quell?)l?|quest)'(?=.)"
    ),
}

# The thresholds of `lemmas_from_texts`; lab/notes/lemmas.md says how they were chosen.
_CAPITALIZED_NOUNS = frozenset(("de", "lb"))  # languages that write nouns with a capital
_MIN_DOCUMENTS = 3
_NAME_SHARE = 0.6
_FORM_SHARE = 0.8
_NOUN_SHARE = 0.3  # nouns also begin sentences, where their capitals do not count

# Languages whose words are their own lemmas: they hardly inflect, or there is no dictionary.
WITHOUT_LEMMAS = frozenset(("ja", "km", "ko", "lo", "my", "th", "vi", "zh"))


def lemmatize(word: str, *, language: str = "en") -> str:
    """Return the lemma of a lower-case word.

    It is that of simplemma, in lower case, with a table of corrections for English. A word of one
    or two letters or with a digit is its own lemma. An English word loses ``'s`` and the like
    (``'ll 're 've 'd 'm``) first, and is its own lemma if the dictionary would make it a function
    word (*overs* is not *over*). A French, Italian or Catalan word loses ``l'`` and the like.

    Examples
    --------
    >>> [lemmatize(word) for word in ("england's", "matches", "gone", "media", "overs", "b2b")]
    ['england', 'match', 'go', 'media', 'overs', 'b2b']
    >>> lemmatize("häuser", language="de")
    'haus'
    """
    check_language(language)
    return lemma_of(word, language)


def lemmas_from_texts(
    documents: Mapping[str, int], lemmas: Mapping[str, str], capitals: Capitals, language: str
) -> dict[str, str]:
    """Return the terms of words and lemmas for which the texts contradict the dictionary.

    1. A word that is mostly written with a capital is a name and stays as it is: *Wales* is not
       *wale*. The plural of a noun that is also written with a capital has its lemma: *Americans*,
       where there is *an American*. In languages that write all nouns with a capital, a word that
       is often written so has the lemma of the noun instead: German *Spiele* is *spiel*, while
       *spiele* is *spielen*.
    2. A lemma takes the name of one of its forms if four of five documents with any of its forms
       have that form: *innings*, where few write *inning*.

    Parameters
    ----------
    documents : mapping of str to int
        Number of documents that have each word, without clitics, in lower case.
    lemmas : mapping of str to str
        The lemma of each word, as `lemmatize` returns it.
    capitals : Capitals
        Which of them have a capital.
    language : str
        The language of the lemmas.

    Returns
    -------
    dict of str to str
        The term of a word (rule 1) or of a lemma (rule 2).

    Examples
    --------
    >>> capitals = Capitals()
    >>> for text in ("he left Wales", "in Wales", "she sees Wales"):
    ...     capitals.count(text)
    >>> documents = {"wales": 3, "innings": 5, "match": 2, "matches": 7}
    >>> lemmas = {word: lemmatize(word) for word in documents}
    >>> lemmas_from_texts(documents, lemmas, capitals, "en")
    {'inning': 'innings', 'wales': 'wales'}
    """
    names: set[str] = set()
    own: dict[str, str] = {}
    if language in _CAPITALIZED_NOUNS:
        own = _lemmas_of_nouns(documents, lemmas, capitals, language)
        lemmas = {**lemmas, **own}
    else:
        names = _names(documents, capitals)
    nouns = capitals.nouns & names
    found: dict[str, str] = {}
    forms: defaultdict[str, list[str]] = defaultdict(list)
    changed = [(word, lemma) for word, lemma in lemmas.items() if word != lemma]
    for word, lemma in changed:
        if word in names and lemma not in nouns:
            found[word] = word
        else:
            forms[lemma].append(word)
    for lemma, words in forms.items():
        if lemmas.get(lemma, lemma) != lemma:
            continue  # *sayings* has the lemma *saying*, but *saying* has the lemma *say*
        form = max(words, key=lambda word: (documents[word], word))
        total = sum(documents[word] for word in words) + documents.get(lemma, 0)
        frequent = documents[form] >= max(_MIN_DOCUMENTS, _FORM_SHARE * total)
        if frequent and form not in forms:
            found[lemma] = form
    found.update((word, found.get(lemma, lemma)) for word, lemma in own.items())
    return dict(sorted(found.items()))


def _lemmas_of_nouns(
    documents: Mapping[str, int], lemmas: Mapping[str, str], capitals: Capitals, language: str
) -> dict[str, str]:
    """Return the lemmas of words that are nouns by their capitals, where they differ."""
    counts = capitals.documents
    found = {
        word: _dictionary_lemma(word.capitalize(), language)
        for word in lemmas
        if counts[word] >= max(1, _NOUN_SHARE * documents.get(word, 0))
    }
    return {
        word: lemma for word, lemma in found.items() if is_word(lemma) and lemma != lemmas[word]
    }


def _names(documents: Mapping[str, int], capitals: Capitals) -> set[str]:
    """Return the words that most documents write with a capital."""
    counts = capitals.documents
    total = sum(documents.values())
    if sum(n for word, n in counts.items() if word in documents) > MOST_CAPITALS * total:
        return set()
    return {
        word
        for word, n in counts.items()
        if n >= max(_MIN_DOCUMENTS, _NAME_SHARE * documents.get(word, 0))
    }


def without_clitics(word: str, language: str = "en") -> str:
    """Return a word without ``'s`` and the like, or without ``l'`` and the like.

    Examples
    --------
    >>> without_clitics("england's"), without_clitics("l'homme", "fr")
    ('england', 'homme')
    """
    clitic = _CLITIC.get(language) if "'" in word else None
    return word if clitic is None else clitic.sub("", word)


@lru_cache(maxsize=1 << 18)
def lemma_of(word: str, language: str) -> str:
    """Return the lemma of a word as `lemmatize` does, without checking the language."""
    if language == "en":
        return _english_lemma(without_clitics(word))
    word = without_clitics(word, language)
    if language in WITHOUT_LEMMAS:
        return word
    lemma = _dictionary_lemma(word, language)
    if language in _CAPITALIZED_NOUNS and _dictionary_lemma(word.capitalize(), language) == word:
        return word  # *verein* is a noun as it stands, not a form of *vereinen*
    return lemma if is_word(lemma) else word


def check_language(language: object) -> None:
    """Raise a `ValueError` for a language that is not known."""
    if language not in SUPPORTED_LANGUAGES and language not in WITHOUT_LEMMAS:
        code = code_of(language)
        if code is not None:
            raise ValueError(
                f"language={language!r} is not the code of a language; pass {code!r} "
                f"(--language {code})."
            )
        raise ValueError(
            f"language={language!r} has no lemmas; choose one of "
            f"{', '.join(sorted({*SUPPORTED_LANGUAGES, *WITHOUT_LEMMAS}))}, or lemmatize=False "
            "(--no-lemmatize)."
        )


def _english_lemma(word: str) -> str:
    corrections = _english_corrections()
    if word in corrections:
        return corrections[word]
    lemma = _dictionary_lemma(word, "en")
    # The plurals of peoples (americans, turks) are in the dictionary with a capital only.
    if lemma == word and word.endswith("s"):
        capital = _dictionary_lemma(word.capitalize(), "en")
        lemma = capital if capital == word[:-1] else word
    head, hyphen, last = word.rpartition("-")
    if hyphen and "-" in lemma and last.endswith(("ing", "ed")):
        return word  # anti-doping
    if hyphen and last in corrections:
        return head + hyphen + corrections[last]
    lemma = corrections.get(lemma, lemma)
    return lemma if is_word(lemma) and lemma not in stop_words() else word


def _dictionary_lemma(word: str, language: str) -> str:
    if len(word) < 3 or any(map(str.isdigit, word)):
        return word
    lemma: str = simplemma.lemmatize(word, lang=language)
    return lemma.lower()


@cache
def _english_corrections() -> Mapping[str, str]:
    return {word: lemma for word, lemma in read_data("lemmas/en.txt")}
