"""One machine used by several threads, by its own callback and by a forked child.

Each attack runs in a process of its own with a time limit, because what it looks for is a process
that hangs or crashes.
"""

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from newfound import EpochInfo, TsetlinMachineClassifier
from waiting import PATIENCE

PREPARE = """
import os, sys, threading, time
import numpy as np, scipy.sparse as sp
from newfound import TsetlinMachineClassifier
rng = np.random.default_rng(0)
X = (rng.random((300, 500)) < 0.1)
y = np.arange(300) % 2
def machine(**changes):
    settings = dict(n_clauses=100, T=200, s=5.0, epochs=4, random_state=1) | changes
    return TsetlinMachineClassifier(**settings)
"""


def attack(code: str) -> str:
    """Run code in a process of its own; return what it prints. It may neither hang nor crash."""
    ended = subprocess.run(
        [sys.executable, "-c", PREPARE + code], capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 0, (
        f"exit {ended.returncode} after {ended.stdout[-500:]}: {ended.stderr[-2000:]}"
    )
    return ended.stdout.strip()


def documents(n: int = 200, n_classes: int = 2) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    rng = np.random.default_rng(5)
    y = np.arange(n) % n_classes
    X = rng.random((n, 150)) < 0.1
    X[np.arange(n), y] |= rng.random(n) < 0.7
    return X, y


# in the callback


READ = [
    "m.predict(X)", "m.score(X, y)", "m.states_", "m.clauses_", "m.rules()", "m.trained_state()",
    "m.matching_clauses(X)", "__import__('pickle').dumps(m)", "__import__('copy').deepcopy(m)",
]  # fmt: skip


def test_a_callback_may_read_its_machine() -> None:
    code = "".join(
        f"m = machine()\nm.fit(X, y, callback=lambda info: {read} is None)\n"
        f"print({read!r}, m.n_epochs_, flush=True)\n"
        for read in READ
    )
    assert attack(code).splitlines() == [f"{read} 4" for read in READ]


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"boost_true_positive": True}, {"weighted": True, "negations": False},
     {"max_literals": 4}, {"negative_sampling": "focused"}],
)  # fmt: skip
def test_a_callback_reads_the_machine_of_a_fit_of_so_many_epochs(
    settings: dict[str, object], n_jobs: int
) -> None:
    X, y = documents(n_classes=3)
    parameters = {
        "n_clauses": 60,
        "T": 40,
        "s": 4.0,
        "random_state": 3,
        "n_jobs": n_jobs,
    } | settings
    seen: list[tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int64], object]] = []
    machine = TsetlinMachineClassifier(**parameters, epochs=5)  # type: ignore[arg-type]

    def look(info: EpochInfo) -> None:
        clauses = machine.clauses_
        seen.append((machine.states_, machine.class_sums(X), clauses.matches, clauses.weights))

    machine.fit(X, y, callback=look)
    assert len(seen) == 5
    for epochs, found in enumerate(seen, start=1):
        other = TsetlinMachineClassifier(**parameters, epochs=epochs).fit(X, y)  # type: ignore[arg-type]
        clauses = other.clauses_
        for got, expected in zip(
            found, (other.states_, other.class_sums(X), clauses.matches, clauses.weights),
            strict=True,
        ):  # fmt: skip
            np.testing.assert_array_equal(got, expected)
    unwatched = TsetlinMachineClassifier(**parameters, epochs=5).fit(X, y)  # type: ignore[arg-type]
    np.testing.assert_array_equal(machine.states_, unwatched.states_)


def test_a_callback_may_not_train_its_machine() -> None:
    code = "".join(
        f"""
m = machine()
try:
    m.fit(X, y, callback=lambda info: {train} is None)
except RuntimeError as error:
    print(error)
m.predict(X)
m.partial_fit(X, y)
print(m.n_epochs_, flush=True)
"""
        for train in ("m.partial_fit(X, y)", "m.fit(X, y)")
    )
    said = attack(code).splitlines()
    assert len(said) == 4
    for message, epochs in zip(said[::2], said[1::2], strict=True):
        assert "being trained" in message and epochs == "2"


def test_a_callback_may_let_another_thread_read() -> None:
    code = """
m, found = machine(), []
def look(info):
    thread = threading.Thread(target=lambda: found.append(m.score(X, y)))
    thread.start()
    thread.join()
m.fit(X, y, callback=look)
print(len(found))
"""
    assert attack(code) == "4"


# other threads


def test_a_reader_waits_for_the_end_of_a_fit_and_control_c_ends_the_wait() -> None:
    code = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
m = machine(n_clauses=400, epochs=100_000, T=5000).partial_fit(X, y)
stop = threading.Event()
before = time.process_time()
with m.cancellable(stop.is_set):
    thread = threading.Thread(target=lambda: m.partial_fit(X, y, epochs=100_000))
    thread.start()
    while time.process_time() < before + 0.5:  # until the other thread has worked
        time.sleep(0.01)
    try:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        m.predict(X)
    except KeyboardInterrupt:
        print("interrupted")
    stop.set()
    thread.join()
