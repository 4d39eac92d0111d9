"""Why one text is known or novel: words, rules, and what would have to go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from newfound.marks import Mark, MarkedText
from newfound.table import jsonable

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector

__all__ = ["FiredRule", "Verdict", "WordReason"]

_MOST_MARKED = 20_000  # characters that are shown with marks; the rest of a long text is cut
_MOST_SCORED = 10_000_000  # characters of all the texts that a counterfactual scores
_CANDIDATES = 24
_MOST_REMOVED = 60


@dataclass(frozen=True, slots=True)
class WordReason:
    """A word of the text and what it adds to the novelty.

    `contribution` is above 0 where the word speaks for new. `documents` known documents have the
    word, `in_class` of them are of the nearest class; both are 0 for a word never seen. What a pair
    of neighbouring words adds is shared between the two. `spans` are the places of the word.
    """

    word: str
    contribution: float
    documents: int
    in_class: int
    spans: tuple[tuple[int, int], ...]

    @property
    def seen(self) -> str:
        """Where it was seen: "here" (in the nearest class), "elsewhere" or "never"."""
        return "never" if not self.documents else "here" if self.in_class else "elsewhere"


@dataclass(frozen=True, slots=True)
class FiredRule:
    """A rule of the nearest class that the text matches, or `missing` one word to match."""

    words: tuple[str, ...]
    without: tuple[str, ...]
    speaks_for: bool
    matches: int
    agrees: int
    missing: str | None = None

    def __str__(self) -> str:
        return " AND ".join((*self.words, *(f"NOT {word}" for word in self.without)))


@dataclass(frozen=True)
class Verdict(MarkedText):
    """What a detector has to say about one text.

    Attributes
    ----------
    text : str
        The text, as it was given.
    status : str
        "ok"; "unlike" where most words were never seen, as in another language; "short" for a
        text of one word, on which little can be said; "empty" for one without any character that
        shows; "no words" for one that holds no words to go by.
    verdict : str
        "known", "novel", or "unclear" where there are no words.
    novelty, threshold, p_value, alpha : float
        The score, above which score it is novel, how rare so high a score is among known
        documents, and the rate of false alarms asked for.
    nearest : object
        The nearest known class.
    words : tuple of WordReason
        Its words with what they add, those that speak most for new first.
    base : float
        What no word adds; ``base + sum of contributions == novelty``.
    parts : dict of str to float
        What each part of the score adds, `base` included; they add up to the novelty, too.
    new_pairs : tuple of str
        Known words that were never neighbours before.
    fired, nearly : tuple of FiredRule
        The rules of the nearest class that match, and those that lack a single word.
    """

    text: str
    status: str
    verdict: str
    novelty: float
    threshold: float
    p_value: float
    alpha: float
    nearest: Any
    words: tuple[WordReason, ...]
    base: float
    parts: dict[str, float]
    new_pairs: tuple[str, ...]
    fired: tuple[FiredRule, ...]
    nearly: tuple[FiredRule, ...]
    most_shown: ClassVar[int | None] = _MOST_MARKED
    _detector: NoveltyDetector = field(repr=False, compare=False)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The words that no known document has."""
        return tuple(word.word for word in self.words if word.seen == "never")

    @cached_property
    def counterfactual(self) -> tuple[str, ...] | None:
        """The smallest set of words found without which the text would be known.

        Empty for a text that is known, None where it is still novel when as many words as are tried
        are gone: all but one or 60, and fewer in a long text (20 in one of 20,000 characters).
        Found by taking away the word that helps most, again and again, and then putting back every
        word that need not go; the text is scored anew each time.
        """
        if self.verdict != "novel":
            return ()
        return _counterfactual(self, self._tried)

    @property
    def _tried(self) -> int:
        """How many words a counterfactual takes away at most."""
        affordable = _MOST_SCORED // (_CANDIDATES * max(len(self.text), 1))
        return min(len(self.words) - 1, _MOST_REMOVED, affordable)

    def without(self, words: Sequence[str]) -> str:
        """Give the text without some of its words."""
        cuts = sorted(span for word in self.words if word.word in words for span in word.spans)
        pieces, position = [], 0
        for start, end in cuts:
            pieces.append(self.text[position:start])
            position = max(end, position)
        return "".join((*pieces, self.text[position:]))

    def reasons(self, n: int = 3) -> str:
        """Say in a few words why."""
        if self.verdict == "unclear":
            return self.status
        if self.verdict == "known":
            best = [w.word for w in sorted(self.words, key=lambda w: w.contribution)[:n]]
            return f"like {self.nearest}: {', '.join(best)}"
        said = []
        for word in [w for w in self.words if w.contribution > 0][:n]:
            where = {"never": "never seen", "elsewhere": f"not in {self.nearest}"}.get(word.seen)
            said.append(f"{word.word} ({where})" if where else word.word)
        if not said and self.new_pairs:
            said = [f"new together: {pair}" for pair in self.new_pairs[:n]]
        return ", ".join(said) or "little in common with known documents"

    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        """Give all of it as plain data, with all rules or only the first ones."""

        def rule(r: FiredRule) -> dict[str, Any]:
            return {name: getattr(r, name) for name in FiredRule.__slots__}

        words = [
            {**{name: getattr(w, name) for name in WordReason.__slots__}, "seen": w.seen}
            for w in self.words
        ]
        data: dict[str, Any] = jsonable(
            {
                "text": self.text,
                "status": self.status,
                "verdict": self.verdict,
                "novelty": self.novelty,
                "threshold": self.threshold,
                "p_value": self.p_value,
                "alpha": self.alpha,
                "nearest": self.nearest if self.verdict != "unclear" else None,
                "base": self.base,
                "parts": self.parts,
                "words": words,
                "unseen": self.unseen,
                "new_pairs": self.new_pairs,
                "counterfactual": self.counterfactual,
                "rules": [rule(r) for r in self.fired[:max_rules]],
                "nearly": [rule(r) for r in self.nearly[:max_rules]],
            }
        )
        return data

    def summary(self) -> str:
        """Say the verdict in one sentence."""
        if self.status == "empty":
            return "unclear: the text is empty"
        if self.status == "no words":
            return "unclear: the text has no words to go by"
        remark = {
            "short": "; one word only, so do not rely on it",
            "unlike": "; few of its words are known: another language?",
        }.get(self.status, "")
        return (
            f"{self.verdict} (p = {self.p_value:.3g}, novelty {self.novelty:.2f}, novel above "
            f"{self.threshold:.2f}); nearest class: {self.nearest}{remark}"
        )

    def lines(self, n: int = 5) -> Iterator[str]:
        """Return the reasons, a line each."""
        if self.verdict == "unclear":
            return
        for side, sign in (("new", 1), ("known", -1)):
            spoken = sorted(self.words, key=lambda w: -sign * w.contribution)
            best = [w for w in spoken if sign * w.contribution > 0.005][: 2 * n]
            if best:
                adds = ", ".join(f"{w.word} {w.contribution:+.2f}" for w in best)
                yield f"speaks for {side}: {adds}"
        yield f"speaks for neither, being no word's: {self.base:+.2f}"
        for name, found in (("never seen", self.unseen), ("new together", self.new_pairs)):
            if found:
                yield f"{name}: {', '.join(found[: 2 * n])}"
        told = [(rule, votes) for rule, votes in _folded(self.fired) if rule.words]
        for rule, votes in told[:n]:
            side = "for" if rule.speaks_for else "against"
            count = f"{votes} rules" if votes > 1 else "a rule"
            right = f"{rule.agrees:,} of {rule.matches:,} right"
            yield f"{count} {side} {self.nearest}: {_short(rule)} ({right})"
        for rule, _ in _folded(self.nearly)[:n]:
            yield f"nearly a rule for {self.nearest}: {_short(rule)}; {rule.missing} is missing"
        if self.verdict == "novel":
            yield self._would_be_known()

    def _would_be_known(self) -> str:
        gone, tried = self.counterfactual, self._tried
        if gone is not None:
            return f"would be known without: {', '.join(gone)}"
        if tried == len(self.words) - 1:
            return "would stay novel unless all its words were gone"
        if not tried:
            return "too long to try which words would have to go"
        return f"more than {tried} words would have to go, as far as was tried"

    def marks(self) -> Sequence[Mark]:
        """Return a mark for each place of a word; the strongest word has the full colour."""
        strongest = max((abs(w.contribution) for w in self.words), default=0.0) or 1.0
        return [
            Mark(
                start,
                end,
                word.contribution / strongest,
                f"{word.word}: {word.contribution:+.2f}, {_seen(word)}",
                underlined=word.seen == "never",
            )
            for word in self.words
            for start, end in word.spans
        ]


