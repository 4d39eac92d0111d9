"""The sentences of a text, to judge them one by one.

They end where `newfound.text.corpus.sentence_ends` says, but not after an abbreviation or initials;
each item of a list is a sentence, too.
"""

from __future__ import annotations

import re

from newfound.text.corpus import sentence_ends

__all__ = ["sentence_spans"]

# What has a full stop inside sentences, without it; the second ones end sentences, too.
_ABBREVIATIONS = frozenset((
    "approx", "bzw", "ca", "cf", "d.h", "dept", "dr", "e.g", "ed", "eds", "est", "evtl", "fig",
    "figs", "gen", "ggf", "i.e", "m", "mme", "mr", "mrs", "ms", "mt", "nr", "p.s", "pp", "prof",
    "sen", "sr", "sra", "st", "u.k", "u.s", "usw", "viz", "vol", "vs", "z.b",
))  # fmt: skip
_ALSO_AT_END = frozenset(("a.m", "co", "corp", "etc", "inc", "jr", "ltd", "no", "p.m"))
_LAST_WORD = re.compile(r"(?:^|[\s(\[\"'“‘«])([^\W\d_](?:\.?[^\W\d_])*)\.\s+$")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_ITEM = re.compile(r"\n(?=[^\S\n]*(?:[-*•–]|\d{1,3}[.)])[^\S\n]+\S)")
_NUMBER_OF_ITEM = re.compile(r"(?:^|\n)[^\S\n]*\d{1,3}\.[^\S\n]+$")
_LOOK_BACK = 40  # characters before a full stop in which an abbreviation is looked for


def sentence_spans(text: str) -> list[tuple[int, int]]:
    r"""Return where each sentence of a text begins and ends, without white space around it.

    Examples
    --------
    >>> text = "Dr. Smith left at 5 p.m. Why? Reasons:\n- rain\n- J. Doe"
    >>> [text[begin:end] for begin, end in sentence_spans(text)]
    ['Dr. Smith left at 5 p.m.', 'Why?', 'Reasons:', '- rain', '- J. Doe']
    """
    ends = [end for end in sentence_ends(text) if not _is_inside(text, end)]
    if text and (not ends or ends[-1] < len(text)):
        ends.append(len(text))
    ends = sorted({*ends, *(match.end() for match in _ITEM.finditer(text))})
    spans = []
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        sentence = text[begin:end]
        if bare := sentence.strip():
            first = begin + len(sentence) - len(sentence.lstrip())
            spans.append((first, first + len(bare)))
    return spans


def _is_inside(text: str, end: int) -> bool:
    """Return whether a full stop before a position belongs to an abbreviation or to initials."""
    before = text[max(0, end - _LOOK_BACK) : end]
    if end < len(text) and _NUMBER_OF_ITEM.search(before):
        return True
    found = _LAST_WORD.search(before)
    if end >= len(text) or found is None or _BLANK_LINE.search(before, found.end(1)):
        return False
    word, goes_on = found[1].lower(), not text[end].isupper()
    if word in _ALSO_AT_END:
        return goes_on
    return word in _ABBREVIATIONS or (len(word) == 1 and found[1].isupper() and found[1] != "I")
