"""Why a text is known or novel according to a describer: its words, its rules, the votes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from newfound.arithmetic import log
from newfound.description.calibration import VerdictCalibration
from newfound.explanation import BASELINE, Explanation, Sentence, Word, word_matrix
from newfound.marks import counted
from newfound.rules import ClauseTable, readable_rules
from newfound.sides import PLAIN_NAMES, UNCLEAR, Names
from newfound.table import jsonable
from newfound.text.sentences import sentence_spans
from newfound.text.tokens import words_and_breaks
from newfound.text.validation import check_texts
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["RULES", "SideExplanation", "explain", "feature_names", "word_features"]

RULES = "(rules)"  # the column of what rules add

# The logarithms of the scores from which a word has a colour, and the full colour.
_FAINT, _FULL = log(2.0), log(16.0)
_FULL_ODDS = 0.25  # the least log-odds of the strongest word of a text that have the full colour
_RULES_SHOWN, _RULE_LENGTH, _WORDS_SHOWN = 5, 150, 8
_SURE, _NAMED = 0.8, 3  # the probability from which on a verdict is sure; words of a sentence
_UNKNOWN, _STOP_WORD = "unknown", "stop word"


@dataclass(frozen=True, kw_only=True)
class SideExplanation(Explanation):
    """Why a text is known or novel, according to a describer.

    What its words add, `rules_evidence` and `baseline` are log-odds of novel. The verdict is the
    more probable side or, without a probability, that with more votes. `rules` is a `ClauseTable`,
    merged and sorted as in ``clauses_``.

    Attributes
    ----------
    votes : dict of str to int
        The number of matching clauses that vote for "known" and for "novel".
    probability : float
        The probability of novel, if both sides were equally frequent; learned from documents that
        were held out. nan if it cannot be told: the text has no word of the vocabulary and no stop
        word that counts, or no documents were held out. 0.5 for every text if documents that were
        held out could not be told apart.
    rules_evidence : float
        What the votes of the rules that have a word of the text add. Rules of absent words only
        match almost any short text; they count in `votes`, not here.
    names : Names
        What the two sides are called in the sentences.
    """

    faint: ClassVar[float] = _FAINT / _FULL

    rules: ClauseTable
    votes: dict[str, int]
    probability: float = math.nan
    rules_evidence: float = 0.0
    names: Names = PLAIN_NAMES

    @property
    def stop_words(self) -> tuple[Word, ...]:
        """Its stop words, where these count in the verdict."""
        return tuple(word for word in self.words if word.role == _STOP_WORD)

    @property
    def unknown(self) -> tuple[Word, ...]:
        """The words that are not in the vocabulary, without stop words."""
        return tuple(word for word in self.words if word.role == _UNKNOWN)

    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        """Return all of it as plain data, with all rules or only the first ones."""
        learned = [word for word in self.words if word.role not in (_STOP_WORD, _UNKNOWN)]
        return {
            "text": self.text,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "probability": jsonable(self.probability),
            "votes": dict(self.votes),
            "evidence": {
                "words": dict(self.contributions),
                "rules": self.rules_evidence,
                "baseline": self.baseline,
            },
            "words": self._places(learned),
            "stop_words": self._places(self.stop_words),
            "unknown": self._places(self.unknown),
            "n_rules": len(self.rules),
            "rules": [rule.to_dict() for rule in self.rules[:max_rules]],
        }

    def _places(self, words: Iterable[Word]) -> list[dict[str, Any]]:
        """Return each place of some words as plain data, in the order of the text."""
        return [
            {
                "start": start,
                "end": end,
                "surface": self.text[start:end],
                "word": word.word,
                "score": jsonable(word.score),
                "role": word.role,
            }
            for start, end, word in sorted(
                ((*span, word) for word in words for span in word.spans), key=lambda x: x[:2]
            )
        ]

    @property
    def sentence(self) -> str:
        """The verdict and its main reason in one sentence; words are in asterisks."""
        if len(self.unknown) == len(self.words):
            return "Unclear: the text has no word of the vocabulary."
        if self.verdict == UNCLEAR:
            return "Unclear: the two sides cannot be told apart by held-out documents."
        if math.isnan(self.probability):
            return f"More like {self._side}, by the votes of rules."
        sign = 1 if self.verdict == "novel" else -1
        probability = self.probability if sign > 0 else 1 - self.probability
        sure = "" if probability >= _SURE else ", not sure"
        strongest = sorted(self.words, key=lambda word: word.role == _STOP_WORD)
        named = [w for w in strongest if sign * w.contribution > 0][:_NAMED]
        written = (self.text[slice(*w.spans[0])] if w.spans else w.word for w in named)
        words = f": {', '.join(f'*{form}*' for form in written)}" if named else ""
        return f"More like {self._side} ({_percent(probability)}){sure}{words}."

    def summary(self) -> str:
        """Return the votes and what the log-odds are made of; empty if there is no known word."""
        if len(self.unknown) == len(self.words):
            return ""
        novel, known = self.names.quoted("novel"), self.names.quoted("known")
        votes = (
            f"{counted(self.votes['novel'], 'vote')} for {novel}, {self.votes['known']:,} for "
            f"{known}, from {counted(len(self.rules), 'rule')}"
        )
        if math.isnan(self.probability):
            return f"{self._side}: {votes}"
        if self.verdict == UNCLEAR:
            return f"{UNCLEAR}: held-out documents of the two sides cannot be told apart; {votes}"
        words = math.fsum(self.contributions.values())
        parts = (
            f"words {words:+.2f}, rules {self.rules_evidence:+.2f}, baseline {self.baseline:+.2f}"
        )
        sure = f"probability of {novel} {_percent(self.probability)}; log-odds: {parts}"
        with_words = self.rules[np.diff(self.rules.plain.indptr) > 0]
        n_novel = int(with_words.counts[with_words.is_novel].sum())
        return (
            f"{self._side} ({sure}): {counted(n_novel, 'vote')} for {novel}, "
            f"{int(with_words.counts.sum()) - n_novel:,} for {known}, from "
            f"{counted(len(with_words), 'rule')} with its words"
        )

    @property
    def _side(self) -> str:
        """The verdict, by the name of its side."""
        return UNCLEAR if self.verdict == UNCLEAR else self.names.quoted(self.verdict)

    def lines(self) -> Iterator[str]:
        """Return the strongest words, and the best rules of the winning side without variants."""
        if added := self.contributions:
            strongest = list(added.items())[:_WORDS_SHOWN]
            yield "words: " + ", ".join(f"{word} {value:+.2f}" for word, value in strongest)
        if self.verdict == UNCLEAR:
            return
        of_side = self.rules[self.rules.side == self.verdict]
        novel, known = self.names.quoted("novel"), self.names.quoted("known")
        for variants in readable_rules(of_side, _RULES_SHOWN):
            rule = variants.rule
            yield (
                f"{rule.shortened(_RULE_LENGTH)} → {self._side}  ({rule.matches_novel:,} {novel} "
                f"and {counted(rule.matches_known, f'{known} document')})"
            )

    def notes(self) -> Iterator[str]:
        """Return a sentence with the words that are not in the vocabulary."""
        if self.unknown:
            yield f"not in the vocabulary: {', '.join(word.word for word in self.unknown)}"

    def mark(self, word: Word) -> tuple[float, str]:
        """Colour a word by what it adds or, without held-out documents, by its score."""
        if word.role == _UNKNOWN:
            return 0.0, "not in the vocabulary"
        title = f"score {word.score:.3g}, {word.role}"
        if math.isnan(self.probability):
            return _log_score(word) / _FULL, f"{word.word}: {title}"
        added = 0.0 if math.isnan(word.contribution) else word.contribution
        return added / self._full, f"{word.word}: {added:+.2f}; {title}"

    @cached_property
    def _full(self) -> float:
        """The log-odds of a word that has the full colour."""
        return max(max(map(abs, self.contributions.values()), default=0.0), _FULL_ODDS)


def explain(text: str, description: Description) -> SideExplanation:
    """Explain a text by its words and the rules that it matches."""
    (text,) = check_texts([text])
    vectorizer, calibration = description.vectorizer, description.calibration
    forms = list(words_and_breaks(text))
    columns: dict[str, int] = {}
    spans: dict[str, list[tuple[int, int]]] = {}
    for token in vectorizer.tokens_of(text, forms):
        if token.index >= 0:
            columns[token.term] = token.index
        elif " " in token.term or token.term in description.set_aside:
            continue
        spans.setdefault(token.term, []).append((token.start, token.end))
    terms = sorted(columns, key=columns.__getitem__)
    unknown = [word for word in spans if word not in columns]
    present = [columns[term] for term in terms]
    rules = description.clauses[description.clauses.matching(present)]
    novel = int(rules.counts[rules.is_novel].sum())
    votes = {"known": int(rules.counts.sum()) - novel, "novel": novel}
    leading: float = votes["novel"] - votes["known"]
    probability, evidence, baseline, stops = math.nan, 0.0, 0.0, []
    added: dict[str, float] = {}
    stop_spans = {} if calibration is None else _stop_words(forms, vectorizer, calibration)
    if calibration is not None and (terms or stop_spans):
        probability = 0.5
        if not calibration.is_empty:
            stops = sorted(stop_spans)
            spans.update(stop_spans)
            present += [calibration.stop_columns[word] for word in stops]
            with_words = rules[np.diff(rules.plain.indptr) > 0]
            signs = np.where(with_words.is_novel, 1, -1)
            lead = float(signs @ with_words.counts) / description.n_machines
            contributions = calibration.contributions(present).tolist()
            added = dict(zip([*terms, *stops], contributions, strict=True))
            probability = calibration.probability(lead, present)
            evidence, baseline = calibration.slope * lead, calibration.intercept
    if not math.isnan(probability):
        leading = probability - 0.5
    made = []
    for word in sorted([*terms, *stops], key=lambda word: -abs(added.get(word, 0.0))) + unknown:
        score, role = math.nan, _STOP_WORD if word in stops else _UNKNOWN
        if word in columns:
            words, row = description.words, description.words.number(word)
            score = float(words["score"][row])
            role = str(words["role"][row] or words["group"][row])
        made.append(Word(word, added.get(word, math.nan), tuple(spans[word]), role, score))
    return SideExplanation(
        text=text,
        verdict=UNCLEAR if not present or not leading else "novel" if leading > 0 else "known",
        words=tuple(made),
        baseline=baseline,
        rules=rules,
        votes=votes,
        probability=probability,
        rules_evidence=evidence,
        names=description.names,
        find_sentences=partial(_sentences_of, description),
    )


def _sentences_of(description: Description, text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text that can be judged, with their probability of novel."""
    found = []
    for begin, end in sentence_spans(text):
        told = explain(text[begin:end], description)
        if math.isnan(told.probability):
            continue
        words = tuple(
            replace(word, spans=tuple((begin + a, begin + b) for a, b in word.spans))
            for word in told.words
        )
        found.append(Sentence(begin, end, told.text, told.probability, math.nan, words))
    return tuple(found)


