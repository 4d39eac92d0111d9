"""Start the service, and open a browser on it."""

from __future__ import annotations

import asyncio
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from newfound.serve.app import Service, create_app
from newfound.serve.settings import Settings

__all__ = ["Server", "bind", "make_config", "serve"]

_CONNECTIONS = 512
_LARGE, _PIECES = 1 << 16, 16  # bytes and pieces that are sent at once
_IDLE = 30  # seconds before an idle connection is closed
_END = 5  # seconds for open requests when the service is stopped


class _Together:
    """A transport that sends headers and body of an answer together: one packet instead of two.

    Parameters
    ----------
    transport : asyncio.Transport
        Sends what is written when the event loop continues, or at once from some size on.
    loop : asyncio.AbstractEventLoop
        The event loop.
    """

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
    """A server that says when it answers, and ends jobs before it waits for open requests.

    Parameters
    ----------
    app : Service
        What it runs.
    config : uvicorn.Config
        How, by `make_config`.
    ready : callable, optional
        Called when it answers.
    """

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
    """Return how the server runs an application.

    Parameters
    ----------
    app : ASGI application
        The service.
    tls : (Path, Path), optional
        Files with the certificate and its key.
    patience : float, default=20
        The seconds within which the headers of a request must arrive.
    """
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
    """Run the service until it is stopped.

    Parameters
    ----------
    settings : Settings
        Where it listens, who may use it, and how much it accepts; port 0 takes a free port.
    browser : bool, default=True
        Whether to open a browser.
    tls : (Path, Path), optional
        Files with the certificate and its key.
    started : callable, optional
        Called with the settings, the port among them, when the service answers.
    """
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
