"""Documents in: folders, files, standard input, lists and frames, with nothing silently lost.

What is read is UTF-8, with or without a byte-order mark. A line that is not (in a folder: a file)
is read as Windows-1252 instead, and the summary counts it. A document with a NUL character is not
text. Empty, blank and non-text documents are left out, duplicates (the same text as an earlier one
but for white space) stay, and all are counted.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib
import io
import itertools
import json
import os
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, NamedTuple, cast

__all__ = ["MAX_DOCUMENT_BYTES", "DocumentError", "Documents", "as_documents", "read_documents"]

MAX_DOCUMENT_BYTES = 1 << 28

_FORMATS = ("txt", "csv", "tsv", "jsonl", "parquet")
_KEPT = {
    "duplicate": "",
    "recoded": "not UTF-8, read as Windows-1252",
    "repaired": "with half a surrogate pair, replaced by a question mark",
}


class DocumentError(ValueError):
    """Documents that cannot be read; the message says which, why, and what to do."""


@dataclass(frozen=True)
class Documents:
    """Texts, where each came from, and what was found on the way.

    Attributes
    ----------
    texts : tuple of str
        The documents that hold text.
    ids : tuple of str
        A name for each: its id column, file in the folder, or place (``file:line``, position).
    labels : tuple of str or None
        The labels, where a label column was named or the folder has one subfolder for each.
    source : str
        What was read.
    skipped : dict of str to int
        What was found. Left out: ``empty``, ``blank`` and ``non-text`` documents, in a folder
        ``hidden`` and ``table`` files. Kept: a ``duplicate`` of an earlier document, unless
        `duplicates_dropped`; lines or files ``recoded``, as they are not UTF-8; documents with
        half a surrogate pair ``repaired``.

    Examples
    --------
    >>> documents = as_documents(["a match", "", "a match"])
    >>> len(documents), documents.ids
    (2, ('0', '2'))
    >>> print(documents.summary())
    2 documents from a list; left out: 1 empty; 1 duplicate kept
    """

    texts: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    source: str = ""
    skipped: Mapping[str, int] = field(default_factory=dict)
    duplicates_dropped: bool = False

    def __len__(self) -> int:
        """Give the number of texts."""
        return len(self.texts)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts."""
        return iter(self.texts)

    def summary(self) -> str:
        """Say in one line what was read, what was left out and why."""
        left_out = {kind: n for kind, n in self.skipped.items() if kind not in _KEPT}
        duplicates = self.skipped.get("duplicate", 0)
        if duplicates and self.duplicates_dropped:
            left_out["duplicate"] = duplicates
            duplicates = 0
        parts = [
            f"{len(self):,} document{'s' if len(self) != 1 else ''} from {self.source}",
            left_out and "left out: " + ", ".join(f"{n:,} {kind}" for kind, n in left_out.items()),
            duplicates and f"{duplicates:,} duplicate{'s' if duplicates != 1 else ''} kept",
            *(f"{n:,} {_KEPT[kind]}" for kind, n in self.skipped.items() if _KEPT.get(kind)),
        ]
        return "; ".join(part for part in parts if part)


class _Record(NamedTuple):
    """A document as it was found; a missing text is None."""

    id: str
    text: str | None
    label: str | None = None


def read_documents(
    path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    drop_duplicates: bool = False,
) -> Documents:
    r"""Read the documents of a folder, a file, or standard input.

    Parameters
    ----------
    path : path
        A folder (each file a document, subfolders included), a ``.txt`` file (each line a
        document), a ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet`` file (each row), one of these
        with ``.gz``, or ``-`` for standard input. All but folders and packed Parquet are streamed.
    text_column : str or None, default=None
        The column with the texts. By default the one called *text*, or the only column that holds
        strings.
    label_column : str or None, default=None
        The column with the labels. A folder takes its labels from its subfolders.
    encoding : str or None, default=None
        The encoding, and then no other; by default UTF-8 or else Windows-1252.
    format : {"txt", "csv", "tsv", "jsonl", "parquet"} or None, default=None
        The format, where it is not that of the name; standard input is "txt" by default.
    drop_duplicates : bool, default=False
        Leave out a document with the same text as an earlier one, white space aside.

    Raises
    ------
    DocumentError
        Where nothing could be read, or a row is malformed: with the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "news.csv")
    >>> _ = file.write_text("id,text\na,Rugby\nb,Cricket\nc,\n")
    >>> documents = read_documents(file)
    >>> documents.texts, documents.ids, documents.skipped
    (('Rugby', 'Cricket'), ('a', 'b'), {'empty': 1})
    >>> folder.cleanup()
    """
    reader = _Reader(os.fspath(path), _Columns(text_column, label_column), encoding)
    with reader.errors():
        found = _collect(reader.records(format), reader.file, reader.counts, drop_duplicates)
    if reader.guessed is not None:
        found = replace(found, source=f"{found.source} (column {reader.guessed!r})")
    return found


