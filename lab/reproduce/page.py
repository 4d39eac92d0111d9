"""The page of a reproduction, as HTML; figures are links to files beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from newfound.marks import escaped

__all__ = ["Block", "Figure", "Heading", "Rows", "Text", "rows_of", "to_html"]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title of the page."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Rows:
    """A table of texts; `numbers` are the columns that are aligned to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Figure:
    """A figure: the path of its file, relative to the page, and a caption."""

    path: str
    caption: str


Block = Heading | Text | Rows | Figure

_CSS = """
body { margin: 2rem auto; padding: 0 1rem; max-width: 64rem; color: #22272e; background: #fff;
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.7rem; } h2 { margin-top: 3rem; border-bottom: 1px solid #d5d9de; }
h3 { margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #e4e7eb; text-align: left;
  vertical-align: top; }
th { border-bottom: 2px solid #6b7480; white-space: nowrap; }
.n { text-align: right; white-space: nowrap; }
.yes { color: #276749; font-weight: 600; } .no { color: #c53030; font-weight: 600; }
.different { color: #975a16; font-weight: 600; }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; }
figcaption { color: #56606b; font-size: .85rem; }
"""


def to_html(blocks: Iterable[Block], title: str) -> str:
    """Return the blocks as a page that needs no network.

    Examples
    --------
    >>> page = to_html([Heading(1, "A & B"), Rows(["word"], [["<b>"]])], "A & B")
    >>> "<h1>A &amp; B</h1>" in page, "<td>&lt;b&gt;</td>" in page
    (True, True)
    """
    parts = [_html(block) for block in blocks]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def rows_of(
    records: Iterable[Mapping[str, Any]], columns: Mapping[str, str], numbers: Sequence[int] = ()
) -> Rows:
    """Return a table of records; `columns` maps their keys to the texts of the header."""
    body = [[str(record[key]) for key in columns] for record in records]
    return Rows(list(columns.values()), body, numbers)


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escaped(block.text)}</h{block.level}>"
    if isinstance(block, Text):
        return f"<p>{escaped(block.text)}</p>"
    if isinstance(block, Figure):
        caption = escaped(block.caption)
        return (
            f'<figure><img src="{escaped(block.path)}" alt="{caption}">'
            f"<figcaption>{caption}</figcaption></figure>"
        )
    head = "".join(_cell("th", text, i in block.numbers) for i, text in enumerate(block.header))
    body = "\n".join(
        "<tr>" + "".join(_cell("td", text, i in block.numbers) for i, text in enumerate(row))
        + "</tr>"
        for row in block.rows
    )  # fmt: skip
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        "</table></div>"
    )


def _cell(tag: str, text: str, number: bool) -> str:
    verdict = text if tag == "td" and text in ("yes", "no", "different") else ""
    names = " ".join(filter(None, ("n" if number else "", verdict)))
    attribute = f' class="{names}"' if names else ""
    return f"<{tag}{attribute}>{escaped(text)}</{tag}>"
