"""What the commands print as JSON is what the schema and its page say."""

from __future__ import annotations

import csv
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner

from newfound import load_sample
from newfound.cli import app
from tools_of_repository import load_tool

ROOT = Path(__file__).resolve().parents[2]
SCHEMA: dict[str, Any] = json.loads(
    (files("newfound") / "data" / "schema" / "output.json").read_text("utf-8")
)
QUICK = ("--n-clauses", "20", "--machines", "2", "--epochs", "3", "--jobs", "1", "--top", "5", "-q")


def validate(data: object, definition: str) -> None:
    schema = {**SCHEMA, "$ref": f"#/$defs/{definition}"}
    jsonschema.Draft202012Validator(schema).validate(data)


def run(*arguments: object, input: str | None = None) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)), input=input)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("json")
    known, novel = load_sample()
    assert known.labels is not None
    rows = list(zip(known.texts[::5], known.labels[::5], strict=True))
    two = set(sorted(set(known.labels))[:2])
    few = [(text, label) for text, label in rows if label in two]
    for name, chosen in (("known.csv", rows), ("few.csv", few)):
        with open(made / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "intent", "day"])
            writer.writerows((text, label, "2003-03-01") for text, label in chosen)
            writer.writerows((text, "travel", "2003-04-02") for text in novel.texts[:60])
    (made / "old.txt").write_text("\n".join(known.texts[:150]), encoding="utf-8")
    (made / "new.txt").write_text("\n".join([*known.texts[1:20], *novel.texts[:40], "?!"]), "utf-8")
    return made


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for name, definition in SCHEMA["$defs"].items():
        if name != "document":  # a row of a table has the other columns of the input, too
            assert definition["additionalProperties"] is False, name
        assert all(field["description"] for field in definition["properties"].values()), name
    documents = SCHEMA["$defs"]["detect"]["properties"]["documents"]["items"]
    assert documents["unevaluatedProperties"] is False
    with pytest.raises(jsonschema.ValidationError):
        validate({"share": 0.5, "low": 0.1, "high": "1"}, "share")
    with pytest.raises(jsonschema.ValidationError):
        validate({"share": 0.5, "low": 0.1, "high": 1, "more": 1}, "share")


@pytest.mark.skipif(not (ROOT / "tools/json_docs.py").exists(), reason="only in the repository")
def test_the_page_is_made_from_the_schema() -> None:
    assert (ROOT / "docs/json.md").read_text("utf-8") == load_tool("json_docs").page(SCHEMA)


def test_describe(folder: Path) -> None:
    sides = ("--known", folder / "old.txt", "--novel", folder / "new.txt")
    model = folder / "m.nf"
    validate(json.loads(run("describe", *sides, *QUICK, "--json", "--save", model)), "describe")
    plain = run("describe", *sides, *QUICK, "--json", "--keep-copies", "--pairs")
    validate(json.loads(plain), "describe")
    lines = run("explain", model, "-", "--json", input="book a zyxw flight\n?!\n").splitlines()
    for line in lines:
        validate(json.loads(line), "explanation")
    assert len(lines) == 2


def test_describe_with_dates_and_columns(folder: Path) -> None:
    table = ("--documents", folder / "known.csv", *QUICK, "--json")
    dates = ("--date-column", "day")
    validate(json.loads(run("describe", *table, *dates, "--dates-from", "2003-04")), "describe")
    by_month = json.loads(run("describe", *table, *dates, "--by", "month"))
    validate(by_month, "describe_by")
    assert by_month["against"] == "before" and by_month["periods"][0]["novel_words"][0]["curve"]
    few = ("--documents", folder / "few.csv", *QUICK, "--json")
    by_value = json.loads(run("describe", *few, "--by", "intent"))
    validate(by_value, "describe_by")
    assert by_value["against"] == "rest" and len(by_value["periods"]) == 3


def test_detect(folder: Path) -> None:
    known = ("--known", folder / "known.csv", "--labels-column", "intent", "--text-column", "text")
    options = ("--incoming", folder / "new.txt", "--jobs", "1", "-q", "--json")
    model = folder / "d.nf"
    found = json.loads(run("detect", *known, *options, "--save", model))
    validate(found, "detect")
    assert found["documents"] and found["incoming"]["found"] is not None
    saved = ("--model", model, "--incoming", folder / "new.txt", "-q")
    lines = run("detect", *saved, "--json-lines").splitlines()
    for line in lines:
        validate(json.loads(line), "document")
    texts = "book a zyxw flight to tokyo\n?!\npay\nzyxw wvut srqp onml kjih\n"
    verdicts = [
        json.loads(line) for line in run("explain", model, "-", "--json", input=texts).splitlines()
    ]
    for verdict in verdicts:
        validate(verdict, "verdict")
    assert [verdict["status"] for verdict in verdicts][1:] == ["no words", "short", "unlike"]
