"""The commands give what they gave: golden files made by ``python tests/golden.py``."""

from __future__ import annotations

import os

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
        assert found[output] == expected[output], output  # to the last digit, on every processor
