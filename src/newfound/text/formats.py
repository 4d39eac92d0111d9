"""The formats of files: how they are told, and how JSON and Parquet are read."""

from __future__ import annotations

import glob
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, BinaryIO, cast

from newfound.text.records import DocumentError, column_name, column_names

__all__ = [
    "BATCH",
    "CHARACTERS",
    "FORMATS",
    "TABLES",
    "check_column",
    "check_text_column",
    "decode",
    "encoding_of",
    "files_of_dataset",
    "format_of",
    "format_of_name",
    "is_dataset",
    "is_table_header",
    "json_array",
    "json_fault",
    "json_kind",
    "open_parquet",
    "parquet_fault",
    "parse_json",
    "row_batches",
]

TABLES = ("csv", "tsv", "jsonl", "json", "parquet")
FORMATS = ("txt", *TABLES)

_SUFFIXES = {"ndjson": "jsonl", "pq": "parquet"}
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_SPACES = " \t\r\n"  # of JSON
_BEGIN = re.compile(r"\s*\[[ \t\r\n]*")
_SEPARATOR = re.compile(r"[ \t\r\n]*(,?)[ \t\r\n]*")
_NAME = re.compile(r"[\w .-]{0,40}")
_ARRAY = re.compile(r'\s*\[\s*(?:[{"\]]|$)')
_OBJECT = re.compile(r'\s*\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|$)')


def format_of(path: str) -> str | None:
    """Return "folder" or the format by the file name; None if the name does not tell.

    Examples
    --------
    >>> format_of("news.csv.gz"), format_of("news.ndjson"), format_of("news.log"), format_of("-")
    ('csv', 'jsonl', None, None)
    """
    return "folder" if path != "-" and os.path.isdir(path) else format_of_name(path)


def format_of_name(name: str) -> str | None:
    """Return the format by the name of a file that need not be there."""
    suffix = os.path.splitext(name.lower().removesuffix(".gz"))[1].removeprefix(".")
    suffix = _SUFFIXES.get(suffix, suffix)
    return suffix if suffix in FORMATS else None


def is_dataset(path: str) -> bool:
    """Return whether a path stands for many tables: a pattern, or a folder of Parquet files.

    Examples
    --------
    >>> is_dataset("data/*.parquet"), is_dataset("data.parquet"), is_dataset("-")
    (True, False, False)
    """
    if path == "-" or os.path.isfile(path):
        return False
    if os.path.isdir(path):
        files = files_of_dataset(path)
        return bool(files) and all(format_of(file) == "parquet" for file in files)
    return glob.has_magic(path)


def files_of_dataset(folder: str) -> list[str]:
    """Return the files of a folder, sorted; engines mark their own with a dot or an underscore."""
    found = []
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        found += [os.path.join(root, name) for name in files if not name.startswith((".", "_"))]
    return sorted(found)


def encoding_of(raw: bytes) -> str | None:
    """Return the encoding that a byte-order mark tells, or None; that of UTF-8 needs no telling.

    Examples
    --------
    >>> encoding_of("Größe".encode("utf-16")), encoding_of("Größe".encode())
    ('utf-16', None)
    """
    return next((name for mark, name in _BYTE_ORDER_MARKS.items() if raw.startswith(mark)), None)


def decode(raw: bytes, counts: Counter[str]) -> str:
    r"""Decode UTF-8, or else Windows-1252, or else Latin-1 for its five undefined bytes.

    Examples
    --------
    >>> counts = Counter()
    >>> decode("é".encode(), counts), decode(b"\xe9 \x80", counts), dict(counts)
    ('é', 'é €', {'recoded': 1})
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        counts["recoded"] += b"\0" not in raw
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


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


def parse_json(line: str, where: str, hint: str = "") -> Any:
    """Return the value of a line of JSON; else raise a `DocumentError`.

    Examples
    --------
    >>> parse_json('{"text": "a"', "a.jsonl, line 3,")
    Traceback (most recent call last):
    ...
    newfound.text.records.DocumentError: a.jsonl, line 3, is not JSON: Expecting ',' delimiter: \
column 13.
    """
    try:
        return json.loads(line.rstrip("\r\n"))
    except (ValueError, RecursionError) as error:
        reason = json_fault(error)
        if isinstance(error, json.JSONDecodeError):
            reason = f"{error.msg}: column {min(error.pos, len(line.rstrip())) + 1}"
        raise DocumentError(f"{where} is not JSON: {reason}{hint}.") from error


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
        return "line" if _OBJECT.match(head) else None


def json_array(text: str) -> Iterator[Any]:
    """Iterate over the items of a JSON array, as they are decoded."""
    decode, separator = json.JSONDecoder().raw_decode, _SEPARATOR.match
    place = cast(re.Match[str], _BEGIN.match(text)).end()
    comma = text[place : place + 1] != "]"
    while comma:
        item, place = decode(text, place)
        yield item
        between = cast(re.Match[str], separator(text, place))
        comma, place = bool(between[1]), between.end()
    if text[place : place + 1] != "]":
        raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
    rest = text[place + 1 :].lstrip(_SPACES)
    if rest:
        raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))


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

    `where` is what has the schema, for the message.

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
