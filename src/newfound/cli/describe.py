"""``newfound describe`` and ``newfound demo``: what is new in novel documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from newfound.cli.console import Terminal, outcome, print_json, say, show
from newfound.cli.describe_stream import StreamOptions, describe_stream, is_stream
from newfound.cli.files import (
    check_table_format,
    choose_inputs,
    options_of,
    save_model,
    save_report,
    which_table,
    write_table,
)
from newfound.cli.options import (
    PATH_HELP,
    Checkpoint,
    Encoding,
    Force,
    FormatOf,
    Ignore,
    Jobs,
    Json,
    KnownColumn,
    KnownName,
    Language,
    Lemmatize,
    MoreStopWords,
    NovelName,
    Preset,
    Quiet,
    Ranking,
    Redact,
    Report,
    Seed,
    SkipBad,
    TextColumn,
    Title,
    Top,
    all_stop_words,
    check_distinct,
    check_language,
    check_outputs,
    even,
    names_of_sides,
    number,
)
from newfound.show.tables import description_parts, period_parts
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.runs import Described, DescribedPeriods

__all__ = ["demo", "describe"]


def _check_day(value: str | None) -> str | None:
    """Return a day as it was given; reject anything that is not one, naming the option."""
    from newfound.text.dates import parse_start

    try:
        parse_start(value)
    except ValueError:
        raise typer.BadParameter(
            f"{value!r} is not a date; write a day, a month or a year, such as 2003-04-01, 2003-04 "
            "or 2003."
        ) from None
    return value


def describe(
    known: Annotated[str | None, typer.Option(help=f"Known documents: {PATH_HELP}.")] = None,
    novel: Annotated[str | None, typer.Option(help="Novel documents, in the same formats.")] = None,
    *,
    documents: Annotated[
        str | None,
        typer.Option(help="Documents to split, instead of --known and --novel; see --by."),
    ] = None,
    pile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH",
            help="A pile of documents to compare with all other piles. Repeat it for each pile.",
        ),
    ] = None,
    date_column: Annotated[
        str | None, typer.Option(help="Column with the dates, such as 2003-04-01.")
    ] = None,
    dates_from: Annotated[
        str | None,
        typer.Option(
            callback=_check_day,
            help="First day of the novel documents; earlier documents are known. A month "
            "(2003-04) or a year stands for its first day.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT|COLUMN",
            help="Describe each day, week, month, quarter or year against all documents before it; "
            "or each value of a column against all other documents. column:month is a column "
            "called month; folder stands for the subfolders of a folder.",
        ),
    ] = None,
    text_column: TextColumn = None,
    known_column: KnownColumn = None,
    novel_column: Annotated[
        str | None, typer.Option(help="Text column of the novel documents, if it differs.")
    ] = None,
    format: FormatOf = None,
    encoding: Encoding = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Write all words to a .csv, .json, .jsonl or .parquet file. A file whose name "
            "ends in rules, phrases or themes, such as rules.csv, gets these. Can be repeated.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the model to a file, for newfound explain.")
    ] = None,
    report: Report = None,
    title: Title = None,
    known_name: KnownName = None,
    novel_name: NovelName = None,
    force: Force = False,
    top: Top = 20,
    rank_by: Annotated[
        Ranking,
        typer.Option(
            help="Rank words by how sure it is that they are new, by how many times more "
            "frequent they are, or by the score."
        ),
    ] = Ranking.novelty,
    preset: Annotated[
        Preset, typer.Option(help="Parameter set: the default, or that of the paper.")
    ] = Preset.default,
    machines: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Number of machines.")
    ] = None,
    n_clauses: Annotated[
        int | None, typer.Option(min=2, callback=even, help="Number of rules for each side; even.")
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option("--T", min=1, help="Target of the vote sum."),
    ] = None,
    specificity: Annotated[
        float | None,
        typer.Option(
            "--s",
            min=1.0,
            max=8000.0,
            callback=number,
            help="Specificity; higher values give longer rules.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of passes over the documents.")
    ] = None,
    max_literals: Annotated[
        int | None, typer.Option(min=0, help="Maximum number of words in a rule; 0 for no limit.")
    ] = None,
    language: Language = None,
    min_df: Annotated[
        int | None, typer.Option(min=1, help="Ignore words that are in fewer documents.")
    ] = None,
    lemmatize: Lemmatize = True,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Count pairs of neighbouring words, too.")
    ] = False,
    stop_words: MoreStopWords = None,
    ignore: Ignore = None,
    calendar: Annotated[
        bool, typer.Option("--calendar", help="Keep calendar words, numbers and single letters.")
    ] = False,
    keep_copies: Annotated[
        bool, typer.Option("--keep-copies", help="Count every copy of a text as evidence.")
    ] = False,
    themes: Annotated[
        str,
        typer.Option(
            "--themes",
            metavar="few|default|many|N",
            help="How fine themes are, or the largest number of themes.",
        ),
    ] = "default",
    redact: Redact = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read documents that do not fit in memory: batch by batch, three times. "
            "Always on for folders of Parquet files and for quoted patterns such as "
            "'data/*.parquet'. Rules and themes are learned from a sample and measured on all.",
        ),
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="With --stream: maximum number of documents of each side to learn from; 20,000 by "
            "default. Of documents with more than 50 different words, fewer: as many words, but "
            "not less than 1,000 documents. Memory grows with it.",
        ),
    ] = None,
    checkpoint: Checkpoint = None,
    skip_bad: SkipBad = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe what is new in novel documents, compared with known ones.

    Prints the themes and the words that are new, with the evidence for each, the words that are
    typical of the known documents, words that occur together, and the best rules. Words are ranked
    by novelty, in standard deviations. Above 2 is unlikely to be chance for a single word, but
    among thousands of words some reach it by chance: q is the expected share of false discoveries
    if you stop at that word. A score of 8 means that the word is 8 times as frequent in the rules
    for novel as in the rules for known. A rule is shown with its precision on documents that no
    machine was trained on (held out), and the base rate of its side.

    Documents with dates can be in one file: --documents FILE --date-column NAME, and --dates-from
    DAY to split them, or --by month to describe each month against all before. --documents FILE
    --by COLUMN describes the documents of each value of a column against all others, and so does
    --pile NAME=PATH, given several times, with the documents of each input.
    """
    inputs = choose_inputs(
        known, novel, documents, pile or [],
        by=by, date_column=date_column, dates_from=dates_from,
        columns=(known_column, novel_column), save=save,
    )  # fmt: skip
    check_language(language, lemmatize=lemmatize)
    names = names_of_sides(known_name, novel_name)
    if inputs.by is not None and names != Names():
        raise typer.BadParameter("--known-name and --novel-name are for two piles, not for --by.")
    if title is not None and report is None:
        raise typer.BadParameter("--title is that of the report; give --report FILE, too.")
    outputs = output or []
    paths_out = {"--save": save, "--report": report}
    paths_in = {"--known": known, "--novel": novel, "--documents": documents}
    named = zip(inputs.names, inputs.paths, strict=False)  # without piles there are no names
    paths_in |= {f"--pile {name}": path for name, path in named}
    check_distinct(paths_out, {**paths_in, "--stop-words": stop_words}, outputs)
    check_table_format(*outputs)
    streaming = StreamOptions(sample, skip_bad, checkpoint)
    stream = is_stream(inputs, streaming, stream=stream, pairs=pairs)
    read_options = options_of(inputs, text_column, format, date_column)
    with outcome():
        from newfound.runs import DescribeRun, RunInput

        check_outputs(*outputs, tables=True, force=force)
        check_outputs(*paths_out.values(), force=force)
        given = {
            "preset": preset.value,
            "n_machines": machines,
            "n_clauses": n_clauses,
            "T": threshold,
            "s": specificity,
            "epochs": epochs,
            "max_literals": max_literals,
            "language": language,
            "lemmatize": None if lemmatize else False,
            "ngram_range": (1, 2) if pairs else None,
            "min_df": min_df,
            "stop_words": all_stop_words(stop_words, language),
            "ignore": ignore,
            "calendar": calendar or None,
            "fold_copies": False if keep_copies else None,
            "themes": int(themes) if themes.isdecimal() else themes,
            "redact": redact or None,
            "random_state": seed,
            "n_jobs": jobs,
        }
        run = DescribeRun(
            inputs=tuple(
                RunInput(path, {**options, "encoding": encoding})
                for path, options in zip(inputs.paths, read_options, strict=True)
            ),
            piles=inputs.names,
            by=inputs.by,
            labels=inputs.labels,
            dates_from=dates_from,
            names=names,
            parameters={name: value for name, value in given.items() if value is not None},
            title=title,
        )
        described: Described | DescribedPeriods
        if stream:
            described = describe_stream(run, streaming, quiet=quiet)
        else:
            described = run.run(Terminal(quiet=quiet))
        for path in outputs:
            kind = which_table(path)
            write_table(kind, described.table(kind), path, force=force, quiet=quiet)
        save_model("model", described.description, save, force=force, quiet=quiet)
        save_report(described, report, force=force, quiet=quiet)
        _print(described, top=top, by=rank_by.value, json=json)


def demo(
    report: Report = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    top: Top = 10,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe the bundled sample: known requests about banking, novel ones about travel."""
    with outcome():
        from newfound.runs import DescribeRun

        check_outputs(report, force=force)
        parameters = {"preset": "default", "random_state": seed, "n_jobs": jobs}
        described = DescribeRun((), parameters=parameters).run(Terminal(quiet=quiet))
        save_report(described, report, force=force, quiet=quiet)
        _print(described, top=top, by="novelty", json=json)
        if not json and not quiet:
            say("the sample is a part of CLINC150, by S. Larson et al., 2019, CC BY 3.0.")
            say("with your own documents: newfound describe --known OLD.csv --novel NEW.csv")


def _print(described: Described | DescribedPeriods, *, top: int, by: str, json: bool) -> None:
    from newfound.runs import DescribedPeriods

    if json:
        print_json(described.data(top, by))
    elif isinstance(described, DescribedPeriods):
        show(*period_parts(described.periods, top=top, by=by))
    else:
        names = described.run.names
        show(*description_parts(described.description, names, top=top, by=by))
