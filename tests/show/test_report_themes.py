"""The report shows themes first, and when they and the words were written about."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
import newfound.show.page as written
from newfound.description.describe import Periods, describe_periods
from newfound.show.collect import Limits, collect, gather
from newfound.show.page import MAX_BYTES, render, report_page, report_page_of_periods
from newfound.show.periods import collect_periods
from newfound.show.sentences import percent, summary
from report_pages import read, text_of

SMALL: dict[str, Any] = {"n_machines": 2, "n_clauses": 20, "epochs": 2, "random_state": 1}
BACKGROUND = (
    "council plans new road", "police search river", "farmers wait for rain", "team wins final",
)  # fmt: skip
VIRUS = ("virus closes hospital ward", "virus fear empties airport", "hospital tests virus case")
STORM = ("storm floods coast town", "storm damage closes coast road", "coast storm warning")


def days(first: str, n: int, step: int = 1) -> list[str]:
    start = date.fromisoformat(first)
    return [str(start + timedelta(days=step * i)) for i in range(n)]


def background(n: int, seed: int) -> list[str]:
    generator = np.random.default_rng(seed)
    places = np.array([f"place{i}" for i in range(30)])
    texts = generator.choice(BACKGROUND, n), generator.choice(places, n)
    return [f"{text} {place}" for text, place in zip(*texts, strict=True)]


KNOWN = background(120, 1)
NOVEL = [*background(60, 2), *(f"{text} place{i}" for i in range(20) for text in VIRUS)]
DATES = days("2003-02-01", 120), days("2003-06-01", 120)


@pytest.fixture(scope="module")
def dated() -> newfound.NoveltyDescriber:
    return newfound.describe(KNOWN, NOVEL, dates=DATES, fold_copies=False, **SMALL)


@pytest.fixture(scope="module")
def data(dated: Any) -> dict[str, Any]:
    return collect(dated.description_, gather(dated.description_), Limits())


class TestThemes:
    def test_they_are_those_of_the_description(self, dated: Any, data: dict[str, Any]) -> None:
        rows = data["themes"]["rows"]
        assert [row["name"] for row in rows] == [theme.name for theme in dated.themes_]
        assert rows
        assert "virus" in rows[0]["name"]
        assert data["themes"]["unexplained"] == pytest.approx(dated.unexplained_, abs=1e-3)
        for row, theme in zip(rows, dated.themes_, strict=True):
            assert row["share_novel"] == pytest.approx(theme.share_novel, rel=1e-3)
            assert row["documents_known"] == len(theme.known_documents)
            assert [rule["words"] for rule in row["rules"]] == [list(r.words) for r in theme.rules]

    def test_typical_documents_keep_text_and_date(self, dated: Any, data: dict[str, Any]) -> None:
        theme = dated.themes_[0]
        shown = data["themes"]["rows"][0]["documents"]
        assert [text_of(row) for row in shown] == [(KNOWN + NOVEL)[i] for i in theme.typical]
        assert [row["date"] for row in shown] == [(DATES[0] + DATES[1])[i] for i in theme.typical]
        number = data["words"]["columns"]["word"].index("virus")
        assert any(["virus", number] in row["pieces"] for row in shown)

    def test_the_sentence_speaks_of_themes(self, data: dict[str, Any]) -> None:
        sentence = "".join(part["text"] for part in data["summary"]["sentence"])
        assert sentence.startswith("New above all in the 120 novel documents: ")
        for row in data["themes"]["rows"][:3]:
            assert f"{row['name']} ({percent(row['share_novel'])}" in sentence
        assert "of the known ones)" in sentence

    def test_names_of_themes_are_written_as_in_the_texts(self) -> None:
        novel = [text.replace("virus", "Virus") for text in NOVEL]
        novel = [f"A {text}" for text in novel]
        describer = newfound.describe(KNOWN, novel, fold_copies=False, **SMALL)
        found = collect(describer.description_, gather(describer.description_), Limits())["themes"][
            "rows"
        ]
        assert "Virus" in found[0]["name"]

    def test_other_texts_than_those_learned_from_show_no_documents(self, dated: Any) -> None:
        for known, novel in ((KNOWN[1:], NOVEL), (KNOWN[::-1], NOVEL)):
            found = collect(dated.description_, gather(dated.description_, known, novel), Limits())
            assert [row["documents"] for row in found["themes"]["rows"]] == [None] * len(
                dated.themes_
            )
            assert found["themes"]["rows"][0]["words"]
            assert not any("curve" in card for card in found["cards"].values())

    def test_a_saved_model_keeps_themes_and_curves(
        self, dated: Any, data: dict[str, Any], tmp_path: Path
    ) -> None:
        dated.save(tmp_path / "model")
        loaded = newfound.load(tmp_path / "model")
        rows = collect(loaded.description_, gather(loaded.description_), Limits())["themes"]["rows"]
        assert [row["curve"] for row in rows] == [row["curve"] for row in data["themes"]["rows"]]
        assert {row["documents"] is None for row in rows} == {True}
        rows = collect(loaded.description_, gather(loaded.description_, KNOWN, NOVEL), Limits())[
            "themes"
        ]["rows"]
        shown, wanted = (page[0]["documents"] for page in (rows, data["themes"]["rows"]))
        assert list(map(text_of, shown)) == list(map(text_of, wanted))
        rows = collect(
            loaded.description_, gather(loaded.description_, KNOWN, NOVEL[::-1]), Limits()
        )["themes"]["rows"]
        assert {row["documents"] is None for row in rows} == {True}

    def test_documents_of_mixed_sides_are_found(self, dated: Any) -> None:
        order = np.random.default_rng(5).permutation(len(KNOWN + NOVEL))
        texts = [(KNOWN + NOVEL)[i] for i in order]
        sides = [("known" if i < len(KNOWN) else "novel") for i in order]
        describer = newfound.NoveltyDescriber(fold_copies=False, **SMALL).fit(texts, sides)
        found = collect(describer.description_, gather(describer.description_), Limits())["themes"][
            "rows"
        ][0]
        assert all("virus" in text_of(row) for row in found["documents"])

    def test_no_theme_leaves_the_sentence_to_the_words(self) -> None:
        describer = newfound.describe(KNOWN, background(120, 9), fold_copies=False, **SMALL)
        found = collect(describer.description_, gather(describer.description_), Limits())
        assert found["themes"]["rows"] == []
        assert found["themes"]["total"] == 0
        assert "Nothing stands out" in found["summary"]["sentence"][0]["text"]

    def test_smaller_limits_keep_the_first_of_everything(
        self, dated: Any, data: dict[str, Any]
    ) -> None:
        limits = Limits(words=3, cards=2, themes=1, theme_words=2, theme_documents=1, bins=5)
        kept = collect(dated.description_, gather(dated.description_), limits)
        (row,) = kept["themes"]["rows"]
        assert row["words"] == data["themes"]["rows"][0]["words"][:2]
        assert [text_of(one) for one in row["documents"]] == [
            text_of(data["themes"]["rows"][0]["documents"][0])
        ]
        marked = [piece[1] for piece in row["documents"][0]["pieces"] if not isinstance(piece, str)]
        assert all(0 <= number < 3 for number in marked)
        assert len(row["curve"]["novel"]) == len(kept["time"]["names"]) <= 5
        assert kept["themes"]["total"] == data["themes"]["total"]

    def test_very_long_words_are_cut(self, dated: Any) -> None:
        word = "w" * 90
        novel = [text.replace("virus", word) for text in NOVEL]
        describer = newfound.describe(KNOWN, novel, fold_copies=False, **SMALL)
        found = collect(describer.description_, gather(describer.description_), Limits())["themes"][
            "rows"
        ][0]
        assert max(map(len, found["words"])) <= 60
        assert len(found["name"]) <= 100


class TestSentence:
    def test_several_themes_are_listed(self) -> None:
        rows = [
            {"name": name, "share_novel": 0.04, "share_known": 0.0004} for name in ("a b", "c", "d")
        ]
        columns: dict[str, Any] = {"word": ["a"], "new": [True]}
        words = {"columns": columns, "new": 1}
        found = summary(words, 10, 20, str, {"rows": rows, "total": 4, "unexplained": 0.25})
        assert "".join(part["text"] for part in found["sentence"]) == (
            "New above all in the 20 novel documents: a b (4.0 % of them, <0.1 % of the known "
            "ones), c (4.0 %, <0.1 %) and d (4.0 %, <0.1 %)."
        )
        assert "".join(part["text"] for part in found["detail"]) == (
            "In all, 4 themes and 1 word set them apart from the 10 known ones. Of the documents "
            "with such a word, 75 % are in a theme."
        )

    def test_themes_that_may_be_chance_stand_apart(self) -> None:
        rows = [
            {"name": "a b", "share_novel": 0.445, "share_known": 0.0, "may_be_chance": False},
            {"name": "c d", "share_novel": 0.04, "share_known": 0.0, "may_be_chance": True},
        ]
        words: dict[str, Any] = {"columns": {"word": [], "new": []}, "new": 0}
        themes = {"rows": rows, "total": 2, "may_be_chance": 1, "unexplained": None}
        found = summary(words, 10, 20, str, themes)
        assert "".join(part["text"] for part in found["sentence"]) == (
            "New above all in the 20 novel documents: a b (45 % of them, 0 % of the known ones)."
        )
        assert "".join(part["text"] for part in found["detail"]) == (
            "In all, 1 theme and no word set them apart from the 10 known ones. 1 more theme may "
            "be chance."
        )

    def test_likely_words_are_named_where_none_is_sure(self) -> None:
        columns = {"word": ["flight", "visa", "go"], "new": [False] * 3, "low": [12.5, 1.2, 1.0]}
        found = summary({"columns": columns, "new": 0}, 12, 800)
        assert "".join(part["text"] for part in found["sentence"]) == (
            "No word is surely new in the 800 novel documents; likely new: flight and visa."
        )
        assert "".join(part["text"] for part in found["detail"]) == (
            "With only 12 known documents, chance can explain large differences, too."
        )
        assert not summary({"columns": columns, "new": 0}, 90, 800)["detail"]


class TestTime:
    def test_bins_have_all_documents(self, data: dict[str, Any]) -> None:
        time = data["time"]
        assert sum(time["known"]) == sum(time["novel"]) == 120
        assert time["by"] == "week"
        assert time["boundary"] == "2003-06-01"
        assert time["starts"][0] <= "2003-02-01"
        assert time["end"] > DATES[1][-1]

    def test_curves_count_the_documents_of_themes_and_words(
        self, dated: Any, data: dict[str, Any]
    ) -> None:
        for row, theme in zip(data["themes"]["rows"], dated.themes_, strict=True):
            curve, own = row["curve"], dated.curve(theme)
            assert [sum(two) for two in zip(curve["known"], curve["novel"], strict=True)] == (
                own.counts.tolist()
            )
            assert (curve["first"], curve["last"]) == (own.first, own.last)
            assert curve["peak"] == [f"week of {own.peak}", own.counts.max()]
        columns = data["words"]["columns"]
        for number, card in data["cards"].items():
            for side in ("known", "novel"):
                assert sum(card["curve"][side]) == columns[f"documents_{side}"][int(number)]

    def test_sides_that_overlap_have_no_boundary(self) -> None:
        dates = days("2003-02-01", 120), days("2003-02-01", 120)
        describer = newfound.describe(KNOWN, NOVEL, dates=dates, fold_copies=False, **SMALL)
        time = collect(describer.description_, gather(describer.description_), Limits())["time"]
        assert time["boundary"] is None

    def test_documents_without_dates_have_no_time(self) -> None:
        describer = newfound.describe(KNOWN, NOVEL, fold_copies=False, **SMALL)
        found = collect(describer.description_, gather(describer.description_), Limits())
        assert found["time"] is None
        assert found["themes"]["rows"][0]["curve"] is None

    @pytest.mark.parametrize("first", ["1000-01-01", "1950-01-01"])
    def test_centuries_have_a_bounded_number_of_bins(self, first: str) -> None:
        span = 1500 if first.startswith("1000") else 60
        dates = days(first, 120, span), days("2003-06-01", 120)
        describer = newfound.describe(KNOWN, NOVEL, dates=dates, fold_copies=False, **SMALL)
        found = collect(describer.description_, gather(describer.description_), Limits())
        time = found["time"]
        assert len(time["names"]) <= Limits().bins
        assert sum(time["known"]) == 120
        assert (time["joined"] > 1) == first.startswith("1000")
        for card in found["cards"].values():
            assert len(card["curve"]["novel"]) == len(time["names"])

    def test_the_peak_is_that_of_the_terminal_where_the_page_has_longer_bins(self) -> None:
        # A month with 30 documents, and a quarter with 2 * 20 beside it.
        old = [f"{1990 + i // 12}-{1 + i % 12:02}-05" for i in range(120)]
        new = ["2003-02-05"] * 30 + ["2003-04-05"] * 20 + ["2003-06-05"] * 20
        new += [f"2004-{1 + i % 12:02}-05" for i in range(50)]
        describer = newfound.describe(KNOWN, NOVEL, dates=(old, new), fold_copies=False, **SMALL)
        found = collect(describer.description_, gather(describer.description_), Limits(bins=100))
        assert (describer.timeline_.by, found["time"]["by"]) == ("month", "quarter")
        assert found["time"]["peak"] == ["2003-02", 30]
        highest = max(zip(found["time"]["novel"], found["time"]["names"], strict=True))
        assert highest == (40, "2003-Q2")
        for row, theme in zip(found["themes"]["rows"], describer.themes_, strict=True):
            own = describer.curve(theme)
            assert row["curve"]["peak"] == [own.peak, own.counts.max()]
        fewer = collect(describer.description_, gather(describer.description_), Limits(bins=7))
        assert fewer["time"]["peak"] == ["2003-02", 30]
        assert fewer["themes"]["rows"][0]["curve"] != found["themes"]["rows"][0]["curve"]
        assert (
            fewer["themes"]["rows"][0]["curve"]["peak"]
            == (found["themes"]["rows"][0]["curve"]["peak"])
        )

    @pytest.mark.parametrize("most", [1, 2, 7])
    def test_fewer_bins_lose_no_document(self, dated: Any, data: dict[str, Any], most: int) -> None:
        kept = collect(dated.description_, gather(dated.description_), Limits(bins=most))
        assert len(kept["time"]["names"]) == len(kept["time"]["known"]) <= most
        assert sum(kept["time"]["known"]) == 120
        for before, after in zip(data["themes"]["rows"], kept["themes"]["rows"], strict=True):
            assert sum(before["curve"]["novel"]) == sum(after["curve"]["novel"])
        assert data["time"]["joined"] == 1


@pytest.fixture(scope="module")
def periods() -> Periods:
    texts, dates = [], []
    stories: tuple[tuple[str, ...], ...] = ((), VIRUS, STORM)
    again = ("virus returns to river", "virus in rain", "road to virus")
    for number, story in enumerate(stories):
        own = [
            *background(60, 20 + number),
            *(f"{text} place{i}" for i in range(12) for text in story),
        ]
        own += again if story is STORM else ()
        texts += own
        dates += [f"2003-0{number + 2}-{1 + i % 28:02}" for i in range(len(own))]
    reading = {"dates": dates}
    return describe_periods(texts, by="month", reading=reading, fold_copies=False, **SMALL)


class TestPeriods:
    def test_each_period_has_its_themes_and_words(self, periods: Periods, tmp_path: Path) -> None:
        path = tmp_path / "x.html"
        page = report_page_of_periods(periods, title="Months & co", seconds={"reading": 0.5})
        path.write_bytes(page)
        assert len(page) <= MAX_BYTES
        found = read(path)
        rows = found["periods"]["rows"]
        assert [row["name"] for row in rows] == ["2003-03", "2003-04"]
        assert "virus" in rows[0]["themes"]["rows"][0]["name"]
        assert rows[1]["words"][0]["word"] in ("storm", "coast")
        assert rows[1]["n_known"] == 60 + 96
        assert 1 <= len(rows[1]["words"]) <= 20
        assert "What was new in each of 2 months" in found["summary"]["sentence"][0]["text"]
        assert {"learning", "reading"} <= set(found["made"]["seconds"])
        assert b"<title>Months &amp; co</title>" in page

    def test_curves_reach_beyond_the_period(self, periods: Periods) -> None:
        found = collect_periods(periods, Limits())
        assert found["time"]["names"] == ["2003-02", "2003-03", "2003-04"]
        assert found["time"]["known"] == [60, 0, 0]
        word = next(row for row in found["periods"]["rows"][0]["words"] if row["word"] == "virus")
        assert word["curve"]["known"] == [0, 0, 0]
        assert word["curve"]["novel"] == [0, 36, 0]
        assert word["curve"]["later"] == [0, 0, 3]
        for row in found["periods"]["rows"][0]["themes"]["rows"]:
            assert row["documents_novel"] == row["curve"]["novel"][1]

    def test_a_period_has_the_bins_and_peaks_of_the_page(self, periods: Periods) -> None:
        found = collect_periods(periods, Limits())
        for row, period in zip(found["periods"]["rows"], periods.periods, strict=True):
            assert period.describer.timeline_.by == "month"
            for word in row["words"]:
                curve = period.describer.curve(word["word"])
                assert word["curve"]["peak"] == [curve.peak, curve.counts.max()]

    def test_documents_are_marked_by_the_words_of_their_period(self, periods: Periods) -> None:
        theme = collect_periods(periods, Limits())["periods"]["rows"][0]["themes"]["rows"][0]
        for row in theme["documents"]:
            assert row["date"].startswith("2003-03")
            marks = [piece for piece in row["pieces"] if not isinstance(piece, str)]
            assert all(number == -1 and weight for _, number, weight in marks)
            assert row["fullest"] >= max(abs(weight) for _, _, weight in marks)

    def test_it_is_trimmed_to_its_limit(
        self, periods: Periods, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        size = len(report_page_of_periods(periods))
        monkeypatch.setattr(written, "MAX_BYTES", size - 4_000)
        page = report_page_of_periods(periods)
        assert len(page) <= size - 4_000
        (tmp_path / "x.html").write_bytes(page)
        rows = read(tmp_path / "x.html")["periods"]["rows"]
        assert [row["name"] for row in rows] == ["2003-03", "2003-04"]
        assert all(row["themes"]["rows"] and row["words"] for row in rows)

    def test_the_last_periods_are_kept(self, periods: Periods) -> None:
        found = collect_periods(periods, replace(Limits(), periods=1))
        assert [row["name"] for row in found["periods"]["rows"]] == ["2003-04"]
        assert found["periods"]["total"] == 2


def test_hostile_names_stay_text(dated: Any, tmp_path: Path) -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    found = json.loads(
        json.dumps(collect(dated.description_, gather(dated.description_), Limits()))
    )
    found["themes"]["rows"][0]["name"] = found["themes"]["rows"][0]["words"][0] = hostile
    found["summary"] = {**found["summary"], "sentence": [{"text": hostile, "word": True}]}
    page = render({**found, "title": "x"})
    assert hostile not in page
    assert "<img" not in page
    path = tmp_path / "x.html"
    path.write_text(page, encoding="utf-8")
    assert read(path)["themes"]["rows"][0]["name"] == hostile


def test_a_page_with_years_of_days_stays_small() -> None:
    generator = np.random.default_rng(1)
    words = np.array([f"w{i:04}" * 6 for i in range(1200)])
    novel = [" ".join(generator.choice(words, 30)) for _ in range(300)]
    known = [" ".join(generator.choice(words[400:], 30)) for _ in range(300)]
    dates = days("1900-01-01", 300, 100), days("1990-01-01", 300, 30)
    describer = newfound.describe(known, novel, dates=dates, **SMALL)
    assert len(report_page(describer.description_)) <= MAX_BYTES
