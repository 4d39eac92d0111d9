"""The page about a stream: its rate, alerts and topics over time; it needs no script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from newfound.marks import counted
from newfound.monitor.records import Length, format_time
from newfound.show.page import render_static, write_page
from newfound.storage.files import check_writable

if TYPE_CHECKING:
    from newfound.monitor.monitor import Monitor

__all__ = ["monitor_data", "monitor_page", "write_monitor_report"]

_WINDOWS = 400
_TOPICS = 200
_ALERTS = 500
_TEXT = 300  # characters of a document
_FACTORS = (1, 3, 10, 100, 1000)  # how many times further apart false alarms are


def monitor_page(monitor: Monitor, *, title: str | None = None) -> bytes:
    """Return one self-contained HTML page about what a monitor has seen."""
    page = render_static("monitor.html", **monitor_data(monitor, title=title))
    return page.encode("utf-8", "replace")


def monitor_data(monitor: Monitor, *, title: str | None = None) -> dict[str, Any]:
    """Return what a page about a monitor shows, for the template ``monitor.html``."""
    windows = monitor.windows_[-_WINDOWS:]
    alerts = monitor.alerts
    numbers = [window.number for window in windows]
    alerted = {alert.window for alert in alerts}
    shares = [window.novel / max(window.size, 1) for window in windows]
    topics = sorted(monitor.topics_, key=lambda topic: -topic.documents)
    shown = {topic.number for topic in topics[:_TOPICS]}
    lives = monitor.lives()
    return dict(
        title=(title or "What is new in the stream")[:120],
        sentence=monitor.summary(),
        left_out_documents=monitor.left_out(),
        warning=monitor.warning(),
        alerts=[
            {
                "when": format_time(alert.time) or f"window {alert.window}",
                "kind": alert.kind,
                "summary": alert.summary,
                "topic": _topic_shown(alert, shown),
            }
            for alert in reversed(alerts[-_ALERTS:])
        ],
        windows=[{**window.to_dict(), "when": _when(window)} for window in windows],
        shares=shares,
        most_share=f"{max(shares, default=0):.1%}",
        alerted=[place for place, number in enumerate(numbers) if number in alerted],
        alpha=f"{monitor.detector.alpha:.1%}",
        topics=[_topic(monitor, topic, lives[topic.number], numbers) for topic in topics[:_TOPICS]],
        left_out=max(len(topics) - _TOPICS, 0),
        about=_about(monitor),
        costs=_costs(monitor, alerts),
    )


def write_monitor_report(
    path: str | os.PathLike[str], monitor: Monitor, *, title: str | None = None, force: bool = False
) -> None:
    """Write the page of `monitor_page` to a file, completely or not at all."""
    check_writable(path, force=force)
    write_page(path, monitor_page(monitor, title=title), force=force)


def _topic_shown(alert: Any, shown: set[int]) -> int | None:
    """Return the number of the topic of an alert, if the page has that topic."""
    number = None if alert.topic is None else int(alert.topic["number"])
    return number if number in shown else None


def _when(window: Any) -> str:
    return format_time(window.first) or f"window {window.number}"


def _topic(monitor: Monitor, topic: Any, life: str, numbers: list[int]) -> dict[str, Any]:
    counts = monitor.counts(topic.number)
    data = topic.to_dict(life)
    status = life if topic.known_as is None else f"{topic.status} as {topic.known_as}, {life}"
    return {
        **data,
        "status": status,
        "words": [word["word"] for word in topic.words],
        "typical": [text[:_TEXT] for text in topic.typical],
        "curve": [counts.get(number, 0) for number in numbers],
        "seen": topic.seen(counts),
    }


def _about(monitor: Monitor) -> str:
    detector = monitor.detector
    about = (
        f"Windows of {monitor.every}, at most one false alarm in {monitor.false_alarm_every} on "
        f"average if nothing changes, alpha {detector.alpha:g}, "
        f"{counted(detector.n_documents_['held_back'], 'held-back document')}, "
        f"{counted(len(detector.classes_), 'known class')}."
    )
    fewest = monitor.fewest_discoveries
    if fewest is not None:
        about += f" A window needs {fewest:,} new documents for any to be found."
    return about


def _costs(monitor: Monitor, alerts: Any) -> list[dict[str, Any]]:
    apart = monitor.false_alarm_every
    return [
        {
            "apart": str(Length(apart.size * factor, apart.timed)),
            "alerts": sum(alert.p_value <= alert.level / factor for alert in alerts),
        }
        for factor in _FACTORS
    ]
