"""Why a text is known or novel, whichever model says so, for a terminal, for HTML and as data.

A describer and a detector fill the same value, `Explanation`: the verdict, the words with what each
adds, what no word adds, and the rules that match. What else each of them knows of a text, and its
sentences, are in `newfound.description.explanation` and `newfound.detection.verdict`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from newfound.marks import Mark, cut_up, escaped, to_terminal, visible
from newfound.rules import Rule
from newfound.table import jsonable
from newfound.text.sentences import sentence_spans

if TYPE_CHECKING:
    from rich.console import Group

__all__ = [
    "BASELINE",
    "FEWEST_WORDS",
    "UNSEEN_WORDS",
    "Explanation",
    "Sentence",
    "Word",
    "word_matrix",
]

# Columns of a matrix of what words add; no word has a parenthesis.
BASELINE, UNSEEN_WORDS = "(baseline)", "(unseen words)"
_NEWEST = "border-inline-start:3px solid;padding-inline-start:0.3em;font-style:italic"
FEWEST_WORDS = 3  # of a sentence that is called the newest, if there is one


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, where it is, and what it adds.

    Attributes
    ----------
    word : str
        The word, as the model calls it.
    contribution : float
        Above 0 if the word suggests novel, below 0 if it suggests known. nan if the model does not
        say: a word that a describer does not know, or one without held-out documents.
    spans : tuple of (int, int)
        Where it is in the text.
    role : str
        Of a describer: its role in the table of words, or "unknown", or "stop word". Of a detector:
        where it was seen, "here" (in the nearest class), "elsewhere" or "never".
    score : float
        Its score in the describer's table of words; nan for others.
    documents, in_class : int
        The number of the detector's known documents that have the word, and how many of them are
        in the nearest class.
    """

    word: str
    contribution: float
    spans: tuple[tuple[int, int], ...]
    role: str
    score: float = math.nan
    documents: int = 0
    in_class: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text, judged as a text of its own.

    Attributes
    ----------
    start, end : int
        Where it is in the text.
    text : str
        The sentence.
    novelty : float
        Its novelty according to a detector; its probability of novel according to a describer.
    p_value : float
        How rare so new a sentence is in known documents; nan for a describer.
    words : tuple of Word
        Its words with what they add to its novelty; their places are those in the whole text.
    """

    start: int
    end: int
    text: str
    novelty: float
    p_value: float
    words: tuple[Word, ...]

    def figures(self) -> str:
        """Return its p-value and novelty, or its probability, for a line.

        Examples
        --------
        >>> Sentence(0, 2, "Hi", 9.5, 0.0125, ()).figures()
        'p = 0.0125, novelty 9.50'
        >>> Sentence(0, 2, "Hi", 0.9, math.nan, ()).figures()
        '0.90'
        """
        if math.isnan(self.p_value):
            return f"{self.novelty:.2f}"
        return f"p = {self.p_value:.3g}, novelty {self.novelty:.2f}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the words that make it new, the strongest first."""
        novel = sorted((w for w in self.words if w.contribution > 0), key=lambda w: -w.contribution)
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "novelty": jsonable(self.novelty),
            "p_value": jsonable(self.p_value),
            "words": {word.word: word.contribution for word in novel},
        }


