"""Whole jobs as frozen requests: what to read, how to learn, and what comes of it.

The command line fills a request from its options, the service from the body of an HTTP request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from newfound.description.describe import (
    Periods,
    describe_periods,
    describe_values,
    join_piles,
    split_by_date,
)
from newfound.description.describer import NoveltyDescriber
from newfound.description.within import matched
from newfound.show.data import (
    Found,
    description_data,
    found_in,
    periods_data,
    theme_documents,
)
from newfound.show.sentences import by_mistake
from newfound.sides import Names
from newfound.table import Table
from newfound.text.copies import read_summary
from newfound.text.documents import Documents, as_documents, collect
from newfound.text.records import Columns
from newfound.text.sample import load_sample
from newfound.text.source import Reader, every_column

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.detection.detection import Detection
    from newfound.detection.detector import NoveltyDetector
    from newfound.machine.native import EpochInfo

__all__ = [
    "DescribeRun",
    "Described",
    "DescribedPeriods",
    "DetectRun",
    "Detected",
    "Progress",
    "RunInput",
    "Watch",
    "epochs_of",
]

_SET_ASIDE_SHOWN = 5

Progress = Callable[[str, int, int], None]  # a step, how much of it is done, how much there is


class Watch(Protocol):
    """Who follows a run: the terminal, or the service."""

    def say(self, message: str) -> None:
        """Take a sentence on what was read or left out."""

    def steps(self) -> AbstractContextManager[Progress | None]:
        """Return what to call with the progress of long steps, if anybody looks."""


@dataclass(frozen=True)
class RunInput:
    """Documents to read.

    Attributes
    ----------
    path : str or path, optional
        A file, a folder, or - for standard input.
    options : mapping
        How to read it: those of `read_documents`.
    rows : mapping, optional
        The documents themselves instead: "texts", and "labels" and "dates" if there are some.
    source : str, optional
        What the input is called in messages and ids; by default its path.
    """

    path: str | PathLike[str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    rows: Mapping[str, Any] | None = None
    source: str | None = None

    def with_columns(self) -> RunInput:
        """Return the input with the other columns of its documents kept."""
        return replace(self, options={**self.options, "keep_columns": True})

    def read(self, *, redact: bool = False) -> Documents:
        """Return the documents.

        Examples
        --------
        >>> RunInput(rows={"texts": ["a try", "a goal"]}, source="texts of a request").read().source
        'texts of a request'
        """
        if self.rows is not None:
            documents = self._given(self.rows)
            return documents.redacted() if redact else documents
        assert self.path is not None
        given = Columns(*(self.options.get(f"{kind}_column") for kind in ("text", "label", "date")))
        keep = every_column if self.options.get("keep_columns") and not redact else None
        reader = Reader(
            str(self.path), given, self.options.get("encoding"),
            shown=self.source, name=self.source, keep=keep,
        )  # fmt: skip
        documents = collect(reader, self.options.get("format"))
        return documents.redacted() if redact else documents

    def _given(self, rows: Mapping[str, Any]) -> Documents:
        documents = as_documents(rows["texts"], dates=rows.get("dates"))
        if rows.get("labels") is not None:
            kept = tuple(rows["labels"][int(place)] for place in documents.ids)
            documents = replace(documents, labels=kept)
        return documents if self.source is None else replace(documents, source=self.source)


@dataclass(frozen=True)
class DescribeRun:
    """What to describe.

    Attributes
    ----------
    inputs : tuple of RunInput
        Known and novel documents; one input that is split by `dates_from` or compared `by`
        something; or several piles. None of them stands for the bundled sample.
    piles : tuple of str
        The names of the inputs, if these are piles of which each is compared with all others.
    by : str, optional
        Compare each period of this length with all before it, or, if `labels`, the documents of
        each label with all others: what the labels are called.
    labels : bool
        Whether labels are compared.
    dates_from : str, optional
        The first day of the novel documents, or of the periods.
    within : str, optional
        A column whose values are to make no difference; see `newfound.description.within`.
    names : Names
        What the two sides are called.
    parameters : mapping
        Those of `NoveltyDescriber`.
    title : str, optional
        The title of the page.
    """

    inputs: tuple[RunInput, ...]
    piles: tuple[str, ...] = ()
    by: str | None = None
    labels: bool = False
    dates_from: str | None = None
    within: str | None = None
    names: Names = field(default_factory=Names)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None

    def run(self, watch: Watch) -> Described | DescribedPeriods:
        """Read and learn."""
        began = perf_counter()
        redact = bool(self.parameters.get("redact")) and self.within is not None
        read = [self._read(given) for given in self.inputs] or list(load_sample())
        seconds = {"reading": perf_counter() - began}
        describer = NoveltyDescriber(**self.parameters)
        fold = bool(describer.resolve_parameters()["fold_copies"])
        if self.by is not None:
            whole = join_piles(dict(zip(self.piles, read, strict=True))) if self.piles else read[0]
            return self._compare_each(whole, seconds, watch, fold=fold)
        known, novel = read if len(read) == 2 else split_by_date(read[0], self.dates_from)
        sides = {"known": known, "novel": novel}
        summaries = {side: read_summary(pile, fold=fold) for side, pile in sides.items()}
        for side, summary in summaries.items():
            watch.say(f"{self.names[side]}: {summary}")
        if self.within is not None:
            found = matched(known, novel, self.within)
            known, novel = found.known, found.novel
            watch.say(found.summary)
        if redact:
            known, novel = known.redacted(), novel.redacted()
        labels = [side for side, pile in (("known", known), ("novel", novel)) for _ in pile.texts]
        days = [day for pile in (known, novel) for day in pile.dates or (None,) * len(pile)]
        with watch.steps() as progress:
            describer.fit([*known, *novel], labels, dates=days, callback=epochs_of(progress))
        description = replace(describer.description_, names=self.names)
        for note in _notes(description):
            watch.say(note)
        return Described(self, description, known, novel, summaries, seconds)

    def _read(self, given: RunInput) -> Documents:
        """Return the documents of an input, not redacted yet if another column is needed."""
        if self.within is not None:
            return given.with_columns().read()
        return given.read(redact=bool(self.parameters.get("redact")))

    def _compare_each(
        self, documents: Documents, seconds: dict[str, float], watch: Watch, *, fold: bool
    ) -> DescribedPeriods:
        summary = read_summary(documents, fold=fold)
        watch.say(summary)
        assert self.by is not None
        with watch.steps() as progress:
            step = None if progress is None else _of_parts(progress)
            found = (
                describe_values(documents, by=self.by, callback=step, **self.parameters)
                if self.labels
                else describe_periods(
                    documents, by=self.by, start=self.dates_from, callback=step, **self.parameters
                )
            )
        return DescribedPeriods(self, found, documents, {"documents": summary}, seconds)


@dataclass(frozen=True)
class Described:
    """Two sides, described; of a stream, `known` and `novel` only count its documents."""

    run: DescribeRun
    description: Description
    known: Any
    novel: Any
    read: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def data(self, top: int, by: str = "novelty") -> dict[str, Any]:
        """Return the answer as plain data."""
        return description_data(
            self.description, self.known, self.novel, self.run.names, top=top, by=by
        )

    def page(self) -> bytes:
        """Return the report."""
        from newfound.show.page import report_page

        known, novel = (
            pile if isinstance(pile, Documents) else None for pile in (self.known, self.novel)
        )
        return report_page(
            self.description, known=known, novel=novel, known_name=self.run.names.known,
            novel_name=self.run.names.novel, title=self.run.title, seconds=dict(self.seconds),
        )  # fmt: skip

    def table(self, name: str) -> Any:
        """Return the words, rules, phrases, themes, or the documents of the themes."""
        return _table_of(self.description, name, self.known, self.novel)

    def summary(self, data: Mapping[str, Any]) -> str:
        """Return the first sentence of the answer."""
        return str(data["summary"])


@dataclass(frozen=True)
class DescribedPeriods:
    """Periods or labels, each described."""

    run: DescribeRun
    periods: Periods
    documents: Documents
    read: Mapping[str, str]
    seconds: Mapping[str, float]

    @property
    def description(self) -> Description:
        """The description of the last period, which is the one to keep."""
        return self.periods.periods[-1].description

    @property
    def known(self) -> Documents:
        """The documents that the last period is compared with."""
        return self.periods.periods[-1].known

    @property
    def novel(self) -> Documents:
        """The documents of the last period."""
        return self.periods.periods[-1].novel

    def data(self, top: int, by: str = "novelty") -> dict[str, Any]:
        """Return the answer as plain data."""
        return periods_data(self.periods, top=top, by=by)

    def page(self) -> bytes:
        """Return the report."""
        from newfound.show.page import report_page_of_periods

        return report_page_of_periods(
            self.periods, title=self.run.title, known=self.documents, seconds=dict(self.seconds)
        )

    def table(self, name: str) -> Table:
        """Return the words, rules, ... of all periods, the period first."""
        parts = {
            one.name: _table_of(one.description, name, one.known, one.novel)
            for one in self.periods.periods
        }
        return Table.stacked("period", parts)

    def summary(self, data: Mapping[str, Any]) -> str:
        """Return how many periods there are, and the first sentence on the last."""
        n, last = len(self.periods), data["periods"][-1]
        what = "value" if self.run.labels else self.periods.by
        return f"{n:,} {what}{'s'[: n != 1]}; {last['period']}: {last['summary']}"


@dataclass(frozen=True)
class DetectRun:
    """Where to look for novel documents, and from what to learn.

    Attributes
    ----------
    known, incoming : RunInput, optional
        Documents to learn from, and documents to examine. With neither of them nor a model, parts
        of the bundled sample.
    model : path, optional
        The file of a detector to use instead of known documents.
    parameters : mapping
        Those of `NoveltyDetector`; of a model only `n_jobs` and `alpha` can be other ones.
    describe : bool
        Whether what is new in the novel documents is described.
    forget_texts : bool
        Whether the detector keeps no known document in full.
    title : str, optional
        The title of the page.
    encoder : path or str, optional
        The folder or name of an encoder; see `newfound.load_encoder`.
    """

    known: RunInput | None = None
    incoming: RunInput | None = None
    model: str | PathLike[str] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    describe: bool = True
    forget_texts: bool = False
    title: str | None = None
    encoder: str | PathLike[str] | None = None

    def read(self, watch: Watch) -> tuple[Documents | None, Documents | None]:
        """Return the known and the incoming documents."""
        redact = bool(self.parameters.get("redact"))
        if self.known is None and self.incoming is None and self.model is None:
            return _parts_of_the_sample()
        known, incoming = (
            None if given is None else given.read(redact=redact)
            for given in (self.known, self.incoming)
        )
        for documents in (known, incoming):
            if documents is not None:
                watch.say(documents.summary())
        return known, incoming

    def learn(self, known: Documents | None, progress: Progress | None) -> NoveltyDetector:
        """Return a detector that learned from known documents, or that was saved."""
        from newfound.detection.detector import NoveltyDetector
        from newfound.detection.encoder_shelf import load_encoder

        jobs = self.parameters.get("n_jobs")
        encoder = None if self.encoder is None else load_encoder(self.encoder, n_jobs=jobs)
        if known is None:
            assert self.model is not None
            detector = NoveltyDetector.load(self.model)
            if encoder is not None:
                detector.use_encoder(encoder)
            detector.require_encoder()
            asked = {name: self.parameters.get(name) for name in ("n_jobs", "alpha")}
            detector.set_params(**{name: value for name, value in asked.items() if value})
        else:
            detector = NoveltyDetector(**self.parameters, encoder=encoder)
            detector.fit(known.texts, known.labels, callback=epochs_of(progress))
        if self.forget_texts:
            detector.forget_texts()
        return detector

    def run(self, watch: Watch) -> Detected:
        """Read, learn and examine."""
        began = perf_counter()
        detector = None if self.model is None else self.learn(None, None)  # before much is read
        known, incoming = self.read(watch)
        assert incoming is not None
        seconds = {"reading": perf_counter() - began}
        with watch.steps() as progress:
            began = perf_counter()
            if detector is None:
                detector = self.learn(known, progress)
            seconds["learning"] = perf_counter() - began
            if self.model is not None and detector.redact:
                incoming = incoming.redacted()
            began = perf_counter()
            detection = detector.detect(
                incoming,
                known=None if known is None else known.texts,
                describe=self.describe,
                progress=progress,
            )
            seconds["detecting and describing"] = perf_counter() - began
        return Detected(self, detector, detection, known, incoming, seconds)


@dataclass(frozen=True)
class Detected:
    """Incoming documents, examined."""

    run: DetectRun
    detector: NoveltyDetector
    detection: Detection
    known: Documents | None
    incoming: Documents
    seconds: Mapping[str, float]

    @property
    def rows(self) -> Table:
        """The verdict on each document, with the other columns of the documents."""
        return self.detection.with_columns(self.incoming.columns)

    @property
    def found(self) -> Found:
        """What is printed."""
        return found_in(self.detection, self.incoming)

    @property
    def read(self) -> dict[str, str]:
        """What was read, as a sentence for each input."""
        given = {"incoming": self.incoming, "known": self.known}
        return {name: pile.summary() for name, pile in given.items() if pile is not None}

    @property
    def summary(self) -> str:
        """How many documents are called novel, and how many of these by mistake."""
        made = self.detection
        mistaken = by_mistake(made.n_novel, made.share.share, made.expected_false)
        return (
            f"{made.n_novel:,} of {len(self.incoming):,} incoming documents are called novel at "
            f"alpha = {made.alpha:g}{mistaken}."
        )

    def page(self) -> bytes:
        """Return the report."""
        from newfound.show.page import detection_page

        return detection_page(
            self.detection, known=self.known, incoming=self.incoming, title=self.run.title,
            seconds=dict(self.seconds),
        )  # fmt: skip


def _parts_of_the_sample() -> tuple[Documents, Documents]:
    """Return most requests about banking, and others, some of which are about travel."""
    known, novel = load_sample()
    texts = (*known.texts[::5], *novel.texts[::10])
    places = tuple(map(str, range(len(texts))))
    incoming = replace(novel, texts=texts, ids=places, labels=None, source="the bundled sample")
    rest = known.take([row for row in range(len(known)) if row % 5])
    return replace(rest, source="the bundled sample, banking of CLINC150"), incoming


def _notes(description: Description) -> Iterator[str]:
    """Yield what was folded and what was set aside, a sentence each."""
    copies = description.copies
    if copies is not None and (copies.is_copy.any() or copies.passages.any()):
        yield copies.summary()
    aside = list(description.set_aside)
    if aside:
        shown = ", ".join(aside[:_SET_ASIDE_SHOWN]) + (", ..." if aside[_SET_ASIDE_SHOWN:] else "")
        yield f"Set aside dates, numbers and single letters ({shown}); --calendar keeps them."


def _table_of(description: Description, name: str, known: Any, novel: Any) -> Any:
    """Return the table of a description with this name."""
    if name == "documents":
        return theme_documents(description, known, novel)
    if name == "words":
        return description.words
    if name == "phrases":
        return description.phrases
    return (description.clauses if name == "rules" else description.themes).to_table()


def epochs_of(progress: Progress | None) -> Callable[[EpochInfo], None] | None:
    """Return a callback for epochs that reports the learning of rules as the progress of a step."""
    if progress is None:
        return None
    return lambda info: progress("Learning rules", info.epoch, info.epochs)


def _of_parts(progress: Progress) -> Progress:
    """Return a callback that moves one bar from period to period."""
    return lambda name, done, total: progress("Describing", done, total)
