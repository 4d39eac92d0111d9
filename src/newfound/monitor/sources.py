"""Where documents come from: standard input, a file or a folder that grows, a Kafka topic.

A source yields batches. Each says where the source is after it; the monitor keeps that position
together with the documents, in one transaction, and hands it back after a restart.

Kafka is read with confluent-kafka (extra ``kafka``). A message counts as read when its document is
in the state. Its offset is committed to Kafka after that. A monitor that was killed in between
continues at the offset of its state. If several monitors share a group, each with its own state, a
partition that comes from another one continues where that one has committed: the later of both
offsets is used.
"""

from __future__ import annotations

import os
import select
import sys
import time as clock
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from newfound.monitor.growing import (
    NO_TABLES,
    SETTLED,
    SIZE,
    Batch,
    Problem,
    add_line,
    file_batches,
    is_moved,
)
from newfound.monitor.records import parse_time
from newfound.text.formats import format_of
from newfound.text.records import Columns, DocumentError
from newfound.text.source import MAX_DOCUMENT_BYTES, Reader

__all__ = ["check_kind", "dated", "open_source"]


def parse_address(address: str) -> tuple[str, dict[str, str]]:
    """Return the topic of an address, and the settings of the consumer.

    What follows the question mark are settings of librdkafka; `group` stands for its `group.id`.

    Examples
    --------
    >>> parse_address("kafka://one:9092,two:9092/tickets?group=watch&client.id=a")
    ('tickets', {'bootstrap.servers': 'one:9092,two:9092', 'group.id': 'watch', 'client.id': 'a'})
    """
    parts = urlsplit(address)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise DocumentError(f"{address}: expected kafka://HOST:PORT/TOPIC.")
    given = dict(parse_qsl(parts.query))
    group = given.pop("group", "newfound")
    return topic, {"bootstrap.servers": parts.netloc, "group.id": group, **given}


def kafka_batches(
    address: str, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Iterate over batches of messages, from the offsets of the state on.

    The parameters are those of `newfound.monitor.sources.open_source`.
    """
    topic, given = parse_address(address)
    try:
        kafka = import_module("confluent_kafka")
    except ImportError as error:
        raise ImportError("Kafka needs confluent-kafka: pip install 'newfound[kafka]'") from error
    if position is not None and position.get("source") != f"kafka:{topic}":
        raise DocumentError(
            f"The state belongs to {position.get('source')}, not to {address}; name that one, or "
            "another state."
        )
    # Those of documents that are in the state; never those of a batch that may have failed.
    offsets: dict[str, int] = {} if position is None else dict(position["offsets"])

    def assigned(consumer: Any, partitions: Any) -> None:
        found = []
        for partition in consumer.committed(partitions, _PATIENCE * 10):
            own = offsets.get(str(partition.partition), kafka.OFFSET_BEGINNING)
            partition.offset = max(own, partition.offset)  # one that is missing is negative
            found.append(partition)
        consumer.assign(found)

    def revoked(consumer: Any, partitions: Any) -> None:
        _commit(kafka, consumer, topic, offsets)

    consumer = kafka.Consumer(
        {
            **given,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": once,
        }
    )
    try:
        consumer.subscribe([topic], on_assign=assigned, on_revoke=revoked)
        yield from _batches(kafka, consumer, topic, offsets, columns, once, problem)
    finally:
        consumer.close()


def _batches(
    kafka: Any,
    consumer: Any,
    topic: str,
    offsets: dict[str, int],
    columns: Columns,
    once: bool,
    problem: Problem,
) -> Iterator[Batch]:
    ended: set[int] = set()
    while True:
        batch, read = Batch(), dict(offsets)
        for message in consumer.consume(SIZE, _PATIENCE):
            error = message.error()
            if error is not None:
                if error.code() != kafka.KafkaError._PARTITION_EOF:
                    raise OSError(f"Cannot read the Kafka topic {topic}: {error.str()}")
                ended.add(message.partition())
                continue
            ended.discard(message.partition())
            where = f"{topic}, partition {message.partition()}, offset {message.offset()},"
            kind, stamp = message.timestamp()
            time = stamp / 1000 if kind and stamp >= 0 else None
            add_line(batch, message.value() or b"", columns, where, problem, time=time)
            read[str(message.partition())] = message.offset() + 1
        if batch.texts:
            batch.position = {"source": f"kafka:{topic}", "offsets": read}
        yield batch
        if batch.texts:  # by now they are in the state
            offsets.update(read)
            _commit(kafka, consumer, topic, offsets)
        elif once and len(ended) >= max(len(consumer.assignment()), 1):
            return


def _commit(kafka: Any, consumer: Any, topic: str, offsets: dict[str, int]) -> None:
    """Commit the offsets of the partitions that this consumer has.

    While partitions are handed over, Kafka may refuse. The offsets of the state hold all the same,
    and are committed again before the partitions go to another monitor.
    """
    held = {str(partition.partition) for partition in consumer.assignment()}
    found = [kafka.TopicPartition(topic, int(p), offsets[p]) for p in held & offsets.keys()]
    if not found:
        return
    try:
        consumer.commit(offsets=found, asynchronous=False)
    except kafka.KafkaException as error:
        handing_over = (
            kafka.KafkaError.REBALANCE_IN_PROGRESS,
            kafka.KafkaError.ILLEGAL_GENERATION,
            kafka.KafkaError.UNKNOWN_MEMBER_ID,
        )
        if error.args[0].code() not in handing_over:
            raise OSError(
                f"Cannot commit to the Kafka topic {topic}: {error.args[0].str()}."
            ) from error


_TABLES = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet"}
_HELD = 10_000  # documents of the past that are looked at for a time

_PATIENCE = 1.0  # seconds to wait for more


def open_source(
    path: str, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Iterate over batches of a source, from a position on.

    `path` is ``-``, a file of JSON lines or plain lines (also .gz), a folder, or
    ``kafka://HOST:PORT/TOPIC``; `date` of the columns is the field with the time. `position` is
    where an earlier run was. With `once`, it reads what is there now and ends, instead of waiting
    for more; an empty batch means that nothing came for a second. `problem` is called with a
    sentence for each document that cannot be read.
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

    The source is read from its beginning; `name` is for the message.
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
