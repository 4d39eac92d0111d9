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
from newfound.stories.candidates import Contexts, find_candidates
from newfound.stories.choice import choose_themes
from newfound.stories.names import named_as_read, strong_words
from newfound.stories.state import themes_from_state, themes_state
from newfound.stories.themes import Theme, ThemeRule, Themes, completed, find_themes
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
    found = find_themes(matrix, novel, terms)
    themes = found.themes
    assert len(themes) == 2
    piles = Piles(matrix, novel, labels, ("flight", "food"), terms, [])
    figures = agreement([theme.novel_documents for theme in themes], piles)
    assert figures["topics found"] == 1.0
    assert figures["about no topic"] == figures["about nothing new"] == 0.0
    assert all(theme.evidence > 3 and not theme.gone for theme in themes)
    (gone,) = found.gone
    assert gone.gone and (labels[gone.known_documents] == "rain").all()
    assert gone.share_known > 3 * gone.share_novel and set(gone.typical) <= {*gone.known_documents}


def test_figures_of_a_theme_agree_with_its_documents() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    place = {term: number for number, term in enumerate(terms)}
    found_themes = find_themes(matrix, novel, terms)
    assert found_themes.themes and found_themes.gone
    for theme in found_themes.groups:
        dense = matrix.toarray()
        found = np.zeros(len(novel), dtype=bool)
        for rule in theme.rules:
            matches = dense[:, [place[word] for word in rule.words]].all(axis=1)
            assert (rule.known, rule.novel) == ((matches & ~novel).sum(), (matches & novel).sum())
            assert 1 <= len(rule.words) <= 3
            found |= matches
        assert np.array_equal(theme.novel_documents, np.flatnonzero(found & novel))
        assert np.array_equal(theme.known_documents, np.flatnonzero(found & ~novel))
        assert theme.share_novel == (found & novel).sum() / novel.sum()
        assert theme.share_known == (found & ~novel).sum() / (~novel).sum()
        assert 2 <= len(theme.name.split()) <= 4
        weights = [weight for _, weight in theme.words]
        assert weights == sorted(weights, reverse=True)
        assert len(theme.typical) == 3
        own = theme.known_documents if theme.gone else theme.novel_documents
        assert set(theme.typical) <= set(own.tolist())


def test_held_out_shares_are_near_the_shares_of_all_documents() -> None:
    matrix, novel, terms, _ = made({topic: (2 * a, 2 * b) for topic, (a, b) in SHIFTED.items()})
    found = find_themes(matrix, novel, terms)
    assert len(found.themes) >= 2 and found.gone
    for theme in (*found.themes, found.gone[0]):
        assert theme.held_out_share_novel == pytest.approx(theme.share_novel, abs=0.1)
        assert theme.held_out_share_known == pytest.approx(theme.share_known, abs=0.1)
        assert theme.holds


def test_the_seed_does_not_change_the_themes() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    one, again = (find_themes(matrix, novel, terms).themes for _ in range(2))
    other = find_themes(matrix, novel, terms, random_state=7).themes
    assert all(same(a, b) for a, b in zip(one, again, strict=True))
    assert [theme.words for theme in one] == [theme.words for theme in other]


def test_random_splits_rarely_give_a_theme_that_is_called_sure() -> None:
    known, _ = load_sample()
    matrix = TextVectorizer(min_df=2).fit_transform(known)
    terms = [str(number) for number in range(matrix.shape[1])]
    alarms = 0
    for seed in range(20):
        novel = np.random.default_rng(seed).random(len(known)) < (0.5 if seed % 2 else 0.2)
        found = find_themes(matrix, novel, terms, held_out=False)
        alarms += any(not theme.may_be_chance for theme in found.themes)
    assert alarms <= 3


def test_the_sample_gives_themes_of_travel() -> None:
    known, novel = load_sample()
    vectorizer = TextVectorizer(min_df=2)
    matrix = vectorizer.fit_transform([*known, *novel])
    terms = [str(term) for term in vectorizer.get_feature_names_out()]
    side = np.arange(matrix.shape[0]) >= len(known)
    texts = [*known, *novel]
    found = find_themes(matrix, side, terms, texts=texts)
    themes = found.themes
    assert 10 <= len(themes) <= 30
    words = [{word for word, _ in theme.words[:6]} for theme in themes]
    for expected in ("hotel", "flight", "timezone", "plug"):
        assert any(any(word.startswith(expected[:6]) for word in few) for few in words), expected
    assert all(theme.share_novel > theme.share_known for theme in themes)
    assert all(len({texts[row] for row in theme.typical}) == 3 for theme in themes)
    whole = next(theme for theme in themes if theme.parts)
    assert len(whole.parts) >= 2
    inside = set(whole.novel_documents.tolist())
    for part in whole.parts:
        own = set(part.novel_documents.tolist())
        assert len(own) < len(inside) and len(own & inside) >= 0.7 * len(own)


