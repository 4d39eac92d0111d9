"""The command line: it parses, calls and prints; a module for each command.

Exit status: 0: success, 1: failure (one sentence on standard error), 2: usage error, 3: as many
novel documents as ``detect --fail-on-novel`` names, 130: interrupted.
Everything heavy is imported when a command runs, so that ``newfound --help`` answers at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from newfound.cli import describe, detect, encoder, explain, interrupts, monitor, serve
from newfound.cli.console import open_standard_streams, outcome
from newfound.cli.options import OneInputCommand
from newfound.marks import visible

__all__ = ["app", "main", "run_app", "unwrap"]


# The module that it is in depends on the version of typer.
_UsageError: Any = typer.BadParameter.__bases__[0]


class _Commands(TyperGroup):
    """The commands; what is wrong in their options is said without control characters."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _visible_errors():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _visible_errors():
            return super().invoke(ctx)


@contextmanager
def _visible_errors() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        error.message = visible(error.message)
        raise


app = typer.Typer(
    name="newfound",
    cls=_Commands,
    help="Tells which words make documents new, and in what context, with rules you can read.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line of newfound."""
    run_app(app)


def run_app(app: typer.Typer) -> None:
    """Run a command line: it ends with a status, whatever goes wrong."""
    open_standard_streams()
    # For what goes wrong outside of a command: reading the arguments, printing the help. Inside of
    # one typer would be the first to see Ctrl-C and a closed pipe, and has its own ways to end.
    try:
        with outcome():
            interrupts.watch()
            app()
    except KeyboardInterrupt:
        interrupts.leave()
    except SystemExit as end:
        if end.code == interrupts.INTERRUPTED:
            interrupts.leave()
        interrupts.ignore()
        raise


def _print_version(asked: bool) -> None:
    if asked:
        print(f"newfound {version('newfound')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


app.command(cls=OneInputCommand)(describe.describe)
app.command()(describe.demo)
app.command(cls=OneInputCommand)(detect.detect)
app.command()(explain.explain)
app.command()(serve.serve)
app.add_typer(monitor.app, name="monitor")
app.add_typer(encoder.app, name="encoder")


def unwrap(commands: typer.Typer) -> None:
    """Make each paragraph of a help text one line, which the terminal wraps at its own width."""
    for command in commands.registered_commands:
        text = command.help or inspect.getdoc(command.callback) or ""
        command.help = "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
    for group in commands.registered_groups:
        if group.typer_instance is not None:
            unwrap(group.typer_instance)


unwrap(app)
