"""Batches of documents that come, and how a line becomes a document.

A line is read as in a file that is read whole, but for two reasons there are differences. What
comes next is not known: a line is JSON if it begins with a brace, and the column with the text is
never guessed. And a stream goes on: a line that cannot be read is told and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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
from newfound.text.source import MAX_DOCUMENT_BYTES

__all__ = ["NO_TABLES", "SIZE", "Batch", "Problem", "add_line"]

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
        self,
        text: str | None,
        time: Any = None,
        id: str | None = None,
        place: str = "A document",
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

    Parameters
    ----------
    batch : Batch
        What the line is added to.
    line : bytes
        A JSON object, or plain text.
    columns : Columns
        The fields with the text and, as `date`, with the time; None for the usual ones.
    where : str
        The place of the line, for messages.
    problem : callable
        Called with a sentence for a line that cannot be read.
    first : bool
        Whether the source begins with this line.
    time : object
        The time of a document that has none of its own.

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
