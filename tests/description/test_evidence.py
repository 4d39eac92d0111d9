"""The evidence for words: its formula, its intervals, its q-values, and what it must never say."""

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

from newfound import load_sample
from newfound.description.novelty import (
    Evidence,
    p_values,
    q_values,
    word_evidence,
)
from newfound.description.scores import frequency_ratios
from newfound.stories.evidence import PRIOR, document_weights, evidence_of_sets
from newfound.text.vectorizer import TextVectorizer

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


def slow_root(own: float, expected: float, size: float, spread: float) -> float:
    """Return the signed root of the deviance of own of size against expected of size."""
    deviance = own * np.log(own / expected) if own else 0.0
    if size > own:
        deviance += (size - own) * np.log((size - own) / (size - expected))
    return float(np.sign(own - expected) * np.sqrt(2 * max(deviance, 0) / spread))


def slow_novelty(bags: NDArray[np.int64], novel: Bools) -> list[float]:
    """Compute novelty word by word and document by document, as docs/words-method.md has it."""
    lengths = bags.sum(axis=1)
    weight = np.where(lengths, 2 / (1 + lengths / np.median(lengths[lengths > 0])), 0.0)
    cells = [(d, w) for d, w in np.argwhere(bags)]
    base = sum(weight[d] for d, _ in cells if novel[d]) / sum(weight[d] for d, _ in cells)
    mean = np.mean([weight[d] for d, _ in cells])
    square = np.mean([weight[d] ** 2 for d, _ in cells])
    tfidf = TfidfTransformer().fit_transform(sparse.csr_matrix(bags)).toarray()
    judge = LogisticRegression(C=3.0, tol=1e-4, max_iter=1000).fit(tfidf, novel)
    part = tfidf * judge.coef_[0]
    others = {(d, w): part[d].sum() - part[d, w] for d, w in cells}
    low, high = -50.0, 50.0  # the intercept, by bisection
    for _ in range(100):
        middle = (low + high) / 2
        chance = {cell: 1 / (1 + np.exp(-other - middle)) for cell, other in others.items()}
        left = sum(weight[d] * (novel[d] - p) for (d, _), p in chance.items())
        low, high = (middle, high) if left > 0 else (low, middle)
    found = []
    for w in range(bags.shape[1]):
        mine = np.flatnonzero(bags[:, w])
        n, s = weight[mine].sum(), weight[mine][novel[mine]].sum()
        values = []
        for prior, likely in (
            (PRIOR, np.full(len(mine), base)),
            (8.0, np.array([round(chance[d, w], 4) for d in mine])),
        ):
            e, k = (weight[mine] * likely).sum(), prior * mean
            variance = (weight[mine] ** 2 * likely * (1 - likely)).sum()
            plain = (e * (n - e) / n if n else 0.0) + k * base * (1 - base)
            spread = (variance + prior * square * base * (1 - base)) / plain
            values.append(slow_root(s + k * base, e + k * base, n + k, spread))
        full = lengths > 0
        more = bags[novel & full, w].mean() - bags[~novel & full, w].mean()
        alone = values[0] if values[0] * more > 0 else 0.0
        found.append(0.7 * alone + (0.3 * values[1] if alone * values[1] > 0 else 0.0))
    return found


