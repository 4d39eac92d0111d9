"""Explain one text: split its novelty among its words, find the rules of its nearest class."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.class_evidence import PARTS
from newfound.rulebank import ClassRule
from newfound.verdict import FiredRule, Verdict, WordReason

if TYPE_CHECKING:
    from newfound.detector import NoveltyDetector
    from newfound.tokens import Token

__all__ = ["explain"]

_MOST_EXPLAINED = 1_000_000  # characters
_LEAST_UNLIKE, _UNLIKE = 4, 0.6  # from so many words, and such a share of them unseen


def explain(detector: NoveltyDetector, text: str) -> Verdict:
    """Explain one text; see `NoveltyDetector.explain`."""
    if isinstance(text, str) and len(text) > _MOST_EXPLAINED:
        raise ValueError(
            f"The text has {len(text):,} characters, and up to {_MOST_EXPLAINED:,} are explained; "
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
    nearest = _nearest(detector, columns)
    by_term, by_unseen, rest, _ = evidence.contributions(
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
    fired, nearly, votes, unplaced = _rules(detector, nearest, present, adds, index)
    centre = detector._centre
    base = float(rest @ scale[:4] - centre @ scale - unplaced * scale[4])
    many = np.array([unseen_words] * 3 + [len(unseen_pairs)])
    sums = by_term.sum(axis=0) + many * by_unseen + rest
    parts = (np.append(sums, -votes) - centre) * scale
    novelty = base + sum(adds.values())
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
    p = float(detector.calibration_.p_values(np.array([novelty]), np.array([nearest]))[0])
    status = _status(text, len(index), unseen_words)
    novel = bool(detector._is_novel(np.array([p]))[0])
    return Verdict(
        text=text,
        status=status,
        verdict="unclear" if not index else "novel" if novel else "known",
        novelty=novelty,
        threshold=detector.calibration_.threshold(nearest),
        p_value=p if index else 1.0,
        alpha=detector.calibration_.alpha,
        nearest=detector.classes_[nearest],
        words=words,
        base=base,
        parts=dict(zip((*PARTS, "rules"), parts.tolist(), strict=True)),
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


def _nearest(detector: NoveltyDetector, columns: Any) -> int:
    evidence = detector.evidence_
    rarity = evidence.rarity[columns].astype(np.float32)
    norm = np.sqrt(rarity @ rarity) if len(columns) else 1.0
    return int((rarity @ evidence._by_term[columns] / norm + evidence.weights[:, -1]).argmax())


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
) -> tuple[tuple[FiredRule, ...], tuple[FiredRule, ...], int, int]:
    """Find the rules that fire or nearly do, and share their votes among the words they ask for.

    Gives the votes of all, and of those that ask for no word.
    """
    names = detector._terms
    by_column = {column: term for term, column in index.items() if column >= 0}
    weight = float(detector._scale[4])
    fired: dict[FiredRule, None] = {}
    nearly: dict[FiredRule, None] = {}
    votes = unplaced = 0
    for bank in detector.banks_:
        if nearest not in bank.classes:
            continue
        rules = bank.rules(nearest)
        if nearest not in bank.told:
            bank.told[nearest] = [_named(rule, names) for rule in rules]
        for rule, told in zip(rules, bank.told[nearest], strict=True):
            if rule.fires(present):
                votes += rule.polarity
                fired[told] = None
                if not rule.plain:
                    unplaced += rule.polarity
                for column in rule.plain:
                    adds[by_column[column]] -= weight * rule.polarity / len(rule.plain)
            elif rule.polarity > 0 and len(rule.plain) > 1:
                lacking = rule.lacks(present)
                if lacking is not None:
                    nearly[replace(told, missing=names[lacking])] = None

    def strength(rule: FiredRule) -> tuple[bool, bool, int]:
        return not rule.speaks_for, not rule.words, -rule.agrees

    return tuple(sorted(fired, key=strength)), tuple(sorted(nearly, key=strength)), votes, unplaced


def _named(rule: ClassRule, names: list[str]) -> FiredRule:
    plain, negated = (tuple(names[j] for j in part) for part in (rule.plain, rule.negated))
    return FiredRule(plain, negated, rule.polarity > 0, rule.matches, rule.agrees)
