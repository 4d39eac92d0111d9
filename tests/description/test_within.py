"""A column that makes no difference: both sides have the same share of each of its values."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from command_line import call
from newfound.description.within import matched, matched_rows
from newfound.text.documents import Documents
from newfound.text.records import DocumentError

QUICK: dict[str, Any] = {"n_machines": 2, "n_clauses": 20, "epochs": 2, "random_state": 0}
FILL = [f"word{number}" for number in range(60)]


def pile(n: int, heralds: float, extra: str, seed: int) -> tuple[list[str], list[str]]:
    """Draw documents of two papers, whose name is in each text, and the paper of each."""
    rng = np.random.default_rng(seed)
    papers = np.where(rng.random(n) < heralds, "herald", "tribune").tolist()
    texts = [
        " ".join([*rng.choice(FILL, 5, replace=False), paper, extra if row % 4 == 0 else ""])
        for row, paper in enumerate(papers)
    ]
    return texts, papers


def test_what_only_a_column_explains_is_not_new_within_it() -> None:
    known, known_papers = pile(400, 0.2, "rain", 0)
    novel, novel_papers = pile(400, 0.8, "flood", 1)
    plain = newfound.describe(known, novel, **QUICK)
    rules = [str(rule) for theme in plain.themes_ for rule in theme.rules]
    assert "herald" in rules and "flood" in rules
    within = newfound.describe(known, novel, within=(known_papers, novel_papers), **QUICK)
    rules = [str(rule) for theme in within.themes_ for rule in theme.rules]
    assert "flood" in rules and "herald" not in rules and "tribune" not in rules
    sides = dict(zip(within.words_["word"].tolist(), within.words_.sides.tolist(), strict=True))
    assert sides["herald"] == sides["tribune"] == "neither" and sides["flood"] == "novel"


def test_every_value_has_the_same_ratio_of_both_sides() -> None:
    known = ["a"] * 900 + ["b"] * 300 + ["c"] * 50
    novel = ["a"] * 100 + ["b"] * 200 + ["d"] * 40
    rows = matched_rows(known, novel)
    counts = np.array(
        [
            [np.sum(np.array(side)[own] == name) for name in "abcd"]
            for side, own in zip((known, novel), rows, strict=True)
        ]
    )
    assert counts[:, 2:].sum() == 0
    first, second = counts[0, :2] / counts[1, :2]
    assert first == pytest.approx(second, rel=0.05) and counts.sum() > 600


def test_what_cannot_be_compared_is_said() -> None:
    one = Documents(("a",), ("0",), columns={"by": ("x",)})
    other = Documents(("b",), ("0",), columns={"by": ("y",)})
    with pytest.raises(DocumentError, match="No value of 'by' has documents of both sides"):
        matched(one, other, "by")
    with pytest.raises(DocumentError, match="have no column 'from'; they have: by"):
        matched(one, other, "from")
    with pytest.raises(ValueError, match="within has 1 values for 2 known documents"):
        newfound.describe(["a b", "c d"], ["e f"], within=(["x"], ["y"]))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "old.csv", tmp_path / "new.csv"
    for path, (texts, papers) in zip(
        paths, (pile(200, 0.2, "rain", 0), pile(200, 0.8, "flood", 1)), strict=True
    ):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "paper", "theme"])
            writer.writerows(
                (text, paper, "own") for text, paper in zip(texts, papers, strict=True)
            )
    return paths


def test_the_command_holds_a_column_constant_and_writes_documents(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    words = ["--known", files[0], "--novel", files[1], "--machines", 2, "--n-clauses", 20]
    output = tmp_path / "documents.csv"
    done = call("describe", *words, "--within", "paper", "-o", output)
    assert done.returncode == 0, done.stderr
    assert "Held paper constant: compared are" in done.stderr
    with output.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    flood = [row for row in rows if row["kind"] == "new" and "flood" in row["theme"]]
    assert flood and all("flood" in row["text"] for row in flood)
    assert {row["paper"] for row in flood} == {"herald", "tribune"}
    assert all(row["their theme"] == "own" and row["side"] in ("known", "novel") for row in rows)
    wrong = call("describe", *words, "--within", "country")
    assert wrong.returncode == 1 and "no column 'country'; they have:" in wrong.stderr
    both = call("describe", *words, "--within", "paper", "--stream")
    assert both.returncode == 2 and "--within cannot be had of a stream" in both.stderr


def test_documents_are_redacted_although_a_column_is_needed(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    text = files[1].read_text().replace("word1 ", "call 5550199 ")
    files[1].write_text(text)
    output = tmp_path / "documents.csv"
    words = ["--known", files[0], "--novel", files[1], "--machines", 2, "--n-clauses", 20]
    done = call("describe", *words, "--within", "paper", "--redact", "-o", output)
    assert done.returncode == 0, done.stderr
    assert "5550199" in text and "5550199" not in output.read_text()
