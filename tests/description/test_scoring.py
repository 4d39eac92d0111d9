"""Word scores and contextual scores: the paper's own numbers, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse  # type: ignore[import-untyped,unused-ignore]

from newfound.description.scores import context_counts, context_scores, shared_role, word_scores
from newfound.rules import Clause, ClauseTable

# The table "Clauses with conjunctive word patterns for known and novel class".
CASE_STUDY = [
    Clause("known", 1, ("England", "cricket", "match", "hit", "six")),
    Clause("known", -1, ("won", "rugby", "ball")),
    Clause("known", 1, ("cricket", "six")),
    Clause("known", -1, ("rugby", "match")),
    Clause("novel", 1, ("England", "won", "rugby", "old")),
    Clause("novel", -1, ("cricket", "won", "six", "ball")),
    Clause("novel", 1, ("rugby", "match", "despite", "old")),
    Clause("novel", -1, ("cricket", "hit", "six")),
]
# F_K, F_N and the exact score; beside it what the paper prints, from rounded fractions.
EXACT = {
    "England": (1, 1, Fraction(14, 13), 1.070),
    "ball": (1, 1, Fraction(14, 13), 1.070),
    "won": (1, 2, Fraction(28, 13), 2.169),
    "match": (1, 2, Fraction(28, 13), 2.169),
    "cricket": (4, 0, Fraction(14, 52), 0.271),
    "six": (4, 0, Fraction(14, 52), 0.271),
    "hit": (2, 0, Fraction(14, 26), 0.535),
    "rugby": (0, 4, Fraction(56, 13), 4.651),
    "despite": (0, 1, Fraction(14, 13), 1.15),
    "old": (0, 2, Fraction(28, 13), 2.31),
}
COUNTS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=30)


class TestCaseStudy:
    def test_bags_and_scores_are_the_exact_fractions(self) -> None:
        table = ClauseTable.from_clauses(CASE_STUDY, [*EXACT, "unused"])
        F_K, F_N = table.bags()
        scores = word_scores(F_K, F_N)
        assert (F_K.sum(), F_N.sum()) == (14, 13)
        for i, (word, (known, novel, exact, printed)) in enumerate(EXACT.items()):
            assert (F_K[i], F_N[i]) == (known, novel), word
            assert scores.score[i] == float(exact), word
            assert scores.score[i] == pytest.approx(printed, rel=0.08), word
            assert scores.log_score[i] == np.log(float(exact))

    def test_a_word_in_no_clause_is_not_ranked(self) -> None:
        table = ClauseTable.from_clauses(CASE_STUDY, [*EXACT, "unused"])
        F_K, F_N = table.bags()
        scores = word_scores(F_K, F_N)
        assert scores.ranked.tolist() == [True] * 10 + [False]
        assert np.isnan([scores.score[-1], scores.log_score[-1]]).all()
        assert (scores.p_K[-1], scores.p_N[-1]) == (0, 0)

    def test_relative_frequencies_are_those_of_the_paper(self) -> None:
        table = ClauseTable.from_clauses(CASE_STUDY)
        scores = word_scores(*table.bags())
        match, rugby = table.column("match"), table.column("rugby")
        assert (scores.p_K[match], scores.p_N[match]) == (1 / 14, 2 / 13)
        assert (scores.p_K[rugby], scores.p_N[rugby]) == (1 / 14, 4 / 13)

    def test_negated_words_go_into_the_other_bag(self) -> None:
        table = ClauseTable.from_clauses(
            [
                Clause("known", 1, (), ("a",)),
                Clause("known", -1, (), ("b",)),
                Clause("novel", 1, (), ("b",)),
                Clause("novel", -1, (), ("a",)),
            ]
        )
        F_K, F_N = table.bags()
        assert (F_K.tolist(), F_N.tolist()) == ([0, 2], [2, 0])


class TestWordScores:
    @given(COUNTS)
    def test_score_is_the_formula_with_floors_but_totals_without(
        self, counts: list[tuple[int, int]]
    ) -> None:
        known, novel = (list(column) for column in zip(*counts, strict=True))
        scores = word_scores(known, novel)
        for i, (k, n) in enumerate(counts):
            if not k and not n:
                assert np.isnan(scores.score[i])
                continue
            exact = Fraction(max(n, 1) * max(sum(known), 1), max(k, 1) * max(sum(novel), 1))
            assert scores.score[i] == pytest.approx(float(exact), rel=1e-15)
            assert scores.score[i] == pytest.approx(scores.p_N[i] / scores.p_K[i])

    @given(COUNTS)
    def test_swapping_the_sides_inverts_the_scores(self, counts: list[tuple[int, int]]) -> None:
        known, novel = (list(column) for column in zip(*counts, strict=True))
        there, back = word_scores(known, novel), word_scores(novel, known)
        np.testing.assert_allclose(there.log_score, -back.log_score, atol=1e-9)

    def test_an_empty_bag_keeps_scores_finite(self) -> None:
        assert word_scores([0, 0], [3, 1]).score.tolist() == [0.75, 0.25]

    @pytest.mark.parametrize("bad", [[-1, 2], [0.5, 1.0], [[1, 2]]])
    def test_what_is_no_count_is_refused(self, bad: list[float]) -> None:
        with pytest.raises(ValueError, match="F_N: expected a list of counts"):
            word_scores([1, 2], bad)

    def test_counts_of_different_length_are_refused(self) -> None:
        with pytest.raises(ValueError, match="F_K has 2 words, F_N 3"):
            word_scores([1, 2], [1, 2, 3])


class TestSharedRole:
    def test_cut_offs_belong_to_the_sides(self) -> None:
        roles = shared_role([0.25, 0.2500001, 3.9999, 4.0, np.nan])
        assert roles.tolist() == ["known", "common", "common", "novel", "common"]

    def test_cut_offs_can_be_given(self) -> None:
        assert shared_role([0.4, 1.9, 2.0], low=0.5, high=2).tolist() == [
            "known",
            "common",
            "novel",
        ]

    @pytest.mark.parametrize(("low", "high"), [(4, 4), (5, 4), (-1, 4), (float("nan"), 4)])
    def test_cut_offs_out_of_order_are_refused(self, low: float, high: float) -> None:
        with pytest.raises(ValueError, match="expected 0 <= low < high"):
            shared_role([1.0], low, high)


class TestContext:
    @pytest.mark.parametrize(
        ("F_i", "F_j", "F_ij", "printed"),
        [
            (236, 201, 15, 6.324),  # Manchester, Chelsea
            (236, 161, 9, 4.738),  # Manchester, Particular
            (236, 1282, 5, 0.33),  # Manchester, Rugby
            (236, 300, 3, 0.848),  # Manchester, Flyhalf
            (201, 161, 10, 6.18),  # Chelsea, Particular
            (201, 1282, 6, 0.466),  # Chelsea, Rugby
            (201, 300, 4, 1.326),  # Chelsea, Flyhalf
            (161, 1282, 26, 2.52),  # Particular, Rugby
            (161, 300, 12, 4.968),  # Particular, Flyhalf
            (1282, 300, 76, 3.952),  # Rugby, Flyhalf
        ],
    )
    def test_lift_is_what_the_table_for_bbc_sport_prints(
        self, F_i: int, F_j: int, F_ij: int, printed: float
    ) -> None:
        lift, pmi, _ = context_scores(F_i, F_j, F_ij, 20_000)
        assert lift == pytest.approx(printed, abs=0.001)
        assert pmi == pytest.approx(np.log(F_ij * 20_000 / (F_i * F_j)))

    def test_the_equation_divides_pairs_by_clauses_and_words_by_the_bag(self) -> None:
        scores = context_scores(4, 5, 2, M=100, bag_size=60, m=50)
        assert scores.equation == pytest.approx((2 / 50) / ((4 / 60) * (5 / 60)))
        assert np.isnan(context_scores(4, 5, 2, M=100).equation)

    def test_words_never_together_and_words_never_there(self) -> None:
        lift, pmi, _ = context_scores([3, 0], [3, 3], [0, 0], 10, bag_size=9)
        assert lift[0] == 0
        assert pmi[0] == -np.inf
        assert np.isnan([lift[1], pmi[1]]).all()

    @given(st.integers(0, 2**32 - 1))
    def test_counts_are_those_of_a_plain_loop(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        dense = rng.random((12, 7)) < 0.4
        counts = rng.integers(1, 4, 12)
        words, others = [2, 5], [5, 0, 1]
        F_i, F_j, F_ij = context_counts(sparse.csr_array(dense), words, others, counts=counts)
        assert F_i.tolist() == [counts[dense[:, i]].sum() for i in words]
        assert F_j.tolist() == [counts[dense[:, j]].sum() for j in others]
        expected = [[counts[dense[:, i] & dense[:, j]].sum() for j in others] for i in words]
        assert F_ij.tolist() == expected
