"""The command ``newfound monitor``: real processes, killed and started again."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

from monitor_runs import MAIN, documents, failed, known_texts, lines, run, seen
from newfound import Monitor, NoveltyDetector
from newfound.cli import app
from waiting import PATIENCE


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("monitor") / "d.nf"
    NoveltyDetector(random_state=0).fit(known_texts()[:900]).save(path)
    return path


def validate(data: object, definition: str) -> None:
    schema = json.loads((files("newfound") / "data" / "schema" / "output.json").read_text("utf-8"))
    jsonschema.Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"}).validate(data)


def expected(model: Path, rows: list[dict[str, object]]) -> tuple[int, list[str]]:
    """Return the same for a monitor that was never interrupted."""
    with Monitor(NoveltyDetector.load(model), every=20, false_alarm_every=20_000) as whole:
        texts, times, ids = ([row[name] for row in rows] for name in ("text", "time", "id"))
        whole.update([str(text) for text in texts], times, ids)
        found = [d.id for topic in whole.topics_ for d in whole.documents(topic.number)]
    return len(rows), found


def test_standard_input_alerts_a_command_and_the_steps_of_people(
    model: Path, tmp_path: Path
) -> None:
    took = tmp_path / "took; touch evil"
    script = tmp_path / "take.py"
    script.write_text("import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())")
    done = subprocess.run(
        [
            *MAIN, "--model", model, "--incoming", "-", "--state", "w.db", "--every", "100",
            "--json", "--on-alert", f"'{sys.executable}' take.py '{took.name}'",
        ],
        input=lines(documents(1000)), capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "a window needs" in done.stderr
    alerts = [json.loads(line) for line in done.stdout.splitlines()]
    for alert in alerts:
        validate(alert, "alert")
    assert alerts and alerts == [json.loads(line) for line in took.read_text().splitlines()]
    assert not (tmp_path / "evil").exists()
    (alert,) = [alert for alert in alerts if alert["topic"] and "zeppelin" in alert["summary"]]
    number, state = alert["topic"]["number"], tmp_path / "w.db"
    listed = json.loads(run("topics", "--state", state, "--json"))
    assert [topic["name"] for topic in listed if topic["number"] == number] == [
        alert["topic"]["name"]
    ]
    shown = json.loads(run("show", number, "--state", state, "--json"))
    validate(shown, "topic_shown")
    assert shown["documents"] == sum(row["documents"] for row in shown["by_window"]) > 30
    assert "zeppelin" in run("show", number, "--state", state)
    assert "one of 2" in run("promote", number, "--as", "airships", "--state", state)
    (topic,) = [
        topic
        for topic in json.loads(run("topics", "--state", state, "--json"))
        if topic["number"] == number
    ]
    assert (topic["status"], topic["known_as"]) == ("promoted", "airships")
    assert "Undone: promote" in run("undo", "--state", state)
    assert "known as noise" in run("dismiss", number, "--state", state)
    assert [step["undone"] for step in json.loads(run("log", "--state", state, "--json"))] == [
        True,
        False,
    ]


def test_a_command_that_fails_gets_the_alert_again(model: Path, tmp_path: Path) -> None:
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(documents(1000)))
    given = ("--incoming", file, "--state", state, "--once", "--json", "-q")
    printed = run(*given, "--model", model, "--every", 100, "--on-alert", "false")
    assert printed and printed == run(*given, "--on-alert", "true") and not run(*given)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize(
    ("number", "status"),
    [pytest.param(signal.SIGKILL, -9, marks=pytest.mark.slow), (signal.SIGINT, 130)],
)
def test_a_monitor_that_follows_a_file_is_stopped_and_goes_on(
    model: Path, tmp_path: Path, number: int, status: int
) -> None:
    rows = documents(1200)
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(rows[:1000]) + '{"id": "half')
    given = ["--incoming", str(file), "--state", str(state)]
    begin = ["--model", str(model), "--every", "20", "--false-alarm-every", "20000"]
    process = subprocess.Popen(
        [*MAIN, *given, *begin], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    assert "zeppelin" in process.stdout.readline()
    second = failed("--incoming", file, "--state", state)
    assert "Another monitor uses the state" in second
    assert "zeppelin" in run("topics", "--state", state)  # to look is allowed
    process.send_signal(number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == status and "Traceback" not in errors
    file.write_text(lines(rows))
    run(*given, "--once")
    assert seen(state) == expected(model, rows)


KILLING = """
import os, random, signal, sys, time
import newfound.monitor.growing as growing
import newfound.monitor.sources as sources
from newfound import Monitor, NoveltyDetector
from newfound.text.records import Columns

