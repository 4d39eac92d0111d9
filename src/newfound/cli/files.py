"""What commands compare, and the tables, models and reports that they write."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from newfound.cli.console import say
from newfound.cli.options import Format, reading_options
from newfound.marks import counted
from newfound.text.dates import COLUMN, unit_or_column
from newfound.text.formats import is_dataset

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.detection.detector import NoveltyDetector
    from newfound.runs import Described, DescribedPeriods, Detected
    from newfound.table import Table

__all__ = [
    "Inputs",
    "check_table_format",
    "choose_inputs",
    "columns_left_out",
    "options_of",
    "save_model",
    "save_report",
    "which_table",
    "write_table",
]

_FOLDER = "folder"
_FORMATS = (".csv", ".json", ".jsonl", ".parquet")
_OTHER_TABLES = ("rules", "phrases", "themes", "documents")


@dataclass(frozen=True)
class Inputs:
    """The inputs, and how they are compared.

    Attributes
    ----------
    paths : tuple of str
        Known and novel documents, one input that is split, or several piles.
    columns : tuple of str or None
        The text column of each, if it has its own.
    names : tuple of str
        The names of the piles, if there are several.
    by : str or None
        The length of a period, or the column of the labels; None for two sides.
    labels : bool
        Whether each label is compared with all others.
    """

    paths: tuple[str, ...]
    columns: tuple[str | None, ...]
    names: tuple[str, ...] = ()
    by: str | None = None
    labels: bool = False


def choose_inputs(
    known: str | None,
    novel: str | None,
    documents: str | None,
    piles: list[str],
    *,
    by: str | None,
    date_column: str | None,
    dates_from: str | None,
    columns: tuple[str | None, str | None],
    save: Path | None,
) -> Inputs:
    """Return the inputs; reject options that do not go together."""
    given = {"--dates-from": dates_from, "--by": by}
    if sum((bool(piles), documents is not None, bool(known or novel))) > 1:
        raise typer.BadParameter(
            "--documents, --pile, and --known with --novel are three ways to name documents; "
            "--documents replaces --known and --novel; use one way."
        )
    if documents is None:
        for option, value in given.items():
            if value is not None:
                raise typer.BadParameter(f"{option} splits one input; pass it as --documents.")
    if piles or by is not None:
        if save is not None:
            option = "--pile" if piles else "--by"
            raise typer.BadParameter(
                f"--save keeps one model, and {option} makes several; leave one out."
            )
        if any(columns):
            raise typer.BadParameter("--known-column and --novel-column are for two inputs.")
    if piles:
        return _piles(piles)
    if documents is None:
        return Inputs(_sides(known, novel), columns)
    if any(columns):
        raise typer.BadParameter("--documents is one input; use --text-column for its texts.")
    unit, column = (None, None) if by is None else unit_or_column(by)
    if unit is not None and date_column is None:
        raise typer.BadParameter(
            f"--by {unit} describes each {unit} and needs --date-column, the column with the "
            f"dates; for the values of a column called {unit}, use --by {COLUMN}{unit}."
        )
    if column is None and date_column is None:
        raise typer.BadParameter(
            "--documents needs --date-column, the column with the dates; or --by COLUMN, to "
            "compare the values of a column."
        )
    if not any(given.values()):
        raise typer.BadParameter("--documents needs --dates-from DAY, or --by month or COLUMN.")
    if column is not None and dates_from is not None:
        raise typer.BadParameter("--dates-from splits by dates, and --by COLUMN by its values.")
    return Inputs((documents,), (None,), by=unit or column, labels=column is not None)


def options_of(
    inputs: Inputs,
    text_column: str | None,
    format: Format | None,
    date_column: str | None,
) -> list[dict[str, Any]]:
    """Return the reading options of each input."""
    # A folder or pattern of tables is read as a table.
    paths = ["many.parquet" if is_dataset(path) else path for path in inputs.paths]
    options = reading_options(paths, inputs.columns, text_column, format, date_column)
    if inputs.labels and not inputs.names:
        (path,) = inputs.paths
        is_folder = path != "-" and os.path.isdir(path) and inputs.by == _FOLDER
        options[0]["label_column"] = None if is_folder else inputs.by
    return options


def _piles(given: list[str]) -> Inputs:
    named = [pile.partition("=") for pile in given]
    for name, equals, path in named:
        if not (name and equals and path):
            raise typer.BadParameter(f"--pile {name}: expected NAME=PATH, such as may=may.csv.")
    names, paths = [name for name, _, _ in named], [path for _, _, path in named]
    if len(paths) < 2 or len(set(names)) < len(names):
        raise typer.BadParameter("--pile is needed at least twice, each time with another name.")
    if paths.count("-") > 1:
        raise typer.BadParameter("--pile: only one pile can be standard input.")
    return Inputs(tuple(paths), (None,) * len(paths), tuple(names), "pile", True)


def _sides(known: str | None, novel: str | None) -> tuple[str, str]:
    if known is None or novel is None:
        missing = "--known" if known is None else "--novel"
        raise typer.BadParameter(
            f"{missing} is missing; pass --known and --novel, or --documents with --dates-from or "
            "--by, or --pile several times."
        )
    if known == novel:
        what = "standard input" if known == "-" else known
        raise typer.BadParameter(f"--known and --novel are the same: {what}.")
    return known, novel


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


def write_table(what: str, rows: Table, path: Path, *, force: bool, quiet: bool) -> None:
    """Write a table to the path given, and print a message."""
    _write_rows(rows, path, force=force)
    if not quiet:
        say(f"wrote the {what} to {path}.")


def save_report(
    made: Described | DescribedPeriods | Detected, path: Path | None, *, force: bool, quiet: bool
) -> None:
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
        from newfound.detection.detector import NoveltyDetector
        from newfound.models import save
        from newfound.show.sentences import calibration_sentence

        save(model, path, force=force)
        if quiet:
            return
        n = len(getattr(model, "held_back_texts_", ()))
        kept = f"; it holds {counted(n, 'known document')} in full (else: --forget-texts)"
        say(f"wrote the {what} to {path}{kept if n else ''}.")
        if isinstance(model, NoveltyDetector):
            say(calibration_sentence(model.n_documents_, *model.calibration_.interval))


def _write_rows(rows: Table, path: Path, *, force: bool) -> None:
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
