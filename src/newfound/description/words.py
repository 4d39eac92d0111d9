"""Tables of words and of phrases: words that strong rules use together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.description.novelty import Evidence
from newfound.description.scores import SHARED_HIGH, SHARED_LOW, shared_role, word_scores
from newfound.machine.clauses import RuleSet, rows_with
from newfound.rules import ClauseTable
from newfound.sides import SIDES
from newfound.stories.evidence import DocumentWeights, evidence_of_sets
from newfound.table import Table
from newfound.timing import step

__all__ = [
    "BEYOND_CHANCE",
    "WordTable",
    "find_phrases",
    "phrase_table",
]

BEYOND_CHANCE = 2.0  # standard deviations
MOST_CANDIDATES = 20_000
SAME = 0.6  # pairs are merged if they share this part of their documents
LONGEST = 4
_AT_A_TIME = 2_000


class WordTable(Table):
    """The words of known and novel documents, the most novel first.

    Columns: ``word``; ``novelty``, by which words are ranked: how sure it is that the word is new,
    in standard deviations, above 0 for novel and below 0 for known; ``times``, how many times more
    frequent it is in novel documents, shrunk, with its 90 % interval ``low`` and ``high``; ``q``,
    the expected share of false discoveries among the words of the same side up to this one;
    ``share`` and ``share_known``, the share of the novel and of the known documents that have it
    (see `newfound.description.novelty`); ``score``, that of the paper, and ``log_score``
    (natural logarithm), nan for a word in no clause; ``F_K``, ``F_N``, its counts in the bags;
    ``p_K``, ``p_N``, its shares of the bags, a count of 0 taken as 1; ``stability``, the share of
    the machines with the word in their rules that put it on the side of its score;
    ``documents_known``, ``documents_novel``, the number of documents with the word; ``group``,
    "known", "novel" or "shared", by which documents have it; ``role``, for a shared word "known",
    "novel" or "common" by its score, else empty; ``forms``, its forms in the texts, the most
    frequent first.
    """

    @classmethod
    def from_clauses(
        cls,
        clauses: ClauseTable,
        documents: NDArray[np.int64],
        forms: Mapping[str, Iterable[str]],
        evidence: Evidence,
        *,
        stability: NDArray[np.float64] | None = None,
        shared_low: float = SHARED_LOW,
        shared_high: float = SHARED_HIGH,
    ) -> WordTable:
        """Return the words of clauses, with their scores.

        Examples
        --------
        >>> from newfound.rules import Clause
        >>> clauses = ClauseTable.from_clauses([Clause("novel", 1, ("try",), ("wicket",))])
        >>> evidence = Evidence(*(np.array([2.5, -1.0]) for _ in range(5)))
        >>> documents = np.array([[0, 3], [2, 1]])
        >>> words = WordTable.from_clauses(clauses, documents, {"try": ["tries"]}, evidence)
        >>> words["word"].tolist(), words["score"].tolist(), words["group"].tolist()
        (['try', 'wicket'], [1.0, 1.0], ['novel', 'shared'])
        """
        F_K, F_N = clauses.bags()
        scores = word_scores(F_K, F_N)
        shared = (documents > 0).all(axis=0)
        group = np.select([shared, documents[0] > 0], ["shared", "known"], "novel")
        role = np.where(shared, shared_role(scores.score, shared_low, shared_high), "")
        behind = np.empty(len(F_K), dtype=object)
        behind[:] = [tuple(forms.get(word, ())) for word in clauses.vocabulary]
        words = cls(
            {
                "word": np.array(clauses.vocabulary, dtype=object),
                **evidence._asdict(),
                "share": documents[1] / max(clauses.n_documents[1], 1),
                "share_known": documents[0] / max(clauses.n_documents[0], 1),
                "score": scores.score,
                "log_score": scores.log_score,
                "F_K": F_K,
                "F_N": F_N,
                "p_K": scores.p_K,
                "p_N": scores.p_N,
                "stability": np.full(len(F_K), np.nan) if stability is None else stability,
                "documents_known": documents[0],
                "documents_novel": documents[1],
                "group": group,
                "role": role,
                "forms": behind,
            }
        )
        # Ties: by score, by the clauses that have the word, then in the order of the vocabulary.
        score = np.nan_to_num(scores.score, nan=-1.0)
        return words.take(np.lexsort((-(F_K + F_N), -score, -evidence.novelty)))

    def top(self, n: int = 20, by: str = "novelty", *, ascending: bool = False) -> Self:
        """Return the n rows with the greatest values of a column, or the smallest.

        Parameters
        ----------
        n : int, default=20
            The number of rows.
        by : str, default="novelty"
            The column, such as "score" for the paper's; rows where it is nan are left out.
        ascending : bool, default=False
            Return the smallest values instead.

        Returns
        -------
        WordTable
        """
        return super().top(n, by, ascending=ascending)

    def __contains__(self, word: object) -> bool:
        return word in self._rows

    def number(self, word: str) -> int:
        """Return the number of a word's row."""
        if word not in self._rows:
            raise KeyError(f"There is no word {word!r} in the table.")
        return self._rows[word]

    def row(self, word: str) -> dict[str, Any]:
        """Return the row of a word as a dict."""
        number = self.number(word)
        return self.take(slice(number, number + 1)).to_records()[0]

    def only(self, group: str) -> WordTable:
        """Return the words of one group: "known", "novel" or "shared"."""
        if group not in ("known", "novel", "shared"):
            raise ValueError(f"group={group!r}: expected 'known', 'novel' or 'shared'.")
        return self.take(self["group"] == group)

    @cached_property
    def sides(self) -> NDArray[np.str_]:
        """The side that each word indicates: "novel", "known", or "neither" if it may be chance.

        It is sure if the q-value is at most 5 %, and so the whole interval of ``times`` on that
        side, and if the novelty is beyond what chance reaches.
        """
        novel = (self["low"] > 1) & (self["novelty"] >= BEYOND_CHANCE)
        known = (self["high"] < 1) & (self["novelty"] <= -BEYOND_CHANCE)
        return np.select([novel, known], ["novel", "known"], "neither")

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self["word"].tolist())}


