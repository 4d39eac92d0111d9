"""The reproduction measures what it states, on held-out documents, and writes complete files."""

from __future__ import annotations

import copy
import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from lab.__main__ import app
from lab.datasets import LabelledDocuments, load_sample
from lab.evaluation.holdout import near_duplicates
from lab.reproduce import case_study, measure, reproduce, run
from lab.reproduce.claims import CLAIMS, judge
from lab.reproduce.cost import Cost
from lab.reproduce.figures import draw
from lab.reproduce.measure import OURS, measure_corpus, measure_held_out, measure_seed
from lab.reproduce.outcome import Outcome, spread, tables
from lab.reproduce.page import Figure, Heading, Rows, Text, to_html
from lab.reproduce.published import CASE_STUDY, EXPERIMENTS
from lab.reproduce.run import package_hash, run_seeds
from newfound.description.describer import NoveltyDescriber
from waiting import PATIENCE, wait_for

SMALL = {"n_clauses": 40, "epochs": 4, "n_jobs": 1}
BBC = EXPERIMENTS["bbcsport"]


def made_up() -> list[dict[str, str]]:
    """Make 90 small documents with the labels and the five words of BBC Sport."""
    rng = np.random.default_rng(4)
    own = {
        "cricket": ["wicket", "innings", "bat", "particular"],
        "football": ["manchester", "chelsea", "goal", "particular"],
        "rugby": ["rugby", "fly-half", "scrum", "particular"],
    }
    common = [f"word{letter}" for letter in "abcdefghijklmnop"]
    rows = []
    for label, words in own.items():
        for number in range(30):
            text = [*rng.choice(words, 2), *rng.choice(common, 5), f"{label}only{number % 7}x"]
            rows.append({"id": f"{label}/{number}", "text": " ".join(text), "label": label})
    return rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "bbcsport.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made_up()), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def corpus() -> LabelledDocuments:
    rows = made_up()
    return LabelledDocuments(*(tuple(row[key] for row in rows) for key in ("text", "id", "label")))


@pytest.fixture(scope="module")
def outcome(corpus: LabelledDocuments) -> Outcome:
    parameters = {"preset": "paper", **SMALL}
    from newfound.description.learning import resolve

    seeds = [measure_seed(BBC, corpus, seed, parameters) for seed in (0, 1)]
    chosen = resolve("paper", SMALL)
    return Outcome(BBC, measure_corpus(BBC, corpus, parameters), seeds, chosen)


def arguments(data: Path, output: Path, *more: object) -> list[str]:
    small = ["--n-clauses", "40", "--epochs", "4", "--seeds", "2", "--jobs", "1"]
    paths = ["--data", str(data), "--no-verify", "--output", str(output)]
    return ["reproduce", "bbcsport", *small, *paths, *map(str, more)]


def call(*given: object) -> Any:
    # A wide terminal, so that no sentence of a table is broken.
    runner = CliRunner(env={"COLUMNS": "250"})
    return runner.invoke(app, [str(argument) for argument in given])


class TestCaseStudy:
    def test_the_clauses_of_the_paper_give_its_bags(self) -> None:
        table = case_study()
        assert table["F_K"].tolist() == [row.F_K for row in CASE_STUDY]
        assert table["F_N"].tolist() == [row.F_N for row in CASE_STUDY]
        assert (table["F_K"].sum(), table["F_N"].sum()) == (14, 13)

    def test_scores_are_exact_and_the_slips_are_named(self) -> None:
        rows = {row["word"]: row for row in case_study().to_records()}
        expected = {"England": (14, 13), "won": (28, 13), "cricket": (14, 52), "hit": (14, 26),
                    "rugby": (56, 13), "despite": (14, 13), "old": (28, 13)}  # fmt: skip
        for word, (above, below) in expected.items():
            assert Fraction(rows[word]["fraction"]) == Fraction(above, below)
            assert rows[word]["score"] == above / below
        assert [word for word, row in rows.items() if not row["agrees"]] == [
            "rugby", "despite", "old",
        ]  # fmt: skip


