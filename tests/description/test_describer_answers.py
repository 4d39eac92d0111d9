"""What a fitted describer answers: tables, context, verdicts and explanations."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from newfound.description.context import ContextIndex
from newfound.description.describe import describe
from newfound.description.describer import NoveltyDescriber
from newfound.description.learning import PRESETS
from newfound.description.novelty import Evidence
from newfound.description.words import WordTable
from newfound.rules import Clause, ClauseTable
from small_describer import KNOWN, NOVEL, SMALL


@pytest.fixture(scope="module")
def described() -> NoveltyDescriber:
    return describe(KNOWN, NOVEL, **SMALL)


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
        text = page.split("</p>")[1]
        assert html.unescape(re.sub("<[^>]*>", "", text)) == self.TEXT
        assert "<b>&" not in page
        assert re.search(r"<mark [^>]*>SCRUM</mark>", page)
        attack = described.explain('<script>alert("try")</script><img src=x onerror=rugby>')
        assert "<script" not in attack._repr_html_()
        assert "<img" not in attack._repr_html_()

    def test_the_terminal_shows_the_original_text(self, described: NoveltyDescriber) -> None:
        explanation = described.explain(self.TEXT)
        plain = explanation.to_terminal(colour=False)
        assert plain.startswith(f"{explanation.sentence}\n\n{self.TEXT}")
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
        text = explanation._repr_html_().split("</p>")[1]
        assert html.unescape(re.sub("<[^>]*>", "", text)) == "The rugby match!"
        assert not explanation.unknown
        assert describer.context("rugby match").word == "rugby match"
