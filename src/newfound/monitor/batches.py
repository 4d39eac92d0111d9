"""Batches of documents, and how a line becomes a document."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from newfound.text.formats import is_table_header, json_fault
from newfound.text.records import DocumentError

__all__ = [
    "NO_TABLES",
    "SIZE",
    "Batch",
    "Columns",
    "Problem",
    "add_line",
    "is_header",
    "parse_line",
]

SIZE = 500  # documents of a batch, at most
NO_TABLES = (
    ", and a monitor reads JSON lines, lines of text and folders; write each row as a line of JSON "
    'with text and time, for example with pandas: frame.to_json("stream.jsonl", orient="records", '
    "lines=True)."
)
_TIMES = ("time", "timestamp", "date")


@dataclass(frozen=True)
class Columns:
    """The names of the fields with the text and the time; None for the usual ones."""

    text: str | None = None
    time: str | None = None


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
        self,
        text: str | None,
        time: Any = None,
        id: str | None = None,
        place: str = "A document",
    ) -> None:
        """Add a document."""
        self.texts.append(text)
        self.times.append(time)
        self.ids.append(id)
        self.places.append(place)


Problem = Callable[[str], None]


def is_header(line: bytes, columns: Columns) -> bool:
    """Return whether a line is the header of a table: several names, and that of the texts.

    Examples
    --------
    >>> [is_header(line, Columns()) for line in (b"id,text", b"Text; Time", b"text me, please")]
    [True, True, False]
    """
    return is_table_header(line.decode("utf-8", "replace"), columns.text)


def parse_line(line: bytes, columns: Columns, where: str) -> tuple[str | None, Any, str | None]:
    """Return text, time and id of a line: a JSON object, or plain text.

    Examples
    --------
    >>> parse_line(b'{"text": "rain", "date": "2003-03-20", "id": 7}', Columns(), "line 1")
    ('rain', '2003-03-20', '7')
    >>> parse_line(b"just words", Columns(), "line 1")
    ('just words', None, None)
    """
    text = line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
    if not text.startswith("{"):
        if columns != Columns():
            raise DocumentError(f"{where} is not a JSON object, so it has no fields.")
        return text, None, None
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        reason = f"{error.msg.removesuffix(' starting at')} at character {error.pos + 1}"
        raise DocumentError(f"{where} is not JSON: {reason}.") from error
    except RecursionError as error:
        raise DocumentError(f"{where} has objects within objects, too many to read.") from error
    except ValueError as error:
        raise DocumentError(f"{where} is not JSON: {json_fault(error)}.") from error
    name = columns.text or "text"
    if name not in row:
        raise DocumentError(
            f"{where} has no field {name!r}; it has: {', '.join(map(str, row))}. Name the field "
            "with --text-column."
        )
    if columns.time is not None and columns.time not in row:
        raise DocumentError(f"{where} has no field {columns.time!r}.")
    value, id = row[name], row.get("id")
    if value is not None and not isinstance(value, str):
        raise DocumentError(f"{where} has a text that is {type(value).__name__}, not a string.")
    times = (columns.time,) if columns.time is not None else _TIMES
    time = next((row[field] for field in times if row.get(field) is not None), None)
    return value, time, None if id is None else str(id)


def add_line(
    batch: Batch, line: bytes, columns: Columns, where: str, problem: Problem, *, first: bool
) -> None:
    """Add a line; one that cannot be read is an error at the beginning, and counted later."""
    if not line.strip():
        batch.add(None)
        return
    if first and is_header(line, columns):
        raise DocumentError(f"{where} looks like the header of a CSV file{NO_TABLES}")
    try:
        batch.add(*parse_line(line, columns, where), where)
    except DocumentError as error:
        if first:
            raise
        problem(str(error))
        batch.add(None)
