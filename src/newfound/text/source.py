"""One reader of every format: files, folders, standard input; its records have positions.

Whatever reads documents reads them here: `read_documents` collects records, `newfound.scale` makes
Arrow batches of them, the monitor follows files and folders, and the service shows the first rows.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import os
import re
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, cast

from newfound.text.formats import (
    FORMATS,
    TABLES,
    check_text_column,
    decode,
    encoding_of,
    format_of,
    format_of_name,
    is_table_header,
    json_array,
    json_fault,
    json_kind,
    open_parquet,
    parquet_fault,
    parse_json,
    row_batches,
)
from newfound.text.records import (
    ROWS_LOOKED_AT,
    Columns,
    DocumentError,
    Record,
    checked_guess,
    choose_columns,
    column_name,
    is_missing,
    make_record,
)

__all__ = ["MAX_DOCUMENT_BYTES", "Reader", "every_column"]

MAX_DOCUMENT_BYTES = 1 << 28

_PEEK = 1 << 16  # bytes by which the format and the encoding are told
_PIECE = 1 << 20  # bytes of a file of a folder that are read at a time
_MAX_RATIO = 200  # bytes of text for each compressed byte; natural text has 2 to 10
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")  # none of these is in a text


def every_column(name: str) -> bool:
    """Return that a column is kept; see `Reader`."""
    return True


class Reader:
    """Reader of one path; it knows the current file and line, for error messages.

    `given` are the columns that were asked for, `encoding` the only one to try; `shown` is the name
    of the path in messages, `name` that in the ids of documents. So many records as
    `rows_looked_at` are read to see whether a column that was guessed holds text. `keep` says of
    the name of another column of a table whether records have it in `others`. With `most`, no more
    than so many bytes of the beginning are read, and no columns are chosen: all are `others`.
    `skip` is called with the error and the number of rows of a row group that cannot be read; the
    others are read nevertheless.

    While it reads, `counts` has what was left out or recoded, `names` the columns of a table,
    `columns` those that are read, and `guessed` the column of the texts, if neither its name nor
    the caller tells. `unread` is how many rows are lost if an error occurs now, as far as the file
    tells, `beginning` what was read of a file if `most` is given, but for Parquet.
    """

    def __init__(
        self,
        path: str,
        given: Columns = Columns(),  # noqa: B008
        encoding: str | None = None,
        *,
        shown: str | None = None,
        name: str | None = None,
        rows_looked_at: int = ROWS_LOOKED_AT,
        keep: Callable[[str], bool] | None = None,
        most: int | None = None,
        skip: Callable[[DocumentError, int], None] | None = None,
    ) -> None:
        try:
            "".encode("utf-8" if encoding is None else encoding)
        except (LookupError, UnicodeError) as error:
            raise DocumentError(f"There is no encoding {encoding!r} for text.") from error
        self.path, self.given, self.encoding = path, given, encoding
        self.rows_looked_at, self.keep, self.most, self.skip = rows_looked_at, keep, most, skip
        self.file = shown or ("standard input" if path == "-" else path)
        self.counts: Counter[str] = Counter()
        self.names: Sequence[str] = ()
        self.schema: Any = None  # of a Parquet file
        self.columns = Columns()
        self.guessed: str | None = None
        self.unread, self.beginning = 0, b""
        self._unpacked, self._most_unpacked = 0, MAX_DOCUMENT_BYTES
        self._name, self._unit = name or os.path.basename(self.file), "line"
        self._line, self._latest = 0, ""
        self._marked: str | None = None  # the encoding that a byte-order mark tells

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the system into a `DocumentError` of one sentence."""
        try:
            yield
        except FileNotFoundError as error:
            name = self._shown(error.filename)
            if os.path.islink(error.filename):
                name = f"behind the link {name}; remove it, or mend where it leads"
            raise DocumentError(f"There is no file or folder {name}.") from error
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            what = str(error)
            if what.startswith("Not a gzipped file"):  # the rest of it is for programmers
                what = "it does not begin as one"
            raise DocumentError(f"{self.file} is not a complete gzip file: {what}.") from error
        except OSError as error:
            name, reason = self._shown(error.filename), error.strerror or error
            raise DocumentError(f"Cannot read {name}: {reason}.") from error
        except UnicodeError as error:
            raise self._not_decoded(error) from error
        except RecursionError as error:  # JSON that can be read, but not be kept
            raise self._malformed(f"is not JSON that can be read: {json_fault(error)}") from error

    def _shown(self, path: str | None) -> str:
        return self.file if path is None or path == self.path else path

    def records(self, format: str | None = None) -> Iterator[Record]:
        """Iterate over the records of the path, in the given format or that of its name."""
        if format is not None and format not in FORMATS:
            raise DocumentError(f"format={format!r}: expected one of {', '.join(FORMATS)}.")
        if self.path != "-" and stat.S_ISDIR(os.stat(self.path).st_mode):
            yield from self._folder()
            return
        records = self._of_file(format)
        first = next(records, None)
        if first is not None:
            records = itertools.chain([first], records)
            if self.guessed is not None:
                records = checked_guess(
                    records, self.names, self.guessed, self.file, self.rows_looked_at
                )
            yield from records

    def _of_file(self, format: str | None) -> Iterator[Record]:
        with self._open(self.path) as opened:
            stream = _peekable(opened)
            format = format or self._format(stream)
            if self.most is not None and format != "parquet":
                self.beginning = stream.read(self.most)
                stream = _peekable(io.BytesIO(self.beginning))
            if format == "txt":
                self._check_no_columns(format)
                for line in self._lines(stream):
                    yield self._record(self._line, line.rstrip("\r\n"))
            elif format == "parquet":
                yield from self._parquet(stream)
            elif format in ("csv", "tsv"):
                yield from self._csv(stream, "," if format == "csv" else "\t")
            else:
                yield from self._json(stream)

    def _record(self, number: int, row: Any) -> Record:
        place = f"{self._name}:{number}"
        if isinstance(row, str):
            return Record(place, row)
        where = f"{self.file}, {self._unit} {number},"
        return make_record(row, self.columns, place, where, self.keep)

    def _check_no_columns(self, format: str) -> None:
        if self.given != Columns():
            raise DocumentError(
                f"{self.file} is a {format} and has no columns; do not name any column."
            )

    def _format(self, stream: BinaryIO) -> str:
        if self.path == "-":
            head = self._head(stream)
            if json_kind(head) is not None:
                return "jsonl"
            if is_table_header(head.partition("\n")[0], self.given.text):
                raise DocumentError(
                    "Standard input looks like a table with a header; name its format with format "
                    "(--format csv or tsv), or txt if each line is a document."
                )
            return "txt"
        format = format_of(self.path)
        if format is None:
            raise DocumentError(
                f"{self.file} has no known format; expected a folder or .{', .'.join(FORMATS)} "
                "(each also .gz); pass format='txt' (--format txt) if each line is a document, or "
                "another format."
            )
        return format

    def _head(self, stream: BinaryIO) -> str:
        """Return the beginning of a stream as text, with errors where it is cut."""
        raw = _first_bytes(stream)
        return raw.decode(self.encoding or encoding_of(raw) or "utf-8", errors="replace")

    def _choose(self, names: Sequence[str], strings: Iterable[str], where: str) -> None:
        """Choose the columns of a table, unless its first rows are only looked at."""
        self.names = names
        if self.most is None:
            self.columns = choose_columns(names, strings, self.given, where)
            if self.columns.text not in ("text", self.given.text):
                self.guessed = self.columns.text

    def _malformed(self, what: str, line: int | None = None) -> DocumentError:
        return DocumentError(f"{self.file}, line {self._line if line is None else line}, {what}.")

    def _not_decoded(self, error: UnicodeError) -> DocumentError:
        """Return the error of a text that is not in its encoding; codecs say where, in bytes."""
        advice = "name its encoding (--encoding)"
        line, what = self._line + 1, "it does not begin as such a text"
        if isinstance(error, UnicodeDecodeError):
            line += error.object[: error.start].decode(error.encoding, "replace").count("\n")
            what = f"byte 0x{error.object[error.start]:02x} is no part of a character in it"
            if error.reason in ("truncated data", "unexpected end of data"):
                what, advice = "it ends within a character", f"copy the file again, or {advice}"
        encoding = self.encoding or self._marked
        return self._malformed(f"is not {encoding}: {what}; {advice}", line)

    @contextmanager
    def _open(self, path: str) -> Iterator[BinaryIO]:
        if path == "-":
            yield sys.stdin.buffer
            return
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if path.lower().endswith(".gz"):
                self._most_unpacked += _MAX_RATIO * size
                yield _peekable(cast(BinaryIO, _Unpacked(gzip.GzipFile(fileobj=file), self._count)))
            else:
                yield file
            if os.fstat(file.fileno()).st_size < size:
                raise DocumentError(f"{path} became shorter while it was read; read it again.")

    def _count(self, n: int) -> None:
        """Raise a `DocumentError` if the files hold more than text does when it is compressed."""
        self._unpacked += n
        if self._unpacked > self._most_unpacked:
            raise DocumentError(
                f"{self.file} holds more than {_MAX_RATIO} bytes for each compressed byte, which "
                "no text does; unpack it yourself if it is sound."
            )

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        """Iterate over decoded lines; only a line feed ends a line."""
        text = None
        encoding = self.encoding or self._mark(_first_bytes(stream))
        if encoding is not None:
            text = io.TextIOWrapper(stream, encoding, newline="\n")
        read = stream.readline if text is None else text.readline
        try:
            while line := read(MAX_DOCUMENT_BYTES):
                if len(line) >= MAX_DOCUMENT_BYTES:
                    what = f"is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it"
                    raise self._malformed(what, self._line + 1)
                self._line += 1
                self._latest = line if isinstance(line, str) else decode(line, self.counts)
                yield self._latest.removeprefix("\ufeff") if self._line == 1 else self._latest
        finally:
            if text is not None:
                with suppress(ValueError):  # the file is closed, because reading was given up
                    text.detach()  # otherwise it closes standard input

    def _mark(self, raw: bytes) -> str | None:
        """Return the encoding that a byte-order mark tells, and count its use."""
        self._marked = encoding_of(raw)
        if self._marked is not None:
            self.counts[self._marked] += 1
        return self._marked

    def _csv(self, stream: BinaryIO, delimiter: str) -> Iterator[Record]:
        # The limit of the csv module, 131,072 characters, is global: it is raised, never lowered.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_DOCUMENT_BYTES))
        lines = self._lines(stream)
        first = next(lines, None)
        if first is None:
            return
        if delimiter == "," and "," not in first:
            delimiter = next((d for d in ";\t" if d in first), ",")
        rows = csv.reader(itertools.chain([first], lines), delimiter=delimiter, strict=True)
        start = 1
        try:
            header = next(rows)
            self._choose(header, header, self.file)
            start = rows.line_num + 1
            for row in rows:
                if row and len(row) != len(header):
                    what = f"has {len(row)} fields where the header has {len(header)}"
                    raise self._malformed(what, start)
                yield self._record(start, dict(zip(header, row, strict=False)))
                start = rows.line_num + 1
        except (csv.Error, DocumentError) as error:
            if _CONTROL.search(self._latest):
                raise DocumentError(
                    f"{self.file} looks like a binary file, not a table: line {self._line} has "
                    "control characters; name its encoding (--encoding) if it is text."
                ) from error
            if isinstance(error, DocumentError):
                raise
            what = str(error)
            if "new-line character" in what:  # the rest of this message is for programmers
                what = "a carriage return is in a field without quotes"
            raise self._malformed(f"begins a malformed row: {what}", start) from error

    def _json(self, stream: BinaryIO) -> Iterator[Record]:
        """Iterate over the records of JSON lines, or of a JSON array."""
        is_array = json_kind(self._head(stream)) == "array"
        self._unit = "item" if is_array else "line"
        for number, row in self._json_array(stream) if is_array else self._json_lines(stream):
            if not (isinstance(row, str) and self.given == Columns()):
                where = f"{self.file}, {self._unit} {number},"
                if not isinstance(row, dict):
                    raise DocumentError(f"{where} is not a JSON object.")
                if not self.names:
                    strings = [name for name, value in row.items() if isinstance(value, str)]
                    self._choose(list(row), strings, where)
                if self.columns.text is not None and self.columns.text not in row:
                    raise DocumentError(f"{where} has no {column_name(self.columns.text)}.")
            yield self._record(number, row)

    def _json_lines(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        hint = "; expected one object a line, or an array of objects"
        for line in self._lines(stream):
            first = self._line == 1 and line.strip().startswith("{")
            where = f"{self.file}, line {self._line},"
            yield (
                self._line,
                parse_json(line, where, hint if first else "") if line.strip() else "",
            )

    def _json_array(self, stream: BinaryIO) -> Iterator[tuple[int, Any]]:
        text = "".join(self._lines(stream))
        if len(text) >= MAX_DOCUMENT_BYTES:
            raise DocumentError(
                f"{self.file} is a JSON array of more than {MAX_DOCUMENT_BYTES:,} characters; "
                "write one object a line (.jsonl)."
            )
        try:
            yield from enumerate(json_array(text), 1)
        except json.JSONDecodeError as error:
            raise self._malformed(f"is not JSON: {json_fault(error)}", error.lineno) from error
        except (ValueError, RecursionError) as error:
            raise DocumentError(f"{self.file} is not JSON: {json_fault(error)}.") from error

    def _parquet(self, stream: BinaryIO) -> Iterator[Record]:
        if not stream.seekable() or self.path == "-":
            stream = cast(BinaryIO, io.BytesIO(stream.read()))
        file = open_parquet(stream, self.file)
        schema = self.schema = file.schema_arrow
        self._unit, self.unread = "row", file.metadata.num_rows
        strings = [field.name for field in schema if "string" in str(field.type)]
        self._choose(schema.names, strings, self.file)
        if self.columns.text is not None:
            check_text_column(schema, self.columns.text, self.file)
        others = [name for name in schema.names if self.keep is not None and self.keep(name)]
        wanted = list(dict.fromkeys([*filter(None, self.columns), *others]))
        end = 0
        for group in range(file.num_row_groups):
            number = end
            self.unread = file.metadata.row_group(group).num_rows
            end += self.unread
            try:
                for batch in row_batches(file, group, wanted):
                    self.unread = end - number - len(batch)
                    yield from self._of_batch(batch, number + 1)
                    number += len(batch)
            except (OSError, ValueError, TypeError, NotImplementedError, OverflowError) as error:
                if not isinstance(problem := error, DocumentError):
                    where = f"{self.file}, row group {group},"
                    problem = DocumentError(f"{where} cannot be read: {parquet_fault(error)}.")
                if self.skip is None:
                    raise problem from error
                self.skip(problem, self.unread)

    def _of_batch(self, batch: Any, first: int) -> Iterator[Record]:
        """Iterate over the records of a record batch; without dictionaries where a text is all."""
        if self.columns.text is None or self.columns[1:3] != (None, None) or self.keep is not None:
            return map(self._record, itertools.count(first), batch.to_pylist())
        texts = batch.column(self.columns.text).to_pylist()
        ids = [f"{self._name}:{number}" for number in range(first, first + len(texts))]
        if self.columns.id is not None:
            given = batch.column(self.columns.id).to_pylist()
            ids = [
                place if is_missing(id) or id == "" else str(id)
                for id, place in zip(given, ids, strict=True)
            ]
        nones = itertools.repeat(None)
        return map(Record._make, zip(ids, texts, nones, nones, itertools.repeat(False), nones))

    def files(self) -> dict[str, str]:
        """Return the files of a folder by their names in it; count those that are hidden.

        Folders that are links are not followed: they may lead back, or to files already read.
        """
        self._check_no_columns("folder")
        paths, folders = [], [self.path]
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
                        paths.append(entry.path)
        return {os.path.relpath(path, self.path).replace(os.sep, "/"): path for path in paths}

    def text_of(self, path: str) -> str | None:
        """Return the text of a file of a folder; None, counted, for one that is no document."""
        self.file = path
        if not stat.S_ISREG(os.stat(path).st_mode):
            self.counts["non-text"] += 1
            return None
        if format_of_name(path) in TABLES and format_of_name(path) != "json":
            self.counts["table"] += 1
            return None
        pieces, size = [], 0  # read at once, the most would be allocated for each
        with self._open(path) as stream:
            while size < MAX_DOCUMENT_BYTES and (piece := stream.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
        if size >= MAX_DOCUMENT_BYTES:
            raise DocumentError(f"{path} is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it.")
        raw = b"".join(pieces)
        encoding = self.encoding or self._mark(raw)
        text = raw.decode(encoding) if encoding else decode(raw, self.counts)
        return text.removeprefix("\ufeff")

    def _folder(self) -> Iterator[Record]:
        """Iterate over files as documents; they have labels if all are in subfolders."""
        files = self.files()
        labelled = all("/" in name for name in files)
        for name in sorted(files):
            text = self.text_of(files[name])
            if text is not None:
                yield Record(name, text, name.partition("/")[0] if labelled else None)


class _Unpacked(io.RawIOBase):
    """What a gzip file holds; it reports how many bytes are unpacked."""

    def __init__(self, file: gzip.GzipFile, report: Callable[[int], None]) -> None:
        self.file, self.report = file, report

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self.file.readinto(buffer)
        self.report(n)
        return n


def _peekable(stream: BinaryIO) -> BinaryIO:
    """Return a stream with the same content of which the beginning can be read in advance."""
    if hasattr(stream, "peek"):
        return stream
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream), _PEEK))


def _first_bytes(stream: BinaryIO) -> bytes:
    """Return what can be read in advance of a stream from `_peekable`; of a pipe, what has come."""
    return cast(bytes, stream.peek(_PEEK))  # type: ignore[attr-defined]
