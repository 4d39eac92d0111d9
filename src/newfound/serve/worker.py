"""The processes of the service: ``python -m newfound.serve.worker WHAT PATH ...``.

WHAT is ``job``, with the folder of the job: it reads ``request.json`` and writes the model, the
report, the documents and, last, the result. It prints its progress as JSON lines. If the service
ends, its standard input ends, and so does the process.

Or it is ``preview``, ``check`` or ``model``, with a file, its name and perhaps options, to look at
what was uploaded. A hostile file can at most end this process: its memory is limited, and the
service limits its time. An error is one sentence on standard error, and exit status 1.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.marks import unsteered
from newfound.serve.search import DOCUMENTS, write_documents
from newfound.serve.workspace import RESULT, kind_of
from newfound.storage.files import replacing

if TYPE_CHECKING:
    from newfound.runs import RunInput

__all__ = ["MODEL", "REPORT", "THEME_TABLES", "TIME_LIMIT", "WORDS", "check", "main", "preview"]

MODEL, REPORT = "model.newfound", "report.html"
WORDS = "words.csv"  # of several periods; the documents of a detection
THEME_TABLES = ("themes", "documents")
_NICE = 10
_PAUSE = 0.1  # seconds between two lines about the same stage

TIME_LIMIT = 60.0  # seconds
_MEMORY = 4 << 30
_ROWS = 5
_COLUMNS = 60
_HEAD = 1 << 20  # bytes
_CELL = 200  # characters
_NO_TEXT = {
    b"PK\x03\x04": "a spreadsheet, a document or another packed file",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet or document",
    b"%PDF": "a PDF file",
}

Done = tuple[dict[str, Any], dict[str, Any], bool]  # about the run, its result, whether redacted


class Progress:
    """Prints the stage of the work and how much of it is done."""

    def __init__(self) -> None:
        self._last, self._stage = 0.0, ""

    def __call__(self, stage: str, done: int = 0, total: int = 0) -> None:
        """Say how far a stage is; seldom enough not to slow it down."""
        now = time.monotonic()
        if stage == self._stage and now - self._last < _PAUSE and done < total:
            return
        self._stage, self._last = stage, now
        tell({"stage": stage, "done": done, "total": total})

    def say(self, message: str) -> None:
        """Leave out what the result says, too."""

    def steps(self) -> contextlib.AbstractContextManager[Progress]:
        """Return what to call with the progress of long steps: this."""
        return contextlib.nullcontext(self)


def tell(data: dict[str, Any]) -> None:
    """Print a line for the service."""
    print(json.dumps(data), flush=True)


def main(folder: Path) -> int:
    """Do the job of a folder; return the exit status."""
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    _limit_memory(int(request["limits"]["job_bytes"]))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            job = {"describe": _describe, "detect": _detect}[request["kind"]]
            about, data, redacted = job(folder, request, Progress())
    except MemoryError:
        limit = int(request["limits"]["job_bytes"]) >> 20
        tell({"error": f"The job needs more memory than the {limit:,} MB that it may use."})
        return 1
    except (OSError, ValueError, ImportError) as error:
        tell({"error": str(error)})
        return 1
    about["warnings"] = list(dict.fromkeys(str(warning.message) for warning in caught))
    with replacing(folder / RESULT, force=True) as temporary:
        text = unsteered(
            json.dumps({"about": about, "data": data}, ensure_ascii=False, allow_nan=False)
        )
        temporary.write_bytes(text.encode("utf-8", "replace"))
    if redacted:
        _forget_inputs(folder, request)
    tell({"warnings": about["warnings"], "memory": _peak()})
    return 0


def _forget_inputs(folder: Path, request: dict[str, Any]) -> None:
    """Remove the original documents, which were kept for a restart."""
    for given in request.values():
        if isinstance(given, dict) and "source" in given:
            (folder / (given.get("file") or given["texts"])).unlink(missing_ok=True)


def _input(folder: Path, given: dict[str, Any]) -> RunInput:
    """Return an input of a request, whose documents are in the folder."""
    from newfound.runs import RunInput

    if given.get("file") is None:
        rows = json.loads((folder / given["texts"]).read_text(encoding="utf-8"))
        return RunInput(rows=rows, source=given["source"])
    return RunInput(folder / given["file"], given, source=given["source"])


def _describe(folder: Path, request: dict[str, Any], progress: Progress) -> Done:
    """Describe two sides, or each period; the model is that of the last one."""
    from newfound.models import save
    from newfound.runs import DescribedPeriods, DescribeRun
    from newfound.show.page import write_page
    from newfound.sides import Names

    progress("Reading")
    given = [request.get(name) for name in ("known", "novel", "documents")]
    run = DescribeRun(
        inputs=tuple(_input(folder, one) for one in given if one is not None),
        by=request.get("by"),
        labels=bool(request.get("labels")),
        dates_from=request.get("dates_from"),
        within=request.get("within"),
        names=Names(request.get("known_name"), request.get("novel_name")),
        parameters=request["parameters"],
        title=request.get("title"),
    )
    described = run.run(progress)
    progress("Finding themes")
    data = described.data(request["top"])
    progress("Writing the report")
    save(described.description, folder / MODEL, force=True)
    write_page(folder / REPORT, described.page(), force=True)
    if isinstance(described, DescribedPeriods):
        _write_csv(folder / WORDS, described.table("words"))
    for name in THEME_TABLES:
        _write_csv(folder / f"{name}.csv", described.table(name))
    write_documents(folder / DOCUMENTS, _sides(described.known, described.novel))
    about = {"summary": described.summary(data), "read": dict(described.read)}
    return about, data, bool(run.parameters.get("redact"))


def _write_csv(path: Path, table: Any) -> None:
    with replacing(path, force=True) as temporary:
        temporary.write_bytes(str(table.to_csv()).encode("utf-8", "replace"))


def _sides(known: Any, novel: Any) -> Iterator[tuple[str, str, str, None]]:
    for side, pile in (("known", known), ("novel", novel)):
        for name, text in zip(pile.ids, pile.texts, strict=True):
            yield name, text, side, None


def _detect(folder: Path, request: dict[str, Any], progress: Progress) -> Done:
    from newfound.detection.encoder_shelf import named_folder
    from newfound.runs import DetectRun
    from newfound.show.data import detection_data
    from newfound.show.page import write_page

    progress("Reading")
    known, incoming = (
        None if request.get(name) is None else _input(folder, request[name])
        for name in ("known", "incoming")
    )
    encoder = request.get("encoder")
    run = DetectRun(
        known=known,
        incoming=None if incoming is None else incoming.with_columns(),
        model=None if request.get("model_file") is None else folder / request["model_file"],
        parameters=request["parameters"],
        describe=request["describe"],
        title=request.get("title"),
        encoder=None if encoder is None else named_folder(encoder),
    )
    detected = run.run(progress)
    progress("Writing the report")
    data = detection_data(detected.found, top=request["top"])
    detected.detector.save(folder / MODEL, force=True)
    write_page(folder / REPORT, detected.page(), force=True)
    _write_csv(folder / WORDS, detected.rows)
    detection, read = detected.detection, detected.incoming
    sides = ("novel" if novel else "known" for novel in detection["novel"].tolist())
    rows_of = zip(read.ids, read.texts, sides, detection["novelty"].tolist(), strict=True)
    write_documents(folder / DOCUMENTS, rows_of)
    return {"summary": detected.summary, "read": detected.read}, data, detected.detector.redact


def _limit_memory(most: int) -> None:
    """Make the process fail before it takes the memory of others."""
    if most and sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _peak() -> int | None:
    """Return the most memory that the process has used."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else 1024 * peak)


