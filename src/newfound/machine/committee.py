"""Several machines that learn the same task from different documents.

What one machine learns depends on its seed. The counts of clauses are additive, so the clauses of
many machines are one larger and steadier table. Each machine learns from its own part of the
documents. Some documents are held out of all machines: rules are chosen on the others and measured
on these. What another machine has learned from cannot serve for that, because rules that several
machines agree on are chosen on the documents of all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state  # type: ignore[import-untyped,unused-ignore]

from newfound.checks import check_whole_number
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import Clauses
from newfound.machine.native import EpochInfo
from newfound.machine.validation import thread_count
from newfound.sides import SIDES
from newfound.timing import step

__all__ = [
    "MOST_MACHINES",
    "RULE_MIN_DF",
    "Learned",
    "Train",
    "held_out_rows",
    "learn",
    "member_rows",
    "member_seeds",
    "new_machines",
    "read",
    "rule_columns",
    "rule_min_df",
    "train",
]

MOST_MACHINES = 1_000
RULE_MIN_DF = 8
SHARE = 0.7  # of the documents of each side, for each machine
HELD_OUT_SHARE = 0.2  # of the documents of each side, for no machine
_MACHINE = ("n_clauses", "T", "s", "epochs", "boost_true_positive", "max_literals")
Callback = Callable[[EpochInfo], bool | None]
Train = Callable[..., list[NDArray[np.intp]]]  # `train`, or another way to do the same


class Learned(NamedTuple):
    """What a committee has learned.

    Attributes
    ----------
    clauses : Clauses
        Those of all machines, one after the other, with their support among all documents.
    held_out : (2, n_clauses) ndarray of int64
        How many documents that no machine has learned from each clause matches, and how many of
        them are of its side; see `held_out_rows`.
    votes : (n_documents,) ndarray of float64
        How the machines that have not learned from a document vote on it, from -1 (known) to 1
        (novel) on average; nan if all have learned from it.
    leads : (n_documents,) ndarray of float64
        The same as numbers of votes, those for novel less those for known, without those of clauses
        that have no plain word. Such a clause says what a text lacks. A short text lacks almost
        everything, so these votes tell long texts from short ones.
    """

    clauses: Clauses
    held_out: NDArray[np.int64]
    votes: NDArray[np.float64]
    leads: NDArray[np.float64]


def member_seeds(random_state: Any, n: int) -> list[int]:
    """Return a seed for each machine; a single machine has the seed itself.

    Examples
    --------
    >>> member_seeds(7, 1), member_seeds(7, 3) == member_seeds(7, 3), len(set(member_seeds(7, 3)))
    ([7], True, 3)
    """
    if isinstance(random_state, int | np.integer):
        first = int(random_state)
    else:
        draw = check_random_state(random_state).randint(0, 2**32, 2, dtype=np.uint64)
        first = int(draw[0]) << 32 | int(draw[1])
    others = (np.random.SeedSequence([first % 2**64, k]) for k in range(1, n))
    return [first, *(int(seed.generate_state(1, np.uint64)[0]) for seed in others)]


def held_out_rows(novel: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Draw the documents that no machine of a committee learns from: a fifth of each side.

    The draw depends on the documents only, so that they stay held out for every seed and when
    training continues.

    Examples
    --------
    >>> novel = np.arange(100) >= 90
    >>> rows = held_out_rows(novel)
    >>> len(rows), int(novel[rows].sum())
    (20, 2)
    """
    # One order for both sides: where a word tells nothing, it is then as frequent on both sides
    # of what is held out as it is on both sides of the others, also if documents are sorted.
    order = np.random.default_rng(0).permutation(len(novel))
    sides = (order[~novel[order]], order[novel[order]])
    chosen = [rows[: int(HELD_OUT_SHARE * len(rows))] for rows in sides]
    return np.sort(np.concatenate(chosen))


