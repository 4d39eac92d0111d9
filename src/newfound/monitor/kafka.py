"""Documents of a Kafka topic, with confluent-kafka (extra ``kafka``).

Offsets are those of the state, not those that Kafka keeps for a group: a message counts as read
when its document is in the state. They are also committed to Kafka, afterwards, so that its tools
show how far the monitor is.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from newfound.monitor.batches import SIZE, Batch, Columns, Problem, parse_line
from newfound.text.readers import DocumentError

__all__ = ["kafka_batches", "parse_address"]

_PATIENCE = 1.0  # seconds to wait for messages


def parse_address(address: str) -> tuple[str, str, str]:
    """Return servers, topic and group of an address.

    Examples
    --------
    >>> parse_address("kafka://one:9092,two:9092/tickets?group=watch")
    ('one:9092,two:9092', 'tickets', 'watch')
    """
    parts = urlsplit(address)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise DocumentError(f"{address}: expected kafka://HOST:PORT/TOPIC.")
    group = parts.query.removeprefix("group=") if parts.query else "newfound"
    return parts.netloc, topic, group


def kafka_batches(
    address: str, columns: Columns, position: Any, *, once: bool, problem: Problem
) -> Iterator[Batch]:
    """Iterate over batches of messages, from the offsets of the state on.

    The parameters are those of `newfound.monitor.sources.open_source`.
    """
    servers, topic, group = parse_address(address)
    try:
        kafka = import_module("confluent_kafka")
    except ImportError as error:
        raise ImportError("Kafka needs confluent-kafka: pip install 'newfound[kafka]'") from error
    if position is not None and position.get("source") != f"kafka:{topic}":
        raise DocumentError(
            f"The state belongs to {position.get('source')}, not to {address}; name that one, or "
            "another state."
        )
    offsets: dict[str, int] = {} if position is None else dict(position["offsets"])

    def assigned(consumer: Any, partitions: Any) -> None:
        for partition in partitions:
            partition.offset = offsets.get(str(partition.partition), kafka.OFFSET_BEGINNING)
        consumer.assign(partitions)

    consumer = kafka.Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": group,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "enable.partition.eof": once,
        }
    )
    try:
        consumer.subscribe([topic], on_assign=assigned)
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
        batch = Batch()
        for message in consumer.consume(SIZE, _PATIENCE):
            error = message.error()
            if error is not None:
                if error.code() != kafka.KafkaError._PARTITION_EOF:
                    raise OSError(f"Cannot read the Kafka topic {topic}: {error.str()}")
                ended.add(message.partition())
                continue
            ended.discard(message.partition())
            where = f"{topic}, partition {message.partition()}, offset {message.offset()},"
            _add(batch, message, columns, where, problem)
            offsets[str(message.partition())] = message.offset() + 1
        if batch.texts:
            batch.position = {"source": f"kafka:{topic}", "offsets": dict(offsets)}
        yield batch
        if batch.texts:  # by now they are in the state
            found = [kafka.TopicPartition(topic, int(p), n) for p, n in offsets.items()]
            consumer.commit(offsets=found, asynchronous=True)
        elif once and len(ended) >= max(len(consumer.assignment()), 1):
            return


def _add(batch: Batch, message: Any, columns: Columns, where: str, problem: Problem) -> None:
    """Add a message; its own time is used if the document has none."""
    kind, stamp = message.timestamp()
    try:
        text, time, id = parse_line(message.value() or b"", columns, where)
    except DocumentError as error:
        problem(str(error))
        text, time, id = None, None, None
    if time is None and kind and stamp >= 0:
        time = stamp / 1000
    batch.add(text or None, time, id)
