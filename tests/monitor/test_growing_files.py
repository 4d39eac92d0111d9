"""Files that a monitor follows: no line is lost or read twice, however they are replaced."""

from __future__ import annotations

import gzip
import os
import sys
import time as clock
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from newfound.monitor import growing
from newfound.monitor.growing import Batch
from newfound.monitor.sources import open_source
from newfound.text.records import Columns, DocumentError
from waiting import PATIENCE

RENAMED = pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be renamed")


def lines(first: int, last: int) -> str:
    return "".join(f"line {i} of a log\n" for i in range(first, last))


def numbers(batch: Batch) -> list[int]:
    return [int(text.split()[1]) for text in batch.texts if text is not None]


class Followed:
    """A file that is followed; a test changes it between two batches."""

    def __init__(self, path: Path, position: Any = None, *, once: bool = False) -> None:
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.position = position
        self._source: Iterator[Batch] = open_source(
            str(path), Columns(), position, once=once, problem=self.problems.append
        )

    def next(self) -> list[int]:
        """Return the numbers of the lines of the next batch."""
        batch = next(self._source)
        self.position = batch.position or self.position
        self.notes += filter(None, [batch.note])
        return numbers(batch)

    def rest(self) -> list[int]:
        """Return the numbers of all lines until nothing came."""
        found = []
        while some := self.next():
            found += some
        return found


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.txt"
    path.write_text(lines(0, 10))
    return path


@RENAMED
def test_what_was_added_before_a_file_was_renamed_is_read(log: Path) -> None:
    followed = Followed(log)
    assert followed.next() == list(range(10))
    assert followed.next() == []
    with open(log, "a") as file:
        file.write(lines(10, 1300) + "line 1300 without an end")
    log.rename(log.with_suffix(".1"))
    log.write_text(lines(1301, 1310))
    assert followed.rest() == list(range(10, 1310))
    assert followed.notes == [f"{log} was begun anew, and is read from its beginning."]


def test_a_file_that_was_emptied_and_has_grown_beyond_is_read_from_its_beginning(log: Path) -> None:
    followed = Followed(log)
    assert followed.next() == list(range(10))
    assert followed.next() == []
    os.truncate(log, 0)
    with open(log, "a") as file:
        file.write(lines(10, 60))
    assert followed.rest() == list(range(10, 60))
    assert not followed.problems


def test_a_bad_first_line_after_a_rotation_does_not_end_the_monitor(log: Path) -> None:
    followed = Followed(log)
    assert followed.next() == list(range(10))
    assert followed.next() == []
    log.write_text('{"broken\n' + lines(10, 12))
    assert followed.rest() == [10, 11]
    (problem,) = followed.problems
    assert "line 1, " in problem
    again = Followed(log, followed.position, once=True)
    assert again.rest() == [] and not again.notes


def test_a_line_that_is_being_written_is_not_cut_in_two(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(log, "a") as file:
        file.write("line 10 of")
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        end_the_line(log)

    monkeypatch.setattr(growing.clock, "sleep", wait)
    monkeypatch.setattr(growing, "SETTLED", PATIENCE)  # the file has changed only now
    once = Followed(log, once=True)
    assert once.rest() == list(range(11))
    assert waited == [PATIENCE]
    assert once.position["offset"] == log.stat().st_size


def end_the_line(path: Path) -> None:
    with open(path, "a") as file:
        file.write(" a log\n")


def test_a_last_line_without_its_end_is_read_once_if_nobody_writes(log: Path) -> None:
    with open(log, "a") as file:
        file.write("line 10 of a log")
    before = clock.time() - 60
    os.utime(log, (before, before))
    first = Followed(log, once=True)
    assert first.rest() == list(range(11))
    assert Followed(log, first.position, once=True).rest() == []


def test_another_packed_file_of_the_same_name_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "today.txt.gz"
    path.write_bytes(gzip.compress(lines(0, 10).encode()))
    first = Followed(path, once=True)
    assert first.rest() == list(range(10))
    path.write_bytes(gzip.compress(lines(10, 30).encode()))
    second = Followed(path, first.position, once=True)
    assert second.rest() == list(range(10, 30))
    assert "begun anew since the last run" in second.notes[0]


def test_half_of_a_packed_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "today.txt.gz"
    path.write_bytes(gzip.compress(lines(0, 1000).encode())[:100])
    with pytest.raises(DocumentError, match=r"today.txt.gz is not a complete gzip file"):
        Followed(path, once=True).rest()


def test_a_file_whose_first_line_is_not_complete_is_not_called_shortened(log: Path) -> None:
    first = Followed(log, once=True)
    first.rest()
    log.write_text("line 10 of")
    with pytest.raises(DocumentError, match="its first line is not complete yet"):
        Followed(log, first.position, once=True).rest()
