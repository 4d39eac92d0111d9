"""Archives that deceive, and archives that grow when they are read, are refused in one line."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from hostile_files import SOUND, refused
from model_files import (
    COMMENT,
    assemble,
    central,
    document,
    npy,
    patched,
    plain,
    sealed,
    take_apart,
    zipped,
)


class TestArchives:
    """Archives that Python's zipfile opens, or that deceive one tool and not another."""

    MEMBERS = (("model.json", SOUND), ("a.npy", npy(np.arange(5))))

    def test_a_sound_one_gets_as_far_as_its_state(self, tmp_path: Path) -> None:
        refused(zipped(self.MEMBERS[:1]), tmp_path, "lacks the field parameters")

    @pytest.mark.parametrize(
        "name",
        ["../a.npy", "/a.npy", "a/b.npy", "a\\b.npy", "A.npy", "ä.npy", "a", "", ".npy", "a..npy",
         "a.npy/", "a\n.npy", "x" * 200 + ".npy"],
    )  # fmt: skip
    def test_names(self, tmp_path: Path, name: str) -> None:
        content = zipped([self.MEMBERS[0], (name, npy(np.arange(5)))])
        refused(content, tmp_path, "impossible entry|is encrypted|not as long|truncated|damaged")

    def test_a_name_twice(self, tmp_path: Path) -> None:
        with pytest.warns(UserWarning, match="Duplicate name"):
            content = zipped([*self.MEMBERS, self.MEMBERS[1]])
        refused(content, tmp_path, "the member a.npy is there twice")

    def test_members_in_another_order_or_of_another_kind(self, tmp_path: Path) -> None:
        refused(zipped(self.MEMBERS[::-1]), tmp_path, "expected model.json and then .npy")
        refused(zipped(self.MEMBERS[1:]), tmp_path, "expected model.json and then .npy")
        refused(zipped([*self.MEMBERS, ("a.pkl", b"x")]), tmp_path, "expected model.json and then")
        refused(zipped([]), tmp_path, "not a newfound model")

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_other_methods(self, tmp_path: Path, method: int) -> None:
        refused(zipped(self.MEMBERS, method=method), tmp_path, "model.json is encrypted, split or")

    @pytest.mark.parametrize(
        "mode", [0o120777, 0o040755, 0o020644, 0o010644, 0o644], ids=lambda mode: f"{mode:o}"
    )
    def test_symbolic_links_folders_and_devices(self, tmp_path: Path, mode: int) -> None:
        info = plain("a.npy")
        info.external_attr = mode << 16
        refused(
            zipped([self.MEMBERS[0], (info, b"/etc/passwd")]), tmp_path, "is not a regular file"
        )

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [
            (8, "<H", 1),  # encrypted
            (8, "<H", 8),  # sizes follow the data
            (8, "<H", 0x800),
            (10, "<H", 9),
            (10, "<H", 0),
            (16, "<L", 0),  # checksum
            (20, "<L", 0xFFFFFFFF),  # 64-bit sizes
            (20, "<L", 0),
            (24, "<L", 0xFFFFFFFF),
            (24, "<L", 1),
            (28, "<H", 500),
            (28, "<H", 0),
            (30, "<H", 4),
            (32, "<H", 4),
            (34, "<H", 1),  # on another disk
            (42, "<L", 7),
            (42, "<L", 0xFFFFFFFF),
        ],
    )
    @pytest.mark.parametrize("number", [0, 1])
    def test_lies_in_the_list_of_members(
        self, tmp_path: Path, number: int, place: int, form: str, value: int
    ) -> None:
        content = zipped(self.MEMBERS)
        refused(
            patched(content, central(content, number) + place, form, value), tmp_path, "is damaged"
        )

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [(0, "<L", 7), (6, "<H", 1), (8, "<H", 0), (14, "<L", 7), (18, "<L", 7), (22, "<L", 7),
         (26, "<H", 9), (28, "<H", 2), (30, "<B", 65)],
    )  # fmt: skip
    def test_lies_before_a_member(self, tmp_path: Path, place: int, form: str, value: int) -> None:
        content = zipped(self.MEMBERS)
        second = content.index(b"PK\x03\x04", 4)
        refused(patched(content, second + place, form, value), tmp_path, "is damaged")

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [
            (4, "<H", 1), (6, "<H", 1), (8, "<H", 1), (8, "<H", 0xFFFF), (10, "<H", 1),
            (10, "<H", 0xFFFF), (12, "<L", 0), (12, "<L", 0xFFFFFFFF), (16, "<L", 0),
            (16, "<L", 0xFFFFFFFF), (20, "<H", 5), (20, "<H", 0xFFFF),
        ],
    )  # fmt: skip
    def test_lies_in_the_end_record(
        self, tmp_path: Path, place: int, form: str, value: int
    ) -> None:
        content = zipped(self.MEMBERS)
        end = content.rindex(b"PK\x05\x06")
        refused(patched(content, end + place, form, value), tmp_path, "damaged|truncated")

    def test_a_count_of_members_without_members(self, tmp_path: Path) -> None:
        content = bytearray(zipped(self.MEMBERS))
        end = content.rindex(b"PK\x05\x06")
        struct.pack_into("<HH", content, end + 8, 60_000, 60_000)
        refused(sealed(bytes(content)), tmp_path, "it has 60,000 members, expected 1 to 4,096")
        struct.pack_into("<HH", content, end + 8, 3, 3)
        refused(sealed(bytes(content)), tmp_path, "its list of members is incomplete")
        struct.pack_into("<HH", content, end + 8, 1, 1)
        refused(sealed(bytes(content)), tmp_path, "its list of members is longer than declared")

    def test_too_many_members(self, tmp_path: Path) -> None:
        members = [(f"a{i}.npy", b"") for i in range(5000)]
        refused(zipped([self.MEMBERS[0], *members]), tmp_path, "it has 5,001 members")

    def test_members_that_overlap(self, tmp_path: Path) -> None:
        """Let two entries stand for the same bytes, as bombs without recursion do."""
        bomb = npy(np.zeros(1 << 20, np.uint8))
        content = bytearray(zipped([self.MEMBERS[0], ("a.npy", bomb), ("b.npy", bomb)]))
        first, second = (central(bytes(content), i) for i in (1, 2))
        struct.pack_into("<L", content, second + 42, *struct.unpack_from("<L", content, first + 42))
        refused(sealed(bytes(content)), tmp_path, "b.npy is not where the list says")

    def test_bytes_that_belong_to_no_member(self, tmp_path: Path) -> None:
        content = zipped(self.MEMBERS)
        at = central(content)
        longer = content[:at] + b"hidden" + content[at:]
        longer = patched(longer, longer.rindex(b"PK\x05\x06") + 16, "<L", at + 6)
        refused(longer, tmp_path, "bytes that belong to no member")

    def test_a_checksum_of_a_member_that_does_not_match(self, tmp_path: Path) -> None:
        content = bytearray(zipped(self.MEMBERS, method=zipfile.ZIP_STORED))
        content[content.index(b'"format": 1') + 10] = ord("2")
        refused(sealed(bytes(content)), tmp_path, "the checksum of the member model.json")

    def test_the_checksum_of_the_file_is_looked_at_first(self, tmp_path: Path) -> None:
        content = zipped(self.MEMBERS)
        refused(content[:-64] + b"0" * 64, tmp_path, "its checksum does not match its contents")
        other = COMMENT.replace(b"blake2b-256", b"blake2b-257") + b"0" * 64
        refused(zipped(self.MEMBERS, comment=other), tmp_path, "its checksum does not match")


