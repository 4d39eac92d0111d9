"""``python -m lab reproduce``: the paper's experiments, ours beside the published figures."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from newfound.cli.console import outcome, print_json, say, show, working
from newfound.cli.options import Jobs, Json, Preset, Quiet, Seed, even

if TYPE_CHECKING:
    from newfound.machine.native import EpochInfo

__all__ = ["reproduce"]

_STYLES = {"yes": "green", "different": "yellow", "no": "red"}


class Part(StrEnum):
    """The experiments that can be reproduced."""

    case_study = "case-study"
    bbcsport = "bbcsport"
    newsgroups = "20newsgroups"
    all = "all"


def reproduce(
    part: Annotated[Part, typer.Argument(help="Experiment of the paper.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for tables, figures and the page.")
    ] = Path("newfound-reproduction"),
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Number of seeds.")] = 5,
    seed: Seed = 0,
    preset: Annotated[
        Preset, typer.Option(help="Parameters of the paper, or the defaults of newfound.")
    ] = Preset.paper,
    n_clauses: Annotated[
        int | None,
        typer.Option(
            min=2, callback=even, help="Rules for each side, an even number; fewer are faster."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the documents; fewer are faster.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Data set, or folder of data sets; by default NEWFOUND_DATA."),
    ] = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download a data set that is missing.")
    ] = False,
    verify: Annotated[
        bool, typer.Option(help="Check that a data set has the expected documents.")
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Start again in a folder that is not empty.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Reuse the seeds that are finished in the folder.")
    ] = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments and compare them with the published figures.

    Writes tables (CSV, JSON), figures (PNG) and a page, index.html, to a folder, and prints which
    of the paper's claims hold. Finished seeds are stored, so that an interrupted run can continue
    with --resume. Five seeds of BBC Sport take some minutes, those of 20 Newsgroups half an hour.
    """
    with outcome():
        from lab.reproduce import PARTS
        from lab.reproduce import reproduce as run

        chosen = {"preset": preset.value, "n_clauses": n_clauses, "epochs": epochs}
        try:
            results = run(
                PARTS if part is Part.all else [part.value],
                output,
                seeds=range(seed, seed + seeds),
                data=data,
                download=download,
                verify=verify,
                force=force,
                resume=resume,
                n_jobs=jobs,
                fitting=_announced(quiet=quiet),
                say=None if quiet else say,
                command=shlex.join(["python", "-m", "lab", *sys.argv[1:]]),
                **{name: value for name, value in chosen.items() if value is not None},
            )
        except KeyboardInterrupt:
            if any(output.glob("*/seeds/*.json.gz")) and not quiet:
                say(f"finished seeds are stored in {output}; continue with --resume.")
            raise
        if json:
            print_json(results)
        else:
            _print(results)
        if not quiet:
            say(f"wrote the page to {output / 'index.html'}.")


def _announced(*, quiet: bool) -> Callable[[str], Any]:
    """Return a function that announces a fit and shows its progress."""
    from newfound.runs import epochs_of

    @contextmanager
    def fitting(what: str) -> Iterator[Callable[[EpochInfo], None] | None]:
        if not quiet:
            say(f"{what} ...")
        with working(quiet=quiet) as update:
            yield epochs_of(update)

    return fitting


def _print(results: dict[str, Any]) -> None:
    for name, found in results.items():
        if name == "case-study":
            rows = [
                (row["word"], row["paper"], f"{row['fraction']} = {row['score']:.4f}",
                 "yes" if row["agrees"] else "no")
                for row in found
            ]  # fmt: skip
            show(_table("Case study: the scores of ten words", ("word", "the paper"), rows))
        elif name != "about":
            rows = [
                (row["claim"], row["paper"], row["ours"], row["holds"]) for row in found["claims"]
            ]
            columns = "the paper says", "its figure"
            show(_table(f"{name}: claims of the paper", columns, rows))
            if found["other_parameters"] is not None:
                show(Text(found["other_parameters"]))


def _table(title: str, first: tuple[str, str], rows: list[tuple[str, str, str, str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in (*first, "ours", "holds"):
        table.add_column(column)
    for *cells, holds in rows:
        table.add_row(*cells, Text(holds, _STYLES[holds]))
    return table
