"""Two small files of documents, and the command line that compares them."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from newfound.cli import app
from waiting import PATIENCE

COMMAND = str(Path(sysconfig.get_path("scripts"), "newfound"))
KNOWN = ["the batsman hit six", "a cricket match in England", "six wickets in the match"] * 8
NOVEL = ["the scrum won the ball", "a rugby match in England", "old rugby try in the match"] * 8
SMALL = [
    "--n-clauses", "20", "--epochs", "10", "--min-df", "1", "--jobs", "1", "--keep-copies",
]  # fmt: skip


class Piles:
    """Two files of documents, and the arguments that name them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = folder / "known.txt"
        self.novel = folder / "novel.txt"
        self.write(KNOWN, NOVEL)

    def write(self, known: list[str], novel: list[str]) -> Piles:
        for path, lines in ((self.known, known), (self.novel, novel)):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return self

    @property
    def arguments(self) -> list[str]:
        return ["describe", "--known", str(self.known), "--novel", str(self.novel), *SMALL]

    def new_files(self) -> list[str]:
        return sorted({*os.listdir(self.folder)} - {"known.txt", "novel.txt"})


def call(*arguments: object, input: str | bytes | None = None) -> Any:
    """Call the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False, **options
    )


def refused(result: Any, message: str, status: int = 1) -> None:
    """Expect one sentence on standard error after what was read, and no result."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    *talk, last = result.stderr.splitlines()
    assert message in last
    assert last.startswith("newfound: ")
    assert "Traceback" not in result.stderr
    assert all(line.startswith(("newfound: known: ", "newfound: novel: ")) for line in talk)
