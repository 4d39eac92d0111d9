"""The suites for themes: draws of topics, near copies, names, and every suite on made documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from lab.datasets import LabelledDocuments
from lab.evaluate import THEME_SUITES
from lab.evaluation.suites import run_suites
from lab.evaluation.theme_chance import by_chance, near_copies
from lab.evaluation.theme_names import check_name, months
from lab.evaluation.theme_piles import Topics, agreement, other_piles, other_texts, piles_of
from lab.evaluation.themes import SUITES, Setting
from newfound.stories.themes import Theme, ThemeRule

N_TOPICS = 10
SHARES = (
    "topics found",
    "with parts",
    "by themes alone",
    "mean F1",
    "about no topic",
    "sure theme",
    "any gone",
    "one word or in half",
    "in typical",
    "another seed",
)


def made_corpus(n: int = 60, seed: int = 0) -> LabelledDocuments:
    """Documents of topics, two to a domain: three words of the topic, three that all topics have.

    They have dates of three months, in their order.
    """
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for topic in range(N_TOPICS):
        for _ in range(n):
            own = [f"topic{topic}word{i}" for i in rng.choice(7, 3, replace=False)]
            common = [f"common{i}" for i in rng.choice(40, 3, replace=False)]
            texts.append(" ".join(rng.permutation([*own, *common])))
            labels.append(f"topic {topic}")
    dates = [date(2003, 1, 1) + timedelta(days=row * 89 // len(texts)) for row in range(len(texts))]
    return LabelledDocuments(
        tuple(texts),
        tuple(map(str, range(len(texts)))),
        tuple(labels),
        dates=tuple(dates),
        domains=tuple(f"domain {label[-1:] in '02468'} {int(label[-1:]) // 4}" for label in labels),
    )


def whole_domains(corpus: LabelledDocuments, most: int | None = None) -> Topics:
    return Topics.of("made", corpus, 8, 2, most=most)


@dataclass(frozen=True)
class Made(Setting):
    """The suites over corpora that are made here."""

    seeds: int = 2
    splits: int = 3

    @cached_property
    def requests(self) -> Topics:
        return whole_domains(made_corpus())

    @cached_property
    def newsgroups(self) -> Topics:
        return whole_domains(made_corpus(seed=1), most=200)

    @cached_property
    def reports(self) -> Topics:
        return whole_domains(made_corpus(seed=2))

    @cached_property
    def headlines(self) -> LabelledDocuments:
        return made_corpus(seed=3)


def theme(name: str, documents: list[int], typical: int, **more: Any) -> Theme:
    """A theme of which only name and documents matter."""
    rows = np.array(documents, np.intp)
    return Theme(
        name=name,
        words=((name, 1.0),),
        rules=(ThemeRule((name,), 0, len(rows)),),
        novel_documents=rows,
        known_documents=rows[:0],
        share_novel=0.1,
        share_known=0.0,
        evidence=5.0,
        typical=(typical,),
        **more,
    )


def test_the_command_offers_every_suite() -> None:
    assert set(THEME_SUITES) == set(SUITES)


def test_other_piles_have_no_common_topic() -> None:
    corpus = made_corpus()
    draws = [other_piles(whole_domains(corpus), seed) for seed in range(5)]
    for piles in draws:
        known, novel = (set(piles.labels[piles.novel == side]) for side in (False, True))
        assert not known & novel
        assert novel == set(piles.grown)
        assert len(known | novel) == N_TOPICS
    assert len({piles.grown for piles in draws}) > 1


def test_other_piles_divide_no_domain() -> None:
    topics = whole_domains(made_corpus())
    assert topics.domains is not None
    domain = dict(zip(topics.labels.tolist(), topics.domains.tolist(), strict=True))
    piles = other_piles(topics, 3)
    known, novel = (
        {domain[label] for label in piles.labels[piles.novel == side].tolist()}
        for side in (False, True)
    )
    assert not known & novel


def test_other_piles_are_no_larger_than_they_may_be() -> None:
    topics = whole_domains(made_corpus(), most=50)
    piles = other_piles(topics, 1)
    assert Counter(piles.novel.tolist()) == {False: 50, True: 50}
    known, novel = other_texts(topics, 1)
    assert [*known, *novel] == piles.texts


def test_new_topics_are_found_by_themes_and_parts() -> None:
    piles = other_piles(whole_domains(made_corpus()), 0)
    themes = piles.found().themes
    groups = [one.novel_documents for theme in themes for one in (theme, *theme.parts)]
    figures = agreement(groups, piles)
    assert figures["topics found"] == 1.0
    assert figures["themes"] <= 3 * len(piles.grown)


def test_grown_topics_are_as_many_times_as_frequent_as_asked() -> None:
    piles = piles_of(whole_domains(made_corpus()), 0, times=3)
    for topic in piles.grown:
        here = piles.labels == topic
        assert (here & piles.novel).sum() == 3 * (here & ~piles.novel).sum()


def test_near_copies_differ_in_one_word() -> None:
    texts = [f"the {word} of the year was not what we expected" for word in "abcdefghij"]
    made = near_copies(texts, np.random.default_rng(1))
    assert made[:10] == texts
    assert len(made) == 16
    for copy in made[10:]:
        differences = [
            sum((Counter(text.split()) - Counter(copy.split())).values()) for text in texts
        ]
        assert min(differences) <= 1
    assert set(made[10:]) - set(texts)


def test_halves_of_one_corpus_have_no_sure_theme() -> None:
    texts = list(made_corpus().texts)
    figures = [by_chance(texts, near=False, seed=seed) for seed in range(5)]
    assert {one["documents"] for one in figures} == {600.0}
    assert sum(one["sure of either"] for one in figures) <= 1
    assert by_chance(texts, near=True, seed=0)["documents"] == 960.0


def test_a_name_is_looked_for_word_by_word() -> None:
    texts = ["The Supreme Court overturns", "supreme-court hearing", "A court, supreme", "Rain"]
    everyone = check_name(theme("Supreme Court", [0, 1, 2, 3], 1), texts)
    assert (everyone.single, everyone.whole, everyone.good) == (False, True, True)
    assert everyone.share == 0.5
    assert everyone.in_typical
    assert not check_name(theme("court supreme", [0, 1], 0), texts).good
    assert not check_name(theme("preme Court", [0, 1], 0), texts).whole


def test_a_name_of_several_phrases_is_no_phrase_of_half_of_the_documents() -> None:
    texts = ["trade deal signed", "trade deal off", "sugar left out", "rain"]
    several = check_name(theme("trade deal, sugar", [0, 1, 2, 3], 2), texts)
    assert several.n_phrases == 2
    assert not several.good
    assert several.any_phrase
    assert not several.in_typical  # the typical document has the second phrase only


def test_a_single_word_is_a_good_name_of_few_documents_too() -> None:
    found = check_name(theme("rain", [0, 1, 2], 0), ["sun", "wind", "rain"])
    assert found.good
    assert not found.in_typical
    assert found.share == pytest.approx(1 / 3)


def test_a_theme_that_is_gone_is_checked_in_known_documents() -> None:
    gone = theme("rain", [], 0, gone=True)
    gone = type(gone)(**{**vars(gone), "known_documents": np.array([0])})
    assert check_name(gone, ["rain", "sun"]).share == 1.0


def test_each_month_is_described_against_what_was_before() -> None:
    corpus = made_corpus()
    found = list(months(corpus))
    assert [month for month, _, _ in found] == ["2003-02", "2003-03"]
    for _, known, novel in found:
        assert tuple(known) + tuple(novel) == corpus.texts[: len(known) + len(novel)]


SLOW = ("topic-models", "other", "names")


@pytest.mark.filterwarnings("ignore")  # BERTopic warns, where it is installed
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in SUITES],
)
def test_every_suite_gives_figures_of_made_documents(name: str) -> None:
    said: list[str] = []
    table, seconds = run_suites(SUITES, Made(say=said.append), [name])[name]
    assert len(table) >= 2
    assert seconds > 0
    assert said
    for column in set(SHARES) & set(table.columns):
        values = table[column][~np.isnan(table[column])]  # topic models do not have all figures
        assert ((values >= 0) & (values <= 1)).all()
    if name == "other":
        by_method = dict(zip(table["method"], table["topics found"], strict=True))
        assert by_method["newfound: themes and parts"] == 1.0