class TestHeldOut:
    @pytest.fixture
    def sample(self) -> tuple[Any, Any]:
        known, novel = load_sample()
        texts = np.array([*known.texts, *novel.texts], dtype=object)
        return texts, np.repeat([False, True], [len(known), len(novel)])

    def run(self, texts: Any, novel: Any, seed: int) -> dict[str, Any]:
        order = np.random.default_rng(seed).permutation(len(texts))
        train, test = order[:2000], order[2000:]
        parameters = {"preset": "paper", "n_clauses": 200, "epochs": 5, "n_jobs": 1}
        return measure_held_out(texts[train], novel[train], texts[test], novel[test], 1, parameters)

    def test_true_labels_are_learned(self, sample: tuple[Any, Any]) -> None:
        scorers = self.run(*sample, 0)["scorers"]
        for name, found in scorers.items():
            assert found["documents"]["auroc"] > 0.9 or name == "tfidf"
        assert scorers[OURS]["words"]["auroc"] > 0.7

    @pytest.mark.slow
    def test_shuffled_labels_are_a_coin_toss(self, sample: tuple[Any, Any]) -> None:
        texts, novel = sample
        runs = []
        for seed in range(3):
            shuffled = np.random.default_rng(seed).permutation(novel)
            runs.append(self.run(texts, shuffled, seed)["scorers"])
        for scorer in runs[0]:
            for task in ("words", "documents", "regression"):
                if task in runs[0][scorer]:
                    mean = np.mean([run[scorer][task]["auroc"] for run in runs])
                    assert mean == pytest.approx(0.5, abs=0.05), (scorer, task)

    def test_words_of_held_out_documents_alone_are_not_seen(
        self, corpus: LabelledDocuments
    ) -> None:
        texts = np.array(corpus.texts, dtype=object)
        novel = np.array(corpus.labels) == "rugby"
        train = np.arange(90) % 3 > 0
        leak = texts.copy()
        leak[~train & novel] += " leak"
        plain, leaked = (
            measure_held_out(t[train], novel[train], t[~train], novel[~train], 1, SMALL)
            for t in (texts, leak)
        )
        for found in (plain, leaked):
            del found["cost"]
        assert json.dumps(measure.jsonable(plain)) == json.dumps(measure.jsonable(leaked))

    def test_near_duplicates_are_not_split(self) -> None:
        texts = [f"{row['text']} same{i % 45}" for i, row in enumerate(made_up())]
        texts[1] = texts[0] + "."
        corpus = LabelledDocuments(
            tuple(texts), tuple("a" * 90), tuple(r["label"] for r in made_up())
        )
        novel = measure.is_novel(BBC, corpus)
        parts = list(measure.train_test_parts(BBC, corpus, novel, 0))
        assert len(parts) == 3
        for _, test in parts:
            assert (0 in test) == (1 in test)
        matrix = measure.TextVectorizer().fit_transform(texts)
        groups = near_duplicates(matrix)
        assert groups[0] == groups[1]

    def test_the_standard_split_is_taken_where_there_is_one(
        self, corpus: LabelledDocuments
    ) -> None:
        splits = tuple("test" if i % 3 == 0 else "train" for i in range(90))
        split = replace(corpus, splits=splits)
        experiment = replace(BBC, split=True)
        ((train, test),) = measure.train_test_parts(experiment, split, np.zeros(90, bool), 0)
        assert test.tolist() == list(range(0, 90, 3)) and len(train) == 60


