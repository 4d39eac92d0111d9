"""One model file: JSON and plain arrays; no pickle, and nothing in it is ever executed.

Formats 1 and 2, which differ in the arrays of a describer, all numbers little-endian::

    magic, 8 bytes | format, u32 | length of the header, u32 | length of the file, u64
    header: JSON, which says the kind of model and the type, shape and packed length of each array
    state: JSON, packed by zlib
    arrays: each packed by zlib, in the order of the header
    checksum: BLAKE2b-256 of everything before it

An array is stored as the narrowest integers that hold it, a vector as the differences between its
neighbours, and the first bytes of all numbers stand before the second ones: literals and offsets
shrink to a tenth.

A hostile file is refused before it costs anything. Every length is checked against the length of
the file, and nothing is unpacked beyond what the header declares. Each part has a price, at least
the memory that it takes while it is read and while a model is made of it; together they may cost
72 MB, and 32 bytes more for each byte of the file beyond 10 MB. A sound model that costs more than
a file of its length may is written with padding.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, BinaryIO, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from newfound.storage.files import refuse_path, told_as, written_aside

__all__ = ["FORMAT", "ModelFileError", "load", "save"]

FORMAT = 2

_MAGIC = b"\x89nfound\n"
_PREFIX = struct.Struct("<8sIIQ")
_DIGEST = 32
_MAX_HEADER = 1 << 19
_MAX_ARRAYS = 4096  # four for the automata of each of 1,000 machines, and some
_FREE = 72_000_000
_FREE_LENGTH = 10_000_000
_RATIO = 32
_CHUNK = 1 << 20
_VECTOR = 32  # bytes for an entry of a vector, of which sparse matrices and tables are made
_STATE = 3  # bytes for an entry of any other array, such as the automata
_PADDING = "padding"
_INTEGERS = ("|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8")
_DTYPES = frozenset((*_INTEGERS, "|b1", "<f4", "<f8"))
# The classes that a file can hold; a file names the kind, never a module.
_KINDS = {
    "describer": ("newfound.description.describer", "NoveltyDescriber"),
    "detector": ("newfound.detection.detector", "NoveltyDetector"),
}

Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that is no sound model; the message says which, why, and what to do."""


