"""From texts to scored documents, and from a detector to a reference or to bytes of a state."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from newfound.detection.detector import NoveltyDetector
from newfound.monitor.engine import Incoming
from newfound.monitor.reference import Known
from newfound.stories.risen import Bag
from newfound.text.tokens import CHUNK, fold, stop_words_by_language, words_in

__all__ = ["Reader", "fingerprint", "from_bytes", "to_bytes"]

_MAX_CACHED = 200_000  # runs of letters whose terms are remembered


class Reader:
    """Reads texts with a detector: p-values, and words without function words and numbers."""

    def __init__(self, detector: NoveltyDetector) -> None:
        self.detector = detector
        self._stop = stop_words_by_language().get(detector.language, frozenset())
        self._terms: dict[str, tuple[str, ...]] = {}

    def bag(self, text: str) -> Bag:
        """Return the words of a text that a topic can have.

        A word stands for all of its forms. Function words, numbers and single letters are left out.
        """
        known, found = self._terms, set[str]()
        for chunk in CHUNK.findall(fold(text)):
            terms = known.get(chunk)
            if terms is None:
                if len(known) > _MAX_CACHED:
                    known.clear()
                forms = (form for _, _, form in words_in(chunk))
                terms = known[chunk] = tuple(filter(None, map(self._term, forms)))
            found.update(terms)
        return frozenset(found)

    def _term(self, form: str) -> str | None:
        term = self.detector.vectorizer_.term(form)
        return term if term is not None and self._is_telling(term) else None

    def _is_telling(self, term: str) -> bool:
        # By the term, never by its forms: known documents are counted by terms.
        return not (term in self._stop or term.isdigit() or (len(term) < 2 and term.isascii()))

    def read(
        self, texts: Sequence[str], times: Sequence[float | None], ids: Sequence[str]
    ) -> list[Incoming]:
        """Score texts, each once."""
        if not texts:
            return []
        detector = self.detector
        texts = detector.redacted(texts)  # the state keeps some of them
        judged = detector.score_texts(texts).judged(detector.calibration_)
        return [
            Incoming(id, text, time, p, is_novel, self.bag(text))
            for id, text, time, p, is_novel in zip(
                ids, texts, times, judged.p_values.tolist(), judged.novel.tolist(), strict=True
            )
        ]

    def known(self) -> Known:
        """Return what the detector knows, as a reference."""
        detector, vectorizer = self.detector, self.detector.vectorizer_
        words = Counter(
            {
                word: n
                for word, n in zip(
                    vectorizer.vocabulary_, vectorizer.document_frequencies_.tolist(), strict=True
                )
                if " " not in word and self._is_telling(word)
            }
        )
        novel_words: Counter[str] = Counter()
        calibration = detector.calibration_
        own = calibration.is_novel(calibration.p_values(calibration.scores, calibration.nearest))
        for text, is_novel in zip(detector.held_back_texts_, own.tolist(), strict=True):
            bag = self.bag(text)
            words.update(bag)
            if is_novel:
                novel_words.update(bag)
        n = len(detector.held_back_texts_)
        return Known(
            words, vectorizer.n_documents_ + n, novel_words, n, int(calibration.alpha * (n + 1))
        )

    def smallest_p_value(self) -> float:
        """Return the smallest p-value that the held-back documents allow for every class."""
        n = len(self.detector.classes_)
        p = self.detector.calibration_.p_values(np.full(n, np.inf), np.arange(n))
        return float(p.max())


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
