"""How many of the events of a period the monitor finds in dated documents, beside bursts of words.

The events are in ``events.json``. They were listed from what is known of the news of the time,
before any detector was measured on them; those of the posts also after counting some words by day.
The list is not blind: a page of alerts in the headlines, `stream-abcnews`, had been read before.
Each has the words that identify its documents: in each pattern, all expressions must be found at
the beginning of a word. Three rules, applied by counting documents by day, then chose among them.
The beginning of an event in the headlines is the first day, from the day before the known one to
three days after it, with at least two of its headlines and twice their share of the 14 days before;
for posts it is the known day. An event is kept if at least five of its documents come in its first
week, and if their share is twice that of the two weeks before. One that began in the last week is
left out, because it could not be found in time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lab.datasets import load_20newsgroups, load_abcnews
from lab.evaluation.stream_baselines import Reported, bursts
from lab.evaluation.suites import SuiteSetting
from lab.tables import table_of
from newfound.detection.detector import NoveltyDetector
from newfound.monitor.monitor import Monitor
from newfound.monitor.records import Alert, format_time
from newfound.table import Table

__all__ = ["Event", "Judged", "event_alerts", "events", "events_each", "judge", "load_events"]

IN_TIME = 7  # days after the beginning on which an alert still finds an event
ABOUT = 14  # days from which documents can be about it
_FIRST = {"ABC headlines": "2003-03-19", "20 Newsgroups": "1993-04-15"}  # days that are watched
_LAST = {"ABC headlines": "2004-02-24", "20 Newsgroups": "1993-05-03"}  # later days have few groups

Days = dict[str, list[str]]
"""The documents of each day, in order."""


@dataclass(frozen=True)
class Event:
    """An event of the news.

    Attributes
    ----------
    name : str
        What happened.
    day : str
        The day on which it began.
    patterns : tuple of tuple of Pattern
        A document is about it if it has all expressions of one of them.
    """

    name: str
    day: str
    patterns: tuple[tuple[re.Pattern[str], ...], ...]

    def has(self, day: str, text: str) -> bool:
        """Return whether a document of a day is about the event."""
        return 0 <= days_between(self.day, day) < ABOUT and any(
            all(one.search(text) for one in pattern) for pattern in self.patterns
        )


@dataclass(frozen=True)
class Judged:
    """An alert, the event that it is about, and whether it found it."""

    alert: Reported
    event: Event | None
    verdict: Literal["found", "duplicate", "other"]


def load_events(corpus: str) -> list[Event]:
    """Return the events of a corpus, the earliest first."""
    path = Path(__file__).with_name("events.json")
    rows = json.loads(path.read_text("utf-8"))[corpus]
    return [Event(row["name"], row["day"], _compiled(row["patterns"])) for row in rows]


def _compiled(patterns: Sequence[str]) -> tuple[tuple[re.Pattern[str], ...], ...]:
    return tuple(
        tuple(re.compile(rf"\b(?:{one})", re.IGNORECASE) for one in pattern.split())
        for pattern in patterns
    )


def days_between(first: str, last: str) -> int:
    """Return the number of days from one day to another."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def judge(known: Sequence[Event], alerts: Sequence[Reported]) -> list[Judged]:
    """Say of each alert, in order, which event it is about and whether it found it.

    It is about the event that most of its documents are about, the latest of several, if these are
    at least two and at least half of its documents. It finds the event if no earlier alert did and
    the event began at most seven days before; otherwise it is a duplicate if an earlier alert did.

    Parameters
    ----------
    known : sequence of Event
        The events, the earliest first.
    alerts : sequence of Reported
        The alerts, in order of their days.

    Returns
    -------
    list of Judged
    """
    found: set[str] = set()
    judged = []
    for alert in alerts:
        hits = [sum(event.has(*document) for document in alert.documents) for event in known]
        place = max(range(len(known)), key=lambda i: (hits[i], i))
        event = known[place]
        if hits[place] < max(2, 0.5 * len(alert.documents)):
            judged.append(Judged(alert, None, "other"))
        elif event.name in found:
            judged.append(Judged(alert, event, "duplicate"))
        elif days_between(event.day, alert.day) <= IN_TIME:
            found.add(event.name)
            judged.append(Judged(alert, event, "found"))
        else:
            judged.append(Judged(alert, event, "other"))
    return judged


def _read(corpus: str, setting: SuiteSetting) -> Days:
    """Return the documents of a corpus by day; before the first day watched are the known ones."""
    if corpus == "ABC headlines":
        read = load_abcnews(setting.data)
    else:
        read = load_20newsgroups(setting.data, remove=("headers", "footers", "quotes"))
    if read.dates is None:
        raise ValueError(f"The documents of {read.source} have no dates; use a file that has them.")
    days: Days = {}
    for day, text in sorted(
        zip((str(day)[:10] for day in read.dates), read.texts, strict=True), key=lambda row: row[0]
    ):
        days.setdefault(day, []).append(text)
    return days


