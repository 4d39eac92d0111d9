"""Arrays of a model file: ``.npy`` members of plain numbers, read without pickle.

An array of integers is stored in the smallest type that holds its values; readers convert it to
the type they need.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.storage.errors import Refusal

__all__ = ["HEADER_BYTES", "ArrayHeader", "fill", "parse_header", "storable"]

HEADER_BYTES = 512
_MAGIC = b"\x93NUMPY\x01\x00"
_INTEGERS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8")
_DTYPES = frozenset(("|b1", *_INTEGERS, "<f4", "<f8"))
# Exactly what numpy writes; the header is never evaluated.
_HEADER = re.compile(
    rb"\{'descr': '([|<][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \(((?:[0-9]{1,15}, ){0,7}[0-9]{1,15},?|)\), \} *\n"
)
# Bytes of memory for each entry while a model is made of the array. An integer becomes part of
# index arrays, sparse matrices and tables; a float of a few copies; automata are only copied.
_INTEGER = 32
_FLOAT = 7  # times the size of the number
_AUTOMATON = 3


@dataclass(frozen=True)
class ArrayHeader:
    """Type and shape of an array, and where its numbers begin in the member."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)

    @property
    def memory_estimate(self) -> int:
        """An upper bound of the memory, in bytes, that a model takes for this array.

        A dimension of 0 does not make the others free: they may become sizes of other arrays.
        """
        entries = math.prod(max(n, 1) for n in self.shape)
        if len(self.shape) > 2:
            return entries * max(_AUTOMATON, self.dtype.itemsize)
        return entries * (_FLOAT * self.dtype.itemsize if self.dtype.kind == "f" else _INTEGER)


def storable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as it is stored: contiguous, little-endian, integers as small as possible.

    Examples
    --------
    >>> storable("literals", np.array([3, 500])).dtype.name
    'uint16'
    """
    if array.dtype.kind in "iu" and array.size:
        least, most = int(array.min()), int(array.max())
        types = (np.iinfo(name) for name in _INTEGERS)
        small = next(one.dtype for one in types if one.min <= least and most <= one.max)
        array = array.astype(small, copy=False)
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in _DTYPES:
        raise TypeError(f"Cannot save the array {name} of type {array.dtype}.")
    return np.asarray(array, dtype, order="C")


def parse_header(name: str, raw: bytes, size: int) -> ArrayHeader:
    """Read the header of a member, of which `raw` is the beginning and `size` the whole length.

    Raises
    ------
    Refusal
        If it is not a plain array of numbers whose size is the one declared.
    """
    end = 10 + int.from_bytes(raw[8:10], "little")
    found = _HEADER.fullmatch(raw[10:end]) if raw.startswith(_MAGIC) and len(raw) >= end else None
    if found is None or found[1].decode() not in _DTYPES:
        raise Refusal.damaged(f"the member {name} is not an array of plain numbers")
    dtype = np.dtype(found[1].decode())
    shape = tuple(int(n) for n in re.findall(rb"[0-9]+", found[2]))
    header = ArrayHeader(dtype, shape, end)
    if header.size * dtype.itemsize + end != size:
        raise Refusal.damaged(f"the member {name} is not as long as its shape says")
    return header


def fill(name: str, header: ArrayHeader, pieces: Iterator[bytes]) -> NDArray[Any]:
    """Make the array of the pieces of a member."""
    array = np.empty(header.size, header.dtype)
    raw, at, skip = array.view(np.uint8), 0, header.start
    for piece in pieces:
        here = np.frombuffer(piece, np.uint8)[skip:]
        skip = max(0, skip - len(piece))
        raw[at : at + len(here)] = here
        at += len(here)
    if header.dtype.kind == "b" and header.size and raw.max() > 1:
        raise Refusal.damaged(f"the member {name} has truth values other than 0 and 1")
    return array.astype(header.dtype.newbyteorder("="), copy=False).reshape(header.shape)
