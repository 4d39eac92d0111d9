"""A detector with an encoder gives one answer in memory, stream, cluster, monitor and service."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import newfound
from command_line import call
from encoder_files import KNOWN, LABELS, NEW, SYNONYMS, write_topics
from newfound.detection.encoder_shelf import SHELF, add_encoder, load_encoder
from serve_client import client, ended, validate

INCOMING = [*SYNONYMS, *NEW]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The file of a detector, and its encoder on the shelf."""
    folder = tmp_path_factory.mktemp("model")
    write_topics(folder / "words")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SHELF, str(folder / "shelf"))
        add_encoder(folder / "words")
        options = {"correct_typos": False, "random_state": 1, "held_back": 0.3}
        detector = newfound.NoveltyDetector(0.1, encoder=load_encoder("words"), **options)
        detector.fit(KNOWN, LABELS).save(folder / "d.nf")
        yield folder / "d.nf"


@pytest.fixture(scope="module")
def novelty(model: Path) -> list[float]:
    detector = newfound.load(model)
    found: list[float] = detector.novelty(INCOMING).tolist()
    assert found != detector.scorer_.by_words.score_texts(INCOMING).novelty.tolist()
    return found


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("size", [1, 7, 80])
def test_batches_and_processes(model: Path, novelty: list[float], size: int, n_jobs: int) -> None:
    pa = pytest.importorskip("pyarrow")
    from newfound.scale import score

    batches = [
        pa.record_batch({"text": INCOMING[start : start + size]})
        for start in range(0, len(INCOMING), size)
    ]
    made = score(batches, model, reasons=False, n_jobs=n_jobs)
    assert [x for batch in made for x in batch.column("novelty").to_pylist()] == novelty


def test_a_stream_of_a_file(model: Path, novelty: list[float], tmp_path: Path) -> None:
    rows = "\n".join(json.dumps({"text": text}) for text in INCOMING)
    (tmp_path / "in.jsonl").write_text(rows, encoding="utf-8")
    done = call(
        "detect", "--model", model, "--incoming", tmp_path / "in.jsonl", "--stream",
        "--output", tmp_path / "out.csv", "--no-description", "-q",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert [float(row["novelty"]) for row in csv.DictReader(file)] == novelty


def test_a_cluster(model: Path, novelty: list[float]) -> None:
    pytest.importorskip("dask.dataframe")
    import dask
    import dask.dataframe as dd
    import pandas as pd

    from newfound.scale import dask as scale

    frame = dd.from_pandas(pd.DataFrame({"text": INCOMING}), npartitions=3)
    with dask.config.set(scheduler="processes", num_workers=2):
        made = scale.score(frame, model, reasons=False).compute()
    assert made["novelty"].tolist() == novelty


def test_a_monitor_that_is_opened_again_and_learns(model: Path, tmp_path: Path) -> None:
    state = tmp_path / "watch.state"
    texts = [*KNOWN[:40], *NEW]
    monitor = newfound.Monitor(newfound.load(model), every=20, state=state)
    monitor.update(texts[:40])
    monitor.close()
    with newfound.Monitor.open(state) as again:
        again.update(texts[40:])
        again.update(NEW[:20])
        topic = again.topics_[0]
        before = again.detector.p_values(NEW)
        again.promote(topic.number, "space")
        assert again.detector.p_values(NEW).mean() > 2 * before.mean()
        again.undo()
        assert again.detector.p_values(NEW).tolist() == before.tolist()


def test_a_monitor_refuses_to_begin_without_the_encoder(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = tmp_path / "in.txt"
    stream.write_text("\n".join(INCOMING), encoding="utf-8")
    watch = ("monitor", "--model", model, "--incoming", stream, "--once", "--state")
    folder = model.parent / "words"
    monkeypatch.setenv(SHELF, str(tmp_path / "empty"))
    failed = call(*watch, tmp_path / "a.state")
    assert failed.returncode == 1 and "newfound encoder add" in failed.stderr
    assert not (tmp_path / "a.state").exists()
    assert call(*watch, tmp_path / "a.state", "--encoder", folder).returncode == 0
    again = ("monitor", "--incoming", stream, "--once", "--state", tmp_path / "a.state")
    failed = call(*again)
    assert failed.returncode == 1 and "newfound encoder add" in failed.stderr
    assert call(*again, "--encoder", folder).returncode == 0
    assert call("monitor", "topics", "--state", tmp_path / "a.state").returncode == 0


def test_the_service(model: Path, novelty: list[float], tmp_path: Path) -> None:
    with client(tmp_path / "workspace", models={"words": model}) as service:
        answer = service.post("/v1/score", json={"model": "words", "texts": INCOMING})
        assert [row["novelty"] for row in answer.json()["scores"]] == novelty
        told = service.post("/v1/explain", json={"model": "words", "text": SYNONYMS[0]})
        assert told.json()["most_like"] in KNOWN
        listed = service.get("/v1/encoders")
        validate(listed.json(), "encoders")
        assert "words" in listed.json()["encoders"]
        assert "<option>words</option>" in service.get("/").text
        request = {
            "known": {"texts": KNOWN, "labels": LABELS},
            "incoming": {"texts": INCOMING},
            "encoder": "words",
            "describe": False,
            "alpha": 0.1,
        }
        job = service.post("/v1/detect", json=request)
        assert job.status_code == 202, job.text
        made = ended(service, job.json()["id"])
        assert made["state"] == "finished", made
        id = made["id"]
        scored = service.post("/v1/score", json={"model": id, "texts": INCOMING})
        assert scored.status_code == 200, scored.text
        told = service.post("/v1/explain", json={"model": id, "text": SYNONYMS[0]})
        assert "similar_documents" in told.json()["parts"]
        unknown = service.post("/v1/detect", json={**request, "encoder": "nothing"})
        assert unknown.status_code == 422 and "/v1/encoders" in unknown.text
        path = service.post("/v1/detect", json={**request, "encoder": "../words"})
        assert path.status_code == 422