def as_documents(
    obj: object,
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    drop_duplicates: bool = False,
) -> Documents:
    """Take documents from Python: an iterable of str, or a frame or series of pandas or polars.

    A missing value (None, NaN) counts as empty. Column names and `drop_duplicates` are those of
    `read_documents`; the ids are the column *id* of a frame, or positions from 0.

    Examples
    --------
    >>> as_documents(text for text in ("Rugby", " ", "Cricket")).skipped
    {'blank': 1}
    """
    if isinstance(obj, Documents):
        return obj
    kind = type(obj).__name__
    if isinstance(obj, str | bytes | os.PathLike):
        raise DocumentError(
            f"Expected several documents, got a single {kind}; wrap it in a list, or call "
            "read_documents to read a file or folder."
        )
    if hasattr(obj, "collect"):
        raise DocumentError(f"A {kind} is lazy; collect it first.")
    if hasattr(obj, "columns"):
        records = _frame_records(obj, _Columns(text_column, label_column))
    elif isinstance(obj, Mapping) or not isinstance(obj, Iterable):
        raise DocumentError(f"Expected a list of texts or a frame, got {kind}.")
    elif text_column is not None or label_column is not None:
        raise DocumentError(f"A {kind} has no columns; leave text_column and label_column out.")
    else:
        records = (_Record(str(i), _text(value, f"Document {i}")) for i, value in enumerate(obj))
    return _collect(records, f"a {kind}", Counter(), drop_duplicates)


class _Columns(NamedTuple):
    text: Any
    label: Any = None
    id: Any = None


def _columns(names: Sequence[Any], strings: Iterable[Any], given: _Columns, where: str) -> _Columns:
    """Find the columns; the text column is guessed only where there is no doubt."""
    shown = ", ".join(map(str, names)) or "none"
    for name in (given.text, given.label):
        if name is not None and name not in names:
            raise DocumentError(f"{where} has no column {name!r}; it has: {shown}.")
    text = given.text
    if text is None:
        others = [name for name in strings if name not in ("id", given.label)]
        text = "text" if "text" in names else others[0] if len(others) == 1 else None
    if text is None:
        raise DocumentError(f"Which column of {where} holds the text? It has: {shown}.")
    if list(names).count(text) > 1:
        raise DocumentError(f"{where} has several columns called {text!r}; rename them.")
    has_id = "id" in names and "id" not in (text, given.label)
    return _Columns(text, given.label, "id" if has_id else None)


def _record(row: Mapping[Any, Any], columns: _Columns, place: str, where: str) -> _Record:
    """Make a record of a row; a blank row of a CSV file has no values at all."""
    label = row.get(columns.label) if columns.label is not None else None
    if row and columns.label is not None and (_missing(label) or label == ""):
        raise DocumentError(f"{where} has no label in {columns.label!r}; label it or leave it out.")
    name = row.get(columns.id) if columns.id is not None else None
    text = _text(row.get(columns.text), where)
    return _Record(
        place if _missing(name) or name == "" else str(name),
        text,
        None if label is None else str(label),
    )


def _text(value: object, where: str) -> str | None:
    if isinstance(value, str):
        return str(value)
    if _missing(value):
        return None
    hint = "decode it" if isinstance(value, bytes) else "convert it or leave it out"
    raise DocumentError(f"{where} is {type(value).__name__}, not a str; {hint}.")


def _missing(value: object) -> bool:
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _frame_records(frame: Any, given: _Columns) -> Iterator[_Record]:
    """Read a frame by what pandas, polars and pyarrow have in common."""
    names = list(getattr(frame, "column_names", frame.columns))

    def values(name: Any) -> list[Any]:
        column = frame[name]
        to_list = column.to_pylist if hasattr(column, "to_pylist") else column.to_list
        return cast("list[Any]", to_list())

    def holds_strings(name: Any) -> bool:
        return isinstance(next((v for v in values(name) if not _missing(v)), None), str)

    wanted = given.text is None and "text" not in names
    strings = [name for name in names if holds_strings(name)] if wanted else []
    columns = _columns(names, strings, given, "The frame")
    chosen = [name for name in columns if name is not None]
    for i, row in enumerate(zip(*map(values, chosen), strict=True)):
        yield _record(dict(zip(chosen, row, strict=True)), columns, str(i), f"Row {i}")


