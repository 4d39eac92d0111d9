"""What tests of the command line share: the width of a pipe, and two files to compare."""

from __future__ import annotations

from pathlib import Path

import pytest

from pile_files import Piles


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the width of a pipe; pytest-xdist sets COLUMNS to 80."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def piles(tmp_path: Path) -> Piles:
    return Piles(tmp_path)
