"""Each value of a column, or each of several piles, against all other documents."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from newfound import DocumentError, Documents, describe_values
from newfound.cli import app
from newfound.description.describe import join_piles
from newfound.text.documents import as_documents

QUICK = ["--n-clauses", "20", "--machines", "2", "--epochs", "5", "--jobs", "1", "--min-df", "1"]
TOPICS = {
    "cricket": "a wicket fell in the {} over",
    "rugby": "the scrum won a try in the {} half",
    "tennis": "she served an ace in the {} set",
}
WHEN = ("first", "second", "third", "next", "last", "long", "short", "late")


def rows() -> list[tuple[str, str]]:
    return [(text.format(when), topic) for topic, text in TOPICS.items() for when in WHEN]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "news.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "topic", "month"])
        writer.writerows((text, topic, "2024-05-01") for text, topic in rows())
    return path


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["describe", *map(str, arguments), *QUICK])


def top_words(result: Any) -> dict[str, set[str]]:
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["against"] == "rest" and data["timeline"] is None
    return {
        value["period"]: {row["word"] for row in value["novel_words"]} for value in data["periods"]
    }


def test_each_value_is_described_against_the_rest() -> None:
    texts, labels = zip(*rows(), strict=True)
    found = describe_values(
        Documents(texts, texts, labels=labels), by="topic", n_machines=2, n_clauses=20, T=5
    )
    assert [value.name for value in found.periods] == ["cricket", "rugby", "tennis"]
    assert [(len(value.novel), len(value.known)) for value in found.periods] == [(8, 16)] * 3
    for value, word in zip(found.periods, ("wicket", "scrum", "ace"), strict=True):
        assert word in value.describer.words_["word"][:4].tolist()


def test_a_value_of_one_document_belongs_to_the_others() -> None:
    texts, labels = zip(*rows(), ("an ace in the first over", "other"), strict=True)
    found = describe_values(
        Documents(texts, texts, labels=labels), n_machines=1, n_clauses=10, T=5, epochs=1
    )
    assert len(found) == 3 and len(found.periods[0].known) == 17


def test_documents_without_words_are_counted_once_with_their_values() -> None:
    texts, labels = zip(*rows(), ("the", "rugby"), ("of", "tennis"), ("and", "tennis"), strict=True)
    documents = Documents(texts, texts, labels=labels)
    expected = (
        r"^3 documents have no words left after cleaning: rugby \(1 of 9\), tennis \(2 of 10\)\.$"
    )
    with pytest.warns(UserWarning, match="no words left") as caught:
        describe_values(documents, n_machines=1, n_clauses=10, T=5, epochs=1)
    (warning,) = caught
    assert re.match(expected, str(warning.message))


def test_an_error_names_the_value() -> None:
    texts, labels = zip(*rows(), ("the", "stops"), ("of", "stops"), strict=True)
    with pytest.raises(ValueError, match=r"^stops: Nothing is left of the 2 novel documents"):
        describe_values(Documents(texts, texts, labels=labels), n_machines=1, n_clauses=10, T=5)


def test_what_has_no_values_to_compare_is_refused() -> None:
    with pytest.raises(DocumentError, match="has no labels"):
        describe_values(["a", "b"])
    same = Documents(("a", "b", "c"), ("1", "2", "3"), labels=("x",) * 3, source="a list")
    with pytest.raises(DocumentError, match="a list has no topic to describe: it has 1 different"):
        describe_values(same, by="topic")
    texts = tuple(f"text {i}" for i in range(900))
    many = Documents(texts, texts, labels=tuple(str(i // 2) for i in range(900)))
    with pytest.raises(DocumentError, match="'id' has 450 values, and at most 200"):
        describe_values(many, by="id")


def test_by_a_column(table: Path) -> None:
    words = top_words(call("--documents", table, "--by", "topic", "--json"))
    assert list(words) == ["cricket", "rugby", "tennis"]
    assert "wicket" in words["cricket"] and "scrum" in words["rugby"] and "ace" in words["tennis"]


def test_a_column_named_like_a_period(table: Path) -> None:
    table.write_text(table.read_text().replace("topic,month", "month,day"))
    result = call("--documents", table, "--by", "month")
    assert result.exit_code == 2
    assert "use --by column:month" in " ".join(result.stderr.replace("│", " ").split())
    words = top_words(call("--documents", table, "--by", "column:month", "--json"))
    assert list(words) == ["cricket", "rugby", "tennis"]
    dated = call("--documents", table, "--by", "month", "--date-column", "day", "--json")
    assert dated.exit_code == 1 and "has no month to describe" in dated.stderr


def test_by_the_subfolders(tmp_path: Path) -> None:
    for number, (text, topic) in enumerate(rows()):
        path = tmp_path / "news" / topic / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    words = top_words(call("--documents", tmp_path / "news", "--by", "folder", "--json"))
    assert list(words) == ["cricket", "rugby", "tennis"]


def test_more_than_two_piles(tmp_path: Path) -> None:
    options = []
    for topic in TOPICS:
        path = tmp_path / f"{topic}.txt"
        path.write_text("\n".join(text for text, own in rows() if own == topic), encoding="utf-8")
        options += ["--pile", f"{topic}={path}"]
    words = top_words(call(*options, "--json"))
    assert "wicket" in words["cricket"] and "ace" in words["tennis"]
    shown = call(*options)
    assert "cricket: 8 documents, compared with 16 others." in shown.stdout
    assert "the 8 cricket documents" in shown.stdout and "the 16 other ones" in shown.stdout
    assert "novel documents" not in shown.stdout and "known ones" not in shown.stdout


def test_one_report_and_one_table_of_all_values(table: Path, tmp_path: Path) -> None:
    report, words = tmp_path / "page.html", tmp_path / "all.csv"
    result = call("--documents", table, "--by", "topic", "--report", report, "--output", words)
    assert result.exit_code == 0, result.output
    page = report.read_text("utf-8")
    assert "What sets each topic apart" in page and "3 values of" in page
    with open(words, encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert {row["period"] for row in found} == set(TOPICS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pile", "a=x.txt"], "each time with another name"),
        (
            ["--pile", "a=x.txt", "--pile", "a=y.txt"],
            "each time with another name",
        ),
        (["--pile", "x.txt", "--pile", "b=y.txt"], "expected NAME=PATH"),
        (["--pile", "a=-", "--pile", "b=-"], "only one pile can be standard input"),
        (["--pile", "a=x", "--pile", "b=y", "--known", "z"], "three ways to name documents"),
        (["--pile", "a=x", "--pile", "b=y", "--save", "m"], "--pile makes several"),
        (["--documents", "t.csv", "--by", "topic", "--save", "m"], "--by makes several"),
        (["--documents", "t.csv", "--by", "x", "--dates-from", "2024"], "by its values"),
        (["--known", "a", "--novel", "b", "--by", "topic"], "--by splits one input"),
    ],
)
def test_options_that_do_not_go_together(arguments: list[str], said: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_joined_piles_keep_what_was_counted() -> None:
    joined = join_piles({"a": as_documents(["x y", ""]), "b": as_documents(["z", " "])})
    assert (len(joined), joined.labels) == (2, ("a", "b"))
    assert joined.found == {"empty": 1, "blank": 1}
