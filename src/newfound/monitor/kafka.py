"""Documents of a Kafka topic, with confluent-kafka (extra ``kafka``).

A message counts as read when its document is in the state. Its offset is committed to Kafka after
that. A monitor that was killed in between continues at the offset of its state. If several
monitors share a group, each with its own state, a partition that comes from another one continues
where that one has committed: the later of both offsets is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from newfound.monitor.batches import SIZE, Batch, Problem, add_line
from newfound.text.records import Columns, DocumentError

__all__ = ["kafka_batches", "parse_address"]

_PATIENCE = 1.0  # seconds to wait for messages


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
