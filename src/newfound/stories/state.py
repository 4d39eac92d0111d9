"""Themes in a model file; docs/model-file.md lists their fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.storage.fields import MAX_DOCUMENTS, Fields
from newfound.stories.themes import Theme, ThemeRule, Themes
from newfound.text.tokens import fold

__all__ = ["themes_from_state", "themes_state"]

_MOST_THEMES = 1000
_MOST_WORDS = 100_000  # of all themes and rules together
_MOST_LETTERS = 1_000_000
_SIZES = ("words", "rules", "joined", "known_documents", "novel_documents", "typical")
_COUNTS = ("known", "novel", "held_out_known", "held_out_novel")

Integers = NDArray[np.int64]


def themes_state(
    found: Themes, place: Mapping[str, int], n_documents: Sequence[int]
) -> dict[str, Any]:
    """Return the state of themes: plain values and arrays.

    Rows count the known documents first, then the novel ones; `place` has the number of each word.
    """
    themes, n_known = found.themes, n_documents[0]
    rules = [rule for theme in themes for rule in theme.rules]
    joined = [link for theme in themes for link in theme.joined]
    novel = [row for theme in themes for row in theme.novel_documents.tolist()]
    counted = [theme.counted for theme in themes if theme.counted is not None]
    sizes = [[len(getattr(theme, name)) for name in _SIZES] for theme in themes]
    held_out = [(theme.held_out_share_known, theme.held_out_share_novel) for theme in themes]
    counts = [[getattr(rule, name) for name in _COUNTS] for rule in rules]
    return {
        **({"counted": np.array(counted, np.int64)} if counted else {}),
        "names": [theme.name for theme in themes],
        "unexplained": None if math.isnan(found.unexplained) else found.unexplained,
        "sizes": np.array(sizes, np.int32).reshape(len(themes), len(_SIZES)),
        "evidence": np.array([theme.evidence for theme in themes]),
        "held_out": np.array(held_out).reshape(len(themes), 2),
        "words": _whole(place[word] for theme in themes for word, _ in theme.words),
        "weights": np.array([weight for theme in themes for _, weight in theme.words]),
        "rule_sizes": _whole(len(rule.words) for rule in rules),
        "rule_words": _whole(place[word] for rule in rules for word in rule.words),
        "rule_counts": np.array(counts, np.int32).reshape(len(rules), len(_COUNTS)),
        "joined": _whole(place[word] for link in joined for word in link[:2]),
        "strengths": np.array([link[2] for link in joined]),
        "known": _whole(row for theme in themes for row in theme.known_documents.tolist()),
        "novel": _whole(row - n_known for row in novel),
        "typical": _whole(row - n_known for theme in themes for row in theme.typical),
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
    n_words, n_rules, n_joined, n_known, n_novel, n_typical = sizes.sum(axis=0).tolist()
    few = max(n_words, n_rules, n_joined) <= _MOST_WORDS
    fields.require(few, "sizes", f"at most {_MOST_WORDS:,} words of themes")
    rule_sizes = fields.integers("rule_sizes", np.int64, (n_rules,), least=1, most=_MOST_WORDS)
    last = len(vocabulary) - 1
    words, rule_words, joined = (
        [
            vocabulary[column]
            for column in fields.integers(name, np.int64, (size,), most=last).tolist()
        ]
        for name, size in (
            ("words", n_words),
            ("rule_words", int(rule_sizes.sum())),
            ("joined", 2 * n_joined),
        )
    )
    letters = sum(map(len, (*words, *rule_words, *joined)))
    fields.require(letters <= _MOST_LETTERS, "words", f"at most {_MOST_LETTERS:,} letters")
    counts = fields.integers("rule_counts", np.int64, (n_rules, len(_COUNTS)), most=MAX_DOCUMENTS)
    rules = [
        ThemeRule(tuple(own), *numbers)
        for own, numbers in zip(_parts(rule_words, rule_sizes), counts.tolist(), strict=True)
    ]
    evidence = fields.floats("evidence", (n,)).tolist()
    held_out = fields.floats("held_out", (n, 2), nan=True).tolist()
    weights = fields.floats("weights", (n_words,)).tolist()
    strengths = fields.floats("strengths", (n_joined,)).tolist()
    columns: list[Any] = [
        list(zip(words, weights, strict=True)),
        rules,
        list(zip(joined[::2], joined[1::2], strengths, strict=True)),
        _rows(fields, "known", n_known, n_documents[0], 0),
        _rows(fields, "novel", n_novel, n_documents[1], n_documents[0]),
        _rows(fields, "typical", n_typical, n_documents[1], n_documents[0]),
    ]
    counted: list[Any] = [None] * n
    if "counted" in fields:  # the rows are those of a sample
        documents = fields.integers("counted", np.int64, (n, 2), most=MAX_DOCUMENTS)
        sound = bool((documents <= np.array(n_documents)).all())
        fields.require(sound, "counted", "counts up to the number of documents")
        counted = list(map(tuple, documents.tolist()))
    parts = list(zip(*(_parts(c, s) for c, s in zip(columns, sizes.T, strict=True)), strict=True))
    names = fields.texts("names")
    sound = len(names) == n and all(
        name and set(fold(name).split()) <= _words_of(own[0], own[1])
        for name, own in zip(names, parts, strict=True)
    )
    fields.require(sound, "names", "a name for each theme, made of its words")
    themes = []
    for number, (own_words, own_rules, links, known, novel, typical) in enumerate(parts):
        found = counted[number] or (len(known), len(novel))
        themes.append(
            Theme(
                name=names[number],
                words=tuple(own_words),
                rules=tuple(own_rules),
                novel_documents=novel,
                known_documents=known,
                share_novel=found[1] / n_documents[1],
                share_known=found[0] / n_documents[0],
                evidence=evidence[number],
                typical=tuple(typical.tolist()),
                joined=tuple(links),
                held_out_share_novel=held_out[number][1],
                held_out_share_known=held_out[number][0],
                counted=counted[number],
            )
        )
    unexplained = math.nan
    if fields.value("unexplained") is not None:
        unexplained = fields.number("unexplained", least=0, most=1)
    return Themes(tuple(themes), unexplained)


def _parts(values: Any, sizes: Integers) -> list[Any]:
    """Return values in parts of these sizes."""
    ends = np.cumsum(sizes).tolist()
    return [values[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]


def _words_of(words: Iterable[tuple[str, float]], rules: Iterable[ThemeRule]) -> set[str]:
    """Return the single words of a theme and of its rules."""
    terms = [word for word, _ in words] + [word for rule in rules for word in rule.words]
    return {word for term in terms for word in term.split()}


def _rows(fields: Fields, name: str, size: int, n: int, first: int) -> Integers:
    rows: Integers = fields.integers(name, np.int64, (size,), most=n - 1)
    return rows + first
