"""Control-C: the first one ends a command in order, and further ones cannot end it in disorder.

The first one raises KeyboardInterrupt, which removes unfinished files and ends training. More of
them are ignored for a moment, so that the work of the first is not itself interrupted; after that,
one ends the process at once. Where a library drops the exception, it is raised again. In every case
the exit status is 130.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn

from newfound.storage.files import remove_unfinished

__all__ = ["INTERRUPTED", "came", "ignore", "leave", "watch"]

INTERRUPTED = 130  # the exit status
_PATIENCE = 2.0  # seconds
_LONGEST = 10.0  # seconds that the end may take

_first: float | None = None


def watch() -> None:
    """Handle Control-C from now on, unless it is ignored, as for commands in the background."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _remind)
        sys.unraisablehook = _unraisable


def came() -> bool:
    """Return whether Control-C was pressed; a library may have turned it into another error."""
    return _first is not None


def ignore() -> None:
    """Ignore Control-C from now on: the command has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "setitimer"):
        # The end of the interpreter may take longer, and an alarm would kill it there.
        signal.setitimer(signal.ITIMER_REAL, 0)


def leave() -> NoReturn:
    """End the process now: threads that still train would crash in an orderly end."""
    ignore()
    remove_unfinished()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # nobody reads it any more
    os._exit(INTERRUPTED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _first
    now = time.monotonic()
    if _first is None:
        _first = now
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE, _PATIENCE)
        raise KeyboardInterrupt
    if now - _first > _PATIENCE:
        _end()


def _remind(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt again if it is not being handled, and end what takes too long."""
    if _first is not None and time.monotonic() - _first > _LONGEST:
        _end()
    handled = sys.exc_info()[1]
    while handled is not None and not isinstance(handled, KeyboardInterrupt | SystemExit):
        handled = handled.__context__
    if handled is None:
        raise KeyboardInterrupt


def _end() -> NoReturn:
    remove_unfinished()
    os._exit(INTERRUPTED)


def _unraisable(failed: sys.UnraisableHookArgs) -> None:
    """End the process if Control-C came where an exception is dropped, such as in a destructor."""
    if isinstance(failed.exc_value, KeyboardInterrupt):
        leave()
    sys.__unraisablehook__(failed)
