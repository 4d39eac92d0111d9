"""``newfound explain``: why a text is known or novel, according to a saved model."""

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
    model: Annotated[
        Path, typer.Argument(help="File written by describe --save or detect --save.")
    ],
    texts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Texts, or - for the lines of standard input."),
    ],
    top: Annotated[int, typer.Option(min=1, help="Number of rules of each text in the JSON.")] = 20,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Explain why a text is known or novel: its words, the rules it matches, the verdict."""
    with outcome():
        from newfound.models import load

        explainer = load(model)
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
                print_json(explainer.explain(text).to_dict(max_rules=top), indent=None)
            else:
                show(explainer.explain(text), "")
        if not found:
            raise ValueError("There is no text to explain; standard input is empty.")


def _lines(texts: Iterable[str]) -> Iterable[str]:
    """Iterate over the texts; - stands for the lines of standard input that are not blank."""
    from newfound.text.source import Reader

    for text in texts:
        if text == "-":
            reader = Reader("-")
            with reader.errors():
                lines = (record.text or "" for record in reader.records("txt"))
                yield from (line for line in lines if line.strip())
        else:
            yield text
