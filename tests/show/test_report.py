"""A report is one small file that says what the model found, and nothing a document says to do."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import newfound
import newfound.show.page as written
from newfound.cli import app
from newfound.description.words import WordTable
from newfound.marks import visible
from newfound.show.collect import Limits, collect, gather
from newfound.show.documents import Excerpts, document_curves, tfidf_held_out
from newfound.show.page import MAX_BYTES, embedded_json, render, write_report
from newfound.text.documents import as_documents
from newfound.text.vectorizer import TextVectorizer
from report_pages import PageReader, read, text_of

KNOWN = ["The batsman hit six.", "A cricket match in England.", "Six wickets in the match."] * 8
NOVEL = ["The scrum won the ball.", "A rugby match in England.", "Old rugby try, no wicket."] * 8
SMALL: dict[str, Any] = {
    "n_machines": 3, "n_clauses": 20, "epochs": 10, "min_df": 1, "fold_copies": False,
    "random_state": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def described() -> newfound.NoveltyDescriber:
    return newfound.describe(KNOWN, NOVEL, **SMALL)


def write(path: Path, describer: newfound.NoveltyDescriber, **options: Any) -> dict[str, Any]:
    """Write a page and return its data."""
    write_report(path, describer.description_, **options)
    return read(path)


class TestFile:
    def test_it_is_one_file_of_a_known_size(self, described: Any, tmp_path: Path) -> None:
        described.report(tmp_path / "x.html", known=KNOWN, novel=NOVEL, title="Rugby & co")
        assert os.listdir(tmp_path) == ["x.html"]
        page = (tmp_path / "x.html").read_text(encoding="utf-8")
        assert len(page.encode()) <= MAX_BYTES
        assert "<title>Rugby &amp; co</title>" in page

    def test_it_asks_for_nothing_from_elsewhere(self, described: Any, tmp_path: Path) -> None:
        described.report(tmp_path / "x.html", known=KNOWN, novel=NOVEL)
        page = (tmp_path / "x.html").read_text(encoding="utf-8")
        assert not re.search(r"<(link|img|iframe|object|embed|base)\b", page)
        assert not re.search(r"<[^>]+\s(src|href)=[\"'](?!#)", page)

    def test_the_policy_names_scripts_and_styles_by_hash(
        self, described: Any, tmp_path: Path
    ) -> None:
        described.report(tmp_path / "x.html", known=KNOWN, novel=NOVEL)
        page = (tmp_path / "x.html").read_text(encoding="utf-8")
        policy = re.search(r'Security-Policy" content="([^"]+)"', page)
        assert policy is not None
        assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
        assert "unsafe" not in policy[1]

    def test_licences_of_the_libraries_are_inside(self, described: Any, tmp_path: Path) -> None:
        described.report(tmp_path / "x.html")
        page = (tmp_path / "x.html").read_text(encoding="utf-8")
        assert page.count("Permission to use, copy, modify, and/or distribute this software") == 2

    def test_a_file_that_exists_asks_for_force(self, described: Any, tmp_path: Path) -> None:
        path = tmp_path / "x.html"
        path.write_text("precious")
        with pytest.raises(FileExistsError, match="force"):
            described.report(path)
        assert path.read_text() == "precious"
        described.report(path, force=True)
        assert path.read_text().startswith("<!doctype html>")

    def test_an_unfitted_describer_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="not fitted"):
            newfound.NoveltyDescriber().report(tmp_path / "x.html")
        assert not os.listdir(tmp_path)

    def test_one_side_of_the_texts_is_refused(self, described: Any, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="pass both or neither"):
            described.report(tmp_path / "x.html", known=KNOWN)
        with pytest.raises(ValueError, match="novel: Expected several documents"):
            described.report(tmp_path / "x.html", known=KNOWN, novel="text")
        assert not os.listdir(tmp_path)


class TestData:
    def test_the_sentence_names_what_is_new(self, described: Any, tmp_path: Path) -> None:
        data = write(tmp_path / "x.html", described, known=KNOWN, novel=NOVEL)
        sentence = "".join(part["text"] for part in data["summary"]["sentence"])
        assert "24 novel documents" in sentence
        assert "rugby" in sentence
        assert "Tsetlin" not in sentence
        assert 1 <= len(data["summary"]["words"]) <= 12

    def test_counts_and_examples_agree(self, described: Any, tmp_path: Path) -> None:
        data = write(tmp_path / "x.html", described, known=KNOWN, novel=NOVEL)
        columns = data["words"]["columns"]
        vectorizer = described.vectorizer_
        for number, card in data["cards"].items():
            word = columns["word"][int(number)]
            for side, texts in (("known", KNOWN), ("novel", NOVEL)):
                having = [text for text in texts if word in terms(vectorizer, text)]
                assert columns[f"documents_{side}"][int(number)] == len(having)
                examples = [data["examples"][place] for place in card["examples"][side]]
                assert bool(examples) == bool(having)
                for example in examples:
                    marked = [p[0] for p in example["pieces"] if p[1:] == [int(number)]]
                    assert marked
                    assert all(terms(vectorizer, surface) == {word} for surface in marked)
                    assert any(text_of(example) in text for text in texts)

    def test_documents_keep_their_original_text(self, described: Any, tmp_path: Path) -> None:
        data = write(tmp_path / "x.html", described, known=KNOWN, novel=NOVEL)
        rows = data["documents"]["rows"]
        assert len(rows) == data["documents"]["total"] == 48
        assert {text_of(row) for row in rows} == {*KNOWN, *NOVEL}
        scores = [row["score"] for row in rows]
        assert scores == sorted(scores, reverse=True)
        assert rows[0]["novel"]
        assert not rows[-1]["novel"]

    def test_the_words_of_the_reasons_are_marked(self, tmp_path: Path) -> None:
        # Words that may be chance are reasons, too; the last document is longer than its excerpt.
        long = "A try. " + "The ball was wet. " * 60 + "Rugby."
        describer = newfound.describe(KNOWN, [*NOVEL, long], **SMALL)
        assert isinstance(describer, newfound.NoveltyDescriber)
        data = write(tmp_path / "x.html", describer)
        columns = data["words"]["columns"]
        unsure, beyond = 0, []
        for row in data["documents"]["rows"]:
            marks = {
                piece[3]: piece
                for piece in row["pieces"]
                if isinstance(piece, list) and len(piece) == 4
            }
            for place, (word, value) in enumerate(row["why"]):
                if place not in marks:
                    beyond.append(word)
                    assert row["after"]
                    continue
                surface, number, weight, _ = marks[place]
                assert weight == value
                assert word in columns["forms"][number] or columns["word"][number] == word
                assert surface.lower()[:2] == word[:2]
                unsure += columns["side"][number] == "neither"
        assert unsure and set(beyond) == {"rugby"}

    def test_it_says_how_it_was_made(self, described: Any, tmp_path: Path) -> None:
        known = as_documents([*KNOWN, "", None])
        data = write(
            tmp_path / "x.html", described, known=known, novel=NOVEL, seconds={"reading": 1.234}
        )
        made = data["made"]
        assert made["parameters"]["n_clauses"] == 20
        assert made["parameters"]["random_state"] == 1
        assert made["versions"]["newfound"] == newfound.__version__
        assert made["piles"]["known"]["found"] == {"empty": 2, "duplicate": 21}
        assert made["seconds"]["reading"] == 1.23
        assert made["seconds"]["learning"] == round(described.seconds_["learning"], 2)

    def test_it_says_how_long_learning_took(self, described: Any, tmp_path: Path) -> None:
        data = write(tmp_path / "x.html", described)
        assert data["made"]["seconds"].keys() == {"learning", "making this page"}

    def test_a_loaded_describer_works_without_texts(self, described: Any, tmp_path: Path) -> None:
        described.save(tmp_path / "model")
        loaded = newfound.load(tmp_path / "model")
        data = write(tmp_path / "x.html", loaded)
        assert data["documents"] is None
        assert data["examples"] is None
        assert "rugby" in data["words"]["columns"]["word"]
        with_texts = write(tmp_path / "y.html", loaded, known=KNOWN, novel=NOVEL)
        assert with_texts["notes"] == []
        assert with_texts["examples"]

    def test_other_texts_than_those_learned_from_are_told(
        self, described: Any, tmp_path: Path
    ) -> None:
        data = write(tmp_path / "x.html", described, known=KNOWN[:9], novel=NOVEL)
        assert "not those that the model was trained on" in data["notes"][0]

    def test_names_of_documents_are_kept(self, described: Any, tmp_path: Path) -> None:
        novel = replace(as_documents(NOVEL), ids=tuple(f"new/{i}.txt" for i in range(24)))
        known = replace(as_documents(KNOWN), ids=tuple(f"old/{i}.txt" for i in range(24)))
        data = write(tmp_path / "x.html", described, known=known, novel=novel)
        assert data["documents"]["rows"][0]["name"].startswith("new/")

    def test_pairs_of_words_are_found_in_the_text(self, tmp_path: Path) -> None:
        options = {**SMALL, "ngram_range": (1, 2)}
        describer = newfound.describe(KNOWN, NOVEL, **options)
        data = write(tmp_path / "x.html", describer, known=KNOWN, novel=NOVEL)
        words = data["words"]["columns"]["word"]
        number = words.index("rugby match")
        example = data["examples"][data["cards"][str(number)]["examples"]["novel"][0]]
        assert ["rugby match", number] in example["pieces"]

    def test_the_same_description_gives_the_same_page(self, described: Any) -> None:
        pages = []
        for _ in range(2):
            material = gather(described.description_, KNOWN, NOVEL)
            pages.append(json.dumps(collect(described.description_, material, Limits())))
        assert pages[0] == pages[1]


def terms(vectorizer: TextVectorizer, text: str) -> set[str]:
    return {token.term for token in vectorizer.tokens(text) if token.index >= 0}


class TestHostile:
    @pytest.mark.parametrize(
        "text",
        [
            "</script><script>alert(1)</script>",
            "<!-- <script>",
            "{{ 7 * 7 }} {% raw %}",
            "\u2028\u2029\ufeff\x00\x07\x85\ufffe",
            "a &amp; b &lt; c",
        ],
    )
    def test_any_text_survives_the_block_of_data(self, text: str) -> None:
        written = embedded_json({"text": text})
        assert not re.search("[<>&\x00-\x1f\u2028\u2029]", written)
        assert json.loads(written) == {"text": visible(text)}

    def test_a_page_has_the_same_elements_whatever_the_documents_say(
        self, tmp_path: Path, described: Any
    ) -> None:
        hostile = "<script>x</script><img src=x onerror=y></style></script><b> rugby {{ 1 }}"
        tags = []
        for number, title in enumerate(("plain", hostile)):
            path = tmp_path / f"{number}.html"
            novel = NOVEL if title == "plain" else [*NOVEL[1:], hostile]
            write_report(path, described.description_, known=KNOWN, novel=novel, title=title)
            parser = PageReader()
            parser.feed(path.read_text(encoding="utf-8"))
            tags.append(sorted(tag for tag in parser.tags if tag != "bdi"))
        assert tags[0] == tags[1]

    @pytest.mark.parametrize(
        "text",
        [
            "x" * 100_000,
            pytest.param("𝔻 " * 1500, marks=pytest.mark.slow),
            pytest.param("<" * 3000, marks=pytest.mark.slow),
            pytest.param("\u202e" * 3000, marks=pytest.mark.slow),
        ],
    )
    def test_the_page_stays_small_whatever_the_documents_hold(
        self, tmp_path: Path, text: str
    ) -> None:
        generator = np.random.default_rng(1)
        words = np.array([f"w{i:04}" * 15 for i in range(1500)])
        novel = [" ".join([*generator.choice(words, 40), text]) for _ in range(150)]
        known = [" ".join([*generator.choice(words[500:], 40), text]) for _ in range(150)]
        describer = newfound.describe(
            known, novel, n_machines=1, n_clauses=100, epochs=2, random_state=1
        )
        data = write(tmp_path / "x.html", describer, known=known, novel=novel, title=text)
        assert os.path.getsize(tmp_path / "x.html") <= MAX_BYTES
        assert data["documents"]["rows"]
        assert data["cards"]


@pytest.fixture(scope="module")
def sample() -> newfound.NoveltyDescriber:
    known, novel = newfound.load_sample()
    return newfound.describe(known, novel, n_machines=3, n_clauses=60, epochs=3, random_state=1)


def small(limits: Limits, times: int) -> Limits:
    for _ in range(times):
        limits = limits.halved()
    return limits


class TestSmallerLimits:
    @pytest.mark.parametrize("times", [0, 1, 3, 10])
    def test_every_number_on_the_page_is_of_what_the_page_has(
        self, sample: Any, times: int
    ) -> None:
        corpus = gather(sample.description_)
        full = collect(sample.description_, corpus, Limits())
        limits = small(Limits(), times)
        data = collect(sample.description_, corpus, limits)
        words, rules = data["words"]["columns"]["word"], data["rules"]["rows"]
        before = full["words"]["columns"]["word"]
        assert len(words) <= limits.words
        assert set(words) <= set(before)
        assert [words[i] for i in data["summary"]["words"]] == [
            before[i] for i in full["summary"]["words"] if before[i] in words
        ]
        assert 1 <= len(data["cards"]) <= limits.cards
        for number, card in data["cards"].items():
            old = full["cards"][str(before.index(words[int(number)]))]
            assert len(card["rules"]) <= 2 * limits.card_rules
            for new_rule, old_rule in zip(card["rules"], old["rules"], strict=False):
                assert rules[new_rule]["side"] in ("known", "novel")
                if len(card["rules"]) == len(old["rules"]):
                    assert rules[new_rule]["count"] == full["rules"]["rows"][old_rule]["count"]
            for side in ("known", "novel"):
                assert len(card["examples"][side]) <= limits.examples
                for example in card["examples"][side]:
                    pieces = data["examples"][example]["pieces"]
                    marked = {words[piece[1]] for piece in pieces if not isinstance(piece, str)}
                    assert words[int(number)] in marked
                assert all(partner[0] in words for partner in card["company"][side])
        for pair in data["pairs"]:
            assert {pair["a"], pair["b"]} <= set(words)
        assert len(rules) <= len(full["rules"]["rows"])

    def test_a_page_that_fits_is_collected_once_and_another_until_it_fits(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, described: Any
    ) -> None:
        asked: list[Limits] = []

        def counted(description: Any, corpus: Any, limits: Limits, names: Any) -> Any:
            asked.append(limits)
            return collect(description, corpus, limits, names)

        monkeypatch.setattr(written, "collect", counted)
        write(tmp_path / "whole.html", described)
        assert asked == [Limits()]
        most = os.path.getsize(tmp_path / "whole.html") - 5_000
        monkeypatch.setattr(written, "MAX_BYTES", most)
        asked.clear()
        data = write(tmp_path / "x.html", described)
        assert len(asked) > 1
        assert asked == [small(Limits(), times) for times in range(len(asked))]
        assert os.path.getsize(tmp_path / "x.html") <= most
        assert data["words"]["columns"]["word"]


@pytest.fixture(scope="module")
def vectorizer() -> TextVectorizer:
    return TextVectorizer().fit(["The scrums won. İzmir’s fly‐half", "O'Neill's try"])


class TestExcerpts:
    def test_a_sentence_is_cut_out_whole(self, vectorizer: Any) -> None:
        excerpts = Excerpts(vectorizer, vectorizer.vocabulary_)
        text = "It rained.\n\nThe scrums\nwon! Then tea."
        found = excerpts.sentence(text, "scrum", 100)
        assert found is not None
        assert text_of(found) == "The scrums\nwon!"
        assert "before" not in found
        assert "after" not in found

    @pytest.mark.parametrize(("word", "surface"), [("fly-half", "fly‐half"), ("izmir", "İzmir’s")])
    def test_other_spellings_of_a_form_are_found(
        self, vectorizer: Any, word: str, surface: str
    ) -> None:
        excerpts = Excerpts(vectorizer, vectorizer.vocabulary_)
        found = excerpts.sentence("A line. İzmir’s fly‐half 😀 ran.", word, 100)
        assert found is not None
        assert [surface, vectorizer.vocabulary_[word]] in found["pieces"]
        assert text_of(found) == "İzmir’s fly‐half 😀 ran."

    @pytest.mark.parametrize("place", [0, 500, 999])
    def test_a_long_sentence_is_cut_around_the_word(self, vectorizer: Any, place: int) -> None:
        words = ["lorem"] * 1000
        words[place] = "Scrum"
        text = " ".join(words)
        found = Excerpts(vectorizer, vectorizer.vocabulary_).sentence(text, "scrum", 80)
        assert found is not None
        shown = text_of(found)
        assert shown in text
        assert "Scrum" in shown
        assert len(shown) <= 80
        assert not shown.startswith("orem")

    def test_a_run_of_letters_without_end_breaks_nothing(self, vectorizer: Any) -> None:
        excerpts = Excerpts(vectorizer, vectorizer.vocabulary_)
        text = "x" * 200_000 + " scrum " + "y" * 200_000
        found = excerpts.sentence(text, "scrum", 80)
        assert found is not None
        assert ["scrum", vectorizer.vocabulary_["scrum"]] in found["pieces"]
        assert len(text_of(found)) <= 80
        assert len(text_of(excerpts.opening(text, 700))) <= 700

    def test_half_a_word_is_no_word(self, vectorizer: Any) -> None:
        excerpts = Excerpts(vectorizer, vectorizer.vocabulary_)
        found = excerpts.opening("a" * 20 + "-scrum-half", 26)
        assert all(isinstance(piece, str) for piece in found["pieces"])

    def test_a_text_without_the_word_has_no_sentence(self, vectorizer: Any) -> None:
        excerpts = Excerpts(vectorizer, vectorizer.vocabulary_)
        assert excerpts.sentence("scrumptious. Nothing.", "scrum", 80) is None
        assert excerpts.sentence("", "scrum", 80) is None


class TestCurves:
    def test_curves_are_those_of_scikit_learn(self) -> None:
        from sklearn.metrics import auc, average_precision_score, roc_auc_score

        generator = np.random.default_rng(0)
        novel = generator.random(5000) < 0.3
        scores = generator.normal(size=5000) + novel
        made = document_curves(scores, novel)
        assert made is not None
        assert made["auroc"] == pytest.approx(roc_auc_score(novel, scores), abs=1e-4)
        precision = average_precision_score(novel, scores)
        assert made["average_precision"] == pytest.approx(precision, abs=1e-4)
        assert len(made["roc"]["x"]) < 200
        area = auc(made["roc"]["x"], made["roc"]["y"])
        assert area == pytest.approx(made["auroc"], abs=0.01)
        assert (made["roc"]["x"][0], made["roc"]["y"][-1]) == (0, 1)

    def test_tfidf_does_not_see_the_document_it_scores(self) -> None:
        from scipy import sparse

        # Each document has a word of its own: seen, it tells the side; held out, it tells nothing.
        matrix = sparse.csr_matrix(np.eye(60, dtype=bool))
        novel = np.arange(60) % 2 == 0
        held_out = tfidf_held_out(matrix, novel)
        assert held_out is not None
        assert (held_out == 0).all()
        assert tfidf_held_out(matrix[:4], novel[:4]) is None


class TestCommand:
    def piles(self, folder: Path) -> list[str]:
        for name, lines in (("known", KNOWN), ("novel", NOVEL)):
            (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
        known, novel = str(folder / "known.txt"), str(folder / "novel.txt")
        small = ["--n-clauses", "20", "--epochs", "10", "--min-df", "1", "--seed", "1"]
        return ["describe", "--known", known, "--novel", novel, *small]

    def test_describe_writes_a_report(self, tmp_path: Path) -> None:
        path = tmp_path / "x.html"
        result = CliRunner().invoke(app, [*self.piles(tmp_path), "--report", str(path)])
        assert result.exit_code == 0, result.stderr
        assert f"wrote the report to {path}" in result.stderr
        data = read(path)
        assert data["made"]["piles"]["known"]["source"] == str(tmp_path / "known.txt")
        assert {"reading", "learning"} <= set(data["made"]["seconds"])

    def test_the_names_of_the_piles_are_used_everywhere(self, tmp_path: Path) -> None:
        page = tmp_path / "r.html"
        options = [*self.piles(tmp_path), "--known-name", "cricket", "--novel-name", "March 2024"]
        report = ["--report", str(page), "--title", "A <b>title</b>"]
        result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*options, *report])
        assert result.exit_code == 0, result.output
        shown = " ".join(result.stdout.split())
        assert "“March 2024” documents" in shown and "cricket ones" in shown
        assert "typical of the cricket documents" in shown and "cricket docs" in shown
        assert "known" not in shown and "novel " not in shown
        assert "cricket: " in result.stderr and "known: " not in result.stderr
        data = read(page)
        assert data["title"] == "A <b>title</b>"
        assert data["names"]["novel"] == {"name": "March 2024", "quoted": "“March 2024”"}
        said = "".join(part["text"] for part in data["summary"]["sentence"])
        assert "“March 2024” documents" in said
        made = CliRunner().invoke(app, [*options, "--json", "-q"])
        found = json.loads(made.stdout)
        assert found["names"] == {"known": "cricket", "novel": "March 2024"}
        assert "“March 2024” documents" in found["summary"] and "cricket" in found["summary"]
        assert "known" not in found["summary"] and "novel " not in found["summary"]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (["--known-name", "novel"], "must differ"),
            (["--novel-name", " "], "--novel-name=' '"),
            (["--novel-name", "a\u202eb"], "can be printed"),
            (["--novel-name", "x" * 41], "at most 40"),
            (["--title", "T"], "--report"),
        ],
    )
    def test_names_that_cannot_be_used_are_usage_errors(
        self, tmp_path: Path, options: list[str], said: str
    ) -> None:
        result = CliRunner().invoke(app, [*self.piles(tmp_path), *options])
        assert result.exit_code == 2
        assert said in " ".join(result.stderr.replace("│", " ").split())

    def test_a_report_that_exists_is_told_before_the_work(self, tmp_path: Path) -> None:
        path = tmp_path / "x.html"
        path.write_text("precious")
        result = CliRunner().invoke(app, [*self.piles(tmp_path), "--report", str(path)])
        assert result.exit_code == 1
        assert "pass --force" in result.stderr
        assert "known:" not in result.stderr
        assert path.read_text() == "precious"

    def test_two_options_for_one_file_are_a_usage_error(self, tmp_path: Path) -> None:
        path = str(tmp_path / "x.html")
        asked = [*self.piles(tmp_path), "--report", path, "--save", path]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 2
        assert "--save and --report are the same" in " ".join(result.stderr.split())


@pytest.mark.slow
@pytest.mark.skipif("NEWFOUND_DATA" not in os.environ, reason="NEWFOUND_DATA is not set")
def test_bbc_sport_is_written_within_two_seconds(tmp_path: Path) -> None:
    path = Path(os.environ["NEWFOUND_DATA"], "bbcsport", "bbcsport.jsonl.gz")
    documents = newfound.read_documents(path, label_column="label")
    assert documents.labels is not None
    piles: dict[str, list[str]] = {"known": [], "novel": []}
    sides = {"rugby": "novel", "cricket": "known", "football": "known"}
    for text, label in zip(documents.texts, documents.labels, strict=True):
        if label in sides:
            piles[sides[label]].append(text)
    describer = newfound.describe(**piles, n_clauses=200, epochs=3, random_state=1)
    write_report(tmp_path / "warm.html", describer.description_, **piles)  # loads the libraries
    began = time.process_time()
    write_report(tmp_path / "x.html", describer.description_, **piles)
    assert time.process_time() - began < 2
    assert os.path.getsize(tmp_path / "x.html") <= MAX_BYTES


def test_the_page_needs_everything_it_places() -> None:
    with pytest.raises(KeyError):
        render({"title": "x"})


def test_a_word_is_new_if_both_its_interval_and_its_novelty_say_so() -> None:
    novelty, low, high = np.array([[5.0, 1.5, 3.0, -3.0], [2, 2, 1, 0.1], [4, 4, 3, 0.5]])
    words = WordTable({"novelty": novelty, "low": low, "high": high})
    assert words.sides.tolist() == ["novel", "neither", "neither", "known"]
