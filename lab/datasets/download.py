"""Downloads: files are stored only if all of them are complete and correct."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import platformdirs

from lab.datasets.corpus import DatasetError

__all__ = ["Source", "cache_folder", "fetch"]

_SECONDS = 60


class Source(NamedTuple):
    """A file to download: its name, its addresses, and its SHA-256 if known."""

    name: str
    urls: tuple[str, ...]
    sha256: str | None = None


def cache_folder() -> Path:
    """Return the folder for downloads: ``NEWFOUND_CACHE``, else the user's cache folder."""
    given = os.environ.get("NEWFOUND_CACHE")
    return Path(given) if given else platformdirs.user_cache_path("newfound", appauthor=False)


def fetch(sources: Sequence[Source], folder: Path, check: Callable[[Path], None]) -> None:
    """Download files into a folder, or raise an error and leave nothing behind.

    Parameters
    ----------
    sources : sequence of Source
        The files.
    folder : Path
        The target folder; created if needed.
    check : callable
        Called with a folder that contains all files; raises an error if they are not correct.
    """
    try:
        pooch = import_module("pooch")
    except ImportError as error:
        raise ImportError("Downloading needs pooch: pip install 'newfound[datasets]'") from error
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".download-", dir=folder))
    try:
        with _silent(pooch):
            for source in sources:
                _get(pooch, source, aside)
        check(aside)
        for source in sources:
            os.replace(aside / source.name, folder / source.name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        with suppress(OSError):
            folder.rmdir()  # if it is empty


def _get(pooch: Any, source: Source, folder: Path) -> None:
    """Download a file from the first address that works."""
    failures = []
    for url in source.urls:
        try:
            pooch.retrieve(
                url,
                known_hash=source.sha256 and f"sha256:{source.sha256}",
                fname=source.name,
                path=folder,
                downloader=pooch.HTTPDownloader(timeout=_SECONDS, chunk_size=1 << 16),
            )
            return
        except (OSError, ValueError) as error:
            failures.append(f"{url}: {_reason(error)}")
    raise DatasetError(f"Cannot download {source.name} from {'; '.join(failures)}.")


def _reason(error: Exception) -> str:
    """Return a short reason for an error of requests or pooch."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status is not None:
        return f"the server answers {status}"
    if isinstance(error, ValueError) and "hash" in str(error):
        return "the checksum is wrong"
    kind = type(error).__name__
    known = {
        "ChunkedEncodingError": "the connection was cut off",
        "ConnectionError": "no connection",
        "ConnectTimeout": "no answer in time",
        "ReadTimeout": "no answer in time",
    }
    return known.get(kind, f"{kind}: {' '.join(str(error).split())}")


@contextmanager
def _silent(pooch: Any) -> Iterator[None]:
    """Keep pooch from writing messages to standard error."""
    logger: logging.Logger = pooch.get_logger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
