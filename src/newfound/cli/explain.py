"""``newfound explain``: what a saved model sees in a text."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.console import outcome, print_json, say, show
from newfound.cli.options import Json, Quiet

__all__ = ["explain"]


def explain(
    model: Annotated[Path, typer.Argument(help="A file that describe or detect --save wrote.")],
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXT...", help="Texts, or - for lines from a pipe.")
    ],
    top: Annotated[
        int, typer.Option(min=1, help="How many of the rules of each text to print as JSON.")
    ] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a saved model sees in a text: its words, the rules it matches, the votes."""
    with outcome():
        from newfound.models import load

        describer = load(model)
        for text in texts:
            if not quiet and text != "-" and os.path.isfile(text):
                command = shlex.join(["newfound", "explain", str(model), "-"])
                say(
                    "explaining the text itself; to explain a file's lines use: "
                    f"{command} < {shlex.quote(text)}"
                )
        found = False
        for text in _lines(texts):
            found = True
            if json:
                print_json(describer.explain(text).to_dict(max_rules=top), indent=None)
            else:
                show(describer.explain(text), "")
        if not found:
            raise ValueError("There is no text to explain; standard input is empty.")


def _lines(texts: Iterable[str]) -> Iterable[str]:
    """Give the texts; - stands for the lines of standard input, but for blank ones."""
    from newfound.text.readers import piped_lines

    for text in texts:
        if text == "-":
            yield from (line for line in piped_lines() if line.strip())
        else:
            yield text
