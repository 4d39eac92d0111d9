"""Read the files of folders and archives without unpacking them to disk.

Links, and names that lead out of an archive, are errors. Sizes are limited, so that a small archive
cannot fill the memory.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.datasets.corpus import DatasetError, Post
from newfound.text.formats import json_fault

__all__ = ["is_archive", "read_archive", "read_json", "read_jsonl", "read_tree"]

MAX_FILES = 100_000
MAX_FILE_BYTES = 1 << 26
MAX_BYTES = 1 << 29

_TAR = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_DEPTH = 5
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError)


def is_archive(path: Path) -> bool:
    """Return whether the name is that of an archive that can be read."""
    return path.name.lower().endswith((*_TAR, ".zip"))


def read_tree(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield the files of a folder whose path matches, in the order of their names."""
    names = []
    for folder, folders, files in os.walk(path):
        inside = Path(folder).relative_to(path)
        if len(inside.parts) >= _DEPTH:
            folders.clear()
        names += [(inside / name).as_posix() for name in files]
        if len(names) > MAX_FILES:
            raise DatasetError(f"{path} has more than {MAX_FILES:,} files; name a smaller folder.")
    for name in sorted(names):
        # The leading slash marks where names begin. The name of the folder itself is included,
        # because the path may point into the layout.
        match = pattern.search(f"/{path.resolve().name}/{name}")
        if match is not None:
            with _readable(path / name):
                _within((path / name).stat().st_size, f"{path / name}")
                raw = (path / name).read_bytes()
            yield match, raw


def read_archive(path: Path, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield the files of a .zip or .tar archive whose name matches, in the order of the archive."""
    members = _zip if path.name.lower().endswith(".zip") else _tar
    total = 0
    with _readable(path):
        for number, (name, size, read) in enumerate(members(path)):
            if number >= MAX_FILES:
                raise DatasetError(f"{path} has more than {MAX_FILES:,} files; it was not read.")
            if name.startswith("/") or ".." in name.replace("\\", "/").split("/"):
                raise DatasetError(f"{path} has the name {name!r}, which leads out of it.")
            match = pattern.search(f"/{name}")
            if match is None:
                continue
            total += size
            _within(size, f"{name} in {path}", total)
            raw = read(size + 1)
            if len(raw) != size:
                raise DatasetError(
                    f"{path} is damaged: {name} has another length than the archive states."
                )
            yield match, raw


def read_jsonl(path: Path, *, required: Sequence[str] = ("id", "text", "label")) -> Iterator[Post]:
    """Yield the documents of a .jsonl or .jsonl.gz file; its keys are the fields of `Post`."""
    opened = gzip.open if path.name.endswith(".gz") else open
    expected = f"{', '.join(required[:-1])} and {required[-1]}"
    total = 0
    with _readable(path), opened(path, "rb") as lines:
        for number, line in enumerate(iter(lambda: lines.readline(MAX_FILE_BYTES + 1), b""), 1):
            where = f"{path}, line {number},"
            total += len(line)
            _within(len(line), where, total)
            try:
                row = json.loads(line)
                values = [row[key] if key in required else row.get(key, "") for key in Post._fields]
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise DatasetError(f"{where} is not a JSON object with {expected}.") from error
            if not all(isinstance(value, str) for value in values):
                raise DatasetError(f"{where} has a value that is not a string.")
            yield Post(*values)


def read_json(path: Path) -> Any:
    """Return the contents of a JSON file."""
    with _readable(path):
        _within(path.stat().st_size, str(path))
        raw = path.read_bytes()
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path} is not JSON: {json_fault(error)}.") from error


def _zip(path: Path) -> Iterator[tuple[str, int, Any]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.flag_bits & 1:
                raise DatasetError(f"{path} is encrypted; unpack it first.")
            if not member.is_dir():
                with archive.open(member) as stream:
                    yield member.filename, member.file_size, stream.read


def _tar(path: Path) -> Iterator[tuple[str, int, Any]]:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.issym() or member.islnk():
                raise DatasetError(f"{path} has the link {member.name!r}; unpack it first.")
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is not None:
                yield member.name, member.size, stream.read


def _within(size: int, what: str, total: int = 0) -> None:
    if size > MAX_FILE_BYTES or total > MAX_BYTES:
        bound = MAX_FILE_BYTES if size > MAX_FILE_BYTES else MAX_BYTES
        raise DatasetError(
            f"{what} goes beyond {bound:,} bytes, more than any data set of newfound."
        )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into a `DatasetError`."""
    try:
        yield
    except DatasetError:
        raise
    except FileNotFoundError as error:
        raise DatasetError(f"There is no file {error.filename or path}.") from error
    except PermissionError as error:
        raise DatasetError(f"Cannot read {path}: {error.strerror}.") from error
    except (*_BROKEN, NotImplementedError, RuntimeError) as error:
        raise DatasetError(f"{path} is damaged or cut off: {error}.") from error
