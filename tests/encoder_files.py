"""Folders of encoders with the vectors of a few words, and texts of these words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "KNOWN",
    "LABELS",
    "NEW",
    "SYNONYMS",
    "TOKENS",
    "TOPICS",
    "WORDS",
    "safetensors",
    "topic_vectors",
    "write_static",
    "write_tokenizer",
    "write_topics",
]

TOPICS = {
    "money": "pay settle bill invoice debt loan account bank card fee",
    "sport": "match goal team coach league player score referee kick win",
    "food": "soup bread cook oven taste dinner recipe salt pepper lunch",
    "space": "moon orbit rocket planet star comet launch galaxy satellite mars",
}
WORDS = [word for topic in TOPICS.values() for word in topic.split()]
TOKENS = ["[UNK]", *WORDS]


def topic_vectors(noise: float = 0.3) -> Any:
    """Words of a topic are near each other."""
    random = np.random.default_rng(0)
    of_topic = random.normal(size=(4, 16))
    rows = np.repeat(of_topic, 10, axis=0) + noise * random.normal(size=(40, 16))
    return np.vstack((np.zeros(16), rows)).astype(np.float32)


def texts(topic: str, n: int, words: slice, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    own = TOPICS[topic].split()[words]
    return [" ".join(random.choice(own, 3, replace=False)) for _ in range(n)]


KNOWN = [*texts("money", 60, slice(5)), *texts("sport", 60, slice(5))]
LABELS = ["money"] * 60 + ["sport"] * 60
# Known topics in words never seen, and a new topic in words never seen.
SYNONYMS = [*texts("money", 20, slice(5, 10), 1), *texts("sport", 20, slice(5, 10), 1)]
NEW = texts("space", 40, slice(10), 2)


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


def write_topics(folder: Path) -> None:
    """Write an encoder to which the words of a topic are similar."""
    write_static(folder, TOKENS, topic_vectors())
