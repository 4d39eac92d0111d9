"""The application: the guard in front, the interface and the pages behind it."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from newfound.serve import api, monitors_api, pages, runs_api, uploads_api
from newfound.serve.api import json_answer
from newfound.serve.context import Context
from newfound.serve.guard import Guard
from newfound.serve.metrics import MetricsMiddleware
from newfound.serve.openapi import openapi
from newfound.serve.problems import problem_response
from newfound.serve.settings import Settings

__all__ = ["Service", "create_app"]

_FULL = (errno.ENOSPC, errno.EDQUOT)


class Service(MetricsMiddleware):
    """The service as an ASGI application: what counts its answers is in front."""

    def __init__(self, guard: Guard, context: Context) -> None:
        super().__init__(guard, context.metrics)
        self.context = context

    async def stop(self) -> None:
        """End the jobs, and with them the streams of their events, before the connections."""
        await self.context.jobs.close()


def create_app(settings: Settings) -> Service:
    """Return the service as an ASGI application.

    Parameters
    ----------
    settings : Settings
        Where it listens, who may use it, and how much it accepts.

    Raises
    ------
    ModelFileError, OSError
        If a model that the settings name cannot be read.
    """
    context = Context.start(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await context.close()

    app = FastAPI(
        title="newfound",
        version=version("newfound"),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.context = context
    for part in (api, runs_api, uploads_api, monitors_api, pages):
        app.include_router(part.router)

    @app.get("/openapi.json", include_in_schema=False)
    async def description() -> Response:
        return json_answer(openapi(app))

    app.add_exception_handler(HTTPException, _problem)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(OSError, _full)
    app.add_exception_handler(sqlite3.OperationalError, _full)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(Exception, _failure)
    context.guard = Guard(app, settings)
    return Service(context.guard, context)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    errors = getattr(error, "errors", None)
    if _is_page(request):
        return pages.error_page(error.status_code, str(error.detail), error.headers)
    return problem_response(error.status_code, str(error.detail), error.headers, errors)


async def _misfit(request: Request, error: Exception) -> Response:
    """Answer for a part of the address that is not what the schema says."""
    assert isinstance(error, RequestValidationError)
    defects = [
        {"place": "/" + "/".join(map(str, defect["loc"])), "detail": str(defect["msg"])}
        for defect in error.errors()
    ]
    detail = f"The address is not what the schema says; {defects[0]['detail']}."
    return problem_response(422, detail, None, defects)


async def _gone(request: Request, error: Exception) -> Response:
    """Answer, for the counters, a caller that has gone away before the body was complete."""
    return problem_response(400, "The body is not complete.")


async def _full(request: Request, error: Exception) -> Response:
    """Answer for a full disk; all else is an error of the service itself."""
    code = getattr(error, "errno", None) or getattr(error, "sqlite_errorcode", None)
    full = (sqlite3.SQLITE_FULL,) if isinstance(error, sqlite3.Error) else _FULL
    if code not in full:
        raise error
    return problem_response(507, "The disk with the workspace is full; delete runs or uploads.")


async def _failure(request: Request, error: Exception) -> Response:
    """Answer for an error of the service itself; the log has it, the caller only learns of it."""
    detail = "The service failed; its log has the reason."
    return pages.error_page(500, detail) if _is_page(request) else problem_response(500, detail)


def _is_page(request: Request) -> bool:
    """Return whether a person has asked, by a browser, for a page."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        ("/v1/", "/pages/", "/static/")
    )
