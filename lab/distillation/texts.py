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
_WORD = re.compile(r"[a-z]+")
_EXAMPLE = re.compile(r'"([^"]+)"?')
_ASIDE = re.compile(r"\s*\([^)]*\)\s*")
_PEOPLE, _PLACES, _TIMES = 18, 15, 28
_THINGS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 19, 20, 21, 26, 27)  # files of nouns, without shapes
# Our own words, so that they have no licence but ours. V: verb, N and M: nouns, A: adjective,
# P: person, L: place, T: time.
_FRAMES = (
    "how do i V the N", "how can i V my N", "can you V the N for me", "please V my N",
    "i want to V a N", "i need to V the N before T", "could you V my N and my M",
    "what is a N", "what is the N of the M", "what does N mean", "where is my N",
    "where can i find a N in L", "when is the N", "why is my N so A", "why did the N V",
    "who is the P of L", "who made the N", "is the N A", "is there a N near L",
    "are there any A N here", "tell me about N", "tell me the N of my M", "show me the A N",
    "how much is a N", "how much N do i need for the M", "how many N are in a M",
    "how long does it take to V the N", "how far is L from here", "did my P V the N",
    "do i have any N left", "do you know a good N", "do you like N", "have you seen my N",
    "should i V the N or the M", "should i take a N to L", "will the N be A in T",
    "my N is A", "my N is not A any more", "my P lost the N", "i forgot the N of my M",
    "i lost my N", "i think my N was stolen", "there is a problem with my N",
    "my N does not V", "i would like a N with M", "i would like to change my N",
    "give me a list of N", "give me the N", "find a N", "find me a A N in L", "set a N for T",
    "add N to my M", "remove N from the M", "stop the N", "turn on the N", "turn the N off",
    "make the N A", "make me a N", "send a N to my P", "call my P about the N",
    "ask my P for the N", "remind me to V the N", "buy N", "order a N from L", "pay for the N",
    "book a N in L for T", "i am going to L with my P", "i am a P", "i feel A", "you are A",
    "thanks for the N", "that is a A N", "it was a A T in L", "explain N to me",
    "what is the difference between N and M", "what is the best N for a P", "which N is A",
    "what happens if i V the N", "what should i V", "what time is the N in L",
    "can a P V a N", "can i V N with M", "am i allowed to V the N", "does L have N",
    "does my N cover M", "the N and the M", "A N", "V the N", "a N for my P", "no N at all",
    "the P wants to V the N", "we should V the A N", "they V their N in L",
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
    words: dict[str, list[str]] = {key: [] for key in "NVAPLT"}
    for synset in senses:
        key = _key(synset)
        if key is not None:
            words[key] += [word for word in synset.words if _commonness(word, counts) >= _COMMON]
    words["N"] = [word for word in words["N"] if word.islower()]
    words["M"] = words["N"]
    random = np.random.default_rng(seed)

    def draw(key: str) -> str:
        chosen = words[key] or [key.lower()]
        return chosen[int(random.integers(len(chosen)))]

    keys = frozenset(words)
    made = []
    for _ in range(n):
        frame = _FRAMES[int(random.integers(len(_FRAMES)))]
        made.append(" ".join(draw(part) if part in keys else part for part in frame.split()))
    return made


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
