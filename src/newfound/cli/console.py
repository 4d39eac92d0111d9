"""What the command line shows: results on standard output, messages on standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from newfound.cli import interrupts
from newfound.cli.interrupts import INTERRUPTED
from newfound.marks import STEERING, STYLES, visible
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.description.timeline import Curve
    from newfound.machine.clauses import EpochInfo
    from newfound.rules import Clause, ReadableRule
    from newfound.stories.themes import Theme

__all__ = [
    "Unbroken",
    "epochs_of",
    "headline",
    "legend",
    "open_standard_streams",
    "outcome",
    "phrases_table",
    "print_json",
    "print_line",
    "rules_table",
    "say",
    "show",
    "themes_table",
    "training",
    "words_table",
    "working",
]

_WIDTH_OF_A_PIPE = 120
_RULE_LENGTH = 72
_FORMS_SHOWN = 3
_RULES_SHOWN = 4
_CURVE_WIDTH = 16
_NAME_LENGTH = 12  # of a side, in the heading of a column
_MANY = 10_000  # documents, from which on their rate is shown


def say(message: object) -> None:
    """Print a message on standard error, as one line."""
    line = " ".join(visible(str(message)).split())
    print(f"newfound: {line}", file=sys.stderr, flush=True)


def open_standard_streams() -> None:
    """Open standard streams that the caller closed, or files would take their places.

    Input is then empty, messages are lost, and printing results is an error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115


_INTERRUPTED = "interrupted; no file was left half-written."


@contextmanager
def outcome() -> Iterator[None]:
    """Turn an error into one sentence and exit status 1, failure."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        say(_INTERRUPTED)
        _leave(INTERRUPTED)
    except BrokenPipeError:
        # The reader, such as head, closed the pipe; files were written before.
        _leave(0)
    except MemoryError as error:
        _fail(
            str(error) or "not enough memory; use fewer documents or clauses, or a higher --min-df."
        )
    except SystemError:  # what Python itself raises here and there when an allocation fails
        _fail("Python failed, most probably for lack of memory; use fewer documents or clauses.")
    except OSError as error:
        _fail(_sentence(error))
    except (ImportError, ValueError) as error:
        _fail(error)


def _fail(message: object) -> NoReturn:
    """Say what went wrong and end; what Control-C has caused is no error of its own."""
    if interrupts.came():
        say(_INTERRUPTED)
        _leave(INTERRUPTED)
    say(message)
    _leave(1)


def _sentence(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}."


def _leave(status: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:
        # Otherwise the interpreter flushes again when it ends, and prints a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(status)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let `outcome` handle it."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """Return a console as wide as the terminal; it replaces characters the encoding lacks."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDTH_OF_A_PIPE
    return _Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


@contextmanager
def _standard_output() -> Iterator[None]:
    """Flush at the end, so that a failure can still be reported."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"Cannot write to standard output: {error.strerror}."
        raise OSError(error.errno, reason) from error


def show(*parts: RenderableType) -> None:
    """Print on standard output."""
    with _standard_output():
        console(sys.stdout).print(Group(*parts))


def print_json(data: object, *, indent: int | None = 2) -> None:
    """Print plain data as JSON on standard output; ASCII where the encoding is not UTF-8."""
    from newfound.table import as_text

    ascii = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    with _standard_output():
        text = json.dumps(data, ensure_ascii=ascii, allow_nan=False, indent=indent, default=as_text)
        # JSON allows some of these characters as they are, and terminals obey some of them.
        print(STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_line(text: str) -> None:
    """Print one line on standard output as it is, however long, for other programs to read."""
    with _standard_output():
        print(visible(text))


@contextmanager
def working(*, quiet: bool) -> Iterator[Callable[[str, int, int], None] | None]:
    """Return a callback that draws a progress bar, only on a terminal; show warnings at the end.

    The callback takes the name of the step, how much of it is done, and how much there is.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        if quiet or not sys.stderr.isatty():
            yield None
        else:
            with _progress() as progress:
                tasks: dict[str, TaskID] = {}

                def update(step: str, done: int, total: int) -> None:
                    if step not in tasks:
                        tasks[step] = progress.add_task(step)
                    progress.update(tasks[step], completed=done, total=total)

                yield update
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if not quiet:
            say(f"warning: {message}")


@contextmanager
def training(*, quiet: bool) -> Iterator[Callable[[EpochInfo], None] | None]:
    """Return a callback for epochs that draws a progress bar; see `working`."""
    with working(quiet=quiet) as update:
        yield None if update is None else epochs_of("Learning rules", update)


