"""From a request to the folder of a job: all that its process needs, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from newfound.serve.context import Context
from newfound.serve.problems import Problem
from newfound.serve.requests import DescribeRequest, DetectRequest, Input
from newfound.serve.workspace import Run
from newfound.text.dates import unit_or_column
from newfound.text.filters import add_stop_words

__all__ = ["submit_describe", "submit_detect"]


async def submit_describe(context: Context, given: DescribeRequest) -> Run:
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


async def submit_detect(context: Context, given: DetectRequest) -> Run:
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
    if given.model is not None and given.redact:
        raise Problem(422, "redact is part of a model; give it when the detector is learned.")
    if given.model is not None:
        entry = context.library.entry(given.model)
        if entry.kind != "detector":
            raise Problem(422, f"The model {given.model} is a describer; name a detector.")
        model = entry.path
    inputs = {"incoming": given.incoming, "known": given.known}
    default = "Sample: requests, some of them new" if given.sample else ""
    name = given.name or default or _default_name(context, inputs)
    return await _submit(context, "detect", name, request, inputs, model)


def _default_name(context: Context, inputs: dict[str, Input | None]) -> str:
    names = []
    for given in inputs.values():
        upload = None
        if given is not None and given.upload is not None:
            upload = context.workspace.upload(given.upload)
        if upload is not None:
            names.append(upload.name)
    return " and ".join(names)[:120] or "Texts of a program"


async def _submit(
    context: Context,
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


def _input(context: Context, folder: Path, key: str, given: Input) -> dict[str, Any]:
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
