"""The command line: it parses, calls and prints.

Exit status: 0 done, 1 could not (one sentence on standard error), 2 asked wrongly, 130 interrupted.
Everything heavy is imported when a command runs, so that ``newfound --help`` answers at once.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from enum import StrEnum
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.console import (
    headline,
    outcome,
    print_json,
    rules_table,
    say,
    show,
    training,
    words_table,
)

if TYPE_CHECKING:
    from newfound.describer import NoveltyDescriber
    from newfound.documents import Documents
    from newfound.words import WordTable

__all__ = ["app", "main"]

app = typer.Typer(
    name="newfound",
    help="Tells which words make documents new, and in what context, with rules you can read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PATH_HELP = (
    "a folder of text files, or a .txt (a line a document), .csv, .tsv, .jsonl or .parquet file, "
    "each also .gz, or - for standard input"
)


class Preset(StrEnum):
    """Names of the sets of parameters."""

    default = "default"
    paper = "paper"


class Format(StrEnum):
    """Formats of documents, where the name of the file does not say."""

    txt = "txt"
    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


def _even(value: int | None) -> int | None:
    if value is not None and value % 2:
        raise typer.BadParameter(f"{value} must be even: half vote for a side, half against it.")
    return value


def _number(value: float | None) -> float | None:
    if value is not None and value != value:
        raise typer.BadParameter("nan is not a number; use one from 1 to 8000.")
    return value


def _language(value: str | None) -> str | None:
    if value is not None:
        from newfound.tokens import lemmatize

        try:
            lemmatize("word", language=value)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    return value


def _jobs(value: int) -> int:
    if value == 0:
        raise typer.BadParameter("0 threads do no work; use 1 or more, or -1 for all cores.")
    return value


Top = Annotated[int, typer.Option(min=1, help="How many words of each side, and rules, to print.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
Jobs = Annotated[
    int,
    typer.Option(
        min=-1, callback=_jobs, help="Threads; -1 is all cores. The result is the same on any."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no talk.")]


def main() -> None:
    """Run the command line."""
    # For what goes wrong outside of a command: reading the arguments, printing the help. Inside of
    # one typer would be the first to see Ctrl-C and a closed pipe, and has its own ways to end.
    with outcome():
        app()


def _print_version(asked: bool) -> None:
    if asked:
        print(f"newfound {version('newfound')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


@app.command()
def describe(
    known: Annotated[str, typer.Option(help=f"The documents that are known: {_PATH_HELP}.")],
    novel: Annotated[str, typer.Option(help="The documents whose novelty is to be described.")],
    *,
    text_column: Annotated[
        str | None, typer.Option(help="The column with the texts, of each side that is a table.")
    ] = None,
    known_column: Annotated[
        str | None, typer.Option(help="The column of the known side, where the two differ.")
    ] = None,
    novel_column: Annotated[
        str | None, typer.Option(help="The column of the novel side, where the two differ.")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="The format, where the name does not say, as for -.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="The encoding; by default UTF-8 or else Windows-1252.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all words to a .csv, .json or .parquet file."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the model to a file, for newfound explain.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    top: Top = 20,
    preset: Annotated[
        Preset, typer.Option(help="Parameters: fast and good, or those of the paper.")
    ] = Preset.default,
    n_clauses: Annotated[
        int | None, typer.Option(min=2, callback=_even, help="Rules for each side; even.")
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option("--T", min=1, help="Votes at which a document is learned well enough."),
    ] = None,
    specificity: Annotated[
        float | None,
        typer.Option(
            "--s", min=1.0, max=8000.0, callback=_number, help="How specific rules become."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the documents, at most.")
    ] = None,
    max_literals: Annotated[
        int | None, typer.Option(min=0, help="A budget of words for each rule; 0 for none.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(callback=_language, help="The language of the texts, such as en."),
    ] = None,
    min_df: Annotated[
        int | None, typer.Option(min=1, help="Leave out words of fewer documents than this.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe what is new in some documents, compared with known ones.

    Prints the words that make the novel documents new, with the evidence for each, the words of
    the known ones, and the rules learned most often. A score of 8 says that the word is 8 times as
    frequent in the reasons learned for novel as in those for known; F_N and F_K count those.
    """
    if known == novel:
        what = "standard input" if known == "-" else known
        raise typer.BadParameter(f"--known and --novel are the same: {what}.")
    if output is not None and output == save:
        raise typer.BadParameter(f"--output and --save are the same: {output}.")
    if output is not None and output.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise typer.BadParameter(f"--output {output} must end in .csv, .json or .parquet.")
    paths, columns = (known, novel), (known_column, novel_column)
    ways = _ways_to_read(paths, columns, text_column, format)
    with outcome():
        from newfound.documents import read_documents

        _refuse_paths(output, save, force=force)
        old, new = (
            read_documents(path, **way, encoding=encoding)
            for path, way in zip(paths, ways, strict=True)
        )
        given = {
            "preset": preset.value,
            "n_clauses": n_clauses,
            "T": threshold,
            "s": specificity,
            "epochs": epochs,
            "max_literals": max_literals,
            "language": language,
            "min_df": min_df,
            "random_state": seed,
            "n_jobs": jobs,
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        describer = _fit(old, new, parameters, quiet=quiet)
        _write(describer, output, save, force=force, quiet=quiet)
        _print(describer, old, new, top=top, json=json)


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="A file that describe --save wrote.")],
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Texts, or - for lines from a pipe.")
    ],
    top: Annotated[
        int, typer.Option(min=1, help="How many of the rules of each text to print as JSON.")
    ] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a saved model sees in a text: its words, the rules it matches, the votes."""
    with outcome():
        from newfound.persistence import load

        describer = load(model)
        for text in texts:
            if not quiet and text != "-" and os.path.isfile(text):
                command = shlex.join(["newfound", "explain", str(model), "-"])
                say(
                    "explaining the text itself; to explain a file's lines use: "
                    f"{command} < {shlex.quote(text)}"
                )
        found = False
        for text in _lines(texts):
            found = True
            if json:
                print_json(describer.explain(text).to_dict(max_rules=top), indent=None)
            else:
                show(describer.explain(text), "")
        if not found:
            raise ValueError("There is no text to explain; standard input is empty.")


@app.command()
def demo(
    top: Top = 10, seed: Seed = 0, jobs: Jobs = 1, json: Json = False, quiet: Quiet = False
) -> None:
    """Describe the bundled sample: requests about banking are known, about travel novel."""
    # One thread: the steps on a sample this small are short, and threads that wait for each other
    # lose where the cores are busy. Two of them under load: 10 to 14 s on all, 6 to 9 s on one.
    with outcome():
        from newfound.datasets import load_sample

        known, novel = load_sample()
        parameters = {"preset": "default", "random_state": seed, "n_jobs": jobs}
        describer = _fit(known, novel, parameters, quiet=quiet)
        _print(describer, known, novel, top=top, json=json)
        if not json and not quiet:
            say("the sample is a part of CLINC150, by S. Larson et al., 2019, CC BY 3.0.")
            say("now your own: newfound describe --known OLD.csv --novel NEW.csv")


def _ways_to_read(
    paths: Sequence[str],
    columns: Sequence[str | None],
    column: str | None,
    format: Format | None,
) -> list[dict[str, Any]]:
    """Give each side the format if its name says none, and the column if it is a table."""
    from newfound.reading import TABLES, format_of

    named = [format_of(path) for path in paths]
    if format is not None and None not in named and format not in named:
        raise typer.BadParameter(
            f"--format {format.value} is for names that do not say the format; both names do."
        )
    tables = [(name or format) in TABLES for name in named]
    if column is not None and not any(tables):
        raise typer.BadParameter(f"--text-column {column}: neither side has columns; name none.")
    return [
        {
            "format": None if name or format is None else format.value,
            "text_column": column if own is None and table else own,
        }
        for name, own, table in zip(named, columns, tables, strict=True)
    ]


def _refuse_paths(output: Path | None, save: Path | None, *, force: bool) -> None:
    """Find out now what would fail after the work."""
    from newfound.files import refuse_path

    for path in (output, save):
        if path is not None:
            refuse_path(path, force=force)
    if output is not None and output.suffix.lower() == ".parquet":
        try:
            import_module("pyarrow")
        except ImportError as error:
            raise ImportError(
                f"Writing {output} needs pyarrow: pip install 'newfound[parquet]'"
            ) from error


def _fit(
    known: Documents, novel: Documents, parameters: dict[str, Any], *, quiet: bool
) -> NoveltyDescriber:
    if not quiet:
        for side, documents in (("known", known), ("novel", novel)):
            say(f"{side}: {documents.summary()}")
    from newfound.describer import NoveltyDescriber

    labels = ["known"] * len(known) + ["novel"] * len(novel)
    with training(quiet=quiet) as callback:
        return NoveltyDescriber(**parameters).fit([*known, *novel], labels, callback=callback)


def _print(
    describer: NoveltyDescriber, known: Documents, novel: Documents, *, top: int, json: bool
) -> None:
    new = [row for row in describer.words_.top(top) if row["score"] > 1]
    old = [row for row in describer.words_.top(top, ascending=True) if row["score"] < 1]
    common = describer.clauses_.sorted("count")
    rules = [
        clause
        for side in ("novel", "known")
        for clause in common[common.side == side][: -(-top // 2)]
    ]
    if json:
        from newfound.presets import resolve

        parameters: dict[str, Any] = describer.get_params()
        parameters |= resolve(describer.preset, parameters)
        print_json(
            {
                "newfound": version("newfound"),
                "known": _pile(known),
                "novel": _pile(novel),
                "parameters": parameters,
                "novel_words": new,
                "known_words": old,
                "rules": [clause.to_dict() for clause in rules],
            }
        )
        return
    show(
        headline([row["word"] for row in new[:5]], len(known), len(novel)),
        words_table(new, "novel", "New: the words of the novel documents"),
        words_table(old, "known", "Not new: the words of the known documents"),
        rules_table(rules, "The rules learned most often"),
    )


def _pile(documents: Documents) -> dict[str, Any]:
    return {
        "source": documents.source,
        "documents": len(documents),
        "found": dict(documents.found),
    }


def _write(
    describer: NoveltyDescriber,
    output: Path | None,
    save: Path | None,
    *,
    force: bool,
    quiet: bool,
) -> None:
    from newfound.files import written_aside
    from newfound.persistence import save as save_model

    if output is not None:
        with written_aside(output, force=force) as aside:
            _write_words(describer.words_, aside)
    if save is not None:
        save_model(describer, save, force=force)
    for what, path in (("words", output), ("model", save)):
        if path is not None and not quiet:
            say(f"wrote the {what} to {path}.")


def _write_words(words: WordTable, path: Path) -> None:
    """Write all words; a word is letters and digits, so no cell is a formula to a spreadsheet."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        words.to_csv(path)
    elif suffix == ".json":
        words.to_json(path)
    else:
        pyarrow = import_module("pyarrow")
        rows = pyarrow.Table.from_pylist(words.to_records())
        import_module("pyarrow.parquet").write_table(rows, path)


def _lines(texts: Iterable[str]) -> Iterable[str]:
    """Give the texts; - stands for the lines of standard input, but for blank ones."""
    from newfound.reading import piped_lines

    for text in texts:
        if text == "-":
            yield from (line for line in piped_lines() if line.strip())
        else:
            yield text
