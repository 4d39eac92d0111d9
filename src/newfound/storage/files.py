"""Files: written completely or not at all, refused, held by one process; SQLite files."""

from __future__ import annotations

import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Self

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "HeldByAnotherError",
    "ModelFileError",
    "Refusal",
    "begin_database",
    "check_writable",
    "locked_file",
    "one_line",
    "prefix_errors",
    "remove_unfinished",
    "replacing",
    "transaction",
]

_ABANDONED_AFTER = 3600.0  # seconds without a change
_TEMPORARY = re.compile(r"\.newfound-[0-9a-f]{16}(\..*)?")
_MAX_LINE = 300
_MAX_NAME = 120
_AGAIN = "copy the file again, or save the model again"
_unfinished: set[Path] = set()


@contextmanager
def replacing(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the same folder, and rename it to `path` at the end.

    If an error occurs before that, the temporary file is removed and `path` is unchanged. The
    temporary name has the suffix of `path`, for writers that choose a format by it. A file that
    replaces another one, as `force` allows, gets its permissions; until then only its owner can
    read it. A symbolic link stays, and its target is replaced.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with replacing(folder / "words.csv") as temporary:
    ...     _ = temporary.write_text("word,score")
    >>> [file.name for file in folder.iterdir()]
    ['words.csv']
    """
    _check_existing(path, force=force)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".newfound-{secrets.token_hex(8)}{target.suffix}")
    try:
        with prefix_errors(f"Cannot write {os.fspath(path)}"):
            permissions = _permissions(target)
            _remove_abandoned(target.parent)
            _unfinished.add(temporary)
            _create(temporary, 0o666 if permissions is None else 0o600)
            yield temporary
            with open(temporary, "rb+") as stream:
                os.fsync(stream.fileno())
            if permissions is not None:
                os.chmod(temporary, permissions)
        _check_existing(path, force=force)  # someone else may have created it meanwhile
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    finally:
        _unfinished.discard(temporary)
    _sync_folder(target.parent)


def remove_unfinished() -> None:
    """Remove the temporary files of this process, which is about to end."""
    for temporary in list(_unfinished):
        with suppress(OSError):
            temporary.unlink()


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of processes that were killed: nobody has written to them for long.

    Those of this process stay, even if the clock has jumped ahead.
    """
    mine = {temporary.name for temporary in _unfinished}
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in mine or not entry.is_file(follow_symlinks=False):
                continue
            if _TEMPORARY.fullmatch(entry.name):
                with suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_AFTER:
                        os.unlink(entry.path)


def check_writable(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise the `OSError` that `replacing` would raise, before any work is done."""
    _check_existing(path, force=force)
    probe = Path(os.path.realpath(path)).with_name(f".newfound-{secrets.token_hex(8)}")
    with prefix_errors(f"Cannot write {os.fspath(path)}"):
        try:
            _create(probe)
        finally:
            probe.unlink(missing_ok=True)


@contextmanager
def prefix_errors(prefix: str) -> Iterator[None]:
    """Raise an `OSError` again as one sentence, ``prefix: reason.``, with its type and number."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:
            raise
        raise OSError(error.errno, f"{prefix}: {error.strerror}.") from error


def _check_existing(path: str | os.PathLike[str], *, force: bool) -> None:
    name = os.fspath(path)
    if os.path.isdir(name):
        raise IsADirectoryError(f"Cannot write {name}: it is a folder; name a file in it.")
    if os.path.exists(name) and not os.path.isfile(name):
        raise FileExistsError(f"Cannot write {name}: it exists and is not a file.")
    if os.path.exists(name) and not force:
        raise FileExistsError(f"{name} exists; pass --force (in Python: force=True) to replace it.")


def _create(path: Path, permissions: int = 0o666) -> None:
    """Create a file that must not exist yet; the umask applies."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, permissions))


def _permissions(path: Path) -> int | None:
    """Return the permission bits of a file, or None if it does not exist."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power failure, where the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class HeldByAnotherError(OSError):
    """Another process has the file."""


def locked_file(path: Path) -> BinaryIO:
    """Return an open file that no other process can have; a killed process gives it up."""
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


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Keep all that is written inside, or nothing; of a database with ``isolation_level=None``.

    Examples
    --------
    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(database):
    ...     _ = database.execute("CREATE TABLE words (word TEXT)")
    >>> database.execute("SELECT count(*) FROM words").fetchone()
    (0,)
    >>> database.close()
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # not after an error for which SQLite itself has rolled back
            database.execute("ROLLBACK")
        raise


def begin_database(
    database: sqlite3.Connection, schema: str, *, application: int, version: int
) -> None:
    """Write the tables of a new file and, in its header, the program and the format it is of."""
    database.execute("PRAGMA journal_mode = WAL")
    with transaction(database):
        for statement in filter(str.strip, schema.split(";")):
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {application}")
        database.execute(f"PRAGMA user_version = {version}")


class ModelFileError(ValueError):
    """The file is not a sound model; the message names the file, the defect and what to do."""


class Refusal(ValueError):
    """A reason to refuse a file, without the name of the file, and what to do.

    `reason` follows the name: "is damaged: its checksum does not match".
    """

    def __init__(self, reason: str, advice: str = _AGAIN) -> None:
        super().__init__(f"{reason}; {advice}.")
        self.reason, self.advice = reason, advice

    @classmethod
    def foreign(cls) -> Self:
        """Return the refusal of a file that newfound did not write."""
        return cls("is not a newfound model", "pass a file that newfound.save wrote")

    @classmethod
    def truncated(cls) -> Self:
        """Return the refusal of a file whose end is missing."""
        return cls("is truncated or was altered: it has no end record")

    @classmethod
    def damaged(cls, defect: str) -> Self:
        """Return the refusal of a file that was altered."""
        return cls(f"is damaged: {defect}")

    def of(self, name: str) -> ModelFileError:
        """Return the error of a file: one line of at most 300 characters."""
        name = one_line(name, _MAX_NAME, keep_end=True)
        room = _MAX_LINE - len(name) - len(self.advice) - 4
        return ModelFileError(f"{name} {one_line(self.reason, room)}; {self.advice}.")


def one_line(text: str, most: int, *, keep_end: bool = False) -> str:
    r"""Return a text on one line, without control characters, shortened to `most` characters.

    Examples
    --------
    >>> one_line("a\nlong text", 8), one_line("a long path", 5, keep_end=True)
    ('a long …', '…path')
    """
    cut = text[: most + 1] if not keep_end else text[-most - 1 :]
    line = "".join(letter if letter.isprintable() else " " for letter in cut)
    if len(line) <= most:
        return line
    return f"…{line[1 - most :]}" if keep_end else f"{line[: most - 1]}…"
