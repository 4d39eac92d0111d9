"""Tables go into files that other programs can read safely."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import newfound
from formulas import GUARDED, KEPT
from newfound.table import Table, guard_formula


@pytest.mark.parametrize("text", GUARDED)
def test_a_formula_gets_an_apostrophe(text: str) -> None:
    assert guard_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", KEPT)
def test_other_texts_stay(text: str) -> None:
    assert guard_formula(text) == text


def test_csv_guards_names_texts_and_lists_but_no_numbers() -> None:
    forms = np.empty(2, object)
    forms[:] = [("-x", "y"), ("a", "=b")]
    table = Table({"=word": np.array(["\uff1d1", "a"]), "score": np.array([-2.5, 1]), "f": forms})
    rows = list(csv.reader(io.StringIO(table.to_csv() or "")))
    assert rows == [["'=word", "score", "f"], ["'\uff1d1", "-2.5", "'-x|y"], ["a", "1.0", "a|=b"]]


def test_the_page_has_the_same_classes_of_characters() -> None:
    folder = Path(newfound.__file__).parent
    script = (folder / "report/static/table.js").read_text("utf-8")
    source = (folder / "table.py").read_text("utf-8")
    parts = re.search(r'_UNSEEN = \(\s*r"(.*)"\s*r"(.*)"\s*\)', source)
    assert parts is not None
    assert f"[{parts[1]}{parts[2]}]*[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20]" in script


@pytest.mark.parametrize("write", [Table.to_csv, Table.to_json])
def test_a_file_is_replaced_only_if_asked_for_and_never_half_written(
    write: Callable[..., str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows"
    path.write_text("kept")
    table = Table({"word": np.array(["ball", "scrum"])})
    with pytest.raises(FileExistsError, match="force=True"):
        write(table, path)
    with monkeypatch.context() as full_disk:
        full_disk.setattr("os.fsync", lambda handle: os.write(-1, b""))
        with pytest.raises(OSError, match="Cannot write"):
            write(table, path, force=True)
    assert path.read_text() == "kept" and list(tmp_path.iterdir()) == [path]
    write(table, path, force=True)
    assert path.read_text() == write(table)
