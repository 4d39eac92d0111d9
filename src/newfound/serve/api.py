"""The interface for programs: score and explain with models, monitors, health and numbers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Request, Response

from newfound.detection.encoder_shelf import encoder_names
from newfound.marks import unsteered
from newfound.serve.context import ServiceParts
from newfound.serve.library import is_quick, score_texts
from newfound.serve.openapi import NDJSON, answer, body, ndjson_body, other_answer
from newfound.serve.requests import (
    EmptyRequest,
    ExplainRequest,
    MergeRequest,
    MonitorDocumentsRequest,
    MonitorRequest,
    Problem,
    PromoteRequest,
    ScoreRequest,
    json_body,
    texts_of,
)
from newfound.text.formats import json_fault

__all__ = ["json_answer", "monitor_router", "router"]

_LINE = 1_000_000  # bytes
router = APIRouter()
monitor_router = APIRouter(tags=["monitors"])


def json_answer(data: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return plain data as JSON."""
    text = unsteered(json.dumps(data, ensure_ascii=False, allow_nan=False))
    content = text.encode("utf-8", "replace")
    return Response(content, status, headers, "application/json")


@router.get("/healthz", tags=["service"], responses=answer("health"))
async def healthz() -> Response:
    """Tell that the service runs."""
    return json_answer({"status": "ok"})


@router.get("/readyz", tags=["service"], responses=answer("health"))
async def readyz(request: Request) -> Response:
    """Tell whether the service can answer: its workspace can be read."""
    ServiceParts.of(request).check_ready()
    return json_answer({"status": "ok"})


@router.get(
    "/metrics",
    tags=["service"],
    responses=other_answer("text/plain"),
)
async def metrics(request: Request) -> Response:
    """Return counters and times in the text format of Prometheus."""
    text = ServiceParts.of(request).metrics.text()
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/v1/models", tags=["models"], responses=answer("models"))
async def models(request: Request) -> Response:
    """List the models."""
    found = ServiceParts.of(request).library.entries()
    return json_answer({"models": [entry.to_dict() for entry in found]})


@router.get("/v1/encoders", tags=["models"], responses=answer("encoders"))
async def encoders() -> Response:
    """List the names of the sentence encoders that a detection can use."""
    return json_answer({"encoders": encoder_names()})


@router.post(
    "/v1/score",
    tags=["texts"],
    openapi_extra=ndjson_body(ScoreRequest),
    responses=answer("scores", ndjson="score"),
)
async def score(request: Request) -> Response:
    """Score a text, or up to 10,000.

    With Content-Type application/x-ndjson, each line is a text as a JSON string, or an object with
    the field text, the query parameter model names the model, and alpha the false-alarm rate. With
    Accept application/x-ndjson the answer has a line for each text.
    """
    context = ServiceParts.of(request)
    most = context.settings.limits.texts
    if _is_ndjson(request.headers.get("content-type", "")):
        id, alpha = request.query_params.get("model", ""), _alpha(request)
        if not id:
            raise Problem(422, "Name the model of the lines in the address: /v1/score?model=NAME.")
        texts = _lines(await request.body(), most)
    else:
        given = await json_body(request, ScoreRequest)
        id, alpha, texts = given.model, given.alpha, texts_of(given, most)
    model = await context.library.at_alpha(id, alpha)
    try:
        if is_quick(model, texts):
            rows = score_texts(model, texts)
        else:
            loop = asyncio.get_running_loop()
            rows = await loop.run_in_executor(context.scoring, score_texts, model, texts)
    except ValueError as error:
        raise Problem(422, str(error)) from error
    context.metrics.count_texts("score", len(texts))
    if _is_ndjson(request.headers.get("accept", "")):
        lines = "\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
        content = f"{unsteered(lines)}\n".encode("utf-8", "replace")
        return Response(content, media_type=NDJSON)
    return json_answer({"model": id, "scores": rows})


@router.post(
    "/v1/explain",
    tags=["texts"],
    openapi_extra=body(ExplainRequest),
    responses=answer("verdict", "explanation", "explanations"),
)
async def explain(request: Request) -> Response:
    """Explain a text, or up to 100: verdict, words, rules, counterfactual.

    The answer is what newfound explain --json prints: of a detector a verdict, of a describer an
    explanation; for several texts an object with the list explanations.
    """
    context = ServiceParts.of(request)
    given = await json_body(request, ExplainRequest)
    texts = texts_of(given, context.settings.limits.explained)
    model = await context.library.at_alpha(given.model, given.alpha)
    if given.text is not None:
        alone = await context.explainer.explain(model, given.text, given.top)
        context.metrics.count_texts("explain", 1)
        return Response(alone, media_type="application/json")
    found = await asyncio.gather(
        *(context.explainer.explain(model, text, given.top) for text in texts)
    )
    context.metrics.count_texts("explain", len(texts))
    content = b'{"explanations": [' + b", ".join(found) + b"]}"
    return Response(content, media_type="application/json")


def _alpha(request: Request) -> float | None:
    """Return the false-alarm rate of a query, if it has one."""
    given = request.query_params.get("alpha")
    if given is None:
        return None
    try:
        alpha = float(given)
    except ValueError:
        alpha = 0.0
    if not 0 < alpha < 1:
        raise Problem(422, "alpha is a false-alarm rate between 0 and 1, such as 0.05.")
    return alpha