def _collect(
    records: Iterable[_Record], source: str, counts: Counter[str], drop_duplicates: bool
) -> Documents:
    """Sort out what is no document, and count it."""
    kept: list[_Record] = []
    seen: set[bytes] = set()
    for record in records:
        text = record.text
        if not text or text.isspace():
            counts["blank" if text else "empty"] += 1
            continue
        if "\0" in text:
            counts["non-text"] += 1
            continue
        try:
            raw = text.encode()
        except UnicodeEncodeError:
            counts["repaired"] += 1
            raw = text.encode("utf-8", "replace")
            text = raw.decode()
        digest = hashlib.blake2b(b" ".join(raw.split()), digest_size=16).digest()
        if digest in seen:
            counts["duplicate"] += 1
            if drop_duplicates:
                continue
        seen.add(digest)
        kept.append(record._replace(text=text))
    if not kept:
        raise DocumentError(_nothing(source, counts))
    labels = tuple(record.label for record in kept if record.label is not None)
    return Documents(
        texts=tuple(record.text or "" for record in kept),
        ids=tuple(record.id for record in kept),
        labels=labels if len(labels) == len(kept) else None,
        source=source,
        skipped=dict(+counts),
        duplicates_dropped=drop_duplicates,
    )


def _nothing(source: str, counts: Counter[str]) -> str:
    found = ", ".join(f"{n:,} {kind}" for kind, n in (+counts).items())
    hint = ""
    if counts["table"]:
        hint = "; give a table itself, not its folder"
    elif counts["non-text"]:
        hint = "; pass encoding='utf-16' if that is what it is"
    return f"There are no documents in {source} ({found or 'it is empty'}){hint}."


