"""``newfound detect`` with ``--stream`` or ``--json-lines``: documents that come batch by batch."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from newfound.cli.console import print_json, say
from newfound.cli.files import columns_left_out
from newfound.show.data import Found, named_groups

if TYPE_CHECKING:
    from newfound.detection.detection import Detection
    from newfound.detection.detector import NoveltyDetector
    from newfound.scale.arrow import Parts
    from newfound.scale.scoring import Tally
    from newfound.scale.sources import Source
    from newfound.text.documents import Documents
    from newfound.text.records import Row

__all__ = ["check_stream", "detect_stream", "print_lines"]

_ONLY_STREAM = ("sample", "no_reasons", "skip_bad", "checkpoint")
_NOT_STREAM = ("report", "json_lines")
_BATCH = 500  # documents of a file; those of a pipe are answered one by one


def check_stream(context: typer.Context, output: Path | None, *, stream: bool) -> None:
    """Reject options that a stream does not have, and those that only a stream has."""
    for name in _NOT_STREAM if stream else _ONLY_STREAM:
        source = context.get_parameter_source(name)
        if source is None or source.name == "DEFAULT":
            continue
        option = "--" + name.replace("_", "-")
        if stream:
            raise typer.BadParameter(f"{option} is not for a stream of documents; leave it out.")
        raise typer.BadParameter(f"{option} is for --stream; give --stream, too.")
    if stream and output is not None and output.suffix.lower() in (".json", ".jsonl"):
        raise typer.BadParameter(f"--output {output}: a stream is written to .csv or .parquet.")


def detect_stream(
    detector: NoveltyDetector,
    path: str,
    options: dict[str, Any],
    *,
    known: Sequence[str] | None,
    output: Path | None,
    force: bool,
    reasons: bool,
    describe: bool,
    top: int,
    sample: int,
    checkpoint: Path | None,
    quiet: bool,
    progress: Callable[[str, int, int], None] | None,
) -> Found:
    """Score and write the documents of a path; describe and group a sample of the novel ones."""
    from newfound.detection.detection import is_own_column
    from newfound.scale.arrow import Parts, pyarrow, row_writer
    from newfound.scale.scoring import Tally, scored_schema
    from newfound.scale.sources import Source
    from newfound.text.documents import DocumentError

    began = perf_counter()
    keep = None if output is None or detector.redact else _Others()  # they are not redacted
    source, tally = Source(path, **options, keep=keep), Tally(detector, top=top, sample=sample)
    if keep is not None and keep.left_out and not quiet:
        say(columns_left_out(keep.left_out))
    schema = scored_schema(source.schema, detector, reasons=reasons)
    others = [name for name in schema.names if not is_own_column(name)]
    own = [name for name in schema.names if is_own_column(name)]
    written = pyarrow().schema([schema.field(name) for name in (*own, *others)])
    writer = nullcontext(None) if output is None else row_writer(output, written, force=force)
    total = None if progress is None else source.n_rows()
    kept = None
    if checkpoint is not None:
        kept = Parts(checkpoint, _run(detector, source, options, schema, reasons=reasons), schema)
    with writer as write:
        for batch in _scored(detector, source, kept, reasons=reasons):
            tally.add(batch.select(own))
            if write is not None:
                write(batch.select(written.names))
            if progress is not None:
                progress("Scoring", tally.n, total or tally.n)
        if not tally.n:
            raise DocumentError(f"There are no incoming documents with text in {path}.")
    if not quiet:
        seconds = perf_counter() - began
        say(f"{source.summary()}; {tally.n / seconds:,.0f} documents a second")
        for problem in source.problems:
            say(f"left out: {problem}")
        if output is not None:
            say(f"wrote the documents to {output}.")
    detection = None
    if tally.n_novel:
        detection = detector.detect(tally.sample, known=known, describe=describe, progress=progress)
    return _found(path, source, tally, detection)


class _Others:
    """Which other columns of the documents are written: those that are not called like ours."""

    def __init__(self) -> None:
        self.left_out: list[str] = []

    def __call__(self, name: str) -> bool:
        from newfound.detection.detection import is_own_column

        if is_own_column(name):
            self.left_out.append(name)
            return False
        return True


def _run(
    detector: NoveltyDetector,
    source: Source,
    options: dict[str, Any],
    schema: Any,
    *,
    reasons: bool,
) -> dict[str, Any]:
    """Return what tells a run from others: its files, its options, columns and detector."""
    held_back = hashlib.sha256(detector.calibration_.scores.tobytes()).hexdigest()
    model = {"alpha": detector.calibration_.alpha, "held_back": held_back}
    run = {"files": source.fingerprint(), "options": options, "reasons": reasons, "model": model}
    return {**run, "columns": schema.names}


def _scored(
    detector: NoveltyDetector, source: Source, kept: Parts | None, *, reasons: bool
) -> Iterator[Any]:
    """Iterate over scored batches: those that were kept, and the others, which are kept now."""
    from newfound.scale.scoring import score

    begun = 0
    if kept is not None:
        begun = kept.n_batches
        yield from kept
    rest = islice(source, begun, None)
    for batch in score(rest, detector, reasons=reasons, n_jobs=detector.n_jobs):
        if kept is not None:
            kept.add(batch)
        yield batch


def _found(path: str, source: Source, tally: Tally, detection: Detection | None) -> Found:
    return Found(
        source=path,
        n=tally.n,
        n_novel=tally.n_novel,
        left_out=dict(source.found),
        detector=tally.detector,
        alpha=tally.alpha,
        share=tally.share,
        expected_false=tally.expected_false,
        most_novel=tally.most_novel,
        rows=list(_with_groups(tally.most_novel, detection)),
        groups=[] if detection is None else named_groups(detection),
        description=None if detection is None else detection.description,
        stream={"sampled": len(tally.sample), "could_not_be_read": dict(source.bad)},
    )


def _with_groups(
    rows: Sequence[dict[str, Any]], detection: Detection | None
) -> Iterator[dict[str, Any]]:
    """Add the group of each row, where it is in the sample, and what was not asked for."""
    groups = {}
    if detection is not None:
        columns = (detection[name].tolist() for name in ("document", "group", "group_name"))
        groups = {name: (number, title) for name, number, title in zip(*columns, strict=True)}
    for row in rows:
        number, title = groups.get(row["document"], (0, ""))
        yield {
            "why": "",
            "reasons": [],
            "newest_sentence": "",
            **row,
            "group": number,
            "group_name": title,
        }


def print_lines(
    detector: NoveltyDetector, path: str, options: dict[str, Any], encoding: str | None
) -> int:
    """Print a JSON object a line for each document of a path; return how many are novel."""
    from newfound.table import jsonable
    from newfound.text.documents import DocumentError, stream_documents

    incoming = stream_documents(path, **options, encoding=encoding)
    n_novel = n = 0
    with warnings.catch_warnings():
        # It is about many texts together, and would be said of single ones.
        warnings.filterwarnings("ignore", ".*are in no known document")
        for some, rows in _batches(incoming, 1 if path == "-" else _BATCH):
            found = detector.detect(some, describe=False, group=False)
            for row, others in zip(found, rows, strict=True):
                # Other columns are not redacted; ours come first, and stay if one is called alike.
                more = {} if detector.redact else jsonable(others)
                print_json({**row, **more, **row}, indent=None)
            n, n_novel = n + len(some), n_novel + found.n_novel
    if not n:
        raise DocumentError("There are no incoming documents with text.")
    return n_novel


def _batches(
    documents: Iterator[tuple[str, str, Row]], size: int
) -> Iterator[tuple[Documents, tuple[Row, ...]]]:
    from newfound.text.documents import Documents

    while some := list(islice(documents, size)):
        names, texts, rows = zip(*some, strict=True)
        yield Documents(texts, names), rows
