"""The queue of jobs, each in its own process: a crash ends that job only."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

from newfound.processes import clean_environment, python_command
from newfound.serve.requests import Problem
from newfound.serve.settings import TOKEN_VARIABLE, ServiceLimits
from newfound.serve.workspace import ENDED, RESULT, Run, Workspace, now

__all__ = ["Jobs", "process_environment"]

_LINE = 1 << 20  # bytes that a job may print in a line
_GRACE = 5.0  # seconds that a job has to end
_PAUSE = 5.0  # seconds between two attempts to write to the index


class Jobs:
    """Runs jobs one after the other, reports their progress, and cancels them."""

    def __init__(self, workspace: Workspace, limits: ServiceLimits) -> None:
        self.workspace, self.limits = workspace, limits
        self._waiting: list[str] = []
        self._running: str | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._cancelled: set[str] = set()
        self._changed = asyncio.Condition()
        self._progress: dict[str, dict[str, Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return len(self._waiting)

    def run(self, id: str) -> Run:
        """Return a run as it is now; without one, a 404."""
        found = self.workspace.run(id)
        if found is None:
            raise Problem(404, f"There is no job {id[:80]!r}; GET /v1/jobs lists them.")
        if id in self._progress:
            found.progress = self._progress[id]
        return found

    def check_room(self) -> None:
        """Raise a 429 if no job can be added."""
        if len(self._waiting) >= self.limits.queue:
            raise Problem(
                429,
                f"{len(self._waiting):,} jobs wait already, the most that may; try again later.",
                {"Retry-After": "10"},
            )

    async def submit(self, run: Run) -> Run:
        """Add a job whose folder is ready; a 429 if too many wait."""
        if self._closed:
            raise Problem(503, "The service is being stopped.", {"Retry-After": "10"})
        self.check_room()
        self.workspace.put_run(run)
        self._waiting.append(run.id)
        await self._tell()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return run

    async def restart(self, id: str) -> Run:
        """Run a job again that has ended without a result."""
        run = self.run(id)
        if run.state in ("finished", "queued", "running"):
            raise Problem(409, f"The job {id} is {run.state}; only one that failed can restart.")
        run.state, run.error, run.ended, run.started = "queued", None, None, None
        return await self.submit(run)

    async def cancel(self, id: str) -> Run:
        """End a job that waits or runs."""
        run = self.run(id)
        if run.state in ENDED:
            raise Problem(409, f"The job {id} has already ended: {run.state}.")
        self._cancelled.add(id)
        if id in self._waiting:
            self._waiting.remove(id)
            self._cancelled.discard(id)
            self.workspace.end(run, "cancelled")
            await self._tell()
        elif self._process is not None and self._running == id:
            await _stop(self._process)
            async with self._changed:
                await self._changed.wait_for(lambda: self.run(id).state in ENDED)
        return self.run(id)

    async def delete(self, id: str) -> None:
        """Delete a run that has ended, and its files."""
        run = self.run(id)
        if run.state not in ENDED:
            raise Problem(409, f"The job {id} is {run.state}; cancel it first.")
        self.workspace.delete_run(id)
        await self._tell()

    async def events(self, id: str, *, every: float = 10.0) -> AsyncIterator[Run]:
        """Yield a run whenever it has changed, until it has ended; and now and then anyway."""
        while self.workspace.run(id) is not None:  # it may be deleted meanwhile
            run = self.run(id)
            yield run
            if run.state in ENDED:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(every), self._changed:
                    while not self._differs(id, run):
                        await self._changed.wait()

    async def close(self) -> None:
        """End the running job; it is marked as interrupted, and so are those that wait."""
        self._closed = True
        if self._process is not None:
            await _stop(self._process)
        if self._task is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        while self._waiting:
            self.workspace.end(self.run(self._waiting.pop()), "interrupted")
        await self._tell()

    def _differs(self, id: str, last: Run) -> bool:
        found = self.workspace.run(id)
        if found is None:
            return True
        found.progress = self._progress.get(id, found.progress)
        return found != last

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _work(self) -> None:
        while self._waiting and not self._closed:
            self._running = self._waiting.pop(0)
            run = self.run(self._running)
            run.state, run.started, run.attempts = "running", now(), run.attempts + 1
            try:
                self.workspace.put_run(run)
                await self._tell()
                state, error = await self._do(run)
            except Exception as failure:
                state, error = "failed", f"The job could not be run: {failure}"
            self._progress.pop(run.id, None)
            self._cancelled.discard(run.id)
            self._running = self._process = None
            await self._end(run, state, error)
            await self._tell()

    async def _end(self, run: Run, state: str, error: str | None) -> None:
        """Note how a run has ended; where the disk is full, when it no longer is."""
        while True:
            try:
                return self.workspace.end(run, state, error)
            except sqlite3.OperationalError:
                if self._closed:
                    return None  # the next start notes that it was interrupted
                await asyncio.sleep(_PAUSE)

    async def _do(self, run: Run) -> tuple[str, str | None]:
        """Run the process of a job; return how it has ended."""
        folder = self.workspace.run_folder(run.id)
        (folder / RESULT).unlink(missing_ok=True)
        with open(folder / "log.txt", "wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *python_command("newfound.serve.worker", "job", str(folder)),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log,
                limit=_LINE, env=process_environment(), cwd=self.workspace.folder,
                start_new_session=True,  # Control-C is for the service, which ends its jobs
            )  # fmt: skip
        process, told = self._process, dict[str, Any]()
        if run.id in self._cancelled or self._closed:
            await _stop(process)
        try:
            async with asyncio.timeout(self.limits.job_seconds):
                await self._listen(run, process, told)
                status = await process.wait()
        except TimeoutError:
            return "failed", f"The job took more than {self.limits.job_seconds:g} s, the limit."
        finally:
            await _stop(process)  # no job outlives its run
        if self._closed:
            return "interrupted", None
        if run.id in self._cancelled:
            return "cancelled", None
        run.memory, run.warnings = told.get("memory"), told.get("warnings", [])
        if status == 0 and (folder / RESULT).exists():
            return "finished", None
        return "failed", told.get("error") or _crashed(status)

    async def _listen(
        self, run: Run, process: asyncio.subprocess.Process, told: dict[str, Any]
    ) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            try:
                data = json.loads(line)
            except ValueError:
                continue  # a library has printed something
            if "stage" in data:
                self._progress[run.id] = {**data, "since": self._since(run.id, data["stage"])}
                await self._tell()
            else:
                told.update(data)

    def _since(self, id: str, stage: str) -> str:
        before = self._progress.get(id, {})
        return str(before["since"]) if before.get("stage") == stage else now()


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End a process, by force if it does not end; its files are written completely or not."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _GRACE)
        except TimeoutError:
            process.kill()
            await process.wait()


def process_environment() -> dict[str, str]:
    """Return the environment of a process that works on documents; it need not know the token."""
    given = {**clean_environment(), "PYTHONUNBUFFERED": "1"}
    given.pop(TOKEN_VARIABLE, None)
    return given


def _crashed(status: int) -> str:
    """Say why a process ended that did not report it."""
    if status == -9:
        return (
            "The job was killed, probably because the machine ran out of memory; use fewer "
            "documents."
        )
    how = f"signal {-status}" if status < 0 else f"status {status}"
    return f"The job has crashed with {how}; its log.txt may say why."
