"""How tests wait: for what happens, not for seconds, because a machine may be slow or busy."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import psutil

T = TypeVar("T")

PATIENCE = 600.0  # seconds that only something that hangs takes
PAGE_PATIENCE = 90.0  # the same for one step of a page in a browser


def wait_for(happened: Callable[[], T], what: object = "it") -> T:
    """Ask until the answer is true; return the answer."""
    end = time.monotonic() + PATIENCE
    while not (answer := happened()):
        assert time.monotonic() < end, f"{what} did not happen"
        time.sleep(0.01)
    return answer


def wait_for_work(pid: int, seconds: float) -> None:
    """Wait until a process that goes on for long has had some processor time from now on."""
    process = psutil.Process(pid)

    def used() -> float:
        times = process.cpu_times()
        return float(times.user + times.system)

    begun = used()
    wait_for(lambda: used() - begun >= seconds, f"{seconds} s of work")