@step("phrases")
def find_phrases(
    clauses: ClauseTable,
    matrix: Any,
    weights: DocumentWeights,
    *,
    held_out: ArrayLike = (),
    most: int = 200,
) -> Table:
    """Find words that occur together on one side more often than by chance.

    Candidates are the pairs of plain words of the clauses of a side. The strength of a pair is the
    smaller of two values: the novelty of the documents with both words, computed as for a word,
    and how much more often the two words occur together in documents of that side than by chance,
    in standard deviations. Pairs that share a word and most of their documents are merged.
    Documents that were held out take no part in the strength, so ``held_out_precision`` is honest.

    Examples
    --------
    >>> from newfound.stories.evidence import document_weights
    >>> from newfound.rules import Clause
    >>> clauses = ClauseTable.from_clauses([Clause("novel", 1, ("fly", "half"), ("wicket",))] * 2)
    >>> matrix = sparse.csr_array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 0], [0, 0, 1]] * 8)
    >>> weights = document_weights(matrix, [False, False, True, True, True] * 8)
    >>> phrases = find_phrases(clauses, matrix, weights)
    >>> phrases["phrase"].tolist(), phrases["documents_novel"].tolist()
    (['fly AND half'], [16])
    """
    bags = sparse.csc_array(matrix, dtype=np.float64)
    kept = np.zeros(bags.shape[0], bool)
    kept[np.asarray(held_out, np.intp)] = True
    found: list[dict[str, Any]] = []
    for side in SIDES:
        found += _of_side(clauses, bags, weights, side, most, kept)
    found.sort(key=lambda row: -row["strength"])
    return phrase_table(found[:most])


