"""The table of words: scores, evidence, groups and roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from newfound.description.novelty import Evidence
from newfound.description.scores import SHARED_HIGH, SHARED_LOW, shared_role, word_scores
from newfound.rules import ClauseTable
from newfound.table import Table

__all__ = ["BEYOND_CHANCE", "WordTable"]

BEYOND_CHANCE = 2.0  # standard deviations


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

        Parameters
        ----------
        clauses : ClauseTable
            All clauses.
        documents : (2, n_words) array of int
            The number of known and of novel documents with each word.
        forms : mapping of str to iterable of str
            The forms of each word in the texts.
        evidence : Evidence
            The evidence of the documents for each word.
        stability : (n_words,) array of float, optional
            The share of machines that agree on each word; by default nan.
        shared_low, shared_high : float
            The cut-offs of `newfound.description.scores.shared_role`.

        Returns
        -------
        WordTable

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
