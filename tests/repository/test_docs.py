"""The blocks of the site's pages run as they are printed."""

from __future__ import annotations

import csv
import json
import re
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

import newfound
from encoder_files import write_static
from newfound.cli import app
from tools_of_repository import load_tool

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
if not (DOCS / "conf.py").exists():
    pytest.skip("the pages are not beside the tests", allow_module_level=True)

# Run by run_docs.py: each makes its own files and shows what is printed.
SHOWN = ("tutorial", *(f"howto/{name}" for name in ("two-piles", "queue", "stream", "research")))
SHOWN = (*SHOWN, "howto/languages", "p-values")
# Run here, with the files and the names that they speak of.
PLAIN = ("describe", "detect", "meaning", "monitor", "report", "rules", "scale", "scikit-learn")
# Run elsewhere: tests/serve/test_serve_docs.py, test_persistence.py and test_scale_engines.py.
ELSEWHERE = {("serve", "python"), ("serve", "sh"), ("model-file", "python")}
ELSEWHERE |= {("howto/spark", "python"), ("howto/spark", "sh"), ("howto/proxy", "sh")}
NOT_CODE = {"text", "ini", "nginx", "{toctree}", "{eval-rst}"}
BLOCKS = re.compile(r"^```([\w{}-]*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPARK = "from newfound.scale import spark"
# The sample has a few documents without words, and it says so.
WITHOUT_WORDS = pytest.mark.filterwarnings("ignore:.* no words left after cleaning")


run_docs = load_tool("run_docs")


def blocks(name: str) -> list[tuple[str, str]]:
    return BLOCKS.findall((DOCS / f"{name}.md").read_text("utf-8"))


@pytest.mark.parametrize("name", SHOWN)
@WITHOUT_WORDS
def test_the_page_shows_what_its_blocks_print(name: str) -> None:
    path = DOCS / f"{name}.md"
    if name == "tutorial" and int(metadata.version("numpy").partition(".")[0]) < 2:
        pytest.skip("with the libraries of make test-oldest, k-means finds other groups")
    with run_docs.empty_folder():
        made = run_docs.run_page(path)
    assert made.splitlines() == path.read_text("utf-8").splitlines()


def test_every_block_of_the_site_is_run_or_is_no_code() -> None:
    left = set()
    for path in DOCS.rglob("*.md"):
        name = path.relative_to(DOCS).with_suffix("").as_posix()
        if name.startswith("_outside/"):
            continue
        for kind, _ in blocks(name):
            run = (name in SHOWN and kind in ("python", "pycon", "console", "sh")) or (
                name in PLAIN and kind in ("", "python")
            )
            if not run and (name, kind) not in ELSEWHERE and kind not in NOT_CODE:
                left.add((name, kind))
    assert not left


def commands(name: str) -> list[str]:
    return [
        line.strip()
        for kind, code in blocks(name)
        if kind == ""
        for line in code.replace("\\\n", " ").splitlines()
    ]


def write_table(path: Path, columns: dict[str, list[Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*columns.values(), strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the pages name."""
    made = tmp_path_factory.mktemp("docs")
    banking, travel = newfound.load_sample()
    known, labels = banking.texts[::3], list(banking.labels[::3])
    novel = travel.texts[::75]
    groups = ["card" if number % 2 else "bill" for number in range(len(known))]
    mixed = [*known[:10], *novel]
    write_table(made / "tickets.csv", {"text": known, "topic": groups})
    for name in ("new.csv", "more.csv", "today.csv"):
        write_table(made / name, {"text": mixed})
    for number, name in enumerate(("may.csv", "june.csv", "july.csv")):
        write_table(made / name, {"text": [*known[number:60:3], *novel[10 * number :][:10]]})
    known, groups = known[::10], groups[: len(known[::10])]
    for number, text in enumerate(known):
        for place in ("old", f"folder/{groups[number]}"):
            (made / place).mkdir(parents=True, exist_ok=True)
            (made / place / f"{number}.txt").write_text(text, encoding="utf-8")
    days = [f"2003-03-{1 + number % 30:02d}" for number in range(len(known))]
    days += [f"2003-04-{1 + number % 30:02d}" for number in range(len(novel))]
    rows = [
        {"text": text, "date": day, "message": text}
        for text, day in zip([*known, *(f"sars {text}" for text in novel)], days, strict=True)
    ]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    for name in ("news.jsonl", "inbox.jsonl", "log.jsonl", "all.jsonl", "stream.jsonl"):
        text_only = "".join(f"{json.dumps({'text': row['text']})}\n" for row in rows)
        (made / name).write_text(lines if name == "news.jsonl" else text_only, encoding="utf-8")
    detector = newfound.NoveltyDetector(random_state=0, epochs=3).fit(known, labels[::10])
    detector.save(made / "d.nf")
    return made


@pytest.fixture
def names(folder: Path) -> dict[str, Any]:
    """Return the names that the Python of the pages uses without making them."""
    documents = newfound.read_documents(
        folder / "news.jsonl", text_column="text", date_column="date"
    )
    known, novel = newfound.split_by_date(documents, "2003-04")
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.random((60, 3)) < 0.5, columns=["sun", "wind", "rain"])
    return {
        "newfound": newfound,
        "documents": documents,
        "known_texts": known.texts,
        "novel_texts": novel.texts,
        "incoming_texts": novel.texts,
        "texts": [*known.texts, *novel.texts],
        "labels": [str(number % 2) for number in range(len(documents.texts))],
        "times": [f"2003-03-{1 + number % 30:02d}" for number in range(len(documents.texts))],
        "frame": frame,
        "feature_names": list(frame.columns),
    }


@pytest.fixture
def here(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of that folder, which is the current one."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str, *more: str) -> str:
    """Run a command of a page, with few rules, and with what follows or precedes it in a shell."""
    given = None
    if command.startswith("tail -f "):
        source, command = command.removeprefix("tail -f ").split(" | ")
        given = Path(source).read_text("utf-8")
    command, _, other = command.partition(" || ")
    words = " ".join(more)
    if command.startswith("newfound describe"):
        words = f"{words} {run_docs.QUICK}"
    described = "--incoming" in command and "--json-lines" not in command
    if command.startswith("newfound detect") and described:
        words = f"{words} --no-description"
    line = f"{command.partition(' #')[0]} {words}"
    return str(run_docs.run(line, (0, 3) if other else (0,), given))


def execute(name: str, names: dict[str, Any], *, without: str = "nothing", **changes: str) -> None:
    """Run the Python of a page, one block after the other."""
    found = [code for kind, code in blocks(name) if kind == "python" and without not in code]
    assert found
    for code in found:
        for old, new in changes.items():
            assert old in code or len(found) > 1
            code = code.replace(old, new)
        exec(compile(code, f"{name}.md", "exec", dont_inherit=True), names)


@WITHOUT_WORDS
def test_the_page_on_descriptions_runs(here: Path, names: dict[str, Any]) -> None:
    for command in commands("describe"):
        assert run(command)
    (here / "year.html").unlink()
    execute("describe", names)
    assert (here / "year.html").exists() and (here / "topics.html").exists()
    assert names["described"].curve("sars").peak is not None


@WITHOUT_WORDS
def test_the_page_on_detection_runs(here: Path, names: dict[str, Any]) -> None:
    (here / "d.nf").unlink()
    for command in commands("detect"):
        assert run(command)
    assert (here / "d.nf").exists() and (here / "rows.csv").exists()
    execute("detect", {**names, "labels": names["labels"][: len(names["known_texts"])]})


@WITHOUT_WORDS
def test_the_page_on_meaning_runs(
    here: Path, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEWFOUND_ENCODERS", str(tmp_path / "encoders"))
    (here / "d.nf").unlink()
    words = sorted({word for text in names["texts"] for word in text.lower().split()})
    vectors = np.random.default_rng(0).normal(size=(len(words) + 1, 8))
    write_static(here / "all-MiniLM-L6-v2", ["[UNK]", *words], vectors)
    for command in commands("meaning"):
        assert run(command)
    (here / "d.nf").unlink()
    execute("meaning", {**names, "labels": names["labels"][: len(names["known_texts"])]})
    assert (here / "d.nf").exists()


def write_topics(path: Path) -> None:
    """Write a stream in which five topics begin, one after the other."""
    banking, _ = newfound.load_sample()
    subjects = ("airship mast", "volcano ash", "lighthouse lamp", "otter dam", "harpsichord tune")
    with open(path, "w", encoding="utf-8") as file:
        for hour in range(24):
            texts = banking.texts[hour::40]
            if hour % 4 == 0 and hour:
                subject = subjects[hour // 4 - 1]
                texts = [*texts, *(f"{subject} in {place}" for place in ("rome", "oslo", "lima"))]
                texts += [f"another {subject} near {place}" for place in ("rome", "oslo", "lima")]
            for minute, text in enumerate(texts):
                time = f"2026-05-04T{hour:02d}:{minute:02d}:00Z"
                print(json.dumps({"text": text, "time": time}), file=file)


@WITHOUT_WORDS
def test_the_page_on_the_monitor_runs(here: Path, names: dict[str, Any]) -> None:
    (here / "d.nf").unlink()
    write_topics(here / "stream.jsonl")
    learn, watch, *steps = commands("monitor")
    run(learn)
    run(watch, "--once")
    with newfound.Monitor.open("watch.db") as monitor:
        assert len(monitor.topics_) >= 5
    kept = (here / "watch.db").read_bytes()
    assert len(steps) == 11
    for step in steps:
        (here / "watch.db").write_bytes(kept)
        if " undo " in step or " log " in step:
            run("newfound monitor dismiss 4 --state watch.db")
        assert run(step)
    (here / "watch.db").unlink()
    execute("monitor", names)


@WITHOUT_WORDS
def test_the_page_on_reports_runs(here: Path, names: dict[str, Any]) -> None:
    for command in commands("report"):
        if not command.startswith("newfound demo"):  # tests/cli/test_cli_process.py runs it
            run(command)
    for page in ("new.html", "inbox.html"):
        assert (here / page).stat().st_size > 10_000
    described = newfound.describe(
        names["known_texts"], names["novel_texts"], random_state=0, n_machines=2, n_clauses=20
    )
    described.save("model.nf")
    detector = newfound.load("d.nf")
    (code,) = [code for kind, code in blocks("report") if kind == "python"]
    for line in code.splitlines():
        (here / "new.html").unlink(missing_ok=True)
        (here / "inbox.html").unlink(missing_ok=True)
        exec(line, {**names, "described": described, "detector": detector})


def test_the_page_on_rules_runs(names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    execute("rules", names)
    assert "flight: +" in capsys.readouterr().out


@WITHOUT_WORDS
def test_the_page_on_scikit_learn_runs(
    here: Path, names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for command in commands("scikit-learn"):
        assert run(command)
    assert (here / "words.csv").exists() and (here / "rules.csv").exists()
    weather = names["frame"]["sun"] & ~names["frame"]["wind"]
    first, features, *others = [c for kind, c in blocks("scikit-learn") if kind == "python"]
    for code in (first, features):
        exec(code, {**names, "labels": names["labels"]})
    assert len(others) == 2
    for code in others:
        exec(code, {**names, "labels": np.where(weather, "picnic", "home")})
    assert "sun AND NOT wind → picnic" in capsys.readouterr().out


@WITHOUT_WORDS
def test_the_page_on_scale_runs(here: Path, names: dict[str, Any]) -> None:
    frames = {
        "data": names["documents"].texts,
        "old": names["known_texts"],
        "new": names["novel_texts"],
    }
    shutil.rmtree(here / "old")
    shutil.rmtree(here / "folder")
    for name, texts in {**frames, "folder": names["novel_texts"]}.items():
        (here / name).mkdir()
        frame = pd.DataFrame({"text": texts})
        if name == "data":
            frame["message"] = texts
        frame.to_parquet(here / name / "part-0.parquet")
    for command in commands("scale"):
        (here / "rows.parquet").unlink(missing_ok=True)
        column = "--text-column text" if "data/" in command else ""
        assert run(command, "--jobs 1", column)
    # Processes and Spark: tests/scale/test_scale.py and tests/scale/test_scale_engines.py.
    execute("scale", names, without=SPARK, **{"n_jobs=-1": "n_jobs=1"})
    assert list((here / "scored").glob("*.parquet"))


def options(command: Any) -> set[str]:
    found = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return {*found, "--help"}


def test_every_command_on_the_site_has_the_options_that_are_named() -> None:
    top = typer.main.get_command(app)
    checked = 0
    pages = [path for path in DOCS.rglob("*.md") if "_outside" not in path.parts]
    for path in [*pages, ROOT / "README.md"]:
        text = path.read_text("utf-8").replace("\\\n", " ")
        for line in re.findall(r"(?:^|/bin/|\$ |\| |`)newfound ([^`\n]+)", text, re.MULTILINE):
            if path.name == "cli.md":
                continue
            command: Any = top
            for word in line.split():
                command = getattr(command, "commands", {}).get(word, command)
            for option in re.findall(r"(?<![\w-])(--?[a-zA-Z][\w-]*)", line.partition(" #")[0]):
                assert option in options(command) or f"'{option}" in line, f"{path.name}: {line}"
                checked += 1
    assert checked > 100
