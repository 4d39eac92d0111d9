"""Parquet files, one row group at a time, and the checks of the columns of an Arrow schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, BinaryIO

from newfound.text.records import DocumentError, column_name, column_names

__all__ = [
    "BATCH",
    "CHARACTERS",
    "check_column",
    "check_text_column",
    "open_parquet",
    "parquet_fault",
    "row_batches",
]

_READ_AHEAD = 1 << 20  # bytes of a column
BATCH = 10_000  # rows, at most
CHARACTERS = 4_000_000  # of a batch; of long documents it has fewer


def open_parquet(stream: BinaryIO, name: str) -> Any:
    """Return the Parquet file of a stream that can seek."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise DocumentError(
            f"Reading {name} needs pyarrow: pip install 'newfound[parquet]'"
        ) from error
    try:
        # Without both options, the compressed texts of a whole row group are held.
        return parquet.ParquetFile(stream, pre_buffer=False, buffer_size=_READ_AHEAD)
    except (OSError, ValueError, TypeError, NotImplementedError) as error:
        raise DocumentError(
            f"{name} is not a complete Parquet file: {parquet_fault(error)}."
        ) from error


def row_batches(file: Any, group: int, columns: Sequence[str]) -> Iterator[Any]:
    """Iterate over the record batches of a row group, of some columns."""
    metadata = file.metadata.row_group(group)
    chunks = (metadata.column(i) for i in range(metadata.num_columns))
    length = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema in columns)
    few = max(CHARACTERS * metadata.num_rows // max(length, 1), 1)
    batches: Iterator[Any] = file.iter_batches(
        min(BATCH, few), row_groups=[group], columns=list(columns)
    )
    return batches


def parquet_fault(error: Exception) -> str:
    """Return what an error of Arrow says, in one line."""
    return " ".join(str(error).split())[:200].rstrip(".")


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
    types = import_module("pyarrow.types")
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return str(kind) in ("string", "large_string", "string_view", "null")
