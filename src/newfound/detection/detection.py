"""Which of many texts are novel, why, what they are about, and how they group."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.detection.explaining import MOST_EXPLAINED
from newfound.detection.groups import how_many_groups
from newfound.detection.mixture import ShareOfNew, share_of_new
from newfound.table import Table
from newfound.text.documents import Documents, as_documents
from newfound.text.vectorizer import TextVectorizer
from newfound.wiring import carried_out

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.verdict import Verdict

__all__ = ["Detection", "Group", "detect"]

_LEAST_DESCRIBED = 5
_MOST_GROUPS = 8
_MOST_GROUPED = 5000
_KNOWN_DESCRIBED = 3000
_UNLIKE = 0.6  # share of unseen words from which the texts are unlike the known ones


@dataclass(frozen=True)
class Group:
    """Novel documents that are alike.

    `documents` are their rows in the detection; `words` a table of ``word``, ``score`` (log of how
    many times as frequent the word is in the group as in all other documents, times its share of
    the group), ``documents`` (how many of the group have it) and ``known`` (how many known
    documents have it).
    """

    documents: NDArray[np.int64]
    words: Table

    @property
    def size(self) -> int:
        """How many documents there are."""
        return len(self.documents)

    @property
    def name(self) -> str:
        """Its first words."""
        return ", ".join(self.words["word"][:3].tolist())


class Detection(Table):
    """The texts that were looked at, a row each, in the order they came.

    Columns: ``document`` (its name), ``text``, ``novel``, ``novelty``, ``p_value``, ``nearest``
    (known class) and ``reasons``.

    Attributes
    ----------
    detector : NoveltyDetector
        Who says so.
    description : NoveltyDescriber or None
        What is new in the novel documents, against known ones; None where there are fewer than 5,
        or where it was not asked for.
    groups : tuple of Group
        Novel documents that are alike, the largest group first.
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        *,
        detector: NoveltyDetector | None = None,
        description: NoveltyDescriber | None = None,
        groups: Sequence[Group] = (),
    ) -> None:
        super().__init__(columns)
        self._detector = detector
        self.description = description
        self.groups = tuple(groups)

    @property
    def detector(self) -> NoveltyDetector:
        """The detector."""
        assert self._detector is not None
        return self._detector

    @property
    def n_novel(self) -> int:
        """How many of the texts are novel."""
        return int(self["novel"].sum())

    @cached_property
    def share(self) -> ShareOfNew:
        """The estimate of the share that is new, missed ones counted and false alarms not."""
        return share_of_new(self["p_value"], len(self.detector.calibration_))

    def explain(self, i: int) -> Verdict:
        """Explain the text of row i."""
        return self.detector.explain(str(self["text"][i]))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        known: Documents | None = None,
        incoming: Documents | None = None,
        title: str | None = None,
        force: bool = False,
    ) -> None:
        """Write one HTML page that shows what is new; it works offline, however many there are.

        Parameters
        ----------
        path : path
            The file.
        known, incoming : Documents, optional
            What was read, for the section on how it was made.
        title : str, optional
            What stands on top.
        force : bool, default=False
            Replace a file that is there.
        """
        carried_out(
            "Detection.report",
            path, self, known=known, incoming=incoming, title=title, force=force,
        )  # fmt: skip

    def novel(self) -> Detection:
        """Give the novel rows, the newest first."""
        rows = np.flatnonzero(self["novel"])
        order = np.lexsort((-self["novelty"][rows], self["p_value"][rows]))
        return self.take(rows[order])

    def take(self, rows: NDArray[Any] | slice) -> Detection:
        """Give the table of these rows; it still explains, but has no description and groups."""
        columns = {name: self[name][rows] for name in self.columns}
        return Detection(columns, detector=self._detector)


def detect(
    detector: NoveltyDetector,
    texts: Any,
    *,
    known: Sequence[str] | None = None,
    describe: bool = True,
    group: bool = True,
    **description: Any,
) -> Detection:
    """Find the novel ones among texts.

    Parameters
    ----------
    detector : NoveltyDetector
        Fitted.
    texts : iterable of str, series, frame or Documents
        What `newfound.text.documents.as_documents` takes.
    known : sequence of str, optional
        Known documents to describe the novel ones against; without them the words of those that
        the detector has learned from serve, without their order.
    describe, group : bool, default=True
        Whether to describe the novel documents, and to group them.
    **description
        Parameters of `NoveltyDescriber`.

    Returns
    -------
    Detection
    """
    documents = texts if isinstance(texts, Documents) else as_documents(texts)
    novelty, nearest, bags = detector._scored(documents.texts)
    unseen, words = int(bags.unseen_words.sum()), int(bags.n_words.sum())
    if unseen > _UNLIKE * words:
        warnings.warn(
            f"{unseen / words:.0%} of the words of the texts are in no known document; are they "
            "in another language?",
            stacklevel=2,
        )
    p_values = detector._p_values(novelty, nearest, bags)
    novel = detector._is_novel(p_values)
    labels = detector.classes_[nearest]
    reasons = np.empty(len(documents), dtype=object)
    for i, text in enumerate(documents.texts):
        if not bags.n_words[i]:
            reasons[i] = "no words to go by"
        elif not novel[i]:
            reasons[i] = f"like {labels[i]}"
        elif len(text) > MOST_EXPLAINED:
            reasons[i] = "too long to explain"
        else:
            reasons[i] = detector.explain(text).reasons()
    new = [text for text, is_novel in zip(documents.texts, novel, strict=True) if is_novel]
    columns = {
        "document": np.array(documents.ids, dtype=object),
        "text": np.array(documents.texts, dtype=object),
        "novel": novel,
        "novelty": novelty,
        "p_value": p_values,
        "nearest": labels.astype(object),
        "reasons": reasons,
    }
    groups = _groups(detector, new, np.flatnonzero(novel)) if group and new else ()
    described = None
    if describe and len(new) >= _LEAST_DESCRIBED:
        described = _describe(detector, known, new, description)
    return Detection(columns, detector=detector, description=described, groups=groups)


