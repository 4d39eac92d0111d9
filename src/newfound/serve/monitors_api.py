"""The interface for programs: monitors, the documents they get, and what is done with topics."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from newfound.serve.api import json_answer
from newfound.serve.context import Context
from newfound.serve.openapi import answer, body
from newfound.serve.requests import (
    EmptyRequest,
    MergeRequest,
    MonitorDocumentsRequest,
    MonitorRequest,
    PromoteRequest,
    json_body,
)

__all__ = ["router"]

router = APIRouter(tags=["monitors"])


async def _state(context: Context, id: str, status: int = 200) -> Response:
    entry = context.monitors.entry(id)
    data = await context.monitors.use(id, lambda one: context.monitors.state(entry, one))
    return json_answer(data, status)


@router.get("/v1/monitors", responses=answer("monitors"))
async def monitors(request: Request) -> Response:
    """List the monitors."""
    return json_answer({"monitors": await Context.of(request).monitors.states()})


@router.post(
    "/v1/monitors",
    status_code=201,
    openapi_extra=body(MonitorRequest),
    responses=answer("monitor", status=201),
)
async def make(request: Request) -> Response:
    """Begin a monitor with a detector."""
    context = Context.of(request)
    given = await json_body(request, MonitorRequest)
    made = await context.monitors.make(given, await context.library.model(given.model))
    return await _state(context, made["id"], 201)


@router.get("/v1/monitors/{id}", responses=answer("monitor"))
async def monitor(request: Request, id: str) -> Response:
    """Return the state of a monitor, with its topics."""
    return await _state(Context.of(request), id)


@router.delete("/v1/monitors/{id}", responses=answer("deleted"))
async def delete(request: Request, id: str) -> Response:
    """Delete a monitor and its state."""
    await Context.of(request).monitors.delete(id)
    return json_answer({"deleted": id})


@router.post(
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

    return json_answer({"alerts": await Context.of(request).monitors.use(id, update)})


@router.get("/v1/monitors/{id}/alerts", responses=answer("alerts"))
async def alerts(request: Request, id: str) -> Response:
    """Return all alerts of a monitor, in order."""
    found = await Context.of(request).monitors.use(
        id, lambda one: [alert.to_dict() for alert in one.alerts]
    )
    return json_answer({"alerts": found})


@router.post(
    "/v1/monitors/{id}/topics/{number}/promote",
    openapi_extra=body(PromoteRequest),
    responses=answer("monitor"),
)
async def promote(request: Request, id: str, number: int) -> Response:
    """Make a topic a known class; the detector of the monitor learns it."""
    context = Context.of(request)
    given = await json_body(request, PromoteRequest)
    await context.monitors.use(id, lambda one: one.promote(number, given.name))
    return await _state(context, id)


@router.post(
    "/v1/monitors/{id}/topics/{number}/dismiss",
    openapi_extra=body(EmptyRequest),
    responses=answer("monitor"),
)
async def dismiss(request: Request, id: str, number: int) -> Response:
    """Teach the detector of a monitor that a topic is noise."""
    context = Context.of(request)
    await context.monitors.use(id, lambda one: one.dismiss(number))
    return await _state(context, id)


@router.post(
    "/v1/monitors/{id}/topics/{number}/merge",
    openapi_extra=body(MergeRequest),
    responses=answer("monitor"),
)
async def merge(request: Request, id: str, number: int) -> Response:
    """Make another topic a part of this one."""
    context = Context.of(request)
    given = await json_body(request, MergeRequest)
    await context.monitors.use(id, lambda one: one.merge(number, given.topic))
    return await _state(context, id)


@router.post(
    "/v1/monitors/{id}/undo", openapi_extra=body(EmptyRequest), responses=answer("monitor")
)
async def undo(request: Request, id: str) -> Response:
    """Take back the last promote, dismiss or merge."""
    context = Context.of(request)
    await context.monitors.use(id, lambda one: one.undo())
    return await _state(context, id)