class TestFormula:
    @pytest.mark.parametrize("seed", range(3))
    def test_novelty_is_that_of_the_documentation(self, seed: int) -> None:
        matrix, novel = zipf_documents(60, words=40, length=12, seed=seed, planted=5)
        bags = matrix.toarray().astype(np.int64)
        bags[3] = 0  # a document without words
        evidence = word_evidence(sparse.csr_array(bags), novel)
        np.testing.assert_allclose(evidence.novelty, slow_novelty(bags, novel), atol=2e-3)

    def test_longer_documents_weigh_less_and_empty_ones_nothing(self) -> None:
        bags = np.zeros((4, 30), bool)
        bags[1, :3] = bags[2, :6] = bags[3, :30] = True
        weights = document_weights(sparse.csr_array(bags), [False, True, False, True])
        assert weights.weight[0] == 0
        assert weights.weight[2] == pytest.approx(1)
        assert weights.weight[1] > weights.weight[2] > weights.weight[3] > 0

    def test_a_word_cannot_take_its_own_evidence(self) -> None:
        """A word of most novel and few known documents is far beyond chance, and ranked first."""
        rng = np.random.default_rng(1)
        matrix = rng.random((3000, 300)) < 0.02
        novel = np.arange(3000) < 1200
        matrix[:, 0] = np.where(novel, rng.random(3000) < 0.05, rng.random(3000) < 0.002)
        evidence = word_evidence(sparse.csr_array(matrix), novel)
        assert evidence.novelty.argmax() == 0
        assert evidence.novelty[0] > 6
        assert evidence.low[0] > 5

    @pytest.mark.parametrize("share", [0.5, 0.2, 0.05, 0.01])
    def test_chance_rarely_goes_beyond_2_however_unequal_the_sides(self, share: float) -> None:
        beyond = []
        for seed in range(4):
            matrix, _ = zipf_documents(400, words=400, length=30, seed=seed)
            novel = np.zeros(400, bool)
            novel[np.random.default_rng(seed).permutation(400)[: max(2, round(400 * share))]] = True
            beyond.append(np.abs(word_evidence(matrix, novel).novelty) > 2)
        assert np.mean(beyond) < 0.025

    def test_longer_documents_of_one_side_do_not_make_all_words_novel(self) -> None:
        rng = np.random.default_rng(5)
        novel = np.arange(600) % 2 == 1
        rates = np.outer(np.where(novel, 3.0, 1.0), 8 / np.arange(10, 410))
        matrix = sparse.csr_array(rng.random(rates.shape) < 1 - np.exp(-rates))
        shares = [np.asarray(matrix[side].mean(axis=0)).ravel() for side in (~novel, novel)]
        assert (shares[1] > shares[0]).mean() > 0.9
        evidence = word_evidence(matrix, novel)
        assert (evidence.novelty > 2).mean() < 0.05
        assert ((evidence.q <= 0.05) & (evidence.times > 1)).mean() < 0.05

    def test_sets_of_documents_have_the_evidence_of_words(self) -> None:
        matrix, novel = zipf_documents(300, planted=30, seed=8)
        weights = document_weights(matrix, novel)
        found = evidence_of_sets(matrix, weights)
        assert found[:30].mean() > 1 > -1 > found[30:60].mean()
        assert evidence_of_sets(sparse.csr_array((300, 2)), weights).tolist() == [0.0, 0.0]


class TestAgreement:
    """Interval, q-value, novelty and plain shares never contradict each other."""

    def check(self, matrix: Any, novel: Bools) -> None:
        evidence = word_evidence(matrix, novel)
        known, new = (np.asarray(matrix[side].mean(axis=0)).ravel() for side in (~novel, novel))
        sure = evidence.q <= 0.05
        outside = (evidence.low > 1) | (evidence.high < 1)
        np.testing.assert_array_equal(sure, outside)
        assert (evidence.low <= evidence.times).all() and (evidence.times <= evidence.high).all()
        assert not ((evidence.novelty > 0) & (new <= known)).any()
        assert not ((evidence.novelty < 0) & (new >= known)).any()
        assert not (sure & (evidence.times > 1) & (new <= known)).any()
        assert not (sure & (evidence.times < 1) & (new >= known)).any()

    @pytest.mark.parametrize("share", [0.5, 0.1, 0.9])
    def test_on_drawn_documents(self, share: float) -> None:
        for seed in range(5):
            matrix, novel = zipf_documents(500, planted=40, seed=seed)
            kept = novel if share == 0.5 else np.random.default_rng(seed).random(500) < share
            self.check(matrix, kept)

    def test_on_the_sample(self) -> None:
        known, novel = load_sample()
        matrix = TextVectorizer().fit_transform([*known.texts, *novel.texts])
        self.check(sparse.csr_array(matrix), np.arange(len(known) + len(novel)) >= len(known))


