"""What the commands print for fixed inputs and seeds: ``python tests/golden.py`` writes it anew.

One file for each case, under ``tests/golden``. `test_golden.py` compares.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

FOLDER = Path(__file__).parent / "golden"
MESSAGES = {
    "sample": "What is the exchange rate for my flight to Lisbon, and can I change my PIN?",
    "bbcsport": "Ireland won the scrum against England, and the wicket fell to a penalty kick.",
}


def corpus(name: str, folder: Path) -> dict[str, Any]:
    """Write the documents of a case to files; give their paths."""
    if name == "sample":
        from newfound import load_sample

        known, novel = load_sample()
        documents = {
            "known": [(text, "banking") for text in known.texts],
            "novel": [(text, "travel") for text in novel.texts],
        }
    else:
        from lab import load_bbcsport

        found = load_bbcsport(os.environ["NEWFOUND_DATA"] + "/bbcsport")
        rows = list(zip(found.texts, found.labels, strict=True))
        documents = {
            "known": [row for row in rows if row[1] in ("cricket", "football")],
            "novel": [row for row in rows if row[1] == "rugby"],
        }
    held = documents["known"][::10]
    documents["old"] = [row for i, row in enumerate(documents["known"]) if i % 10]
    documents["incoming"] = held + documents["novel"][::5]
    for pile, rows in documents.items():
        lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
        (folder / f"{pile}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {pile: folder / f"{pile}.jsonl" for pile in documents}


def outputs(name: str) -> dict[str, str]:
    """Run the commands of a case; give what each prints on standard output."""
    from newfound.cli import app

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        paths = corpus(name, folder)
        describe = ["describe", "--known", paths["known"], "--novel", paths["novel"]]
        detect = [
            "detect", "--known", paths["old"], "--labels-column", "label",
            "--incoming", paths["incoming"],
        ]  # fmt: skip
        unlabelled = ["detect", "--known", paths["old"], "--incoming", paths["incoming"]]
        message = MESSAGES[name]
        commands = {
            "describe.json": [*describe, "--json", "--save", folder / "describer.nf"],
            "describe.txt": describe,
            "explain_describer.json": ["explain", folder / "describer.nf", message, "--json"],
            "explain_describer.txt": ["explain", folder / "describer.nf", message],
            "detect.json": [*detect, "--json", "--save", folder / "detector.nf"],
            "detect.txt": detect,
            "detect_unlabelled.json": [*unlabelled, "--json"],
            "explain_detector.json": ["explain", folder / "detector.nf", message, "--json"],
            "explain_detector.txt": ["explain", folder / "detector.nf", message],
        }
        found = {}
        for output, command in commands.items():
            seed = [] if command[0] == "explain" else ["--seed", "3", "--quiet"]
            result = CliRunner(env={"COLUMNS": "100"}).invoke(app, [*map(str, command), *seed])
            if result.exit_code:
                raise RuntimeError(f"{command}: {result.output}{result.exception!r}")
            found[output] = result.stdout.replace(str(folder), "FOLDER")
        return found


def written(name: str) -> dict[str, str]:
    """Return the kept outputs of a case."""
    return dict(json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes())))


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # here, lab is a folder of tests
    FOLDER.mkdir(exist_ok=True)
    for case in sys.argv[1:] or MESSAGES:
        content = json.dumps(outputs(case), indent=0).encode()
        (FOLDER / f"{case}.json.gz").write_bytes(gzip.compress(content, mtime=0))
