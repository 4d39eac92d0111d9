"""Times of documents, and the length of a window: a number of documents or a span of time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

__all__ = ["Length", "format_time", "parse_length", "parse_time"]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_LENGTH = re.compile(r"(\d{1,12})\s*([smhdw]?)")
_SHOWN = 40  # characters of a time that cannot be read
_LAST = 253402300799.0  # the end of the year 9999


@dataclass(frozen=True)
class Length:
    """A number of documents, or of seconds if `timed`."""

    size: int
    timed: bool = False

    def __str__(self) -> str:
        if not self.timed:
            return f"{self.size:,} documents"
        number, unit = self._parts()
        name = {"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week"}[unit]
        return f"{number:,} {name}{'' if number == 1 else 's'}"

    def short(self) -> str:
        """Return it as `parse_length` reads it, such as 500 or 30d.

        Examples
        --------
        >>> Length(500).short(), Length(2592000, timed=True).short()
        ('500', '30d')
        """
        return "".join(map(str, self._parts())) if self.timed else str(self.size)

    def _parts(self) -> tuple[int, str]:
        """Return a number of the largest unit of time that divides it, and that unit."""
        unit = next(unit for unit in reversed(_UNITS) if self.size % _UNITS[unit] == 0)
        return self.size // _UNITS[unit], unit


def parse_length(value: Any, name: str = "every") -> Length:
    """Return the length that a number of documents or a text such as "1h" names.

    Units are s, m (minutes), h, d and w.

    Examples
    --------
    >>> parse_length(500), str(parse_length("36h")), str(parse_length("30d"))
    (Length(size=500, timed=False), '36 hours', '30 days')
    """
    if isinstance(value, Length):
        return value
    match = None if isinstance(value, bool) else _LENGTH.fullmatch(str(value).strip())
    if match is None or not 0 < int(match[1]) * _UNITS.get(match[2], 1) < 10**12:
        raise ValueError(
            f"{name}={value!r}: expected a number of documents such as 500, or a span of time such "
            "as 30m, 1h or 7d."
        )
    return Length(int(match[1]) * _UNITS.get(match[2], 1), timed=bool(match[2]))


def parse_time(value: Any, where: str = "A document") -> float | None:
    """Return a time in seconds since 1970, or None for a missing one.

    A time is a text in ISO form (``2003-03-20``, ``2003-03-20T05:34:00+03:00``), a number of
    seconds since 1970, or a `datetime`. Without a time zone it is in UTC.

    Examples
    --------
    >>> parse_time("1970-01-02"), parse_time("1970-01-01T01:00:00+01:00"), parse_time(None)
    (86400.0, 0.0, None)
    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if type(value).__name__ in ("datetime64", "Timestamp"):
        value = str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    given = value
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            value = _number(value)
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LAST:
        return float(value)
    raise ValueError(
        f"{where} has a time that cannot be read, {str(given)[:_SHOWN]!r}; write it as "
        "2003-03-20T05:34:00+00:00, as a day such as 2003-03-20, or in seconds since 1970."
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return math.inf
    return number if math.isfinite(number) else math.inf


def format_time(time: float | None) -> str | None:
    """Return a time in ISO form; a midnight as a day.

    Examples
    --------
    >>> format_time(86400.0), format_time(90000.0), format_time(None)
    ('1970-01-02', '1970-01-02T01:00:00Z', None)
    """
    if time is None:
        return None
    shown = datetime.fromtimestamp(time, UTC)
    if time % 86400 == 0:
        return shown.strftime("%Y-%m-%d")
    return shown.strftime("%Y-%m-%dT%H:%M:%SZ")
