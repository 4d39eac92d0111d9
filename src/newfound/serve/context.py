"""What the handlers of requests share."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from starlette.requests import HTTPConnection

from newfound.models import load
from newfound.serve.guard import Guard
from newfound.serve.jobs import Jobs
from newfound.serve.library import Entry, Library, kind_of
from newfound.serve.metrics import Metrics
from newfound.serve.monitors import Monitors
from newfound.serve.problems import Problem
from newfound.serve.scoring import Explainer
from newfound.serve.settings import Settings
from newfound.serve.workspace import Workspace

__all__ = ["Context"]


@dataclass
class Context:
    """The parts of a running service.

    Attributes
    ----------
    settings : Settings
        What it was started with.
    library : Library
        Its models.
    explainer : Explainer
        Explains texts.
    workspace : Workspace
        What it keeps.
    jobs : Jobs
        What runs and waits.
    monitors : Monitors
        What watches streams.
    metrics : Metrics
        Its counters.
    scoring : ThreadPoolExecutor
        Where texts are scored.
    inspections : asyncio.Semaphore
        How many files may be looked at at once; each look may use 4 GB.
    guard : Guard or None
        What stands in front of it.
    """

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
    inspections: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))
    guard: Guard | None = None

    @classmethod
    def start(cls, settings: Settings) -> Self:
        """Return the parts of a service; the models named at the start are checked."""
        files = {name: _named(name, path) for name, path in settings.models.items()}
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


def _named(name: str, path: Path) -> Entry:
    return Entry(name, name, kind_of(load(path)), path, "file")
