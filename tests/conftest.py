"""Fixtures of several files: the sample, and a detector that has learned a half of it."""

from __future__ import annotations

import numpy as np
import pytest

import newfound


@pytest.fixture(scope="module")
def sample():
    known, novel = newfound.load_sample()
    return list(known.texts), np.array(known.labels), list(novel.texts)


@pytest.fixture(scope="module")
def detector(sample):
    texts, labels, _ = sample
    return newfound.NoveltyDetector(random_state=1).fit(texts[::2], labels[::2])
