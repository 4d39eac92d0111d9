"""Readers of every input format, and the choice of the format by file name."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import itertools
import json
import os
import re
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

from newfound.text.formats import (
    csv_fault,
    encoding_of,
    first_bytes,
    is_table_header,
    json_fault,
    json_kind,
    peekable,
)
from newfound.text.records import (
    ROWS_LOOKED_AT,
    Columns,
    DocumentError,
    Record,
    checked_guess,
    choose_columns,
    column_name,
    make_record,
)

__all__ = ["MAX_DOCUMENT_BYTES", "TABLES", "Reader", "format_of", "gzip_problem", "piped_lines"]

MAX_DOCUMENT_BYTES = 1 << 28

TABLES = ("csv", "tsv", "jsonl", "json", "parquet")
_PIECE = 1 << 20  # bytes of a file of a folder that are read at a time
_MAX_RATIO = 200  # bytes of text for each compressed byte; natural text has 2 to 10
_FORMATS = ("txt", *TABLES)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")  # none of these is in a text


def format_of(path: str) -> str | None:
    """Return "folder" or the format by the file name; None if the name does not tell.

    Examples
    --------
    >>> format_of("news.csv.gz"), format_of("news.ndjson"), format_of("news.log"), format_of("-")
    ('csv', 'jsonl', None, None)
    """
    if path != "-" and os.path.isdir(path):
        return "folder"
    suffix = _suffix(path)
    return suffix if suffix in _FORMATS else None


def piped_lines() -> Iterator[str]:
    """Iterate over the lines of standard input as they arrive, decoded as in `Reader`."""
    reader = Reader("-", Columns(None), None)
    with reader.errors():
        for line in reader.lines(sys.stdin.buffer):
            yield line.rstrip("\r\n")


def gzip_problem(path: object, error: Exception) -> DocumentError:
    """Return what is said of a file that cannot be unpacked."""
    what = str(error)
    if what.startswith("Not a gzipped file"):  # the rest of it is for programmers
        what = "it does not begin as one"
    return DocumentError(f"{path} is not a complete gzip file: {what}.")


class Reader:
    """Reader of one path; it knows the current file and line, for error messages.

    With ``keep_others``, a record of a table has the other columns of its row: all but that of the
    text.
    """

    def __init__(
        self,
        name: str,
        given: Columns,
        encoding: str | None,
        *,
        rows_looked_at: int = ROWS_LOOKED_AT,
        keep_others: bool = False,
    ) -> None:
        self.name = name
        self.keep_others = keep_others
        self.rows_looked_at = rows_looked_at
        self.given = given
        self.encoding = encoding
        self.counts: Counter[str] = Counter()
        try:
            "".encode("utf-8" if encoding is None else encoding)
        except (LookupError, UnicodeError) as error:
            raise DocumentError(f"There is no encoding {encoding!r} for text.") from error
        self.unpacked, self.most_unpacked = 0, MAX_DOCUMENT_BYTES
        self.file = "standard input" if name == "-" else name
        self.line, self.latest = 0, ""
        self.guessed: str | None = None
        self.marked: str | None = None  # the encoding that a byte-order mark tells
        self.names: Sequence[str] = ()  # of the columns of a table
        self.columns: Columns | None = None

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the system into a `DocumentError` of one sentence."""
        try:
            yield
        except FileNotFoundError as error:
            raise DocumentError(
                f"There is no file or folder {_missing(error.filename)}."
            ) from error
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise gzip_problem(self.file, error) from error
        except OSError as error:
            name, reason = error.filename or self.file, error.strerror or error
            raise DocumentError(f"Cannot read {name}: {reason}.") from error
        except UnicodeError as error:
            raise self._not_decoded(error) from error
        except RecursionError as error:  # JSON that can be read, but not be kept
            raise self._malformed(f"is not JSON that can be read: {json_fault(error)}") from error

    def records(self, format: str | None) -> Iterator[Record]:
        """Iterate over the records of the path, in the given format or that of its name."""
        if format is not None and format not in _FORMATS:
            raise DocumentError(f"format={format!r}: expected one of {', '.join(_FORMATS)}.")
        if self.name != "-" and stat.S_ISDIR(os.stat(self.name).st_mode):
            self._check_no_columns("folder")
            yield from self._folder()
            return
        with self._open(self.name) as opened:
            stream = peekable(opened)
            format = format or self._format(stream)
            if format == "txt":
                self._check_no_columns(format)
                for text in self.lines(stream):
                    yield Record(self._place(self.line), text.rstrip("\r\n"))
                return
            records = self._table(stream, format)
            first = next(records, None)
            if first is not None:
                records = itertools.chain([first], records)
                if self.guessed is not None:
                    records = checked_guess(
                        records, self.names, self.guessed, self.file, self.rows_looked_at
                    )
                yield from records

    def _check_no_columns(self, format: str) -> None:
        if self.given != Columns(None):
            raise DocumentError(
                f"{self.file} is a {format} and has no columns; do not name any column."
            )

    def _table(self, stream: BinaryIO, format: str) -> Iterator[Record]:
        if format in ("jsonl", "json"):
            return self._json(stream)
        if format == "parquet":
            return self._parquet(stream)
        return self.read_csv(stream, "," if format == "csv" else "\t")

    def _format(self, stream: BinaryIO) -> str:
        if self.name == "-":
            head = self._head(stream)
            if json_kind(head) is not None:
                return "jsonl"
            if is_table_header(head.partition("\n")[0], self.given.text):
                raise DocumentError(
                    "Standard input looks like a table with a header; name its format with format "
                    "(--format csv or tsv), or txt if each line is a document."
                )
            return "txt"
        format = format_of(self.name)
        if format is None:
            raise DocumentError(
                f"{self.file} has no known format; expected a folder or .{', .'.join(_FORMATS)} "
                "(each also .gz); pass format='txt' (--format txt) if each line is a document, or "
                "another format."
            )
        return format

    def _head(self, stream: BinaryIO) -> str:
        """Return the beginning of a stream as text, with errors where it is cut."""
        raw = first_bytes(stream)
        return raw.decode(self.encoding or encoding_of(raw) or "utf-8", errors="replace")

    def _columns(self, names: Sequence[str], strings: Iterable[str], where: str) -> Columns:
        columns = choose_columns(names, strings, self.given, where)
        self.names, self.columns = names, columns
        if columns.text not in ("text", self.given.text):
            self.guessed = columns.text
        return columns

    def _record(self, row: Mapping[Any, Any], columns: Columns, place: str, where: str) -> Record:
        return make_record(row, columns, place, where, keep_others=self.keep_others)

    def _malformed(self, what: str, line: int | None = None) -> DocumentError:
        return DocumentError(f"{self.file}, line {self.line if line is None else line}, {what}.")

    def _not_decoded(self, error: UnicodeError) -> DocumentError:
        """Return the error of a text that is not in its encoding; codecs say where, in bytes."""
        advice = "name its encoding (--encoding)"
        line, what = self.line + 1, "it does not begin as such a text"
        if isinstance(error, UnicodeDecodeError):
            line += error.object[: error.start].decode(error.encoding, "replace").count("\n")
            what = f"byte 0x{error.object[error.start]:02x} is no part of a character in it"
            if error.reason in ("truncated data", "unexpected end of data"):
                what, advice = "it ends within a character", f"copy the file again, or {advice}"
        encoding = self.encoding or self.marked
        return self._malformed(f"is not {encoding}: {what}; {advice}", line)

    def _place(self, line: int) -> str:
        return f"{os.path.basename(self.file)}:{line}"

    @contextmanager
    def _open(self, path: str) -> Iterator[BinaryIO]:
        if path == "-":
            yield sys.stdin.buffer
            return
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            packed = path.lower().endswith(".gz")
            if packed:
                self.most_unpacked += _MAX_RATIO * size
            yield cast(BinaryIO, _Unpacked(file, self.count_unpacked) if packed else file)
            if os.fstat(file.fileno()).st_size < size:
                raise DocumentError(f"{path} became shorter while it was read; read it again.")

    def count_unpacked(self, n: int) -> None:
        """Raise a `DocumentError` if the files hold more than text does when it is compressed."""
        self.unpacked += n
        if self.unpacked > self.most_unpacked:
            raise DocumentError(
                f"{self.file} holds more than {_MAX_RATIO} bytes for each compressed byte, which "
                "no text does; unpack it yourself if it is sound."
            )

    def lines(self, stream: BinaryIO) -> Iterator[str]:
        """Iterate over decoded lines; only a line feed ends a line."""
        text = None
        stream = peekable(stream)
        encoding = self.encoding or self._marked(first_bytes(stream))
        if encoding is not None:
            text = io.TextIOWrapper(stream, encoding, newline="\n")
        read = stream.readline if text is None else text.readline
        try:
            while line := read(MAX_DOCUMENT_BYTES):
                if len(line) >= MAX_DOCUMENT_BYTES:
                    what = f"is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it"
                    raise self._malformed(what, self.line + 1)
                self.line += 1
                self.latest = line if isinstance(line, str) else self._decode(line)
                yield self.latest.removeprefix("\ufeff") if self.line == 1 else self.latest
        finally:
            if text is not None:
                with suppress(ValueError):  # the file is closed, because reading was given up
                    text.detach()  # otherwise it closes standard input

    def _marked(self, raw: bytes) -> str | None:
        """Return the encoding that a byte-order mark tells, and count its use."""
        self.marked = encoding_of(raw)
        if self.marked is not None:
            self.counts[self.marked] += 1
        return self.marked

    def _decode(self, raw: bytes) -> str:
        """Decode UTF-8, or else Windows-1252, or else Latin-1 for its five undefined bytes."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.counts["recoded"] += b"\0" not in raw
        try:
            return raw.decode("cp1252")
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    def read_csv(self, stream: BinaryIO, delimiter: str) -> Iterator[Record]:
        """Yield the documents of a CSV file."""
        # The limit of the csv module, 131,072 characters, is global: it is raised, never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_DOCUMENT_BYTES))
        lines = self.lines(stream)
        first = next(lines, None)
        if first is None:
            return
        if delimiter == "," and "," not in first:
            delimiter = next((d for d in ";\t" if d in first), ",")
        rows = csv.reader(itertools.chain([first], lines), delimiter=delimiter, strict=True)
        start = 1
        try:
            header = next(rows)
            try:
                columns = self._columns(header, header, self.file)
            except DocumentError:
                self._check_is_text()
                raise
            start = rows.line_num + 1
            for row in rows:
                if row and len(row) != len(header):
                    self._check_is_text()
                    what = f"has {len(row)} fields where the header has {len(header)}"
                    raise self._malformed(what, start)
                values = dict(zip(header, row, strict=False))
                where = f"{self.file}, line {start},"
                yield self._record(values, columns, self._place(start), where)
                start = rows.line_num + 1
        except csv.Error as error:
            self._check_is_text()
            raise self._malformed(f"begins a malformed row: {csv_fault(error)}", start) from error

    def _check_is_text(self) -> None:
        """Raise a `DocumentError` if the latest line of a table has what no text has."""
        if _CONTROL.search(self.latest):
            raise DocumentError(
                f"{self.file} looks like a binary file, not a table: line {self.line} has control "
                "characters; name its encoding (--encoding) if it is text."
            )

    def _json(self, stream: BinaryIO) -> Iterator[Record]:
        """Yield the documents of JSON lines, or of a JSON array."""
        if json_kind(self._head(stream)) == "array":
            rows, what = self._json_array(stream), "item"
        else:
            rows, what = self._json_lines(stream), "line"
        columns: Columns | None = None
        for number, row in rows:
            place, where = self._place(number), f"{self.file}, {what} {number},"
            if isinstance(row, str) and self.given == Columns(None):
                yield Record(place, row)
                continue
            if not isinstance(row, dict):
                raise DocumentError(f"{where} is not a JSON object.")
            if columns is None:
                strings = [name for name, value in row.items() if isinstance(value, str)]
                columns = self._columns(list(row), strings, where)
            if columns.text not in row:
                raise DocumentError(f"{where} has no {column_name(columns.text)}.")
            yield self._record(row, columns, place, where)

    def _json_lines(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        for line in self.lines(stream):
            try:
                row = json.loads(line) if line.strip() else ""
            except (ValueError, RecursionError) as error:
                hint, reason = "", json_fault(error)
                if isinstance(error, json.JSONDecodeError):
                    reason = f"{error.msg}: column {min(error.pos, len(line.rstrip())) + 1}"
                if self.line == 1 and line.strip().startswith("{"):
                    hint = "; expected one object a line, or an array of objects"
                raise self._malformed(f"is not JSON: {reason}{hint}") from error
            yield self.line, row

    def _json_array(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        text = "".join(self.lines(stream))
        if len(text) >= MAX_DOCUMENT_BYTES:
            raise DocumentError(
                f"{self.file} is a JSON array of more than {MAX_DOCUMENT_BYTES:,} characters; "
                "write one object a line (.jsonl)."
            )
        try:
            rows = json.loads(text)
        except json.JSONDecodeError as error:
            raise self._malformed(f"is not JSON: {json_fault(error)}", error.lineno) from error
        except (ValueError, RecursionError) as error:
            raise DocumentError(f"{self.file} is not JSON: {json_fault(error)}.") from error
        yield from enumerate(rows, 1)

    def _parquet(self, stream: BinaryIO) -> Iterator[Record]:
        try:
            parquet = importlib.import_module("pyarrow.parquet")
        except ImportError as error:
            raise DocumentError(
                f"Reading {self.file} needs pyarrow: pip install 'newfound[parquet]'"
            ) from error
        try:
            # Parquet needs to seek.
            in_memory = self.name == "-" or isinstance(stream, gzip.GzipFile)
            table = parquet.ParquetFile(io.BytesIO(stream.read()) if in_memory else stream)
            schema = table.schema_arrow
            strings = [field.name for field in schema if "string" in str(field.type)]
            columns = self._columns(schema.names, strings, self.file)
            wanted = None if self.keep_others else [name for name in columns if name is not None]
            for batch in table.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    self.line += 1
                    where = f"{self.file}, row {self.line},"
                    yield self._record(row, columns, self._place(self.line), where)
        except DocumentError:
            raise
        except (NotImplementedError, TypeError, OverflowError) as error:
            reason = str(error).partition("\n")[0].rstrip(".")
            raise DocumentError(
                f"{self.file} has a column of a type that cannot be read: {reason}."
            ) from error
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            raise DocumentError(f"{self.file} is not a complete Parquet file: {reason}") from error

    def _files_below(self, root: str) -> list[str]:
        """Return the files below a folder; count those that are hidden or behind a linked folder.

        Folders that are links are not followed: they may lead back, or to files already read.
        """
        found, folders = [], [root]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith("."):
                        self.counts["hidden"] += 1
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.is_dir():
                        self.counts["linked folder"] += 1
                    else:
                        found.append(entry.path)
        return found

    def _folder(self) -> Iterator[Record]:
        """Iterate over files as documents; they have labels if all are in subfolders."""
        root = self.name
        paths = self._files_below(root)
        ids = {os.path.relpath(path, root).replace(os.sep, "/"): path for path in paths}
        labelled = all("/" in name for name in ids)
        for name in sorted(ids):
            self.file = ids[name]
            status = os.stat(self.file)
            if not stat.S_ISREG(status.st_mode):
                self.counts["non-text"] += 1
            elif _suffix(name) in TABLES and _suffix(name) != "json":
                self.counts["table"] += 1
            else:
                with self._open(self.file) as stream:
                    raw = _content(stream)
                if len(raw) >= MAX_DOCUMENT_BYTES:
                    what = f"is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it"
                    raise DocumentError(f"{self.file} {what}.")
                encoding = self.encoding or self._marked(raw)
                text = raw.decode(encoding) if encoding else self._decode(raw)
                yield Record(
                    name, text.removeprefix("\ufeff"), name.partition("/")[0] if labelled else None
                )


class _Unpacked(gzip.GzipFile):
    """A gzip file that reports how many bytes are unpacked."""

    def __init__(self, file: BinaryIO, report: Callable[[int], None]) -> None:
        super().__init__(fileobj=file)
        self.report = report

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.report(len(found))
        return found

    def readline(self, size: int | None = -1) -> bytes:
        found = super().readline(size)
        self.report(len(found))
        return found

    def read1(self, size: int = -1) -> bytes:
        found = super().read1(size)
        self.report(len(found))
        return found


def _missing(path: str) -> str:
    """Return what is said of a path behind which is nothing."""
    is_link = os.path.islink(path)
    return f"behind the link {path}; remove it, or mend where it leads" if is_link else path


def _content(stream: BinaryIO) -> bytes:
    """Return what a stream has, up to the most; read at once, that would be allocated for each."""
    pieces, size = [], 0
    while size < MAX_DOCUMENT_BYTES and (piece := stream.read(_PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def _suffix(name: str) -> str:
    suffix = os.path.splitext(name.lower().removesuffix(".gz"))[1].removeprefix(".")
    return "jsonl" if suffix == "ndjson" else suffix
