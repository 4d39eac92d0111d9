"""The monitor on streams: false alarms where nothing changes, and what is found how soon."""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lab.datasets import load_20newsgroups, load_abcnews, load_clinc150
from lab.evaluation.stream_baselines import BASELINES, OF_RIVER, Watched
from lab.evaluation.stream_events import event_alerts, events, events_each
from lab.evaluation.suites import SuiteSetting
from lab.tables import table_of
from newfound.detection.calibration import Calibration
from newfound.detection.detector import NoveltyDetector
from newfound.monitor.engine import WindowEngine
from newfound.monitor.laws import rate_p_value
from newfound.monitor.monitor import Monitor
from newfound.monitor.records import Alert, Document, MonitorSettings, Topic, format_time
from newfound.monitor.reference import Known, ScoringReader
from newfound.monitor.store import Store
from newfound.table import Table

__all__ = ["SUITES", "Setting"]

EVERY = 200  # documents of a window
APART = 50_000  # documents to one false alarm
LENGTH = 20_000  # documents of a stream in which nothing changes
NOMINAL = 0.01  # share of such streams with a false alarm, for tests of the rate alone
SHARE = 0.05  # of a stream that a new class has
WITHIN = 60  # documents of a new class within which it should be found
BEFORE = 5000  # documents before it

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """What the suites share.

    Attributes
    ----------
    corpora : tuple of str
        The corpora of the first two suites.
    streams : int
        The number of streams in which nothing changes, of each corpus.
    documents : int
        The number of documents of the suite for speed.
    """

    corpora: tuple[str, ...] = ("CLINC150", "20 Newsgroups")
    streams: int = 300
    documents: int = 100_000


class Population:
    """Documents that a detector has not learned from, scored once, to draw streams from.

    Parameters
    ----------
    detector : NoveltyDetector
        Fitted.
    texts : sequence of str
        Documents that are known, but that it has not learned from.
    labels : sequence of str
        Their classes.
    """

    def __init__(
        self, detector: NoveltyDetector, texts: Sequence[str], labels: Sequence[str]
    ) -> None:
        self.detector = detector
        reader = ScoringReader(detector)
        scores = detector.score_texts(texts)
        self.novelty, self.nearest, self.has_words = (
            scores.novelty, scores.nearest, scores.has_words,
        )  # fmt: skip
        self.bags = [reader.bag(text) for text in texts]
        self.labels = np.array(labels, dtype=object)
        known = reader.known()
        held = Counter(word for text in detector.held_back_texts_ for word in reader.bag(text))
        self._learned = known.words - held
        self._n_learned = known.size - known.held_back

    def draw(self, rng: np.random.Generator, rows: Rows, n_held_back: int) -> Drawn:
        """Hold back some of the rows at random, for p-values; the others are for a stream."""
        order = rng.permutation(rows)
        held, rest = order[:n_held_back], order[n_held_back:]
        calibration = Calibration(
            self.novelty[held], self.nearest[held], 0.05, classwise=self.detector.classwise
        )
        p_values = calibration.p_values(self.novelty, self.nearest, self.has_words)
        novel = calibration.is_novel(p_values)
        words, novel_words = self._learned.copy(), Counter[str]()
        own = calibration.is_novel(calibration.p_values(calibration.scores, calibration.nearest))
        for row, is_novel in zip(held.tolist(), own.tolist(), strict=True):
            words.update(self.bags[row])
            if is_novel:
                novel_words.update(self.bags[row])
        n = len(held)
        known = Known(words, self._n_learned + n, novel_words, n, int(0.05 * (n + 1)))
        return Drawn(self, known, rest, p_values, novel)


@dataclass(frozen=True)
class Drawn:
    """A draw of held-back documents, and the p-values that follow from it."""

    population: Population
    known: Known
    rest: Rows
    p_values: NDArray[np.float64]
    novel: NDArray[np.bool_]

    def watch(self, rows: Rows) -> tuple[list[tuple[int, Alert]], dict[int, Topic], list[int]]:
        """Return the alerts of a stream of rows and when each came, topics, topics of rows."""
        store = Store(None)
        settings = MonitorSettings(str(EVERY), str(APART), 0.1, 200, 16, 1000)
        engine = WindowEngine(store, settings)
        alerts: list[tuple[int, Alert]] = []
        with store.transaction():
            engine.load(self.known, 1)
            for place, row in enumerate(rows.tolist()):
                document = Document(
                    str(row),
                    str(row),
                    None,
                    float(self.p_values[row]),
                    bool(self.novel[row]),
                    self.population.bags[row],
                )
                found = engine.add_all([document])
                alerts += [(place, alert) for alert in found]
            engine.save()
        store.close()
        bags, novel = self.population.bags, self.novel
        topics = [engine.topic_of(bags[row], bool(novel[row])) for row in rows.tolist()]
        return alerts, engine.topics, topics


