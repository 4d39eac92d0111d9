"""Processes that run Python. None of them looks for modules in the working folder.

Python puts the working folder first where it looks for modules, also for the processes of
`multiprocessing`: an ``html.py`` among downloaded files would be run.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["clean_environment", "python_command", "safe_path"]

_SAFE = "PYTHONSAFEPATH"
_lock = threading.RLock()


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module by the same Python.

    Examples
    --------
    >>> python_command("newfound.serve.worker", "folder")[1:]
    ['-P', '-m', 'newfound.serve.worker', 'folder']
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def clean_environment() -> dict[str, str]:
    """Return the environment for a process with another working folder.

    Folders of ``PYTHONPATH`` are where they were; its empty entries, which mean the working folder,
    are left out.
    """
    found = dict(os.environ)
    if "PYTHONPATH" in found:
        folders = filter(None, found["PYTHONPATH"].split(os.pathsep))
        found["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, folders))
    return found


@contextmanager
def safe_path() -> Iterator[None]:
    """Let a process that a library starts here not look for modules in the working folder.

    A process of `multiprocessing` takes the path of its parent once it has begun, so that it loses
    nothing by this.
    """
    with _lock:
        before = os.environ.get(_SAFE)
        os.environ[_SAFE] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE]
            else:
                os.environ[_SAFE] = before
