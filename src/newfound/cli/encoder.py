"""``newfound encoder``: the encoders that have a name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from newfound.cli.console import outcome, print_line, say, working
from newfound.cli.options import Force, Quiet

__all__ = ["app"]

app = typer.Typer(
    help="Sentence encoders, so that meaning counts beside words: list them, copy or download one.",
    no_args_is_help=True,
)
Name = Annotated[
    str | None, typer.Option(help="Name for --encoder; by default that of the folder.")
]


@app.command("list")
def list_encoders() -> None:
    """Print the names of the encoders that --encoder takes, and where they are."""
    from newfound.detection.encoder_shelf import encoder_names, shelf

    with outcome():
        names = encoder_names()
        for name in names:
            print_line(name)
        number = f"{len(names):,} encoder{'s'[: len(names) != 1]}"
        say(f"{number}, of installed packages and in {shelf()}.")


@app.command()
def add(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder with tokenizer.json and model.onnx or model.safetensors."),
    ],
    name: Name = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Copy an encoder from a folder to where detectors find it by its name."""
    from newfound.detection.encoder_shelf import add_encoder

    with outcome():
        _told(add_encoder(folder, name, force=force), quiet=quiet)


@app.command()
def get(
    repository: Annotated[
        str, typer.Argument(help="Such as sentence-transformers/all-MiniLM-L6-v2.")
    ],
    name: Name = None,
    revision: Annotated[str, typer.Option(help="Branch, tag or commit.")] = "main",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Download an encoder from the Hugging Face Hub, or from the server that HF_ENDPOINT names."""
    from newfound.detection.encoder_shelf import download_encoder

    with outcome():
        with working(quiet=quiet) as progress:
            made = download_encoder(
                repository, name, revision=revision, force=force, progress=progress
            )
        _told(made, quiet=quiet)


def _told(made: Path, *, quiet: bool) -> None:
    if not quiet:
        say(f"{made}: give it as --encoder {made.name}.")
