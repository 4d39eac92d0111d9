"""Themes in a model file; docs/model-file.md lists their fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.storage.fields import MAX_DOCUMENTS, Fields
from newfound.stories.names import theme_name
from newfound.stories.rules import ThemeRule
from newfound.stories.themes import Theme, Themes
from newfound.text.tokens import fold

__all__ = ["themes_from_state", "themes_state"]

_MOST_THEMES = 1000
_MOST_WORDS = 100_000  # of all themes and rules together
_MOST_LETTERS = 1_000_000
_SIZES = ("words", "rules", "joined", "known", "novel", "typical")
_COUNTS = ("known", "novel", "held_out_known", "held_out_novel")

Words = Sequence[str]
Integers = NDArray[np.int64]


def themes_state(
    found: Themes, place: Mapping[str, int], n_documents: Sequence[int]
) -> dict[str, Any]:
    """Return the state of themes: plain values and arrays.

    Parameters
    ----------
    found : Themes
        With rows that count the known documents first, then the novel ones.
    place : mapping
        The number of each word.
    n_documents : (int, int)
        The number of known and of novel documents.
    """
    themes, n_known = found.themes, n_documents[0]
    rules = [rule for theme in themes for rule in theme.rules]
    sizes = [
        (
            len(theme.words),
            len(theme.rules),
            len(theme.joined),
            len(theme.known_documents),
            len(theme.novel_documents),
            len(theme.typical),
        )
        for theme in themes
    ]
    new = [row - n_known for theme in themes for row in theme.novel_documents.tolist()]
    joined = [link for theme in themes for link in theme.joined]
    counted = [theme.counted for theme in themes if theme.counted is not None]
    return {
        **({"counted": np.array(counted, np.int64)} if counted else {}),
        "names": [theme.name for theme in themes],
        "unexplained": None if math.isnan(found.unexplained) else found.unexplained,
        "sizes": np.array(sizes, np.int32).reshape(len(themes), len(_SIZES)),
        "evidence": np.array([theme.evidence for theme in themes]),
        "held_out": np.array(
            [(theme.held_out_share_known, theme.held_out_share_novel) for theme in themes]
        ).reshape(len(themes), 2),
        "words": _whole(place[word] for theme in themes for word, _ in theme.words),
        "weights": np.array([weight for theme in themes for _, weight in theme.words]),
        "rule_sizes": _whole(len(rule.words) for rule in rules),
        "rule_words": _whole(place[word] for rule in rules for word in rule.words),
        "rule_counts": np.array(
            [[getattr(rule, name) for name in _COUNTS] for rule in rules], np.int32
        ).reshape(len(rules), len(_COUNTS)),
        "joined": _whole(place[word] for link in joined for word in link[:2]),
        "strengths": np.array([link[2] for link in joined]),
        "known": _whole(row for theme in themes for row in theme.known_documents.tolist()),
        "novel": _whole(new),
        "typical": _whole(row - n_known for theme in themes for row in theme.typical),
    }


def _whole(numbers: Iterable[int]) -> NDArray[np.int32]:
    return np.array(list(numbers), np.int32)


def themes_from_state(fields: Fields, vocabulary: Words, n_documents: Sequence[int]) -> Themes:
    """Return the themes of a state that `themes_state` made."""
    shape = fields.array("sizes").shape
    fits = len(shape) == 2 and shape[0] <= _MOST_THEMES and shape[1] == len(_SIZES)
    fields.require(fits, "sizes", f"up to {_MOST_THEMES:,} rows of {len(_SIZES)} numbers")
    n = shape[0]
    sizes = fields.integers("sizes", np.int64, (n, len(_SIZES)), most=MAX_DOCUMENTS)
    ends = dict(zip(_SIZES, np.cumsum(sizes, axis=0).T, strict=True))
    totals = {name: int(end[-1]) if n else 0 for name, end in ends.items()}
    n_rules, last = totals["rules"], len(vocabulary) - 1
    few = max(totals[name] for name in ("words", "rules", "joined")) <= _MOST_WORDS
    fields.require(few, "sizes", f"at most {_MOST_WORDS:,} words of themes")
    rule_sizes = fields.integers("rule_sizes", np.int64, (n_rules,), least=1, most=_MOST_WORDS)
    columns = {
        "words": fields.integers("words", np.int64, (totals["words"],), most=last),
        "rule_words": fields.integers("rule_words", np.int64, (int(rule_sizes.sum()),), most=last),
        "joined": fields.integers("joined", np.int64, (2 * totals["joined"],), most=last),
    }
    letters = sum(len(vocabulary[i]) for part in columns.values() for i in part.tolist())
    fields.require(letters <= _MOST_LETTERS, "words", f"at most {_MOST_LETTERS:,} letters")
    counts = fields.integers("rule_counts", np.int64, (n_rules, len(_COUNTS)), most=MAX_DOCUMENTS)
    starts = np.cumsum(rule_sizes) - rule_sizes
    rules = [
        ThemeRule(tuple(_named(columns["rule_words"][begin : begin + size], vocabulary)), *numbers)
        for begin, size, numbers in zip(starts, rule_sizes, counts.tolist(), strict=True)
    ]
    arrays: dict[str, Any] = {
        "evidence": fields.floats("evidence", (n,)),
        "held_out": fields.floats("held_out", (n, 2), nan=True),
        "words": list(
            zip(
                _named(columns["words"], vocabulary),
                fields.floats("weights", (totals["words"],)).tolist(),
                strict=True,
            )
        ),
        "rules": rules,
        "joined": list(
            zip(
                _named(columns["joined"][::2], vocabulary),
                _named(columns["joined"][1::2], vocabulary),
                fields.floats("strengths", (totals["joined"],)).tolist(),
                strict=True,
            )
        ),
        "known": _rows(fields, "known", totals["known"], n_documents[0], 0),
        "novel": _rows(fields, "novel", totals["novel"], n_documents[1], n_documents[0]),
        "typical": _rows(fields, "typical", totals["typical"], n_documents[1], n_documents[0]),
    }
    if "counted" in fields:  # the rows are those of a sample
        counted = fields.integers("counted", np.int64, (n, 2), most=MAX_DOCUMENTS)
        sound = bool((counted <= np.array(n_documents)).all())
        fields.require(sound, "counted", "counts up to the number of documents")
        arrays["counted"] = counted.tolist()
    themes = tuple(_theme(number, arrays, sizes, ends, n_documents) for number in range(n))
    themes = _with_names(themes, fields)
    unexplained = math.nan
    if fields.value("unexplained") is not None:
        unexplained = fields.number("unexplained", least=0, most=1)
    return Themes(themes, unexplained)


def _with_names(themes: tuple[Theme, ...], fields: Fields) -> tuple[Theme, ...]:
    """Return themes with the names of a state, which have to be made of their words."""
    names = fields.texts("names")
    sound = len(names) == len(themes) and all(
        name and set(fold(name).split()) <= _all_words(theme)
        for name, theme in zip(names, themes, strict=True)
    )
    fields.require(sound, "names", "a name for each theme, made of its words")
    return tuple(replace(theme, name=name) for theme, name in zip(themes, names, strict=True))


def _all_words(theme: Theme) -> set[str]:
    terms = [word for word, _ in theme.words]
    terms += [word for rule in theme.rules for word in rule.words]
    return {word for term in terms for word in term.split()}


def _rows(fields: Fields, name: str, size: int, n: int, first: int) -> Integers:
    rows: Integers = fields.integers(name, np.int64, (size,), most=n - 1)
    return rows + first


def _named(columns: Integers, vocabulary: Words) -> list[str]:
    return [vocabulary[column] for column in columns.tolist()]


def _theme(
    number: int,
    arrays: Mapping[str, Any],
    sizes: Integers,
    ends: Mapping[str, Integers],
    n_documents: Sequence[int],
) -> Theme:
    """Return one theme of those that a state has."""
    part = {
        name: arrays[name][int(ends[name][number]) - int(size) : int(ends[name][number])]
        for name, size in zip(_SIZES, sizes[number], strict=True)
    }
    known_share, novel_share = arrays["held_out"][number].tolist()
    counted = tuple(arrays["counted"][number]) if "counted" in arrays else None
    found = counted or (len(part["known"]), len(part["novel"]))
    return Theme(
        name=" ".join(theme_name(part["words"])),
        words=tuple(part["words"]),
        rules=tuple(part["rules"]),
        novel_documents=part["novel"],
        known_documents=part["known"],
        share_novel=found[1] / n_documents[1],
        share_known=found[0] / n_documents[0],
        evidence=float(arrays["evidence"][number]),
        typical=tuple(part["typical"].tolist()),
        joined=tuple(part["joined"]),
        held_out_share_novel=novel_share,
        held_out_share_known=known_share,
        counted=counted,
    )
