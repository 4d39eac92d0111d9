"""Monitors over HTTP: the same alerts and topics as in the library, also after a restart."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import newfound
from newfound.monitor.monitor import Monitor
from newfound.serve.context import Monitors
from newfound.serve.requests import MonitorRequest, Problem
from newfound.serve.workspace import Workspace
from serve_client import JSON, KNOWN, client, make_models, validate
from waiting import PATIENCE, wait_for

NEW = [f"the printer {what}" for what in ("jams", "smokes", "beeps", "is broken", "died")]
STREAM = [*KNOWN[::7][:20], *NEW, *KNOWN[3::7][:15]]


@pytest.fixture(scope="module")
def models() -> dict[str, Path]:
    return make_models()


def begun(service: httpx.Client, **more: Any) -> dict[str, Any]:
    answer = service.post(
        "/v1/monitors", json={"name": "Inbox", "model": "detector", "every": 20, **more}
    )
    assert answer.status_code == 201, answer.text
    validate(answer.json(), "monitor")
    return dict(answer.json())


def sent(service: httpx.Client, id: str, texts: list[str]) -> list[Any]:
    documents = [{"text": text, "id": f"{n}-{text}"} for n, text in enumerate(texts)]
    answer = service.post(f"/v1/monitors/{id}/documents", json={"documents": documents})
    assert answer.status_code == 200, answer.text
    validate(answer.json(), "alerts")
    return list(answer.json()["alerts"])


def test_a_window_of_time_that_is_over_is_tested_when_nothing_comes(
    tmp_path: Path, models: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(tmp_path, models=models) as service:
        id = begun(service, every="1h")["id"]
        where = f"/v1/monitors/{id}/documents"
        for minute, text in enumerate([*KNOWN[:20], *NEW]):
            document = {"text": text, "time": f"2003-03-20T10:{minute:02}"}
            assert service.post(where, json={"documents": [document]}).json() == {"alerts": []}
        assert service.get(f"/v1/monitors/{id}").json()["windows"] == 0
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 3600)
        alerts = service.post(where, json={"documents": []}).json()["alerts"]
        assert any("printer" in alert["summary"] for alert in alerts)
        assert service.get(f"/v1/monitors/{id}").json()["windows"] == 1


def test_the_page_names_both_topics_of_a_merge(tmp_path: Path, models: dict[str, Path]) -> None:
    rooms = [f"the garden {what}" for what in ("blooms", "floods", "dries", "is green", "grew")]
    with client(tmp_path, models=models) as service:
        id = begun(service)["id"]
        sent(service, id, STREAM)
        sent(service, id, [*rooms, *KNOWN[5::7][:15]])
        merged = service.post(f"/v1/monitors/{id}/topics/1/merge", json={"topic": 2})
        assert merged.status_code == 200, merged.text
        page = service.get(f"/monitors/{id}", headers={"accept": "text/html"}).text
        assert "merge of topic 2 into topic 1, " in page
        service.post(f"/v1/monitors/{id}/undo", json={})
        service.post(f"/v1/monitors/{id}/topics/2/dismiss", json={})
        page = service.get(f"/monitors/{id}", headers={"accept": "text/html"}).text
        assert "dismiss of topic 2, " in page


def test_alerts_are_those_of_the_library_and_topics_can_be_changed(
    tmp_path: Path, models: dict[str, Path]
) -> None:
    library = newfound.Monitor(newfound.load(models["detector"]), every=20)
    expected = library.update(STREAM, ids=[f"{n}-{text}" for n, text in enumerate(STREAM)])
    with client(tmp_path, models=models) as service:
        id = begun(service)["id"]
        alerts = sent(service, id, STREAM)
        assert len(alerts) == 1
        assert alerts == json.loads(json.dumps([alert.to_dict() for alert in expected]))
        assert sent(service, id, STREAM) == []  # their ids were seen
        state = service.get(f"/v1/monitors/{id}").json()
        validate(state, "monitor")
        assert state["topics"][0]["status"] == "open" and state["documents"] == 40
        topic = f"/v1/monitors/{id}/topics/1"
        promoted = service.post(f"{topic}/promote", json={"name": "printers"}).json()
        assert promoted["topics"][0]["known_as"] == "printers"
        assert service.post(f"{topic}/dismiss", json={}).status_code == 422
        undone = service.post(f"/v1/monitors/{id}/undo", json={}).json()
        assert undone["topics"][0]["status"] == "open"
        assert service.post(f"/v1/monitors/{id}/undo", json={}).status_code == 422
        assert service.post(f"{topic}/merge", json={"topic": 1}).status_code == 422
        dismissed = service.post(f"{topic}/dismiss", json={}).json()
        assert dismissed["topics"][0]["status"] == "dismissed"
    with client(tmp_path, models=models) as service:
        listed = service.get("/v1/monitors").json()
        validate(listed, "monitors")
        assert [one["id"] for one in listed["monitors"]] == [id]
        assert service.get(f"/v1/monitors/{id}/alerts").json()["alerts"] == alerts
        assert service.delete(f"/v1/monitors/{id}", headers=JSON).json() == {"deleted": id}
        assert service.get(f"/v1/monitors/{id}").status_code == 404
        assert not list((tmp_path / "monitors").glob(f"{id}*"))


def test_what_is_wrong_is_told(tmp_path: Path, models: dict[str, Path]) -> None:
    with client(tmp_path, models=models) as service:
        for body, status in (
            ({"name": "x", "model": "none"}, 404),
            ({"name": "x", "model": "describer"}, 422),
            ({"name": "x", "model": "detector", "every": "often"}, 422),
            ({"name": "x", "model": "detector", "every": 20, "false_alarm_every": "1d"}, 422),
            ({"name": "", "model": "detector"}, 422),
        ):
            answer = service.post("/v1/monitors", json=body)
            assert answer.status_code == status, body
            validate(answer.json(), "problem")
        assert service.get("/v1/monitors").json() == {"monitors": []}
        assert not list((tmp_path / "monitors").iterdir())
        id = begun(service)["id"]
        bad = {"documents": [{"text": "a", "time": "once upon a time"}]}
        assert service.post(f"/v1/monitors/{id}/documents", json=bad).status_code == 422
        for number in ("0", "7", "x"):
            path = f"/v1/monitors/{id}/topics/{number}/dismiss"
            answer = service.post(path, json={})
            assert answer.status_code == 422
            validate(answer.json(), "problem")


def test_a_damaged_state_does_not_hide_the_others(tmp_path: Path, models: dict[str, Path]) -> None:
    with client(tmp_path, models=models) as service:
        first, second = (begun(service, name=name)["id"] for name in ("Inbox", "Outbox"))
    (tmp_path / "monitors" / f"{first}.state").write_bytes(b"damaged" * 100)
    with client(tmp_path, models=models) as service:
        data = service.get("/v1/monitors").json()
        validate(data, "monitors")
        assert {one["id"]: bool(one["warning"]) for one in data["monitors"]} == {
            first: True,
            second: False,
        }
        page = service.get("/monitors", headers={"Accept": "text/html"})
        assert page.status_code == 200 and "Outbox" in page.text and "not the state" in page.text
        assert service.delete(f"/v1/monitors/{first}", headers=JSON).status_code == 200
        assert [one["id"] for one in service.get("/v1/monitors").json()["monitors"]] == [second]


class InOrder:
    """A lock that is given in the order in which it was asked for."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.asked = self.left = 0

    def __enter__(self) -> None:
        with self.changed:
            place, self.asked = self.asked, self.asked + 1
            self.changed.wait_for(lambda: self.left == place)

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.left += 1
            self.changed.notify_all()


def test_a_monitor_that_is_deleted_meanwhile_is_not_there(
    tmp_path: Path, models: dict[str, Path]
) -> None:
    async def ask() -> Any:
        workspace = Workspace(tmp_path)
        monitors = Monitors(workspace)
        given = MonitorRequest(name="Inbox", model="detector")
        id = (await monitors.make(given, newfound.load(models["detector"])))["id"]
        lock = monitors._locks[id] = InOrder()  # type: ignore[assignment]
        over = threading.Event()
        slow = asyncio.create_task(monitors.use(id, lambda one: over.wait(PATIENCE)))
        await asyncio.to_thread(wait_for, lambda: lock.asked == 1)
        gone = asyncio.create_task(monitors.delete(id))
        await asyncio.to_thread(wait_for, lambda: lock.asked == 2)
        late = asyncio.create_task(monitors.use(id, Monitor.summary))
        await asyncio.to_thread(wait_for, lambda: lock.asked == 3)
        over.set()
        await asyncio.gather(slow, gone)
        (found,) = await asyncio.gather(late, return_exceptions=True)
        workspace.close()
        return found

    found = asyncio.run(ask())
    assert isinstance(found, Problem) and found.status_code == 404
