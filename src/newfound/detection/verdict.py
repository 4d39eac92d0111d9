"""The explanation of one text: why it is known or novel, and which words would change that."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from newfound.detection.calibration import Calibration
from newfound.detection.headline import headline, without_stop_words
from newfound.detection.scoring import CANDIDATES, Scorer, WordSequence
from newfound.detection.split import has_classes
from newfound.explanation import Explanation, Word
from newfound.marks import counted
from newfound.rules import Rule
from newfound.sides import UNCLEAR
from newfound.table import jsonable
from newfound.text.tokens import UNSPACED

__all__ = ["Verdict", "is_plain", "smallest_removal"]

# Where cutting out a word can change how its neighbours are read: signs that join words, if nothing
# is left on one side, and all but common punctuation.
_ODD = re.compile(r"_|[^\w\s!-~‘’“”–—…£€]|(?<![^\W_])['’-]|['’-](?![^\W_])|\d['’-]\d", re.UNICODE)


def is_plain(text: str) -> bool:
    """Return whether words can be cut out of a text, and the others are read as before.

    Examples
    --------
    >>> [is_plain(text) for text in ("Don't pay, please", "the 'best' card", "6-4", "a -- b")]
    [True, False, False, False]
    """
    return not (_ODD.search(text) or UNSPACED.search(text))


def smallest_removal(
    words: Sequence[str], margins: Callable[[Sequence[Sequence[str]]], Any], most: int
) -> tuple[str, ...] | None:
    """Find a small set of words to remove until a margin is not above 0.

    A greedy search: the word whose removal lowers the margin most is removed, again and again.
    Then every word that need not be removed is put back.

    The words to try first are in front. `margins` returns the margin after the removal of each of
    some sets of words; `most` is how many words may be removed. None if the margin stays above 0.

    Examples
    --------
    >>> weights = {"a": 3, "b": 1, "c": 2}
    >>> def margins(removals):
    ...     return [4 - sum(weights[word] for word in removed) for removed in removals]
    >>> smallest_removal(["b", "a", "c"], margins, 3)
    ('a', 'c')
    >>> smallest_removal(["b", "a", "c"], margins, 1) is None
    True
    """
    removed: list[str] = []
    while len(removed) < most:
        left = [word for word in words if word not in removed][:CANDIDATES]
        found = list(margins([[*removed, word] for word in left]))
        best = min(range(len(found)), key=found.__getitem__)
        removed.append(left[best])
        if found[best] <= 0:
            break
    else:
        return None
    for word in removed[:-1]:
        fewer = [other for other in removed if other != word]
        if margins([fewer])[0] <= 0:
            removed = fewer
    return tuple(removed)


_MAX_MARKED = 20_000  # characters that are shown with marks; the rest of a long text is cut off
_MAX_SCORED = 10_000_000  # characters of all the texts that a counterfactual scores
_MAX_REMOVED = 60  # words that a counterfactual removes
_MAX_REMOVED_ENCODED = 5  # where each text that is scored is encoded
_SHOWN = 5  # rules that are shown, and half of the words
_PRECISE = 0.5  # the least share of its documents that are of the class, of a rule that is shown


@dataclass(frozen=True, kw_only=True)
class Verdict(Explanation):
    """Why a text is known or novel, according to a detector.

    The contribution of a word is measured against what a word of its weight brings in an average
    known document of the same length. The contributions add up to the novelty; `baseline` is what
    is left for a text without words. A pair of neighbouring words adds half of its contribution to
    each of the two. `rules` are those of the nearest class, or of the nearest group, that the text
    matches; `count` is the weight of each. Those of a group do not change the novelty.

    Attributes
    ----------
    status : str
        "ok"; "unlike" if most words were never seen, as in another language; "short" for a text of
        one word or of small talk, which is of no class; "empty" for a text without visible
        characters; "no words" for a text without words.
    novelty, threshold, p_value, alpha : float
        The score; the score above which the text is novel; how rare so high a score is among known
        documents; and the false-alarm rate.
    nearest : object
        The nearest known class; without labels "known", and None in `to_dict`.
    parts : dict of str to float
        What each part of the score adds; the sum is the novelty.
    new_pairs : tuple of str
        Pairs of known words that were never neighbours before.
    read_as : dict of str to str
        Words that look like typing errors, and the known spelling that each was read as.
    nearest_group : str or None
        Without labels: the group of known documents that most rules vote for, by its words.
    decided_by : str
        Who named the nearest class: "rules" or "linear classifier".
    nearly : tuple of (Rule, str)
        The rules that it would match if it had one more word, and the word.
    most_like : str or None
        With an encoder: the held-back known document that is most like the text.
    sequence : WordSequence
        The words of the text in their order, for `counterfactual`.
    scorer : Scorer
        Scores the text without some of its words, for `counterfactual`.
    calibration : Calibration
        Turns these scores into verdicts.
    """

    most_shown: ClassVar[int | None] = _MAX_MARKED

    status: str
    novelty: float
    threshold: float
    p_value: float
    alpha: float
    nearest: Any
    parts: dict[str, float]
    new_pairs: tuple[str, ...]
    read_as: dict[str, str]
    nearest_group: str | None
    decided_by: str
    nearly: tuple[tuple[Rule, str], ...]
    most_like: str | None = None
    sequence: WordSequence = field(repr=False, compare=False)
    scorer: Scorer = field(repr=False, compare=False)
    calibration: Calibration = field(repr=False, compare=False)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The words that no known document has."""
        return tuple(word.word for word in self.words if word.role == "never")

    @cached_property
    def counterfactual(self) -> tuple[str, ...] | None:
        """The smallest set of words found without which the text would be known.

        Empty for a text that is known. None if the text is still novel after the maximum number of
        words is removed: all but one or 60, and fewer in a long text (20 in one of 20,000
        characters); five with an encoder. Found by a greedy search that scores the text without the
        words each time; see `newfound.detection.verdict`. Words that suggest known are removed only
        if those that suggest novel do not suffice.
        """
        if self.verdict != "novel":
            return ()
        if is_plain(self.text) and self.scorer.meaning is None:
            found = self._searched(self._in_core)
            # What is left may be split into other parts: fewer blank lines, a new farewell.
            if found is None or self._margins([found])[0] <= 0:
                return found
        return self._searched(lambda words, most: smallest_removal(words, self._margins, most))

    def _searched(
        self, search: Callable[[Sequence[str], int], tuple[str, ...] | None]
    ) -> tuple[str, ...] | None:
        """Search among the words that suggest novel, and then among all.

        Of sets of the same size, one of words that the nearest class does not have is preferred.
        """
        novel = [word.word for word in self.words if word.contribution > 0]
        found = search(novel, min(self._tried, len(novel)))
        if found is None and len(novel) < self._tried:
            found = search([word.word for word in self.words], self._tried)
        roles = {word.word: word.role for word in self.words}
        for preferred in (("never",), ("never", "elsewhere")):
            new = [word for word in novel if roles[word] in preferred]
            if not found or all(roles[word] in preferred for word in found):
                break
            if len(new) >= len(found) and (other := search(new, len(found))) is not None:
                return other
        return found

    def _in_core(self, words: Sequence[str], most: int) -> tuple[str, ...] | None:
        return self.scorer.smallest_removal(self.sequence, words, most, self.calibration)

    def _margins(self, removals: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Return how far above its threshold the text is, without each of some sets of words."""
        scores = self.scorer.score_texts([self.without(words) for words in removals])
        margins = scores.novelty - self.calibration.thresholds(scores.nearest)
        return np.where(scores.has_words, margins, np.inf)

    @property
    def _tried(self) -> int:
        """The maximum number of words that a counterfactual removes."""
        affordable = _MAX_SCORED // (CANDIDATES * max(len(self.text), 1))
        most = _MAX_REMOVED if self.scorer.meaning is None else _MAX_REMOVED_ENCODED
        return min(len(self.words) - 1, most, affordable)

    def without(self, words: Sequence[str]) -> str:
        """Return the text without some of its words."""
        cuts = sorted(span for word in self.words if word.word in words for span in word.spans)
        pieces, position = [], 0
        for start, end in cuts:
            pieces.append(self.text[position:start])
            position = max(end, position)
        return "".join((*pieces, self.text[position:]))

    @property
    def sentence(self) -> str:
        """The verdict and its main reason in one sentence; words are in asterisks."""
        return headline(self)

    @cached_property
    def telling(self) -> tuple[Word, ...]:
        """The words that the verdict is due to, in the order in which they are named.

        Of a novel text those that add to the novelty, the strongest first, and of a known one those
        that lower it. Stop words are last, unless the text would be known without what they add.
        """
        if self.verdict == "known":
            found = sorted((w for w in self.words if w.contribution < 0), key=_contribution)
        else:
            found = [word for word in self.words if word.contribution > 0]
        content = without_stop_words(found, self.scorer.vectorizer.language)
        others = [word for word in found if word not in content]
        if self.verdict == "novel":
            rest = self.novelty - math.fsum(word.contribution for word in others)
            if rest <= self.threshold:
                return tuple(found)
        return (*content, *others)

    @cached_property
    def useful_rules(self) -> tuple[Rule, ...]:
        """The rules for the nearest class that a person can use, at most five.

        Half of the known documents that such a rule matches are of the class, or more, and it has a
        word that is no stop word.
        """
        return tuple(rule for rule in self.rules if self._is_useful(rule))[:_SHOWN]

    def _is_useful(self, rule: Rule) -> bool:
        words = [Word(word, 0.0, (), "") for word in rule.plain]
        return (
            rule.polarity > 0
            and rule.precision >= _PRECISE
            and bool(without_stop_words(words, self.scorer.vectorizer.language))
        )

    @property
    def is_near(self) -> bool:
        """Whether the nearest class is near: the text is known, or a useful rule matches."""
        return self.verdict == "known" or (self.verdict == "novel" and bool(self.useful_rules))

    def reason_data(self, n: int = 3) -> tuple[dict[str, Any], ...]:
        """Return the first of the words that make it novel as plain data.

        `seen` is "never" for a word that no known document has, "elsewhere" for one that the
        nearest class does not have, and "here" for one that it has.
        """
        return tuple(
            {"word": word.word, "contribution": word.contribution, "seen": word.role}
            for word in self.telling[:n]
            if word.contribution > 0
        )

    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        """Return all of it as plain data, with all rules or only the first ones."""
        removed = self.counterfactual
        return {
            "text": self.text,
            "status": self.status,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "novelty": jsonable(self.novelty),
            "threshold": jsonable(self.threshold),
            "p_value": jsonable(self.p_value),
            "alpha": self.alpha,
            "nearest": jsonable(self.nearest) if self.is_of_class else None,
            "base": jsonable(self.baseline),
            "parts": jsonable(self.parts),
            "words": [_word_data(word) for word in self.words],
            "unseen": list(self.unseen),
            "new_pairs": list(self.new_pairs),
            "read_as": self.read_as,
            "nearest_group": self.nearest_group,
            "decided_by": self.decided_by if self.is_of_class else None,
            "counterfactual": None if removed is None else list(removed),
            "rules": [_rule_data(rule) for rule in self.rules[:max_rules]],
            **({} if self.most_like is None else {"most_like": self.most_like}),
            "nearly": [_rule_data(rule, missing) for rule, missing in self.nearly[:max_rules]],
        }

    def summary(self) -> str:
        """Return the figures of the verdict; empty for a text without words."""
        if self.verdict == UNCLEAR:
            return ""
        return (
            f"p = {self.p_value:.3g}, novelty {self.novelty:.2f}, novel above "
            f"{self.threshold:.2f}{self._nearest}"
        )

    @property
    def has_classes(self) -> bool:
        """Whether known documents have classes; without labels they have none."""
        return has_classes(self.scorer.classes)

    @property
    def is_of_class(self) -> bool:
        """Whether a nearest class is claimed: not without labels, without words, or if short."""
        return self.has_classes and self.verdict != UNCLEAR and self.status != "short"

    @property
    def _nearest(self) -> str:
        """What the text is nearest to: a class or, without classes, a group if one was found."""
        if self.is_of_class and not self.is_near:
            return "; no known class is near"
        if self.is_of_class:
            by = f", by {self.decided_by}" if len(self.scorer.classes) > 1 else ""
            return f"; nearest class: {self.nearest}{by}"
        if not self.has_classes and self.nearest_group is not None:
            return f"; nearest group of known documents: {self.nearest_group}"
        return ""

    def lines(self) -> Iterator[str]:
        """Return the reasons, a line each."""
        if self.verdict == UNCLEAR:
            return
        if self.most_like is not None:
            yield f"most like: {self.most_like!r:.120}"
        for side, sign in (("novel", 1), ("known", -1)):
            strongest = sorted(self.words, key=lambda w: -sign * w.contribution)
            best = [w for w in strongest if sign * w.contribution > 0.005][: 2 * _SHOWN]
            if best:
                adds = ", ".join(f"{w.word} {w.contribution:+.2f}" for w in best)
                yield f"words that suggest {side}: {adds}"
        corrected = tuple(f"{form} as {known}" for form, known in self.read_as.items())
        for name, found in (
            ("read as known words", corrected),
            ("words never seen", self.unseen),
            ("known words never seen together", self.new_pairs),
        ):
            if found:
                yield f"{name}: {', '.join(found[: 2 * _SHOWN])}"
        yield from self._rule_lines()
        if self.verdict == "novel":
            yield self._counterfactual_line()

    def _rule_lines(self) -> Iterator[str]:
        for rule in self.useful_rules:
            share = f"{rule.support:,} of {rule.n_matches:,} known documents with it"
            yield f"rule for {rule.class_name}: {rule.conditions()} ({share})"
        nearly = [found for found in self.nearly if self.is_near and self._is_useful(found[0])]
        for rule, missing in nearly[: _SHOWN - len(self.useful_rules)]:
            yield f"nearly a rule for {rule.class_name}: {rule.conditions()}; {missing} is missing"

    def _counterfactual_line(self) -> str:
        removed, tried = self.counterfactual, self._tried
        if removed is not None:
            line = f"would be known without: {', '.join(removed)}"
            known = [w.word for w in self.words if w.word in removed and w.contribution <= 0]
            if known:
                line += (
                    f" (without {', '.join(known)}, which suggests known by itself, another class "
                    "is nearer or other rules match)"
                    if self.has_classes
                    else f" ({', '.join(known)} suggests known by itself)"
                )
            return line
        if tried == len(self.words) - 1:
            return "would stay novel unless all its words were removed"
        if not tried:
            return "too long to search for words whose removal makes it known"
        return f"would stay novel without {tried} words, the most that were tried"

    def _seen(self, word: Word) -> str:
        if not word.documents:
            return "in no known document"
        if not self.has_classes:
            return f"in {counted(word.documents, 'known document')}"
        return f"in {word.in_class:,} of this class, {word.documents:,} of all known documents"

    def mark(self, word: Word) -> tuple[float, str]:
        """Colour a word by what it adds; the strongest word has the full colour."""
        title = f"{word.word}: {word.contribution:+.2f}, {self._seen(word)}"
        return word.contribution / self._strongest, title

    @cached_property
    def _strongest(self) -> float:
        return max((abs(word.contribution) for word in self.words), default=0.0) or 1.0


def _contribution(word: Word) -> float:
    return word.contribution


def _word_data(word: Word) -> dict[str, Any]:
    return {
        "word": word.word,
        "contribution": jsonable(word.contribution),
        "documents": word.documents,
        "in_class": word.in_class,
        "spans": [list(span) for span in word.spans],
        "seen": word.role,
    }


def _rule_data(rule: Rule, missing: str | None = None) -> dict[str, Any]:
    return {
        "words": list(rule.plain),
        "weight": rule.polarity * rule.count,
        "speaks_for": rule.polarity > 0,
        "matches": rule.n_matches,
        "agrees": rule.support,
        "missing": missing,
    }
