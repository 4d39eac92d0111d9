"""Documents of many files as a stream of Arrow record batches, of one side or of both.

Files are read by `newfound.text.source.Reader`. What cannot be read is one sentence that names the
file and the row group; with `skip_bad` it is counted instead, and the rest is read.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from newfound.scale.arrow import pyarrow
from newfound.sides import SIDES
from newfound.table import as_text
from newfound.text.dates import parse_start
from newfound.text.documents import KEPT
from newfound.text.formats import BATCH, CHARACTERS, files_of_dataset, format_of
from newfound.text.records import Columns, DocumentError, Record, column_name, records_with_text
from newfound.text.source import Reader

__all__ = [
    "BATCH",
    "DatedSides",
    "Sides",
    "Source",
]

_REPORTED = 10  # problems that are kept as sentences


class Source:
    """The documents of files, as Arrow record batches with the columns ``document`` and ``text``.

    Documents that are empty, blank or no text are left out and counted, as `read_documents` does.

    Parameters
    ----------
    path : path or sequence of paths
        A file (Parquet, CSV, JSON lines, text), a folder of Parquet files as engines write it, or a
        pattern such as ``data/*.parquet``. Files are read in the order of their names.
    text_column : str, optional
        The column with the texts; by default *text*, or the only column of strings.
    label_column, date_column : str, optional
        Further columns to read, as ``label`` and ``date``.
    format, encoding : str, optional
        As in `read_documents`.
    batch_size : int, default=10000
        Number of documents of a batch; fewer where they have more than 4,000,000 characters, so
        that memory does not grow with the length of documents.
    skip_bad : bool, default=False
        Leave out files and row groups that cannot be read, instead of raising a `DocumentError`.
    keep : callable, optional
        Says of the name of another column whether to read it, too. The other columns are those of
        the first file that has any; other files need not have them all. Those of a Parquet file
        keep their types, others are text. Standard input, which is read once, has none.

    Attributes
    ----------
    files : list of str
        The files.
    found : Counter of str
        Documents that were left out, by reason, once the batches are read.
    bad : Counter of str
        With `skip_bad`: ``files`` and ``row groups`` that were left out, and their ``rows``.
    problems : list of str
        The first of these, a sentence each.
    n_documents : int
        The number of documents read so far.

    Examples
    --------
    >>> import os, tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> for name in ("b", "a"):
    ...     table = pa.table({"text": [f"{name}1", None, f"{name}2"]})
    ...     pq.write_table(table, os.path.join(folder.name, f"{name}.parquet"))
    >>> source = Source(folder.name)
    >>> [batch.to_pylist() for batch in source][0][:2]
    [{'document': 'a.parquet:1', 'text': 'a1'}, {'document': 'a.parquet:3', 'text': 'a2'}]
    >>> source.n_documents, dict(source.found)
    (4, {'empty': 2})
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        text_column: str | None = None,
        label_column: str | None = None,
        date_column: str | None = None,
        format: str | None = None,
        encoding: str | None = None,
        batch_size: int = BATCH,
        skip_bad: bool = False,
        keep: Callable[[str], bool] | None = None,
    ) -> None:
        paths = [path] if isinstance(path, str | os.PathLike) else list(path)
        self.names = _named_files([os.fspath(one) for one in paths])
        self.files = list(self.names)
        self.given = Columns(text_column, label_column, date_column)
        self.format, self.encoding = format, encoding
        self.batch_size, self.skip_bad = batch_size, skip_bad
        self.reset()
        self.others = () if keep is None else self._other_fields(keep)

    def reset(self) -> None:
        """Forget what was counted."""
        self.found: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.problems: list[str] = []
        self.n_documents = 0

    @property
    def schema(self) -> Any:
        """The schema of the batches."""
        pa = pyarrow()
        kinds = {"date": pa.date32()}
        own = [(name, kinds.get(name, pa.string())) for name in self._own_names()]
        return pa.schema([*own, *self.others])

    def _own_names(self) -> list[str]:
        more = [name for name in ("label", "date") if getattr(self.given, name) is not None]
        return ["document", "text", *more]

    def n_rows(self) -> int | None:
        """Return the number of rows that the files say they have; None if one does not say."""
        rows = 0
        for file in self.files:
            if (self.format or format_of(file)) != "parquet":
                return None
            try:
                rows += pyarrow("parquet").read_metadata(file).num_rows
            except (OSError, ValueError):  # `__iter__` says what is wrong
                return None
        return rows

    def fingerprint(self) -> list[tuple[str, int, int]]:
        """Return name, size and time of the last change of the files."""
        marks = []
        for file in self.files:
            with self._reader(file).errors():
                status = os.stat(file)
            marks.append((os.path.abspath(file), status.st_size, status.st_mtime_ns))
        return marks

    def __iter__(self) -> Iterator[Any]:
        """Read the files, and iterate over the batches."""
        self.reset()
        ids: list[str] = []
        texts: list[str] = []
        records: list[Record] = []  # only for further columns: many records keep the collector busy
        length, more = 0, len(self.schema) > 2
        for record in self._records():
            text = record[1] or ""
            length += len(text)
            if (length > CHARACTERS and texts) or len(texts) == self.batch_size:
                yield self._batch(ids, texts, records)
                ids, texts, records, length = [], [], [], len(text)
            ids.append(record[0])
            texts.append(text)
            if more:
                records.append(record)
        if texts:
            yield self._batch(ids, texts, records)

    def _batch(self, ids: list[str], texts: list[str], records: list[Record]) -> Any:
        self.n_documents += len(texts)
        columns: list[Any] = [ids, texts]
        columns += [[getattr(r, name) for r in records] for name in self._own_names()[2:]]
        rows = [record.others or {} for record in records]
        columns += [[row.get(field.name) for row in rows] for field in self.others]
        arrays = [_array(column, field) for column, field in zip(columns, self.schema, strict=True)]
        return pyarrow().RecordBatch.from_arrays(arrays, schema=self.schema)

    def _records(self) -> Iterator[Record]:
        """Iterate over the records of all files that have text."""
        names = {field.name for field in self.others}
        for file in self.files:
            reader = self._reader(file, names.__contains__ if names else None)
            try:
                with reader.errors():
                    for record in records_with_text(reader.records(self.format), self.found):
                        if record.others and reader.schema is None:  # cells of a table are text
                            cells = {n: _as_cell(v) for n, v in record.others.items()}
                            record = record._replace(others=cells)
                        yield record
            except DocumentError as error:
                if not self.skip_bad:
                    raise
                self._skip("files", error, reader.unread)
            self.found.update(reader.counts)

    def _reader(self, file: str, keep: Callable[[str], bool] | None = None) -> Reader:
        skip = partial(self._skip, "row groups") if self.skip_bad else None
        name = None if file == "-" else self.names[file]
        return Reader(file, self.given, self.encoding, name=name, keep=keep, skip=skip)

    def _skip(self, what: str, error: DocumentError, rows: int) -> None:
        """Count what cannot be read."""
        self.bad[what] += 1
        self.bad["rows"] += rows
        if len(self.problems) < _REPORTED:
            self.problems.append(str(error))

    def _other_fields(self, keep: Callable[[str], bool]) -> tuple[Any, ...]:
        """Return the other columns of the first file that has any.

        What is wrong with a file is told when its documents are read.
        """
        pa, own = pyarrow(), self._own_names()
        for file in self.files:
            if file == "-":
                continue
            reader = self._reader(file)
            with suppress(OSError, ValueError), reader.errors():
                next(reader.records(self.format), None)
            # Where several columns have one name, the last one counts, as in `read_documents`.
            fields = reader.schema or [pa.field(name, pa.string()) for name in reader.names]
            others = {field.name: field for field in fields if field.name != reader.columns.text}
            if others:
                return tuple(f for f in others.values() if keep(f.name) and f.name not in own)
        return ()

    def summary(self) -> str:
        """Return one line that says what was read, what was left out, and what was bad."""
        n, files = self.n_documents, len(self.files)
        parts = [f"{n:,} document{'' if n == 1 else 's'} from {files:,} file{'s'[: files != 1]}"]
        left_out = [f"{n:,} {kind}" for kind, n in (+self.found).items() if kind not in KEPT]
        if left_out:
            parts.append(f"left out: {', '.join(left_out)}")
        parts += [f"{n:,} {KEPT[kind]}" for kind, n in (+self.found).items() if kind in KEPT]
        if self.bad:
            counts = ", ".join(f"{n:,} {kind}" for kind, n in (+self.bad).items())
            parts.append(f"could not be read: {counts}")
        return "; ".join(parts)


def _as_cell(value: Any) -> str | None:
    return None if value is None else as_text(value)


def _array(values: list[Any], field: Any) -> Any:
    """Return the Arrow array of a column; several files can have several types of one column."""
    try:
        return pyarrow().array(values, field.type)
    except (ValueError, TypeError, OverflowError) as error:
        raise DocumentError(
            f"The column {column_name(field.name)} is {field.type} in the first file, and not in "
            "all of them; give it one type, or leave it out."
        ) from error


def _named_files(paths: Sequence[str]) -> dict[str, str]:
    """Return the files of paths, with the name that the documents of each have."""
    found: dict[str, str] = {}
    for path in paths:
        if os.path.isdir(path):
            files = files_of_dataset(path)
            found.update((file, os.path.relpath(file, path).replace(os.sep, "/")) for file in files)
            if not files:
                raise DocumentError(f"There are no files in {path}.")
        elif not os.path.exists(path) and glob.has_magic(path):
            files = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
            if not files:
                raise DocumentError(f"No file matches {path}.")
            found.update((file, os.path.basename(file)) for file in files)
        else:
            found[path] = os.path.basename(path)
    for file in found:
        if format_of(file) in (None, "folder") and len(found) > 1:
            raise DocumentError(f"{file} has no known format; leave it out of {paths[0]}.")
    return found


class Sides:
    """Known and novel documents as one stream, with the columns ``text`` and ``side``."""

    def __init__(self, known: Source, novel: Source) -> None:
        self.known, self.novel = known, novel

    def __iter__(self) -> Iterator[Any]:
        """Read both, and iterate over the batches."""
        pa = pyarrow()
        for side, source in zip(SIDES, (self.known, self.novel), strict=True):
            for batch in source:
                column = pa.array([side] * len(batch), pa.string())
                kept = batch.select(["text", "date"] if self.date else ["text"])
                yield kept.append_column("side", column)

    @property
    def date(self) -> str | None:
        """The column with the dates; None without dates."""
        dated = all(source.given.date is not None for source in (self.known, self.novel))
        return "date" if dated else None

    def fingerprint(self) -> list[tuple[str, int, int]]:
        """Return name, size and time of the last change of all files."""
        return [*self.known.fingerprint(), *self.novel.fingerprint()]


class DatedSides:
    """Dated documents as one stream, with the columns ``text``, ``date`` and ``side``.

    The side is novel from a day on, which a month or a year names, too. Documents without a date
    are left out; `undated` says how many, once the batches are read.

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
