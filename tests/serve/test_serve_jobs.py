"""Jobs: in processes of their own, with progress, limits, and nothing lost by a kill."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import newfound
from newfound.marks import STEERING
from newfound.serve.jobs import Jobs
from newfound.serve.search import search_documents, write_documents
from newfound.serve.settings import ServiceLimits
from newfound.serve.workspace import Run, Workspace
from serve_client import (
    DESCRIBE,
    JSON,
    KNOWN,
    LONG,
    NOVEL,
    OCTETS,
    SMALL,
    client,
    ended,
    make_models,
    validate,
    wait_for_state,
    worker,
)
from waiting import PATIENCE, wait_for


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    models = make_models()
    with client(tmp_path_factory.mktemp("workspace"), models=models, jobs=1) as made:
        yield made


@pytest.fixture(scope="module")
def described(service: httpx.Client) -> str:
    answer = service.post("/v1/describe", json={**DESCRIBE, "name": "Banking <b>& travel"})
    assert answer.status_code == 202
    validate(answer.json(), "job")
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['id']}"
    job = ended(service, answer.json()["id"])
    assert job["state"] == "finished", job["error"]
    return str(job["id"])


def test_a_description_is_that_of_the_library(service: httpx.Client, described: str) -> None:
    job = service.get(f"/v1/jobs/{described}").json()
    assert job["memory"] > 1e7 and job["attempts"] == 1 and job["summary"]
    result = service.get(f"/v1/jobs/{described}/result").json()
    validate(result, "describe")
    expected = newfound.describe(KNOWN[::2], NOVEL, n_jobs=1, **SMALL)
    words = expected.words_.top(20, "novelty")["word"].tolist()
    assert [row["word"] for row in result["novel_words"]] == words[: len(result["novel_words"])]
    assert result["known"]["documents"] == len(KNOWN[::2])


def test_its_model_report_and_words_can_be_fetched(
    service: httpx.Client, described: str, tmp_path: Path
) -> None:
    answer = service.get(f"/v1/jobs/{described}/model")
    (tmp_path / "m.newfound").write_bytes(answer.content)
    model = newfound.load(tmp_path / "m.newfound")
    explained = service.post("/v1/explain", json={"model": described, "text": NOVEL[0]})
    assert explained.json() == json.loads(json.dumps(model.explain(NOVEL[0]).to_dict(max_rules=20)))
    report = service.get(f"/v1/jobs/{described}/report")
    assert report.text.startswith("<!doctype html>")
    assert report.headers["content-disposition"].startswith("attachment; filename=newfound.html;")
    assert "<b>" not in report.headers["content-disposition"]
    table = service.get(f"/v1/jobs/{described}/words.csv").text
    assert table == model.words_.to_csv()


def test_all_documents_can_be_searched(service: httpx.Client, described: str) -> None:
    def search(**query: Any) -> dict[str, Any]:
        answer = service.get(f"/v1/jobs/{described}/documents", params=query)
        validate(answer.json(), "found")
        return dict(answer.json())

    assert search()["total"] == len(KNOWN[::2]) + len(NOVEL)
    found = search(q="FLIGHT oslo", side="novel", n=3)
    assert found["total"] == sum("flight" in text and "Oslo" in text for text in NOVEL)
    assert all("flight" in one["text"] for one in found["documents"])
    assert search(q="flig")["total"] == search(q="flight")["total"] > 0  # the last word is begun
    assert search(q="flight", side="known")["total"] == 0
    assert search(q="!?")["total"] == search()["total"]
    for hostile in ('"', "a OR b", "text:x", "NEAR(a b)", "';--", "a*b", "\x00", "^a", "-a"):
        search(q=hostile)
    assert service.get(f"/v1/jobs/{described}/documents?n=0").status_code == 422


def test_a_detection_with_known_documents_and_with_a_model(service: httpx.Client) -> None:
    incoming = {"texts": [*KNOWN[:20], *NOVEL[:20], "", None]}
    labels = [text.split()[-1] for text in KNOWN]
    body = {"incoming": incoming, "known": {"texts": KNOWN, "labels": labels}, "alpha": 0.1}
    first = ended(service, service.post("/v1/detect", json=body).json()["id"])
    assert first["state"] == "finished", first
    result = service.get(f"/v1/jobs/{first['id']}/result").json()
    validate(result, "detect")
    assert result["classes"] == 6 and result["novel"] >= 15
    assert " incoming documents are called novel at alpha = 0.1, about " in first["summary"]
    assert first["summary"].endswith(" of them by mistake if known ones are as before.")
    assert result["incoming"]["found"] == {"empty": 2}
    again = {"incoming": incoming, "model": first["id"], "describe": False, "name": "again"}
    second = ended(service, service.post("/v1/detect", json=again).json()["id"])
    same = service.get(f"/v1/jobs/{second['id']}/result").json()
    validate(same, "detect")
    for name in ("document", "text", "novel", "p_value", "nearest"):
        assert [one[name] for one in same["documents"]] == [
            one[name] for one in result["documents"]
        ]
    assert "reasons" in service.get(f"/v1/jobs/{first['id']}/words.csv").text.splitlines()[0]
    models = {one["id"]: one for one in service.get("/v1/models").json()["models"]}
    assert models[second["id"]]["kind"] == "detector" and models[second["id"]]["name"] == "again"


@pytest.mark.slow
def test_the_documents_of_a_detection_keep_their_other_columns(service: httpx.Client) -> None:
    rows = [f"T-{n},{text},mail" for n, text in enumerate([*KNOWN[:20], *NOVEL[:5]])]
    content = "\n".join(["ticket,message,group", *rows]).encode()
    made = service.post("/v1/uploads?name=queue.csv", content=content, headers=OCTETS).json()
    incoming = {"upload": made["id"], "text_column": "message"}
    for more, kept in (({}, True), ({"redact": True}, False)):
        body = {"incoming": incoming, "known": {"texts": KNOWN}, "describe": False, **more}
        job = ended(service, service.post("/v1/detect", json={**body, "alpha": 0.1}).json()["id"])
        assert job["state"] == "finished", job
        text = service.get(f"/v1/jobs/{job['id']}/words.csv").text
        table = list(csv.DictReader(io.StringIO(text)))
        assert len(table) == 25 and table[0]["text"] and table[0]["group"] == "0"
        assert ([row.get("ticket") for row in table] == [f"T-{n}" for n in range(25)]) == kept
        assert ("ticket" in table[0]) == kept


@pytest.mark.slow
def test_a_redacted_job_keeps_no_number_or_address(tmp_path: Path) -> None:
    secret = b"pay 471147 to ann@example.org now"
    known = [f"{text} {secret.decode()}" for text in KNOWN]
    labels = [["pay", "bill"][n % 2] for n in range(len(known))]
    describe = {"known": {"texts": known}, "novel": {"texts": NOVEL}}
    detect = {"known": {"texts": known, "labels": labels}, "redact": True}
    with client(tmp_path / "workspace", models={}, jobs=1) as service:
        file = service.post(
            "/v1/uploads?name=in.txt", content=b"\n".join([secret] * 3), headers=OCTETS
        ).json()
        incoming = {"incoming": {"upload": file["id"]}, "describe": False}
        parameters = {**SMALL, "redact": True}
        jobs = [service.post("/v1/describe", json={**describe, "parameters": parameters})]
        jobs.append(service.post("/v1/detect", json={**detect, **incoming}))
        done = [ended(service, job.json()["id"]) for job in jobs]
        model = {**incoming, "model": done[1]["id"]}
        done.append(ended(service, service.post("/v1/detect", json=model).json()["id"]))
        assert [job["state"] for job in done] == ["finished"] * 3, done
        again = service.post("/v1/detect", json={**model, "redact": True})
        assert again.status_code == 422 and "part of a model" in again.json()["detail"]
        assert "[#] to [@]" in service.get(f"/v1/jobs/{done[0]['id']}/documents").text
        assert service.delete(f"/v1/uploads/{file['id']}", headers=JSON).status_code == 200
    for path in (tmp_path / "workspace").rglob("*"):
        content = b"" if path.is_dir() else path.read_bytes()
        assert b"471147" not in content and b"ann@" not in content, path


def test_a_file_is_uploaded_looked_at_and_described(service: httpx.Client) -> None:
    rows = [("day", "comment")]
    rows += [("2024-01-05", text) for text in KNOWN[::3]] + [("2024-02-05", text) for text in NOVEL]
    rows += [("2024-02-06", "")]
    content = "\n".join(",".join(row) for row in rows).encode()
    answer = service.post("/v1/uploads?name=../All%20news.csv", content=content, headers=OCTETS)
    assert answer.status_code == 201
    uploaded = answer.json()
    validate(uploaded, "upload")
    assert uploaded["name"] == "All news.csv" and uploaded["columns"] == ["day", "comment"]
    assert uploaded["rows"][0] == ["2024-01-05", KNOWN[0]] and uploaded["text_column"] == "comment"
    options = {"text_column": "comment", "date_column": "day"}
    checked = service.post(f"/v1/uploads/{uploaded['id']}/check", json=options).json()
    validate(checked, "checked")
    assert checked["found"]["empty"] == 1 and "All news.csv" in checked["summary"]
    assert (checked["first_day"], checked["last_day"]) == ("2024-01-05", "2024-02-05")
    wrong = service.post(f"/v1/uploads/{uploaded['id']}/check", json={"text_column": "none"})
    assert wrong.status_code == 422 and "All news.csv has no column" in wrong.json()["detail"]
    body = {
        "documents": {"upload": uploaded["id"], **options},
        "dates_from": "2024-02",
        "parameters": SMALL,
    }
    submitted = service.post("/v1/describe", json=body).json()
    assert submitted["name"] == "All news.csv"
    assert service.delete(f"/v1/uploads/{uploaded['id']}", headers=JSON).status_code == 200
    job = ended(service, submitted["id"])
    assert job["state"] == "finished", job
    result = service.get(f"/v1/jobs/{job['id']}/result").json()
    assert result["novel"]["documents"] == len(NOVEL) and result["timeline"] is not None
    assert "All news.csv" in result["novel"]["source"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv.gz", b"no gzip", "gzip"),
        ("a.parquet", b"PAR1 no parquet", "Parquet"),
        ("a.csv", b"", "empty"),
        ("a.csv", b"text,n\nx\ry,1\n", "a.csv, line 2, begins a malformed row: a carriage"),
        ("a.xlsx", b"PK\x03\x04\x14\0\x06", "save it as .csv or .txt"),
        ("a.csv", b"PK\x03\x04\x14\0\x06", "save it as .csv or .txt"),
        ("a.pdf", b"%PDF-1.7\n", "a.pdf is a PDF file"),
    ],
)
def test_files_that_cannot_be_read_are_refused(
    service: httpx.Client, name: str, content: bytes, said: str
) -> None:
    answer = service.post(f"/v1/uploads?name={name}", content=content, headers=OCTETS)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


def test_a_gzip_bomb_ends_no_more_than_its_own_process(service: httpx.Client) -> None:
    bomb = gzip.compress(b"a " * 10_000_000) * 20
    uploaded = service.post("/v1/uploads?name=bomb.txt.gz", content=bomb, headers=OCTETS).json()
    assert len(uploaded["rows"][0][0]) <= 200
    answer = service.post(f"/v1/uploads/{uploaded['id']}/check", json={})
    assert answer.status_code == 422
    assert service.get("/readyz").status_code == 200


def test_a_model_is_imported_and_deleted(service: httpx.Client, described: str) -> None:
    content = service.get(f"/v1/models/{described}/file").content
    answer = service.post("/v1/models?name=mine.newfound", content=content, headers=OCTETS)
    assert answer.status_code == 201
    validate(answer.json(), "model")
    id = answer.json()["id"]
    assert answer.json()["name"] == "mine" and answer.json()["kind"] == "describer"
    body = {"text": NOVEL[0], "model": id}
    assert service.post("/v1/explain", json=body).status_code == 200
    assert service.delete(f"/v1/models/{id}", headers=JSON).json() == {"deleted": id}
    assert service.post("/v1/explain", json=body).status_code == 404
    assert service.delete("/v1/models/detector", headers=JSON).status_code == 409
    bad = service.post("/v1/models?name=x", content=content[: len(content) // 2], headers=OCTETS)
    assert bad.status_code == 422 and "x " in bad.json()["detail"]


def test_a_job_that_cannot_be_done_says_why(service: httpx.Client) -> None:
    body = {"known": {"texts": ["", " "]}, "novel": {"texts": NOVEL}}
    job = ended(service, service.post("/v1/describe", json=body).json()["id"])
    assert job["state"] == "failed"
    assert "document" in job["error"] and "Traceback" not in job["error"]
    assert service.get(f"/v1/jobs/{job['id']}/result").status_code == 409
    assert service.delete(f"/v1/jobs/{job['id']}", headers=JSON).json() == {"deleted": job["id"]}
    assert service.get(f"/v1/jobs/{job['id']}").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {}, {"known": {"texts": ["a"]}}, {"sample": True, "known": {"texts": ["a"]}},
        {"documents": {"texts": ["a"]}}, {"known": {}, "novel": {"texts": ["a"]}},
        {"known": {"texts": ["a"], "upload": "x"}, "novel": {"texts": ["a"]}},
        {"known": {"texts": ["a"], "labels": []}, "novel": {"texts": ["a"]}},
        {"sample": True, "parameters": {"n_clauses": 3}}, {"sample": 1},
    ],
)  # fmt: skip
def test_requests_that_make_no_sense(service: httpx.Client, body: Any) -> None:
    answer = service.post("/v1/describe", json=body)
    assert answer.status_code == 422
    validate(answer.json(), "problem")


def test_an_upload_that_is_not_there(service: httpx.Client) -> None:
    for id in ("none", "../../etc/passwd", "..", ""):
        body = {"known": {"upload": id}, "novel": {"texts": ["a"]}}
        assert service.post("/v1/describe", json=body).status_code == 404
    for path in ("..%2F..%2Fworkspace.db", "%2e%2e", "x%00y", "a%0d%0ab"):
        assert service.get(f"/v1/jobs/{path}/report").status_code == 404
        assert service.get(f"/v1/models/{path}/file").status_code == 404
        assert service.post(f"/v1/uploads/{path}/check", json={}).status_code == 404


def test_progress_events_cancel_queue_and_restart(tmp_path: Path) -> None:
    with client(tmp_path, jobs=1, limits=ServiceLimits(queue=1)) as service:
        body = {"sample": True, "parameters": LONG}
        first = service.post("/v1/describe", json=body).json()["id"]
        wait_for_state(service, first, "running")
        second = service.post("/v1/describe", json=body).json()
        assert second["state"] == "queued"
        third = service.post("/v1/describe", json=body)
        assert third.status_code == 429 and int(third.headers["retry-after"]) > 0
        validate(third.json(), "problem")
        assert len(list((tmp_path / "runs").iterdir())) == 2
        with service.stream("GET", f"/v1/jobs/{first}/events") as events:
            assert events.headers["content-type"].startswith("text/event-stream")
            for line in events.iter_lines():
                if line.startswith("data: "):
                    job = json.loads(line.removeprefix("data: "))
                    validate(job, "job")
                    if job["progress"] and job["progress"]["done"] > 0:
                        break
        assert job["progress"]["stage"] == "Learning rules"
        assert 0 < job["progress"]["done"] < job["progress"]["total"] == 500 * 5000
        cancelled = service.post(f"/v1/jobs/{second['id']}/cancel", json={}).json()
        assert cancelled["state"] == "cancelled"
        assert service.post(f"/v1/jobs/{first}/cancel", json={}).json()["state"] == "cancelled"
        assert service.post(f"/v1/jobs/{first}/cancel", json={}).status_code == 409
        restarted = service.post(f"/v1/jobs/{first}/restart", json={})
        assert restarted.status_code == 202
        wait_for(lambda: service.get(f"/v1/jobs/{first}").json()["attempts"] == 2)
        assert service.delete(f"/v1/jobs/{first}", headers=JSON).status_code == 409
    # Stopped in order: the running job was interrupted, and its process has ended.
    with client(tmp_path, jobs=1) as service:
        assert service.get(f"/v1/jobs/{first}").json()["state"] == "interrupted"


@pytest.mark.slow
def test_periods_are_those_of_the_library(service: httpx.Client) -> None:
    texts, quick = [*KNOWN[::3], *NOVEL], {**SMALL, "n_machines": 1}
    days = ["2024-04-01"] * len(KNOWN[::3]) + ["2024-05-01"] * 27 + ["2024-06-01"] * 27
    documents = {"texts": texts, "dates": days}
    body = {"documents": documents, "by": "month", "parameters": quick, "top": 5}
    job = ended(service, service.post("/v1/describe", json=body).json()["id"])
    assert job["state"] == "finished", job["error"]
    assert job["summary"].startswith("2 months; 2024-06: ")
    result = service.get(f"/v1/jobs/{job['id']}/result").json()
    validate(result, "describe_by")
    expected = newfound.describe_periods(
        texts, by="month", reading={"dates": days}, n_jobs=1, **quick
    )
    assert [(one["period"], one["known"], one["novel"]) for one in result["periods"]] == [
        ("2024-05", 50, 27),
        ("2024-06", 77, 27),
    ]
    for found, period in zip(result["periods"], expected.periods, strict=True):
        words = period.describer.words_.top(5, "novelty")["word"].tolist()
        assert [row["word"] for row in found["novel_words"]] == words[: len(found["novel_words"])]
    table = service.get(f"/v1/jobs/{job['id']}/words.csv").text
    assert table.startswith("period,word,") and "\n2024-05," in table and "\n2024-06," in table
    page = service.get(f"/runs/{job['id']}", headers={"Accept": "text/html"})
    assert page.status_code == 200 and "2024-06" in page.text
    assert 'id="periods-body"' in page.text and "/static/report/periods.js" in page.text
    assert service.get("/static/report/periods.js").status_code == 200
    assert service.get(f"/v1/jobs/{job['id']}/documents?side=novel").json()["total"] == 27
    explained = service.post("/v1/explain", json={"model": job["id"], "text": NOVEL[0]})
    assert explained.status_code == 200
    other = service.get(f"/compare?run={job['id']}&run={job['id']}")
    assert other.status_code == 200 and "not of periods" in other.text


@pytest.mark.slow
def test_values_of_a_column_are_compared_with_the_words_that_were_asked_for(
    service: httpx.Client,
) -> None:
    texts, topics = [*KNOWN[::3], *NOVEL], ["bank"] * len(KNOWN[::3]) + ["travel"] * len(NOVEL)
    table = "text,month\n" + "\n".join(map(",".join, zip(texts, topics, strict=True)))
    octets = {"Content-Type": "application/octet-stream"}
    upload = service.post("/v1/uploads?name=all.csv", content=table, headers=octets).json()["id"]
    results = []
    for documents, by in (
        ({"upload": upload}, "column:month"),
        ({"texts": texts, "labels": topics}, "topic"),
    ):
        parameters = {**SMALL, "stop_words": ["Flight"], "ignore": "rom."}
        body = {"documents": documents, "by": by, "parameters": parameters}
        job = ended(service, service.post("/v1/describe", json=body).json()["id"])
        assert job["state"] == "finished", job["error"]
        assert job["summary"].startswith("2 values; travel: ")
        result = service.get(f"/v1/jobs/{job['id']}/result").json()
        validate(result, "describe_by")
        results.append([(one["period"], one["novel_words"]) for one in result["periods"]])
    assert results[0] == results[1]
    words = {row["word"] for row in results[0][1][1]}
    assert "train" in words and not words & {"flight", "rome"}


@pytest.mark.parametrize(
    "body",
    [
        {"documents": {"texts": ["a"]}},
        {"by": "month", "known": {"texts": ["a"]}, "novel": {"texts": ["b"]}},
        {"documents": {"texts": ["a"]}, "by": "decade"},
        {"documents": {"texts": ["a"]}, "by": "month", "known_name": "old"},
        {"documents": {"texts": ["a"], "labels": ["x"]}, "by": "topic", "dates_from": "2024"},
        {"sample": True, "parameters": {"stop_words": ["two words"]}},
    ],
)
def test_periods_that_make_no_sense(service: httpx.Client, body: dict[str, Any]) -> None:
    assert service.post("/v1/describe", json=body).status_code == 422


@pytest.mark.slow
def test_documents_are_called_by_the_name_of_their_file_and_lost_files_are_told(
    tmp_path: Path,
) -> None:
    """Not by that of the copy that a job has."""
    lines = "\n".join(["text", *KNOWN[:40]]).encode()
    with client(tmp_path, jobs=1) as service:
        upload = service.post("/v1/uploads?name=my%20news.csv", content=lines, headers=OCTETS)
        body = {**DESCRIBE, "known": {"upload": upload.json()["id"]}}
        id = ended(service, service.post("/v1/describe", json=body).json()["id"])["id"]
        found = service.get(f"/v1/jobs/{id}/documents?side=known&n=1").json()["documents"]
        assert [one["document"] for one in found] == ["my news.csv:2"]
        for name in ("report.html", "model.newfound", "result.json"):
            (tmp_path / "runs" / id / name).unlink()
        for path in ("report", "model", "result"):
            answer = service.get(f"/v1/jobs/{id}/{path}")
            assert answer.status_code == 404 and "workspace" in answer.json()["detail"], path


@pytest.mark.parametrize(
    ("query", "found"),
    [("図書館", ["a"]), ("図書", ["a", "b"]), ("書館", ["a"]), ("opens", ["a"]), ("ope 図書", []),
     ("図書 ope", ["a"]), ("館", ["a"]), ("ทดสอบ", ["c"]), ("open", ["a"]), ("東京 図書", ["b"])],
)  # fmt: skip
def test_words_without_spaces_are_found(tmp_path: Path, query: str, found: list[str]) -> None:
    texts = {"a": "新図書館 opens", "b": "東京の図書カード", "c": "การทดสอบระบบ"}
    rows = ((name, text, "novel", None) for name, text in texts.items())
    write_documents(tmp_path / "documents.db", rows)
    answer = search_documents(tmp_path, query)
    assert [one["document"] for one in answer["documents"]] == found
    assert answer["total"] == len(found)


@pytest.mark.skipif(sys.platform == "win32", reason="priorities are others there")
def test_jobs_yield_to_answers_and_do_not_get_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWFOUND_TOKEN", "a-secret-of-the-service")
    with client(tmp_path, jobs=1) as service:
        id = service.post("/v1/describe", json={"sample": True, "parameters": LONG}).json()["id"]
        wait_for(lambda: service.get(f"/v1/jobs/{id}").json()["progress"])
        (process,) = worker(id)
        assert "a-secret-of-the-service" not in process.environ().values()
        assert process.nice() >= 10
        group = Path(f"/proc/{process.pid}/autogroup")
        if group.exists():
            assert group.read_text().split()[-2:] == ["nice", "10"]


def test_few_files_are_looked_at_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look is a process that may use much memory."""
    begin = asyncio.create_subprocess_exec
    begun: list[asyncio.subprocess.Process] = []
    most = 0

    async def counted(*given: Any, **options: Any) -> asyncio.subprocess.Process:
        nonlocal most
        begun.append(await begin(*given, **options))
        most = max(most, sum(process.returncode is None for process in begun))
        return begun[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", counted)
    with client(tmp_path, jobs=1) as service, ThreadPoolExecutor(5) as pool:
        asked = [
            pool.submit(service.post, f"/v1/uploads?name={n}.txt", content=b"one", headers=OCTETS)
            for n in range(5)
        ]
        assert [answer.result().status_code for answer in asked] == [201] * 5
    assert len(begun) == 5
    assert 1 <= most <= 2


def test_events_end_when_the_service_is_stopped(tmp_path: Path) -> None:
    """A stream that nobody ends would keep the service from stopping."""
    seen: list[str] = []

    def follow(service: httpx.Client, id: str) -> None:
        headers = {**service.headers, "Accept": "text/event-stream"}
        with (
            httpx.Client(base_url=service.base_url, headers=headers, timeout=PATIENCE) as other,
            other.stream("GET", f"/v1/jobs/{id}/events") as events,
        ):
            seen.extend(line for line in events.iter_lines() if line.startswith("event"))

    with client(tmp_path, jobs=1) as service:
        body = {"sample": True, "parameters": LONG}
        id = service.post("/v1/describe", json=body).json()["id"]
        following = threading.Thread(target=follow, args=(service, id))
        following.start()
        wait_for(lambda: "event: running" in seen)
    following.join()
    assert seen[-1] == "event: interrupted"
    assert not worker(id)


def test_no_job_outlives_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("newfound.serve.jobs._LINE", 10)  # bytes; what a job says is longer
    with client(tmp_path, jobs=1) as service:
        body = {"sample": True, "parameters": LONG}
        job = ended(service, service.post("/v1/describe", json=body).json()["id"])
        assert job["state"] == "failed" and "limit" in job["error"]
        assert not worker(job["id"])


@pytest.mark.slow
def test_a_job_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    with client(tmp_path, jobs=1, limits=ServiceLimits(job_seconds=2)) as service:
        body = {"sample": True, "parameters": LONG}
        job = ended(service, service.post("/v1/describe", json=body).json()["id"])
        assert job["state"] == "failed" and "more than 2 s" in job["error"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="memory is not limited there")
def test_a_job_that_needs_too_much_memory_fails_alone(tmp_path: Path) -> None:
    with client(tmp_path, jobs=1, limits=ServiceLimits(job_bytes=600 << 20)) as service:
        body = {"sample": True, "parameters": {"n_clauses": 400_000, "n_machines": 1}}
        job = ended(service, service.post("/v1/describe", json=body).json()["id"])
        assert job["state"] == "failed" and "memory" in job["error"].lower(), job
        assert service.get("/readyz").status_code == 200


@pytest.mark.slow
def test_a_job_that_is_killed_fails_alone(tmp_path: Path) -> None:
    with client(tmp_path, jobs=1) as service:
        body = {"sample": True, "parameters": LONG}
        id = service.post("/v1/describe", json=body).json()["id"]
        wait_for(lambda: service.get(f"/v1/jobs/{id}").json()["progress"])
        worker(id)[0].kill()
        job = ended(service, id)
        assert job["state"] == "failed" and "killed" in job["error"]
        assert service.get("/readyz").status_code == 200


def test_events_end_when_a_run_is_deleted(tmp_path: Path) -> None:
    async def follow() -> list[Run]:
        workspace = Workspace(tmp_path)
        jobs = Jobs(workspace, ServiceLimits())
        run = Run("x", "describe", "x", "running")
        workspace.put_run(run)
        seen = []
        async for one in jobs.events("x", every=0.01):
            seen.append(one)
            if len(seen) == 3:
                workspace.delete_run("x")
        workspace.close()
        return seen

    assert len(asyncio.run(follow())) == 3


def test_names_and_texts_steer_nothing_on_pages(service: httpx.Client) -> None:
    hostile = "a\x1b[2J\x9b1m \u202eb\u2066\x07"
    piles = {"known": {"texts": [f"{hostile} {text}" for text in KNOWN[::2]]},
             "novel": {"texts": [f"{hostile} {text}" for text in NOVEL]}}  # fmt: skip
    job = service.post("/v1/describe", json={**piles, "parameters": SMALL, "name": hostile}).json()
    assert ended(service, job["id"])["state"] == "finished"
    assert service.get(f"/v1/jobs/{job['id']}").json()["name"] == hostile  # JSON is for programs
    for path in ("/", "/history", f"/runs/{job['id']}", f"/v1/jobs/{job['id']}/report"):
        page = service.get(path, headers={"Accept": "text/html"})
        assert page.status_code == 200 and not STEERING.search(page.text), path
    assert "a␛[2J" in service.get("/history", headers={"Accept": "text/html"}).text
