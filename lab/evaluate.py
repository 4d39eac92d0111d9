"""``python -m lab evaluate``: the quality of words and of detection, beside that of baselines."""

from __future__ import annotations

import json as json_format
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from newfound.cli.console import outcome, print_json, say
from newfound.cli.options import Data, Force, Jobs, Json, Measurements, Quiet, check_outputs

if TYPE_CHECKING:
    from lab.evaluation.suites import Results
    from newfound.table import Table

__all__ = [
    "DOCUMENT_SUITES",
    "RULE_SUITES",
    "SPEED_SUITES",
    "STREAM_SUITES",
    "THEME_SUITES",
    "VERDICT_SUITES",
    "WORD_SUITES",
    "app",
]

app = typer.Typer(
    help="Measure the quality of newfound and of baselines on the public data sets.",
    no_args_is_help=True,
)
# Repeated from lab.evaluation, which is slow to import.
WORD_SUITES = (
    "planted-words", "planted-pairs", "documents-from-words", "shift", "months", "stability",
    "no-novelty", "intervals", "faithfulness",
)  # fmt: skip
DOCUMENT_SUITES = (
    "clinc150", "clinc150-unlabelled", "unseen-intents", "20newsgroups", "20newsgroups-each",
    "bbcsport", "false-alarms", "repeats", "noise", "meaning", "groups", "deletion", "reasons",
    "sentences", "speed",
)  # fmt: skip
THEME_SUITES = ("shift", "other", "topic-models", "stability", "no-novelty", "names")
SPEED_SUITES = ("abcnews", "bbcsport")
RULE_SUITES = ("clinc150", "20newsgroups", "bbcsport", "votes")
STREAM_SUITES = (
    "false-alarms", "new-class", "abcnews", "events", "events-each", "event-alerts", "speed",
)  # fmt: skip
VERDICT_SUITES = ("bbcsport", "clinc150", "abcnews")


def _suite_names(names: Sequence[str]) -> Any:
    """Return the argument that chooses suites."""

    def check(given: list[str] | None) -> list[str]:
        for name in given or ():
            if name not in names:
                raise typer.BadParameter(f"{name!r} is none of {', '.join(names)}.")
        return given or list(names)

    return typer.Argument(callback=check, help=f"Suites, all by default: {', '.join(names)}.")


