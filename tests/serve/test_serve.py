"""The service for programs: scores and explanations are those of the library and the command."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

import newfound
from newfound.cli import app as command
from newfound.serve import api, library
from newfound.serve.library import Explainer
from newfound.serve.openapi import output_schema
from newfound.serve.requests import MonitorDocumentsRequest, invalid, schema_of
from newfound.serve.settings import ServiceLimits, Settings
from serve_client import JSON, KNOWN, NOVEL, TOKEN, client, make_models, validate
from waiting import PATIENCE

TEXTS = ["pay my old bill", "book a late flight to Lima", "?!", "", "zyxw wvut srqp onml"]


@pytest.fixture(scope="module")
def models() -> dict[str, Path]:
    return make_models()


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, models: dict[str, Path]
) -> Iterator[httpx.Client]:
    with client(tmp_path_factory.mktemp("workspace"), models=models) as made:
        yield made


def test_models_are_listed(service: httpx.Client) -> None:
    data = service.get("/v1/models").json()
    validate(data, "models")
    assert {(model["id"], model["kind"]) for model in data["models"]} >= {
        ("detector", "detector"),
        ("describer", "describer"),
    }


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.9])
def test_verdicts_have_the_alpha_of_the_request(
    service: httpx.Client, models: dict[str, Path], alpha: float
) -> None:
    expected = newfound.load(models["detector"])
    expected.alpha = alpha
    texts = [*TEXTS, *KNOWN[:5]]
    body = {"model": "detector", "texts": texts}
    before = service.post("/v1/score", json=body).json()
    answer = service.post("/v1/score", json={**body, "alpha": alpha}).json()
    verdicts = [expected.explain(text).verdict for text in texts]
    assert [row["verdict"] for row in answer["scores"]] == verdicts
    lines = "\n".join(map(json.dumps, texts))
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"/v1/score?model=detector&alpha={alpha}"
    assert service.post(path, content=lines, headers=headers).json() == answer
    explained = service.post("/v1/explain", json={**body, "alpha": alpha}).json()["explanations"]
    one = {"model": "detector", "text": texts[1], "alpha": alpha}
    assert service.post("/v1/explain", json=one).json() == explained[1]
    assert [one["verdict"] for one in explained] == verdicts
    assert {one["alpha"] for one in explained} == {alpha}
    assert service.post("/v1/score", json=body).json() == before  # the model itself is as it was


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"model": "describer", "alpha": 0.1}, "describer, which has no alpha"),
        ({"model": "detector", "alpha": 0.001}, "held-back"),
        ({"model": "detector", "alpha": 1.5}, "less than 1"),
    ],
)
def test_an_alpha_that_cannot_be_is_told(
    service: httpx.Client, body: dict[str, Any], said: str
) -> None:
    for path in ("/v1/score", "/v1/explain"):
        answer = service.post(path, json={**body, "text": "a"})
        assert answer.status_code == 422 and said in answer.json()["detail"]
    headers = {"Content-Type": "application/x-ndjson"}
    path = f"/v1/score?model={body['model']}&alpha=x"
    assert service.post(path, content='"a"', headers=headers).status_code == 422


@pytest.mark.parametrize(
    ("path", "work"),
    [("/v1/explain", library._explain_together), ("/v1/score", library.score_texts)],
)
def test_long_texts_do_not_hold_up_others(
    service: httpx.Client,
    path: str,
    work: Callable[..., Any],
    models: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Short texts are answered in the event loop, long ones beside it."""
    working = threading.Event()

    def watched(*given: Any) -> Any:
        working.set()
        try:
            return work(*given)
        finally:
            working.clear()

    for module in (api, library):
        if hasattr(module, work.__name__):
            monkeypatch.setattr(module, work.__name__, watched)
    long = " ".join(f"{word} {n}" for n in range(3000) for word in ("pay", "flight"))
    headers = dict(service.headers)

    async def ask() -> tuple[int, httpx.Response]:
        async with httpx.AsyncClient(
            base_url=service.base_url, headers=headers, timeout=PATIENCE
        ) as caller:
            body = {"model": "describer", "texts": [long] * 8}
            slow = asyncio.create_task(caller.post(path, json=body))
            meanwhile = 0
            while not slow.done():
                await caller.get("/healthz")
                meanwhile += working.is_set()
            return meanwhile, slow.result()

    meanwhile, answer = asyncio.run(ask())
    assert answer.status_code == 200
    assert meanwhile >= 3  # none in the event loop; dozens in another thread


