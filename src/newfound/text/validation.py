"""Checks of texts and labels; each failure is one sentence that says what to do."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from newfound.sides import SIDES
from newfound.text.dates import Dates, parse_dates
from newfound.text.documents import DocumentError, is_frame, with_text
from newfound.text.encoding import TokenizedTexts
from newfound.text.records import is_missing
from newfound.text.redaction import redact_all

__all__ = [
    "MAX_EXPLAINED",
    "NoWordsWarning",
    "NothingToLearnError",
    "check_explainable",
    "check_matrix",
    "check_several",
    "check_texts",
    "is_count",
    "is_novel",
    "labelled_texts",
]


MAX_EXPLAINED = 250_000  # characters; more would take longer than a second


class NothingToLearnError(ValueError):
    """Raised if the documents hold nothing to learn from, whatever else is asked for."""


class NoWordsWarning(UserWarning):
    """Given for documents that have no words left after cleaning."""


def check_texts(texts: Iterable[str]) -> Iterable[str]:
    """Return an iterable of texts that raises a `DocumentError` for anything that is not a text.

    Examples
    --------
    >>> list(check_texts(["Rugby", b"Cricket"]))
    Traceback (most recent call last):
    ...
    newfound.text.records.DocumentError: Document 1 is bytes, not a str; decode it.
    """
    if isinstance(texts, TokenizedTexts):
        return texts
    if isinstance(texts, list | tuple):  # asking what else it is takes longer than a short text
        return _each_checked(texts)
    if isinstance(texts, str | bytes):
        raise DocumentError(
            f"Expected several texts, got a single {_kind(texts)}; wrap it in a list."
        )
    if isinstance(texts, Mapping) or is_frame(texts) or not isinstance(texts, Iterable):
        raise DocumentError(
            f"Expected an iterable of texts, got {_kind(texts)}; pass a list of str, or one column."
        )
    return _each_checked(texts)


def check_explainable(text: str) -> None:
    """Raise a `ValueError` for a text that would take long to explain."""
    if len(text) > MAX_EXPLAINED:
        raise ValueError(
            f"The text has {len(text):,} characters, and up to {MAX_EXPLAINED:,} are explained; "
            "explain a part of it."
        )


def _each_checked(texts: Iterable[str]) -> Iterator[str]:
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            hint = "decode it" if isinstance(text, bytes) else "convert it to str or leave it out"
            raise DocumentError(f"Document {position} is {_kind(text)}, not a str; {hint}.")
        yield text


def labelled_texts(
    X: Iterable[str], y: ArrayLike, dates: Iterable[Any] | None = None, *, redact: bool = False
) -> tuple[Sequence[str], NDArray[np.bool_], Dates | None]:
    """Return the texts that are not blank, which of them are novel, and their dates.

    A missing or blank text is left out, with its label: "known" or "novel", or 0 and 1 (novel).
    `TokenizedTexts`, which may have words without a text, are all kept, as they are to be read;
    `redact` changes other texts.

    Examples
    --------
    >>> texts, novel, _ = labelled_texts(["a", "b", " ", "c", "d"], [0, 0, 1, 1, 1])
    >>> texts, novel.tolist()
    (['a', 'b', 'c', 'd'], [False, False, True, True])
    """
    check_several(X)
    if y is None:
        raise ValueError("y is missing; pass 'known' or 'novel' for each text.")
    texts: Sequence[str] = X if isinstance(X, TokenizedTexts) else list(X)
    labels = np.asarray(y)
    if labels.shape != (len(texts),):
        raise ValueError(
            f"y has the shape {labels.shape} for {len(texts)} texts; pass one label for each."
        )
    days = None if dates is None else parse_dates(dates)
    if days is not None and len(days) != len(texts):
        raise ValueError(
            f"There are {len(days):,} dates for {len(texts):,} texts; pass one for each."
        )
    if not texts:
        raise ValueError("There are no texts; pass known and novel ones.")
    novel = np.array([is_novel(label) for label in labels.tolist()])
    if not isinstance(texts, TokenizedTexts):
        kept = dict(with_text(texts))
        texts, novel = list(kept.values()), novel[list(kept)]
        texts = redact_all(texts) if redact else texts
        days = None if days is None else tuple(days[place] for place in kept)
    for side, n in zip(SIDES, (int((~novel).sum()), int(novel.sum())), strict=True):
        if n < 2:
            raise NothingToLearnError(
                f"{side} has {n} document{'s' if n != 1 else ''} with text; pass at least 2 for "
                "each side."
            )
    return texts, novel, days


def check_several(X: object) -> None:
    """Raise a `ValueError` for a frame, a single text and anything else that has no texts."""
    if is_frame(X):
        raise ValueError("X is a frame; pass the one column that holds the texts.")
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise ValueError(f"X is a single {type(X).__name__}; pass several texts in a list.")


def check_matrix(matrix: Any, novel: NDArray[np.bool_]) -> None:
    """Raise a `NothingToLearnError` for documents that nothing can be learned from.

    Documents without words cause a warning, unless one side has no others.
    """
    lengths = np.diff(matrix.indptr)
    for side, rows in zip(SIDES, (~novel, novel), strict=True):
        empty, n = int((lengths[rows] == 0).sum()), int(rows.sum())
        if empty == n:
            raise NothingToLearnError(
                f"Nothing is left of the {n} {side} documents after cleaning; pass longer texts, "
                "a smaller min_df or fewer stop words."
            )
        if empty:
            has = "has" if empty == 1 else "have"
            warnings.warn(
                f"{empty:,} of {n:,} {side} documents {has} no words left after cleaning.",
                NoWordsWarning,
                stacklevel=3,
            )
    raw, width = matrix.indices.tobytes(), matrix.indices.itemsize
    ends = [int(end) * width for end in matrix.indptr]
    bags = [raw[begin:end] for begin, end in pairwise(ends)]
    known = {bag for bag, is_novel in zip(bags, novel, strict=True) if not is_novel}
    new = {bag for bag, is_novel in zip(bags, novel, strict=True) if is_novel}
    if len(known | new) == 1:
        raise NothingToLearnError(
            f"All {len(bags):,} documents have the same words after cleaning; pass documents that "
            "differ."
        )
    if known == new:
        raise NothingToLearnError(
            "known and novel hold the same documents, so nothing is new; pass different ones."
        )


def is_novel(label: object) -> bool:
    """Return whether a label says novel: "novel" or 1, and not "known" or 0."""
    if isinstance(label, str) and label in SIDES:
        return label == "novel"
    if isinstance(label, int | float) and label in (0, 1):
        return bool(label)
    raise ValueError(f"y has the label {label!r}; expected 'known' and 'novel', or 0 and 1.")


def is_count(value: object) -> bool:
    """Return whether a value is a whole number from 1."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1


def _kind(value: object) -> str:
    return f"{value} (missing)" if is_missing(value) else type(value).__name__
