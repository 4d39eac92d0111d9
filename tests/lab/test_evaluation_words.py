"""The suites for words: planted words are as described, and good scores win over bad ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from typer.testing import CliRunner

from lab.__main__ import app
from lab.evaluation import words as suites
from lab.evaluation.faithfulness import faithfulness
from lab.evaluation.planting import pair_columns, plant_pairs, random_halves
from lab.evaluation.suites import run_suites
from lab.evaluation.word_corpora import (
    LEMMAS,
    Corpus,
    Headlines,
    Matrix,
    Setting,
    learned_rules,
)
from lab.evaluation.words import SUITES
from newfound.baselines import document_frequency_z

SMALL = {"n_machines": 2, "n_clauses": 20, "T": 10, "epochs": 3}


def made_corpus(seed: int, n: int = 300, splits: bool = False) -> Corpus:
    """Documents of 60 common words; a third are novel and have some of 10 words of their own."""
    rng = np.random.default_rng(seed)
    texts = []
    novel = np.arange(n) % 3 == 0
    for is_novel in novel:
        drawn = [f"common{i}" for i in rng.choice(60, 12, replace=False)]
        if is_novel:
            drawn += [f"fresh{i}" for i in rng.choice(10, 3, replace=False)]
        else:
            drawn += [f"usual{i}" for i in rng.choice(10, 3, replace=False)]
        texts.append(" ".join(drawn))
    split = np.where(np.arange(n) % 5 < 3, "train", "test") if splits else None
    return Corpus.of(tuple(texts), novel, split)


@dataclass(frozen=True)
class Made(Setting):
    """The suites over corpora that are made here."""

    @cached_property
    def bbcsport(self) -> Corpus:
        return made_corpus(1)

    @cached_property
    def newsgroups(self) -> Corpus:
        return made_corpus(2, splits=True)

    @cached_property
    def requests(self) -> Corpus:
        return made_corpus(3)

    @cached_property
    def headlines(self) -> Headlines:
        corpus = made_corpus(4)
        months = np.where(corpus.novel, "2003-04", "2003-03")
        return Headlines(corpus.matrix, months)

    def topics(self, name: str) -> tuple[Matrix, NDArray[np.str_]]:
        corpus = made_corpus(5)
        return corpus.matrix, np.array([f"topic{i % 6}" for i in range(len(corpus.novel))])


@pytest.fixture(scope="module")
def setting() -> Made:
    return Made(seeds=2, parameters=SMALL)


def test_planted_words_are_where_they_should_be(setting: Made) -> None:
    before, novel = setting.halves(0)
    after, same, planted = setting.planted_words(0, 0.5)
    assert (novel == same).all()
    assert planted.sum() == 30
    counts = np.array([after[rows].sum(axis=0) for rows in (~novel, novel)])
    assert after[~novel].nnz == before[~novel].nnz  # nothing is planted in known documents
    assert (counts[1, planted] > counts[0, planted]).mean() > 0.9


def test_planted_pairs_are_as_frequent_alone_and_together_only_in_novel(setting: Made) -> None:
    _, novel = setting.halves(3)
    matrix, same, pairs = setting.planted_pairs(3)
    assert (novel == same).all()
    assert len({word for pair in pairs for word in pair}) == 6
    has = np.array([matrix[:, list(pair)].toarray() for pair in pairs])
    together = has.all(axis=2)
    assert together[:, novel].sum() > 2 * together[:, ~novel].sum()  # some by chance
    assert has[:, novel].sum() == pytest.approx(has[:, ~novel].sum(), rel=0.2)


def test_pair_columns_are_the_pairs_of_enough_documents(setting: Made) -> None:
    matrix, _, _ = setting.planted_pairs(3)
    columns, pairs = pair_columns(matrix, 5)
    dense = matrix.toarray()
    expected = {
        (i, j)
        for i in range(dense.shape[1])
        for j in range(i)
        if (dense[:, i] & dense[:, j]).sum() >= 5
    }
    assert {tuple(sorted(pair, reverse=True)) for pair in pairs.tolist()} == expected
    for column, (i, j) in zip(columns.toarray().T, pairs, strict=True):
        assert (column == dense[:, i] & dense[:, j]).all()


def test_baselines_that_count_pairs_find_planted_pairs() -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.csr_array(rng.random((1000, 300)) < 0.04)
    planted, novel, pairs = plant_pairs(matrix, random_halves(1000, 1), 1)
    columns, words = pair_columns(planted, 10)
    best = words[np.argsort(-document_frequency_z(columns, novel))[:20]].tolist()
    assert all(sorted(pair) in best for pair in pairs)


def test_rules_are_learned_without_a_limit_of_documents_too(setting: Made) -> None:
    corpus = setting.bbcsport
    everything, some = (
        learned_rules(setting, corpus.matrix, corpus.novel, 1, max_documents=most)
        for most in (0, 20)
    )
    unjudged = [int(np.isnan(learned.votes).sum()) for learned in (everything, some)]
    assert unjudged[1] < 20 < unjudged[0]  # a document that all machines learned from has no vote


def test_lemmas_can_be_left_out_of_the_corpora() -> None:
    texts = ("The Tigers lost", "He saw Tigers", "We met Tigers", "Tiger cubs", "It won matches")
    novel = np.arange(5) % 2 == 0
    n_words = [Corpus.of(texts, novel, lemmas=lemmas).matrix.shape[1] for lemmas in LEMMAS]
    assert n_words[1] <= n_words[0] <= n_words[2]
    assert n_words[1] < n_words[2]


SLOW = ("documents-from-words", "no-novelty", "shift")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in SUITES],
)
def test_every_suite_gives_a_row_for_each_scorer(name: str, setting: Made) -> None:
    if name == "no-novelty":
        table = suites.no_novelty(setting, splits=20)
    else:
        seeds = 2 if name == "stability" else 1
        table, seconds = run_suites(SUITES, replace(setting, seeds=seeds), [name])[name]
        assert seconds > 0
    assert len(table) >= 1
    assert len(set(table["scorer"])) == len(table)
    for column in table.columns[1:]:
        values = table[column][~np.isnan(table[column])]
        assert np.isfinite(values).all()
        if not column.endswith(("sufficiency", "comprehensiveness", "post", "Spearman")):
            assert ((values >= 0) & (values <= 1)).all()


def test_documents_are_told_apart_by_good_words_and_not_by_shuffled_sides() -> None:
    good = suites.documents_from_words(Made(seeds=1, parameters=SMALL))
    row = good["scorer"].tolist().index(suites.NOVELTY)
    assert good["20 Newsgroups, all"][row] > 0.99
    shuffled = Made(seeds=1, parameters=SMALL)
    corpus = made_corpus(2, splits=True)
    mixed = Corpus(
        corpus.matrix, np.random.default_rng(5).permutation(corpus.novel), corpus.texts,
        corpus.splits,
    )  # fmt: skip
    shuffled.__dict__.update(newsgroups=mixed, bbcsport=mixed)
    bad = suites.documents_from_words(shuffled)
    assert abs(bad["20 Newsgroups, all"][row] - 0.5) < 0.15


def test_exact_words_are_more_faithful_than_random_ones() -> None:
    corpus = made_corpus(4)
    table = faithfulness(corpus.texts, corpus.novel, np.arange(300) % 2 == 0, SMALL)
    value = dict(zip(table["scorer"], table["C = 1, comprehensiveness"], strict=True))
    assert value["exact, from the judge's own weights"] > value["random words"]
    assert value["newfound: novelty"] > value["random words"]


def test_the_command_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    run = CliRunner()
    asked = run.invoke(app, ["evaluate", "words", "nonsense"])
    assert asked.exit_code == 2
    assert "nonsense" in asked.output
    missing = run.invoke(app, ["evaluate", "words", "stability", "--data", str(tmp_path)])
    assert missing.exit_code == 1
    there = tmp_path / "kept.md"
    there.write_text("mine")
    kept = run.invoke(
        app,
        ["evaluate", "words", "stability", "--data", str(tmp_path), "-o", str(tmp_path / "kept")],
    )
    assert kept.exit_code == 1
    assert there.read_text() == "mine"
