"""What the beginning of a file tells: its encoding, and whether it is JSON."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO, TypeVar, cast

__all__ = [
    "csv_fault",
    "encoding_of",
    "first_bytes",
    "is_table_header",
    "json_fault",
    "json_kind",
    "looks_like_text",
    "peekable",
    "with_head",
]

Item = TypeVar("Item")
_NAME = re.compile(r"[\w .-]{0,40}")

_BYTES = 1 << 16
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_ARRAY = re.compile(r'\s*\[\s*(?:[{"\]]|$)')
_WORD = re.compile(r"\b[^\W\d_]+\b")
_TIME = re.compile(r"\d[\d\s.:/+-]*T[\d\s.:/+-]*Z?")


def peekable(stream: BinaryIO) -> BinaryIO:
    """Return a stream with the same content of which the beginning can be read in advance."""
    if hasattr(stream, "peek"):
        return stream
    return cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream)))


def first_bytes(stream: BinaryIO) -> bytes:
    """Return what can be read in advance of a stream from `peekable`; of a pipe, what has come."""
    return cast(bytes, stream.peek(_BYTES))  # type: ignore[attr-defined]


def encoding_of(raw: bytes) -> str | None:
    """Return the encoding that a byte-order mark tells, or None; that of UTF-8 needs no telling.

    Examples
    --------
    >>> encoding_of("Größe".encode("utf-16")), encoding_of("Größe".encode())
    ('utf-16', None)
    """
    return next((name for mark, name in _BYTE_ORDER_MARKS.items() if raw.startswith(mark)), None)


def csv_fault(error: Exception) -> str:
    """Return what is wrong with a CSV table, from an error of the module csv."""
    what = str(error)
    if "new-line character" in what:  # the rest of this message is for programmers
        return "a carriage return is in a field without quotes"
    return what


def is_table_header(line: str, text_column: str | None = None) -> bool:
    """Return whether a line is the header of a table: several names, and that of the texts.

    Examples
    --------
    >>> [is_table_header(line) for line in ("id,text", "Text; Time", "text me, please")]
    [True, True, False]
    >>> is_table_header("id,message", "message")
    True
    """
    line = line.strip().removeprefix("\ufeff").lower()
    wanted = (text_column or "text").lower()
    for delimiter in ",;\t":
        names = [name.strip().strip('"') for name in line.split(delimiter)]
        named = all(map(_NAME.fullmatch, names)) and len(set(names)) == len(names)
        if len(names) > 1 and wanted in names and named:
            return True
    return False


def json_fault(error: Exception) -> str:
    """Return why JSON cannot be read, from an error of the module json, and what to do.

    Examples
    --------
    >>> json_fault(RecursionError("maximum recursion depth exceeded"))
    'it has objects within objects, too many to read; leave them out'
    """
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}: column {error.colno}"
    if isinstance(error, RecursionError):
        return "it has objects within objects, too many to read; leave them out"
    if isinstance(error, UnicodeError):
        return "it is not UTF-8"
    return "a number has thousands of digits; write it in quotation marks"  # no other error is left


def json_kind(head: str) -> str | None:
    r"""Return how a text begins: as a JSON "array", a "line" with a JSON object, or else None.

    Parameters
    ----------
    head : str
        The beginning of the text.

    Examples
    --------
    >>> [json_kind(head) for head in ('{"a": 1}\n{"a"', '[{"a": 1},', "[1] Smith, 2003", "Hi")]
    ['line', 'array', None, None]
    """
    head = head.removeprefix("\ufeff")
    if _ARRAY.match(head):
        return "array"
    line = head.strip().partition("\n")[0]
    if not line.startswith("{"):
        return None
    try:
        return "line" if isinstance(json.loads(line), dict) else None
    except (ValueError, RecursionError):
        # An object of several lines, or one that is longer than the beginning, still has a key.
        return "line" if re.match(r'\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|$)', head) else None


def looks_like_text(values: Iterable[str]) -> bool:
    """Return whether any of some values has a word, and is not a time.

    Letters beside digits are no word but a code, such as AB12.

    Examples
    --------
    >>> looks_like_text(["12.5", "2003-04-01T10:00Z"]), looks_like_text(["3", "a wicket"])
    (False, True)
    >>> looks_like_text(["AB12", "7F"]), looks_like_text(["雨が降る", "12"])
    (False, True)
    """
    return any(
        _WORD.search(value) is not None and _TIME.fullmatch(value.strip()) is None
        for value in values
    )


def with_head(items: Iterator[Item], n: int) -> tuple[list[Item], Iterator[Item]]:
    """Return the first items of an iterator, and an iterator over all of them."""
    head = list(islice(items, n))
    return head, chain(head, items)
