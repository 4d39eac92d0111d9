"""From two piles of documents to words, rules, context and explanations."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import math
import os
import pickle
import re
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

import newfound
from model_files import changed
from newfound.description.context import ContextIndex
from newfound.description.describe import describe
from newfound.description.describer import NoveltyDescriber
from newfound.description.learning import PRESETS
from newfound.description.novelty import Evidence, word_evidence
from newfound.description.words import WordTable
from newfound.machine.native import EpochInfo
from newfound.rules import Clause, ClauseTable
from newfound.sides import Names
from newfound.text.documents import as_documents

KNOWN = [
    "The wicket fell in the second over.",
    "Two wickets for the spinner, and England won the match.",
    "A bat, a ball and an over of spin bowling.",
    "The batsman hit the ball for six in the last over.",
] * 8
NOVEL = [
    "A scrum near the line, and then a try!",
    "The rugby match had four tries.",
    "England lost the scrum and the rugby match.",
    "A try, a conversion, and rugby fans were happy.",
] * 8
SMALL: dict[str, Any] = {"n_clauses": 40, "T": 10, "random_state": 1, "fold_copies": False}


@pytest.fixture(scope="module")
def described() -> NoveltyDescriber:
    return describe(KNOWN, NOVEL, **SMALL)


def restored(describer: NoveltyDescriber, **options: Any) -> NoveltyDescriber:
    return NoveltyDescriber.from_state(describer.to_state(**options))


def same(one: NoveltyDescriber, other: NoveltyDescriber) -> bool:
    text = "England hit a ball over the scrum; try rugby."
    return (
        one.words_ == other.words_
        and list(one.clauses_) == list(other.clauses_)
        and one.phrases_ == other.phrases_
        and one.n_machines_ == other.n_machines_
        and one.context("try").to_dict() == other.context("try").to_dict()
        and one.explain(text).to_dict() == other.explain(text).to_dict()
        and one.n_documents_ == other.n_documents_
    )


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


class TestTable:
    def test_top_and_its_opposite(self, described: NoveltyDescriber) -> None:
        top, bottom = described.words_.top(3), described.words_.top(3, ascending=True)
        assert isinstance(top, WordTable)
        assert top["word"].tolist() == described.words_["word"][:3].tolist()
        assert bottom["novelty"][0] == described.words_["novelty"].min()
        assert described.words_.top(1, "score")["score"] == np.nanmax(described.words_["score"])
        assert described.words_.top(1, by="documents_novel")["documents_novel"] == [24]
        with pytest.raises(KeyError, match="no column 'size'; there are: word, novelty"):
            described.words_.top(by="size")

    def test_groups_part_the_words(self, described: NoveltyDescriber) -> None:
        sizes = [len(described.words_.only(group)) for group in ("known", "novel", "shared")]
        assert sum(sizes) == len(described.words_)
        assert min(sizes) > 0
        with pytest.raises(ValueError, match="group='old'"):
            described.words_.only("old")

    def test_files_hold_every_row(self, described: NoveltyDescriber, tmp_path: Path) -> None:
        words = described.words_
        words.to_csv(tmp_path / "words.csv")
        words.to_json(tmp_path / "words.json")
        rows = list(csv.DictReader(io.StringIO((tmp_path / "words.csv").read_text("utf-8"))))
        assert [row["word"] for row in rows] == words["word"].tolist()
        assert rows[0].keys() == set(words.columns)
        assert next(row for row in rows if row["word"] == "try")["forms"] == "try|tries"
        assert json.loads((tmp_path / "words.json").read_text("utf-8")) == words.to_records()

    def test_what_is_not_finite_is_empty_in_files(self) -> None:
        clauses = ClauseTable.from_clauses([Clause("novel", 1, ("try",))], ["try", "zebra"])
        evidence = Evidence(*(np.array([1.0, 0.5]) for _ in range(5)))
        words = WordTable.from_clauses(clauses, np.array([[0, 1], [1, 1]]), {}, evidence)
        assert words.row("zebra")["score"] is None
        assert words.row("zebra")["stability"] is None
        assert words.row("zebra")["role"] == "common"
        assert (
            (words.to_csv() or "")
            .splitlines()[2]
            .startswith("zebra,0.5,0.5,0.5,0.5,0.5,1.0,1.0,,,0,0")
        )
        assert "NaN" not in (words.to_json() or "")

    def test_frames(self, described: NoveltyDescriber) -> None:
        pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
        for frame in (described.words_.to_pandas(), described.words_.to_polars()):
            assert list(frame.columns) == list(described.words_.columns)
            assert frame["word"].to_list() == described.words_["word"].tolist()
            assert list(frame["forms"].to_list()[0])
        assert isinstance(described.words_.to_pandas(), pandas.DataFrame)
        assert isinstance(described.words_.to_polars(), polars.DataFrame)

    @pytest.mark.parametrize("name", ["pandas", "polars"])
    def test_a_missing_library_is_named_with_its_command(
        self, described: NoveltyDescriber, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, name, None)
        with pytest.raises(ImportError, match=f"^This needs {name}: pip install {name}$"):
            getattr(described.words_, f"to_{name}")()


class TestContext:
    def test_partners_on_each_side(self, described: NoveltyDescriber) -> None:
        context = described.context("Rugby")
        assert context.word == "rugby"
        for side in ("known", "novel", "both"):
            table = context[side]
            assert "rugby" not in table["word"]
            assert (table["F_ij"] <= np.minimum(table["F_i"], table["F_j"])).all()
            assert (np.diff(table["strength"]) <= 1e-12).all()
        assert len(described.context("rugby", n=2).both) <= 2
        with pytest.raises(KeyError, match="side='old'"):
            context["old"]

    def test_both_is_the_sum_of_the_sides(self, described: NoveltyDescriber) -> None:
        pair = described.context("rugby", "scrum")
        for count in ("F_i", "F_j", "F_ij"):
            assert pair.both[count][0] == pair.known[count][0] + pair.novel[count][0]
        F_K, F_N = described.clauses_.bags()
        column = described.clauses_.column("rugby")
        assert (pair.known["F_i"][0], pair.novel["F_i"][0]) == (F_K[column], F_N[column])

    def test_the_matrix_agrees_with_the_pairs(self, described: NoveltyDescriber) -> None:
        words = ["rugby", "scrum", "tries", "wicket"]
        matrix = described.context_matrix(words)
        assert matrix.words == ("rugby", "scrum", "try", "wicket")
        for side in ("known", "novel", "both"):
            assert np.isnan(np.diag(matrix[side].lift)).all()
            np.testing.assert_array_equal(matrix[side].F_ij, matrix[side].F_ij.T)
            for i, j in ((0, 1), (1, 2), (2, 3)):
                pair = described.context(words[i], words[j])[side]
                for name in ("F_ij", "lift", "pmi", "equation"):
                    expected = getattr(matrix[side], name)[i, j]
                    np.testing.assert_equal(pair[name][0], expected)
        json.dumps(matrix.to_dict(), allow_nan=False)

    def test_sizes_of_the_equation(self) -> None:
        table = ClauseTable.from_clauses(
            [
                Clause("novel", 1, ("rugby", "scrum")),
                Clause("known", -1, ("rugby", "scrum", "try")),
                Clause("known", 1, ("wicket",), ("rugby",)),
            ]
        )
        novel = ContextIndex(table).partners("rugby", "scrum").novel
        # Both in 2 of the 2 novel clauses; the bag B_N has 6 entries, 3 of them rugby, 2 scrum.
        assert novel["equation"][0] == pytest.approx((2 / 2) / ((3 / 6) * (2 / 6)))
        assert novel["lift"][0] == pytest.approx(3 * 2 / (3 * 2))

    @pytest.mark.parametrize("word", ["rugbyy", "Scrumm"])
    def test_an_unknown_word_gets_near_ones(self, described: NoveltyDescriber, word: str) -> None:
        with pytest.raises(ValueError, match=r"is not in the vocabulary .* did you mean '"):
            described.context(word)
        with pytest.raises(ValueError, match="is not in the vocabulary"):
            described.context("rugby", word)

    def test_wrong_arguments(self, described: NoveltyDescriber) -> None:
        with pytest.raises(ValueError, match="n=0"):
            described.context("rugby", n=0)
        with pytest.raises(ValueError, match="wrap it in a list"):
            described.context_matrix("rugby")
        with pytest.raises(ValueError, match="each only once"):
            described.context_matrix(["try", "tries"])
        with pytest.raises(ValueError, match="expected a str, got int"):
            described.context(5)  # type: ignore[arg-type]


class TestVerdicts:
    def test_a_small_side_is_recognised_as_well_as_a_large_one(self) -> None:
        draw = np.random.default_rng(3)
        words = [f"common{i}" for i in range(30)]

        def texts(own: str, n: int) -> list[str]:
            return [
                " ".join(
                    [*draw.choice(words, 4), f"{own}{draw.integers(6)}", f"x{draw.integers(9)}"]
                )
                for _ in range(n)
            ]

        described = describe(texts("old", 240), texts("new", 30), random_state=0)
        right = {
            side: np.mean([described.explain(text).verdict == side for text in texts(own, 60)])
            for side, own in (("known", "old"), ("novel", "new"))
        }
        assert min(right.values()) > 0.85


class TestExplain:
    TEXT = "A SCRUM <b>& a try</b>: 'Zyx' beat the wickets!"

    def test_words_stand_where_they_stood(self, described: NoveltyDescriber) -> None:
        explanation = described.explain(self.TEXT)
        words = {
            word.word: [self.TEXT[start:end] for start, end in word.spans]
            for word in explanation.words
        }
        unknown = {"b": ["b", "b"], "zyx": ["Zyx"], "beat": ["beat"]}
        assert words == {"scrum": ["SCRUM"], "try": ["try"], "wicket": ["wickets"], **unknown}
        assert [word.word for word in explanation.unknown] == list(unknown)
        added = [abs(word.contribution) for word in explanation.words[:3]]
        assert added == sorted(added, reverse=True)
        (scrum,) = (word for word in explanation.words if word.word == "scrum")
        assert (scrum.score, scrum.role) == (described.words_.row("scrum")["score"], "novel")
        data = explanation.to_dict()
        assert [place["word"] for place in data["words"]] == ["scrum", "try", "wicket"]
        assert [place["word"] for place in data["unknown"]] == ["b", "b", "zyx", "beat"]
        for place in (*data["words"], *data["unknown"]):
            assert self.TEXT[place["start"] : place["end"]] == place["surface"]

    def test_votes_are_those_of_all_machines(self, described: NoveltyDescriber) -> None:
        assert len(described.machines_) == PRESETS["default"]["n_machines"]
        texts = [*KNOWN[:4], *NOVEL[:4], self.TEXT, "", "nothing known here"]
        matrix = described.vectorizer_.transform(texts)
        decisions = sum(machine.decision_function(matrix) for machine in described.machines_)
        for text, decision in zip(texts, decisions.tolist(), strict=True):
            explanation = described.explain(text)
            assert explanation.votes["novel"] - explanation.votes["known"] == decision
            if len(explanation.words) == len(explanation.unknown):
                assert explanation.verdict == "unclear" and math.isnan(explanation.probability)
                continue
            assert described.calibration_ is not None
            of_words = [rule for rule in explanation.rules if rule.plain]
            lead = sum(rule.count * (1 if rule.side == "novel" else -1) for rule in of_words)
            lead /= len(described.machines_)
            row = matrix[[texts.index(text)]].indices
            assert explanation.probability == described.calibration_.probability(lead, row)
            known = {word.word for word in explanation.words if word.role != "unknown"}
            assert set(explanation.contributions) == known
            odds = sum(explanation.contributions.values()) + explanation.rules_evidence
            odds += explanation.baseline
            assert explanation.probability == pytest.approx(1 / (1 + math.exp(-odds)))
            assert explanation.verdict == ("novel" if explanation.probability > 0.5 else "known")
            assert sum(rule.count for rule in explanation.rules) == sum(explanation.votes.values())

    def test_rules_hold_in_the_text(self, described: NoveltyDescriber) -> None:
        explanation = described.explain(NOVEL[0])
        words = {word.word for word in explanation.words}
        assert len(explanation.rules)
        for rule in explanation.rules:
            assert set(rule.plain) <= words
            assert not set(rule.negated) & words

    def test_html_is_the_original_text_and_escaped(self, described: NoveltyDescriber) -> None:
        page = described.explain(self.TEXT)._repr_html_()
        text = page.partition("</p>")[0]
        assert html.unescape(re.sub("<[^>]*>", "", text)) == self.TEXT
        assert "<b>&" not in page
        assert re.search(r"<mark [^>]*>SCRUM</mark>", page)
        attack = described.explain('<script>alert("try")</script><img src=x onerror=rugby>')
        assert "<script" not in attack._repr_html_()
        assert "<img" not in attack._repr_html_()

    def test_the_terminal_shows_the_original_text(self, described: NoveltyDescriber) -> None:
        explanation = described.explain(self.TEXT)
        plain = explanation.to_terminal(colour=False)
        assert plain.startswith(self.TEXT)
        assert "\x1b" not in plain
        coloured = explanation.to_terminal()
        assert "\x1b[" in coloured
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain

    def test_a_text_cannot_command_the_terminal(self, described: NoveltyDescriber) -> None:
        shown = described.explain("try \x1b]0;owned\x07 \x9b2J\r rugby").to_terminal(colour=False)
        assert not set(shown) & set("\x1b\x07\x9b\r")
        assert "owned" in shown

    def test_as_data(self, described: NoveltyDescriber) -> None:
        data = described.explain(f"{NOVEL[0]} zyx").to_dict(max_rules=2)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["unknown"][0]["score"] is None
        assert len(data["rules"]) <= 2 <= data["n_rules"]

    def test_pairs_of_words_overlap_in_data_but_not_on_the_page(self) -> None:
        describer = describe(KNOWN, NOVEL, **SMALL, ngram_range=(1, 2))
        explanation = describer.explain("The rugby match!")
        assert {word.word for word in explanation.words} == {"rugby", "match", "rugby match"}
        text = explanation._repr_html_().partition("</p>")[0]
        assert html.unescape(re.sub("<[^>]*>", "", text)) == "The rugby match!"
        assert not explanation.unknown
        assert describer.context("rugby match").word == "rugby match"


class TestState:
    def test_a_restored_describer_is_the_same(self, described: NoveltyDescriber) -> None:
        copy = restored(described)
        assert same(copy, described)
        assert copy.machines_ == ()
        assert copy.get_params() == described.get_params()
        assert same(restored(copy), described)

    def test_training_goes_on_with_the_automata_only(self) -> None:
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**SMALL, epochs=1).fit(KNOWN + NOVEL, labels)
        with pytest.raises(ValueError, match="no automata, so training cannot continue"):
            restored(describer).partial_fit(KNOWN + NOVEL, labels)
        with pytest.raises(ValueError, match="no automata to save"):
            restored(describer).to_state(with_automata=True)
        copy = restored(describer, with_automata=True)
        assert len(copy.machines_) == len(describer.machines_) > 1
        for mine, theirs in zip(copy.machines_, describer.machines_, strict=True):
            np.testing.assert_array_equal(mine.clauses_.literals, theirs.clauses_.literals)
            np.testing.assert_array_equal(mine.states_, theirs.states_)
        for one in (describer, copy):
            one.partial_fit(KNOWN + NOVEL, labels, epochs=2)
        assert same(describer, copy)
        assert {machine.n_epochs_ for machine in copy.machines_} == {3}
        assert [machine.n_epochs_ for machine in describer.machines_] == [3] * len(copy.machines_)

    @pytest.mark.parametrize("seed", [None, -5, 2**70, np.int64(3), "a generator"])
    def test_training_goes_on_from_any_seed(self, seed: Any) -> None:
        """See that machines of a file go on with the same documents, also without a seed."""
        if seed == "a generator":
            seed = np.random.RandomState(0)
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**{**SMALL, "random_state": seed}, epochs=1, n_machines=3)
        describer.fit(KNOWN + NOVEL, labels)
        copy = restored(describer, with_automata=True)
        for one in (describer, copy):
            one.partial_fit(KNOWN + NOVEL, labels)
        assert same(describer, copy)

    def test_odd_parameters_survive(self) -> None:
        parameters: dict[str, Any] = {
            "stop_words": {"The", "a"},
            "ngram_range": (1, 2),
            "random_state": np.random.RandomState(0),
            "n_clauses": np.int64(20),
        }
        describer = describe(KNOWN, NOVEL, **parameters)
        copy = restored(describer)
        assert same(copy, describer)
        assert copy.vectorizer_.stop_words_ == {"the", "a"}

    @pytest.mark.parametrize(
        ("name", "damage"),
        [
            ("clauses.literals", lambda a: a.astype(np.int32) + 10_000),
            ("clauses.literals", lambda a: a[:-1]),
            ("clauses.literals", lambda a: -a.astype(np.int32) - 1),
            ("clauses.polarity", lambda a: a * 3),
            ("clauses.class_index", lambda a: a + 1),
            ("clauses.lengths", lambda a: -a),
            ("clauses.agrees", lambda a: a + 10_000),
            ("clauses.literals", lambda a: a.astype(np.int64) + 2**32),
            ("clauses.literals", lambda a: a[::-1]),
            ("clauses.literals", np.zeros_like),
            ("clauses.polarity", np.zeros_like),
            ("clauses.polarity", lambda a: a.astype(np.int64) + 256),
            ("clauses.class_index", lambda a: a.astype(np.int64) + 2**32),
            ("clauses.lengths", lambda a: a.astype(np.int64) + 2**32),
            ("clauses.lengths", lambda a: a.astype(np.int64) + 2**62),
            ("clauses.lengths", lambda a: a.astype(float)),
            ("clauses.agrees", lambda a: -a - 1),
            ("clauses.matches", lambda a: a + 10_000),
            ("clauses.matches", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
            ("words.documents", lambda a: a[:1]),
            ("words.documents", lambda a: a + 0.5),
            ("words.documents", lambda a: a + 100),
            ("words.documents", lambda a: a - 100),
            ("vectorizer.document_frequencies", lambda a: a.astype(float)),
            ("vectorizer.document_frequencies", lambda a: a + 100),
            ("machines.0.states", lambda a: a[:, :, :, 1:]),
            ("machines.0.states", lambda a: a.astype(np.int64) + 256),
            ("machines.4.states", lambda a: a[:, :2]),
            ("machines.0.position", lambda a: a.astype(np.int64) + 2**32),
            ("machines.4.position", np.zeros_like),
            ("machines.0.draws", lambda a: a.astype(float)),
            ("machines.4.draws", lambda a: a[1:]),
            ("machines.0.history", lambda a: a[:, 1:]),
            ("machines.4.history", lambda a: a[1:]),
            ("clauses.held_out", lambda a: a[:1]),
            ("clauses.held_out", lambda a: a[:, 1:]),
            ("clauses.held_out", lambda a: a.astype(float)),
            ("clauses.held_out", lambda a: a - 1),
            ("clauses.held_out", lambda a: a + 1000),
            ("clauses.held_out", lambda a: a + np.array([[0], [1000]])),
            ("words.novelty", lambda a: a[1:]),
            ("words.novelty", lambda a: a.astype(np.int64)),
            ("words.novelty", lambda a: a.astype(np.float32)),
            ("words.novelty", lambda a: a * np.nan),
            ("words.times", lambda a: a[1:]),
            ("words.low", lambda a: a - np.inf),
            ("words.high", lambda a: np.where(np.arange(len(a)) == 2, np.nan, a)),
            ("words.q", lambda a: np.stack((a, a))),
            ("words.q", lambda a: a / 0.0),
            ("phrases.lengths", lambda a: a[1:]),
            ("phrases.lengths", lambda a: a + 1),
            ("phrases.lengths", lambda a: a * 0),
            ("phrases.lengths", lambda a: np.concatenate(([1, a.sum() - 1], a[2:] * 0))),
            ("phrases.lengths", lambda a: a.astype(np.int64) + 2**32),
            ("phrases.lengths", lambda a: a.astype(float)),
            ("phrases.words", lambda a: a + 1000),
            ("phrases.words", lambda a: -a - 1),
            ("phrases.words", lambda a: a[:-1]),
            ("phrases.words", lambda a: a.astype(np.int64) + 2**32),
            ("phrases.novel", lambda a: a + 2),
            ("phrases.novel", lambda a: a[1:]),
            ("phrases.counts", lambda a: a[:2]),
            ("phrases.counts", lambda a: a - 1000),
            ("phrases.counts", lambda a: a + 1000),
            ("phrases.counts", lambda a: a.astype(float)),
            ("phrases.values", lambda a: a[:, 1:]),
            ("phrases.values", lambda a: a[1:]),
            ("phrases.values", lambda a: a + np.inf),
        ],
    )
    def test_a_damaged_state_is_refused(
        self, described: NoveltyDescriber, name: str, damage: Any
    ) -> None:
        state = described.to_state(with_automata=True)
        assert len(described.phrases_) > 2
        with np.errstate(all="ignore"), pytest.raises(ValueError):
            NoveltyDescriber.from_state(changed(state, name, damage))

    def test_a_state_that_lacks_a_field_is_refused(self, described: NoveltyDescriber) -> None:
        state = described.to_state(with_automata=True)
        for part in ("vectorizer", "clauses", "words", "phrases", "machines.9"):
            *_, number = part.split(".")
            owner = state["machines"][9] if number == "9" else state[part]
            for name in owner:
                lacking = changed(state, part, lambda o, n=name: {k: o[k] for k in o if k != n})
                with pytest.raises(ValueError, match=rf"lacks the field {part}\.{name}"):
                    NoveltyDescriber.from_state(lacking)

    def test_more_or_longer_phrases_than_there_can_be(self, described: NoveltyDescriber) -> None:
        state = described.to_state()
        n = 6_000
        many = {
            "lengths": np.full(n, 2),
            "words": np.zeros(2 * n, np.int64),
            "novel": np.zeros(n, np.uint8),
            "counts": np.zeros((3, n), np.int64),
            "values": np.zeros((4, n)),
        }
        with pytest.raises(ValueError, match="at most 10,000 words of phrases"):
            NoveltyDescriber.from_state({**state, "phrases": many})
        words = ["x" * 100_000, *state["vectorizer"]["vocabulary"][1:]]
        fewer = {name: array[..., : len(array.T) // 100] for name, array in many.items()}
        long = changed({**state, "phrases": fewer}, "vectorizer.vocabulary", lambda _: words)
        with pytest.raises(ValueError, match="at most 1,000,000 letters"):
            NoveltyDescriber.from_state(long)

    @pytest.mark.parametrize(
        ("part", "name", "value"),
        [
            ("clauses", "n_features", 2**40),
            ("clauses", "n_features", 7.0),
            ("n_documents", "novel", -1),
            ("n_documents", "novel", 2**60),
            ("n_documents", "known", 3.9),
            ("vectorizer", "n_documents", True),
            ("vectorizer", "stop_words", "the"),
            ("machines", "seed", -1),
            ("machines", "epochs_drawn", 2**64),
            ("machines", "n_epochs", 1),
            ("machines", "history_columns", []),
            ("machines", "stop_reason", 1),
            ("parameters", "random_state", "x"),
            ("chosen", "n_clauses", 4),
            ("chosen", "n_machines", 4),
            ("chosen", "n_machines", "5"),
            ("chosen", "shared_low", 9.0),
            ("chosen", "unheard_of", 1),
        ],
    )
    def test_a_number_that_does_not_fit_is_refused(
        self, described: NoveltyDescriber, part: str, name: str, value: Any
    ) -> None:
        state = described.to_state(with_automata=True)
        place = f"machines.9.{name}" if part == "machines" else f"{part}.{name}"
        with pytest.raises(ValueError):
            NoveltyDescriber.from_state(changed(state, place, lambda _: value))

    @pytest.mark.parametrize("number", [0, 1, 4, 6, 10, 1000, 10**6, -5, 5.0, "5", None, True])
    def test_another_number_of_machines_is_refused(self, number: Any) -> None:
        labels = [0] * 32 + [1] * 32
        described = NoveltyDescriber(**SMALL, n_machines=5, epochs=1).fit(KNOWN + NOVEL, labels)
        for with_automata in (False, True):
            state = described.to_state(with_automata=with_automata)
            state["chosen"]["n_machines"] = max(5, number) if type(number) is int else 5
            with pytest.raises(ValueError):
                NoveltyDescriber.from_state({**state, "n_machines": number})

    @pytest.mark.parametrize("change", [lambda m: m[:-1], lambda m: [*m, m[0]], lambda m: m[0]])
    def test_automata_of_other_machines_are_refused(
        self, described: NoveltyDescriber, change: Any
    ) -> None:
        state = described.to_state(with_automata=True)
        with pytest.raises(ValueError, match="in the field machines, expected"):
            NoveltyDescriber.from_state(changed(state, "machines", change))

    def test_parameters_set_after_fit_do_not_change_what_is_saved(self) -> None:
        describer = describe(KNOWN, NOVEL, **SMALL)
        describer.set_params(n_clauses=6, shared_low=0.9, n_jobs=2)
        copy = restored(describer, with_automata=True)
        assert same(copy, describer)
        labels = [0] * 32 + [1] * 32
        for one in (copy, describer):
            one.partial_fit(KNOWN + NOVEL, labels)
        assert copy.n_jobs is None
        assert same(copy, describer)

    def test_threads_are_shared_among_machines(self) -> None:
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**SMALL, n_machines=2, epochs=1, n_jobs=5)
        describer.fit(KNOWN + NOVEL, labels)
        assert [machine.n_jobs for machine in describer.machines_] == [2, 2]
        describer.set_params(n_jobs=1).partial_fit(KNOWN + NOVEL, labels)
        assert [machine.n_jobs for machine in describer.machines_] == [1, 1]


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


def test_a_model_keeps_the_names_of_its_sides(tmp_path: Path) -> None:
    known, novel = ["A wicket fell", "An over of spin"] * 5, ["A scrum", "A try"] * 5
    described = describe(known, novel, n_clauses=10, T=5, random_state=1)
    assert "votes for novel" in described.explain("A scrum").summary()
    described.names_ = Names("cricket", "2003")
    described.save(tmp_path / "d.nf")
    told = newfound.load(tmp_path / "d.nf").explain("A scrum")
    assert told.summary().startswith("“2003” (probability of “2003”")
    assert "for cricket" in told.summary() and told.verdict == "novel"
    assert any("→ “2003”" in line for line in told.lines())
    state = described.to_state()
    for names in ({"known": "a", "novel": "a"}, {"known": 1, "novel": None}, {"known": "a"}, []):
        with pytest.raises(ValueError, match="names"):
            NoveltyDescriber.from_state({**state, "names": names})
