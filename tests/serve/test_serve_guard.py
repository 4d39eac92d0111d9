"""Nobody but the owner can use the service: not web pages, not other machines, not floods."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from newfound.cli import app as command
from newfound.serve import guard
from newfound.serve.guard import Guard
from newfound.serve.settings import ServiceLimits, Settings
from newfound.serve.workspace import Workspace
from serve_client import HOST, JSON, TOKEN, client
from waiting import PATIENCE, wait_for

BODY = {"model": "none", "text": "a"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client(tmp_path_factory.mktemp("workspace")) as made:
        yield made


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with client(tmp_path_factory.mktemp("workspace"), token=None) as made:
        yield made


@pytest.mark.parametrize(
    "host",
    ["attacker.example", "attacker.example:8765", "127.0.0.1", "127.0.0.1:80", "localhost:8765.",
     "127.0.0.1:8765@attacker.example", "localhost.attacker.example:8765", "0.0.0.0:8765",
     "[::ffff:127.0.0.1]:8765", "", "127.1:8765", "2130706433:8765"],
)  # fmt: skip
def test_a_foreign_host_is_refused(service: httpx.Client, host: str) -> None:
    """A name that a web page controls can point at this machine: DNS rebinding."""
    for path in ("/", "/healthz", "/v1/models", "/sign-in?code=the-code", "/static/x"):
        answer = service.get(path, headers={"Host": host})
        assert answer.status_code == 421, path
        assert "set-cookie" not in answer.headers
    assert service.post("/v1/score", json=BODY, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", [HOST, "localhost:8765", "LocalHost:8765", "[::1]:8765"])
def test_own_hosts_are_answered(service: httpx.Client, host: str) -> None:
    assert service.get("/v1/models", headers={"Host": host}).status_code == 200


def test_two_hosts_are_refused(service: httpx.Client) -> None:
    address = ("127.0.0.1", service.base_url.port or 0)
    with socket.create_connection(address, PATIENCE) as connection:
        lines = ("GET /healthz HTTP/1.1", f"Host: {HOST}", "Host: attacker.example", "", "")
        connection.sendall("\r\n".join(lines).encode())
        assert connection.recv(100).startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))


def test_a_host_can_be_allowed(tmp_path: Path) -> None:
    with client(tmp_path, hosts=("news.example.org",), secure=True) as proxied:
        assert proxied.get("/v1/models", headers={"Host": "news.example.org"}).status_code == 200
        headers = {"Host": "news.example.org", "Origin": "https://news.example.org"}
        assert proxied.post("/v1/score", json=BODY, headers=headers).status_code == 404


@pytest.mark.parametrize(
    "header",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"},
     {"Authorization": TOKEN}, {"Authorization": f"Bearer {TOKEN}x"}, {"Cookie": "newfound-8765="},
     {"Cookie": f"newfound-8765={TOKEN}"}, {"Authorization": "Bearer \u00e9"}],
)  # fmt: skip
def test_without_the_token_nothing_is_answered(
    stranger: httpx.Client, header: dict[str, str]
) -> None:
    encoded = {name: value.encode("latin-1") for name, value in header.items()}
    for path in ("/v1/models", "/metrics", "/openapi.json", "/", "/no-such-path"):
        answer = stranger.get(path, headers=encoded)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
    assert stranger.post("/v1/score", json=BODY, headers=encoded).status_code == 401


def test_the_code_signs_a_browser_in_once(tmp_path: Path) -> None:
    with client(tmp_path, token=None) as browser:
        html = {"Accept": "text/html"}
        assert browser.get("/", headers=html).headers["location"] == "/sign-in"
        for wrong in ("", "other", "the-cod", "the-codes"):
            assert "set-cookie" not in browser.get(f"/sign-in?code={wrong}").headers
        answer = browser.get("/sign-in?code=the-code")
        cookie = answer.headers["set-cookie"]
        assert answer.status_code == 303
        for part in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert part.lower() in cookie.lower()
        assert TOKEN not in cookie
        assert browser.get("/v1/models").status_code == 200
        assert "set-cookie" not in browser.get("/sign-in?code=the-code").headers


def test_the_cookie_is_secure_behind_https(tmp_path: Path) -> None:
    with client(tmp_path, token=None, secure=True) as browser:
        assert "; Secure" in browser.get("/sign-in?code=the-code").headers["set-cookie"]


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
     "text/plain; application/json", "application/jsonx"],
)  # fmt: skip
def test_a_foreign_form_cannot_change_anything(service: httpx.Client, kind: str) -> None:
    """A web page can send these three types, and none, to any address, without being asked."""
    headers = {"Content-Type": kind} if kind else {}
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        content = json.dumps(BODY).encode()
        answer = service.request(method, "/v1/score", content=content, headers=headers)
        assert answer.status_code == 415


@pytest.mark.parametrize(
    "header",
    [{"Origin": "http://attacker.example"}, {"Origin": "null"}, {"Origin": f"https://{HOST}"},
     {"Origin": "http://127.0.0.1:3000"}, {"Sec-Fetch-Site": "cross-site"},
     {"Sec-Fetch-Site": "same-site"}],
)  # fmt: skip
def test_a_foreign_page_cannot_change_anything(
    service: httpx.Client, header: dict[str, str]
) -> None:
    assert service.post("/v1/score", json=BODY, headers=header).status_code == 403


def test_an_own_page_can(service: httpx.Client) -> None:
    headers = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
    assert service.post("/v1/score", json=BODY, headers=headers).status_code == 404  # no model


def test_cors_is_closed(service: httpx.Client) -> None:
    asked = {"Origin": "http://attacker.example", "Access-Control-Request-Method": "POST"}
    for answer in (
        service.options("/v1/score", headers=asked),
        service.get("/v1/models", headers={"Origin": "http://attacker.example"}),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_every_answer_protects_browsers(service: httpx.Client) -> None:
    paths = ("/healthz", "/v1/models", "/v1/nothing", "/sign-in")
    for answer in (*map(service.get, paths), service.get("/", headers={"Host": "x"})):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


def test_a_large_body_is_refused(tmp_path: Path) -> None:
    with client(tmp_path, limits=ServiceLimits(body_bytes=1000)) as small:
        large = json.dumps({"model": "none", "text": "a" * 2000}).encode()
        answer = small.post("/v1/score", content=large, headers=JSON)
        assert answer.status_code == 413
        assert answer.json()["status"] == 413

        def chunks() -> Iterator[bytes]:
            yield from (large[start : start + 100] for start in range(0, len(large), 100))

        answer = small.post("/v1/score", content=chunks(), headers=JSON)
        assert answer.status_code == 413
        assert answer.headers["connection"] == "close"


def test_compressed_bodies_are_refused(service: httpx.Client) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    headers = {**JSON, "Content-Encoding": "gzip"}
    assert service.post("/v1/score", content=bomb, headers=headers).status_code == 415


def test_a_slow_body_is_given_up(tmp_path: Path) -> None:
    sent: list[dict[str, Any]] = []

    async def asked(seconds: float) -> None:
        settings = Settings(tmp_path, token=TOKEN, limits=ServiceLimits(body_seconds=seconds))
        from newfound.serve.app import create_app

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0.1)
            return {"type": "http.request", "body": b" ", "more_body": True}

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [
            (b"host", HOST.encode()),
            (b"authorization", f"Bearer {TOKEN}".encode()),
            (b"content-type", b"application/json"),
        ]
        scope = {
            "type": "http", "method": "POST", "path": "/v1/score", "raw_path": b"/v1/score",
            "query_string": b"", "headers": headers, "http_version": "1.1", "scheme": "http",
            "root_path": "", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8765),
        }  # fmt: skip
        await create_app(settings)(scope, receive, send)

    asyncio.run(asked(0.5))  # the body itself has no end
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in [(name.lower(), v) for name, v in sent[0]["headers"]]


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/v1/score", "application/json"), ("/healthz", "application/json"), ("/v1/score", "x/y")],
)
def test_a_refused_request_does_not_hold_its_connection(
    stranger: httpx.Client, path: str, kind: str
) -> None:
    """Else anyone could take all connections, by bodies that never end."""
    port = stranger.base_url.port or 0
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as slow:
        lines = (f"POST {path} HTTP/1.1", f"Host: {HOST}", f"Content-Type: {kind}",
                 "Content-Length: 1000", "", "some")  # fmt: skip
        slow.sendall("\r\n".join(lines).encode())
        answer = b""
        while more := slow.recv(10_000):  # until the service closes the connection
            answer += more
        assert answer.startswith((b"HTTP/1.1 401", b"HTTP/1.1 405"))


def test_a_connection_is_kept_where_the_body_has_come(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling needs no data; what is sent nevertheless has come with the headers."""
    monkeypatch.setattr(guard, "_MOMENT", PATIENCE)
    for _ in range(2):
        answer = service.post("/v1/jobs/none/cancel", json={})
        assert answer.status_code == 404
        assert "connection" not in answer.headers


