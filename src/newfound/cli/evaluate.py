"""``newfound evaluate``: quality, ours and that of the baselines, in one run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from newfound.cli.console import outcome, say
from newfound.cli.evaluate_documents import documents
from newfound.cli.options import Data, Force, Jobs, Json, Measurements, Quiet
from newfound.cli.outputs import Suites, known_suites, measurements_to, publish

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


@app.command()
def words(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            callback=lambda given: known_suites(given, SUITE_NAMES),
            help=f"Which suites, all by default: {', '.join(SUITE_NAMES)}.",
        ),
    ] = None,
    data: Data = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="How many seeds.")] = 5,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure word scores: planted words and pairs, held-out documents, stability, q, intervals."""
    with outcome():
        from newfound.lab.evaluation.words import Setting, run_suites

        paths = measurements_to(output, force=force)
        talk = (lambda what: None) if quiet else say
        setting = Setting(data=data, seeds=seeds, n_jobs=jobs, say=talk)
        found = run_suites(setting, list(suites or SUITE_NAMES))
        publish(found, paths, _page, force=force, json=json, seeds=seeds)


def _page(results: dict[str, Any], found: Suites) -> str:
    """Write the tables as Markdown."""
    lines = [
        "# The quality of words",
        f"`{results['command']}`, newfound {results['newfound']}, {results['seeds']} seeds: means "
        "and, after ±, standard deviations.",
    ]
    for name, (table, seconds) in found.items():
        heads = [column for column in table.columns if not column.endswith(", sd")]
        lines += ["", f"## {name} ({seconds:,.0f} s)", ""]
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