def _is_ndjson(header: str) -> bool:
    return NDJSON in header.lower()


def _lines(content: bytes, most: int) -> list[str]:
    """Return the texts of a body of JSON lines."""
    texts = list(_texts(content))
    if not texts:
        raise Problem(422, "The body has no line; send at least one text.")
    if len(texts) > most:
        raise Problem(413, f"There are {len(texts):,} texts; send at most {most:,} at once.")
    return texts


def _texts(content: bytes) -> Iterator[str]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        if len(line) > _LINE:
            raise Problem(413, f"Line {number} has more than {_LINE:,} bytes.")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Problem(400, f"Line {number} is not JSON: {json_fault(error)}.") from error
        text = row.get("text") if isinstance(row, dict) else row
        if not isinstance(text, str):
            raise Problem(
                422, f"Line {number} is neither a JSON string nor an object with the field text."
            )
        yield text


async def _state(context: ServiceParts, id: str, status: int = 200) -> Response:
    entry = context.monitors.entry(id)
    data = await context.monitors.use(id, lambda one: context.monitors.state(entry, one))
    return json_answer(data, status)


@monitor_router.get("/v1/monitors", responses=answer("monitors"))
async def monitors(request: Request) -> Response:
    """List the monitors."""
    return json_answer({"monitors": await ServiceParts.of(request).monitors.states()})


@monitor_router.post(
    "/v1/monitors",
    status_code=201,
    openapi_extra=body(MonitorRequest),
    responses=answer("monitor", status=201),
)
async def make(request: Request) -> Response:
    """Begin a monitor with a detector."""
    context = ServiceParts.of(request)
    given = await json_body(request, MonitorRequest)
    made = await context.monitors.make(given, await context.library.model(given.model))
    return await _state(context, made["id"], 201)


@monitor_router.get("/v1/monitors/{id}", responses=answer("monitor"))
async def monitor(request: Request, id: str) -> Response:
    """Return the state of a monitor, with its topics."""
    return await _state(ServiceParts.of(request), id)


@monitor_router.delete("/v1/monitors/{id}", responses=answer("deleted"))
async def delete(request: Request, id: str) -> Response:
    """Delete a monitor and its state."""
    await ServiceParts.of(request).monitors.delete(id)
    return json_answer({"deleted": id})


@monitor_router.post(
    "/v1/monitors/{id}/documents",
    openapi_extra=body(MonitorDocumentsRequest),
    responses=answer("alerts"),
)
async def documents(request: Request, id: str) -> Response:
    """Hand documents to a monitor, in the order in which they came; return new alerts."""
    given = await json_body(request, MonitorDocumentsRequest)
    texts = [one.text for one in given.documents]
    times = [one.time for one in given.documents]
    ids = [one.id for one in given.documents]

    def update(one: Any) -> list[Any]:
        found = one.update(texts, times, ids)
        found += one.close_window() if given.close_window else one.close_if_over()
        return [alert.to_dict() for alert in found]

    return json_answer({"alerts": await ServiceParts.of(request).monitors.use(id, update)})


@monitor_router.get("/v1/monitors/{id}/alerts", responses=answer("alerts"))
async def alerts(request: Request, id: str) -> Response:
    """Return all alerts of a monitor, in order."""
    found = await ServiceParts.of(request).monitors.use(
        id, lambda one: [alert.to_dict() for alert in one.alerts]
    )
    return json_answer({"alerts": found})


@monitor_router.post(
    "/v1/monitors/{id}/topics/{number}/promote",
    openapi_extra=body(PromoteRequest),
    responses=answer("monitor"),
)
async def promote(request: Request, id: str, number: int) -> Response:
    """Make a topic a known class; the detector of the monitor learns it."""
    context = ServiceParts.of(request)
    given = await json_body(request, PromoteRequest)
    await context.monitors.use(id, lambda one: one.promote(number, given.name))
    return await _state(context, id)


@monitor_router.post(
    "/v1/monitors/{id}/topics/{number}/dismiss",
    openapi_extra=body(EmptyRequest),
    responses=answer("monitor"),
)
async def dismiss(request: Request, id: str, number: int) -> Response:
    """Teach the detector of a monitor that a topic is noise."""
    context = ServiceParts.of(request)
    await context.monitors.use(id, lambda one: one.dismiss(number))
    return await _state(context, id)


@monitor_router.post(
    "/v1/monitors/{id}/topics/{number}/merge",
    openapi_extra=body(MergeRequest),
    responses=answer("monitor"),
)
async def merge(request: Request, id: str, number: int) -> Response:
    """Make another topic a part of this one."""
    context = ServiceParts.of(request)
    given = await json_body(request, MergeRequest)
    await context.monitors.use(id, lambda one: one.merge(number, given.topic))
    return await _state(context, id)


@monitor_router.post(
    "/v1/monitors/{id}/undo", openapi_extra=body(EmptyRequest), responses=answer("monitor")
)
async def undo(request: Request, id: str) -> Response:
    """Take back the last promote, dismiss or merge."""
    context = ServiceParts.of(request)
    await context.monitors.use(id, lambda one: one.undo())
    return await _state(context, id)