@pytest.mark.parametrize("path", ["/sign-in", "/healthz"])
def test_strangers_cannot_send_much(stranger: httpx.Client, path: str) -> None:
    headers = {**JSON, "Host": HOST}
    answer = stranger.post(path, content=b"{" + b" " * 5000, headers=headers)
    assert answer.status_code == 413


def test_only_files_may_have_the_size_of_files(tmp_path: Path) -> None:
    limits = ServiceLimits(body_bytes=1000, upload_bytes=100_000)
    with client(tmp_path, limits=limits) as small:
        body = json.dumps({"text_column": "x" * 2000})
        answer = small.post("/v1/uploads/none/check", content=body, headers=JSON)
        assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/v1/score", "/v1/uploads?name=a.txt"])
def test_a_caller_that_goes_away_is_no_error(
    service: httpx.Client,
    path: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, receive = threading.Event(), guard._Body.__call__

    async def told(body: guard._Body) -> Any:
        asked.set()
        return await receive(body)

    monkeypatch.setattr(guard._Body, "__call__", told)
    port = service.base_url.port or 0
    kind = "application/json" if "score" in path else "application/octet-stream"
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as leaving:
        lines = (f"POST {path} HTTP/1.1", f"Host: {HOST}", f"Authorization: Bearer {TOKEN}",
                 f"Content-Type: {kind}", "Content-Length: 1000", "", "some")  # fmt: skip
        leaving.sendall("\r\n".join(lines).encode())
        assert asked.wait(PATIENCE)
    route = path.partition("?")[0]
    counted = f'newfound_requests_total{{method="POST",route="{route}",status="400"}} 1'
    wait_for(lambda: counted in service.get("/metrics").text, counted)
    assert not caplog.records


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_is_said(
    service: httpx.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    monkeypatch.setattr(Workspace, "model_path", lambda self, id: full)
    octets = {"Content-Type": "application/octet-stream"}
    answer = service.post("/v1/models", content=b"x" * 100_000, headers=octets)
    assert answer.status_code == 507
    assert "disk" in answer.json()["detail"]
    assert not full.is_symlink() and Path("/dev/full").exists()


def test_slow_headers_are_given_up(tmp_path: Path) -> None:
    with client(tmp_path, patience=0.5) as service:
        for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost: 127"):
            address = ("127.0.0.1", service.base_url.port or 0)
            began = time.monotonic()
            with socket.create_connection(address, PATIENCE) as slow:
                slow.sendall(begun)
                assert slow.recv(100) == b""  # the service has closed the connection
                assert time.monotonic() - began > 0.45


def test_websockets_are_refused(tmp_path: Path) -> None:
    sent: list[Any] = []

    async def ask() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        closed = Guard(None, Settings(tmp_path))  # type: ignore[arg-type]
        await closed({"type": "websocket", "path": "/"}, None, send)  # type: ignore[arg-type]

    asyncio.run(ask())
    assert [message["type"] for message in sent] == ["websocket.close"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "--token-file"),
        (["--host", "0.0.0.0", "--token", TOKEN], "--behind-proxy"),
        (["--host", "::", "--behind-proxy"], "--token-file"),
        (["--host", "192.168.1.2", "--token", TOKEN], "in the clear"),
        (["--tls-cert", "a.pem"], "--tls-key"),
        (["--token", TOKEN, "--token-file", "x"], "use one"),
    ],
)
def test_an_open_address_needs_token_and_https(options: list[str], said: str) -> None:
    result = CliRunner().invoke(
        command, ["serve", *options, "--no-browser"], env={"COLUMNS": "500"}
    )
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize("token", ["short", "with spaces in it, long", "ümlaute-sind-nicht-ascii"])
def test_a_weak_token_is_refused(token: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        command, ["serve", "--token", token, "--workspace", str(tmp_path), "--no-browser"]
    )
    assert result.exit_code == 1
    assert "token" in result.output


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "a" * 65, "a b", "x\n", "nul\0"])
def test_names_that_could_leave_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        command, ["serve", "--model", f"{name}=x", "--workspace", str(tmp_path), "--no-browser"]
    )
    assert result.exit_code == 1
    assert "name" in result.output


def test_the_guard_compares_in_constant_time(tmp_path: Path) -> None:
    compared = Guard(None, Settings(tmp_path, token=TOKEN))  # type: ignore[arg-type]
    assert compared.is_token(TOKEN)
    assert not any(map(compared.is_token, (TOKEN[:-1], "\udcff", "")))
