"""Texts with marked words, for a terminal and for HTML: colours, escaping, layout.

`newfound.description.explanation.Explanation` and `newfound.detection.verdict.Verdict` are
`MarkedText`: they say which words are marked and which sentences follow, and are shown alike.
"""

from __future__ import annotations

import html
import io
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

__all__ = [
    "BACKGROUND",
    "INK",
    "STEERING",
    "STYLES",
    "Mark",
    "MarkedText",
    "counted",
    "cut_up",
    "escaped",
    "to_terminal",
    "visible",
]

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

    Attributes
    ----------
    start, end : int
        Where it is in the text.
    strength : float
        How strongly it points to a side: above 0 to novel, below 0 to known. At 1 and -1 the
        colour is full.
    title : str
        What HTML shows when the pointer rests on it.
    underlined : bool
        Whether it is underlined, such as a word that was never seen.

    Examples
    --------
    >>> mark = Mark(0, 5, 0.8, "scrum: +0.80")
    >>> mark.side, mark.style()
    ('novel', 'bold red')
    """

    start: int
    end: int
    strength: float
    title: str = ""
    underlined: bool = False

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


def cut_up(text: str, marks: Iterable[Mark]) -> Iterator[tuple[str, Mark | None]]:
    """Cut a text into parts, each with its mark or None; of marks that overlap the strongest stays.

    Examples
    --------
    >>> marks = [Mark(0, 3, 0.2), Mark(0, 8, 0.9), Mark(9, 14, -0.4)]
    >>> [(part, mark and mark.strength) for part, mark in cut_up("fly half plays", marks)]
    [('fly half', 0.9), (' ', None), ('plays', -0.4)]
    """
    chosen: list[Mark] = []
    free = [True] * len(text)
    for mark in sorted(marks, key=lambda mark: (-abs(mark.strength), mark.start)):
        if mark.end <= len(text) and all(free[mark.start : mark.end]):
            free[mark.start : mark.end] = [False] * (mark.end - mark.start)
            chosen.append(mark)
    position = 0
    for mark in sorted(chosen, key=lambda mark: mark.start):
        if position < mark.start:
            yield text[position : mark.start], None
        yield text[mark.start : mark.end], mark
        position = mark.end
    if position < len(text):
        yield text[position:], None


class MarkedText:
    """A text with marked words, a summary and some sentences, for a terminal and for notebooks.

    A subclass has `text` and says what to show in `marks`, `summary`, `lines` and `notes`.
    """

    text: str
    # Characters that are shown with marks; the rest of a longer text is cut off. None shows all.
    most_shown: ClassVar[int | None] = None
    # The strength below which a mark has no colour in a terminal.
    faint: ClassVar[float] = 0.1

    @abstractmethod
    def marks(self) -> Sequence[Mark]:
        """Return the marks of the text."""

    @abstractmethod
    def summary(self) -> str:
        """Return one sentence that says what was found."""

    def lines(self) -> Iterable[str]:
        """Return the sentences below the summary, indented."""
        return ()

    def notes(self) -> Iterable[str]:
        """Return the sentences at the end, not indented."""
        return ()

    def marked_parts(self) -> Iterator[tuple[str, Mark | None]]:
        """Cut the text into parts, each with its mark or None, up to the most that is shown."""
        text = self.text[: self.most_shown]
        yield from cut_up(text, self.marks())
        if len(text) < len(self.text):
            yield f" … ({len(self.text) - len(text):,} more characters)", None

    def __str__(self) -> str:
        """Return what a terminal without colours would show."""
        return self.to_terminal(colour=False).rstrip("\n")

    def to_terminal(self, width: int | None = None, *, colour: bool = True) -> str:
        """Return the text with its words in colour, and the sentences, for a terminal.

        Control characters of the text are shown as symbols, never sent to the terminal.

        Parameters
        ----------
        width : int, optional
            The width of the terminal; by default 100.
        colour : bool, default=True
            Whether to use colours.

        Returns
        -------
        str
        """
        return to_terminal(self, width, colour=colour)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        shown: list[Text] = [Text(), Text(), Text(visible(self.summary()), style="bold")]
        for part, mark in self.marked_parts():
            shown[0].append(visible(part), style="" if mark is None else mark.style(self.faint))
        shown += [Text(f"  {visible(line)}") for line in self.lines()]
        shown += [Text(visible(note)) for note in self.notes()]
        return Group(*shown)

    def _repr_html_(self) -> str:
        marked = "".join(
            escaped(part) if mark is None else mark.to_html(part)
            for part, mark in self.marked_parts()
        )
        lines = "".join(f"<li>{escaped(line)}</li>" for line in self.lines())
        notes = "".join(f"<p>{escaped(note)}</p>" for note in self.notes())
        return (
            '<div class="newfound-explanation">'
            f'<p style="white-space:pre-wrap">{marked}</p>'
            f"<p><b>{escaped(self.summary())}</b></p>"
            + (f"<ul>{lines}</ul>" if lines else "")
            + notes
            + "</div>"
        )


def to_terminal(renderable: Any, width: int | None = None, *, colour: bool = True) -> str:
    """Return what a terminal would show of something that rich can print."""
    from rich.console import Console

    stream = io.StringIO()
    Console(
        file=stream, force_terminal=colour, no_color=not colour, width=width or 100,
        color_system="truecolor" if colour else None, highlight=False,
    ).print(renderable)  # fmt: skip
    return stream.getvalue()
