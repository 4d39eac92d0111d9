"""Lemmas of words, and the language that texts are in.

`lemmatize` looks at a word alone: it takes the lemma of simplemma, with the corrections of
``data/lemmas/en.txt``. `lemmas_from_texts` finds the words of a corpus for which that lemma is
wrong, or is not the name that a reader expects. The language is told by function words and script.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache

import simplemma
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from newfound.text.spelling import MOST_CAPITALS, Capitals
from newfound.text.tokens import is_word, read_data, stop_words, stop_words_by_language

__all__ = [
    "check_language",
    "code_of",
    "lemma_of",
    "lemmas_from_texts",
    "lemmatize",
    "noticed_language",
    "warn_if_foreign",
    "without_clitics",
]

_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "hbs": "Serbo-Croatian", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese",
    "ka": "Georgian", "km": "Khmer", "ko": "Korean", "la": "Latin", "lb": "Luxembourgish",
    "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ms": "Malay",
    "my": "Burmese", "nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian Nynorsk", "pl": "Polish",
    "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sq": "Albanian", "sv": "Swedish", "sw": "Swahili", "th": "Thai", "tl": "Tagalog",
    "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
# Scripts that tell the language by themselves. Kana comes first: Japanese has Chinese characters.
_SCRIPTS = {
    "ja": re.compile("[\u3041-\u309f\u30a1-\u30ff]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "lo": re.compile("[\u0e80-\u0eff]"),
    "km": re.compile("[\u1780-\u17ff]"),
    "my": re.compile("[\u1000-\u109f]"),
}
# Scripts of languages whose function words are often written as one with the next word.
_LIKELY = {
    "ar": re.compile("[\u0621-\u064a]"),
    "he": re.compile("[\u05d0-\u05ea]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "hy": re.compile("[\u0531-\u0587]"),
    "ka": re.compile("[\u10d0-\u10ff]"),
}
_MIN_WORDS = 50
_SCRIPT_SHARE = 0.3
_LIKELY_SHARE = 0.5
_KANA_SHARE = 0.1  # of Japanese words, which are mostly pairs of Chinese characters
_FUNCTION_SHARE = 0.1
_MIN_FUNCTION_WORDS = 4  # one may be an English word: die, pas, men
_MIN_COMMON_WORDS = 10  # function words that are in half of the documents
_MIN_HALVED = 5  # documents; in one, every word is in half of them


def noticed_language(counts: Mapping[str, int], n_documents: int | None = None) -> str | None:
    """Return the language that words clearly are in; None for English, or if it is not clear.

    It is clear by the share of function words. In long documents this share is small, because a
    word counts once in each; there, many function words are in at least half of the documents.

    Words are in lower case, each with the number of documents that have it; English function words
    need not be among them. Without the number of documents, long ones are not treated by
    themselves.

    Examples
    --------
    >>> noticed_language(dict.fromkeys("der hund und die katze sind nicht im haus".split(), 9))
    'de'
    >>> noticed_language(dict.fromkeys("dog cat house bite old town".split(), 9)) is None
    True
    """
    total = sum(counts.values())
    if total < _MIN_WORDS:
        return None
    written = {
        code: sum(count for word, count in counts.items() if script.search(word)) / total
        for code, script in {**_SCRIPTS, **_LIKELY}.items()
    }
    for code in _SCRIPTS:
        if written[code] >= (_KANA_SHARE if code == "ja" else _SCRIPT_SHARE):
            return code
    lists = stop_words_by_language()
    english = lists["en"]
    shares = {
        code: sum(counts.get(word, 0) for word in lists[code] - english) / total
        for code in lists
        if code in _NAMES and code not in _SCRIPTS
    }
    best = max(shares, key=lambda code: shares[code])
    heard = sum(counts.get(word, 0) for word in english - lists[best]) / total
    several = len(counts.keys() & (lists[best] - english)) >= _MIN_FUNCTION_WORDS
    if several and shares[best] >= max(_FUNCTION_SHARE, heard):
        return best
    if n_documents is not None and n_documents >= _MIN_HALVED and shares[best] >= heard:
        in_half = (2 * counts.get(word, 0) >= n_documents for word in lists[best] - english)
        if sum(in_half) >= _MIN_COMMON_WORDS:
            return best
    likely = max(_LIKELY, key=lambda code: written[code])
    return likely if written[likely] >= _LIKELY_SHARE else None


def code_of(language: object) -> str | None:
    """Return the code of a language that is given by its name or with a country; else None.

    Examples
    --------
    >>> code_of("French"), code_of("de-AT"), code_of("pt_BR"), code_of("Klingon")
    ('fr', 'de', 'pt', None)
    """
    if not isinstance(language, str):
        return None
    asked = language.strip().lower()
    codes = {"english": "en", **{name.lower(): code for code, name in _NAMES.items()}}
    code = codes.get(asked) or re.split("[-_.]", asked)[0]
    return code if code in codes.values() else None


def warn_if_foreign(counts: Mapping[str, int], n_documents: int) -> None:
    """Warn if words that are taken as English are in another language; see `noticed_language`."""
    code = noticed_language(counts, n_documents)
    if code is not None:
        warnings.warn(
            f"The texts look {_NAMES[code]}, but are read as English; pass language={code!r} "
            f"(--language {code}) for its function words and lemmas.",
            stacklevel=5,
        )


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

    `documents` has the number of documents of each word, without clitics and in lower case, and
    `lemmas` its lemma as `lemmatize` returns it.

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
