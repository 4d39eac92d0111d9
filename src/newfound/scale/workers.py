"""The same function on many batches, in several processes, with results in order."""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from typing import Any, TypeVar

from newfound.machine.validation import thread_count
from newfound.processes import safe_path

__all__ = ["map_batches"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 2  # batches that wait for each process
_WORTHWHILE = 2  # batches; with fewer, starting processes takes longer than the work
_PATIENCE = 2.0  # seconds between two looks at whether the parent lives

_work: Callable[[Any], Any] | None = None


def map_batches(
    work: Callable[[Item], Result], batches: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Return what a function returns for each batch, in their order.

    Few batches wait at a time, so that memory does not grow with their number.

    Parameters
    ----------
    work : callable
        Can be pickled.
    batches : iterable
        Can be pickled, too, one by one.
    n_jobs : int or None, default=None
        Number of processes; None is 1, -1 one for each core.

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
