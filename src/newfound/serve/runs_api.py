"""The interface for programs: jobs, their progress and their results."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from starlette.responses import FileResponse, StreamingResponse

from newfound.detection.encoder_shelf import encoder_names
from newfound.models import load
from newfound.serve.api import json_answer
from newfound.serve.context import ServiceParts
from newfound.serve.openapi import answer, body, other_answer
from newfound.serve.requests import (
    DescribeRequest,
    DetectRequest,
    EmptyRequest,
    Input,
    Problem,
    json_body,
)
from newfound.serve.search import search_documents
from newfound.serve.worker import MODEL, REPORT, WORDS
from newfound.serve.workspace import Run
from newfound.table import Table
from newfound.text.dates import unit_or_column
from newfound.text.filters import add_stop_words

__all__ = ["attachment", "file_answer", "result_of", "router", "submit_describe", "submit_detect"]

router = APIRouter(tags=["jobs"])


def attachment(name: str) -> str:
    r"""Return the value of Content-Disposition for a file of this name.

    Examples
    --------
    >>> attachment('new "words"\r\n.csv')
    "attachment; filename=newfound.csv; filename*=UTF-8''new%20%22words%22.csv"
    """
    printable = "".join(letter for letter in name if letter.isprintable())
    ending = printable.rpartition(".")[2]
    plain = f"newfound.{ending}" if ending.isascii() and ending.isalnum() else "newfound"
    return f"attachment; filename={plain}; filename*=UTF-8''{quote(printable, safe='')}"


def file_answer(path: Path, name: str, media_type: str = "application/octet-stream") -> Response:
    """Return a file to be saved under a name; a 404 if someone has deleted it."""
    if not path.is_file():
        raise Problem(404, f"The file {path.name} is no longer in the workspace.")
    return FileResponse(path, headers={"Content-Disposition": attachment(name)},
                        media_type=media_type)  # fmt: skip


def _accepted(run: Run) -> Response:
    return json_answer(run.to_dict(), 202, {"Location": f"/v1/jobs/{run.id}"})


@router.post(
    "/v1/describe",
    status_code=202,
    openapi_extra=body(DescribeRequest),
    responses=answer("job", status=202),
)
async def describe(request: Request) -> Response:
    """Describe what is new in novel documents; a job."""
    given = await json_body(request, DescribeRequest)
    return _accepted(await submit_describe(ServiceParts.of(request), given))


@router.post(
    "/v1/detect",
    status_code=202,
    openapi_extra=body(DetectRequest),
    responses=answer("job", status=202),
)
async def detect(request: Request) -> Response:
    """Find the incoming documents that are new; a job."""
    given = await json_body(request, DetectRequest)
    return _accepted(await submit_detect(ServiceParts.of(request), given))


@router.get("/v1/jobs", responses=answer("jobs"))
async def jobs(request: Request) -> Response:
    """List all jobs, the last one first."""
    found = ServiceParts.of(request).workspace.runs()
    return json_answer({"jobs": [run.to_dict() for run in found]})


@router.get("/v1/jobs/{id}", responses=answer("job"))
async def job(request: Request, id: str) -> Response:
    """Return a job: its state, and how far it is."""
    return json_answer(ServiceParts.of(request).jobs.run(id).to_dict())


@router.get(
    "/v1/jobs/{id}/events",
    responses=other_answer("text/event-stream", schema=False),
)
async def events(request: Request, id: str) -> Response:
    """Follow a job: a server-sent event with the job whenever it changes, until it has ended."""
    context = ServiceParts.of(request)
    context.jobs.run(id)

    async def stream() -> AsyncIterator[bytes]:
        async for run in context.jobs.events(id):
            data = json.dumps(run.to_dict())
            yield f"event: {run.state}\ndata: {data}\n\n".encode()

    return StreamingResponse(stream(), media_type="text/event-stream")


@router.post("/v1/jobs/{id}/cancel", openapi_extra=body(EmptyRequest), responses=answer("job"))
async def cancel(request: Request, id: str) -> Response:
    """Cancel a job that waits or runs."""
    return json_answer((await ServiceParts.of(request).jobs.cancel(id)).to_dict())


@router.post(
    "/v1/jobs/{id}/restart",
    status_code=202,
    openapi_extra=body(EmptyRequest),
    responses=answer("job", status=202),
)
async def restart(request: Request, id: str) -> Response:
    """Run a job again that was interrupted, was cancelled or has failed."""
    return _accepted(await ServiceParts.of(request).jobs.restart(id))


@router.delete("/v1/jobs/{id}", responses=answer("deleted"))
async def delete(request: Request, id: str) -> Response:
    """Delete a job that has ended, with its result and its model."""
    context = ServiceParts.of(request)
    await context.jobs.delete(id)
    context.library.forget(id)
    return json_answer({"deleted": id})


def finished(context: ServiceParts, id: str) -> Run:
    """Return a run that has a result; else a 404 or 409."""
    run = context.jobs.run(id)
    if run.state != "finished":
        raise Problem(409, f"The job {id} has no result: it is {run.state}.")
    return run


async def result_of(context: ServiceParts, id: str) -> dict[str, Any]:
    """Return the result of a finished run, read beside the event loop."""
    found = await asyncio.to_thread(context.workspace.result, id)
    if found is None:
        raise Problem(404, f"The result of the job {id} is no longer in the workspace.")
    return found


@router.get("/v1/jobs/{id}/result", responses=answer("describe", "describe_by", "detect"))
async def result(request: Request, id: str) -> Response:
    """Return what a job has found, as newfound describe --json or detect --json prints it."""
    context = ServiceParts.of(request)
    finished(context, id)
    found = await result_of(context, id)
    return await asyncio.to_thread(json_answer, found["data"])


@router.get("/v1/jobs/{id}/report", responses=other_answer("text/html"))
async def report(request: Request, id: str) -> Response:
    """Return the report: one HTML file that works offline."""
    context = ServiceParts.of(request)
    run = finished(context, id)
    return file_answer(context.workspace.run_folder(id) / REPORT, f"{run.name}.html", "text/html")


@router.get("/v1/jobs/{id}/model", responses=other_answer("application/octet-stream"))
async def model(request: Request, id: str) -> Response:
    """Return the model file, for newfound explain and newfound.load."""
    context = ServiceParts.of(request)
    run = finished(context, id)
    return file_answer(context.workspace.run_folder(id) / MODEL, f"{run.name}.newfound")


@router.get("/v1/jobs/{id}/documents", responses=answer("found"))
async def documents(
    request: Request, id: str, q: str = "", side: str = "", start: int = 0, n: int = 20
) -> Response:
    """Search all documents of a job for words."""
    context = ServiceParts.of(request)
    finished(context, id)
    folder = context.workspace.run_folder(id)
    if side not in ("", "known", "novel") or not 0 <= start <= 10**9 or not 1 <= n <= 1000:
        raise Problem(422, "side is known or novel, start at least 0, n from 1 to 1000.")
    found = await asyncio.to_thread(search_documents, folder, q, side=side, start=start, n=n)
    return json_answer(found)


@router.get("/v1/jobs/{id}/words.csv", responses=other_answer("text/csv"))
async def words(request: Request, id: str) -> Response:
    """Return all words of a description, or all documents of a detection, as CSV."""
    context = ServiceParts.of(request)
    run = finished(context, id)
    written = context.workspace.run_folder(id) / WORDS
    if written.is_file():
        return file_answer(written, f"{run.name}.csv", "text/csv; charset=utf-8")
    if run.kind == "describe":
        path = context.workspace.run_folder(id) / MODEL
        text = await asyncio.to_thread(lambda: load(path).words_.to_csv())
    else:
        found = await result_of(context, id)
        text = await asyncio.to_thread(_csv, found["data"]["documents"])
    headers = {"Content-Disposition": attachment(f"{run.name}.csv")}
    return Response(text, headers=headers, media_type="text/csv; charset=utf-8")


async def _table(request: Request, id: str, name: str) -> Response:
    """Return a table of the themes of a description."""
    context = ServiceParts.of(request)
    run = finished(context, id)
    path = context.workspace.run_folder(id) / f"{name}.csv"
    if not path.is_file():
        raise Problem(404, f"Run {id} is no description, so it has no {name} of themes.")
    return file_answer(path, f"{run.name} {name}.csv", "text/csv; charset=utf-8")


@router.get("/v1/jobs/{id}/themes.csv", responses=other_answer("text/csv"))
async def themes(request: Request, id: str) -> Response:
    """Return the themes of a description as CSV."""
    return await _table(request, id, "themes")


@router.get("/v1/jobs/{id}/documents.csv", responses=other_answer("text/csv"))
async def theme_documents(request: Request, id: str) -> Response:
    """Return all documents of the themes of a description as CSV."""
    return await _table(request, id, "documents")


def _csv(documents: list[dict[str, Any]]) -> str:
    reasons = ([reason["word"] for reason in row["reasons"]] for row in documents)
    rows = [{**row, "reasons": words} for row, words in zip(documents, reasons, strict=True)]
    return str(Table.from_records(rows).to_csv())


async def submit_describe(context: ServiceParts, given: DescribeRequest) -> Run:
    """Queue a description; return its run."""
    parameters = given.parameters.model_dump(exclude_none=True)
    if "stop_words" in parameters:
        try:
            words = add_stop_words(parameters["stop_words"], given.parameters.language)
        except ValueError as error:
            raise Problem(422, str(error)) from error
        parameters["stop_words"] = words
    unit, column = (None, None) if given.by is None else unit_or_column(given.by)
    documents = given.documents
    if documents is not None and column is not None and documents.texts is None:
        documents = documents.model_copy(update={"label_column": column})
    request = {
        "dates_from": given.dates_from,
        "by": unit or column,
        "labels": column is not None,
        "known_name": given.known_name,
        "novel_name": given.novel_name,
        "top": given.top,
        "parameters": {**parameters, "n_jobs": context.settings.jobs},
    }
    inputs = {"known": given.known, "novel": given.novel, "documents": documents}
    default = "Sample: banking and travel" if given.sample else _default_name(context, inputs)
    return await _submit(context, "describe", given.name or default, request, inputs)


async def submit_detect(context: ServiceParts, given: DetectRequest) -> Run:
    """Queue a detection; return its run."""
    names = {"alpha": "alpha", "groups": "n_groups", "language": "language",
             "lemmatize": "lemmatize", "ignore": "ignore", "redact": "redact"}  # fmt: skip
    set_ones = given.model_dump(include=set(names), exclude_none=True)
    parameters = {names[name]: value for name, value in set_ones.items()}
    request: dict[str, Any] = {
        "describe": given.describe,
        "top": given.top,
        "parameters": {
            **parameters,
            "random_state": given.random_state,
            "n_jobs": context.settings.jobs,
        },
    }
    model = None
    if given.model is not None and (given.redact or given.encoder):
        name = "redact" if given.redact else "encoder"
        raise Problem(422, f"{name} is part of a model; give it when the detector is learned.")
    if given.encoder is not None:
        if given.encoder not in encoder_names():
            raise Problem(
                422, f"There is no encoder {given.encoder!r}; GET /v1/encoders lists them."
            )
        request["encoder"] = given.encoder
    if given.model is not None:
        entry = context.library.entry(given.model)
        if entry.kind != "detector":
            raise Problem(422, f"The model {given.model} is a describer; name a detector.")
        model = entry.path
    inputs = {"incoming": given.incoming, "known": given.known}
    default = "Sample: requests, some of them new" if given.sample else ""
    name = given.name or default or _default_name(context, inputs)
    return await _submit(context, "detect", name, request, inputs, model)


def _default_name(context: ServiceParts, inputs: dict[str, Input | None]) -> str:
    names = []
    for given in inputs.values():
        upload = None
        if given is not None and given.upload is not None:
            upload = context.workspace.upload(given.upload)
        if upload is not None:
            names.append(upload.name)
    return " and ".join(names)[:120] or "Texts of a program"


async def _submit(
    context: ServiceParts,
    kind: str,
    name: str,
    request: dict[str, Any],
    inputs: dict[str, Input | None],
    model: Path | None = None,
) -> Run:
    context.jobs.check_room()
    workspace = context.workspace
    run = Run(workspace.new_id(), kind, name)
    folder = workspace.run_folder(run.id)
    folder.mkdir(mode=0o700)
    try:
        for key, given in inputs.items():
            request[key] = None if given is None else _input(context, folder, key, given)
        if model is not None:
            request["model_file"] = "detector.newfound"
            _copy(model, folder / "detector.newfound")
        limits = {"job_bytes": context.settings.limits.job_bytes}
        request |= {"kind": kind, "title": name, "limits": limits}
        text = json.dumps(request, ensure_ascii=False)
        (folder / "request.json").write_bytes(text.encode("utf-8", "replace"))
        return await context.jobs.submit(run)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _input(context: ServiceParts, folder: Path, key: str, given: Input) -> dict[str, Any]:
    """Put the documents of an input into the folder of a job."""
    options = given.model_dump(
        include={"text_column", "label_column", "date_column", "format", "encoding"}
    )
    if given.upload is None:
        file = f"{key}.json"
        rows = given.model_dump(include={"texts", "labels", "dates"})
        (folder / file).write_bytes(json.dumps(rows).encode())
        return {**options, "texts": file, "source": "texts of a request"}
    upload = context.workspace.upload(given.upload)
    if upload is None:
        raise Problem(404, f"There is no upload {given.upload!r}; POST /v1/uploads makes one.")
    path = context.workspace.upload_path(upload)
    file = f"{key}-{path.name}"
    _copy(path, folder / file)
    return {**options, "file": file, "source": upload.name}


def _copy(source: Path, target: Path) -> None:
    """Copy a file, or give it a second name, which needs no space."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
