"""States and arrays that no model can have are refused in one line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile_files import SOUND, refused
from model_files import (
    assemble,
    document,
    npy,
    npy_header,
    take_apart,
    zipped,
)


class TestStates:
    @pytest.mark.parametrize(
        "text",
        [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 5000 + b"]" * 5000],
        ids=["lists", "objects", "closed"],
    )
    def test_nested_deep(self, tmp_path: Path, text: bytes) -> None:
        refused(zipped([("model.json", text)]), tmp_path, "model.json is not JSON, or nested")

    @pytest.mark.parametrize("text", [b"\xff", b"{", b"", b"\xef\xbb\xbf{}", b"'a'", b"{}{}"])
    def test_not_json(self, tmp_path: Path, text: bytes) -> None:
        refused(zipped([("model.json", text)]), tmp_path, "model.json is not JSON")

    @pytest.mark.parametrize("text", [b"[]", b"1", b'"x"', b"null"])
    def test_not_an_object(self, tmp_path: Path, text: bytes) -> None:
        refused(zipped([("model.json", text)]), tmp_path, "expected named values")

    @pytest.mark.parametrize("state", [b"[]", b"1", b'"x"', b"null"])
    def test_a_state_that_is_not_an_object(self, tmp_path: Path, state: bytes) -> None:
        text = SOUND.replace(b"{}", state)
        refused(zipped([("model.json", text)]), tmp_path, "in the field state, expected named")

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e400"])
    def test_numbers_that_are_not_finite(self, tmp_path: Path, number: str) -> None:
        text = SOUND.replace(b"{}", b'{"a": %s}' % number.encode())
        refused(zipped([("model.json", text)]), tmp_path, f"the number {number}, which is not fin")

    @pytest.mark.parametrize("digits", [41, 5000, 500_000])
    def test_huge_integers(self, tmp_path: Path, digits: int) -> None:
        text = SOUND.replace(b"{}", b'{"a": 1%s}' % (b"0" * (digits - 1)))
        refused(zipped([("model.json", text)]), tmp_path, f"a number of {digits:,} digits")

    def test_a_name_twice(self, tmp_path: Path) -> None:
        text = SOUND.replace(b"{}", b'{"a": 1, "a": 2}')
        refused(zipped([("model.json", text)]), tmp_path, "a name twice in one object")

    def test_half_a_surrogate_pair(self, raw: bytes, tmp_path: Path) -> None:
        content, arrays = take_apart(raw)
        content["state"]["vectorizer"]["vocabulary"][0] = "\ud800"
        refused(
            assemble(content, arrays, tmp_path), tmp_path, r"in the field vectorizer.vocabulary.0"
        )

    @pytest.mark.parametrize("name", ["b.a", "some.2.a", "some.a", "some.0.x", "text.a", "twice"])
    def test_arrays_without_a_place(self, tmp_path: Path, name: str) -> None:
        state = {"some": [{}, {}], "text": "x", "twice": 1}
        state["some"][0] = {"x": 1}
        content = assemble(document(state), {name: np.arange(3)}, tmp_path)
        refused(content, tmp_path, f"no place for the array {name}")


class TestArrays:
    def test_pickled_objects(self, tmp_path: Path) -> None:
        class Exploit:
            def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
                return os.system, ("touch exploited",)

        array = np.array([Exploit()])
        content = zipped([("model.json", SOUND), ("a.npy", npy(array))])
        refused(content, tmp_path, "a.npy is not an array of plain numbers")

    @pytest.mark.parametrize(
        "array",
        [
            np.array(["text"]),
            np.array([b"text"]),
            np.zeros(3, "V8"),
            np.zeros(3, [("a", int)]),
            np.zeros(3, ">i4"),
            np.zeros(3, np.complex64),
            np.zeros(3, complex),
            np.zeros(3, "M8[s]"),
            np.zeros((3, 3), order="F"),
            np.zeros((1,) * 9),
        ],
        ids=lambda array: str(array.dtype),
    )
    def test_other_types_and_orders(self, tmp_path: Path, array: Any) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy(array))])
        refused(content, tmp_path, "a.npy is not an array of plain numbers")

    @pytest.mark.parametrize(
        ("descr", "shape"),
        [
            ("'|O'", "(1,)"),
            ("'<i4'", "(-1,)"),
            ("'<i4'", "(1099511627776, 1099511627776)"),
            ("'<i4'", "(0, 4611686018427387904)"),
            ("'<i4'", "(1180591620717411303424,)"),
            ("'<i4'", "(1.0,)"),
            ("'<i4'", "(True,)"),
            ("'<i4'", "5"),
            ("'<i4'", "None"),
            ("'<i4'", "(__import__('os').getpid(),)"),
            ("[('a', '<i4')]", "(1,)"),
            ("8", "(1,)"),
            ("'<i4'" + " " * 600, "(1,)"),
            ("'<i4'", "(" * 100 + "1," + ")" * 100),
            ("'<i3'", "(1,)"),
            ("'|i4'", "(1,)"),
        ],
    )
    def test_absurd_headers(self, tmp_path: Path, descr: str, shape: str) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy_header(descr, shape) + b"\0" * 20)])
        refused(content, tmp_path, "the member a.npy is not")

    @pytest.mark.parametrize("shape", ["(100000000, 0)", "(0, 100000000)", "(10000, 0, 10000)"])
    def test_a_dimension_of_0_does_not_make_the_others_free(
        self, tmp_path: Path, shape: str
    ) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy_header("'|u1'", shape))])
        refused(content, tmp_path, "bytes of memory")

    @pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x02\x00", b"x" * 100])
    def test_no_header(self, tmp_path: Path, content: bytes) -> None:
        refused(
            zipped([("model.json", SOUND), ("a.npy", content)]), tmp_path, "a.npy is not an array"
        )

    def test_more_or_fewer_numbers_than_the_header_says(self, tmp_path: Path) -> None:
        for content in (npy(np.arange(5)) + b"\0", npy(np.arange(5))[:-1]):
            refused(
                zipped([("model.json", SOUND), ("a.npy", content)]),
                tmp_path,
                "a.npy is not as long as its shape says",
            )

    def test_a_truth_value_that_is_none(self, tmp_path: Path) -> None:
        array = npy(np.array([True, False]))[:-1] + b"\x02"
        content = zipped([("model.json", SOUND), ("a.npy", array)])
        refused(content, tmp_path, "a.npy has truth values other than 0 and 1")