def _clinc150(setting: Setting, unseen: Sequence[str] = ()) -> tuple[Population, int]:
    """Return CLINC150 in scope; a detector learns 60 documents of each intent but some."""
    corpus = load_clinc150(setting.data)
    assert corpus.labels is not None
    rows = [i for i, label in enumerate(corpus.labels) if label != "oos"]
    return _population(corpus, rows, unseen, 60, setting), 3000


def _newsgroups(setting: Setting, unseen: Sequence[str] = ()) -> tuple[Population, int]:
    """Return 20 Newsgroups; a detector learns 100 documents of each group but some."""
    corpus = load_20newsgroups(setting.data, remove=("headers", "footers", "quotes"))
    return _population(corpus, range(len(corpus.texts)), unseen, 100, setting), 3000


def _population(
    corpus: Any, rows: Sequence[int], unseen: Sequence[str], each: int, setting: Setting
) -> Population:
    labels = np.array(corpus.labels, dtype=object)
    order = np.random.default_rng(0).permutation(np.array(rows))
    learned: list[int] = []
    for label in sorted(set(labels[order].tolist()) - set(unseen)):
        learned += order[labels[order] == label][:each].tolist()
    rest = np.setdiff1d(order, learned).tolist()
    detector = NoveltyDetector(random_state=0, n_jobs=setting.n_jobs)
    detector.fit([corpus.texts[i] for i in learned], labels[learned])
    return Population(detector, [corpus.texts[i] for i in rest], labels[rest].tolist())


CORPORA: dict[str, Callable[..., tuple[Population, int]]] = {
    "CLINC150": _clinc150,
    "20 Newsgroups": _newsgroups,
}
_UNSEEN = {"CLINC150": 15, "20 Newsgroups": 5}  # classes that are switched on


def false_alarms(setting: Setting) -> Table:
    """Count false alarms in streams of known documents, in random order.

    Each stream is 20,000 documents drawn from those that the detector has not learned from, and has
    its own 3,000 held-back documents. `in 50,000`: false alarms of the monitor in 50,000 documents,
    where one is the rate that was set. The other rows are tests of the rate of novel documents
    alone, set to raise an alarm in 1 % of the streams: `share`. The 95 % intervals are of Poisson
    and binomial counts.
    """
    made = []
    for corpus in setting.corpora:
        population, n_held_back = CORPORA[corpus](setting)
        rows = np.arange(len(population.labels))
        alarms: Counter[str] = Counter()
        for seed in range(setting.streams):
            rng = np.random.default_rng(seed)
            drawn = population.draw(rng, rows, n_held_back)
            stream = rng.choice(drawn.rest, LENGTH)
            for _, alert in drawn.watch(stream)[0]:
                alarms[alert.kind] += 1
            for name, test in RATE_TESTS.items():
                alarms[name] += test(drawn.novel[stream], drawn.p_values[stream], drawn.known, rng)
            if seed % 20 == 19:
                setting.say(f"{corpus}, {seed + 1} streams: {dict(alarms)}")
        made += _false_alarm_rows(corpus, alarms, setting.streams)
    return table_of(made)


def _false_alarm_rows(corpus: str, alarms: Counter[str], n: int) -> list[dict[str, Any]]:
    found = []
    for kind in ("topic", "rate"):
        expected = APART / (n * LENGTH)
        k = alarms[kind]
        low, high = stats.chi2.ppf([0.025, 0.975], [2 * k, 2 * k + 2]) / 2 * expected
        found.append(
            {
                "corpus": corpus,
                "test": f"monitor, alerts of kind {kind}",
                "streams": n,
                "in 50,000": k * expected,
                "low": float(np.nan_to_num(low)),
                "high": float(high),
                "share": None,
            }
        )
    for name in RATE_TESTS:
        low, high = stats.binomtest(alarms[name], n).proportion_ci()
        found.append(
            {
                "corpus": corpus,
                "test": name,
                "streams": n,
                "in 50,000": None,
                "low": float(low),
                "high": float(high),
                "share": alarms[name] / n,
            }
        )
    return found