class Persistent(Protocol):
    """What a model offers to be saved: its state as JSON and arrays, and the way back."""

    def _state(self, with_automata: bool = False) -> tuple[dict[str, Any], Arrays]: ...

    @classmethod
    def _from_state(cls, meta: dict[str, Any], arrays: Arrays) -> Self: ...


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    with_automata: bool = False,
    force: bool = False,
) -> None:
    """Write a fitted model to one file, whole or not at all.

    Parameters
    ----------
    model : NoveltyDescriber or NoveltyDetector
        The fitted model.
    path : path
        The file; any name will do.
    with_automata : bool, default=False
        Keep the automata too, so that training can go on: a larger file.
    force : bool, default=False
        Replace a file that is there.

    Raises
    ------
    FileExistsError
        Where there is a file and `force` is false.
    OSError
        Where the file cannot be written. What was there before is untouched, and nothing
        half-written is left.
    """
    kinds = {home: kind for kind, home in _KINDS.items()}
    kind = kinds.get((type(model).__module__, type(model).__name__))
    if kind is None:
        known = ", ".join(name for _, name in kinds)
        raise TypeError(f"Cannot save a {type(model).__name__}; expected one of: {known}.")
    refuse_path(path, force=force)
    meta, arrays = cast("Persistent", model)._state(with_automata=with_automata)
    with written_aside(path, force=force) as aside, open(aside, "wb") as stream:
        _write(stream, kind, meta, arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from its file.

    Parameters
    ----------
    path : path
        A file that `save` wrote, with this version of newfound or an earlier one.

    Returns
    -------
    NoveltyDescriber or NoveltyDetector
        The model; it gives the same results as the one that was saved.

    Raises
    ------
    ModelFileError
        Where the file is cut short, altered, of a newer version, or no model at all.
    OSError
        Where it cannot be opened.
    """
    name = os.fspath(path)
    with told_as(f"Cannot read {name}"):
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise ModelFileError(f"{name} is not a file.")
        with open(name, "rb") as stream:
            kind, meta, arrays = _read(stream, name)
    module, class_name = _KINDS[kind]
    model_class = cast("type[Persistent]", getattr(import_module(module), class_name))
    try:
        return model_class._from_state(meta, arrays)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, ValueError) else repr(error)
        raise ModelFileError(f"{name} holds no sound {kind}: {reason}") from error


@dataclass(frozen=True)
class _Block:
    """What the header says of a part of the file; the state is a block of bytes."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    stored: np.dtype[Any]
    delta: bool
    packed: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def price(self) -> int:
        """Bytes in memory at most; a dimension of 0 does not excuse the others.

        That of the state is not yet that of what it says.
        """
        if self.name == _PADDING:
            return 0
        width = self.dtype.itemsize
        if self.stored != self.dtype:
            width += self.stored.itemsize
        if self.name:
            width = max(width, _VECTOR if len(self.shape) == 1 else _STATE)
        return math.prod(max(n, 1) for n in self.shape) * width

    def to_json(self) -> list[Any]:
        return [
            self.name,
            self.dtype.str,
            list(self.shape),
            self.stored.str,
            self.delta,
            self.packed,
        ]

    @classmethod
    def from_json(cls, row: Any) -> _Block:
        """Check a row of the header; a ValueError or TypeError if it is not sound."""
        name, dtype, shape, stored, delta, packed = row
        plain = [name, dtype, stored]
        if not all(isinstance(text, str) for text in plain) or not isinstance(delta, bool):
            raise TypeError("a part is described by other things than names")
        if len(shape) > 8 or any(type(n) is not int or n < 0 for n in (*shape, packed)):
            raise ValueError(f"the part {name!r} has an impossible size")
        whole = dtype in _INTEGERS and stored in _INTEGERS
        fits = stored == dtype or whole or (dtype == "|b1" and stored == "|u1")
        if dtype not in _DTYPES or not fits or stored == "|b1" or (delta and not whole):
            raise ValueError(f"the part {name!r} has an unknown type")
        return cls(name, np.dtype(dtype), tuple(shape), np.dtype(stored), delta, packed)


def _write(stream: BinaryIO, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    text = json.dumps(meta, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    parts = {"": np.frombuffer(text, np.uint8), **arrays}
    packed = {name: _packed(name, np.asarray(array)) for name, array in parts.items()}
    price = _state_price(text) + sum(block.price for block, _ in packed.values())
    length = sum(block.packed for block, _ in packed.values())
    missing = price - _limit(length)
    if missing > 0:
        zeros = bytes(max(0, _FREE_LENGTH - length) + missing // _RATIO + 1)
        block = _Block(_PADDING, np.dtype("|u1"), (0,), np.dtype("|u1"), False, len(zeros))
        packed[_PADDING] = block, zeros
    rows = [block.to_json() for block, _ in packed.values()]
    header = json.dumps({"kind": kind, "newfound": version("newfound"), "parts": rows}).encode()
    contents = [content for _, content in packed.values()]
    total = _PREFIX.size + len(header) + sum(map(len, contents)) + _DIGEST
    digest = hashlib.blake2b(digest_size=_DIGEST)
    prefix = _PREFIX.pack(_MAGIC, FORMAT, len(header), total)
    for piece in (prefix, header, *contents):
        digest.update(piece)
        stream.write(piece)
    stream.write(digest.digest())


def _packed(name: str, array: NDArray[Any]) -> tuple[_Block, bytes]:
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _DTYPES:
        raise TypeError(f"Cannot save the array {name!r} of type {array.dtype}.")
    stored, delta = _stored(array) if name else (array, False)
    content = zlib.compress(_shuffled(stored))
    return _Block(name, dtype, array.shape, stored.dtype, delta, len(content)), content


def _stored(array: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Give the numbers to store, and whether they are differences."""
    if array.dtype.kind == "b":
        return array.astype(np.uint8), False
    if array.dtype.kind not in "iu" or not array.size:
        return array.astype(array.dtype.newbyteorder("<")), False
    if array.ndim == 1 and array.dtype.itemsize > 1:
        # Modulo 2 to the 64th, as the running sum is that takes them back.
        steps = np.diff(array.astype(np.uint64), prepend=np.uint64(0)).view(np.int64)
        return _narrowed(steps), True
    return _narrowed(array), False


def _narrowed(array: NDArray[Any]) -> NDArray[Any]:
    least, most = np.min_scalar_type(array.min()), np.min_scalar_type(array.max())
    return array.astype(np.promote_types(least, most).newbyteorder("<"))


def _shuffled(array: NDArray[Any]) -> bytes:
    """Put the first bytes of all numbers before the second ones, and so on."""
    size = array.dtype.itemsize
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1, size).T.tobytes()


def _limit(packed: int) -> int:
    """Give what the parts of a file may cost, by their length."""
    return _FREE + _RATIO * max(0, packed - _FREE_LENGTH)


def _state_price(text: bytes) -> int:
    """Estimate the memory that JSON takes while it is read and while a model is made of it.

    3 bytes of "[]," become 64, and words go into several tables. Text itself is there as bytes, as
    one string and as many; a single letter can make four bytes of each.
    """
    width = 3 if text.isascii() and b"\\u" not in text else 12
    objects = {b"{": 200, b":": 140, b"[": 64, b",": 120}
    return width * len(text) + sum(price * text.count(mark) for mark, price in objects.items())


def _read(stream: BinaryIO, name: str) -> tuple[str, dict[str, Any], Arrays]:
    length = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    prefix = stream.read(_PREFIX.size)
    if not prefix or prefix[: len(_MAGIC)] != _MAGIC[: len(prefix)]:
        raise ModelFileError(f"{name} is not a model of newfound.")
    if len(prefix) < _PREFIX.size:
        raise ModelFileError(f"{name} is cut short; copy or save it again.")
    _, number, header_length, total = _PREFIX.unpack(prefix)
    if number > FORMAT:
        raise ModelFileError(
            f"{name} was written by a newer newfound, in format {number}; this one, "
            f"{version('newfound')}, reads up to format {FORMAT}: upgrade newfound."
        )
    if length < total:
        raise ModelFileError(
            f"{name} is cut short: {length:,} of {total:,} bytes are there; copy or save it again."
        )
    damaged = f"{name} has been altered or damaged; copy or save it again"
    if number < 1 or length > total or header_length > min(_MAX_HEADER, length):
        raise ModelFileError(f"{damaged}.")
    header = stream.read(header_length)
    try:
        kind, blocks = _parse_header(header)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{damaged}: {error}.") from error
    packed = sum(block.packed for block in blocks)
    if _PREFIX.size + header_length + packed + _DIGEST != total:
        raise ModelFileError(f"{damaged}: its parts do not add up to its length.")
    price, limit = sum(block.price for block in blocks), min(_limit(packed), _memory())
    if price > limit:
        raise ModelFileError(
            f"{name} is refused: it has {length:,} bytes and asks for {price:,} bytes of memory."
        )
    _check_digest(stream, prefix + header, packed, damaged)
    stream.seek(len(prefix) + len(header))
    try:
        state = _parse_state(_decode(blocks[0], stream).tobytes(), limit - price)
        # Padding comes last; it is never read.
        arrays = {b.name: _decode(b, stream) for b in blocks[1:] if b.name != _PADDING}
    except (ValueError, RecursionError, zlib.error) as error:
        raise ModelFileError(f"{damaged}: {error}.") from error
    return kind, state, arrays


def _parse_header(raw: bytes) -> tuple[str, list[_Block]]:
    header = json.loads(raw)
    kind, rows = header["kind"], header["parts"]
    if kind not in _KINDS:
        raise ValueError(f"it holds a {kind!r}, and this newfound knows: {', '.join(_KINDS)}")
    if not 1 <= len(rows) <= _MAX_ARRAYS:
        raise ValueError(f"it has {len(rows)} parts")
    blocks = [_Block.from_json(row) for row in rows]
    first = blocks[0]
    if (first.name, first.dtype.str, first.stored.str, len(first.shape)) != ("", "|u1", "|u1", 1):
        raise ValueError("its state is missing")
    if len({block.name for block in blocks}) < len(blocks):
        raise ValueError("two parts have the same name")
    if _PADDING in [block.name for block in blocks[:-1]]:
        raise ValueError("there is something behind the padding")
    return kind, blocks


def _parse_state(raw: bytes, limit: int) -> dict[str, Any]:
    if _state_price(raw) > limit:
        raise ValueError("its state is out of proportion")
    state = json.loads(raw.decode(), parse_constant=_refuse_constant, parse_int=_parse_int)
    if not isinstance(state, dict):
        raise ValueError("its state is no object")
    return state


def _refuse_constant(name: str) -> float:
    raise ValueError(f"its state has the number {name}")


def _parse_int(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError(f"its state has a number of {len(digits)} digits")
    return int(digits)


def _memory() -> int:
    """Bytes of memory of this machine; what needs more cannot be loaded anyway."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 40


def _check_digest(stream: BinaryIO, before: bytes, length: int, damaged: str) -> None:
    digest = hashlib.blake2b(before, digest_size=_DIGEST)
    while length:
        chunk = stream.read(min(_CHUNK, length))
        if not chunk:
            break
        digest.update(chunk)
        length -= len(chunk)
    if length or stream.read() != digest.digest():
        raise ModelFileError(f"{damaged}: its checksum does not fit.")


def _decode(block: _Block, stream: BinaryIO) -> NDArray[Any]:
    """Unpack a part piece by piece into its place; only a change of type takes a copy."""
    stored = np.empty(block.size, block.stored)
    by_byte = stored.view(np.uint8).reshape(block.size, block.stored.itemsize)
    at = 0
    for piece in _unpacked(block, stream):
        if at + len(piece) > by_byte.size:
            raise ValueError(f"the part {block.name!r} is not as long as declared")
        while piece:
            place, row = divmod(at, block.size)
            here = piece[: block.size - row]
            by_byte[row : row + len(here), place] = np.frombuffer(here, np.uint8)
            piece, at = piece[len(here) :], at + len(here)
    if at < by_byte.size:
        raise ValueError(f"the part {block.name!r} is not as long as declared")
    if block.dtype.kind == "b" and stored.size and stored.max() > 1:
        raise ValueError(f"the part {block.name!r} is not Boolean")
    array = stored.astype(block.dtype.newbyteorder("="), copy=False)
    if block.delta:
        np.cumsum(array, dtype=array.dtype, out=array)
    return array.reshape(block.shape)


def _unpacked(block: _Block, stream: BinaryIO) -> Iterator[bytes]:
    unpacker, left = zlib.decompressobj(), block.packed
    while left and not unpacker.eof:
        packed = stream.read(min(_CHUNK, left))
        if not packed:
            break
        left -= len(packed)
        full = True
        while full:
            piece = unpacker.decompress(packed, _CHUNK)
            packed, full = unpacker.unconsumed_tail, len(piece) == _CHUNK
            yield piece
    if left or not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"the part {block.name!r} is not as long as declared")