def _no_sentences(text: str) -> tuple[Sentence, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Why a text is known or novel, according to a describer or a detector.

    Attributes
    ----------
    text : str
        The text, as the model read it.
    verdict : str
        "known", "novel", or "unclear" if it cannot be told.
    words : tuple of Word
        Its distinct words with what they add, the strongest first; those that the model does not
        know, too.
    baseline : float
        What no word adds.
    rules : sequence of Rule
        The rules that the text matches.
    find_sentences : callable
        Splits a text and judges its sentences, for `sentences`.
    """

    # Characters that are shown with marks; the rest of a longer text is cut off. None shows all.
    most_shown: ClassVar[int | None] = None
    # The strength below which a mark has no colour in a terminal.
    faint: ClassVar[float] = 0.1

    text: str
    verdict: str
    words: tuple[Word, ...]
    baseline: float
    rules: Sequence[Rule]
    find_sentences: Callable[[str], tuple[Sentence, ...]] = field(
        default=_no_sentences, repr=False, compare=False
    )

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences that can be judged, in the order of the text."""
        return self.find_sentences(self.text)

    @property
    def newest_sentence(self) -> Sentence | None:
        """The sentence with the greatest novelty; None if the text has less than two.

        One of fewer than three words is too short to tell, if there are others.
        """
        if len(sentence_spans(self.text)) < 2 or len(self.sentences) < 2:
            return None
        return max(self.sentences, key=lambda s: (len(s.words) >= FEWEST_WORDS, s.novelty))

    @cached_property
    def contributions(self) -> dict[str, float]:
        """What each word adds, the strongest first."""
        added = {word.word: word.contribution for word in self.words}
        return {word: value for word, value in added.items() if not math.isnan(value)}

    @abstractmethod
    def mark(self, word: Word) -> tuple[float, str]:
        """Return how strongly a word is coloured, 1 or -1 for the full colour, and its title."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The verdict and its main reason in one sentence; words are in asterisks."""

    @abstractmethod
    def summary(self) -> str:
        """Return the figures of the verdict in one line; empty if there are none."""

    @abstractmethod
    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        """Return all of it as plain data, with all rules or only the first ones."""

    def sentence_data(self) -> dict[str, Any]:
        """Return the sentences as plain data, for beside `to_dict`."""
        return {"sentences": [sentence.to_dict() for sentence in self.sentences]}

    def lines(self) -> Iterable[str]:
        """Return the reasons, a line each, for below the figures."""
        return ()

    def notes(self) -> Iterable[str]:
        """Return the sentences at the end."""
        return ()

    def marks(self) -> list[Mark]:
        """Return a mark for each place of a word; one that the model does not know is underlined.

        Of marks that overlap the strongest one is shown.
        """
        marks = []
        for word in self.words:
            strength, title = self.mark(word)
            new = word.role in ("never", "unknown")
            marks += [Mark(*span, strength, title, underlined=new) for span in word.spans]
        return sorted(marks, key=lambda mark: (mark.underlined, mark.start, mark.end))

    def marked_parts(self) -> Iterator[tuple[str, Mark | None]]:
        """Cut the text into parts, each with its mark or None, up to the most that is shown."""
        text = self.text[: self.most_shown]
        marks = sorted(self.marks(), key=lambda mark: (-abs(mark.strength), mark.start))
        yield from cut_up(text, [(mark.start, mark.end, mark) for mark in marks])
        if len(text) < len(self.text):
            yield f" … ({len(self.text) - len(text):,} more characters)", None

    def shown_parts(self) -> Iterator[tuple[bool, list[tuple[str, Mark | None]]]]:
        """Group the marked parts: whether they are of the newest sentence, and the parts."""
        newest, position = self.newest_sentence, 0
        bounds = () if newest is None else (newest.start, newest.end)
        found: list[tuple[bool, str, Mark | None]] = []
        for part, mark in self.marked_parts():
            cuts = [0, *(b - position for b in bounds if 0 < b - position < len(part)), len(part)]
            for begin, end in pairwise(cuts):
                place = position + begin
                inside = newest is not None and newest.start <= place < newest.end
                found.append((inside, part[begin:end], mark))
            position += len(part)
        for inside, parts in groupby(found, key=itemgetter(0)):
            yield inside, [(part, mark) for _, part, mark in parts]

    def newest_line(self) -> str:
        """Return the newest sentence with its figures; empty if there are less than two."""
        newest = self.newest_sentence
        if newest is None:
            return ""
        return f"newest sentence ({newest.figures()}): {' '.join(newest.text.split())}"

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

        shown: list[Text] = [Text(visible(self.sentence), style="bold"), Text(), Text(), Text()]
        for newest, parts in self.shown_parts():
            for part, mark in parts:
                style = "" if mark is None else mark.style(self.faint)
                shown[2].append(visible(part), style=f"{style} italic".strip() if newest else style)
        lines = (self.summary(), self.newest_line(), *self.lines())
        shown += [Text(f"  {visible(line)}") for line in lines if line]
        shown += [Text(visible(note)) for note in self.notes()]
        return Group(*shown)

    def _repr_html_(self) -> str:
        marked = ""
        for newest, parts in self.shown_parts():
            html = "".join(escaped(p) if mark is None else mark.to_html(p) for p, mark in parts)
            marked += f'<span style="{_NEWEST}">{html}</span>' if newest else html
        reasons = (self.summary(), self.newest_line(), *self.lines())
        lines = "".join(f"<li>{escaped(line)}</li>" for line in reasons if line)
        notes = "".join(f"<p>{escaped(note)}</p>" for note in self.notes())
        return (
            '<div class="newfound-explanation">'
            f"<p><b>{escaped(self.sentence)}</b></p>"
            f'<p style="white-space:pre-wrap">{marked}</p>'
            + (f"<ul>{lines}</ul>" if lines else "")
            + notes
            + "</div>"
        )


def word_matrix(rows: Iterable[Mapping[str, float]], columns: Mapping[str, int]) -> Any:
    """Return what the words of texts add as a CSR matrix, a row for each text.

    A word without a column counts in that of `UNSEEN_WORDS`.

    Examples
    --------
    >>> columns = {"pay": 0, UNSEEN_WORDS: 1, BASELINE: 2}
    >>> word_matrix([{"pay": -2.0, "zyxw": 3.0, "vuts": 1.0, BASELINE: 0.5}], columns).toarray()
    array([[-2. ,  4. ,  0.5]])
    """
    indptr, indices, data = [0], [], []
    for row in rows:
        added: dict[int, list[float]] = {}
        for word, value in row.items():
            added.setdefault(columns.get(word, columns.get(UNSEEN_WORDS, -1)), []).append(value)
        for column in sorted(column for column in added if column >= 0):
            indices.append(column)
            data.append(math.fsum(added[column]))
        indptr.append(len(indices))
    arrays = (np.array(data, np.float64), np.array(indices, np.int32), np.array(indptr, np.int32))
    matrix = sparse.csr_matrix(arrays, shape=(len(indptr) - 1, len(columns)))
    matrix.eliminate_zeros()
    return matrix
