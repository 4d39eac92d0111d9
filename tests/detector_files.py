"""A small detector, and what it answers: a file of each version of newfound stays in the tests.

``python tests/detector_files.py NAME`` writes ``data/NAME.newfound`` and ``data/NAME.json``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import newfound
from newfound import NoveltyDetector

DATA = Path(__file__).parent / "data"
ASKED = (
    "pay my phone bill",
    "how do i say hello in french",
    "transfer ten dollars to savings",
    "is there fraud on my acount",
    "",
)


def small_detector() -> NoveltyDetector:
    """Return a detector of a part of the sample."""
    known, _ = newfound.load_sample()
    detector = NoveltyDetector(0.2, n_clauses=6, epochs=2, random_state=1)
    return detector.fit(list(known.texts[::12]), list(known.labels[::12]))


def answers(detector: NoveltyDetector) -> dict[str, Any]:
    """Return what a detector says of a few messages."""
    verdicts = [detector.explain(text) for text in ASKED]
    return {
        "predicted": detector.predict(ASKED).tolist(),
        "novelty": [round(value, 5) for value in detector.novelty(ASKED).tolist()],
        "p_values": [round(value, 5) for value in detector.p_values(ASKED).tolist()],
        "words": [
            {word.word: round(word.contribution, 5) for word in verdict.words}
            for verdict in verdicts
        ],
    }


if __name__ == "__main__":
    made = small_detector()
    made.save(DATA / f"{sys.argv[1]}.newfound", force=True)
    text = json.dumps(answers(made), indent=1)
    (DATA / f"{sys.argv[1]}.json").write_text(f"{text}\n", encoding="utf-8")
