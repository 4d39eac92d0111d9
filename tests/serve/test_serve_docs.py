"""The examples of docs/serve.md run as they are printed."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from newfound.serve.settings import Settings
from serve_client import KNOWN, NOVEL, TOKEN, make_models, site
from waiting import PATIENCE

PAGE = Path(__file__).resolve().parents[2] / "docs" / "serve.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="only in the repository")


def example(language: str, beginning: str, address: str) -> str:
    """Return an example of the page, with the address of a service."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(beginning)]
    return str(found).replace("http://127.0.0.1:8765", address)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    models = {"intents": make_models()["detector"]}
    with site(tmp_path_factory.mktemp("workspace"), models=models, jobs=1) as settings:
        yield settings


@pytest.fixture
def address(service: Settings, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TOKEN", TOKEN)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(httpx, "Client", partial(httpx.Client, timeout=PATIENCE))
    return service.address.rstrip("/")


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl(address: str) -> None:
    command = example("sh", "curl", address)
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert json.loads(done.stdout)["verdict"] == "novel"


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_curl_with_files(address: str, tmp_path: Path) -> None:
    labelled = [f"{n},{text},{text.split()[-1]}" for n, text in enumerate(KNOWN)]
    queue = [f"T-{n},{text}" for n, text in enumerate([*KNOWN[:30], *NOVEL[:10]])]
    (tmp_path / "tickets.csv").write_text("\n".join(["id,text,topic", *labelled]), "utf-8")
    (tmp_path / "queue.csv").write_text("\n".join(["id,text", *queue]), "utf-8")
    command = example("sh", "send()", address)
    subprocess.run(["sh", "-ec", command], check=True, cwd=tmp_path, timeout=PATIENCE)
    assert "event: finished" in (tmp_path / "events.txt").read_text("utf-8")
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text("utf-8").splitlines()))
    assert [row["id"] for row in rows] == [f"T-{n}" for n in range(40)]
    assert sum(row["novel"] == "True" for row in rows[30:]) >= 8
    assert {row["nearest"] for row in rows} <= {text.split()[-1] for text in KNOWN}


@pytest.mark.slow
def test_httpx(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"known_texts": KNOWN[::3], "novel_texts": NOVEL}
    exec(example("python", "import os\nimport time", address), names)
    assert "novel documents" in capsys.readouterr().out
    assert names["job"]["name"] == "May"
    names["service"].close()


def test_webhook(address: str) -> None:
    names: dict[str, Any] = {"__name__": "webhook"}
    exec(example("python", "# webhook.py", address), names)
    hook = names["Webhook"]
    hook.log_message = lambda *arguments: None
    with ThreadingHTTPServer(("127.0.0.1", 0), hook) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            with httpx.Client(trust_env=False, timeout=PATIENCE) as bot:
                to = f"http://127.0.0.1:{server.server_port}"
                known = bot.post(to, json={"message": "pay my old bill"}).json()
                new = bot.post(to, json={"message": "book a flight to Lima"}).json()
        finally:
            server.shutdown()
            thread.join()
    assert known["hand_over"] is False and known["intent"] == "bill"
    assert new["hand_over"] is True and {"flight", "lima"} & set(new["because"])
    names["service"].close()