def _own_law(novel: Any, p_values: Any, known: Known, rng: Any) -> bool:
    counts = novel.reshape(-1, EVERY).sum(axis=1)
    past = np.concatenate(([0], np.cumsum(counts)))
    level = NOMINAL / len(counts)
    return any(
        rate_p_value(
            int(count), EVERY, known.let_through + int(past[i]), known.held_back + i * EVERY
        )
        <= level
        for i, count in enumerate(counts.tolist())
    )


def _fixed_alpha(novel: Any, p_values: Any, known: Known, rng: Any) -> bool:
    counts = novel.reshape(-1, EVERY).sum(axis=1)
    return bool((stats.binom.sf(counts - 1, EVERY, 0.05) <= NOMINAL / len(counts)).any())


def _martingale(novel: Any, p_values: Any, known: Known, rng: Any) -> bool:
    """Bet against uniform p-values, on a mixture of powers; randomised between two p-values."""
    p = p_values - rng.random(len(p_values)) / (known.held_back + 1)
    logs = np.log(np.clip(p, 1e-12, 1))
    powers = np.linspace(0.05, 0.95, 19)[:, None]
    wealth = np.cumsum(np.log(powers) + (powers - 1) * logs, axis=1)
    mixed = np.logaddexp.reduce(wealth, axis=0) - np.log(len(powers))
    return bool((mixed >= np.log(1 / NOMINAL)).any())


RATE_TESTS: dict[str, Callable[..., bool]] = {
    "rate, Beta-binomial with the past (monitor)": _own_law,
    "rate, binomial with alpha": _fixed_alpha,
    "rate, conformal martingale": _martingale,
}


def new_class(setting: Setting) -> Table:
    """Switch a class on that the detector has not learned, and count its documents until an alert.

    After 5,000 known documents, 5 % of the stream are of the new class. `delay`: the median number
    of its documents until the first alert; for topics, until the first one of a topic most of whose
    documents in the stream, or as many as of the class, are of the class. `missed`: classes without
    such an alert within 60 documents. `false`: alerts before, in 50,000 documents. `cost`: that of
    topic detection and tracking, 0.02 missed + 0.098 × the share of windows with a false alert,
    divided by 0.02. 15 intents and 5 groups, three streams each.
    """
    if find_spec("river") is None:
        setting.say("Page-Hinkley and ADWIN are left out; to include them: pip install river")
    made = []
    for corpus in setting.corpora:
        load, n_unseen = CORPORA[corpus], _UNSEEN[corpus]
        data = load_clinc150(setting.data) if n_unseen == 15 else load_20newsgroups(setting.data)
        names = sorted(set(data.labels or ()) - {"oos"})
        unseen = np.random.default_rng(7).choice(names, n_unseen, replace=False).tolist()
        population, n_held_back = load(setting, unseen)
        delays: dict[str, list[float]] = {}
        false: Counter[str] = Counter()
        for label in unseen:
            for seed in range(3):
                setting.say(f"{corpus}, {label}")
                watched = _switched_on(population, n_held_back, label, unseen, seed)
                for name, alarms in _all_alarms(watched).items():
                    delay = _delay(watched, alarms)
                    delays.setdefault(name, []).append(delay)
                    false[name] += sum(place < watched.onset for place in alarms)
        made += [_row(corpus, name, found, false[name]) for name, found in delays.items()]
    return table_of(made)


def _row(corpus: str, name: str, delays: Sequence[float], false: int) -> dict[str, Any]:
    missed = float(np.mean(np.array(delays) > WITHIN))
    share = min(1.0, false * EVERY / (len(delays) * BEFORE))
    median = float(np.median(delays))
    return {
        "corpus": corpus,
        "method": name,
        "delay": None if np.isinf(median) else median,
        "missed": missed,
        "false": false * APART / (len(delays) * BEFORE),
        "cost": missed + 4.9 * share,
    }


