"""The shelf of encoders: a folder of folders, whose names stand for encoders.

It is the folder of the environment variable ``NEWFOUND_ENCODERS``, or ``encoders`` in the user's
data folder. Installed packages can bring encoders, too: an entry point of the group
``newfound.encoders`` is a function that returns a folder of the same name. A detector finds the
encoder that it learned with by its name, so that the service, the monitor, clusters and cron need
no option. Files come to the shelf by a copy, or by a download that was asked for; they are tried
before they get their name.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from http.client import HTTPException
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

import numpy as np

from newfound.detection.encoders import files_of, read_encoder

__all__ = [
    "ENDPOINT",
    "SHELF",
    "add_encoder",
    "download_encoder",
    "encoder_folder",
    "encoder_names",
    "load_encoder",
    "named_folder",
    "shelf",
    "shelved_encoder",
]

SHELF, ENDPOINT = "NEWFOUND_ENCODERS", "HF_ENDPOINT"
_GROUP = "newfound.encoders"
_HUB = "https://huggingface.co"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_REPOSITORY = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99}/)?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TOKENIZER, _STATIC = "tokenizer.json", "model.safetensors"
_MODELS = ("onnx/model.onnx", "model.onnx", _STATIC)
_SECONDS = 60
_CHUNK = 1 << 16
_MOST_BYTES = 4 << 30
_KEPT = 4  # encoders in memory
_TRIED = ["Please pay the electricity bill.", "rugby"]

Progress = Callable[[str, int, int], None]


def shelf() -> Path:
    """Return the folder of the encoders that have a name."""
    import platformdirs

    given = os.environ.get(SHELF)
    return Path(given) if given else platformdirs.user_data_path("newfound", False) / "encoders"


def encoder_names() -> list[str]:
    """Return the names of the encoders on the shelf and of those of installed packages."""
    folder, found = shelf(), {each.name for each in entry_points(group=_GROUP)}
    if folder.is_dir():
        found |= {each.name for each in folder.iterdir() if (each / _TOKENIZER).is_file()}
    return sorted(name for name in found if _NAME.fullmatch(name))


def named_folder(name: str) -> Path:
    """Return the folder of a name; the shelf goes before packages."""
    path = shelf() / name
    if path.is_dir():
        return path
    return next(Path(each.load()()) for each in entry_points(group=_GROUP) if each.name == name)


def encoder_folder(encoder: str | os.PathLike[str]) -> Path:
    """Return the folder of an encoder, given itself or a name on the shelf."""
    path, name = Path(encoder), os.fspath(encoder)
    if name and path.is_dir():
        return path
    if name in encoder_names():
        return named_folder(name)
    there = ", ".join(encoder_names()) or "none"
    raise ValueError(
        f"There is no folder {name!r}, and no encoder of that name in {shelf()} (there: {there}). "
        "newfound encoder add FOLDER copies one there, newfound encoder get REPOSITORY downloads "
        "one."
    )


def load_encoder(encoder: str | os.PathLike[str], *, n_jobs: int | None = None) -> Any:
    """Read an encoder from a folder, for `NoveltyDetector(encoder=...)`.

    Parameters
    ----------
    encoder : path or str
        A folder with ``tokenizer.json`` and ``model.onnx`` (also in a subfolder ``onnx``), or
        ``model.safetensors`` with static vectors; or the name of such a folder where ``newfound
        encoder`` keeps them. Nothing is downloaded.
    n_jobs : int or None, default=None
        Number of texts that a model in ONNX reads at a time; None is 1, -1 one for each core. The
        result does not depend on it.

    Returns
    -------
    OnnxEncoder or StaticEncoder
        With a method ``encode(texts)`` and a ``name``, that of the folder.

    Raises
    ------
    ValueError
        If there is no such folder or name, or its files are missing or damaged.
    ImportError
        If the libraries of the extra ``meaning`` are not installed.
    """
    return read_encoder(encoder_folder(encoder), n_jobs=n_jobs)


def shelved_encoder(name: str) -> Any:
    """Return the encoder with this name on the shelf, read once for all detectors; else None."""
    return _read_once(named_folder(name)) if name in encoder_names() else None


@lru_cache(maxsize=_KEPT)
def _read_once(folder: Path) -> Any:
    return read_encoder(folder)


def add_encoder(folder: Path, name: str | None = None, *, force: bool = False) -> Path:
    """Copy an encoder to the shelf; return its folder there.

    Its files are copied, and no others.
    """
    if not folder.is_dir():
        raise ValueError(f"There is no folder {str(folder)!r}.")
    tokenizer, model = files_of(folder)
    _try(folder)
    with _new_on_shelf(name or folder.resolve().name, force=force) as aside:
        shutil.copyfile(tokenizer, aside / _TOKENIZER)
        shutil.copyfile(model, aside / model.name)
    return shelf() / (name or folder.resolve().name)


def download_encoder(
    repository: str,
    name: str | None = None,
    *,
    revision: str = "main",
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Download an encoder to the shelf; return its folder there.

    Parameters
    ----------
    repository : str
        Such as ``sentence-transformers/all-MiniLM-L6-v2`` on the Hugging Face Hub, or on the server
        that ``HF_ENDPOINT`` names.
    name : str, optional
        Its name on the shelf; by default the last part of the repository's.
    revision : str, default="main"
        The branch, tag or commit.
    force : bool, default=False
        Replace an encoder of the same name.
    progress : callable, optional
        Called with the name of a file, the bytes that have come and the bytes in all (0 if the
        server does not say).

    Returns
    -------
    Path
    """
    if not _REPOSITORY.fullmatch(repository):
        raise ValueError(
            f"{repository!r} is no name of a repository, such as "
            "sentence-transformers/all-MiniLM-L6-v2."
        )
    hub = os.environ.get(ENDPOINT) or _HUB
    if not hub.startswith(("https://", "http://")):
        raise ValueError(f"{ENDPOINT}={hub!r} is no address; expected one such as {_HUB}.")
    base = f"{hub.rstrip('/')}/{repository}/resolve/{quote(revision)}"
    name = name or repository.rpartition("/")[2]
    with _new_on_shelf(name, force=force) as aside:
        if not _fetch(f"{base}/{_TOKENIZER}", aside / _TOKENIZER, progress):
            raise ValueError(
                f"{base} has no {_TOKENIZER}: there is no such repository, or no encoder."
            )
        for file in _MODELS:
            if _fetch(f"{base}/{file}", aside / Path(file).name, progress):
                break
        else:
            raise ValueError(f"{base} has none of {', '.join(_MODELS)}.")
        _try(aside)
        about = {"repository": repository, "revision": revision}
        (aside / "source.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
    return shelf() / name


@contextmanager
def _new_on_shelf(name: str, *, force: bool) -> Iterator[Path]:
    """Yield an empty folder, which becomes that of an encoder if nothing goes wrong."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name of an encoder: letters, digits, dots, hyphens and underscores, "
            "at most 100."
        )
    target = shelf() / name
    if target.exists() and not force:
        raise FileExistsError(f"{target} exists; use --force, or --name for another name.")
    aside = shelf() / f".newfound-{secrets.token_hex(8)}"
    gone = shelf() / f".newfound-{secrets.token_hex(8)}"
    aside.mkdir(parents=True)
    try:
        yield aside
        if target.exists():
            if not force:  # it has come meanwhile
                raise FileExistsError(f"{target} exists; use --force, or --name for another name.")
            os.replace(target, gone)
        try:
            os.replace(aside, target)
        except BaseException:
            if gone.exists():
                os.replace(gone, target)
            raise
        _read_once.cache_clear()
    finally:
        for folder in (aside, gone):
            shutil.rmtree(folder, ignore_errors=True)


def _try(folder: Path) -> None:
    """Raise a ValueError unless the encoder of a folder gives vectors."""
    vectors = np.asarray(read_encoder(folder).encode(_TRIED), np.float64)
    if not np.isfinite(vectors).all() or not vectors.any():
        raise ValueError("This encoder gives no vectors, or vectors of zeros.")


def _fetch(url: str, path: Path, progress: Progress | None) -> bool:
    """Write what an address has to a file; return whether there is such an address."""
    request = Request(url, headers={"User-Agent": "newfound", "Accept-Encoding": "identity"})
    try:
        with urlopen(request, timeout=_SECONDS) as answer, path.open("wb") as file:
            total, done = int(answer.headers.get("Content-Length") or 0), 0
            while chunk := answer.read(_CHUNK):
                done += len(chunk)
                if done > _MOST_BYTES:
                    raise ValueError(f"{url} has more than {_MOST_BYTES >> 30} GB.")
                file.write(chunk)
                if progress is not None:
                    progress(path.name, done, total)
    except HTTPError as error:
        path.unlink(missing_ok=True)
        if error.code in (401, 404):  # the Hub says 401 of repositories that it does not have
            return False
        raise ValueError(f"Cannot download {url}: the server answers {error.code}.") from error
    except URLError as error:
        raise ValueError(f"Cannot download {url}: {error.reason}.") from error
    except (HTTPException, TimeoutError, ConnectionError) as error:
        raise ValueError(f"Cannot download {url}: the connection broke off.") from error
    if total and done != total:
        raise ValueError(f"Cannot download {url}: {done:,} of {total:,} bytes came.")
    return True
