"""The parts of one description: themes and headings, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from newfound.cli.console import themes_table
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber

__all__ = ["themes_of", "words_title"]


def words_title(describer: NoveltyDescriber, side: str, names: Names | None = None) -> str:
    """Return the heading of the words of a side, which says so if chance can explain them all."""
    from newfound.report.measures import Measures

    beyond_chance = (Measures.of(describer).sides == side).any()
    if side == "novel" and beyond_chance:
        return "Words that are new"
    pile = f"the {(names or Names()).quoted(side)} documents"
    return f"Words typical of {pile}" + ("" if beyond_chance else ", none beyond chance")


def themes_of(describer: NoveltyDescriber, names: Names | None = None) -> list[RenderableType]:
    """Return the table of themes, and the share of the novelty that none explains."""
    from newfound.report.summary import percent

    themes = describer.themes_
    if not themes:
        return []
    curves = [] if describer.timeline_ is None else [describer.curve(theme) for theme in themes]
    table = themes_table(themes, "Themes", curves, names)
    if not describer.unexplained_ >= 0.005:  # nothing is left, or it cannot be told
        return [table]
    rest = f"  No theme explains {percent(describer.unexplained_)} of what is new.\n"
    return [table, Text(rest, "dim")]
