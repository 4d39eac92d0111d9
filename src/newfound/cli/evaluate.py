"""``newfound evaluate``: quality, ours and that of the baselines, in one run."""

from __future__ import annotations

import json as json_format
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.evaluate_documents import documents
from newfound.cli.options import Jobs, Json, Quiet, refuse_paths
from newfound.console import outcome, print_json, say

if TYPE_CHECKING:
    from newfound.tables import Table

__all__ = ["app"]

app = typer.Typer(
    help="Measure the quality of newfound and of the baselines on the public data sets.",
    no_args_is_help=True,
)
SUITE_NAMES = (
    "planted-words", "planted-pairs", "documents-from-words", "stability", "no-novelty",
    "intervals", "faithfulness",
)  # fmt: skip


@app.callback()
def _evaluate() -> None:
    pass


def _known_suites(names: list[str]) -> list[str]:
    for name in names:
        if name not in SUITE_NAMES:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(SUITE_NAMES)}.")
    return names


@app.command()
def words(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            callback=lambda given: _known_suites(given or []),
            help=f"Which suites, all by default: {', '.join(SUITE_NAMES)}.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The folder with the data sets; by default, NEWFOUND_DATA."),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="How many seeds.")] = 5,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write tables to NAME.md and NAME.json.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure word scores: planted words and pairs, held-out documents, stability, q, intervals."""
    with outcome():
        from newfound.evaluation.words import Setting, run_suites

        paths = [Path(f"{output}{ending}") for ending in (".md", ".json")] if output else []
        for path in paths:
            refuse_paths(path, None, force=force)
        talk = (lambda what: None) if quiet else say
        setting = Setting(data=data, seeds=seeds, n_jobs=jobs, say=talk)
        found = run_suites(setting, list(suites or SUITE_NAMES))
        results = {
            "newfound": version("newfound"),
            "python": platform.python_version(),
            "command": shlex.join(["newfound", *sys.argv[1:]]),
            "seeds": seeds,
            "suites": {
                name: {"seconds": round(seconds, 1), "rows": table.to_records()}
                for name, (table, seconds) in found.items()
            },
        }
        page = _page(results, {name: table for name, (table, _) in found.items()})
        for path, text in zip(paths, (page, json_format.dumps(results, indent=1)), strict=False):
            from newfound.files import written_aside

            with written_aside(path, force=force) as aside:
                Path(aside).write_text(text + "\n", encoding="utf-8")
        if json:
            print_json(results)
        else:
            print(page)


def _page(results: dict[str, Any], tables: dict[str, Table]) -> str:
    """Write the tables as Markdown."""
    lines = [
        "# The quality of words",
        f"`{results['command']}`, newfound {results['newfound']}, {results['seeds']} seeds: means "
        "and, after ±, standard deviations.",
    ]
    for name, table in tables.items():
        heads = [column for column in table.columns if not column.endswith(", sd")]
        lines += ["", f"## {name} ({results['suites'][name]['seconds']:,.0f} s)", ""]
        lines += [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        for row in table:
            cells = [row["scorer"], *(_cell(row, column) for column in heads[1:])]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: dict[str, Any], column: str) -> str:
    value, spread = row[column], row.get(f"{column}, sd")
    if value is None:
        return ""
    shown = f"{value:.4f}" if abs(value) < 1000 and abs(value) >= 1e-3 else f"{value:.2g}"
    return shown if spread is None else f"{shown} ± {spread:.4f}"


app.command()(documents)
