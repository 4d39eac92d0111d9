"""``newfound describe --stream``: documents that are read batch by batch, several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from newfound.cli.console import say, working
from newfound.sides import SIDES
from newfound.text.formats import is_dataset

if TYPE_CHECKING:
    from newfound.cli.files import Inputs
    from newfound.runs import Described, DescribeRun
    from newfound.scale.arrow import Checkpoint
    from newfound.scale.sources import DatedSides, Sides, Source

__all__ = ["StreamOptions", "StreamedPile", "describe_stream", "is_stream"]


@dataclass(frozen=True)
class StreamOptions:
    """The options of a stream of documents."""

    sample: int | None
    skip_bad: bool
    checkpoint: Path | None


@dataclass(frozen=True)
class StreamedPile:
    """How many documents a side has, where they come from, and what was left out."""

    source: str
    n: int
    found: Mapping[str, int]

    def __len__(self) -> int:
        return self.n


def is_stream(inputs: Inputs, options: StreamOptions, *, stream: bool, pairs: bool) -> bool:
    """Return whether documents are to be streamed; reject options that do not go together."""
    stream = stream or any(map(is_dataset, inputs.paths))
    if not stream:
        for name, value in vars(options).items():
            if value:
                option = "--" + name.replace("_", "-")
                raise typer.BadParameter(f"{option} is for --stream; give --stream, too.")
        return False
    if inputs.by is not None and not inputs.names:
        raise typer.BadParameter(
            f"--by {inputs.by}: a stream is read three times for each comparison, and --by makes "
            "many; use --dates-from DAY for one at a time."
        )
    if len(inputs.paths) > 2 or inputs.names or "-" in inputs.paths:
        raise typer.BadParameter(
            "--stream is for files of --known and --novel documents, or of --documents with "
            "--dates-from."
        )
    if pairs:
        raise typer.BadParameter("--pairs: pairs are not counted in a stream; leave out --pairs.")
    return True


def describe_stream(run: DescribeRun, options: StreamOptions, *, quiet: bool) -> Described:
    """Describe the documents of two paths, or of one by their dates; say what was read."""
    from newfound.runs import Described
    from newfound.scale.describing import SAMPLE, describe_with
    from newfound.scale.engines import Batches
    from newfound.scale.sources import DatedSides, Sides, Source

    paths = [str(given.path) for given in run.inputs]
    asked = [dict(given.options) for given in run.inputs]
    sources = [
        Source(path, text_column=given["text_column"], format=given["format"],
               encoding=given["encoding"], date_column=given.get("date_column"),
               skip_bad=options.skip_bad)
        for path, given in zip(paths, asked, strict=True)
    ]  # fmt: skip
    sides: Sides | DatedSides
    sides = Sides(*sources) if run.dates_from is None else DatedSides(sources[0], run.dates_from)
    sample = options.sample or SAMPLE
    asked = [{name: value for name, value in one.items() if name != "encoding"} for one in asked]
    begun = {"options": asked, "dates_from": run.dates_from, "sample": sample}
    checkpoint = _checkpoint(options.checkpoint, sides, run.parameters, begun)
    began = perf_counter()
    with working(quiet=quiet) as progress:
        current, drawn = [""], [0]
        rows = None if progress is None else [source.n_rows() for source in sources]
        total = sum(n or 0 for n in rows) if rows and None not in rows else 0

        def step(name: str) -> None:
            current[0] = name

        def sampled(n: int) -> None:
            drawn[0] = n

        def done(batches: int) -> None:
            if progress is not None:
                n = sum(source.n_documents for source in sources)
                progress(current[0], n, max(total, n))

        engine = Batches(sides, run.parameters.get("n_jobs"), done, checkpoint)
        describer = describe_with(
            engine, text="text", side="side", date=sides.date, sample=sample, step=step,
            sampled=sampled, **run.parameters,
        )  # fmt: skip
    description = replace(describer.description_, names=run.names)
    piles = [
        StreamedPile(path, description.n_documents[side], dict(source.found))
        for path, side, source in zip(
            islice(cycle(paths), 2), SIDES, islice(cycle(sources), 2), strict=True
        )
    ]
    if isinstance(sides, DatedSides):
        undated = {"undated": sides.undated} if sides.undated else {}
        piles = [
            replace(piles[0], found={**piles[0].found, **undated}),
            replace(piles[1], found={}),
        ]
    if not quiet:
        _say_what_was_read(sources, piles, drawn[0], perf_counter() - began)
    known, novel = piles
    return Described(run, description, known, novel)


def _checkpoint(
    folder: Path | None,
    sides: Sides | DatedSides,
    parameters: Mapping[str, Any],
    run: Mapping[str, Any],
) -> Checkpoint | None:
    from newfound.scale.arrow import Checkpoint
    from newfound.scale.sources import BATCH

    if folder is None:
        return None
    asked = {name: value for name, value in parameters.items() if name != "n_jobs"}
    files = sides.fingerprint()
    return Checkpoint(folder, {**run, "files": files, "parameters": asked, "batch": BATCH})


def _say_what_was_read(
    sources: Sequence[Source], piles: Sequence[StreamedPile], drawn: int, seconds: float
) -> None:
    for source in sources:
        if source.n_documents:
            say(source.summary())
        for problem in source.problems:
            say(f"left out: {problem}")
    total, learned = sum(map(len, piles)), "all of them"
    if drawn < total:
        learned = f"a sample of {drawn:,}, and measured on all of them"
    say(f"described {total:,} documents in {seconds:,.0f} s; rules and themes are learned from "
        f"{learned}.")  # fmt: skip
