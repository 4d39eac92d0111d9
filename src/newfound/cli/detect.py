"""``newfound detect``: which incoming documents are new, why, and what they are about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import Terminal, outcome, print_json, show
from newfound.cli.detect_stream import check_stream, detect_stream, print_lines
from newfound.cli.files import (
    check_table_format,
    columns_left_out,
    save_model,
    save_report,
    write_table,
)
from newfound.cli.options import (
    PATH_HELP,
    Checkpoint,
    Encoder,
    Encoding,
    Force,
    FormatOf,
    Ignore,
    Jobs,
    Json,
    KnownColumn,
    Language,
    Lemmatize,
    MoreStopWords,
    Quiet,
    Redact,
    Report,
    Seed,
    SkipBad,
    TextColumn,
    Title,
    all_stop_words,
    check_distinct,
    check_language,
    check_outputs,
    reading_options,
)
from newfound.show.data import Found, detection_data
from newfound.show.tables import detection_parts
from newfound.text.formats import is_dataset

if TYPE_CHECKING:
    from newfound.text.documents import Documents

__all__ = ["NOVEL_STATUS", "detect"]

NOVEL_STATUS = 3  # the exit status of --fail-on-novel


def _rate(value: float | None) -> float | None:
    if value is not None and not 0 < value < 1:
        raise typer.BadParameter(
            f"{value} is not a rate; use a number between 0 and 1, such as 0.05."
        )
    return value


_OF_INCOMING = (
    "incoming_column", "output", "report", "title", "top", "no_description", "fail_on_novel",
    "json", "json_lines", "stream", "sample", "no_reasons", "checkpoint", "skip_bad",
)  # fmt: skip
_OF_LEARNING = {
    "groups": "is part of the model",
    "known_column": "is for --known",
    "labels_column": "is for --known",
    "language": "is part of the model",
    "lemmatize": "is part of the model",
    "stop_words": "is part of the model",
    "ignore": "is part of the model",
    "redact": "is part of the model",
    "seed": "is part of the model",
}


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def detect(
    context: typer.Context,
    incoming: Annotated[
        str | None,
        typer.Option(
            help=f"Documents to examine: {PATH_HELP}. Without it, --known and --save learn a "
            "detector and examine nothing."
        ),
    ] = None,
    known: Annotated[str | None, typer.Option(help="Known documents; or use --model.")] = None,
    *,
    model: Annotated[
        Path | None, typer.Option(help="Detector written by --save, instead of --known.")
    ] = None,
    labels_column: Annotated[
        str | None,
        typer.Option(
            help="Column with the classes of the known documents. In a folder, the subfolders are "
            "the classes. Without classes, all documents are one class."
        ),
    ] = None,
    groups: Annotated[
        int,
        typer.Option(min=1, help="Without classes: number of groups of known documents to form."),
    ] = 1,
    alpha: Annotated[
        float | None,
        typer.Option(
            callback=_rate, help="False-alarm rate; by default that of the model, or 0.05."
        ),
    ] = None,
    text_column: TextColumn = None,
    known_column: KnownColumn = None,
    incoming_column: Annotated[
        str | None, typer.Option(help="Text column of the incoming documents, if it differs.")
    ] = None,
    format: FormatOf = None,
    encoding: Encoding = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write one row for each document to .csv, .json, .jsonl or .parquet, with the "
            "other columns of the input after ours.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the detector to a file, for --model and explain.")
    ] = None,
    forget_texts: Annotated[
        bool,
        typer.Option(
            "--forget-texts",
            help="Leave the texts of the held-back documents out of the detector; it then cannot "
            "learn more, nor be used by monitor.",
        ),
    ] = False,
    encoder: Encoder = None,
    report: Report = None,
    title: Title = None,
    force: Force = False,
    top: Annotated[int, typer.Option(min=1, help="Number of documents and words to print.")] = 20,
    language: Language = None,
    lemmatize: Lemmatize = True,
    stop_words: MoreStopWords = None,
    ignore: Ignore = None,
    redact: Redact = False,
    no_description: Annotated[
        bool,
        typer.Option(
            "--no-description", help="Do not describe what is new in the novel documents."
        ),
    ] = False,
    fail_on_novel: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="End with exit status 3 if N or more documents are novel."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
    json_lines: Annotated[
        bool,
        typer.Option(
            "--json-lines",
            help="Print one JSON object a line for each document, as it comes; nothing is "
            "described or grouped.",
        ),
    ] = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read, score and write documents that do not fit in memory, batch by batch. "
            "Always on for a folder of Parquet files and for a quoted pattern such as "
            "'data/*.parquet'. Groups and words are those of a sample of the novel documents.",
        ),
    ] = False,
    sample: Annotated[
        int,
        typer.Option(
            min=5,
            help="With --stream: novel documents to group and describe, at most, drawn at random. "
            "Sizes of groups are in this sample.",
        ),
    ] = 5_000,
    no_reasons: Annotated[
        bool, typer.Option("--no-reasons", help="With --stream: scores only, many times faster.")
    ] = False,
    checkpoint: Checkpoint = None,
    skip_bad: SkipBad = False,
    quiet: Quiet = False,
) -> None:
    """Find the incoming documents that are new, learning from known ones only.

    Prints the novel documents with their p-values and reasons, the groups among them, and the
    words that are new. Known documents that are held back set the threshold, so that on average a
    share of alpha of the known documents, and no more, is called novel. The share is higher if many
    classes have only one or two documents. Without classes all known documents are one class.
    With --known and --save alone, it learns a detector for later, such as for monitor.

    Exit status: 0: success, 1: failure, 2: usage error, 3: see --fail-on-novel.
    """
    _check_options(context, known, incoming, model, labels_column)
    check_language(language, lemmatize=lemmatize)
    paths_out = {"--output": output, "--save": save, "--report": report}
    check_distinct(paths_out, {"--known": known, "--incoming": incoming, "--model": model})
    check_table_format(output)
    many = incoming is not None and is_dataset(incoming)
    stream = stream or many
    check_stream(context, output, stream=stream)
    sources = (known, known_column), ("incoming.parquet" if many else incoming, incoming_column)
    paths = [path for path, _ in sources if path is not None]
    columns = [column for path, column in sources if path is not None]
    read_options = reading_options(paths, columns, text_column, format)
    if known is not None:
        read_options[0]["label_column"] = labels_column
    with outcome():
        from newfound.runs import DetectRun, RunInput

        check_outputs(output, tables=True, force=force)
        check_outputs(save, report, force=force)
        given = {
            "alpha": alpha,
            "language": language,
            "lemmatize": lemmatize,
            "n_groups": groups,
            "stop_words": all_stop_words(stop_words, language),
            "ignore": ignore,
            "redact": redact or None,
        }
        given_ones = {name: value for name, value in given.items() if value is not None}
        read = [
            RunInput(path, {**options, "encoding": encoding})
            for path, options in zip(paths, read_options, strict=True)
        ]
        later = incoming is None or json_lines or stream  # or never
        whole = None if later else read[-1].with_columns() if output is not None else read[-1]
        run = DetectRun(
            known=None if known is None else read[0],
            incoming=whole,
            model=model,
            parameters={**given_ones, "random_state": seed, "n_jobs": jobs},
            describe=not no_description,
            forget_texts=forget_texts,
            title=title,
            encoder=encoder,
        )
        terminal = Terminal(quiet=quiet)
        if not later:
            detected = run.run(terminal)
            if output is not None and (taken := _taken(detected.incoming)):
                terminal.say(columns_left_out(taken))
            if output is not None:
                write_table("documents", detected.rows, output, force=force, quiet=quiet)
            save_model("detector", detected.detector, save, force=force, quiet=quiet)
            save_report(detected, report, force=force, quiet=quiet)
            _finish(detected.found, top, json=json, fail_on_novel=fail_on_novel)
            return
        old, _ = run.read(terminal)
        with terminal.steps() as progress:
            detector = run.learn(old, progress)
            if stream:
                assert incoming is not None
                options = {name: read_options[-1][name] for name in ("text_column", "format")}
                found = detect_stream(
                    detector,
                    incoming,
                    {**options, "encoding": encoding, "skip_bad": skip_bad},
                    known=None if old is None else old.texts,
                    output=output,
                    force=force,
                    reasons=not no_reasons,
                    describe=not no_description,
                    top=top,
                    sample=sample,
                    checkpoint=checkpoint,
                    quiet=quiet,
                    progress=progress,
                )
        save_model("detector", detector, save, force=force, quiet=quiet)
        if stream:
            _finish(found, top, json=json, fail_on_novel=fail_on_novel)
        elif incoming is not None:
            n_novel = print_lines(detector, incoming, read_options[-1], encoding)
            _end(n_novel, fail_on_novel)


def _finish(found: Found, top: int, *, json: bool, fail_on_novel: int | None) -> None:
    """Print what was found, and end."""
    if json:
        print_json(detection_data(found, top=top))
    else:
        show(*detection_parts(found, top))
    _end(found.n_novel, fail_on_novel)


def _end(n_novel: int, fail_on_novel: int | None) -> None:
    """Leave with an exit status of its own if as many documents are novel as asked for."""
    if fail_on_novel is not None and n_novel >= fail_on_novel:
        raise SystemExit(NOVEL_STATUS)


def _check_options(
    context: typer.Context,
    known: str | None,
    incoming: str | None,
    model: Path | None,
    labels_column: str | None,
) -> None:
    if (known is None) == (model is None):
        raise typer.BadParameter("give either --known or --model, one of the two.")
    if incoming is None:
        if known is None or context.params["save"] is None:
            raise typer.BadParameter(
                "give --incoming, the documents to examine; or --known and --save, to learn only."
            )
        for name in _OF_INCOMING:
            if _was_given(context, name):
                option = "--" + name.replace("_", "-")
                raise typer.BadParameter(f"{option} is for --incoming; give --incoming, too.")
    if known is not None and known == incoming:
        what = "standard input" if known == "-" else known
        raise typer.BadParameter(f"--known and --incoming are the same: {what}.")
    if context.params["title"] is not None and context.params["report"] is None:
        raise typer.BadParameter("--title is that of the report; give --report FILE, too.")
    if context.params["json_lines"]:
        for name in ("json", "output", "report"):
            if _was_given(context, name):
                raise typer.BadParameter(
                    f"--json-lines prints each document as it comes; leave out --{name}."
                )
    if labels_column is not None and _was_given(context, "groups"):
        raise typer.BadParameter("--groups is for documents without classes; or --labels-column.")
    if model is not None:
        for name, why in _OF_LEARNING.items():
            if _was_given(context, name):
                option = "--" + name.replace("_", "-")
                raise typer.BadParameter(
                    f"{option} {why}; leave it out, or learn again with --known."
                )


def _taken(incoming: Documents) -> list[str]:
    """Return the columns of the documents that have the name of one of ours."""
    from newfound.detection.detection import is_own_column

    return [name for name in incoming.columns if is_own_column(name)]
