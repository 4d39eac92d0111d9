"""Lemmas of words: the dictionary of simplemma, with corrections for English."""

from __future__ import annotations

import re
from functools import lru_cache

import simplemma
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from newfound.text.tokens import is_word, stop_words

__all__ = ["check_language", "lemma_of", "lemmatize", "without_clitics"]

_CLITIC = re.compile(r"(?<=.)(?:'(?:s|ll|re|ve|d|m))+$")

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


def lemmatize(word: str, *, language: str = "en") -> str:
    """Return the lemma of a lower-case word.

    It is that of simplemma, in lower case, with a small table of corrections for English. A word of
    one or two letters or with a digit is its own lemma. An English word loses ``'s`` and the like
    (``'ll 're 've 'd 'm``) first, and is its own lemma if the dictionary would make it a function
    word (*overs* is not *over*).

    Examples
    --------
    >>> [lemmatize(word) for word in ("england's", "matches", "gone", "innings", "overs", "b2b")]
    ['england', 'match', 'go', 'innings', 'overs', 'b2b']
    >>> lemmatize("häuser", language="de")
    'haus'
    """
    check_language(language)
    return lemma_of(word, language)


def without_clitics(word: str) -> str:
    """Return an English word without ``'s`` and the like."""
    return _CLITIC.sub("", word) if "'" in word else word


@lru_cache(maxsize=1 << 18)
def lemma_of(word: str, language: str) -> str:
    """Return the lemma of a word as `lemmatize` does, without checking the language."""
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
        if lemma in stop_words():
            return word
    return lemma if is_word(lemma) else word


def check_language(language: object) -> None:
    """Raise a `ValueError` for a language without lemmas."""
    if language not in SUPPORTED_LANGUAGES:
        raise ValueError(
            f"language={language!r} has no lemmas; choose one of "
            f"{', '.join(sorted(SUPPORTED_LANGUAGES))}, or lemmatize=False."
        )
