"""Documents of many files as a stream of Arrow record batches, and what bad files get.

A `Source` reads one row group of one Parquet file at a time. What cannot be read is one sentence
that names the file and the row group; with `skip_bad` it is counted instead, and the rest is read.
"""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, islice
from typing import Any

from newfound.scale.arrow import check_text_column, pyarrow, rows_with_text
from newfound.sides import SIDES
from newfound.table import as_text
from newfound.text.documents import records_with_text
from newfound.text.readers import Reader, format_of
from newfound.text.records import (
    Columns,
    DocumentError,
    Record,
    choose_columns,
    column_name,
    make_record,
)

__all__ = ["BATCH", "Sides", "Source", "is_dataset"]

BATCH = 10_000  # documents
_CHARACTERS = 4_000_000  # of a batch; of long documents it has fewer
_READ_AHEAD = 1 << 20  # bytes of a column of a Parquet file
_AT_ONCE = 1_000  # records of a file that is no Parquet file
_REPORTED = 10  # problems that are kept as sentences


def is_dataset(path: str) -> bool:
    """Return whether a path stands for many tables: a pattern, or a folder of Parquet files.

    Examples
    --------
    >>> is_dataset("data/*.parquet"), is_dataset("data.parquet"), is_dataset("-")
    (True, False, False)
    """
    if path == "-" or os.path.isfile(path):
        return False
    if os.path.isdir(path):
        files = _files_below(path)
        return bool(files) and all(_is_parquet(file) for file in files)
    return glob.has_magic(path)


def _is_parquet(file: str) -> bool:
    return file.lower().endswith((".parquet", ".pq"))