class TestQ:
    @settings(max_examples=60)
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
        q = q_values(p_values(known, novel, n_known, n_novel))
        np.testing.assert_allclose(q, expected, rtol=1e-6)

    def test_of_no_words(self) -> None:
        assert q_values(p_values([], [], 3, 3)).shape == (0,)

    def test_words_in_no_document_are_no_findings(self) -> None:
        q = q_values(p_values([0, 0], [0, 9], 9, 9))
        assert q.tolist() == [1.0, pytest.approx(2 / 48620)]

    def test_where_nothing_is_new_there_are_few_findings(self) -> None:
        """Split documents of one kind at random; q up to 0.05 may find something in 5 % of them.

        60 splits with a chance of 5 % each have more than 6 finds in 1 of 30 cases; the test is
        discrete and thus more careful than its level. The seeds are fixed.
        """
        found = 0
        for seed in range(60):
            matrix, _ = zipf_documents(160, words=300, seed=[7, seed])
            novel = np.random.default_rng([8, seed]).permutation(160) < 80
            counts = [np.asarray(matrix[rows].sum(axis=0)).ravel() for rows in (~novel, novel)]
            found += bool((q_values(p_values(counts[0], counts[1], 80, 80)) <= 0.05).any())
        assert found <= 6

    def test_what_is_planted_is_found(self) -> None:
        matrix, novel = zipf_documents(1600, planted=30, seed=5)
        evidence = word_evidence(matrix, novel)
        found = (evidence.q <= 0.05) & (evidence.times > 1)
        assert found[:30].sum() >= 15
        assert found[30:].sum() <= 0.1 * found.sum()


class TestStrength:
    def test_intervals_hold_the_true_ratio_as_often_as_promised(self) -> None:
        """Draw counts of words with known ratios: 90 % of the intervals hold them, within 5 %."""
        inside = []
        for seed in range(5):
            rng = np.random.default_rng(seed)
            rate = rng.gamma(0.5, 0.02, 3000)
            ratio = np.exp(rng.normal(0, rng.choice([0.1, 1.0], 3000)))
            counts = [rng.poisson(1000 * np.minimum(r, 0.5)) for r in (rate, rate * ratio)]
            seen = counts[0] + counts[1] >= 2
            found = frequency_ratios(counts[0][seen], counts[1][seen], (1000, 1000))
            inside.append((found.low <= ratio[seen]) & (ratio[seen] <= found.high))
        assert 0.85 <= np.concatenate(inside).mean() <= 0.95

    def test_rare_words_are_shrunk_and_frequent_ones_are_not(self) -> None:
        known = np.array([0, 100, *[20] * 50])
        novel = np.array([3, 1000, *[20] * 50])
        found = frequency_ratios(known, novel, (10_000, 10_000))
        assert 1 <= found.times[0] < 3
        assert found.times[1] == pytest.approx(10, rel=0.1)

    def test_sides_of_unequal_sizes(self) -> None:
        found = frequency_ratios(np.array([900, 500]), np.array([100, 500]), (9000, 1000))
        assert found.times[0] == pytest.approx(1, abs=0.15)
        assert found.times[1] == pytest.approx(9, rel=0.15)

    def test_swapping_the_sides_inverts_the_ratio(self) -> None:
        rng = np.random.default_rng(3)
        known, novel = rng.integers(0, 50, (2, 200))
        one = frequency_ratios(known, novel, (900, 700))
        other = frequency_ratios(novel, known, (700, 900))
        np.testing.assert_allclose(one.times, 1 / other.times, rtol=1e-6)
        np.testing.assert_allclose(one.low, 1 / other.high, rtol=1e-6)

    def test_no_words_and_words_of_no_document(self) -> None:
        nothing = np.zeros(0, np.int64)
        assert frequency_ratios(nothing, nothing, (3, 3)).times.shape == (0,)
        found = frequency_ratios(np.zeros(2, np.int64), np.zeros(2, np.int64), (0, 0))
        np.testing.assert_allclose(found.times, 1)


