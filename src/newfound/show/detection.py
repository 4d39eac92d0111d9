"""The page about a detection: which incoming documents are new, with p-values and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.marks import cut_up
from newfound.show.collect import Limits, collect, versions
from newfound.show.sentences import calibration_sentence, detection_summary, rounded
from newfound.table import jsonable
from newfound.text.validation import MAX_EXPLAINED

if TYPE_CHECKING:
    from newfound.detection.detection import Detection
    from newfound.explanation import Word

__all__ = ["collect_detection"]

_REASONS = 6
_FAINT = 0.05  # share of the strongest contribution below which a word is not marked
_COUNTERFACTUALS = 12  # documents that have one; each scores many shorter texts
_BINS = 20
_DIGITS = 12  # of a position; a longer number is the name of a document
_GROUP_WORDS = 10


def collect_detection(
    detection: Detection, limits: Limits, piles: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return everything that a page about a detection shows.

    Returns
    -------
    dict
        The fields of `newfound.show.collect`, and ``detection`` and ``groups``. The fields that
        describe the novel documents are None if there are too few.
    """
    data = _undescribed()
    if detection.description is not None:
        described = detection.description.description_
        data = collect(described, described.corpus, limits)
    share, alpha = detection.share, detection.alpha
    names = [] if data["words"] is None else data["words"]["columns"]["word"]
    data["detection"] = {
        "alpha": alpha,
        "n": len(detection),
        "n_novel": detection.n_novel,
        "expected_false": detection.expected_false if detection.n_novel else None,
        "calibration": calibration_sentence(
            detection.detector.n_documents_, *detection.detector.calibration_.interval
        ),
        "share": {name: rounded(getattr(share, name)) for name in ("share", "low", "high")},
        "p_values": np.histogram(detection["p_value"], _BINS, (0, 1))[0].tolist(),
    }
    first = data.get("summary") or {"words": [], "names": []}
    data["summary"] = detection_summary(data["detection"], first)
    data["groups"] = [
        {
            "name": group.name,
            "documents": group.size,
            "words": group.words["word"][:_GROUP_WORDS].tolist(),
        }
        for group in detection.groups
    ]
    data["without_group"] = detection.without_group()
    data["documents"] = _documents(detection, {name: i for i, name in enumerate(names)}, limits)
    data["made"]["detector"] = _made(detection)
    data["made"]["piles"] = jsonable(piles or {})
    return data


def _undescribed() -> dict[str, Any]:
    """Return the fields of `newfound.show.collect` for a page without a description."""
    described = (
        "themes", "time", "words", "cards", "examples", "rules", "phrases", "senses", "context",
        "pairs", "curves",
    )  # fmt: skip
    made = {"parameters": {}, "versions": versions()}
    return {**dict.fromkeys(described), "notes": [], "n_documents": None, "made": made}


def _documents(detection: Detection, numbers: Mapping[str, int], limits: Limits) -> dict[str, Any]:
    order = np.lexsort((-detection["novelty"], detection["p_value"]))
    group_of = {
        int(row): group.name for group in detection.groups for row in group.documents.tolist()
    }
    made: list[dict[str, Any]] = []
    for place in _choose(detection["novel"][order], limits.documents).tolist():
        row = int(order[place])
        text, nearest = str(detection["text"][row]), detection["nearest"][row]
        verdict = detection.explain(row) if len(text) <= MAX_EXPLAINED else None
        words = () if verdict is None else verdict.words
        if verdict is not None and not verdict.is_near:
            nearest = None
        found = {
            "name": _name(str(detection["document"][row])),
            "novel": bool(detection["novel"][row]),
            "rank": place + 1,
            "score": rounded(float(detection["novelty"][row])),
            "p_value": rounded(float(detection["p_value"][row])),
            "nearest": None if nearest is None else str(nearest)[:80],
            "status": str(detection["status"][row]),
            "reasons": [str(detection["why"][row])[:300]],
            "group": group_of.get(row),
            "why": [
                [word.word[:100], rounded(word.contribution, 3)]
                for word in _by_strength(words)[:_REASONS]
            ],
            **_marked(
                text, words, numbers, limits.document, str(detection["newest_sentence"][row])
            ),
        }
        if verdict is not None and found["novel"] and len(made) < _COUNTERFACTUALS:
            gone = verdict.counterfactual or ()
            if gone:
                found["without"] = [word[:100] for word in gone[:_REASONS]]
                found["without_more"] = len(gone[_REASONS:])
        made.append(found)
    return {"rows": made, "total": len(detection), "held_out": False, "detected": True}


def _name(name: str) -> str:
    """Return the name of a document; one that is only a position is counted from 1."""
    is_position = name.isdecimal() and name.isascii() and len(name) <= _DIGITS
    return f"no. {int(name) + 1:,}" if is_position else name[:80]


def _choose(novel: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Choose the most novel documents, and then the known ones that were nearly novel."""
    if len(novel) <= most:
        return np.arange(len(novel))
    n_novel = min(int(novel.sum()), most - most // 6)
    return np.concatenate(
        (np.flatnonzero(novel)[:n_novel], np.flatnonzero(~novel)[: most - n_novel])
    )


def _by_strength(words: Sequence[Word]) -> list[Word]:
    return sorted(words, key=lambda word: -abs(word.contribution))


def _marked(
    text: str, words: Sequence[Word], numbers: Mapping[str, int], most: int, newest: str
) -> dict[str, Any]:
    """Cut the beginning of a text into pieces, with the contributions of its words.

    Those of the newest sentence, if there are others, are from the first to before the second
    number of ``newest``.
    """
    end = len(text)
    if end > most:
        space = text.rfind(" ", most // 2, most)
        end = most if space < 0 else space
    fullest = max((abs(word.contribution) for word in words), default=0.0)
    # The strongest words are the reasons that the page lists: they are marked in any case, and
    # first where words overlap.
    marks = []
    for place, word in enumerate(_by_strength(words)):
        if place >= _REASONS and abs(word.contribution) <= _FAINT * fullest:
            break
        mark = [numbers.get(word.word, -1), rounded(word.contribution, 3)]
        mark += [place] if place < _REASONS else []
        marks += [(*span, mark) for span in word.spans]
    begin = text.find(newest) if newest and newest != text.strip() else -1
    bounds = [place for place in (begin, begin + len(newest)) if 0 <= begin < end]
    pieces: list[Any] = []
    inside, position = [], 0
    for piece, own in cut_up(text, marks, end=end):
        cuts = [0, *(b - position for b in bounds if 0 < b - position < len(piece)), len(piece)]
        for first, last in pairwise(cuts):
            if begin <= position + first < begin + len(newest) and bounds:
                inside.append(len(pieces))
            pieces.append(piece[first:last] if own is None else [piece[first:last], *own])
        position += len(piece)
    excerpt: dict[str, Any] = {"pieces": pieces, "fullest": rounded(fullest, 3)}
    if inside:
        excerpt["newest"] = [inside[0], inside[-1] + 1]
    if end < len(text.rstrip()):
        excerpt["after"] = True
    return excerpt


def _made(detection: Detection) -> dict[str, Any]:
    detector = detection.detector
    simple = {
        name: value
        for name, value in detector.get_params(deep=False).items()
        if isinstance(value, str | int | float | bool | None) and name != "n_jobs"
    }
    counts = {f"known documents {name}": n for name, n in detector.n_documents_.items()}
    return jsonable({**simple, "classes": len(detector.classes_), **counts})  # type: ignore[no-any-return]