def _seen(word: WordReason) -> str:
    if not word.documents:
        return "in no known document"
    return f"in {word.in_class:,} of this class, {word.documents:,} of all known documents"


def _folded(rules: tuple[FiredRule, ...]) -> list[tuple[FiredRule, int]]:
    """Give one rule for all that ask for the same words, the best one, and how many there are."""
    groups: dict[Any, list[FiredRule]] = {}
    for rule in rules:
        groups.setdefault((rule.words, rule.speaks_for, rule.missing), []).append(rule)
    return [(alike[0], len(alike)) for alike in groups.values()]


def _short(rule: FiredRule, n: int = 3) -> str:
    """Write a rule with its first negated words."""
    parts = [*rule.words, *(f"NOT {word}" for word in rule.without[:n])]
    more = len(rule.without) - n
    return " AND ".join(parts) + (f" AND NOT {more} more" if more > 0 else "")


def _counterfactual(verdict: Verdict, most: int) -> tuple[str, ...] | None:
    detector = verdict._detector
    order = [word.word for word in verdict.words]

    def margins(removals: list[list[str]]) -> Any:
        """Give how far above its threshold the text is without some words."""
        texts = [verdict.without(gone) for gone in removals]
        novelty, nearest, bags = detector._scored(texts)
        limits = np.array([detector.calibration_.threshold(k) for k in nearest.tolist()])
        return np.where(bags.n_words > 0, novelty - limits, np.inf)

    gone: list[str] = []
    while len(gone) < most:
        left = [word for word in order if word not in gone][:_CANDIDATES]
        found = margins([[*gone, word] for word in left])
        best = int(found.argmin())
        gone.append(left[best])
        if found[best] <= 0:
            break
    else:
        return None
    for word in gone[:-1]:
        fewer = [other for other in gone if other != word]
        if margins([fewer])[0] <= 0:
            gone = fewer
    return tuple(gone)
