"""``newfound evaluate documents``: the quality of detection, ours and that of the baselines."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from newfound.cli.console import outcome, say
from newfound.cli.options import Data, Force, Jobs, Json, Measurements, Quiet
from newfound.cli.outputs import Suites, known_suites, measurements_to, publish

__all__ = ["documents"]

SUITE_NAMES = (
    "clinc150", "clinc150-unlabelled", "20newsgroups", "20newsgroups-each", "bbcsport",
    "false-alarms", "deletion", "speed",
)  # fmt: skip


def documents(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            callback=lambda given: known_suites(given, SUITE_NAMES),
            help=f"Which suites, all by default: {', '.join(SUITE_NAMES)}.",
        ),
    ] = None,
    data: Data = None,
    splits: Annotated[
        int, typer.Option(min=1, max=1000, help="How many splits to count false alarms on.")
    ] = 50,
    output: Measurements = None,
    force: Force = False,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure detection: known against new documents, false alarms, explanations, speed.

    Our detector and the baselines are trained on known documents only, in one run; about 20
    minutes. The deletion test compares with LIME where it is installed (pip install lime).
    """
    with outcome():
        from newfound.lab.evaluation.documents import Setting, run_suites

        paths = measurements_to(output, force=force)
        talk = (lambda what: None) if quiet else say
        setting = Setting(data=data, n_jobs=jobs, splits=splits, say=talk)
        found = run_suites(setting, list(suites or SUITE_NAMES))
        publish(found, paths, _page, force=force, json=json)


def _page(results: dict[str, Any], found: Suites) -> str:
    """Write the tables as Markdown."""
    lines = [
        "# The quality of detection",
        f"`{results['command']}`, newfound {results['newfound']}. Trained on known documents only. "
        "What the settings were chosen on is said in docs/detect.md.",
    ]
    for name, (table, seconds) in found.items():
        lines += ["", f"## {name} ({seconds:,.0f} s)", ""]
        lines += [f"| {' | '.join(table.columns)} |", f"|{'---|' * len(table.columns)}"]
        for row in table:
            lines.append(f"| {' | '.join(map(_cell, row.values()))} |")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4f}" if math.fabs(value) < 100 else f"{value:,.0f}"
