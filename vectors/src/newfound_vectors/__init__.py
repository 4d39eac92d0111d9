"""Static vectors of English words, for ``newfound.load_encoder``."""

from __future__ import annotations

from pathlib import Path

__all__ = ["folder"]


def folder() -> Path:
    """Return the folder with ``tokenizer.json`` and ``model.safetensors``.

    Examples
    --------
    >>> sorted(file.name for file in folder().iterdir())
    ['model.safetensors', 'tokenizer.json']
    """
    return Path(__file__).parent / "newfound-vectors"
