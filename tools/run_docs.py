"""Run the blocks of a page, and write what they print: ``python tools/run_docs.py PAGE``.

In a page that is run,

- ``python`` blocks are executed, one after the other, with the same names;
- ``pycon`` blocks are sessions of Python, with what each step prints;
- ``console`` blocks are commands after ``$``, with what each prints. A line ``...`` says that more
  is printed than the page shows;
- ``sh`` blocks are commands whose output the page does not show. Those of newfound are run, with
  few rules, because only their options matter; a service is not started.

The tests run the same pages and compare. Pages are run in an empty folder, 120 columns wide.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FENCE = re.compile(r"^```(python|pycon|console|sh)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CUT = "..."
QUICK = "--n-clauses 20 --machines 2 --epochs 2"


def run_page(path: Path, names: dict[str, Any] | None = None) -> str:
    """Run the blocks of a page in the current folder; return the page with what they print."""
    names = {"__name__": "__main__"} if names is None else names

    def again(match: re.Match[str]) -> str:
        kind, code = match.groups()
        if kind == "python":
            exec(compile(code, str(path), "exec", dont_inherit=True), names)
            return match[0]
        if kind == "sh":
            run_quickly(code)
            return match[0]
        made = session(code, names, path) if kind == "pycon" else commands(code)
        return f"```{kind}\n{made}```"

    return FENCE.sub(again, path.read_text("utf-8"))


def session(code: str, names: dict[str, Any], path: Path) -> str:
    """Run a session of Python; return it with what each step prints."""
    lines = []
    for example in doctest.DocTestParser().get_examples(code):
        first, *others = example.source.rstrip("\n").split("\n")
        lines += [f">>> {first}", *(f"... {line}".rstrip() for line in others)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example.source, str(path), "single", dont_inherit=True), names)
        lines += shown(printed.getvalue(), example.want)
    return "".join(f"{line}\n" for line in lines)


def commands(code: str) -> str:
    """Run the commands of a block; return them with what each prints."""
    lines = []
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        source = re.match(r"(?:.*\\\n)*.*\n?", part)
        assert source is not None
        lines += [f"$ {source[0]}".rstrip("\n"), *shown(run(source[0]), part[source.end() :])]
    return "".join(f"{line}\n" for line in lines)


def run(command: str, statuses: tuple[int, ...] = (0,), given: str | None = None) -> str:
    """Run a command of newfound in this process; return what a terminal would show."""
    from typer.testing import CliRunner

    from newfound.cli import app

    program, *arguments = shlex.split(command.replace("\\\n", " "), comments=True)
    if program != "newfound":
        raise ValueError(f"Pages run commands of newfound only, not {program!r}.")
    result = CliRunner().invoke(app, arguments, input=given, catch_exceptions=False)
    if result.exit_code not in statuses:
        raise RuntimeError(f"{command.strip()} ended with {result.exit_code}:\n{result.output}")
    return str(result.output)


def run_quickly(code: str) -> None:
    """Run the commands of newfound in a shell block, with few rules."""
    for line in code.replace("\\\n", " ").splitlines():
        if line.startswith("newfound describe "):
            run(f"{line} {QUICK}")
        elif line.startswith("newfound ") and not line.startswith("newfound serve"):
            run(line)


def shown(printed: str, before: str) -> list[str]:
    """Return the lines that a page shows: all, or as many as it showed before a line ``...``."""
    made = [line.rstrip() for line in printed.rstrip().splitlines()]
    lines = before.rstrip().splitlines()
    if lines and lines[-1].strip() == CUT:
        return [*made[: len(lines) - 1], CUT]
    return made


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Change to an empty folder, 120 columns wide, for as long as pages are run."""
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "120"
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            yield
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns


def main() -> None:
    """Run the named pages and write them again."""
    for page in [Path(name).resolve() for name in sys.argv[1:]]:
        with empty_folder():
            made = run_page(page)
        if made != page.read_text("utf-8"):
            page.write_text(made, encoding="utf-8")
            print(f"wrote {page}")


if __name__ == "__main__":
    main()
