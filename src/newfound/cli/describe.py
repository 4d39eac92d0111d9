"""``newfound describe`` and ``newfound demo``: what is new in novel documents."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.console import (
    headline,
    outcome,
    phrases_table,
    print_json,
    rules_table,
    say,
    show,
    themes_table,
    training,
    words_table,
)
from newfound.cli.options import (
    PATH_HELP,
    Encoding,
    Force,
    FormatOf,
    Jobs,
    Json,
    KnownColumn,
    Language,
    Preset,
    Quiet,
    Report,
    Seed,
    TextColumn,
    Top,
    all_stop_words,
    check_distinct,
    check_outputs,
    even,
    number,
    reading_options,
)
from newfound.cli.outputs import check_table_format, write

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.text.documents import Documents

__all__ = ["demo", "describe"]

_SET_ASIDE_SHOWN = 5


def describe(
    known: Annotated[str, typer.Option(help=f"Known documents: {PATH_HELP}.")],
    novel: Annotated[str, typer.Option(help="Novel documents, in the same formats.")],
    *,
    text_column: TextColumn = None,
    known_column: KnownColumn = None,
    novel_column: Annotated[
        str | None, typer.Option(help="Text column of the novel documents, if it differs.")
    ] = None,
    format: FormatOf = None,
    encoding: Encoding = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all words to a .csv, .json or .parquet file."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the model to a file, for newfound explain.")
    ] = None,
    report: Report = None,
    force: Force = False,
    top: Top = 20,
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
    stop_words: Annotated[
        Path | None,
        typer.Option(help="File with more words to ignore, one a line.", dir_okay=False),
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(help="Ignore words that match this regular expression.")
    ] = None,
    calendar: Annotated[
        bool, typer.Option("--calendar", help="Keep calendar words, numbers and single letters.")
    ] = False,
    keep_copies: Annotated[
        bool, typer.Option("--keep-copies", help="Count every copy of a text as evidence.")
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe what is new in novel documents, compared with known ones.

    Prints the words that are new, with the evidence for each, the words that are typical of the
    known documents, words that occur together, and the most frequent rules. Words are ranked by
    novelty, in standard deviations; above about 2 it is unlikely to be chance. q is the expected
    share of false discoveries if you stop at that word. A score of 8 means that the word is 8
    times as frequent in the rules for novel as in the rules for known.
    """
    if known == novel:
        what = "standard input" if known == "-" else known
        raise typer.BadParameter(f"--known and --novel are the same: {what}.")
    paths_out = {"--output": output, "--save": save, "--report": report}
    check_distinct(paths_out)
    check_table_format(output)
    paths, columns = (known, novel), (known_column, novel_column)
    ways = reading_options(paths, columns, text_column, format)
    with outcome():
        from newfound.text.documents import read_documents

        check_outputs(*paths_out.values(), force=force)
        began = perf_counter()
        old, new = (
            read_documents(path, **way, encoding=encoding)
            for path, way in zip(paths, ways, strict=True)
        )
        seconds = {"reading": perf_counter() - began}
        given = {
            "preset": preset.value,
            "n_machines": machines,
            "n_clauses": n_clauses,
            "T": threshold,
            "s": specificity,
            "epochs": epochs,
            "max_literals": max_literals,
            "language": language,
            "min_df": min_df,
            "stop_words": all_stop_words(stop_words, language),
            "ignore": ignore,
            "calendar": calendar or None,
            "fold_copies": False if keep_copies else None,
            "random_state": seed,
            "n_jobs": jobs,
        }
        parameters = {name: value for name, value in given.items() if value is not None}
        describer = _fit(old, new, parameters, quiet=quiet)
        tables, models = ("words", describer.words_, output), ("model", describer, save)
        write(tables, models, force=force, quiet=quiet)
        _report(report, describer, old, new, seconds, force=force, quiet=quiet)
        _print(describer, old, new, top=top, json=json)


