"""Why a text is known or novel: its words, the rules it matches, the votes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from newfound.arithmetic import log
from newfound.description.calibration import VerdictCalibration
from newfound.description.words import WordTable
from newfound.marks import Mark, MarkedText, counted
from newfound.rules import ClauseTable, readable_rules
from newfound.sides import PLAIN_NAMES, Names
from newfound.table import jsonable
from newfound.text.tokens import words_and_breaks
from newfound.text.validation import check_texts
from newfound.text.vectorizer import TextVectorizer

__all__ = ["Explanation", "Mention", "explain"]

# The logarithms of the scores from which a word has a colour, and the full colour.
_FAINT, _FULL = log(2.0), log(16.0)
_FULL_ODDS = 0.25  # the least log-odds of the strongest word of a text that have the full colour
_RULES_SHOWN, _RULE_LENGTH, _WORDS_SHOWN = 5, 150, 8


@dataclass(frozen=True)
class Mention:
    """A word of a text, and where it is: ``text[start:end] == surface``.

    `word`, `score` and `role` are those of the table of words; a word of one group only has that
    group as its role. A word that is not in the table has the score nan and the role "unknown", or
    "stop word".
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
        return log(self.score) if self.score > 0 else 0.0


@dataclass(frozen=True)
class Explanation(MarkedText):
    """Why a text is known or novel, according to a describer.

    Attributes
    ----------
    text : str
        The text, as it was given.
    words : tuple of Mention
        The words in the vocabulary, in order.
    unknown : tuple of Mention
        The words that are not in it, without stop words.
    stop_words : tuple of Mention
        Its stop words, where these count in the verdict.
    rules : ClauseTable
        The rules that the text matches, merged and sorted as in ``clauses_``.
    votes : dict of str to int
        The number of matching clauses that vote for "known" and for "novel".
    probability : float
        The probability of novel, if both sides were equally frequent; learned from documents that
        were held out. nan if it cannot be told: the text has no word of the vocabulary and no stop
        word that counts, or no documents were held out. 0.5 for every text if documents that were
        held out could not be told apart. Its log-odds are the sum of the next three.
    contributions : dict of str to float
        What each word adds to the log-odds of novel, the strongest first.
    rules_evidence : float
        What the votes of the rules that have a word of the text add. Rules of absent words only
        match almost any short text; they count in `votes`, not here.
    baseline : float
        The log-odds of a text with an even vote whose words say nothing.
    names : Names
        What the two sides are called in the sentences.
    """

    faint: ClassVar[float] = _FAINT / _FULL

    text: str
    words: tuple[Mention, ...]
    unknown: tuple[Mention, ...]
    rules: ClauseTable
    votes: dict[str, int]
    probability: float = math.nan
    contributions: dict[str, float] = field(default_factory=dict)
    rules_evidence: float = 0.0
    baseline: float = 0.0
    names: Names = PLAIN_NAMES
    stop_words: tuple[Mention, ...] = ()

    @property
    def verdict(self) -> str:
        """The more probable side; without a probability, that with more votes; or "undecided"."""
        if not self.words and not self.stop_words:
            return "undecided"
        lead: float = self.votes["novel"] - self.votes["known"]
        if not math.isnan(self.probability):
            lead = self.probability - 0.5
        return "undecided" if lead == 0 else "novel" if lead > 0 else "known"

    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        """Return all of it as plain data, with all rules or only the first ones."""
        return {
            "text": self.text,
            "verdict": self.verdict,
            "probability": jsonable(self.probability),
            "votes": dict(self.votes),
            "evidence": {
                "words": dict(self.contributions),
                "rules": self.rules_evidence,
                "baseline": self.baseline,
            },
            "words": [jsonable(vars(word)) for word in self.words],
            "stop_words": [jsonable(vars(word)) for word in self.stop_words],
            "unknown": [jsonable(vars(word)) for word in self.unknown],
            "n_rules": len(self.rules),
            "rules": [rule.to_dict() for rule in self.rules[:max_rules]],
        }

    def summary(self) -> str:
        """Return the verdict and the votes in one sentence."""
        if not self.words and not self.stop_words:
            return "undecided: the text has no word of the vocabulary"
        novel, known = self.names.quoted("novel"), self.names.quoted("known")
        votes = (
            f"{counted(self.votes['novel'], 'vote')} for {novel}, {self.votes['known']:,} for "
            f"{known}, from {counted(len(self.rules), 'rule')}"
        )
        if math.isnan(self.probability):
            return f"{self._named}: {votes}"
        if self.verdict == "undecided":
            return f"undecided: held-out documents of the two sides cannot be told apart; {votes}"
        words = math.fsum(self.contributions.values())
        parts = (
            f"words {words:+.2f}, rules {self.rules_evidence:+.2f}, baseline {self.baseline:+.2f}"
        )
        sure = f"probability of {novel} {_percent(self.probability)}; log-odds: {parts}"
        with_words = self.rules[np.diff(self.rules.plain.indptr) > 0]
        n_novel = int(with_words.counts[with_words.is_novel].sum())
        return (
            f"{self._named} ({sure}): {counted(n_novel, 'vote')} for {novel}, "
            f"{int(with_words.counts.sum()) - n_novel:,} for {known}, from "
            f"{counted(len(with_words), 'rule')} with its words"
        )

    @property
    def _named(self) -> str:
        """The verdict, by the name of its side."""
        return self.verdict if self.verdict == "undecided" else self.names.quoted(self.verdict)

    def lines(self) -> Iterator[str]:
        """Return the strongest words, and the best rules of the winning side without variants."""
        if self.contributions:
            strongest = list(self.contributions.items())[:_WORDS_SHOWN]
            yield "words: " + ", ".join(f"{word} {value:+.2f}" for word, value in strongest)
        side = self.verdict
        if side == "undecided":
            return
        own = self.rules[self.rules.side == side]
        novel, known = self.names.quoted("novel"), self.names.quoted("known")
        for found in readable_rules(own, _RULES_SHOWN):
            rule = found.rule
            yield (
                f"{rule.shortened(_RULE_LENGTH)} → {self._named}  ({rule.matches_novel:,} {novel} "
                f"and {counted(rule.matches_known, f'{known} document')})"
            )

    def notes(self) -> Iterator[str]:
        """Return a sentence with the words that are not in the vocabulary."""
        if self.unknown:
            yield f"not in the vocabulary: {', '.join(_names(self.unknown))}"

    def marks(self) -> Sequence[Mark]:
        """Return a mark for each word: its colour is what it adds to the log-odds.

        Without held-out documents it is the score.
        """
        strongest = max(map(abs, self.contributions.values()), default=0.0)
        full = max(strongest, _FULL_ODDS)
        marks = []
        for word in (*self.words, *self.stop_words, *self.unknown):
            strength, title = word.leaning / _FULL, f"score {word.score:.3g}, {word.role}"
            if not math.isnan(self.probability):
                added = self.contributions.get(word.word, 0.0)
                strength, title = added / full, f"{added:+.2f}; {title}"
            marks.append(_mark(word, strength, title))
        return marks


