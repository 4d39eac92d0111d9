"""What a terminal shows of descriptions and detections: tables and sentences."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from newfound.marks import STYLES, counted, visible
from newfound.show.data import top_phrases, top_words, word_curves
from newfound.show.sentences import (
    calibration_sentence,
    description_sentence,
    number,
    passage,
    q_value,
    shortened,
)
from newfound.sides import PLAIN_NAMES, Names

if TYPE_CHECKING:
    from newfound.description.describe import Periods
    from newfound.description.description import Description
    from newfound.description.timeline import Curve
    from newfound.show.data import Found
    from newfound.stories.themes import Theme

__all__ = [
    "Unbroken",
    "description_parts",
    "detection_parts",
    "headline",
    "period_parts",
    "themes_table",
    "words_table",
]

_RULE_LENGTH = 72
_FORMS_SHOWN = 3
_CURVE_WIDTH = 16
_EXAMPLE = 90  # characters of a document
_NAME_LENGTH = 12  # of a side, in the heading of a column


def description_parts(
    description: Description, names: Names, *, top: int, by: str
) -> Iterator[RenderableType]:
    """Yield what a terminal shows of a description, with so many words ranked by a column."""
    yield headline(description_sentence(description, names), names)
    yield from _themes_part(description, names, top)
    for side in ("novel", "known"):
        table = words_table(description, side, names, top=top, by=by)
        if table.row_count:
            yield table
    for table in (
        _phrases_table(description, names, top=top),
        _rules_table(description, names, most=-(-top // 2)),
    ):
        if table.row_count:
            yield table


def period_parts(periods: Periods, *, top: int, by: str) -> Iterator[RenderableType]:
    """Yield what a terminal shows of periods, or of values."""
    against, compared = "earlier", "before"
    if periods.timeline is None:
        against, compared = "other", "others"
    yield _legend(f"than in {against} documents")
    for period in periods.periods:
        description, names = period.description, Names.of_part(period.name, against)
        yield Text.assemble(
            (visible(period.name), "bold"),
            f": {len(period.novel):,} documents, compared with {len(period.known):,} {compared}.",
        )
        yield Unbroken(visible(description_sentence(description, names)))
        yield from _themes_part(description, names, top)
        table = words_table(description, "novel", names, top=top, by=by)
        yield table if table.row_count else Text()


def detection_parts(found: Found, top: int) -> Iterator[RenderableType]:
    """Yield what a terminal shows of a detection, with so many documents and words."""
    from newfound.stories.clusters import without_group

    share, n = found.share, found.n
    lines = Text(
        f"{found.n_novel:,} of {n:,} incoming documents are called novel at alpha = "
        f"{found.alpha:g}; an estimated {_share(share.share)} of all are new ({_share(share.low)} "
        f"to {_share(share.high)}), if the known ones among them are like those learned from.\n"
    )
    if found.n_novel:
        lines.append(
            f"Of those called novel, about {found.expected_false:.0%} can be expected to be "
            "known.\n"
            if share.share
            else "As none is estimated to be new, all of those called novel may be false alarms.\n"
        )
    detector = found.detector
    about = calibration_sentence(detector.n_documents_, *detector.calibration_.interval)
    lines.append(f"{about}\n")
    yield lines
    if found.n_novel:
        yield _documents_table(found, top)
    n_grouped = found.stream["sampled"] if found.stream else found.n_novel
    sampled = n_grouped < found.n_novel
    if sampled:
        yield Text(
            f"Groups and words are those of {n_grouped:,} of the novel documents, drawn at random; "
            "sizes of groups are in this sample:"
        )
    for place, (group, _) in enumerate(found.groups, 1):
        words = ", ".join(group.words["word"][:10].tolist())
        what = f"Group {place}, {counted(group.size, 'document')}: "
        if sampled:
            what = f"Group {place}, {group.size / n_grouped:.0%} of the sample ({group.size:,}): "
        if group.size == n_grouped:
            what = "They do not divide into groups; their most characteristic words: "
        yield Text(what + visible(words))
    if n_grouped > 1 and (sentence := without_group(n_grouped, [g for g, _ in found.groups])):
        yield Text(sentence)
    if found.description is not None:
        yield Text()
        yield words_table(found.description.description_, "novel", top=top)


def _documents_table(found: Found, top: int) -> Table:
    """Return a table of the most novel documents."""
    table = _table("The most novel documents")
    for name in ("p", "novelty"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("text", max_width=60)
    table.add_column("why")
    for row in found.most_novel[:top]:
        table.add_row(
            f"{row['p_value']:.4f}",
            f"{row['novelty']:.1f}",
            visible(shortened(" ".join(row["text"][:400].split()), 120)),
            visible(row.get("why", "")),
        )
    return table


def _share(share: float) -> str:
    """Return a share in percent; one that is small, but not 0, does not read as 0%."""
    return f"{share:.0%}" if share == 0 or share >= 0.01 else f"{share * 100:.1g}%"


def headline(sentence: str, names: Names) -> Group:
    """Return what was found, and how to read the columns."""
    return Group(
        Unbroken(visible(sentence), "bold"), _legend(f"in {names.quoted('novel')} documents")
    )


def _legend(where: str) -> Unbroken:
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
    description: Description,
    side: str,
    names: Names = PLAIN_NAMES,
    *,
    top: int,
    by: str = "novelty",
) -> Table:
    """Return a table of the first words of a side, those that may be chance last.

    It has the evidence for each and, with dates, its curve.
    """
    rows = top_words(description, top, by, ascending=side == "known")
    rows, n_sure = _sure_first(description, rows, by)
    curves = word_curves(description, rows)
    table = _table(_words_title(description, side, names))
    table.add_column("word", style=STYLES[side], no_wrap=True, min_width=12, max_width=30)
    heads = ("novelty", "times", "90 %", "q", *_document_heads(names))
    for name in heads if curves else (*heads, "score"):
        table.add_column(name, justify="right", no_wrap=True)
    _add_time(table, curves)
    if not curves:  # there is no room for both, nor for the score
        table.add_column("forms")
    for place, (row, curve) in enumerate(zip_longest(_spelled(description, rows), curves)):
        if place == n_sure:
            _add_doubt(table)
        score = float("nan") if row["score"] is None else row["score"]
        table.add_row(
            visible(row["word"]),
            f"{row['novelty']:.1f}",
            number(row["times"]),
            f"{number(row['low'])} to {number(row['high'])}",
            q_value(row["q"]),
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
    description: Description, themes: Sequence[Theme], names: Names, *, most: int, title: str
) -> Table:
    """Return a table of the first themes and their parts, those that may be chance last.

    Under a name stands a typical document; without documents, the rules that find them.
    """
    from newfound.stories.evidence import SURE

    dated = description.timeline is not None
    table = _table(title)
    table.add_column("theme", min_width=16, ratio=1)
    for name in ("evidence", *_document_heads(names)):
        table.add_column(name, justify="right", no_wrap=True)
    if dated:
        _add_time(table, [description.curve(theme) for theme in themes[:1]])

    def add(theme: Theme) -> None:
        cell = Text(visible(theme.name), STYLES["known" if theme.gone else "novel"])
        cell.append(f"\n{_example(description, theme)}", "dim")
        side = "documents_known" if theme.gone else "documents_novel"
        if theme.parts:
            named = (f"{visible(part.name)} ({getattr(part, side):,})" for part in theme.parts)
            cell.append(f"\nparts: {'; '.join(named)}", "dim")
        table.add_row(
            cell,
            # What may be chance is below the limit also when it is rounded.
            f"{min(theme.evidence, SURE - 0.1) if theme.may_be_chance else theme.evidence:.1f}",
            f"{theme.documents_novel:,}",
            f"{theme.documents_known:,}",
            *_time(description.curve(theme) if dated else None),
        )

    doubtful = [theme for theme in themes if theme.may_be_chance][:most]
    sure = [theme for theme in themes if not theme.may_be_chance]
    for theme in sure[:most]:
        add(theme)
    if len(sure) > most:
        table.add_row(f"and {counted(len(sure) - most, 'theme')} more", style="dim")
    if doubtful:
        _add_doubt(table)
    for theme in doubtful:
        add(theme)
    return table


def _example(description: Description, theme: Theme) -> str:
    """Return the beginning of a typical document; without documents, the rules."""
    corpus = description.corpus
    if corpus is None or not theme.typical or theme.typical[0] >= len(corpus):
        return visible(shortened("; ".join(map(str, theme.rules)), _EXAMPLE))
    text = corpus.texts[theme.typical[0]]
    return visible(passage(text, theme.name.split(", ")[0], _EXAMPLE))


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


def _phrases_table(description: Description, names: Names, *, top: int) -> Table:
    """Return a table of phrases, with the documents of each side that have all their words."""
    table = _table("Words that occur together")
    table.add_column("phrase", min_width=20)
    for name in ("novelty", *_document_heads(names), "precision", "rules"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in top_phrases(description, top):
        table.add_row(
            Text(visible(row["phrase"]), STYLES[row["side"]]),
            f"{row['novelty']:.1f}",
            f"{row['documents_novel']:,}",
            f"{row['documents_known']:,}",
            f"{row['precision']:.0%}",
            f"{row['count']:,}",
        )
    return table


def _rules_table(description: Description, names: Names, *, most: int) -> Table:
    """Return a table of rules, with the documents of each side that they match."""
    from newfound.rules import LISTED_Q, readable_rules

    table = _table("Rules that separate the two best")
    table.caption = (
        "Held out: precision on documents that no machine was trained on. Base: base rate, the "
        "share of all documents on that side. Variants: folded rules with almost the same words."
    )
    table.caption_justify = "left"
    table.add_column("rule", min_width=16)
    for name in (*_side_heads(names), "precision", "held out", "base", "variants"):
        table.add_column(name, justify="right", no_wrap=True)
    for found in readable_rules(description.clauses, most, max_q=LISTED_Q):
        clause = found.rule
        table.add_row(
            # Cut if it is long: the paper's rules have forty negated words.
            Text(visible(clause.shortened(_RULE_LENGTH))).append(
                f" → {visible(names[clause.side])}", STYLES[clause.side]
            ),
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


def _side_heads(names: Names) -> list[str]:
    """Return the names of the sides, novel first, short enough for the head of a column."""
    return [shortened(visible(names[side]), _NAME_LENGTH) for side in ("novel", "known")]


def _document_heads(names: Names) -> list[str]:
    return [f"{name} docs" for name in _side_heads(names)]


def _forms(word: str, forms: Sequence[str]) -> str:
    """Return the first forms of a word, or nothing if the word is its only form."""
    if list(forms) == [word]:
        return ""
    more = f" +{len(forms) - _FORMS_SHOWN}" if len(forms) > _FORMS_SHOWN else ""
    return visible(", ".join(forms[:_FORMS_SHOWN])) + more


def _words_title(description: Description, side: str, names: Names) -> str:
    """Return the heading of the words of a side, which says so if chance can explain them all."""
    words = description.words
    sure = (words.sides == side).any()
    if side == "novel" and sure:
        return "Words that are new"
    likely = (words["low"] > 1 if side == "novel" else words["high"] < 1).any()
    doubt = "" if sure else ", none of them sure" if likely else ", none beyond chance"
    return f"Words typical of the {names.quoted(side)} documents{doubt}"


def _sure_first(
    description: Description, rows: list[dict[str, Any]], by: str
) -> tuple[list[dict[str, Any]], int]:
    """Return ranked words with those that are beyond chance first, and how many these are.

    By another column than novelty they keep their order, and count as sure; so do words none of
    which is beyond chance, as their heading says.
    """
    words = description.words
    sure = [words.sides[words.number(row["word"])] != "neither" for row in rows]
    if by != "novelty" or not any(sure):
        return rows, len(rows)
    order = sorted(range(len(rows)), key=lambda place: not sure[place])
    return [rows[place] for place in order], sum(sure)


def _spelled(description: Description, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of words with the capitals that most documents give them."""
    from newfound.text.spelling import spelled_form

    found = description.spellings([row["word"] for row in rows])
    return [
        {
            **row,
            "word": found[row["word"]],
            "forms": [spelled_form(form, row["word"], found[row["word"]]) for form in row["forms"]],
        }
        for row in rows
    ]


def _themes_part(description: Description, names: Names, top: int) -> list[RenderableType]:
    """Return the tables of themes of both sides, and what is new in none of them."""
    parts: list[RenderableType] = []
    themes, gone = description.themes, description.gone
    if themes:
        parts.append(themes_table(description, themes, names, most=top, title="Themes"))
    loose = [word.word for word in description.loose]
    if loose:
        written = description.spellings(loose[:top])
        listed = visible(", ".join(written.values()))
        rest = f" and {len(loose) - top:,} more" if len(loose) > top else ""
        parts.append(Unbroken(f"Also new, mostly in no sure theme: {listed}{rest}.\n"))
    if any(not theme.may_be_chance for theme in gone):
        title = "Less than before" if description.timeline is not None else "Less frequent"
        sure = [theme for theme in gone if not theme.may_be_chance]
        parts.append(themes_table(description, sure, names, most=-(-top // 2), title=title))
    return parts
