"""What is kept of a stream of scored documents: counts, the most novel ones, and a sample."""

from __future__ import annotations

import hashlib
import heapq
from typing import Any

import numpy as np

from newfound.detection.calibration import CUT, ShareOfNew, share_from_counts
from newfound.detection.detector import NoveltyDetector
from newfound.text.documents import Documents

__all__ = ["SAMPLE", "Tally", "place_of"]

SAMPLE = 5_000  # novel documents


def place_of(*parts: str) -> int:
    """Return a random number of 64 bits that depends on some texts only.

    The documents with the smallest numbers are a random sample, however the documents are cut.

    Examples
    --------
    >>> place_of("news:1", "Rain") == place_of("news:1", "Rain"), place_of("a") == place_of("b")
    (True, False)
    """
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "big")


class Tally:
    """Counts of scored documents, the most novel ones, and a random sample of the novel ones.

    Parameters
    ----------
    detector : NoveltyDetector
        The one that scored them.
    top : int, default=20
        How many of the most novel documents to keep.
    sample : int, default=5000
        How many novel documents to draw.

    Attributes
    ----------
    n, n_novel : int
        Number of documents, and of novel ones.
    most_novel : list of dict
        The most novel documents, the most novel first.
    """

    def __init__(self, detector: NoveltyDetector, *, top: int = 20, sample: int = SAMPLE) -> None:
        self.detector, self.top, self.size = detector, top, sample
        self.alpha = detector.calibration_.alpha
        self.n = self.n_novel = self._n_above = 0
        self._most: list[tuple[tuple[float, float, int], dict[str, Any]]] = []
        self._drawn: list[tuple[int, str, str]] = []  # a heap, the last place first

    def add(self, batch: Any) -> None:
        """Count a scored batch with the columns ``document`` and ``text``."""
        p_values = batch.column("p_value").to_numpy(zero_copy_only=False)
        self._n_above += int((p_values > CUT).sum())
        novel = np.flatnonzero(batch.column("novel").to_numpy(zero_copy_only=False))
        rows = batch.take(novel).to_pylist()
        for place, row in zip(novel.tolist(), rows, strict=True):
            self._most.append(((row["p_value"], -row["novelty"], self.n + place), row))
            self._draw(row["document"], row["text"])
        self._most = heapq.nsmallest(self.top, self._most, key=lambda item: item[0])
        self.n, self.n_novel = self.n + len(batch), self.n_novel + len(novel)

    def _draw(self, document: str, text: str) -> None:
        item = (-place_of(document, text), document, text)
        if len(self._drawn) < self.size:
            heapq.heappush(self._drawn, item)
        else:
            heapq.heappushpop(self._drawn, item)

    @property
    def most_novel(self) -> list[dict[str, Any]]:  # noqa: D102
        return [row for _, row in self._most]

    @property
    def sample(self) -> Documents:
        """The novel documents that were drawn: all of them, if there are not more."""
        drawn = sorted(self._drawn, key=lambda item: (-item[0], *item[1:]))
        return Documents(
            tuple(text for *_, text in drawn), tuple(name for _, name, _ in drawn), source="sample"
        )

    @property
    def share(self) -> ShareOfNew:
        """The estimated share of new documents, as in `newfound.Detection`."""
        return share_from_counts(self._n_above, self.n, len(self.detector.calibration_))

    @property
    def expected_false(self) -> float:
        """The share of the novel documents that can be expected to be known; nan if none is."""
        if not self.n_novel:
            return float("nan")
        known = (1 - self.share.share) * self.n
        return min(1.0, self.alpha * known / self.n_novel)
