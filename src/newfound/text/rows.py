"""Tables read with all of their columns, not only those of the texts, labels, dates and ids."""

from __future__ import annotations

import csv
import importlib
import io
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from newfound.text.readers import Columns, DocumentError, Reader, Record

__all__ = ["Row", "RowReader", "by_column"]

Row = Mapping[str, Any]


class RowReader(Reader):
    r"""A `Reader` of records with the other columns of their rows, under the names of the table.

    The column of the text is not among them; the column *id* is. Texts and folders have no columns.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "news.csv")
    >>> _ = file.write_text("id,text,day\n7,Rugby,Monday\n")
    >>> reader = RowReader(str(file), Columns(None), None)
    >>> [(record.text, row) for record, row in reader.records_and_rows(None)]
    [('Rugby', {'id': '7', 'day': 'Monday'})]
    >>> folder.cleanup()
    """

    def __init__(self, name: str, given: Columns, encoding: str | None, **options: int) -> None:
        super().__init__(name, given, encoding, **options)
        self.text: Any = None
        self._rows: deque[Row] = deque()  # of records that were read, but not yet returned
        self._lines: list[str] | None = None  # of the current row of a CSV file

    def records_and_rows(self, format: str | None) -> Iterator[tuple[Record, Row]]:
        """Iterate over the records, each with the other columns of its row."""
        for record in self.records(format):
            row = self._rows.popleft() if self._rows else {}
            yield record, {name: value for name, value in row.items() if name != self.text}

    def _columns(self, names: Sequence[str], strings: Iterable[str], where: str) -> Columns:
        columns = super()._columns(names, strings, where)
        self.text = columns.text
        return columns

    def lines(self, stream: BinaryIO) -> Iterator[str]:
        """Iterate over decoded lines; those of the current row of a CSV file are kept."""
        for line in super().lines(stream):
            if self._lines is not None:
                self._lines.append(line)
            yield line

    def read_csv(self, stream: BinaryIO, delimiter: str) -> Iterator[Record]:
        """Yield the documents of a CSV file."""
        found = ""
        lines: list[str] = []
        self._lines = lines
        for record in super().read_csv(stream, delimiter):
            header = list(self.names)
            if not found:  # the lines of the header are still there; they tell the delimiter
                tried = (delimiter, ";", "\t")
                found = next(d for d in tried if next(csv.reader(lines, delimiter=d)) == header)
            *_, row = csv.reader(lines, delimiter=found)
            lines.clear()
            self._rows.append(dict(zip(header, row, strict=False)))
            yield record

    def _json_lines(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        return map(self._keep, super()._json_lines(stream))

    def _json_array(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        return map(self._keep, super()._json_array(stream))

    def _keep(self, item: tuple[int, Any]) -> tuple[int, Any]:
        self._rows.append(item[1] if isinstance(item[1], dict) else {})
        return item

    def _parquet(self, stream: BinaryIO) -> Iterator[Record]:
        source: str | BinaryIO = self.name
        if self.name == "-" or self.name.lower().endswith(".gz"):
            source = io.BytesIO(stream.read())
            stream = io.BytesIO(source.getvalue())
        rows: Iterator[Row] | None = None
        for record in super()._parquet(stream):
            if rows is None:
                rows = self._parquet_rows(source)
            self._rows.append(next(rows))
            yield record

    def _parquet_rows(self, source: str | BinaryIO) -> Iterator[Row]:
        """Iterate over the rows of a Parquet file of which the texts have been read."""
        table = importlib.import_module("pyarrow.parquet").ParquetFile(source)
        others = [name for name in table.schema_arrow.names if name != self.text]
        try:
            with table:
                for batch in table.iter_batches(columns=others):
                    yield from batch.to_pylist() if others else [{}] * len(batch)
        except (ValueError, TypeError, NotImplementedError, OverflowError, OSError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            name = os.path.basename(self.file)
            raise DocumentError(f"The columns of {name} cannot all be read: {reason}.") from error


def by_column(rows: Sequence[Row]) -> dict[str, tuple[Any, ...]]:
    """Return rows as columns, in the order in which their names occur; None where one is missing.

    Examples
    --------
    >>> by_column([{"id": 1}, {"id": 2, "day": "Monday"}])
    {'id': (1, 2), 'day': (None, 'Monday')}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tuple(row.get(name) for row in rows) for name in names}
