"""The command ``newfound monitor`` in tests: its streams, and what it says."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from typer.testing import CliRunner

import newfound
from newfound import Monitor
from newfound.cli import app

MAIN = [sys.executable, "-c", "from newfound.cli import main; main()", "monitor"]


def known_texts() -> list[str]:
    texts = list(newfound.load_sample()[0].texts)
    random.Random(0).shuffle(texts)
    return texts


def documents(n: int, seed: int = 0) -> list[dict[str, object]]:
    """Return known documents, and from the middle on a new topic."""
    texts = known_texts()[900:]
    draw = random.Random(seed)
    found: list[dict[str, object]] = []
    for i in range(n):
        text = draw.choice(texts)
        if i > n // 2 and i % 9 == 0:
            text = f"a zeppelin {draw.choice(['over', 'under', 'near'])} street {i}"
        found.append({"id": f"d{i}", "text": text, "time": 1e9 + 60 * i})
    return found


def lines(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def run(*arguments: object, input: str | None = None) -> str:
    result = CliRunner().invoke(app, ["monitor", *map(str, arguments)], input=input)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def failed(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["monitor", *map(str, arguments)])
    assert result.exit_code in (1, 2), result.output
    return " ".join(result.output.replace("│", " ").split())


def said(*arguments: object) -> str:
    """Return the messages of a run that succeeds, in one line."""
    result = CliRunner().invoke(app, ["monitor", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return " ".join(result.stderr.split())


def seen(state: Path) -> tuple[int, list[str]]:
    """Return the number of documents of all windows, and the ids of the documents of topics."""
    with Monitor.open(state) as monitor:
        monitor.close_window()
        ids = [d.id for topic in monitor.topics_ for d in monitor.documents(topic.number)]
        return sum(window.size for window in monitor.windows_), ids
