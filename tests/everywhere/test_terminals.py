"""Nothing that a user, a file or a document says steers the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from newfound.cli import app
from newfound.cli.console import print_json
from newfound.marks import visible
from newfound.table import Table

CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
CONTROLS += (
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # of direction
)


def test_no_control_character_reaches_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert not set(visible(CONTROLS)) & set(CONTROLS) - set("\t\n")
    print_json({"word": CONTROLS})
    printed = capsys.readouterr().out
    assert not set(printed) & set(CONTROLS) - {"\n"}
    assert json.loads(printed)["word"] == CONTROLS
    table = Table({"word": np.array([f"{letter}x" for letter in CONTROLS], object)})
    assert not set(repr(table)) & set(CONTROLS) - {"\n", "\t"}


@pytest.mark.parametrize(
    "asked",
    [
        ["describe", "--known", "x\x1b[31m\x9b\u202e", "--novel", "x\x1b[31m\x9b\u202e"],
        ["describe", "--known", "a", "--novel", "b", "--top", "\x1b[31m\u2066"],
        ["describe", "--kn\x1b[31m\x9b\u202e"],
        [
            "monitor",
            "--every",
            "\x1b[31m\x9b\u202e",
            "--model",
            "m",
            "--incoming",
            "-",
            "--state",
            "s",
        ],
        ["\x1b[31m\x9b\u202e"],
        ["--\x1b[31m\x9b\u202e"],
    ],
)
def test_no_control_character_of_an_argument_reaches_a_terminal(asked: list[str]) -> None:
    told = CliRunner().invoke(app, asked)
    assert told.exit_code
    assert not set(told.output) & set(CONTROLS) - {"\n"}, asked


def test_nothing_of_a_table_steers_a_terminal(tmp_path: Path) -> None:
    """Texts, labels, values, ids, columns, dates and names of files, wherever they are shown."""
    evil = "\x1b[31m\x9b1m\u202eb\u2066\x07"
    topics = {f"rugby{evil}": "scrum try pass wing", f"cricket{evil}": "wicket over six bat"}
    rows = [
        f'"{topic}","{evil} {one} and {evil} {two} of match {n}","{evil}{n}",2003-0{1 + n % 4}-01'
        for topic, terms in topics.items()
        for n in range(10)
        for one in terms.split()
        for two in terms.split()
    ]
    flights = [f'"","{evil} a flight to {evil} Oslo {n}","{evil}{n}",2003-05-01' for n in range(40)]
    header, table = f"topic{evil},text,id,day", tmp_path / f"a{evil}.csv"
    table.write_text("\n".join([header, *rows]), "utf-8")
    (tmp_path / f"{evil}.csv").write_text("\n".join([header, *flights]), "utf-8")
    model, state, incoming = tmp_path / f"m{evil}", tmp_path / "state", tmp_path / f"{evil}.csv"
    stream = tmp_path / f"{evil}.jsonl"
    stream.write_text("".join(json.dumps({"text": text}) + "\n" for text in (*rows, *flights)))
    small = ["--n-clauses", "10", "--T", "5", "--epochs", "2", "--machines", "2"]
    describe = ["describe", "--documents", table, *small, "--by"]
    new = ["--incoming", incoming]
    learn = ["detect", "--labels-column", f"topic{evil}", "--alpha", "0.2", "--known", table]
    good: list[list[Any]] = [
        [*describe, f"column:topic{evil}"],
        ["describe", "--known", table, "--novel", incoming, *small],
        [*learn, *new, "--save", model],
        ["detect", "--model", model, *new, "--json"],
        ["detect", "--model", model, *new, "--json-lines"],
        ["explain", model, f"{evil} the scrum of a{evil} flight", "--quiet"],
        ["explain", model, f"{evil} the scrum", "--json"],
        ["monitor", "--model", model, "--incoming", stream, "--state", state, "--once",
         "--every", "10"],
        ["monitor", "topics", "--state", state],
        ["monitor", "alerts", "--state", state],
    ]  # fmt: skip
    bad: list[list[Any]] = [
        [*describe, "month", "--date-column", f"topic{evil}"],
        [*learn, *new, "--text-column", f"no{evil}"],
        ["monitor", "--model", model, "--incoming", tmp_path / f"no{evil}", "--state", state],
        ["serve", "--model", f"x{evil}={model}"],
    ]
    for run in (*good, *bad):
        told = CliRunner().invoke(app, list(map(str, run)))
        assert not set(told.output) & set(CONTROLS) - {"\n", "\t"}, run
        assert bool(told.exit_code) == (run in bad), told.output
