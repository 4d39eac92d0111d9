"""What each word of a text adds to its novelty, compared with a word of a known document.

A part of the score is centred on what a known document with as many words is expected to have of it
(`newfound.detection.calibration.Scales`). A word is expected to bring a share of that: its share of
the length of the text in that part, where rare words and words never seen weigh more. What a word
adds is what it brings, less what it is expected to bring. Therefore the words add up to the
novelty: 0 is an average known document of the same length, and no constant decides.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from newfound.detection.calibration import PARTS
from newfound.detection.meaning import Meaning
from newfound.detection.scoring import Scorer
from newfound.rules import Rule

__all__ = ["RulesOfText", "Terms", "contributions", "matching_rules", "meaning_by_word"]

# The group of a text, the rules that match with what they take off the novelty, and those that
# lack a word, with the word.
RulesOfText = tuple[str | None, list[tuple[Rule, float]], list[tuple[Rule, str]]]

_MAX_LEFT_OUT = 60  # words that are left out of a text, one at a time, to see what each means
_MARGIN, _SURPRISE, _NEIGHBOURS, _PAIRS, _RULES = range(len(PARTS))


class Terms:
    """The distinct words and pairs of one text, with their columns; -1 for one never seen.

    Parameters
    ----------
    scorer : Scorer
        Reads the words.
    words : iterable of (int, int, str)
        Start, end and form of the words of the text.

    Attributes
    ----------
    words, pairs : dict of str to int
        Their columns, in the order of the text.
    sequence : list of int
        Which of the words each place of the text has; -1 where neighbours are no pair.
    places : dict of str to list of (int, int)
        Where the words are.
    read_as : dict of str to str
        The known spelling of words that look like typing errors.
    """

    def __init__(self, scorer: Scorer, words: Iterable[tuple[int, int, str]]) -> None:
        self.read_as: dict[str, str] = {}
        self.places: dict[str, list[tuple[int, int]]] = {}
        self.sequence: list[int] = []
        numbers: dict[str, int] = {}
        pairs: dict[str, None] = {}
        previous: str | None = None
        for start, end, form in words:
            known, term = scorer.read_word(form) if form else ("", None)
            if form != known:
                self.read_as[form] = known
            if term is not None:
                self.places.setdefault(term, []).append((start, end))
                if previous is not None:
                    pairs[f"{previous} {term}"] = None
            if term is not None or not form:  # a break parts a pair, a stop word does not
                self.sequence.append(-1 if term is None else numbers.setdefault(term, len(numbers)))
                previous = term
        column = scorer.vectorizer.vocabulary_.get
        self.words = {word: column(word, -1) for word in self.places}
        self.pairs = {pair: column(pair, -1) for pair in pairs}

    @property
    def unseen_words(self) -> list[str]:
        """The words that are not in the vocabulary."""
        return [word for word, column in self.words.items() if column < 0]

    @property
    def unseen_pairs(self) -> list[str]:
        """The pairs that are not in the vocabulary."""
        return [pair for pair, column in self.pairs.items() if column < 0]

    def new_pairs(self) -> tuple[str, ...]:
        """Return the unseen pairs of two known words."""
        return tuple(
            pair
            for pair in self.unseen_pairs
            if all(self.words.get(word, -1) >= 0 for word in pair.split(" "))
        )


def contributions(
    scorer: Scorer,
    terms: Terms,
    nearest: int,
    parts: NDArray[np.float64],
    by_rule: Iterable[tuple[Rule, float]],
) -> dict[str, float]:
    """Return what each word adds to the novelty of a text, whose parts these are.

    What a pair adds is shared by its two words, what a rule adds by its words.
    """
    seen = {t: j for t, j in {**terms.words, **terms.pairs}.items() if j >= 0}
    names = [*seen, *terms.unseen_words, *terms.unseen_pairs]
    n_seen, n_words = len(seen), len(seen) + len(terms.unseen_words)
    columns = np.array(list(seen.values()), dtype=np.int64)
    by_term, by_word, by_pair = scorer.contributions(
        columns, terms.unseen_words, len(terms.unseen_pairs), nearest
    )
    brought = np.zeros((len(names), len(PARTS)))
    brought[:n_seen, :_RULES], brought[n_seen:n_words, :_RULES] = by_term, by_word
    brought[n_words:, _PAIRS] = by_pair
    places = {name: i for i, name in enumerate(names)}
    for rule, strength in by_rule:
        for word in rule.plain:
            brought[places[word], _RULES] -= strength / len(rule.plain)
    shares = _expected_shares(scorer, columns, terms)
    adds = (brought + (parts - brought.sum(axis=0)) * shares).sum(axis=1)
    found = dict.fromkeys(terms.words, 0.0)
    for name, value in zip(names, adds.tolist(), strict=True):
        if name in found:
            found[name] += value
        else:
            for word in name.split(" "):
                found[word] += value / 2
    return found


def meaning_by_word(
    scorer: Scorer, meaning: Meaning, terms: Terms, text: str, parts: NDArray[np.float64]
) -> dict[str, float]:
    """Return what each word adds to the parts of the novelty that an encoder gives.

    That is how much lower they are without the word. What is left of them is shared by the words,
    by how rare these are; in a text of many words all of it is.
    """
    words, total = list(terms.words), float(parts.sum())
    if not words:
        return {}
    by_word = np.zeros(len(words))
    if 1 < len(words) <= _MAX_LEFT_OUT:
        without = [_without(text, terms.places[word]) for word in words]
        vectors = meaning.encoded(scorer.meant(without))
        by_word = total - meaning.parts(vectors).sum(axis=1)
    columns = np.array(list(terms.words.values()))
    rarity = np.where(
        columns < 0, scorer.statistics.unseen_rarity, scorer.statistics.rarity[columns]
    )
    shares = rarity**2 / (rarity**2).sum()
    by_word = by_word + (total - by_word.sum()) * shares
    return dict(zip(words, by_word.tolist(), strict=True))


def _without(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Return a text without what is at some places."""
    for start, end in sorted(places, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


def _expected_shares(
    scorer: Scorer, columns: NDArray[np.int64], terms: Terms
) -> NDArray[np.float64]:
    """Return the share of each part that each term is expected to bring.

    The rows are terms of the vocabulary, words that are not in it, and pairs that are not. Each
    column adds up to 1, if the text has a word.
    """
    known, unseen = scorer.statistics, terms.unseen_words
    n_seen, n_words = len(columns), len(columns) + len(unseen)
    weights = np.zeros((n_words + len(terms.unseen_pairs), len(PARTS)))
    rows = known.unseen(unseen) if unseen else None
    is_pair = known.is_pair[columns]
    seen, new, new_pairs = weights[:n_seen], weights[n_seen:n_words], weights[n_words:]
    seen[:, _MARGIN] = known.rarity[columns] ** 2
    new[:, _MARGIN] = 0.0 if rows is None else rows.squares * known.unseen_rarity**2
    seen[:, _SURPRISE] = np.where(is_pair, 0.0, known.evidence[columns])
    new[:, _SURPRISE] = known.unseen_evidence
    seen[:, _NEIGHBOURS] = known.likeness[columns] ** 2
    new[:, _NEIGHBOURS] = known.unseen_likeness**2
    seen[:, _PAIRS], new_pairs[:, _PAIRS] = is_pair, 1.0
    seen[:, _RULES] = np.where(is_pair, 0.0, known.rarity[columns] ** 2)
    new[:, _RULES] = known.unseen_rarity**2
    totals = weights.sum(axis=0)
    empty = totals <= 0  # no pair, or no word with a known n-gram
    weights[:, empty], totals[empty] = weights[:, [_RULES]], totals[_RULES]
    return weights / np.where(totals > 0, totals, 1.0)


def matching_rules(
    scorer: Scorer,
    columns: NDArray[np.int32],
    n_unseen: int,
    nearest: int,
) -> RulesOfText:
    """Return the group, if there are groups, and the rules that match and those that lack a word.

    Rules that match come with what they take off the novelty; those of a group take nothing off.
    """
    if scorer.groups is not None:
        number = scorer.groups.rules.nearest(columns)
        if number < 0:
            return None, [], []
        group = scorer.groups.names[number]
        found, lacking = scorer.groups.rules.explain(columns, number, group, scorer.terms)
        return group, [(rule, 0.0) for rule, _ in found], lacking
    if scorer.rules is None:
        return None, [], []
    others, name = scorer.square_without_rule(columns, n_unseen), scorer.classes[nearest]
    found, lacking = scorer.rules.explain(columns, nearest, name, scorer.terms, others)
    weight = float(scorer.scales.scale[_RULES])
    return None, [(rule, weight * strength) for rule, strength in found], lacking
