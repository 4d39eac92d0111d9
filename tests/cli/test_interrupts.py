"""Control-C at any moment and any number of times: exit status 130, one sentence or none."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from newfound.cli import interrupts
from newfound.cli.console import outcome
from newfound.storage import files
from newfound.storage.files import remove_unfinished, replacing
from waiting import PATIENCE, wait_for_work

SENTENCE = "newfound: interrupted; no file was left half-written.\n"


def heed_control_c() -> None:
    """Undo what a shell does to background processes: it starts them with Control-C ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(arguments: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "newfound", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        restore_signals=True,
        preexec_fn=heed_control_c,
    )


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("interrupts")
    draw = random.Random(0)
    for name in ("known", "novel"):
        texts = (" ".join(f"w{draw.randrange(5000)}" for _ in range(60)) for _ in range(1500))
        (folder / f"{name}.txt").write_text("\n".join(texts))
    given = ["describe", "--known", str(folder / "known.txt"), "--novel", str(folder / "novel.txt")]
    given += ["--machines", "20", "--jobs", "3", "--n-clauses", "2000", "--epochs", "100000"]
    return [*given, "--save", str(folder / "model")]


def interrupt(process: "subprocess.Popen[str]", times: int, seconds: float) -> tuple[int, str]:
    with process:
        for _ in range(times):
            if process.poll() is not None:
                break
            process.send_signal(signal.SIGINT)
            time.sleep(seconds)
        try:
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return process.returncode, errors


@pytest.mark.parametrize(
    ("times", "apart"),
    [
        (9, 0.02),
        *(
            pytest.param(*given, marks=pytest.mark.slow)
            for given in ((1, 0.0), (2, 0.0), (2, 0.05), (8, 0.5))
        ),
    ],
)
def test_any_number_during_training(arguments: list[str], times: int, apart: float) -> None:
    process = start(arguments)
    assert process.stderr is not None
    talk = [process.stderr.readline() for _ in range(2)]
    assert "novel: 1,500 documents" in talk[1]
    wait_for_work(process.pid, random.Random(times).uniform(0.5, 1.5))
    status, errors = interrupt(process, times, apart)
    assert status == 130 and errors in (SENTENCE, ""), errors
    assert sorted(os.listdir(Path(arguments[2]).parent)) == ["known.txt", "novel.txt"]


START = """
import signal
import newfound.__main__ as command

def begin(*given, install=signal.signal):
    signal.signal = install
    install(*given)
    print("begun", flush=True)

signal.signal = begin
command.main()
"""


@pytest.mark.parametrize(
    "after",
    [
        0.0,
        0.2,
        0.7,
        *(pytest.param(after, marks=pytest.mark.slow) for after in (0.1, 0.4, 1.1, 1.5)),
    ],
)
def test_any_number_during_the_start(arguments: list[str], after: float) -> None:
    """From when the command has begun; Python's own start has its own messages."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_control_c,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    wait_for_work(process.pid, after)
    status, errors = interrupt(process, 3, 0.01)
    assert status == 130
    said = [line for line in errors.splitlines(True) if "documents" not in line]
    assert said in ([SENTENCE], []), errors


LOST = """
import os, signal, sys, time
from newfound.cli import interrupts

interrupts._PATIENCE, interrupts._LONGEST = 0.2, 1e6
interrupts.watch()
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    pass  # as some libraries do
try:
    for _ in range(400):
        time.sleep(0.01)
except KeyboardInterrupt:
    print("again", flush=True)
    interrupts._LONGEST = float(sys.argv[1])
    time.sleep(float(sys.argv[2]))  # the end takes its time
    interrupts.leave()
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
@pytest.mark.parametrize(("longest", "takes"), [(1e6, 1.0), (0.7, 1e6)])
def test_one_that_a_library_drops_is_raised_again(longest: float, takes: float) -> None:
    arguments = [sys.executable, "-c", LOST, str(longest), str(takes)]
    done = subprocess.run(
        arguments, capture_output=True, text=True, timeout=PATIENCE, check=False,
        preexec_fn=heed_control_c,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "again\n", "")


def test_a_process_that_ends_at_once_removes_its_unfinished_files(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), replacing(tmp_path / "model") as temporary:
        temporary.write_text("half")
        remove_unfinished()
        assert os.listdir(tmp_path) == []


def test_files_of_killed_writers_are_removed_when_nobody_has_written_for_an_hour(
    tmp_path: Path,
) -> None:
    old, new, other = (
        tmp_path / name
        for name in (".newfound-0123456789abcdef.csv", f".newfound-{'1' * 16}", ".newfound-notes")
    )
    for path in (old, new, other):
        path.write_text("half")
    long_ago = time.time() - files._ABANDONED_AFTER - 1
    for path in (old, other):
        os.utime(path, (long_ago, long_ago))
    with replacing(tmp_path / "words.csv") as temporary:
        temporary.write_text("word")
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, other.name, "words.csv"]


@pytest.mark.parametrize(
    "closed",
    [
        ">&-",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("<&-", "2>&-", "<&- >&- 2>&-")),
    ],
)
def test_closed_standard_streams_are_no_reason_for_a_traceback(closed: str, tmp_path: Path) -> None:
    for name, word in (("known", "try"), ("novel", "scrum")):
        (tmp_path / f"{name}.txt").write_text(f"{word} a game\n" * 20)
    errors = tmp_path / "errors" if "2>" not in closed else None
    command = f"{sys.executable} -m newfound describe --known known.txt --novel novel.txt "
    command += f"--machines 1 --n-clauses 20 --output words.csv {closed} " + (
        f"2>{errors}" if errors else ""
    )
    ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False, timeout=PATIENCE)
    assert (tmp_path / "words.csv").read_text().startswith("word")
    assert ended.returncode == (1 if ">&-" in closed.replace("2>&-", "") else 0)
    if errors:
        said = errors.read_text()
        assert "Traceback" not in said and "Exception" not in said
        assert ("Cannot write to standard output" in said) == (">&-" in closed)


@pytest.mark.parametrize("error", [ImportError("half"), ValueError("half"), OSError("half")])
def test_what_control_c_has_caused_is_no_error_of_its_own(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An import that is interrupted may fail with an ImportError instead."""
    with pytest.raises(SystemExit) as ended, outcome():
        raise error
    assert ended.value.code == 1
    assert capsys.readouterr().err == "newfound: half\n"
    monkeypatch.setattr(interrupts, "_first", time.monotonic())
    with pytest.raises(SystemExit) as ended, outcome():
        raise error
    assert ended.value.code == interrupts.INTERRUPTED
    assert capsys.readouterr().err == SENTENCE


def test_a_slow_end_after_control_c_is_not_cut_off() -> None:
    code = (
        "import signal, time\n"
        "from newfound.cli import interrupts\n"
        "interrupts._PATIENCE = 0.1\n"
        "interrupts.watch()\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "except KeyboardInterrupt:\n"
        "    interrupts.ignore()\n"
        "signal.signal(signal.SIGALRM, signal.SIG_DFL)  # as the interpreter does when it ends\n"
        "time.sleep(0.5)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        preexec_fn=heed_control_c,
    )
    assert ended.returncode == 0
