"""The suites for the monitor, on a few short streams."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest

import lab.evaluation.stream as stream
from lab.evaluate import STREAM_SUITES
from lab.evaluation.stream_baselines import BASELINES, OF_RIVER
from newfound.detection.detector import NoveltyDetector
from newfound.text.sample import load_sample


def test_the_command_names_all_suites() -> None:
    assert tuple(stream.SUITES) == STREAM_SUITES


@pytest.fixture(scope="module")
def population() -> stream.Population:
    known, novel = load_sample()
    detector = NoveltyDetector(random_state=0).fit(known.texts[::2])
    texts = [*known.texts[1::2], *novel.texts[:200]]
    labels = ["known"] * len(known.texts[1::2]) + ["travel"] * 200
    return stream.Population(detector, texts, labels)


def test_a_stream_in_which_a_class_begins(population: stream.Population) -> None:
    watched = stream._switched_on(population, 200, "travel", ["travel"], 0)
    assert watched.own.sum() == 200 and not watched.own[: watched.onset].any()
    assert watched.own[watched.onset :].mean() == pytest.approx(stream.SHARE, abs=0.001)
    alarms = stream._all_alarms(watched)
    needed = () if find_spec("river") is None else OF_RIVER
    assert set(BASELINES) - set(alarms) <= set(OF_RIVER) - set(needed)
    assert stream._delay(watched, alarms["monitor, topics"]) < 100
    assert stream._delay(watched, alarms["always"]) < 20
    assert stream._delay(watched, []) == float("inf")


def test_each_draw_has_its_own_held_back_documents(population: stream.Population) -> None:
    rows = np.flatnonzero(population.labels == "known")
    one, other = (population.draw(np.random.default_rng(seed), rows, 200) for seed in (0, 1))
    assert one.known.held_back == 200 and one.known.let_through == 10
    assert one.known.size == other.known.size and one.known.words != other.known.words
    assert len(one.rest) == len(rows) - 200
    # Known documents have high p-values as often as low ones.
    assert 0.3 < one.p_values[one.rest].mean() < 0.7


@pytest.mark.quality
@pytest.mark.skipif("NEWFOUND_DATA" not in os.environ, reason="needs the data sets")
def test_a_year_of_headlines() -> None:
    table = stream.abcnews(stream.Setting())
    rows = {str(row["alert"]): str(row["day"]) for row in table}
    war = next(day for name, day in rows.items() if "war" in name.split())
    sars = next(day for name, day in rows.items() if "sars" in name.split())
    assert war <= "2003-03-22" and sars <= "2003-04-04"
