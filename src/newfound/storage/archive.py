"""The zip archive of a model file.

`write_archive` writes a plain zip file, which any zip tool opens. `read_directory` accepts no more
than that: members one after the other from the first byte on, deflated or stored, without
encryption, extra fields, 64-bit extensions or folders. Python's `zipfile` accepts far more, and
ignores bytes beyond the declared size of a member; so it writes here, and does not read.
"""

from __future__ import annotations

import hashlib
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

from newfound.storage.errors import Refusal

__all__ = [
    "MAX_MEMBERS",
    "Directory",
    "Member",
    "beginning",
    "contents",
    "read_directory",
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
    """Write a zip archive and return its length in bytes.

    Parameters
    ----------
    path : path
        The file.
    members : mapping of str to bytes or array
        The content of each member by its name; an array is written as ``.npy``.
    format : int
        The number of the format, which the comment of the archive names, with a checksum of all
        bytes before it.
    compress : bool, default=True
        Deflate the members; else store them as they are.
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

    Raises
    ------
    Refusal
        If the archive is anything but one that `write_archive` wrote, complete and unaltered.
        An archive of a newer format has no members here.
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
    """Yield the decompressed bytes of a member in pieces, never more than it declares.

    Raises
    ------
    Refusal
        If there are fewer or more bytes than declared, or if their checksum differs.
    """
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
