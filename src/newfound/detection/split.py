"""Check known documents, group them if they have no labels, and choose which are held back."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.detection.calibration import Calibration, held_back_needed
from newfound.machine.validation import check_one_type
from newfound.stories.clusters import group_bags, name_groups
from newfound.text.copies import copy_groups, text_keys
from newfound.text.documents import with_text
from newfound.text.records import is_missing
from newfound.text.validation import check_several, is_count
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "KNOWN",
    "NOVEL",
    "DistinctTexts",
    "TooFewError",
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
    "warn_if_copies_count",
    "warn_if_few_held_back",
    "warn_single_document_classes",
]

_SCALE_SHARE, _MIN_SCALE, _MAX_SCALE = 0.2, 5, 1000
_MIN_LEARNED = 5
_FREQUENT = 10  # times as many documents as most groups of copies have
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


class TooFewError(ValueError):
    """There are too few known documents to hold back as many as alpha needs."""


@dataclass(frozen=True)
class DistinctTexts:
    """Known documents without repeats: texts of the same words and of the same class count once.

    `groups` has the row of one text of the group of copies of each, and `times` how many documents
    the group had.
    """

    texts: list[str]
    rows: NDArray[np.intp]
    groups: NDArray[np.intp]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, texts: list[str], labels: NDArray[Any] | None, language: str) -> DistinctTexts:
        """Return texts without repeats.

        Examples
        --------
        >>> found = DistinctTexts.of(["pay 1", "Pay 1.", "pay 2", "close"], None, "en")
        >>> found.texts, found.groups.tolist(), found.times.tolist()
        (['pay 1', 'pay 2', 'close'], [0, 0, 2], [3, 3, 1])
        """
        keys: Iterable[Any] = text_keys(texts).tolist()
        if labels is not None:
            keys = zip(keys, labels.tolist(), strict=True)
        first: dict[Any, int] = {}
        number = np.array([first.setdefault(key, i) for i, key in enumerate(keys)], dtype=np.intp)
        rows = np.array(list(first.values()), dtype=np.intp)
        kept = [texts[i] for i in rows.tolist()]
        groups = copy_groups(kept, language)
        places = np.searchsorted(rows, number)
        times = np.bincount(groups[places], minlength=len(kept))[groups]
        return cls(kept, rows, groups, times)

    @classmethod
    def each(cls, texts: list[str]) -> DistinctTexts:
        """Return texts as if none was a copy of another."""
        rows = np.arange(len(texts))
        return cls(texts, rows, rows, np.ones_like(rows))

    @property
    def n_groups(self) -> int:
        """The number of texts of which none is a copy of another."""
        return len(np.unique(self.groups))


def split_held_back(
    codes: NDArray[np.int64],
    alpha: float,
    share: float,
    seed: int,
    groups: NDArray[np.intp] | None = None,
    times: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split known documents into those to learn from and those for p-values.

    A group of copies is either learned from, or one of it is held back and the others are left out.
    `times` is how many documents the group of each has; one that is much larger than most is
    learned from, because it is what most messages are.

    The split is random and not stratified. In a stratified split, large classes, which the detector
    knows better, would also contribute more held-back documents, and the false-alarm rate would
    exceed alpha. The last document of a class is always learned from; if many classes have a single
    document, the false-alarm rate exceeds alpha for this reason.

    Examples
    --------
    >>> [len(part) for part in split_held_back(np.zeros(100, int), 0.05, 0.2, seed=0)]
    [80, 20]
    """
    n = len(codes) if groups is None else len(np.unique(groups))
    size, needed = n_held_back(n, alpha, share), held_back_needed(alpha)
    train, aside = draw_held_back(codes, size, seed, groups, times)
    if len(aside) < needed:
        raise TooFewError(
            f"There are {len(np.unique(codes)):,} classes of {len(codes):,} known documents, which "
            f"leaves {len(aside):,} to hold back; alpha={alpha:g} needs {needed:,}: pass more of "
            "each class, or no classes."
        )
    return train, aside


def warn_if_copies_count(n_documents: int, n_different: int) -> None:
    """Warn that copies of learned documents are held back, for lack of different ones."""
    warnings.warn(
        f"The false-alarm rate holds only for documents that repeat known ones: of {n_documents:,} "
        f"known documents {n_different:,} are different, too few to hold back without copies of "
        "what is learned from; pass more different ones, or a higher alpha.",
        stacklevel=4,
    )


