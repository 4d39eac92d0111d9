"""The guard in front of everything: who may send requests, from where, and how much.

A page of any web site can send requests to a service on the same machine, and a name that such a
page controls can be made to point at it (DNS rebinding). Therefore the header Host must be a known
one; every request needs the token or the cookie made from it; a change must have a content type
that a foreign page cannot send without being asked (CORS), and must not come from a foreign page.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import os
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newfound.serve.requests import Problem, problem_response
from newfound.serve.settings import Settings

__all__ = ["OPEN", "POLICY", "Guard", "Metrics", "MetricsMiddleware", "memory_bytes"]

OPEN = ("/healthz", "/readyz", "/sign-in")  # what needs no token
_STATIC = "/static/"
_CHANGES = ("POST", "PUT", "PATCH", "DELETE")
_FILES = ("/v1/uploads", "/v1/models")  # where a body is a file
_MOMENT = 0.5  # seconds for a body of less than 1,000 bytes that nobody has asked for
_OPEN_BYTES = 4096  # of a body of a stranger
_CONTENT_TYPES = ("application/json", "application/x-ndjson", "application/octet-stream")
_BYTES_A_TURN = 10 << 20  # of an upload, in `body_seconds`
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}


class Guard:
    """An ASGI application that lets through what may pass."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self._hosts, self._origins = settings.allowed_hosts, settings.origins
        self._token = settings.token.encode()
        self._session = hmac.new(self._token, b"newfound session", hashlib.sha256).hexdigest()
        self._cookie = f"newfound-{settings.port}"
        self._code: str | None = settings.code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers(scope)
        body = _Body(receive, self._limit(scope), self.settings.limits.body_seconds, headers)
        guarded = _with_headers(send, body)
        try:
            answer = self._answer(scope, headers)
        except Problem as problem:
            answer = problem_response(problem.status_code, problem.detail, problem.headers)
        if answer is not None:
            await answer(scope, receive, guarded)
            return
        await self.app(scope, body, guarded)

    def session_cookie(self) -> Mapping[str, Any]:
        """Return the parameters of the cookie that signs a browser in."""
        return {
            "key": self._cookie,
            "value": self._session,
            "httponly": True,
            "samesite": "strict",
            "secure": self.settings.secure,
            "path": "/",
        }

    def is_token(self, given: str) -> bool:
        """Return whether a text is the token, in a time that does not depend on how near it is."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _answer(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """Return the answer to a request that must not pass, or that signs in; else None."""
        n_hosts = sum(name == b"host" for name, _ in scope["headers"])
        if n_hosts != 1 or headers["host"].lower() not in self._hosts:
            shown = ", ".join(sorted(self._hosts))
            raise Problem(421, f"This service does not answer for this Host; it does for {shown}.")
        path: str = scope["path"]
        if path == "/sign-in" and scope["method"] == "GET":
            signed_in = self._sign_in(scope)
            if signed_in is not None:
                return signed_in
        is_open = path in OPEN or path.startswith(_STATIC)
        if not is_open and not self._is_signed_in(headers):
            return _sign_in_first(headers)
        if scope["method"] in _CHANGES:
            self._check_change(headers, scope)
        return None

    def _sign_in(self, scope: Scope) -> Response | None:
        """Exchange the code of the first address for the cookie; a code is valid once."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("code", [""])[0]
        if not given:
            return None
        code = self._code
        if code is None or not hmac.compare_digest(given.encode(), code.encode()):
            return None
        self._code = None
        answer = RedirectResponse("/", 303)
        answer.set_cookie(**self.session_cookie())
        return answer

    def _is_signed_in(self, headers: Mapping[str, str]) -> bool:
        given = headers.get("authorization")
        if given is not None:
            scheme, _, token = given.partition(" ")
            return scheme.lower() == "bearer" and self.is_token(token.strip())
        for pair in headers.get("cookie", "").split(";"):
            name, _, value = pair.strip().partition("=")
            if name == self._cookie and hmac.compare_digest(value.encode(), self._session.encode()):
                return True
        return False

    def _check_change(self, headers: Mapping[str, str], scope: Scope) -> None:
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins:
            raise Problem(403, "This page of another origin may not change anything here.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Problem(403, "Another site may not change anything here.")
        given = headers.get("content-type", "").partition(";")[0].strip().lower()
        if given not in _CONTENT_TYPES:
            raise Problem(
                415,
                "Send the header Content-Type: application/json, also without a body; NDJSON as "
                "application/x-ndjson, files as application/octet-stream.",
            )
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Problem(415, "Send the body without Content-Encoding; compressed is refused.")
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            length = 0  # the server has checked it, or it counts the chunks
        if length > self._limit(scope):
            raise _too_large(self._limit(scope))

    def _limit(self, scope: Scope) -> int:
        if scope["path"] in OPEN:
            return _OPEN_BYTES
        limits = self.settings.limits
        return limits.upload_bytes if scope["path"] in _FILES else limits.body_bytes


class _Body:
    """Receives the body of a request, up to a size and within a time."""

    def __init__(
        self, receive: Receive, limit: int, seconds: float, headers: Mapping[str, str]
    ) -> None:
        self._receive, self._limit, self._seconds, self._n = receive, limit, seconds, 0
        self._began, self._done = time.monotonic(), False
        length = headers.get("content-length", "0")
        self._announced = length != "0" or "transfer-encoding" in headers
        self._small = len(length) < 4 and "transfer-encoding" not in headers

    async def __call__(self) -> Message:
        if self._done:
            return await self._receive()
        allowed = self._seconds * (1 + self._n // _BYTES_A_TURN)
        left = self._began + allowed - time.monotonic()
        try:
            async with asyncio.timeout(max(left, 0.001)):
                message = await self._receive()
        except TimeoutError as error:
            detail = f"The body did not arrive within {allowed:g} s."
            raise Problem(408, detail, {"Connection": "close"}) from error
        self._done = not message.get("more_body", False)
        if message["type"] == "http.request":
            self._n += len(message.get("body", b""))
            if self._n > self._limit:
                raise _too_large(self._limit)
        return message

    async def is_there(self) -> bool:
        """Return whether all of the body has come; a small one may come a moment later."""
        if self._announced and not self._done:
            with contextlib.suppress(TimeoutError, Problem):
                async with asyncio.timeout(_MOMENT if self._small else 0):
                    while not self._done:
                        await self()
        return self._done or not self._announced


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers of a request by name; of several of a name the first one."""
    pairs = reversed(scope["headers"])
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in pairs}


def _too_large(limit: int) -> Problem:
    detail = f"The body has more than {limit:,} bytes, the most that is accepted."
    return Problem(413, detail, {"Connection": "close"})


def _sign_in_first(headers: Mapping[str, str]) -> Response:
    if "text/html" in headers.get("accept", ""):
        return RedirectResponse("/sign-in", 303)
    what = "wrong" if "authorization" in headers else "missing"
    return problem_response(
        401,
        f"The token is {what}. Send Authorization: Bearer TOKEN, with the token that newfound "
        "serve printed, or that of --token-file.",
        {"WWW-Authenticate": "Bearer"},
    )


def _with_headers(send: Send, body: _Body) -> Send:
    """Add the headers that protect browsers, unless the answer has its own.

    An answer that does not wait for the body ends the connection: everyone who keeps
    sending something, however slowly, would keep it open.
    """

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            have = {name.lower() for name, _ in headers}
            headers += [(name, value) for name, value in _HEADERS.items() if name not in have]
            if b"connection" not in have and not await body.is_there():
                headers.append((b"connection", b"close"))
            message = {**message, "headers": headers}
        await send(message)

    return sending


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
