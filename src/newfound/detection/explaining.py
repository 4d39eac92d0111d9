"""Explain one text: split its novelty among its words, find the rules of its nearest class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from newfound.detection.rulebank import ClassRule
from newfound.detection.scoring import PARTS
from newfound.detection.verdict import FiredRule, Verdict, WordReason

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector
    from newfound.text.tokens import Token

__all__ = ["MOST_EXPLAINED", "explain"]

MOST_EXPLAINED = 1_000_000  # characters
_LEAST_UNLIKE, _UNLIKE = 4, 0.6  # from so many words, and such a share of them unseen


def explain(detector: NoveltyDetector, text: str) -> Verdict:
    """Explain one text; see `NoveltyDetector.explain`."""
    if isinstance(text, str) and len(text) > MOST_EXPLAINED:
        raise ValueError(
            f"The text has {len(text):,} characters, and up to {MOST_EXPLAINED:,} are explained; "
            "explain a part of it (predict takes it whole)."
        )
    evidence = detector.evidence_
    tokens = detector.vectorizer_.tokens(text)
    singles: dict[str, list[Token]] = {}
    pairs: dict[str, int] = {}
    for token in tokens:
        if " " in token.term:
            pairs[token.term] = token.index
        else:
            singles.setdefault(token.term, []).append(token)
    index = {term: found[0].index for term, found in singles.items()}
    seen = {term: column for term, column in {**index, **pairs}.items() if column >= 0}
    columns = np.array(list(seen.values()), dtype=np.int64)
    unseen_words = sum(column < 0 for column in index.values())
    unseen_pairs = [pair for pair, column in pairs.items() if column < 0]
    # The same numbers that predict goes by: any others would be told apart at a tie.
    bags = detector._reader.read([text])
    found, near = detector._parts(bags)
    parts = detector._weighted(found)
    scored = parts.sum(axis=1)
    novelty, nearest = float(scored[0]), int(near[0])
    p = float(detector._p_values(scored, near, bags)[0])
    by_term, by_unseen, _, _ = evidence.contributions(
        columns, unseen_words, len(unseen_pairs), nearest
    )
    scale = detector._scale
    adds = dict.fromkeys(index, 0.0)
    for term, value in zip(seen, (by_term @ scale[:4]).tolist(), strict=True):
        _share(adds, term, value)
    for term, column in index.items():
        if column < 0:
            adds[term] += float(by_unseen[:3] @ scale[:3])
    for pair in unseen_pairs:
        _share(adds, pair, float(by_unseen[3] * scale[3]))
    present = {column for column in index.values() if column >= 0}
    fired, nearly = _rules(detector, nearest, present, adds, index)
    words = tuple(
        WordReason(
            term,
            adds[term],
            int(evidence.frequencies[column]) if column >= 0 else 0,
            int(evidence.counts[nearest, column]) if column >= 0 else 0,
            tuple((token.start, token.end) for token in singles[term]),
        )
        for term, column in sorted(index.items(), key=lambda item: -adds[item[0]])
    )
    status = _status(text, len(index), unseen_words)
    novel = bool(detector._is_novel(np.array([p]))[0])
    return Verdict(
        text=text,
        status=status,
        verdict="unclear" if not index else "novel" if novel else "known",
        novelty=novelty,
        threshold=detector.calibration_.threshold(nearest),
        p_value=p,
        alpha=detector.calibration_.alpha,
        nearest=detector.classes_[nearest],
        words=words,
        base=novelty - sum(adds.values()),
        parts=dict(zip((*PARTS, "rules"), parts[0].tolist(), strict=True)),
        new_pairs=tuple(
            pair for pair in unseen_pairs if all(index.get(w, -1) >= 0 for w in pair.split(" "))
        ),
        fired=fired,
        nearly=nearly,
        _detector=detector,
    )


def _status(text: str, n_words: int, unseen: int) -> str:
    if not n_words:
        return "no words" if text.strip() else "empty"
    if n_words == 1:
        return "short"
    return "unlike" if n_words >= _LEAST_UNLIKE and unseen >= _UNLIKE * n_words else "ok"


def _share(adds: dict[str, float], term: str, value: float) -> None:
    """Add what a term is worth to it, or half of it to each word of a pair."""
    parts = term.split(" ")
    for part in parts:
        adds[part] += value / len(parts)


def _rules(
    detector: NoveltyDetector,
    nearest: int,
    present: set[int],
    adds: dict[str, float],
    index: dict[str, int],
) -> tuple[tuple[FiredRule, ...], tuple[FiredRule, ...]]:
    """Find the rules that fire or nearly do, and share their votes among the words they ask for."""
    names = detector._terms
    by_column = {column: term for term, column in index.items() if column >= 0}
    weight = float(detector._scale[4])
    fired: dict[FiredRule, None] = {}
    nearly: dict[FiredRule, None] = {}
    for bank in detector.banks_:
        if nearest not in bank.classes:
            continue
        rules = bank.rules(nearest)
        if nearest not in bank.told:
            bank.told[nearest] = [_named(rule, names) for rule in rules]
        for rule, told in zip(rules, bank.told[nearest], strict=True):
            if rule.fires(present):
                fired[told] = None
                for column in rule.plain:
                    adds[by_column[column]] -= weight * rule.polarity / len(rule.plain)
            elif rule.polarity > 0 and len(rule.plain) > 1:
                lacking = rule.lacks(present)
                if lacking is not None:
                    nearly[replace(told, missing=names[lacking])] = None

    def strength(rule: FiredRule) -> tuple[bool, bool, int]:
        return not rule.speaks_for, not rule.words, -rule.agrees

    return tuple(sorted(fired, key=strength)), tuple(sorted(nearly, key=strength))


def _named(rule: ClassRule, names: list[str]) -> FiredRule:
    plain, negated = (tuple(names[j] for j in part) for part in (rule.plain, rule.negated))
    return FiredRule(plain, negated, rule.polarity > 0, rule.matches, rule.agrees)
