"""The service: the application, and the server that runs it."""

from __future__ import annotations

import asyncio
import errno
import socket
import sqlite3
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from newfound.serve import api, pages, runs_api, uploads_api
from newfound.serve.api import json_answer
from newfound.serve.context import ServiceParts
from newfound.serve.guard import Guard, MetricsMiddleware
from newfound.serve.openapi import openapi
from newfound.serve.requests import Problem, problem_response
from newfound.serve.settings import Settings

__all__ = ["Server", "Service", "bind", "create_app", "make_config", "serve"]

_SHORTCUTS = ("/v1/explain", "/v1/score")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Service(MetricsMiddleware):
    """The service as an ASGI application: what counts its answers is in front."""

    def __init__(self, guard: Guard, context: ServiceParts) -> None:
        super().__init__(guard, context.metrics)
        self.context = context

    async def stop(self) -> None:
        """End the jobs, and with them the streams of their events, before the connections."""
        await self.context.jobs.close()


class Shortcut:
    """Hands single messages to their handlers, past a search among all routes."""

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

    Raises
    ------
    ModelFileError, OSError
        If a model that the settings name cannot be read.
    """
    context = ServiceParts.start(settings)

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
    interface = (api.router, runs_api.router, uploads_api.router, api.monitor_router)
    for router in (*interface, pages.router):
        app.include_router(router)

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


_CONNECTIONS = 512
_LARGE, _PIECES = 1 << 16, 16  # bytes and pieces that are sent at once
_IDLE = 30  # seconds before an idle connection is closed
_END = 5  # seconds for open requests when the service is stopped


class _Together:
    """A transport that sends headers and body of an answer together: one packet instead of two."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._written: list[bytes] = []

    def write(self, data: bytes) -> None:
        if not self._written:
            self._loop.call_soon(self._flush)
        self._written.append(data)
        if len(data) > _LARGE or len(self._written) > _PIECES:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._written:
            written, self._written = self._written, []
            if not self._transport.is_closing():
                self._transport.write(b"".join(written))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Protocol(HttpToolsProtocol):
    """HTTP in which the headers of a request must arrive in time, or the connection is closed."""

    patience = 20.0  # seconds
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(_Together(transport, self.loop))  # type: ignore[arg-type]
        self._wait()

    def on_message_begin(self) -> None:
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._late = self.loop.call_later(self.patience, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class Server(uvicorn.Server):
    """A server that calls `ready` at its start, and ends jobs before it waits for open requests."""

    def __init__(
        self, app: Service, config: uvicorn.Config, ready: Callable[[], None] | None = None
    ) -> None:
        super().__init__(config)
        self._app, self._ready = app, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the jobs, answer what was asked, and end."""
        await self._app.stop()
        await super().shutdown(sockets)


def bind(settings: Settings) -> tuple[socket.socket, Settings]:
    """Return a socket that listens, and the settings with its port.

    Raises
    ------
    OSError
        If the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)
        raise OSError(
            f"Cannot listen on {settings.host}, port {settings.port}: {reason}; --port 0 takes a "
            "free port."
        ) from error
    return listening, replace(settings, port=listening.getsockname()[1])


def make_config(
    app: ASGIApp, tls: tuple[Path, Path] | None = None, patience: float = _Protocol.patience
) -> uvicorn.Config:
    """Return how the server runs an application; `patience` is for the headers of a request."""
    options: dict[str, Any] = {}
    if tls is not None:
        options = {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]}
    return uvicorn.Config(
        app,
        http=type("Protocol", (_Protocol,), {"patience": patience}),
        ws="none",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_END,
        **options,
    )


def serve(
    settings: Settings,
    *,
    browser: bool = True,
    tls: tuple[Path, Path] | None = None,
    started: Callable[[Settings], None] | None = None,
) -> None:
    """Run the service until it is stopped; `started` is called when it answers, with its port."""
    listening, settings = bind(settings)
    with listening:
        app = create_app(settings)
        config = make_config(app, tls)

        def ready() -> None:
            if started is not None:
                started(settings)
            if browser:
                address = f"{settings.address}sign-in?code={settings.code}"
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        Server(app, config, ready).run(sockets=[listening])
