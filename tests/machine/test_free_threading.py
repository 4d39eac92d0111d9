"""The core in many threads at once, with or without the interpreter's lock."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

import newfound
from newfound import _core

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]
FITS, READERS = 40, 4


def documents() -> tuple[Rows, NDArray[np.int32]]:
    """Return 60 documents of two classes, with some of 150 words."""
    rng = np.random.default_rng(3)
    y = (np.arange(60) % 2).astype(np.int32)
    chance = np.where(np.arange(150) % 2 == y[:, None], 0.3, 0.1)
    X = rng.random(chance.shape) < chance
    indptr = np.concatenate([[0], X.sum(axis=1).cumsum()]).astype(np.int64)
    return (indptr, np.nonzero(X)[1].astype(np.int32)), y


def made(seed: int = 1) -> _core.Machine:
    return _core.Machine(n_classes=2, n_features=150, n_clauses=40, T=60, s=5.0, seed=seed)


READS: list[Callable[[_core.Machine, Rows], Hashable]] = [
    lambda machine, X: machine.states().tobytes(),
    lambda machine, X: machine.votes(*X, 2).tobytes(),
    lambda machine, X: tuple(a.tobytes() for a in machine.clauses(2)),
    lambda machine, X: tuple(a.tobytes() for a in machine.matching(*X, 1)),
    lambda machine, X: machine.counters()[1].tobytes(),
]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="Python has a lock")
def test_the_core_does_not_switch_the_lock_on() -> None:
    code = "import sys; from newfound import _core; sys.exit(sys._is_gil_enabled())"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_readers_see_a_machine_before_or_after_a_fit_and_never_within() -> None:
    X, y = documents()
    alone, expected = made(), [set[Hashable]() for _ in READS]
    for number in range(FITS + 1):
        if number:
            alone.fit(*X, y, 1)
        for found, read in zip(expected, READS, strict=True):
            found.add(read(alone, X))
    assert len(expected[0]) == FITS + 1

    shared, ready = made(), threading.Barrier(READERS + 1)
    done = threading.Event()

    def train() -> None:
        ready.wait()
        try:
            for _ in range(FITS):
                shared.fit(*X, y, 1, 2)
        finally:
            done.set()

    def ask(first: int) -> list[tuple[int, Hashable]]:
        seen, number = [], first
        ready.wait()
        while not done.is_set():
            seen.append((number % len(READS), READS[number % len(READS)](shared, X)))
            number += 1
        return seen

    with ThreadPoolExecutor(READERS + 1) as pool:
        training = pool.submit(train)
        asked = [pool.submit(ask, first) for first in range(READERS)]
    training.result()
    assert all(seen in expected[which] for each in asked for which, seen in each.result())
    assert shared.states().tobytes() == alone.states().tobytes()


def test_two_fits_of_one_machine_come_one_after_the_other() -> None:
    X, y = documents()
    alone, shared = made(), made()
    for _ in range(8):
        alone.fit(*X, y, 1)
    with ThreadPoolExecutor(4) as pool:
        fits = [pool.submit(shared.fit, *X, y, 1) for _ in range(8)]
    assert all(each.result()[1] == "epochs" for each in fits)
    assert shared.states().tobytes() == alone.states().tobytes()


def test_machines_of_many_threads_are_those_of_one() -> None:
    X, y = documents()

    def fitted(seed: int) -> bytes:
        machine = made(seed)
        epochs: list[int] = []
        machine.fit(*X, y, 5, 1, lambda epoch, counts: epochs.append(epoch))
        assert epochs == [0, 1, 2, 3, 4]
        return bytes(machine.states().tobytes())

    expected = [fitted(seed) for seed in range(16)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fitted, range(16))) == expected


def test_texts_have_the_same_score_in_every_thread() -> None:
    known, novel = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=3)
    detector.fit(known.texts[::8], known.labels[::8])
    texts = [*known.texts[:40:2], *novel.texts[:40:2]]
    expected = [detector.score_samples([text])[0] for text in texts]
    explained = [str(detector.explain(text)) for text in texts[-6:]]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert [
                s[0] for s in pool.map(lambda t: detector.score_samples([t]), texts)
            ] == expected
            assert [str(e) for e in pool.map(detector.explain, texts[-6:])] == explained
