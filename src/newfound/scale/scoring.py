"""Scores of documents with reasons, batch by batch, and what is kept of a stream of them.

A text is scored by itself: neither the other texts of its batch nor their number matter, so that
all ways to cut the documents into batches give the same bits.
"""

from __future__ import annotations

import heapq
import os
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from newfound.detection.calibration import CUT, ShareOfNew, share_from_counts
from newfound.detection.detector import NoveltyDetector
from newfound.scale.arrow import pyarrow, reasons_type, redact_batch, rows_with_text, texts_of
from newfound.scale.counting import place_of
from newfound.scale.engines import map_batches
from newfound.text.documents import Documents
from newfound.text.records import DocumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from newfound.detection.detection import Detection

__all__ = [
    "NO_TEXT",
    "SAMPLE",
    "Model",
    "Tally",
    "load_detector",
    "score",
    "score_batch",
    "scored_schema",
]

Model = NoveltyDetector | str | os.PathLike[str]

NO_TEXT = "no text"  # the reason of a row without a text
SAMPLE = 5_000  # novel documents


def load_detector(model: Model) -> NoveltyDetector:
    """Return a detector, given itself or the file that `NoveltyDetector.save` wrote."""
    detector = model if isinstance(model, NoveltyDetector) else NoveltyDetector.load(model)
    detector.require_encoder()
    return detector


def scored_schema(schema: Any, detector: NoveltyDetector, *, reasons: bool = True) -> Any:
    """Return the schema of the batches that `score_batch` returns for batches of a schema."""
    pa = pyarrow()
    fields = [
        pa.field("novel", pa.bool_()),
        pa.field("novelty", pa.float64()),
        pa.field("p_value", pa.float64()),
        pa.field("nearest", _class_type(detector)),
        pa.field("status", pa.string()),
    ]
    if reasons:
        fields.append(pa.field("why", pa.string()))
        fields.append(pa.field("reasons", reasons_type()))
        fields.append(pa.field("newest_sentence", pa.string()))
    for field in fields:
        if field.name in schema.names:
            raise DocumentError(
                f"The documents already have a column {field.name!r}; rename it, or leave it out."
            )
    return pa.schema([*schema, *fields])


def _class_type(detector: NoveltyDetector) -> Any:
    pa = pyarrow()
    kind = pa.array(detector.classes_.tolist()).type
    return kind if pa.types.is_integer(kind) or pa.types.is_boolean(kind) else pa.string()


def score_batch(
    batch: Any, detector: NoveltyDetector, *, text: str = "text", reasons: bool = True
) -> Any:
    """Score the documents of an Arrow record batch.

    Parameters
    ----------
    batch : pyarrow.RecordBatch
        A row for each document.
    detector : NoveltyDetector
        Fitted.
    text : str, default="text"
        The column with the texts.
    reasons : bool, default=True
        Also say why, in ``why``, ``reasons`` and ``newest_sentence``. A novel text takes about a
        millisecond to explain, many times what it takes to score it.

    Returns
    -------
    pyarrow.RecordBatch
        All columns of the batch, and ``novel``, ``novelty``, ``p_value`` and ``nearest`` (known
        class; missing without labels, and for a text without words or a short one), ``status``,
        ``why`` (one sentence), ``reasons`` (words with their contribution, and where they were
        seen) and ``newest_sentence``. They have the same values as those of
        `NoveltyDetector.detect`. In a row whose text is missing or blank, ``novel`` is false and
        the numbers are missing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> known = [f"{verb} my {thing}" for verb in ("pay", "check", "close", "open", "show")
    ...          for thing in ("bill", "account", "card", "loan", "savings account", "credit card")]
    >>> detector = NoveltyDetector(alpha=0.2, random_state=1).fit(known)
    >>> batch = pa.record_batch({"text": ["how tall is the eiffel tower", None, "pay my bill"]})
    >>> score_batch(batch, detector).column("novel").to_pylist()
    [True, False, False]
    """
    pa = pyarrow()
    schema = scored_schema(batch.schema, detector, reasons=reasons)
    if detector.redact:
        batch = redact_batch(batch, text)
    texts = texts_of(batch, text)
    rows = rows_with_text(texts)
    kept = texts if len(rows) == len(texts) else [texts[i] for i in rows]
    missing = np.ones(len(texts), bool)
    missing[rows] = False
    found = (_reasons if reasons else _scores)(detector, cast("list[str]", kept))
    made = []
    for field in list(schema)[len(batch.schema) :]:
        if field.name == "novel":
            novel = np.zeros(len(texts), bool)
            novel[~missing] = found["novel"]
            made.append(pa.array(novel))
        else:
            texts_of_missing = {"status": NO_TEXT, "why": NO_TEXT, "newest_sentence": ""}
            given = {**texts_of_missing, "reasons": ()}.get(field.name)
            made.append(_column(found[field.name], missing, given, field.type))
    return pa.RecordBatch.from_arrays([*batch.columns, *made], schema=schema)


def _column(
    values: NDArray[Any], missing: NDArray[np.bool_], given: Any = None, kind: Any = None
) -> Any:
    """Return values as an Arrow array with others in between: null, or one that is given."""
    column = np.zeros(len(missing), values.dtype)
    column[~missing] = values
    if values.dtype != object:  # Arrow reads an array faster than a list
        return pyarrow().array(column, mask=missing if missing.any() else None)
    filled = column.tolist()
    for place in np.flatnonzero(missing).tolist():
        filled[place] = given
    if kind == pyarrow().string():  # classes may be numbers, or of several types
        filled = [None if value is None else str(value) for value in filled]
    return pyarrow().array(filled, kind)


def _scores(detector: NoveltyDetector, texts: list[str]) -> dict[str, NDArray[Any]]:
    """Return the columns that are added, for texts that are not blank."""
    judged = detector.score_texts(texts).judged(detector.calibration_)
    return {
        "novel": judged.novel,
        "novelty": judged.scores.novelty,
        "p_value": judged.p_values,
        "nearest": judged.classes,
        "status": judged.scores.status,
    }


def _reasons(detector: NoveltyDetector, texts: list[str]) -> Detection:
    """Return the columns of `_scores`, and why."""
    documents = Documents(tuple(texts), tuple(map(str, range(len(texts)))))
    with warnings.catch_warnings():
        # It is about many texts together, and depends on the batch.
        warnings.filterwarnings("ignore", ".*are in no known document")
        return detector.detect(documents, describe=False, group=False)


def score(
    batches: Iterable[Any],
    model: Model,
    *,
    text: str = "text",
    reasons: bool = True,
    n_jobs: int | None = None,
) -> Iterator[Any]:
    """Score a stream of Arrow record batches; memory does not grow with their number.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        The documents, such as a `newfound.scale.Source` or a
        ``pyarrow.dataset.Dataset.to_batches()``.
    model : NoveltyDetector or path
        A fitted detector, or its file.
    text : str, default="text"
        The column with the texts.
    reasons : bool, default=True
        As in `score_batch`.
    n_jobs : int or None, default=None
        Number of processes; None is 1, -1 one for each core. The result does not depend on it.

    Yields
    ------
    pyarrow.RecordBatch
        What `score_batch` returns for each batch, in the order of the batches.
    """
    detector = load_detector(model)
    work = partial(_score, detector=detector, text=text, reasons=reasons)
    yield from map_batches(work, batches, n_jobs)


def _score(batch: Any, *, detector: NoveltyDetector, text: str, reasons: bool) -> Any:
    return score_batch(batch, detector, text=text, reasons=reasons)


class Tally:
    """Counts of scored documents, the most novel ones, and a random sample of the novel ones."""

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
