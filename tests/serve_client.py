"""A service to test: small models, a server in a thread, and a client."""

from __future__ import annotations

import atexit
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import jsonschema

import newfound
from newfound.serve.app import Server, bind, create_app, make_config
from newfound.serve.openapi import output_schema
from newfound.serve.settings import Settings
from waiting import PATIENCE, wait_for

HOST = "127.0.0.1:8765"
TOKEN = "a-token-of-the-tests-0123456789"
JSON = {"Content-Type": "application/json"}
KNOWN = [
    f"{verb} my {kind} {thing}"
    for verb in ("pay", "check", "close", "open", "show")
    for kind in ("new", "old", "other", "joint", "first")
    for thing in ("bill", "account", "card", "loan", "deposit", "mortgage")
]
NOVEL = [
    f"{verb} a {kind} {thing} to {city}"
    for verb in ("book", "find", "cancel")
    for kind in ("cheap", "direct", "late")
    for thing in ("flight", "train")
    for city in ("Oslo", "Rome", "Tokyo")
]


@cache
def make_models() -> dict[str, Path]:
    """Write a small detector and a small describer, once; return their files by name."""
    folder = Path(tempfile.mkdtemp(prefix="newfound-models-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    labels = [text.split()[-1] for text in KNOWN]
    detector = newfound.NoveltyDetector(alpha=0.1, random_state=1).fit(KNOWN, labels)
    detector.save(folder / "detector.newfound")
    describer = newfound.describe(
        KNOWN[::3], NOVEL, n_machines=3, n_clauses=20, T=5, epochs=3, random_state=1
    )
    describer.save(folder / "describer.newfound")
    return {name: folder / f"{name}.newfound" for name in ("detector", "describer")}


@contextmanager
def running(
    settings: Settings, listening: socket.socket, patience: float = PATIENCE
) -> Iterator[None]:
    """Run a service in a thread; patience is for the headers of a request."""
    app = create_app(settings)
    config = make_config(app, patience=patience)
    config.timeout_graceful_shutdown = int(PATIENCE)
    server = Server(app, config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_for(lambda: server.started or not thread.is_alive())
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


@contextmanager
def client(
    workspace: Path, *, token: str | None = TOKEN, patience: float = PATIENCE, **settings: Any
) -> Iterator[httpx.Client]:
    """A client of a service in this process, with the token unless told otherwise.

    The service is told that its port is that of `HOST`; the real one is any that is free.
    """
    headers = {"Host": HOST}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        told = Settings(workspace, token=TOKEN, code="the-code", **settings)
        with (
            running(told, listening, patience),
            httpx.Client(
                base_url=address, headers=headers, trust_env=False, timeout=PATIENCE
            ) as made,
        ):
            yield made


@contextmanager
def site(workspace: Path, **settings: Any) -> Iterator[Settings]:
    """A service in this process, for a browser."""
    listening, told = bind(Settings(workspace, port=0, token=TOKEN, code="the-code", **settings))
    with listening, running(told, listening):
        yield told


def validate(data: object, definition: str) -> None:
    """Raise an error unless data is as a definition of the schema of outputs says."""
    schema = {**output_schema(), "$ref": f"#/$defs/{definition}"}
    jsonschema.Draft202012Validator(schema).validate(data)
