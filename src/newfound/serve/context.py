"""What the handlers of requests share: the parts of a running service."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self, TypeVar

from starlette.requests import HTTPConnection

from newfound.detection.detector import NoveltyDetector
from newfound.models import Model
from newfound.monitor.monitor import Monitor
from newfound.serve.guard import Guard, Metrics
from newfound.serve.jobs import Jobs
from newfound.serve.library import Explainer, Library
from newfound.serve.requests import MonitorRequest, Problem
from newfound.serve.settings import Settings
from newfound.serve.workspace import Entry, Workspace, kind_of

__all__ = ["UNREADABLE", "Monitors", "ServiceParts"]

Result = TypeVar("Result")

UNREADABLE: dict[str, Any] = {
    "summary": "It cannot be read.",
    "documents": 0,
    "windows": 0,
    "rate": None,
    "alerts": 0,
    "topics": [],
}


class Monitors:
    """Opens monitors and lets one request at a time use each."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._open: dict[str, Monitor] = {}
        self._locks: dict[str, threading.Lock] = {}

    def entries(self) -> list[dict[str, str]]:
        """Return id, name, model and creation of all monitors."""
        return self._workspace.monitors()

    def entry(self, id: str) -> dict[str, str]:
        """Return a monitor by id; without one, a 404."""
        for found in self.entries():
            if found["id"] == id:
                return found
        raise Problem(404, f"There is no monitor {id[:80]!r}; GET /v1/monitors lists them.")

    async def make(self, given: MonitorRequest, model: Model) -> dict[str, str]:
        """Begin a monitor with a detector."""
        if not isinstance(model, NoveltyDetector):
            raise Problem(422, f"The model {given.model} is a describer; name a detector.")
        id = self._workspace.new_id()
        settings = given.model_dump(
            include={"every", "false_alarm_every", "fdr", "late"}, exclude_none=True
        )

        def begin() -> Monitor:
            try:
                return Monitor(model, state=self._workspace.monitor_path(id), **settings)
            except ValueError:
                self._workspace.delete_monitor(id)
                raise

        try:
            self._open[id] = await asyncio.to_thread(begin)
        except ValueError as error:
            raise Problem(422, str(error)) from error
        self._workspace.put_monitor(id, given.name, given.model)
        return self.entry(id)

    async def use(self, id: str, action: Callable[[Monitor], Result]) -> Result:
        """Return what an action does with a monitor; others wait meanwhile."""
        self.entry(id)
        lock = self._locks.setdefault(id, threading.Lock())

        def act() -> Result:
            with lock:
                self.entry(id)  # it may have been deleted meanwhile
                if id not in self._open:
                    self._open[id] = Monitor.open(self._workspace.monitor_path(id))
                return action(self._open[id])

        try:
            return await asyncio.to_thread(act)
        except ValueError as error:
            raise Problem(422, str(error)) from error

    async def delete(self, id: str) -> None:
        """Delete a monitor and its state, also one that cannot be read."""
        self.entry(id)
        lock = self._locks.setdefault(id, threading.Lock())

        def remove() -> None:
            with lock:
                monitor = self._open.pop(id, None)
                if monitor is not None:
                    monitor.close()
                self._workspace.delete_monitor(id)

        await asyncio.to_thread(remove)
        self._locks.pop(id, None)

    def close(self) -> None:
        """Close all states."""
        for monitor in self._open.values():
            monitor.close()

    async def states(self) -> list[dict[str, Any]]:
        """Return all monitors as plain data; one that cannot be read does not hide the others."""
        found = []
        for entry in self.entries():
            try:
                found.append(await self.use(entry["id"], partial(self.state, entry)))
            except Problem as problem:
                if problem.status_code == 422:
                    found.append({**entry, **UNREADABLE, "warning": problem.detail})
        return found

    def state(self, entry: dict[str, str], monitor: Monitor) -> dict[str, Any]:
        """Return a monitor as plain data; ``monitor`` in the schema."""
        windows, lives = monitor.windows_, monitor.lives()
        return {
            **entry,
            "summary": monitor.summary(),
            "warning": monitor.warning(),
            "documents": sum(window.size for window in windows) + monitor.open_window.size,
            "windows": len(windows),
            "rate": windows[-1].novel / max(windows[-1].size, 1) if windows else None,
            "alerts": len(monitor.alerts),
            "topics": [topic.to_dict(lives[topic.number]) for topic in monitor.topics_],
        }


@dataclass
class ServiceParts:
    """The parts of a running service."""

    settings: Settings
    library: Library
    explainer: Explainer
    workspace: Workspace
    jobs: Jobs
    monitors: Monitors
    metrics: Metrics = field(default_factory=Metrics)
    scoring: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="score")
    )
    # How many files may be looked at at once; each look may use 4 GB.
    inspections: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    guard: Guard | None = None

    @classmethod
    def start(cls, settings: Settings) -> Self:
        """Return the parts of a service; the models named at the start are checked."""
        files = {
            name: Entry(name, name, kind_of(path), path, "file")
            for name, path in settings.models.items()
        }
        explainer = Explainer(settings.limits.waiting)
        workspace = Workspace(settings.workspace)
        jobs = Jobs(workspace, settings.limits)
        library = Library(lambda: {**workspace.models(), **files})
        made = cls(settings, library, explainer, workspace, jobs, Monitors(workspace))
        made.metrics.gauges["newfound_jobs_waiting"] = (
            "Jobs that wait.",
            lambda: float(jobs.waiting),
        )
        made.metrics.gauges["newfound_texts_waiting"] = (
            "Texts that wait to be explained.",
            lambda: float(len(explainer)),
        )
        return made

    @classmethod
    def of(cls, connection: HTTPConnection) -> Self:
        """Return the parts of the service that got a request."""
        found: Self = connection.app.state.context
        return found

    def check_ready(self) -> None:
        """Raise a problem unless requests can be answered."""
        try:
            self.workspace.check()
        except sqlite3.Error as error:
            raise Problem(503, "The workspace cannot be read.") from error

    async def close(self) -> None:
        """End the running job and the threads, and close the workspace."""
        await self.jobs.close()
        self.monitors.close()
        self.workspace.close()
        self.explainer.close()
        self.library.close()
        self.scoring.shutdown(wait=False, cancel_futures=True)
