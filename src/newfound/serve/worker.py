"""The process of a job: ``python -m newfound.serve.worker FOLDER``.

It reads ``request.json`` in the folder and writes the model, the report, the documents and, last,
the result. It prints its progress as JSON lines. If the service ends, its standard input ends, and
so does the process.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

from newfound.serve.search import DOCUMENTS, write_documents
from newfound.serve.workspace import RESULT
from newfound.storage.files import replacing

__all__ = ["MODEL", "REPORT", "WORDS", "main"]

MODEL, REPORT = "model.newfound", "report.html"
WORDS = "words.csv"  # of several periods; the documents of a detection
_NICE = 10
_PAUSE = 0.1  # seconds between two lines about the same stage

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

    def epochs(self, info: Any) -> None:
        """Say how many epochs of all machines are done."""
        self("Learning rules", info.epoch, info.epochs)


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
            kind = "periods" if request.get("by") else request["kind"]
            done = {"describe": _describe, "periods": _describe_periods, "detect": _detect}[kind]
            about, data, redacted = done(folder, request, Progress())
    except MemoryError:
        limit = int(request["limits"]["job_bytes"]) >> 20
        tell({"error": f"The job needs more memory than the {limit:,} MB that it may use."})
        return 1
    except (OSError, ValueError, ImportError) as error:
        tell({"error": str(error)})
        return 1
    about["warnings"] = list(dict.fromkeys(str(warning.message) for warning in caught))
    with replacing(folder / RESULT, force=True) as temporary:
        text = json.dumps({"about": about, "data": data}, ensure_ascii=False, allow_nan=False)
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


def _read(folder: Path, request: dict[str, Any], name: str, **more: Any) -> Any:
    """Return the documents of an input, redacted if that was asked for."""
    documents = _documents(folder, request[name], **more)
    return documents.redacted() if request["parameters"].get("redact") else documents


def _documents(folder: Path, given: dict[str, Any], *, keep_columns: bool = False) -> Any:
    from newfound.text.documents import as_documents, collect
    from newfound.text.records import Columns
    from newfound.text.source import Reader, every_column

    if given.get("file") is None:
        rows = json.loads((folder / given["texts"]).read_text(encoding="utf-8"))
        documents = as_documents(rows["texts"], dates=rows.get("dates"))
        if rows.get("labels") is not None:
            kept = [rows["labels"][int(place)] for place in documents.ids]
            documents = replace(documents, labels=tuple(kept))
        return replace(documents, source=given["source"])
    columns = Columns(*(given.get(f"{kind}_column") for kind in ("text", "label", "date")))
    path, shown = str(folder / given["file"]), given["source"]
    keep = every_column if keep_columns else None
    reader = Reader(path, columns, given.get("encoding"), shown=shown, name=shown, keep=keep)
    return collect(reader, given.get("format"))


def _describe(folder: Path, request: dict[str, Any], progress: Progress) -> Done:
    from newfound.description.describer import NoveltyDescriber
    from newfound.description.periods import split_by_date
    from newfound.models import save
    from newfound.show.data import description_data
    from newfound.show.page import report_page, write_page
    from newfound.sides import Names
    from newfound.text.copies import read_summary
    from newfound.text.sample import load_sample

    began = time.perf_counter()
    progress("Reading")
    if request.get("sample"):
        known, novel = load_sample()
    elif request.get("documents") is not None:
        known, novel = split_by_date(_read(folder, request, "documents"), request["dates_from"])
    else:
        known, novel = (_read(folder, request, side) for side in ("known", "novel"))
    seconds = {"reading": time.perf_counter() - began}
    names = Names(request.get("known_name"), request.get("novel_name"))
    describer = NoveltyDescriber(**request["parameters"])
    labels = ["known"] * len(known) + ["novel"] * len(novel)
    days = [day for pile in (known, novel) for day in pile.dates or (None,) * len(pile)]
    progress("Learning rules")
    describer.fit([*known, *novel], labels, dates=days, callback=progress.epochs)
    description = replace(describer.description_, names=names)
    progress("Finding themes")
    data = description_data(description, known, novel, names, top=request["top"])
    progress("Writing the report")
    save(description, folder / MODEL, force=True)
    page = report_page(
        description, known=known, novel=novel, known_name=names.known, novel_name=names.novel,
        title=request.get("title"), seconds=seconds,
    )  # fmt: skip
    write_page(folder / REPORT, page, force=True)
    write_documents(folder / DOCUMENTS, _sides(known, novel))
    fold = description.copies is not None
    piles = (("known", known), ("novel", novel))
    read = {side: read_summary(pile, fold=fold) for side, pile in piles}
    return {"summary": data["summary"], "read": read}, data, describer.redact


def _describe_periods(folder: Path, request: dict[str, Any], progress: Progress) -> Done:
    """Describe each period; the model is that of the last one."""
    from newfound.description.periods import describe_periods
    from newfound.show.data import periods_data
    from newfound.show.page import report_page_of_periods, write_page
    from newfound.table import Table
    from newfound.text.copies import read_summary

    began = time.perf_counter()
    progress("Reading")
    documents = _read(folder, request, "documents")
    seconds = {"reading": time.perf_counter() - began}
    found = describe_periods(
        documents, by=request["by"], start=request["dates_from"],
        callback=lambda name, done, total: progress("Describing periods", done, total),
        **request["parameters"],
    )  # fmt: skip
    data = periods_data(found, top=request["top"])
    progress("Writing the report")
    last = found.periods[-1]
    last.describer.save(folder / MODEL, force=True)
    page = report_page_of_periods(
        found, title=request.get("title"), known=documents, seconds=seconds
    )
    write_page(folder / REPORT, page, force=True)
    words = Table.stacked("period", {one.name: one.description.words for one in found.periods})
    _write_csv(folder / WORDS, words)
    write_documents(folder / DOCUMENTS, _sides(last.known, last.novel))
    n = len(found.periods)
    summary = f"{n:,} {found.by}{'s'[: n != 1]}; {last.name}: {data['periods'][-1]['summary']}"
    fold = last.description.copies is not None
    about = {"summary": summary, "read": {"documents": read_summary(documents, fold=fold)}}
    return about, data, last.describer.redact


def _write_csv(path: Path, table: Any) -> None:
    with replacing(path, force=True) as temporary:
        temporary.write_bytes(str(table.to_csv()).encode("utf-8", "replace"))


def _sides(known: Any, novel: Any) -> Iterator[tuple[str, str, str, None]]:
    for side, pile in (("known", known), ("novel", novel)):
        for name, text in zip(pile.ids, pile.texts, strict=True):
            yield name, text, side, None


def _detect(folder: Path, request: dict[str, Any], progress: Progress) -> Done:
    from newfound.detection.detector import NoveltyDetector
    from newfound.show.data import detection_data, found_in
    from newfound.show.page import detection_page, write_page
    from newfound.show.sentences import by_mistake
    from newfound.text.sample import load_sample

    began = time.perf_counter()
    progress("Reading")
    known = None
    if request.get("sample"):
        known, novel = load_sample()
        texts = (*known.texts[::5], *novel.texts[::10])
        places = tuple(map(str, range(len(texts))))
        incoming = replace(novel, texts=texts, ids=places, labels=None, source="the bundled sample")
        rows = [row for row in range(len(known)) if row % 5]
        known = replace(known.take(rows), source="the bundled sample, banking of CLINC150")
    else:
        incoming = _read(folder, request, "incoming", keep_columns=True)
        if request.get("known") is not None:
            known = _read(folder, request, "known")
    seconds = {"reading": time.perf_counter() - began}
    began = time.perf_counter()
    progress("Learning rules")
    if known is None:
        detector = NoveltyDetector.load(folder / request["model_file"])
        detector.n_jobs = request["parameters"]["n_jobs"]
        if "alpha" in request["parameters"]:
            detector.alpha = request["parameters"]["alpha"]
        if detector.redact:
            incoming = incoming.redacted()
    else:
        detector = NoveltyDetector(**request["parameters"])
        detector.fit(known.texts, known.labels, callback=progress.epochs)
    seconds["learning"] = time.perf_counter() - began
    began = time.perf_counter()
    detection = detector.detect(
        incoming,
        known=None if known is None else known.texts,
        describe=request["describe"],
        progress=progress,
    )
    seconds["detecting and describing"] = time.perf_counter() - began
    progress("Writing the report")
    data = detection_data(found_in(detection, incoming), top=request["top"])
    detector.save(folder / MODEL, force=True)
    page = detection_page(
        detection, known=known, incoming=incoming, title=request.get("title"), seconds=seconds
    )
    write_page(folder / REPORT, page, force=True)
    _write_csv(folder / WORDS, detection.with_columns(incoming.columns))
    sides = ("novel" if novel else "known" for novel in detection["novel"].tolist())
    rows_of = zip(incoming.ids, incoming.texts, sides, detection["novelty"].tolist(), strict=True)
    write_documents(folder / DOCUMENTS, rows_of)
    read = {"incoming": incoming.summary()}
    if known is not None:
        read["known"] = known.summary()
    summary = (
        f"{detection.n_novel:,} of {len(incoming):,} incoming documents are called novel at alpha "
        f"= {detection.alpha:g}"
        f"{by_mistake(detection.n_novel, detection.share.share, detection.expected_false)}."
    )
    return {"summary": summary, "read": read}, data, detector.redact


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


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_service, daemon=True).start()
    _yield_to_answers()
    sys.exit(main(Path(sys.argv[1])))
