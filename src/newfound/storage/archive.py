"""The zip archive of a model file, and the arrays in it.

`write_archive` writes a plain zip file, which any zip tool opens. `read_directory` accepts no more
than that: members one after the other from the first byte on, deflated or stored, without
encryption, extra fields, 64-bit extensions or folders. Python's `zipfile` accepts far more, and
ignores bytes beyond the declared size of a member; so it writes here, and does not read.

Arrays are ``.npy`` members of plain numbers, read without pickle. One of integers is stored in the
smallest type that holds its values; readers convert it to the type they need.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from newfound.storage.files import Refusal

__all__ = [
    "HEADER_BYTES",
    "ArrayHeader",
    "Directory",
    "Member",
    "beginning",
    "contents",
    "fill",
    "parse_header",
    "read_directory",
    "storable",
    "write_archive",
]

MAX_MEMBERS = 4096  # four arrays for each of 1,000 machines, and some
_MAX_RATIO = 1032  # deflate cannot compress further than this
_CHUNK = 1 << 20
_DIGEST = 32
_COMMENT = "newfound model, format {}, blake2b-256 "
_COMMENT_PATTERN = re.compile(rb"newfound model, format ([1-9][0-9]{0,8}), (.*)", re.DOTALL)
_NAME = re.compile(rb"[a-z0-9_]{1,64}(\.[a-z0-9_]{1,64}){1,8}")

_LOCAL = struct.Struct("<4s5H3L2H")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_FIRST = b"PK\x03\x04"


@dataclass(frozen=True)
class Member:
    """A file in the archive: its name, where its bytes begin, and its declared sizes."""

    name: str
    start: int
    packed: int
    size: int
    crc: int
    deflated: bool


@dataclass(frozen=True)
class Directory:
    """What the end of the archive says of it."""

    format: int
    members: tuple[Member, ...]


def write_archive(
    path: str | os.PathLike[str],
    members: Mapping[str, bytes | NDArray[Any]],
    *,
    format: int,
    compress: bool = True,
) -> int:
    """Write a zip archive and return its length in bytes; an array is written as ``.npy``.

    The comment of the archive names the format, with a checksum of all bytes before it.
    """
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    comment = _COMMENT.format(format).encode()
    with zipfile.ZipFile(path, "w", allowZip64=False) as archive:
        for name, content in members.items():
            # The time is fixed, so that the same model gives the same bytes.
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type, info.create_system = method, 3
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            info.file_size = len(content) if isinstance(content, bytes) else content.nbytes
            with archive.open(info, "w") as stream:
                if isinstance(content, bytes):
                    stream.write(content)
                else:
                    np.lib.format.write_array(stream, content, (1, 0), allow_pickle=False)
        archive.comment = comment + b"0" * (2 * _DIGEST)
    with open(path, "rb+") as stream:
        length = stream.seek(0, os.SEEK_END)
        digest = _digest(stream, length - 2 * _DIGEST)
        stream.seek(length - 2 * _DIGEST)
        stream.write(digest)
    return length


def read_directory(stream: BinaryIO, *, format: int) -> Directory:
    """Check the archive as a whole and return its members; nothing is decompressed.

    Anything but what `write_archive` wrote, complete and unaltered, is a `Refusal`. An archive of a
    newer format has no members here.
    """
    length = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    first = stream.read(len(_FIRST))
    if not first or first != _FIRST[: len(first)]:
        raise Refusal.foreign()
    number, n, size, start, rest = _read_end(stream, length)
    if number != format:
        return Directory(number, ())
    if rest[: -2 * _DIGEST] != b"blake2b-256 " or rest[-2 * _DIGEST :] != _digest(
        stream, length - 2 * _DIGEST
    ):
        raise Refusal.damaged("its checksum does not match its contents")
    if not 1 <= n <= MAX_MEMBERS:
        raise Refusal.damaged(f"it has {n:,} members, expected 1 to {MAX_MEMBERS:,}")
    stream.seek(start)
    members = tuple(_read_entries(stream.read(size), n))
    _check_places(stream, members, start)
    return Directory(number, members)


def _read_end(stream: BinaryIO, length: int) -> tuple[int, int, int, int, bytes]:
    """Return the format, how many members there are, size and place of their list, the digest."""
    stream.seek(max(0, length - 256))
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise Refusal.truncated()
    _, disk, first_disk, here, n, size, start, comment = _END.unpack_from(tail, at)
    rest = tail[at + _END.size :]
    if len(rest) < comment:
        raise Refusal.truncated()
    found = _COMMENT_PATTERN.fullmatch(rest)
    if found is None:
        raise Refusal.foreign()
    end = length - len(tail) + at
    if len(rest) != comment or disk or first_disk or here != n or start + size != end:
        raise Refusal.damaged("its end record does not fit its length")
    return int(found[1]), n, size, start, found[2]


def _read_entries(raw: bytes, n: int) -> Iterator[Member]:
    at, names = 0, set()
    for _ in range(n):
        if len(raw) - at < _ENTRY.size:
            raise Refusal.damaged("its list of members is incomplete")
        (
            signature, _, _, flags, method, _, _, crc, packed, size, name_length, extra, comment,
            disk, _, attributes, start,
        ) = _ENTRY.unpack_from(raw, at)  # fmt: skip
        at += _ENTRY.size + name_length
        name = raw[at - name_length : at]
        if signature != b"PK\x01\x02" or not _NAME.fullmatch(name):
            raise Refusal.damaged("its list of members has an impossible entry")
        text = name.decode()
        if text in names:
            raise Refusal.damaged(f"the member {text} is there twice")
        names.add(text)
        if flags or extra or comment or disk or method not in (0, 8):
            raise Refusal.damaged(f"the member {text} is encrypted, split or of an unknown method")
        if stat.S_IFMT(attributes >> 16) != stat.S_IFREG:
            raise Refusal.damaged(f"the member {text} is not a regular file")
        if size > _MAX_RATIO * packed or (method == 0 and size != packed):
            raise Refusal.damaged(f"the member {text} declares an impossible size")
        begin = start + _LOCAL.size + name_length
        yield Member(text, begin, packed, size, crc, method == 8)
    if at != len(raw):
        raise Refusal.damaged("its list of members is longer than declared")


def _check_places(stream: BinaryIO, members: tuple[Member, ...], end: int) -> None:
    """Demand that members follow one another without gap or overlap, as they declare twice."""
    at = 0
    for member in members:
        name = member.name.encode()
        stream.seek(at)
        header = stream.read(_LOCAL.size + len(name))
        at += len(header)
        if at != member.start or len(header) != _LOCAL.size + len(name):
            raise Refusal.damaged(f"the member {member.name} is not where the list says")
        signature, _, flags, method, _, _, crc, packed, size, n, extra = _LOCAL.unpack_from(header)
        declared = (_FIRST, 0, 8 * member.deflated, member.crc, member.packed, member.size)
        if (signature, flags, method, crc, packed, size) != declared or (n, extra) != (
            len(name), 0,
        ) or header[_LOCAL.size :] != name:  # fmt: skip
            raise Refusal.damaged(f"the member {member.name} contradicts the list of members")
        at += member.packed
    if at != end:
        raise Refusal.damaged("there are bytes that belong to no member")


def contents(stream: BinaryIO, member: Member) -> Iterator[bytes]:
    """Yield the decompressed bytes of a member in pieces, never more than it declares."""
    wrong = Refusal.damaged(f"the member {member.name} is not as long as declared")
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS) if member.deflated else None
    stream.seek(member.start)
    left, size, crc = member.packed, 0, 0
    while left:
        packed = stream.read(min(_CHUNK, left))
        if not packed:
            raise wrong
        left -= len(packed)
        while True:
            try:
                piece = unpacker.decompress(packed, _CHUNK) if unpacker else packed
            except zlib.error:
                raise Refusal.damaged(f"the member {member.name} cannot be decompressed") from None
            size, crc = size + len(piece), zlib.crc32(piece, crc)
            if size > member.size or (unpacker and unpacker.unused_data):
                raise wrong
            yield piece
            if unpacker is None or len(piece) < _CHUNK:
                break
            packed = unpacker.unconsumed_tail
        if unpacker and unpacker.eof and left:
            raise wrong
    if size != member.size or (unpacker and not unpacker.eof):
        raise wrong
    if crc != member.crc:
        raise Refusal.damaged(f"the checksum of the member {member.name} does not match")


def beginning(stream: BinaryIO, member: Member, most: int) -> bytes:
    """Return the first bytes of a member, at most so many; its checksum is not looked at."""
    stream.seek(member.start)
    packed = stream.read(min(member.packed, most + 64))
    if not member.deflated:
        return packed[:most]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    except zlib.error:
        raise Refusal.damaged(f"the member {member.name} cannot be decompressed") from None


def _digest(stream: BinaryIO, length: int) -> bytes:
    """Return BLAKE2b of the first bytes, as hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=_DIGEST)
    stream.seek(0)
    while length:
        chunk = stream.read(min(_CHUNK, length))
        if not chunk:
            break
        digest.update(chunk)
        length -= len(chunk)
    return digest.hexdigest().encode()


HEADER_BYTES = 512
_MAGIC = b"\x93NUMPY\x01\x00"
_INTEGERS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8")
_DTYPES = frozenset(("|b1", *_INTEGERS, "<f2", "<f4", "<f8"))
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
    """Read the header of a member, of which `raw` is the beginning and `size` the whole length."""
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
