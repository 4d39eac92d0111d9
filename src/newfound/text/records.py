"""Records: a document as it was read, and the columns of a table that it is made of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, islice
from typing import Any, NamedTuple

from newfound.storage.files import one_line
from newfound.text.dates import parse_date

__all__ = [
    "MOST_COLUMNS",
    "ROWS_LOOKED_AT",
    "Columns",
    "DocumentError",
    "Record",
    "Row",
    "as_text",
    "by_column",
    "checked_guess",
    "choose_columns",
    "column_name",
    "column_names",
    "is_missing",
    "make_record",
    "records_with_text",
]

ROWS_LOOKED_AT = 200  # to see whether a column that was guessed holds text
MOST_COLUMNS = 1_000  # JSON objects can each have names of their own
_LONGEST_NAME, _LONGEST_LIST, _NAMES_SHOWN = 40, 100, 30  # characters, and columns, in a message
_WORD = re.compile(r"\b[^\W\d_]+\b")
_TIME = re.compile(r"\d[\d\s.:/+-]*T[\d\s.:/+-]*Z?")

Row = Mapping[str, Any]


class DocumentError(ValueError):
    """Raised for documents that cannot be read; the message says which, why, and what to do."""


class Record(NamedTuple):
    """A document as it was read; a missing text is None."""

    id: str
    text: str | None
    label: str | None = None
    date: date | None = None
    dated: bool = False
    others: Row | None = None  # the other columns of its row, if they are kept


class Columns(NamedTuple):
    """Names of the columns with the texts, labels, dates and ids; None if there is none."""

    text: Any = None
    label: Any = None
    date: Any = None
    id: Any = None


def column_name(name: Any) -> str:
    """Return the name of a column for a message: a file can have any name there."""
    return one_line(repr(name), _LONGEST_NAME)


def column_names(names: Sequence[Any]) -> str:
    """Return the names of columns for a message, as many as fit.

    Examples
    --------
    >>> column_names(["id", "text"]), column_names([])
    ('id, text', 'none')
    """
    shown = ", ".join(one_line(str(name), _LONGEST_NAME) for name in names[:_NAMES_SHOWN])
    return one_line(shown, _LONGEST_LIST) + (", …" if len(names) > _NAMES_SHOWN else "") or "none"


def choose_columns(
    names: Sequence[Any], strings: Iterable[Any], given: Columns, where: str
) -> Columns:
    """Return the columns to read; the text column is guessed only if one column has strings."""
    shown = column_names(names)
    for name in (given.text, given.label, given.date):
        if name is not None and name not in names:
            raise DocumentError(f"{where} has no column {column_name(name)}; it has: {shown}.")
    text = given.text
    if text is None:
        others = [name for name in strings if name not in ("id", given.label, given.date)]
        text = "text" if "text" in names else others[0] if len(others) == 1 else None
    if text is None:
        raise DocumentError(
            f"Which column of {where} holds the text? It has: {shown}. Name one with text_column "
            "(--text-column)."
        )
    if list(names).count(text) > 1:
        raise DocumentError(f"{where} has several columns called {column_name(text)}; rename them.")
    has_id = "id" in names and "id" not in (text, given.label, given.date)
    return Columns(text, given.label, given.date, "id" if has_id else None)


def checked_guess(
    records: Iterator[Record], names: Sequence[Any], guess: Any, where: str, n: int = ROWS_LOOKED_AT
) -> Iterator[Record]:
    """Return the same records, or raise an error if the column that was guessed holds no text."""
    head = list(islice(records, n))
    texts = [record.text for record in head if record.text]
    if texts and not any(map(_looks_like_text, texts)):
        raise DocumentError(
            f"No column of {where} looks like text: {column_name(guess)}, the only one that could "
            f"be, has no words. It has: {column_names(names)}. To read a column anyway, name it "
            "with text_column (--text-column)."
        )
    return chain(head, records)


def _looks_like_text(value: str) -> bool:
    """Return whether a value has a word, and is no time; letters beside digits are a code."""
    return _WORD.search(value) is not None and _TIME.fullmatch(value.strip()) is None


def make_record(
    row: Mapping[Any, Any],
    columns: Columns,
    place: str,
    where: str,
    keep: Callable[[str], bool] | None = None,
) -> Record:
    """Return the record of a row; a blank row of a CSV file is an empty mapping.

    `keep` says of the name of another column whether the record has it.
    """
    label = row.get(columns.label) if columns.label is not None else None
    if row and columns.label is not None and (is_missing(label) or label == ""):
        raise DocumentError(
            f"{where} has no label in {column_name(columns.label)}; label it or leave it out."
        )
    name = row.get(columns.id) if columns.id is not None else None
    text = as_text(row.get(columns.text), where)
    return Record(
        place if is_missing(name) or name == "" else str(name),
        text,
        None if label is None else str(label),
        _date(row.get(columns.date), where) if columns.date is not None else None,
        columns.date is not None,
        {_encodable(n): _encodable(v) for n, v in row.items() if n != columns.text and keep(n)}
        if keep is not None and row
        else None,
    )


def records_with_text(records: Iterable[Record], counts: Counter[str]) -> Iterator[Record]:
    """Iterate over the records that have text, and count the others."""
    for record in records:
        text = record.text
        if not text or text.isspace():
            counts["blank" if text else "empty"] += 1
            continue
        if "\0" in text:
            counts["non-text"] += 1
            continue
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                counts["repaired"] += 1
                record = record._replace(text=text.encode("utf-8", "replace").decode())
        yield record


def _encodable(value: Any) -> Any:
    """Return a value in which no text has half a surrogate pair, as JSON allows."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(name): _encodable(inner) for name, inner in value.items()}
    return [_encodable(inner) for inner in value] if isinstance(value, list) else value


def by_column(rows: Sequence[Row]) -> dict[str, tuple[Any, ...]]:
    """Return rows as columns, in the order in which their names occur; None where one is missing.

    Of more than `MOST_COLUMNS` names, the first ones are taken.

    Examples
    --------
    >>> by_column([{"id": 1}, {"id": 2, "day": "Monday"}])
    {'id': (1, 2), 'day': (None, 'Monday')}
    """
    names = islice(dict.fromkeys(name for row in rows for name in row), MOST_COLUMNS)
    return {name: tuple(row.get(name) for row in rows) for name in names}


def _date(value: object, where: str) -> date | None:
    try:
        return parse_date(value, where=where)
    except ValueError as error:
        raise DocumentError(str(error)) from error


def as_text(value: object, where: str) -> str | None:
    """Return a text, or None for a missing value; anything else is a `DocumentError`."""
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return None
    hint = "decode it" if isinstance(value, bytes) else "convert it or leave it out"
    raise DocumentError(f"{where} is {type(value).__name__}, not a str; {hint}.")


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, or the NA or NaT of pandas."""
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")
