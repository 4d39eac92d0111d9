"""The parts of one description: themes and headings, for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from newfound.cli.console import themes_table
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["spelled", "sure_first", "themes_part", "words_title"]


def words_title(description: Description, side: str, names: Names | None = None) -> str:
    """Return the heading of the words of a side, which says so if chance can explain them all."""
    words = description.words
    sure = (words.sides == side).any()
    if side == "novel" and sure:
        return "Words that are new"
    likely = (words["low"] > 1 if side == "novel" else words["high"] < 1).any()
    doubt = "" if sure else ", none of them sure" if likely else ", none beyond chance"
    return f"Words typical of the {(names or Names()).quoted(side)} documents{doubt}"


def sure_first(
    description: Description, rows: list[dict[str, Any]], by: str = "novelty"
) -> tuple[list[dict[str, Any]], int]:
    """Return words with those that are beyond chance first, and how many these are.

    Parameters
    ----------
    description : Description
        That of the words.
    rows : list of dict
        The first words of a side, as they are ranked.
    by : str, default="novelty"
        The column that ranks them. By another one than novelty they keep their order, and count as
        sure; so do words none of which is beyond chance, as their heading says.
    """
    words = description.words
    sure = [words.sides[words.number(row["word"])] != "neither" for row in rows]
    if by != "novelty" or not any(sure):
        return rows, len(rows)
    order = sorted(range(len(rows)), key=lambda place: not sure[place])
    return [rows[place] for place in order], sum(sure)


def spelled(description: Description, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of words with the capitals that most documents give them."""
    from newfound.text.capitals import spelled_form

    found = description.spellings([row["word"] for row in rows])
    return [
        {
            **row,
            "word": found[row["word"]],
            "forms": [spelled_form(form, row["word"], found[row["word"]]) for form in row["forms"]],
        }
        for row in rows
    ]


def themes_part(description: Description, names: Names | None = None) -> list[RenderableType]:
    """Return the table of themes, and the share of the novelty that none explains."""
    from newfound.report.summary import NEARLY_NONE, percent

    themes = description.themes
    if not themes:
        return []
    curves = [] if description.timeline is None else [description.curve(theme) for theme in themes]
    table = themes_table(themes, "Themes", curves, names)
    if math.isnan(description.unexplained):
        return [table]
    rest = "Nearly all of what is new is in documents of these themes."
    if description.unexplained >= NEARLY_NONE:
        rest = f"{percent(description.unexplained)} of what is new is in documents of no theme."
    return [table, Text(f"  {rest}\n", "dim")]
