"""Several piles of documents: describe each one against all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from newfound.description.periods import MIN_DOCUMENTS, Periods, describe_each
from newfound.text.documents import DocumentError, Documents, as_documents

__all__ = ["describe_values", "join_piles"]

MAX_VALUES = 200


def describe_values(
    documents: object,
    *,
    by: str = "label",
    reading: dict[str, Any] | None = None,
    callback: Callable[[str, int, int], None] | None = None,
    **parameters: Any,
) -> Periods:
    """Describe the documents of each label against all other documents.

    Parameters
    ----------
    documents : Documents, or what `as_documents` takes
        With labels.
    by : str, default="label"
        What the labels are called, such as the name of their column.
    reading : dict, optional
        Parameters of `as_documents`, such as ``{"label_column": "topic"}``.
    callback : callable, optional
        Called with the name of each label before it is described, how many are done, and how many
        there are.
    **parameters
        Those of `NoveltyDescriber`.

    Returns
    -------
    Periods
        With one entry for each label, in alphabetical order. A label of a single document is not
        described; its document belongs to the others.

    Examples
    --------
    >>> texts = [f"{what} {n}" for what in ("rain falls", "virus spreads") for n in "abcdefgh"]
    >>> found = describe_values(
    ...     Documents(tuple(texts), tuple(texts), labels=("weather",) * 8 + ("health",) * 8),
    ...     by="topic", n_machines=2, n_clauses=10, T=5, random_state=0)
    >>> [(value.name, value.describer.words_["word"][0]) for value in found.periods]
    [('health', 'spreads'), ('weather', 'falls')]
    """
    whole = as_documents(documents, redact=bool(parameters.get("redact")), **(reading or {}))
    if whole.labels is None:
        raise DocumentError(f"{whole.source} has no labels; name their column.")
    sizes = Counter(whole.labels)
    chosen = sorted(
        name for name, n in sizes.items() if MIN_DOCUMENTS <= n <= len(whole) - MIN_DOCUMENTS
    )
    if not chosen:
        raise DocumentError(
            f"{whole.source} has no {by} to describe: it has {len(sizes):,} different values for "
            f"{len(whole):,} documents, and a value needs two documents and two others."
        )
    if len(chosen) > MAX_VALUES:
        raise DocumentError(
            f"{by!r} has {len(chosen):,} values, and at most {MAX_VALUES} are described; name a "
            "column with fewer, or leave documents out."
        )
    labels = np.array(whole.labels, dtype=object)
    sides = [
        (name, np.flatnonzero(labels != name).tolist(), np.flatnonzero(labels == name).tolist())
        for name in chosen
    ]
    return Periods(by, describe_each(whole, sides, callback, parameters), None)


def join_piles(piles: Mapping[str, Documents]) -> Documents:
    """Return the documents of several piles as one, each with the name of its pile as its label.

    Examples
    --------
    >>> joined = join_piles({"old": as_documents(["a try"]), "new": as_documents(["a goal"])})
    >>> joined.texts, joined.labels, joined.ids
    (('a try', 'a goal'), ('old', 'new'), ('old: 0', 'new: 0'))
    """
    found: Counter[str] = Counter()
    for pile in piles.values():
        found.update(pile.found)
    parts = [
        replace(pile, labels=(name,) * len(pile), ids=tuple(f"{name}: {i}" for i in pile.ids))
        for name, pile in piles.items()
    ]
    return Documents(
        texts=tuple(text for part in parts for text in part.texts),
        ids=tuple(i for part in parts for i in part.ids),
        labels=tuple(label for part in parts for label in part.labels or ()),
        source=f"{len(parts)} piles",
        found=dict(found),
    )
