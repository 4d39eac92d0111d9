"""The events of the news, and what counts as finding one."""

from __future__ import annotations

import os
import re
from datetime import date, timedelta

import numpy as np
import pytest

import lab.evaluation.stream_events as stream_events
from lab.evaluation.stream_baselines import Reported, bursts
from lab.evaluation.stream_events import Event, judge, load_events, monitor_alerts
from lab.evaluation.suites import SuiteSetting

FIRST = "2003-01-31"


@pytest.fixture(scope="module")
def days() -> dict[str, list[str]]:
    """Return 40 days of twenty headlines; from the 33rd on, eight a day tell of a volcano."""
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a in ("bank", "farm", "road", "cup", "mine") for b in "abcdefghij"]
    made = {}
    for number in range(40):
        texts = [" ".join(rng.choice(words, 5)) for _ in range(20)]
        if number >= 32:
            texts[:8] = [f"volcano ash {' '.join(rng.choice(words, 3))}" for _ in range(8)]
        made[str(date(2003, 1, 1) + timedelta(number))] = texts
    return made


@pytest.fixture
def volcano() -> Event:
    return Event("a volcano erupts", "2003-02-02", ((re.compile(r"\bvolcan"),),))


def test_the_monitor_finds_an_event_once(days: dict[str, list[str]], volcano: Event) -> None:
    alerts = monitor_alerts(days, FIRST)
    judged = judge([volcano], alerts)
    found = [one.alert for one in judged if one.verdict == "found"]
    assert len(found) == 1 and "volcano" in found[0].name
    assert "2003-02-02" <= found[0].day <= "2003-02-04" and "volcano" in found[0].line


def test_bursts_report_a_planted_word_and_no_more_than_asked(
    days: dict[str, list[str]], volcano: Event
) -> None:
    alerts = bursts(days, FIRST, 2)
    assert [(alert.day, alert.name) for alert in alerts] == [
        ("2003-02-02", "ash"), ("2003-02-02", "volcano"),
    ]  # fmt: skip
    assert len(alerts[0].documents) == 8
    assert [one.verdict for one in judge([volcano], alerts)] == ["found", "duplicate"]
    joined = bursts(days, FIRST, 1, joined=True)
    assert [(alert.day, alert.name) for alert in joined] == [("2003-02-02", "ash")]
    assert len(bursts(days, FIRST, 3)) == 3


def test_an_alert_about_something_else_or_too_late_finds_nothing(volcano: Event) -> None:
    own, other = ("2003-02-03", "volcano ash"), ("2003-02-03", "new bank")
    old = ("2003-02-01", "volcano quiet")
    alerts = [
        Reported("2003-02-03", "ash", documents, documents[0][1])
        for documents in ([own], [own, own, other, other, other], [old, old, own], [own, own])
    ]
    verdicts = [one.verdict for one in judge([volcano], alerts)]
    assert verdicts == ["other", "other", "other", "found"]
    late = Reported("2003-02-10", "ash", [own, own], own[1])
    assert [one.verdict for one in judge([volcano], [late])] == ["other"]


@pytest.mark.parametrize("corpus", ["ABC headlines", "20 Newsgroups"])
def test_the_events_are_in_order_and_within_the_days_that_are_watched(corpus: str) -> None:
    known = load_events(corpus)
    assert len(known) >= (40 if corpus == "ABC headlines" else 8)
    assert len({event.name for event in known}) == len(known)
    found = [event.day for event in known]
    assert found == sorted(found) and found[0] >= stream_events._FIRST[corpus]
    last = date.fromisoformat(stream_events._LAST[corpus])
    assert date.fromisoformat(found[-1]) <= last - timedelta(stream_events.IN_TIME)
    assert all(event.patterns and all(event.patterns) for event in known)


@pytest.mark.skipif("NEWFOUND_DATA" not in os.environ, reason="needs the data sets")
@pytest.mark.parametrize("corpus", ["ABC headlines", "20 Newsgroups"])
def test_each_event_has_documents_in_its_first_week(corpus: str) -> None:
    days = stream_events._read(corpus, SuiteSetting())
    for event in load_events(corpus):
        week = [str(date.fromisoformat(event.day) + timedelta(k)) for k in range(7)]
        count = sum(event.has(day, text) for day in week for text in days.get(day, ()))
        assert count >= 5, event.name