def _files_below(folder: str) -> list[str]:
    """Return the files of a folder, sorted; engines mark their own with a dot or an underscore."""
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        found += [os.path.join(root, name) for name in files if not name.startswith((".", "_"))]
    return sorted(found)


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
        self.others = () if keep is None else self._other_fields(keep)
        self.reset()

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
            if not _is_parquet(file) or self.format not in (None, "parquet"):
                return None
            try:
                rows += pyarrow("parquet").read_metadata(file).num_rows
            except (OSError, ValueError):  # `__iter__` says what is wrong
                return None
        return rows

    def fingerprint(self) -> list[tuple[str, int, int]]:
        """Return name, size and time of the last change of the files."""
        found = []
        for file in self.files:
            with _told(file, f"{file} cannot be read"):
                status = os.stat(file)
            found.append((os.path.abspath(file), status.st_size, status.st_mtime_ns))
        return found

    def __iter__(self) -> Iterator[Any]:
        """Read the files, and iterate over the batches."""
        self.reset()
        pa, schema = pyarrow(), self.schema
        waiting: list[list[Any]] = [[] for _ in schema]
        for chunk in self._chunks():
            for column, values in zip(waiting, chunk, strict=True):
                column += values
            while size := self._full(waiting[1]):
                yield self._batch(pa, [column[:size] for column in waiting], schema)
                waiting = [column[size:] for column in waiting]
        if waiting[0]:
            yield self._batch(pa, waiting, schema)

    def _full(self, texts: list[str]) -> int:
        """Return how many texts the next batch has; 0 if it is not full."""
        few = texts[: self.batch_size]
        if sum(map(len, few)) > _CHARACTERS:
            ends = list(accumulate(map(len, few)))
            return max(1, bisect_right(ends, _CHARACTERS))
        return len(few) if len(few) == self.batch_size else 0

    def _batch(self, pa: Any, columns: list[list[Any]], schema: Any) -> Any:
        self.n_documents += len(columns[0])
        arrays = [_array(values, field) for values, field in zip(columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _chunks(self) -> Iterator[list[list[Any]]]:
        """Iterate over the columns of some documents at a time."""
        more = [name for name in ("label", "date") if getattr(self.given, name) is not None]
        for file, name in self.names.items():
            parquet = self._is_parquet(file)
            for some in self._parquet(file, name) if parquet else _batched(self._other(file)):
                if isinstance(some, _Plain):
                    yield some.with_text(self.found)
                    continue
                kept = list(records_with_text(some, self.found))
                columns = [[getattr(r, name) for r in kept] for name in ("id", "text", *more)]
                others = [record.others or {} for record in kept]
                yield columns + [[row.get(field.name) for row in others] for field in self.others]

    def _is_parquet(self, file: str) -> bool:
        return self.format == "parquet" or (self.format is None and _is_parquet(file))

    def _other_fields(self, keep: Callable[[str], bool]) -> tuple[Any, ...]:
        """Return the other columns of the first file that has any.

        What is wrong with a file is told when its documents are read.
        """
        pa, own = pyarrow(), self._own_names()
        for file in self.files:
            if file == "-":
                continue
            try:
                if self._is_parquet(file):
                    schema = pyarrow("parquet").read_schema(file)
                    fields, text = list(schema), self._columns(schema, file).text
                else:
                    reader = Reader(file, self.given, self.encoding)
                    with reader.errors():
                        next(reader.records(self.format), None)
                    fields = [pa.field(n, pa.string()) for n in reader.names]
                    text = reader.columns.text if reader.columns else None
            except (OSError, ValueError):
                continue
            # Where several columns have one name, the last one counts, as in `read_documents`.
            others = list({field.name: field for field in fields if field.name != text}.values())
            if others:
                return tuple(f for f in others if keep(f.name) and f.name not in own)
        return ()

    def _other(self, file: str) -> Iterator[Record]:
        """Iterate over the records of a file that is no Parquet file."""
        keep_others = bool(self.others)
        reader = Reader(file, self.given, self.encoding, keep_others=keep_others)
        with self._skipping("files", _Unread()), reader.errors():
            for record in reader.records(self.format):
                if record.others:
                    cells = {name: _as_cell(value) for name, value in record.others.items()}
                    record = record._replace(others=cells)
                yield record
        self.found.update(reader.counts)

    def _parquet(self, file: str, name: str) -> Iterator[list[Record] | _Plain]:
        """Iterate over the records of a Parquet file, some at a time."""
        unread = _Unread()
        with self._skipping("files", unread):
            with _told(file, f"{file} is not a complete Parquet file"):
                # Without both, the compressed texts of a whole row group are held.
                table = pyarrow("parquet").ParquetFile(
                    file, pre_buffer=False, buffer_size=_READ_AHEAD
                )
            with table:
                unread.rows = table.metadata.num_rows
                columns = self._columns(table.schema_arrow, file)
                names = {field.name for field in self.others}
                others = [name for name in table.schema_arrow.names if name in names]
                first = 1
                for number in range(table.metadata.num_row_groups):
                    group = _Unread(table.metadata.row_group(number).num_rows)
                    size, where = group.rows, f"{file}, row group {number}"
                    told = _told(file, f"{where}, cannot be read")
                    with self._skipping("row groups", group), told:
                        for batch in self._batches_of_group(table, number, columns, others):
                            start, group.rows = first + size - group.rows, group.rows - len(batch)
                            keep = bool(self.others)
                            yield _records(batch, columns, name, start, where, keep_others=keep)
                    first += size

    def _batches_of_group(
        self, table: Any, number: int, columns: Columns, others: Sequence[str]
    ) -> Iterator[Any]:
        wanted = [*dict.fromkeys([*(c for c in columns if c is not None), *others])]
        group = table.metadata.row_group(number)
        chunks = (group.column(i) for i in range(group.num_columns))
        length = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in wanted)
        few = _CHARACTERS * group.num_rows // max(length, 1)
        size = min(self.batch_size, BATCH, max(few, 1))
        batches: Iterator[Any] = table.iter_batches(size, row_groups=[number], columns=wanted)
        return batches

    def _columns(self, schema: Any, file: str) -> Columns:
        strings = [field.name for field in schema if "string" in str(field.type)]
        columns = choose_columns(schema.names, strings, self.given, file)
        check_text_column(schema, columns.text, file)
        return columns

    @contextmanager
    def _skipping(self, what: str, unread: _Unread) -> Iterator[None]:
        """Count what cannot be read, if it is to be skipped."""
        try:
            yield
        except DocumentError as error:
            if not self.skip_bad:
                raise
            self.bad[what] += 1
            self.bad["rows"] += unread.rows
            if len(self.problems) < _REPORTED:
                self.problems.append(str(error))

    def summary(self) -> str:
        """Return one line that says what was read, what was left out, and what was bad."""
        n, files = self.n_documents, len(self.files)
        parts = [f"{n:,} document{'' if n == 1 else 's'} from {files:,} file{'s'[: files != 1]}"]
        if self.found:
            counts = ", ".join(f"{n:,} {kind}" for kind, n in (+self.found).items())
            parts.append(f"left out: {counts}")
        if self.bad:
            counts = ", ".join(f"{n:,} {kind}" for kind, n in (+self.bad).items())
            parts.append(f"could not be read: {counts}")
        return "; ".join(parts)


@dataclass
class _Unread:
    """The number of rows that are lost if an error occurs now."""

    rows: int = 0


@dataclass
class _Plain:
    """Ids and texts of rows of which nothing else is read."""

    name: str
    first: int
    ids: list[Any] | None
    texts: list[str | None]

    def with_text(self, counts: Counter[str]) -> list[list[Any]]:
        """Return the ids and texts that `records_with_text` keeps, and count the others."""
        rows = rows_with_text(self.texts)
        if len(rows) < len(self.texts) or any("\0" in (text or "") for text in self.texts):
            records = (Record(self._id(i), text) for i, text in enumerate(self.texts))
            kept = list(records_with_text(records, counts))
            return [[record.id for record in kept], [record.text for record in kept]]
        return [[self._id(i) for i in rows], self.texts]

    def _id(self, i: int) -> str:
        id = None if self.ids is None else self.ids[i]
        return f"{self.name}:{self.first + i}" if id is None or id == "" else str(id)


def _records(
    batch: Any, columns: Columns, name: str, first: int, where: str, *, keep_others: bool
) -> list[Record] | _Plain:
    """Return the records of a batch; `first` is the number of its first row."""
    if columns.label is None and columns.date is None and not keep_others:
        ids = None if columns.id is None else batch.column(columns.id).to_pylist()
        return _Plain(name, first, ids, batch.column(columns.text).to_pylist())
    return [
        make_record(row, columns, f"{name}:{n}", f"{where}, row {n},", keep_others=keep_others)
        for n, row in enumerate(batch.to_pylist(), first)
    ]


def _batched(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Iterate over some records at a time."""
    while some := list(islice(records, _AT_ONCE)):
        yield some


def _as_cell(value: Any) -> str | None:
    """Return a value of a table that is no Parquet file as text."""
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


@contextmanager
def _told(file: str, what: str) -> Iterator[None]:
    """Turn errors of Arrow and of the system about a file into a `DocumentError`, a sentence."""
    try:
        yield
    except DocumentError:
        raise
    except FileNotFoundError as error:
        raise DocumentError(f"There is no file {error.filename or file}.") from error
    except (OSError, ValueError, TypeError, NotImplementedError, pyarrow().ArrowException) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise DocumentError(f"{what}: {reason}.") from error


def _named_files(paths: Sequence[str]) -> dict[str, str]:
    """Return the files of paths, with the name that the documents of each have."""
    found: dict[str, str] = {}
    for path in paths:
        if os.path.isdir(path):
            files = _files_below(path)
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
        if format_of(file) in (None, "folder") and not _is_parquet(file) and len(found) > 1:
            raise DocumentError(f"{file} has no known format; leave it out of {paths[0]}.")
    return found


class Sides:
    """Known and novel documents as one stream, with the columns ``text`` and ``side``.

    Parameters
    ----------
    known, novel : Source
        The documents of each side. If both have a ``date_column``, so has the stream: ``date``.
    """

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
