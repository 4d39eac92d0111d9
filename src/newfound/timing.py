"""Seconds by step, recorded where someone asks for them.

A function that is a step of the work is marked with `step`. Outside `recorded` the mark does
nothing. Steps within steps count for the outer one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from time import perf_counter
from typing import ParamSpec, TypeVar

__all__ = ["recorded", "step"]

P = ParamSpec("P")
R = TypeVar("R")

_seconds: ContextVar[dict[str, float] | None] = ContextVar("seconds", default=None)


@contextmanager
def recorded() -> Iterator[dict[str, float]]:
    """Record the seconds of all steps that this thread does within the block.

    Examples
    --------
    >>> @step("adding")
    ... def add(a, b):
    ...     return a + b
    >>> with recorded() as seconds:
    ...     total = add(1, 2)
    >>> list(seconds)
    ['adding']
    """
    seconds: dict[str, float] = {}
    token = _seconds.set(seconds)
    try:
        yield seconds
    finally:
        _seconds.reset(token)


def step(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a function as a step of the work; its seconds are added up under the name."""

    def mark(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def timed(*args: P.args, **kwargs: P.kwargs) -> R:
            seconds = _seconds.get()
            if seconds is None:
                return function(*args, **kwargs)
            token = _seconds.set(None)
            began = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                seconds[name] = seconds.get(name, 0.0) + perf_counter() - began
                _seconds.reset(token)

        return timed

    return mark
