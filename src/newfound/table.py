"""Tables of results: arrays by column, exported to frames, files and notebooks."""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import json
import math
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.checks import check_count
from newfound.marks import escaped, visible
from newfound.storage.files import replacing

__all__ = ["AsTable", "Table", "as_text", "csv_row", "guard_formula", "jsonable"]

_ROWS_SHOWN = 10

# A spreadsheet evaluates a cell that begins with one of these, ASCII or full-width, even after
# white space and characters that are not shown. show/static/table.js has the same two classes.
_UNSEEN = (
    r"\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u180e\u2000-\u200f"
    r"\u2028-\u202f\u205f-\u206f\u3000\ufe00-\ufe0f\ufeff\uffa0"
)
_FORMULA = re.compile(rf"[\t\r\n]|[{_UNSEEN}]*[=+\-@\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+\-]?[0-9]+(?:[.,][0-9]+)*")


class Table:
    """Columns of equal length, each an array.

    Parameters
    ----------
    columns : mapping of str to array
        The columns by their names.

    Examples
    --------
    >>> table = Table({"word": np.array(["ball", "scrum"]), "score": np.array([0.5, np.nan])})
    >>> len(table), table.columns, table["score"].tolist()
    (2, ('word', 'score'), [0.5, nan])
    >>> table.to_records()
    [{'word': 'ball', 'score': 0.5}, {'word': 'scrum', 'score': None}]
    >>> print(table.to_csv(), end="")
    word,score
    ball,0.5
    scrum,
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._data = dict(columns)
        if len({len(column) for column in self._data.values()}) > 1:
            raise ValueError("The columns of a table must have the same length.")

    @classmethod
    def from_records(cls, rows: Iterable[Mapping[str, Any]], columns: Iterable[str] = ()) -> Self:
        """Return the table of rows of plain data.

        Parameters
        ----------
        rows : iterable of mapping
            The rows, all with the same columns.
        columns : iterable of str
            The columns if there are no rows.

        Examples
        --------
        >>> Table.from_records([{"word": "ball", "n": 3}, {"word": "try", "n": 5}])["n"].tolist()
        [3, 5]
        """
        given = list(rows)
        names = given[0] if given else columns
        return cls({name: _column([row[name] for row in given]) for name in names})

    @classmethod
    def stacked(cls, name: str, tables: Mapping[str, Table]) -> Self:
        """Return the rows of several tables of the same columns, after a column that says whose.

        Examples
        --------
        >>> one = Table({"word": np.array(["ball", "try"])})
        >>> Table.stacked("side", {"known": one, "novel": one.take(slice(1))})["side"].tolist()
        ['known', 'known', 'novel']
        """
        parts = list(tables.values())
        whose = np.repeat(np.array(list(tables), dtype=object), [len(part) for part in parts])
        columns = {
            column: np.concatenate([part[column] for part in parts]) for column in parts[0].columns
        }
        return cls({name: whose, **columns})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._data)

    def __len__(self) -> int:
        return len(next(iter(self._data.values()), ()))

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column by its name."""
        try:
            return self._data[column]
        except KeyError:
            names = ", ".join(self._data)
            raise KeyError(f"There is no column {column!r}; there are: {names}.") from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows, each a dict."""
        return iter(self.to_records())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self.columns == other.columns and self.to_records() == other.to_records()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [
            [" ".join(visible(cell).split("\n")) for cell in line]
            for line in (self.columns, *self._head())
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*shown, *self._more()])

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, for a notebook."""
        lines = ["".join(f"<th>{escaped(name)}</th>" for name in self.columns)]
        lines += ["".join(f"<td>{escaped(cell)}</td>" for cell in row) for row in self._head(200)]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        more = "".join(f"<p>{line}</p>" for line in self._more())
        return f'<div class="newfound-table"><table>{body}</table>{more}</div>'

    def _head(self, width: int = 30) -> list[list[str]]:
        """Return the cells of the first rows as short texts."""
        rows = self.take(slice(_ROWS_SHOWN)).to_records()
        return [[_short(value, width) for value in row.values()] for row in rows]

    def _more(self) -> list[str]:
        hidden = len(self) - _ROWS_SHOWN
        return [f"... {hidden:,} more rows"] if hidden > 0 else []

    def take(self, rows: NDArray[Any] | slice) -> Self:
        """Return the table of these rows: a slice, numbers, or a Boolean array."""
        return type(self)({name: column[rows] for name, column in self._data.items()})

    def top(self, n: int = 20, by: str = "score", *, ascending: bool = False) -> Self:
        """Return the n rows with the greatest values of a column, or the smallest.

        Parameters
        ----------
        n : int, default=20
            The number of rows.
        by : str, default="score"
            The column; rows where it is nan are left out. Ties keep their order.
        ascending : bool, default=False
            Return the smallest values instead.

        Returns
        -------
        Table
        """
        check_count("n", n, "rows", 0)
        values = self[by]
        rows = np.arange(len(values))
        if values.dtype.kind == "f":
            rows = rows[~np.isnan(values)]
        _, ranks = np.unique(values[rows], return_inverse=True)
        order = np.argsort(ranks if ascending else -ranks, kind="stable")
        return self.take(rows[order[:n]])

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as dicts of plain data; a number that is not finite is None."""
        lists = [list(map(jsonable, column.tolist())) for column in self._data.values()]
        return [dict(zip(self._data, row, strict=True)) for row in zip(*lists, strict=True)]

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame."""
        return _library("pandas").DataFrame(self._plain())

    def to_polars(self) -> Any:
        """Return a polars DataFrame."""
        return _library("polars").DataFrame(self._plain())

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> str | None:
        """Write a CSV file in UTF-8; without a path, return its text.

        The file is written completely or not at all, and an existing one is replaced only with
        `force`.

        A number that is not finite is left empty; several values in a cell are separated by
        ``|``. A text that a spreadsheet would evaluate gets an apostrophe; see `guard_formula`.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(guard_formula, self.columns))
        for row in self.to_records():
            writer.writerow(csv_row(row.values()))
        return _written(text.getvalue(), path, force=force)

    def to_json(
        self, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> str | None:
        """Write a JSON file, a list of rows; without a path, return its text.

        The file is written completely or not at all, and an existing one is replaced only with
        `force`.
        """
        records = self.to_records()
        rows = ",\n".join(json.dumps(row, ensure_ascii=False, default=as_text) for row in records)
        return _written(f"[\n{rows}\n]\n" if rows else "[]\n", path, force=force)

    def _plain(self) -> dict[str, Any]:
        return {
            name: [list(v) if isinstance(v, tuple) else v for v in column.tolist()]
            if column.dtype == object
            else column
            for name, column in self._data.items()
        }


class AsTable:
    """Something that can be read as a table: `to_table` returns it, the others export it."""

    @abstractmethod
    def to_table(self) -> Table:
        """Return it as a table."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as dicts of plain data; see `Table.to_records`."""
        return self.to_table().to_records()

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame."""
        return self.to_table().to_pandas()

    def to_polars(self) -> Any:
        """Return a polars DataFrame."""
        return self.to_table().to_polars()

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> str | None:
        """Write a CSV file in UTF-8, or return its text; see `Table.to_csv`."""
        return self.to_table().to_csv(path, force=force)

    def to_json(
        self, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> str | None:
        """Write a JSON file, or return its text; see `Table.to_json`."""
        return self.to_table().to_json(path, force=force)

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


def jsonable(value: Any) -> Any:
    """Return a value as JSON can hold it; a number that is not finite becomes None."""
    kind = type(value)  # most values are of these kinds; the checks below take longer
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is dict:
        return {key: jsonable(inner) for key, inner in value.items()}
    if kind is tuple or kind is list:
        return [jsonable(inner) for inner in value]
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: jsonable(inner) for key, inner in value.items()}
    if isinstance(value, bytes):
        return as_text(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [jsonable(inner) for inner in value]
    return value


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"This needs {name}: pip install {name}") from error


def _written(text: str, path: str | os.PathLike[str] | None, *, force: bool) -> str | None:
    if path is None:
        return text
    with replacing(path, force=force) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
    return None


def guard_formula(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would evaluate as a formula.

    These are texts that begin with ``=``, ``+``, ``-`` or ``@``, also in full width and after
    white space, control characters and invisible characters, and texts that begin with a tab or
    a line break. A number with a sign is no formula.

    Examples
    --------
    >>> [guard_formula(text) for text in ("=1+1", " @SUM(A1)", "＝1", "a=b", "-12.50")]
    ["'=1+1", "' @SUM(A1)", "'＝1", 'a=b', '-12.50']
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def csv_row(values: Iterable[Any]) -> list[Any]:
    """Return the values of a row as they go into a CSV file; see `Table.to_csv`.

    Examples
    --------
    >>> csv_row([["a", "b"], 0.5, "=1+1"])
    ['a|b', 0.5, "'=1+1"]
    """
    return [_cell(value) for value in values]


def as_text(value: Any) -> str:
    """Return a value as text: dates as ISO 8601 has them, lists, objects and Booleans as JSON.

    Bytes are taken for UTF-8; what is not is escaped.

    Examples
    --------
    >>> import datetime
    >>> as_text(datetime.date(2003, 4, 1)), as_text({"a": [1]}), as_text("try")
    ('2003-04-01', '{"a": [1]}', 'try')
    """
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict | list | bool):
        return json.dumps(value, ensure_ascii=False, default=as_text)
    return str(value)


def _cell(value: Any) -> Any:
    """Return a value as it goes into a CSV file."""
    if isinstance(value, list):
        value = "|".join(map(as_text, value))
    elif isinstance(value, dict | bytes | datetime.date | datetime.time):
        value = as_text(value)
    return guard_formula(value) if isinstance(value, str) else value


def _short(value: Any, width: int) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    text = "" if value is None else str(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _column(values: list[Any]) -> NDArray[Any]:
    """Return the array of a column; lists, texts and mixed values are objects."""
    kinds = {type(value) for value in values}
    if kinds <= {float, type(None)} and float in kinds:
        return np.array([np.nan if value is None else value for value in values])
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
