"""Texts with marked words, for a terminal and for HTML: colours, escaping, layout."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = [
    "BACKGROUND",
    "INK",
    "STEERING",
    "STYLES",
    "Mark",
    "counted",
    "cut_up",
    "escaped",
    "to_terminal",
    "unsteered",
    "visible",
]

Item = TypeVar("Item")

# The colours of the two sides: in a terminal, as a background in HTML, as ink in plots.
STYLES = {"novel": "red", "known": "blue"}
BACKGROUND = {"novel": "214,96,40", "known": "38,120,200"}
INK = {"novel": "#a63c0a", "known": "#1b5a9c", "neither": "#5b5d66", "shared": "#1d1e22"}

_STRONG = 0.5  # from this strength on, a mark is bold in a terminal
_OPAQUE = 0.65  # the opacity of a mark of full strength in HTML
# Characters that steer a terminal or the order of what is read, and the symbol that is shown
# instead: control characters except tab and newline, and marks, embeddings, overrides and isolates
# of direction. C1 controls, which some terminals obey, and directions have no symbols of their own.
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SYMBOLS = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *_DIRECTIONS), 0xFFFD),
}
STEERING = re.compile(f"[{''.join(map(chr, _SYMBOLS))}]")


def unsteered(text: str) -> str:
    r"""Return JSON without the characters that steer a terminal or the direction of text.

    JSON allows some of them as they are; here each is an escape of the same string.

    Examples
    --------
    >>> unsteered('"a\u202eb"')
    '"a\\u202eb"'
    """
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def visible(text: str) -> str:
    r"""Replace each character that steers a terminal, or turns the direction, by a visible symbol.

    Tabs and newlines are kept, a carriage return before a newline is a space; the length of the
    text stays the same.

    Examples
    --------
    >>> visible("\x1b[31mred\x9b0m\x7f"), visible("gpj.\u202eexe"), visible("a\r\nb")
    ('␛[31mred�0m␡', 'gpj.�exe', 'a \nb')
    """
    return text.replace("\r\n", " \n").translate(_SYMBOLS)


def escaped(text: str) -> str:
    r"""Return a text as HTML shows it, `visible`.

    Examples
    --------
    >>> escaped("<b>\x1b")
    '&lt;b&gt;␛'
    """
    return html.escape(visible(text))


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked part of a text, ``text[start:end]``.

    Examples
    --------
    >>> mark = Mark(0, 5, 0.8, "scrum: +0.80")
    >>> mark.side, mark.style()
    ('novel', 'bold red')
    """

    start: int
    end: int
    strength: float  # above 0 it points to novel, below 0 to known; at 1 and -1 the colour is full
    title: str = ""  # what HTML shows when the pointer rests on it
    underlined: bool = False  # such as a word that was never seen

    @property
    def side(self) -> str:
        """The side that it points to, "known" or "novel"."""
        return "novel" if self.strength > 0 else "known"

    def style(self, faint: float = 0.1) -> str:
        """Return the style for a terminal; without a colour below a strength of `faint`."""
        parts = ["underline"] if self.underlined else []
        if abs(self.strength) >= faint:
            parts.append(STYLES[self.side])
            parts[:0] = ["bold"] if abs(self.strength) >= _STRONG else []
        return " ".join(parts)

    def to_html(self, text: str) -> str:
        """Return the HTML of the marked part of a text."""
        shown, title = escaped(text), escaped(self.title)
        line = "border-bottom:1px dotted" if self.underlined else ""
        if not self.strength and line:
            return f'<span style="{line}" title="{title}">{shown}</span>'
        opacity = _OPAQUE * min(abs(self.strength), 1.0)
        background = f"background:rgba({BACKGROUND[self.side]},{opacity:.2f})"
        style = ";".join(filter(None, (line, background, "color:inherit")))
        return f'<mark style="{style}" title="{title}">{shown}</mark>'


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "topic"), counted(1200, "topic"), counted(2, "class")
    ('1 topic', '1,200 topics', '2 classes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 'es' if noun.endswith('s') else 's'}"


def cut_up(
    text: str, marks: Iterable[tuple[int, int, Item]], start: int = 0, end: int | None = None
) -> Iterator[tuple[str, Item | None]]:
    """Cut a part of a text into pieces, each with its mark or None.

    Of marks that overlap, the one that comes first is taken.

    Examples
    --------
    >>> marks = [(0, 8, "pair"), (0, 3, "word"), (9, 14, "word")]
    >>> list(cut_up("fly half plays", marks))
    [('fly half', 'pair'), (' ', None), ('plays', 'word')]
    """
    end = len(text) if end is None else end
    taken = bytearray(len(text))
    chosen = []
    for first, last, mark in marks:
        if start <= first and last <= end and not any(taken[first:last]):
            taken[first:last] = b"\1" * (last - first)
            chosen.append((first, last, mark))
    for first, last, mark in sorted(chosen, key=lambda place: place[:2]):
        if start < first:
            yield text[start:first], None
        yield text[first:last], mark
        start = last
    if start < end:
        yield text[start:end], None


def to_terminal(renderable: Any, width: int | None = None, *, colour: bool = True) -> str:
    """Return what a terminal would show of something that rich can print."""
    from rich.console import Console

    stream = io.StringIO()
    Console(
        file=stream, force_terminal=colour, no_color=not colour, width=width or 100,
        color_system="truecolor" if colour else None, highlight=False,
    ).print(renderable)  # fmt: skip
    return stream.getvalue()