def demo(
    report: Report = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    top: Top = 10,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe the bundled sample: requests about banking are known, about travel novel."""
    with outcome():
        from newfound.lab.datasets import load_sample

        check_outputs(report, force=force)
        known, novel = load_sample()
        parameters = {"preset": "default", "random_state": seed, "n_jobs": jobs}
        describer = _fit(known, novel, parameters, quiet=quiet)
        _report(report, describer, known, novel, {}, force=force, quiet=quiet)
        _print(describer, known, novel, top=top, json=json)
        if not json and not quiet:
            say("the sample is a part of CLINC150, by S. Larson et al., 2019, CC BY 3.0.")
            say("with your own documents: newfound describe --known OLD.csv --novel NEW.csv")


def _fit(
    known: Documents, novel: Documents, parameters: dict[str, Any], *, quiet: bool
) -> NoveltyDescriber:
    if not quiet:
        for side, documents in (("known", known), ("novel", novel)):
            say(f"{side}: {documents.summary()}")
    from newfound.description.describer import NoveltyDescriber

    labels = ["known"] * len(known) + ["novel"] * len(novel)
    with training(quiet=quiet) as callback:
        describer = NoveltyDescriber(**parameters).fit([*known, *novel], labels, callback=callback)
    if not quiet:
        for note in notes(describer):
            say(note)
    return describer


def notes(describer: NoveltyDescriber) -> Iterator[str]:
    """Yield what was folded and what was set aside, a sentence each."""
    copies = describer.copies_
    if copies is not None and (copies.is_copy.any() or copies.passages.any()):
        yield copies.summary()
    aside = list(describer.set_aside_)
    if aside:
        shown = ", ".join(aside[:_SET_ASIDE_SHOWN]) + (", ..." if aside[_SET_ASIDE_SHOWN:] else "")
        yield f"Set aside dates, numbers and single letters ({shown}); --calendar keeps them."


def _print(
    describer: NoveltyDescriber, known: Documents, novel: Documents, *, top: int, json: bool
) -> None:
    new = [row for row in describer.words_.top(top) if row["novelty"] > 0]
    old = [row for row in describer.words_.top(top, ascending=True) if row["novelty"] < 0]
    phrases = [
        row
        for side, n in (("novel", top), ("known", -(-top // 2)))
        for row in describer.phrases_.take(describer.phrases_["side"] == side).take(slice(n))
    ]
    common = describer.clauses_.sorted("count")
    rules = [
        clause
        for side in ("novel", "known")
        for clause in common[common.side == side][: -(-top // 2)]
    ]
    if json:
        from newfound.description.presets import resolve

        parameters: dict[str, Any] = describer.get_params()
        parameters |= resolve(describer.preset, parameters)
        print_json(
            {
                "newfound": version("newfound"),
                "known": _pile(known),
                "novel": _pile(novel),
                "parameters": parameters,
                "themes": [theme.to_dict() for theme in describer.themes_],
                "novel_words": new,
                "known_words": old,
                "phrases": phrases,
                "rules": [clause.to_dict() for clause in rules],
                "set_aside": describer.set_aside_,
                "copies": None if describer.copies_ is None else describer.copies_.n_documents,
            }
        )
        return
    show(
        headline([row["word"] for row in new[:5]], len(known), len(novel)),
        *([themes_table(describer.themes_, "Themes")] if describer.themes_ else []),
        words_table(new, "novel", "Words that are new"),
        words_table(old, "known", "Words typical of the known documents"),
        *([phrases_table(phrases, "Words that occur together")] if phrases else []),
        rules_table(rules, "Most frequent rules"),
    )


def _pile(documents: Documents) -> dict[str, Any]:
    return {
        "source": documents.source,
        "documents": len(documents),
        "found": dict(documents.found),
    }


def _report(
    path: Path | None,
    describer: NoveltyDescriber,
    known: Documents,
    novel: Documents,
    seconds: dict[str, float],
    *,
    force: bool,
    quiet: bool,
) -> None:
    if path is None:
        return
    from newfound.report import report_page, write_page

    page = report_page(describer, known=known, novel=novel, seconds=seconds)
    write_page(path, page, force=force)
    if not quiet:
        say(f"wrote the report to {path}; open it in any browser.")