@pytest.mark.parametrize("size", [8, 30])
def test_piles_may_be_unbalanced(size: int) -> None:
    sizes = {"flight": (5, 4 * size), "bank": (900, size), "music": (900, size)}
    matrix, novel, terms, labels = made(sizes)
    themes = find_themes(matrix, novel, terms).themes
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
    all_themes = find_themes(matrix, novel, terms, held_out=False).themes
    (first,) = find_themes(matrix, novel, terms, amount=1, held_out=False).themes
    assert same(first, all_themes[0])


def test_themes_may_be_few_or_many() -> None:
    banking, travel = load_sample()
    matrix = TextVectorizer(min_df=2).fit_transform([*banking, *travel])
    side, terms = np.arange(matrix.shape[0]) >= len(banking), list(map(str, range(matrix.shape[1])))
    sizes = [
        len(find_themes(matrix, side, terms, amount=amount, held_out=False).themes)
        for amount in ("few", "default", "many")
    ]
    assert sizes[0] <= 12 and sizes[0] < sizes[1] <= sizes[2]


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
    assert find_themes(matrix, novel, terms) == Themes()
    found = completed(Themes(), matrix, novel, terms, np.arange(0))
    assert np.isnan(found.unexplained) and not found.loose


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match=r"4 values of novel and 2 terms"):
        find_themes(sparse.csr_matrix((4, 3), dtype=bool), [True] * 4, ["one", "two"])


def test_words_that_are_surely_new_are_in_a_theme_or_listed() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    sure = np.array([terms.index(word) for word in ("plane", "ticket", "oven")], np.intp)
    none = completed(Themes(), matrix, novel, terms, sure)
    assert none.unexplained == 1.0
    assert [word.word for word in none.loose] == ["plane", "ticket", "oven"]
    dense = matrix.toarray()
    for word in none.loose:
        assert novel[word.document] and dense[word.document, terms.index(word.word)]
    found = completed(find_themes(matrix, novel, terms), matrix, novel, terms, sure)
    assert found.unexplained < 0.3 and not found.loose


def test_a_pair_is_a_theme_where_each_word_was_there_before() -> None:
    rng = np.random.default_rng(0)
    fill = [f"w{number}" for number in range(200)]
    words = [[*rng.choice(fill, 6, replace=False)] for _ in range(1200)]
    for row in range(600):  # known: each word in 150 documents, never both
        words[row] += [["johnson"], ["resign"], [], []][row % 4]
    for row in range(600, 1200):  # novel: as often, but together
        words[row] += ["johnson", "resign"] if row % 4 == 0 else []
    vectorizer = TextVectorizer(min_df=1, stop_words=None)
    matrix = vectorizer.fit_transform([" ".join(one) for one in words])
    terms = [str(term) for term in vectorizer.get_feature_names_out()]
    first = find_themes(matrix, np.arange(1200) >= 600, terms).themes[0]
    assert {word for rule in first.rules for word in rule.words} == {"johnson", "resign"}
    assert all(len(rule.words) == 2 for rule in first.rules) and first.documents_known == 0


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
    one = find_themes(matrix, novel, terms).groups
    other = find_themes(
        matrix[rows][:, columns], novel[rows], [terms[column] for column in columns]
    ).groups
    assert [theme.words for theme in one] == [theme.words for theme in other]
    for first, second in zip(one, other, strict=True):
        assert np.array_equal(np.sort(rows[second.novel_documents]), first.novel_documents)
        assert np.array_equal(np.sort(rows[second.known_documents]), first.known_documents)


def test_topics_may_be_learned_from_a_sample_of_the_documents() -> None:
    matrix, novel, terms, labels = made(
        {topic: (9 * a, 9 * b) for topic, (a, b) in SHIFTED.items()}
    )
    sides = evidence.Piles(matrix.astype(np.float32).tocsr(), novel)
    candidates = find_candidates(sides, most=600)
    assert candidates is not None and candidates.from_topic.any()
    drafts = choose_themes(candidates, sides, candidates.searched(sides), 12)
    piles = Piles(matrix, novel, labels, ("flight", "food"), terms, [])
    groups = [draft.rows[novel[draft.rows]] for draft in drafts]
    assert agreement(groups, piles)["topics found"] == 1.0


