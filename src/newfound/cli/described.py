"""The parts of one description: words, themes and their curves, as tables and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from newfound.cli.console import themes_table
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.description.timeline import Curve

__all__ = ["described_data", "themes_of", "top_words", "word_curves", "words_title"]

_NEUTRAL = {"novelty": 0, "times": 1, "score": 1}  # of a word that says nothing


def top_words(
    describer: NoveltyDescriber, top: int, by: str = "novelty", *, ascending: bool = False
) -> list[dict[str, Any]]:
    """Return the rows of the most novel words, or of the most known ones, by a column."""
    sign, neutral = (-1 if ascending else 1), _NEUTRAL[by]
    rows = describer.words_.top(top, by, ascending=ascending)
    return [row for row in rows if sign * (row[by] - neutral) > 0]


def words_title(describer: NoveltyDescriber, side: str, names: Names | None = None) -> str:
    """Return the heading of the words of a side, which says so if chance can explain them all."""
    from newfound.report.measures import Measures

    beyond_chance = (Measures.of(describer).sides == side).any()
    if side == "novel" and beyond_chance:
        return "Words that are new"
    pile = f"the {(names or Names()).quoted(side)} documents"
    return f"Words typical of {pile}" + ("" if beyond_chance else ", none beyond chance")


def word_curves(describer: NoveltyDescriber, rows: list[dict[str, Any]]) -> list[Curve]:
    """Return the curve of each word; none without dates."""
    if describer.timeline_ is None:
        return []
    return [describer.curve(row["word"]) for row in rows]


def themes_of(describer: NoveltyDescriber, names: Names | None = None) -> list[RenderableType]:
    """Return the table of themes, and the share of the novelty that none explains."""
    themes = describer.themes_
    if not themes:
        return []
    curves = [] if describer.timeline_ is None else [describer.curve(theme) for theme in themes]
    rest = Text(f"  No theme explains {describer.unexplained_:.0%} of what is new.\n", "dim")
    return [themes_table(themes, "Themes", curves, names), rest]


def described_data(describer: NoveltyDescriber, top: int, by: str = "novelty") -> dict[str, Any]:
    """Return themes and words, ranked by a column, as plain data for JSON, with their curves."""
    from newfound.table import jsonable

    new, old = top_words(describer, top, by), top_words(describer, top, by, ascending=True)
    themes: list[dict[str, Any]] = [theme.to_dict() for theme in describer.themes_]
    if describer.timeline_ is not None:
        for data, theme in zip(themes, describer.themes_, strict=True):
            data["curve"] = describer.curve(theme).to_dict()
        for rows in (new, old):
            for row, curve in zip(rows, word_curves(describer, rows), strict=True):
                row["curve"] = curve.to_dict()
    timeline = describer.timeline_
    return {
        "themes": themes,
        "unexplained": jsonable(describer.unexplained_),
        "timeline": None if timeline is None else timeline.to_dict(),
        "novel_words": new,
        "known_words": old,
    }
