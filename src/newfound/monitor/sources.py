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
from typing import Any

from newfound.monitor.batches import NO_TABLES, SIZE, Batch, Problem, add_line
from newfound.monitor.growing import SETTLED, file_batches, is_moved
from newfound.monitor.kafka import kafka_batches
from newfound.monitor.records import parse_time
from newfound.text.formats import format_of
from newfound.text.records import Columns, DocumentError
from newfound.text.source import MAX_DOCUMENT_BYTES, Reader

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
        The fields of JSON lines; `date` is that with the time.
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
        return _lines(columns, problem)
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
        n += len(batch.texts) - batch.texts.count(None)
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


def _piped() -> Iterator[list[bytes]]:
    """Iterate over the lines of standard input, those that come together; none after a while."""
    number, rest = sys.stdin.buffer.fileno(), bytearray()
    while len(rest) < MAX_DOCUMENT_BYTES:
        if sys.platform != "win32" and not select.select([number], [], [], _PATIENCE)[0]:
            yield []
            continue
        piece = os.read(number, 1 << 16)
        if not piece:
            break
        rest += piece
        if b"\n" in piece:
            *lines, rest = rest.split(b"\n")
            yield [bytes(line) for line in lines]
    if rest:
        yield [bytes(rest)]


def _lines(columns: Columns, problem: Problem) -> Iterator[Batch]:
    n = 0
    for lines in _piped():
        for start in range(0, max(len(lines), 1), SIZE):
            batch = Batch()
            for line in lines[start : start + SIZE]:
                n += 1
                where = f"standard input, line {n},"
                add_line(batch, line, columns, where, problem, first=n == 1)
            yield batch


def _folder(
    path: Path, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Read the files of a folder in the order of their last change, each as one document."""
    reader = Reader(str(path), columns)
    since, done = (0, set()) if position is None else (position["since"], set(position["done"]))
    with reader.errors():
        while True:
            changes = _changes(reader.files(), since, done)
            for start in range(0, len(changes), SIZE):
                batch = Batch()
                for changed, name, file in changes[start : start + SIZE]:
                    done = done | {name} if changed == since else {name}
                    since = changed
                    batch.add(_text(reader, file, problem), changed / 1e9, f"{name}:{changed}")
                place = os.path.abspath(path)
                batch.position = {"source": place, "since": since, "done": sorted(done)}
                yield batch
            if not changes:
                yield Batch()
                if once:
                    return
                clock.sleep(_PATIENCE)


def _changes(files: dict[str, str], since: int, done: set[str]) -> list[tuple[int, str, str]]:
    """Return last change, name and path of files that are new and complete, in order."""
    complete = clock.time_ns() - SETTLED * 1e9
    changes = []
    for name, file in files.items():
        changed = os.stat(file).st_mtime_ns
        is_new = changed > since or (changed == since and name not in done)
        if is_new and changed <= complete and os.path.isfile(file):
            changes.append((changed, name, file))
    return sorted(changes)


def _text(reader: Reader, file: str, problem: Problem) -> str | None:
    try:
        with reader.errors():
            text = reader.text_of(file)
    except DocumentError as error:
        problem(str(error))
        return None
    if text is None:
        problem(f"{file} is a table, and each file of a folder is one document.")
    elif "\0" in text:
        problem(f"{file} is not text.")
    return text
