"""A random sample of the documents of each side that does not depend on how they are cut.

Each text has a place, a hash of its words. The documents of a side with the smallest places are the
sample, in the order of their places. Copies of a text have the same place and are drawn together.
How many are drawn depends on the length of the documents, so that the memory for learning from them
does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby, islice
from math import isqrt
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from newfound.scale.arrow import pyarrow, texts_of
from newfound.scale.counting import counts_schema, dates_of, day_names, sides_of
from newfound.scale.tally import place_of
from newfound.sides import SIDES

__all__ = ["Sample", "draw_batch", "draw_sample", "sample_sizes"]

_PLACES = 1 << 64
_MOST_COPIES = 100  # one hundredth of a sample may be copies of one text
_WORDS = 50  # different words of a document; of longer ones, fewer are drawn
_LEAST = 1_000  # documents that are drawn however long they are


class Sample(NamedTuple):
    """Documents that were drawn, in the order of their places.

    Attributes
    ----------
    texts : list of str
        The texts.
    novel : ndarray of bool
        Which of them are novel.
    dates : list of (str or None), or None
        The day of each; None if none were asked for.
    stands_for : ndarray of float64
        The number of documents of its side with the same text, divided by how many of these were
        drawn: above 1 where copies were left out.
    """

    texts: list[str]
    novel: NDArray[np.bool_]
    dates: list[str | None] | None
    stands_for: NDArray[np.float64]


def sample_sizes(sizes: tuple[int, int], words: tuple[int, int], sample: int) -> tuple[int, int]:
    """Return the most documents to draw of each side, given what was asked for.

    Where the documents of a side have more than 50 different words on average, so many are drawn
    that they can be expected to have as many words as ``sample`` documents of 50 words, but not
    fewer than 1,000.

    Parameters
    ----------
    sizes : (int, int)
        The number of known and of novel documents.
    words : (int, int)
        The number of their words, each counted once in a document.
    sample : int
        The most documents of a side.

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

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        A row for each document.
    text, side : str
        The columns with the text and the side.
    below : (int, int)
        For known and for novel documents.
    date : str, optional
        The column with the dates.

    Returns
    -------
    pyarrow.RecordBatch
        As `newfound.scale.count_batch`, with texts instead of words and their days instead of a
        kind; a missing day is "".
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
    """Draw a sample of the documents of each side.

    Parameters
    ----------
    sums : callable
        Runs the pass: the method of an `Engine`.
    sizes : (int, int)
        The number of known and of novel documents.
    most : (int, int)
        The most documents of each side; see `sample_sizes`.
    text, side, date : str
        The columns; those with dates if there are any.

    Returns
    -------
    Sample
    """
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
    for is_novel, (name, size, asked) in enumerate(zip(SIDES, sizes, most, strict=True)):
        copies = size if size <= asked else max(1, asked // _MOST_COPIES)
        drawn = sorted(
            (place, row["word"], bool(is_novel), row["kind"])
            for row in found
            if row[name] and (place := place_of(row["word"])) < below[is_novel]
            for _ in range(min(row[name], copies))
        )
        for row in found:
            documents[row["word"], bool(is_novel)] += row[name]
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
