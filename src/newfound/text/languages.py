"""Which language texts are in, told by their function words and their script."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping

from newfound.text.tokens import stop_words_by_language

__all__ = ["code_of", "noticed_language", "warn_if_foreign"]

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
_MIN_DOCUMENTS = 5  # in one document, every word is in half of them


def noticed_language(counts: Mapping[str, int], n_documents: int | None = None) -> str | None:
    """Return the language that words clearly are in; None for English, or if it is not clear.

    It is clear by the share of function words. In long documents this share is small, because a
    word counts once in each; there, many function words are in at least half of the documents.

    Parameters
    ----------
    counts : mapping of str to int
        Words in lower case, each with the number of documents that have it. English function words
        need not be among them.
    n_documents : int, optional
        The number of documents. Without it, long documents are not treated by themselves.

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
    if n_documents is not None and n_documents >= _MIN_DOCUMENTS and shares[best] >= heard:
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
