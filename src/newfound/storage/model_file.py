"""Save a model to one file and load it again; docs/model-file.md describes the file.

A model is a *state*: nested dicts and lists of plain values, with numpy arrays anywhere in them.
The file is a zip archive of ``model.json``, the plain values, and one ``.npy`` file for each
array, named after its place in the state: ``clauses.literals.npy`` is ``state["clauses"]
["literals"]``. There is no pickle in it, and loading executes nothing.

A hostile file is refused before it costs much. The directory of the archive and the headers of
the arrays say how much memory a model takes at most. A file may take 64 MB, and 64 bytes for each
of its bytes. A model that compresses better than that is stored without compression.
"""

from __future__ import annotations

import json
import math
import os
import stat
import zipfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from newfound.storage.archive import (
    HEADER_BYTES,
    ArrayHeader,
    Directory,
    beginning,
    contents,
    fill,
    parse_header,
    read_directory,
    storable,
    write_archive,
)
from newfound.storage.fields import Fields
from newfound.storage.files import ModelFileError, Refusal, prefix_errors, replacing

__all__ = ["FORMAT", "ModelFileError", "load_model", "memory_limit", "save_model"]

FORMAT = 1
BASE_MEMORY = 64_000_000
MEMORY_PER_BYTE = 64

_STATE = "model.json"
_SUFFIX = ".npy"
_MAX_DIGITS = 40

Model = TypeVar("Model")


def save_model(
    path: str | os.PathLike[str],
    kind: str,
    make_state: Callable[[], Mapping[str, Any]],
    *,
    force: bool = False,
) -> None:
    """Write a model to a file, completely or not at all.

    `kind` is what it holds, such as "describer". The state is made after the path was checked.
    """
    with replacing(path, force=force) as temporary:
        arrays: dict[str, NDArray[Any]] = {}
        values = _without_arrays(make_state(), "", arrays)
        document = {
            "kind": kind, "format": FORMAT, "newfound": version("newfound"), "state": values,
        }  # fmt: skip
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        members: dict[str, bytes | NDArray[Any]] = {_STATE: text.encode()}
        members |= {f"{name}{_SUFFIX}": storable(name, array) for name, array in arrays.items()}
        _write(temporary, members)


def _write(path: str | os.PathLike[str], members: Mapping[str, bytes | NDArray[Any]]) -> None:
    estimate = sum(
        json_memory_estimate(content)
        if isinstance(content, bytes)
        else ArrayHeader(content.dtype, content.shape, 0).memory_estimate
        for content in members.values()
    )
    try:
        length = write_archive(path, members, format=FORMAT)
        if estimate > memory_limit(length):
            length = write_archive(path, members, format=FORMAT, compress=False)
    except (zipfile.LargeZipFile, RuntimeError) as error:
        raise ValueError(
            "Cannot save a model of more than 2 GB; save it without its automata, or learn from "
            "fewer words."
        ) from error
    if estimate > memory_limit(length):
        raise ValueError(f"Cannot save this model: it needs {estimate:,} bytes of memory to load.")


def load_model(
    path: str | os.PathLike[str], kinds: Mapping[str, Callable[[Mapping[str, Any]], Model]]
) -> Model:
    """Read a model from its file; `kinds` has what makes a model of the state, for each kind.

    A file that is truncated, altered, of a newer format or another kind, or not a model is a
    `ModelFileError`, one that cannot be opened an `OSError`.
    """
    name = os.fspath(path)
    kind = ""
    try:
        with prefix_errors(f"Cannot read {name}"):
            if not stat.S_ISREG(os.stat(name).st_mode):
                raise Refusal("is not a file", "pass a file that newfound.save wrote")
            with open(name, "rb") as stream:
                kind, state = _read(stream, kinds)
        return kinds[kind](state)
    except Refusal as refusal:
        raise refusal.of(name) from refusal
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The checks of parameters raise a ValueError that names the parameter.
        reason = f": {str(error).rstrip('.')}" if isinstance(error, ValueError) else ""
        invalid = Refusal(f"is not a valid {kind} file{reason}", "save the model again")
        raise invalid.of(name) from error


def memory_limit(length: int) -> int:
    """Return how many bytes of memory a file of this length may take while it is loaded."""
    return min(BASE_MEMORY + MEMORY_PER_BYTE * length, _memory())


def _without_arrays(state: Mapping[str, Any], place: str, arrays: dict[str, NDArray[Any]]) -> Any:
    """Return the plain values of a state, and put its arrays into `arrays` by their places."""
    values: dict[str, Any] = {}
    for name, value in state.items():
        here = f"{place}{name}"
        if isinstance(value, np.ndarray):
            arrays[here] = value
        elif isinstance(value, Mapping):
            values[name] = _without_arrays(value, f"{here}.", arrays)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            values[name] = [
                _without_arrays(item, f"{here}.{i}.", arrays) for i, item in enumerate(value)
            ]
        else:
            values[name] = value
    return values