def _describe(
    detector: NoveltyDetector, known: Sequence[str] | None, new: list[str], parameters: Any
) -> NoveltyDescriber | None:
    from newfound.description.describer import describe

    only_words = known is None
    if known is None:
        known = _known_words(detector)
    if len(known) > _KNOWN_DESCRIBED:
        chosen = np.random.RandomState(0).permutation(len(known))[:_KNOWN_DESCRIBED]
        known = [known[i] for i in np.sort(chosen).tolist()]
    settings = {"language": detector.language, "n_jobs": detector.n_jobs, **parameters}
    settings.setdefault("random_state", detector._seed)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(?s).*have no words left")
            described = describe(list(known), new, **settings)
    except ValueError as error:
        warnings.warn(f"The novel documents could not be described: {error}", stacklevel=2)
        return None
    if only_words and described.corpus_ is not None:
        # Words without their order are no sentences to show.
        corpus = described.corpus_
        texts = [text if new else "" for text, new in zip(corpus.texts, corpus.novel, strict=True)]
        described.corpus_ = replace(corpus, texts=texts)
    return described


def _known_words(detector: NoveltyDetector) -> list[str]:
    """Give the words of each document that the detector has learned from."""
    matrix, terms = detector.evidence_.matrix, detector._terms
    single = ~detector.evidence_.is_pair
    rows = (matrix.indices[a:b] for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False))
    return [". ".join(terms[j] for j in row.tolist() if single[j]) for row in rows]


def _groups(
    detector: NoveltyDetector, texts: list[str], rows: NDArray[np.int64]
) -> tuple[Group, ...]:
    vectorizer = TextVectorizer(
        language=detector.language, lemmatize=detector.lemmatize, min_df=2 if len(texts) > 4 else 1
    )
    try:
        matrix = vectorizer.fit_transform(texts)
    except ValueError:  # no word is left, or none that two of them share
        return ()
    words = list(vectorizer.vocabulary_)
    columns = detector.vectorizer_.vocabulary_
    known = np.array(
        [detector.evidence_.frequencies[columns[word]] if word in columns else 0 for word in words]
    )
    codes = how_many_groups(matrix[:_MOST_GROUPED], _MOST_GROUPS, detector._seed)
    if len(texts) > _MOST_GROUPED:
        centres = np.stack(
            [_mean(matrix[: len(codes)][codes == k]) for k in range(codes.max() + 1)]
        )
        codes = np.concatenate((codes, np.argmax(matrix[_MOST_GROUPED:] @ centres.T, axis=1)))
    n_all = detector.evidence_.n_documents + len(texts)
    frequencies = known + np.asarray(matrix.sum(axis=0)).ravel()
    return tuple(
        Group(rows[codes == k], _words(matrix[codes == k], words, known, frequencies, n_all))
        for k in range(int(codes.max()) + 1)
    )


def _mean(matrix: Any) -> NDArray[np.float64]:
    mean = np.asarray(matrix.mean(axis=0)).ravel()
    return mean / (np.linalg.norm(mean) or 1.0)


def _words(
    matrix: Any,
    words: list[str],
    known: NDArray[Any],
    frequencies: NDArray[Any],
    n_all: int,
    n: int = 20,
) -> Table:
    """Give the words of a group, those that mark it most first."""
    size, counts = matrix.shape[0], np.asarray(matrix.sum(axis=0)).ravel()
    here = (counts + 0.5) / (size + 1)
    elsewhere = (frequencies - counts + 0.5) / (n_all - size + 1)
    scores = counts / size * np.log(here / elsewhere)
    top = np.argsort(-scores, kind="stable")[:n]
    top = top[counts[top] > 0]
    return Table(
        {
            "word": np.array([words[j] for j in top.tolist()], dtype=object),
            "score": scores[top],
            "documents": counts[top],
            "known": known[top].astype(np.int64),
        }
    )
