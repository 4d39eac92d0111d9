"""The corpora of the comparison: real ones (if present), each as two classes, and a generated one.

Each is saved as ``.npz``: a Boolean bag of words in CSR form, labels, and an 80/20 split stratified
by label. All workers read that file.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

KNOWN = ("cricket", "football")
NOVEL = ("rugby",)
BBCSPORT = Path("bbcsport") / "bbcsport.jsonl.gz"
CLINC150 = Path("clinc150") / "clinc150.jsonl.gz"
ABCNEWS = Path("abcnews") / "abcnews.jsonl.gz"
DOMAINS = ("banking", "credit_cards")
HEADLINES = 2_000  # of each side
WORD = re.compile(r"[a-z0-9]+")
FUNCTION_WORDS = frozenset(
    WORD.findall("""
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could d did do does doing down during each few for from further
    had has have having he her here hers herself him himself his how i if in into is it its itself
    just ll m me might more most must my myself no nor not now of off on once only or other our
    ours ourselves out over own re s same shall she should so some such t than that the their
    theirs them themselves then there these they this those through to too under until up ve very
    was we were what when where which while who whom why will with would you your yours yourself
    yourselves""")
)


@dataclass(frozen=True)
class Corpus:
    """A Boolean bag of words: row i holds the words ``indices[indptr[i]:indptr[i + 1]]``."""

    name: str
    n_words: int
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    labels: NDArray[np.int64]

    @property
    def n_documents(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def words_per_document(self) -> float:
        """The mean number of distinct words of a document."""
        return len(self.indices) / self.n_documents

    def save(self, path: Path, *, seed: int = 1) -> Path:
        """Write the corpus with its split."""
        held_out = _held_out_rows(self.labels, seed=seed)
        train = np.setdiff1d(np.arange(self.n_documents), held_out)
        np.savez(
            path,
            n_words=self.n_words,
            indptr=self.indptr,
            indices=self.indices,
            labels=self.labels,
            train=train,
            held_out=held_out,
        )
        return path


def _held_out_rows(labels: NDArray[np.int64], *, seed: int) -> NDArray[np.int64]:
    """Draw a fifth of each label."""
    rng = np.random.default_rng(seed)
    parts = []
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        parts.append(rows[: round(len(rows) / 5)])
    return np.sort(np.concatenate(parts))


def _pack(name: str, rows: list[NDArray[np.int32]], labels: list[int], n_words: int) -> Corpus:
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return Corpus(name, n_words, indptr, np.concatenate(rows), np.asarray(labels, dtype=np.int64))


def _records(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _bags(name: str, texts: list[str], labels: list[int]) -> Corpus:
    """Return the texts in a random order, with every word but function words."""
    documents = [set(WORD.findall(text.lower())) - FUNCTION_WORDS for text in texts]
    vocabulary = {word: i for i, word in enumerate(sorted(set().union(*documents)))}
    rows = [np.sort(np.array([vocabulary[w] for w in d], dtype=np.int32)) for d in documents]
    order = np.random.default_rng(0).permutation(len(rows))  # files are sorted by label or date
    return _pack(name, [rows[i] for i in order], [labels[i] for i in order], len(vocabulary))


def bbcsport(data: Path) -> Corpus:
    """Known = cricket and football, novel = rugby: 536 documents, every word kept."""
    used = [r for r in _records(data / BBCSPORT) if r["label"] in KNOWN + NOVEL]
    return _bags("bbcsport", [r["text"] for r in used], [int(r["label"] in NOVEL) for r in used])


def clinc150(data: Path) -> Corpus:
    """Return two of the ten domains, banking against credit cards: 3,000 requests for training."""
    used = [
        r for r in _records(data / CLINC150) if r["domain"] in DOMAINS and r["split"] == "train"
    ]
    return _bags("clinc150", [r["text"] for r in used], [DOMAINS.index(r["domain"]) for r in used])


def abcnews(data: Path) -> Corpus:
    """Return the first 2,000 headlines by date against the last 2,000."""
    texts = [r["text"] for r in sorted(_records(data / ABCNEWS), key=lambda r: r["date"])]
    labels = [0] * HEADLINES + [1] * HEADLINES
    return _bags("abcnews", texts[:HEADLINES] + texts[-HEADLINES:], labels)


# By name: where the file lies in the folder of data, and what reads it.
REAL = {
    "bbcsport": (BBCSPORT, bbcsport),
    "clinc150": (CLINC150, clinc150),
    "abcnews": (ABCNEWS, abcnews),
}


def zipf(n_documents: int = 536, n_words: int = 10_000, *, seed: int = 1) -> Corpus:
    """Generate two balanced classes with Zipf word frequencies, about 100 words a document.

    One word in twenty, at any frequency, is four times as likely in one of the classes.
    """
    rng = np.random.default_rng(seed)
    base = 1.0 / (np.arange(n_words) + 20.0)
    leaning = rng.choice([0, 1, -1], size=n_words, p=[0.025, 0.025, 0.95])
    ladders = []
    for label in (0, 1):
        weights = np.where(leaning == label, 4.0 * base, base)
        ladders.append(np.cumsum(weights / weights.sum()))
    labels = [int(label) for label in rng.permutation(np.arange(n_documents) % 2)]
    identity = rng.permutation(n_words).astype(np.int32)  # the index does not show the frequency
    rows = []
    for label in labels:
        length = max(20, round(rng.lognormal(np.log(115), 0.35)))
        drawn = np.searchsorted(ladders[label], rng.random(length)).clip(max=n_words - 1)
        rows.append(np.unique(identity[drawn]))
    return _pack("zipf", rows, labels, n_words)
