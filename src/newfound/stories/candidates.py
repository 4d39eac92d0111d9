"""Groups of documents that may be themes, found without a look at which documents are novel.

A candidate is the documents that some ANDs of words find: a single word, two words that often occur
together, a group of such words, or the rules that agree best with a topic of a mixture
(`newfound.stories.mixtures`). Since no candidate depends on the sides, how novel the best of them
is by chance can be found by permuting the sides: `Candidates.searched`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components

from newfound.arithmetic import log, norm
from newfound.linear import Tfidf, product, unit_rows
from newfound.machine.clauses import RuleSet
from newfound.stories.evidence import PSEUDO_DOCUMENTS, SURE, Piles, deviance_root
from newfound.stories.mixtures import (
    BLOCK,
    MAX_LEARNED,
    MIN_DOCUMENTS,
    DocumentSpace,
    find_topics,
)

__all__ = ["ANDRule", "Candidates", "Contexts", "choose_rules", "find_candidates"]

MAX_RULES = 8
N_WORDS = 40  # words that may be in rules
N_TRIPLES = 60
MIN_GAIN = 0.015  # relative, that a further rule has to bring
MIN_MATCHES = 3
MIN_PART = 0.03  # of the documents found, that a further rule has to add
MAX_LINKED = 1500  # words that are joined to pairs and groups, the most frequent ones
MAX_SHARE = 0.3  # of the documents that have such a word
MAX_PAIRS = 6000
MAX_GROUP = 20  # words of a group
MIN_GROWTH = 1.5  # how many times as frequent a theme is on the novel side, at least
MIN_SHARE = 0.001  # of the novel documents, for a theme
TOGETHER = 3.0  # standard deviations, of the documents that two rules of a story have in common
ALIKE = 0.2  # cosine of the other documents of two rules of a story, without the rules' words
MIN_LINK = 0.15  # NPMI of a pair, average NPMI of the words of a group
N_PERMUTATIONS = 200
LEVEL = 0.05  # of the permutations have a theme that is called sure
PERMUTED_AT_ONCE = 10

ANDRule = tuple[int, ...]
Rules = tuple[ANDRule, ...]
Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Groups of documents that may be themes.

    `rules` has the ANDs of each, a row of `members` has its documents, and `cohesion` says how
    similar these are, from 0 to 1. `from_topic` says which came from topics: they are fewer than
    words and groups of words, so that chance reaches less among them.
    """

    rules: list[Rules]
    members: Any  # CSR matrix of float32
    cohesion: Floats
    from_topic: NDArray[np.bool_]

    def searched(self, piles: Piles) -> Floats:
        """Return the deviance that the search for each candidate gives by chance.

        The sides of the documents are permuted. With this deviance subtracted, the best candidate
        of all, on any side, is sure in 5 % of the permutations. Only what could be a theme counts.
        """
        rng, other = np.random.default_rng(0), piles.reversed()
        highest: list[Any] = []
        for _ in range(0, N_PERMUTATIONS, PERMUTED_AT_ONCE):
            sides = np.stack(
                [rng.permutation(piles.novel) for _ in range(PERMUTED_AT_ONCE)], axis=1
            )
            roots = np.zeros((len(self.rules), PERMUTED_AT_ONCE))
            for side, novel in ((piles, sides), (other, ~sides)):
                reached, _, possible = self.measured(side, novel)
                roots = np.maximum(roots, np.where(possible, reached, 0.0))
            kinds = (~self.from_topic, self.from_topic)
            highest.append([roots[kind].max(axis=0, initial=0.0) for kind in kinds])
        levels = np.sort(np.concatenate(highest, axis=1), axis=1)
        level = levels[:, -1 - int(LEVEL / 2 * N_PERMUTATIONS)]
        found: Floats = np.maximum(level**2 - SURE**2, 0.0)[self.from_topic.astype(int)]
        return found

    def measured(self, piles: Piles, novel: NDArray[Any]) -> tuple[Floats, Floats, Any]:
        """Return roots of deviance, numbers of novel documents, and which may be themes.

        `novel` says of each document whether it is novel; it may have several columns.
        """
        own = np.asarray(self.members @ novel.astype(np.float32), np.float64)
        sizes, share = self.sizes, piles.share
        if own.ndim == 2:
            sizes = sizes[:, None]
        growth = (own + 1) / (sizes - own + 1) * (1 - share) / share
        few = max(MIN_DOCUMENTS, MIN_SHARE * float(piles.novel.sum()))
        roots: Floats = deviance_root(own, sizes, share, PSEUDO_DOCUMENTS)
        return roots, own, (growth >= MIN_GROWTH) & (own >= few)

    @property
    def sizes(self) -> Floats:
        """The number of documents of each candidate."""
        sizes: Floats = np.diff(self.members.indptr).astype(np.float64)
        return sizes

    def take(self, places: Rows) -> Candidates:
        """Return some of the candidates."""
        rules = [self.rules[place] for place in places.tolist()]
        kept = (self.members[places], self.cohesion[places], self.from_topic[places])
        return Candidates(rules, *kept)

    def rows(self, place: int) -> Rows:
        """Return the documents of a candidate."""
        begin, end = self.members.indptr[place : place + 2]
        rows: Rows = self.members.indices[begin:end].astype(np.intp)
        return rows