def _end_with_the_service() -> None:
    while os.read(0, 1024):  # not sys.stdin: its lock would be held at the end of the process
        pass
    os._exit(3)


def _yield_to_answers() -> None:
    """Lower the priority of the process, so that the service answers first.

    On Linux sessions share the processor evenly, however nice their processes are; so the session
    of the job, which is its own, has to be nice, too.
    """
    if hasattr(os, "nice"):
        os.nice(_NICE)
    if hasattr(os, "getsid") and os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(_NICE))


def preview(path: Path, name: str) -> dict[str, Any]:
    """Return the format, the columns and the first rows of a file, and the column of its texts."""
    from newfound.text.formats import format_of_name
    from newfound.text.records import DocumentError
    from newfound.text.source import Reader, every_column

    format, problem = format_of_name(path.name) or "txt", None
    reader = Reader(str(path), shown=name, most=_HEAD, keep=every_column)
    rows: list[Any] = []
    try:
        with reader.errors():
            for record in reader.records(format):
                row = record.others or record.text or ""
                if not isinstance(row, str) or row.strip():
                    rows.append(row)
                if len(rows) == _ROWS:
                    break
    except DocumentError as error:
        problem = error
    for magic, kind in _NO_TEXT.items():
        if reader.beginning.startswith(magic):
            raise ValueError(f"{name} is {kind}, not text; save it as .csv or .txt.") from problem
    if problem is not None and not rows and len(reader.beginning) < _HEAD:
        raise problem
    tables = [row for row in rows if not isinstance(row, str)]
    columns = list(dict.fromkeys([*reader.names, *(key for row in tables for key in row)]))
    columns = columns[:_COLUMNS]
    cells = [[row.get(column) for column in columns] for row in tables]
    cells = cells if columns else [[row] for row in rows]
    shown = [[str("" if cell is None else cell)[:_CELL] for cell in row] for row in cells]
    lengths = {column: sum(len(row[i]) for row in shown) for i, column in enumerate(columns)}
    longest = max(lengths, key=lengths.__getitem__, default=None)  # a proposal
    return {
        "name": name,
        "format": format,
        "columns": [str(column)[:_CELL] for column in columns],
        "rows": shown,
        "text_column": "text" if "text" in columns else longest,
    }


