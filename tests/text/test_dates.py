"""Dated documents, from the file to curves and periods."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import newfound
from newfound.cli import app

DAYS = [f"2003-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 25)]
QUICK: dict[str, Any] = {"n_machines": 2, "n_clauses": 10, "T": 5, "random_state": 0}


def texts() -> list[str]:
    """Return 24 texts a month: one topic each month, two words of which come in March only."""
    common = ["council plans road", "rain falls again", "team wins match", "mayor opens school"]
    own = {1: "drought hits farm", 2: "cyclone hits coast", 3: "virus spreads fever"}
    return [
        own[int(day[5:7])] if number % 2 else common[number // 2 % 4]
        for number, day in enumerate(DAYS)
    ]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = zip(DAYS, texts(), strict=True)
    path = tmp_path / "dated.csv"
    path.write_text("when,text\n" + "".join(f"{day},{text}\n" for day, text in rows))
    return path


def run(*words: object) -> Any:
    return CliRunner().invoke(app, list(map(str, words)))


class TestReading:
    def test_a_column_of_dates_is_read(self, table: Path) -> None:
        documents = newfound.read_documents(table, date_column="when")
        assert documents.dates is not None and documents.dates[0] == date(2003, 1, 1)
        assert newfound.read_documents(table, text_column="text").dates is None

    def test_a_bad_date_names_file_and_line(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.csv"
        path.write_text("when,text\n2003-01-01,a\n1/2/2003,b\n")
        with pytest.raises(newfound.DocumentError, match="csv, line 3, has the date"):
            newfound.read_documents(path, date_column="when")
        with pytest.raises(newfound.DocumentError, match="has no column 'day'"):
            newfound.read_documents(path, date_column="day")

    def test_dates_follow_the_texts_that_are_kept(self) -> None:
        frame = pd.DataFrame({"text": ["a", " ", "b"], "when": pd.to_datetime(DAYS[:3])})
        documents = newfound.as_documents(frame, date_column="when")
        assert documents.dates == (date(2003, 1, 1), date(2003, 1, 3))
        assert newfound.as_documents(["a", "", "b"], dates=DAYS[:3]).dates == documents.dates
        with pytest.raises(newfound.DocumentError, match="2 dates for 3 documents"):
            newfound.as_documents(["a", "", "b"], dates=DAYS[:2])


class TestDescriber:
    def test_curves_count_the_documents_of_a_word_and_of_a_theme(self) -> None:
        known, novel = newfound.split_by_date(texts(), "2003-03", dates=DAYS)
        described = newfound.describe(known, novel, **QUICK)
        assert described.timeline_ is not None and described.timeline_.by == "week"
        curve = described.curve("virus")
        assert curve.counts.sum() == 12 and curve.first == "2003-03-02"
        for theme in described.themes_:
            rows = len(theme.novel_documents) + len(theme.known_documents)
            assert described.curve(theme).counts.sum() == rows

    def test_dates_may_come_apart_from_the_documents(self) -> None:
        whole, halves = texts(), (DAYS[:48], DAYS[48:])
        described = newfound.describe(whole[:48], whole[48:], dates=halves, **QUICK)
        assert described.curve("virus").first == "2003-03-02"
        with pytest.raises(ValueError, match="novel: There are 23 dates for 24 documents"):
            newfound.describe(whole[:48], whole[48:], dates=(DAYS[:48], DAYS[49:]), **QUICK)

    def test_blank_texts_lose_their_dates(self) -> None:
        whole = texts()
        whole[0] = " "
        labels = np.repeat(["known", "novel"], (48, 24))
        described = newfound.NoveltyDescriber(**QUICK).fit(whole, labels, dates=DAYS)
        assert described.timeline_ is not None and described.timeline_.totals.sum() == 71
        assert described.curve("virus").first == "2003-03-02"

    def test_without_dates_there_is_no_curve(self) -> None:
        whole = texts()
        described = newfound.describe(whole[:48], whole[48:], **QUICK)
        assert described.timeline_ is None
        with pytest.raises(ValueError, match="no dates; pass dates to fit"):
            described.curve("virus")

    def test_a_model_file_keeps_themes_and_dates(self, tmp_path: Path) -> None:
        order = np.random.default_rng(0).permutation(72)
        whole, days = np.array(texts())[order].tolist(), np.array(DAYS)[order].tolist()
        labels = ["novel" if day >= "2003-03" else "known" for day in days]
        fitted = newfound.NoveltyDescriber(**QUICK).fit(whole, labels, dates=days)
        assert fitted.themes_
        fitted.save(tmp_path / "model.newfound")
        loaded = newfound.load(tmp_path / "model.newfound")
        assert [theme.to_dict() for theme in loaded.themes_] == [
            theme.to_dict() for theme in fitted.themes_
        ]
        assert loaded.unexplained_ == fitted.unexplained_
        known = [text for text, label in zip(whole, labels, strict=True) if label == "known"]
        novel = [text for text, label in zip(whole, labels, strict=True) if label == "novel"]
        loaded.remember(known, novel)
        for mine, its in zip(loaded.themes_, fitted.themes_, strict=True):
            assert mine.words == its.words and mine.rules == its.rules
            assert [loaded.corpus_.texts[row] for row in mine.typical] == [
                fitted.corpus_.texts[row] for row in its.typical
            ]
            assert loaded.curve(mine).to_dict() == fitted.curve(its).to_dict()
        assert loaded.curve("virus").to_dict() == fitted.curve("virus").to_dict()
        loaded.save(tmp_path / "again.newfound")
        again = (tmp_path / "again.newfound").read_bytes()
        assert again == (tmp_path / "model.newfound").read_bytes()


class TestPeriods:
    def test_each_month_is_described_against_all_before(self, tmp_path: Path) -> None:
        found = newfound.describe_periods(texts(), reading={"dates": DAYS}, **QUICK)
        assert [period.name for period in found.periods] == ["2003-02", "2003-03"]
        assert [(len(p.known), len(p.novel)) for p in found.periods] == [(24, 24), (48, 24)]
        first = [period.describer.words_["word"][0] for period in found.periods]
        assert first[0] in ("coast", "cyclone") and first[1] in ("fever", "spread", "virus")
        assert found.timeline.totals.tolist() == [24, 24, 24]
        found.report(tmp_path / "year.html", title="A year")
        assert "A year" in (tmp_path / "year.html").read_text(encoding="utf-8")
        with pytest.raises(FileExistsError):
            found.report(tmp_path / "year.html")

    def test_a_start_leaves_earlier_periods_out(self) -> None:
        reading = {"dates": DAYS}
        found = newfound.describe_periods(texts(), start="2003-03", reading=reading, **QUICK)
        assert [period.name for period in found.periods] == ["2003-03"]

    def test_nothing_to_describe_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="no month to describe: its dates are 2003-01-01 to"):
            newfound.describe_periods(texts()[:24], reading={"dates": DAYS[:24]})


class TestRanking:
    def test_words_are_ranked_by_the_column_asked_for(self, table: Path) -> None:
        words = ["--documents", table, "--date-column", "when", "--dates-from", "2003-03"]
        for by, neutral in (("novelty", 0), ("times", 1), ("score", 1)):
            options = ("--machines", 2, "--json", "--rank-by", by)
            data = json.loads(run("describe", *words, *options).stdout)
            new = [row[by] for row in data["novel_words"]]
            old = [row[by] for row in data["known_words"]]
            assert new == sorted(new, reverse=True) and min(new) > neutral
            assert old == sorted(old) and max(old) < neutral


class TestCommand:
    def test_one_file_is_split_by_a_date(self, table: Path, tmp_path: Path) -> None:
        words = ["--documents", table, "--date-column", "when", "--dates-from", "2003-03"]
        result = run("describe", *words, "--machines", 2, "--n-clauses", 10, "--json")
        assert result.exit_code == 0, result.output
        data = json.loads(result.stdout)
        assert (data["known"]["documents"], data["novel"]["documents"]) == (48, 24)
        assert data["timeline"]["by"] == "week" and 0 <= data["unexplained"] <= 1
        by_word = {row["word"]: row for row in data["novel_words"]}
        assert sum(by_word["virus"]["curve"]["counts"]) == 12
        assert data["themes"][0]["curve"]["first"] >= "2003-03"
        shown = run("describe", *words, "--machines", 2, "--n-clauses", 10)
        assert "over time" in shown.stdout and "are in the theme" in " ".join(shown.stdout.split())

    def test_each_month_in_one_call(self, table: Path, tmp_path: Path) -> None:
        words = ["--documents", table, "--date-column", "when", "--by", "month"]
        output, page = tmp_path / "words.csv", tmp_path / "page.html"
        result = run("describe", *words, "--machines", 2, "--json", "-o", output, "--report", page)
        assert result.exit_code == 0, result.output
        data = json.loads(result.stdout)
        assert [period["period"] for period in data["periods"]] == ["2003-02", "2003-03"]
        assert set(pd.read_csv(output)["period"]) == {"2003-02", "2003-03"}
        assert "2003-03" in page.read_text(encoding="utf-8")
        shown = run("describe", *words, "--machines", 2)
        assert "2003-03: 24 documents, compared with 48 before" in shown.stdout
        assert "Times: how many times more frequent than in earlier documents" in shown.stdout
        assert shown.stdout.count("May be chance: words with a novelty below 2 or q") == 1

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--documents", "t", "--known", "t"], "--documents replaces --known and --novel"),
            (["--documents", "t"], "dates; or --by COLUMN, to compare the values"),
            (["--documents", "t", "--date-column", "d"], "needs --dates-from DAY, or --by month"),
            (["--known", "a", "--novel", "b", "--by", "month"], "--by splits one input"),
            (["--known", "a"], "--novel is missing"),
            (
                ["--documents", "t", "--date-column", "d", "--by", "month", "--save", "m"],
                "--save keeps one model",
            ),
            (
                ["--documents", "t.txt", "--date-column", "d", "--by", "month"],
                "only tables, such as .csv or .jsonl, have columns",
            ),
        ],
    )
    def test_options_that_do_not_go_together(self, words: list[str], message: str) -> None:
        result = run("describe", *words)
        assert result.exit_code == 2
        assert message in " ".join(result.output.replace("│", " ").split())

    def test_documents_without_words_are_told_once_with_their_periods(self, table: Path) -> None:
        with open(table, "a") as file:
            file.write("2003-01-31,the\n2003-02-28,of\n2003-03-30,and\n2003-03-31,the\n")
        words = ("--documents", table, "--date-column", "when", "--by", "month", "--machines", 2)
        said = run("describe", *words).stderr.splitlines()
        assert [line for line in said if "no words left" in line] == [
            "newfound: warning: 3 documents have no words left after cleaning: 2003-02 (1 of 25), "
            "2003-03 (2 of 26)."
        ]

    @pytest.mark.parametrize("more", [(), ("--by", "month"), ("--stream",)])
    def test_a_year_is_its_first_day(self, tmp_path: Path, more: tuple[str, ...]) -> None:
        path = tmp_path / "dated.csv"
        days = [day.replace("2003-03", "2004-01") for day in DAYS]
        rows = zip(days, texts(), strict=True)
        path.write_text("when,text\n" + "".join(f"{day},{text}\n" for day, text in rows))
        words = ["--documents", path, "--date-column", "when", "--machines", 2, "--json", *more]
        year = run("describe", *words, "--dates-from", "2004")
        assert year.exit_code == 0, year.output
        assert year.stdout == run("describe", *words, "--dates-from", "2004-01-01").stdout

    @pytest.mark.parametrize("start", ["1/4/2003", "20031", "2003-13"])
    def test_a_bad_day_names_the_option(self, table: Path, start: str) -> None:
        result = run(
            "describe", "--documents", table, "--date-column", "when", "--dates-from", start
        )
        assert result.exit_code == 2
        said = " ".join(result.output.replace("│", " ").split())
        assert f"--dates-from': {start!r} is not a date; write a day, a month or a year" in said

    def test_a_date_beyond_all_is_one_sentence(self, table: Path) -> None:
        words = ["--documents", table, "--date-column", "when", "--dates-from", "2004-01"]
        result = run("describe", *words)
        assert result.exit_code == 1
        assert "is novel, from 2004-01-01: the dates are 2003-01-01 to 2003-03-24" in result.stderr
