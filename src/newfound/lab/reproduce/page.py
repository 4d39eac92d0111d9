"""The page that puts a reproduction together, as HTML in one file and as Markdown.

A page is a list of blocks; two writers turn it into the two formats, so both say the same.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Block", "Figure", "Heading", "Rows", "Text", "to_html", "to_markdown"]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the page's own."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Rows:
    """A table of texts; `numbers` says which columns are aligned to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Figure:
    """A figure that lies as SVG in a folder, with what it shows."""

    path: Path
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
    """Write the blocks as a page that needs no other file and no network.

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
        f"<title>{html.escape(title)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def to_markdown(blocks: Iterable[Block], folder: Path) -> str:
    r"""Write the blocks as Markdown; figures are links to their files, relative to a folder.

    Examples
    --------
    >>> print(to_markdown([Heading(2, "Words"), Rows(["a", "b"], [["x|y", "1"]], [1])], Path()))
    ## Words
    <BLANKLINE>
    | a | b |
    |---|--:|
    | x\|y | 1 |
    <BLANKLINE>
    """
    return "\n\n".join(_markdown(block, folder) for block in blocks) + "\n"


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
    if isinstance(block, Text):
        return f"<p>{html.escape(block.text)}</p>"
    if isinstance(block, Figure):
        image = base64.b64encode(block.path.read_bytes()).decode("ascii")
        caption = html.escape(block.caption)
        return (
            f'<figure><img src="data:image/svg+xml;base64,{image}" alt="{caption}">'
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
    return f"<{tag}{attribute}>{html.escape(text)}</{tag}>"


def _markdown(block: Block, folder: Path) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_escaped(block.text)}"
    if isinstance(block, Text):
        return _escaped(block.text)
    if isinstance(block, Figure):
        link = block.path.relative_to(folder).as_posix()
        return f"![{_escaped(block.caption)}]({link})\n\n*{_escaped(block.caption)}*"
    lines = [
        "| " + " | ".join(map(_escaped, block.header)) + " |",
        "|" + "|".join("--:" if i in block.numbers else "---" for i in range(len(block.header)))
        + "|",
    ]  # fmt: skip
    lines += ["| " + " | ".join(map(_escaped, row)) + " |" for row in block.rows]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    for character in "\\|<>*_`[]":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def rows_of(
    records: Iterable[Mapping[str, Any]], columns: Mapping[str, str], numbers: Sequence[int] = ()
) -> Rows:
    """Make a table block of records: `columns` maps their keys to what the header says."""
    body = [[str(record[key]) for key in columns] for record in records]
    return Rows(list(columns.values()), body, numbers)
