"""The monitors of a workspace: each is a state file, opened when first asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from newfound.detection.detector import NoveltyDetector
from newfound.models import Model
from newfound.monitor.monitor import Monitor
from newfound.serve.problems import Problem
from newfound.serve.requests import MonitorRequest
from newfound.serve.workspace import Workspace

__all__ = ["Monitors"]

Result = TypeVar("Result")


class Monitors:
    """Opens monitors and lets one request at a time use each.

    Parameters
    ----------
    workspace : Workspace
        Where their states are kept.
    """

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
            include={"every", "false_alarm_every", "fdr"}, exclude_none=True
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
                if id not in self._open:
                    self._open[id] = Monitor.open(self._workspace.monitor_path(id))
                return action(self._open[id])

        try:
            return await asyncio.to_thread(act)
        except ValueError as error:
            raise Problem(422, str(error)) from error

    async def delete(self, id: str) -> None:
        """Delete a monitor and its state."""
        await self.use(id, Monitor.close)
        self._open.pop(id, None)
        self._workspace.delete_monitor(id)

    def close(self) -> None:
        """Close all states."""
        for monitor in self._open.values():
            monitor.close()

    def state(self, entry: dict[str, str], monitor: Monitor) -> dict[str, Any]:
        """Return a monitor as plain data; ``monitor`` in the schema."""
        windows = monitor.windows_
        return {
            **entry,
            "summary": monitor.summary(),
            "warning": monitor.warning(),
            "documents": sum(window.size for window in windows) + monitor.open_window.size,
            "windows": len(windows),
            "rate": windows[-1].novel / max(windows[-1].size, 1) if windows else None,
            "alerts": len(monitor.alerts),
            "topics": [topic.to_dict() for topic in monitor.topics_],
        }