model, file, state, kills = *sys.argv[1:4], int(sys.argv[4])
growing.SIZE = 7  # many transactions
detector = NoveltyDetector.load(model)
detector.p_values(["warm"])
draw = random.Random(kills)
killed = 0

def watch(pause):
    monitor = Monitor(detector, every=20, false_alarm_every=20_000, state=state)
    for batch in sources.open_source(file, Columns(), monitor.position, once=True, problem=print):
        if batch.texts:
            monitor.update(batch.texts, batch.times, batch.ids, position=batch.position)
        time.sleep(pause)
    monitor.close()

for _ in range(kills):
    child = os.fork()
    if not child:
        watch(0.002)
        os._exit(0)
    time.sleep(draw.uniform(0, 0.12))
    os.kill(child, signal.SIGKILL)
    killed += os.waitpid(child, 0)[1] == signal.SIGKILL
watch(0)
print(killed)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize("kills", [15, pytest.param(200, marks=pytest.mark.exhaustive)])
def test_killed_at_any_moment_no_document_is_lost_or_counted_twice(
    model: Path, tmp_path: Path, kills: int
) -> None:
    # More than are read before most kills; a state keeps 20,000 documents.
    rows = documents(min(150 * kills, 18_000))
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(rows))
    done = subprocess.run(
        [sys.executable, "-c", KILLING, model, file, state, str(kills)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > kills // 2
    assert seen(state) == expected(model, rows)
    assert sqlite3.connect(state).execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.parametrize("every", ["1d", "100"])
def test_cron_sees_the_windows_and_alerts_of_one_run(
    model: Path, tmp_path: Path, every: str
) -> None:
    rows = documents(990)
    for i, row in enumerate(rows):
        row["time"] = 864_000_000 + 864 * i  # 100 a day, from the beginning of a day
    file, state, replayed = (tmp_path / name for name in ("in.jsonl", "w.db", "r.db"))
    begin = ("--model", model, "--every", every, "--json", "-q")
    printed = ""
    for n in range(110, 991, 110):
        file.write_text(lines(rows[:n]))
        printed += run(*begin, "--incoming", file, "--state", state, "--once")
    before = run(*begin, "--replay", file, "--state", replayed)
    assert "zeppelin" in printed and before.startswith(printed)
    with Monitor.open(state) as monitor, Monitor.open(replayed) as whole:
        assert [window.size for window in monitor.windows_] == [100] * 9
        assert monitor.windows_ == whole.windows_[:9]
        assert monitor.open_window.size == whole.windows_[9].size == 90
        assert len(whole.windows_) == 10


def test_a_run_says_what_it_goes_on_with_and_what_was_seen(model: Path, tmp_path: Path) -> None:
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    rows = documents(60)

    def said(*arguments: object) -> list[str]:
        given = ["monitor", *map(str, arguments), "--model", str(model), "--every", "25"]
        result = CliRunner().invoke(app, given)
        assert result.exit_code == 0, result.output
        return [line for line in " ".join(result.stderr.split()).split("newfound: ") if line]

    once = ("--incoming", file, "--state", state, "--once")
    file.write_text(lines(rows[:40]))
    begin, end = said(*once)
    assert begin.startswith("Windows of 25 documents; at most one false alarm in 2,500 documents ")
    first = "40 documents in 1 closed window of 25 documents and an open one, 0 alerts, 0 topics;"
    assert end.startswith(first)
    file.write_text(lines(rows))
    begin, end = said(*once)
    assert begin.startswith(f"Going on after {first}")
    assert end.startswith("60 documents in 2 closed windows of 25 documents and an open one, ")
    begin, end = said("--replay", file)
    assert begin.startswith("Windows of 25 documents;")
    assert end.startswith("60 documents in 3 closed windows of 25 documents, 0 alerts, 0 topics;")
    assert not said(*once, "-q")


def test_the_past_is_run_again_and_reported(model: Path, tmp_path: Path) -> None:
    file, page = tmp_path / "in.jsonl", tmp_path / "page.html"
    rows = documents(990)
    rows[800]["text"] = "zeppelin <script>alert(1)</script> zeppelin zeppelin"
    file.write_text(lines(rows))
    given = ("--model", model, "--replay", file, "--every", "100m", "--json", "-q")
    alerts = [json.loads(line) for line in run(*given, "--report", page).splitlines()]
    html = page.read_text("utf-8")
    (alert,) = [alert for alert in alerts if alert["topic"] and "zeppelin" in alert["summary"]]
    assert alert["topic"]["name"] in html and alert["time"] in html
    n_windows = 1 + int((1e9 + 60 * 989) // 6000) - int(1e9 // 6000)
    assert html.count('<th scope="row"') == n_windows + 5  # and five settings
    assert "<script" not in html.lower() and "http" not in html.replace("http-equiv", "")
    assert "exists" in failed(*given, "--report", page)
    assert "--once or --replay" in failed("--incoming", "-", "--state", "x", "--report", page)
    assert "needs --model" in failed("--replay", file)
    assert "leave one out" in failed("--replay", file, "--incoming", "-")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "--incoming is missing"),
        (("--incoming", "-"), "--state is missing"),
        (("--incoming", "no.jsonl", "--state", "{}/w.db"), "There is no state"),
        (("--incoming", "no.jsonl", "--state", "{}/w.db", "--model", "{m}"), "There is no file"),
        (("--incoming", "-", "--state", "{}/w.db", "--model", "{m}", "--every", "x"), "every='x'"),
        (("--incoming", "-", "--state", "{m}"), "is not the state of a monitor"),
        (
            ("--incoming", "-", "--state", "{}/w.db", "--model", "{m}", "--on-alert", "'"),
            "cannot be split into words",
        ),
        (
            ("--incoming", "-", "--state", "{}/w.db", "--model", "{m}", "--on-alert", "{}/no me"),
            "there is no command {}/no that can be run",
        ),
        (("--incoming", "kafka://here", "--state", "{}/w.db", "--model", "{m}"), "HOST:PORT/TOPIC"),
        (("topics", "--state", "{}/w.db"), "There is no state"),
        (
            ("--incoming", "{m}.jsonl", "--state", "{}/w.db", "--model", "{m}"),
            "holds the text? It has: body. Name one with",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    model: Path, tmp_path: Path, given: tuple[str, ...], message: str
) -> None:
    Path(f"{model}.jsonl").write_text('{"body": "rain"}\n')
    arguments = [part.replace("{}", str(tmp_path)).replace("{m}", str(model)) for part in given]
    said = failed(*arguments)
    assert message.replace("{}", str(tmp_path)) in said and "Traceback" not in said


def two_topics(state: Path, model: Path, every: str) -> None:
    """Write a state with two topics; the first one begins in the third window."""
    rows = documents(1000)[:500]
    for i, row in enumerate(rows):
        row["time"] = 864_000_000 + 864 * i  # 100 a day, from the beginning of a day
        if i >= 200 and i % 10 == 0:
            row["text"] = f"a zeppelin over street {i}"
        if i >= 400 and i % 10 == 5:
            row["text"] = f"my volcano number {i}"
    texts, times = [str(row["text"]) for row in rows], [row["time"] for row in rows]
    with Monitor(NoveltyDetector.load(model), every=every, state=state) as monitor:
        monitor.update(texts, times)
        monitor.close_window()
        assert len(monitor.topics_) == 2


def test_steps_name_both_topics_and_the_class(model: Path, tmp_path: Path) -> None:
    state = tmp_path / "w.db"
    two_topics(state, model, "100")
    with Monitor.open(state) as monitor:
        first, second = (topic.name for topic in monitor.topics_)
    merged = f"merge of topic 2, {second}, into topic 1, {first}"
    run("merge", 1, 2, "--state", state)
    assert run("log", "--state", state).endswith(f"  {merged}\n")
    assert run("undo", "--state", state) == f"Undone: {merged}.\n"
    run("promote", 2, "--as", "lava", "--state", state)
    run("dismiss", 1, "--state", state)
    listed = [line.split("  ", 1)[1] for line in run("log", "--state", state).splitlines()]
    assert listed == [
        f"{merged} (undone)",
        f"promote of topic 2, {second}, as lava",
        f"dismiss of topic 1, {first}",
    ]


@pytest.mark.parametrize(
    ("every", "shown", "start"),
    [("1d", "1997-05-21: 10, 1997-05-22: 10, ", "1997-05-21"), ("100", "3: 10, 4: 10, ", None)],
)
def test_documents_by_window_have_the_start_of_a_window_of_time(
    model: Path, tmp_path: Path, every: str, shown: str, start: str | None
) -> None:
    state = tmp_path / "w.db"
    two_topics(state, model, every)
    assert f"documents by window: {shown}" in run("show", 1, "--state", state)
    data = json.loads(run("show", 1, "--state", state, "--json"))
    validate(data, "topic_shown")
    assert data["by_window"][0] == {"window": 3, "start": start, "documents": 10}


def test_other_settings_are_named_as_they_were_given(model: Path, tmp_path: Path) -> None:
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(documents(10)))
    given = ("--model", model, "--incoming", file, "--state", state, "--once", "--every", "1d")
    run(*given, "--false-alarm-every", "30d")
    assert "begun with false_alarm_every=30d, not 100d; keep it" in failed(*given)


FULL = """
import resource, signal, sys
from newfound.cli import main

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails instead, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files")
@pytest.mark.parametrize("begun", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_state_that_cannot_be_written_is_told_in_a_sentence(
    model: Path, tmp_path: Path, begun: bool
) -> None:
    rows = documents(2500)
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(rows))
    given = ["--incoming", file, "--state", state, "--once", "--model", model]
    given += ["--every", "20", "--false-alarm-every", "20000"]
    room = 600_000 if begun else model.stat().st_size + 5_000
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(room), "monitor", *map(str, given)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    told = " ".join(done.stderr.split())
    assert done.returncode == 1 and "Traceback" not in told
    assert f"Cannot write the state {state}: " in told
    assert state.exists() == begun  # nothing is left of a state without documents
    run(*given)
    assert seen(state) == expected(model, rows)


def test_alerts_are_listed_and_the_page_links_them_to_their_topics(
    model: Path, tmp_path: Path
) -> None:
    rows = documents(1000)
    file, state, page = (tmp_path / name for name in ("in.jsonl", "w.db", "page.html"))
    file.write_text(lines(rows[:100]))
    given = ("--incoming", file, "--state", state, "--once", "--model", model, "--every", "20")
    printed = run(*given)
    assert "There was no alert yet." in run("alerts", "--state", state)
    file.write_text(lines(rows))
    printed += run(*given, "--report", page)
    assert "zeppelin" in printed
    assert run("alerts", "--state", state) == printed
    found = json.loads(run("alerts", "--state", state, "--json"))
    assert [alert["summary"] in printed for alert in found] == [True] * len(found)
    for alert in found:
        validate(alert, "alert")
    text, number = page.read_text(), found[-1]["topic"]["number"]
    assert f'<a href="#topic-{number}"' in text and f'id="topic-{number}"' in text


def test_an_alert_quotes_a_long_document_around_its_word(model: Path, tmp_path: Path) -> None:
    rows = documents(1000)
    for row in rows:
        if "zeppelin" in str(row["text"]):
            row["text"] = "please pay my bill\n" * 30 + f"{row['text']} " + "on my account " * 30
    file = tmp_path / "in.jsonl"
    file.write_text(lines(rows))
    replayed = ("--model", model, "--every", "20", "--replay", file, "--json")
    (alert,) = map(json.loads, run(*replayed).splitlines())
    quoted = alert["summary"].split(' "')[1]
    assert quoted.startswith("…") and " a zeppelin " in quoted and quoted.endswith('…"')
    assert "\n" not in alert["summary"]


def test_the_list_of_topics_does_not_cut_times(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, state = tmp_path / "in.jsonl", tmp_path / "w.db"
    file.write_text(lines(documents(1000)))
    run("--model", model, "--every", "20", "--incoming", file, "--state", state, "--once")
    (topic,) = json.loads(run("topics", "--state", state, "--json"))
    run("promote", topic["number"], "--as", "airships " * 4, "--state", state)
    monkeypatch.setenv("COLUMNS", "100")
    printed = run("topics", "--state", state)
    assert topic["first_seen"] in printed and topic["last_seen"] in printed
