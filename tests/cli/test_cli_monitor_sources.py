"""What ``newfound monitor`` reads, and what it refuses: files that grow, folders, rotated logs."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor_runs import MAIN, documents, failed, known_texts, lines, run, said, seen
from newfound import Monitor, NoveltyDetector
from newfound.cli import app
from newfound.text.formats import is_table_header
from waiting import PATIENCE, wait_for


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("monitor") / "d.nf"
    NoveltyDetector(random_state=0).fit(known_texts()[:900]).save(path)
    return path


def wait_for_documents(state: Path, n: int) -> None:
    """Wait until a state has some documents, and no more."""

    def count() -> int:
        try:
            found = sqlite3.connect(f"file:{state}?mode=ro", uri=True)
            return int(found.execute("SELECT count(*) FROM documents").fetchone()[0])
        except sqlite3.OperationalError:  # it is not there yet, or its tables are not
            return 0

    wait_for(lambda: count() >= n, f"{n} documents")
    assert count() == n


def test_a_folder_that_grows(model: Path, tmp_path: Path) -> None:
    folder, state = tmp_path / "mails", tmp_path / "w.db"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text("please pay my bill")
        os.utime(folder / f"{number}.txt", (1e9 + number // 2, 1e9 + number // 2))
    (folder / "half.txt").write_text("still being writ")  # changed a moment ago
    given = ("--incoming", folder, "--state", state, "--once", "-q")
    run(*given, "--model", model)
    (folder / "half.txt").unlink()
    (folder / "3.txt").write_text("close my account")
    os.utime(folder / "3.txt", (1e9 + 1, 1e9 + 1))  # as old as the last one of before
    run(*given)
    run(*given)
    assert seen(state)[0] == 4


@pytest.mark.parametrize("name", ["x.csv", "x.TSV", "x.parquet", "x.csv.gz", "x.parquet.gz"])
def test_a_table_is_refused_before_there_is_a_state(model: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text,time\npay my bill,2003-03-20\n")
    given = ("--model", model, "--state", tmp_path / "w.db")
    for option in ("--incoming", "--replay"):
        said = failed(*given, option, tmp_path / name)
        assert "JSON lines, lines of text and folders; write each row as a line of JSON" in said
        assert not (tmp_path / "w.db").exists()


@pytest.mark.parametrize(
    "header",
    [
        "\ufeffDate\tText\tTopic",
        pytest.param("text,time", marks=pytest.mark.slow),
        pytest.param("id;text", marks=pytest.mark.slow),
    ],
)
def test_a_table_on_standard_input_is_refused(model: Path, tmp_path: Path, header: str) -> None:
    given = ["--incoming", "-", "--model", str(model), "--state", str(tmp_path / "w.db"), "--once"]
    sent = f"{header}\n1,2\n".encode()
    done = subprocess.run([*MAIN, *given], input=sent, capture_output=True, check=False)
    said = done.stderr.decode()
    assert done.returncode == 1 and "Traceback" not in said
    assert "line 1, looks like the header of a CSV file, and a monitor reads JSON" in said
    assert not (tmp_path / "w.db").exists()
    (tmp_path / "lines.log").write_text(f"{header}\n1,2\n", "utf-8")
    said = failed("--incoming", tmp_path / "lines.log", *given[2:])
    assert "looks like the header of a CSV file" in said
    for first in (
        "text me, please: the bill, time and place",
        "text",
        "a,b",
        "rain, text, now, now",
    ):
        assert not is_table_header(first)
    assert is_table_header("when,body", "body") and not is_table_header("when,body")


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("--replay", "pay my bill\n" * 20, "No document of"),
        ("--replay", "", "has no documents, so there is nothing to replay"),
        ("--replay", None, "There is no file or folder"),
        ("--incoming", None, "There is no file or folder"),
        ("--incoming", '{"body": "rain"}\n', "holds the text? It has: body. Name one with"),
    ],
)
def test_a_refused_source_leaves_no_state(
    model: Path, tmp_path: Path, option: str, content: str | None, message: str
) -> None:
    file, states = tmp_path / "in.jsonl", tmp_path / "states"
    states.mkdir()
    if content is not None:
        file.write_text(content)
    given = (option, file, "--state", states / "w.db", "--model", model)
    assert message in failed(*given)
    assert list(states.iterdir()) == []
    file.write_text(lines(documents(50)))
    run("--incoming", file, *given[2:], "--once", "-q")
    file.rename(tmp_path / "gone.jsonl")
    assert "There is no file or folder" in failed("--incoming", file, *given[2:])
    with Monitor.open(states / "w.db") as monitor:  # what was read before is kept
        assert monitor.n_documents == 50


@pytest.mark.parametrize("every", ["100", "1h"])
def test_a_past_without_times_or_documents_is_refused(
    model: Path, tmp_path: Path, every: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newfound.monitor.sources._HELD", 1000)
    file = tmp_path / "in.jsonl"
    given = ("--model", model, "--replay", file, "--every", every)
    for content in ("", "\n\n"):
        file.write_text(content)
        result = CliRunner().invoke(app, ["monitor", *map(str, given)])
        assert result.exit_code == 1
        assert "in.jsonl has no documents, so there is nothing to replay." in result.output
    for content, who in (
        ("pay my bill\n" * 20, "No document of"),
        (lines([{"text": "rain", "time": "soon"}]), "No document of"),
        ("pay my bill\n" * 1600, "None of the first 1,000 documents of"),
    ):
        file.write_text(content)
        result = CliRunner().invoke(app, ["monitor", *map(str, given)])
        assert result.exit_code == 1 and not result.stdout
        assert who in result.output and "name their field with --time-column" in result.output
    rows = documents(700)
    for row in rows[:550]:
        del row["time"]
    file.write_text(lines(rows))
    run(*given, "--state", tmp_path / "w.db", "-q")
    texts, times = [str(row["text"]) for row in rows], [row.get("time") for row in rows]
    with (
        Monitor(NoveltyDetector.load(model), every=every) as whole,
        Monitor.open(tmp_path / "w.db") as monitor,
    ):
        whole.update(texts, times)
        whole.close_window()
        assert monitor.windows_ == whole.windows_
        assert sum(window.size for window in whole.windows_) == 700


def test_lines_that_cannot_be_read_are_counted(model: Path, tmp_path: Path) -> None:
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    deep = '{"text":' * 100_000
    file.write_text(
        '{"text": "pay my bill"}\n{"text": 3}\n{"te\n\n{"text": "rain", "time": "x"}\n'
        f"{deep}\n"
    )
    given = ["monitor", "--incoming", file, "--state", state, "--once", "--model", model]
    result = CliRunner().invoke(app, list(map(str, given)))
    assert result.exit_code == 0, result.output
    told = " ".join(result.output.split())
    assert "line 2, is int, not a str; convert it or leave it out." in told
    assert "line 3, is not JSON: Unterminated string starting at: column 2." in told
    assert "line 6, is not JSON: it has objects within objects, too many to read" in told
    assert "time that cannot be read" in result.output
    with Monitor.open(state) as monitor:
        monitor.close_window()
        (window,) = monitor.windows_
    assert (window.size, window.empty, window.timeless) == (2, 4, 2)


def test_documents_that_are_not_tested_are_told(model: Path, tmp_path: Path) -> None:
    rows = documents(200)
    file, page = tmp_path / "in.jsonl", tmp_path / "page.html"
    file.write_text(lines(rows[::-1]))  # the newest first
    replayed = ("--model", model, "--every", "10m", "--replay", file)
    told = said(*replayed, "--report", page)
    late = "Not tested: 194 late documents."
    assert late in told and "sort the documents by time, the oldest first" in told
    assert late in page.read_text()
    file.write_text(lines([*rows, rows[7], rows[3]]) + "\n")
    told = said(*replayed)
    assert "Not tested: 2 documents with an id that came before, 1 line without a text" in told
    assert "sort" not in told
    file.write_text(lines(rows))
    assert "Not tested" not in said(*replayed)


def test_times_that_cannot_be_read_are_told_with_their_lines_and_not_all(
    model: Path, tmp_path: Path
) -> None:
    rows = documents(60)
    for row in rows[20:50]:
        row["time"] = "04/05/2026 10:00"
    file = tmp_path / "in.jsonl"
    file.write_text(lines(rows))
    told = said("--model", model, "--every", "1d", "--replay", file)
    assert "in.jsonl, line 21, has a time that cannot be read, '04/05/2026 10:00';" in told
    assert told.count("cannot be read,") == 10 and told.count("not shown") == 1
    assert "30 documents without a time that can be read got the time of the stream." in told


def test_a_file_that_was_begun_anew_is_read_from_its_beginning(model: Path, tmp_path: Path) -> None:
    rows = documents(200)
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    once = ("--incoming", file, "--state", state, "--once", "--every", "20", "--model", model)
    file.write_text(lines(rows[:50]))
    assert "begun anew" not in said(*once)
    file.write_text(lines(rows[:100]))  # it grew
    assert "begun anew" not in said(*once)
    file.write_text("")
    assert "in.jsonl was begun anew since the last run" in said(*once)
    file.write_text(lines(rows[100:120]))  # shorter
    assert "in.jsonl was begun anew since the last run" in said(*once)
    file.write_text(lines(rows[120:]))  # longer
    assert "in.jsonl was begun anew since the last run" in said(*once)
    assert seen(state)[0] == 200
    file.write_text(lines(rows[120:140]))  # cut
    assert "shorter than it was, and begins as before" in failed(*once)
    assert seen(state)[0] == 200


def test_a_file_that_was_moved_is_read_on(model: Path, tmp_path: Path) -> None:
    rows = documents(100)
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    (before / "in.jsonl").write_text(lines(rows[:50]))
    begin = ("--once", "--every", "20", "--model", model)
    run("--incoming", before / "in.jsonl", "--state", before / "w.db", *begin)
    before.rename(after)
    given = ("--incoming", after / "in.jsonl", "--state", after / "w.db", "--once")
    (after / "in.jsonl").write_text(lines(rows))
    run(*given)
    assert seen(after / "w.db")[0] == 100
    (after / "other.jsonl").write_text(lines(rows[50:]))
    other = failed("--incoming", after / "other.jsonl", "--state", after / "w.db", "--once")
    assert "The state belongs to" in other


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be renamed")
@pytest.mark.parametrize("how", ["renamed", "emptied"])
def test_a_log_that_is_rotated_is_followed(model: Path, tmp_path: Path, how: str) -> None:
    rows = documents(300)
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(rows[:100]))
    begin = ["--model", str(model), "--every", "20", "--false-alarm-every", "20000"]
    process = subprocess.Popen(
        [*MAIN, "--incoming", str(file), "--state", str(state), *begin],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_for_documents(state, 100)
        if how == "renamed":
            with open(file, "a") as old:
                old.write(lines(rows[100:101]).rstrip("\n"))  # a last line without its end
            file.rename(tmp_path / "in.jsonl.1")
        else:
            with open(file, "a") as old:
                old.write(lines(rows[100:101]))
            wait_for_documents(state, 101)
            os.truncate(file, 0)
        with open(file, "a") as new:
            new.write(lines(rows[101:150]))
        wait_for_documents(state, 150)
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=PATIENCE)
    assert "was begun anew, and is read from its beginning" in " ".join(errors.split())
