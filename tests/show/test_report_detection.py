"""The report of a detection: which documents are new, how sure that is, and why."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import newfound
from newfound.cli import app
from newfound.detection.detector import NoveltyDetector
from newfound.marks import visible
from newfound.show.collect import Limits
from newfound.show.detection import collect_detection
from newfound.show.page import MAX_BYTES, write_detection_report
from report_pages import read, text_of

SMALL: dict[str, Any] = {"n_machines": 2, "n_clauses": 40, "epochs": 3}


def piles() -> tuple[list[str], list[str], list[str]]:
    """Return known requests, their classes, and incoming requests of which the last 40 are new."""
    known, novel = newfound.load_sample()
    assert known.labels is not None
    order = np.random.default_rng(1).permutation(1500)
    texts, labels = np.array(known.texts)[order], np.array(known.labels)[order]
    incoming = [*texts[1000:1100], *np.array(novel.texts)[order[:40]]]
    return texts[:1000].tolist(), labels[:1000].tolist(), [str(text) for text in incoming]


@pytest.fixture(scope="module")
def detector() -> NoveltyDetector:
    known, labels, _ = piles()
    return NoveltyDetector(random_state=1).fit(known, labels)


@pytest.fixture(scope="module")
def detection(detector: NoveltyDetector) -> Any:
    known, _, incoming = piles()
    return detector.detect(incoming, known=known, **SMALL)


@pytest.fixture(scope="module")
def data(detection: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("detection") / "x.html"
    detection.report(path, title="Requests")
    assert path.stat().st_size <= MAX_BYTES
    return read(path)


def test_the_sentence_counts_the_new_ones(data: dict[str, Any], detection: Any) -> None:
    sentence = "".join(part["text"] for part in data["summary"]["sentence"])
    assert sentence.startswith(f"{detection.n_novel} of the 140 incoming documents are called new")
    detail = "".join(part["text"] for part in data["summary"]["detail"])
    assert "5 % of known documents are called new by mistake" in detail


def test_documents_are_those_of_the_table(data: dict[str, Any], detection: Any) -> None:
    rows = data["documents"]["rows"]
    assert len(rows) == Limits().documents
    assert data["documents"]["total"] == 140
    by_name = {f"no. {i + 1}": i for i in range(140)}
    for row in rows:
        i = by_name[row["name"]]
        assert row["novel"] == detection["novel"][i]
        assert row["p_value"] == pytest.approx(detection["p_value"][i], rel=1e-3)
        near = detection.explain(i).is_near  # a class is named where it is
        assert row["nearest"] == (detection["nearest"][i] if near else None)
        assert row["reasons"] == [detection["why"][i]]
        assert text_of(row) == detection["text"][i]
    p_values = [row["p_value"] for row in rows]
    assert p_values == sorted(p_values)
    assert sum(row["novel"] for row in rows) == detection.n_novel


def test_words_are_marked_by_what_they_contribute(data: dict[str, Any], detection: Any) -> None:
    row = next(row for row in data["documents"]["rows"] if row["novel"])
    verdict = detection.explain(int(row["name"].removeprefix("no. ")) - 1)
    adds = {word.word: word.contribution for word in verdict.words}
    for word, value in row["why"]:
        assert value == pytest.approx(adds[word], rel=1e-2)
    marked = [piece for piece in row["pieces"] if isinstance(piece, list)]
    assert marked
    assert all(len(piece) in (3, 4) for piece in marked)
    assert max(abs(piece[2]) for piece in marked) <= row["fullest"]


def test_the_words_of_the_reasons_are_marked(data: dict[str, Any]) -> None:
    for row in data["documents"]["rows"]:
        marks = {
            piece[3]: piece[2]
            for piece in row["pieces"]
            if isinstance(piece, list) and len(piece) == 4
        }
        assert row.get("after") or len(marks) == len(row["why"])
        assert all(row["why"][place][1] == value for place, value in marks.items())


def test_the_words_without_which_it_would_be_known(data: dict[str, Any], detection: Any) -> None:
    row = next(row for row in data["documents"]["rows"] if row.get("without"))
    verdict = detection.explain(int(row["name"].removeprefix("no. ")) - 1)
    assert tuple(row["without"]) == verdict.counterfactual[: len(row["without"])]


def test_groups_and_p_values_add_up(data: dict[str, Any], detection: Any) -> None:
    assert [group["documents"] for group in data["groups"]] == [g.size for g in detection.groups]
    assert sum(data["detection"]["p_values"]) == 140
    assert data["made"]["detector"]["alpha"] == 0.05


def test_too_few_new_ones_still_make_a_page(detector: NoveltyDetector, tmp_path: Path) -> None:
    known, _, incoming = piles()
    detection = detector.detect(incoming[95:103], known=known)
    write_detection_report(tmp_path / "x.html", detection)
    made = read(tmp_path / "x.html")
    assert made["words"] is None
    assert len(made["documents"]["rows"]) == 8


def test_known_words_without_their_order_are_not_shown_as_sentences(
    detector: NoveltyDetector, tmp_path: Path
) -> None:
    _, _, incoming = piles()
    detection = detector.detect(incoming, **SMALL)
    write_detection_report(tmp_path / "x.html", detection)
    made = read(tmp_path / "x.html")
    assert any(card["examples"]["novel"] for card in made["cards"].values())
    assert not any(card["examples"]["known"] for card in made["cards"].values())


@pytest.mark.parametrize("text", ["", "\u202e<script>", "x" * 50_000, "=1+1 <b>", "😀 " * 5000])
def test_any_text_makes_a_page(detector: NoveltyDetector, tmp_path: Path, text: str) -> None:
    detection = detector.detect(["pay my bill", text or " ", "zebra"], describe=False)
    write_detection_report(tmp_path / "x.html", detection)
    rows = read(tmp_path / "x.html")["documents"]["rows"]
    shown = [text_of(row) for row in rows]
    assert len(rows) == len(detection)
    assert not text or any(part and visible(text).startswith(part) for part in shown)


def test_the_same_detection_gives_the_same_data(detection: Any) -> None:
    first, again = (json.dumps(collect_detection(detection, Limits())) for _ in range(2))
    assert first == again


def test_the_command_writes_a_report(tmp_path: Path) -> None:
    known, labels, incoming = piles()
    rows = zip(known[:300], labels[:300], strict=True)
    lines = (json.dumps({"text": text, "label": label}) for text, label in rows)
    (tmp_path / "known.jsonl").write_text("\n".join(lines))
    (tmp_path / "incoming.txt").write_text("\n".join(incoming[80:]))
    asked = ["detect", "--known", str(tmp_path / "known.jsonl"), "--labels-column", "label"]
    asked += ["--incoming", str(tmp_path / "incoming.txt"), "--report", str(tmp_path / "x.html")]
    result = CliRunner().invoke(app, [*asked, "--no-description"])
    assert result.exit_code == 0, result.stderr
    assert "wrote the report to" in result.stderr
    made = read(tmp_path / "x.html")
    assert made["made"]["piles"]["incoming"]["documents"] == 60
    assert {"reading", "learning"} <= set(made["made"]["seconds"])
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 1
    assert "pass --force" in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["incoming.txt", "known.jsonl", "x.html"]