def check(path: Path, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read a file; return what was read and what was left out."""
    from newfound.text.documents import collect
    from newfound.text.formats import format_of_name
    from newfound.text.records import Columns
    from newfound.text.source import Reader

    columns = (options.get(f"{kind}_column") for kind in ("text", "label", "date"))
    reader = Reader(str(path), Columns(*columns), options.get("encoding"), shown=name)
    documents = collect(reader, options.get("format") or format_of_name(path.name) or "txt")
    days = [day for day in documents.dates or () if day is not None]
    return {
        "documents": len(documents),
        "found": dict(documents.found),
        "summary": documents.summary(),
        "labels": len(set(documents.labels or ())),
        "first_day": min(days).isoformat() if days else None,
        "last_day": max(days).isoformat() if days else None,
    }


def look(what: str, file: str, name: str, options: str = "{}") -> None:
    """Print what a file has as JSON, or the kind of a model."""
    _limit_memory(_MEMORY)
    path = Path(file)
    try:
        if what == "preview":
            print(json.dumps(preview(path, name)))
        elif what == "check":
            print(json.dumps(check(path, name, json.loads(options))))
        else:
            print(kind_of(path))
    except (OSError, ValueError) as error:
        said = str(error).replace(str(path), name) if what == "model" else str(error)
        print(" ".join(said.split()), file=sys.stderr)
        sys.stdout.flush()
        os._exit(1)


if __name__ == "__main__":
    if sys.argv[1] != "job":
        look(*sys.argv[1:])
    else:
        threading.Thread(target=_end_with_the_service, daemon=True).start()
        _yield_to_answers()
        sys.exit(main(Path(sys.argv[2])))
