"""Which of many texts are novel, why, what is new in them, and how they group."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from newfound.description.describer import NoveltyDescriber
from newfound.detection.calibration import ShareOfNew, share_of_new
from newfound.detection.explanation import MAX_EXPLAINED, JudgedTexts, judge
from newfound.detection.headline import NO_WORDS, known_like
from newfound.detection.sentences import newest_sentences
from newfound.detection.verdict import Verdict
from newfound.machine.native import EpochInfo
from newfound.stories.clusters import Group, find_groups, without_group
from newfound.table import Table
from newfound.text.documents import Documents, as_documents, with_text
from newfound.text.encoding import TokenizedTexts
from newfound.text.validation import NothingToLearnError, NoWordsWarning
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector

__all__ = ["Detection", "Group", "detect", "is_own_column"]

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]

_MIN_DESCRIBED = 5
_COLUMNS = (
    "document", "text", "novel", "novelty", "p_value", "nearest", "status", "why", "reasons",
    "newest_sentence", "group", "group_name",
)  # fmt: skip

_MAX_KNOWN_DESCRIBED = 3000
_MAX_KEPT = 10_000  # explanations that are kept, those of the most novel texts
_UNLIKE = 0.6  # share of unseen words from which on the texts are unlike the known ones


class Detection(Table):
    """The texts that were examined, one row each, in the given order.

    Columns: ``document`` (its name), ``text``, ``novel``, ``novelty``, ``p_value``, ``nearest``
    (known class; None without labels, and for a short text), ``status`` ("ok", or "short", "unlike"
    or "no words"; see `Verdict`), ``why`` (one sentence),
    ``reasons`` (the words that make it novel, each a dict of ``word``, ``contribution`` and
    ``seen``; their names alone in CSV), ``newest_sentence`` (the sentence of a novel text with the
    greatest novelty; empty in the others), ``group`` (its number in ``groups``, from 1; 0 for none)
    and ``group_name``.

    Attributes
    ----------
    detector : NoveltyDetector
        The detector that was used.
    description : NoveltyDescriber or None
        What is new in the novel documents, against known ones; None if there are fewer than 5, or
        if it was not requested.
    groups : tuple of Group
        Groups of similar novel documents, the largest first.
    alpha : float
        The false-alarm rate that was used.
    """

    def __init__(
        self,
        columns: Mapping[str, NDArray[Any]],
        *,
        detector: NoveltyDetector,
        explain: Callable[[int], Verdict],
        description: NoveltyDescriber | None = None,
        groups: Sequence[Group] = (),
        alpha: float | None = None,
    ) -> None:
        super().__init__(columns)
        self._explain = explain
        self.detector = detector
        # The detector's own may be changed later.
        self.alpha = detector.calibration_.alpha if alpha is None else alpha
        self.description = description
        self.groups = tuple(groups)

    @property
    def n_novel(self) -> int:
        """The number of novel texts."""
        return int(self["novel"].sum())

    @cached_property
    def share(self) -> ShareOfNew:
        """The estimated share of new texts, corrected for false alarms."""
        return share_of_new(self["p_value"], len(self.detector.calibration_))

    @property
    def expected_false(self) -> float:
        """The share of the texts called novel that can be expected to be known; nan if none is.

        A share of alpha of the known texts is called novel, and `share` estimates how many of all
        texts are known.
        """
        if not self.n_novel:
            return float("nan")
        known = (1 - self.share.share) * len(self)
        return min(1.0, self.alpha * known / self.n_novel)

    def explain(self, i: int) -> Verdict:
        """Explain the text of row i; it is not read or scored again."""
        return self._explain(int(i))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        known: Documents | None = None,
        incoming: Documents | None = None,
        title: str | None = None,
        force: bool = False,
    ) -> None:
        """Write one HTML page that shows what is new and works offline.

        Parameters
        ----------
        path : path
            The file to write.
        known, incoming : Documents, optional
            The documents that were read, for the section on how the page was made.
        title : str, optional
            The title of the page.
        force : bool, default=False
            Replace an existing file.
        """
        from newfound.show.page import write_detection_report

        write_detection_report(path, self, known=known, incoming=incoming, title=title, force=force)

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, force: bool = False
    ) -> str | None:
        """Write a CSV file, with the words of the reasons; see `Table.to_csv`."""
        words = np.empty(len(self), dtype=object)
        words[:] = [tuple(reason["word"] for reason in found) for found in self["reasons"]]
        columns = {name: self[name] for name in self.columns}
        return Table({**columns, "reasons": words}).to_csv(path, force=force)

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> Detection:
        """Return the table with other columns of the documents after its own.

        Parameters
        ----------
        columns : mapping of str to sequence
            The columns, such as `Documents.columns`. Those of `is_own_column` are left out; one
            that was added before is replaced.
        """
        found = dict(self._data)
        for name, values in columns.items():
            if is_own_column(name):
                continue
            if len(values) != len(self):
                raise ValueError(
                    f"The column {name!r} has {len(values):,} values for {len(self):,} documents."
                )
            found[name] = np.empty(len(self), dtype=object)
            for place, value in enumerate(values):  # a slice would spread out values that are lists
                found[name][place] = value
        return Detection(
            found,
            detector=self.detector,
            explain=self._explain,
            description=self.description,
            groups=self.groups,
            alpha=self.alpha,
        )

    def without_group(self) -> str:
        """Return one sentence on the novel documents of no group; empty if there are none."""
        return without_group(self.n_novel, self.groups)

    def novel(self) -> Detection:
        """Return the novel rows, the most novel first."""
        rows = np.flatnonzero(self["novel"])
        order = np.lexsort((-self["novelty"][rows], self["p_value"][rows]))
        return self.take(rows[order])

    def take(self, rows: NDArray[Any] | slice) -> Detection:
        """Return the table of these rows, without description and groups."""
        columns = {name: self[name][rows] for name in self.columns}
        numbers = np.arange(len(self))[rows]
        explain = partial(_explain_row, self._explain, numbers)
        return Detection(columns, detector=self.detector, explain=explain, alpha=self.alpha)


def is_own_column(name: str) -> bool:
    """Return whether a name is that of a column of a `Detection`; one of the documents is left out.

    Examples
    --------
    >>> [is_own_column(name) for name in ("text", "author")]
    [True, False]
    """
    return name in _COLUMNS


def _explain_row(explain: Callable[[int], Verdict], numbers: NDArray[np.int64], i: int) -> Verdict:
    """Explain row i of some rows; a function of the module, so that a table can be pickled."""
    return explain(int(numbers[i]))


def detect(
    detector: NoveltyDetector,
    texts: Any,
    *,
    known: Sequence[str] | None = None,
    describe: bool = True,
    group: bool = True,
    progress: Progress | None = None,
    **description: Any,
) -> Detection:
    """Find the novel ones among texts.

    Parameters
    ----------
    detector : NoveltyDetector
        Fitted.
    texts : iterable of str, series, frame or Documents
        Anything that `newfound.text.documents.as_documents` accepts.
    known : sequence of str, optional
        Known documents to describe the novel ones against. By default the words of the documents
        that the detector learned from, without their order.
    describe, group : bool, default=True
        Whether to describe the novel documents, and to group them.
    progress : callable, optional
        Called with the name of the step, the number of texts done and their total.
    **description
        Parameters of `NoveltyDescriber`.

    Returns
    -------
    Detection
    """
    describer = _new_describer(detector, description) if describe else None
    documents = as_documents(texts, redact=detector.redact)
    if known is not None:
        known = detector.redacted(known)

    def scored(n: int) -> None:
        if progress is not None:
            progress("Scoring", n, len(documents))

    known_sentences = detector.knowledge_.held_back_sentences
    judged = judge(
        detector.scorer_, detector.calibration_, documents.texts, scored, known_sentences
    )
    _warn_if_unlike(judged)
    explain: Callable[[int], Verdict] = partial(_explained, judged, {})
    judgement = judged.judgement
    columns = {
        "document": np.array(documents.ids, dtype=object),
        "text": np.array(documents.texts, dtype=object),
        "novel": judgement.novel,
        "novelty": judgement.scores.novelty,
        "p_value": judgement.p_values,
        "nearest": judgement.classes,
        "status": judgement.scores.status,
        **_reasons(judged, explain, progress),
    }
    rows = np.flatnonzero(judgement.novel)
    new = judged.texts.take(rows)
    meant, meaning = judgement.scores.bags.vectors, detector.scorer_.meaning
    counts = meaning is not None and meaning.scale.any()  # known documents have decided that
    vectors = meant[rows] if counts and meant is not None else None
    groups = _groups(detector, new, rows, vectors) if group and len(new) else ()
    columns.update(_group_columns(groups, len(documents)))
    described = None
    if describer is not None and len(new) >= _MIN_DESCRIBED:
        described = _describe(describer, detector, known, new, progress)
    return Detection(
        columns,
        detector=detector,
        explain=explain,
        description=described,
        groups=groups,
    )


def _explained(judged: JudgedTexts, made: dict[int, Verdict], i: int) -> Verdict:
    """Explain row i of judged texts once, if it is among the first ones asked for."""
    verdict = made.get(i)
    if verdict is None:
        verdict = judged.explain(i)
        if len(made) < _MAX_KEPT:
            made[i] = verdict
    return verdict


def _reasons(
    judged: JudgedTexts, explain: Callable[[int], Verdict], progress: Progress | None
) -> dict[str, NDArray[np.object_]]:
    """Return why each text is what it is; novel ones are explained, the most novel first.

    In `why` as a sentence, in `reasons` as data, and the newest sentence.
    """
    judgement = judged.judgement
    why, reasons = (np.empty(len(judged.texts), dtype=object) for _ in range(2))
    reasons[:] = [()] * len(reasons)
    nearest, has_words = judgement.classes, judgement.scores.has_words
    for i in np.flatnonzero(~judgement.novel).tolist():
        why[i] = f"{known_like(nearest[i])}." if has_words[i] else NO_WORDS
    rows = np.flatnonzero(judgement.novel)
    order = rows[np.lexsort((-judgement.scores.novelty[rows], judgement.p_values[rows]))]
    for done, i in enumerate(order.tolist(), 1):
        if len(judged.texts[i]) > MAX_EXPLAINED:
            why[i] = "too long to explain"
        else:
            verdict = explain(i)
            why[i], reasons[i] = verdict.sentence, verdict.reason_data()
        if progress is not None:
            progress("Explaining", done, len(order))
    newest = np.full(len(judged.texts), "", dtype=object)
    newest[rows] = newest_sentences(judged.scorer, [judged.texts[i] for i in rows.tolist()])
    return {"why": why, "reasons": reasons, "newest_sentence": newest}


def _warn_if_unlike(judged: JudgedTexts) -> None:
    bags = judged.judgement.scores.bags
    unseen, words = int(bags.unseen_words.sum()), int(bags.n_words.sum())
    if unseen > _UNLIKE * words:
        warnings.warn(
            f"{unseen / words:.0%} of the words of the texts are in no known document; are they "
            "about another subject, or in another language?",
            stacklevel=3,
        )


def _new_describer(detector: NoveltyDetector, parameters: Mapping[str, Any]) -> NoveltyDescriber:
    """Return a describer with these parameters, which are checked before any work is done."""
    settings = {
        "language": detector.language,
        "n_jobs": detector.n_jobs,
        **_left_out(detector),
        **parameters,
        "redact": detector.redact,  # the texts are split into words before they are described
    }
    settings.setdefault("random_state", detector.seed_)
    describer = NoveltyDescriber(**settings)
    describer.resolve_parameters()
    return describer


def _left_out(detector: NoveltyDetector) -> dict[str, Any]:
    """Return the words that the user of a detector wants to leave out, as parameters."""
    words = detector.stop_words
    given = words is not None and not isinstance(words, str)
    return {"ignore": detector.ignore, **({"stop_words": words} if given else {})}


def _describe(
    describer: NoveltyDescriber,
    detector: NoveltyDetector,
    known: Sequence[str] | None,
    new: TokenizedTexts,
    progress: Progress | None,
) -> NoveltyDescriber | None:
    """Describe novel documents against known ones; the novel ones are not split into words again.

    Returns None, with a warning, if nothing can be learned from them.
    """

    def trained(info: EpochInfo) -> None:
        if progress is not None:
            progress("Describing", info.epoch, info.epochs)

    if known is None:
        old = _known_bags(detector)
    else:
        old = TokenizedTexts.of(text for _, text in with_text(_sample(known)))
    chosen = describer.resolve_parameters()
    alike = all(chosen[name] == getattr(detector, name) for name in ("language", "lemmatize"))
    labels = ["known"] * len(old) + ["novel"] * len(new)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoWordsWarning)
            lemmas = _lemmas(detector, new) if known is None and alike else None
            texts = TokenizedTexts.concatenate((old, new), lemmas)
            return describer.fit(texts, labels, callback=trained)
    except NothingToLearnError as error:
        warnings.warn(f"The novel documents could not be described: {error}", stacklevel=3)
        return None


def _sample(known: Sequence[Item]) -> list[Item]:
    """Return known documents, or as many of them at random as are enough for a description."""
    if len(known) <= _MAX_KNOWN_DESCRIBED:
        return list(known)
    chosen = np.random.RandomState(0).permutation(len(known))[:_MAX_KNOWN_DESCRIBED]
    return [known[i] for i in np.sort(chosen).tolist()]


def _known_bags(detector: NoveltyDetector) -> TokenizedTexts:
    """Return the words of documents that the detector has learned from; their order is not kept.

    A term stands for all of its forms; its most frequent form has the same term again, which need
    not be so for the term itself: *checkings* has the lemma *checking*, which has the lemma
    *check*.
    """
    scorer = detector.scorer_
    single = np.flatnonzero(~scorer.statistics.is_pair)
    matrix = scorer.statistics.matrix[_sample(range(scorer.statistics.n_documents))][:, single]
    matrix = matrix[np.diff(matrix.indptr) > 0]
    terms = [scorer.terms[j] for j in single.tolist()]
    forms = scorer.vectorizer.forms_
    return TokenizedTexts.from_bags(matrix, [next(iter(forms[term]), term) for term in terms])


def _lemmas(detector: NoveltyDetector, new: TokenizedTexts) -> dict[str, str]:
    """Return the lemmas of the detector, and for words that it does not have those of the texts."""
    learned = detector.scorer_.vectorizer
    found = TextVectorizer(
        language=detector.language, stop_words=None, lemmatize=detector.lemmatize
    ).fit(new)
    unseen = {
        word: term
        for word, term in found.lemmas_.items()
        if learned.term(word) not in learned.vocabulary_
    }
    return {**unseen, **learned.lemmas_}


def _group_columns(groups: Sequence[Group], n: int) -> dict[str, NDArray[Any]]:
    """Return the number and the name of the group of each text; 0 and no name for none."""
    numbers, names = np.zeros(n, np.int64), np.full(n, "", dtype=object)
    for number, group in enumerate(groups, 1):
        numbers[group.documents] = number
        names[group.documents] = group.name
    return {"group": numbers, "group_name": names}


def _groups(
    detector: NoveltyDetector,
    texts: TokenizedTexts,
    rows: NDArray[np.int64],
    vectors: NDArray[Any] | None,
) -> tuple[Group, ...]:
    vectorizer = TextVectorizer(
        language=detector.language,
        lemmatize=detector.lemmatize,
        min_df=2 if len(texts) > 4 else 1,
        **_left_out(detector),
    )
    try:  # a term must be called as the detector calls it, or it would seem never seen
        matrix = vectorizer.fit_transform(texts.with_lemmas(_lemmas(detector, texts)))
    except NothingToLearnError:  # no word is left, or none that two of them share
        return ()
    scorer = detector.scorer_
    known = dict(zip(scorer.terms, scorer.statistics.frequencies.tolist(), strict=True))
    found = find_groups(
        matrix,
        list(vectorizer.vocabulary_),
        known,
        scorer.statistics.n_documents,
        detector.seed_,
        vectors,
    )
    return tuple(replace(group, documents=rows[group.documents]) for group in found)