class TestFigures:
    """Figures of the fit to all documents are those of a describer with the same seed."""

    def test_statistics_are_those_of_the_table_of_words(
        self, corpus: LabelledDocuments, outcome: Outcome
    ) -> None:
        describer = NoveltyDescriber(preset="paper", random_state=1, **SMALL)
        describer.fit(list(corpus.texts), np.array(corpus.labels) == "rugby")
        words, found = describer.words_, outcome.seeds[1]["all"]
        for group in ("known", "novel", "shared"):
            chosen = words["score"][words["group"] == group]
            chosen = chosen[~np.isnan(chosen)]
            assert found["words"][group]["mean"] == pytest.approx(chosen.mean())
            assert found["words"][group]["sd"] == pytest.approx(chosen.std())
            assert found["words"][group]["below_1"] == pytest.approx((chosen < 1).mean())
            assert found["words"][group]["count"] == (words["group"] == group).sum()
        assert (
            sum(found["shared"][role]["count"] for role in ("known", "novel", "common"))
            == (found["words"]["shared"]["count"])
        )
        assert found["probe"]["F_N"] == words.row("rugby")["F_N"]
        lift = describer.context_matrix(BBC.context_words)["both"].lift
        assert np.array(found["context"]["both"]["lift"], float) == pytest.approx(lift, nan_ok=True)

    def test_words_are_in_the_order_of_the_vocabulary(self, outcome: Outcome) -> None:
        words = tables(outcome)["words"]
        row = next(row for row in words if row["word"] == "rugby")
        F_N = [seed["all"]["probe"]["F_N"] for seed in outcome.seeds]
        assert row["F_N"] == np.mean(F_N)
        assert row["documents_known"] == 0 and row["group"] == "novel"

    def test_the_distance_of_tfidf_without_the_sizes_of_the_groups(self) -> None:
        """Words of the known documents, or as many others of the novel ones, each used once."""
        known = [f"shared knownword{i}x filler" for i in range(40)]
        novel = [f"shared novelword{i}x" for i in range(10)]
        labels = ("cricket",) * 40 + ("rugby",) * 10
        corpus = LabelledDocuments(tuple(known + novel), ("",) * 50, labels, "here")
        found = measure_corpus(BBC, corpus, {"preset": "paper"})
        assert found["tfidf_distance"] == 1  # 1 of 120 words, 1 of 20
        assert found["tfidf_distance_unscaled"] == pytest.approx(1 / 41)  # but for the filler
        without = replace(corpus, texts=tuple(text.replace("shared", "") for text in corpus.texts))
        with pytest.raises(ValueError, match="here has no shared words"):
            measure_corpus(BBC, without, {"preset": "paper"})

    def test_one_seed_has_no_spread(self, outcome: Outcome) -> None:
        single = replace(outcome, seeds=outcome.seeds[:1])
        assert "±" not in str(spread(single.held_out(OURS, "words")))
        assert {row["holds"] for row in judge(single)} <= {"yes", "no", "different"}

    def test_a_curve_is_the_mean_of_seeds_and_folds(self, outcome: Outcome) -> None:
        curves = [
            fold["scorers"][OURS]["words"]["roc"]
            for seed in outcome.seeds
            for fold in seed["held_out"]
        ]
        assert len(curves) == 6
        assert outcome.curve(OURS, "words", "roc") == pytest.approx(np.mean(curves, axis=0))
        assert outcome.curve("votes", "words", "roc") is None

    def test_curves_start_and_end_where_they_should(self) -> None:
        labels = np.array([False, True, False, True])
        found = measure.curves_on_grid(labels, np.array([4.0, 3.0, 2.0, 1.0]))
        assert found["roc"][0] == 0 and found["roc"][-1] == 1
        assert found["precision"][0] == found["precision"][50] == 0.5
        assert found["precision"][-1] == 0.5
        perfect = measure.curves_on_grid(labels, labels.astype(float))
        assert perfect["roc"].min() == perfect["precision"].min() == 1