class TestBombs:
    def test_a_bomb_that_declares_its_size(self, tmp_path: Path) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy(np.zeros(200 << 20, np.uint8)))])
        refused(content, tmp_path, r"needs up to 209,7.* bytes of memory, more than the 7\d,")

    def test_a_bomb_whose_entries_become_objects(self, tmp_path: Path) -> None:
        content = assemble(document({}), {"a": np.zeros(4 << 20, np.uint8)}, tmp_path)
        refused(content, tmp_path, "needs up to 134,2.* bytes of memory")

    def test_many_bombs(self, tmp_path: Path) -> None:
        arrays = {f"a{i}": np.zeros((1, 1, 1 << 20), np.uint8) for i in range(50)}
        refused(assemble(document({}), arrays, tmp_path), tmp_path, "bytes of memory")

    @pytest.mark.parametrize("declared", [0, 1, 1000, 1 << 20])
    def test_a_bomb_that_hides_its_size(self, tmp_path: Path, declared: int) -> None:
        """Declare less than comes out of it, everywhere and with the checksum of that much."""
        bomb = npy(np.zeros(200 << 20, np.uint8))
        content = zipped([("model.json", SOUND), ("a.npy", bomb)])
        local = content.index(b"PK\x03\x04", 4)
        for place in (central(content, 1) + 16, local + 14):
            content = patched(content, place, "<L", zlib.crc32(bomb[:declared]))
            content = patched(content, place + 8, "<L", declared)
        refused(content, tmp_path, "a.npy is not a")

    def test_a_bomb_in_a_header_that_fits(self, tmp_path: Path) -> None:
        """Hide behind an array of few numbers, which the header declares truthfully."""
        small = npy(np.zeros(5, np.uint8))
        bomb = small + b"\0" * (100 << 20)
        content = zipped([("model.json", json.dumps(document({"b": 1})).encode()), ("a.npy", bomb)])
        local = content.index(b"PK\x03\x04", 4)
        for place in (central(content, 1) + 16, local + 14):
            content = patched(content, place, "<L", zlib.crc32(small))
            content = patched(content, place + 8, "<L", len(small))
        refused(content, tmp_path, "a.npy is not as long as declared")

    def test_a_ratio_that_deflate_cannot_reach(self, tmp_path: Path) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy(np.zeros(1 << 10, np.uint8)))])
        size = 1 << 31
        for place in (central(content, 1) + 24, content.index(b"PK\x03\x04", 4) + 22):
            content = patched(content, place, "<L", size)
        refused(content, tmp_path, "a.npy declares an impossible size")

    def test_a_bomb_in_the_state(self, tmp_path: Path) -> None:
        text = b'{"a":[' + b"[]," * (1 << 20) + b"[]]}"
        refused(zipped([("model.json", text)]), tmp_path, "bytes of memory")

    def test_more_clauses_than_a_file_of_this_length_can_hold(
        self, raw: bytes, tmp_path: Path
    ) -> None:
        """Declare millions of empty clauses, which compress to nothing."""
        content, arrays = take_apart(raw)
        n = 3_000_000
        for name in ("class_index", "polarity", "lengths", "matches", "agrees"):
            arrays[f"clauses.{name}"] = np.full(n, name == "polarity", np.uint8)
        arrays["clauses.held_out"] = np.zeros((2, n), np.uint8)
        refused(assemble(content, arrays, tmp_path), tmp_path, "bytes of memory, more than the")
