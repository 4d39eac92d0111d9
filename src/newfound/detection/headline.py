"""The one sentence that says first why a text is known or novel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from newfound.explanation import Word
from newfound.sides import UNCLEAR
from newfound.text.tokens import fold, stop_words_by_language

if TYPE_CHECKING:
    from newfound.detection.verdict import Verdict

__all__ = ["NO_WORDS", "headline", "known_like", "without_stop_words"]

NO_WORDS = "Unclear: the text has no words."
_EMPTY = "Unclear: the text is empty."
_NAMED = 3  # words that a sentence names
_ONLY_JUST = 2.0  # times alpha, of the p-value of a text that is known, but nearly new
_FEW = 3  # known documents with a word that is rare
_SLIGHT = 0.3  # share of what the first word adds, below which a word is not named


def headline(verdict: Verdict) -> str:
    """Return why a text is known or novel in one sentence."""
    nearest = verdict.nearest if verdict.is_of_class else None
    language = verdict.scorer.vectorizer.language
    if verdict.verdict == UNCLEAR:
        return _EMPTY if verdict.status == "empty" else NO_WORDS
    found = verdict.telling
    content = tuple(without_stop_words(found, language))
    if verdict.verdict == "known":
        named = [_written(verdict, word) for word in content if word.contribution < 0]
        only_just = verdict.p_value <= _ONLY_JUST * verdict.alpha
        like = known_like(nearest, named[:_NAMED], only_just=only_just)
        never = [word for word in verdict.words if word.role == "never"] if only_just else []
        names = [_written(verdict, word) for word in without_stop_words(never, language)]
        unseen = f"; {_never(names[:_NAMED])}" if names else ""
        return _ended(f"{like}{unseen}", verdict)
    if content and content == found[: len(content)]:  # they suffice
        found = content
    most = found[0].contribution if found else 0.0
    words = [word for word in found[:_NAMED] if word.contribution >= _SLIGHT * most]
    return _ended(f"New: {_what_is_new(verdict, words)}{_nearest(verdict)}", verdict)


def _written(verdict: Verdict, word: Word) -> str:
    """Return a word as the text has it, in asterisks, and how a typing error was read."""
    if not word.spans:
        return f"*{word.word}*"
    start, end = word.spans[0]
    form = verdict.text[start:end]
    read = verdict.read_as.get(fold(form))
    return f"*{form}*" if read is None else f"*{form}* (read as *{read}*)"


def known_like(nearest: object, words: Sequence[str] = (), *, only_just: bool = False) -> str:
    """Return what a known text is like, without a full stop.

    Examples
    --------
    >>> known_like("change_pin", ["*pin*", "*card*"])
    'Known: like *change_pin*: *pin*, *card*'
    >>> known_like(None, only_just=True)
    'Known, but only just: like known documents'
    """
    known = "Known, but only just" if only_just else "Known"
    like = "known documents" if nearest is None else f"*{nearest}*"
    return f"{known}: like {like}{': ' if words else ''}{', '.join(words)}"


def without_stop_words(words: Sequence[Word], language: str) -> list[Word]:
    """Return the words that are no stop words of the language."""
    listed = stop_words_by_language().get(language, frozenset())
    return [word for word in words if word.word not in listed]


def _what_is_new(verdict: Verdict, words: Sequence[Word]) -> str:
    """Return what the first words have in common that makes them new, and what the others have."""
    if not words:
        pairs = ", ".join(f"*{pair}*" for pair in verdict.new_pairs[:_NAMED])
        return f"{pairs} never together before" if pairs else "little that known documents have"
    by_reason: dict[tuple[str, str], list[str]] = {}
    for word in words:
        by_reason.setdefault(_reason(verdict, word), []).append(_written(verdict, word))
    said = []
    for (reason, where), names in by_reason.items():
        many = len(names) > 1
        if reason == "never":
            said.append(_never(names))
            continue
        what = {
            "few": "are in few known documents" if many else f"is in {where} only",
            "typical": f"{'are' if many else 'is'} typical of {where}",
            "elsewhere": f"occur{'' if many else 's'} in other classes only",
            "unusual": f"{'are' if many else 'is'} unusual in {where}",
            "together": "are unusual together" if many else "is unusual with the other words",
        }[reason]
        said.append(f"{', '.join(names)} {what}")
    return "; ".join(said)


def _never(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'do' if len(names) > 1 else 'does'} not occur in known documents"


def _reason(verdict: Verdict, word: Word) -> tuple[str, str]:
    """Return why a word makes a text new, and where the word is usual or unusual."""
    if word.role == "never":
        return "never", ""
    if word.role == "elsewhere" and word.documents <= _FEW:
        one = word.documents == 1
        return "few", f"{word.documents} known document{'' if one else 's'}"
    near = f"*{verdict.nearest}*" if verdict.is_of_class and verdict.is_near else ""
    if word.role == "elsewhere" and verdict.has_classes:
        home = verdict.scorer.home_of(word.word)
        if home is not None:
            return "typical", f"*{home}*"
        if near:
            return "elsewhere", ""
    return ("unusual", near) if near else ("together", "")


def _nearest(verdict: Verdict) -> str:
    """Return the nearest class, where it is near, and how few known documents are as unlike."""
    if not verdict.is_of_class or not verdict.is_near:
        return ""
    rare = f"but only {_percent(verdict.p_value)} of known documents are as unusual"
    return f"; nearest is *{verdict.nearest}*, {rare}"


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
