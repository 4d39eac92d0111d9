"""Counters and times of the service, as Prometheus reads them."""

from __future__ import annotations

import os
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Metrics", "MetricsMiddleware", "memory_bytes"]

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds


class Metrics:
    """Counts requests and texts; `gauges` are asked when the numbers are read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {
            "newfound_memory_bytes": ("Memory of the service in use.", memory_bytes),
        }

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        with self._lock:
            self._requests[method, route, status] += 1
            if route not in self._times:
                self._times[route] = [0] * (len(_BOUNDS) + 1)
            self._times[route][bisect_left(_BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def count_texts(self, action: str, n: int) -> None:
        """Count texts that were scored or explained."""
        with self._lock:
            self._texts[action] += n

    def text(self) -> str:
        """Return all numbers in the text format of Prometheus."""
        with self._lock:
            lines = [
                "# HELP newfound_requests_total Requests that were answered.",
                "# TYPE newfound_requests_total counter",
                *(
                    f'newfound_requests_total{{method="{method}",route="{route}",'
                    f'status="{status}"}} {n}'
                    for (method, route, status), n in sorted(self._requests.items())
                ),
                "# HELP newfound_request_seconds Time to answer.",
                "# TYPE newfound_request_seconds histogram",
            ]
            for route, counts in sorted(self._times.items()):
                total = 0
                for bound, n in zip((*_BOUNDS, "+Inf"), counts, strict=True):
                    total += n
                    name = f'newfound_request_seconds_bucket{{route="{route}",le="{bound}"}}'
                    lines.append(f"{name} {total}")
                lines.append(
                    f'newfound_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}'
                )
                lines.append(f'newfound_request_seconds_count{{route="{route}"}} {total}')
            lines.append("# HELP newfound_texts_total Texts that were scored or explained.")
            lines.append("# TYPE newfound_texts_total counter")
            for action, n in sorted(self._texts.items()):
                lines.append(f'newfound_texts_total{{action="{action}"}} {n}')
        for name, (about, value) in self.gauges.items():
            lines += [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value():g}"]
        return "\n".join(lines) + "\n"


class MetricsMiddleware:
    """Counts every answer by the route that gave it; it is the outermost application."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and count the answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"].isalpha() else "other"
            self.metrics.count_request(method, route, status, time.perf_counter() - began)


def memory_bytes() -> float:
    """Return the memory of this process in use; its peak where the system reports no more."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return float(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        if sys.platform == "win32":
            return 0.0
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return float(peak if sys.platform == "darwin" else 1024 * peak)
