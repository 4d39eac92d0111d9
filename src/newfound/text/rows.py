"""The other columns of tables: those beside the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

__all__ = ["MOST_COLUMNS", "Row", "by_column", "encodable"]

MOST_COLUMNS = 1_000  # JSON objects can each have names of their own

Row = Mapping[str, Any]


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


def encodable(value: Any) -> Any:
    r"""Return a value in which no text has half a surrogate pair, which JSON allows and UTF-8 not.

    Examples
    --------
    >>> encodable({"a": ["try", "\ud800"]})
    {'a': ['try', '?']}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {encodable(name): encodable(inner) for name, inner in value.items()}
    return [encodable(inner) for inner in value] if isinstance(value, list) else value