def explain(
    text: str,
    vectorizer: TextVectorizer,
    words: WordTable,
    clauses: ClauseTable,
    set_aside: Collection[str] = (),
    calibration: VerdictCalibration | None = None,
    n_machines: int = 1,
    names: Names = PLAIN_NAMES,
) -> Explanation:
    """Explain a text by its words and the rules that it matches.

    Parameters
    ----------
    text : str
        Any text.
    vectorizer : TextVectorizer
        Splits the text into words.
    words : WordTable
        The words with their scores.
    clauses : ClauseTable
        The rules; its vocabulary has the order of the vectorizer's.
    set_aside : collection of str
        Words that were left out on purpose, such as numbers: they are not unknown.
    calibration : VerdictCalibration, optional
        What words and votes mean.
    n_machines : int, default=1
        The number of machines that vote.
    names : Names
        What the two sides are called.

    Returns
    -------
    Explanation
    """
    (text,) = check_texts([text])
    forms = list(words_and_breaks(text))
    found, unknown, columns = [], [], set()
    for token in vectorizer.tokens_of(text, forms):
        place = (token.start, token.end, token.surface, token.term)
        if token.index >= 0:
            columns.add(token.index)
            row = words.number(token.term)
            role = words["role"][row] or words["group"][row]
            found.append(Mention(*place, float(words["score"][row]), str(role)))
        elif " " not in token.term and token.term not in set_aside:
            unknown.append(Mention(*place, float("nan"), "unknown"))
    rules = clauses[clauses.matching(sorted(columns))]
    novel = int(rules.counts[rules.is_novel].sum())
    votes = {"known": int(rules.counts.sum()) - novel, "novel": novel}
    made = Explanation(text, tuple(found), tuple(unknown), rules, votes, names=names)
    if calibration is None:
        return made
    stops = _stop_words(text, forms, vectorizer, calibration)
    if not found and not stops:
        return made
    if calibration.is_empty:
        return replace(made, probability=0.5)
    with_words = rules[np.diff(rules.plain.indptr) > 0]
    signs = np.where(with_words.is_novel, 1, -1)
    lead, present = float(signs @ with_words.counts) / n_machines, sorted(columns)
    present_words = [clauses.vocabulary[column] for column in present]
    present_stops = sorted({stop.word for stop in stops})
    present += [calibration.stop_columns[word] for word in present_stops]
    contributions = calibration.contributions(present).tolist()
    added = dict(zip(present_words + present_stops, contributions, strict=True))
    return replace(
        made,
        probability=calibration.probability(lead, present),
        contributions=dict(sorted(added.items(), key=lambda pair: -abs(pair[1]))),
        rules_evidence=calibration.slope * lead,
        baseline=calibration.intercept,
        stop_words=stops,
    )


def _stop_words(
    text: str,
    forms: Iterable[tuple[int, int, str]],
    vectorizer: TextVectorizer,
    calibration: VerdictCalibration,
) -> tuple[Mention, ...]:
    """Return the stop words of a text that count in the verdict."""
    found = []
    for start, end, form in forms if calibration.stop_words else ():
        word = vectorizer.default_stop_word(form) if form else None
        if word in calibration.stop_columns and vectorizer.term(form) is None:
            found.append(Mention(start, end, text[start:end], word, math.nan, "stop word"))
    return tuple(found)


def _mark(word: Mention, strength: float, title: str) -> Mark:
    if word.role == "unknown":
        return Mark(word.start, word.end, 0.0, "not in the vocabulary", underlined=True)
    return Mark(word.start, word.end, strength, f"{word.word}: {title}")


def _percent(probability: float) -> str:
    """Return a probability in per cent; one that is not certain does not read as 0 or 100.

    Examples
    --------
    >>> _percent(0.9996), _percent(0.98), _percent(0.002)
    ('>99%', '98%', '<1%')
    """
    if 0.995 <= probability < 1:
        return ">99%"
    return "<1%" if 0 < probability < 0.005 else f"{probability:.0%}"


def _names(words: Iterable[Mention]) -> list[str]:
    return list(dict.fromkeys(word.word for word in words))