def _switched_on(
    population: Population, n_held_back: int, label: str, unseen: Sequence[str], seed: int
) -> Watched:
    """Return a stream in which a class begins."""
    rng = np.random.default_rng(seed)
    is_known = ~np.isin(population.labels, list(unseen))
    drawn = population.draw(rng, np.flatnonzero(is_known), n_held_back)
    own = rng.permutation(np.flatnonzero(population.labels == label))[:300]
    n = int(len(own) / SHARE)
    stream = rng.choice(drawn.rest, BEFORE + n)
    places = BEFORE + np.sort(rng.choice(n, len(own), replace=False))
    stream[places] = own
    alerts, topics, of_rows = drawn.watch(stream)
    is_own = np.zeros(len(stream), bool)
    is_own[places] = True
    right = set()
    for number in topics:
        members = np.array(of_rows) == number
        hits = int((members & is_own).sum())
        if hits >= 0.5 * min(int(members[BEFORE:].sum()), len(own)):
            right.add(number)
    return Watched(
        onset=BEFORE,
        every=EVERY,
        own=is_own,
        novel=drawn.novel[stream],
        p_values=drawn.p_values[stream],
        scores=population.novelty[stream],
        bags=[population.bags[row] for row in stream.tolist()],
        alerts=[
            (place, alert.topic is not None and alert.topic["number"] in right, alert.kind)
            for place, alert in alerts
        ],
    )


def _all_alarms(watched: Watched) -> dict[str, list[int]]:
    """Return the places at which each method raises an alarm; after the onset, only right ones."""
    own = {
        "monitor, topics": [
            place
            for place, right, kind in watched.alerts
            if kind == "topic" and (right or place < watched.onset)
        ],
        "monitor, any alert": [place for place, _, _ in watched.alerts],
    }
    return {**own, **{name: method(watched) for name, method in _baselines().items()}}


def _baselines() -> dict[str, Callable[[Watched], list[int]]]:
    """Return the baselines, without those whose package is not installed."""
    if find_spec("river") is not None:
        return BASELINES
    return {name: method for name, method in BASELINES.items() if name not in OF_RIVER}


def _delay(watched: Watched, alarms: Sequence[int]) -> float:
    """Return the number of documents of the new class until the first alarm after it began."""
    after = [place for place in alarms if place >= watched.onset]
    return float(watched.own[: min(after) + 1].sum()) if after else float("inf")


def abcnews(setting: Setting) -> Table:
    """Watch a year of headlines by day, after a month of reference; one false alarm in 30 days.

    All alerts, with the day, the name of the topic, when it was first seen, the number of its
    documents in the whole year, and a typical document of the alert.
    """
    corpus = load_abcnews(setting.data)
    days = [str(day) for day in corpus.dates or ()]
    first = next(i for i, day in enumerate(days) if day >= "2003-03-19")
    detector = NoveltyDetector(random_state=0, n_jobs=setting.n_jobs).fit(corpus.texts[:first])
    made = []
    with Monitor(detector, every="1d", false_alarm_every="30d") as monitor:
        for start in range(first, len(days), 2000):
            part = slice(start, min(start + 2000, len(days)))
            monitor.update(corpus.texts[part], days[part], corpus.ids[part])
        monitor.close_window()
        topics = {topic.number: topic for topic in monitor.topics_}
        for alert in monitor.alerts:
            topic = alert.topic
            made.append(
                {
                    "day": format_time(alert.time),
                    "alert": alert.kind if topic is None else topic["name"],
                    "first seen": None if topic is None else topic["first_seen"],
                    "counted": alert.documents,
                    "expected": alert.expected,
                    "in the year": None if topic is None else topics[topic["number"]].documents,
                    "document": None if topic is None else topic["typical"][0],
                }
            )
    return table_of(made)


def speed(setting: Setting) -> Table:
    """Measure documents a second of processor time on one thread, and memory, with 150 classes.

    The requests of CLINC150 are repeated. Memory is the peak of the process after each part.
    """
    population, _ = _clinc150(setting)
    corpus = load_clinc150(setting.data)
    detector = population.detector
    detector.n_jobs = 1
    rng = np.random.default_rng(0)
    texts = np.array(corpus.texts, dtype=object)
    made: list[dict[str, Any]] = []
    parts = 4
    with Monitor(detector, every=500) as monitor:
        for part in range(1, parts + 1):
            began, n = time.process_time(), setting.documents // parts
            for start in range(0, n, 500):
                monitor.update(rng.choice(texts, min(500, n - start)).tolist())
            seconds = time.process_time() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            made.append({"documents": part * n, "a second": n / seconds, "peak MB": peak})
    began = time.process_time()
    sample = rng.choice(texts, 5000).tolist()
    detector.p_values(sample)
    alone = len(sample) / (time.process_time() - began)
    made.append({"documents": "detector alone", "a second": alone, "peak MB": None})
    return table_of(made)


SUITES: dict[str, Callable[[Setting], Table]] = {
    "false-alarms": false_alarms,
    "new-class": new_class,
    "abcnews": abcnews,
    "events": events,
    "events-each": events_each,
    "event-alerts": event_alerts,
    "speed": speed,
}
