"""The one sentence that says first why a text is known or novel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from newfound.explanation import Word
from newfound.sides import UNCLEAR
from newfound.text.tokens import stop_words_by_language

if TYPE_CHECKING:
    from newfound.detection.verdict import Verdict

__all__ = ["NO_WORDS", "headline", "known_like", "without_stop_words"]

NO_WORDS = "Unclear: the text has no words."
_EMPTY = "Unclear: the text is empty."
_NAMED = 3  # words that a sentence names
_SLIGHT = 0.3  # share of what the first word adds, below which a word is not named


def headline(verdict: Verdict) -> str:
    """Return why a text is known or novel in one sentence."""
    nearest = verdict.nearest if verdict.is_of_class else None
    if verdict.verdict == UNCLEAR:
        return _EMPTY if verdict.status == "empty" else NO_WORDS
    if verdict.verdict == "known":
        named = [word.word for word in verdict.telling if word.contribution < 0]
        return _ended(known_like(nearest, named[:_NAMED]), verdict)
    found = verdict.telling
    content = tuple(without_stop_words(found, verdict.scorer.vectorizer.language))
    if content and content == found[: len(content)]:  # they suffice
        found = content
    most = found[0].contribution if found else 0.0
    words = [word for word in found[:_NAMED] if word.contribution >= _SLIGHT * most]
    return _ended(f"New: {_what_is_new(verdict, words)}{_nearest(verdict)}", verdict)


def known_like(nearest: object, words: Sequence[str] = ()) -> str:
    """Return what a known text is like, without a full stop.

    Examples
    --------
    >>> known_like("change_pin", ["pin", "card"])
    'Known: like *change_pin*: *pin*, *card*'
    >>> known_like(None)
    'Known: like known documents'
    """
    like = "known documents" if nearest is None else f"*{nearest}*"
    return f"Known: like {like}{': ' if words else ''}{_listed(words)}"


def without_stop_words(words: Sequence[Word], language: str) -> list[Word]:
    """Return the words that are no stop words of the language."""
    listed = stop_words_by_language().get(language, frozenset())
    return [word for word in words if word.word not in listed]


def _what_is_new(verdict: Verdict, words: Sequence[Word]) -> str:
    """Return what the first words have in common that makes them new, and what the others have."""
    if not words:
        pairs = _listed(verdict.new_pairs[:_NAMED])
        return f"{pairs} never together before" if pairs else "little that known documents have"
    by_role: dict[str, list[str]] = {}
    for word in words:
        by_role.setdefault(word.role, []).append(word.word)
    near = f"*{verdict.nearest}*" if verdict.is_of_class and verdict.is_near else None
    others = "known documents of other kinds only" if near is None else "other classes only"
    said = []
    for role, names in by_role.items():
        many = len(names) > 1
        what = {
            "never": f"{'do' if many else 'does'} not occur in known documents",
            "elsewhere": f"occur{'' if many else 's'} in {others}",
        }.get(role, f"{'are' if many else 'is'} unusual {f'in {near}' if near else 'here'}")
        said.append(f"{_listed(names)} {what}")
    return "; ".join(said)


def _nearest(verdict: Verdict) -> str:
    """Return the nearest class, where it is near, and how few known documents are as unlike."""
    if not verdict.is_of_class or not verdict.is_near:
        return ""
    rare = f"{_percent(verdict.p_value)} of known documents are as unusual"
    return f"; nearest is *{verdict.nearest}* ({rare})"


def _percent(p: float) -> str:
    """Return a p-value in per cent.

    Examples
    --------
    >>> _percent(0.004), _percent(0.048), _percent(0.3)
    ('0.4 %', '4.8 %', '30 %')
    """
    return f"{100 * p:.2g} %"


def _ended(sentence: str, verdict: Verdict) -> str:
    remark = {
        "short": ". It is too short to be of a class.",
        "unlike": ". Few of its words are known: another subject or language?",
    }.get(verdict.status, ".")
    return sentence + remark


def _listed(words: Sequence[str]) -> str:
    return ", ".join(f"*{word}*" for word in words)