class TestSeeds:
    """What is finished is kept, and taken up only if it would come out the same."""

    @pytest.fixture
    def fitted(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Note which seeds are really run."""
        seen: list[int] = []
        original = run.measure_seed

        def noted(*given: Any) -> Any:
            seen.append(given[2])
            return original(*given)

        monkeypatch.setattr(run, "measure_seed", noted)
        return seen

    def test_finished_seeds_are_taken_up_again(
        self, corpus: LabelledDocuments, tmp_path: Path, fitted: list[int]
    ) -> None:
        # One split instead of three folds, to save time.
        one = replace(BBC, split=True)
        split = replace(corpus, splits=tuple(np.resize(["train", "train", "test"], len(corpus))))

        said: list[str] = []

        def go(seeds: range, *, resume: bool = True, **more: Any) -> list[dict[str, Any]]:
            fitted.clear()
            said.clear()
            options = {"resume": resume, "say": said.append}
            parameters = {"preset": "paper", **SMALL, **more}
            return run_seeds(one, split, seeds, parameters, tmp_path / "kept", **options)  # type: ignore[arg-type]

        again_said = "it is made again and replaced."
        first = go(range(1))
        assert fitted == [0] and said == []
        both = go(range(2), n_jobs=2)  # the number of threads changes nothing
        assert fitted == [1] and both[0] == first[0]
        assert said == ["BBC Sport, seed 0: finished before, and reused."]
        (tmp_path / "kept" / "0.json.gz").write_bytes(gzip.compress(b"{}"))
        (tmp_path / "kept" / "1.json.gz").write_bytes(b"damaged")
        again = go(range(2))
        assert fitted == [0, 1] and same(again) == same(both)
        assert said == [
            f"BBC Sport, seed {seed}: what was finished before cannot be read; {again_said}"
            for seed in range(2)
        ]
        go(range(1), epochs=3)
        assert fitted == [0]
        assert said == [
            f"BBC Sport, seed 0: what was finished before has epochs 4, not 3; {again_said}"
        ]
        go(range(1), epochs=3, resume=False)
        assert fitted == [0] and said == []
        go(range(1), epochs=3)
        assert fitted == []
        finished = tmp_path / "kept" / "0.json.gz"
        made = json.loads(gzip.decompress(finished.read_bytes()))
        made["settings"] |= {"code": "another", "texts": "others"}
        finished.write_bytes(gzip.compress(json.dumps(made).encode()))
        go(range(1), epochs=3)
        assert fitted == [0]
        assert "has other texts, other code of newfound; it is made again" in said[0]

    def test_the_same_seed_gives_the_same_on_any_threads(
        self, corpus: LabelledDocuments, outcome: Outcome
    ) -> None:
        threads = {"preset": "paper", **SMALL, "n_jobs": 2}
        assert same(measure_seed(BBC, corpus, 1, threads)) == same(outcome.seeds[1])
        assert same(outcome.seeds[0]) != same(outcome.seeds[1])


def test_any_change_to_the_package_changes_its_hash(tmp_path: Path) -> None:
    (tmp_path / "rooms").mkdir()
    source, core = tmp_path / "rooms" / "a.py", tmp_path / "_core.abi3.so"
    source.write_text("a = 1\n")
    core.write_bytes(b"compiled")
    hashes = [package_hash(tmp_path)]
    for change in (
        lambda: source.write_text("a = 2\n"),
        lambda: core.write_bytes(b"compiled again"),
        lambda: source.rename(tmp_path / "rooms" / "b.py"),
        lambda: (tmp_path / "words.tsv").write_text("fly-half\n"),
    ):
        change()
        hashes.append(package_hash(tmp_path))
    assert len(set(hashes)) == 5
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_bytes(b"bytecode")
    assert package_hash(tmp_path) == hashes[-1]


def same(found: Any) -> str:
    """Write a seed without what it cost."""
    return re.sub(r'"(seconds|peak_mb)": [^,}]+', "", json.dumps(found, sort_keys=True))


class TestClaims:
    def verdict(self, outcome: Outcome, beginning: str) -> str:
        (row,) = [row for row in judge(outcome) if row["claim"].startswith(beginning)]
        return row["holds"]

    def changed(self, outcome: Outcome, change: Any) -> Outcome:
        seeds = copy.deepcopy(list(outcome.seeds))
        for seed in seeds:
            change(seed)
        return replace(outcome, seeds=seeds)

    def test_every_claim_of_both_experiments_is_judged(self, outcome: Outcome) -> None:
        for name, experiment in EXPERIMENTS.items():
            rows = judge(replace(outcome, experiment=replace(experiment, probe=BBC.probe)))
            assert len(rows) == sum(name in claim.experiments for claim in CLAIMS)
            for row in rows:
                assert row["holds"] in ("yes", "no", "different") and row["rule"] and row["ours"]

    @pytest.mark.parametrize(
        ("novel", "verdict"), [((2.0, 2.0), "yes"), ((2.0, 0.1), "no"), ((0.1, 0.1), "no")]
    )
    def test_novel_words_must_score_higher_in_every_seed(
        self, outcome: Outcome, novel: tuple[float, float], verdict: str
    ) -> None:
        def change(seed: dict[str, Any]) -> None:
            words = seed["all"]["words"]
            words["known"]["mean"], words["novel"]["mean"] = 1.0, novel[seed["seed"]]

        assert self.verdict(self.changed(outcome, change), "class Novel words") == verdict

    @pytest.mark.parametrize(
        ("share", "verdict"), [(0.84, "yes"), (0.91, "different"), (0.6, "different"), (0.4, "no")]
    )
    def test_a_share_holds_within_five_points(
        self, outcome: Outcome, share: float, verdict: str
    ) -> None:
        def change(seed: dict[str, Any]) -> None:
            seed["all"]["words"]["known"]["below_cut"] = share

        assert self.verdict(self.changed(outcome, change), "85%") == verdict

    @pytest.mark.parametrize(
        ("F_K", "F_N", "verdict"),
        [(5, 215, "yes"), (4, 400, "yes"), (1, 800, "different"), (0, 9, "no"), (30, 215, "no")],
    )
    def test_rugby(self, outcome: Outcome, F_K: int, F_N: int, verdict: str) -> None:
        def change(seed: dict[str, Any]) -> None:
            seed["all"]["probe"] |= {"F_K": F_K, "F_N": F_N}

        changed = self.changed(outcome, change)
        assert self.verdict(changed, "'Rugby'") == verdict
        assert f"{F_K}.0 ± 0.0 and {F_N}.0 ± 0.0" in {row["ours"] for row in judge(changed)}

    @pytest.mark.parametrize(
        ("share", "verdict"), [(0.46, "yes"), (0.2, "different"), (0.499, "yes"), (0.9, "no")]
    )
    def test_only_a_share_below_half_is_only_a_share(
        self, outcome: Outcome, share: float, verdict: str
    ) -> None:
        def change(seed: dict[str, Any]) -> None:
            seed["all"]["words"]["novel"]["below_cut"] = share

        assert self.verdict(self.changed(outcome, change), "only about 45%") == verdict

    def test_none_in_one_seed_is_not_some_in_every_seed(self, outcome: Outcome) -> None:
        def change(seed: dict[str, Any]) -> None:
            for role in ("known", "novel"):
                seed["all"]["shared"][role]["count"] = 5 * seed["seed"]

        changed = self.changed(outcome, change)
        beginning = "the words that are shared produce both"
        (row,) = [row for row in judge(changed) if row["claim"].startswith(beginning)]
        assert row["holds"] == "no" and "(in 1 of 2 seeds)" in row["ours"]

    @pytest.mark.parametrize(
        ("plain", "counts", "verdict"),
        [(0.1, 0.9, "yes"), (0.7, 0.1, "different"), (0.7, 0.3, "no")],
    )
    def test_tfidf_is_judged_as_the_paper_has_it(
        self, outcome: Outcome, plain: float, counts: float, verdict: str
    ) -> None:
        corpus = {**outcome.corpus, "tfidf_distance": plain, "tfidf_distance_unscaled": counts}
        changed = replace(outcome, corpus=corpus)
        assert self.verdict(changed, "the word scores produced by TF-IDF") == verdict

    @pytest.mark.parametrize(("times", "verdict"), [(100, "yes"), (0, "no")])
    def test_shared_words_in_more_clauses(self, outcome: Outcome, times: int, verdict: str) -> None:
        known, novel = (np.array(outcome.corpus[f"documents_{s}"]) for s in ("known", "novel"))

        def change(seed: dict[str, Any]) -> None:
            shared = (known > 0) & (novel > 0)
            seed["all"]["F_K"] = np.where(shared, times, 3).tolist()
            seed["all"]["F_N"] = np.where(shared, times, 3).tolist()

        assert self.verdict(self.changed(outcome, change), "the shared words will be") == verdict

    def test_one_seed_has_no_standard_error(self, outcome: Outcome) -> None:
        def change(seed: dict[str, Any]) -> None:
            for fold in seed["held_out"]:
                for scorer, value in ((OURS, 0.9), ("tfidf", 0.8)):
                    found = fold["scorers"][scorer]["documents"]
                    found["auroc"] = found["average_precision"] = value

        one = replace(self.changed(outcome, change), seeds=outcome.seeds[:1])
        beginning = "the same: documents, by the sum of"
        (row,) = [row for row in judge(one) if row["claim"].startswith(beginning)]
        assert row["holds"] == "no" and "no standard error" in row["ours"]

    @pytest.mark.parametrize(
        ("ours", "verdict"), [((0.9, 0.9), "yes"), ((0.9, 0.801), "no"), ((0.7, 0.7), "no")]
    )
    def test_better_means_by_two_standard_errors(
        self, outcome: Outcome, ours: tuple[float, float], verdict: str
    ) -> None:
        def change(seed: dict[str, Any]) -> None:
            for fold in seed["held_out"]:
                for scorer, value in ((OURS, ours[seed["seed"]]), ("tfidf", 0.8)):
                    found = fold["scorers"][scorer]["documents"]
                    found["auroc"] = found["average_precision"] = value

        beginning = "the same: documents, by the sum of"
        assert self.verdict(self.changed(outcome, change), beginning) == verdict

    @pytest.mark.parametrize(("lift", "verdict"), [(5.0, "yes"), (0.9, "no"), (1.5, "no")])
    def test_words_of_one_side_must_go_together(
        self, outcome: Outcome, lift: float, verdict: str
    ) -> None:
        def change(seed: dict[str, Any]) -> None:
            matrix = np.full((5, 5), 2.0)
            matrix[0, 1] = matrix[1, 0] = lift
            seed["all"]["context"]["both"]["lift"] = matrix.tolist()

        assert self.verdict(self.changed(outcome, change), "a high correspondence") == verdict

    def test_a_word_that_is_not_there_is_said(self, outcome: Outcome) -> None:
        def change(seed: dict[str, Any]) -> None:
            seed["all"]["context"] = None

        without = self.changed(outcome, change)
        (row,) = [row for row in judge(without) if row["claim"].startswith("a high corr")]
        assert row["holds"] == "no" and "not in the vocabulary" in row["ours"]
        assert without.lift() is None and len(tables(without)["context"]) == 0


class TestPage:
    def test_everything_is_escaped(self) -> None:
        nasty = '<script>alert("1")</script> | *b* [x](y) `c`'
        blocks = [
            Heading(1, nasty),
            Text(nasty),
            Rows([nasty], [[nasty]]),
            Figure(nasty, nasty),
        ]
        page = to_html(blocks, nasty)
        assert "<script" not in page and page.count("&lt;script&gt;") == 8
        assert page.count('"1"') == 0

    def test_verdicts_are_marked(self) -> None:
        page = to_html([Rows(["holds"], [["yes"], ["no"], ["different"]])], "")
        for verdict in ("yes", "no", "different"):
            assert f'<td class="{verdict}">{verdict}</td>' in page


@pytest.mark.slow
def test_figures_are_the_same_bytes_each_time(outcome: Outcome, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        names = draw(outcome, tmp_path / folder)
    assert names == ["cumulative", "cumulative_tfidf", "roc", "precision_recall", "context"]
    for name in names:
        first, second = ((tmp_path / folder / f"{name}.png").read_bytes() for folder in ("a", "b"))
        assert first == second and first.startswith(b"\x89PNG")
    assert len(list((tmp_path / "a").iterdir())) == 5


def test_cost_is_the_peak_inside_of_the_block() -> None:
    with Cost() as before:
        pass
    with Cost() as cost:
        np.ones(25_000_000)
    assert cost.peak_mb > before.peak_mb + 150
    if sys.platform == "linux":
        with Cost() as after:
            pass
        assert after.peak_mb < cost.peak_mb - 150


class TestCommand:
    @pytest.mark.slow
    def test_it_writes_tables_figures_and_a_page(self, data: Path, tmp_path: Path) -> None:
        output = tmp_path / "results"
        result = call(*arguments(data, output))
        assert result.exit_code == 0, result.output
        assert "class Novel words have" in result.output
        other = "n_clauses is 40, in the paper 10,000; "
        assert other in " ".join(result.output.split())
        assert other in (output / "index.html").read_text()
        results = json.loads((output / "results.json").read_text())
        assert results["about"]["seeds"] == [0, 1] and results["about"]["newfound"]
        found = results["bbcsport"]
        assert found["parameters"]["n_clauses"] == 40
        assert [seed["seed"] for seed in found["seeds"]] == [0, 1]
        for seed in found["seeds"]:
            assert seed["all"]["cost"]["seconds"] > 0 and seed["all"]["cost"]["peak_mb"] > 10
        folder = output / "bbcsport"
        with open(folder / "claims.csv", newline="", encoding="utf-8") as file:
            assert [row["holds"] for row in csv.DictReader(file)] == [
                claim["holds"] for claim in found["claims"]
            ]
        for name in ("word_statistics", "shared_words", "held_out", "top_words", "words", "rules",
                     "context", "cumulative", "curves", "fits"):  # fmt: skip
            assert len((folder / f"{name}.csv").read_text().splitlines()) > 2
        page = (output / "index.html").read_text()
        links = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert len(links) == 5 and all((output / link).is_file() for link in links)
        left = [path.name for path in output.rglob(".*")]
        assert left == []
        # The page can be published: it contains no paths of this machine.
        assert str(data.parent) not in page

    def test_a_folder_with_something_in_it_is_refused(self, data: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("mine")
        result = call(*arguments(data, tmp_path))
        assert result.exit_code == 1
        assert "is not empty; pass --resume" in result.stderr
        assert os.listdir(tmp_path) == ["mine.txt"]
        result = call(*arguments(data, tmp_path / "mine.txt"))
        assert result.exit_code == 1 and "it is a file; name a folder" in result.stderr

    def test_the_case_study_needs_no_data(self, tmp_path: Path) -> None:
        result = call("reproduce", "case-study", "--output", tmp_path / "r", "--json", "--quiet")
        assert result.exit_code == 0
        rows = json.loads(result.stdout)["case-study"]
        assert rows[7]["fraction"] == "56/13"
        assert sorted(os.listdir(tmp_path / "r")) == ["case-study", "index.html", "results.json"]

    def test_what_is_missing_is_found_out_before_any_fit(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("NEWFOUND_DATA", raising=False)
        monkeypatch.setenv("NEWFOUND_CACHE", str(tmp_path / "cache"))
        result = call("reproduce", "20newsgroups", "--output", tmp_path / "r")
        assert result.exit_code == 1 and "20 Newsgroups is not here" in result.stderr
        result = call("reproduce", "bbcsport", "--data", data, "--output", tmp_path / "r")
        assert result.exit_code == 1 and "90 documents where BBC Sport has 737" in result.stderr
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        result = call(*arguments(data, tmp_path / "r"))
        assert result.exit_code == 1 and "pip install 'newfound[paper]'" in result.stderr
        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        "wrong",
        [["nonsense"], ["bbcsport", "--seeds", "0"], ["bbcsport", "--n-clauses", "3"],
         ["bbcsport", "--preset", "none"], ["bbcsport", "--jobs", "0"], []],
    )  # fmt: skip
    def test_a_usage_error_is_2(self, wrong: list[str]) -> None:
        assert call("reproduce", *wrong).exit_code == 2

    @pytest.mark.slow
    def test_interrupted_it_keeps_finished_seeds_and_says_so(
        self, data: Path, tmp_path: Path
    ) -> None:
        output = tmp_path / "r"
        given = arguments(data, output, "--seeds", 1000)
        process = subprocess.Popen(
            [sys.executable, "-m", "lab", *given],
            cwd=Path(__file__).resolve().parents[2],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            encoding="utf-8",
            # In the background, a shell ignores Control-C for its commands.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        done = output / "bbcsport" / "seeds" / "1.json.gz"
        wait_for(lambda: done.exists() or process.poll() is not None, done)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "continue with --resume" in said and "Traceback" not in said
        assert {path.name for path in output.iterdir()} == {"bbcsport"}
        assert not list(output.rglob(".*"))


def test_wrong_arguments_in_python(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected some of case-study, bbcsport, 20newsgroups"):
        reproduce(["all"], tmp_path / "r")
    with pytest.raises(ValueError, match="seeds is empty"):
        reproduce(["case-study"], tmp_path / "r", seeds=[])
    with pytest.raises(TypeError, match="nonsense"):
        reproduce(["bbcsport"], tmp_path / "r", nonsense=1)
    assert not (tmp_path / "r").exists()


def test_help_imports_neither_matplotlib_nor_scikit_learn() -> None:
    code = (
        "import sys, lab.__main__; "
        "sys.exit(any(name in sys.modules for name in ('matplotlib', 'sklearn', 'pooch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
