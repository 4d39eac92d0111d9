"""What ``newfound describe`` compares: two inputs, one that is split, or several piles."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from newfound.cli.options import Format, reading_options
from newfound.text.dates import COLUMN, unit_or_column

__all__ = ["Inputs", "choose_inputs", "options_of"]

_FOLDER = "folder"


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
    options = reading_options(inputs.paths, inputs.columns, text_column, format, date_column)
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
