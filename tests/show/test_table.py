"""Tables go into files that other programs can read safely."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from formulas import GUARDED, KEPT
from newfound.table import Table, as_text, csv_row, guard_formula, jsonable


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
    script = (folder / "show/static/table.js").read_text("utf-8")
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


@pytest.fixture(scope="module")
def describer() -> newfound.NoveltyDescriber:
    known, novel = newfound.load_sample()
    return newfound.describe(
        known.texts[:150], novel.texts[:150], n_machines=2, n_clauses=40, T=10, random_state=0
    )


def test_the_tables_of_a_description_replace_a_file_only_if_asked_for(
    describer: newfound.NoveltyDescriber, tmp_path: Path
) -> None:
    path = tmp_path / "rows"
    path.write_text("kept")
    for write in (describer.themes_.to_csv, describer.themes_.to_json):
        with pytest.raises(FileExistsError, match="force=True"):
            write(path)
    assert path.read_text() == "kept"


def test_every_table_of_a_description_is_exported(describer: newfound.NoveltyDescriber) -> None:
    shared = describer.words_.take(describer.words_["group"] == "shared")
    word = next(word for word in shared["word"] if len(describer.senses(word).to_table()))
    tables = {
        "words": (describer.words_, len(describer.words_)),
        "rules": (describer.clauses_, len(describer.clauses_)),
        "phrases": (describer.phrases_, len(describer.phrases_)),
        "themes": (describer.themes_, len(describer.themes_)),
        "context": (describer.context(word, n=3), None),
        "senses": (describer.senses(word), None),
    }
    for name, (table, n) in tables.items():
        records = table.to_records()
        assert records and n in (None, len(records)), name
        for frame in (table.to_pandas(), table.to_polars()):
            assert list(frame.columns) == list(records[0]) and len(frame) == len(records), name
        rows = list(csv.DictReader(io.StringIO(table.to_csv() or "")))
        assert len(rows) == len(records) and list(rows[0]) == list(records[0]), name
        html = table._repr_html_()
        assert html.count("<tr>") == 1 + min(10, len(records)), name
        assert all(f"<th>{column}</th>" in html for column in records[0]), name
    assert isinstance(describer.themes_, tuple)
    empty = type(describer.themes_)(())
    assert empty.to_table().columns == describer.themes_.to_table().columns
    assert describer.clauses_[:0].to_table().columns == describer.clauses_.to_table().columns


def test_rules_are_a_table_of_words_and_counts(describer: newfound.NoveltyDescriber) -> None:
    rules = describer.clauses_[:5]
    first, frame = rules[0], rules.to_pandas()
    assert frame["rule"][0] == str(first) and frame["plain"][0] == list(first.plain)
    assert frame["matches_novel"].tolist() == [rule.matches_novel for rule in rules]
    row = next(csv.DictReader(io.StringIO(rules.to_csv() or "")))
    assert row["negated"].split("|") == list(first.negated) or not first.negated
    assert float(row["precision"]) == pytest.approx(first.precision)


def test_html_of_a_table_is_escaped_and_shows_control_characters() -> None:
    table = Table({"<b>": np.array(["<script>alert(1)</script>", "\x1b[31m"] * 10)})
    html = table._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "<th>&lt;b&gt;</th>" in html
    assert "\x1b" not in html and "... 10 more rows" in html


def test_an_empty_table_has_no_rows_and_no_columns() -> None:
    table = Table.from_records([])
    assert len(table) == 0 and table.to_records() == [] and "<table>" in table._repr_html_()


def test_columns_have_the_same_length() -> None:
    with pytest.raises(ValueError, match="the same length"):
        Table({"word": np.array(["a", "b"], object), "score": np.array([1.0])})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5, None], "f"), ([1.5, 2.0], "f"), ([None, None], "O"), ([1, 2], "i"), ([True], "b"),
        ([1, 2.5], "O"), ([1.5, "a"], "O"), ([1, None], "O"), (["a", "b"], "O"), ([[1], [2]], "O"),
    ],
)  # fmt: skip
def test_columns_of_one_kind_of_number_are_arrays_of_it(values: list[Any], kind: str) -> None:
    column = Table.from_records([{"x": value} for value in values])["x"]
    assert column.dtype.kind == kind
    missing = [None if value != value else value for value in column.tolist()]
    assert missing == values


def test_a_text_is_shortened_only_if_it_is_longer_than_what_is_shown() -> None:
    shown = {n: repr(Table({"w": np.array(["x" * n], object)})).split()[-1] for n in range(5, 120)}
    whole = [n for n, text in shown.items() if text == "x" * n]
    cut = {len(text) for n, text in shown.items() if n not in whole}
    assert cut == {max(whole)} and all(text[-1] in "x…" for text in shown.values())


def test_bytes_and_booleans_have_one_form_as_text() -> None:
    assert jsonable([b"try", "b"]) == ["try", "b"]
    assert as_text(b"caf\xe9") == "caf\\xe9" and as_text(True) == "true"
    assert csv_row([b"=1", b"try"]) == ["'=1", "try"]
