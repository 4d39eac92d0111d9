"""What differs between two results: themes and words that came, went and moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["compare"]

_SAME = 1 / 3  # share of the words of two themes that both have, from which on they are the same
_WORDS = 10  # of a theme or group


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came, went and moved from one result to another.

    Parameters
    ----------
    first, second : mapping
        Results as ``describe`` or ``detect`` in the schema.

    Returns
    -------
    dict
        ``themes`` and ``words``, each with the names that ``came`` and ``went``, and those that
        ``moved``: name, place before and place now; and the ``parameters`` that differ.

    Examples
    --------
    >>> def result(*words): return {"novel_words": [{"word": word} for word in words]}
    >>> compare(result("scrum", "try"), result("try", "ruck"))["words"]
    {'came': ['ruck'], 'went': ['scrum'], 'moved': [('try', 2, 1)]}
    """
    before, now = (
        {row["word"]: place for place, row in enumerate(result["novel_words"], 1)}
        for result in (first, second)
    )
    words = {
        "came": [word for word in now if word not in before],
        "went": [word for word in before if word not in now],
        "moved": [(word, before[word], place) for word, place in now.items() if word in before],
    }
    return {
        "themes": _themes(_named(first), _named(second)),
        "words": words,
        "parameters": _parameters(first, second),
    }


def _named(result: Mapping[str, Any]) -> list[tuple[str, set[str]]]:
    """Return the themes of a description, or the groups of a detection, with their words."""
    if "themes" in result:
        return [(theme["name"], set(theme["words"][:_WORDS])) for theme in result["themes"]]
    return [
        (group["name"], {row["word"] for row in group["words"][:_WORDS]})
        for group in result.get("groups", ())
    ]


def _themes(
    first: Sequence[tuple[str, set[str]]], second: Sequence[tuple[str, set[str]]]
) -> dict[str, Any]:
    left = dict(enumerate(first, 1))
    came, moved = [], []
    for place, (name, words) in enumerate(second, 1):
        shared = {
            number: len(words & others) / max(len(words | others), 1)
            for number, (_, others) in left.items()
        }
        best = max(shared, key=shared.__getitem__, default=0)
        if best and shared[best] >= _SAME:
            left.pop(best)
            moved.append((name, best, place))
        else:
            came.append(name)
    return {"came": came, "went": [name for name, _ in left.values()], "moved": moved}


def _parameters(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    before, now = (
        {"alpha": result.get("alpha"), **result.get("parameters", {})} for result in (first, second)
    )
    return [
        (name, before.get(name), now.get(name))
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
