"""Rules as arrays match what their definition says, however many and whatever they rule out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from newfound import _core
from newfound.machine.clauses import RuleSet

N = 9
RULES = st.lists(st.sets(st.integers(0, 2 * N - 1), max_size=4).map(sorted), max_size=150)


def matched(rules: list[list[int]], documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return what the definition says: all literals are true, and there is one."""
    literals = np.concatenate((documents, ~documents), axis=1)
    columns = [literals[:, rule].all(axis=1) & bool(rule) for rule in rules]
    return np.stack(columns, axis=1) if rules else np.zeros((len(documents), 0), bool)


@given(RULES, st.integers(0, 2**16))
def test_rules_match_by_definition(rules: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    documents, novel = rng.random((12, N)) < rng.random(), rng.random(12) < 0.5
    rows, made = sp.csr_array(documents), RuleSet.of(rules, N)
    expected = matched(rules, documents)
    assert len(made) == len(rules)
    assert made.matching(rows).toarray().tolist() == expected.tolist()
    sides = [expected[side].sum(axis=0).tolist() for side in (~novel, novel)]
    assert made.support(rows, novel).tolist() == sides
    plain = [[literal % N for literal in rule] for rule in rules]  # none is ruled out
    assert (
        RuleSet.of(plain, N).matching(rows).toarray().tolist() == matched(plain, documents).tolist()
    )


def test_one_copy_and_documents_out_of_order_match_the_same() -> None:
    made = RuleSet.of([[0, 2], [1, N]], N)
    rows = sp.csr_array((np.ones(3, bool), [2, 0, 1], [0, 2, 3]), (2, N))
    assert made.matching(rows).toarray().tolist() == [[True, False], [False, True]]
    assert rows.indices.tolist() == [2, 0, 1]
    assert (pickle.loads(pickle.dumps(made)).matching(rows) != made.matching(rows)).nnz == 0


def test_equal_rules_are_found_and_empty_ones_left_out() -> None:
    made = RuleSet.of([[1], [], [0, 3], [1], [0, 3], [1]], N)
    rows, groups = made.distinct(np.array([7, 7, 7, 7, 8, 7]))
    assert rows.tolist() == [0, 2, 4]
    assert groups.tolist() == [0, -1, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("begin", "literals"),
    [([0, 1], [2 * N]), ([0, 1], [-1]), ([0, 2], [1]), ([], []), ([1, 0], [])],
)
def test_arrays_that_do_not_fit_are_refused(begin: list[int], literals: list[int]) -> None:
    with pytest.raises(ValueError, match=r"begin must run|literals must be"):
        _core.RuleSet(np.array(begin, np.int64), np.array(literals, np.int32), N)
    made = _core.RuleSet(np.array([0, 1]), np.array([1], np.int32), N)
    with pytest.raises(ValueError, match="one entry for each document"):
        made.count(np.array([0, 1]), np.array([1], np.int32), np.array([True, False]))