def warn_if_few_held_back(calibration: Calibration) -> None:
    """Warn if the false-alarm rate may well be twice alpha, because few documents are held back."""
    if calibration.is_small:
        low, high = calibration.interval
        warnings.warn(
            f"The false-alarm rate of this detector is between {low:.1%} and {high:.1%} in nine of "
            f"ten cases, because {len(calibration):,} documents are held back; alpha="
            f"{calibration.alpha:g} should have {calibration.few:,}: pass more known documents, or "
            "a larger held_back.",
            stacklevel=4,
        )


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


def sample_for_scales(
    codes: NDArray[np.int64], seed: int, groups: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Choose documents on which the spread of the parts of the score is measured.

    Returned are the documents that are neither these nor copies of them, and these.
    """
    groups = np.arange(len(codes)) if groups is None else groups
    firsts = np.unique(groups, return_index=True)[1]
    size = min(max(round(_SCALE_SHARE * len(firsts)), _MIN_SCALE), _MAX_SCALE)
    _, compact = np.unique(codes[firsts], return_inverse=True)
    order = firsts[_spread(compact, np.random.RandomState(seed + 1))]
    train, sample = _take(codes, groups, order, size)
    if len(sample):
        return train, sample
    return np.flatnonzero(groups != groups[order[0]]), order[:1]


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
        raise TooFewError(
            f"There {'is 1 known document' if n == 1 else f'are {n:,} known documents'} with text; "
            f"alpha={alpha:g} needs {needed:,} or more held back, and with held_back={share:g} "
            f"some to learn from: {advice}."
        )
    return max(round(share * n), needed)


def check_given(n: int, alpha: float) -> None:
    """Raise a ValueError if the given held-back documents are too few."""
    needed = held_back_needed(alpha)
    if n < needed:
        raise TooFewError(
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
    codes: NDArray[np.int64],
    size: int,
    seed: int,
    groups: NDArray[np.intp] | None = None,
    times: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw documents at random, never all of a class; return those left and those drawn.

    Of a group of copies one is drawn, and none is left; see `split_held_back`.
    """
    groups = np.arange(len(codes)) if groups is None else groups
    firsts = np.unique(groups, return_index=True)[1]
    order = firsts[np.random.RandomState(seed).permutation(len(firsts))]
    if times is not None:  # those that are much more frequent than others come last
        frequent = times[order] > _FREQUENT * np.median(times[firsts])
        order = np.concatenate((order[~frequent], order[frequent]))
    train, aside = _take(codes, groups, order, size)
    return train, aside


def _take(
    codes: NDArray[np.int64], groups: NDArray[np.intp], order: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Take documents in an order, with their copies, as long as each class has others left.

    Returned are the documents that are left, and one of each group that was taken.
    """
    left = np.bincount(codes).tolist()
    rows, starts = np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))
    by_group = np.split(codes[rows], starts[:-1])
    taken: list[int] = []
    for i in order.tolist():
        if len(taken) == size:
            break
        own = by_group[groups[i]].tolist()
        if all(left[code] > own.count(code) for code in own):
            for code in own:
                left[code] -= 1
            taken.append(i)
    aside = np.array(taken, dtype=np.int64)
    return np.flatnonzero(~np.isin(groups, groups[aside])), aside


def draw_more_held_back(
    codes: NDArray[np.int64],
    share: float,
    *,
    n_known_classes: int,
    seed: Sequence[int],
    groups: NDArray[np.intp] | None = None,
) -> NDArray[np.bool_]:
    """Draw which additional documents to hold back.

    Each group of copies is drawn independently, so that documents that come one at a time are held
    back as often as those that come together. The first document of a new class is always learned
    from, and so are its copies.

    Classes from `n_known_classes` on are new; `groups` has the row of one text of each group.
    """
    groups = np.arange(len(codes)) if groups is None else groups
    drawn = np.random.RandomState(list(seed)).random_sample(len(codes)) < share
    classes, first = np.unique(codes, return_index=True)
    drawn[groups[first[classes >= n_known_classes]]] = False
    return drawn[groups]


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
