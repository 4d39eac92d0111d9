"""Themes: groups of novel documents with their words and rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from lab.evaluation.themes import Piles, Topics, agreement, piles_of
from lab.evaluation.topic_models import MODELS, Clustering, grown_clusters
from newfound import describe, load_sample
from newfound.storage.fields import Fields
from newfound.storage.files import Refusal
from newfound.stories import evidence
from newfound.stories.choice import _similar_rules, choose_themes
from newfound.stories.mixtures import DocumentSpace
from newfound.stories.names import in_reading_order, strong_words
from newfound.stories.state import themes_from_state, themes_state
from newfound.stories.themes import Theme, find_themes, unexplained_share
from newfound.text.vectorizer import TextVectorizer

TOPICS = {
    "flight": "flight plane airport boarding gate luggage ticket",
    "bank": "account balance transfer deposit loan savings cheque",
    "food": "recipe oven bake sugar flour butter cake",
    "rain": "weather rain storm cloud wind sunny forecast",
    "music": "song album band guitar concert playlist singer",
}
COMMON = ("please", "tell", "show", "want", "need", "know", "today", "get", "make", "find")


def made(sizes: dict[str, tuple[int, int]], seed: int = 0) -> tuple[Any, Any, list[str], Any]:
    """Draw known and novel documents of topics: three words of the topic and two common ones."""
    rng = np.random.default_rng(seed)
    texts, novel, labels = [], [], []
    for topic, counts in sizes.items():
        words = TOPICS[topic].split()
        for side, count in enumerate(counts):
            for _ in range(count):
                drawn = [*rng.choice(words, 3, replace=False), *rng.choice(COMMON, 2)]
                texts.append(" ".join(drawn))
                novel.append(bool(side))
                labels.append(topic)
    vectorizer = TextVectorizer(min_df=1, stop_words=None)
    matrix = vectorizer.fit_transform(texts)
    terms = [str(term) for term in vectorizer.get_feature_names_out()]
    return matrix, np.array(novel), terms, np.array(labels)


QUICK: dict[str, Any] = {"n_machines": 2, "n_clauses": 20, "epochs": 2, "random_state": 0}
SHIFTED = {
    "flight": (30, 120),
    "bank": (100, 100),
    "food": (30, 120),
    "rain": (120, 30),
    "music": (100, 100),
}


def same(one: Theme, other: Theme) -> bool:
    return (
        (one.name, one.words, one.rules, one.typical, one.evidence)
        == (other.name, other.words, other.rules, other.typical, other.evidence)
        and np.array_equal(one.novel_documents, other.novel_documents)
        and np.array_equal(one.known_documents, other.known_documents)
    )


def test_topics_that_grew_are_themes_and_others_are_not() -> None:
    matrix, novel, terms, labels = made(SHIFTED)
    themes = find_themes(matrix, novel, terms)
    assert len(themes) == 2
    piles = Piles(matrix, novel, labels, ("flight", "food"), terms, [])
    figures = agreement([theme.novel_documents for theme in themes], piles)
    assert figures["topics found"] == 1.0
    assert figures["about no topic"] == figures["about nothing new"] == 0.0
    assert all(theme.evidence > 3 for theme in themes)


def test_figures_of_a_theme_agree_with_its_documents() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    place = {term: number for number, term in enumerate(terms)}
    for theme in find_themes(matrix, novel, terms):
        dense = matrix.toarray()
        found = np.zeros(len(novel), dtype=bool)
        for rule in theme.rules:
            matches = dense[:, [place[word] for word in rule.words]].all(axis=1)
            assert (rule.known, rule.novel) == ((matches & ~novel).sum(), (matches & novel).sum())
            assert 1 <= len(rule.words) <= 3
            assert rule.held_out_novel <= rule.novel
            assert rule.held_out_known <= rule.known
            found |= matches
        assert np.array_equal(theme.novel_documents, np.flatnonzero(found & novel))
        assert np.array_equal(theme.known_documents, np.flatnonzero(found & ~novel))
        assert theme.share_novel == (found & novel).sum() / novel.sum()
        assert theme.share_known == (found & ~novel).sum() / (~novel).sum()
        assert 2 <= len(theme.name.split()) <= 4
        weights = [weight for _, weight in theme.words]
        assert weights == sorted(weights, reverse=True)
        assert len(theme.typical) == 3
        assert set(theme.typical) <= set(theme.novel_documents.tolist())
        assert all(first in place and second in place for first, second, _ in theme.joined)


def test_held_out_shares_are_near_the_shares_of_all_documents() -> None:
    matrix, novel, terms, _ = made({topic: (2 * a, 2 * b) for topic, (a, b) in SHIFTED.items()})
    for theme in find_themes(matrix, novel, terms):
        assert theme.held_out_share_novel == pytest.approx(theme.share_novel, abs=0.1)
        assert theme.held_out_share_known == pytest.approx(theme.share_known, abs=0.1)
        assert any(rule.held_out_novel for rule in theme.rules)


def test_the_seed_does_not_change_the_themes() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    one, again = (find_themes(matrix, novel, terms) for _ in range(2))
    other = find_themes(matrix, novel, terms, random_state=7)
    assert all(same(a, b) for a, b in zip(one, again, strict=True))
    assert [theme.words for theme in one] == [theme.words for theme in other]


def test_random_splits_rarely_give_a_theme() -> None:
    known, _ = load_sample()
    matrix = TextVectorizer(min_df=2).fit_transform(known)
    terms = [str(number) for number in range(matrix.shape[1])]
    alarms = 0
    for seed in range(20):
        novel = np.random.default_rng(seed).random(len(known)) < (0.5 if seed % 2 else 0.2)
        alarms += bool(find_themes(matrix, novel, terms, held_out=False))
    assert alarms <= 2


def test_the_sample_gives_themes_of_travel() -> None:
    known, novel = load_sample()
    vectorizer = TextVectorizer(min_df=2)
    matrix = vectorizer.fit_transform([*known, *novel])
    terms = [str(term) for term in vectorizer.get_feature_names_out()]
    side = np.arange(matrix.shape[0]) >= len(known)
    texts = [*known, *novel]
    themes = find_themes(matrix, side, terms, texts=texts)
    assert 3 <= len(themes) <= 12
    words = [{word for word, _ in theme.words[:6]} for theme in themes]
    for expected in ("hotel", "flight", "timezone", "plug"):
        assert any(any(word.startswith(expected[:6]) for word in few) for few in words), expected
    assert all(theme.share_novel > theme.share_known for theme in themes)
    assert all(len({texts[row] for row in theme.typical}) == 3 for theme in themes)
    assert len({frozenset(theme.name.split()[:2]) for theme in themes}) == len(themes)
    assert 0.0 <= unexplained_share(themes, matrix, side) < 0.5


@pytest.mark.parametrize("size", [8, 30])
def test_piles_may_be_unbalanced(size: int) -> None:
    sizes = {"flight": (5, 4 * size), "bank": (900, size), "music": (900, size)}
    matrix, novel, terms, labels = made(sizes)
    themes = find_themes(matrix, novel, terms)
    assert 1 <= len(themes) <= 3
    found = np.unique(np.concatenate([theme.novel_documents for theme in themes]))
    assert (labels[found] == "flight").mean() > 0.9
    assert np.isin(np.flatnonzero(novel & (labels == "flight")), found).mean() > 0.6


def test_copies_are_documents_of_a_theme_but_no_evidence() -> None:
    banking, travel = load_sample()
    known = list(banking.texts[:300])
    once = describe(known, travel.texts[:300], **QUICK)
    copies = [f"{text}  " for text in travel.texts[:300] if "flight" in text]
    assert len(copies) > 20
    twice = describe(known, [*travel.texts[:300], *copies], **QUICK)
    for described in (once, twice):
        corpus = described.corpus_
        bags = corpus.matrix.toarray().astype(bool)
        for theme in described.themes_:
            columns = [
                [described.vectorizer_.vocabulary_[word] for word in rule.words]
                for rule in theme.rules
            ]
            found = np.any([bags[:, rule].all(axis=1) for rule in columns], axis=0)
            assert np.array_equal(np.flatnonzero(found & corpus.novel), theme.novel_documents)
            assert np.array_equal(np.flatnonzero(found & ~corpus.novel), theme.known_documents)
            assert theme.share_novel == len(theme.novel_documents) / corpus.novel.sum()
            for rule, own in zip(theme.rules, columns, strict=True):
                side = corpus.novel[bags[:, own].all(axis=1)]
                assert (rule.known, rule.novel) == ((~side).sum(), side.sum())
    flights = [next(t for t in one.themes_ if "flight" in t.name) for one in (once, twice)]
    assert flights[1].documents_novel > 1.5 * flights[0].documents_novel
    assert flights[1].evidence < flights[0].evidence + 0.5


def test_the_number_of_themes_is_limited() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    all_themes = find_themes(matrix, novel, terms, held_out=False)
    (first,) = find_themes(matrix, novel, terms, n_themes=1, held_out=False)
    assert same(first, all_themes[0])


@pytest.mark.parametrize(
    ("matrix", "novel"),
    [
        (sparse.csr_matrix((0, 3), dtype=bool), []),
        (sparse.csr_matrix((4, 0), dtype=bool), [True, False, True, False]),
        (sparse.csr_matrix((4, 3), dtype=bool), [True, False, True, False]),
        (sparse.csr_matrix(np.ones((1, 3), dtype=bool)), [True]),
        (sparse.csr_matrix(np.ones((3, 3), dtype=bool)), [True, True, True]),
        (sparse.csr_matrix(np.ones((3, 3), dtype=bool)), [False, False, False]),
        (sparse.csr_matrix(np.eye(3, dtype=bool)), [False, True, False]),
    ],
)
def test_without_anything_to_find_there_is_no_theme(matrix: Any, novel: list[bool]) -> None:
    terms = [str(number) for number in range(matrix.shape[1])]
    assert find_themes(matrix, novel, terms) == []
    assert np.isnan(unexplained_share([], matrix, novel))


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"4 values of novel and 2 terms"):
        find_themes(sparse.csr_matrix((4, 3), dtype=bool), [True] * 4, ["one", "two"])


def test_without_themes_all_novelty_is_unexplained() -> None:
    matrix, novel, _, _ = made(SHIFTED)
    assert unexplained_share([], matrix, novel) == 1.0


def test_piles_have_topics_that_grow() -> None:
    labels = np.repeat([f"topic {number}" for number in range(10)], 40)
    texts = np.array([f"{label} text {n}" for n, label in enumerate(labels)], dtype=object)
    vectorizer = TextVectorizer(min_df=2)
    matrix = vectorizer.fit_transform(texts.tolist())
    terms = np.array(vectorizer.get_feature_names_out(), dtype=str)
    topics = Topics("ten topics", matrix, labels, terms, texts, vectorizer, 8, 2)
    piles = piles_of(topics, seed=0, times=3)
    for topic in piles.grown:
        here = piles.labels == topic
        assert (here & piles.novel).sum() == 3 * (here & ~piles.novel).sum() == 30
    assert piles.novel.mean() == 0.5
    assert agreement([], piles)["topics found"] == 0.0


def test_themes_do_not_depend_on_the_order_of_documents_and_words() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(novel)), rng.permutation(len(terms))
    one = find_themes(matrix, novel, terms)
    other = find_themes(
        matrix[rows][:, columns], novel[rows], [terms[column] for column in columns]
    )
    assert [theme.words for theme in one] == [theme.words for theme in other]
    for first, second in zip(one, other, strict=True):
        assert np.array_equal(np.sort(rows[second.novel_documents]), first.novel_documents)
        assert np.array_equal(np.sort(rows[second.known_documents]), first.known_documents)


def test_topics_may_be_learned_from_a_sample_of_the_documents() -> None:
    matrix, novel, terms, labels = made(
        {topic: (9 * a, 9 * b) for topic, (a, b) in SHIFTED.items()}
    )
    drafts = choose_themes(
        evidence.Piles(matrix.astype(np.float32).tocsr(), novel),
        np.full(len(terms), 3.0),
        12,
        most=600,
    )
    piles = Piles(matrix, novel, labels, ("flight", "food"), terms, [])
    groups = [draft.rows[novel[draft.rows]] for draft in drafts]
    assert agreement(groups, piles)["topics found"] == 1.0


def test_only_clusters_that_grew_count_for_topic_models() -> None:
    new, known = np.repeat([0, 1, -1], [60, 40, 20]), np.repeat([0, 1, -1], [20, 80, 5])
    (grown,) = grown_clusters(Clustering(new, known, 0.0))
    assert np.array_equal(grown, np.arange(60))


@pytest.mark.parametrize("name", MODELS)
def test_topic_models_find_topics_that_grew(name: str) -> None:
    matrix, novel, terms, labels = made(SHIFTED)
    found = MODELS[name](matrix[novel], matrix[~novel], 5)
    rows = np.flatnonzero(novel)
    piles = Piles(matrix, novel, labels, ("flight", "food"), terms, [])
    figures = agreement([rows[one] for one in grown_clusters(found)], piles)
    assert figures["mean F1"] > 0.5


def test_a_name_has_the_order_of_the_texts() -> None:
    texts = [["rugby", "world", "cup", "opener"], ["win", "world", "cup"], ["cup", "draw"]]
    assert in_reading_order(["cup", "rugby", "world"], texts) == ("rugby", "world", "cup")
    assert in_reading_order(["sars", "quarantine"], [["quarantine", "sars"], *[["sars"]] * 10]) == (
        "sars",
        "quarantine",
    ), "one text of eleven does not decide"


def test_the_rule_that_finds_most_documents_is_in_the_name() -> None:
    words = [("year", 9.0), ("three", 8.0), ("jail", 7.5)]
    assert strong_words(words) == ("year", "three", "jail")
    assert strong_words(words, ["new", "year"])[:2] == ("new", "year")


def test_rules_of_one_theme_have_more_in_common_than_a_word() -> None:
    # "australian" is in both, and the rest of the documents differs.
    tennis = ["australian open tennis court final serve"] * 3 + ["tennis court serve final"] * 2
    beef = ["australian beef trade export cattle market"] * 3 + ["beef cattle market trade"] * 2
    other = [f"council road plan {a} {b}" for a in "abcdefgh" for b in "mnopqrst"]
    texts = [*other, *(tennis + beef) * 6]
    vectorizer = TextVectorizer(stop_words=None)
    matrix = vectorizer.fit_transform(texts).tocsr()
    place = vectorizer.vocabulary_
    space = DocumentSpace(
        sparse.csr_matrix(matrix, dtype=np.float32), np.arange(len(texts)), np.arange(len(place))
    )
    documents = evidence.Piles(matrix, np.arange(len(texts)) % 2 == 1)
    rules = [(place["australian"], place["open"]), (place["australian"], place["beef"])]
    assert len(_similar_rules(rules, documents, space)) == 2
    akin = [(place["australian"], place["beef"]), (place["cattle"],)]
    assert len(_similar_rules(akin, documents, space)) == 1


def test_names_are_kept_in_a_state() -> None:
    banking, travel = load_sample()
    described = describe(banking, travel, **QUICK)
    place, sizes = described.vectorizer_.vocabulary_, tuple(described.n_documents_.values())
    state = themes_state(described.description_.all_themes, place, sizes)
    loaded = themes_from_state(Fields(state), list(place), sizes)
    assert [theme.name for theme in loaded.themes] == [t.name for t in described.themes_]
    for names in (["another name"] * len(loaded.themes), state["names"][1:]):
        with pytest.raises(Refusal, match="names"):
            themes_from_state(Fields({**state, "names": names}), list(place), sizes)
