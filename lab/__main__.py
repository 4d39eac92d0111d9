"""``python -m lab``: reproduce the paper, measure the quality of newfound, make its vectors."""

from __future__ import annotations

import typer

from lab import distil, evaluate, reproduce_command
from newfound.cli import run_app, unwrap

__all__ = ["app", "main"]

app = typer.Typer(
    name="lab",
    help="Reproduces the paper's experiments, and measures newfound on public data sets.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(reproduce_command.reproduce)
app.add_typer(evaluate.app, name="evaluate")
app.add_typer(distil.app, name="distil")
unwrap(app)


def main() -> None:
    """Run the command line."""
    run_app(app)


if __name__ == "__main__":
    main()
