"""The other columns of tables: those beside the texts, labels and dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Row", "by_column"]

Row = Mapping[str, Any]


def by_column(rows: Sequence[Row]) -> dict[str, tuple[Any, ...]]:
    """Return rows as columns, in the order in which their names occur; None where one is missing.

    Examples
    --------
    >>> by_column([{"id": 1}, {"id": 2, "day": "Monday"}])
    {'id': (1, 2), 'day': (None, 'Monday')}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: tuple(row.get(name) for row in rows) for name in names}
