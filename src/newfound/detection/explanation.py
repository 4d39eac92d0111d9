"""Explain texts: attribute the novelty to words, and find the rules of the nearest class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from newfound.detection.calibration import PARTS, Calibration
from newfound.detection.scoring import Judgement, Scorer, WordSequence
from newfound.detection.verdict import Verdict
from newfound.explanation import Word
from newfound.rules import Rule
from newfound.text.bags import Bags
from newfound.text.encoding import TokenizedTexts
from newfound.text.tokens import words_and_breaks
from newfound.text.validation import MAX_EXPLAINED, check_explainable, check_texts

__all__ = ["MAX_EXPLAINED", "JudgedTexts", "explain", "judge"]


@dataclass(frozen=True)
class JudgedTexts:
    """Texts that were read, scored and judged, each of them once."""

    texts: TokenizedTexts
    judgement: Judgement
    scorer: Scorer

    def explain(self, i: int) -> Verdict:
        """Explain the text of row i.

        A ValueError if it has more than `MAX_EXPLAINED` characters.
        """
        check_explainable(self.texts[i])
        terms = _Terms(self.scorer, self.texts.words(i))
        return _verdict(self.scorer, self.judgement, i, self.texts[i], terms)


def _verdict(scorer: Scorer, judgement: Judgement, i: int, text: str, terms: _Terms) -> Verdict:
    """Explain the text of row i, which has these terms."""
    scores, calibration = judgement.scores, judgement.calibration
    novelty, nearest = float(scores.novelty[i]), int(scores.nearest[i])
    adds = _contributions(scorer, terms, nearest)
    bags = scores.bags
    columns = bags.indices[bags.indptr[i] : bags.indptr[i + 1]]
    group, fired, nearly = _rules(scorer, columns, len(terms.unseen_words), nearest, adds)
    statistics, own = scorer.statistics, list(terms.words.values())
    documents = statistics.frequencies[own].tolist()  # of an unseen word, what -1 has
    in_class = statistics.counts[nearest, own].tolist()
    words = []
    for j, (word, added) in enumerate(adds.items()):
        known, of_class = (int(documents[j]), int(in_class[j])) if own[j] >= 0 else (0, 0)
        role = "never" if not known else "here" if of_class else "elsewhere"
        spans = tuple(terms.places[word])
        words.append(Word(word, added, spans, role, documents=known, in_class=of_class))
    words.sort(key=lambda word: -word.contribution)
    return Verdict(
        text=text,
        status=str(scores.status[i]) if text.strip() else "empty",
        verdict=judgement.verdict(i),
        novelty=novelty,
        threshold=calibration.threshold(nearest),
        p_value=float(judgement.p_values[i]),
        alpha=calibration.alpha,
        nearest=scorer.classes[nearest],
        words=tuple(words),
        baseline=novelty - math.fsum(adds.values()),
        parts=dict(zip(PARTS, scores.parts[i].tolist(), strict=True)),
        new_pairs=terms.new_pairs(),
        read_as=terms.read_as,
        nearest_group=group,
        decided_by="rules" if scores.by_rules[i] else "linear classifier",
        rules=fired,
        nearly=nearly,
        sequence=WordSequence(terms.words, terms.sequence),
        scorer=scorer,
        calibration=calibration,
    )


def judge(
    scorer: Scorer,
    calibration: Calibration,
    texts: Iterable[str],
    progress: Callable[[int], None] | None = None,
) -> JudgedTexts:
    """Read, score and judge texts, so that they can be explained.

    `progress` is called with the number of texts scored so far.
    """
    kept = list(check_texts(texts))
    # The places of words are those in the texts as they are.
    tokenized = replace(TokenizedTexts.of(map(scorer.essential, kept)), texts=kept)
    scores = scorer.score(scorer.read(tokenized), progress)
    return JudgedTexts(tokenized, scores.judged(calibration), scorer)


def explain(scorer: Scorer, calibration: Calibration, text: str) -> Verdict:
    """Explain one text; see `NoveltyDetector.explain`."""
    if isinstance(text, str):
        check_explainable(text)  # before the work
    (text,) = check_texts([text])
    # The words have to be found anyway. Reading a single text as many are read takes longer.
    terms = _Terms(scorer, words_and_breaks(scorer.essential(text)))
    scores = scorer.score(Bags.of_one(terms.words, terms.pairs, len(scorer.terms)))
    return _verdict(scorer, scores.judged(calibration), 0, text, terms)


class _Terms:
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
        return [word for word, column in self.words.items() if column < 0]

    @property
    def unseen_pairs(self) -> list[str]:
        return [pair for pair, column in self.pairs.items() if column < 0]

    def new_pairs(self) -> tuple[str, ...]:
        """Return the unseen pairs of two known words."""
        return tuple(
            pair
            for pair in self.unseen_pairs
            if all(self.words.get(word, -1) >= 0 for word in pair.split(" "))
        )


def _contributions(scorer: Scorer, terms: _Terms, nearest: int) -> dict[str, float]:
    """Return what each word adds to the novelty; what a pair adds is shared by its words."""
    seen = {t: j for t, j in {**terms.words, **terms.pairs}.items() if j >= 0}
    unseen_words, unseen_pairs = terms.unseen_words, terms.unseen_pairs
    columns = np.array(list(seen.values()), dtype=np.int64)
    by_term, by_word, by_pair = scorer.contributions(
        columns, unseen_words, len(unseen_pairs), nearest
    )
    adds = dict.fromkeys(terms.words, 0.0)
    values = [
        *zip(seen, by_term.tolist(), strict=True),
        *zip(unseen_words, by_word.tolist(), strict=True),
        *((pair, by_pair) for pair in unseen_pairs),
    ]
    for term, value in values:
        if term in adds:
            adds[term] += value
        else:
            for word in term.split(" "):
                adds[word] += value / 2
    return adds


def _rules(
    scorer: Scorer,
    columns: NDArray[np.int32],
    n_unseen: int,
    nearest: int,
    adds: dict[str, float],
) -> tuple[str | None, tuple[Rule, ...], tuple[tuple[Rule, str], ...]]:
    """Return the group, if there are groups, and the rules that match and those that lack a word.

    What the rules of a class add to the novelty is added to the words that they require; those of a
    group add nothing.
    """
    if scorer.groups is not None:
        number = scorer.groups.rules.nearest(columns)
        if number < 0:
            return None, (), ()
        group = scorer.groups.names[number]
        found, lacking = scorer.groups.rules.explain(columns, number, group, scorer.terms)
    elif scorer.rules is not None:
        group, others = None, scorer.square_without_rule(columns, n_unseen)
        name = scorer.classes[nearest]
        found, lacking = scorer.rules.explain(columns, nearest, name, scorer.terms, others)
        weight = float(scorer.scales.scale[PARTS.index("rules")])
        for rule, strength in found:
            for word in rule.plain:
                adds[word] -= weight * strength / len(rule.plain)
    else:
        return None, (), ()
    return group, tuple([rule for rule, _ in found]), tuple(lacking)
