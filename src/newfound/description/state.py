"""The state of a description in a model file; docs/model-file.md lists its fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.checks import check_whole_number
from newfound.description.calibration import VerdictCalibration
from newfound.description.description import Description
from newfound.description.learning import VECTORIZER, check_parameters, resolve, with_tables
from newfound.description.novelty import Evidence
from newfound.description.timeline import NO_DAY, CountedTimeline, Timeline, timeline_of
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import Clauses, clauses_from_state, clauses_state
from newfound.machine.committee import MOST_MACHINES, new_machines, rule_columns
from newfound.machine.native import machine_from_state, machine_state
from newfound.rules import ClauseTable
from newfound.sides import PLAIN_NAMES, SIDES, Names
from newfound.storage.fields import MAX_DOCUMENTS, Fields, parameters_from_state, parameters_state
from newfound.stories.state import themes_from_state, themes_state
from newfound.stories.themes import Themes
from newfound.table import Table
from newfound.text.state import vectorizer_from_state, vectorizer_state
from newfound.text.vectorizer import TextVectorizer

__all__ = ["description_from_state", "description_state"]

_NO_DATE = -(2**31)
_LEAST_DAYS, _MOST_DAYS = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, from 1970-01-01
_MOST_PHRASES = 10_000  # and words in them all
_MOST_LETTERS = 1_000_000
_COUNTS = ("count", "documents_known", "documents_novel")
_VALUES = ("precision", "held_out_precision", "novelty", "strength")


def description_state(
    description: Description, machines: Sequence[TsetlinMachineClassifier] = ()
) -> dict[str, Any]:
    """Return the state of a description, and of machines that are to learn more."""
    stop_words, clauses = description.vectorizer.stop_words_, description.all_clauses
    themes, timeline = _in_order_of_sides(description)
    state: dict[str, Any] = {
        "parameters": parameters_state(description.given, stop_words),
        "chosen": parameters_state(description.parameters, stop_words),
        "n_documents": description.n_documents,
        "n_machines": description.n_machines,
        "vectorizer": vectorizer_state(description.vectorizer),
        "clauses": {**clauses_state(clauses.arrays), "held_out": clauses.held_out},
        "words": {"documents": description.document_counts, **description.evidence._asdict()},
        "phrases": _phrases_state(description.phrases, clauses),
        "set_aside": {
            "words": list(description.set_aside), "kinds": list(description.set_aside.values()),
        },
    }  # fmt: skip
    place = {word: column for column, word in enumerate(clauses.vocabulary)}
    state["themes"] = themes_state(themes, place, clauses.n_documents)
    state.update(_timeline_state(timeline))
    if description.calibration is not None:
        state["calibration"] = description.calibration.to_state()
    if description.names != PLAIN_NAMES:
        state["names"] = dict(vars(description.names))
    if machines:
        state["machines"] = [machine_state(machine) for machine in machines]
    return state


def _in_order_of_sides(
    description: Description,
) -> tuple[Themes, Timeline | None]:
    """Return themes and timeline with the known documents first: the order of `remember`."""
    themes, timeline, corpus = description.all_themes, description.timeline, description.corpus
    if corpus is None:
        return themes, timeline
    order = np.argsort(corpus.novel, kind="stable")
    if timeline is not None and not isinstance(timeline, CountedTimeline):
        timeline = Timeline(timeline.dates[order], timeline.by)
    ranks = np.argsort(order)
    # Of a sample, the documents of each side are numbered as the first ones of all.
    ranks[corpus.novel] += description.n_documents["known"] - int((~corpus.novel).sum())
    return themes.renumbered(ranks), timeline


def description_from_state(
    fields: Fields, names: Iterable[str]
) -> tuple[Description, tuple[TsetlinMachineClassifier, ...]]:
    """Return the description and the machines of a state that `description_state` made."""
    given = parameters_from_state(fields.fields("parameters"), names)
    chosen = _chosen(fields.fields("chosen"), given)
    n_machines = fields.integer("n_machines", least=1, most=MOST_MACHINES)
    fields.require(n_machines <= chosen["n_machines"], "n_machines", "at most the number chosen")
    machines = new_machines({**chosen, "n_machines": n_machines}, given.get("random_state"))
    sizes = fields.fields("n_documents")
    n_documents = [sizes.integer(side, most=MAX_DOCUMENTS) for side in SIDES]
    vectorizer = vectorizer_from_state(
        fields.fields("vectorizer"), {name: chosen[name] for name in VECTORIZER}
    )
    n_words = len(vectorizer.vocabulary_)
    table = _table(fields.fields("clauses"), list(vectorizer.vocabulary_), n_documents)
    n = 2 * n_machines * int(chosen["n_clauses"])
    fields.require(len(table) == n, "clauses", f"{n:,} clauses, those of {n_machines:,} machines")
    words = fields.fields("words")
    documents = words.integers("documents", np.int64, (2, n_words), most=MAX_DOCUMENTS)
    fields.require(
        bool((documents.max(axis=1) <= n_documents).all()),
        "words",
        "counts up to the number of documents",
    )
    themes = themes_from_state(fields.fields("themes"), table.vocabulary, n_documents)
    description = with_tables(
        table,
        n_machines,
        documents,
        Evidence(*(words.floats(name, (n_words,)) for name in Evidence._fields)),
        vectorizer,
        chosen,
        given=given,
        phrases=_phrases_from_state(fields.fields("phrases"), table),
        grouped=themes,
        timeline=_timeline(fields, sum(n_documents), n_words, len(themes.groups)),
        calibration=_calibration(fields, n_words),
        set_aside=_set_aside(fields.fields("set_aside")),
        names=_names(fields),
    )
    return description, _machines(fields, machines, vectorizer, chosen, table.arrays)


def _names(fields: Fields) -> Names:
    if "names" not in fields:
        return PLAIN_NAMES
    own = fields.fields("names")
    given = {side: own.value(side) for side in SIDES}
    try:
        return Names(**given)
    except ValueError as error:
        raise fields.refusal("names", given, "two short names, or null") from error


def _calibration(fields: Fields, n_words: int) -> VerdictCalibration | None:
    if "calibration" not in fields:
        return None
    own = fields.fields("calibration")
    stop_words = own.texts("stop_words")
    own.require(len(set(stop_words)) == len(stop_words), "stop_words", "different words")
    shape = (n_words + len(stop_words),)
    weights, idf = own.floats("weights", shape), own.floats("idf", shape)
    own.require(bool((idf > 0).all()), "idf", "numbers above 0")
    slope = own.number("slope", least=0)
    return VerdictCalibration(slope, own.number("intercept"), weights, idf, tuple(stop_words))


def _set_aside(fields: Fields) -> dict[str, str]:
    words, kinds = fields.texts("words"), fields.texts("kinds")
    fields.require(len(words) == len(kinds), "kinds", "one kind for each word")
    return dict(zip(words, kinds, strict=True))


def _chosen(fields: Fields, parameters: Mapping[str, Any]) -> dict[str, Any]:
    presets = resolve(parameters.get("preset"), parameters)
    chosen = parameters_from_state(fields, presets)
    for name in presets:
        fields.value(name)
    for name in ("boost_true_positive", "lemmatize", "calendar", "fold_copies"):
        fields.boolean(name)
    for name in ("shared_low", "shared_high"):
        fields.number(name, least=0)
    for given in (presets, chosen):  # the first are used when more is learned
        more = {} if given["max_literals"] else {"max_literals": None}
        check_parameters({**parameters, **given, **more})
    check_whole_number("rule_min_df", chosen["rule_min_df"], 1)
    return chosen


def _table(fields: Fields, vocabulary: list[str], n_documents: list[int]) -> ClauseTable:
    clauses = clauses_from_state(fields, len(vocabulary))
    n = len(clauses)
    held_out = fields.integers("held_out", np.int64, (2, n), most=MAX_DOCUMENTS)
    fewer = (held_out[0] <= clauses.matches).all() and (held_out[1] <= held_out[0]).all()
    fields.require(bool(fewer), "held_out", "counts up to those of matches")
    table = ClauseTable(
        clauses, vocabulary, n_documents=(n_documents[0], n_documents[1]), held_out=held_out
    )
    for size, matches in zip(n_documents, (table.matches_known, table.matches_novel), strict=True):
        fields.require(
            int(matches.max(initial=0)) <= size, "matches", "counts up to the number of documents"
        )
    return table


def _machines(
    fields: Fields,
    machines: list[TsetlinMachineClassifier],
    vectorizer: TextVectorizer,
    chosen: Mapping[str, Any],
    clauses: Clauses,
) -> tuple[TsetlinMachineClassifier, ...]:
    """Restore the machines, if their automata were saved."""
    if "machines" not in fields:
        return ()
    states, n = fields.items("machines"), len(clauses) // len(machines)
    fields.require(len(states) == len(machines), "machines", f"{len(machines):,} machines")
    columns = rule_columns(vectorizer.document_frequencies_, int(chosen["rule_min_df"]))
    narrow = clauses.narrowed(columns)
    return tuple(
        machine_from_state(state, machine, np.array(SIDES), narrow.take(np.arange(n) + number * n))
        for number, (state, machine) in enumerate(zip(states, machines, strict=True))
    )


def _phrases_state(phrases: Table, table: ClauseTable) -> dict[str, NDArray[Any]]:
    columns = [[table.column(word) for word in words] for words in phrases["words"]]
    return {
        "lengths": np.array([len(row) for row in columns], np.int32),
        "words": np.array([i for row in columns for i in row], np.int32),
        "novel": np.array(phrases["side"] == "novel", np.uint8),
        "counts": np.stack([phrases[name] for name in _COUNTS]),
        "values": np.stack([phrases[name] for name in _VALUES]),
    }


def _phrases_from_state(fields: Fields, table: ClauseTable) -> Table:
    size, n = fields.length("words"), fields.length("lengths")
    # Each phrase becomes a text, and texts of long words take far more memory than the arrays.
    few = max(n, size) <= _MOST_PHRASES
    fields.require(few, "words", f"at most {_MOST_PHRASES:,} words of phrases")
    lengths = fields.integers("lengths", np.int64, (n,), least=2, most=max(size, 2))
    fields.require(int(lengths.sum()) == size, "lengths", f"lengths that add up to {size:,} words")
    columns = fields.integers("words", np.int64, (size,), most=len(table.vocabulary) - 1)
    letters = sum(len(table.vocabulary[i]) for i in columns.tolist())
    fields.require(letters <= _MOST_LETTERS, "words", f"at most {_MOST_LETTERS:,} letters")
    novel = fields.integers("novel", np.int64, (n,), most=1)
    counts = fields.integers("counts", np.int64, (len(_COUNTS), n), most=MAX_DOCUMENTS)
    fields.require(
        bool((counts[1:] <= np.array(table.n_documents)[:, None]).all()),
        "counts",
        "counts up to the number of documents",
    )
    values = fields.floats("values", (len(_VALUES), n), nan=True)
    parts = np.split(columns, np.cumsum(lengths)[:-1]) if n else []
    words = np.empty(n, dtype=object)
    words[:] = [tuple(table.vocabulary[i] for i in part) for part in parts]
    return Table(
        {
            "phrase": np.array([" AND ".join(names) for names in words], dtype=object),
            "words": words,
            "side": np.array(SIDES, dtype=object)[novel],
            **dict(zip(_COUNTS, counts, strict=True)),
            **dict(zip(_VALUES, values, strict=True)),
        }
    )


def _timeline_state(timeline: Timeline | None) -> dict[str, Any]:
    """Return the field ``dates`` or ``curves`` of a state; nothing without dates."""
    if timeline is None:
        return {}
    if isinstance(timeline, CountedTimeline):
        return {"curves": _curves_state(timeline)}
    days = timeline.dates.astype(np.int64)
    missing = np.isnat(timeline.dates)
    return {"dates": {"days": np.where(missing, _NO_DATE, days).astype(np.int32)}}


def _curves_state(timeline: CountedTimeline) -> dict[str, Any]:
    """Return the state of curves: days from 1970-01-01, and numbers of documents."""
    sides = [sparse.csr_array(side) for side in timeline.words]
    for side in sides:
        side.sort_indices()
    return {
        "days": timeline.dates.astype(np.int64),
        "documents": timeline.day_counts,
        "missing": timeline.n_missing,
        "starts": np.stack([side.indptr for side in sides]),
        "bins": np.concatenate([side.indices for side in sides]),
        "counts": np.concatenate([side.data for side in sides]),
        "themes": timeline.themes,
        "word_days": _kept_days(timeline.word_days),
        "theme_days": _kept_days(timeline.theme_days),
    }


def _kept_days(days: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(np.abs(days) >= NO_DAY, _NO_DATE, days)


def _timeline(fields: Fields, n_documents: int, n_words: int, n_themes: int) -> Timeline | None:
    """Return the timeline of a state, or None if it has no dates."""
    if "curves" in fields:
        return _curves(fields.fields("curves"), n_documents, n_words, n_themes)
    if "dates" not in fields:
        return None
    dates = fields.fields("dates")
    days = dates.integers("days", np.int64, (n_documents,), least=_NO_DATE, most=_MOST_DAYS)
    there = days[days != _NO_DATE]
    sound = len(there) > 0 and int(there.min()) >= _LEAST_DAYS
    dates.require(sound, "days", "dates from the year 1 to 9999")
    return timeline_of(np.where(days == _NO_DATE, np.datetime64("NaT"), days.astype("M8[D]")))


def _curves(fields: Fields, n_documents: int, n_words: int, n_themes: int) -> CountedTimeline:
    n = fields.length("days")
    days = fields.integers("days", np.int64, (n,), least=_LEAST_DAYS, most=_MOST_DAYS)
    fields.require(n > 0 and bool((np.diff(days) > 0).all()), "days", "days in their order")
    counts = fields.integers("documents", np.int64, (2, n), most=MAX_DOCUMENTS)
    missing = fields.integer("missing", most=n_documents)
    whole = int(counts.sum()) + missing == n_documents
    fields.require(whole, "documents", f"{n_documents:,} documents, with those without a date")
    dates = days.astype("datetime64[D]")
    n_bins = len(CountedTimeline(dates, counts, missing).starts)
    size = fields.length("bins")
    starts = fields.integers("starts", np.int64, (2, n_words + 1), most=size)
    ends = starts[:, -1]
    sound = bool((np.diff(starts) >= 0).all()) and not starts[:, 0].any() and ends.sum() == size
    fields.require(sound, "starts", f"places that end with {size:,} numbers")
    bins = fields.integers("bins", np.int64, (size,), most=n_bins - 1)
    documents = fields.integers("counts", np.int64, (size,), most=MAX_DOCUMENTS)
    first = int(ends[0])
    parts = (slice(0, first), slice(first, size))
    known, novel = (
        sparse.csr_array((documents[part], bins[part], start), shape=(n_words, n_bins))
        for part, start in zip(parts, starts, strict=True)
    )
    themes = fields.integers("themes", np.int64, (n_themes, 2, n_bins), most=MAX_DOCUMENTS)
    word_days, theme_days = (
        _days(fields, name, size)
        for name, size in (("word_days", n_words), ("theme_days", n_themes))
    )
    return CountedTimeline(dates, counts, missing, (known, novel), themes, word_days, theme_days)


def _days(fields: Fields, name: str, n: int) -> NDArray[np.int64]:
    """Return the first and the last day of words or themes."""
    days = fields.integers(name, np.int64, (n, 2), least=_NO_DATE, most=_MOST_DAYS)
    none = (days == _NO_DATE).all(axis=1)
    fine = (days[:, 0] <= days[:, 1]) & (days >= _LEAST_DAYS).all(axis=1)
    fields.require(bool((none | fine).all()), name, "a first and a last day")
    found: NDArray[np.int64] = np.where(none[:, None], np.array([NO_DAY, -NO_DAY]), days)
    return found
