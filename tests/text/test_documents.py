"""Documents are read from anywhere, and nothing is silently lost."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newfound.text import documents
from newfound.text import source as reading
from newfound.text.documents import (
    DocumentError,
    Documents,
    as_documents,
    read_documents,
    with_text,
)
from newfound.text.formats import format_of
from newfound.text.records import MOST_COLUMNS, by_column

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, packed if its name says so."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        raw = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write


def refused(message: str, path: str | Path, **options: Any) -> None:
    """Expect one clear sentence."""
    with pytest.raises(DocumentError, match=message) as caught:
        read_documents(path, **options)
    assert "\n" not in str(caught.value)


def parquet_bytes(columns: dict[str, list[Any]]) -> bytes:
    pyarrow = pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
    sink = io.BytesIO()
    __import__("pyarrow.parquet").parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


def without(frame: Any, column: str) -> Any:
    """Return a frame of any library without one of its columns."""
    return nw.from_native(frame).drop(column).to_native()


CSV = 'id,text,label\na,"Rugby, and ""more""\nof it",x\nb,Cricket,y\n'
JSONL = '{"id": "a", "text": "Rugby", "label": 1}\n{"id": "b", "text": "Cricket", "label": 2}\n'


class TestFormats:
    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_txt_is_a_line_a_document(self, write: Write, packed: str) -> None:
        found = read_documents(write(f"a.txt{packed}", "Rugby\r\n\n  \nCricket\u2028six\n"))
        assert found.texts == ("Rugby", "Cricket\u2028six")
        assert found.ids == (f"a.txt{packed}:1", f"a.txt{packed}:4")
        assert found.labels is None
        assert found.found == {"empty": 1, "blank": 1}

    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_csv(self, write: Write, packed: str) -> None:
        found = read_documents(write(f"a.csv{packed}", CSV), label_column="label")
        assert found.texts == ('Rugby, and "more"\nof it', "Cricket")
        assert found.ids == ("a", "b")
        assert found.labels == ("x", "y")

    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_tsv(self, write: Write, packed: str) -> None:
        found = read_documents(write(f"a.TSV{packed}", "n\ttext\n1\tRugby, six\n\n2\tCricket\n"))
        assert found.texts == ("Rugby, six", "Cricket")
        assert found.ids == (f"a.TSV{packed}:2", f"a.TSV{packed}:4")
        assert found.found == {"empty": 1}

    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_jsonl(self, write: Write, packed: str) -> None:
        found = read_documents(write(f"a.jsonl{packed}", JSONL), label_column="label")
        assert (found.texts, found.ids) == (("Rugby", "Cricket"), ("a", "b"))
        assert found.labels == ("1", "2")

    @pytest.mark.parametrize("packed", ["", ".gz"])
    def test_parquet(self, write: Write, packed: str) -> None:
        raw = parquet_bytes({"n": [1, 2, 3], "body": ["Rugby", None, "Cricket"], "id": [7, 8, 9]})
        found = read_documents(write(f"a.parquet{packed}", raw))
        assert (found.texts, found.ids) == (("Rugby", "Cricket"), ("7", "9"))
        assert found.found == {"empty": 1}

    @pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.json.gz"])
    def test_a_json_array_is_read_whatever_the_name(self, write: Write, name: str) -> None:
        rows = [{"id": "a", "text": "Rugby\n[six]"}, {"id": "b", "text": "Cricket"}]
        for indent in (None, 2):
            found = read_documents(write(name, json.dumps(rows, indent=indent)))
            assert (found.texts, found.ids) == (("Rugby\n[six]", "Cricket"), ("a", "b"))
        found = read_documents(write(name, '["Rugby", "", "Cricket"]'))
        assert (found.texts, found.ids[1]) == (("Rugby", "Cricket"), f"{name}:3")
        assert read_documents(write(name, JSONL)).texts == ("Rugby", "Cricket")

    def test_lines_with_brackets_and_braces_are_text(self) -> None:
        code = "from newfound.text.documents import read_documents as read; print(read('-').texts)"
        for text in ("[1] Smith\n{x} is a set\n", "{x} is a set\n[1] Smith\n"):
            run = subprocess.run(
                [sys.executable, "-c", code], input=text, capture_output=True, text=True
            )
            assert run.stdout.strip() == str(tuple(text.splitlines())), run.stderr

    def test_a_named_column_may_hold_numbers(self, write: Write) -> None:
        path = write("a.csv", "price\n12.5\n")
        assert read_documents(path, text_column="price").texts == ("12.5",)
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        frame = pandas.DataFrame({"day": ["2003-04-01"], "n": [1]})
        with pytest.raises(DocumentError, match=r"No column of the frame .* It has: day, n\."):
            as_documents(frame)
        assert as_documents(frame, text_column="day").texts == ("2003-04-01",)

    def test_jsonl_of_bare_strings(self, write: Write) -> None:
        assert read_documents(write("a.ndjson", '"Rugby"\n\n"Cricket"\n')).found == {"empty": 1}

    def test_semicolons_in_a_csv(self, write: Write) -> None:
        assert read_documents(write("a.csv", "nr;text\n1;Rugby, six\n")).texts == ("Rugby, six",)

    def test_folder(self, write: Write, tmp_path: Path) -> None:
        write("docs/rugby/2.txt", "Scrum")
        write("docs/rugby/10", "Try")
        write("docs/cricket/a.txt.gz", "Over\nand over")
        write("docs/cricket/b.md", " \n")
        write("docs/cricket/c.txt", "")
        write("docs/cricket/d.png", b"\x89PNG\0\xff")
        write("docs/cricket/index.csv", "text\nnot this\n")
        write("docs/cricket/.notes", "hidden")
        write("docs/.git/config", "hidden")
        found = read_documents(tmp_path / "docs")
        assert found.ids == ("cricket/a.txt.gz", "rugby/10", "rugby/2.txt")
        assert found.texts == ("Over\nand over", "Try", "Scrum")
        assert found.labels == ("cricket", "rugby", "rugby")
        assert found.found == {"empty": 1, "blank": 1, "non-text": 1, "table": 1, "hidden": 2}

    def test_folder_with_loose_files_has_no_labels(self, write: Write, tmp_path: Path) -> None:
        write("docs/a/1.txt", "one")
        write("docs/2.txt", "two")
        assert read_documents(tmp_path / "docs").labels is None

    @pytest.mark.parametrize(
        ("options", "content"),
        [
            ({}, "Rugby\nCricket\n"),
            ({"format": "jsonl"}, JSONL),
            ({}, JSONL),
            ({}, f"[{','.join(JSONL.splitlines())}]"),
            ({"encoding": "utf-16"}, ""),
        ],
    )
    def test_standard_input(self, options: dict[str, str], content: str) -> None:
        code = (
            "import sys; from newfound.text.documents import read_documents as read;"
            f"found = read('-', **{options}); print(found.texts, found.ids[0]);"
            "print(found.summary()); print(sys.stdin.buffer.closed)"
        )
        raw = content.encode() or "Rugby\nCricket\n".encode("utf-16")
        run = subprocess.run([sys.executable, "-c", code], input=raw, capture_output=True)
        name = "a" if '"id"' in content else "standard input:1"
        assert run.stdout.decode().splitlines() == [
            f"('Rugby', 'Cricket') {name}",
            "2 documents from standard input",
            "False",
        ], run.stderr

    @pytest.mark.parametrize(
        ("name", "format"),
        [
            ("a.txt", "txt"),
            ("a.CSV.gz", "csv"),
            ("a.ndjson", "jsonl"),
            ("a.json.gz", "json"),
            ("a.parquet", "parquet"),
            ("a.log", None),
            ("a.gz", None),
            ("csv", None),
            ("-", None),
            (os.curdir, "folder"),
        ],
    )
    def test_what_a_name_says(self, name: str, format: str | None) -> None:
        assert format_of(name) == format

    def test_named_format_wins(self, write: Write) -> None:
        assert len(read_documents(write("a.log", "Rugby\nCricket\n"), format="txt")) == 2

    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
    def test_csv_round_trip(self, texts: list[str]) -> None:
        sink = io.StringIO()
        writer = csv.writer(sink)
        writer.writerows([["id", "text"], *([i, text] for i, text in enumerate(texts))])
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            file.write(sink.getvalue().encode())
            file.flush()
            found = [record.text or "" for record in reading.Reader(file.name).records()]
        assert found == texts


class TestEncodings:
    @pytest.mark.parametrize("encoding", [None, "utf-8"])
    def test_byte_order_mark_is_dropped(
        self, write: Write, tmp_path: Path, encoding: str | None
    ) -> None:
        path = write("a.csv", b"\xef\xbb\xbftext,n\nRugby,1\n")
        assert read_documents(path, encoding=encoding).texts == ("Rugby",)
        write("docs/a.txt", b"\xef\xbb\xbfRugby")
        assert read_documents(tmp_path / "docs", encoding=encoding).texts == ("Rugby",)

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
    def test_a_byte_order_mark_tells_the_encoding(
        self, write: Write, tmp_path: Path, encoding: str
    ) -> None:
        for name, content in (("a.csv", "text,n\nGröße,1\n"), ("a.txt.gz", "Größe\n")):
            found = read_documents(write(name, content.encode(encoding)))
            assert (found.texts, found.found) == (("Größe",), {encoding: 1})
            assert found.summary().endswith(f"; 1 in {encoding.upper()}")
        array = json.dumps([{"text": "Größe"}], ensure_ascii=False)
        assert read_documents(write("a.json", array.encode(encoding))).texts == ("Größe",)
        write("docs/a.txt", "Größe".encode(encoding))
        assert read_documents(tmp_path / "docs").texts == ("Größe",)

    def test_other_bytes_are_windows_1252_line_by_line(self, write: Write) -> None:
        raw = "£5\n".encode() + b"\xa36 \x80\n" + b"\x81\n"
        found = read_documents(write("a.txt", raw))
        assert found.texts == ("£5", "£6 €", "\x81")
        assert found.found == {"recoded": 2}
        assert found.summary().endswith("; 2 not UTF-8, read as Windows-1252")

    def test_given_encoding_is_taken_at_its_word(self, write: Write) -> None:
        path = write("a.txt", "один\n".encode("koi8-r"))
        assert read_documents(path, encoding="koi8-r").texts == ("один",)
        refused(r"a\.txt, line 1, is not utf-8: ", path, encoding="utf-8")
        refused("There is no encoding 'klingon' for text", path, encoding="klingon")
        refused("There is no encoding 'hex' for text", path, encoding="hex")

    def test_half_a_surrogate_pair_is_repaired(self, write: Write) -> None:
        found = read_documents(write("a.jsonl", '{"text": "a\\ud83d b"}\n'))
        assert (found.texts, found.found) == (("a? b",), {"repaired": 1})

    def test_latin_1_byte_of_bbc_sport(self, tmp_path: Path) -> None:
        data = os.environ.get("NEWFOUND_DATA")
        if not data:
            pytest.skip("NEWFOUND_DATA does not name the folder with the corpora")
        with tarfile.open(Path(data) / "bbcsport" / "bbcsport-raw.tar.gz") as archive:
            archive.extractall(tmp_path, filter="data")
        found = read_documents(tmp_path / "bbcsport")
        assert len(found) == 737
        assert found.found == {"duplicate": 12, "recoded": 1}
        assert "£" in found.texts[found.ids.index("football/105.txt")]
        assert found.labels is not None
        assert found.labels.count("rugby") == 147


class TestCounting:
    def test_duplicates_are_kept_or_dropped_but_always_counted(self, write: Write) -> None:
        path = write("a.txt", "a\nb\na\na\n")
        kept, dropped = read_documents(path), read_documents(path, drop_duplicates=True)
        assert (kept.texts, dropped.texts) == (("a", "b", "a", "a"), ("a", "b"))
        assert kept.found == dropped.found == {"duplicate": 2}
        assert kept.summary() == f"4 documents from {path}; 2 duplicates kept"
        assert as_documents(["a b", "a \n b ", "ab"]).found == {"duplicate": 1}
        assert dropped.summary() == f"2 documents from {path}; left out: 2 duplicate"

    def test_nul_makes_a_document_non_text(self, write: Write) -> None:
        found = read_documents(write("a.txt", b"Rugby\nbi\0nary\n\xff\0\n"))
        assert (found.texts, found.found) == (("Rugby",), {"non-text": 2})
        assert read_documents(write("a.csv", "text\na\0b\nc\n")).found == {"non-text": 1}

    @given(st.lists(st.sampled_from(["", " ", "a", "b", "\0"]), min_size=1))
    def test_every_document_is_accounted_for(self, texts: list[str]) -> None:
        try:
            found = as_documents(texts)
        except DocumentError:
            assert not {"a", "b"} & set(texts)
            return
        left_out = sum(n for kind, n in found.found.items() if kind != "duplicate")
        assert len(found) + left_out == len(texts)
        assert [texts[int(name)] for name in found.ids] == list(found)

    @given(st.lists(st.none() | st.sampled_from(["", " ", "a", "b", "a\0", "c\ud83d"])))
    def test_with_text_keeps_what_documents_hold(self, texts: list[str | None]) -> None:
        try:
            found = as_documents(texts)
        except DocumentError:
            assert list(with_text(texts)) == []
            return
        kept = [(int(name), text) for name, text in zip(found.ids, found.texts, strict=True)]
        assert list(with_text(texts)) == kept

    def test_documents_are_a_collection_of_texts(self) -> None:
        found = as_documents(("a", "b"))
        assert (len(found), list(found)) == (2, ["a", "b"])
        assert as_documents(found) is found
        assert as_documents(["a"]).summary() == "1 document from a list"


class TestColumns:
    def test_text_column_is_guessed_only_without_doubt(self, write: Write) -> None:
        guessed = read_documents(write("a.csv", "body\nRugby\n"))
        assert guessed.texts == ("Rugby",)
        assert guessed.summary().endswith("a.csv (column 'body')")
        labelled = write("a.csv", "id,body,kind\n1,Rugby,x\n")
        assert read_documents(labelled, label_column="kind").texts == ("Rugby",)
        assert read_documents(write("a.jsonl", '{"n": 1, "body": "Rugby"}\n')).texts == ("Rugby",)
        question = "Which column of .* holds the text\\? It has: "
        refused(question + "title, body", write("a.csv", "title,body\na,b\n"))
        refused(question + "n, m", write("a.jsonl", '{"n": 1, "m": 2}\n'))
        refused(question + "a, b", write("a.parquet", parquet_bytes({"a": ["x"], "b": ["y"]})))

    @pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
    @pytest.mark.parametrize("option", ["text_column", "label_column"])
    def test_wrong_column_lists_the_columns(self, write: Write, name: str, option: str) -> None:
        contents = {"a.csv": "n,text\n1,b\n", "a.jsonl": '{"n": 1, "text": "b"}\n'}
        content = contents.get(name) or parquet_bytes({"n": [1], "text": ["b"]})
        refused("has no column 'body'; it has: n, text", write(name, content), **{option: "body"})

    def test_columns_where_there_are_none(self, write: Write, tmp_path: Path) -> None:
        refused("txt and has no columns", write("a.txt", "a\n"), text_column="text")
        refused("folder and has no columns", tmp_path, label_column="label")

    def test_column_twice(self, write: Write) -> None:
        refused("several columns called 'text'", write("a.csv", "text,text\na,b\n"))


class TestMalformed:
    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            (
                "a.csv",
                "id,text\n1,a\n2,b,c\n",
                r"a\.csv, line 3, has 3 fields where the header has 2",
            ),
            ("a.csv", "id,text\n1,a\n2\n", r"a\.csv, line 3, has 1 fields"),
            ("a.csv", 'id,text\n1,"a\nb"\n2,"c\nd\n', r"a\.csv, line 4, begins a malformed row"),
            (
                "a.csv",
                "text\nb\rc\n",
                "line 2, begins a malformed row: a carriage return is in a field",
            ),
            (
                "a.csv",
                b"\x89PNG\r\n\x1a\n\0\0\rIHDR",
                "looks like a binary file, not a table: line 3 ",
            ),
            (
                "a.csv",
                b"\x7fELF\x02\x01,\x03\n",
                "looks like a binary file, not a table: line 1 has",
            ),
            ("a.csv", b"text\n\x01,\x02\n", "looks like a binary file, not a table: line 2 has"),
            ("a.jsonl", '{"text": "a"}\n{"text": "b"\n', r"a\.jsonl, line 2, is not JSON"),
            (
                "a.jsonl",
                '{"text": "a"}\n{"text":\n',
                r"line 2, is not JSON: Expecting value: column 9",
            ),
            (
                "a.txt",
                b"\x89PNG\r\n\x1a\n\0\0\rIHDR\n" + b"\0\xff\n" * 19 + b"\xe8\xff word\n" * 8,
                r"a\.txt looks like a binary file, not text: 20 of its lines have null ",
            ),
            ("a.jsonl", '{"text": "a"}\n\n{"txt": "b"}\n', r"a\.jsonl, line 3, has no 'text'"),
            ("a.jsonl", '{"text": "a"}\n{"text": 3}\n', r"a\.jsonl, line 2, is int, not a str"),
            ("a.jsonl", "1" * 5000 + "\n", r"a\.jsonl, line 1, is not JSON"),
            ("a.jsonl", "[1]\n", r"a\.jsonl, line 1, is not a JSON object"),
            ("a.jsonl", "[" * 100_000 + "\n", r"a\.jsonl, line 1, is not JSON"),
            ("a.parquet", "text", "not a complete Parquet file"),
            ("a.pdf", "text", r"no known format; expected a folder or \.txt, .*\.parquet"),
            ("a.tar.gz", "text", "no known format"),
            (
                "a.log",
                "text",
                r"no known format; .*pass format='txt' \(--format txt\) if each line",
            ),
            ("a.txt", "", r"no documents in .*a\.txt \(it is empty\)"),
            ("a.csv", "", "it is empty"),
            ("a.csv", "text\n", "it is empty"),
            ("a.txt", "\n \n", r"\(1 empty, 1 blank\)"),
            ("a.txt", "hi\n".encode("utf-16-le"), r"encoding='utf-16' \(--encoding utf-16\)"),
            (
                "a.csv",
                b"price\n12.5\n3\n",
                r"No column .* looks like text: 'price'.* has: price",
            ),
            ("a.csv", b"id,day\n1,2003-04-01T10:00Z\n", r"looks like text: 'day'.* has: id, day\."),
            ("a.json", b'[{"n": "1"}, {"n": "2"}]', r"looks like text: 'n'.*\(--text-column\)"),
            ("a.csv", b"id,code\n1,AB12\n2,7F\n", r"looks like text: 'code'.* has: id, code\."),
            ("a.csv", b"a,b\n1,2\n", r"holds the text\? It has: a, b\..*\(--text-column\)"),
            ("a.json", b'[{"text": "a"},\n {"text": ]', r"a\.json, line 2, is not JSON: Expecting"),
            ("a.json", b'{\n "text": "a"}', "expected one object a line, or an array of objects"),
            ("a.json", b'[{"text": "a"}, 3]', r"a\.json, item 2, is not a JSON object\."),
        ],
    )
    def test_one_sentence(self, write: Write, name: str, content: str, message: str) -> None:
        if name.endswith(".parquet"):
            pytest.importorskip("pyarrow", reason="the extra 'parquet' is not installed")
        refused(message, write(name, content))

    def test_damaged_parquet(self, write: Write) -> None:
        raw = bytearray(parquet_bytes({"text": [f"document {i}" for i in range(5000)]}))
        raw[1000:3000] = b"\xff" * 2000
        refused(r"a\.parquet", write("a.parquet", bytes(raw)))

    def test_missing_label(self, write: Write) -> None:
        path = write("a.csv", "text,label\na,x\nb,\n")
        refused(r"line 3, has no label in 'label'", path, label_column="label")

    def test_missing_path(self, tmp_path: Path) -> None:
        refused("There is no file or folder .*nowhere", tmp_path / "nowhere")
        (tmp_path / "dangling.txt").symlink_to(tmp_path / "nowhere")
        refused(r"There is no file or folder .*dangling\.txt", tmp_path)

    def test_folder_without_text_files(self, write: Write, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        refused(r"There are no documents in .* \(it is empty\)", tmp_path / "empty")
        refused("1 table.*pass the table itself", write("tables/a.csv", "text\na\n").parent)

    def test_unreadable_file(self, write: Write, tmp_path: Path) -> None:
        loop = tmp_path / "loop.txt"
        loop.symlink_to(loop)
        refused(r"Cannot read .*loop\.txt: ", loop)
        path = write("a.txt", "a\n")
        path.chmod(0)
        if not os.access(path, os.R_OK):  # root may read everything
            refused(r"Cannot read .*a\.txt: Permission denied", path)

    def test_special_file_in_a_folder_is_not_opened(self, write: Write, tmp_path: Path) -> None:
        write("docs/a.txt", "a")
        os.mkfifo(tmp_path / "docs" / "pipe")
        assert read_documents(tmp_path / "docs").found == {"non-text": 1}

    def test_bad_gzip(self, write: Write, tmp_path: Path) -> None:
        whole = gzip.compress(b"Rugby\n" * 1000)
        for name, raw in {"no.txt.gz": b"Rugby", "cut.txt.gz": whole[:-9]}.items():
            (tmp_path / name).write_bytes(raw)
            refused(rf"{name} is not a complete gzip file: (it|Compressed)", tmp_path / name)
        broken = bytearray(whole)
        broken[20] ^= 0xFF
        (tmp_path / "broken.jsonl.gz").write_bytes(broken)
        refused("not a complete gzip file", tmp_path / "broken.jsonl.gz")

    def test_unknown_format(self, write: Write) -> None:
        refused("format='xml': expected one of txt, csv", write("a.txt", "a\n"), format="xml")

    def test_missing_extra_gives_the_command(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        refused(r"pip install 'newfound\[parquet\]'", write("a.parquet", "x"))

    @pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.txt.gz"])
    def test_a_line_of_10_megabytes(self, write: Write, name: str) -> None:
        long = "rugby " * (10_000_000 // 6)
        line = json.dumps({"text": long}) if "jsonl" in name else long
        path = write(name, ("text\n" if "csv" in name else "") + line + "\n")
        start = time.process_time()
        assert read_documents(path).texts == (long,)
        assert time.process_time() - start < 20  # a fifth of a second; else hours

    def test_a_longer_line_than_allowed(
        self, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 100)
        refused(r"a\.txt, line 2, is longer than 100 bytes", write("a.txt", "a\n" + "b" * 100))
        write("docs/c.txt", "c" * 101)
        refused(r"c\.txt is longer than 100 bytes", tmp_path / "docs")


class TestPython:
    @pytest.mark.parametrize(
        ("library", "make"),
        [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")],
    )
    def test_frames_and_series(self, library: str, make: str) -> None:
        module = pytest.importorskip(library, reason=f"{library} is not installed")
        frame = getattr(module, make)(
            {"n": [1, 2, 3], "body": ["Rugby", None, "Cricket"], "kind": ["x", "y", "z"]}
        )
        found = as_documents(frame, text_column="body", label_column="kind")
        assert (found.texts, found.ids) == (("Rugby", "Cricket"), ("0", "2"))
        assert (found.labels, found.found) == (("x", "z"), {"empty": 1})
        assert as_documents(frame["body"]).texts == found.texts
        assert as_documents(without(frame, "kind")).texts == found.texts
        with pytest.raises(DocumentError, match=r"Which column .* It has: n, body, kind"):
            as_documents(frame)
        with pytest.raises(DocumentError, match=r"The frame has no column 'txt'; it has: n, body"):
            as_documents(frame, text_column="txt")
        with pytest.raises(DocumentError, match="Row 0 is int, not a str"):
            as_documents(frame, text_column="n")

    def test_columns_of_a_frame_with_odd_names(self) -> None:
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        assert as_documents(pandas.DataFrame({0: ["a"], 1: [2]})).texts == ("a",)
        twice = pandas.DataFrame([["a", "b"]], columns=["text", "text"])
        with pytest.raises(DocumentError, match="several columns of one name; rename them"):
            as_documents(twice)

    def test_lazy_frame(self) -> None:
        polars = pytest.importorskip("polars", reason="polars is not installed")
        with pytest.raises(DocumentError, match="LazyFrame is lazy; collect it first"):
            as_documents(polars.LazyFrame({"text": ["a"]}))

    @pytest.mark.parametrize(
        "texts",
        [
            ["a", "b"],
            ("a", "b"),
            (t for t in "ab"),
            np.array(["a", "b"]),
            np.array(["a", "b"], object),
        ],
    )
    def test_iterables(self, texts: Any) -> None:
        found = as_documents(texts)
        assert found.texts == ("a", "b")
        assert all(type(text) is str for text in found)

    @pytest.mark.parametrize(
        ("value", "message"),
        [
            ("a text", "single str; wrap it in a list, or call read_documents"),
            (Path("a.txt"), "single PosixPath"),
            (b"a", "single bytes"),
            (5, "got int"),
            ({"a": 1}, "got dict"),
            ([], r"no documents in a list \(it is empty\)"),
            ([None, float("nan"), ""], r"\(3 empty\)"),
            (["a", 5], "Document 1 is int, not a str; convert it"),
            (["a", b"b"], "Document 1 is bytes, not a str; decode it"),
            (np.array([["a"]]), "Document 0 is ndarray"),
        ],
    )
    def test_bad_input(self, value: Any, message: str) -> None:
        with pytest.raises(DocumentError, match=message):
            as_documents(value)

    def test_columns_of_a_list(self) -> None:
        with pytest.raises(DocumentError, match="A list has no columns"):
            as_documents(["a"], text_column="text")


def test_module_by_itself_imports_no_heavy_library() -> None:
    code = f"import sys; import {documents.__name__}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gzip" in run.stdout.split()
    assert not {"sklearn", "numpy", "pandas", "polars", "pyarrow"} & set(run.stdout.split())


def test_documents_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Documents(("a",), ("0",)).texts = ()  # type: ignore[misc]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.json", "a.parquet"])
def test_other_columns_are_kept_if_asked_for(write: Write, name: str) -> None:
    rows = [
        {"id": "a", "text": 'one "quoted"\nline', "day": "Monday"},
        {"id": "b", "text": " ", "day": "Tuesday"},
        {"id": "c", "text": "two, three", "day": "a\nb"},
    ]
    if ".csv" in name:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        path = write(name, text.getvalue())
    elif name.endswith("parquet"):
        path = write(name, parquet_bytes(by_column(rows)))  # type: ignore[arg-type]
    else:
        lines = list(map(json.dumps, rows))
        path = write(name, "\n".join(lines) if name == "a.jsonl" else f"[{','.join(lines)}]")
    kept = read_documents(path, keep_columns=True)
    assert kept.columns == {"id": ("a", "c"), "day": ("Monday", "a\nb")}
    assert kept.take([1]).columns == {"id": ("c",), "day": ("a\nb",)}
    assert read_documents(path).columns == kept.redacted().columns == {}
    assert read_documents(path, keep_columns=True, redact=True).columns == {}


def test_a_guessed_column_does_not_shift_the_others(write: Write) -> None:
    rows = "".join(f"{i},headline number {i} of many\n" for i in range(500))
    documents = read_documents(write("a.csv", "n,headline\n" + rows), text_column="headline",
                               keep_columns=True)  # fmt: skip
    assert documents.columns["n"] == tuple(map(str, range(500)))
    lines = "\n".join(json.dumps({"n": i, "headline": f"number {i} of many"}) for i in range(500))
    guessed = read_documents(write("a.jsonl", lines), keep_columns=True)
    assert guessed.columns == {"n": tuple(range(500))}


def test_rows_with_names_of_their_own_do_not_make_a_square(write: Write) -> None:
    lines = "\n".join(json.dumps({"text": "a try", f"name {i}": i}) for i in range(3_000))
    assert len(read_documents(write("a.jsonl", lines), keep_columns=True).columns) == MOST_COLUMNS
