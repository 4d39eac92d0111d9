"""The evidence for words: its formula, its intervals, its q-values, and where it must be shy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression

from newfound.description.novelty import (
    FEW,
    PRIOR,
    STRENGTH,
    Evidence,
    document_weights,
    evidence_of_counts,
    q_values,
    word_evidence,
)

Bools = NDArray[np.bool_]


def zipf_documents(
    n: int, *, words: int = 400, length: int = 30, seed: int | list[int] = 0, planted: int = 0
) -> tuple[Any, Bools]:
    """Draw documents of frequent and rare words, half of them novel.

    The first `planted` words, rare and frequent ones, are three times as likely in novel ones, and
    the next ones in known ones.
    """
    rng = np.random.default_rng(seed)
    rates = 1 / np.random.default_rng(99).permutation(np.arange(1, words + 1))
    novel = np.arange(n) % 2 == 1
    lengths = rng.gamma(3.0, length / 3, n)
    more = np.ones((2, words))
    more[1, :planted] = more[0, planted : 2 * planted] = 3.0
    rate = lengths[:, None] * (rates / rates.sum()) * more[novel.astype(int)]
    return sparse.csr_array(rng.random((n, words)) < 1 - np.exp(-rate)), novel


def slow_weights(bags: NDArray[np.int64], novel: Bools) -> list[float]:
    """Weigh documents one by one, as the documentation has it."""
    tfidf = TfidfTransformer().fit_transform(sparse.csr_matrix(bags))
    judge = LogisticRegression(C=STRENGTH, tol=1e-6, max_iter=1000).fit(tfidf, novel)
    chance = judge.predict_proba(tfidf)[:, 1]
    lengths = [int(row.sum()) for row in bags]
    typical = np.median([length for length in lengths if length])
    weights = []
    for length, is_novel, p in zip(lengths, novel, chance, strict=True):
        left = max(round(float(1 - p if is_novel else p), 4), 1e-4)
        weights.append(left / (1 + length / typical) if length else 0.0)
    for side in (False, True):
        mine = [bool(is_novel) is side for is_novel in novel]
        mass = sum(w * n for w, n, own in zip(weights, lengths, mine, strict=True) if own)
        weights = [w / mass if own else w for w, own in zip(weights, mine, strict=True)]
    middle = np.median([w for w, length in zip(weights, lengths, strict=True) if length])
    return [float(w / middle) for w in weights]


def slow_evidence(bags: NDArray[np.int64], weights: list[float], novel: Bools) -> NDArray[Any]:
    """Give novelty, low and high of each word by sums over its documents."""
    shares = []
    for column in bags.T:
        documents = zip(weights, novel, column, strict=True)
        shares.append([w if is_novel else -w for w, is_novel, there in documents if there])
    full = [(w, bool(is_novel)) for w, is_novel in zip(weights, novel, strict=True) if w > 0]
    known, new = (np.mean([w for w, own in full if own is side]) for side in (False, True))
    share = sum(own for _, own in full) / len(full)
    # The mean square of a document's weight if chance gave it its side.
    mixed = (1 - share) * known**2 + share * new**2

    def by_chance(w: float) -> float:
        return float(w * w * mixed / (new if w > 0 else known) ** 2)

    usual = sum(by_chance(w) for mine in shares for w in mine) / sum(map(len, shares))
    rows = []
    for mine in shares:
        squares = sum(w * w for w in mine)
        variance = max(squares, sum(map(by_chance, mine))) + PRIOR
        novelty = sum(mine) / variance**0.5
        fresh = len(mine) * (squares + FEW * usual) / (len(mine) + FEW)
        reach = 1.6448536269514722 * (2 * fresh / variance) ** 0.5
        rows.append((novelty, novelty - reach, novelty + reach))
    return np.array(rows).T


class TestFormula:
    @pytest.mark.parametrize("seed", range(4))
    def test_weights_and_evidence_are_those_of_the_documentation(self, seed: int) -> None:
        matrix, novel = zipf_documents(60, words=50, length=12, seed=seed, planted=5)
        bags = matrix.toarray().astype(np.int64)
        bags[3] = 0  # a document without words
        weights = slow_weights(bags, novel)
        signed = document_weights(sparse.csr_array(bags, dtype=float), novel)
        # The regression stops within its tolerance, and its last digit is rounded.
        np.testing.assert_allclose(np.abs(signed), weights, rtol=1e-2)
        full = bags.any(axis=1)
        assert (np.sign(signed[full]) == np.where(novel[full], 1, -1)).all()
        evidence = word_evidence(sparse.csr_array(bags), novel)
        expected = slow_evidence(bags, np.abs(signed).tolist(), novel)
        np.testing.assert_allclose(np.array(evidence[:3]), expected, rtol=1e-9, atol=1e-12)

    def test_both_sides_weigh_the_same_and_half_of_the_documents_at_least_1(self) -> None:
        rng = np.random.default_rng(3)
        bags = sparse.csr_array(rng.random((90, 40)) < 0.2, dtype=float)
        novel = np.arange(90) < 20
        signed = document_weights(bags, novel)
        lengths = np.diff(bags.indptr)
        mass = np.abs(signed) * lengths
        assert mass[novel].sum() == pytest.approx(mass[~novel].sum())
        assert np.median(np.abs(signed[lengths > 0])) == pytest.approx(1)

    def test_longer_documents_and_explained_ones_weigh_less(self) -> None:
        # Words 0 and 1 tell the sides apart; in documents 0 and 30 nothing does.
        rng = np.random.default_rng(0)
        bags = np.zeros((60, 140), bool)
        bags[:, 2:40] = rng.random((60, 38)) < 0.15
        bags[1:30, 0] = bags[31:, 1] = True
        bags[5, 40:] = bags[35, 40:] = True  # long ones
        novel = np.arange(60) >= 30
        weight = np.abs(document_weights(sparse.csr_array(bags, dtype=float), novel))
        for side, plain, long in ((slice(0, 30), 0, 5), (slice(30, 60), 30, 35)):
            assert weight[plain] > 2 * np.median(weight[side])
            assert weight[long] < 0.7 * np.median(weight[side])

    def test_counts_alone_give_the_same_kind_of_evidence(self) -> None:
        counts, sizes = np.array([[9, 0, 3], [2, 8, 3]]), (20, 10)
        evidence = evidence_of_counts(counts, sizes)
        mass = counts.sum(axis=1)  # the smaller side weighs 1
        known, novel = mass[0] / mass[0], mass[0] / mass[1]
        for word, (k, n) in enumerate(counts.T):
            chance = (k + n) * (20 * known**2 + 10 * novel**2) / 30
            square = max(k * known**2 + n * novel**2, chance)
            assert evidence.novelty[word] == pytest.approx(
                (n * novel - k * known) / (square + PRIOR) ** 0.5
            )
        assert (evidence.low < evidence.novelty).all()
        assert (evidence.novelty < evidence.high).all()

    @pytest.mark.parametrize("share", [0.5, 0.2, 0.05, 0.01])
    def test_chance_rarely_goes_beyond_2_however_unequal_the_sides(self, share: float) -> None:
        beyond, coverage = [], []
        for seed in range(3):
            matrix, _ = zipf_documents(800, words=400, length=30, seed=seed, planted=0)
            draw = np.random.default_rng(seed).permutation(800)
            sides = [np.zeros(400, bool) for _ in range(2)]
            for side in sides:
                side[: max(2, round(400 * share))] = True
            halves = draw[:400], draw[400:]
            one, other = (
                word_evidence(matrix[half], side) for half, side in zip(halves, sides, strict=True)
            )
            beyond.append(np.abs(one.novelty) > 2)
            held = (one.low <= other.novelty) & (other.novelty <= one.high)
            coverage.append(held.mean())
        assert np.mean(beyond) < 0.05
        assert np.mean(coverage) > 0.85

    def test_counts_of_nothing(self) -> None:
        evidence = evidence_of_counts(np.zeros((2, 3), np.int64), (2, 2))
        assert evidence.novelty.tolist() == [0, 0, 0]
        assert evidence.q.tolist() == [1, 1, 1]
        assert np.isfinite(np.array(evidence)).all()


class TestQ:
    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_it_is_fisher_and_benjamini_and_hochberg(self, data: st.DataObject) -> None:
        n_known, n_novel = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
        pair = st.tuples(st.integers(0, n_known), st.integers(0, n_novel))
        pairs = data.draw(st.lists(pair, min_size=1, max_size=12))
        p = [
            stats.fisher_exact([[n, k], [n_novel - n, n_known - k]], alternative="greater").pvalue
            for k, n in pairs
        ]
        expected = stats.false_discovery_control(np.clip(p, 0, 1))
        known, novel = zip(*pairs, strict=True)
        np.testing.assert_allclose(q_values(known, novel, n_known, n_novel), expected, rtol=1e-6)

    def test_of_no_words(self) -> None:
        assert q_values([], [], 3, 3).shape == (0,)

    def test_words_in_no_document_are_no_findings(self) -> None:
        assert q_values([0, 0], [0, 9], 9, 9).tolist() == [1.0, pytest.approx(2 / 48620)]

    def test_where_nothing_is_new_there_are_few_findings(self) -> None:
        """Split documents of one kind at random; q up to 0.05 may find something in 5 % of them.

        60 splits with a chance of 5 % each have more than 6 finds in 1 of 30 cases; the test is
        discrete and thus shyer than its level. The seeds are fixed.
        """
        found = 0
        for seed in range(60):
            matrix, _ = zipf_documents(160, words=300, seed=[7, seed])
            novel = np.random.default_rng([8, seed]).permutation(160) < 80
            counts = [np.asarray(matrix[rows].sum(axis=0)).ravel() for rows in (~novel, novel)]
            found += bool((q_values(counts[0], counts[1], 80, 80) <= 0.05).any())
        assert found <= 6

    def test_what_is_planted_is_found(self) -> None:
        matrix, novel = zipf_documents(1600, planted=30, seed=5)
        q = word_evidence(matrix, novel).q
        found = q <= 0.05
        assert found[:30].sum() >= 15
        assert found[30:].sum() <= 0.1 * found.sum()


class TestIntervals:
    def test_fresh_documents_are_within_as_often_as_promised(self) -> None:
        """Compare with fresh documents of the same kind: 90 % of the words, within 5 %."""
        inside, words = 0, 0
        planted = []
        for seed in range(6):
            first = word_evidence(*zipf_documents(300, planted=30, seed=[seed, 1]))
            matrix, novel = zipf_documents(300, planted=30, seed=[seed, 2])
            fresh = word_evidence(matrix, novel).novelty
            frequent = np.asarray(matrix.sum(axis=0)).ravel() >= 2
            within = (first.low <= fresh) & (fresh <= first.high)
            inside, words = inside + within[frequent].sum(), words + frequent.sum()
            planted.append(within[:60].mean())
        assert words > 1000
        assert 0.85 <= inside / words <= 0.95
        assert 0.8 <= np.mean(planted) <= 0.98

    def test_the_more_documents_the_more_novelty(self) -> None:
        few, many = (
            word_evidence(*zipf_documents(n, planted=30, seed=1)).novelty for n in (100, 1000)
        )
        assert many[:30].mean() > 1.5 * few[:30].mean() > 0
        assert many[30:60].mean() < 1.5 * few[30:60].mean() < 0


class TestFairness:
    def test_three_novel_documents_against_500_prove_little(self) -> None:
        """See that words which three documents share by chance are no findings, however rare."""
        matrix, _ = zipf_documents(503, seed=2)
        novel = np.zeros(503, bool)
        novel[[7, 100, 300]] = True
        evidence = word_evidence(matrix, novel)
        assert np.isfinite(np.array(evidence)).all()
        assert ((evidence.q > 0) & (evidence.q <= 1)).all()
        # The least that three documents can prove, before it is corrected for so many words.
        assert evidence.q.min() > 100 / (503 * 502 * 501 / 6)
        assert (evidence.q > 0.05).mean() > 0.95
        # Three documents can speak for novel no louder than that, whatever they weigh.
        assert evidence.novelty.max() <= 3**0.5
        once = np.asarray(matrix.sum(axis=0)).ravel() == 1
        assert (evidence.q[once] > 0.05).all()

    def test_the_order_of_the_documents_does_not_matter(self) -> None:
        matrix, novel = zipf_documents(200, planted=20, seed=3)
        order = np.random.default_rng(0).permutation(200)
        one, other = word_evidence(matrix, novel), word_evidence(matrix[order], novel[order])
        np.testing.assert_allclose(np.array(one), np.array(other), rtol=1e-2, atol=1e-2)
        np.testing.assert_allclose(one.q, other.q, rtol=1e-12)

    def test_the_order_of_the_words_does_not_matter(self) -> None:
        matrix, novel = zipf_documents(200, planted=20, seed=3)
        order = np.random.default_rng(0).permutation(matrix.shape[1])
        one, other = word_evidence(matrix, novel), word_evidence(matrix[:, order], novel)
        np.testing.assert_allclose(np.array(one)[:, order], np.array(other), rtol=1e-2, atol=1e-2)

    def test_swapping_the_sides_turns_the_sign(self) -> None:
        matrix, novel = zipf_documents(200, planted=20, seed=4)
        novel[:60] = False  # sides of different sizes
        one, other = word_evidence(matrix, novel), word_evidence(matrix, ~novel)
        np.testing.assert_allclose(one.novelty, -other.novelty, rtol=1e-2, atol=1e-2)
        np.testing.assert_allclose(one.low, -other.high, rtol=1e-2, atol=1e-2)
        assert np.abs(one.novelty).max() > 2

    def test_the_same_documents_give_the_same_bits(self) -> None:
        matrix, novel = zipf_documents(200, planted=20, seed=4)
        one, other = word_evidence(matrix, novel), word_evidence(matrix.copy(), novel.copy())
        np.testing.assert_array_equal(np.array(one), np.array(other))


class TestOddDocuments:
    def check(self, matrix: Any, novel: Any) -> Evidence:
        evidence = word_evidence(sparse.csr_array(matrix), np.asarray(novel))
        assert np.isfinite(np.array(evidence)).all()
        assert (evidence.low <= evidence.novelty).all()
        assert (evidence.novelty <= evidence.high).all()
        assert ((evidence.q >= 0) & (evidence.q <= 1)).all()
        return evidence

    def test_empty_documents_say_nothing(self) -> None:
        matrix, novel = zipf_documents(100, planted=20, seed=6)
        more = sparse.vstack((matrix, sparse.csr_array((40, matrix.shape[1]), dtype=bool)))
        plain = self.check(matrix, novel)
        with_empty = self.check(more, np.concatenate((novel, np.arange(40) % 2 == 0)))
        assert np.corrcoef(plain.novelty, with_empty.novelty)[0, 1] > 0.999
        np.testing.assert_allclose(plain.novelty, with_empty.novelty, atol=0.2)

    def test_duplicates_strengthen_but_do_not_turn(self) -> None:
        matrix, novel = zipf_documents(100, planted=20, seed=6)
        once = self.check(matrix, novel)
        twice = self.check(sparse.vstack((matrix, matrix)), np.tile(novel, 2))
        clear = np.abs(once.novelty) > 0.5
        assert (np.sign(once.novelty[clear]) == np.sign(twice.novelty[clear])).all()
        assert np.abs(twice.novelty[clear]).mean() > np.abs(once.novelty[clear]).mean()

    def test_one_document_a_side(self) -> None:
        evidence = self.check([[1, 0, 1], [0, 1, 1]], [False, True])
        assert evidence.novelty[0] < 0 < evidence.novelty[1]
        assert evidence.novelty[2] == pytest.approx(0, abs=1e-9)
        assert evidence.q.min() > 0.05

    def test_documents_that_are_all_the_same(self) -> None:
        evidence = self.check([[1, 1]] * 6, [False, True] * 3)
        np.testing.assert_allclose(evidence.novelty, 0, atol=1e-9)

    def test_words_of_no_document(self) -> None:
        evidence = self.check([[1, 0], [1, 0], [0, 0]], [False, True, True])
        assert (evidence.novelty[1], evidence.q[1]) == (0, 1)