class _Reader:
    """Reads one path, and knows which file and line it is at."""

    def __init__(self, name: str, given: _Columns, encoding: str | None) -> None:
        self.name = name
        self.given = given
        self.encoding = encoding
        self.counts: Counter[str] = Counter()
        try:
            "".encode(encoding or "utf-8")
        except LookupError as error:
            raise DocumentError(f"There is no encoding {encoding!r} for text.") from error
        self.file = "standard input" if name == "-" else name
        self.line = 0
        self.guessed: str | None = None

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what the system says into one sentence."""
        try:
            yield
        except FileNotFoundError as error:
            raise DocumentError(f"There is no file or folder {error.filename}.") from error
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DocumentError(f"{self.file} is not a whole gzip file: {error}.") from error
        except OSError as error:
            name, reason = error.filename or self.file, error.strerror or error
            raise DocumentError(f"Cannot read {name}: {reason}.") from error
        except UnicodeError as error:
            raise self._malformed(f"is not {self.encoding}: {error}", self.line + 1) from error

    def records(self, format: str | None) -> Iterator[_Record]:
        """Find out what there is to read, and read it."""
        if format is not None and format not in _FORMATS:
            raise DocumentError(f"format={format!r}: expected one of {', '.join(_FORMATS)}.")
        is_folder = self.name != "-" and stat.S_ISDIR(os.stat(self.name).st_mode)
        format = "folder" if is_folder else format or self._format()
        if format in ("folder", "txt") and self.given != _Columns(None):
            raise DocumentError(f"{self.file} is a {format} and has no columns; name none.")
        if is_folder:
            yield from self._folder()
            return
        with self._open(self.name) as stream:
            if format == "txt":
                for text in self._lines(stream):
                    yield _Record(self._place(self.line), text.rstrip("\r\n"))
            elif format == "jsonl":
                yield from self._jsonl(stream)
            elif format == "parquet":
                yield from self._parquet(stream)
            else:
                yield from self._csv(stream, "," if format == "csv" else "\t")

    def _format(self) -> str:
        suffix = "txt" if self.name == "-" else _suffix(self.name)
        if suffix not in _FORMATS:
            raise DocumentError(
                f"{self.file} is of no known format; expected a folder or .{', .'.join(_FORMATS)} "
                "(each also .gz), or name the format."
            )
        return suffix

    def _columns(self, names: Sequence[str], strings: Iterable[str], where: str) -> _Columns:
        columns = _columns(names, strings, self.given, where)
        if columns.text not in ("text", self.given.text):
            self.guessed = columns.text
        return columns

    def _malformed(self, what: str, line: int) -> DocumentError:
        return DocumentError(f"{self.file}, line {line}, {what}.")

    def _place(self, line: int) -> str:
        return f"{os.path.basename(self.file)}:{line}"

    @contextmanager
    def _open(self, path: str) -> Iterator[BinaryIO]:
        if path == "-":
            yield sys.stdin.buffer
            return
        with open(path, "rb") as file:
            packed = path.lower().endswith(".gz")
            yield cast(BinaryIO, gzip.GzipFile(fileobj=file) if packed else file)

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        """Decode line by line; only a line feed ends one."""
        text = None
        if self.encoding is not None:
            text = io.TextIOWrapper(stream, self.encoding, newline="\n")
        read = stream.readline if text is None else text.readline
        try:
            while line := read(MAX_DOCUMENT_BYTES):
                if len(line) >= MAX_DOCUMENT_BYTES:
                    what = f"is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it"
                    raise self._malformed(what, self.line + 1)
                self.line += 1
                decoded = line if isinstance(line, str) else self._decode(line)
                yield decoded.removeprefix("\ufeff") if self.line == 1 else decoded
        finally:
            if text is not None:
                text.detach()  # or it would close standard input

    def _decode(self, raw: bytes) -> str:
        """Decode UTF-8, or else Windows-1252, with its five gaps filled as in Latin-1."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.counts["recoded"] += b"\0" not in raw
        try:
            return raw.decode("cp1252")
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    def _csv(self, stream: BinaryIO, delimiter: str) -> Iterator[_Record]:
        # The module's own limit, 131,072 characters, is a global: raise it, never lower it.
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
            columns = self._columns(header, header, self.file)
            start = rows.line_num + 1
            for row in rows:
                if row and len(row) != len(header):
                    what = f"has {len(row)} fields where the header has {len(header)}"
                    raise self._malformed(what, start)
                values = dict(zip(header, row, strict=False))
                yield _record(values, columns, self._place(start), f"{self.file}, line {start},")
                start = rows.line_num + 1
        except csv.Error as error:
            raise self._malformed(f"begins a malformed row: {error}", start) from error

    def _jsonl(self, stream: BinaryIO) -> Iterator[_Record]:
        columns: _Columns | None = None
        for line in self._lines(stream):
            place, where = self._place(self.line), f"{self.file}, line {self.line},"
            try:
                row = json.loads(line) if line.strip() else ""
            except (ValueError, RecursionError) as error:
                raise self._malformed(f"is not JSON: {error}", self.line) from error
            if isinstance(row, str) and self.given == _Columns(None):
                yield _Record(place, row)
                continue
            if not isinstance(row, dict):
                raise self._malformed("is not a JSON object", self.line)
            if columns is None:
                strings = [name for name, value in row.items() if isinstance(value, str)]
                columns = self._columns(list(row), strings, where)
            if columns.text not in row:
                raise self._malformed(f"has no {columns.text!r}", self.line)
            yield _record(row, columns, place, where)

    def _parquet(self, stream: BinaryIO) -> Iterator[_Record]:
        try:
            parquet = importlib.import_module("pyarrow.parquet")
        except ImportError as error:
            raise DocumentError(
                f"Reading {self.file} needs pyarrow: pip install 'newfound[parquet]'"
            ) from error
        try:
            whole = self.name == "-" or isinstance(stream, gzip.GzipFile)  # it jumps to and fro
            table = parquet.ParquetFile(io.BytesIO(stream.read()) if whole else stream)
            schema = table.schema_arrow
            strings = [field.name for field in schema if "string" in str(field.type)]
            columns = self._columns(schema.names, strings, self.file)
            for batch in table.iter_batches(columns=[name for name in columns if name is not None]):
                for row in batch.to_pylist():
                    self.line += 1
                    where = f"{self.file}, row {self.line},"
                    yield _record(row, columns, self._place(self.line), where)
        except DocumentError:
            raise
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            raise DocumentError(f"{self.file} is not a whole Parquet file: {reason}") from error

    def _folder(self) -> Iterator[_Record]:
        """Read each file as a document; label them if all lie in subfolders."""
        root, paths = self.name, []
        for folder, folders, files in os.walk(root, onerror=_raise):
            hidden = [name for name in (*folders, *files) if name.startswith(".")]
            if hidden:
                self.counts["hidden"] += len(hidden)
            folders[:] = [name for name in folders if name not in hidden]
            paths += [os.path.join(folder, name) for name in files if name not in hidden]
        ids = {os.path.relpath(path, root).replace(os.sep, "/"): path for path in paths}
        labelled = all("/" in name for name in ids)
        for name in sorted(ids):
            self.file = ids[name]
            status = os.stat(self.file)
            if not stat.S_ISREG(status.st_mode):
                self.counts["non-text"] += 1
            elif _suffix(name) in _FORMATS[1:]:
                self.counts["table"] += 1
            else:
                with self._open(self.file) as stream:
                    raw = stream.read(MAX_DOCUMENT_BYTES)
                if len(raw) >= MAX_DOCUMENT_BYTES:
                    what = f"is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it"
                    raise DocumentError(f"{self.file} {what}.")
                text = raw.decode(self.encoding) if self.encoding else self._decode(raw)
                yield _Record(
                    name, text.removeprefix("\ufeff"), name.partition("/")[0] if labelled else None
                )


def _suffix(name: str) -> str:
    suffix = os.path.splitext(name.lower().removesuffix(".gz"))[1].removeprefix(".")
    return "jsonl" if suffix == "ndjson" else suffix


def _raise(error: OSError) -> None:
    raise error