def member_rows(
    novel: NDArray[np.bool_], seed: int, n_machines: int, most: int | None = None
) -> NDArray[np.intp]:
    """Draw the documents that a machine learns from: a share of each side, or all for one machine.

    Those of `held_out_rows` are for no machine of several. The same documents and seed always give
    the same draw, so that the documents held out stay held out when training continues.

    `most` is the greatest number of documents of each side.

    Examples
    --------
    >>> novel = np.arange(100) >= 90
    >>> len(member_rows(novel, 1, 10)), len(member_rows(novel, 1, 10, most=20))
    (70, 27)
    """
    if n_machines == 1 and most is None:
        return np.arange(len(novel))
    draw = np.random.default_rng([seed % 2**64, 0])
    chosen = []
    free = np.ones(len(novel), bool)
    if n_machines > 1:
        free[held_out_rows(novel)] = False
    for side in (~novel, novel):
        rows = np.flatnonzero(side & free)
        share = 1.0 if n_machines == 1 else SHARE
        n = min(len(rows), max(2, int(np.ceil(share * int(side.sum())))))
        chosen.append(draw.permutation(rows)[: n if most is None else min(n, most)])
    return np.sort(np.concatenate(chosen))


def new_machines(
    parameters: Mapping[str, Any],
    random_state: Any,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[TsetlinMachineClassifier]:
    """Make the machines of a committee, unfitted.

    The parameters are those of a describer, with what the preset says: ``n_machines`` and those of
    a machine.
    """
    check_machines(parameters)
    chosen = {name: parameters[name] for name in _MACHINE}
    machines = [
        TsetlinMachineClassifier(**chosen, n_jobs=n_jobs, random_state=seed, verbose=verbose)
        for seed in member_seeds(random_state, int(parameters["n_machines"]))
    ]
    machines[0].check_parameters()
    return machines


def check_machines(parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first parameter of a committee with an impossible value."""
    n = parameters["n_machines"]
    check_whole_number("n_machines", n, 1)
    if n > MOST_MACHINES:
        raise ValueError(f"n_machines={n}: expected at most {MOST_MACHINES:,} machines.")
    TsetlinMachineClassifier(**{name: parameters[name] for name in _MACHINE}).check_parameters()


@step("machines")
def train(
    machines: Sequence[TsetlinMachineClassifier],
    matrix: Any,
    novel: NDArray[np.bool_],
    epochs: int,
    *,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    first: bool = True,
    executor: Callable[[int], Executor] = ThreadPoolExecutor,
    most: int | None = None,
) -> list[NDArray[np.intp]]:
    """Let each machine of a committee learn from its own documents.

    Without `first`, the machines go on, for so many `epochs`. All share `n_jobs` threads, and each
    learns from at most `most` documents of a side. Callback and executor are those of `learn`.

    Returned are the documents of each machine, none if training ended before it began.
    """
    labels = np.array(SIDES)[novel.astype(int)]
    rows = [
        member_rows(novel, int(cast("int", machine.random_state)), len(machines), most)
        for machine in machines
    ]

    def work(machine: TsetlinMachineClassifier, number: int, after_epoch: Callback) -> None:
        mine = rows[number]
        if first:
            machine.fit(matrix[mine], labels[mine], callback=after_epoch)
        else:
            machine.partial_fit(matrix[mine], labels[mine], epochs=epochs, callback=after_epoch)

    machines[0].n_jobs = n_jobs
    begun = learn(
        machines,
        work,
        epochs=epochs,
        threads=thread_count(n_jobs),
        callback=callback,
        executor=executor,
    )
    return [mine if number in begun else mine[:0] for number, mine in enumerate(rows)]


def rule_min_df(asked: int, n_documents: int) -> int:
    """Return in how many documents a word of rules must be; 0 asks for the default.

    Examples
    --------
    >>> rule_min_df(0, 536), rule_min_df(0, 3000), rule_min_df(5, 10)
    (2, 8, 5)
    """
    return asked or max(1, min(RULE_MIN_DF, n_documents // 200))


def rule_columns(frequencies: NDArray[np.int64], least: int) -> NDArray[np.intp]:
    """Return the words that rules may use: those in at least `least` documents, else all.

    Examples
    --------
    >>> rule_columns(np.array([2, 9, 8]), 8).tolist(), rule_columns(np.array([2, 3]), 8).tolist()
    ([1, 2], [0, 1])
    """
    often = np.flatnonzero(frequencies >= least)
    return often if len(often) else np.arange(len(frequencies))


def learn(
    machines: Sequence[TsetlinMachineClassifier],
    work: Callable[[TsetlinMachineClassifier, int, Callback], object],
    *,
    epochs: int,
    threads: int,
    callback: Callback | None,
    executor: Callable[[int], Executor] = ThreadPoolExecutor,
) -> list[int]:
    """Let machines learn, as many at a time as there are threads.

    `work` trains a machine, given its number and a callback. `callback` is called after each epoch
    of any machine, by one at a time, with an `EpochInfo` that counts the epochs of all; a true
    result ends training. `executor` makes an executor, from the number of machines that learn at
    the same time.

    Returned are the numbers of those that have learned: all, unless the callback ended training
    before some began. Machines may start in any order.
    """
    lock, stop, cancelled = threading.Lock(), threading.Event(), threading.Event()
    done, begun = [0] * len(machines), [False] * len(machines)

    def member(number: int) -> None:
        if stop.is_set():
            return
        begun[number] = True

        def after_epoch(info: EpochInfo) -> bool:
            with lock:
                done[number] = info.epoch
                if callback is not None and not stop.is_set():
                    whole = replace(info, epoch=sum(done), epochs=epochs * len(machines))
                    try:
                        if callback(whole):
                            stop.set()
                    except BaseException:
                        stop.set()  # now, so that no other machine calls it again
                        raise
            return stop.is_set()

        with machines[number].cancellable(cancelled.is_set):
            work(machines[number], number, after_epoch)
        with lock:
            done[number] = epochs  # a machine that has nothing left to learn stops before

    at_once = min(len(machines), threads)
    for machine in machines:
        machine.n_jobs = max(1, threads // at_once)
    if at_once == 1:
        for number in range(len(machines)):
            member(number)
    else:
        with executor(at_once) as pool:
            futures = [pool.submit(member, number) for number in range(len(machines))]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:
                # An interrupt, an error or the end: what runs stops, in the middle of an epoch.
                if not all(future.done() for future in futures):
                    stop.set()
                    cancelled.set()
                    pool.shutdown(cancel_futures=True)
        for future in futures:
            if not future.cancelled():
                future.result()
    return [number for number, was in enumerate(begun) if was]


@step("machines")
def read(
    machines: Sequence[TsetlinMachineClassifier],
    rows: Sequence[NDArray[np.intp]],
    matrix: Any,
    novel: NDArray[np.bool_],
) -> Learned:
    """Read what machines have learned.

    `rows` are the documents that each machine has learned from, this time; none if training ended
    before.
    """
    labels = np.array(SIDES)[novel.astype(int)]
    parts, held_out = [], []
    kept = np.setdiff1d(held_out_rows(novel), np.concatenate(list(rows)))
    total, voters = np.zeros((3, len(novel))), np.zeros(len(novel), np.int64)
    for machine, learned in zip(machines, rows, strict=True):
        rest = np.setdiff1d(np.arange(len(novel)), learned)
        clauses = machine.clauses_
        if not len(learned):  # its counts are of earlier documents
            nothing = np.zeros(len(clauses), np.int64)
            clauses = replace(clauses, matches=nothing, agrees=nothing)
        if len(rest):
            more = machine.support(matrix[rest], labels[rest])
            clauses = replace(
                clauses, matches=clauses.matches + more[0], agrees=clauses.agrees + more[1]
            )
            sums = machine.class_sums(matrix[rest]).astype(np.float64)
            lead = sums[:, 1] - sums[:, 0]
            lacking = clauses.take(np.flatnonzero(np.diff(clauses.plain.indptr) == 0))
            signs = np.where((lacking.class_index == 1) == (lacking.polarity > 0), 1.0, -1.0)
            by_lacking = lacking.matching(matrix[rest]) @ signs
            total[:, rest] += np.clip(lead / (2 * machine.T), -1, 1), lead, by_lacking
            voters[rest] += 1
        counts = np.zeros((2, len(clauses)), np.int64)
        if len(kept):
            counts[:] = machine.support(matrix[kept], labels[kept])
        parts.append(clauses)
        held_out.append(counts)
    means = np.full(total.shape, np.nan)
    np.divide(total, voters, out=means, where=voters > 0)
    votes, leads, by_lacking = means
    return Learned(
        Clauses.concatenate(parts), np.concatenate(held_out, axis=1), votes, leads - by_lacking
    )
