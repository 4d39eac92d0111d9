"""From two piles of documents to words, rules, context and explanations."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone  # type: ignore[import-untyped,unused-ignore]
from sklearn.exceptions import (  # type: ignore[import-untyped,unused-ignore]
    NotFittedError,
)

from newfound.description.describe import describe
from newfound.description.describer import NoveltyDescriber
from newfound.description.learning import PRESETS
from newfound.description.novelty import Evidence, word_evidence
from newfound.machine.native import EpochInfo
from newfound.rules import ClauseTable
from newfound.text.documents import as_documents
from small_describer import KNOWN, NOVEL, SMALL, restored, same


@pytest.fixture(scope="module")
def described() -> NoveltyDescriber:
    return describe(KNOWN, NOVEL, **SMALL)


class TestFit:
    def test_the_words_of_the_novel_pile_come_first(self, described: NoveltyDescriber) -> None:
        words = described.words_["word"].tolist()
        assert set(words[:3]) == {"rugby", "scrum", "try"}
        assert described.words_.row("ball")["score"] < 0.5
        assert described.n_documents_ == {"known": 32, "novel": 32}
        assert described.classes_.tolist() == ["known", "novel"]

    def test_counts_of_documents_groups_and_roles(self, described: NoveltyDescriber) -> None:
        words = described.words_
        match, rugby = words.row("match"), words.row("rugby")
        assert (match["documents_known"], match["documents_novel"]) == (8, 16)
        assert (match["group"], rugby["group"]) == ("shared", "novel")
        assert match["role"] in ("known", "novel", "common")
        assert rugby["role"] == ""
        assert words.row("wicket")["forms"] == ["wicket", "wickets"]
        assert words.row("try")["forms"] == ["try", "tries"]
        shared = (words["documents_known"] > 0) & (words["documents_novel"] > 0)
        assert ((words["group"] == "shared") == shared).all()
        assert ((words["role"] != "") == shared).all()

    def test_scores_are_those_of_the_bags(self, described: NoveltyDescriber) -> None:
        words = described.words_
        F_K, F_N = described.clauses_.bags()
        for row in words:
            column = described.clauses_.column(row["word"])
            assert (row["F_K"], row["F_N"]) == (F_K[column], F_N[column])
        ranked = (words["F_K"] > 0) | (words["F_N"] > 0)
        expected = (np.maximum(words["F_N"], 1) / F_N.sum()) / (
            np.maximum(words["F_K"], 1) / F_K.sum()
        )
        np.testing.assert_allclose(words["score"][ranked], expected[ranked])
        assert np.isnan(words["score"][~ranked]).all()

    def test_words_are_ranked_by_novelty_and_then_by_score(
        self, described: NoveltyDescriber
    ) -> None:
        words = described.words_
        assert (np.diff(words["novelty"]) <= 0).all()
        ties = np.flatnonzero(np.diff(words["novelty"]) == 0)
        score = np.nan_to_num(words["score"], nan=-1.0)
        assert (score[ties] >= score[ties + 1]).all()
        assert (words["low"] <= words["times"]).all()
        assert (words["times"] <= words["high"]).all()
        assert words.row("rugby")["q"] < 0.001
        assert words.row("rugby")["low"] > 1
        assert words.row("wicket")["high"] < 1

    def test_evidence_is_that_of_the_documents(self, described: NoveltyDescriber) -> None:
        matrix = described.vectorizer_.transform(KNOWN + NOVEL)
        evidence = word_evidence(matrix, np.arange(64) >= 32)
        order = [described.all_clauses_.column(word) for word in described.words_["word"]]
        for name in Evidence._fields:
            np.testing.assert_array_equal(described.words_[name], getattr(evidence, name)[order])

    def test_stability_is_the_share_of_machines_that_agree(
        self, described: NoveltyDescriber
    ) -> None:
        F_K, F_N = described.all_clauses_.bags()
        for row in described.words_.to_records():
            column = described.clauses_.column(row["word"])
            agreeing, using = 0, 0
            for machine in described.machines_:
                alone = ClauseTable(machine.clauses_, described.all_clauses_.vocabulary)
                known, novel = alone.bags()
                if known[column] + novel[column]:
                    using += 1
                    side = novel[column] / novel.sum() - known[column] / known.sum()
                    whole = F_N[column] / F_N.sum() - F_K[column] / F_K.sum()
                    agreeing += side * whole > 0
            assert row["stability"] == (agreeing / using if using else None)
        assert described.words_.row("rugby")["stability"] == 1

    @pytest.mark.parametrize(
        "labels",
        [
            ["known"] * 32 + ["novel"] * 32,
            [0] * 32 + [1] * 32,
            np.arange(64) >= 32,
            np.array(["known"] * 32 + ["novel"] * 32, dtype=object),
            np.repeat([0.0, 1.0], 32),
        ],
    )
    def test_labels_may_be_names_or_numbers(self, described: NoveltyDescriber, labels: Any) -> None:
        assert same(NoveltyDescriber(**SMALL).fit(KNOWN + NOVEL, labels), described)

    def test_series_frames_and_documents_are_taken(self, described: NoveltyDescriber) -> None:
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        for known, novel in (
            (pandas.Series(KNOWN), polars.Series(NOVEL)),
            (pandas.DataFrame({"text": KNOWN}), as_documents(NOVEL)),
            (iter(KNOWN), tuple(NOVEL)),
        ):
            assert same(describe(known, novel, **SMALL), described)

    def test_blank_texts_go_with_their_labels(self, described: NoveltyDescriber) -> None:
        X: list[Any] = ["", None, *KNOWN, " \n", *NOVEL]
        labels = [1, 1, *[0] * 32, 0, *[1] * 32]
        assert same(NoveltyDescriber(**SMALL).fit(X, labels), described)

    def test_the_seed_decides(self, described: NoveltyDescriber) -> None:
        assert same(describe(KNOWN, NOVEL, **SMALL, n_jobs=2), described)
        assert not same(describe(KNOWN, NOVEL, **{**SMALL, "random_state": 2}), described)

    def test_a_callback_is_told_and_can_stop(self) -> None:
        seen: list[int] = []

        def stop(info: EpochInfo) -> bool:
            seen.append(info.epoch)
            return info.epoch == 2

        describer = describe(KNOWN, NOVEL, **SMALL, callback=stop)
        assert seen == [1, 2]
        assert describer.n_machines_ == len(describer.machines_) == 1  # the others never began
        assert describer.machines_[0].stop_reason_ == "callback"
        assert same(restored(describer), describer)

    def test_it_is_a_scikit_learn_estimator(self, described: NoveltyDescriber) -> None:
        copy = clone(described)
        assert copy.get_params() == described.get_params()
        with pytest.raises(NotFittedError):
            copy.explain("rugby")
        assert same(pickle.loads(pickle.dumps(described)), described)

    def test_training_goes_on_from_where_it_was(self) -> None:
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**SMALL, n_machines=5, epochs=1)
        describer.partial_fit(KNOWN + NOVEL, labels)
        before, words = list(describer.clauses_), describer.words_["word"]
        describer.partial_fit(KNOWN[:4] + NOVEL[:4], labels[28:36], epochs=2)
        assert [machine.n_epochs_ for machine in describer.machines_] == [3] * 5
        assert list(describer.clauses_) != before
        assert set(describer.words_["word"]) == set(words)
        assert describer.n_documents_ == {"known": 4, "novel": 4}
        assert describer.words_.row("rugby")["documents_novel"] == 3


def test_a_fit_that_fails_leaves_the_describer_as_it_was() -> None:
    small = {"n_machines": 2, "n_clauses": 10, "T": 5, "epochs": 2, "random_state": 1}
    texts = [f"{what} in 2003 and {i}" for what in ("wicket", "scrum") for i in (1, 1, 2, 2)]
    describer = NoveltyDescriber(**small).fit(texts, ["known"] * 4 + ["novel"] * 4)
    before = describer.to_state()
    assert "2003" in describer.set_aside_

    def fail(info: Any) -> bool:
        raise KeyboardInterrupt

    others = [text.replace("2003", "1999").replace("scrum", "goal") for text in texts]
    with pytest.raises(KeyboardInterrupt):
        describer.fit(others, ["known"] * 4 + ["novel"] * 4, callback=fail)
    assert "2003" in describer.set_aside_
    assert repr(describer.to_state()) == repr(before)


class TestPresets:
    def test_the_paper_is_as_in_the_paper(self) -> None:
        chosen = NoveltyDescriber(preset="paper").resolve_parameters()
        assert [chosen[name] for name in ("n_clauses", "T", "s", "epochs")] == [10_000, 50, 25, 100]
        assert (chosen["max_literals"], chosen["boost_true_positive"]) == (None, False)
        assert (chosen["n_machines"], chosen["min_df"]) == (1, 1)

    def test_what_is_given_goes_before_the_preset(self) -> None:
        chosen = NoveltyDescriber(
            preset="paper", T=7, max_literals=3, stop_words=()
        ).resolve_parameters()
        assert (chosen["T"], chosen["max_literals"], chosen["stop_words"]) == (7, 3, ())
        assert chosen["s"] == 25

    def test_no_budget_can_be_asked_for(self) -> None:
        assert PRESETS["default"]["max_literals"] > 0
        assert NoveltyDescriber(max_literals=0).resolve_parameters()["max_literals"] is None

    @pytest.mark.parametrize(
        "wrong", [{"T": -1}, {"n_machines": 1001}, {"min_df": -2}, {"rule_min_df": -1}]
    )
    def test_a_wrong_parameter_is_found_without_a_fit(self, wrong: dict[str, Any]) -> None:
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"^{name}={value}"):
            NoveltyDescriber(**wrong).resolve_parameters()

    def test_every_parameter_of_a_preset_can_be_given(self) -> None:
        names = set(NoveltyDescriber().get_params())
        assert all(set(preset) <= names for preset in PRESETS.values())


class TestBadInput:
    @pytest.mark.parametrize(
        ("known", "novel", "message"),
        [
            ([], NOVEL, "^known: There are no documents in a list"),
            (KNOWN, None, "^novel: Expected a list of texts"),
            (KNOWN, ["", " "], "^novel: There are no documents in a list .1 empty, 1 blank"),
            (KNOWN, "rugby", "^novel: .* wrap it in a list"),
            (KNOWN, NOVEL[:1], "^novel has 1 document with text; pass at least 2"),
            (KNOWN[:1], NOVEL, "^known has 1 document with text; pass at least 2"),
            (["the and of"] * 4, ["is was"] * 4, "^Nothing is left after cleaning"),
            (KNOWN, ["the and of"] * 4, "^Nothing is left of the 4 novel documents"),
            (KNOWN, KNOWN[:4], "^known and novel hold the same documents"),
            (KNOWN, list(reversed(KNOWN)), "^known and novel hold the same documents"),
            (["Rugby!"] * 5, ["rugby"] * 5, "^All 10 documents have the same words"),
        ],
    )
    def test_piles_that_teach_nothing(self, known: Any, novel: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message) as caught:
            describe(known, novel, **SMALL)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (KNOWN, ["known"] * 32, "^novel has 0 documents"),
            (KNOWN, ["known"] * 31, r"^y has the shape \(31,\) for 32 texts"),
            (KNOWN, ["old"] * 32, "^y has the label 'old'; expected 'known' and 'novel'"),
            (KNOWN, [2] * 32, "^y has the label 2; expected"),
            (KNOWN, [None] * 32, "^y has the label None; expected"),
            (KNOWN, None, "^y is missing"),
            ([], [], "^There are no texts"),
            ("a text", [0], "^X is a single str"),
            ([1, 2], [0, 1], "^Document 0 is int, not a str"),
        ],
    )
    def test_wrong_texts_and_labels(self, X: Any, y: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            NoveltyDescriber(**SMALL).fit(X, y)

    def test_a_frame_is_not_a_list_of_texts(self) -> None:
        pandas = pytest.importorskip("pandas")
        with pytest.raises(ValueError, match=r"^X is a frame; pass the one column"):
            NoveltyDescriber().fit(pandas.DataFrame({"text": KNOWN}), [0] * 32)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"preset": "fast"}, "preset='fast': expected one of default, paper"),
            ({"n_machines": 0}, "n_machines=0"),
            ({"n_machines": 2.5}, "n_machines=2.5"),
            ({"n_machines": True}, "n_machines=True"),
            ({"n_machines": 1001}, "n_machines=1001: expected at most 1,000"),
            ({"n_clauses": 3}, "n_clauses=3 must be even"),
            ({"n_clauses": 0}, "n_clauses=0"),
            ({"T": 0}, "T=0"),
            ({"s": 0.5}, "s=0.5"),
            ({"epochs": 0}, "epochs=0"),
            ({"max_literals": -1}, "max_literals=-1"),
            ({"n_jobs": 0}, "n_jobs=0"),
            ({"min_df": 0}, "min_df=0"),
            ({"ngram_range": (1, 3)}, r"ngram_range=\(1, 3\)"),
            ({"language": "xx"}, "language='xx'"),
            ({"shared_low": 5.0}, "shared_low=5.0, shared_high=4.0: expected 0 <= low < high"),
        ],
    )
    def test_parameters_out_of_range(self, parameters: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            describe(KNOWN, NOVEL, **parameters)

    def test_documents_without_words_are_counted_in_a_warning(self) -> None:
        with pytest.warns(UserWarning, match="2 of 34 novel documents have no words left"):
            describe(KNOWN, [*NOVEL, "the", "of"], **SMALL)
        with pytest.warns(UserWarning, match="1 of 33 novel documents has no words left"):
            describe(KNOWN, [*NOVEL, "the"], **SMALL)

    def test_good_documents_warn_of_nothing(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            describe(KNOWN, NOVEL, **SMALL).context("try")


@pytest.fixture(scope="module")
def bbc() -> Iterator[tuple[list[str], list[str]]]:
    folder = os.environ.get("NEWFOUND_DATA")
    if not folder:
        pytest.skip("NEWFOUND_DATA is not set: the corpora are not here")
    with gzip.open(Path(folder, "bbcsport", "bbcsport.jsonl.gz"), "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    yield (
        [row["text"] for row in rows if row["label"] in ("cricket", "football")],
        [row["text"] for row in rows if row["label"] == "rugby"],
    )


class TestBBCSport:
    @pytest.mark.slow
    def test_the_default_is_fast_and_finds_rugby(self, bbc: tuple[list[str], list[str]]) -> None:
        start = time.process_time()
        describer = describe(*bbc, random_state=0, n_jobs=2)
        assert time.process_time() - start < 30  # about 5 s of both cores together
        top = describer.words_.top(15)["word"].tolist()
        assert set(top[:2]) == {"rugby", "nations"}
        assert describer.words_.top(1, "score")["word"].tolist() == ["rugby"]
        sides = np.stack(describer.clauses_.held_out).sum(axis=1)
        assert 0.85 < sides[1] / sides[0] < 0.97  # right, and not as right as on what was learned
        assert {"nations", "ireland", "wales", "fly-half"} <= set(top)
        assert {"rugby", "nations"} <= set(describer.words_.only("shared").top(5)["word"])
        assert "chelsea" in describer.words_.top(30, ascending=True)["word"]
        assert np.mean(describer.clauses_.lengths) < 16
        others = [describe(*bbc, random_state=seed, n_jobs=2) for seed in (1, 2)]
        first = [set(one.phrases_["phrase"][:20]) for one in (describer, *others)]
        assert sum("grand AND slam" in phrases for phrases in first) >= 2
        assert any("fly-half AND kick" in phrases for phrases in first)
        known, novel = bbc
        right = [describer.explain(text).verdict == "novel" for text in novel[:40]]
        right += [describer.explain(text).verdict == "known" for text in known[:40]]
        assert np.mean(right) > 0.95
