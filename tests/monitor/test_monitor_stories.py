"""Topics as stories, clocks that are wrong, and runs that are cut anywhere."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

import newfound
from command_line import call
from newfound import Monitor, NoveltyDetector
from serve_client import validate

PLACES = ("oslo", "rome", "lima", "cairo", "quito", "turin", "delhi", "accra", "minsk", "hanoi")
DAY = 86400.0
BEGIN = 11575 * DAY


@pytest.fixture(scope="module")
def texts() -> list[str]:
    found = list(newfound.load_sample()[0].texts)
    random.Random(0).shuffle(found)
    return found


@pytest.fixture(scope="module")
def detector(texts: list[str]) -> NoveltyDetector:
    return NoveltyDetector(random_state=0).fit(texts[:900])


def days(
    texts: list[str], news: dict[int, list[str]], n: int, each: int = 60
) -> tuple[list[str], list[float]]:
    """Return known requests and the news of some days, and their times."""
    draw = random.Random(1)
    rows = [
        (text, BEGIN + DAY * day + 600.0 * place)
        for day in range(n)
        for place, text in enumerate([*draw.choices(texts[900:], k=each), *news.get(day, ())])
    ]
    return [text for text, _ in rows], [time for _, time in rows]


def watched(detector: NoveltyDetector, stream: tuple[list[str], list[float]]) -> Monitor:
    monitor = Monitor(detector, every="1d", false_alarm_every="30d")
    monitor.update(*stream)
    monitor.close_window()
    return monitor


def story(words: str, n: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [f"{words} says witness in {draw.choice(PLACES)} number {i}" for i in range(n)]


def test_a_frequent_word_in_documents_of_many_kinds_is_no_topic(detector, texts) -> None:
    words = [text.replace("my", "my account") for text in texts[900:] if " my " in text]
    more = [text for text in words if "account account" not in text][:60]
    monitor = watched(detector, days(texts, {20: more[:30], 21: more[30:]}, 24))
    assert [alert for alert in monitor.alerts if alert.kind == "topic"] == []


def test_what_only_shares_a_word_with_a_topic_is_a_topic_of_its_own(detector, texts) -> None:
    news = {
        10: story("volcano erupts near zeppelin hangar", 12),
        11: story("volcano erupts near zeppelin hangar", 8, 1),
        20: [f"hangar of penguins opens for orphans {i}" for i in range(10)],
    }
    monitor = watched(detector, days(texts, news, 24))
    first, second, *_ = monitor.topics_
    assert {"volcano", "hangar"} <= set(first.rules) and first.documents == 20
    assert "penguin" in second.rules and second.documents == 10


def test_something_new_in_an_older_topic_is_an_update_of_it(detector, texts) -> None:
    news = {day: story("zeppelin minister scandal", 6, day) for day in range(10, 20)}
    news[20] = [
        text.replace("says", "resigns says") for text in story("zeppelin minister scandal", 8)
    ]
    monitor = watched(detector, days(texts, news, 24))
    told = [(alert.kind, alert.topic["number"]) for alert in monitor.alerts if alert.topic]
    assert told == [("topic", 1), ("update", 1)]
    update = monitor.alerts[-1]
    assert "Update of topic 1, " in update.summary and "resign" in update.summary
    assert "resigns" in update.summary  # the document that is shown has it
    assert monitor.topic(1).documents == 68 and len(monitor.topics_) == 1


def test_a_topic_has_a_bounded_number_of_rules(detector, texts) -> None:
    kinds = [
        f"{a}{b}ix" for a in ("bor", "dal", "fen", "gul", "hob") for b in ("tan", "vel", "zur")
    ]
    news = {
        day: [f"zeppelin crash {kinds[day % 15]} {kinds[(day + 1) % 15]} {p}" for p in PLACES]
        for day in range(6, 36)
    }  # fmt: skip
    monitor = watched(detector, days(texts, news, 38))
    assert max(len(topic.rules) + len(topic.novel_rules) for topic in monitor.topics_) <= 12


def test_a_word_that_begins_as_a_rule_is_no_other_form_of_it(detector, texts) -> None:
    news = {10: story("coup in mali army seizes palace", 8), 11: story("coup in mali", 6),
            18: [f"wildfire at malibu beach burns villa {i}" for i in range(8)]}  # fmt: skip
    monitor = watched(detector, days(texts, news, 22))
    assert ["mali" in topic.rules for topic in monitor.topics_] == [True, False]
    assert monitor.topics_[1].documents == 8 and "malibu" in monitor.topics_[1].rules


def test_a_topic_has_a_name_in_the_words_of_its_documents(detector, texts) -> None:
    news = {
        10: [f"In {place}: the Zeppelins of Erewhon {'!' * i}" for i, place in enumerate(PLACES)]
    }
    (topic,) = watched(detector, days(texts, news, 14)).topics_
    assert topic.name == "Zeppelins of Erewhon"


def test_a_large_topic_has_updates(detector, texts) -> None:
    news = {day: story("zeppelin minister scandal", 150, day) for day in range(10, 18)}
    news[18] = [
        *story("zeppelin minister scandal", 90),
        *story("zeppelin minister scandal resigns", 60),
    ]
    monitor = watched(detector, days(texts, news, 20))
    assert [alert.kind for alert in monitor.alerts if alert.topic] == ["topic", "update"]


def test_another_form_of_a_rule_joins_what_is_a_little_like_it(detector, texts) -> None:
    news = {10: story("volcano erupts near lagoon", 9),
            12: [f"volcanos of lagoon photographed by tourist {i}" for i in range(9)]}  # fmt: skip
    monitor = watched(detector, days(texts, news, 16))
    assert len(monitor.topics_) == 1 and monitor.topics_[0].documents == 18


def test_a_removed_rule_stays_away_and_comes_back_by_undo_alone(detector, texts) -> None:
    news = {day: story("volcano erupts near zeppelin hangar", 12, day) for day in (10, 12, 13)}
    found, times = days(texts, news, 16)
    half = times.index(next(time for time in times if time >= BEGIN + 11 * DAY))
    monitor = Monitor(detector, every="1d", false_alarm_every="30d")
    monitor.update(found[:half], times[:half])
    monitor.close_window()
    monitor.remove_rule(1, "volcano")
    monitor.update(found[half:], times[half:])
    monitor.close_window()
    assert "volcano" not in monitor.topic(1).rules
    learned = list(monitor.topic(1).rules)
    monitor.undo()
    assert sorted(monitor.topic(1).rules) == sorted([*learned, "volcano"])


def test_a_merged_topic_is_shown_by_its_own_number(detector, texts, tmp_path: Path) -> None:
    news = {
        10: story("volcano erupts near lagoon", 9),
        11: [f"penguin opens zoo {i}" for i in range(9)],
    }
    state = tmp_path / "a.state"
    with Monitor(detector, every="1d", false_alarm_every="30d", state=state) as monitor:
        monitor.update(*days(texts, news, 14))
        monitor.merge(1, 2)
    for number in (1, 2):
        assert call("monitor", "show", number, "--state", state).returncode == 0
        assert call("monitor", "show", number, "--state", state, "--json").returncode == 0


def test_topics_have_lives(detector, texts) -> None:
    news = {
        day: story("zeppelin minister scandal", 12 if day < 13 else 2, day) for day in range(9, 21)
    }
    news |= {
        30: story("volcano erupts near glacier", 9),
        60: story("zeppelin minister scandal", 6, 60),
    }
    found, times = days(texts, news, 64)
    monitor = Monitor(detector, every="1d", false_alarm_every="30d")
    lives: dict[int, dict[int, str]] = {}
    for day in range(64):
        rows = slice(
            *(
                next((i for i, t in enumerate(times) if t >= BEGIN + DAY * d), len(times))
                for d in (day, day + 1)
            )
        )
        monitor.update(found[rows], times[rows])
        lives[day] = monitor.lives()
    assert [lives[day].get(1) for day in (11, 22, 45, 63)] == ["new", "fading", "over", "back"]
    assert lives[33][2] == "new" and lives[63][2] == "over"


def test_a_topic_is_renamed_and_loses_a_rule_and_all_of_it_is_undone(
    detector, texts, tmp_path: Path
) -> None:
    news = {10: story("volcano erupts near zeppelin hangar", 12)}
    stream, state = days(texts, news, 14), tmp_path / "a.state"
    with Monitor(detector, every="1d", false_alarm_every="30d", state=state) as first:
        first.update(*stream)
        before = vars(first.topic(1)) | {}
    with Monitor.open(state) as monitor:
        assert monitor.rename(1, " Airship fire ").name == "Airship fire"
        rule = monitor.topic(1).rules[0]
        assert rule not in monitor.remove_rule(1, rule).rules
        with pytest.raises(ValueError, match="'penguin' is no rule of topic 1; it has"):
            monitor.remove_rule(1, "penguin")
        with pytest.raises(ValueError, match="A topic needs a name"):
            monitor.rename(1, " ")
    with Monitor.open(state) as monitor:
        assert monitor.topic(1).name == "Airship fire"
        assert [monitor.undo()["action"] for _ in range(2)] == ["rules", "rename"]
        assert vars(monitor.topic(1)) == before
    run = ("rename", 1, "Airship", "--state", state)
    assert "Topic 1 is now called Airship." in call("monitor", *run).stdout
    left = call(
        "monitor", "rules", 1, "--remove", "volcano", "--state", tmp_path / "a.state"
    ).stdout
    assert "volcano" not in left.split() and "hangar" in left.split()
    told = call("monitor", "log", "--state", state).stdout
    assert "removal of the rule volcano from topic 1, Airship" in told
    assert "rename of topic 1" in told and "(undone)" in told


def test_a_digest_tells_what_the_last_days_brought(detector, texts, tmp_path: Path) -> None:
    scandal, state = "zeppelin minister scandal", tmp_path / "a.state"
    news = {day: story(scandal, 6, day) for day in range(10, 22)}
    news[20] = story(f"{scandal} resigns", 8)
    news[21] = [*story(scandal, 5, 9), *(f"hangar of penguins opens {i}" for i in range(9))]
    with Monitor(detector, every="1d", false_alarm_every="30d", state=state) as monitor:
        monitor.update(*days(texts, news, 22))
        monitor.close_window()
    told = call("monitor", "digest", "--state", state, "--since", "2d").stdout.splitlines()
    assert told[0].startswith("2 alerts in 142 documents, 2001-09-30 to 2001-10-01")
    assert told.index("New") < told.index("Updates")
    assert "penguin" in told[told.index("New") + 1] and "resign" in told[told.index("Updates") + 1]
    last = call("monitor", "digest", "--state", state, "--since", "1d", "--markdown").stdout
    assert "## Older topics" in last and "- Topic 1, " in last and ": 5 documents, " in last
    data = json.loads(call("monitor", "digest", "--state", state, "--since", "70", "--json").stdout)
    validate(data, "digest")
    assert [topic["documents"] for topic in data["topics"]] == [9, 5]
    (alert,) = data["alerts"]
    assert "penguins" in alert["document"]["text"] and alert["document"]["time"] > "2001-10-01"
    wrong = call("monitor", "digest", "--state", state, "--since", "yesterday")
    assert wrong.returncode == 1 and "since='yesterday': expected a number" in wrong.stderr


def test_one_document_with_a_wrong_clock_makes_no_others_late(detector, texts) -> None:
    stream = days(texts, {}, 6)
    stream[0].insert(100, "pay my bill")
    stream[1].insert(100, BEGIN + 20 * DAY)
    monitor = watched(detector, stream)
    assert sum(window.late for window in monitor.windows_) == 0
    assert sum(window.ahead for window in monitor.windows_) == 1
    assert sum(window.size for window in monitor.windows_) == len(stream[0])
    assert "1 document far ahead of all others got the time of the stream" in monitor.left_out()


def test_a_first_document_with_a_wrong_clock_makes_no_others_late(detector, texts) -> None:
    found, times = days(texts, {}, 4)
    monitor = watched(detector, (["pay my bill", *found], [BEGIN + 20 * DAY, *times]))
    assert len(monitor.windows_) >= 4
    assert sum(window.late for window in monitor.windows_) <= 2


def test_a_stream_with_a_gap_goes_on(detector, texts) -> None:
    found, times = days(texts, {}, 6)
    later = [time + 9 * DAY if time >= BEGIN + 3 * DAY else time for time in times]
    monitor = watched(detector, (found, later))
    assert [window.size for window in monitor.windows_] == [60] * 6
    assert monitor.left_out() is None


def test_a_wrong_clock_before_a_gap_loses_nothing(detector, texts) -> None:
    found, times = days(texts, {}, 9)
    later = [time + 3 * DAY if time >= BEGIN + 3 * DAY else time for time in times]
    found.insert(130, "pay my bill")
    later.insert(130, BEGIN + 22 * DAY)
    monitor = watched(detector, (found, later))
    assert sum(window.late for window in monitor.windows_) == 0
    assert sum(window.size for window in monitor.windows_) == len(found)
    assert [window.size for window in monitor.windows_][:3] in ([60, 60, 60], [60, 60, 61])


def test_some_documents_in_a_row_with_wrong_clocks_lose_nothing(detector, texts) -> None:
    found, times = days(texts, {}, 6)
    times[150:154] = [time + 3 * DAY for time in times[150:154]]
    monitor = watched(detector, (found, times))
    assert sum(window.late for window in monitor.windows_) == 0
    assert sum(window.ahead for window in monitor.windows_) == 4


def test_a_stream_before_1970_is_read(detector, texts) -> None:
    found, times = days(texts, {}, 3)
    monitor = watched(detector, (found, [f"{1917 + int((t - BEGIN) // DAY)}-11-07" for t in times]))
    assert sum(window.late for window in monitor.windows_) == 0
    assert sum(window.size for window in monitor.windows_) == 180


def test_documents_that_wait_are_told_and_come_at_the_end(detector, texts) -> None:
    found, times = days(texts, {}, 2)
    monitor = Monitor(detector, every="1d", false_alarm_every="30d")
    monitor.update([*found, "pay my bill"], [*times, BEGIN + 9 * DAY])
    assert "1 document of later windows wait" in monitor.left_out()
    monitor.close_window()
    assert monitor.left_out() is None
    assert sum(window.size for window in monitor.windows_) == 121


def test_late_documents_have_time_to_come(detector, texts) -> None:
    found, times = days(texts, {}, 5, each=140)
    arrival = [time + 7200 * (place % 2) for place, time in enumerate(times)]
    order = sorted(range(len(found)), key=arrival.__getitem__)
    found, times = [found[i] for i in order], [times[i] for i in order]
    strict = watched(detector, (found, times))
    patient = Monitor(detector, every="1d", false_alarm_every="30d", late="3h")
    patient.update(found, times)
    patient.close_window()
    assert sum(window.late for window in strict.windows_) > 0
    ends = Monitor(detector, every="1d", false_alarm_every="30d", late="3h")
    ends.update([*found, "pay my bill"], [*times, BEGIN + 5 * DAY + 60.0])
    ends.close_window()
    assert [window.size for window in ends.windows_] == [140] * 5 + [1]
    assert sum(window.late for window in patient.windows_) == 0
    assert [window.size for window in patient.windows_] == [140] * 5
    with pytest.raises(ValueError, match="late='2': expected a span of time such as 2h"):
        Monitor(detector, every="1d", late="2")


@pytest.mark.parametrize("unit", [1, 1000, 1_000_000, 1_000_000_000])
def test_times_in_parts_of_a_second_are_read(detector, texts, unit: int) -> None:
    found, times = days(texts, {}, 3)
    monitor = Monitor(detector, every="1d", false_alarm_every="30d")
    monitor.update(found, [int(time) * unit for time in times])
    assert [window.size for window in monitor.windows_] == [60, 60]


def _state(monitor: Monitor) -> dict[str, Any]:
    """Return all that a monitor knows, without the clock of the machine."""
    return {
        "alerts": [alert.to_dict() for alert in monitor.alerts],
        "topics": [vars(topic) for topic in monitor.topics_],
        "counts": [monitor.counts(topic.number) for topic in monitor.topics_],
        "windows": [vars(window) for window in monitor.windows_],
        "open": vars(monitor.open_window),
        "left out": monitor.left_out(),
    }


def _cut(
    detector: NoveltyDetector, stream: tuple[list[str], list[float]], state: Path, seed: int
) -> Any:
    """Watch a stream in parts of any length, opening the state again for each."""
    draw, start, (found, times) = random.Random(seed), 0, stream
    Monitor(detector, every="1d", false_alarm_every="30d", state=state).close()
    while start < len(found):
        end = start + draw.choice((1, 7, 60, 61, 200, 700))
        with Monitor.open(state) as monitor:
            monitor.update(found[start:end], times[start:end])
        start = end
    with Monitor.open(state) as monitor:
        return _state(monitor)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_is_cut_anywhere_gives_the_same(
    detector, texts, tmp_path: Path, seed: int
) -> None:
    news = {
        10: story("volcano erupts near zeppelin hangar", 12),
        **{day: story("zeppelin minister scandal", 6, day) for day in range(14, 24)},
        24: [
            text.replace("says", "resigns says") for text in story("zeppelin minister scandal", 8)
        ],
        30: [f"hangar of penguins opens for orphans {i}" for i in range(10)],
    }
    found, times = days(texts, news, 36)
    found.insert(500, "pay my bill")
    times.insert(500, times[499] + 5 * DAY)  # a wrong clock, which waits
    whole = Monitor(detector, every="1d", false_alarm_every="30d")
    whole.update(found, times)
    assert len(whole.alerts) >= 3
    assert _cut(detector, (found, times), tmp_path / "cut.state", seed) == _state(whole)


@pytest.mark.skipif(not os.environ.get("NEWFOUND_DATA"), reason="NEWFOUND_DATA is not set")
def test_headlines_that_are_cut_anywhere_give_the_same(tmp_path: Path) -> None:
    from lab.datasets import load_abcnews

    corpus = load_abcnews(os.environ["NEWFOUND_DATA"])
    dates = [str(day) for day in corpus.dates or ()]
    first = next(i for i, day in enumerate(dates) if day >= "2003-03-19")
    last = next(i for i, day in enumerate(dates) if day >= "2003-05-10")
    detector = NoveltyDetector(random_state=0).fit(corpus.texts[:first])
    stream = list(corpus.texts[first:last]), dates[first:last]
    whole = Monitor(detector, every="1d", false_alarm_every="30d")
    whole.update(*stream)
    assert len(whole.alerts) > 20
    assert _cut(detector, stream, tmp_path / "cut.state", 0) == _state(whole)  # type: ignore[arg-type]
