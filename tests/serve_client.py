"""A service to test: small models, a server in a thread, and a client."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import httpx
import jsonschema
import psutil

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

SMALL = {"n_machines": 2, "n_clauses": 20, "T": 5, "epochs": 2, "random_state": 1}
LONG = {"n_machines": 500, "n_clauses": 2000, "epochs": 5000}
DESCRIBE = {"known": {"texts": KNOWN[::2]}, "novel": {"texts": NOVEL}, "parameters": SMALL}
OCTETS = {"Content-Type": "application/octet-stream"}


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


@contextlib.contextmanager
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


@contextlib.contextmanager
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


@contextlib.contextmanager
def site(workspace: Path, **settings: Any) -> Iterator[Settings]:
    """A service in this process, for a browser."""
    listening, told = bind(Settings(workspace, port=0, token=TOKEN, code="the-code", **settings))
    with listening, running(told, listening):
        yield told


def validate(data: object, definition: str) -> None:
    """Raise an error unless data is as a definition of the schema of outputs says."""
    schema = {**output_schema(), "$ref": f"#/$defs/{definition}"}
    jsonschema.Draft202012Validator(schema).validate(data)


def ended(service: httpx.Client, id: str) -> dict[str, Any]:
    """Wait until a job has ended; return it."""

    def job() -> dict[str, Any] | None:
        found: dict[str, Any] = service.get(f"/v1/jobs/{id}").json()
        validate(found, "job")
        return None if found["state"] in ("queued", "running") else found

    return cast(dict[str, Any], wait_for(job, f"the end of job {id}"))


def wait_for_state(service: httpx.Client, id: str, state: str) -> None:
    wait_for(lambda: service.get(f"/v1/jobs/{id}").json()["state"] == state)


def worker(id: str) -> list[psutil.Process]:
    """Return the process of a job."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = process.cmdline()
            if process.status() != psutil.STATUS_ZOMBIE and any(id in part for part in command):
                found.append(process)
    return found


def wait_for_end(id: str) -> None:
    wait_for(lambda: not worker(id))
