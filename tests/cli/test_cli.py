"""The command line answers clearly, whatever it is given, and never leaves half a file."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import sysconfig
import time
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console, RenderableType
from typer.testing import CliRunner

from newfound.cli import app
from newfound.description.learning import PRESETS
from newfound.models import load
from newfound.show.tables import headline, themes_table
from newfound.sides import Names
from newfound.stories.themes import Theme
from newfound.text.validation import MAX_EXPLAINED
from waiting import PATIENCE, wait_for_work

COMMAND = str(Path(sysconfig.get_path("scripts"), "newfound"))
KNOWN = ["the batsman hit six", "a cricket match in England", "six wickets in the match"] * 8
NOVEL = ["the scrum won the ball", "a rugby match in England", "old rugby try in the match"] * 8
# The command, which is not ended by force however long it takes to end in order.
PATIENT = "from newfound.cli import interrupts, main; interrupts._LONGEST = 1e6; main()"
SMALL = [
    "--n-clauses", "20", "--epochs", "10", "--min-df", "1", "--jobs", "1", "--keep-copies",
]  # fmt: skip


class Piles:
    """Two files of documents, and the arguments that name them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.known = folder / "known.txt"
        self.novel = folder / "novel.txt"
        self.write(KNOWN, NOVEL)

    def write(self, known: list[str], novel: list[str]) -> Piles:
        for path, lines in ((self.known, known), (self.novel, novel)):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return self

    @property
    def arguments(self) -> list[str]:
        return ["describe", "--known", str(self.known), "--novel", str(self.novel), *SMALL]

    def new_files(self) -> list[str]:
        return sorted({*os.listdir(self.folder)} - {"known.txt", "novel.txt"})


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the width of a pipe; pytest-xdist sets COLUMNS to 80."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def piles(tmp_path: Path) -> Piles:
    return Piles(tmp_path)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of a saved model."""
    piles = Piles(tmp_path_factory.mktemp("model"))
    path = piles.folder / "model"
    assert call(*piles.arguments, "--save", path).exit_code == 0
    return path


def call(*arguments: object, input: str | bytes | None = None) -> Any:
    """Call the command in this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    command = [COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False, **options
    )


def refused(result: Any, message: str, status: int = 1) -> None:
    """Expect one sentence on standard error after what was read, and no result."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    *talk, last = result.stderr.splitlines()
    assert message in last
    assert last.startswith("newfound: ")
    assert "Traceback" not in result.stderr
    assert all(line.startswith(("newfound: known: ", "newfound: novel: ")) for line in talk)


def _wrapped(part: RenderableType, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as printed:
        console.print(part)
    return [line.rstrip() for line in printed.get().splitlines()]


def cpu_seconds() -> float:
    """Return the processor time of all processes so far, on however busy a machine."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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
        shown = "\n".join(_wrapped(themes_table(themes), 100))
        places = [shown.index(text) for text in ("first", "third", "may be chance:", "second")]
        assert places == sorted(places)
        assert "2.9" in shown and "3.0" not in shown  # chance is said to be below 3

    def test_the_table_is_worth_reading(self, piles: Piles) -> None:
        result = call(*piles.arguments)
        assert result.exit_code == 0, result.stderr
        first = result.stdout.splitlines()[0]
        assert "24 novel documents" in first
        assert "24 known" in first
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