def monitor_alerts(days: Days, first: str, n_jobs: int = 1) -> list[Reported]:
    """Watch documents by day, and return the alerts of topics.

    The detector learns the documents of earlier days; false alarms are set to one in 30 days. The
    documents of an alert are those that its topic has in the windows that were tested, when it is
    raised.
    """
    known = [text for day, texts in days.items() if day < first for text in texts]
    detector = NoveltyDetector(random_state=0, n_jobs=n_jobs).fit(known)
    made = []
    with Monitor(detector, every="1d", false_alarm_every="30d") as monitor:
        for day, texts in days.items():
            if day >= first:
                made += _reported(monitor, monitor.update(texts, [day] * len(texts)))
        made += _reported(monitor, monitor.close_window())
    return made


def _reported(monitor: Monitor, alerts: Sequence[Alert]) -> list[Reported]:
    """Return the alerts of topics, with the documents that these have now."""
    made = []
    for alert in alerts:
        if alert.topic is None:
            continue
        tested = range(alert.window - alert.windows + 1, alert.window + 1)
        documents = [
            (str(format_time(document.time)), document.text)
            for document in monitor.documents(alert.topic["number"])
            if document.window in tested
        ]
        line = " ".join(alert.topic["typical"][0].split())[:100]
        made.append(Reported(str(format_time(alert.time)), alert.topic["name"], documents, line))
    return made


@cache
def _watched(setting: SuiteSetting) -> dict[str, tuple[Days, dict[str, list[Judged]]]]:
    """Return the days that are watched of each corpus, and the alerts of each detector."""
    made = {}
    for corpus, first in _FIRST.items():
        days = {day: t for day, t in _read(corpus, setting).items() if day <= _LAST[corpus]}
        setting.say(f"{corpus}, monitor")
        monitor = monitor_alerts(days, first, setting.n_jobs)
        setting.say(f"{corpus}, bursts")
        alerts = {
            "monitor": monitor,
            "bursts": bursts(days, first, len(monitor)),
            "bursts, joined": bursts(days, first, len(monitor), joined=True),
        }
        known = load_events(corpus)
        judged = {name: judge(known, some) for name, some in alerts.items()}
        made[corpus] = ({day: t for day, t in days.items() if day >= first}, judged)
    return made


def _delays(judged: Sequence[Judged]) -> dict[str, tuple[int, str]]:
    """Return of each event that was found the days until the alert, and its name."""
    return {
        one.event.name: (days_between(one.event.day, one.alert.day), one.alert.name)
        for one in judged
        if one.event is not None and one.verdict == "found"
    }


def events(setting: SuiteSetting) -> Table:
    """Count the events of a list that alerts find: a year of headlines, and posts of a month.

    The detectors learn what came before 2003-03-19 and 1993-04-15, and watch by day; the monitor is
    set to one false alarm in 30 days. `bursts` tests each word of each day by a Poisson
    distribution with its share of the 28 days before, at the level that gives as many alerts;
    `joined`: words of a day that share half of the documents of one of them are one alert. An
    alert is about an event if at least two and at least half of its documents are: for the monitor
    the documents of the topic in the windows tested, for bursts those of the day with the word. It
    finds the event from its first day to seven days later. `delay`: the median days until then.
    `duplicates`: alerts about an event that was found before. `other`: all further alerts, many of
    them about events that are not on the list.
    """
    made = []
    for corpus, (days, alerts) in _watched(setting).items():
        n = len(load_events(corpus))
        for detector, judged in alerts.items():
            delays = [delay for delay, _ in _delays(judged).values()]
            verdicts = [one.verdict for one in judged]
            made.append(
                {
                    "corpus": corpus,
                    "detector": detector,
                    "events": n,
                    "found": len(delays),
                    "share": len(delays) / n,
                    "delay": float(np.median(delays)) if delays else None,
                    "alerts": len(judged),
                    "duplicates": verdicts.count("duplicate"),
                    "other": verdicts.count("other"),
                    "alerts a day": len(judged) / len(days),
                }
            )
    return table_of(made)


def events_each(setting: SuiteSetting) -> Table:
    """Show each event of the list, and the alert that found it.

    `documents`: those about it in its first week. The days of delay and the name of the alert are
    empty for a detector that did not find it.
    """
    made = []
    for corpus, (days, alerts) in _watched(setting).items():
        delays = {detector: _delays(judged) for detector, judged in alerts.items()}
        for event in load_events(corpus):
            week = [str(date.fromisoformat(event.day) + timedelta(k)) for k in range(7)]
            row: dict[str, Any] = {
                "corpus": corpus,
                "day": event.day,
                "event": event.name,
                "documents": sum(event.has(day, t) for day in week for t in days.get(day, ())),
            }
            for detector, some in delays.items():
                delay, name = some.get(event.name, (None, ""))
                row |= {f"{detector}, delay": delay, f"{detector}, alert": name}
            made.append(row)
    return table_of(made)


def event_alerts(setting: SuiteSetting) -> Table:
    """List all alerts of the detectors.

    With the name of the topic or the word, the event of the list that it is about, whether it found
    it, and the beginning of a document: for the monitor the most typical one, for bursts the first
    one of the day with the word.
    """
    made = [
        {
            "corpus": corpus,
            "detector": detector,
            "day": one.alert.day,
            "alert": one.alert.name,
            "event": "" if one.event is None else one.event.name,
            "verdict": one.verdict,
            "document": one.alert.line.replace("|", " "),
        }
        for corpus, (_, alerts) in _watched(setting).items()
        for detector, judged in alerts.items()
        for one in judged
    ]
    return table_of(made)
