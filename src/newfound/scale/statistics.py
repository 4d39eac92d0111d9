"""The last pass of a description: sums over all documents for words, lengths, rules and themes.

Each document has a weight by its length, and a probability of novel by its other words; see
`newfound.description.novelty`. Sums of such numbers depend on their order in the last bits. Here
they are multiples of 2**-20, and are added as whole numbers: exactly, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.novelty import OtherWords
from newfound.description.timeline import NO_DAY, CountedTimeline
from newfound.machine.clauses import RuleSet
from newfound.scale.arrow import pyarrow, rows_with_text, texts_of
from newfound.scale.counting import dates_of, sides_of
from newfound.scale.themes import ThemeCounts, ThemeSearch
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "KEYS",
    "UNIT",
    "Plan",
    "Statistics",
    "statistics_batch",
    "statistics_schema",
]

UNIT = float(1 << 20)
_WORD, _LENGTH, _RULE, _AND, _THEME, _WORD_BIN, _THEME_BIN, _TYPICAL = range(8)
_VALUES = ("documents", "weight", "square", "expected", "variance")
_DAYS = ("first", "last")  # the days of words and of themes
KEYS = ("kind", "key", "novel", "text")  # only a row of a typical document has a text


@dataclass(frozen=True)
class Plan:
    """What a pass needs to know."""

    vectorizer: TextVectorizer  # with the words of all documents
    columns: NDArray[np.intp]  # those of them that the sample has
    typical: float  # the median length of documents
    others: OtherWords  # learned from the sample
    rules: RuleSet  # the clauses of all machines, over the words of all documents
    themes: ThemeSearch
    text: str  # this and the next two are columns of the documents
    side: str
    date: str | None = None
    days: CountedTimeline | None = None  # the bins of time; None without dates


def statistics_schema(*, dated: bool) -> Any:
    """Return the schema of the batches that `statistics_batch` returns, with or without dates."""
    pa = pyarrow()
    fields = [("kind", pa.int8()), ("key", pa.int64()), ("novel", pa.bool_()),
              ("text", pa.string())]  # fmt: skip
    values = (*_VALUES, *_DAYS) if dated else _VALUES
    return pa.schema([*fields, *((name, pa.int64()) for name in values)])


def document_weight(lengths: NDArray[np.int64], typical: float) -> NDArray[np.float64]:
    """Return how much documents of these lengths count, as multiples of 2**-20."""
    weight = np.where(lengths > 0, 2 / (1 + lengths / typical), 0.0)
    return np.round(weight * UNIT) / UNIT


def statistics_batch(batch: Any, plan: Plan) -> Any:
    """Return the sums of a batch for words, lengths, rules and themes, by side."""
    texts, novel = texts_of(batch, plan.text), sides_of(batch, plan.side)
    rows = np.array(rows_with_text(texts), np.int64)
    kept, novel = [texts[i] or "" for i in rows.tolist()], novel[rows]
    matrix = plan.vectorizer.transform(kept)
    lengths = np.diff(matrix.indptr).astype(np.int64)
    parts = [_words(matrix, lengths, novel, plan)]
    longest = int(lengths.max(initial=0)) + 1
    by_length = [np.bincount(lengths[novel == side], minlength=longest) for side in (False, True)]
    parts.append(_rows(_LENGTH, np.stack(by_length)))
    parts.append(_rows(_RULE, plan.rules.support(matrix, novel)))
    matches = plan.themes.matches(matrix)
    groups = plan.themes.members(matches)
    members, themes = groups.tocoo().coords
    parts += [
        _counted(_AND, matches.indices.astype(np.int64), novel[matches.tocoo().coords[0]]),
        _counted(_THEME, themes.astype(np.int64), novel[members]),
    ]
    typical = plan.themes.typical(matrix, groups, novel, kept)
    numbers, ones = np.array([number for number, *_ in typical], np.int64), np.ones(len(typical))
    own = ~plan.themes.gone[numbers]
    parts.append(_columns(_TYPICAL, numbers, own, ones.astype(np.int64)))
    if plan.days is not None and plan.date is not None:
        days = dates_of(batch, plan.date)[rows]
        parts[-1:] = [*_by_bin(matrix, (members, themes), novel, plan.days, days), parts[-1]]
    columns: list[Any] = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if plan.days is not None:
        columns += _first_and_last(columns, matrix, (members, themes), novel, days)
    shown = [text for *_, text in typical]
    pa, schema = pyarrow(), statistics_schema(dated=plan.days is not None)
    columns.insert(KEYS.index("text"), [""] * (len(columns[0]) - len(shown)) + shown)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _by_bin(
    matrix: Any,
    groups: tuple[NDArray[Any], NDArray[Any]],
    novel: NDArray[np.bool_],
    timeline: CountedTimeline,
    days: NDArray[np.datetime64],
) -> list[list[NDArray[Any]]]:
    """Return the documents of words and of themes in each bin of time."""
    dated = np.flatnonzero(~np.isnat(days))
    bins = np.zeros(len(days), np.int64)
    bins[dated] = timeline.bins_of(days[dated])
    part = matrix[dated]
    rows = np.repeat(dated, np.diff(part.indptr))
    members, themes = (part[~np.isnat(days[groups[0]])] for part in groups)
    n = len(timeline.starts)
    return [
        _counted(_WORD_BIN, bins[rows] * matrix.shape[1] + part.indices, novel[rows]),
        _counted(_THEME_BIN, themes.astype(np.int64) * n + bins[members], novel[members]),
    ]


def _first_and_last(
    columns: list[Any],
    matrix: Any,
    groups: tuple[NDArray[Any], NDArray[Any]],
    novel: NDArray[np.bool_],
    days: NDArray[np.datetime64],
) -> list[NDArray[np.int64]]:
    """Return the first and the last day of the words and themes of the rows of a batch."""
    kind, key, side = columns[:3]
    numbers = days.astype(np.int64)
    found = [np.full(len(kind), NO_DAY), np.full(len(kind), -NO_DAY)]
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    members, themes = groups
    for which, keys, of in ((_WORD, matrix.indices, rows), (_THEME, themes, members)):
        of, keys = of[~np.isnat(days[of])], keys[~np.isnat(days[of])]
        # The rows of a kind are sorted by side and key, or by key and side.
        chosen = np.flatnonzero(kind == which)
        codes = 2 * key[chosen] + side[chosen]
        order = np.argsort(codes)
        wanted = 2 * keys.astype(np.int64) + novel[of]
        target = chosen[order[np.searchsorted(codes[order], wanted)]]
        np.minimum.at(found[0], target, numbers[of])
        np.maximum.at(found[1], target, numbers[of])
    return found


def _words(
    matrix: Any, lengths: NDArray[np.int64], novel: NDArray[np.bool_], plan: Plan
) -> list[NDArray[Any]]:
    rows = np.repeat(np.arange(matrix.shape[0]), lengths)
    width, cells = matrix.shape[1], matrix.indices
    weight = document_weight(lengths, plan.typical)[rows]
    without, with_all = plan.others.expected(matrix[:, plan.columns])
    # A word that the sample does not have says nothing itself.
    expected = with_all[rows]
    in_sample = np.zeros(width, bool)
    in_sample[plan.columns] = True
    expected[in_sample[cells]] = without
    values = (
        np.ones(len(rows)),
        weight * UNIT,
        weight**2 * UNIT,
        weight * expected * UNIT,
        weight**2 * expected * (1 - expected) * UNIT,
    )
    keys = cells + width * novel[rows]
    sums = [np.bincount(keys, np.round(value), 2 * width).astype(np.int64) for value in values]
    return _rows(_WORD, *(total.reshape(2, width) for total in sums))


def _rows(kind: int, *sums: NDArray[np.int64]) -> list[NDArray[Any]]:
    """Return the columns of a batch for sums of shape (2, n); without those that are 0."""
    side, key = np.nonzero(sums[0])
    return _columns(kind, key, side.astype(bool), *(total[side, key] for total in sums))


def _counted(kind: int, keys: NDArray[np.int64], novel: NDArray[np.bool_]) -> list[NDArray[Any]]:
    """Return the columns of a batch for the number of documents of each key."""
    found, counts = np.unique(2 * keys + novel, return_counts=True)
    return _columns(kind, found >> 1, (found & 1).astype(bool), counts)


def _columns(
    kind: int, key: NDArray[Any], novel: NDArray[np.bool_], *values: NDArray[Any]
) -> list[NDArray[Any]]:
    rest = [np.zeros(len(key), np.int64)] * (len(_VALUES) - len(values))
    return [np.full(len(key), kind, np.int8), key, novel, *values, *rest]


@dataclass(frozen=True)
class Statistics:
    """The sums over all documents.

    Attributes
    ----------
    words : (5, 2, n_words) ndarray of int64
        For the words of the plan's vectorizer, by side: the number of documents, and in multiples
        of `UNIT` the sums of weight, squared weight, weight times p, and squared weight times
        p (1 - p); see `newfound.description.novelty.WordSums`.
    lengths : (2, n) ndarray of int64
        The number of known and of novel documents of each length.
    rules : (2, n_clauses) ndarray of int64
        The number of known and of novel documents that each clause matches.
    themes : ThemeCounts
        The same for themes and phrases.
    columns : mapping of str to ndarray
        All sums as they came, for `timeline`.
    """

    words: NDArray[np.int64]
    lengths: NDArray[np.int64]
    rules: NDArray[np.int64]
    themes: ThemeCounts
    columns: Mapping[str, NDArray[Any]]

    @classmethod
    def of(cls, table: Any, plan: Plan) -> Statistics:
        """Return the statistics, given the sums of all batches."""
        columns = {n: table.column(n).to_numpy() for n in table.column_names if n != "text"}

        def sums(kind: int, n: int, name: str = "documents") -> NDArray[np.int64]:
            chosen = columns["kind"] == kind
            found = np.zeros((2, n), np.int64)
            side = columns["novel"][chosen].astype(np.int64)
            found[side, columns["key"][chosen]] = columns[name][chosen]
            return found

        width = len(plan.vectorizer.vocabulary_)
        longest = int(columns["key"][columns["kind"] == _LENGTH].max(initial=0)) + 1
        return cls(
            np.stack([sums(_WORD, width, name) for name in _VALUES]),
            sums(_LENGTH, longest),
            sums(_RULE, len(plan.rules)),
            ThemeCounts(
                sums(_AND, len(plan.themes.ands)),
                sums(_THEME, len(plan.themes.words)),
                _shown(table),
            ),
            columns,
        )

    def timeline(
        self, plan: Plan, places: NDArray[np.intp], themes: Sequence[int], n_words: int
    ) -> CountedTimeline | None:
        """Return the documents of words and themes in time; None without dates.

        `places` are the new numbers of words, -1 for one that is left out; `themes` those kept.
        """
        if plan.days is None:
            return None
        n = len(plan.days.starts)
        bins, words, sides, documents = _keyed(self.columns, _WORD_BIN, len(places)).T
        by_word = []
        for side in (0, 1):
            kept = (places[words] >= 0) & (sides == side)
            cells = (documents[kept], (places[words[kept]], bins[kept]))
            by_word.append(sparse.csr_array(cells, shape=(n_words, n)))
        of_themes = _keyed(self.columns, _THEME_BIN, n)
        by_theme = np.zeros((len(themes), 2, n), np.int64)
        for row, number in zip(by_theme, themes, strict=True):
            inside = of_themes[of_themes[:, 0] == number]
            np.add.at(row, (inside[:, 2], inside[:, 1]), inside[:, 3])
        new = np.full(len(plan.themes.words), -1)
        new[list(themes)] = np.arange(len(themes))
        return CountedTimeline(
            plan.days.dates,
            plan.days.day_counts,
            plan.days.n_missing,
            (by_word[0], by_word[1]),
            by_theme,
            self._days(_WORD, places, n_words),
            self._days(_THEME, new, len(themes)),
        )

    def _days(self, kind: int, places: NDArray[np.intp], n: int) -> NDArray[np.int64]:
        """Return the first and the last day of words or themes, given their new numbers."""
        chosen = self.columns["kind"] == kind
        key, first, last = (self.columns[name][chosen] for name in ("key", *_DAYS))
        days, kept = np.tile(np.array([NO_DAY, -NO_DAY]), (n, 1)), places[key] >= 0
        np.minimum.at(days[:, 0], places[key[kept]], first[kept])
        np.maximum.at(days[:, 1], places[key[kept]], last[kept])
        return days


def _keyed(
    columns: Mapping[str, NDArray[Any]], kind: int, width: int | None = None
) -> NDArray[np.int64]:
    """Return the keys of a kind, in two parts if they have a width, the side and the documents."""
    chosen = columns["kind"] == kind
    key, side, n = (columns[name][chosen] for name in ("key", "novel", "documents"))
    keys = [key] if width is None else [key // width, key % width]
    return np.stack([*keys, side.astype(np.int64), n], axis=1)


def _shown(table: Any) -> list[tuple[int, bool, str]]:
    """Return the group, the side and the text of the documents that may be typical."""
    rows = table.filter(pyarrow("compute").equal(table.column("kind"), _TYPICAL))
    names = ("key", "novel", "text")
    return list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
