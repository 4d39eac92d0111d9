"""``python -m lab distil``: static vectors from the sentence vectors of an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from newfound.cli.console import outcome, print_json, say, working
from newfound.cli.options import Data, Force, Jobs, Quiet, check_outputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["app"]

# Texts of each kind; all examples of WordNet are taken.
SIZES = {"definitions": 40_000, "words": 0, "requests": 90_000, "others": 25_000}

app = typer.Typer(
    help="Make static vectors of tokens from an encoder.",
    no_args_is_help=True,
)
Seed = Annotated[int, typer.Option(min=0, help="Seed of the draws.")]


@app.command()
def texts(
    wordnet: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="Folder with data.noun of WordNet.")
    ],
    output: Annotated[Path, typer.Option(help="File to write, a text a line.")],
    data: Data = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Make texts to learn from: of WordNet 3.0, headlines of ABC News, and requests."""
    with outcome():
        from lab.datasets import load_abcnews
        from lab.distillation.texts import make_texts, read_synsets
        from newfound.storage.files import replacing

        check_outputs(output, force=force)
        headlines = load_abcnews(data).texts
        made = list(make_texts(read_synsets(wordnet), headlines, SIZES, seed))
        with replacing(output, force=force) as aside:
            aside.write_text("\n".join(made) + "\n", encoding="utf-8")
        say(f"{len(made):,} texts in {output}")


@app.command()
def vectors(
    teacher: Annotated[
        Path,
        typer.Option(exists=True, file_okay=False, help="Encoder to learn from, a folder."),
    ],
    corpus: Annotated[
        list[Path], typer.Option(exists=True, dir_okay=False, help="Files with a text a line.")
    ],
    output: Annotated[Path, typer.Option(help="Folder to write.")],
    encoded: Annotated[
        Path | None,
        typer.Option(help="File .npy to keep the teacher's vectors in, or to read them from."),
    ] = None,
    dimensions: Annotated[int, typer.Option(min=2, help="Numbers of a vector.")] = 160,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Learn a vector for each token, so that means are near the teacher's vectors of texts."""
    with outcome():
        from tokenizers import Tokenizer

        from lab.distillation.vectors import Constants, distil, token_means, write_encoder

        output.mkdir(parents=True, exist_ok=True)
        check_outputs(output / "model.safetensors", output / "tokenizer.json", force=force)
        lines = [line for file in corpus for line in file.read_text("utf-8").splitlines()]
        given = [line for line in dict.fromkeys(lines) if line.strip()]
        tokenizer = Tokenizer.from_file(str(teacher / "tokenizer.json"))
        tokenizer.no_padding()
        rows = _teacher_vectors(teacher, tokenizer, given, encoded, jobs=jobs, quiet=quiet)
        means = token_means(tokenizer, given)
        made, figures = distil(rows, means, Constants(dimensions=dimensions), seed)
        write_encoder(output, tokenizer, made)
        print_json({name: round(value, 4) for name, value in figures.items()})


def _teacher_vectors(
    teacher: Path, tokenizer: Any, given: list[str], encoded: Path | None, *, jobs: int, quiet: bool
) -> NDArray[np.float16]:
    """Return the teacher's vectors of tokens and texts, from a file if they are there."""
    from lab.distillation.vectors import teacher_vectors
    from newfound.detection.encoder_shelf import load_encoder

    if encoded is not None and encoded.is_file():
        rows: NDArray[np.float16] = np.load(encoded, allow_pickle=False)
        if len(rows) != tokenizer.get_vocab_size() + len(given):
            raise ValueError(f"{str(encoded)!r} has the vectors of other texts.")
        return rows
    with working(quiet=quiet) as seen:
        total = tokenizer.get_vocab_size() + len(given)
        rows = teacher_vectors(
            load_encoder(teacher, n_jobs=jobs),
            tokenizer,
            given,
            lambda n: seen("Encoding", n, total) if seen else None,
        )
    if encoded is not None:
        np.save(encoded, rows)
    return rows