print(len(m.predict(X)))
"""
    assert attack(code).split() == ["interrupted", "300"]


def test_a_child_forked_during_a_fit_does_not_hang() -> None:
    code = """
m = machine(n_clauses=400, epochs=100_000, T=5000).partial_fit(X, y)
other = machine().fit(X, y)
stop = threading.Event()
before = time.process_time()
with m.cancellable(stop.is_set):
    thread = threading.Thread(target=lambda: m.partial_fit(X, y, epochs=100_000))
    thread.start()
    while time.process_time() < before + 0.5:  # until the other thread has worked
        time.sleep(0.01)
    for _ in range(5):
        child = os.fork()
        if child == 0:
            assert len(other.predict(X)) == 300
            try:
                m.predict(X)
            except RuntimeError as error:
                os._exit(7 if "fork" in str(error) else 8)
            os._exit(9)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    thread.join()
print(len(m.predict(X)))
"""
    assert attack(code).split() == ["7"] * 5 + ["300"]


USES = [
    "m.fit(Z, y)", "m.partial_fit(Z, y)", "m.class_sums(Z)", "m.support(Z, y)",
    "m.class_sums_csr(indptr, Z.indices)", "m._machine.fit((indptr, Z.indices), codes, 1)",
]  # fmt: skip


@pytest.mark.parametrize("seconds", [0.4, pytest.param(3, marks=pytest.mark.slow)])
def test_another_thread_may_change_the_documents_at_any_time(seconds: float) -> None:
    # A use may fail with a sentence; it may not read outside of its arrays.
    code = f"""
m = machine(n_clauses=20, epochs=1).fit(X, y)
Z = sp.csr_array(np.tile(X, (20, 1)))
y = np.arange(Z.shape[0]) % 2
codes = y.astype(np.int32)
indptr = Z.indptr.astype(np.int64)
kept = [array.copy() for array in (Z.indptr, Z.indices, indptr, codes)]
stop = threading.Event()
def change():
    while not stop.is_set():
        Z.indices[:] = 2_000_000_000
        Z.indptr[1:-1] = 2_000_000_000
        indptr[1:-1] = -2**60
        codes[:] = 2_000_000_000
        for array, good in zip((Z.indptr, Z.indices, indptr, codes), kept):
            array[:] = good
        time.sleep(0.0002)
thread = threading.Thread(target=change)
thread.start()
def use_for_a_while(use):
    ends = time.time() + {seconds}
    while time.time() < ends:
        try:
            use()
        except ValueError as error:
            assert len(str(error)) < 300, error
"""
    code += "".join(f"use_for_a_while(lambda: {use})\nprint({use!r}, flush=True)\n" for use in USES)
    assert attack(code + "stop.set()\nthread.join()").splitlines() == USES


def test_threads_in_partial_fit_of_one_machine_take_turns() -> None:
    X, y = documents()
    machine = TsetlinMachineClassifier(n_clauses=40, T=100, random_state=1).partial_fit(X, y)
    threads = [
        threading.Thread(target=lambda: [machine.partial_fit(X, y) for _ in range(10)])
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert machine.trained_state().epochs_drawn == machine.n_epochs_ == 31


# arrays that are not sound


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [([0, 2, 1, 3], [0, 1, 2]), ([0, 1, 2, 9], [0, 1, 2]), ([0, 1, 2, 3], [0, 1, 7]),
     ([0, 1, 2, 3], [0, -1, 2]), ([1, 1, 2, 3], [0, 1, 2]), ([0, 2**30, 2, 3], [0, 1, 2])],
)  # fmt: skip
def test_a_csr_matrix_with_wrong_indices_is_refused_in_a_sentence(
    indptr: list[int], indices: list[int]
) -> None:
    X = sp.csr_array(np.eye(3, dtype=bool))
    X.indptr, X.indices = np.array(indptr, np.int32), np.array(indices, np.int32)
    with pytest.raises(ValueError, match="not a sound CSR matrix"):
        TsetlinMachineClassifier(n_clauses=4, T=2).fit(X, [0, 1, 0])


def test_the_core_refuses_indices_that_do_not_ascend() -> None:
    machine = TsetlinMachineClassifier(n_clauses=4, T=2, random_state=1)
    machine.fit(np.eye(3, dtype=bool), [0, 1, 0])
    for indices in ([0, 2, 1], [0, 1, 1], [0, 1, 3], [0, -1, 1]):
        arrays = np.array([0, 1, 3]), np.array(indices, np.int32)
        with pytest.raises(ValueError, match="ascending"):
            machine.class_sums_csr(*arrays)
        with pytest.raises(ValueError, match="ascending"):
            machine._machine.fit(arrays, np.zeros(2, np.int32), epochs=1)


def test_labels_of_two_types_are_refused() -> None:
    with pytest.raises(ValueError, match="mixes texts with other labels, such as 1"):
        TsetlinMachineClassifier(n_clauses=4, T=2).fit(np.eye(3, dtype=bool), [1, "a", "b"])