def epochs_of(step: str, update: Callable[[str, int, int], None]) -> Callable[[EpochInfo], None]:
    """Return a callback for epochs that reports the progress of a step."""

    def after_epoch(info: EpochInfo) -> None:
        update(step, info.epoch, info.epochs)

    return after_epoch


class _Rate(ProgressColumn):
    """How many documents are done in a second, of a step that counts many."""

    def render(self, task: Task) -> Text:
        counts = task.total is not None and task.total >= _MANY and task.speed is not None
        return Text(f"{task.speed:,.0f} a second" if counts else "")


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        _Rate(),
        console=console(sys.stderr),
        transient=True,
    )


def headline(sentence: str, names: Names) -> Group:
    """Return what was found, and how to read the columns."""
    return Group(
        Unbroken(visible(sentence), "bold"), legend(f"in {names.quoted('novel')} documents")
    )


def legend(where: str) -> Unbroken:
    """Return how to read the columns; `where` says in or than in which documents words are."""
    from newfound.description.novelty import SIGNIFICANT
    from newfound.description.words import BEYOND_CHANCE
    from newfound.stories.evidence import SURE

    return Unbroken(
        "Novelty: how sure it is that a word is new, in standard deviations; for one word, "
        "chance rarely exceeds 2.\n"
        f"Times: how many times more frequent {where}, shrunk, with its 90 % interval.\n"
        "q: expected share of false discoveries if you stop here (Benjamini-Hochberg).\n"
        f"May be chance: words with a novelty below {BEYOND_CHANCE:g} or q above {SIGNIFICANT:g}, "
        f"themes with evidence below {SURE:g}.\n"
    )


class Unbroken:
    """A text that is wrapped between words, but not between a number and its per cent sign."""

    def __init__(self, text: str, style: str = "") -> None:
        self.text, self.style = text, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wrapper = textwrap.TextWrapper(
            options.max_width, break_long_words=False, break_on_hyphens=False
        )
        joined = self.text.replace(" %", "\u00a0%")
        lines = [line for part in joined.split("\n") for line in wrapper.wrap(part) or [""]]
        yield Text("\n".join(lines).replace("\u00a0%", " %"), self.style)


def words_table(
    rows: Sequence[dict[str, Any]],
    side: str,
    title: str,
    curves: Sequence[Curve] = (),
    names: Names | None = None,
    n_sure: int | None = None,
) -> Table:
    """Return a table of words, with the evidence for each and, with dates, its curve.

    Words after the first `n_sure` are shown as ones that may be chance.
    """
    table = _table(title)
    table.add_column("word", style=STYLES[side], no_wrap=True, min_width=12, max_width=30)
    heads = ("novelty", "times", "90 %", "q", *_document_heads(names))
    for name in heads if curves else (*heads, "score"):
        table.add_column(name, justify="right", no_wrap=True)
    _add_time(table, curves)
    if not curves:  # there is no room for both, nor for the score
        table.add_column("forms")
    for place, (row, curve) in enumerate(zip_longest(rows, curves)):
        if place == n_sure:
            _add_doubt(table)
        score = float("nan") if row["score"] is None else row["score"]
        table.add_row(
            visible(row["word"]),
            f"{row['novelty']:.1f}",
            number(row["times"]),
            f"{number(row['low'])} to {number(row['high'])}",
            share(row["q"]),
            *(f"{row[key]:,}" for key in ("documents_novel", "documents_known")),
            *(
                _time(curve)
                if curves
                else (
                    "" if math.isnan(score) else number(score),
                    _forms(row["word"], list(row["forms"])),
                )
            ),
        )
    return table


def themes_table(
    themes: Sequence[Theme],
    title: str,
    curves: Sequence[Curve] = (),
    names: Names | None = None,
) -> Table:
    """Return a table of themes, those that may be chance last, with the rules that find them."""
    from newfound.stories.evidence import SURE

    table = _table(title)
    table.add_column("theme", style=STYLES["novel"], min_width=16)
    for name in ("evidence", *_document_heads(names)):
        table.add_column(name, justify="right", no_wrap=True)
    _add_time(table, curves)
    table.add_column("rules")
    n_sure = sum(not theme.may_be_chance for theme in themes)
    rows = sorted(zip_longest(themes, curves), key=lambda row: row[0].may_be_chance)
    for place, (theme, curve) in enumerate(rows):
        if place == n_sure:
            _add_doubt(table)
        rules = [visible(str(rule)) for rule in theme.rules]
        more = [f"{len(rules) - _RULES_SHOWN} more"] if len(rules) > _RULES_SHOWN else []
        table.add_row(
            visible(theme.name),
            # What may be chance is below the limit also when it is rounded.
            f"{min(theme.evidence, SURE - 0.1) if theme.may_be_chance else theme.evidence:.1f}",
            f"{theme.documents_novel:,}",
            f"{theme.documents_known:,}",
            *_time(curve),
            "; ".join([*rules[:_RULES_SHOWN], *more]),
        )
    return table


