"""Tables made of rows, for results that are collected row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.table import Table

__all__ = ["table_of"]


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of rows; its columns are the keys, in the order of their first appearance.

    Parameters
    ----------
    rows : sequence of mapping
        The rows. A row need not have all keys. None counts as missing.

    Returns
    -------
    Table
        Missing numbers are nan, other missing values None.

    Examples
    --------
    >>> table_of([{"scorer": "ours", "AUROC": 0.5}, {"scorer": "theirs"}]).to_records()
    [{'scorer': 'ours', 'AUROC': 0.5}, {'scorer': 'theirs', 'AUROC': None}]
    """

    def column(name: str) -> NDArray[Any]:
        values = [row.get(name) for row in rows]
        if all(isinstance(value, int | float) for value in values):
            return np.array(values)
        if all(value is None or isinstance(value, int | float) for value in values):
            return np.array([np.nan if value is None else value for value in values], float)
        objects = np.empty(len(values), dtype=object)
        objects[:] = values
        return objects

    return Table({name: column(name) for name in dict.fromkeys(key for row in rows for key in row)})