class TestFairness:
    def test_the_more_documents_the_more_novelty(self) -> None:
        few, many = (
            word_evidence(*zipf_documents(n, planted=30, seed=1)).novelty for n in (100, 1000)
        )
        assert many[:30].mean() > 1.5 * few[:30].mean() > 0
        assert many[30:60].mean() < 1.5 * few[30:60].mean() < 0

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
        assert evidence.novelty.max() <= 3
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
        np.testing.assert_allclose(one.times, 1 / other.times, rtol=1e-6)
        np.testing.assert_allclose(one.q, other.q, rtol=1e-6)
        assert np.abs(one.novelty).max() > 2

    def test_the_same_documents_give_the_same_bits(self) -> None:
        matrix, novel = zipf_documents(200, planted=20, seed=4)
        one, other = word_evidence(matrix, novel), word_evidence(matrix.copy(), novel.copy())
        np.testing.assert_array_equal(np.array(one), np.array(other))


class TestOddDocuments:
    def check(self, matrix: Any, novel: Any) -> Evidence:
        evidence = word_evidence(sparse.csr_array(matrix), np.asarray(novel))
        self.check_values(evidence)
        return evidence

    @staticmethod
    def check_values(evidence: Evidence) -> None:
        assert np.isfinite(np.array(evidence)).all()
        assert (evidence.low <= evidence.times).all()
        assert (evidence.times <= evidence.high).all()
        assert ((evidence.q >= 0) & (evidence.q <= 1)).all()

    @pytest.mark.parametrize("each", [1, 2])
    def test_empty_documents_say_nothing(self, each: int) -> None:
        matrix, novel = zipf_documents(100, planted=20, seed=6)
        more = sparse.vstack((matrix, sparse.csr_array((40, matrix.shape[1]), dtype=bool)))
        plain = self.check(matrix, novel)
        # As many copies as documents, all novel or half of them: the shares of words are the same.
        with_empty = self.check(more, np.concatenate((novel, np.arange(40) % each == 0)))
        for name in ("times", "low", "high", "q"):
            np.testing.assert_array_equal(getattr(plain, name), getattr(with_empty, name))
        if each == 2:
            assert np.corrcoef(plain.novelty, with_empty.novelty)[0, 1] > 0.999
            np.testing.assert_allclose(plain.novelty, with_empty.novelty, atol=0.2)
        assert (np.sign(plain.novelty) == np.sign(with_empty.novelty)).mean() > 0.99

    def test_a_word_that_only_copied_text_explains_has_no_evidence(self) -> None:
        matrix, novel = zipf_documents(1000, planted=20, seed=6)
        plain = word_evidence(matrix, novel)
        words = np.flatnonzero((plain.novelty > 2) & (plain.q < 0.05))
        assert len(words) >= 3
        whole = matrix.tolil()
        whole[np.flatnonzero(~novel)[:, None], words[:2]] = True  # copied in all known documents
        found = word_evidence(matrix, novel, whole.tocsr())
        self.check_values(found)
        assert not found.novelty[words[:2]].any() and (found.q[words[:2]] == 1).all()
        others = np.delete(np.arange(matrix.shape[1]), words[:2])
        agree = (np.asarray(found)[:, others] == np.asarray(plain)[:, others]).all(axis=0)
        assert agree.mean() > 0.95  # but for words whose two figures of their own disagree

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


def test_lengths_alone_make_no_word_sure() -> None:
    """Documents of one side are six of the other's joined: nothing is new but the length."""
    rng = np.random.default_rng(3)
    shares = rng.beta(0.3, 6.0, size=400)
    known = rng.random((900, 400)) < shares
    novel = rng.random((160, 400)) < 1 - (1 - shares) ** 6
    evidence = word_evidence(
        sparse.csr_array(np.vstack((known, novel)).astype(float)), np.arange(1060) >= 900
    )
    assert (np.abs(evidence.novelty) >= 2).mean() < 0.05


def test_novelty_is_little_surer_than_the_test_of_its_q_value() -> None:
    rng = np.random.default_rng(4)
    lengths = np.where(np.arange(600) < 300, 60, 12)
    matrix = np.array([rng.permutation(np.arange(300) < length) for length in lengths], float)
    novel = np.arange(600) >= 300
    # One word has nearly the same share of both sides, although novel documents are short.
    matrix[:, 0] = np.r_[np.arange(300) < 75, np.arange(300) < 80]
    evidence = word_evidence(sparse.csr_array(matrix), novel)
    assert 0 < evidence.novelty[0] < 2 and evidence.q[0] > 0.5
