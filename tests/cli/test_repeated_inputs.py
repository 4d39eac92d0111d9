"""An input that is given twice is an error: only the last one would be read."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("command", "option", "other"),
    [
        ("describe", "--known", "--novel"),
        ("detect", "--incoming", "--known"),
        ("monitor", "--incoming", "--model"),
    ],
)
def test_an_input_given_twice_is_rejected(command, option, other, tmp_path):
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path in paths:
        path.write_text("one document\nanother document\n" * 20)
    one, two, three = map(str, paths)
    args = [command, option, one, option, two, other, three]
    run = subprocess.run(
        [sys.executable, "-m", "newfound", *args], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert f"{option} was given 2 times" in " ".join(run.stderr.split())


def test_help_is_shown_also_beside_an_input_given_twice():
    run = subprocess.run(
        [sys.executable, "-m", "newfound", "describe", "--known", "a", "--known", "b", "--help"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0 and "Usage" in run.stdout
