"""The monitor: windows, topics, alerts, the steps of people, and a state that survives."""

from __future__ import annotations

import random
import re
import time as clock
from pathlib import Path

import pytest

import newfound
from newfound import Monitor, NoveltyDetector
from newfound.monitor import reference
from newfound.monitor.reference import ScoringReader
from newfound.monitor.store import StateError

DRAW = random.Random(5)


@pytest.fixture(scope="module")
def sample() -> tuple[list[str], list[str], list[str]]:
    """Return known documents, more of the same kinds for a stream, and novel ones."""
    known, novel = newfound.load_sample()
    texts = list(known.texts)
    random.Random(0).shuffle(texts)
    return texts[:900], texts[900:], list(novel.texts)


@pytest.fixture(scope="module")
def detector(sample: tuple[list[str], list[str], list[str]]) -> NoveltyDetector:
    return NoveltyDetector(random_state=0).fit(sample[0])


def stream(texts: list[str], n: int, seed: int = 0) -> list[str]:
    return random.Random(seed).choices(texts, k=n)


def flight_stream(sample: tuple[list[str], list[str], list[str]], n: int) -> list[str]:
    """Return known documents, of which from the middle on every tenth is about something new."""
    _, more, novel = sample
    found = stream(more, n)
    for place in range(n // 2, n, 10):
        found[place] = novel[place // 10 % len(novel)]
    return found


def test_known_documents_raise_no_alert(detector, sample) -> None:
    monitor = Monitor(detector, every=100, false_alarm_every=100_000)
    assert monitor.update(stream(sample[1], 2000)) == []
    assert len(monitor.windows_) == 20
    assert {window.size for window in monitor.windows_} == {100}


def test_a_new_topic_is_an_alert_that_names_it(detector, sample) -> None:
    monitor = Monitor(detector, every=100, false_alarm_every=100_000)
    alerts = monitor.update(flight_stream(sample, 2000))
    topics = [alert for alert in alerts if alert.kind == "topic"]
    assert topics and min(alert.window for alert in alerts) > 10
    assert min(alert.window for alert in topics) <= 15
    novel = {word for text in sample[2] for word in text.lower().split()}
    for alert in topics:
        assert alert.topic is not None
        assert {rule.removesuffix(" AND novel") for rule in alert.topic["rules"]} & novel
        assert alert.p_value <= alert.level
        assert alert.topic["name"] in alert.summary
    assert [alert.number for alert in alerts] == list(range(1, len(alerts) + 1))
    assert monitor.alerts == alerts


def odd_words(draw: random.Random) -> str:
    """Return words that no other document has."""
    return " ".join("".join(draw.choices("bdfgklmnp", k=7)) for _ in range(5))


@pytest.mark.parametrize(
    ("every", "gap", "unit"),
    [
        ("50", 1, "windows"),
        ("1d", 1, "days"),
        ("2d", 1, "windows of 2 days"),
        ("1d", 2, "windows of 1 day"),
    ],
)
def test_an_alert_counts_what_it_says(detector, sample, every: str, gap: int, unit: str) -> None:
    draw = random.Random(3)
    texts = stream(sample[1], 1000, seed=4)
    for place in range(400, 1000, 18):  # usual words in documents that are new in many ways
        texts[place] = f"account card {odd_words(draw)}"
    windows = [i // 50 for i in range(1000)]
    seconds = 86_400 * (2 if every == "2d" else 1)
    monitor = Monitor(detector, every=every)
    alerts = monitor.update(texts, [seconds * (1000 + gap * window) for window in windows])
    alert = next(alert for alert in alerts if alert.kind == "topic")
    said = (
        f": (\\d+) documents called novel with (account|card) in the last {alert.windows} {unit}, "
    )
    match = re.search(said, alert.summary)
    assert alert.windows > 1 and match is not None, alert.summary
    rows = range(50 * (alert.window - alert.windows), 50 * alert.window)
    bag = ScoringReader(detector).bag
    having = {(windows[i], texts[i]) for i in rows if match[2] in bag(texts[i])}
    called = [text for _, text in having if detector.p_values([text])[0] <= detector.alpha]
    assert int(match[1]) == alert.documents == len(called) < len(having)


def test_the_alert_of_a_rate_says_how_long(detector, sample) -> None:
    draw = random.Random(2)
    texts = stream(sample[1], 2000, seed=1)
    for place in range(1000, 2000, 12):
        texts[place] = odd_words(draw)
    (alert,) = Monitor(detector, every=50, false_alarm_every=500_000).update(texts)
    assert alert.kind == "rate" and alert.windows > 1
    said = f" documents outside of topics in the last {alert.windows} windows, where "
    assert said in alert.summary


def test_what_was_told_of_the_rate_is_told_again_only_after_it_is_over(detector, sample) -> None:
    draw = random.Random(5)
    texts = stream(sample[1], 3500, seed=6)
    for begin in (1000, 2500):  # five windows with odd documents, and then as before
        for place in range(begin, begin + 250, 6):
            texts[place] = odd_words(draw)
    alerts = Monitor(detector, every=50, false_alarm_every=50_000).update(texts)
    windows = [alert.window for alert in alerts if alert.kind == "rate"]
    assert len(windows) == 2
    assert 20 <= windows[0] <= 25 and 50 <= windows[1] <= 55


def test_a_topic_keeps_its_number_and_counts_its_documents(detector) -> None:
    def documents(n: int) -> list[str]:
        words = ["open", "my", "card", "please"]
        return [f"{DRAW.choice(words)} {DRAW.choice(words)} account {i}" for i in range(n)]

    monitor = Monitor(detector, every=50)
    monitor.update(documents(50))
    monitor.update(documents(42) + [f"the zeppelin {word}" for word in "abcdefgh"])
    (topic,) = [topic for topic in monitor.topics_ if "zeppelin" in topic.rules]
    for _ in range(3):
        alerts = monitor.update([f"a zeppelin over town {i}" for i in range(5)] + documents(45))
        assert not any(a.topic and "zeppelin" in a.topic["rules"] for a in alerts)
    assert monitor.topic(topic.number).name == topic.name
    assert monitor.topic(topic.number).documents == 8 + 15
    assert monitor.counts(topic.number) == {2: 8, 3: 5, 4: 5, 5: 5}
    assert len(monitor.documents(topic.number)) == 23


def test_the_state_goes_on_where_it_was(detector, sample, tmp_path: Path) -> None:
    texts = flight_stream(sample, 2000)
    whole = Monitor(detector, every=100)
    expected = whole.update(texts)
    found = []
    for start in range(0, 2000, 130):  # no multiple of a window
        with Monitor(detector, every=100, state=tmp_path / "watch.db") as monitor:
            found += monitor.update(texts[start : start + 130])
    assert found == expected and expected
    with Monitor.open(tmp_path / "watch.db") as monitor:
        assert monitor.windows_ == whole.windows_
        assert monitor.topics_ == whole.topics_


def test_what_fails_changes_nothing(detector, sample) -> None:
    monitor = Monitor(detector, every=100)
    monitor.update(sample[1][:250])
    before = monitor.summary()
    with pytest.raises(ValueError, match="Document 1 is int, not a str"):
        monitor.update(["fine", 3, *sample[1][:500]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="Document 0 has a time that cannot be read"):
        monitor.update(["fine"], ["yesterday"])
    with pytest.raises(ValueError, match="1 times for 2 texts"):
        monitor.update(["a", "b"], ["2003-03-20"])
    assert monitor.summary() == before
    monitor.update(sample[1][250:300])
    other = Monitor(detector, every=100)
    other.update(sample[1][:300])
    assert monitor.windows_ == other.windows_


def test_windows_of_time_and_documents_that_are_late_or_have_no_time(detector) -> None:
    monitor = Monitor(detector, every="1d", false_alarm_every="30d")
    days = ["2003-03-20", "2003-03-20T23:59:59Z", None, "2003-03-21", "2003-03-20", "9999-01-01"]
    monitor.update(["open an account"] * 6, days)
    assert monitor.close_if_over(now=0) == []
    monitor.close_if_over()
    assert len(monitor.windows_) == 1  # nobody waited for a day
    monitor.close_if_over(clock.time() + 86_400)
    first, second = monitor.windows_
    assert (first.size, first.timeless, first.late) == (3, 1, 0)
    # What lies in the future is taken in without a time, or all that follows would be late.
    assert (second.size, second.timeless, second.late) == (2, 1, 1)
    assert second.to_dict()["first"] == second.to_dict()["last"] == "2003-03-21"


@pytest.mark.parametrize("step", [7, 20, 33])
def test_a_stream_that_comes_in_parts_has_the_same_windows(detector, sample, step: int) -> None:
    texts = flight_stream(sample, 1000)
    times = [1e9 + 864 * i for i in range(1000)]  # 100 a day, long ago
    whole = Monitor(detector, every="1d", false_alarm_every="30d")
    expected = whole.update(texts, times)
    parts = Monitor(detector, every="1d", false_alarm_every="30d")
    found = []
    for i in range(0, 1000, step):
        found += parts.update(texts[i : i + step], times[i : i + step])
        found += parts.close_if_over()
    assert found == expected and expected
    assert parts.windows_ == whole.windows_
    assert parts.open_window == whole.open_window


def test_a_window_of_time_is_closed_once(detector) -> None:
    monitor = Monitor(detector, every="1h")
    monitor.update(["pay my bill"] * 2, ["2003-03-20T10:10", "2003-03-20T10:20"])
    now = clock.time()
    assert monitor.close_if_over(now + 39 * 60) == [] and monitor.windows_ == []
    monitor.close_if_over(now + 41 * 60)
    monitor.update(["pay my bill"] * 3, ["2003-03-20T10:50", "2003-03-20T09:50", None])
    monitor.update(["pay my bill"], ["2003-03-20T11:10"])
    monitor.close_window()
    first, second = monitor.windows_
    assert (first.size, first.late) == (2, 0)
    assert (second.size, second.late, second.timeless) == (2, 2, 1)
    assert second.to_dict()["first"] == "2003-03-20T11:00:00Z"


def test_documents_without_times_are_in_the_window_in_which_they_come(
    detector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begin, now = 3600.0 * 500_000, 0.0
    monkeypatch.setattr(clock, "time", lambda: begin + now)
    for minute in (5, 20, 50, 61, 70, 185):
        now = 60.0 * minute
        with Monitor(detector, every="1h", state=tmp_path / "watch.db") as monitor:
            monitor.update(["pay my bill"])
            monitor.close_if_over()
            found = [window.size for window in monitor.windows_], monitor.open_window.size
    assert found == ([3, 2], 1)


def test_documents_without_a_time_at_the_beginning_do_not_make_others_late(detector) -> None:
    monitor = Monitor(detector, every="1d")
    monitor.update(["pay my bill"] * 3, [None, "2003-03-20", "2003-03-21"])
    (window,) = monitor.windows_
    assert (window.size, window.timeless, window.late) == (2, 1, 0)
    assert monitor.open_window.size == 1


def test_duplicates_and_documents_without_text_are_counted(detector) -> None:
    monitor = Monitor(detector, every=3)
    monitor.update(["pay a bill", "", None, "pay a bill"], ids=["a", "b", "c", "a"])
    monitor.update(["pay a bill", "close my account", "again"], ids=["a", None, 7])
    (window,) = monitor.windows_
    assert (window.size, window.duplicates, window.empty) == (3, 2, 2)


def test_a_text_that_is_sent_again_and_again_is_no_topic(detector, sample) -> None:
    monitor = Monitor(detector, every=100)
    for seed in range(3):
        texts = stream(sample[1], 80, seed) + ["win a zeppelin now"] * 20
        assert [alert for alert in monitor.update(texts) if alert.kind == "topic"] == []


@pytest.fixture
def found(detector, sample, tmp_path: Path):
    """Return a monitor with topics."""
    with Monitor(detector, every=100, state=tmp_path / "watch.db") as monitor:
        monitor.update(flight_stream(sample, 2000))
        monitor.update(stream(sample[1], 90) + [f"a zeppelin over {i} town" for i in range(10)])
        assert len(monitor.topics_) > 1
        yield monitor


def test_promote_teaches_the_detector_and_can_be_undone(found: Monitor, detector) -> None:
    number = max(found.topics_, key=lambda topic: topic.documents).number
    texts = [document.text for document in found.documents(number)]
    before = found.detector.p_values(texts)
    held_back = len(found.detector.held_back_texts_)
    found.promote(number, "travel")
    assert found.topic(number).status == "promoted" and found.topic(number).known_as == "travel"
    assert "travel" in found.detector.classes_.tolist()
    assert len(found.detector.held_back_texts_) > held_back
    assert found.detector.p_values(texts).mean() > before.mean()
    assert "travel" not in detector.classes_.tolist()  # the caller's own is as it was
    with pytest.raises(ValueError, match="was already promoted"):
        found.dismiss(number)
    assert found.undo()["action"] == "promote"
    assert found.topic(number).status == "open"
    assert found.detector.p_values(texts).tolist() == before.tolist()
    (step,) = found.log
    assert step["undone"] and step["time"] > 1e9
    with pytest.raises(ValueError, match="no step to undo"):
        found.undo()


def test_what_was_promoted_is_known_after_a_restart(found: Monitor, detector, tmp_path) -> None:
    number = found.topics_[0].number
    found.promote(number, "travel")
    texts = found.documents(number)
    p_values = found.detector.p_values([document.text for document in texts]).tolist()
    found.close()
    with Monitor(detector, every=100, state=tmp_path / "watch.db") as again:
        assert "travel" in again.detector.classes_.tolist()
        assert again.detector.p_values([d.text for d in texts]).tolist() == p_values
        again.dismiss(again.topics_[1].number)
        assert "noise" in again.detector.classes_.tolist()


def test_merge_and_undo(found: Monitor) -> None:
    first, second = found.topics_[:2]
    found.merge(first.number, second.number)
    joined = found.topic(first.number)
    assert joined.documents == first.documents + second.documents
    assert joined.rules == [*first.rules, *second.rules]
    assert second.number not in [topic.number for topic in found.topics_]
    assert sum(found.counts(first.number).values()) == joined.documents
    for wrong, message in (
        ((first.number, second.number), "is part of topic"),
        ((first.number, first.number), "into itself"),
        ((first.number, 99), "There is no topic 99"),
    ):
        with pytest.raises(ValueError, match=message):
            found.merge(*wrong)
    found.undo()
    assert found.topic(first.number) == first and found.topic(second.number) == second


def test_a_state_has_one_monitor_one_detector_and_one_setting(
    detector, sample, tmp_path: Path
) -> None:
    path = tmp_path / "watch.db"
    with (
        Monitor(detector, every=100, state=path),
        pytest.raises(StateError, match="Another monitor uses the state"),
    ):
        Monitor.open(path)
    with pytest.raises(StateError, match="was begun with every=100, not 50"):
        Monitor(detector, every=50, state=path, false_alarm_every=10_000)
    other = NoveltyDetector(random_state=1).fit(sample[0])
    with pytest.raises(StateError, match="another detector"):
        Monitor(other, every=100, state=path)
    (tmp_path / "text.db").write_text("no database" * 100)
    with pytest.raises(StateError, match="is not the state of a monitor"):
        Monitor(detector, state=tmp_path / "text.db")
    with pytest.raises(StateError, match="There is no state"):
        Monitor.open(tmp_path / "none.db")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"every": "soon"}, "expected a number of documents such as 500"),
        ({"every": 0}, "expected a number of documents"),
        ({"every": "1h", "false_alarm_every": 500}, "both as spans of time"),
        ({"every": 500, "false_alarm_every": 600}, "at least two windows"),
        ({"fdr": 1.5}, "fdr=1.5"),
        ({"keep": 10}, "keep"),
    ],
)
def test_wrong_settings_are_refused(detector, given, message) -> None:
    with pytest.raises(ValueError, match=message):
        Monitor(detector, **given)


def test_words_that_are_gone_are_forgotten_and_change_nothing(
    detector, sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{text} once{i}" for i, text in enumerate(flight_stream(sample, 3000))]

    def watched() -> Monitor:
        monitor = Monitor(detector, every=50, delay=16, reference=4)
        monitor.update(texts)
        return monitor

    kept = watched()
    monkeypatch.setattr(reference, "_MANY_WORDS", -(10**6))  # at every occasion
    forgot = watched()
    assert kept.alerts and [a.to_dict() for a in forgot.alerts] == [
        a.to_dict() for a in kept.alerts
    ]
    n_forgot, n_kept = (len(m._engine.reference.vocabulary) for m in (forgot, kept))
    assert n_forgot < n_kept - 1000


def test_what_is_old_expires(detector, sample, tmp_path: Path) -> None:
    path = tmp_path / "watch.db"
    sizes = []
    with Monitor(detector, every=20, state=path, reference=16, keep=40) as monitor:
        for seed in range(8):
            monitor.update(
                stream(sample[1], 1000, seed), ids=range(seed * 1000, seed * 1000 + 1000)
            )
            sizes.append(path.stat().st_size)
        assert len(monitor.windows_) <= 40 + 16
    assert sizes[-1] <= 1.3 * sizes[3]


def test_held_back_documents_that_are_too_old_are_told(detector, sample) -> None:
    monitor = Monitor(detector, every=100)
    monitor.update(stream(sample[1], 1500))
    assert monitor.warning() is None
    rng = random.Random(2)
    drifted = stream(sample[1], 1500, seed=1)
    for place in range(0, len(drifted), 3):  # odd words that are never the same: no topic
        drifted[place] = odd_words(rng)
    alerts = monitor.update(drifted)
    assert [alert.kind for alert in alerts] == ["rate"]
    assert "No new topic explains them" in alerts[0].summary
    warning = monitor.warning()
    assert warning is not None and "too old to be trusted" in warning
