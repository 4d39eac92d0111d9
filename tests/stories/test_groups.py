"""What all groups of documents share: counts of documents, words that occur together, names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from newfound.stories.evidence import Piles
from newfound.stories.names import listed, same_stem
from newfound.stories.risen import RisenWord, group_words
from newfound.stories.themes import Theme, ThemeRule, recounted


@pytest.mark.parametrize("seed", range(5))
def test_documents_of_rules_are_those_that_have_all_words(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense, novel = rng.random((60, 8)) < 0.4, rng.random(60) < 0.5
    piles = Piles(sparse.csr_matrix(dense, dtype=np.float32), novel)
    rules = [(0,), (1, 2), (3, 4, 5)]
    matches = np.array([dense[:, list(rule)].all(axis=1) for rule in rules])
    for rule, matching in zip(rules, matches, strict=True):
        assert np.array_equal(piles.matching(rule), np.flatnonzero(matching))
    rows = piles.found(rules)
    assert np.array_equal(rows, np.flatnonzero(matches.any(axis=0)))
    known, new = piles.sides(rows)
    assert (known, new) == ((~novel[rows]).sum(), novel[rows].sum())


def test_telling_words_are_more_frequent_in_the_documents() -> None:
    rng = np.random.default_rng(0)
    dense = rng.random((200, 60)) < 0.1
    dense[:40, :3] = rng.random((40, 3)) < 0.9
    piles = Piles(sparse.csr_matrix(dense, dtype=np.float32), np.arange(200) < 100)
    words, weights = piles.telling(np.arange(40))
    assert sorted(words[:3].tolist()) == [0, 1, 2]
    assert weights.tolist() == sorted(weights, reverse=True)


def linked(bags: list[frozenset[str]], words: list[str]) -> list[set[str]]:
    """Return the groups of words that documents have together, by their definition."""
    groups = [{word} for word in words]
    for one in words:
        for other in words:
            sizes = [sum(word in bag for bag in bags) for word in (one, other)]
            both = sum(one in bag and other in bag for bag in bags)
            if one < other and both >= 2 and both >= 0.3 * min(sizes):
                joined = [group for group in groups if group & {one, other}]
                groups = [group for group in groups if group not in joined]
                groups.append(set().union(*joined))
    return groups


@pytest.mark.parametrize("seed", range(10))
def test_risen_words_are_grouped_by_the_documents_that_have_both(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"w{i}" for i in range(12)]
    bags = [frozenset(rng.choice(names, rng.integers(0, 3), replace=False)) for _ in range(30)]
    words = [RisenWord(name, 3, 0.1 * i, 1e-6) for i, name in enumerate(names)]
    groups = group_words(words, bags, [True] * len(bags))
    assert sorted(sorted(group.rules) for group in groups) == sorted(
        sorted(group) for group in linked(bags, names)
    )
    firsts = [names.index(group.words[0].word) for group in groups]
    assert firsts == sorted(firsts), "the group of the most significant word comes first"
    for group in groups:
        having = [row for row, bag in enumerate(bags) if bag & set(group.rules)]
        assert group.rows == tuple(having)


def test_a_word_of_novel_documents_finds_only_those() -> None:
    words = [RisenWord("mask", 3, 2.0, 1e-6, novel=True, pure=False)]
    bags = [frozenset({"mask"})] * 4
    (group,) = group_words(words, bags, [True, False, True, True])
    assert (group.rules, group.novel_rules, group.rows) == ((), ("mask",), (0, 2, 3))


def test_without_documents_words_have_no_rows() -> None:
    (group,) = group_words([RisenWord("mask", 3, 2.0, 1e-6)], [], [])
    assert (group.rules, group.rows) == (("mask",), ())


def test_words_that_begin_alike_are_forms_of_one() -> None:
    assert same_stem("iraq", "iraqi") and same_stem("iraq", "iraqi", most=2)
    assert same_stem("party", "parties") and not same_stem("party", "parties", most=2)
    assert not same_stem("car", "cars") and not same_stem("car", "cars", most=2)


def test_a_group_is_called_by_its_first_three_words() -> None:
    assert listed(["rain", "storm", "flood", "wind"]) == "rain, storm, flood"


def test_a_theme_of_other_documents_has_their_counts() -> None:
    none = np.zeros(0, dtype=np.intp)
    rules = (ThemeRule(("rain",), 1, 9), ThemeRule(("storm", "wind"), 0, 4))
    theme = Theme("rain", (("rain", 2.0),), rules, none, none, 0.9, 0.1, 4.0, (), ())
    other = recounted(theme, [(2, 10), (1, 30)], (3, 35), (30, 70), counted=(3, 35))
    assert [(str(rule), rule.known, rule.novel) for rule in other.rules] == [
        ("storm AND wind", 1, 30),
        ("rain", 2, 10),
    ]
    assert (other.share_known, other.share_novel) == (3 / 30, 35 / 70)
    assert (other.documents_known, other.documents_novel) == (3, 35)
    assert (other.evidence, other.name) == (theme.evidence, theme.name)
