"""Dated documents as a stream of two sides: earlier ones are known, the others novel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from newfound.scale.arrow import pyarrow
from newfound.scale.sources import Source
from newfound.sides import SIDES
from newfound.text.dates import parse_start

__all__ = ["DatedSides"]


class DatedSides:
    """Dated documents as one stream, with the columns ``text``, ``date`` and ``side``.

    Parameters
    ----------
    documents : Source
        With a ``date_column``; documents without a date are left out.
    start : str, date or timestamp
        The first day of the novel documents; a month or a year stands for its first day.

    Attributes
    ----------
    undated : int
        How many were left out, once the batches are read.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pa.table({"text": ["a war", "a virus", "a try"],
    ...                   "date": ["2003-03-31", "2003-04-01", None]})
    >>> pq.write_table(table, os.path.join(folder.name, "news.parquet"))
    >>> sides = DatedSides(Source(folder.name, date_column="date"), "2003-04")
    >>> [(row["text"], row["side"]) for batch in sides for row in batch.to_pylist()]
    [('a war', 'known'), ('a virus', 'novel')]
    >>> sides.undated
    1
    >>> folder.cleanup()
    """

    date = "date"  # the column with the dates

    def __init__(self, documents: Source, start: object) -> None:
        first = parse_start(start)
        if first is None:
            raise ValueError("The start is missing; pass a date such as 2003-04-01.")
        self.documents, self.first, self.undated = documents, first, 0

    def __iter__(self) -> Iterator[Any]:
        """Read the documents, and iterate over the batches."""
        pa, pc = pyarrow(), pyarrow("compute")
        self.undated = 0
        for batch in self.documents:
            self.undated += batch.column("date").null_count
            dated = batch.filter(pc.is_valid(batch.column("date")))
            novel = pc.greater_equal(dated.column("date"), pa.scalar(self.first, pa.date32()))
            sides = pc.if_else(novel, SIDES[1], SIDES[0])
            yield dated.select(["text", self.date]).append_column("side", sides)

    def fingerprint(self) -> list[tuple[str, int, int]]:
        """Return name, size and time of the last change of all files."""
        return self.documents.fingerprint()
