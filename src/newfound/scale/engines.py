"""Where the passes of a description run: on one machine, or on an engine.

A pass is a pure function of record batches whose results are added up by key; the sums are of whole
numbers, so that their order does not matter. Beside, an engine has to train the machines of a
committee, each by itself.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import signal
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain, islice
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.committee import Train, member_rows, train
from newfound.machine.validation import thread_count
from newfound.processes import safe_path
from newfound.scale.arrow import Checkpoint, pyarrow
from newfound.sides import SIDES
from newfound.text.formats import check_column, check_text_column

__all__ = [
    "Batches",
    "Engine",
    "FrameEngine",
    "add_up",
    "aggregation",
    "map_batches",
    "train_as_tasks",
]

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # batches that wait for each process
_WORTHWHILE = 2  # batches; with fewer, starting processes takes longer than the work
_PATIENCE = 2.0  # seconds between two looks at whether the parent lives

_work: Callable[[Any], Any] | None = None
_AT_ONCE = 16  # results that are kept until they are added up

Work = Callable[[Any], Any]
Map = Callable[[Work, Sequence[Any]], list[Any]]


def map_batches(
    work: Callable[[Item], Result], batches: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Return what a function returns for each batch, in their order.

    Few batches wait at a time, so that memory does not grow with their number. The function and
    each batch can be pickled.

    Raises
    ------
    ChildProcessError
        If a process was killed, as by a system that runs out of memory.

    Examples
    --------
    >>> list(map_batches(len, [[1], [2, 3]]))
    [1, 2]
    """
    processes, rest = thread_count(n_jobs), iter(batches)
    head = list(islice(rest, _WORTHWHILE)) if processes > 1 else []
    if processes == 1 or len(head) < _WORTHWHILE:
        yield from map(work, chain(head, rest))
        return
    # A fork would copy threads of Arrow and of the core in an unknown state.
    context = multiprocessing.get_context("spawn")
    with safe_path():
        pool = ProcessPoolExecutor(processes, context, _begin, (work, os.getpid()))
    try:
        waiting: deque[Future[Any]] = deque()
        for batch in chain(head, rest):
            with safe_path():  # it starts a process as long as there are too few
                waiting.append(pool.submit(_call, batch))
            if len(waiting) > _AHEAD * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "A process that read documents was killed, probably because memory ran out; use fewer "
            "jobs. With a checkpoint, the run goes on where it was."
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(work: Callable[[Any], Any], parent: int) -> None:
    global _work
    _work = work
    atexit.register(_end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles it
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end() -> None:
    """Let go of what belongs to the core before the interpreter ends."""
    global _work
    _work = None
    gc.collect()


def _end_with(parent: int) -> None:
    """End this process soon after its parent, even if that was killed."""
    while os.getppid() == parent:
        time.sleep(_PATIENCE)
    os._exit(1)


def _call(batch: Any) -> Any:
    assert _work is not None
    return _work(batch)


class Engine(Protocol):
    """Runs a pass over all documents, and trains the machines of a committee."""

    @property
    def train(self) -> Train:
        """The way to train machines; see `newfound.machine.committee.train`."""

    def sums(self, work: Work, schema: Any, keys: Sequence[str]) -> Any:
        """Return what `work` returns for all batches, added up by some of its columns.

        Parameters
        ----------
        work : callable
            Takes a record batch with documents and returns one with sums; can be pickled.
        schema : pyarrow.Schema
            That of its results.
        keys : sequence of str
            The columns that tell the sums apart. All others are whole numbers that are added; of
            ``first`` the least is kept, and of ``last`` the greatest.

        Returns
        -------
        pyarrow.Table
            Sorted by the keys.
        """


def aggregation(name: str) -> str:
    """Return how the values of a column are joined: "sum", "min" or "max"."""
    return {"first": "min", "last": "max"}.get(name, "sum")


def add_up(tables: Iterable[Any], schema: Any, keys: Sequence[str]) -> Any:
    """Add up tables by some of their columns, and sort them by these."""
    pa = pyarrow()
    whole = pa.concat_tables([schema.empty_table(), *tables])
    values = [name for name in schema.names if name not in keys]
    grouped = whole.group_by(list(keys), use_threads=False)
    added = grouped.aggregate([(name, aggregation(name)) for name in values])
    columns = [
        added.column(name if name in keys else f"{name}_{aggregation(name)}")
        for name in schema.names
    ]
    named = pa.Table.from_arrays([c.cast(f.type) for c, f in zip(columns, schema, strict=True)],
                                 schema=schema)  # fmt: skip
    return named.sort_by([(name, "ascending") for name in keys])


class FrameEngine(ABC):
    """Runs passes over a data frame of an engine, which adds up before anything comes back.

    Of its columns, only those of the text, the side and the date are read.
    """

    def __init__(
        self, dataframe: Any, schema: Any, *, text: str, side: str, date: str | None = None
    ) -> None:
        check_text_column(schema, text, "The data frame")
        others = [side] if date is None else [side, date]
        for name in others:
            check_column(schema, name, "The data frame")
        self.dataframe = dataframe[[text, *others]]

    def sums(self, work: Work, schema: Any, keys: Sequence[str]) -> Any:
        """Return the sums of a pass; see `Engine`."""
        table = self.collect(work, schema, list(keys))
        return add_up([table.select(schema.names).cast(schema)], schema, keys)

    @property
    def train(self) -> Train:
        """Trains each machine as a task; see `Engine`."""
        return partial(train_as_tasks, self.map)

    @abstractmethod
    def map(self, work: Work, items: Sequence[Any]) -> list[Any]:
        """Return what a function returns for each item, in their order; each is a task."""

    @abstractmethod
    def collect(self, work: Work, schema: Any, keys: list[str]) -> Any:
        """Return the sums as a table with the columns of the schema, as the engine has them."""


def train_as_tasks(
    run: Map,
    machines: list[TsetlinMachineClassifier],
    matrix: Any,
    novel: NDArray[np.bool_],
    epochs: int,
    *,
    most: int | None = None,
    **options: Any,
) -> list[NDArray[np.intp]]:
    """Let each machine of a committee learn as a task; as `newfound.machine.committee.train`.

    `run` returns what a function returns for each item of a list, in their order. What a machine
    learns depends on its documents and its seed alone: it is the same wherever it learns.
    """
    labels = np.array(SIDES)[novel.astype(int)]
    rows = [
        member_rows(novel, int(cast("int", machine.random_state)), len(machines), most)
        for machine in machines
    ]
    for machine in machines:
        machine.n_jobs = 1
    tasks = [
        (machine, matrix[mine], labels[mine]) for machine, mine in zip(machines, rows, strict=True)
    ]
    machines[:] = run(fit_machine, tasks)
    return rows


def fit_machine(task: tuple[TsetlinMachineClassifier, Any, Any]) -> TsetlinMachineClassifier:
    """Return a machine that has learned from its documents."""
    machine, matrix, labels = task
    return machine.fit(matrix, labels)


class Batches:
    """Documents of one machine, as batches that can be read several times.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Read from the start in each pass, such as a `newfound.scale.Source`.
    n_jobs : int or None, default=None
        Number of processes; None is 1, -1 one for each core.
    progress : callable, optional
        Called with the number of batches that are done in this pass.
    checkpoint : Checkpoint, optional
        Keeps the sums of each pass, and those of a pass that is not complete.
    """

    def __init__(
        self,
        batches: Iterable[Any],
        n_jobs: int | None = None,
        progress: Callable[[int], None] | None = None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.batches, self.n_jobs, self.progress = batches, n_jobs, progress
        self.checkpoint = checkpoint
        self._passes = 0

    @property
    def train(self) -> Train:
        """Trains machines in threads of this process; see `Engine`."""
        return train

    def sums(self, work: Work, schema: Any, keys: Sequence[str]) -> Any:
        """Return the sums of a pass; see `Engine`."""
        self._passes += 1
        pa, begun, kept = pyarrow(), 0, None
        if self.checkpoint is not None:
            begun, kept = self.checkpoint.load(self._passes, schema)
        if begun < 0:
            return add_up([kept], schema, keys)
        waiting = [] if kept is None else [kept]
        rest = islice(self.batches, begun, None)
        for done, batch in enumerate(map_batches(work, rest, self.n_jobs), begun + 1):
            waiting.append(pa.Table.from_batches([batch]))
            if len(waiting) >= _AT_ONCE:
                waiting = [add_up(waiting, schema, keys)]
                self._keep(done, waiting[0])
            if self.progress is not None:
                self.progress(done)
        found = add_up(waiting, schema, keys)
        self._keep(-1, found)
        return found

    def _keep(self, done: int, table: Any) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save(self._passes, done, table)
