"""Themes in a model file; docs/model-file.md lists their fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.storage.fields import MAX_DOCUMENTS, Fields
from newfound.stories.themes import LooseWord, Theme, ThemeRule, Themes

__all__ = ["themes_from_state", "themes_state"]

_MOST_THEMES = 1000
_MOST_WORDS = 100_000  # of all themes and rules together
_MOST_LETTERS = 1_000_000
_MOST_PHRASE = 500  # characters of a name
_SIZES = ("words", "rules", "known_documents", "novel_documents", "typical")

Integers = NDArray[np.int64]


def themes_state(
    found: Themes, place: Mapping[str, int], n_documents: Sequence[int]
) -> dict[str, Any]:
    """Return the state of themes: plain values and arrays.

    Rows count the known documents first, then the novel ones; `place` has the number of each word.
    The parts of a theme follow it, and `levels` says 0 for a theme and 1 for a part.
    """
    n_known = n_documents[0]
    top = (*found.themes, *found.gone)
    themes = [each for theme in top for each in (theme, *theme.parts)]
    rules = [rule for theme in themes for rule in theme.rules]
    counted = [theme.counted for theme in themes if theme.counted is not None]
    sizes = [[len(getattr(theme, name)) for name in _SIZES] for theme in themes]
    held_out = [(theme.held_out_share_known, theme.held_out_share_novel) for theme in themes]
    return {
        **({"counted": np.array(counted, np.int64)} if counted else {}),
        "names": [theme.name for theme in themes],
        "unexplained": None if math.isnan(found.unexplained) else found.unexplained,
        "levels": _whole(level for theme in top for level in (0, *(1 for _ in theme.parts))),
        "gone": _whole(theme.gone for theme in themes),
        "sizes": np.array(sizes, np.int32).reshape(len(themes), len(_SIZES)),
        "evidence": np.array([theme.evidence for theme in themes]),
        "by_chance": np.array([theme.by_chance for theme in themes]),
        "held_out": np.array(held_out).reshape(len(themes), 2),
        "words": _whole(place[word] for theme in themes for word, _ in theme.words),
        "weights": np.array([weight for theme in themes for _, weight in theme.words]),
        "rule_sizes": _whole(len(rule.words) for rule in rules),
        "rule_words": _whole(place[word] for rule in rules for word in rule.words),
        "rule_counts": np.array([(r.known, r.novel) for r in rules], np.int32).reshape(-1, 2),
        "known": _whole(row for theme in themes for row in theme.known_documents.tolist()),
        "novel": _whole(
            row - n_known for theme in themes for row in theme.novel_documents.tolist()
        ),
        "typical": _whole(row for theme in themes for row in theme.typical),
        "loose": _whole(place[word.word] for word in found.loose),
        "loose_documents": _whole(word.document - n_known for word in found.loose),
    }


def _whole(numbers: Iterable[int]) -> NDArray[np.int32]:
    return np.array(list(numbers), np.int32)


def themes_from_state(
    fields: Fields, vocabulary: Sequence[str], n_documents: Sequence[int]
) -> Themes:
    """Return the themes of a state that `themes_state` made."""
    shape = fields.array("sizes").shape
    fits = len(shape) == 2 and shape[0] <= _MOST_THEMES and shape[1] == len(_SIZES)
    fields.require(fits, "sizes", f"up to {_MOST_THEMES:,} rows of {len(_SIZES)} numbers")
    n = shape[0]
    sizes = fields.integers("sizes", np.int64, (n, len(_SIZES)), most=MAX_DOCUMENTS)
    n_words, n_rules, n_known, n_novel, n_typical = sizes.sum(axis=0).tolist()
    few = max(n_words, n_rules) <= _MOST_WORDS
    fields.require(few, "sizes", f"at most {_MOST_WORDS:,} words of themes")
    rule_sizes = fields.integers("rule_sizes", np.int64, (n_rules,), least=1, most=_MOST_WORDS)
    n_loose = len(fields.array("loose"))
    fields.require(n_loose <= _MOST_WORDS, "loose", f"at most {_MOST_WORDS:,} words")
    last = len(vocabulary) - 1
    words, rule_words, loose = (
        [
            vocabulary[column]
            for column in fields.integers(name, np.int64, (size,), most=last).tolist()
        ]
        for name, size in (
            ("words", n_words),
            ("rule_words", int(rule_sizes.sum())),
            ("loose", n_loose),
        )
    )
    letters = sum(map(len, (*words, *rule_words, *loose)))
    fields.require(letters <= _MOST_LETTERS, "words", f"at most {_MOST_LETTERS:,} letters")
    counts = fields.integers("rule_counts", np.int64, (n_rules, 2), most=MAX_DOCUMENTS)
    rules = [
        ThemeRule(tuple(own), *numbers)
        for own, numbers in zip(_parts(rule_words, rule_sizes), counts.tolist(), strict=True)
    ]
    weights = fields.floats("weights", (n_words,)).tolist()
    columns: list[Any] = [
        list(zip(words, weights, strict=True)),
        rules,
        _rows(fields, "known", n_known, n_documents[0], 0),
        _rows(fields, "novel", n_novel, n_documents[1], n_documents[0]),
        _rows(fields, "typical", n_typical, sum(n_documents), 0),
    ]
    counted: list[Any] = [None] * n
    if "counted" in fields:  # the rows are those of a sample
        documents = fields.integers("counted", np.int64, (n, 2), most=MAX_DOCUMENTS)
        sound = bool((documents <= np.array(n_documents)).all())
        fields.require(sound, "counted", "counts up to the number of documents")
        counted = list(map(tuple, documents.tolist()))
    parts = list(zip(*(_parts(c, s) for c, s in zip(columns, sizes.T, strict=True)), strict=True))
    names = fields.texts("names")
    sound = len(names) == n and all(name and len(name) <= _MOST_PHRASE for name in names)
    fields.require(sound, "names", f"a name for each theme, of up to {_MOST_PHRASE} characters")
    levels = fields.integers("levels", np.int64, (n,), most=1).tolist()
    fields.require(levels[:1] != [1], "levels", "parts that follow a theme")
    gone = fields.integers("gone", np.int64, (n,), most=1).tolist()
    evidence = fields.floats("evidence", (n,)).tolist()
    by_chance = fields.floats("by_chance", (n,)).tolist()
    held_out = fields.floats("held_out", (n, 2), nan=True).tolist()
    themes: list[Theme] = []
    for number, (own_words, own_rules, known, novel, typical) in enumerate(parts):
        size = counted[number] or (len(known), len(novel))
        theme = Theme(
            name=names[number],
            words=tuple(own_words),
            rules=tuple(own_rules),
            novel_documents=novel,
            known_documents=known,
            share_novel=size[1] / n_documents[1],
            share_known=size[0] / n_documents[0],
            evidence=evidence[number],
            typical=tuple(typical.tolist()),
            held_out_share_novel=held_out[number][1],
            held_out_share_known=held_out[number][0],
            counted=counted[number],
            gone=bool(gone[number]),
            by_chance=by_chance[number],
        )
        if levels[number]:
            themes[-1] = replace(themes[-1], parts=(*themes[-1].parts, theme))
        else:
            themes.append(theme)
    unexplained = math.nan
    if fields.value("unexplained") is not None:
        unexplained = fields.number("unexplained", least=0, most=1)
    rows = _rows(fields, "loose_documents", n_loose, n_documents[1], n_documents[0]).tolist()
    return Themes(
        tuple(theme for theme in themes if not theme.gone),
        tuple(theme for theme in themes if theme.gone),
        unexplained,
        tuple(map(LooseWord, loose, rows)),
    )


def _parts(values: Any, sizes: Integers) -> list[Any]:
    """Return values in parts of these sizes."""
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]


def _rows(fields: Fields, name: str, size: int, n: int, first: int) -> Integers:
    rows: Integers = fields.integers(name, np.int64, (size,), most=n - 1)
    return rows + first
