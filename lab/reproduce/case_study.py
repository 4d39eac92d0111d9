"""The paper's case study: the exact scores of ten words from eight clauses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from lab.reproduce.published import CASE_STUDY
from newfound.description.scores import word_scores
from newfound.rules import Clause, ClauseTable
from newfound.table import Table

__all__ = ["CLAUSES", "case_study"]

# The table "Clauses with conjunctive word patterns for known and novel class"; none has a negation.
CLAUSES = (
    Clause("known", 1, ("England", "cricket", "match", "hit", "six")),
    Clause("known", -1, ("won", "rugby", "ball")),
    Clause("known", 1, ("cricket", "six")),
    Clause("known", -1, ("rugby", "match")),
    Clause("novel", 1, ("England", "won", "rugby", "old")),
    Clause("novel", -1, ("cricket", "won", "six", "ball")),
    Clause("novel", 1, ("rugby", "match", "despite", "old")),
    Clause("novel", -1, ("cricket", "hit", "six")),
)


def case_study() -> Table:
    """Return the exact scores of the words of the paper's case study.

    Returns
    -------
    Table
        For each word its counts in the bags, the score as a fraction and as a number, the printed
        score, the difference, and whether rounding explains it.

    Examples
    --------
    >>> table = case_study()
    >>> row = table.to_records()[7]
    >>> row["word"], row["F_K"], row["F_N"], row["fraction"], row["paper"]
    ('rugby', 0, 4, '56/13', '4.651')
    """
    words = [row.word for row in CASE_STUDY]
    F_K, F_N = ClauseTable.from_clauses(CLAUSES, words).bags()
    scores = word_scores(F_K, F_N).score
    known, novel = int(F_K.sum()), int(F_N.sum())
    exact = [
        Fraction(max(n, 1) * known, max(k, 1) * novel)
        for k, n in zip(F_K.tolist(), F_N.tolist(), strict=True)
    ]
    printed = np.array([float(row.score) for row in CASE_STUDY])
    columns: dict[str, Any] = {
        "word": np.array(words, dtype=object),
        "F_K": F_K,
        "F_N": F_N,
        "fraction": np.array([f"{f.numerator}/{f.denominator}" for f in exact], dtype=object),
        "score": scores,
        "paper": np.array([row.score for row in CASE_STUDY], dtype=object),
        "difference": printed - scores,
        # The paper divides numbers truncated to two or three digits: errors of up to 2 %.
        "agrees": np.abs(printed / scores - 1) < 0.02,
    }
    return Table(columns)