def test_a_word_that_two_stories_share_does_not_join_them() -> None:
    matrix, novel, terms, labels = made(SHIFTED)
    shared = sparse.csr_matrix(np.isin(labels, ("flight", "food")).astype(np.float32)[:, None])
    matrix = sparse.hstack([matrix, shared]).tocsr()
    themes = find_themes(matrix, novel, [*terms, "breaking"]).themes
    stories = [set(labels[theme.novel_documents].tolist()) for theme in themes]
    assert stories and all(len(own) == 1 for own in stories)
    assert {"flight"} in stories and {"food"} in stories


def test_rules_whose_documents_have_nothing_in_common_are_parted() -> None:
    matrix, novel, terms, _ = made(SHIFTED)
    piles = evidence.Piles(matrix.astype(np.float32).tocsr(), novel)
    rules = [(terms.index(word),) for word in ("flight", "plane", "luggage", "song", "album")]
    parts = Contexts(piles).parted(rules)
    words = {frozenset(terms[word] for (word,) in part) for part in parts}
    assert words == {frozenset({"flight", "plane", "luggage"}), frozenset({"song", "album"})}


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


def named(texts: list[str], words: list[tuple[str, float]]) -> str:
    """Return the name that documents give a theme with these words."""
    rows, none = np.arange(len(texts)), np.arange(0)
    rules = (ThemeRule((words[0][0],), 0, len(texts)),)
    theme = Theme("", tuple(words), rules, rows, none, 1.0, 0.0, 5.0, (0,))
    tokens = TextVectorizer().fit(texts).tokens
    (found,) = named_as_read(Themes((theme,)), texts, tokens).themes
    return found.name


def test_a_name_is_a_phrase_that_most_documents_have() -> None:
    words = [("court", 9.0), ("supreme", 8.5), ("roe", 8.0), ("wade", 8.0)]
    texts = [
        "Today the Supreme Court overturns Roe v. Wade",
        "What the Supreme Court said",
        "A court is asked, and the Supreme Court answers",
        "Roe v. Wade is gone",
    ]
    assert named(texts, words) == "Supreme Court"


def test_a_name_has_several_phrases_where_the_first_is_in_few_documents() -> None:
    words = [("convoy", 9.0), ("trucker", 8.0), ("ottawa", 7.0)]
    texts = [*["the trucker convoy"] * 2, *["police of Ottawa"] * 2, "no police", "to police"]
    assert named(texts, words) == "trucker convoy, Ottawa"


def test_a_name_does_not_cross_the_end_of_a_sentence() -> None:
    words = [("hearing", 9.0), ("capitol", 8.0)]
    assert named(["We saw the hearing. Capitol police left"] * 4, words) == "hearing"


def test_the_first_typical_document_has_the_name() -> None:
    texts = ["court, supreme as ever", "the Supreme Court", "a Supreme Court", "Supreme Court"]
    rows, none = np.arange(4), np.arange(0)
    words = (("court", 9.0), ("supreme", 8.0))
    theme = Theme("", words, (ThemeRule(("court",), 0, 4),), rows, none, 1.0, 0.0, 5.0, (0, 3))
    (found,) = named_as_read(Themes((theme,)), texts, TextVectorizer().fit(texts).tokens).themes
    assert found.typical == (3, 0)


def test_words_alone_name_a_group_by_the_strongest() -> None:
    assert strong_words([("year", 9.0), ("three", 8.0), ("jail", 7.5)]) == ("year", "three", "jail")
    assert strong_words([("year", 9.0)], ["new"]) == ("new", "year")


def test_names_are_kept_in_a_state() -> None:
    banking, travel = load_sample()
    described = describe(banking, travel, **QUICK)
    place, sizes = described.vectorizer_.vocabulary_, tuple(described.n_documents_.values())
    themes = described.description_.all_themes
    state = themes_state(themes, place, sizes)
    loaded = themes_from_state(Fields(state), list(place), sizes)
    assert [group.to_dict() for group in loaded.groups] == [g.to_dict() for g in themes.groups]
    assert any(group.parts for group in loaded.groups) and loaded.gone
    assert loaded.loose == themes.loose and loaded.unexplained == themes.unexplained
    for names in (["n" * 501] * len(loaded.groups), state["names"][1:]):
        with pytest.raises(Refusal, match="names"):
            themes_from_state(Fields({**state, "names": names}), list(place), sizes)
    with pytest.raises(Refusal, match="levels"):
        levels = np.ones_like(state["levels"])
        themes_from_state(Fields({**state, "levels": levels}), list(place), sizes)
