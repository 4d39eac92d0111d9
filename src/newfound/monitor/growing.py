"""Batches of documents that come: how a line becomes one, and the lines of a file that grows.

A line is read as in a file that is read whole, but for two reasons there are differences. What
comes next is not known: a line is JSON if it begins with a brace, and the column with the text is
never guessed. And a stream goes on: a line that cannot be read is told and left out.

A file is recognised by a digest of its beginning, also after it was emptied, replaced or moved.
Logs are rotated in two ways: the file is renamed and a new one has its name, or its content is
copied and the file is emptied.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import time as clock
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from newfound.text.formats import decode, encoding_of, is_table_header, parse_json
from newfound.text.records import (
    Columns,
    DocumentError,
    Record,
    choose_columns,
    column_name,
    make_record,
    records_with_text,
)
from newfound.text.source import MAX_DOCUMENT_BYTES, Reader

__all__ = [
    "NO_TABLES",
    "SETTLED",
    "SIZE",
    "Batch",
    "Problem",
    "add_line",
    "file_batches",
    "is_moved",
]

SIZE = 500  # documents of a batch, at most
NO_TABLES = (
    ", and a monitor reads JSON lines, lines of text and folders; write each row as a line of JSON "
    'with text and time, for example with pandas: frame.to_json("stream.jsonl", orient="records", '
    "lines=True)."
)
_TIMES = ("time", "timestamp", "date")

Problem = Callable[[str], None]


@dataclass
class Batch:
    """Some documents, and where the source is after them; `texts` has None where none is.

    `places` has where each of them was found, for messages; `note` what happened to the source.
    """

    texts: list[str | None] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)
    ids: list[str | None] = field(default_factory=list)
    position: Any = None
    places: list[str] = field(default_factory=list)
    note: str = ""

    def add(
        self, text: str | None, time: Any = None, id: str | None = None, place: str = "A document"
    ) -> None:
        """Add a document; one without text is None."""
        kept = next(records_with_text([Record("", text)], Counter()), None)
        self.texts.append(None if kept is None else kept.text)
        self.times.append(time)
        self.ids.append(id)
        self.places.append(place)


def add_line(
    batch: Batch,
    line: bytes,
    columns: Columns,
    where: str,
    problem: Problem,
    *,
    first: bool = False,
    time: Any = None,
) -> None:
    """Add a line; one that cannot be read is an error at the beginning, and counted later.

    The line is a JSON object, or plain text; `date` of the columns is the field with the time.
    `where` is its place, for messages, `first` whether the source begins with it, and `time` that
    of a document without one of its own. `problem` is called with a sentence for a line that cannot
    be read.

    Examples
    --------
    >>> batch = Batch()
    >>> add_line(batch, b'{"text": "rain", "date": "2003-03-20", "id": 7}', Columns(), "1", print)
    >>> add_line(batch, b"just words", Columns(), "2", print)
    >>> batch.texts, batch.times, batch.ids
    (['rain', 'just words'], ['2003-03-20', None], ['7', None])
    """
    if len(line) >= MAX_DOCUMENT_BYTES:
        raise DocumentError(f"{where} is longer than {MAX_DOCUMENT_BYTES:,} bytes; split it.")
    try:
        text, own_time, id = _parse(line, columns, where, first=first)
    except DocumentError as error:
        if first:
            raise
        problem(str(error))
        text = own_time = id = None
    batch.add(text, time if own_time is None else own_time, id, where)


def _parse(
    line: bytes, columns: Columns, where: str, *, first: bool
) -> tuple[str | None, Any, str | None]:
    """Return text, time and id of a line."""
    if first and (encoding := encoding_of(line)) is not None:
        raise DocumentError(f"{where} is {encoding}; a monitor reads UTF-8, so recode it.")
    text = decode(line, Counter()).rstrip("\r\n").removeprefix("\ufeff")
    if first and is_table_header(text, columns.text):
        raise DocumentError(f"{where} looks like the header of a CSV file{NO_TABLES}")
    if not text.lstrip().startswith("{"):
        if columns != Columns() and text.strip():
            raise DocumentError(f"{where} is not a JSON object, so it has no fields.")
        return text, None, None
    row = parse_json(text, where)
    name = columns.text or "text"
    if first:
        choose_columns(list(row), (), columns, where)
    for needed in (name, columns.date):
        if needed is not None and needed not in row:
            raise DocumentError(f"{where} has no {column_name(needed)}.")
    record = make_record(row, Columns(name, id="id"), "", where)
    times = _TIMES if columns.date is None else (columns.date,)
    time = next((row[field] for field in times if row.get(field) is not None), None)
    return record.text, time, record.id or None


SETTLED = 1.0  # seconds without a change after which a file is complete
_PATIENCE = 1.0  # seconds to wait for more
_HEAD = 4096  # bytes by which the beginning of a file is known again


def file_batches(
    path: Path, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Iterate over the lines of a file; a line without its end is left for later.

    The parameters are those of `newfound.monitor.sources.open_source`. With `once`, the last line
    may be without its end if the file has not changed for a second.
    """
    with Reader(str(path)).errors():
        yield from _GrowingFile(path, columns, position, once=once, problem=problem).batches()


