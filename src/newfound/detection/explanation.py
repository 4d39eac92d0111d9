"""Explain texts: attribute the novelty to words, and find the rules of the nearest class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from newfound.detection.attribution import (
    RulesOfText,
    Terms,
    contributions,
    matching_rules,
    meaning_by_word,
)
from newfound.detection.calibration import PARTS, Calibration
from newfound.detection.scoring import Judgement, Scorer, Scores, WordSequence
from newfound.detection.sentences import KnownSentences, no_sentences
from newfound.detection.verdict import Verdict
from newfound.explanation import BASELINE, UNSEEN_WORDS, Sentence, Word, word_matrix
from newfound.text.bags import Bags
from newfound.text.encoding import TokenizedTexts
from newfound.text.sentences import sentence_spans
from newfound.text.tokens import words_and_breaks
from newfound.text.validation import MAX_EXPLAINED, check_explainable, check_texts

__all__ = [
    "MAX_EXPLAINED",
    "JudgedTexts",
    "explain",
    "feature_names",
    "judge",
    "word_features",
]


@dataclass(frozen=True)
class JudgedTexts:
    """Texts that were read, scored and judged, each of them once."""

    texts: TokenizedTexts
    judgement: Judgement
    scorer: Scorer
    held_back: KnownSentences = no_sentences

    def contributions(self, i: int) -> dict[str, float]:
        """Return what each word of row i adds to its novelty, and `BASELINE` for the rest."""
        terms = Terms(self.scorer, self.texts.words(i))
        adds, _ = _attributed(self.scorer, self.judgement.scores, i, terms, self.texts[i])
        return {**adds, BASELINE: _left(float(self.judgement.scores.novelty[i]), adds)}

    def explain(self, i: int) -> Verdict:
        """Explain the text of row i.

        A ValueError if it has more than `MAX_EXPLAINED` characters.
        """
        check_explainable(self.texts[i])
        terms = Terms(self.scorer, self.texts.words(i))
        text = self.texts[i]
        return _verdict(self.scorer, self.judgement, i, text, terms, self.held_back)


def _verdict(
    scorer: Scorer,
    judgement: Judgement,
    i: int,
    text: str,
    terms: Terms,
    held_back: KnownSentences,
) -> Verdict:
    """Explain the text of row i, which has these terms."""
    scores, calibration = judgement.scores, judgement.calibration
    novelty, nearest = float(scores.novelty[i]), int(scores.nearest[i])
    adds, (group, matching, nearly) = _attributed(scorer, scores, i, terms, text)
    statistics, own = scorer.statistics, list(terms.words.values())
    documents = statistics.frequencies[own].tolist()  # of an unseen word, what -1 has
    in_class = statistics.counts[nearest, own].tolist()
    words = []
    for j, (word, added) in enumerate(adds.items()):
        known, of_class = int(documents[j]), int(in_class[j])
        if own[j] < 0:
            known, of_class = scorer.held_back_terms.get(word, 0), 0
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
        baseline=_left(novelty, adds),
        parts=dict(zip(scorer.part_names, scores.parts[i].tolist(), strict=True)),
        new_pairs=terms.new_pairs(),
        read_as=terms.read_as,
        nearest_group=group,
        decided_by="rules" if scores.by_rules[i] else "linear classifier",
        rules=tuple([rule for rule, _ in matching]),
        nearly=tuple(nearly),
        most_like=_most_like(scorer, scores, i),
        sequence=WordSequence(terms.words, terms.sequence),
        scorer=scorer,
        calibration=calibration,
        find_sentences=partial(_sentences_of, scorer, calibration, held_back),
    )


def _most_like(scorer: Scorer, scores: Scores, i: int) -> str | None:
    if scorer.meaning is None or scores.bags.vectors is None or not scores.has_words[i]:
        return None
    return scorer.meaning.most_like(scores.bags.vectors[i])


def _sentences_of(
    scorer: Scorer, calibration: Calibration, held_back: KnownSentences, text: str
) -> tuple[Sentence, ...]:
    """Return the sentences of a text that have words, each with its novelty, p-value and words."""
    spans, scorer = sentence_spans(text), scorer.by_words
    judged = judge(scorer, calibration, [text[begin:end] for begin, end in spans])
    novelty, known = judged.judgement.scores.novelty, held_back()
    p_values = np.full(len(spans), np.nan) if known is None else known.p_values(novelty)
    found = []
    for i, (begin, end) in enumerate(spans):
        if not judged.judgement.scores.has_words[i]:
            continue
        words = tuple(
            replace(word, spans=tuple((begin + a, begin + b) for a, b in word.spans))
            for word in judged.explain(i).words
        )
        value, p = float(novelty[i]), float(p_values[i])
        found.append(Sentence(begin, end, text[begin:end], value, p, words))
    return tuple(found)


def _attributed(
    scorer: Scorer, scores: Scores, i: int, terms: Terms, text: str
) -> tuple[dict[str, float], RulesOfText]:
    """Return what each word of row i adds to its novelty, and its rules."""
    nearest, bags = int(scores.nearest[i]), scores.bags
    columns = bags.indices[bags.indptr[i] : bags.indptr[i + 1]]
    found = matching_rules(scorer, columns, len(terms.unseen_words), nearest)
    words = scores.parts[i, : len(PARTS)]
    adds = contributions(scorer, terms, nearest, words, found[1])
    if scorer.meaning is not None:
        meant = meaning_by_word(scorer, scorer.meaning, terms, text, scores.parts[i, len(PARTS) :])
        adds = {word: added + meant[word] for word, added in adds.items()}
    return adds, found


def _left(novelty: float, adds: Mapping[str, float]) -> float:
    """Return the part of a novelty that no word adds, up to rounding."""
    return novelty - math.fsum(adds.values()) if adds else novelty


def word_features(judged: JudgedTexts) -> Any:
    """Return what each word adds to the novelty of texts; see `NoveltyDetector.transform`."""
    columns = {name: j for j, name in enumerate(feature_names(judged.scorer))}
    return word_matrix(map(judged.contributions, range(len(judged.texts))), columns)


def feature_names(scorer: Scorer) -> list[str]:
    """Return the names of the columns of `word_features`: the known words, and two more."""
    return [*(term for term in scorer.terms if " " not in term), UNSEEN_WORDS, BASELINE]


def judge(
    scorer: Scorer,
    calibration: Calibration,
    texts: Iterable[str],
    progress: Callable[[int], None] | None = None,
    held_back: KnownSentences = no_sentences,
) -> JudgedTexts:
    """Read, score and judge texts, so that they can be explained.

    `progress` is called with the number of texts scored so far. `held_back` returns the known
    sentences that those of the texts are ranked among.
    """
    kept = list(check_texts(texts))
    # The places of words are those in the texts as they are.
    tokenized = replace(TokenizedTexts.of(map(scorer.essential, kept)), texts=kept)
    scores = scorer.score(scorer.read(tokenized), progress)
    return JudgedTexts(tokenized, scores.judged(calibration), scorer, held_back)


def explain(
    scorer: Scorer, calibration: Calibration, text: str, held_back: KnownSentences = no_sentences
) -> Verdict:
    """Explain one text; see `NoveltyDetector.explain`."""
    if isinstance(text, str):
        check_explainable(text)  # before the work
    (text,) = check_texts([text])
    # The words have to be found anyway. Reading a single text as many are read takes longer.
    terms = Terms(scorer, words_and_breaks(scorer.essential(text)))
    bags = Bags.of_one(terms.words, terms.pairs, len(scorer.terms))
    scores = scorer.score(scorer.with_vectors(bags, [text]))
    return _verdict(scorer, scores.judged(calibration), 0, text, terms, held_back)
