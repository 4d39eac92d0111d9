"""Inputs that fuzzing has found (``make fuzz``), and some that are drawn, break nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz_targets import CORPUS, TARGETS, seeds


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_that_fuzzing_has_kept(target: str) -> None:
    kept = sorted((CORPUS / target).iterdir())
    assert kept
    for content in seeds()[target] + [path.read_bytes() for path in kept]:
        TARGETS[target](content)


@settings(max_examples=200)
@given(st.text())
def test_any_text(text: str) -> None:
    TARGETS["text"](text.encode("utf-8", "replace"))


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_any_rows_of_the_core(data: bytes) -> None:
    TARGETS["csr"](data)


@settings(max_examples=100)
@given(st.integers(0, 255), st.integers(0, 255), st.text(max_size=200))
def test_any_file(format: int, encoding: int, text: str) -> None:
    TARGETS["readers"](bytes([format, encoding]) + text.encode("utf-8", "replace"))
