"""Phrases: pairs that no word gives away, folding, and that every number is a count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from newfound.description.describer import NoveltyDescriber
from newfound.description.words import find_phrases, phrase_table
from newfound.machine.committee import held_out_rows
from newfound.rules import Clause, ClauseTable
from newfound.stories.evidence import DocumentWeights, document_weights, evidence_of_sets
from newfound.text.sample import load_sample

PAIRS = [("apple", "phone"), ("river", "bank"), ("mouse", "screen")]


def planted(seed: int, n: int = 1600) -> tuple[list[str], list[str]]:
    """Plant three pairs in documents of other words, each word as frequent on both sides.

    In known documents, each word of a pair stands alone with a chance of 10 %; in novel ones, both
    stand together with a chance of 10 %.
    """
    rng = np.random.default_rng(seed)
    novel = np.arange(n) % 2 == 1
    rates = 3 / np.arange(3, 303)
    texts = []
    for is_novel in novel:
        words = [f"filler{i}" for i in np.flatnonzero(rng.random(300) < rates * 0.3)]
        for pair in PAIRS:
            if is_novel:
                words += pair if rng.random() < 0.1 else ()
            else:
                draw = rng.random()
                words += pair[:1] if draw < 0.1 else pair[1:] if draw < 0.2 else ()
        texts.append(" ".join(rng.permutation([*words, "text"])))
    return texts, ["novel" if is_novel else "known" for is_novel in novel]


@pytest.fixture(scope="module")
def described() -> NoveltyDescriber:
    describer = NoveltyDescriber(n_clauses=400, T=100, epochs=15, random_state=2, n_jobs=2)
    return describer.fit(*planted(2))


def topics() -> tuple[list[str], list[str]]:
    """Write of three topics of four words on each side, and of other things."""
    rng = np.random.default_rng(5)
    texts, labels = [], []
    for i in range(300):
        side = ("known", "novel")[i % 2]
        names = [f"{side}{topic}{word}" for topic in "xyz" for word in "abcd"]
        if i % 4 < 2:
            topic = 4 * rng.integers(3)
            some = 4 if topic == 8 else 3  # the words of the third topic are always together
            names = rng.permutation(names[topic : topic + 4])[:some].tolist()
        else:
            names = rng.permutation(names[:8])[:1].tolist()
        texts.append(" ".join([*names, "text", *(f"filler{k}" for k in rng.integers(0, 99, 9))]))
        labels.append(side)
    return texts, labels


@pytest.fixture(scope="module")
def of_topics() -> NoveltyDescriber:
    describer = NoveltyDescriber(n_clauses=200, T=30, epochs=15, fold_copies=False, random_state=2)
    return describer.fit(*topics())


class TestPlanted:
    def test_no_word_gives_them_away_but_the_phrases_are_found(
        self, described: NoveltyDescriber
    ) -> None:
        words = [word for pair in PAIRS for word in pair]
        rows = [described.words_.row(word) for word in words]
        assert all(abs(row["documents_known"] - row["documents_novel"]) < 40 for row in rows)
        assert all(abs(row["novelty"]) < 2 for row in rows)
        top = described.phrases_.take(slice(20))
        found = {frozenset(row["words"]): row for row in top.to_records()}
        for pair in PAIRS:
            assert frozenset(pair) in found
            row = found[frozenset(pair)]
            assert (row["side"], row["precision"], row["documents_known"]) == ("novel", 1.0, 0)
            assert row["novelty"] > 2
            assert row["held_out_precision"] > 0.8

    def test_they_come_first(self, described: NoveltyDescriber) -> None:
        first = {frozenset(words) for words in described.phrases_["words"][:3]}
        assert first == set(map(frozenset, PAIRS))

    def test_a_phrase_is_as_novel_as_a_word_of_the_same_documents(self) -> None:
        rng = np.random.default_rng(0)
        bags = rng.random((520, 30)) < 0.1
        bags[:70, 0] = bags[:70, 1] = True  # together only here
        bags[70:, :2] = False
        bags[:, 2] = bags[:, 0]
        novel = np.arange(520) >= 500
        weights = document_weights(sparse.csr_array(bags), novel)
        word = evidence_of_sets(sparse.csr_array(bags), weights)[2]
        rule = Clause("known", 1, ("0", "1"))
        table = ClauseTable.from_clauses([rule] * 3, [str(i) for i in range(30)])
        phrases = find_phrases(table, sparse.csr_array(bags), weights)
        if len(phrases):  # too weak to be listed is as well
            assert phrases["novelty"][0] == pytest.approx(word)
        assert word > -2  # twenty novel documents lack many words by chance

    def test_without_planted_pairs_there_is_none_as_strong(self) -> None:
        texts, labels = planted(3, n=800)
        labels = np.random.default_rng(0).permutation(labels).tolist()
        describer = NoveltyDescriber(n_clauses=400, T=100, epochs=15, random_state=2, n_jobs=2)
        phrases = describer.fit(texts, labels).phrases_
        assert phrases["strength"].max(initial=0) < 3


class TestTable:
    def test_every_number_is_a_count_of_documents_and_clauses(
        self, of_topics: NoveltyDescriber
    ) -> None:
        described = of_topics
        texts, labels = topics()
        having = [set(text.split()) for text in texts]
        table = described.all_clauses_
        matrix = described.vectorizer_.transform(texts)
        weights = document_weights(matrix, np.array(labels) == "novel")
        assert len(described.phrases_) > 5
        assert set(described.phrases_["side"]) == {"known", "novel"}
        assert max(map(len, described.phrases_["words"])) > 2
        held_out = set(held_out_rows(np.array(labels) == "novel").tolist())
        for row in described.phrases_.take(slice(30)).to_records():
            words = set(row["words"])
            assert 2 <= len(words) == len(row["words"]) <= 4
            assert row["phrase"] == " AND ".join(row["words"])
            rows = [i for i, mine in enumerate(having) if words <= mine]
            novel = sum(labels[i] == "novel" for i in rows)
            assert row["documents_novel"] == novel
            assert row["documents_known"] == len(rows) - novel
            own = novel if row["side"] == "novel" else len(rows) - novel
            assert row["precision"] == pytest.approx(own / len(rows))
            mine = sparse.csc_array(np.isin(np.arange(len(texts)), rows)[:, None])
            novelty = float(evidence_of_sets(mine, weights)[0])
            assert row["novelty"] == pytest.approx(novelty)
            assert (novelty > 0) == (row["side"] == "novel")
            clauses = [
                clause
                for clause in table
                if clause.side == row["side"] and words <= {*clause.plain}
            ]
            if clauses:  # else its pairs are of different clauses
                assert row["count"] == len(clauses)
            else:
                assert len(words) > 2
            kept = [labels[i] == row["side"] for i in rows if i in held_out]
            share = np.mean(kept) if kept else None
            assert row["held_out_precision"] == (share if share is None else pytest.approx(share))

    @pytest.mark.slow
    def test_where_nothing_is_new_the_best_phrases_have_the_base_rate(self) -> None:
        """Split one pile at random: on documents that were held out they are right by chance."""
        known, _ = load_sample()
        rng, right, matches = np.random.default_rng(3), [], []
        for seed in range(30):
            labels = np.array(["known", "novel"])[rng.permutation(len(known)) % 2]
            describer = NoveltyDescriber(
                n_machines=4, n_clauses=100, epochs=4, random_state=seed
            ).fit(known, labels)
            kept = held_out_rows(labels == "novel")
            for row in describer.phrases_.take(slice(10)):
                rows = np.flatnonzero(np.all(
                    [describer.corpus_.matrix[kept][:, [describer.vectorizer_.vocabulary_[word]]]
                     .toarray().ravel() > 0 for word in row["words"]], axis=0
                ))  # fmt: skip
                if len(rows):
                    share = np.mean(labels[kept[rows]] == row["side"])
                    assert row["held_out_precision"] == pytest.approx(share)
                    right.append(share * len(rows))
                    matches.append(len(rows))
        assert sum(matches) > 300
        assert abs(sum(right) / sum(matches) - 0.5) < 0.06

    def test_the_strongest_come_first_and_none_is_there_twice(
        self, of_topics: NoveltyDescriber
    ) -> None:
        phrases = of_topics.phrases_
        assert (np.diff(phrases["strength"]) <= 0).all()
        assert phrases["strength"].min() > 1
        names = [(row["side"], frozenset(row["words"])) for row in phrases.to_records()]
        assert len(names) == len(set(names)) <= 200

    def test_ways_out(self, described: NoveltyDescriber) -> None:
        csv = described.phrases_.to_csv() or ""
        assert csv.splitlines()[0].startswith("phrase,words,side,count,documents_known")
        assert len(csv.splitlines()) == len(described.phrases_) + 1
        assert "NaN" not in (described.phrases_.to_json() or "")

    def test_no_rows(self) -> None:
        empty = phrase_table([])
        assert len(empty) == 0
        assert empty.columns == phrase_table([]).columns
        assert empty.to_records() == []


def find(rules: list[Clause], bags: Any, novel: Any, **options: Any) -> list[dict[str, Any]]:
    """Find phrases among documents that all weigh the same."""
    vocabulary = sorted({word for rule in rules for word in (*rule.plain, *rule.negated)})
    matrix = sparse.csr_array([[word in bag.split() for word in vocabulary] for bag in bags])
    base = float(np.mean(novel))
    weights = DocumentWeights(np.ones(len(bags)), np.asarray(novel, bool), base, 1.0, 1.0)
    table = ClauseTable.from_clauses(rules, vocabulary)
    return find_phrases(table, matrix, weights, **options).to_records()


class TestFolding:
    def test_pairs_of_the_same_documents_become_one_phrase(self) -> None:
        rules = [Clause("novel", 1, ("fly", "half")), Clause("novel", 1, ("half", "kick"))]
        bags = ["fly half kick"] * 20 + ["other"] * 80
        rows = find([*rules, Clause("known", 1, ("other",))], bags, np.arange(100) < 50)
        assert [set(row["words"]) for row in rows] == [{"fly", "half", "kick"}]
        assert rows[0]["documents_novel"] == 20
        assert rows[0]["count"] > 0

    def test_pairs_of_other_documents_do_not(self) -> None:
        rules = [Clause("novel", 1, ("fly", "half")), Clause("novel", 1, ("half", "kick"))]
        bags = ["fly half"] * 20 + ["half kick"] * 20 + ["other"] * 160
        rows = find([*rules, Clause("known", 1, ("other",))], bags, np.arange(200) < 100)
        assert {frozenset(row["words"]) for row in rows} == {
            frozenset(("fly", "half")),
            frozenset(("half", "kick")),
        }
        assert [row["documents_novel"] for row in rows] == [20, 20]

    def test_a_word_that_is_everywhere_does_not_join(self) -> None:
        """Fold a pair that says the same, but leave out its word that most documents have."""
        rules = [Clause("novel", 1, ("fly", "half", "the"))]
        bags = ["fly half the"] * 20 + ["the"] * 60 + ["other"] * 120
        rows = find([*rules, Clause("known", 1, ("other",))], bags, np.arange(200) < 100)
        assert [set(row["words"]) for row in rows] == [{"fly", "half"}]

    def test_phrases_have_four_words_at_most(self) -> None:
        words = ("one", "two", "three", "four", "five", "six")
        bags = [" ".join(words)] * 20 + ["other"] * 80
        rules = [Clause("novel", 1, words), Clause("known", 1, ("other",))]
        rows = find(rules, bags, np.arange(100) < 50)
        assert rows
        assert max(len(row["words"]) for row in rows) == 4
        assert len({frozenset(row["words"]) for row in rows}) == len(rows)

    def test_negated_words_and_lone_ones_make_no_phrase(self) -> None:
        rules = [Clause("novel", 1, ("fly",), ("half",)), Clause("known", 1, ("half",))]
        assert find(rules, ["fly half"] * 20 + ["half"] * 20, np.arange(40) < 20) == []

    def test_a_phrase_of_the_other_side_is_none(self) -> None:
        rules = [Clause("known", 1, ("fly", "half"))]
        assert find(rules, ["fly half"] * 20 + ["fly"] * 20, np.arange(40) < 20) == []

    def test_two_words_that_are_always_there_are_no_phrase(self) -> None:
        rules = [Clause("novel", 1, ("fly", "half"))]
        assert find(rules, ["fly half"] * 40, np.arange(40) < 40) == []

    def test_one_document_is_no_phrase(self) -> None:
        rules = [Clause("novel", 1, ("fly", "half"))]
        assert find(rules, ["fly half"] + ["fly", "half"] * 20, np.arange(41) < 1) == []

    def test_known_phrases_are_found_alike(self) -> None:
        bags = ["fly half"] * 20 + ["other"] * 30 + ["fly", "half", "other", "other"] * 10
        rules = [Clause("known", 1, ("fly", "half")), Clause("novel", 1, ("other",))]
        (row,) = find(rules, bags, np.arange(90) >= 50)
        assert (row["side"], row["documents_known"], row["documents_novel"]) == ("known", 20, 0)
        assert row["novelty"] < 0 < row["strength"]

    def test_a_limit(self) -> None:
        words = [f"w{i}" for i in range(20)]
        bags = [f"{a} {b}" for a, b in zip(words[::2], words[1::2], strict=True)] * 10
        rules = [Clause("novel", 1, tuple(bag.split())) for bag in bags[:10]]
        novel = np.arange(200) < 100
        rows = find(rules, [*bags, *["other"] * 100], novel)
        assert len(rows) == 10
        assert len(find(rules, [*bags, *["other"] * 100], novel, most=3)) == 3
