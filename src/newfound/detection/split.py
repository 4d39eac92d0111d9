"""Check known documents, group them if they have no labels, and choose which are held back."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.detection.calibration import held_back_needed
from newfound.machine.validation import check_one_type
from newfound.stories.clusters import group_bags, name_groups
from newfound.text.documents import with_text
from newfound.text.records import is_missing
from newfound.text.validation import check_several, is_count
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "KNOWN",
    "NOVEL",
    "check_given",
    "check_share",
    "draw_held_back",
    "draw_more_held_back",
    "group_classes",
    "has_classes",
    "known_texts",
    "n_held_back",
    "sample_for_scales",
    "split_held_back",
    "warn_single_document_classes",
]

_SCALE_SHARE, _MIN_SCALE, _MAX_SCALE = 0.2, 5, 1000
_MIN_LEARNED = 5
KNOWN = "known"
NOVEL = "novel"  # the label of a text of no known class


def known_texts(X: Iterable[str], y: ArrayLike | None) -> tuple[list[str], NDArray[Any] | None]:
    """Return the texts that are not blank, and their labels.

    Examples
    --------
    >>> known_texts(["pay", " ", "check"], ["a", "b", "c"])[1].tolist()
    ['a', 'c']
    """
    check_several(X)
    texts = list(X)
    labels = None if y is None else np.asarray(y)
    if labels is not None and labels.shape != (len(texts),):
        raise ValueError(
            f"y has the shape {labels.shape} for {len(texts)} known documents; pass one label for "
            "each, or none."
        )
    # Of the labels as given: among texts, NumPy writes a missing number as the text "nan".
    if isinstance(y, Iterable) and any(map(is_missing, y)):
        raise ValueError("y has a missing label; leave that document out, or name its class.")
    check_one_type(y)
    if labels is not None and NOVEL in labels.tolist():
        raise ValueError(f"y has a class {NOVEL!r}, which stands for what is new; rename it.")
    kept = dict(with_text(texts))
    return list(kept.values()), None if labels is None else labels[list(kept)]


def split_held_back(
    codes: NDArray[np.int64], alpha: float, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split known documents into those to learn from and those for p-values.

    The split is random and not stratified. In a stratified split, large classes, which the detector
    knows better, would also contribute more held-back documents, and the false-alarm rate would
    exceed alpha. The last document of a class is always learned from; if many classes have a single
    document, the false-alarm rate exceeds alpha for this reason.

    Examples
    --------
    >>> [len(part) for part in split_held_back(np.zeros(100, int), 0.05, 0.2, seed=0)]
    [80, 20]
    """
    size, needed = n_held_back(len(codes), alpha, share), held_back_needed(alpha)
    train, aside = draw_held_back(codes, size, seed)
    if len(aside) < needed:
        raise ValueError(
            f"There are {len(np.unique(codes)):,} classes of {len(codes):,} known documents, which "
            f"leaves {len(aside):,} to hold back; alpha={alpha:g} needs {needed:,}: pass more of "
            "each class, or no classes."
        )
    return train, aside


def warn_single_document_classes(labels: NDArray[Any]) -> None:
    """Warn about classes that have a single document."""
    classes, sizes = np.unique(labels, return_counts=True)
    single = classes[sizes == 1].tolist()
    if single:
        some = (
            f"The class {single[0]!r} has"
            if len(single) == 1
            else (f"{len(single):,} classes, such as {single[0]!r}, have")
        )
        warnings.warn(
            f"{some} a single known document: it is learned from, but new documents of the class "
            "are often called novel.",
            stacklevel=4,
        )


