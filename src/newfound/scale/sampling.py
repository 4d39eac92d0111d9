"""A random sample of the documents of each side that does not depend on how they are cut.

Each text has a place, a hash of its words. The documents of a side with the smallest places are the
sample, in the order of their places. Copies of a text have the same place and are drawn together.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.scale.arrow import pyarrow, texts_of
from newfound.scale.counting import counts_schema, sides_of
from newfound.scale.engines import Engine
from newfound.scale.tally import place_of
from newfound.sides import SIDES

__all__ = ["draw_batch", "draw_sample"]

_PLACES = 1 << 64
_MOST_COPIES = 100  # one hundredth of a sample may be copies of one text


def draw_batch(batch: Any, *, text: str, side: str, below: tuple[int, int]) -> Any:
    """Return the texts of a batch whose places are below those given for each side.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        A row for each document.
    text, side : str
        The columns with the text and the side.
    below : (int, int)
        For known and for novel documents.

    Returns
    -------
    pyarrow.RecordBatch
        As `newfound.scale.count_batch`, with the kind "text" and texts instead of words.
    """
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for value, novel in zip(texts_of(batch, text), sides_of(batch, side).tolist(), strict=True):
        if value and not value.isspace() and place_of(value) < below[novel]:
            counts[novel][value] += 1
    names = sorted({*counts[0], *counts[1]})
    values = [["text"] * len(names), names, *([side[name] for name in names] for side in counts)]
    pa, schema = pyarrow(), counts_schema()
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def draw_sample(
    engine: Engine, sizes: tuple[int, int], most: int, *, text: str, side: str
) -> tuple[list[str], NDArray[np.bool_]]:
    """Draw a sample of the documents of each side.

    Parameters
    ----------
    engine : Engine
        Runs the pass.
    sizes : (int, int)
        The number of known and of novel documents.
    most : int
        The most documents of each side.
    text, side : str
        The columns.

    Returns
    -------
    texts : list of str
        In the order of their places.
    novel : ndarray of bool
        Which of them are novel.
    """
    # Somewhat more than asked for, since places are random.
    wanted = most + 6 * isqrt(most) + 10
    first, second = (_PLACES * min(wanted, size) // max(size, 1) for size in sizes)
    below = (first, second)
    work = partial(draw_batch, text=text, side=side, below=below)
    found = engine.sums(work, counts_schema(), ["kind", "word"]).to_pylist()
    rows: list[tuple[int, str, bool]] = []
    for is_novel, (name, size) in enumerate(zip(SIDES, sizes, strict=True)):
        copies = size if size <= most else max(1, most // _MOST_COPIES)
        drawn = [
            (place, row["word"], bool(is_novel))
            for row in found
            if row[name] and (place := place_of(row["word"])) < below[is_novel]
            for _ in range(min(row[name], copies))
        ]
        rows += sorted(drawn)[:most]
    rows.sort()
    return [text for _, text, _ in rows], np.array([novel for *_, novel in rows], bool)