@app.command()
def words(
    suites: Annotated[list[str] | None, _suite_names(WORD_SUITES)] = None,
    data: Data = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Number of seeds.")] = 5,
    lemmas: Annotated[
        Literal["texts", "dictionary", "none"],
        typer.Option(help="Lemmas of words: corrected by the texts, of the dictionary, or none."),
    ] = "texts",
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure word scores: planted words and pairs, held-out documents, stability, q, intervals.

    The C of logistic regression is chosen by 3-fold cross-validation on the training side.
    """
    with outcome():
        from lab.evaluation.suites import run_suites
        from lab.evaluation.word_corpora import Setting
        from lab.evaluation.words import SUITES

        paths = _output_paths(output, force=force)
        setting = Setting(data=data, n_jobs=jobs, say=_messages(quiet), seeds=seeds, lemmas=lemmas)
        found = run_suites(SUITES, setting, suites or WORD_SUITES)
        about = f"{seeds} seeds: means and, after ±, standard deviations."
        results = {**_about(about), "seeds": seeds}
        _publish("The quality of words", results, found, SUITES, paths, force=force, json=json)


@app.command()
def documents(
    suites: Annotated[list[str] | None, _suite_names(DOCUMENT_SUITES)] = None,
    data: Data = None,
    splits: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of splits to count false alarms on.")
    ] = 50,
    no_baselines: Annotated[
        bool,
        typer.Option(
            "--no-baselines", help="Leave out the baselines, which take most of the time."
        ),
    ] = False,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure detection: known against novel documents, false alarms, explanations, speed.

    The detector and the baselines are trained on known documents only. The C of logistic regression
    and of LinearSVC is chosen by 3-fold cross-validation on the training side. The deletion test
    includes LIME if it is installed (pip install lime).
    """
    with outcome():
        from lab.evaluation.documents import SUITES, Setting
        from lab.evaluation.suites import run_suites

        paths = _output_paths(output, force=force)
        setting = Setting(
            data=data, n_jobs=jobs, say=_messages(quiet), splits=splits, baselines=not no_baselines
        )
        found = run_suites(SUITES, setting, suites or DOCUMENT_SUITES)
        results = _about("All methods are trained on known documents only.")
        _publish("The quality of detection", results, found, SUITES, paths, force=force, json=json)


@app.command()
def themes(
    suites: Annotated[list[str] | None, _suite_names(THEME_SUITES)] = None,
    data: Data = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Number of draws of topics.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first draw.")] = 200,
    sentence_model: Annotated[
        Path | None,
        typer.Option(exists=True, help="Folder of a sentence-transformers model for BERTopic."),
    ] = None,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure themes: topics that grew or are new, beside topic models; no novelty; names.

    The comparison includes BERTopic if it is installed (pip install bertopic).
    """
    with outcome():
        from lab.evaluation.suites import run_suites
        from lab.evaluation.themes import SUITES, Setting

        paths = _output_paths(output, force=force)
        setting = Setting(
            data=data,
            n_jobs=jobs,
            say=_messages(quiet),
            seeds=seeds,
            first_seed=seed,
            sentence_model=None if sentence_model is None else str(sentence_model),
        )
        found = run_suites(SUITES, setting, suites or THEME_SUITES)
        about = (
            f"{seeds} draws of topics from seed {seed}: means and, after ±, standard deviations."
        )
        results = {**_about(about), "seeds": seeds, "first_seed": seed}
        _publish("The quality of themes", results, found, SUITES, paths, force=force, json=json)


@app.command()
def verdicts(
    suites: Annotated[list[str] | None, _suite_names(VERDICT_SUITES)] = None,
    data: Data = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="Number of draws of sides.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first draw.")] = 0,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the verdicts of explain on held-out texts, beside tuned logistic regression.

    The C of logistic regression is chosen by 3-fold cross-validation on the training side, with
    both classes weighted alike, for TF-IDF of all words.
    """
    with outcome():
        from lab.evaluation.suites import run_suites
        from lab.evaluation.verdicts import SUITES, Setting

        paths = _output_paths(output, force=force)
        setting = Setting(
            data=data, n_jobs=jobs, say=_messages(quiet), seeds=seeds, first_seed=seed
        )
        found = run_suites(SUITES, setting, suites or VERDICT_SUITES)
        about = f"{seeds} draws from seed {seed}: means and, after ±, standard deviations."
        results = {**_about(about), "seeds": seeds, "first_seed": seed}
        _publish("The quality of verdicts", results, found, SUITES, paths, force=force, json=json)


@app.command()
def speed(
    suites: Annotated[list[str] | None, _suite_names(SPEED_SUITES)] = None,
    data: Data = None,
    runs: Annotated[int, typer.Option(min=1, max=100, help="Runs; the fastest is shown.")] = 1,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure time and memory of whole descriptions, themes included, each in a fresh process."""
    with outcome():
        from lab.evaluation.speed import SUITES, Setting
        from lab.evaluation.suites import run_suites

        paths = _output_paths(output, force=force)
        setting = Setting(data=data, n_jobs=jobs, say=_messages(quiet), runs=runs)
        before = os.getloadavg()[0]
        found = run_suites(SUITES, setting, suites or SPEED_SUITES)
        about = (
            f"{os.cpu_count()} cores, {runs} run{'' if runs == 1 else 's'} of each corpus, of "
            f"which the fastest is shown. Load of the computer before: {before:.1f}."
        )
        results = {**_about(about), "cores": os.cpu_count(), "runs": runs, "load": before}
        _publish("The speed of descriptions", results, found, SUITES, paths, force=force, json=json)


@app.command()
def rules(
    suites: Annotated[list[str] | None, _suite_names(RULE_SUITES)] = None,
    data: Data = None,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how often rules alone name the class, beside tuned logistic regression."""
    with outcome():
        from lab.evaluation.rules import SUITES, Setting
        from lab.evaluation.suites import run_suites

        paths = _output_paths(output, force=force)
        setting = Setting(data=data, n_jobs=jobs, say=_messages(quiet))
        found = run_suites(SUITES, setting, suites or RULE_SUITES)
        results = _about(
            "Seconds are those of the processor, of a fit without the reading of texts."
        )
        _publish("Classes named by rules", results, found, SUITES, paths, force=force, json=json)


@app.command()
def stream(
    suites: Annotated[list[str] | None, _suite_names(STREAM_SUITES)] = None,
    data: Data = None,
    corpus: Annotated[
        Literal["clinc150", "20newsgroups"] | None,
        typer.Option(help="Corpus of the first two suites; by default both."),
    ] = None,
    streams: Annotated[
        int, typer.Option(min=1, max=10_000, help="Streams in which nothing changes.")
    ] = 300,
    documents: Annotated[
        int, typer.Option(min=4000, help="Documents of the suite for speed.")
    ] = 100_000,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the monitor: false alarms, delay of new classes, events of the news, speed.

    The comparison needs river (pip install river) for Page-Hinkley and ADWIN.
    """
    with outcome():
        from lab.evaluation.stream import SUITES, Setting
        from lab.evaluation.suites import run_suites

        paths = _output_paths(output, force=force)
        names = {"clinc150": "CLINC150", "20newsgroups": "20 Newsgroups"}
        setting = Setting(
            data=data,
            n_jobs=jobs,
            say=_messages(quiet),
            corpora=tuple(names.values()) if corpus is None else (names[corpus],),
            streams=streams,
            documents=documents,
        )
        found = run_suites(SUITES, setting, suites or STREAM_SUITES)
        counted = "false-alarms" in (suites or STREAM_SUITES)
        about = f"{streams} streams in which nothing changes; windows of 200 documents."
        results = {**_about(about if counted else ""), "streams": streams}
        _publish(
            "The quality of the monitor", results, found, SUITES, paths, force=force, json=json
        )


def _messages(quiet: bool) -> Callable[[str], None]:
    return (lambda message: None) if quiet else say


def _output_paths(output: Path | None, *, force: bool) -> list[Path]:
    """Return the paths of the page and of the JSON file; fail now if they cannot be written."""
    paths = [Path(f"{output}{ending}") for ending in (".md", ".json")] if output else []
    for path in paths:
        check_outputs(path, force=force)
    return paths


def _about(note: str) -> dict[str, Any]:
    return {
        "newfound": version("newfound"),
        "python": platform.python_version(),
        "command": shlex.join(["python", "-m", "lab", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
        "note": note,
    }


def _page(title: str, about: dict[str, Any], found: Results, suites: Any) -> str:
    """Return the tables as Markdown, each with the description of its suite."""
    lines = [
        f"# {title}",
        f"`{about['command']}`, newfound {about['newfound']}, {about['date']}. {about['note']}",
    ]
    for name, (table, seconds) in found.items():
        description = " ".join(cleandoc(suites[name].__doc__).split())
        lines += ["", f"## {name} ({seconds:,.0f} s)", "", description, ""]
        lines += _markdown(table)
    return "\n".join(lines)


def _markdown(table: Table) -> list[str]:
    """Return a table as lines of Markdown; a column "x, sd" is written after the ± of "x"."""
    names = [name for name in table.columns if not name.endswith(", sd")]
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    for row in table:
        cells = [_cell(row[name], row.get(f"{name}, sd")) for name in names]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(value: Any, sd: float | None = None) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if abs(value) >= 100:
        return f"{value:,.0f}"
    shown = f"{value:.2g}" if abs(value) < 1e-3 else f"{value:.4f}"
    return shown if sd is None else f"{shown} ± {sd:.4f}"


def _publish(
    title: str,
    about: dict[str, Any],
    found: Results,
    suites: Any,
    paths: Sequence[Path],
    *,
    force: bool,
    json: bool,
) -> None:
    """Print the results, and write them as a page and as JSON."""
    from newfound.storage.files import replacing

    page = _page(title, about, found, suites)
    results = {
        **about,
        "suites": {
            name: {"seconds": round(seconds, 1), "rows": table.to_records()}
            for name, (table, seconds) in found.items()
        },
    }
    for path, text in zip(paths, (page, json_format.dumps(results, indent=1)), strict=False):
        with replacing(path, force=force) as aside:
            aside.write_text(text + "\n", encoding="utf-8")
    if json:
        print_json(results)
    else:
        print(page)
