"""How a hostile model file has to be refused, for tests of all kinds of them."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path

import pytest

from model_files import (
    document,
)
from newfound.models import ModelFileError, load

SOUND = json.dumps(document({})).encode()


def refused(content: bytes, tmp_path: Path, message: str) -> None:
    """Expect one line that names the file, within 20 s of the processor and 100 MB."""
    path = tmp_path / "hostile"
    path.write_bytes(content)
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(ModelFileError, match=message) as caught:
            load(path)
        used = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    is_a_plain_line(str(caught.value), path)
    assert used < 20  # a tenth of a second
    assert peak < 100e6


def is_a_plain_line(message: str, path: Path) -> None:
    assert "\n" not in message
    assert len(message) <= 300
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "; " in message  # what is wrong; what to do
    assert "Error(" not in message