def test_an_error_of_the_service_itself_is_a_problem(
    service: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(model: object, texts: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("newfound.serve.api.score_texts", fail)
    answer = service.post("/v1/score", json={"model": "detector", "text": "a"})
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text


def test_scores_are_those_of_the_detector(service: httpx.Client, models: dict[str, Path]) -> None:
    answer = service.post("/v1/score", json={"model": "detector", "texts": TEXTS})
    assert answer.status_code == 200
    validate(answer.json(), "scores")
    detector = newfound.load(models["detector"])
    found = answer.json()["scores"]
    assert [row["p_value"] for row in found] == detector.p_values(TEXTS).tolist()
    assert [row["novelty"] for row in found] == detector.novelty(TEXTS).tolist()
    expected = detector.predict(TEXTS).tolist()
    verdicts = {None: "unclear", "novel": "novel"}
    assert [row["verdict"] for row in found] == [verdicts.get(one, "known") for one in expected]
    assert found[0]["nearest"] == "bill" and found[2]["nearest"] is None


def test_one_text_and_a_describer(service: httpx.Client, models: dict[str, Path]) -> None:
    answer = service.post("/v1/score", json={"model": "describer", "text": TEXTS[1]})
    validate(answer.json(), "scores")
    explained = newfound.load(models["describer"]).explain(TEXTS[1])
    assert answer.json()["scores"] == [
        {"verdict": explained.verdict, "probability": explained.probability}
    ]


def test_scores_as_lines(service: httpx.Client) -> None:
    lines = "\n".join([json.dumps({"text": TEXTS[0], "id": 7}), json.dumps(TEXTS[1]), ""])
    headers = {"Content-Type": "application/x-ndjson", "Accept": "application/x-ndjson"}
    answer = service.post("/v1/score?model=detector", content=lines.encode(), headers=headers)
    assert answer.headers["content-type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in answer.text.splitlines()]
    body = {"model": "detector", "texts": TEXTS[:2]}
    assert rows == service.post("/v1/score", json=body).json()["scores"]
    for bad, status in ((b"{", 400), (b"3", 422), (b'{"t": "a"}', 422), (b"\n", 422)):
        answer = service.post("/v1/score?model=detector", content=bad, headers=headers)
        assert answer.status_code == status, bad
        validate(answer.json(), "problem")


@pytest.mark.parametrize(
    ("model", "definition"), [("detector", "verdict"), ("describer", "explanation")]
)
def test_an_explanation_is_what_the_command_prints(
    service: httpx.Client, models: dict[str, Path], model: str, definition: str
) -> None:
    for text in TEXTS[:3]:
        answer = service.post("/v1/explain", json={"model": model, "text": text, "top": 4})
        validate(answer.json(), definition)
        printed = CliRunner().invoke(
            command, ["explain", str(models[model]), text, "--top", "4", "--json", "-q"]
        )
        assert answer.json() == json.loads(printed.stdout)


def test_texts_that_are_explained_together_have_the_same_explanations(
    service: httpx.Client, models: dict[str, Path]
) -> None:
    texts = [*TEXTS, *KNOWN[:20], *NOVEL[:20]]
    answer = service.post("/v1/explain", json={"model": "detector", "texts": texts, "top": 3})
    validate(answer.json(), "explanations")
    detector = newfound.load(models["detector"])
    for found, text in zip(answer.json()["explanations"], texts, strict=True):
        expected = detector.explain(text).to_dict(max_rules=3)
        added = {word["word"]: word["contribution"] for word in found["words"]}
        assert added == pytest.approx({w["word"]: w["contribution"] for w in expected["words"]})
        for field in ("text", "verdict", "status", "nearest", "counterfactual", "rules", "unseen"):
            assert found[field] == json.loads(json.dumps(expected[field])), field
        assert found["novelty"] == pytest.approx(expected["novelty"], abs=1e-12)


def test_texts_that_cannot_be_explained_do_not_spoil_others(models: dict[str, Path]) -> None:
    detector = newfound.load(models["detector"])

    async def both() -> list[Any]:
        explainer = Explainer(100)
        texts = [KNOWN[0], "x " * 200_000, NOVEL[0]]
        waiting = [explainer.explain(detector, text, 5) for text in texts]
        found = await asyncio.gather(*waiting, return_exceptions=True)
        explainer.close()
        return list(found)

    known, long, novel = asyncio.run(both())
    assert json.loads(known)["verdict"] == "known"
    assert json.loads(novel)["verdict"] == "novel"
    assert long.status_code == 422 and "characters" in long.detail


def test_too_many_waiting_texts_are_refused(models: dict[str, Path]) -> None:
    detector = newfound.load(models["detector"])

    async def many() -> list[Any]:
        explainer = Explainer(3)
        waiting = [explainer.explain(detector, text, 5) for text in KNOWN[:6]]
        found = await asyncio.gather(*waiting, return_exceptions=True)
        explainer.close()
        return list(found)

    found = asyncio.run(many())
    refused = [one for one in found if isinstance(one, Exception)]
    assert len(refused) == 3
    assert all(one.status_code == 429 and one.headers["Retry-After"] for one in refused)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/score", {"model": "none", "text": "a"}, 404),
        ("/v1/score", {"model": "detector"}, 422),
        ("/v1/score", {"model": "detector", "text": "a", "texts": ["b"]}, 422),
        ("/v1/score", {"model": "detector", "texts": []}, 422),
        ("/v1/score", {"model": "detector", "texts": ["a"] * 10_001}, 413),
        ("/v1/score", {"model": "detector", "texts": [1]}, 422),
        ("/v1/score", {"model": "detector", "text": "a", "more": 1}, 422),
        ("/v1/explain", {"model": "detector", "texts": ["a"] * 101}, 413),
        ("/v1/explain", {"model": "detector", "text": "a", "top": 0}, 422),
        ("/v1/explain", ["detector"], 422),
    ],
)
def test_what_is_wrong_is_told(service: httpx.Client, path: str, body: Any, status: int) -> None:
    answer = service.post(path, json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    validate(answer.json(), "problem")
    assert answer.json()["status"] == status


def test_a_body_that_is_not_json(service: httpx.Client) -> None:
    for content in (b"{", b"\xff\xfe", b"", b'{"model": "\xff"}', b"[" * 100_000):
        answer = service.post("/v1/score", content=content, headers=JSON)
        assert answer.status_code == 400, content[:20]
        validate(answer.json(), "problem")


def test_paths_and_methods_that_are_not_there(service: httpx.Client) -> None:
    nothing = service.get("/v1/nothing")
    assert nothing.status_code == 404
    assert nothing.json()["detail"] == "There is nothing at /v1/nothing; /docs lists all addresses."
    answer = service.get("/v1/score")
    assert answer.status_code == 405
    assert answer.json()["detail"] == "GET is not possible at /v1/score; use POST."
    validate(answer.json(), "problem")
    page = service.get("/nothing", headers={"Accept": "text/html"})
    assert page.status_code == 404 and "There is nothing at /nothing" in page.text


def test_a_field_that_is_not_there_is_told_with_those_that_are(service: httpx.Client) -> None:
    body = {"incoming": {"texts": ["a"]}, "known": {"texts": ["a"], "labels_column": "topic"}}
    answer = service.post("/v1/detect", json=body)
    assert answer.status_code == 422
    detail = answer.json()["detail"]
    assert "/known/labels_column: There is no such field; there are text_column," in detail
    assert " label_column," in detail
    answer = service.post("/v1/score", json={"model": "detector", "text": "a", "alfa": 0.1})
    assert "there are model, text, texts, alpha." in answer.json()["detail"]
    with pytest.raises(ValidationError) as caught:
        MonitorDocumentsRequest(documents=[{"text": "a", "day": 1}])  # type: ignore[list-item]
    problem = invalid(caught.value, schema_of(MonitorDocumentsRequest))
    assert "/documents/0/day: There is no such field; there are text, time, id." in problem.detail


def test_lines_need_a_model_in_the_address(service: httpx.Client) -> None:
    headers = {"Content-Type": "application/x-ndjson"}
    answer = service.post("/v1/score", content=b'"pay my bill"', headers=headers)
    assert answer.status_code == 422
    assert "/v1/score?model=NAME" in answer.json()["detail"]


def test_a_missing_and_a_wrong_token_are_told_apart(service: httpx.Client) -> None:
    given = {"Authorization": "Bearer another-token-0123456789"}
    wrong = service.get("/v1/models", headers=given).json()["detail"]
    del service.headers["Authorization"]
    try:
        missing = service.get("/v1/models").json()["detail"]
    finally:
        service.headers["Authorization"] = f"Bearer {TOKEN}"
    assert "The token is wrong." in wrong and "The token is missing." in missing
    assert all("--token-file" in detail for detail in (wrong, missing))


@pytest.mark.parametrize(
    ("options", "address"),
    [
        ({"secure": True, "hosts": ("news.example.org", "x")}, "https://news.example.org/"),
        ({"secure": True, "host": "::"}, "https://[::]:8765/"),
        ({"hosts": ("other.local",)}, "http://127.0.0.1:8765/"),
    ],
)
def test_the_address_is_the_one_that_browsers_use(
    tmp_path: Path, options: dict[str, Any], address: str
) -> None:
    """Behind a proxy nothing answers by HTTPS on the port of the service."""
    assert Settings(tmp_path, **options).address == address


def test_health_and_numbers(service: httpx.Client) -> None:
    validate(service.get("/healthz").json(), "health")
    validate(service.get("/readyz").json(), "health")
    service.post("/v1/score", json={"model": "detector", "texts": TEXTS})
    text = service.get("/metrics").text
    name = 'newfound_requests_total{method="POST",route="/v1/score",status="200"}'
    counted = [line for line in text.splitlines() if line.startswith(name)]
    assert counted and int(counted[0].split()[-1]) >= 1
    assert 'newfound_texts_total{action="score"}' in text
    memory = next(line for line in text.splitlines() if line.startswith("newfound_memory_bytes"))
    assert float(memory.split()[-1]) > 1e7


def test_the_description_of_the_interface_has_the_schema_of_the_command_line(
    service: httpx.Client,
) -> None:
    data = service.get("/openapi.json").json()
    schemas = data["components"]["schemas"]
    assert set(output_schema()["$defs"]) <= set(schemas)
    assert {"/v1/score", "/v1/explain", "/v1/models", "/healthz", "/metrics"} <= set(data["paths"])
    assert "#/$defs/" not in json.dumps(data)
    open_to_all = {
        path for path, of in data["paths"].items() if of.get("get", {}).get("security") == []
    }
    assert open_to_all == {"/healthz", "/readyz"}
    for path in data["paths"].values():
        for operation in path.values():
            assert {"200", "201", "202"} & operation["responses"].keys()


def test_a_model_that_cannot_be_read_is_told_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "bad.newfound").write_bytes(b"no model")
    result = CliRunner().invoke(
        command, ["serve", "--model", f"bad={tmp_path / 'bad.newfound'}", "--port", "0"]
    )
    assert result.exit_code == 1
    assert "is not a newfound model" in result.output


def test_without_the_extra_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("newfound.cli.serve.find_spec", lambda name: None)
    result = CliRunner().invoke(command, ["serve"])
    assert result.exit_code == 1
    assert "pip install 'newfound[serve]'" in result.output


def test_the_command_serves_until_it_is_stopped(tmp_path: Path, models: dict[str, Path]) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "newfound", "serve", "--port", "0", "--json",
         "--workspace", tmp_path / "work", "--model", f"intents={models['detector']}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ},
    )  # fmt: skip
    try:
        assert started.stdout is not None
        said = json.loads(started.stdout.readline())
        with httpx.Client(base_url=said["address"], trust_env=False, timeout=PATIENCE) as browser:
            assert browser.get("/healthz").json() == {"status": "ok"}
            assert browser.get("/v1/models").status_code == 401
            headers = {"Authorization": f"Bearer {said['token']}"}
            body = {"model": "intents", "text": "pay my bill"}
            assert browser.post("/v1/explain", json=body, headers=headers).status_code == 200
            opened = browser.get(said["open"])
            assert opened.status_code == 303 and opened.headers["location"] == "/"
            assert browser.get("/v1/models").status_code == 200  # by the cookie
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=PATIENCE)
        assert started.returncode == 0, err
        assert "Traceback" not in err
    finally:
        started.kill()
        started.wait()


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(
            command, ["serve", "--port", port, "--workspace", str(tmp_path), "--no-browser"]
        )
    assert result.exit_code == 1
    assert "Cannot listen on 127.0.0.1" in result.output


def test_limits_of_a_service_can_be_smaller(tmp_path: Path, models: dict[str, Path]) -> None:
    with client(tmp_path, models=models, limits=ServiceLimits(texts=2)) as small:
        answer = small.post("/v1/score", json={"model": "detector", "texts": TEXTS[:3]})
        assert answer.status_code == 413