def word_features(texts: Iterable[str], description: Description) -> Any:
    """Return what each word adds to the log-odds of texts; see `Description.transform`."""
    columns = {name: j for j, name in enumerate(feature_names(description))}

    def added(text: str) -> dict[str, float]:
        found = explain(text, description)
        if description.calibration is None:
            return {w.word: _log_score(w) for w in found.words if w.word in columns}
        return {**found.contributions, RULES: found.rules_evidence, BASELINE: found.baseline}

    return word_matrix(map(added, check_texts(texts)), columns)


def feature_names(description: Description) -> list[str]:
    """Return the names of the columns of `word_features`."""
    stops = () if description.calibration is None else description.calibration.stop_words
    return [*description.vectorizer.vocabulary_, *stops, RULES, BASELINE]


def _log_score(word: Word) -> float:
    """Return the logarithm of the score of a word: above 0 if it is novel."""
    return log(word.score) if 0 < word.score < math.inf else 0.0


def _stop_words(
    forms: Iterable[tuple[int, int, str]],
    vectorizer: TextVectorizer,
    calibration: VerdictCalibration,
) -> dict[str, list[tuple[int, int]]]:
    """Return the stop words of a text that count in the verdict, and where they are."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for start, end, form in forms if calibration.stop_words else ():
        word = vectorizer.default_stop_word(form) if form else None
        if word in calibration.stop_columns and vectorizer.term(form) is None:
            spans.setdefault(word, []).append((start, end))
    return spans


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
