"""What is asked of Arrow: the library itself, and columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from newfound.text.formats import check_text_column
from newfound.text.redaction import redact_all

__all__ = [
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
