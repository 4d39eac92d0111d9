"""Options that several commands share, and their checks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from newfound.sides import SIDES, Names

__all__ = [
    "PATH_HELP",
    "Checkpoint",
    "Data",
    "Encoder",
    "Encoding",
    "Force",
    "Format",
    "FormatOf",
    "Ignore",
    "Jobs",
    "Json",
    "KnownColumn",
    "KnownName",
    "Language",
    "Lemmatize",
    "Measurements",
    "MoreStopWords",
    "NovelName",
    "OneInputCommand",
    "OneInputGroup",
    "Preset",
    "Quiet",
    "Ranking",
    "Redact",
    "Report",
    "Seed",
    "SkipBad",
    "TextColumn",
    "Title",
    "Top",
    "all_stop_words",
    "check_distinct",
    "check_language",
    "check_outputs",
    "even",
    "names_of_sides",
    "number",
    "reading_options",
]

_INPUTS = ("known", "novel", "documents", "incoming")  # each may be given once
PATH_HELP = (
    "a folder of text files, a .txt (one document per line), .csv, .tsv, .jsonl, .json or .parquet "
    "file, also compressed as .gz, or - for standard input"
)


class Preset(StrEnum):
    """Names of parameter sets."""

    default = "default"
    paper = "paper"


class Format(StrEnum):
    """Formats of input files whose name does not end in the format."""

    txt = "txt"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    json = "json"
    parquet = "parquet"


class Ranking(StrEnum):
    """Columns that words can be ranked by."""

    novelty = "novelty"
    times = "times"
    score = "score"


def all_stop_words(path: Path | None, language: str | None) -> list[str] | None:
    """Return the default stop words and those of a file; None without a file."""
    if path is None:
        return None
    from newfound.text.filters import add_stop_words, read_stop_words

    return add_stop_words(read_stop_words(path), language)


def even(value: int | None) -> int | None:
    """Reject an odd number of clauses."""
    if value is not None and value % 2:
        raise typer.BadParameter(
            f"{value} must be even: half of the rules vote for a side, half against it."
        )
    return value


def number(value: float | None) -> float | None:
    """Reject nan."""
    if value is not None and value != value:
        raise typer.BadParameter("nan is not a number; use one from 1 to 8000.")
    return value


def check_language(language: str | None, *, lemmatize: bool) -> None:
    """Reject a language that is not known, unless lemmas are off."""
    if language is not None and lemmatize:
        from newfound.text.lemmas import lemmatize as lemma

        try:
            lemma("word", language=language)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--language") from error


def names_of_sides(known: str | None, novel: str | None) -> Names:
    """Return what the sides are called; reject names that cannot be used."""
    try:
        return Names(known, novel)
    except ValueError as error:
        said = str(error)
        for side in SIDES:
            said = said.replace(f"{side}_name", f"--{side}-name")
        raise typer.BadParameter(said) from error


def _jobs(value: int) -> int:
    if value == 0:
        raise typer.BadParameter(
            "0 is not a number of threads; use 1 or more, or -1 for all cores."
        )
    return value


Top = Annotated[
    int,
    typer.Option(min=1, help="Maximum number of themes, words of each side and rules to print."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed; the same seed gives the same result.")]
Jobs = Annotated[
    int,
    typer.Option(
        min=-1,
        callback=_jobs,
        help="Number of threads; -1 uses all cores. The result does not depend on it.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Replace numbers, e-mail addresses and URLs in all texts, before anything is learned, "
        "kept or shown.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Suppress progress bars and messages.")]
Report = Annotated[
    Path | None,
    typer.Option(help="Write a report: one HTML file that works offline."),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="With --stream: a folder from which a run that was killed continues."
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="With --stream: leave out files and row groups that cannot be read."
    ),
]
KnownName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help='What to call the known documents, such as 2023: "the 2023 documents".'
    ),
]
NovelName = Annotated[
    str | None, typer.Option(metavar="NAME", help="What to call the novel documents.")
]
Title = Annotated[str | None, typer.Option(help="Title of the report.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
TextColumn = Annotated[
    str | None, typer.Option(help="Column with the texts, for inputs that are tables.")
]
KnownColumn = Annotated[
    str | None, typer.Option(help="Text column of the known documents, if it differs.")
]
FormatOf = Annotated[
    Format | None,
    typer.Option(help="Input format; standard input is JSON if it begins so, else lines of text."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Input encoding, such as utf-16; by default that of a byte-order mark, UTF-8, or else "
        "Windows-1252."
    ),
]
Language = Annotated[
    str | None,
    typer.Option(help="Language of the texts, such as de; by default English."),
]
Lemmatize = Annotated[
    bool,
    typer.Option(
        "--lemmatize/--no-lemmatize", help="Count the forms of a word, such as its plural, as one."
    ),
]
Ignore = Annotated[
    str | None, typer.Option(help="Ignore words that match this regular expression.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FOLDER",
        help="Sentence encoder, so that meaning counts beside words: a name of newfound encoder "
        "list, or a folder with tokenizer.json and model.onnx or model.safetensors.",
    ),
]
MoreStopWords = Annotated[
    Path | None,
    typer.Option(
        "--stop-words", dir_okay=False, help="File with more words to ignore, one a line."
    ),
]
Data = Annotated[
    Path | None, typer.Option(help="Folder with the data sets; by default NEWFOUND_DATA.")
]
Measurements = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write tables to NAME.md and NAME.json.")
]


def check_distinct(
    outputs: Mapping[str, Path | None],
    inputs: Mapping[str, str | Path | None] | None = None,
    tables: Sequence[Path] = (),
) -> None:
    """Reject two outputs that are the same file, and an output that is an input.

    Parameters
    ----------
    outputs, inputs : mapping of str to path
        The path that each option names, by the name of the option; an input may be "-".
    tables : sequence of path
        The paths of --output, if it can be repeated.
    """
    given = {
        option: path
        for option, path in (inputs or {}).items()
        if path is not None and str(path) != "-"
    }
    named = {_file(path): option for option, path in given.items()}
    files = [_file(path) for path in tables]
    if len(set(files)) < len(files):
        raise typer.BadParameter("--output names the same file twice.")
    for option, path in [*(("--output", path) for path in tables), *outputs.items()]:
        if path is None:
            continue
        other = named.setdefault(_file(path), option)
        if other != option:
            raise typer.BadParameter(f"{other} and {option} are the same: {path}.")
        for other, folder in given.items():
            if os.path.isdir(folder) and os.path.exists(path) and _is_below(path, folder):
                raise typer.BadParameter(f"{option} {path} is one of the documents of {other}.")


def _file(path: str | Path) -> tuple[int, int] | str:
    """Return what is the same for two names of one file: symbolic links and hard links."""
    try:
        status = os.stat(path)
    except OSError:
        return os.path.realpath(path)
    return status.st_dev, status.st_ino


def _is_below(path: Path, folder: str | Path) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath([real, os.path.realpath(path)]) == real


def reading_options(
    paths: Sequence[str],
    columns: Sequence[str | None],
    column: str | None,
    format: Format | None,
    date_column: str | None = None,
) -> list[dict[str, Any]]:
    """Return the reading options of each input: its format, unless its name says it, and column."""
    from newfound.text.formats import TABLES, format_of

    named = [format_of(path) for path in paths]
    if format is not None and None not in named and format not in named:
        raise typer.BadParameter(
            f"--format {format.value} contradicts the file names, which already say the format."
        )
    # Standard input is looked into when it is read: it may be JSON.
    tables = [
        (name or format) in TABLES or (path == "-" and format is None)
        for path, name in zip(paths, named, strict=True)
    ]
    if column is not None and not any(tables):
        raise typer.BadParameter(
            f"--text-column {column}: none of the inputs is a table with columns."
        )
    if date_column is not None and not all(tables):
        raise typer.BadParameter(
            f"--date-column {date_column}: only tables, such as .csv or .jsonl, have columns."
        )
    return [
        {
            "format": None if name or format is None else format.value,
            "text_column": column if own is None and table else own,
            "date_column": date_column,
        }
        for name, own, table in zip(named, columns, tables, strict=True)
    ]


def check_outputs(*paths: Path | None, force: bool, tables: bool = False) -> None:
    """Check before the work that files can be written; of tables, that .parquet can be."""
    from newfound.storage.files import check_writable

    for path in paths:
        if path is None:
            continue
        check_writable(path, force=force)
        if tables and path.suffix.lower() == ".parquet":
            try:
                import_module("pyarrow")
            except ImportError as error:
                raise ImportError(
                    f"Writing {path} needs pyarrow: pip install 'newfound[parquet]'"
                ) from error


class _OneInput:
    """What commands and groups of them have in common: each input may be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left, as any command does."""
        given = list(args)
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        _reject_repeated(self, ctx, given)
        return rest


class OneInputCommand(_OneInput, TyperCommand):
    """A command each of whose inputs may be given once."""


class OneInputGroup(_OneInput, TyperGroup):
    """The same for a command that has commands of its own."""


def _reject_repeated(command: Any, ctx: Any, args: list[str]) -> None:
    if ctx.resilient_parsing:  # the shell completes a command that is being typed
        return
    _, _, order = command.make_parser(ctx).parse_args(args=args)
    names = [parameter.name for parameter in order]
    for name in _INPUTS:
        if names.count(name) > 1:
            raise typer.BadParameter(
                f"--{name} was given {names.count(name)} times and names one input; put the "
                "documents into one file, or pass a folder.",
                ctx=ctx,
            )
