"""What the command line shows: results on standard output, messages on standard error."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NoReturn, TextIO

from rich.console import Console, Group, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from newfound.cli import interrupts
from newfound.cli.interrupts import INTERRUPTED
from newfound.marks import unsteered, visible

__all__ = [
    "Terminal",
    "open_standard_streams",
    "outcome",
    "print_json",
    "print_line",
    "say",
    "show",
    "working",
]

_WIDTH_OF_A_PIPE = 120
_MANY = 10_000  # documents, from which on their rate is shown


def say(message: object) -> None:
    """Print a message on standard error, as one line."""
    line = " ".join(visible(str(message)).split())
    print(f"newfound: {line}", file=sys.stderr, flush=True)


def open_standard_streams() -> None:
    """Open standard streams that the caller closed, or files would take their places.

    Input is then empty, messages are lost, and printing results is an error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115


_INTERRUPTED = "interrupted; no file was left half-written."


@contextmanager
def outcome() -> Iterator[None]:
    """Turn an error into one sentence and exit status 1, failure."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        say(_INTERRUPTED)
        _leave(INTERRUPTED)
    except BrokenPipeError:
        # The reader, such as head, closed the pipe; files were written before.
        _leave(0)
    except MemoryError as error:
        _fail(
            str(error) or "not enough memory; use fewer documents or clauses, or a higher --min-df."
        )
    except SystemError:  # what Python itself raises here and there when an allocation fails
        _fail("Python failed, most probably for lack of memory; use fewer documents or clauses.")
    except OSError as error:
        _fail(_sentence(error))
    except (ImportError, ValueError) as error:
        _fail(error)


def _fail(message: object) -> NoReturn:
    """Say what went wrong and end; what Control-C has caused is no error of its own."""
    if interrupts.came():
        say(_INTERRUPTED)
        _leave(INTERRUPTED)
    say(message)
    _leave(1)


def _sentence(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}."


def _leave(status: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:
        # Otherwise the interpreter flushes again when it ends, and prints a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(status)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let `outcome` handle it."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """Return a console as wide as the terminal; it replaces characters the encoding lacks."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH_OF_A_PIPE
    return _Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


@contextmanager
def _standard_output() -> Iterator[None]:
    """Flush at the end, so that a failure can still be reported."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"Cannot write to standard output: {error.strerror}."
        raise OSError(error.errno, reason) from error


def show(*parts: RenderableType) -> None:
    """Print on standard output."""
    with _standard_output():
        console(sys.stdout).print(Group(*parts))


def print_json(data: object, *, indent: int | None = 2) -> None:
    """Print plain data as JSON on standard output; ASCII where the encoding is not UTF-8."""
    from newfound.table import as_text

    ascii = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    with _standard_output():
        text = json.dumps(data, ensure_ascii=ascii, allow_nan=False, indent=indent, default=as_text)
        print(unsteered(text))


def print_line(text: str) -> None:
    """Print one line on standard output as it is, however long, for other programs to read."""
    with _standard_output():
        print(visible(text))


@contextmanager
def working(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Return a callback that draws a progress bar, only on a terminal; show warnings at the end.

    The callback takes the name of the step, how much of it is done, and how much there is.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        if quiet or not sys.stderr.isatty():
            yield None
        else:
            with _progress() as progress:
                tasks: dict[str, TaskID] = {}

                def update(step: str, done: int, total: int) -> None:
                    if step not in tasks:
                        tasks[step] = progress.add_task(step)
                    progress.update(tasks[step], completed=done, total=total)

                yield update
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if not quiet:
            say(f"warning: {message}")


class Terminal:
    """Follows a run: prints what is said, and draws a progress bar; see `newfound.runs.Watch`."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet

    def say(self, message: str) -> None:
        """Print a message, unless it is to be quiet."""
        if not self._quiet:
            say(message)

    def steps(self) -> AbstractContextManager[Callable[[str, int, int], None] | None]:
        """Return what draws the progress; see `working`."""
        return working(quiet=self._quiet)


class _Rate(ProgressColumn):
    """How many documents are done in a second, of a step that counts many."""

    def render(self, task: Task) -> Text:
        counts = task.total is not None and task.total >= _MANY and task.speed is not None
        return Text(f"{task.speed:,.0f} a second" if counts else "")


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        _Rate(),
        console=console(sys.stderr),
        transient=True,
    )
