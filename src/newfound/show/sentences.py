"""What is new, in one sentence for a reader who does not know the method, and in numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from newfound.marks import counted
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = [
    "NEARLY_NONE",
    "by_mistake",
    "description_sentence",
    "detection_summary",
    "number",
    "passage",
    "percent",
    "periods_summary",
    "q_value",
    "rounded",
    "shortened",
    "summary",
]

_NAMED = 5
_NAMED_THEMES = 3
_SHOWN = 12
_FEW = 50  # documents
_LOOKED_AT = 20_000  # characters of a document
_ENDS = (". ", "? ", "! ", ": ", "> ")  # of sentences and of quoted lines
NEARLY_NONE = 0.005  # share of the novelty


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


def percent(share: float, *, whole: bool = False) -> str:
    """Return a share in per cent, with a decimal place below 10 % unless it is to be whole.

    Examples
    --------
    >>> percent(0.0384), percent(0.00047), percent(0.0), percent(0.445), percent(1.0)
    ('3.8 %', '<0.1 %', '0 %', '45 %', '100 %')
    >>> percent(0.0384, whole=True)
    '4 %'
    """
    value = 100 * share
    if whole:
        return f"{value:.0f} %"
    if 0 < value < 0.1:
        return "<0.1 %"
    # Halves are rounded up, as the page does.
    step = Decimal(1) if value >= 9.95 or not value else Decimal("0.1")
    return f"{Decimal(value).quantize(step, ROUND_HALF_UP)} %"


def q_value(value: float) -> str:
    """Return a q-value with three decimals, or "< 0.001"."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Return a number with some significant digits, for JSON; None if it is not finite.

    Examples
    --------
    >>> rounded(123.456), rounded(0.0012345678), rounded(float("nan"))
    (123.5, 0.001235, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters; one that is cut ends with "…".

    Examples
    --------
    >>> shortened("accommodation", 8), shortened("hotel", 8)
    ('accommo…', 'hotel')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def passage(text: str, phrase: str, most: int) -> str:
    """Return so many characters of a text, from the sentence with a phrase on if that is late.

    Examples
    --------
    >>> passage("Hello all. I write again. The gun law is new.", "gun", 24)
    '… The gun law is new.'
    >>> passage("The gun law is new, and much more is said of it.", "gun", 24)
    'The gun law is new, and…'
    """
    flat = " ".join(text[:_LOOKED_AT].split())
    place = flat.lower().find(phrase.lower())
    if place < most - len(phrase) - 1:
        return shortened(flat, most)
    begin = max(flat.rfind(end, 0, place) for end in _ENDS) + 1
    if begin < place - most // 2:
        begin = flat.rfind(" ", 0, place - most // 4) + 1
    return shortened(f"… {flat[begin:].lstrip()}", most)


def summary(
    words: dict[str, Any] | None,
    n_known: int,
    n_novel: int,
    name: Callable[[str], str] = str,
    themes: dict[str, Any] | None = None,
    names: Names | None = None,
) -> dict[str, Any]:
    """Return a sentence that says what is new.

    It names the first themes or, if there are none, the first words.

    Parameters
    ----------
    words : dict or None
        The words of the page; None if nothing was described.
    n_known, n_novel : int
        The number of documents.
    name : callable
        Returns a word as it is to be written.
    themes : dict, optional
        The themes of the page.
    names : Names, optional
        What the two sides are called.

    Returns
    -------
    dict
        ``sentence`` and ``detail``, lists of parts with ``text`` and, for a word, ``word``;
        ``words`` and ``names``, the numbers of a dozen words and how they are written.

    Examples
    --------
    >>> columns = {"word": ["rugby", "ball"], "new": [True, False]}
    >>> columns |= {"documents_novel": [8, 3], "documents_known": [0, 3]}
    >>> made = summary({"columns": columns, "new": 1}, 20, 10)
    >>> "".join(part["text"] for part in made["sentence"])
    'One word sets the 10 novel documents apart from the 20 known ones: rugby.'
    >>> "".join(part["text"] for part in made["detail"])
    '“rugby” is in 8 of the 10 novel documents and in none of the 20 known ones.'
    """
    piles = _Piles(n_known, n_novel, names or Names())
    columns = words["columns"] if words else {"word": [], "new": []}
    new = [i for i, found in enumerate(columns["new"]) if found][:_SHOWN]
    written = [name(columns["word"][i]) for i in new]
    total = words["new"] if words else 0
    if themes and any(not row.get("may_be_chance") for row in themes["rows"]):
        said = _of_themes(themes, total, piles)
    elif written:
        said = _of_words(columns, written, new[0], total, piles)
    else:
        said = _of_nothing([name(columns["word"][i]) for i in _likely(columns)], piles)
    unsure = themes.get("may_be_chance", 0) if themes else 0
    if themes and unsure:
        what = "more theme" if unsure < themes["total"] else "theme"
        space = " " if said["detail"] else ""
        doubt = _part(f"{space}{counted(unsure, what)} may be chance.")
        said["detail"] = [*said["detail"], doubt]
    return {**said, "words": new, "names": written}


def description_sentence(description: Description, names: Names | None = None) -> str:
    """Return the sentence and the detail of `summary` as one text, as for a terminal."""
    from newfound.table import jsonable  # it needs NumPy, which --help does not

    table = description.words
    new = table.sides == "novel"
    named = new if new.any() else table["low"] > 1
    wanted = ("word", "documents_novel", "documents_known", "low")
    columns = {name: table[name][named].tolist() for name in wanted}
    words = {"columns": {**columns, "new": new[named].tolist()}, "new": int(new.sum())}
    figures = ("name", "share_novel", "share_known", "may_be_chance", "holds")
    rows = [{name: getattr(theme, name) for name in figures} for theme in description.themes]
    themes = {
        "rows": rows,
        "total": len(rows),
        "may_be_chance": sum(row["may_be_chance"] for row in rows),
        "unexplained": jsonable(description.unexplained),
    }
    n = description.n_documents
    first = [] if len(rows) > themes["may_be_chance"] else columns["word"][:_SHOWN]
    written = description.spellings(first)
    made = summary(
        words, n["known"], n["novel"], lambda word: written.get(word, word), themes, names
    )
    said = ("".join(part["text"] for part in made[name]) for name in ("sentence", "detail"))
    return " ".join(text for text in said if text)


def _of_themes(themes: dict[str, Any], n_words: int, piles: _Piles) -> dict[str, Any]:
    """Return the sentence about the first themes that are sure, and what they leave out.

    Those whose shares documents left out bear out come first.
    """
    sentence = [_part(f"New above all in {piles.novel}: ")]
    sure = [theme for theme in themes["rows"] if not theme.get("may_be_chance")]
    shown = sorted(sure, key=lambda theme: not theme.get("holds", True))[:_NAMED_THEMES]
    ones = piles.names.quoted("known")
    for i, theme in enumerate(shown):
        novel, known = percent(theme["share_novel"]), percent(theme["share_known"])
        of_them, of_known = ("", "") if i else (" of them", f" of the {ones} ones")
        if i:
            sentence.append(_part(" and " if i == len(shown) - 1 else ", "))
        sentence.append(_word(theme["name"]))
        sentence.append(_part(f" ({novel}{of_them}, {known}{of_known})"))
    total = themes["total"] - themes.get("may_be_chance", 0)
    words = counted(n_words, "word") if n_words else "no word"
    detail = f"In all, {counted(total, 'theme')} and {words} set them apart from {piles.known}."
    if themes["unexplained"] is not None:
        inside = percent(1 - themes["unexplained"], whole=True)
        if themes["unexplained"] < NEARLY_NONE:
            inside = "nearly all"
        where = "the theme" if total == 1 else "a theme"
        detail += f" Of the documents with such a word, {inside} are in {where}."
    return {"sentence": [*sentence, _part(".")], "detail": [_part(detail)]}


def _of_nothing(likely: Sequence[str], piles: _Piles) -> dict[str, Any]:
    """Return the sentence where no word is sure, and that there are few documents."""
    nothing = [
        _part(
            f"Nothing stands out in {piles.novel}: no word differs from {piles.known} by more than "
            "chance can explain"
        )
    ]
    if likely:
        nothing = [_part(f"No word is surely new in {piles.novel}; likely new: ")]
        nothing += _listed(likely)
    n, side = min((piles.n_known, "known"), (piles.n_novel, "novel"))
    few = (
        f"With only {counted(n, piles.names.quoted(side) + ' document')}, chance can explain large "
        "differences, too."
    )
    return {"sentence": [*nothing, _part(".")], "detail": [_part(few)] if n < _FEW else []}


def _likely(columns: dict[str, Any]) -> list[int]:
    """Return the first words that are more frequent with a q of 5 %, but not surely new."""
    found = [i for i, low in enumerate(columns.get("low", [])) if low is not None and low > 1]
    return [i for i in found if not columns["new"][i]][:_NAMED]


def _of_words(
    columns: dict[str, Any],
    names: Sequence[str],
    first: int,
    total: int,
    piles: _Piles,
) -> dict[str, Any]:
    """Return the sentence about the first words, and how frequent the first one is."""
    novel, known = piles.novel, piles.known
    if len(names) == 1:
        sentence = [_part(f"One word sets {novel} apart from {known}: "), _word(names[0])]
    else:
        several = f"{total:,} words" if total > _NAMED else f"{len(names)} words"
        such = ", above all " if total > _NAMED else ": "
        sentence = [_part(f"{several} set {novel} apart from {known}{such}")]
        sentence += _listed(names[:_NAMED])
    detail = [
        _part("“"),
        _word(names[0]),
        _part(
            f"” is in {_share(columns['documents_novel'][first], piles.n_novel)} of {novel} and in "
            f"{_share(columns['documents_known'][first], piles.n_known)} of {known}."
        ),
    ]
    return {"sentence": [*sentence, _part(".")], "detail": detail}


def by_mistake(n_novel: int, share: float, expected_false: float) -> str:
    """Return how many of the documents called novel are known, as the end of a sentence.

    Examples
    --------
    >>> by_mistake(12, 0.2, 0.17)
    ', about 17 % of them by mistake if known ones are as before'
    >>> by_mistake(12, 0, 1), by_mistake(0, 0, 0)
    (', and all may be false alarms', '')
    """
    if not n_novel:
        return ""
    if share == 0:
        return ", and all may be false alarms"
    share_of_them = percent(expected_false, whole=True)
    return f", about {share_of_them} of them by mistake if known ones are as before"


def calibration_sentence(n_documents: Mapping[str, int], low: float, high: float) -> str:
    """Return a sentence on what a detector learned from, and on how exact its alpha is.

    Examples
    --------
    >>> made = calibration_sentence({"learned": 800, "held_back": 200, "copies": 1}, 0.03, 0.08)
    >>> made.partition(". ")[0]
    '800 known documents were learned from and 200 held back; 1 copy of others was left out'
    """
    learned, held_back, copies = (n_documents[name] for name in ("learned", "held_back", "copies"))
    left_out = ""
    if copies:
        what = "1 copy of others was" if copies == 1 else f"{copies:,} copies of others were"
        left_out = f"; {what} left out"
    return (
        f"{learned:,} known documents were learned from and {held_back:,} held back{left_out}. "
        f"With so many held back, {percent(low)} to {percent(high)} of known documents are called "
        "new, in nine of ten cases."
    )


def detection_summary(detection: dict[str, Any], described: dict[str, Any]) -> dict[str, Any]:
    """Return a sentence that says how many incoming documents are new, and by which words.

    Examples
    --------
    >>> share = {"share": 0.2, "low": 0.1, "high": 0.3}
    >>> found = {"n": 50, "n_novel": 12, "alpha": 0.05, "share": share, "expected_false": 0.17}
    >>> found["calibration"] = "80 known documents were learned from and 20 held back."
    >>> made = detection_summary(found, {"words": [3], "names": ["Rugby"]})
    >>> "".join(part["text"] for part in made["sentence"]).partition(" if")[0]
    '12 of the 50 incoming documents are called new, about 17 % of them by mistake'
    """
    n, novel = detection["n"], detection["n_novel"]
    names = described["names"][:_NAMED]
    who = f"{novel:,} of the {n:,} incoming documents {'is' if novel == 1 else 'are'} called new"
    who += by_mistake(novel, detection["share"]["share"], detection["expected_false"])
    sentence = [_part(f"None of the {n:,} incoming documents is called new" if not novel else who)]
    if novel and names:
        which = "word" if len(names) == 1 else "words"
        sentence += [_part(f"; most distinctive {which}: "), *_listed(names)]
    share = {name: percent(value, whole=True) for name, value in detection["share"].items()}
    detail = (
        f"At this threshold, {100 * detection['alpha']:g} % of known documents are called new by "
        f"mistake, on average. {detection['calibration']} Corrected for that, "
        f"an estimated {share['share']} of the incoming documents are new ({share['low']} to "
        f"{share['high']}). Both hold if the known ones among them are like those that the "
        "detector learned from."
    )
    return {
        "sentence": [*sentence, _part(".")],
        "detail": [_part(detail)],
        "words": described["words"],
        "names": described["names"],
    }


def periods_summary(
    rows: Sequence[dict[str, Any]], by: str, n: int, *, rest: bool = False
) -> dict[str, Any]:
    """Return a sentence that says which periods, or which labels, a page is about.

    Examples
    --------
    >>> rows = [{"name": f"2003-0{i}", "themes": {"total": i}} for i in (3, 4)]
    >>> made = periods_summary(rows, "month", 900)
    >>> "".join(part["text"] for part in made["sentence"])
    'What was new in each of 2 months, from 2003-03 to 2003-04.'
    >>> "".join(part["text"] for part in made["detail"])
    'Each month is compared with all documents before it: 900 documents and 7 themes in all.'
    """
    sentence = (
        f"What was new in each of {len(rows):,} {by}s, from {rows[0]['name']} to "
        f"{rows[-1]['name']}."
    )
    if len(rows) == 1:
        sentence = f"What was new in {rows[0]['name']}."
    each, others = f"Each {by}", "documents before it"
    if rest:
        sentence = f"What sets each of {len(rows):,} values of {by!r} apart from the rest."
        each, others = "Each", "other documents"
    total = sum(row["themes"]["total"] for row in rows)
    detail = (
        f"{each} is compared with all {others}: {n:,} documents and {counted(total, 'theme')} in "
        "all."
    )
    return {"sentence": [_part(sentence)], "detail": [_part(detail)], "words": [], "names": []}


@dataclass(frozen=True)
class _Piles:
    """The documents of both sides, as a sentence names them."""

    n_known: int
    n_novel: int
    names: Names

    @property
    def novel(self) -> str:
        return f"the {counted(self.n_novel, self.names.quoted('novel') + ' document')}"

    @property
    def known(self) -> str:
        return f"the {counted(self.n_known, self.names.quoted('known') + ' one')}"


def _share(n: int, of: int) -> str:
    """Return a share as a number of documents if there are few, else in per cent.

    Examples
    --------
    >>> _share(3, 10), _share(55, 100), _share(1, 5000), _share(0, 9)
    ('3', '55 %', '1', 'none')
    """
    if not n:
        return "none"
    value = 100 * n / of
    return f"{n:,}" if of < _FEW or value < 1 else f"{value:.0f} %"


def _listed(names: Sequence[str]) -> list[dict[str, Any]]:
    """Return words separated by commas and "and"."""
    parts: list[dict[str, Any]] = []
    for i, name in enumerate(names):
        if i:
            parts.append(_part(" and " if i == len(names) - 1 else ", "))
        parts.append(_word(name))
    return parts


def _part(text: str) -> dict[str, Any]:
    return {"text": text, "word": False}


def _word(text: str) -> dict[str, Any]:
    return {"text": text, "word": True}
