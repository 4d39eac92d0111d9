"""The monitor on Kafka: the mock cluster of librdkafka, which needs no broker."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import newfound
from newfound import Monitor, NoveltyDetector
from newfound.monitor.sources import open_source
from newfound.text.records import Columns
from waiting import PATIENCE, wait_for

kafka = pytest.importorskip("confluent_kafka")


@pytest.fixture(scope="module")
def detector() -> NoveltyDetector:
    return NoveltyDetector(random_state=0).fit(newfound.load_sample()[0].texts[:300])


@pytest.fixture
def cluster() -> Iterator[tuple[str, Any]]:
    """Start a mock cluster inside of a producer, and return the address of its topic."""
    producer = kafka.Producer(
        {"test.mock.num.brokers": 1, "bootstrap.servers": "unused", "log_level": 0}
    )
    brokers = producer.list_topics(timeout=PATIENCE).brokers.values()
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    yield f"kafka://{servers}/tickets?session.timeout.ms=6000", producer
    producer.flush(PATIENCE)


def send(producer: Any, first: int, last: int) -> None:
    for i in range(first, last):
        value = json.dumps({"id": f"m{i}", "text": f"please pay my bill number {i}"})
        producer.produce("tickets", value, partition=i % 3)
    assert producer.flush(PATIENCE) == 0


class Watcher:
    """A monitor that takes in messages one batch at a time."""

    def __init__(self, address: str, detector: NoveltyDetector, state: Path) -> None:
        self.monitor = Monitor(detector, every=10_000, state=state)
        self.source: Any = open_source(
            address, Columns(), self.monitor.position, once=False, problem=pytest.fail
        )

    def step(self) -> None:
        batch = next(self.source)
        if batch.texts:
            self.monitor.update(batch.texts, batch.times, batch.ids, position=batch.position)

    def size(self) -> int:
        """Return the number of documents so far; a message that came twice is one more."""
        window = self.monitor.open_window
        return window.size + 1_000 * window.duplicates

    def until(self, n: int, *others: Watcher) -> None:
        """Go on, together with others, until all of them have seen so many documents."""
        end = time.monotonic() + PATIENCE
        every = (self, *others)
        while sum(watcher.size() for watcher in every) < n and time.monotonic() < end:
            for watcher in every:
                watcher.step()
        assert sum(watcher.size() for watcher in every) == n

    def leave(self) -> None:
        self.source.close()
        self.monitor.close()


def test_a_restart_goes_on_at_the_offsets_of_the_state(
    cluster: tuple[str, Any], detector: NoveltyDetector, tmp_path: Path
) -> None:
    address, producer = cluster
    send(producer, 0, 90)
    failed = Watcher(address, detector, tmp_path / "w.db")
    while not next(failed.source).texts:  # read, but not taken in
        pass
    failed.leave()
    first = Watcher(address, detector, tmp_path / "w.db")
    first.until(90)
    first.leave()  # after the state was written, and before the offsets were committed to Kafka
    send(producer, 90, 120)
    again = Watcher(address, detector, tmp_path / "w.db")
    again.until(120)
    assert again.monitor.open_window.last > 1e9  # the time of a message, which has none of its own
    again.leave()


@pytest.mark.slow
def test_partitions_go_from_one_monitor_to_another_and_back(
    cluster: tuple[str, Any],
    detector: NoveltyDetector,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    consumers: list[Any] = []

    class Consumer(kafka.Consumer):  # type: ignore[misc]
        def __init__(self, settings: Any) -> None:
            super().__init__(settings)
            consumers.append(self)

    monkeypatch.setattr(kafka, "Consumer", Consumer)
    address, producer = cluster
    send(producer, 0, 60)
    one = Watcher(address, detector, tmp_path / "one.db")
    one.until(60)
    other = Watcher(address, detector, tmp_path / "other.db")

    def both_have_some() -> bool:
        one.step(), other.step()
        return len(consumers) == 2 and all(consumer.assignment() for consumer in consumers)

    wait_for(both_have_some)
    send(producer, 60, 160)
    one.until(160, other)
    assert other.size() > 0, "the second monitor got no partition"
    taken = other.size()
    other.step()  # the offsets of its last batch are committed
    other.leave()
    send(producer, 160, 200)
    one.until(200 - taken)
    one.leave()