def _add_doubt(table: Table) -> None:
    """Begin the part of a table that may be chance."""
    table.add_section()
    table.add_row("may be chance:", style="dim")


def _add_time(table: Table, curves: Sequence[Curve]) -> None:
    """Add the columns of a curve, if there are curves."""
    if curves:
        table.add_column("over time", no_wrap=True)
        table.add_column("peak", justify="right", no_wrap=True)


def _time(curve: Curve | None) -> list[str]:
    """Return the cells of a curve."""
    if curve is None:
        return []
    from newfound.description.timeline import spark

    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    drawn = spark(curve.counts, width=_CURVE_WIDTH, unicode=utf8)
    return [drawn, curve.peak or ""]


def phrases_table(rows: Sequence[dict[str, Any]], title: str, names: Names | None = None) -> Table:
    """Return a table of phrases, with the documents of each side that have all their words."""
    table = _table(title)
    table.add_column("phrase", min_width=20)
    for name in ("novelty", *_document_heads(names), "precision", "rules"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(visible(row["phrase"]), STYLES[row["side"]]),
            f"{row['novelty']:.1f}",
            f"{row['documents_novel']:,}",
            f"{row['documents_known']:,}",
            f"{row['precision']:.0%}",
            f"{row['count']:,}",
        )
    return table


def rules_table(rules: Sequence[ReadableRule], title: str, names: Names | None = None) -> Table:
    """Return a table of rules, with the documents of each side that they match."""
    table = _table(title)
    table.caption = (
        "Held out: precision on documents that no machine was trained on. Base: base rate, the "
        "share of all documents on that side. Variants: folded rules with almost the same words."
    )
    table.caption_justify = "left"
    table.add_column("rule", min_width=16)
    for name in (*_side_heads(names), "precision", "held out", "base", "variants"):
        table.add_column(name, justify="right", no_wrap=True)
    for found in rules:
        clause = found.rule
        table.add_row(
            rule(clause, names),
            f"{clause.matches_novel:,}",
            f"{clause.matches_known:,}",
            *(
                "" if math.isnan(precision) else f"{precision:.0%}"
                for precision in (clause.precision, clause.held_out_precision)
            ),
            f"{found.base_rate:.0%}",
            f"{found.variants:,}",
        )
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)


def _side_heads(names: Names | None) -> list[str]:
    """Return the names of the sides, novel first, short enough for the head of a column."""
    called = (visible((names or Names())[side]) for side in ("novel", "known"))
    return [
        name if len(name) <= _NAME_LENGTH else name[: _NAME_LENGTH - 1] + "…" for name in called
    ]


def _document_heads(names: Names | None) -> list[str]:
    return [f"{name} docs" for name in _side_heads(names)]


def _forms(word: str, forms: Sequence[str]) -> str:
    """Return the first forms of a word, or nothing if the word is its only form."""
    if list(forms) == [word]:
        return ""
    more = f" +{len(forms) - _FORMS_SHOWN}" if len(forms) > _FORMS_SHOWN else ""
    return visible(", ".join(forms[:_FORMS_SHOWN])) + more


def rule(clause: Clause, names: Names | None = None) -> Text:
    """Return a rule, cut if it is long; the paper's rules have forty negated words."""
    text = Text(visible(clause.shortened(_RULE_LENGTH)))
    return text.append(f" → {visible((names or Names())[clause.side])}", STYLES[clause.side])


def share(value: float) -> str:
    """Return a q-value with three decimals, or "< 0.001"."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def number(value: float) -> str:
    """Return a number with three significant digits, or two if it is below 0.1.

    Examples
    --------
    >>> number(1234.5), number(2.114), number(0.00252)
    ('1,234', '2.11', '0.0025')
    """
    if not math.isfinite(value):
        return str(value)
    least = 2 if abs(value) >= 0.1 else 1
    digits = max(0, least - int(f"{abs(value):e}".partition("e")[2])) if value else 0
    return f"{value:,.{min(digits, 6)}f}"
