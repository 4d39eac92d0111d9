"""Where documents come from: standard input, a file or a folder that grows, a Kafka topic.

A source yields batches. Each says where the source is after it; the monitor keeps that position
together with the documents, in one transaction, and hands it back after a restart.
"""

from __future__ import annotations

import os
import select
import sys
import time as clock
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from newfound.monitor.batches import NO_TABLES, SIZE, Batch, Columns, Problem, add_line
from newfound.monitor.clock import parse_time
from newfound.monitor.growing import SETTLED, file_batches, is_moved
from newfound.monitor.kafka import kafka_batches
from newfound.text.readers import MAX_DOCUMENT_BYTES, format_of
from newfound.text.records import DocumentError

__all__ = ["check_kind", "dated", "open_source"]

_TABLES = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}
_HELD = 10_000  # documents of the past that are looked at for a time

_PATIENCE = 1.0  # seconds to wait for more


def open_source(
    path: str, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Iterate over batches of a source, from a position on.

    Parameters
    ----------
    path : str
        ``-``, a file of JSON lines or plain lines (also .gz), a folder, or
        ``kafka://HOST:PORT/TOPIC``.
    columns : Columns
        The fields of JSON lines.
    position : object
        Where an earlier run was; None at the beginning.
    once : bool
        Whether to read what is there now and end, instead of waiting for more.
    problem : callable
        Called with a sentence for each document that cannot be read.

    Returns
    -------
    iterator of Batch
        An empty batch means that nothing came for a second.
    """
    if path.startswith("kafka://"):
        return kafka_batches(path, columns, position, once=once, problem=problem)
    if path == "-":
        return _lines(_Pipe(sys.stdin.buffer), columns, None, problem, "standard input")
    check_kind(path)
    place = Path(path)
    if not place.exists():
        raise DocumentError(f"There is no file or folder {path}.")
    moved = position is not None and position.get("source") != os.path.abspath(path)
    if moved and (place.is_dir() or "begins" not in position or not is_moved(place, position)):
        raise DocumentError(
            f"The state belongs to {position.get('source')}, not to {path}; name that one, or "
            "another state."
        )
    if place.is_dir():
        return _folder(place, columns, position, once=once, problem=problem)
    return file_batches(place, columns, position, once=once, problem=problem)


def check_kind(path: str) -> None:
    """Raise a `DocumentError` for a table, whose lines are not documents."""
    kind = _TABLES.get(format_of(path) or "")
    if kind is not None:
        raise DocumentError(f"{path} is a {kind} file{NO_TABLES}")


def dated(source: Iterable[Batch], name: str) -> Iterator[Batch]:
    """Iterate over the batches of the past; without documents or times, raise a `DocumentError`.

    Parameters
    ----------
    source : iterable of Batch
        From the beginning on.
    name : str
        Its name, for the message.
    """
    held, n, batches = Batch(), 0, iter(source)
    for batch in batches:
        for document in zip(batch.texts, batch.times, batch.ids, batch.places, strict=True):
            held.add(*document)
        held.position = batch.position
        n += sum(text is not None and bool(text.strip()) for text in batch.texts)
        if any(map(_is_time, batch.times)):
            break
        if n >= _HELD:
            raise DocumentError(_no_time(name, f"None of the first {n:,} documents"))
    else:
        if not n:
            raise DocumentError(f"{name} has no documents, so there is nothing to replay.")
        raise DocumentError(_no_time(name, "No document"))
    yield held  # together, so that documents without times get that of the first one with a time
    yield from batches


def _no_time(name: str, who: str) -> str:
    return (
        f"{who} of {name} has a time that can be read, and --replay needs times; name their field "
        "with --time-column, or read documents without times with --incoming and --once."
    )


def _is_time(value: Any) -> bool:
    try:
        return parse_time(value) is not None
    except ValueError:
        return False


class _Pipe:
    """Lines of a pipe as they come; None if none came for a while, b"" at the end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._number = stream.fileno()
        self._rest = b""
        self._ready: list[bytes] = []
        self._ended = False

    def readline(self) -> bytes | None:
        while not self._ready and not self._ended:
            if not self._readable():
                return None
            found = os.read(self._number, 1 << 16)
            self._ended = not found
            *self._ready, self._rest = (self._rest + found).split(b"\n")
            if self._ended and self._rest:
                self._ready, self._rest = [self._rest], b""
            if len(self._rest) > MAX_DOCUMENT_BYTES:
                raise DocumentError(f"A line is longer than {MAX_DOCUMENT_BYTES:,} bytes.")
            self._ready = [line + b"\n" for line in reversed(self._ready)]
        return self._ready.pop() if self._ready else b""

    def _readable(self) -> bool:
        if sys.platform == "win32":
            return True
        return bool(select.select([self._number], [], [], _PATIENCE)[0])

    def waiting(self) -> bool:
        """Return whether a line is there without waiting."""
        return bool(self._ready)


def _lines(
    pipe: _Pipe, columns: Columns, position: Any, problem: Problem, name: str
) -> Iterator[Batch]:
    batch, number = Batch(position=position), 0
    while True:
        line = pipe.readline()
        if line:
            number += 1
            add_line(batch, line, columns, f"{name}, line {number},", problem, first=number == 1)
        if batch.texts and (not line or len(batch.texts) >= SIZE or not pipe.waiting()):
            yield batch
            batch = Batch(position=position)
        elif line is None:
            yield batch
        if line == b"":
            return


def _folder(
    path: Path, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Read the files of a folder in the order of their last change, each as one document."""
    if columns != Columns():
        raise DocumentError(f"{path} is a folder and has no fields; do not name any.")
    source = os.path.abspath(path)
    since, done = (0, set()) if position is None else (position["since"], set(position["done"]))
    while True:
        found = list(_changed(path, since, done, clock.time_ns()))
        for some in _parts(found, SIZE):
            batch = Batch()
            for changed, name in some:
                done = done | {name} if changed == since else {name}
                since = changed
                batch.add(_file_text(path / name, problem), changed / 1e9, f"{name}:{changed}")
            batch.position = {"source": source, "since": since, "done": sorted(done)}
            yield batch
        if not found:
            yield Batch()
            if once:
                return
            clock.sleep(_PATIENCE)


def _changed(path: Path, since: int, done: set[str], now: int) -> Iterable[tuple[int, str]]:
    """Return the last change and the name of files that are new and complete, in order."""
    found = []
    for file in path.rglob("*"):
        name = str(file.relative_to(path))
        if file.is_file() and not file.name.startswith("."):
            changed = file.stat().st_mtime_ns
            new = changed > since or (changed == since and name not in done)
            if new and changed <= now - SETTLED * 1e9:
                found.append((changed, name))
    return sorted(found)


def _parts(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _file_text(path: Path, problem: Problem) -> str | None:
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        problem(f"Cannot read {path}: {error.strerror}.")
        return None
    if "\0" in text:
        problem(f"{path} is not text.")
        return None
    return text
