"""Look at a file in a separate process: ``python -m newfound.serve.preview WHAT FILE NAME``.

A hostile file can at most end this process: its memory is limited, and the service limits its time.
An error is one sentence on standard error, and exit status 1.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import sys
from itertools import islice
from pathlib import Path
from typing import Any

__all__ = ["TIME_LIMIT", "check", "preview"]

TIME_LIMIT = 60.0  # seconds
_MEMORY = 4 << 30
_ROWS = 5
_COLUMNS = 60
_HEAD = 1 << 20  # bytes
_CELL = 200  # characters
_NO_TEXT = {
    b"PK\x03\x04": "a spreadsheet, a document or another packed file",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document",
    b"%PDF": "a PDF file",
}


def preview(path: Path, name: str) -> dict[str, Any]:
    """Return the format, the columns and the first rows of a file, and the column of its texts."""
    from newfound.text.readers import TABLES, format_of

    format = format_of(str(path)) or "txt"
    head = b"" if format == "parquet" else _head(path)
    if kind := next((about for magic, about in _NO_TEXT.items() if head.startswith(magic)), None):
        raise ValueError(f"{name} is {kind}, not text; save it as .csv or .txt.")
    if format == "parquet":
        columns, rows = _parquet(path)
    elif format in ("jsonl", "json"):
        columns, rows = _json(head)
    elif format in TABLES:
        columns, rows = _csv(head, format, name)
    else:
        columns, rows = [], [[line] for line in islice(_lines(head), _ROWS)]
    shown = [[str("" if cell is None else cell)[:_CELL] for cell in row] for row in rows]
    return {
        "name": name,
        "format": format,
        "columns": [str(column)[:_CELL] for column in columns],
        "rows": shown,
        "text_column": "text" if "text" in columns else _longest(columns, shown),
    }


def check(path: Path, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read a file; return what was read and what was left out."""
    from newfound.text.documents import read_documents

    given = {key: value for key, value in options.items() if value is not None}
    if path.suffix in ("", ".gz") and "format" not in given:
        given["format"] = "txt"
    try:
        documents = read_documents(path, **given)
    except ValueError as error:
        raise ValueError(str(error).replace(str(path), name)) from error
    days = [day for day in documents.dates or () if day is not None]
    return {
        "documents": len(documents),
        "found": dict(documents.found),
        "summary": documents.summary().replace(str(path), name),
        "labels": len(set(documents.labels or ())),
        "first_day": min(days).isoformat() if days else None,
        "last_day": max(days).isoformat() if days else None,
    }


def _head(path: Path) -> bytes:
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")  # noqa: SIM115
    try:
        with opened as file:
            return file.read(_HEAD)
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"The file is not a complete gzip file: {error}.") from error


def _lines(head: bytes) -> list[str]:
    from newfound.text.formats import encoding_of

    text = head.decode(encoding_of(head) or "utf-8", "replace").removeprefix("\ufeff")
    return [line for line in text.split("\n") if line.strip()]


def _csv(head: bytes, format: str, name: str) -> tuple[list[str], list[list[Any]]]:
    from newfound.text.formats import csv_fault

    lines = _lines(head)
    if not lines:
        return [], []
    delimiter = "\t" if format == "tsv" else ","
    if delimiter == "," and "," not in lines[0]:
        delimiter = next((one for one in ";\t" if one in lines[0]), ",")
    csv.field_size_limit(_HEAD)
    rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter)
    found: list[list[str]] = []
    try:
        found.extend(islice(rows, _ROWS + 1))
    except csv.Error as error:
        where = f"{name}, row {len(found) + 1},"
        raise ValueError(f"{where} is malformed: {csv_fault(error)}.") from error
    return found[0][:_COLUMNS], [row[:_COLUMNS] for row in found[1:]]


def _json(head: bytes) -> tuple[list[str], list[list[Any]]]:
    from newfound.text.formats import json_kind

    text = "\n".join(_lines(head))
    rows: list[Any] = []
    if json_kind(text) == "array":
        decoder, place = json.JSONDecoder(), text.index("[") + 1
        while len(rows) < _ROWS:
            while place < len(text) and text[place] in ", \t\r\n":
                place += 1
            try:
                row, place = decoder.raw_decode(text, place)
            except (ValueError, RecursionError):
                break
            rows.append(row)
    else:
        for line in text.split("\n")[:_ROWS]:
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError):
                break
    columns = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
    columns = columns[:_COLUMNS]
    if not columns:
        return [], [[row] for row in rows]
    return columns, [
        [row.get(column) for column in columns] for row in rows if isinstance(row, dict)
    ]


def _parquet(path: Path) -> tuple[list[str], list[list[Any]]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ValueError("Parquet needs pyarrow: pip install 'newfound[parquet]'") from error
    try:
        file = parquet.ParquetFile(path)
        columns = [str(column) for column in file.schema_arrow.names][:_COLUMNS]
        batch = next(file.iter_batches(batch_size=_ROWS, columns=columns), None)
        rows = [] if batch is None else batch.to_pylist()
    except (OSError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"The file is not a complete Parquet file: {reason}") from error
    return columns, [[row[column] for column in columns] for row in rows]


def _longest(columns: list[Any], rows: list[list[str]]) -> str | None:
    """Return the column with the longest cells: a proposal that a person can change."""
    lengths = {
        column: sum(len(row[place]) for row in rows if place < len(row))
        for place, column in enumerate(columns)
    }
    return max(lengths, key=lengths.__getitem__) if lengths else None


def _model(path: Path, name: str) -> str:
    from newfound.models import load
    from newfound.serve.library import kind_of

    try:
        return kind_of(load(path))
    except ValueError as error:
        raise ValueError(str(error).replace(str(path), name)) from error


def _limit() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main(what: str, file: str, name: str, options: str = "{}") -> None:
    """Print what was found as JSON, or the kind of a model."""
    _limit()
    path = Path(file)
    try:
        if what == "preview":
            print(json.dumps(preview(path, name)))
        elif what == "check":
            print(json.dumps(check(path, name, json.loads(options))))
        else:
            print(_model(path, name))
    except (OSError, ValueError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        sys.stdout.flush()
        os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
