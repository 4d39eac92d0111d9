"""Words of a text: what counts as one, its lemma, and which ones say nothing.

A *word* is a run of Unicode letters, digits and their marks, in lower case. An apostrophe or a
hyphen inside it joins its parts (``don't``, ``o'neill``, ``fly-half``, ``covid-19``) unless digits
stand on both sides (``6-4`` is ``6`` and ``4``); every other character separates. Runs longer than
`MAX_WORD_LENGTH` are encoded data, not words, and are left out. Scripts written without spaces
(Chinese, Thai, ...) have to be segmented beforehand. Lower-casing follows Unicode, but never
changes the length of a text, so offsets always point into the raw text.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
import warnings
from dataclasses import dataclass
from functools import lru_cache

import simplemma
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

__all__ = ["MAX_WORD_LENGTH", "Token", "lemmatize", "stop_words", "tokenize"]

MAX_WORD_LENGTH = 100

_MARKS = "\u00ad\u200c\u200d" + "".join(
    c for c in map(chr, range(0x10000)) if unicodedata.category(c) in {"Mn", "Mc"}
)
_JOIN = "'’\\-‐‑"
CHUNK = re.compile(rf"[\w{_MARKS}{_JOIN}]+")
CHUNK_OR_BREAK = re.compile(rf"[\w{_MARKS}{_JOIN}]+|\n[^\S\n]*\n|[^\w\s]")
_WORD = re.compile(rf"[^_{_JOIN}]+(?:(?:(?<!\d)[{_JOIN}]|[{_JOIN}](?!\d))[^_{_JOIN}]+)*")
_ALPHANUMERIC = re.compile(r"[^\W_]")
ASCII = {i: chr(i).lower() if chr(i).isalnum() or chr(i) in "'-" else " " for i in range(128)}
_PLAIN = str.maketrans({"’": "'", "‐": "-", "‑": "-", "\u00ad": None})
_CLITIC = re.compile(r"(?<=.)(?:'(?:s|ll|re|ve|d|m))+$")

_FUNCTION_WORDS = frozenset(
    """
    a an the this that these those i me my myself we us our ours ourselves you your yours yourself
    yourselves he him his himself she her hers herself it its itself they them their theirs
    themselves who whom whose which what whoever whatever whichever anybody anyone anything
    everybody everyone everything nobody nothing somebody someone something and or but nor if then
    than as so because since until till while whereas whether though although unless about above
    across after against along among around at before behind below beneath beside besides between
    beyond by down during for from in into of off on onto out over per through throughout to toward
    towards under up upon via with within without be am is are was were been being have has had
    having do does did doing done can cannot could may might must shall should will would ought not
    no yes any some all both each every either neither none other others another such more most
    much many very too also just only quite rather here there where when why how however thus hence
    therefore ain't aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't
    mustn't needn't shan't shouldn't wasn't weren't won't wouldn't y'all aint arent cant couldnt
    didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt im ive hes shes
    thats theres theyre whats youre s t ll re ve
    """.split()  # noqa: SIM905
)
# Where simplemma's dictionary errs on words that matter in sport, news and everyday requests: what
# it should say, words that are their own lemma, and obsolete lemmas with a letter too many.
_LEMMAS = dict(
    pair.split(":")
    for pair in """
    broke:break felt:feel gone:go shook:shake swore:swear thought:think won:win worse:bad
    leaves:leaf calves:calf halves:half loaves:loaf shelves:shelf thieves:thief wives:wife
    morals:moral skies:sky fantasies:fantasy panicked:panic determining:determine
    """.split()  # noqa: SIM905
)
_OWN_LEMMAS = frozenset(
    """
    according aids annals ashes bare bayer bios boxing cal carling checking denning dice emirates
    etc fed fleming gemini goods graphics greed inc indies in-form inning innings jeans kudos lan
    las lay lds least ltd maria mars media meaning meeting mls nam odds opera outgoing parking
    pending qat reed routing seventh sevens shopping sox span tired training united vela ver wales
    wicked sophisticated trivia unarmed unauthorized unbiased uncapped undecided undefined
    underlying unmarked unwilling andreas andrews bates brooks cairns edwards gaines galen gibbons
    grimes matthews philips rees rhodes rogers sanders scholes sears smit stephens stevens woods
    """.split()  # noqa: SIM905
)
_OVERLONG_LEMMAS = frozenset(
    """
    annexe answere asse aske attache cancell claime confirme crafte crosse deposite develope fixe
    formate growe guarde interne labell laughe lense masse mixe modell playe prefixe proclaime
    regarde signall singe smoothe sweare swinge talke thanke thinke travell winge
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text, and where it stood: ``text[start:end] == surface``.

    `term` is the word as the matrix knows it, `index` its column, -1 where it has none.
    """

    term: str
    start: int
    end: int
    surface: str
    index: int = -1


def tokenize(text: str) -> list[Token]:
    """Split a text into its words, stop words included, with offsets into the raw text.

    The term of each token is the word in lower case, in Unicode's compatibility form and with a
    plain apostrophe and hyphen.

    Examples
    --------
    >>> [(t.term, t.start, t.end) for t in tokenize("İzmir's fly-half won 6-4")]
    [("izmir's", 0, 7), ('fly-half', 8, 16), ('won', 17, 20), ('6', 21, 22), ('4', 23, 24)]
    """
    return [
        Token(form, start, end, text[start:end])
        for chunk in CHUNK.finditer(fold(text))
        for start, end, form in words_in(chunk[0], chunk.start())
    ]


def lemmatize(word: str, *, language: str = "en") -> str:
    """Give the lemma of a lower-case word.

    It is simplemma's, in lower case, with a small table of corrections for English. A word of one
    or two letters or with a digit is its own lemma. An English word first loses ``'s`` and the like
    (``'ll 're 've 'd 'm``), and is its own lemma where the dictionary would make it a function word
    (*overs* is not *over*).

    Examples
    --------
    >>> [lemmatize(word) for word in ("england's", "matches", "gone", "innings", "overs", "b2b")]
    ['england', 'match', 'go', 'innings', 'overs', 'b2b']
    >>> lemmatize("häuser", language="de")
    'haus'
    """
    check_language(language)
    return lemma_of(word, language)


def stop_words(language: str = "en") -> frozenset[str]:
    """Give the default stop words of a language.

    For English a short list of function words, with all their inflections: a general list hides
    novelty (*system*, *bill* and *fire* are on one). For another language the list of the package
    stopwordsiso (``pip install 'newfound[languages]'``); without it, or where it has no list, there
    is a warning and no words.

    Examples
    --------
    >>> sorted({"the", "don't", "system", "six"} & stop_words("en"))
    ["don't", 'the']
    """
    if language == "en":
        return _FUNCTION_WORDS
    try:
        listed = importlib.import_module("stopwordsiso").stopwords(language)
    except ImportError:
        needed = "needs stopwordsiso: pip install 'newfound[languages]'"
        warnings.warn(
            f"No stop words are left out: the list for {language!r} {needed}", stacklevel=2
        )
        return frozenset()
    if not listed:
        warnings.warn(
            f"No stop words are left out: there is no list for {language!r}.", stacklevel=2
        )
    return frozenset(map(normal, map(fold, listed)))


def fold(text: str) -> str:
    """Lower-case a text without changing its length: U+0130 alone would grow."""
    return text.replace("\u0130", "i").lower() if "\u0130" in text else text.lower()


def normal(word: str) -> str:
    """Give a word one spelling: composed, ligatures and wide letters resolved."""
    if word.isascii():
        return word
    composed = unicodedata.normalize("NFKC", word).lower().translate(_PLAIN)
    if _WORD.fullmatch(composed) and CHUNK.fullmatch(composed):
        return composed
    return unicodedata.normalize("NFC", word).translate(_PLAIN) or word


def words_in(chunk: str, offset: int = 0) -> list[tuple[int, int, str]]:
    """Find start, end and normal form of the words in a run of letters, digits and joiners."""
    if chunk.isalnum() and chunk.isascii() and len(chunk) <= MAX_WORD_LENGTH:
        return [(offset, offset + len(chunk), chunk)]
    return [
        (offset + word.start(), offset + word.end(), normal(word[0]))
        for word in _WORD.finditer(chunk)
        if word.end() - word.start() <= MAX_WORD_LENGTH and _ALPHANUMERIC.search(word[0])
    ]


def without_clitics(word: str) -> str:
    return _CLITIC.sub("", word) if "'" in word else word


@lru_cache(maxsize=1 << 18)
def lemma_of(word: str, language: str) -> str:
    english = language == "en"
    if english:
        word = without_clitics(word)
    if len(word) < 3 or any(map(str.isdigit, word)) or (english and word in _OWN_LEMMAS):
        return word
    if english and word in _LEMMAS:
        return _LEMMAS[word]
    lemma = simplemma.lemmatize(word, lang=language).lower()
    if english:
        # Names of peoples (americans, turks) stand in the dictionary with a capital only.
        if lemma == word and word.endswith("s"):
            capital = simplemma.lemmatize(word.capitalize(), lang=language).lower()
            lemma = capital if capital == word[:-1] else word
        head, hyphen, last = word.rpartition("-")
        if hyphen and "-" in lemma and (last in _OWN_LEMMAS or last.endswith(("ing", "ed"))):
            return word  # anti-doping, first-innings
        if hyphen and last in _LEMMAS:
            return head + hyphen + _LEMMAS[last]
        if lemma in _OVERLONG_LEMMAS:
            lemma = lemma[:-1]
        if lemma in _FUNCTION_WORDS:
            return word
    return lemma if _WORD.fullmatch(lemma) and CHUNK.fullmatch(lemma) else word


def check_language(language: object) -> None:
    if language not in SUPPORTED_LANGUAGES:
        raise ValueError(
            f"language={language!r} has no lemmas; choose one of "
            f"{', '.join(sorted(SUPPORTED_LANGUAGES))}, or lemmatize=False."
        )
