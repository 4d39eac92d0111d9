"""The application: the guard in front, the interface and the pages behind it."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from newfound.serve import api, monitors_api, pages, runs_api, uploads_api
from newfound.serve.api import json_answer
from newfound.serve.context import Context
from newfound.serve.guard import Guard
from newfound.serve.metrics import MetricsMiddleware
from newfound.serve.openapi import openapi
from newfound.serve.problems import Problem, problem_response
from newfound.serve.settings import Settings

__all__ = ["Service", "create_app"]

_SHORTCUTS = ("/v1/explain", "/v1/score")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Service(MetricsMiddleware):
    """The service as an ASGI application: what counts its answers is in front."""

    def __init__(self, guard: Guard, context: Context) -> None:
        super().__init__(guard, context.metrics)
        self.context = context

    async def stop(self) -> None:
        """End the jobs, and with them the streams of their events, before the connections."""
        await self.context.jobs.close()


class Shortcut:
    """Hands single messages to their handlers, past a search among all routes.

    Parameters
    ----------
    app : FastAPI
        What answers all other requests.
    router : APIRouter
        Has the handlers.
    """

    def __init__(self, app: FastAPI, router: APIRouter) -> None:
        self.app = app
        routes = [route for route in router.routes if isinstance(route, APIRoute)]
        self._routes = {route.path: route for route in routes if route.path in _SHORTCUTS}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        route = self._routes.get(scope["path"]) if scope["type"] == "http" else None
        if route is None or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        scope["app"], scope["route"] = self.app, route
        request = Request(scope, receive)
        try:
            answer: Response = await route.endpoint(request)
        except HTTPException as error:
            answer = await _problem(request, error)
        except ClientDisconnect as error:
            answer = await _gone(request, error)
        except Exception as error:
            await (await _failure(request, error))(scope, receive, send)
            raise  # to the log
        await answer(scope, receive, send)


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
    context.guard = Guard(Shortcut(app, api.router), settings)
    return Service(context.guard, context)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    errors = getattr(error, "errors", None)
    detail = _nowhere(request, error) or str(error.detail)
    if _is_page(request):
        return pages.error_page(error.status_code, detail, error.headers)
    return problem_response(error.status_code, detail, error.headers, errors)


def _nowhere(request: Request, error: HTTPException) -> str | None:
    """Return what to do about an address or a method that no route has; else None."""
    if isinstance(error, Problem):
        return None
    path = request.url.path[:200]
    if error.status_code == 404:
        return f"There is nothing at {path}; /docs lists all addresses."
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        return f"{request.method[:20]} is not possible at {path}; use {allowed}."
    return None


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
    answer = pages.error_page if _is_page(request) else problem_response
    return answer(500, detail, {"Connection": "close"})  # which the server does after an error


def _is_page(request: Request) -> bool:
    """Return whether a person has asked, by a browser, for a page."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(
        ("/v1/", "/pages/", "/static/")
    )
