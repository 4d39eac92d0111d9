"""Rules that find the documents of a theme: a short OR of ANDs of one to three words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.machine.rule_set import RuleSet
from newfound.stories.evidence import Piles, deviance_root

__all__ = ["ANDRule", "ThemeRule", "choose_rules"]

MAX_RULES = 8
N_WORDS = 40  # words that may be in rules
N_TRIPLES = 60
MIN_GAIN = 0.015  # relative, that a further rule has to bring
MIN_EVIDENCE = 1.0  # of an AND alone
MIN_MATCHES = 3
MIN_FURTHER = 5  # novel documents that a further rule has to add
MIN_PART = 0.03  # of the documents found, that a further rule has to add

ANDRule = tuple[int, ...]


@dataclass(frozen=True)
class ThemeRule:
    """An AND of words, with the number of documents that it finds.

    Attributes
    ----------
    words : tuple of str
        The words that a document must have.
    known, novel : int
        The number of documents of each side that have them.
    held_out_known, held_out_novel : int
        The same among documents that took no part in the choice of the rule; both 0 if it was
        chosen with all documents only.

    Examples
    --------
    >>> rule = ThemeRule(("anzac", "day"), known=2, novel=31)
    >>> print(rule)
    anzac AND day
    """

    words: tuple[str, ...]
    known: int
    novel: int
    held_out_known: int = 0
    held_out_novel: int = 0

    def __str__(self) -> str:
        return " AND ".join(self.words)


def choose_rules(piles: Piles, wanted: NDArray[np.intp], words: NDArray[np.intp]) -> list[ANDRule]:
    """Choose ANDs of words whose OR agrees best with a group of documents and is novel.

    What is maximised is F1 times the evidence of the documents found. Each AND must be more
    frequent in novel documents.

    `wanted` has the rows of the documents to find, and `words` the columns that rules may have, the
    strongest first.
    """
    words = words[:N_WORDS]
    if not len(words):
        return []
    rows = piles.found([[word] for word in words])
    if not len(rows):
        return []
    part = piles.columns[:, words][rows].astype(np.float64).tocsc()
    target = np.zeros(len(piles.novel))
    target[wanted] = 1.0
    target = target[rows]
    ands, matches = _candidates(part, target)
    new, share = piles.novel[rows].astype(np.float64), piles.share
    total = np.asarray(matches.sum(axis=1)).ravel()
    is_novel = deviance_root(matches @ new, total, share) >= MIN_EVIDENCE
    if not is_novel.any():
        return []
    ands, matches = [ands[i] for i in np.flatnonzero(is_novel)], matches[is_novel]
    chosen: list[ANDRule] = []
    left = np.ones(len(rows))
    counts, score = np.zeros(3), 0.0
    lengths = np.array([len(rule) for rule in ands])
    while len(chosen) < MAX_RULES:
        gains = counts[:, None] + [matches @ (left * each) for each in (target, 1.0, new)]
        hits, found, found_new = gains
        scores = 2 * hits / (found + len(wanted))
        # A rule must add documents of the group, not only a few of them.
        scores[hits - counts[0] < max(MIN_MATCHES, MIN_PART * hits.max())] = 0.0
        if chosen:
            scores[found_new - counts[2] < MIN_FURTHER] = 0.0
        scores *= np.maximum(deviance_root(found_new, np.maximum(found, 1), share), 0)
        best = int(np.argmax(scores * (1 - 1e-6 * lengths)))
        if scores[best] <= score * (1 + MIN_GAIN):
            break
        counts, score = gains[:, best], scores[best]
        left[matches[[best]].indices] = 0.0
        chosen.append(tuple(sorted(int(words[number]) for number in ands[best])))
    # Without ANDs that a shorter chosen one contains.
    return [rule for rule in chosen if not any(set(other) < set(rule) for other in chosen)]


def _candidates(part: Any, target: NDArray[np.float64]) -> tuple[list[ANDRule], Any]:
    """Return single words, pairs and triples, and which documents they find."""
    size = part.shape[1]
    inside = part.T @ sparse.diags(target) @ part
    inside, total = inside.toarray(), (part.T @ part).toarray()
    ands: list[ANDRule] = [(number,) for number in range(size)]
    pairs = [
        (a, b)
        for a, b in combinations(range(size), 2)
        if inside[a, b] >= MIN_MATCHES
        and inside[a, b] / total[a, b]
        > 1.1 * max(inside[a, a] / total[a, a], inside[b, b] / total[b, b])
    ]
    pairs.sort(key=lambda pair: -inside[pair])
    triples = {
        tuple(sorted({*one, *other}))
        for one, other in combinations(pairs[:N_TRIPLES], 2)
        if len({*one, *other}) == 3
    }
    ands += pairs + sorted(triples)[:500]
    ands = list(dict.fromkeys(tuple(sorted(rule)) for rule in ands))
    found = RuleSet.of(ands, size).matching(part.tocsr())
    return ands, sparse.csr_matrix(found.T, dtype=np.float64)