class TestFilesOut:
    def test_csv_is_utf8_and_holds_every_word(self, piles: Piles) -> None:
        piles.write([*KNOWN, "crème brûlée", "=cmd|' /C calc'!A0 -2+3 @sum"], NOVEL)
        path = piles.folder / "words.csv"
        assert call(*piles.arguments, "--output", path).exit_code == 0
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
        words = {row["word"] for row in rows}
        assert {"rugby", "wickets", "brûlée", "cmd"} <= words
        text = [cell for row in rows for key in ("word", "forms") for cell in [row[key]]]
        assert not [cell for cell in text if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
        assert piles.new_files() == ["words.csv"]

    def test_json_holds_every_word(self, piles: Piles) -> None:
        path = piles.folder / "words.json"
        assert call(*piles.arguments, "--output", path).exit_code == 0
        assert "rugby" in {row["word"] for row in json.loads(path.read_text(encoding="utf-8"))}

    def test_parquet_holds_every_word_or_names_the_extra(self, piles: Piles) -> None:
        path = piles.folder / "words.parquet"
        result = call(*piles.arguments, "--output", path)
        try:
            from pyarrow import parquet
        except ImportError:
            refused(result, "pip install 'newfound[parquet]'")
        else:
            assert "rugby" in parquet.read_table(path)["word"].to_pylist()

    def test_a_file_called_rules_gets_the_rules(self, piles: Piles) -> None:
        paths = [piles.folder / f"new-{name}.csv" for name in ("rules", "themes", "phrases")]
        words = piles.folder / "table.json"
        options = [part for path in (*paths, words) for part in ("--output", path)]
        result = call(*piles.arguments, *options)
        assert result.exit_code == 0, result.output
        headers = [path.read_text("utf-8").splitlines()[0].split(",") for path in paths]
        assert [header[0] for header in headers] == ["rule", "name", "phrase"]
        assert {"plain", "negated", "precision", "held_out_precision"} <= set(headers[0])
        assert "word" in json.loads(words.read_text("utf-8"))[0]
        for what in ("rules", "themes", "phrases", "words"):
            assert f"wrote the {what} to" in result.stderr
        twice = call(*piles.arguments, "-o", words, "-o", words, "--force")
        assert twice.exit_code == 2 and "same file twice" in twice.stderr

    def test_an_unknown_suffix_is_asked_wrongly(self, piles: Piles) -> None:
        result = call(*piles.arguments, "--output", piles.folder / "words.xls")
        assert result.exit_code == 2
        assert ".csv, .json, .jsonl or .parquet" in " ".join(result.stderr.split())

    @pytest.mark.parametrize("option", ["--output", "--save"])
    def test_an_existing_file_asks_for_force_before_the_work(
        self, piles: Piles, option: str
    ) -> None:
        path = piles.folder / "there.csv"
        path.write_text("precious")
        result = call(*piles.arguments, option, path)
        refused(result, "there.csv exists; pass --force")
        assert "known:" not in result.stderr
        assert path.read_text() == "precious"
        assert call(*piles.arguments, option, path, "--force").exit_code == 0
        assert path.read_bytes() != b"precious"

    @pytest.mark.parametrize("option", ["--output", "--save"])
    def test_a_place_that_cannot_be_written_is_told_before_the_work(
        self, piles: Piles, option: str
    ) -> None:
        refused(
            call(*piles.arguments, option, piles.folder / "no" / "x.csv"),
            "No such file or directory.",
        )
        refused(call(*piles.arguments, option, "/proc/x.csv"), "Cannot write /proc/x.csv")

    def test_output_and_save_must_differ(self, piles: Piles) -> None:
        path = piles.folder / "x.csv"
        assert call(*piles.arguments, "--output", path, "--save", path).exit_code == 2

    @pytest.mark.parametrize("option", ["--output", pytest.param("--save", marks=pytest.mark.slow)])
    def test_a_full_disk_is_one_sentence_and_leaves_nothing(
        self, piles: Piles, option: str
    ) -> None:
        """Let the system refuse to write, by a limit on the size of files."""

        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

        path = piles.folder / "x.csv"
        path.write_text("precious")
        done = run(*piles.arguments, "--quiet", "--force", option, path, preexec_fn=limit)
        assert done.returncode == 1
        assert done.stderr == f"newfound: Cannot write {path}: File too large.\n"
        assert piles.new_files() == ["x.csv"]
        assert path.read_text() == "precious"


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

    def test_no_text_is_asked_wrongly(self, model: Path) -> None:
        assert call("explain", model).exit_code == 2

    def test_files_that_are_no_models(self, model: Path, tmp_path: Path) -> None:
        refused(call("explain", tmp_path / "no", "text"), "Cannot read")
        refused(call("explain", tmp_path, "text"), "is not a file")
        (tmp_path / "cut").write_bytes(model.read_bytes()[:-10])
        refused(call("explain", tmp_path / "cut", "text"), "is truncated")
        (tmp_path / "else").write_text("hello")
        refused(call("explain", tmp_path / "else", "text"), "is not a newfound model")


class TestBadInput:
    def test_a_side_that_is_not_named(self, piles: Piles) -> None:
        result = call("describe", "--known", piles.known)
        assert result.exit_code == 2
        assert "--novel" in result.stderr

    def test_a_side_that_is_missing(self, piles: Piles) -> None:
        result = call("describe", "--known", piles.known, "--novel", piles.folder / "no.txt")
        refused(result, "There is no file or folder")

    @pytest.mark.parametrize("content", ["", "\n\n", "  \n"])
    def test_a_side_that_is_empty(self, piles: Piles, content: str) -> None:
        piles.novel.write_text(content)
        refused(call(*piles.arguments), "There are no documents in")

    def test_nothing_left_after_cleaning(self, piles: Piles) -> None:
        refused(
            call(*piles.write(["the of and"] * 5, ["... !!!"] * 5).arguments),
            "Nothing is left after cleaning: the 10 documents hold no words other than stop "
            "words and too short words; pass other texts, or stop_words=None.",
        )

    def test_nothing_left_on_one_side(self, piles: Piles) -> None:
        result = call(*piles.write(KNOWN, ["the of and"] * 5).arguments)
        refused(
            result,
            "Nothing is left of the 5 novel documents after cleaning; pass longer texts, a smaller "
            "min_df or fewer stop words.",
        )

    def test_the_same_path_twice_is_asked_wrongly(self, piles: Piles) -> None:
        result = call("describe", "--known", piles.known, "--novel", piles.known)
        assert result.exit_code == 2
        assert "are the same" in " ".join(result.stderr.split())
        assert call("describe", "--known", "-", "--novel", "-").exit_code == 2

    @pytest.mark.parametrize("option", ["--output", "--report", "--save"])
    def test_no_output_replaces_an_input(self, piles: Piles, option: str) -> None:
        piles.write(KNOWN, NOVEL)
        before = piles.novel.read_bytes()
        for name in (piles.novel, piles.novel.parent / "link.csv"):
            if not name.exists():
                name.symlink_to(piles.novel)
            result = call(*piles.arguments, option, name, "--force")
            assert result.exit_code == 2
            said = " ".join(result.stderr.replace("│", " ").split())
            assert f"--novel and {option} are the same" in said
        assert piles.novel.read_bytes() == before

    def test_the_same_documents_on_both_sides(self, piles: Piles) -> None:
        refused(
            call(*piles.write(KNOWN, KNOWN).arguments),
            "known and novel hold the same documents, so nothing is new; pass different ones.",
        )

    def test_all_documents_identical(self, piles: Piles) -> None:
        refused(
            call(*piles.write(["rugby match"] * 5, ["rugby match"] * 9).arguments),
            "All 14 documents have the same words after cleaning; pass documents that differ.",
        )

    def test_one_document_a_side(self, piles: Piles) -> None:
        result = call(*piles.write(["a cricket match"], ["a rugby match"]).arguments)
        refused(result, "known has 1 document with text; pass at least 2 for each side.")
        result = call(*piles.write(KNOWN, ["a rugby match"]).arguments)
        refused(result, "novel has 1 document with text; pass at least 2 for each side.")

    def test_a_folder_without_text_files(self, piles: Piles) -> None:
        folder = piles.folder / "folder"
        folder.mkdir()
        (folder / "photo.bin").write_bytes(b"\x89PNG\0\0\0")
        result = call("describe", "--known", piles.known, "--novel", folder)
        refused(result, "There are no documents in")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_an_unreadable_file(self, piles: Piles) -> None:
        piles.novel.chmod(0)
        refused(call(*piles.arguments), "Permission denied")

    def test_a_file_that_fails_while_it_is_read(self, piles: Piles) -> None:
        """Read the memory of this process from its start: an error of the system, even for root."""
        arguments = ["--known", piles.known, "--novel", "/proc/self/mem", "--format", "txt"]
        result = call("describe", *arguments)
        refused(result, "Cannot read /proc/self/mem")

    def test_a_wrong_column(self, piles: Piles) -> None:
        table = piles.folder / "novel.csv"
        table.write_text("id,text\n1,rugby\n")
        arguments = ["--known", table, "--novel", piles.novel, "--text-column", "body"]
        refused(call("describe", *arguments), "no column 'body'; it has: id, text")

    def test_a_line_of_10_mb(self, piles: Piles) -> None:
        words = " ".join(f"word{i % 5000}" for i in range(60_000))
        piles.write([*KNOWN, *[words * (10_000_000 // len(words) + 1)]], NOVEL)
        done = call(*piles.arguments, "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["known"]["documents"] == len(KNOWN) + 1

    def test_a_line_of_10_mb_without_a_space(self, piles: Piles) -> None:
        piles.write([*KNOWN, "x" * 10_000_000], NOVEL)
        done = call(*piles.arguments)
        assert done.exit_code == 0, done.stderr
        assert len(done.stdout) < 100_000

    def test_nul_bytes(self, piles: Piles) -> None:
        piles.novel.write_bytes("\n".join(NOVEL).encode() + b"\nrugby\0\0 try\n")
        result = call(*piles.arguments)
        assert result.exit_code == 0
        assert "left out: 1 non-text" in result.stderr
        piles.novel.write_bytes(b"\0" * 1000)
        refused(call(*piles.arguments), "There are no documents in")

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--n-clauses", "0"],
            ["--n-clauses", "3"],
            ["--n-clauses", "ten"],
            ["--machines", "0"],
            ["--machines", "1001"],
            ["--machines", "2.5"],
            ["--T", "0"],
            ["--s", "0.5"],
            ["--s", "nan"],
            ["--epochs", "0"],
            ["--max-literals", "-1"],
            ["--min-df", "0"],
            ["--seed", "-1"],
            ["--jobs", "0"],
            ["--jobs", "-2"],
            ["--top", "0"],
            ["--preset", "best"],
            ["--language", "xx"],
            ["--format", "xls"],
            ["--unknown"],
        ],
        ids=" ".join,
    )
    def test_parameters_out_of_range_are_asked_wrongly(
        self, piles: Piles, arguments: list[str]
    ) -> None:
        result = call(*piles.arguments, *arguments)
        assert result.exit_code == 2, result.output
        assert arguments[0] in result.stderr
        assert result.stdout == ""

    def test_more_automata_than_memory(self, piles: Piles) -> None:
        result = call(*piles.arguments, "--n-clauses", str(2**30 - 2))
        refused(result, "The machine needs")

    def test_a_min_df_that_leaves_no_word(self, piles: Piles) -> None:
        refused(
            call(*piles.arguments, "--min-df", "1000"),
            "documents none has min_df=1000, max_df=1.0, ngram_range=(1, 1); loosen these.",
        )


class TestProcess:
    def test_help_loads_no_library_that_takes_long(self) -> None:
        code = (
            "import sys; from newfound.cli import app; app(standalone_mode=False); "
            "print(*sys.modules, file=sys.stderr)"
        )
        command = [sys.executable, "-c", code, "describe", "--help"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        assert "--known" in done.stdout
        loaded = set(done.stderr.split())
        assert "newfound.cli.describe" in loaded
        assert not {"numpy", "pandas", "sklearn", "scipy", "simplemma"} & loaded

    @pytest.mark.parametrize("command", ["describe", "detect", "monitor"])
    def test_help_is_wrapped_at_the_width_of_the_terminal(self, command: str) -> None:
        shown = run(*command.split(), "--help", env={**os.environ, "COLUMNS": "80"}).stdout
        lines = [line.strip() for line in shown.split("╭")[0].split("\n")]
        assert max(map(len, lines)) > 70
        for line, following in pairwise(lines):
            # The first word of the next line had no room; old versions of typer leave no blank line
            # after a paragraph.
            if line and following and not line.endswith("."):
                assert len(line) + 1 + len(following.split()[0]) > 76, line

    def test_version(self) -> None:
        expected = f"newfound {version('newfound')}\n"
        assert run("--version").stdout == expected
        module = [sys.executable, "-m", "newfound", "--version"]
        assert subprocess.check_output(module, text=True) == expected

    @pytest.mark.slow
    def test_demo_needs_nothing_and_takes_seconds(self) -> None:
        before = cpu_seconds()
        done = run("demo")
        assert cpu_seconds() - before < 30
        assert done.returncode == 0, done.stderr
        assert "1,500 novel documents" in done.stdout.splitlines()[0]
        assert "flight" in done.stdout
        readme = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")
        quoted = readme.partition("```text\n")[2].partition("...")[0]
        assert quoted and " ".join(done.stdout.split()).startswith(" ".join(quoted.split()))
        assert "CC BY" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr

    @pytest.mark.parametrize("extra", [[], pytest.param(["--json"], marks=pytest.mark.slow)])
    def test_a_reader_that_stops_early_is_no_failure(self, piles: Piles, extra: list[str]) -> None:
        many = [f"word{i} other{i}" for i in range(900)]
        piles.write(many, NOVEL)
        with subprocess.Popen(
            [COMMAND, *piles.arguments, "--top", "900", *extra],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            talk = process.stderr.read()
            assert process.wait(PATIENCE) == 0, talk
        assert "Traceback" not in talk
        assert "Exception" not in talk

    def test_a_closed_standard_output_is_one_sentence_at_most(self, piles: Piles) -> None:
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [COMMAND, *piles.arguments, "--quiet"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        reason = "Cannot write to standard output: No space left on device."
        assert done.stderr == f"newfound: {reason}\n"

    def test_a_bar_on_a_terminal_and_none_in_a_pipe(self, piles: Piles) -> None:
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color"}
        with subprocess.Popen(
            [COMMAND, *piles.arguments], stdout=subprocess.PIPE, stderr=theirs, env=environment
        ) as process:
            os.close(theirs)
            seen = b""
            while True:
                try:
                    chunk = os.read(ours, 4096)
                except OSError:
                    break
                if not chunk:
                    break
                seen += chunk
            assert process.stdout is not None
            result = process.stdout.read()
        os.close(ours)
        assert b"Learning rules" in seen
        assert b"Learning rules" not in result
        assert "Learning rules" not in call(*piles.arguments).stderr

    def test_an_encoding_that_lacks_the_letters(self, piles: Piles) -> None:
        piles.write([*KNOWN, "crème brûlée"], NOVEL)
        arguments = [*piles.arguments, "--top", "100"]
        ascii = CliRunner(charset="ascii")
        done = ascii.invoke(app, arguments)
        assert done.exit_code == 0, done.stderr
        assert "cr?me" in done.stdout
        done = ascii.invoke(app, [*arguments, "--json"])
        assert "crème" in {row["word"] for row in json.loads(done.stdout)["known_words"]}

    @pytest.mark.parametrize(
        ("machines", "seconds"),
        [
            ("3", 1.5),
            pytest.param("1", 0.3, marks=pytest.mark.slow),
            pytest.param("1", 1.5, marks=pytest.mark.slow),
            pytest.param("1", 3, marks=pytest.mark.slow),
            pytest.param("3", 3, marks=pytest.mark.slow),
        ],
    )
    def test_an_interrupt_in_the_middle_of_endless_work_ends_it(
        self, piles: Piles, machines: str, seconds: float
    ) -> None:
        rng = np.random.default_rng(0)
        texts = [
            " ".join(f"w{number}" for number in rng.integers(0, 5000, 60)) for _ in range(4000)
        ]
        piles.write(texts[:2000], texts[2000:])
        arguments = [*piles.arguments[:5], "--preset", "paper", "--machines", machines]
        arguments += ["--jobs", "2", "--epochs", "1000000"]
        files = ["--save", piles.folder / "model", "--output", piles.folder / "words.csv"]
        with subprocess.Popen(
            [sys.executable, "-c", PATIENT, *map(str, [*arguments, *files])],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # In the background, a shell ignores Control-C for its commands.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            talk = [process.stderr.readline(), process.stderr.readline()]
            assert "novel: 2,000 documents" in talk[1]
            wait_for_work(process.pid, seconds)
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
            assert process.stdout.read() == ""
            assert (
                process.stderr.read() == "newfound: interrupted; no file was left half-written.\n"
            )
        assert piles.new_files() == []
