"""Counts of words by side, batch by batch, and a random sample of the documents of each side.

Counts are sums of whole numbers, so that any engine can add them up in any order. The sample does
not depend either on how documents are cut. Each text has a place, a hash of its words. The
documents of a side with the smallest places are the sample, in the order of their places. Copies of
a text have the same place and are drawn together. How many are drawn depends on the length of the
documents, so that the memory for learning from them does not.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby, islice
from math import isqrt
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.description.timeline import CountedTimeline, as_days
from newfound.scale.arrow import pyarrow, rows_with_text, texts_of
from newfound.sides import SIDES
from newfound.text.encoding import Encoder, Occurrences
from newfound.text.formats import check_column
from newfound.text.spelling import Capitals
from newfound.text.validation import NothingToLearnError, is_novel

__all__ = [
    "Sample",
    "count_batch",
    "count_days",
    "counts_schema",
    "dates_of",
    "day_counts",
    "day_names",
    "draw_batch",
    "draw_sample",
    "place_of",
    "sample_sizes",
    "sides_of",
    "word_counts",
]

_MAX_CACHED = 1 << 20  # chunks of text that a thread remembers

_local = threading.local()
_PLACES = 1 << 64
_MOST_COPIES = 100  # one hundredth of a sample may be copies of one text
_WORDS = 50  # different words of a document; of longer ones, fewer are drawn
_LEAST = 1_000  # documents that are drawn however long they are


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


def word_counts(
    table: Any,
) -> tuple[dict[str, dict[str, int]], tuple[int, int], tuple[int, int]]:
    """Return the documents of each word by kind, and the documents and words of each side."""
    kinds, names, known, novel = (table.column(name).to_pylist() for name in table.column_names)
    found: dict[str, dict[str, int]] = {"word": {}, "capital": {}, "noun": {}, "day": {}}
    sizes, n_words = (0, 0), [0, 0]
    for kind, name, old, new in zip(kinds, names, known, novel, strict=True):
        if kind == "documents":
            sizes = (old, new)
        else:
            found[kind][name] = old + new
        if kind == "word":
            n_words[0] += old
            n_words[1] += new
    for name, size in zip(SIDES, sizes, strict=True):
        if size < 2:
            raise NothingToLearnError(
                f"{name} has {size} document{'s' if size != 1 else ''} with text; pass at least 2 "
                "for each side."
            )
    return found, sizes, (n_words[0], n_words[1])


def day_counts(counts: Any) -> CountedTimeline | None:
    """Return the number of documents of each day; None if no document has a date."""
    rows = counts.filter(pyarrow("compute").equal(counts.column("kind"), "day"))
    names = rows.column("word").to_pylist()
    sides = np.stack([rows.column(side).to_numpy() for side in SIDES])
    dated = np.array([bool(name) for name in names], bool)
    if not dated.any():
        return None
    days = np.array([name for name in names if name], "datetime64[D]")
    return CountedTimeline(days, sides[:, dated], int(sides[:, ~dated].sum()))


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


class Sample(NamedTuple):
    """Documents that were drawn, in the order of their places."""

    texts: list[str]
    novel: NDArray[np.bool_]
    dates: list[str | None] | None  # the day of each; None if none were asked for
    # The number of documents of its side with the same text, divided by how many of these were
    # drawn: above 1 where copies were left out.
    stands_for: NDArray[np.float64]


def place_of(*parts: str) -> int:
    """Return a random number of 64 bits that depends on some texts only.

    The documents with the smallest numbers are a random sample, however the documents are cut.

    Examples
    --------
    >>> place_of("news:1", "Rain") == place_of("news:1", "Rain"), place_of("a") == place_of("b")
    (True, False)
    """
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "big")


def sample_sizes(sizes: tuple[int, int], words: tuple[int, int], sample: int) -> tuple[int, int]:
    """Return the most documents to draw of each side, given what was asked for.

    Where the documents of a side have more than 50 different words on average, so many are drawn
    that they can be expected to have as many words as ``sample`` documents of 50 words, but not
    fewer than 1,000.

    Examples
    --------
    >>> sample_sizes((50_000, 2_000_000), (500_000, 200_000_000), 20_000)
    (20000, 10000)
    """
    first, second = (
        min(sample, max(_LEAST, _WORDS * sample * size // max(n_words, 1)))
        for size, n_words in zip(sizes, words, strict=True)
    )
    return first, second


def draw_batch(
    batch: Any, *, text: str, side: str, below: tuple[int, int], date: str | None = None
) -> Any:
    """Return the texts of a batch whose places are below those given for each side.

    The columns are those of `count_batch`, with texts instead of words, and their days instead of
    a kind.
    """
    counts: tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]] = (Counter(), Counter())
    days = [""] * len(batch) if date is None else day_names(dates_of(batch, date)).tolist()
    sides = sides_of(batch, side).tolist()
    for value, novel, day in zip(texts_of(batch, text), sides, days, strict=True):
        if value and not value.isspace() and place_of(value) < below[novel]:
            counts[novel][day, value] += 1
    names = sorted({*counts[0], *counts[1]})
    by_side = ([side[name] for name in names] for side in counts)
    values = [[day for day, _ in names], [name for _, name in names], *by_side]
    pa, schema = pyarrow(), counts_schema()
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def draw_sample(
    sums: Callable[..., Any],
    sizes: tuple[int, int],
    most: tuple[int, int],
    *,
    text: str,
    side: str,
    date: str | None = None,
) -> Sample:
    """Draw a sample of the documents of each side."""
    # Somewhat more than asked for, since places are random.
    first, second = (
        _PLACES * min(asked + 6 * isqrt(asked) + 10, size) // max(size, 1)
        for asked, size in zip(most, sizes, strict=True)
    )
    below = (first, second)
    work = partial(draw_batch, text=text, side=side, below=below, date=date)
    found = sums(work, counts_schema(), ["kind", "word"]).to_pylist()
    rows: list[tuple[int, str, bool, str]] = []
    documents: Counter[tuple[str, bool]] = Counter()
    for novel, (name, size, asked) in enumerate(zip(SIDES, sizes, most, strict=True)):
        copies = size if size <= asked else max(1, asked // _MOST_COPIES)
        drawn = sorted(
            (place, row["word"], bool(novel), row["kind"])
            for row in found
            if row[name] and (place := place_of(row["word"])) < below[novel]
            for _ in range(min(row[name], copies))
        )
        for row in found:
            documents[row["word"], bool(novel)] += row[name]
        same = groupby(drawn, key=itemgetter(1))
        rows += [row for _, group in same for row in islice(group, copies)][:asked]
    rows.sort()
    texts = [(text, novel) for _, text, novel, _ in rows]
    own = Counter(texts)
    return Sample(
        [text for _, text, *_ in rows],
        np.array([novel for *_, novel, _ in rows], bool),
        None if date is None else [day or None for *_, day in rows],
        np.array([documents[text] / own[text] for text in texts]),
    )
