"""What cannot be read or makes no sense is refused in one sentence, and leaves no half file."""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import signal

import pytest

from pile_files import KNOWN, NOVEL, Piles, call, refused, run


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

    def test_an_unknown_suffix_is_a_usage_error(self, piles: Piles) -> None:
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

    def test_the_same_path_twice_is_a_usage_error(self, piles: Piles) -> None:
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
    def test_parameters_out_of_range_are_usage_errors(
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
