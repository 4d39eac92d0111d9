"""The command line in the process of the tests: a start of Python costs more than most commands."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from newfound.cli import app


def call(
    *arguments: object, folder: Path | str = ".", stdin: str | bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """Call the command as if it were started in a folder."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception  # a process would end with a traceback
    return subprocess.CompletedProcess(
        list(map(str, arguments)), result.exit_code, result.stdout, result.stderr
    )
