"""Look at a file in a separate process: ``python -m newfound.serve.preview WHAT FILE NAME``.

A hostile file can at most end this process: its memory is limited, and the service limits its time.
An error is one sentence on standard error, and exit status 1.
"""

from __future__ import annotations

import json
import os
import sys
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
    from newfound.text.formats import format_of_name
    from newfound.text.records import DocumentError
    from newfound.text.source import Reader, every_column

    format, problem = format_of_name(path.name) or "txt", None
    reader = Reader(str(path), shown=name, most=_HEAD, keep=every_column)
    rows: list[Any] = []
    try:
        with reader.errors():
            for record in reader.records(format):
                row = record.others or record.text or ""
                if not isinstance(row, str) or row.strip():
                    rows.append(row)
                if len(rows) == _ROWS:
                    break
    except DocumentError as error:
        problem = error
    for magic, kind in _NO_TEXT.items():
        if reader.beginning.startswith(magic):
            raise ValueError(f"{name} is {kind}, not text; save it as .csv or .txt.") from problem
    if problem is not None and not rows and len(reader.beginning) < _HEAD:
        raise problem
    tables = [row for row in rows if not isinstance(row, str)]
    columns = list(dict.fromkeys([*reader.names, *(key for row in tables for key in row)]))
    columns = columns[:_COLUMNS]
    cells = [[row.get(column) for column in columns] for row in tables]
    cells = cells if columns else [[row] for row in rows]
    shown = [[str("" if cell is None else cell)[:_CELL] for cell in row] for row in cells]
    lengths = {column: sum(len(row[i]) for row in shown) for i, column in enumerate(columns)}
    longest = max(lengths, key=lengths.__getitem__, default=None)  # a proposal
    return {
        "name": name,
        "format": format,
        "columns": [str(column)[:_CELL] for column in columns],
        "rows": shown,
        "text_column": "text" if "text" in columns else longest,
    }


def check(path: Path, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read a file; return what was read and what was left out."""
    from newfound.text.documents import collect
    from newfound.text.formats import format_of_name
    from newfound.text.records import Columns
    from newfound.text.source import Reader

    columns = (options.get(f"{kind}_column") for kind in ("text", "label", "date"))
    reader = Reader(str(path), Columns(*columns), options.get("encoding"), shown=name)
    documents = collect(reader, options.get("format") or format_of_name(path.name) or "txt")
    days = [day for day in documents.dates or () if day is not None]
    return {
        "documents": len(documents),
        "found": dict(documents.found),
        "summary": documents.summary(),
        "labels": len(set(documents.labels or ())),
        "first_day": min(days).isoformat() if days else None,
        "last_day": max(days).isoformat() if days else None,
    }


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