def find_candidates(piles: Piles, most: int = MAX_LEARNED) -> Candidates | None:
    """Return the groups of documents that may be themes; None if there are too few words.

    Topics are learned from at most so many documents.
    """
    counts = np.asarray(piles.matrix.sum(axis=0)).ravel()
    n = piles.matrix.shape[0]
    often = np.flatnonzero(counts >= 2 + min(n // 2000, 4))
    single = np.flatnonzero(counts >= MIN_DOCUMENTS)
    if len(often) < 2 or not len(single):
        return None
    topics, space = find_topics(piles, often, most)
    found: dict[Rules, bool] = {}
    contexts = Contexts(piles)
    for topic in topics:
        for rules in contexts.parted(choose_rules(piles, topic.rows, topic.words)):
            found[rules] = True
    linked = single[counts[single] <= MAX_SHARE * n]
    linked = linked[np.argsort(-counts[linked], kind="stable")[:MAX_LINKED]]
    for rules in _linked_words(piles, np.sort(linked)):
        found.setdefault(rules, False)
    joined = [rules for rules in found if rules and not (len(rules) == 1 and len(rules[0]) == 1)]
    rows = [piles.found(rules) for rules in joined]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.concatenate(rows) if rows else np.zeros(0, np.intp)
    groups = sparse.csr_matrix(
        (np.ones(len(indices), np.float32), indices, indptr), shape=(len(rows), n)
    )
    words = piles.columns[:, single].T.tocsr().astype(np.float32)
    alone: list[Rules] = [((int(word),),) for word in single]
    members = sparse.vstack([words, groups], format="csr")
    from_topic = np.array([False] * len(alone) + [found[rules] for rules in joined])
    return Candidates(alone + joined, members, _cohesion(members, space), from_topic)


def _cohesion(members: Any, space: DocumentSpace) -> Floats:
    """Return how similar the documents of each group are: the length of their mean vector."""
    columns = members.tocsc()
    sums: Any = 0.0
    for first in range(0, columns.shape[1], BLOCK):
        part = columns[:, first : first + BLOCK].tocsr()
        sums = sums + product(part, space.vectors(np.arange(first, first + part.shape[1])))
    sizes = np.asarray(members.sum(axis=1), np.float64)
    return np.array([norm(row) for row in sums / sizes])


def choose_rules(piles: Piles, wanted: Rows, words: Rows) -> list[ANDRule]:
    """Choose ANDs of words whose OR agrees best, by F1, with a group of documents.

    `wanted` has the rows of the documents to find, and `words` the columns that rules may have, the
    strongest first.
    """
    words = words[:N_WORDS]
    rows = piles.found([[word] for word in words])
    part = piles.columns[:, words][rows].astype(np.float64).tocsc()
    target = np.zeros(len(piles.novel))
    target[wanted] = 1.0
    target = target[rows]
    ands, matches = _possible_rules(part, target)
    chosen: list[ANDRule] = []
    left = np.ones(len(rows))
    counts, score = np.zeros(2), 0.0
    lengths = np.array([len(rule) for rule in ands])
    while len(chosen) < MAX_RULES:
        gains = counts[:, None] + [matches @ (left * each) for each in (target, 1.0)]
        hits, found = gains
        scores = 2 * hits / (found + len(wanted))
        # A rule must add documents of the group, not only a few of them.
        scores[hits - counts[0] < max(MIN_MATCHES, MIN_PART * hits.max())] = 0.0
        best = int(np.argmax(scores * (1 - 1e-6 * lengths)))
        if scores[best] <= score * (1 + MIN_GAIN):
            break
        counts, score = gains[:, best], scores[best]
        left[matches[[best]].indices] = 0.0
        chosen.append(tuple(sorted(int(words[number]) for number in ands[best])))
    # Without ANDs that a shorter chosen one contains.
    return [rule for rule in chosen if not any(set(other) < set(rule) for other in chosen)]


class Contexts:
    """The words beside those of a rule, by which rules of one story are told from others."""

    def __init__(self, piles: Piles) -> None:
        self.piles, self._weigh = piles, Tfidf.of(piles.matrix)
        weighted = self._weigh(piles.matrix)
        n, n_words = piles.matrix.shape
        self._usual = np.bincount(weighted.indices, weighted.data, n_words) / n

    def parted(self, rules: Sequence[ANDRule]) -> list[Rules]:
        """Part the rules of a topic so that all rules of a part find documents of one story.

        A topic of short texts may join words that have nothing to do with each other. Two rules
        belong together if many documents match both, or if the other words of their documents are
        alike.
        """
        found = [self.piles.matching(rule) for rule in rules]
        if len(rules) < 2:
            return [tuple(rules)] if rules else []
        rows, places = np.unique(np.concatenate(found), return_inverse=True)
        indptr = np.cumsum([0, *map(len, found)])
        shape = (len(rules), len(rows))
        members = sparse.csr_array((np.ones(len(places)), places, indptr), shape=shape)
        sizes = np.array([len(each) for each in found], np.float64)
        expected = np.outer(sizes, sizes) / len(self.piles.novel)
        linked = _beyond_chance((members @ members.T).toarray(), expected)
        words = self._words(members, rows, rules)
        linked |= (words @ words.T).toarray() >= ALIKE
        n_parts, part = connected_components(linked, directed=False)
        return [
            tuple(sorted(rule for rule, own in zip(rules, part, strict=True) if own == number))
            for number in range(n_parts)
        ]

    def _words(self, members: Any, rows: Rows, rules: Sequence[ANDRule]) -> Any:
        """Return the words that the documents of one rule only have more than usual, unit rows."""
        alone = members * (np.asarray(members.sum(axis=0)).ravel() == 1)
        sizes = np.maximum(np.asarray(alone.sum(axis=1)).ravel(), 1.0)
        words = sparse.csr_array(alone @ self._weigh(self.piles.matrix[rows]))
        row_of = np.repeat(np.arange(len(rules)), np.diff(words.indptr))
        words.data = np.maximum(words.data / sizes[row_of] - self._usual[words.indices], 0.0)
        words.data[np.isin(words.indices, np.concatenate([list(rule) for rule in rules]))] = 0.0
        return unit_rows(words)


def _beyond_chance(together: Any, expected: Any) -> NDArray[np.bool_]:
    """Return which groups of documents have more in common than is expected by chance."""
    beyond: NDArray[np.bool_] = (together - expected) / np.sqrt(expected + 1) >= TOGETHER
    return beyond


def _possible_rules(part: Any, target: Floats) -> tuple[list[ANDRule], Any]:
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


def _linked_words(piles: Piles, words: Rows) -> list[Rules]:
    """Return pairs of words that occur together, and groups by average linkage on NPMI."""
    size, n = len(words), piles.matrix.shape[0]
    if size < 2:
        return []
    bags = sparse.csr_matrix(piles.matrix[:, words], dtype=np.float32)
    counts = sparse.triu(bags.T @ bags).tocoo()
    both, a, b = counts.data.astype(np.float64), counts.row, counts.col
    single = np.zeros(size)
    single[a[a == b]] = both[a == b]
    both, a, b = both[a != b], a[a != b], b[a != b]
    expected = single[a] * single[b] / n
    npmi = np.clip(log(both / expected) / np.maximum(-log(both / n), 1e-12), -1.0, 1.0)
    # A few documents with two words are no evidence that they belong together.
    npmi = np.where(_beyond_chance(both, expected), npmi, np.minimum(npmi, 0.0))
    pairs = np.flatnonzero((npmi >= MIN_LINK) & (both >= MIN_DOCUMENTS))
    pairs = pairs[np.lexsort((b[pairs], a[pairs], -both[pairs]))][:MAX_PAIRS]
    found: list[Rules] = [((int(words[a[i]]), int(words[b[i]])),) for i in pairs]
    distances = np.full(size * (size - 1) // 2, 2.0)  # of each word to those after it
    distances[a * size - a * (a + 1) // 2 + b - a - 1] = 1 - npmi
    members = {number: [number] for number in range(size)}
    tree = linkage(distances, "average")
    for number, (one, other, distance, _) in enumerate(tree.tolist()):
        if distance > 1 - MIN_LINK:
            break
        own = members[size + number] = members[int(one)] + members[int(other)]
        if len(own) <= MAX_GROUP:
            found.append(tuple((int(words[place]),) for place in sorted(own)))
    return found
