"""Themes of random halves of texts, of which nothing is novel: what chance gives."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from lab.evaluation.theme_piles import Piles

__all__ = ["by_chance", "near_copies"]

NEAR_SHARE = 0.3  # of the texts, that have near copies
NEAR_TIMES = 3
N_DOCUMENTS = 3000  # of a split, at most

_WORD = re.compile(r"\S+")


def by_chance(texts: Sequence[str], *, near: bool, seed: int) -> dict[str, float]:
    """Return what is found in two random halves of random texts: 1 for yes, 0 for no.

    Parameters
    ----------
    texts : sequence of str
        Texts to draw from.
    near : bool
        Whether some of the documents are near copies of others.
    seed : int
        Seed of the draw.
    """
    rng = np.random.default_rng([seed, 12])
    n = round(N_DOCUMENTS / (1 + (NEAR_TIMES - 1) * NEAR_SHARE)) if near else N_DOCUMENTS
    chosen = [texts[row] for row in rng.permutation(len(texts))[:n].tolist()]
    if near:
        chosen = near_copies(chosen, rng)
    found = Piles.of_texts(chosen, rng.permutation(np.arange(len(chosen)) % 2 == 1)).found()
    sure, sure_gone = (
        any(not theme.may_be_chance for theme in side) for side in (found.themes, found.gone)
    )
    return {
        "documents": float(len(chosen)),
        "any theme": float(bool(found.themes)),
        "sure theme": float(sure),
        "any gone": float(bool(found.gone)),
        "sure gone": float(sure_gone),
        "sure of either": float(sure or sure_gone),
        "themes": float(len(found.themes)),
        "themes gone": float(len(found.gone)),
    }


def near_copies(texts: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Return texts, and two near copies of each of some of them: 30 % are there three times.

    A near copy lacks one word of its text or has another text's word in its place.

    Examples
    --------
    >>> texts = ["rain falls on the hills", "the council plans a road"] * 5
    >>> len(near_copies(texts, np.random.default_rng(0)))
    16
    """
    made = list(texts)
    chosen = rng.permutation(len(texts))[: round(NEAR_SHARE * len(texts))]
    for row in np.repeat(chosen, NEAR_TIMES - 1).tolist():
        places = list(_WORD.finditer(texts[row]))
        if len(places) < 2:
            made.append(texts[row])
            continue
        place = places[int(rng.integers(len(places)))]
        others = texts[int(rng.integers(len(texts)))].split() or [""]
        other = others[int(rng.integers(len(others)))] if rng.random() < 0.5 else ""
        made.append(texts[row][: place.start()] + other + texts[row][place.end() :])
    return made