def _put_back(state: dict[str, Any], place: str, array: NDArray[Any]) -> None:
    """Put an array into a state at its place, which has to be free."""
    *parents, name = place.split(".")
    owner: Any = state
    for parent in parents:
        if isinstance(owner, list) and parent.isdecimal() and int(parent) < len(owner):
            owner = owner[int(parent)]
        else:
            owner = owner.get(parent) if isinstance(owner, dict) else None
    if not isinstance(owner, dict) or name in owner:
        raise Refusal.damaged(f"its state has no place for the array {place}")
    owner[name] = array


def _read(stream: BinaryIO, kinds: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    directory = read_directory(stream, format=FORMAT)
    if directory.format != FORMAT:
        raise Refusal(
            f"was written by a newer newfound, in format {directory.format}; "
            f"newfound {version('newfound')} reads format {FORMAT}",
            "upgrade newfound",
        )
    length = stream.seek(0, os.SEEK_END)
    limit = memory_limit(length)
    headers = _headers(stream, directory, length, limit)
    state_member = directory.members[0]
    estimate = sum(header.memory_estimate for header in headers.values())
    _check_memory_estimate(estimate + 3 * state_member.size, length, limit)
    text = b"".join(contents(stream, state_member))
    _check_memory_estimate(estimate + json_memory_estimate(text), length, limit)
    kind, state = _parse(text, kinds)
    for member in directory.members[1:]:
        array = fill(member.name, headers[member.name], contents(stream, member))
        _put_back(state, member.name.removesuffix(_SUFFIX), array)
    return kind, state


def _headers(
    stream: BinaryIO, directory: Directory, length: int, limit: int
) -> dict[str, ArrayHeader]:
    """Return the headers of all arrays; of each member only the first bytes are decompressed."""
    names = [member.name for member in directory.members]
    if names[0] != _STATE or not all(name.endswith(_SUFFIX) for name in names[1:]):
        raise Refusal.damaged(f"expected {_STATE} and then {_SUFFIX} members")
    _check_memory_estimate(sum(member.size for member in directory.members), length, limit)
    return {
        member.name: parse_header(member.name, beginning(stream, member, HEADER_BYTES), member.size)
        for member in directory.members[1:]
    }


def _check_memory_estimate(estimate: int, length: int, limit: int) -> None:
    if estimate > limit:
        raise Refusal(
            f"needs up to {estimate:,} bytes of memory, more than the {limit:,} bytes that a file "
            f"of {length:,} bytes may take",
            "save the model again, or load it where there is more memory",
        )


def json_memory_estimate(text: bytes) -> int:
    """Return an upper bound of the memory that JSON takes while a model is made of it.

    Three bytes, ``[],``, become an object of 56 bytes and a reference. Words are put into several
    tables. A text exists as bytes, as one string and as many, and a single character beyond
    Latin-1 makes each character of its string take up to four bytes.
    """
    width = 3 if text.isascii() and b"\\u" not in text else 12
    objects = {b"{": 200, b":": 200, b"[": 64, b",": 120}
    return width * len(text) + sum(size * text.count(mark) for mark, size in objects.items())


def _parse(text: bytes, kinds: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    try:
        document = json.loads(
            text.decode(),
            parse_constant=_refuse_number,
            parse_float=_parse_float,
            parse_int=_parse_int,
            object_pairs_hook=_unique,
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Refusal.damaged(f"{_STATE} is not JSON, or nested too deep") from error
    fields = Fields(document)
    fields.only(("kind", "format", "newfound", "state"))
    fields.integer("format", least=FORMAT, most=FORMAT)
    kind = fields.text("kind", most=40)
    if kind not in kinds:
        raise Refusal(f"holds a {kind}, not a {' or a '.join(kinds)}", "load it with newfound.load")
    state = fields.value("state")
    Fields(state, "state")
    return kind, state


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise Refusal.damaged(f"{_STATE} has a name twice in one object")
    return values


def _refuse_number(name: str) -> float:
    raise Refusal.damaged(f"{_STATE} has the number {name}, which is not finite")


def _parse_float(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse_number(digits[:20])


def _parse_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise Refusal.damaged(f"{_STATE} has a number of {len(digits):,} digits")
    return int(digits)


def _memory() -> int:
    """Return the memory of this computer in bytes; a model that needs more cannot be loaded."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 40
