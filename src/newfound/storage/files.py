"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["refuse_path", "told_as", "written_aside"]


@contextmanager
def written_aside(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Give a temporary path in the same folder; at the end it takes the place of `path`.

    If anything goes wrong before that, the temporary file is removed and `path` is as it was. The
    temporary name ends like `path`, for writers that go by it. A file that takes the place of
    another has its rights; until then only its owner can read it.
    """
    refuse_path(path, force=force)
    # A link is followed, so that it stays a link and what it points to is replaced.
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".newfound-{secrets.token_hex(8)}{target.suffix}")
    try:
        with told_as(f"Cannot write {os.fspath(path)}"):
            rights = _rights(target)
            _create(aside, 0o666 if rights is None else 0o600)
            yield aside
            with open(aside, "rb+") as stream:
                os.fsync(stream.fileno())
            if rights is not None:
                os.chmod(aside, rights)
        _refuse_existing(path, force=force)
        os.replace(aside, target)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    _sync_folder(target.parent)


def refuse_path(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise what writing to `path` would raise in the end, before the work that leads there."""
    _refuse_existing(path, force=force)
    probe = Path(os.path.realpath(path)).with_name(f".newfound-{secrets.token_hex(8)}")
    with told_as(f"Cannot write {os.fspath(path)}"):
        try:
            _create(probe)
        finally:
            probe.unlink(missing_ok=True)


def _refuse_existing(path: str | os.PathLike[str], *, force: bool) -> None:
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(f"Cannot write {name}: it is a folder; name a file in it.")
    if os.path.exists(name) and not os.path.isfile(name):
        raise FileExistsError(f"Cannot write {name}: it exists and is not a file.")
    if os.path.exists(name) and not force:
        raise FileExistsError(f"{name} exists; pass --force (in Python: force=True) to replace it.")


def _create(path: Path, rights: int = 0o666) -> None:
    """Make a file that was not there, with the rights of any new file or fewer."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, rights))


def _rights(path: Path) -> int | None:
    """Give who may read, write and run a file; None where there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except FileNotFoundError:
        return None


@contextmanager
def told_as(beginning: str) -> Iterator[None]:
    """Make one sentence of what the system says; the number and type of the error stay."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(error.errno, f"{beginning}: {error.strerror}.") from error


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