def sample_for_scales(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Choose documents on which the spread of the parts of the score is measured."""
    size = min(max(round(_SCALE_SHARE * len(codes)), _MIN_SCALE), _MAX_SCALE)
    _, compact = np.unique(codes, return_inverse=True)
    spare = len(codes) - int(compact.max()) - 1
    return _spread(compact, np.random.RandomState(seed + 1))[: max(1, min(size, spare))]


def check_share(share: object) -> None:
    """Raise a ValueError if it is not a share of documents to hold back."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ValueError(f"held_back={share!r}: expected a share between 0 and 1, such as 0.2.")


def n_held_back(n: int, alpha: float, share: float) -> int:
    """Return how many of n documents are held back; raise a ValueError if n is too small."""
    check_share(share)
    needed = held_back_needed(alpha)
    if not _is_enough(n, share, needed):
        sizes = range(n, 100 * needed + 100)  # with more documents, enough stays enough
        place = bisect_left(sizes, True, key=lambda m: _is_enough(m, share, needed))
        enough = sizes[place] if place < len(sizes) else 0
        advice = f"pass at least {enough:,}, or a higher alpha" if enough else "hold back fewer"
        raise ValueError(
            f"There {'is 1 known document' if n == 1 else f'are {n:,} known documents'} with text; "
            f"alpha={alpha:g} needs {needed:,} or more held back, and with held_back={share:g} "
            f"some to learn from: {advice}."
        )
    return max(round(share * n), needed)


def check_given(n: int, alpha: float) -> None:
    """Raise a ValueError if the given held-back documents are too few."""
    needed = held_back_needed(alpha)
    if n < needed:
        raise ValueError(
            f"alpha={alpha:g} needs at least {needed:,} held-back known documents; {n:,} with text "
            f"were given. Use alpha={_least(n)} or more, or learn from more known documents."
        )


def _least(n: int) -> str:
    """Return the least alpha for so many held-back documents, in three digits, rounded up.

    Examples
    --------
    >>> _least(500), _least(99), _least(1)
    ('0.002', '0.01', '0.5')
    """
    scale = 10 ** (2 + len(str(n)))  # 1 / (n + 1) begins in the place after as many digits
    return f"{math.ceil(scale / (n + 1) - 1e-9) / scale:g}"


def draw_held_back(
    codes: NDArray[np.int64], size: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw documents at random, never all of a class; return those left and those drawn."""
    left = np.bincount(codes).tolist()
    aside: list[int] = []
    for i in np.random.RandomState(seed).permutation(len(codes)).tolist():
        if len(aside) == size:
            break
        if left[codes[i]] > 1:
            left[codes[i]] -= 1
            aside.append(i)
    taken = np.array(aside, dtype=np.int64)
    return np.setdiff1d(np.arange(len(codes)), taken), taken


def draw_more_held_back(
    codes: NDArray[np.int64], share: float, *, n_known_classes: int, seed: Sequence[int]
) -> NDArray[np.int64]:
    """Draw which additional documents to hold back.

    Each document is drawn independently, so that documents that come one at a time are held back
    as often as those that come together. The first document of a new class is always learned from.

    Classes from `n_known_classes` on are new.
    """
    drawn = np.random.RandomState(list(seed)).random_sample(len(codes)) < share
    classes, first = np.unique(codes, return_index=True)
    drawn[first[classes >= n_known_classes]] = False
    return np.flatnonzero(drawn)


def _is_enough(n: int, share: float, needed: int) -> bool:
    return n - max(round(share * n), needed) >= max(_MIN_LEARNED, needed // 2)


def _spread(codes: NDArray[np.int64], random: np.random.RandomState) -> NDArray[np.int64]:
    """Order documents so that any prefix has each class in proportion, in random order."""
    order = random.permutation(len(codes))
    sizes = np.bincount(codes)
    rank = np.zeros(len(codes), np.int64)
    place = np.argsort(codes[order], kind="stable")
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    rank[order[place]] = np.arange(len(codes)) - np.repeat(starts, sizes)
    # The quantile of a document within its class; the last one of each class comes at the end.
    quantile = (rank + random.random_sample(len(codes))) / sizes[codes]
    quantile[rank == sizes[codes] - 1] += 1.0
    return np.argsort(quantile, kind="stable")


def has_classes(classes: NDArray[Any]) -> bool:
    """Return whether known documents have classes: without labels all are in one, "known".

    Examples
    --------
    >>> has_classes(np.array(["known"])), has_classes(np.array(["banking"]))
    (False, True)
    """
    return len(classes) != 1 or bool(classes[0] != KNOWN)


def group_classes(
    texts: list[str], n_groups: int, vectorizer: TextVectorizer, seed: int
) -> NDArray[np.object_]:
    """Return the group of each document, named by its words; a single group is "known"."""
    n = len(texts)
    if not is_count(n_groups) or n_groups > n:
        raise ValueError(f"n_groups={n_groups!r}: expected a number from 1 to the {n} documents.")
    if n_groups == 1:
        return np.full(n, KNOWN, dtype=object)
    matrix = vectorizer.fit_transform(texts)
    words = list(vectorizer.vocabulary_)
    single = np.flatnonzero([" " not in word for word in words])
    bags = matrix[:, single]
    codes = group_bags(bags, n_groups, seed)
    names = name_groups(bags, codes, [words[j] for j in single.tolist()])
    labels = np.array([f"group {k}: {name}" for k, name in enumerate(names, 1)], dtype=object)
    return labels[codes]
