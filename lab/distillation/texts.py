"""Texts to learn vectors from: WordNet, headlines, and requests made of words of WordNet."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Synset", "make_texts", "read_synsets", "requests"]

_FILES = ("noun", "verb", "adj", "adv")
_MAX_WORDS = 24
_COMMON, _SEEN = 15, 3  # times that a word is in definitions and examples
_POWER = 0.75  # of these times, for the weight of a word in requests
_WORD = re.compile(r"[a-z]+")
_EXAMPLE = re.compile(r'"([^"]+)"?')
_ASIDE = re.compile(r"\s*\([^)]*\)\s*")
_PEOPLE, _PLACES, _TIMES = 18, 15, 28
_THINGS = (
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    19,
    20,
    21,
    26,
    27,
)  # files of nouns, without shapes
# Phrases of our own, so that nobody else's licence is on them. V: verb, N and M: nouns, A:
# adjective, P: person, L: place, T: time. A request is a start, a phrase and an end.
_WISHES = (
    (
        "can you", "could you please", "please", "i want you to", "i need you to", "will you", "",
        "hey",
    ),
    (
        "V my N", "V the N for me", "V the N and the M", "tell me about the N",
        "tell me the N of my M", "show me the A N", "give me a list of N", "find a N",
        "find me a A N", "set a N for T", "add N to my M", "remove the N from my M", "stop the N",
        "start the N", "turn on the N", "turn the N off", "make the N A", "change my N to M",
        "change the N", "send a N to my P", "call my P about the N", "ask my P for the N",
        "remind me to V the N", "buy a N", "order a N", "pay for the N", "book a N",
        "explain N to me", "check my N", "help me with my N", "help me V a N", "look up the N",
        "play some N", "read the N to me", "say it in N", "say that again", "translate N",
        "repeat the N", "cancel my N", "open the N", "close the N", "count the N in the M",
        "write a N for my P", "take me to L", "get me to the N", "move the N", "keep the N",
        "report the N", "fix my N", "use my N", "compare the N with the M", "guess my N",
        "let me know when the N is A", "let me talk to a P", "save the N", "share my N with my P",
    ),
    (
        "", "", "", "in L", "by T", "for my P", "now", "today", "again", "before T", "with my N",
        "please",
    ),
)  # fmt: skip
_QUESTIONS = (
    (
        "", "", "", "do you know", "can you tell me", "i want to know", "tell me", "i wonder", "so",
    ),
    (
        "what is a N", "what is the N of the M", "what is my N", "what does N mean",
        "where is my N", "where can i find a N", "where can i V", "when is the N",
        "when does the N V", "why is my N so A", "why did the N V", "why is there no N",
        "who is the P", "who made the N", "who are you", "is the N A", "is there a N near me",
        "is it A to V", "are there any A N", "how do i V the N", "how can i V my N",
        "how much is a N", "how much N is in my M", "how much N do i need for M",
        "how many N are in a M", "how many N do i have", "how long does it take to V",
        "how long until the N", "how far is it to L", "how A is the N", "how old is the N",
        "how is my N", "how do you say N", "did my P V the N", "do i have any N",
        "do i need a N for L", "should i V the N or the M", "should i take a N", "will it V",
        "which N is A", "what kind of N do i need", "what happens if i V", "what should i V",
        "what time is it", "what time is the N", "what day is T", "what is the best N for M",
        "what is the A way to V", "what is the difference between N and M", "can a P V a N",
        "can i V N with M", "can i V without a N", "am i allowed to V", "does L have N",
        "does my N cover M", "does it V", "is my N still A", "was the N A", "have i got a N",
        "do they take N", "do they V", "are you a P", "do you like N", "do you have any P",
    ),
    (
        "", "", "", "in L", "on T", "right now", "this year", "for a P", "next week", "if i V it",
    ),
)  # fmt: skip
_STATEMENTS = (
    (
        "", "", "i think", "it seems", "sorry but", "my P says", "yes", "no",
    ),
    (
        "my N is A", "my P lost the N", "i forgot my N", "i lost my N", "my N was stolen",
        "my N is gone", "there is a problem with my N", "my N does not V",
        "i would like a N with M", "i would like to change my N", "i want a A N", "i need a new N",
        "i need to V", "i have a N", "i am going to L", "i am a P", "i am A", "you are A",
        "that is A", "that was a A N", "it was a A T", "thanks for the N", "the N and the M are A",
        "the P wants to V", "we V the N", "they V their N", "i can not V my N",
        "i do not know the N", "i do not like N", "never mind the N", "i was in L",
        "i paid too much for the N", "someone took my N", "the N is broken", "the N is wrong",
        "good T", "nice to V you",
    ),
    (
        "", "", "", "in L", "since T", "at all", "today", "and i need M", "because of the N",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Synset:
    """A sense of WordNet: its file, its words, its definition and examples."""

    kind: str
    file: int
    words: tuple[str, ...]
    definition: str
    examples: tuple[str, ...]


def read_synsets(folder: Path) -> list[Synset]:
    """Read the senses of WordNet from its folder with ``data.noun`` and the others."""
    found = []
    for kind in _FILES:
        for line in (folder / f"data.{kind}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):  # the licence
                continue
            fields, _, gloss = line.partition(" | ")
            parts = fields.split()
            words = [parts[4 + 2 * i] for i in range(int(parts[3], 16))]
            found.append(
                Synset(
                    kind,
                    int(parts[1]),
                    tuple(re.sub(r"\(\w+\)$", "", word).replace("_", " ") for word in words),
                    _ASIDE.sub(" ", gloss.partition('"')[0]).strip(" ;"),
                    tuple(text.strip() for text in _EXAMPLE.findall(gloss)),
                )
            )
    return found


def requests(synsets: Iterable[Synset], n: int, seed: int = 0) -> list[str]:
    """Make questions and requests: our phrases with common words of WordNet in them.

    Parameters
    ----------
    synsets : iterable of Synset
        The senses whose words are used.
    n : int
        The number of texts.
    seed : int, default=0
        The seed of the draws.
    """
    senses = list(synsets)
    counts = _word_counts(senses)
    weights: dict[str, dict[str, float]] = {key: {} for key in "NVAPLT"}
    for synset in senses:
        key = _key(synset)
        if key is None:
            continue
        for word in synset.words:
            count = _commonness(word, counts)
            if count >= _COMMON and (word.islower() or key in ("L", "T")):
                weights[key][word] = count**_POWER
    weights["M"] = weights["N"]
    random = np.random.default_rng(seed)
    drawn = {key: _draws(found, n, random) for key, found in weights.items()}
    keys = frozenset(weights)
    made = []
    for _ in range(n):
        kind = (_WISHES, _QUESTIONS, _STATEMENTS)[int(random.choice(3, p=(0.4, 0.4, 0.2)))]
        phrase = " ".join(part[int(random.integers(len(part)))] for part in kind)
        made.append(
            " ".join(next(drawn[part]) if part in keys else part for part in phrase.split())
        )
    return made


def _draws(weights: dict[str, float], n: int, random: np.random.Generator) -> Iterator[str]:
    """Yield words without end, each as often as its weight says."""
    words, values = list(weights) or ["it"], np.array(list(weights.values()) or [1.0])
    while True:
        for row in random.choice(len(words), size=n, p=values / values.sum()).tolist():
            yield words[row]


def _word_counts(synsets: Iterable[Synset]) -> Counter[str]:
    """Return how often each word is in definitions and examples."""
    glosses = (" ".join((synset.definition, *synset.examples)) for synset in synsets)
    return Counter(word for gloss in glosses for word in _WORD.findall(gloss.lower()))


def _commonness(phrase: str, counts: Counter[str]) -> int:
    """Return how often the rarest word of a phrase is in the glosses."""
    return min((counts[word] for word in _WORD.findall(phrase.lower())), default=0)


def _key(synset: Synset) -> str | None:
    """Return the letter of the frames that a sense stands for."""
    if synset.kind == "verb":
        return "V"
    if synset.kind == "adj":
        return "A"
    if synset.kind == "noun":
        places = {_PEOPLE: "P", _PLACES: "L", _TIMES: "T"}
        return places.get(synset.file, "N" if synset.file in _THINGS else None)
    return None


def make_texts(
    synsets: Sequence[Synset], others: Sequence[str], sizes: dict[str, int], seed: int = 0
) -> Iterator[str]:
    """Yield different texts: examples, definitions, words, requests, and some of the others.

    Parameters
    ----------
    synsets : sequence of Synset
        The senses of WordNet.
    others : sequence of str
        Texts of another corpus.
    sizes : dict of int
        How many "definitions", "words", "requests" and "others" are drawn at most.
    seed : int, default=0
        The seed of the draws.
    """
    counts = _word_counts(synsets)
    known = [s for s in synsets if _commonness(s.words[0], counts) >= _SEEN]
    words = dict.fromkeys(word for synset in synsets for word in synset.words)
    kinds = {
        "examples": [text for synset in synsets for text in synset.examples],
        "definitions": [f"{synset.words[0]}: {synset.definition}" for synset in known],
        "words": [word for word in words if _commonness(word, counts) >= _SEEN],
        "requests": requests(synsets, sizes.get("requests", 0), seed),
        "others": list(others),
    }
    random = np.random.default_rng(seed)
    seen: set[str] = set()
    for kind, texts in kinds.items():
        size = min(sizes.get(kind, len(texts)), len(texts))
        for row in np.sort(random.permutation(len(texts))[:size]):
            text = " ".join(texts[row].split()[:_MAX_WORDS])
            if text and text.lower() not in seen:
                seen.add(text.lower())
                yield text
