"""The memory that a detector needs, estimated before it is used."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newfound.detection.linear import MAX_NGRAMS, ngrams_of
from newfound.rules.classifier import MOST_COEFFICIENTS
from newfound.text.vectorizer import TextVectorizer

__all__ = ["available_memory", "check_memory", "memory_needed"]

_PER_TERM = 20  # bytes by class: counts, weights, neighbours, coefficients in training
# Bytes by class, for the regression that weighs the rules, and for the one of many coefficients.
_PER_WORD, _PER_WORD_OF_MANY = 200, 12
_PER_NGRAM = 12  # bytes by class: coefficients and weights
_PER_ENTRY = 60  # bytes for each n-gram of each document while the classifier is trained
_FEWEST = 100  # words and pairs that are worth advising
_CGROUP = Path("/sys/fs/cgroup")


def memory_needed(
    n_classes: int, n_terms: int, *, n_words: int, n_ngrams: int, n_entries: int, n_automata: int
) -> int:
    """Return the bytes that learning needs at its peak, about.

    `n_words` are those that rules use, `n_entries` the n-grams of all known documents, and an
    automaton takes a byte.

    Examples
    --------
    >>> memory_needed(
    ...     150, 45_000, n_words=2_400, n_ngrams=18_000, n_entries=1_500_000, n_automata=30_000_000
    ... )
    329400000
    """
    many = n_classes * n_words > MOST_COEFFICIENTS
    per_word = _PER_WORD_OF_MANY if many else _PER_WORD
    by_class = n_terms * _PER_TERM + n_ngrams * _PER_NGRAM
    rules = max(n_automata, n_classes * n_words * per_word)  # one after the other
    return n_classes * by_class + n_entries * _PER_ENTRY + rules


def available_memory() -> int | None:
    """Return the bytes that this process can still use, or None if the system does not say."""
    found = [_cgroup_left(), _system_left()]
    return min((size for size in found if size is not None), default=None)


def check_memory(vectorizer: TextVectorizer, n_classes: int, n_clauses: int) -> None:
    """Raise a ValueError if learning needs more memory than there is."""
    terms = np.array(list(vectorizer.vocabulary_), dtype=object)
    frequencies = vectorizer.document_frequencies_
    left, needed = available_memory(), _needed(terms, frequencies, n_classes, n_clauses)
    if left is None or needed <= left:
        return
    # The most frequent terms are kept, as max_features does.
    order, fewer = np.argsort(-frequencies, kind="stable"), len(terms)
    less = needed
    while less > left and fewer > _FEWEST:
        fewer //= 2
        kept = order[:fewer]
        less = _needed(terms[kept], frequencies[kept], n_classes, n_clauses)
    advice = f"max_features={fewer}, or " if less <= left else ""
    raise ValueError(
        f"{n_classes:,} class{'es' if n_classes > 1 else ''} with {len(terms):,} words and pairs "
        f"need about {_size(needed)} of memory, and {_size(left)} are free: pass {advice}fewer "
        "classes or documents."
    )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"


def _needed(
    terms: NDArray[np.object_], frequencies: NDArray[np.int64], n_classes: int, n_clauses: int
) -> int:
    """Return what is needed for terms and the number of documents that have each."""
    if n_classes < 2:  # no linear classifier, and no rules
        return memory_needed(
            1, len(terms), n_words=0, n_ngrams=0, n_entries=int(frequencies.sum()), n_automata=0
        )
    single = np.array([" " not in term for term in terms.tolist()], bool)
    sizes = np.array([len(ngrams_of(word)) for word in terms[single].tolist()], np.int64)
    documents = frequencies[single]
    n_words = int((documents >= 2).sum())
    return memory_needed(
        n_classes,
        len(terms),
        n_words=n_words,
        n_ngrams=min(int(sizes.sum()), MAX_NGRAMS),
        n_entries=int(sizes @ documents + frequencies.sum()),
        n_automata=2 * n_classes * n_clauses * n_words,
    )


def _system_left() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if "MemAvailable" in line) * 1024
    except (OSError, StopIteration, ValueError):
        pass
    try:  # another system: all of its memory
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _cgroup_left() -> int | None:
    """Return what the limit of a container leaves."""
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        return None if limit == "max" else max(int(limit) - used, 0)
    except (OSError, ValueError):
        return None
