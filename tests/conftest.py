"""What tests share: settings of hypothesis, an end of what hangs, the sample, a detector."""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import newfound
from waiting import PATIENCE

# No test may depend on how fast the machine is, or on what else it does.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

_errors = 2


def pytest_configure() -> None:
    global _errors
    _errors = os.dup(2)  # now it is not captured


@pytest.fixture(scope="session", autouse=True)
def _no_encoder_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["NEWFOUND_ENCODERS"] = str(tmp_path_factory.mktemp("shelf"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """End the process of a test that hangs, fixtures included; xdist then reports the test."""
    faulthandler.dump_traceback_later(1.5 * PATIENCE, exit=True, file=_errors)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def sample():
    known, novel = newfound.load_sample()
    return list(known.texts), np.array(known.labels), list(novel.texts)


@pytest.fixture(scope="module")
def detector(sample):
    texts, labels, _ = sample
    return newfound.NoveltyDetector(random_state=1).fit(texts[::2], labels[::2])
