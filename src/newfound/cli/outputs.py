"""Tables and models that commands write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from newfound.cli.console import say
from newfound.marks import counted

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.detection.detector import NoveltyDetector

__all__ = [
    "check_table_format",
    "columns_left_out",
    "save_model",
    "save_report",
    "which_table",
    "write_table",
]

_FORMATS = (".csv", ".json", ".jsonl", ".parquet")
_OTHER_TABLES = ("rules", "phrases", "themes")


class _Rows(Protocol):
    def to_csv(self, path: Path, *, force: bool) -> Any: ...
    def to_json(self, path: Path, *, force: bool) -> Any: ...
    def to_records(self) -> list[dict[str, Any]]: ...


class _Page(Protocol):
    def page(self) -> bytes: ...


def check_table_format(*outputs: Path | None) -> None:
    """Reject a table format that cannot be written."""
    for output in outputs:
        if output is not None and output.suffix.lower() not in _FORMATS:
            raise typer.BadParameter(
                f"--output {output} must end in {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}."
            )


def which_table(path: Path) -> str:
    """Return which table of a description a file gets, by the last word of its name.

    Examples
    --------
    >>> [which_table(Path(name)) for name in ("rules.csv", "2024-Themes.json", "new.csv")]
    ['rules', 'themes', 'words']
    """
    stem = path.stem.lower()
    return next((name for name in _OTHER_TABLES if stem.endswith(name)), "words")


def columns_left_out(names: Sequence[str]) -> str:
    """Return one sentence on columns of the documents that are not written."""
    which, have = ("column", "has") if len(names) == 1 else ("columns", "have")
    return (
        f"left out the {which} {', '.join(names)} of the documents, which {have} the name of a "
        f"column of the verdict; rename the {which} to keep {'it' if len(names) == 1 else 'them'}."
    )


def write_table(what: str, rows: _Rows, path: Path, *, force: bool, quiet: bool) -> None:
    """Write a table to the path given, and print a message."""
    _write_rows(rows, path, force=force)
    if not quiet:
        say(f"wrote the {what} to {path}.")


def save_report(made: _Page, path: Path | None, *, force: bool, quiet: bool) -> None:
    """Write the page of a run to the path given, if there is one, and print a message."""
    from newfound.show.page import write_page

    if path is None:
        return
    write_page(path, made.page(), force=force)
    if not quiet:
        say(f"wrote the report to {path}; open it in any browser.")


def save_model(
    what: str, model: Description | NoveltyDetector, path: Path | None, *, force: bool, quiet: bool
) -> None:
    """Write a model to the path given, if there is one, and print a message."""
    if path is not None:
        from newfound.models import save

        save(model, path, force=force)
        if not quiet:
            n = len(getattr(model, "held_back_texts_", ()))
            kept = f"; it holds {counted(n, 'known document')} in full (else: --forget-texts)"
            say(f"wrote the {what} to {path}{kept if n else ''}.")


def _write_rows(rows: _Rows, path: Path, *, force: bool) -> None:
    from newfound.storage.files import replacing
    from newfound.table import as_text

    suffix = path.suffix.lower()
    if suffix == ".csv":
        rows.to_csv(path, force=force)
    elif suffix == ".json":
        rows.to_json(path, force=force)
    elif suffix == ".jsonl":
        with replacing(path, force=force) as temporary, open(temporary, "wb") as file:
            for row in rows.to_records():
                line = json.dumps(row, ensure_ascii=False, default=as_text)
                file.write(line.encode() + b"\n")
    else:
        table = _arrow_table(rows.to_records())
        with replacing(path, force=force) as temporary:
            import_module("pyarrow.parquet").write_table(table, temporary)


def _arrow_table(records: list[dict[str, Any]]) -> Any:
    """Return rows as an Arrow table; the reasons have the type that those of a stream have."""
    from newfound.scale.arrow import reasons_type

    pa = import_module("pyarrow")
    names = list(records[0]) if records else []
    columns = {name: _arrow_array([record[name] for record in records]) for name in names}
    if records and "reasons" in names:
        columns["reasons"] = pa.array([record["reasons"] for record in records], reasons_type())
    return pa.table(columns)


def _arrow_array(values: list[Any]) -> Any:
    """Return values as an Arrow array; values of several types are text, and so are none."""
    from newfound.table import as_text

    pa = import_module("pyarrow")
    try:
        array = pa.array(values, pa.string() if all(v is None for v in values) else None)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        array = None
    if array is None or "struct<>" in str(array.type):  # Parquet has no objects without fields
        return pa.array([None if value is None else as_text(value) for value in values])
    return array
