"""Why a text is known or novel: its words where they stand, the rules it matches, the votes."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from newfound.rules import ClauseTable
from newfound.table import jsonable

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

__all__ = ["Explanation", "Mention", "cut_up", "rendered", "visible"]

# Scores, or their inverses, from which a word has a colour, a bold one, and the fullest one.
_FAINT, _STRONG, _FULL = math.log(2), math.log(4), math.log(16)
_COLOURS = {"novel": "214,96,40", "known": "38,120,200"}
_RICH = {"novel": "red", "known": "blue"}
# Everything that steers a terminal, but the ends of lines and tabulators, as one symbol each.
_SYMBOLS = {
    **{code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)},
    **dict.fromkeys(range(0x7F, 0xA0), 0xFFFD),
}


@dataclass(frozen=True)
class Mention:
    """A word of a text, and where it stood: ``text[start:end] == surface``.

    `word` is the word as the table of words has it, `score` and `role` are what stands there; for
    a word of one group alone the role is that group. A word that the table does not have has the
    role "unknown" and the score nan.
    """

    start: int
    end: int
    surface: str
    word: str
    score: float
    role: str

    @property
    def leaning(self) -> float:
        """The logarithm of the score: above 0 novel, below 0 known; 0 without evidence."""
        return math.log(self.score) if self.score > 0 else 0.0


@dataclass(frozen=True)
class Explanation:
    """What a describer has to say about one text.

    Attributes
    ----------
    text : str
        The text, as it was given.
    words : tuple of Mention
        The words in the vocabulary, in order.
    unknown : tuple of Mention
        The words that are not, stop words left out.
    rules : ClauseTable
        The rules that the text matches, folded and sorted as in ``clauses_``.
    votes : dict of str to int
        How many clauses that match speak for "known" and for "novel".
    """

    text: str
    words: tuple[Mention, ...]
    unknown: tuple[Mention, ...]
    rules: ClauseTable
    votes: dict[str, int]

    @property
    def verdict(self) -> str:
        """The side with more votes, or "undecided"."""
        known, novel = self.votes["known"], self.votes["novel"]
        return "undecided" if known == novel else "novel" if novel > known else "known"

    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        """Give all of it as plain data, with all rules or only the first ones."""
        return {
            "text": self.text,
            "verdict": self.verdict,
            "votes": dict(self.votes),
            "words": [jsonable(vars(word)) for word in self.words],
            "unknown": [jsonable(vars(word)) for word in self.unknown],
            "n_rules": len(self.rules),
            "rules": [rule.to_dict() for rule in self.rules[:max_rules]],
        }

    def to_terminal(self, width: int | None = None, *, colour: bool = True) -> str:
        """Give the text with its words in colour, the votes and the first rules, for a terminal.

        Control characters of the text are shown as symbols, never sent to the terminal.
        """
        return rendered(self, width, colour=colour)

    def __rich__(self) -> Group:
        from rich.console import Group
        from rich.text import Text

        lines = [self._rich_text(), Text(), Text(self._summary(), style="bold")]
        lines += [Text(f"  {visible(rule)}") for rule in self._rules()]
        if self.unknown:
            lines.append(Text("not known: " + visible(", ".join(_names(self.unknown)))))
        return Group(*lines)

    def _repr_html_(self) -> str:
        marked = "".join(
            html.escape(part) if word is None else _mark(word, part) for part, word in self._parts()
        )
        rules = "".join(f"<li>{html.escape(rule)}</li>" for rule in self._rules())
        unknown = html.escape(", ".join(_names(self.unknown)))
        return (
            '<div class="newfound-explanation">'
            f'<p style="white-space:pre-wrap">{marked}</p>'
            f"<p><b>{html.escape(self._summary())}</b></p>"
            + (f"<ul>{rules}</ul>" if rules else "")
            + (f"<p>not known: {unknown}</p>" if unknown else "")
            + "</div>"
        )

    def _summary(self) -> str:
        return (
            f"{self.verdict}: {self.votes['novel']:,} votes for novel, {self.votes['known']:,} for "
            f"known, from {len(self.rules):,} rules"
        )

    def _rules(self, n: int = 5) -> Iterator[str]:
        """Give the first rules of the winning side, and how they fared."""
        wanted = "known" if self.verdict == "known" else "novel"
        for rule in self.rules[self.rules.side == wanted][:n]:
            yield (
                f"{_cut(str(rule), 160)}  ({rule.matches_novel:,} novel and "
                f"{rule.matches_known:,} known documents)"
            )

    def _parts(self) -> Iterator[tuple[str, Mention | None]]:
        return cut_up(self.text, (*self.words, *self.unknown))

    def _rich_text(self) -> Text:
        from rich.text import Text

        text = Text()
        for part, word in self._parts():
            style = ""
            if word is not None and word.role == "unknown":
                style = "underline"
            elif word is not None and abs(word.leaning) >= _FAINT:
                strong = abs(word.leaning) >= _STRONG
                style = ("bold " if strong else "") + _RICH[_side(word)]
            text.append(visible(part), style=style)
        return text


class _Marked(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def leaning(self) -> float: ...


Marked = TypeVar("Marked", bound=_Marked)


def cut_up(text: str, words: Iterable[Marked]) -> Iterator[tuple[str, Marked | None]]:
    """Cut a text into marked and plain parts; of words that overlap the strongest is marked.

    A pair of words spans both of them, so only marks can collide, never the data.
    """
    taken: list[Marked] = []
    free = [True] * len(text)
    for word in sorted(words, key=lambda word: (-abs(word.leaning), word.start)):
        if all(free[word.start : word.end]):
            free[word.start : word.end] = [False] * (word.end - word.start)
            taken.append(word)
    position = 0
    for word in sorted(taken, key=lambda word: word.start):
        yield text[position : word.start], None
        yield text[word.start : word.end], word
        position = word.end
    yield text[position:], None


def _side(word: Mention) -> str:
    return "novel" if word.leaning > 0 else "known"


def _mark(word: Mention, part: str) -> str:
    shown = html.escape(part)
    if word.role == "unknown":
        return f'<span style="border-bottom:1px dotted" title="not known">{shown}</span>'
    title = html.escape(f"{word.word}: score {word.score:.3g}, {word.role}")
    alpha = 0.65 * min(abs(word.leaning) / _FULL, 1.0)
    background = f"rgba({_COLOURS[_side(word)]},{alpha:.2f})"
    return f'<mark style="background:{background};color:inherit" title="{title}">{shown}</mark>'


def _names(words: Iterable[Mention]) -> list[str]:
    return list(dict.fromkeys(word.word for word in words))


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    rule, arrow, side = text.rpartition(" → ")
    return f"{rule[: length - len(arrow + side) - 2]} …{arrow}{side}"


def rendered(shown: object, width: int | None, *, colour: bool) -> str:
    """Give what a terminal would show."""
    from rich.console import Console

    stream = io.StringIO()
    Console(
        file=stream, force_terminal=colour, no_color=not colour, width=width or 100,
        color_system="truecolor" if colour else None, highlight=False,
    ).print(shown)  # fmt: skip
    return stream.getvalue()


def visible(text: str) -> str:
    r"""Show control characters as symbols of the same length, so that they control nothing.

    Examples
    --------
    >>> visible("\x1b[31mred")
    '␛[31mred'
    """
    return text.translate(_SYMBOLS)