def is_moved(path: Path, position: Mapping[str, Any]) -> bool:
    """Return whether a file is the one that was read before, at another place."""
    with Reader(str(path)).errors(), _open(path) as file:
        same = _begins_as(file.read(_HEAD), position["begins"])
        return bool(same) and file.seek(0, os.SEEK_END) >= int(position["offset"])


class _GrowingFile:
    """Where a file is read, and by what it is known again.

    ``offset`` and ``number`` are the bytes and lines that were read, ``head`` the beginning of the
    file and ``mark`` its digests.
    """

    def __init__(
        self, path: Path, columns: Columns, position: Any, *, once: bool, problem: Problem
    ) -> None:
        self.path, self.columns, self.problem = path, columns, problem
        self.packed = path.name.endswith(".gz")
        self.ends = once or self.packed
        self.offset = self.number = 0
        self.head = b""
        self.mark: dict[str, Any] | None = None
        self.note = ""
        self.is_first = position is None  # whether the next line is the first of the source
        if position is not None:
            self._resume(position)

    def _resume(self, position: Mapping[str, Any]) -> None:
        offset, mark = int(position["offset"]), position.get("begins")
        with _open(self.path) as file:
            head = file.read(_HEAD)
        same = None if mark is None else _begins_as(head, mark)
        if same is False or (offset and not head):
            self.note = (
                f"{self.path} was begun anew since the last run, and is read from its beginning. "
                "Lines that were added to the earlier file after that run are not read."
            )
            return
        if not self.packed and self.path.stat().st_size < offset:
            why = (
                "is shorter than it was, and begins as before; lines were taken out of it. Put "
                "them back, or name another state."
                if b"\n" in head
                else "was begun anew, but its first line is not complete yet; run the same command "
                "again when it is."
            )
            raise DocumentError(f"{self.path} {why}")
        self.offset, self.number = offset, int(position["line"])
        self.mark = _mark(head[:offset]) if mark is None else dict(mark)

    def batches(self) -> Iterator[Batch]:
        while True:
            with _open(self.path) as file:
                self.head = file.read(min(self.offset, _HEAD))
                file.seek(self.offset)
                while not self._is_replaced(file):
                    batch = self._read(file)
                    yield batch
                    if not batch.texts:
                        if self.ends:
                            return
                        clock.sleep(_PATIENCE)
                if self._is_begun_anew():
                    if not self._has_name(file):
                        while (batch := self._read(file, rest=True)).texts:
                            yield batch
                    self.note = f"{self.path} was begun anew, and is read from its beginning."
                    self.offset = self.number = 0
                    self.mark = None

    def _read(self, file: BinaryIO, *, rest: bool = False) -> Batch:
        """Return the next lines; with `rest` also one that nobody will end."""
        batch = Batch(note=self.note)
        self.note = ""
        while len(batch.texts) < SIZE and (line := file.readline(MAX_DOCUMENT_BYTES)):
            if not line.endswith(b"\n") and not rest and len(line) < MAX_DOCUMENT_BYTES:
                if not self.ends:
                    file.seek(self.offset)
                    break
                if not self.packed and _grows(file):
                    file.seek(self.offset)
                    continue
            self.offset, self.number = self.offset + len(line), self.number + 1
            if len(self.head) < _HEAD:
                self.head = (self.head + line)[:_HEAD]
                self.mark = _mark(self.head)
            where = f"{self.path}, line {self.number},"
            add_line(batch, line, self.columns, where, self.problem, first=self.is_first)
            self.is_first = False
        if batch.texts:
            batch.position = {
                "source": os.path.abspath(self.path),
                "offset": self.offset,
                "line": self.number,
                "begins": self.mark,
            }
        return batch

    def _is_replaced(self, file: BinaryIO) -> bool:
        """Return whether the name now stands for other content than that of the open file."""
        if self.ends:
            return False
        if self._is_begun_anew():
            return True
        try:
            grown = self.path.stat().st_size >= self.offset
        except OSError:  # it was moved away, and the next one is not there yet
            return False
        return grown and not self._has_name(file)

    def _is_begun_anew(self) -> bool:
        if self.mark is None:
            return False
        try:
            with _open(self.path) as file:
                return _begins_as(file.read(_HEAD), self.mark) is False
        except OSError:
            return False

    def _has_name(self, file: BinaryIO) -> bool:
        """Return whether the open file still has the name."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(file.fileno()))
        except OSError:
            return False


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb") if path.name.endswith(".gz") else open(path, "rb"))


def _grows(file: BinaryIO) -> bool:
    """Return whether a file has changed a moment ago, and may still be changing."""
    before = os.fstat(file.fileno())
    if abs(clock.time() - before.st_mtime) > SETTLED:
        return False
    clock.sleep(SETTLED)
    return os.fstat(file.fileno()).st_size != before.st_size


def _mark(head: bytes) -> dict[str, Any]:
    """Return what tells whether a file begins as before, without its text."""
    return {"size": len(head), "head": _digest(head), "line": _digest(_first_line(head))}


def _first_line(head: bytes) -> bytes:
    return head.split(b"\n", 1)[0]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def _begins_as(head: bytes, mark: Mapping[str, Any]) -> bool | None:
    """Return whether a file begins as one with this mark; None if it has no whole line yet."""
    if len(head) >= mark["size"]:
        return bool(_digest(head[: mark["size"]]) == mark["head"])
    if b"\n" not in head:
        return None
    return bool(_digest(_first_line(head)) == mark["line"])
