"""Start the service, and open a browser on it."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn

from newfound.serve.app import create_app
from newfound.serve.settings import Settings

__all__ = ["bind", "serve"]

_CONNECTIONS = 512
_IDLE = 30  # seconds before an idle connection is closed
_END = 5  # seconds for open requests when the service is stopped


class _Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


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
        options: dict[str, Any] = {}
        if tls is not None:
            options = {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]}
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_IDLE,
            timeout_graceful_shutdown=_END,
            **options,
        )

        def ready() -> None:
            if started is not None:
                started(settings)
            if browser:
                address = f"{settings.address}sign-in?code={settings.code}"
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        _Server(config, ready).run(sockets=[listening])
