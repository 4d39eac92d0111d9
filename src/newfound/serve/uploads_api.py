"""The interface for programs: files to describe, and models to import."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path

from fastapi import APIRouter, Request, Response

from newfound.processes import python_command
from newfound.serve.api import json_answer
from newfound.serve.context import ServiceParts
from newfound.serve.jobs import process_environment
from newfound.serve.openapi import answer, body, file_body, other_answer
from newfound.serve.requests import ColumnsRequest, Problem, json_body
from newfound.serve.runs_api import file_answer
from newfound.serve.worker import TIME_LIMIT
from newfound.serve.workspace import Upload, now

__all__ = ["router"]

router = APIRouter()
_LABEL = re.compile(r"[^\w.()\- ]+")
_MAX_NAME = 80


def clean_name(name: str) -> str:
    r"""Return what is left of the name of a file when it is only shown, never used as a path.

    Examples
    --------
    >>> clean_name("../../etc/passwd"), clean_name("Größe <b>\r\n.csv"), clean_name("")
    ('passwd', 'Größe b.csv', 'documents')
    """
    base = os.path.basename(name.replace("\\", "/"))
    return _LABEL.sub("", base).strip()[-_MAX_NAME:] or "documents"


async def receive(request: Request, path: Path) -> int:
    """Write the body of a request to a file; return its size."""
    if not request.headers.get("content-type", "").startswith("application/octet-stream"):
        raise Problem(415, "Send the file as application/octet-stream.")
    n = 0
    with open(path, "wb") as file:
        async for chunk in request.stream():
            n += len(chunk)
            await asyncio.to_thread(file.write, chunk) if len(chunk) > 1 << 20 else file.write(
                chunk
            )
    if not n:
        raise Problem(422, "The file is empty.")
    return n


async def inspect(context: ServiceParts, *arguments: str) -> bytes:
    """Look at a file in a separate process, with limits; return what it prints."""
    async with context.inspections:
        process = await asyncio.create_subprocess_exec(
            *python_command("newfound.serve.worker", *arguments),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, env=process_environment(),
            cwd=context.workspace.folder,
        )  # fmt: skip
        try:
            printed, said = await asyncio.wait_for(process.communicate(), TIME_LIMIT)
        except TimeoutError as error:
            raise Problem(422, f"The file could not be read within {TIME_LIMIT:g} s.") from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    if process.returncode == 1:
        raise Problem(422, said.decode("utf-8", "replace").strip()[-1000:])
    if process.returncode:
        raise Problem(422, "The file could not be read; it may need too much memory.")
    return printed


@router.post(
    "/v1/uploads",
    status_code=201,
    tags=["files"],
    openapi_extra=file_body(),
    responses=answer("upload", status=201),
)
async def upload(request: Request, name: str = "documents.txt") -> Response:
    """Upload a file of documents; the answer has its columns and first rows."""
    context = ServiceParts.of(request)
    workspace = context.workspace
    workspace.delete_old_uploads()  # a service may run for months
    shown = clean_name(name)
    made = Upload(workspace.new_id(), shown, 0, now())
    path = workspace.upload_path(made)
    path.parent.mkdir(mode=0o700)
    try:
        n = await receive(request, path)
        printed = await inspect(context, "preview", str(path), shown)
    except BaseException:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise
    made = Upload(made.id, made.name, n, made.created)
    workspace.put_upload(made)
    head = f'{{"id": "{made.id}", "bytes": {n}, '.encode()
    return Response(head + printed.strip().removeprefix(b"{"), 201, None, "application/json")


@router.post(
    "/v1/uploads/{id}/check",
    tags=["files"],
    openapi_extra=body(ColumnsRequest),
    responses=answer("checked"),
)
async def check(request: Request, id: str) -> Response:
    """Read an uploaded file with the columns given; tell what was read and left out, and why."""
    given = await json_body(request, ColumnsRequest)
    context = ServiceParts.of(request)
    workspace = context.workspace
    found = workspace.upload(id)
    if found is None:
        raise Problem(404, f"There is no upload {id[:80]!r}.")
    path = workspace.upload_path(found)
    printed = await inspect(context, "check", str(path), found.name, given.model_dump_json())
    return Response(printed.strip(), media_type="application/json")


@router.delete("/v1/uploads/{id}", tags=["files"], responses=answer("deleted"))
async def delete_upload(request: Request, id: str) -> Response:
    """Delete an uploaded file; runs that use it keep it."""
    workspace = ServiceParts.of(request).workspace
    if workspace.upload(id) is None:
        raise Problem(404, f"There is no upload {id[:80]!r}.")
    workspace.delete_upload(id)
    return json_answer({"deleted": id})


@router.post(
    "/v1/models",
    status_code=201,
    tags=["models"],
    openapi_extra=file_body(),
    responses=answer("model", status=201),
)
async def import_model(request: Request, name: str = "model") -> Response:
    """Import a model file of describe --save or detect --save."""
    context = ServiceParts.of(request)
    workspace = context.workspace
    shown = clean_name(name).removesuffix(".newfound") or "model"
    id = workspace.new_id()
    path = workspace.model_path(id)
    try:
        await receive(request, path)
        kind = (await inspect(context, "model", str(path), shown)).decode().strip()
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    workspace.put_model(id, shown, kind)
    return json_answer(context.library.entry(id).to_dict(), 201)


@router.get(
    "/v1/models/{id}/file",
    tags=["models"],
    responses=other_answer("application/octet-stream"),
)
async def model_file(request: Request, id: str) -> Response:
    """Return the file of a model."""
    entry = ServiceParts.of(request).library.entry(id)
    return file_answer(entry.path, f"{entry.name}.newfound")


@router.delete("/v1/models/{id}", tags=["models"], responses=answer("deleted"))
async def delete_model(request: Request, id: str) -> Response:
    """Delete an imported model."""
    context = ServiceParts.of(request)
    if context.library.entry(id).source != "import":
        raise Problem(409, "Only imported models can be deleted; a run is deleted with its model.")
    context.workspace.delete_model(id)
    context.library.forget(id)
    return json_answer({"deleted": id})
