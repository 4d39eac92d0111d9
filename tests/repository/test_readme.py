"""The commands and the Python of the README run as they are written."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

from command_line import call
from newfound import load_sample

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
BLOCKS = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

if not README.exists():
    pytest.skip("the README is not beside the tests", allow_module_level=True)


def blocks(language: str) -> list[str]:
    return [code for kind, code in BLOCKS.findall(README.read_text("utf-8")) if kind == language]


def commands() -> list[str]:
    lines = "\n".join(blocks("")).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.startswith("newfound ")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files that the README names."""
    made = tmp_path_factory.mktemp("readme")
    known, novel = load_sample()
    (made / "old").mkdir()
    for number, text in enumerate(known.texts[:300]):
        (made / "old" / f"{number}.txt").write_text(text, encoding="utf-8")
    for name, documents in (("new.csv", novel), ("tickets.csv", known)):
        with open(made / name, "w", newline="", encoding="utf-8") as stream:
            rows = csv.writer(stream)
            rows.writerow(["text", "topic"])
            rows.writerows(zip(documents.texts[:600], documents.labels[:600], strict=True))
    return made


def test_the_readme_has_commands_and_python():
    assert len(commands()) >= 3
    assert blocks("python")


def test_the_commands_run_in_their_order(folder):
    for command in commands():
        words = shlex.split(command)
        assert words.pop(0) == "newfound"
        done = call(*words, folder=folder)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert done.stdout or "--quiet" in words, command


def test_the_python_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, days = ("Ann", "Bob", "Cy", "Dee", "Eve", "Flo"), ("Monday", "Friday", "Sunday")
    known = [f"{who} took wickets in the cricket league on {day}" for who in people for day in days]
    novel = [f"{who} won a rugby league scrum on {day}" for who in people for day in days]
    labels = [f"{'men' if number % 2 else 'women'}" for number in range(len(known))]
    names = {"known_texts": known, "novel_texts": novel, "labels": labels}
    for code in blocks("python"):
        exec(compile(code, str(README), "exec"), names)


def test_make_knows_the_commands_that_the_readme_names():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([\w-]+)(?:`|$)", README.read_text("utf-8"), re.M))
    assert named and named <= targets
