"""Suites for documents as people send them: with everyday noise, and repeated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from newfound.detection.detector import NoveltyDetector

__all__ = ["ALPHAS", "NOISE", "REPEATS", "noise_rows", "noisy", "repeat_rates", "repeated"]

ALPHAS = (0.01, 0.05, 0.10)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_EMOJI = ["😀", "😂", "🙏", "👍", "❤️", "😢", "😡", "🎉", "🤔", "🔥", "💯", "🙄"]
_NAMES = ("Anna Müller", "John Smith", "Priya Patel", "Tom O'Brien", "Wei Chen", "Luca Rossi")
_LEAST = 4  # letters of a word that gets a typing error


def _typing_error(text: str, random: RandomState) -> str:
    """Return a text in which a letter of one word is left out, added, replaced or exchanged."""
    words = text.split()
    long = [i for i, word in enumerate(words) if len(word) >= _LEAST and word.isalpha()]
    if not long:
        return text
    i = long[random.randint(len(long))]
    word, kind = words[i], random.randint(4)
    place, letter = random.randint(1, len(word)), _LETTERS[random.randint(26)]
    if kind == 3:
        place = min(place, len(word) - 2)
        exchanged = word[place + 1] + word[place]
        words[i] = word[:place] + exchanged + word[place + 2 :]
    else:
        words[i] = word[:place] + ("", letter, letter)[kind] + word[place + (kind != 1) :]
    return " ".join(words)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _digits(random: RandomState, n: int) -> str:
    return " ".join(str(random.randint(1000, 9999)) for _ in range(n))


def _signature(text: str, random: RandomState) -> str:
    name = _NAMES[random.randint(len(_NAMES))]
    return f"{_sentence(text)}.\n\nKind regards\n{name}\n+44 20 {_digits(random, 2)}"


def _other_courtesies(text: str, random: RandomState) -> str:
    return (
        f"Dear team, good morning! {_sentence(text)}? Thank you very much in advance. Best wishes"
    )


NOISE: Mapping[str, Callable[[str, RandomState], str]] = {
    "none": lambda text, random: text,
    "an emoji at the end": lambda text, random: f"{text} {_EMOJI[random.randint(len(_EMOJI))]}",
    "no punctuation": lambda text, random: re.sub(r"[^\w\s']", "", text),
    "apostrophes dropped": lambda text, random: text.replace("'", ""),
    "apostrophes curly": lambda text, random: text.replace("'", "’"),
    "a typing error": _typing_error,
    "courtesies": lambda text, random: (
        f"Hello, I hope you are well. {_sentence(text)}. Kind regards"
    ),
    "other courtesies": _other_courtesies,
    "a card number": lambda text, random: f"{text} {_digits(random, 4)}",
    "a telephone number": lambda text, random: f"{text} +44 20 {_digits(random, 2)}",
    "a signature": _signature,
}


def noisy(kind: str, texts: Sequence[str], seed: int = 0) -> list[str]:
    """Return texts with a kind of noise, one of `NOISE`.

    Examples
    --------
    >>> noisy("courtesies", ["what's my balance"])
    ["Hello, I hope you are well. What's my balance. Kind regards"]
    """
    random = RandomState(seed)
    return [NOISE[kind](text, random) for text in texts]


def noise_rows(
    detectors: Mapping[str, NoveltyDetector], known: Sequence[str], novel: Sequence[str], auroc: Any
) -> list[dict[str, Any]]:
    """Return what noise does to known and novel texts, a row for each kind of it."""
    rows = []
    for kind in NOISE:
        row: dict[str, Any] = {"noise": kind}
        texts, new = noisy(kind, known), noisy(kind, novel)
        row["texts changed"] = float(np.mean([a != b for a, b in zip(texts, known, strict=True)]))
        for name, detector in detectors.items():
            row[f"false alarms, {name}"] = _share_novel(detector, texts)
            row[f"recall, {name}"] = _share_novel(detector, new)
            row[f"AUROC, {name}"] = auroc(detector.novelty(texts), detector.novelty(new))
        rows.append(row)
    return rows


def _share_novel(detector: NoveltyDetector, texts: Sequence[str]) -> float:
    judged = detector.score_texts(texts).judged(detector.calibration_)
    return float(judged.novel.mean())


REPEATS = (
    "none",
    "all twice",
    "all three times",
    "all five times",
    "30 % three times",
    "templates",
)
_TIMES = {"all twice": 2, "all three times": 3, "all five times": 5}
_OF_TEMPLATE = 3


def repeated(
    kind: str, texts: Sequence[str], labels: NDArray[Any], random: RandomState
) -> tuple[list[str], NDArray[Any]]:
    """Return texts of which some are repeated, one of `REPEATS`, in random order, and their labels.

    Examples
    --------
    >>> texts, labels = repeated("all twice", ["a", "b"], np.array([1, 2]), RandomState(0))
    >>> sorted(texts), sorted(labels.tolist())
    (['a', 'a', 'b', 'b'], [1, 1, 2, 2])
    """
    rows = np.tile(np.arange(len(texts)), _TIMES.get(kind, 1))
    if kind.startswith("30"):
        rows = np.concatenate((rows, np.tile(rows[: 3 * len(rows) // 10], 2)))
    if kind == "templates":
        rows = np.tile(rows, _OF_TEMPLATE)
    rows = random.permutation(rows)
    found = [texts[i] for i in rows.tolist()]
    return with_numbers(found, random) if kind == "templates" else found, labels[rows]


def with_numbers(texts: Sequence[str], random: RandomState) -> list[str]:
    """Return texts with the number of a case at the end."""
    return [f"{text} {random.randint(100, 999)}" for text in texts]


def repeat_rates(
    kind: str,
    known: tuple[Sequence[str], NDArray[Any]],
    new: Sequence[str],
    detector: NoveltyDetector,
    random: RandomState,
    *,
    labelled: bool,
) -> list[float]:
    """Return the rates of false alarms on new texts, by `ALPHAS`, if known ones are repeated."""
    texts, labels = repeated(kind, *known, random)
    detector.fit(texts, labels if labelled else None)
    p = detector.p_values(with_numbers(new, random) if kind == "templates" else new)
    return [float((p <= alpha * (1 + 1e-12)).mean()) for alpha in ALPHAS]
