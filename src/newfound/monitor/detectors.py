"""Detectors as bytes of a state, and what tells one from others."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import numpy as np

from newfound.detection.detector import NoveltyDetector

__all__ = ["fingerprint", "from_bytes", "to_bytes"]


def to_bytes(detector: NoveltyDetector) -> bytes:
    """Return the model file of a detector."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "detector.nf")
        detector.save(path)
        return path.read_bytes()


def from_bytes(content: bytes) -> NoveltyDetector:
    """Return the detector of a model file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "detector.nf")
        path.write_bytes(content)
        return NoveltyDetector.load(path)


def fingerprint(detector: NoveltyDetector) -> str:
    """Return what tells a detector from others."""
    found = hashlib.blake2b(digest_size=16)
    found.update(repr(detector.classes_.tolist()).encode())
    found.update(np.asarray(detector.calibration_.scores, np.float64).tobytes())
    for text in detector.held_back_texts_:
        found.update(text.encode("utf-8", "replace") + b"\0")
    return found.hexdigest()
