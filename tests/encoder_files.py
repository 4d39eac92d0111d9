"""Folders of encoders with the vectors of a few words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["safetensors", "write_static", "write_tokenizer"]


def write_tokenizer(folder: Path, tokens: Sequence[str]) -> None:
    """Write a tokenizer of whole words; the first token stands for all others."""
    import tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder.mkdir(parents=True, exist_ok=True)
    model = WordLevel({word: i for i, word in enumerate(tokens)}, tokens[0])
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = Whitespace()
    made.save(str(folder / "tokenizer.json"))


def safetensors(rows: Any) -> bytes:
    """Return a table of numbers as model2vec stores it."""
    table = np.ascontiguousarray(rows, np.float32)
    about = {"dtype": "F32", "shape": list(table.shape), "data_offsets": [0, table.nbytes]}
    header = json.dumps({"embeddings": about}).encode()
    return len(header).to_bytes(8, "little") + header + table.tobytes()


def write_static(folder: Path, tokens: Sequence[str], vectors: Any) -> None:
    """Write an encoder with a vector for each token."""
    write_tokenizer(folder, tokens)
    (folder / "model.safetensors").write_bytes(safetensors(vectors))