def _of_side(
    clauses: ClauseTable,
    bags: Any,
    weights: DocumentWeights,
    side: str,
    most: int,
    kept: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    rows = np.flatnonzero((clauses.side == side) & (np.diff(clauses.plain.indptr) > 1))
    plain = clauses.plain[rows].astype(np.int64)
    counts = clauses.counts[rows]
    pairs = sparse.triu((plain.T * counts) @ plain, k=1).tocoo()
    order = np.lexsort((pairs.col, pairs.row, -pairs.data))[:MOST_CANDIDATES]
    left, right, times = pairs.row[order], pairs.col[order], pairs.data[order]
    own = weights.novel if side == "novel" else ~weights.novel
    novelty, strength = np.zeros(len(left)), np.zeros(len(left))
    direction = 1.0 if side == "novel" else -1.0
    chosen_on = sparse.csr_array(bags.multiply(~kept[:, None]))
    chosen_on.eliminate_zeros()
    n_words = bags.shape[1]
    frequency = np.asarray(chosen_on[own].sum(axis=0)).ravel()
    for start in range(0, len(left), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        pair = np.stack((left[part], right[part]), axis=1)
        both = RuleSet.of(pair, n_words).matching(chosen_on)
        novelty[part] = evidence_of_sets(both, weights)
        together = both.T @ own.astype(np.float64)
        chance = frequency[left[part]] * frequency[right[part]] / max(int(own[~kept].sum()), 1)
        drawn = (together - chance) / np.sqrt(chance + 1)
        strength[part] = np.minimum(direction * novelty[part], drawn)
        strength[part][together < 2] = 0.0
    best = np.lexsort((right, left, -times, -strength))
    best = best[strength[best] > 1.0][: 5 * most]
    folded = _folded(bags, [(int(left[i]), int(right[i]), float(strength[i])) for i in best], most)
    sets = RuleSet.of([words for words, _ in folded], n_words).matching(bags.tocsr()).tocsc()
    sure, found = evidence_of_sets(sets, weights), []
    for number, ((words, strong), novelty_here) in enumerate(
        zip(folded, sure.tolist(), strict=True)
    ):
        here = sets.indices[sets.indptr[number] : sets.indptr[number + 1]]
        having = np.asarray(plain[:, words].sum(axis=1)).ravel() == len(words)
        if not having.any():  # the pairs of a longer phrase may be of different clauses
            having = np.asarray(plain[:, words].sum(axis=1)).ravel() >= 2
        n_own, n_all = int(own[here].sum()), len(here)
        others = here[kept[here]]
        names = tuple(clauses.vocabulary[word] for word in words)
        found.append(
            {
                "phrase": " AND ".join(names),
                "words": names,
                "side": side,
                "count": int(counts[having].sum()),
                "documents_known": n_own if side == "known" else n_all - n_own,
                "documents_novel": n_own if side == "novel" else n_all - n_own,
                "precision": n_own / n_all if n_all else np.nan,
                "held_out_precision": own[others].mean() if len(others) else np.nan,
                "novelty": novelty_here,
                "strength": strong,
            }
        )
    return found


def _folded(
    bags: Any, pairs: list[tuple[int, int, float]], most: int
) -> list[tuple[list[int], float]]:
    """Merge pairs that share a word and most of their documents.

    The other word of the weaker pair joins the phrase if most documents with any of the words
    have all of them.
    """
    phrases: list[tuple[list[int], float]] = []
    documents: list[NDArray[np.intp]] = []
    for left, right, strength in pairs:
        here = rows_with(bags, [left, right])
        for number, (words, _) in enumerate(phrases):
            shared = {left, right} & set(words)
            if not shared:
                continue
            common = np.intersect1d(here, documents[number], assume_unique=True)
            if len(common) < SAME * len(np.union1d(here, documents[number])):
                continue
            longer = sorted({*words, left, right})
            if len(words) < len(longer) <= LONGEST and _tight(bags, longer, common):
                words.extend({left, right} - shared)
                documents[number] = common
            break
        else:
            if len(phrases) < most:
                phrases.append(([left, right], strength))
                documents.append(here)
    return phrases


def _tight(bags: Any, words: list[int], common: NDArray[np.intp]) -> bool:
    """Return whether at least half of the documents with any of the words have all of them."""
    columns = [bags.indices[bags.indptr[word] : bags.indptr[word + 1]] for word in words]
    return 2 * len(common) >= len(np.unique(np.concatenate(columns)))


def phrase_table(rows: list[dict[str, Any]]) -> Table:
    """Return the table of `find_phrases` from its rows."""
    words = np.empty(len(rows), dtype=object)
    words[:] = [row["words"] for row in rows]
    columns: dict[str, NDArray[Any]] = {
        "phrase": np.array([row["phrase"] for row in rows], dtype=object),
        "words": words,
        "side": np.array([row["side"] for row in rows], dtype=object),
    }
    for name in ("count", "documents_known", "documents_novel"):
        columns[name] = np.array([row[name] for row in rows], np.int64)
    for name in ("precision", "held_out_precision", "novelty", "strength"):
        columns[name] = np.array([row[name] for row in rows], np.float64)
    return Table(columns)
