"""Files that only one process can have at a time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

__all__ = ["HeldByAnotherError", "locked_file"]


class HeldByAnotherError(OSError):
    """Another process has the file."""


def locked_file(path: Path) -> BinaryIO:
    """Return an open file that no other process can have; a killed process gives it up.

    Raises
    ------
    HeldByAnotherError
        If another process has it.
    OSError
        If it cannot be opened.
    """
    file = open(path, "ab")  # noqa: SIM115
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise HeldByAnotherError(f"another process has {path}") from error
    return file
