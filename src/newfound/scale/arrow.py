"""What is asked of Arrow: the library itself, columns of text, and errors that name the column."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from newfound.text.records import DocumentError, column_name, column_names
from newfound.text.redaction import redact_all

__all__ = [
    "check_column",
    "check_text_column",
    "pyarrow",
    "reasons_type",
    "redact_batch",
    "rows_with_text",
    "texts_of",
]


def pyarrow(module: str = "") -> Any:
    """Return pyarrow, or one of its modules; without it, say how to install it."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError(
            "newfound.scale and --stream need pyarrow: pip install 'newfound[scale]'"
        ) from error


def reasons_type() -> Any:
    """Return the type of the reasons of a document: words, contributions, and where seen.

    Without it, pyarrow before 21 sorts the fields by name, and reasons that are all empty have no
    type.
    """
    pa = pyarrow()
    word = [("word", pa.string()), ("contribution", pa.float64()), ("seen", pa.string())]
    return pa.list_(pa.struct(word))


def check_text_column(schema: Any, name: str, where: str) -> None:
    """Raise a `DocumentError` unless a schema has one column of this name, and it holds text.

    Parameters
    ----------
    schema : pyarrow.Schema
        The columns.
    name : str
        The column that has to hold text.
    where : str
        What has the schema, for the message.

    Examples
    --------
    >>> import pyarrow as pa
    >>> check_text_column(pa.schema([("text", pa.int64())]), "text", "a.parquet")
    Traceback (most recent call last):
    ...
    newfound.text.records.DocumentError: The column 'text' of a.parquet holds int64, not text.
    """
    kind = schema.field(check_column(schema, name, where)).type
    if not _is_text(kind):
        raise DocumentError(f"The column {column_name(name)} of {where} holds {kind}, not text.")


def check_column(schema: Any, name: str, where: str) -> int:
    """Return the place of the one column of this name; else raise a `DocumentError`."""
    places: list[int] = schema.get_all_field_indices(name)
    shown = column_name(name)
    if not places:
        raise DocumentError(f"{where} has no column {shown}; it has: {column_names(schema.names)}.")
    if len(places) > 1:
        raise DocumentError(f"{where} has several columns called {shown}; rename them.")
    return places[0]


def _is_text(kind: Any) -> bool:
    types = pyarrow("types")
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    checks = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
    return any(check(kind) for check in checks)


def texts_of(batch: Any, name: str) -> list[str | None]:
    """Return a column of text as a list; None for a missing value."""
    check_text_column(batch.schema, name, "The batch")
    texts: list[str | None] = batch.column(batch.schema.get_field_index(name)).to_pylist()
    return texts


def rows_with_text(texts: Sequence[str | None]) -> list[int]:
    """Return the places of texts that are neither missing nor blank.

    Examples
    --------
    >>> rows_with_text(["a", None, " ", "b"])
    [0, 3]
    """
    return [place for place, text in enumerate(texts) if text and not text.isspace()]


def redact_batch(batch: Any, name: str) -> Any:
    """Return a record batch with the texts of a column redacted; see `newfound.redact`.

    Examples
    --------
    >>> redact_batch(pyarrow().record_batch({"text": ["room 12", None]}), "text").to_pydict()
    {'text': ['room [#]', None]}
    """
    place = batch.schema.get_field_index(name)
    texts = pyarrow().array(redact_all(texts_of(batch, name)), batch.schema.field(place).type)
    return batch.set_column(place, batch.schema.field(place), texts)
