"""The installed command as a process: help, versions, pipes, and Control-C at any moment."""

from __future__ import annotations

import json
import os
import pty
import resource
import signal
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from newfound.cli import app
from pile_files import COMMAND, KNOWN, NOVEL, Piles, call, run
from waiting import PATIENCE, wait_for_work

# The command, which is not ended by force however long it takes to end in order.
PATIENT = "from newfound.cli import interrupts, main; interrupts._LONGEST = 1e6; main()"


def cpu_seconds() -> float:
    """Return the processor time of all processes so far, on however busy a machine."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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
