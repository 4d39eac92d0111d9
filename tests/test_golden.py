"""The commands give what they gave: golden files made by ``python tests/golden.py``."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

import golden


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(golden.MESSAGES))
def test_commands_print_what_they_printed(case):
    if case != "sample" and "NEWFOUND_DATA" not in os.environ:
        pytest.skip("NEWFOUND_DATA is not set: no corpora")
    expected, found = golden.written(case), golden.outputs(case)
    assert list(found) == list(expected)
    for output in expected:
        if output.endswith(".json"):
            assert_alike(json.loads(found[output]), json.loads(expected[output]), output)
        else:
            assert found[output] == expected[output], output


def assert_alike(found: Any, expected: Any, where: str) -> None:
    """Compare plain data; numbers may differ in their last digits."""
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name in expected:
            assert_alike(found[name], expected[name], f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_alike(one, other, f"{where}[{i}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), where
    else:
        assert found == expected, where
