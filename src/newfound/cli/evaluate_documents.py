"""``newfound evaluate documents``: the quality of detection, ours and that of the baselines."""

from __future__ import annotations

import json as json_format
import math
import platform
import shlex
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.options import Jobs, Json, Quiet, refuse_paths
from newfound.console import outcome, print_json, say

if TYPE_CHECKING:
    from newfound.tables import Table

__all__ = ["documents"]

SUITE_NAMES = (
    "clinc150", "clinc150-unlabelled", "20newsgroups", "20newsgroups-each", "bbcsport",
    "false-alarms", "deletion", "speed",
)  # fmt: skip


def _known_suites(names: list[str] | None) -> list[str]:
    for name in names or ():
        if name not in SUITE_NAMES:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(SUITE_NAMES)}.")
    return names or []


def documents(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            callback=_known_suites,
            help=f"Which suites, all by default: {', '.join(SUITE_NAMES)}.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="The folder with the data sets; by default, NEWFOUND_DATA."),
    ] = None,
    splits: Annotated[
        int, typer.Option(min=1, max=1000, help="How many splits to count false alarms on.")
    ] = 50,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write tables to NAME.md and NAME.json.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    jobs: Jobs = 1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure detection: known against new documents, false alarms, explanations, speed.

    Our detector and the baselines are trained on known documents only, in one run; about 20
    minutes. The deletion test compares with LIME where it is installed (pip install lime).
    """
    with outcome():
        from newfound.evaluation.documents import Setting, run_suites
        from newfound.files import written_aside

        paths = [Path(f"{output}{ending}") for ending in (".md", ".json")] if output else []
        for path in paths:
            refuse_paths(path, None, force=force)
        talk = (lambda what: None) if quiet else say
        setting = Setting(data=data, n_jobs=jobs, splits=splits, say=talk)
        found = run_suites(setting, list(suites or SUITE_NAMES))
        results = {
            "newfound": version("newfound"),
            "python": platform.python_version(),
            "command": shlex.join(["newfound", *sys.argv[1:]]),
            "suites": {
                name: {"seconds": round(seconds, 1), "rows": table.to_records()}
                for name, (table, seconds) in found.items()
            },
        }
        page = _page(results, {name: table for name, (table, _) in found.items()})
        for path, text in zip(paths, (page, json_format.dumps(results, indent=1)), strict=False):
            with written_aside(path, force=force) as aside:
                aside.write_text(text + "\n", encoding="utf-8")
        if json:
            print_json(results)
        else:
            print(page)


def _page(results: dict[str, Any], tables: dict[str, Table]) -> str:
    """Write the tables as Markdown."""
    lines = [
        "# The quality of detection",
        f"`{results['command']}`, newfound {results['newfound']}. Trained on known documents only. "
        "What the settings were chosen on is said in docs/detect.md.",
    ]
    for name, table in tables.items():
        lines += ["", f"## {name} ({results['suites'][name]['seconds']:,.0f} s)", ""]
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
