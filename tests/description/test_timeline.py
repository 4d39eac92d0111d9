"""Dates of documents, and what is counted by day, week or month."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from newfound.description.describe import split_by_date
from newfound.description.timeline import Timeline, as_days, period_rows, spark
from newfound.text.dates import parse_date, parse_dates
from work import count_calls


def days(*values: Any) -> list[str]:
    return as_days(values).astype(str).tolist()


class TestParsing:
    @pytest.mark.parametrize(
        "value",
        [
            "2003-04-01",
            " 2003-04-01 ",
            "20030401",
            20030401,
            "2003/04/01",
            "2003-04",
            "2003-04-01T09:30",
            "2003-04-01 09:30:15.123Z",
            "2003-04-01T23:59:59-05:00",
            "2003-04-01T00:30:00+1000",
            date(2003, 4, 1),
            datetime(2003, 4, 1, 23, tzinfo=UTC),
            datetime(2003, 4, 1, 0, 30, tzinfo=timezone(timedelta(hours=10))),
            np.datetime64("2003-04-01T10:00"),
            pd.Timestamp("2003-04-01 23:00", tz="Australia/Sydney"),
        ],
    )
    def test_every_form_names_the_same_day(self, value: Any) -> None:
        assert days(value) == ["2003-04-01"]

    def test_columns_of_frames_are_read(self) -> None:
        texts = ["2003-04-01", None, "2003-05-31"]
        expected = ["2003-04-01", "NaT", "2003-05-31"]
        stamps = pd.to_datetime(pd.Series(texts))
        assert days(*texts) == expected
        for column in (stamps, stamps.dt.tz_localize("Europe/Oslo"), stamps.to_numpy()):
            assert as_days(column).astype(str).tolist() == expected
        column = pl.Series(texts).str.to_date()
        assert as_days(column).astype(str).tolist() == expected

    @pytest.mark.parametrize(
        "value", [None, "", " ", float("nan"), pd.NaT, "NaN", np.datetime64("NaT")]
    )
    def test_missing_dates_are_kept_as_missing(self, value: Any) -> None:
        assert days(value) == ["NaT"]

    @pytest.mark.parametrize(
        "value",
        ["03/04/2003", "1 April 2003", "2003", "200304", "2003-13-01", "2003-02-30", "2003-04-01x",
         "2003-04/01", 1049155200, 2003, 1.5, True, b"2003-04-01", ["2003-04-01"]],
    )  # fmt: skip
    def test_anything_else_is_an_error_with_row_and_value(self, value: Any) -> None:
        with pytest.raises(ValueError, match=r"^Row 2 has the date .*YYYY-MM-DD") as error:
            parse_dates(["2003-01-01", value])
        assert repr(value) in str(error.value)

    def test_a_single_text_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="put it in a list"):
            parse_dates("2003-04-01")

    @given(st.dates(min_value=date(1000, 1, 1)))
    def test_iso_dates_are_read_back(self, day: date) -> None:
        assert parse_date(day.isoformat()) == day == parse_date(np.datetime64(day))


class TestSplitting:
    def test_documents_from_the_date_on_are_novel(self) -> None:
        dates = ["2003-03-31", "2003-04-01", None, "2003-05-01"]
        known, novel = split_by_date(list("abcd"), date(2003, 4, 1), dates=dates)
        assert (known.texts, novel.texts) == (("a",), ("b", "d"))
        assert known.dates == (date(2003, 3, 31),)
        assert "1 undated" in known.summary()

    def test_documents_without_dates_are_an_error(self) -> None:
        for dates in (None, [None, ""]):
            with pytest.raises(ValueError, match="has no dates; name the column"):
                split_by_date(["a", "b"], "2003-04", dates=dates)

    @pytest.mark.parametrize("start", ["2004", 2004, " 2004 ", np.int64(2004), "2004-01"])
    def test_a_year_or_a_month_stands_for_its_first_day(self, start: object) -> None:
        known, novel = split_by_date(["a", "b"], start, dates=["2003-12-31", "2004-01-01"])
        assert (known.texts, novel.texts) == (("a",), ("b",))

    @pytest.mark.parametrize(
        ("start", "message"),
        [
            (
                "2002-01-01",
                "is known, before 2002-01-01: the dates are 2003-03-31 to",
            ),
            ("2004-01-01", "No document of a list is novel, from 2004-01-01"),
            ("1/4/2003", "The start has the date '1/4/2003'"),
            ("20031", "The start has the date '20031'"),
            ("", "The start is missing"),
        ],
    )
    def test_a_date_that_leaves_a_side_empty_is_an_error(self, start: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            split_by_date(["a", "b"], start, dates=["2003-03-31", "2003-04-01"])

    def test_periods_cover_each_dated_document_once(self) -> None:
        dates = np.datetime64("2003-12-20") + np.random.default_rng(0).integers(0, 500, 300)
        dates[::10] = np.datetime64("NaT")
        for by in ("day", "week", "month", "quarter", "year"):
            found = period_rows(dates, by)
            rows = np.concatenate([rows for _, rows in found])
            assert sorted(rows) == np.flatnonzero(~np.isnat(dates)).tolist()
            names = [name for name, _ in found]
            assert names == sorted(set(names))

    def test_a_week_begins_on_monday(self) -> None:
        dates = parse_dates(["2003-04-06", "2003-04-07", "2003-04-13", "1969-12-28"])
        found = [(name, rows.tolist()) for name, rows in period_rows(dates, "week")]
        assert found == [("1969-12-22", [3]), ("2003-03-31", [0]), ("2003-04-07", [1, 2])]

    def test_an_unknown_period_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="by='decade': expected one of day, week"):
            period_rows(parse_dates(["2003-04-06"]), "decade")


class TestTimeline:
    @pytest.mark.parametrize(
        ("last", "by", "n"),
        [
            ("2003-01-01", "day", 1),
            ("2003-02-14", "day", 45),
            ("2003-02-15", "week", 7),
            ("2004-02-24", "week", 61),
            ("2004-02-25", "month", 14),
        ],
    )
    def test_the_span_chooses_the_bins(self, last: str, by: str, n: int) -> None:
        timeline = Timeline(parse_dates(["2003-01-01", last]))
        assert (timeline.by, len(timeline.starts)) == (by, n)
        assert timeline.totals.sum() == 2

    @pytest.mark.parametrize("by", ["day", "week", "month", "quarter", "year"])
    def test_counts_are_those_of_a_loop(self, by: str) -> None:
        rng = np.random.default_rng(1)
        dates = np.datetime64("2001-11-11") + rng.integers(0, 800, 200)
        dates[:20] = np.datetime64("NaT")
        members = rng.random((200, 5)) < 0.3
        timeline = Timeline(dates, by)
        named = {name: rows for name, rows in period_rows(dates, by)}
        for column, curve in enumerate(timeline.curves(members)):
            expected = [int(members[named.get(name, []), column].sum()) for name in timeline.names]
            assert curve.counts.tolist() == expected
            there = dates[members[:, column] & ~np.isnat(dates)]
            assert (curve.first, curve.last) == (str(there.min()), str(there.max()))
            assert curve.peak == timeline.names[int(np.argmax(expected))]
        assert timeline.n_missing == 20
        assert timeline.totals.tolist() == [len(named.get(name, [])) for name in timeline.names]

    def test_a_share_is_of_the_documents_of_the_bin(self) -> None:
        timeline = Timeline(parse_dates(["2003-01-01"] * 4 + ["2003-03-01"] * 2), by="month")
        curve = timeline.curve(np.array([True, False, False, False, True, True]))
        assert curve.to_dict() == {
            "counts": [1, 0, 2],
            "shares": [0.25, None, 1.0],
            "first": "2003-01-01",
            "last": "2003-03-01",
            "peak": "2003-03",
        }
        assert timeline.to_dict()["totals"] == [4, 0, 2]

    def test_no_documents_are_a_flat_curve(self) -> None:
        curve = Timeline(parse_dates(["2003-01-01", "2003-01-02"])).curve([])
        assert curve.counts.tolist() == [0, 0]
        assert (curve.first, curve.peak) == (None, None)

    def test_no_dates_are_an_error(self) -> None:
        with pytest.raises(ValueError, match="None of the 2 documents has a date"):
            Timeline(parse_dates([None, ""]))

    def test_hundreds_of_words_take_no_loop_over_documents(self) -> None:
        rng = np.random.default_rng(2)
        dates = np.datetime64("2003-02-19") + rng.integers(0, 365, 74_000)
        members = sparse.random(74_000, 300, 0.005, "csr", random_state=0) > 0
        timeline = Timeline(dates)
        assert len(timeline.curves(members)) == 300
        assert count_calls(lambda: timeline.curves(members)) < 10_000


class TestSpark:
    def test_the_largest_value_is_the_highest_and_zero_is_empty(self) -> None:
        assert spark([0, 0.1, 100, float("nan")]) == " ▁█ "
        assert spark([0, 0.1, 100], unicode=False) == " _@"
        assert spark([0, 0]) == "  "
        assert spark([]) == ""

    def test_a_long_curve_is_joined_to_the_width(self) -> None:
        assert spark(np.arange(100), width=5) == "▁▃▅▇█"
        assert len(spark(np.ones(7), width=3)) == 3
        assert spark([1, 2], width=10) == "▄█"
