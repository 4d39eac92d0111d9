"""Dates of documents."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from datetime import date, datetime
from typing import Any

from newfound.storage.files import one_line

__all__ = ["UNITS", "Dates", "parse_date", "parse_dates", "parse_start", "unit_or_column"]

Dates = tuple[date | None, ...]
UNITS = ("day", "week", "month", "quarter", "year")
COLUMN = "column:"  # before the name of a column that is called like a unit
_SHOWN = 60  # characters of a value in a message
_MISSING = frozenset({"", "nan", "nat", "none", "null", "na", "n/a"})
_DATE = re.compile(
    r"(\d{4})(?:(\d\d)(\d\d)|([-/])(\d\d)(?:\4(\d\d))?)"
    r"(?:[T ]\d\d(?::?\d\d){0,2}(?:[.,]\d+)?\s*(?:Z|UTC|[+-]\d\d(?::?\d\d)?)?)?"
)


def unit_or_column(by: str) -> tuple[str | None, str | None]:
    """Return the length of a period, or the name of a column.

    Examples
    --------
    >>> unit_or_column("month"), unit_or_column("source"), unit_or_column("column:month")
    (('month', None), (None, 'source'), (None, 'month'))
    """
    return (by, None) if by in UNITS else (None, by.removeprefix(COLUMN))


def parse_dates(values: Iterable[Any]) -> Dates:
    """Return the day of each value.

    A value is a text in ISO form (``2003-04-01``, ``20030401``, ``2003-04``, or with a time,
    ``2003-04-01T09:30:00+10:00``), a `datetime.date` or `datetime.datetime`, or a numpy or pandas
    timestamp. ``2003/04/01`` is read too, and a month stands for its first day. The day is the one
    that the value names in its own time zone. None, nan, NaT and blank texts are missing dates.
    Numbers other than ``20030401`` are an error, and so are forms such as ``03/04/2003`` that mean
    different days in different countries.

    Parameters
    ----------
    values : iterable
        One value for each document.

    Returns
    -------
    tuple of datetime.date or None

    Examples
    --------
    >>> [str(day) for day in parse_dates(["2003-04-01", "2003-04-01T23:30:00-05:00", None])]
    ['2003-04-01', '2003-04-01', 'None']
    >>> parse_dates(["2003-04-01", "03/04/2003"])
    Traceback (most recent call last):
    ...
    ValueError: Row 2 has the date '03/04/2003'; write dates as YYYY-MM-DD, e.g. 2003-04-01.
    """
    if isinstance(values, str | bytes):
        raise ValueError(f"Expected several dates, got the single {values!r}; put it in a list.")
    known: dict[Any, date | None] = {}
    days = []
    for row, value in enumerate(values, start=1):
        if not isinstance(value, Hashable):
            days.append(parse_date(value, where=f"Row {row}"))
            continue
        if value not in known:
            known[value] = parse_date(value, where=f"Row {row}")
        days.append(known[value])
    return tuple(days)


def parse_date(value: Any, *, where: str = "The option") -> date | None:
    """Return the day of one value, None if it is missing; see `parse_dates`.

    `where` says where the value comes from, for the error.

    Examples
    --------
    >>> str(parse_date("2003-04"))
    '2003-04-01'
    """
    if type(value).__name__ in ("datetime64", "NaTType", "NAType"):
        value = str(value)[:10]
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, datetime | date):
        return date(value.year, value.month, value.day)
    if hasattr(value, "__index__") and 1000_01_01 <= int(value) <= 9999_12_31:
        value = str(int(value))
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _MISSING or text == "<NA>":
            return None
        day = _day_of_text(text)
        if day is not None:
            return day
    shown = one_line(repr(value), _SHOWN)
    raise ValueError(f"{where} has the date {shown}; write dates as YYYY-MM-DD, e.g. 2003-04-01.")


def parse_start(value: Any) -> date | None:
    """Return the first day of something, None if it is missing; a year stands for its first day.

    Examples
    --------
    >>> str(parse_start("2003")), str(parse_start("2003-04"))
    ('2003-01-01', '2003-04-01')
    """
    text = str(value).strip() if isinstance(value, str) or hasattr(value, "__index__") else ""
    if re.fullmatch(r"[1-9]\d{3}", text, re.ASCII):
        return date(int(text), 1, 1)
    return parse_date(value, where="The start")


def _day_of_text(text: str) -> date | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = match[1], match[2] or match[5], match[3] or match[6] or "01"
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
