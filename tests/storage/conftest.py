"""What tests of model files share: a small describer, and its file."""

from __future__ import annotations

import pytest

from model_files import (
    fitted,
)
from newfound.description.describer import NoveltyDescriber
from newfound.models import save


@pytest.fixture(scope="module")
def describer() -> NoveltyDescriber:
    return fitted()


@pytest.fixture(scope="module")
def raw(describer: NoveltyDescriber, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound file."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(describer, path)
    return path.read_bytes()
