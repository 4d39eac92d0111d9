"""The command line answers clearly, whatever it is given, and never leaves half a file."""

from __future__ import annotations

import io
import json
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console, RenderableType

from newfound import describe
from newfound.description.learning import PRESETS
from newfound.models import load
from newfound.show.tables import headline, themes_table
from newfound.sides import Names
from newfound.stories.themes import Theme
from newfound.text.validation import MAX_EXPLAINED
from pile_files import KNOWN, NOVEL, SMALL, Piles, call, refused


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a saved model."""
    piles = Piles(tmp_path_factory.mktemp("model"))
    path = piles.folder / "model"
    assert call(*piles.arguments, "--save", path).exit_code == 0
    return path


def _wrapped(part: RenderableType, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as printed:
        console.print(part)
    return [line.rstrip() for line in printed.get().splitlines()]


class TestDescribe:
    def test_headings_say_where_chance_explains_the_words(self, piles: Piles) -> None:
        shown = call(*piles.arguments)
        assert "Words that are new" in shown.stdout and "beyond chance" not in shown.stdout
        words = ["rain", "sun", "wind", "snow", "hail", "cloud", "storm", "frost"]
        mixed = [f"{a} {b} {c}" for a in words for b in words for c in words]
        np.random.default_rng(1).shuffle(mixed)
        shown = call(*piles.write(mixed[:90], mixed[90:180]).arguments)
        assert "Nothing stands out" in shown.stdout
        assert "Words that are new" not in shown.stdout
        assert "Words typical of the novel documents, none beyond chance" in shown.stdout
        assert "Words typical of the known documents, none beyond chance" in shown.stdout

    def test_words_that_are_likely_but_not_sure_are_not_called_chance(self, piles: Piles) -> None:
        known = [f"card {number} was blocked on a {day}" for number in "abc" for day in "wxyz"]
        novel = [
            f"we booked several flights {number} on a {day}" for number in "abc" for day in "wxyz"
        ]
        shown = call(*piles.write(known, novel).arguments)
        said = " ".join(shown.stdout.split())
        assert "No word is surely new in the 12 novel documents; likely new: " in said
        assert "With only 12 known documents, " in said
        assert "Words typical of the novel documents, none of them sure" in said
        assert "May be chance: words with a novelty below 2 or q above 0.05, themes" in said

    def test_a_side_without_words_has_no_table(self, piles: Piles) -> None:
        shown = call(
            *piles.write(["sun rain hail", "sun rain"], ["sun rain", "rain sun"]).arguments
        )
        assert shown.exit_code == 0, shown.stderr
        assert "Words typical of the novel documents" not in shown.stdout

    def test_no_line_begins_with_the_sign_of_a_number(self) -> None:
        shares = ", ".join(f"{number} %" for number in range(60))
        for width in range(20, 60):
            lines = _wrapped(headline(shares, Names()), width)
            assert any(line.endswith("59 %") for line in lines)
            assert not any(line.lstrip().startswith("%") for line in lines)

    def test_themes_that_may_be_chance_come_last(self) -> None:
        none = np.array([], np.intp)
        themes = [
            Theme(name, (), (), none, none, 0.1, 0.0, evidence, (), ())
            for name, evidence in (("first", 9.0), ("second", 2.97), ("third", 4.0))
        ]
        known = [f"rain {word}" for word in "abcdefgh"] * 2
        sun = [f"sun {word}" for word in "abcdefgh"] * 2
        described = describe(known, sun, n_clauses=10, T=5)
        table = themes_table(described.description_, themes, Names(), most=5, title="Themes")
        shown = "\n".join(_wrapped(table, 100))
        places = [shown.index(text) for text in ("first", "third", "may be chance:", "second")]
        assert places == sorted(places)
        assert "2.9" in shown and "3.0" not in shown  # chance is said to be below 3

    def test_the_table_is_worth_reading(self, piles: Piles) -> None:
        result = call(*piles.arguments)
        assert result.exit_code == 0, result.stderr
        first, second = result.stdout.splitlines()[:2]
        assert "24 novel documents" in first
        assert "24 known" in first + second
        assert "rugby" in first
        assert "Tsetlin" not in result.stdout
        assert result.stdout.index("scrum") < result.stdout.index("wicket")
        assert "→ novel" in result.stdout
        assert "wickets" in result.stdout
        assert result.stderr.splitlines() == [
            f"newfound: known: 24 documents from {piles.known}; 21 duplicates kept",
            f"newfound: novel: 24 documents from {piles.novel}; 21 duplicates kept",
        ]

    def test_duplicates_are_said_to_count_once_where_they_are_folded(self, piles: Piles) -> None:
        piles.write([*KNOWN, "thank you", "thank you"], NOVEL)  # too short to be a copy
        folding = [word for word in piles.arguments if word != "--keep-copies"]
        known, novel, copies, *_ = call(*folding).stderr.splitlines()
        assert known.endswith("; 22 duplicates kept, 21 of them counted once as evidence")
        assert novel.endswith("; 21 duplicates kept, but counted once as evidence")
        assert "Copied text counts once: folded 42 documents" in copies
        for words in (piles.arguments, [*folding, "--preset", "paper"]):
            said = call(*words).stderr
            assert "22 duplicates kept" in said and "counted once" not in said

    @pytest.mark.parametrize("width", [60, 80, 200])
    def test_words_are_whole_on_any_terminal(
        self, piles: Piles, monkeypatch: pytest.MonkeyPatch, width: int
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        lines = call(*piles.arguments).stdout.splitlines()
        assert {"rugby", "scrum", "batsman"} <= {(line.split() or [""])[0] for line in lines}
        assert max(map(len, lines)) <= width

    def test_no_word_is_both_new_and_not_new(self, piles: Piles) -> None:
        data = json.loads(call(*piles.arguments, "--json", "--top", "1000").stdout)
        assert min(row["novelty"] for row in data["novel_words"]) > 0
        assert max(row["novelty"] for row in data["known_words"]) < 0
        both = [row["word"] for row in (*data["novel_words"], *data["known_words"])]
        assert len(both) == len(set(both)) > 10

    def test_json_is_all_there_is_on_standard_output(self, piles: Piles) -> None:
        data = json.loads(call(*piles.arguments, "--json", "--top", "3").stdout)
        assert data["newfound"] == version("newfound")
        assert data["known"] == {
            "source": str(piles.known),
            "documents": 24,
            "found": {"duplicate": 21},
        }
        words = [row["word"] for row in data["novel_words"]]
        assert len(words) == 3
        assert set(words) <= {"ball", "old", "rugby", "scrum", "try", "won"}
        assert [rule["side"] for rule in data["rules"]] == ["novel"] * 2 + ["known"] * 2
        assert data["novel_words"][0]["novelty"] > 0 > data["known_words"][0]["novelty"]
        for row in (*data["novel_words"], *data["known_words"]):
            assert row["low"] <= row["times"] <= row["high"]
            assert 0 <= row["q"] <= 1
        ranked = [row["novelty"] for row in data["novel_words"]]
        assert ranked == sorted(ranked, reverse=True)
        assert {"held_out_matches", "held_out_precision"} <= data["rules"][0].keys()

    def test_words_that_say_more_together_are_listed(self, piles: Piles) -> None:
        piles.write([*KNOWN, "a fly", "the half"] * 2, [*NOVEL, "a fly half kicked"] * 2)
        data = json.loads(call(*piles.arguments, "--json", "--top", "4").stdout)
        phrases = data["phrases"]
        sides = [row["side"] for row in phrases]
        assert sides == sorted(sides, reverse=True)
        assert 1 <= sides.count("novel") <= 4
        assert sides.count("known") <= 2
        for row in phrases:
            assert row["phrase"] == " AND ".join(row["words"])
            assert (row["novelty"] > 0) == (row["side"] == "novel")
        table = call(*piles.arguments, "--top", "4").stdout
        assert "Words that occur together" in table
        for row in phrases:
            assert set(row["words"]) <= set(table.split())

    def test_no_phrases_make_no_table(self, piles: Piles) -> None:
        piles.write(["wicket"] * 10, ["scrum"] * 10)
        result = call(*piles.arguments)
        assert result.exit_code == 0, result.stderr
        assert "Words that occur together" not in result.stdout
        assert json.loads(call(*piles.arguments, "--json").stdout)["phrases"] == []

    def test_as_many_machines_as_asked_for(self, piles: Piles) -> None:
        found = {}
        for machines in (1, 2, 3):
            arguments = ["--machines", machines, "--save", piles.folder / f"model{machines}"]
            result = call(*piles.arguments, "--json", *arguments)
            assert result.exit_code == 0, result.stderr
            found[machines] = json.loads(result.stdout)
            assert found[machines]["parameters"]["n_machines"] == machines
            assert load(piles.folder / f"model{machines}").n_machines_ == machines
        # A single machine learns from all documents and holds out none.
        assert {rule["held_out_precision"] for rule in found[1]["rules"]} == {None}
        assert any(rule["held_out_precision"] is not None for rule in found[3]["rules"])
        assert found[2]["rules"] != found[3]["rules"]
        table = call(*piles.arguments, "--machines", "1").stdout
        assert "held out" in table

    @pytest.mark.parametrize("preset", ["default", "paper"])
    def test_json_has_the_parameters_that_were_used(self, piles: Piles, preset: str) -> None:
        result = call(*piles.arguments, "--json", "--preset", preset, "--seed", "3")
        parameters = json.loads(result.stdout)["parameters"]
        given = {"n_clauses": 20, "epochs": 10, "min_df": 1, "n_jobs": 1, "random_state": 3}
        keys = ("T", "s", "max_literals", "language", "n_machines")
        rest = {key: PRESETS[preset][key] for key in keys}
        assert parameters.items() >= {**given, **rest, "preset": preset}.items()
        unset = [key for key, value in parameters.items() if value is None]
        assert sorted(unset) == ["ignore", "max_features"]

    def test_the_same_seed_gives_the_same_result_on_any_number_of_threads(
        self, piles: Piles
    ) -> None:
        first = call(*piles.arguments, "--json", "--seed", "5")
        again = call(*piles.arguments, "--json", "--seed", "5", "--jobs", "2")
        other = call(*piles.arguments, "--json", "--seed", "6")
        found = [
            {key: json.loads(result.stdout)[key] for key in ("novel_words", "rules", "phrases")}
            for result in (first, again, other)
        ]
        assert found[0] == found[1]
        assert found[0] != found[2]

    def test_quiet_says_nothing(self, piles: Piles) -> None:
        assert call(*piles.arguments, "--quiet").stderr == ""

    def test_documents_of_a_column_and_of_a_pipe(self, piles: Piles) -> None:
        table = piles.folder / "known.csv"
        table.write_text("n,body,other\n" + "".join(f"1,{line},x\n" for line in KNOWN))
        rows = "".join(json.dumps({"body": line}) + "\n" for line in NOVEL)
        (piles.folder / "novel.jsonl").write_text(rows)
        arguments = ["describe", "--known", table, "--text-column", "body", "--json", *SMALL]
        result = call(*arguments, "--novel", piles.folder / "novel.jsonl")
        assert json.loads(result.stdout)["novel"]["documents"] == 24
        lines = "\n".join(NOVEL)
        result = call(
            "describe", "--known", piles.known, "--novel", "-", "--json", *SMALL, input=lines
        )
        assert json.loads(result.stdout)["novel"]["source"] == "standard input"

    def test_json_in_a_pipe_needs_no_format(self, piles: Piles) -> None:
        rows = [{"body": text, "n": 1} for text in NOVEL]
        options = (
            "--novel", "-", "--known", piles.known, *SMALL, "--json", "--text-column", "body"
        )  # fmt: skip
        for piped in ("\n".join(map(json.dumps, rows)), json.dumps(rows)):
            result = call("describe", *options, input=piped)
            assert result.exit_code == 0, result.output
            assert json.loads(result.stdout)["novel"]["documents"] == len(NOVEL)
        result = call("describe", *options, input="a plain text\n")
        assert result.exit_code == 1 and "has no columns" in result.stderr

    def test_the_format_is_for_names_that_do_not_say_it(self, piles: Piles) -> None:
        table = piles.folder / "old.csv"
        table.write_text("n,text\n" + "".join(f"1,{line}\n" for line in KNOWN))
        rows = "".join(json.dumps({"text": line}) + "\n" for line in NOVEL)
        arguments = ["describe", "--json", "--format", "jsonl", *SMALL]
        result = call(*arguments, "--known", table, "--novel", "-", input=rows)
        assert result.exit_code == 0, result.stderr
        data = json.loads(result.stdout)
        assert (data["known"]["documents"], data["novel"]["documents"]) == (24, 24)
        assert "scrum" in {row["word"] for row in data["novel_words"]}
        assert not {"text", "1"} & {row["word"] for row in data["known_words"]}
        result = call(*arguments, "--known", table, "--novel", piles.novel)
        assert result.exit_code == 2
        assert "--format jsonl contradicts the file names" in " ".join(result.stderr.split())

    def test_a_column_is_for_the_side_that_has_columns(self, piles: Piles) -> None:
        folder, table = piles.folder / "folder", piles.folder / "new.csv"
        folder.mkdir()
        for number, line in enumerate(KNOWN):
            (folder / f"{number}.txt").write_text(line)
        table.write_text("title,body\n" + "".join(f"x,{line}\n" for line in NOVEL))
        for known in (folder, piles.known):
            for option in ("--text-column", "--novel-column"):
                arguments = ["--known", known, "--novel", table, option, "body", "--json", *SMALL]
                result = call("describe", *arguments)
                assert result.exit_code == 0, result.stderr
                assert json.loads(result.stdout)["novel"]["documents"] == 24

    def test_a_column_where_no_side_has_columns(self, piles: Piles) -> None:
        result = call(*piles.arguments, "--text-column", "body")
        assert result.exit_code == 2
        assert "--text-column body: none of the inputs" in " ".join(result.stderr.split())
        result = call(*piles.arguments, "--known-column", "body")
        refused(result, "known.txt is a txt and has no columns; do not name any column.")

    def test_two_tables_with_columns_of_their_own(self, piles: Piles) -> None:
        old, new = piles.folder / "old.tsv", piles.folder / "new.csv"
        old.write_text("title\tbody\n" + "".join(f"x\t{line}\n" for line in KNOWN))
        new.write_text("subject,message\n" + "".join(f"y,{line}\n" for line in NOVEL))
        arguments = ["describe", "--known", old, "--novel", new, "--json", *SMALL]
        for columns in (
            ["--known-column", "body", "--novel-column", "message"],
            ["--text-column", "body", "--novel-column", "message"],
        ):
            result = call(*arguments, *columns)
            assert result.exit_code == 0, result.stderr
            words = {row["word"] for row in json.loads(result.stdout)["novel_words"]}
            assert "scrum" in words
            assert "y" not in words
        refused(call(*arguments, "--text-column", "body"), "new.csv has no column 'body'")

    def test_a_language_without_stop_words_is_told(self, piles: Piles) -> None:
        result = call(*piles.arguments, "--language", "gv")
        assert result.exit_code == 0, result.stderr
        assert result.stderr.splitlines()[2:3] == [
            "newfound: warning: No stop words are left out: there is no list for 'gv'; pass your "
            "own as stop_words (--stop-words FILE)."
        ]

    def test_pairs_and_forms_are_the_users_choice(self, piles: Piles) -> None:
        arguments = (*piles.arguments, "--json", "--top", "200")
        plain = json.loads(call(*arguments).stdout)
        assert not any(" " in row["word"] for row in plain["novel_words"])
        chosen = json.loads(call(*arguments, "--pairs", "--no-lemmatize").stdout)
        assert any(" " in row["word"] for row in chosen["novel_words"])
        assert chosen["parameters"]["lemmatize"] is False
        assert chosen["parameters"]["ngram_range"] == [1, 2]

    def test_a_language_that_is_not_known_names_an_option_that_exists(self, piles: Piles) -> None:
        result = call(*piles.arguments, "--language", "tlh", "-q")
        assert result.exit_code == 2 and "--no-lemmatize" in result.stderr
        result = call(*piles.arguments, "--language", "tlh", "--no-lemmatize", "-q")
        assert result.exit_code == 0, result.stderr

    def test_names_of_files_cannot_steer_the_terminal(self, piles: Piles) -> None:
        path = piles.folder / "\x1b[2J[bold]x.txt"
        piles.known.rename(path)
        result = call("describe", "--known", path, "--novel", piles.novel, *SMALL)
        assert result.exit_code == 0
        assert "\x1b" not in result.stderr + result.stdout
        assert "[bold]x.txt" in result.stderr


class TestExplain:
    def test_words_rules_and_votes(self, model: Path) -> None:
        result = call("explain", model, "A Rugby match in England, zzyzx")
        assert result.exit_code == 0, result.stderr
        assert "Rugby" in result.stdout
        assert "→ novel" in result.stdout
        assert "zzyzx" in result.stdout
        assert "votes for novel" in result.stdout

    def test_json_is_a_line_a_text(self, model: Path) -> None:
        result = call("explain", model, "-", "--json", input="rugby scrum\n\nsix wickets\n")
        first, second = map(json.loads, result.stdout.splitlines())
        assert first["text"] == "rugby scrum"
        assert second["text"] == "six wickets"

    def test_json_has_the_first_rules_and_says_how_many_there_are(self, model: Path) -> None:
        text = "a cricket match in England"
        all_of_them = json.loads(call("explain", model, text, "--json", "--top", "9999").stdout)
        assert len(all_of_them["rules"]) == all_of_them["n_rules"] > 1
        first = json.loads(call("explain", model, text, "--json", "--top", "1").stdout)
        assert first == {**all_of_them, "rules": all_of_them["rules"][:1]}
        usual = json.loads(call("explain", model, text, "--json").stdout)
        assert usual["rules"] == all_of_them["rules"][:20]

    def test_a_pipe_is_decoded_as_files_are(self, model: Path) -> None:
        raw = b"\xef\xbb\xbfrugby \xc2\xa35\r\n\nrugby \xa36\n"
        result = call("explain", model, "-", "--json", input=raw)
        texts = [json.loads(line)["text"] for line in result.stdout.splitlines()]
        assert texts == ["rugby £5", "rugby £6"]

    def test_a_text_that_names_a_file(self, model: Path, tmp_path: Path) -> None:
        path = tmp_path / "new rugby.txt"
        path.write_text("six wickets\n")
        result = call("explain", model, path)
        assert result.exit_code == 0
        assert "rugby" in result.stdout
        assert result.stderr == (
            "newfound: explaining the text itself; to explain a file's lines use: "
            f"newfound explain {model} - < '{path}'\n"
        )
        quiet = call("explain", model, path, "--quiet")
        assert (quiet.stdout, quiet.stderr) == (result.stdout, "")
        assert call("explain", model, "x" * 10_000).stderr == ""

    def test_a_text_cannot_steer_the_terminal(self, model: Path) -> None:
        result = call("explain", model, "rugby \x1b[2J\x07 [bold]six[/bold] [/] \x9b2J")
        assert result.exit_code == 0, result.stderr
        assert not set("\x1b\x07\x9b") & set(result.stdout)
        assert "[bold]six[/bold] [/]" in result.stdout

    def test_a_text_of_7_mb_is_refused_at_once(self, model: Path) -> None:
        describer = load(model)
        describer.vectorizer_ = None  # nothing is looked for in the text
        with pytest.raises(ValueError, match=r"7,000,000 characters, and up to 250,000 are"):
            describer.explain("a scrum" * 1_000_000)
        result = call("explain", model, "-", input="a scrum" * 1_000_000)
        refused(result, "explain a part of it")

    @pytest.mark.slow
    def test_the_longest_text_is_explained_within_a_second(self, model: Path) -> None:
        describer = load(model)
        words = [*" ".join([*KNOWN, *NOVEL]).split(), *(f"word{n}" for n in range(3000))]
        text = " ".join(words * 10)[:MAX_EXPLAINED]
        assert len(text) == MAX_EXPLAINED
        began = time.process_time()
        describer.explain(text)
        assert time.process_time() - began < 1

    def test_an_empty_pipe(self, model: Path) -> None:
        done = call("explain", model, "-", input="")
        assert done.exit_code == 1
        assert done.stderr == "newfound: There is no text to explain; standard input is empty.\n"

    def test_no_text_is_a_usage_error(self, model: Path) -> None:
        assert call("explain", model).exit_code == 2

    def test_files_that_are_no_models(self, model: Path, tmp_path: Path) -> None:
        refused(call("explain", tmp_path / "no", "text"), "Cannot read")
        refused(call("explain", tmp_path, "text"), "is not a file")
        (tmp_path / "cut").write_bytes(model.read_bytes()[:-10])
        refused(call("explain", tmp_path / "cut", "text"), "is truncated")
        (tmp_path / "else").write_text("hello")
        refused(call("explain", tmp_path / "else", "text"), "is not a newfound model")
