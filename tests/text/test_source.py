"""A file that is read whole, streamed, followed or previewed gives the same documents and messages.

Where they differ, they do so for a reason:

* A stream goes on: a line that cannot be read is told and left out, where a whole file is refused.
* A stream cannot look ahead: it reads lines, JSON or text, and does not guess the column.
* A preview shows rows before a person chooses columns, and ends at the first that cannot be read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from newfound.monitor.sources import open_source
from newfound.scale import Source
from newfound.serve.worker import preview
from newfound.text.documents import DocumentError, read_documents, stream_documents
from newfound.text.records import Columns

SHOWN = 5  # rows of a preview


class Read(NamedTuple):
    """The texts of a file, and what was said of it."""

    texts: list[str]
    message: str = ""


def read(work: Callable[[], list[str]]) -> Read:
    try:
        return Read(work())
    except DocumentError as error:
        nothing = str(error).startswith("There are no documents")
        return Read([], "" if nothing else str(error))


def whole(path: Path, column: str | None = None) -> Read:
    return read(lambda: list(read_documents(path, text_column=column)))


def streamed(path: Path, column: str | None = None) -> Read:
    """Read as `newfound detect --json-lines`, which also answers rows without text."""
    rows = lambda: [text for _, text, _ in stream_documents(path, text_column=column)]  # noqa: E731
    return read(lambda: [text for text in rows() if text.strip()])


def batched(path: Path, column: str | None = None) -> Read:
    source = Source(path, text_column=column)
    return read(lambda: [text for batch in source for text in batch["text"].to_pylist()])


def followed(path: Path, column: str | None = None) -> tuple[Read, list[str]]:
    problems: list[str] = []
    batches = open_source(str(path), Columns(column), None, once=True, problem=problems.append)
    texts = read(lambda: [text for batch in batches for text in batch.texts if text is not None])
    return texts, problems


def previewed(path: Path, column: str = "text") -> Read:
    def texts() -> list[str]:
        shown = preview(path, str(path))
        place = shown["columns"].index(column) if shown["columns"] else 0
        return [row[place] for row in shown["rows"]]

    return read(texts)


def packed(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def contents(name: str, texts: list[str], *, end: str = "\n", mark: bytes = b"") -> bytes:
    """Return the content of a file with these texts."""
    suffix = name.removesuffix(".gz").rpartition(".")[2]
    if suffix == "parquet":
        sink = io.BytesIO()
        table = pa.table({"n": range(len(texts)), "text": pa.array(texts, pa.string())})
        pq.write_table(table, sink, row_group_size=3)
        return sink.getvalue()
    rows = [{"n": n, "text": text} for n, text in enumerate(texts)]
    if suffix in ("csv", "tsv"):
        lines = io.StringIO()
        writer = csv.writer(lines, "excel-tab" if suffix == "tsv" else "excel", lineterminator=end)
        writer.writerows([["n", "text"], *([row["n"], row["text"]] for row in rows)])
        return mark + lines.getvalue().encode()
    if suffix == "json":
        return mark + json.dumps(rows, indent=1, ensure_ascii=False).encode()
    shown = texts if suffix == "txt" else [json.dumps(row, ensure_ascii=False) for row in rows]
    return mark + "".join(line + end for line in shown).encode()


TEXT = st.text(st.sampled_from(" ,;\t\"'\u2028éß語ab\U0001f600\0"), max_size=12)
LINES = ("a.txt", "a.jsonl")
NAMES = ("a.csv", "a.tsv", "a.json", "a.parquet", *LINES)


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(
    texts=st.lists(TEXT, min_size=1, max_size=9),
    end=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
)
def test_any_texts_are_read_alike(
    name: str, packing: str, texts: list[str], end: str, mark: bytes
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (name + packing)
        packed(path, contents(path.name, texts, end=end, mark=mark))
        expected = Read([text for text in texts if text.strip() and "\0" not in text])
        assert whole(path) == streamed(path) == batched(path) == expected
        if name in LINES:
            assert followed(path) == (expected, [])
        shown = [text for text in texts if text.strip() or name != "a.txt"][:SHOWN]
        assert previewed(path) == Read(shown)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
@pytest.mark.parametrize("name", ["a.csv", "a.json", *LINES])
def test_other_encodings_are_read_alike(tmp_path: Path, name: str, encoding: str) -> None:
    content = contents(name, ["Größe", "naïve café"]).decode().encode(encoding)
    path = packed(tmp_path / name, content)
    expected = Read(["Größe", "naïve café"])
    assert whole(path) == streamed(path) == batched(path) == previewed(path) == expected
    if name in LINES and encoding == "cp1252":
        assert followed(path) == (expected, [])
    elif name in LINES:
        with pytest.raises(DocumentError, match="line 1, is utf-16; a monitor reads UTF-8"):
            next(open_source(str(path), Columns(), None, once=True, problem=pytest.fail))


GOOD = '{"text": "rain"}\n'
BAD_LINES = [
    ('{"text": "b"', "is not JSON: Expecting ',' delimiter: column 13"),
    ('{"te', "is not JSON: Unterminated string starting at: column 2"),
    ("{" + '"a":{' * 100_000, "is not JSON: it has objects within objects, too many to read; le"),
    ('{"text": "a", "n": ' + "1" * 5000 + "}", "is not JSON: a number has thousands of digits"),
    ('{"txt": "b"}', "has no 'text'."),
    ('{"text": 3}', "is int, not a str; convert it or leave it out."),
    ('{"text": ["a"]}', "is list, not a str; convert it or leave it out."),
]


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize(("line", "said"), BAD_LINES)
def test_a_bad_line_is_told_alike(tmp_path: Path, line: str, said: str, packing: str) -> None:
    path = packed(tmp_path / f"a.jsonl{packing}", f"{GOOD}\n{line}\n{GOOD}".encode())
    refused = whole(path)
    assert f"{path}, line 3, {said}" in refused.message
    assert refused == streamed(path) == batched(path)
    assert previewed(path).texts[0] == "rain"
    texts, problems = followed(path)
    assert texts == Read(["rain", "rain"]) and problems == [refused.message]


@pytest.mark.parametrize("column", [None, "body"])
@pytest.mark.parametrize(
    "line", ['{"a": "x", "b": "y"}', '{"text', '{"text": "b", "text', '{"text": 3, "body": 4}']
)
def test_a_bad_first_line_is_told_alike(tmp_path: Path, line: str, column: str | None) -> None:
    path = packed(tmp_path / "a.jsonl", f"{line}\n{GOOD}".encode())
    refused = whole(path, column)
    assert refused.message and refused == streamed(path, column) == batched(path, column)
    texts, problems = followed(path, column)
    assert not problems and texts.message.partition("; expected one object")[0].rstrip(".") == (
        refused.message.partition("; expected one object")[0].rstrip(".")
    )
    if "is not JSON" in refused.message:
        assert previewed(path) == refused


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"text,n\nrain,1\nsun,2,3\n"),
        ("a.csv", b'text,n\nrain,1\n"sun,2\n'),
        ("a.csv", b"text,n\nx\ry,1\n"),
        ("a.csv", b"text,n\n\x01,2,3\n"),
        ("a.csv", b"text,text\nrain,1\n"),
        ("a.csv", b"a,b\nrain,1\n"),
        ("a.csv", b"price\n12.5\n"),
        ("a.tsv", b"text\tn\nrain\n"),
        ("a.json", b'[{"text": "rain"}, {"text": ]'),
        ("a.json", b'[{"text": "rain"}, 3]'),
        ("a.json", b'[{"text": "rain"} {"text": "sun"}]'),
        ("a.json", b'[{"text": "rain"}] 3'),
        ("a.json", b'[{"text": "rain"},'),
        ("a.parquet", b"PAR1 no parquet"),
        ("a.txt.gz", gzip.compress(b"rain\n" * 1000, mtime=0)[:-9]),
        ("a.jsonl.gz", b"no gzip"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_alike(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    refused = whole(path)
    assert refused.message and refused == streamed(path) == batched(path)
    if name.endswith(".gz"):
        assert followed(path)[0] == refused
    shown = preview_or_refusal(path)
    assert shown == refused.message or shown["rows"] or "column" in refused.message.lower()


def preview_or_refusal(path: Path) -> Any:
    try:
        return preview(path, str(path))
    except DocumentError as error:
        return str(error)


def test_parquet_of_another_kind_is_told_alike(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [1, 2]}), path)
    refused = whole(path)
    assert refused.message == f"The column 'text' of {path} holds int64, not text."
    assert refused == streamed(path) == batched(path)


def test_a_cut_last_line_is_read(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.txt", b"rain\nsu")
    assert whole(path) == streamed(path) == batched(path) == previewed(path) == Read(["rain", "su"])
    assert followed(path) == (Read(["rain", "su"]), [])


def test_a_folder_is_read_alike(tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text("hidden")
    for name, content in {
        "a.txt": b"\xef\xbb\xbfGr\xc3\xb6\xc3\x9fe",
        "b": "café".encode("cp1252"),
        "c.txt": "Größe".encode("utf-16"),
        "d.txt.gz": gzip.compress(b"packed"),
        "e.png": b"\x89PNG\0\xff",
        "f.csv": b"text\nnot this\n",
        "g": b" \n",
    }.items():
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1e9, 1e9))
    expected = Read(["Größe", "café", "Größe", "packed"])
    assert whole(folder) == expected
    texts, problems = followed(folder)
    assert texts == expected
    assert problems == [
        f"{folder}/e.png is not text.",
        f"{folder}/f.csv is a table, and each file of a folder is one document.",
    ]
