"""Counts of words by side, batch by batch: the first pass of a description.

Counts are sums of whole numbers, so that any engine can add them up in any order.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.description.timeline import as_days
from newfound.scale.arrow import pyarrow, rows_with_text, texts_of
from newfound.text.encoding import Encoder, Occurrences
from newfound.text.formats import check_column
from newfound.text.spelling import Capitals
from newfound.text.validation import is_novel

__all__ = [
    "count_batch",
    "count_days",
    "counts_schema",
    "dates_of",
    "day_names",
    "sides_of",
]

_MAX_CACHED = 1 << 20  # chunks of text that a thread remembers

_local = threading.local()


def counts_schema() -> Any:
    """Return the schema of the batches that `count_batch` returns."""
    pa = pyarrow()
    return pa.schema(
        [
            ("kind", pa.string()),
            ("word", pa.string()),
            ("known", pa.int64()),
            ("novel", pa.int64()),
        ]
    )


def count_batch(batch: Any, *, text: str = "text", side: str = "side") -> Any:
    """Count in how many documents of each side the words of a record batch occur.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        A row for each document; those without text are left out.
    text : str, default="text"
        The column with the texts.
    side : str, default="side"
        The column that says "known" or "novel", or 0 and 1 (novel).

    Returns
    -------
    pyarrow.RecordBatch
        With the columns ``kind``, ``word``, ``known`` and ``novel``. The kinds are "word", a word
        in lower case, not lemmatised; "capital", a word with a capital inside a sentence; "noun",
        one of these after *a* or *an*; and, with an empty word, "documents".

    Examples
    --------
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"text": ["a scrum", "a try, a scrum"], "side": ["known", "novel"]})
    >>> for row in count_batch(batch).to_pylist():
    ...     print(*row.values())
    documents  1 1
    word a 1 1
    word scrum 1 1
    word try 0 1
    """
    texts, novel = texts_of(batch, text), sides_of(batch, side)
    rows = rows_with_text(texts)
    kept = [texts[i] or "" for i in rows]
    is_new = novel[rows]
    found: list[tuple[str, list[str], NDArray[np.int64]]] = []
    sizes = np.array([[len(kept) - int(is_new.sum())], [int(is_new.sum())]])
    found.append(("documents", [""], sizes))
    found.append(("word", *_words(kept, is_new)))
    found += _capitals(kept, is_new)
    return _as_batch(found)


def sides_of(batch: Any, side: str) -> NDArray[np.bool_]:
    """Return which rows of a batch are novel, by the column that says their side."""
    values = batch.column(check_column(batch.schema, side, "The batch")).to_pylist()
    novel = {value: is_novel(value) for value in set(values)}
    return np.array([novel[value] for value in values], bool)


def dates_of(batch: Any, date: str) -> NDArray[np.datetime64]:
    """Return the day of each row of a batch, by the column with the dates; NaT where missing."""
    column = batch.column(check_column(batch.schema, date, "The batch"))
    kinds = pyarrow("types")
    if kinds.is_date32(column.type) or kinds.is_date64(column.type):
        days = column.to_numpy(zero_copy_only=False).astype("datetime64[D]")
    else:
        days = as_days(column.to_pylist())
    found: NDArray[np.datetime64] = days
    return found


def count_days(batch: Any, *, text: str, side: str, date: str) -> Any:
    """Count as `count_batch`, and the documents of each day, with the kind "day"; "" if missing."""
    days, novel = dates_of(batch, date), sides_of(batch, side)
    rows = rows_with_text(texts_of(batch, text))
    names, places = np.unique(day_names(days[rows]), return_inverse=True)
    counts = [
        np.bincount(places[novel[rows] == new], minlength=len(names)) for new in (False, True)
    ]
    words, pa = count_batch(batch, text=text, side=side), pyarrow()
    more = _as_batch([("day", names.tolist(), np.stack(counts))])
    arrays = [pa.concat_arrays(pair) for pair in zip(words.columns, more.columns, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=counts_schema())


def day_names(days: NDArray[np.datetime64]) -> NDArray[np.str_]:
    """Return days as texts, and "" for a missing one."""
    return np.where(np.isnat(days), "", days.astype(str))


class _Forms:
    """The words of texts, numbered as they are met."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.encoder = Encoder(lambda form: self.numbers.setdefault(form, len(self.numbers)))


def _words(texts: list[str], novel: NDArray[np.bool_]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the words of texts, sorted, and in how many of each side each of them is."""
    forms: _Forms | None = getattr(_local, "forms", None)
    if forms is None or len(forms.encoder) > _MAX_CACHED:
        forms = _local.forms = _Forms()
    found = Occurrences(forms.encoder.encode(texts, ordered=False), pairs=False)
    n = len(forms.numbers)
    # A text is a set of chunks, but several chunks can have the same word.
    cells = np.unique(found.word_rows.astype(np.int64) * max(n, 1) + found.words)
    rows, words = np.divmod(cells, max(n, 1))
    sides = [np.bincount(words[novel[rows] == side], minlength=n) for side in (False, True)]
    counts = np.stack(sides)
    used = np.flatnonzero(counts.any(axis=0))
    names = list(forms.numbers)
    named = sorted((names[i], i) for i in used.tolist())
    return [name for name, _ in named], counts[:, [i for _, i in named]]


def _capitals(
    texts: list[str], novel: NDArray[np.bool_]
) -> list[tuple[str, list[str], NDArray[np.int64]]]:
    """Return the counts of words with capitals, as `Capitals` counts them."""
    by_side = []
    for side in (False, True):
        capitals = Capitals()
        for i in np.flatnonzero(novel == side).tolist():
            capitals.count(texts[i])
        by_side.append((capitals.documents, Counter(dict.fromkeys(capitals.nouns, 1))))
    found = []
    for kind, sides in zip(("capital", "noun"), zip(*by_side, strict=True), strict=True):
        names = sorted(set().union(*sides))
        counts = np.array([[side[name] for name in names] for side in sides], np.int64)
        found.append((kind, names, counts.reshape(2, -1)))
    return found


def _as_batch(found: list[tuple[str, list[str], NDArray[np.int64]]]) -> Any:
    pa = pyarrow()
    kinds = [kind for kind, names, _ in found for _ in names]
    words = [name for _, names, _ in found for name in names]
    known, novel = np.concatenate([counts for _, _, counts in found], axis=1)
    return pa.RecordBatch.from_arrays(
        [pa.array(kinds, pa.string()), pa.array(words, pa.string()), pa.array(known),
         pa.array(novel)],
        schema=counts_schema(),
    )  # fmt: skip
