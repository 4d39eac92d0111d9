"""Clauses are rules to read, to search, to fold, and they match what the machine says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_random_state  # type: ignore[import-untyped,unused-ignore]

from newfound.description.context import ContextIndex
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import Clauses
from newfound.rules import (
    Clause,
    ClauseTable,
    Rule,
)
from newfound.sides import SIDES
from work import count_calls

WORDS = ("ball", "rugby", "scrum", "try", "wicket")


def some_clauses() -> ClauseTable:
    return ClauseTable.from_clauses(
        [
            Clause("novel", 1, ("rugby", "scrum"), ("wicket",), 1, 8),
            Clause("known", -1, ("rugby", "scrum"), ("wicket",), 1, 8),
            Clause("known", 1, ("wicket",), (), 30, 2),
            Clause("novel", -1, ("ball",), ("rugby",), 20, 0),
            Clause("novel", 1),
            Clause("known", 1, ("rugby", "scrum"), ("wicket",), 1, 8),
        ],
        WORDS,
    )


def random_table(n_clauses: int, n_words: int, n_literals: int, seed: int = 0) -> ClauseTable:
    rng = np.random.default_rng(seed)
    literals = [np.sort(rng.permutation(2 * n_words)[:n_literals]) for _ in range(n_clauses)]
    matches = rng.integers(0, 500, n_clauses)
    arrays = Clauses(
        class_index=np.repeat([0, 1], n_clauses // 2).astype(np.int32),
        polarity=np.tile([1, -1], n_clauses // 2).astype(np.int8),
        indptr=np.arange(n_clauses + 1, dtype=np.int64) * n_literals,
        literals=np.concatenate(literals).astype(np.int32),
        matches=matches,
        agrees=rng.integers(0, matches + 1),
        n_features=n_words,
    )
    return ClauseTable(arrays, [f"w{i}" for i in range(n_words)])


class TestClause:
    @pytest.mark.parametrize(
        ("class_name", "polarity", "side"),
        [
            ("known", 1, "known"),
            ("novel", -1, "known"),
            ("novel", 1, "novel"),
            ("known", -1, "novel"),
        ],
    )
    def test_side(self, class_name: str, polarity: int, side: str) -> None:
        clause = Clause(class_name, polarity, ("a",), (), 3, 1)
        assert clause.side == side
        assert clause.precision == (0.75 if side == "known" else 0.25)
        assert clause.support == (3 if side == "known" else 1)

    def test_it_reads_as_a_rule(self) -> None:
        clause = Clause("novel", 1, ("rugby", "scrum"), ("wicket",))
        assert str(clause) == "rugby AND scrum AND NOT wicket → novel"
        assert str(Clause("known", 1)) == "(empty) → known"

    def test_precision_without_matches_is_not_a_number(self) -> None:
        assert np.isnan(Clause("novel", 1, ("a",)).precision)
        assert Clause("novel", 1, ("a",)).to_dict()["precision"] is None

    @pytest.mark.parametrize(("name", "polarity"), [("old", 1), ("known", 0)])
    def test_a_wrong_class_or_polarity_is_refused(self, name: str, polarity: int) -> None:
        with pytest.raises(ValueError, match="expected 'known' or 'novel'"):
            Clause(name, polarity)


class TestRule:
    def test_it_names_the_class_it_votes_for_or_against(self) -> None:
        assert str(Rule("billing", 1, ("pay",), ("flight",))) == "pay AND NOT flight → billing"
        assert str(Rule("billing", -1, ("flight",))) == "flight → not billing"
        assert str(Rule(3, 1)) == "(empty) → 3"

    @pytest.mark.parametrize(
        ("present", "matches"),
        [
            ({"a", "b"}, True),
            ({"a", "b", "x"}, True),
            ({"a"}, False),
            ({"a", "b", "c"}, False),
            (set(), False),
        ],
    )
    def test_it_matches_what_has_its_words(self, present: set[str], matches: bool) -> None:
        assert Rule("x", 1, ("a", "b"), ("c",)).matches(present) is matches

    def test_an_empty_rule_matches_nothing(self) -> None:
        assert not Rule("x", 1).matches({"a"})

    def test_a_clause_is_a_rule(self) -> None:
        clause = Clause("known", -1, ("a",), (), 1, 3, held_out_matches=4, held_out_support=3)
        assert isinstance(clause, Rule)
        assert (clause.n_matches, clause.support, clause.held_out_precision) == (4, 3, 0.75)
        assert eval(repr(clause)) == clause
        assert hash(clause) == hash(eval(repr(clause)))


class TestClauseTable:
    def test_clauses_come_back_as_they_were_given(self) -> None:
        table = some_clauses()
        assert len(table) == 6
        assert table[0] == Clause("novel", 1, ("rugby", "scrum"), ("wicket",), 1, 8)
        assert table[-1].side == "known"
        assert list(table) == [table[i] for i in range(6)]
        with pytest.raises(IndexError):
            table[6]

    def test_a_slice_or_a_mask_is_a_table(self) -> None:
        table = some_clauses()
        assert list(table[1:3]) == [table[1], table[2]]
        assert list(table[table.side == "known"]) == [table[2], table[3], table[5]]
        assert table[[3, 0]][0] == table[3]
        assert len(table[:0]) == 0

    def test_columns_agree_with_the_clauses(self) -> None:
        table = some_clauses()
        assert table.side.tolist() == [clause.side for clause in table]
        assert table.support.tolist() == [clause.support for clause in table]
        np.testing.assert_array_equal(table.precision, [clause.precision for clause in table])

    def test_duplicates_fold_by_words_and_side_and_empty_ones_go(self) -> None:
        folded = some_clauses().fold()
        assert [(str(clause), clause.count) for clause in folded] == [
            ("rugby AND scrum AND NOT wicket → novel", 2),
            ("wicket → known", 1),
            ("ball AND NOT rugby → known", 1),
            ("rugby AND scrum AND NOT wicket → known", 1),
        ]

    def test_folding_changes_no_bag_and_no_context(self) -> None:
        rng = np.random.default_rng(0)
        table = random_table(200, 20, 3)
        table = table[rng.integers(0, 200, 600)]
        folded = table.fold()
        assert len(folded) < len(table)
        assert len(folded.fold()) == len(folded)
        for one, other in zip(table.bags(), folded.bags(), strict=True):
            assert one.tolist() == other.tolist()
        whole, short = (ContextIndex(t).partners("w3").to_dict() for t in (table, folded))
        assert whole == short

    @pytest.mark.parametrize(
        ("by", "first"),
        [
            ("gain", "rugby AND scrum AND NOT wicket → novel"),
            ("support", "wicket → known"),
            ("precision", "ball AND NOT rugby → known"),
            ("count", "rugby AND scrum AND NOT wicket → novel"),
            ("length", "wicket → known"),
        ],
    )
    def test_sorting(self, by: str, first: str) -> None:
        assert str(some_clauses().fold().sorted(by)[0]) == first

    def test_sorting_the_other_way_and_by_nothing_known(self) -> None:
        support = some_clauses().sorted("support", descending=False).support.tolist()
        assert support == sorted(support)
        with pytest.raises(ValueError, match="by='size': expected one of gain"):
            some_clauses().sorted("size")

    def test_clauses_with_a_plain_word_can_stand_first(self) -> None:
        table = ClauseTable.from_clauses(
            [Clause("known", 1, (), ("try",), 9, 0), Clause("novel", 1, ("try",), (), 5, 6)]
        )
        assert str(table.sorted()[0]) == "NOT try → known"
        assert str(table.sorted(plain_first=True)[0]) == "try → novel"

    def test_gain_weighs_the_sides_by_their_size(self) -> None:
        clause = Clause("novel", 1, ("try",), (), 10, 5)
        table = ClauseTable(
            ClauseTable.from_clauses([clause]).arrays, ["try"], n_documents=(100, 10)
        )
        assert table.gain.tolist() == [0.4]

    def test_containing_finds_plain_and_negated_words(self) -> None:
        table = some_clauses()
        assert len(table.containing("rugby")) == 4
        assert len(table.containing("rugby", negated=False)) == 3
        assert [str(clause) for clause in table.containing("rugby", plain=False)] == [
            "ball AND NOT rugby → known"
        ]
        assert len(table.containing("try")) == 0

    def test_an_unknown_word_gets_near_ones(self) -> None:
        with pytest.raises(ValueError, match=r"'rugbi' is not in .* did you mean 'rugby'\?"):
            some_clauses().containing("rugbi")
        with pytest.raises(ValueError, match=r"of 5 words\.$"):
            some_clauses().containing("zzzzzz")

    def test_words_that_many_clauses_have_stand_first(self) -> None:
        table = ClauseTable.from_clauses(
            [Clause("novel", 1, ("a", "z"), ("b", "y")), Clause("novel", 1, ("z",), ("y",))]
        )
        assert str(table[0]) == "z AND a AND NOT y AND NOT b → novel"
        assert str(table[:1][0]) == str(table[0])

    def test_a_vocabulary_of_the_wrong_size_is_refused(self) -> None:
        with pytest.raises(ValueError, match="2 words, the clauses 5 features"):
            ClauseTable(some_clauses().arrays, ["a", "b"])

    def test_repr_shows_the_first(self) -> None:
        assert repr(some_clauses()).startswith("<6 clauses>\nrugby AND scrum")
        assert repr(some_clauses()).endswith("... 1 more")


class TestBags:
    @given(st.integers(0, 2**32 - 1))
    def test_bags_and_roles_are_those_of_a_plain_loop(self, seed: int) -> None:
        table = random_table(20, 6, 3, seed)
        counted: dict[str, NDArray[Any]] = {side: np.zeros(6, int) for side in SIDES}
        for clause in table:
            other = SIDES[clause.side == "known"]
            for word in set(clause.plain):
                counted[clause.side][int(word[1:])] += 1
            for word in set(clause.negated):
                counted[other][int(word[1:])] += 1
        for side, bag, matrix in zip(SIDES, table.bags(), table.roles(), strict=True):
            assert bag.tolist() == counted[side].tolist()
            assert matrix.sum(axis=0).tolist() == counted[side].tolist()


class TestMatching:
    def test_it_agrees_with_the_machine(self) -> None:
        rng = check_random_state(0)
        X = rng.rand(80, 30) < 0.3
        y = np.where(X[:, 0] | X[:, 1], "novel", "known")
        machine = TsetlinMachineClassifier(n_clauses=40, T=10, epochs=5, random_state=0).fit(X, y)
        table = ClauseTable(machine.clauses_, [f"w{i}" for i in range(30)])
        expected = machine.matching_clauses(X).toarray()
        found = np.array([table.matching(np.flatnonzero(row)) for row in X])
        assert expected.any()
        np.testing.assert_array_equal(found, expected)
        novel = y == "novel"
        np.testing.assert_array_equal(table.matches_novel, expected[novel].sum(axis=0))
        np.testing.assert_array_equal(table.matches_known, expected[~novel].sum(axis=0))

    @given(st.integers(0, 2**16), st.sets(st.integers(0, 5)))
    def test_the_array_and_the_record_agree(self, seed: int, present: set[int]) -> None:
        vocabulary = [f"w{i}" for i in range(6)]
        clauses = random_table(40, 6, 3, seed).arrays
        words = {vocabulary[i] for i in present}
        rules = [Rule(0, 1, *clauses.words(row, vocabulary)) for row in range(len(clauses))]
        document = csr_array(np.isin(np.arange(6), sorted(present))[None])
        matched = clauses.matching(document).toarray()[0].tolist()
        assert matched == [rule.matches(words) for rule in rules]

    def test_an_empty_clause_matches_nothing(self) -> None:
        assert some_clauses().matching([0]).tolist() == [False, False, False, True, False, False]


class TestSpeed:
    def test_20_000_clauses_take_no_loop_over_literals(self) -> None:
        table = random_table(20_000, 8_000, 40)
        index = ContextIndex(table)
        words = [f"w{i}" for i in range(200)]
        for task, limit in (
            (table.bags, 10_000),
            (lambda: table.fold().sorted(), 100_000),
            (lambda: table.containing("w5"), 1_000),
            (lambda: table.matching([1, 2, 3]), 1_000),
            (lambda: index.partners("w5"), 20_000),
            (lambda: index.matrix(words), 20_000),
        ):
            assert count_calls(task) < limit
