"""A file is written completely or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from newfound.storage.files import check_writable, replacing
from waiting import PATIENCE


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "there")
    with replacing(tmp_path / "link", force=True) as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").read_text() == "new"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "model") as temporary:
        temporary.write_text("")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o400, 0o666])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, permissions: int) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(permissions)
    with replacing(path, force=True) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) & 0o077 == 0
        temporary.write_text("new")
    assert stat.S_IMODE(path.stat().st_mode) == permissions
    assert path.read_text() == "new"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_nothing_is_left_of_a_failure(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "model.csv"
    path.write_text("precious")
    with pytest.raises(error), replacing(path, force=True) as temporary:
        assert temporary.suffix == ".csv"
        temporary.write_text("half")
        raise error
    assert os.listdir(tmp_path) == ["model.csv"]
    assert path.read_text() == "precious"


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "model"
    with pytest.raises(FileExistsError, match="pass --force"), replacing(path) as temporary:
        temporary.write_text("new")
        path.write_text("precious")
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no/model", "Cannot write .*: No such file"),
        ("", "it is a folder"),
        ("pipe", "it exists and is not a file"),
        ("there", "exists; pass --force"),
    ],
)
def test_a_place_that_cannot_be_written_is_found_before_the_work(
    tmp_path: Path, name: str, message: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "there").write_text("")
    with pytest.raises(OSError, match=message):
        check_writable(tmp_path / name)
    with pytest.raises(OSError, match=message), replacing(tmp_path / name):
        raise AssertionError("the work was begun")
    assert sorted(os.listdir(tmp_path)) == ["pipe", "there"]


def test_a_check_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_an_interrupt_while_writing_leaves_nothing(tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from newfound.storage.files import replacing\n"
        "with replacing(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    print('now', flush=True)\n"
        "    time.sleep(1e6)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "model")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # In the background, a shell ignores Control-C for its commands.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # type: ignore[arg-type,return-value]
    )
    assert process.stdout is not None
    with process, process.stdout:
        process.stdout.readline()
        assert len(os.listdir(tmp_path)) == 1
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    assert os.listdir(tmp_path) == []


def test_a_clock_that_jumps_ahead_removes_no_file_that_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.time()
    with replacing(tmp_path / "model") as temporary:
        temporary.write_text("slow")
        monkeypatch.setattr(time, "time", lambda: now + 86_400)
        with replacing(tmp_path / "words.csv") as other:
            other.write_text("quick")
        assert temporary.exists()
    assert (tmp_path / "model").read_text() == "slow"
    assert sorted(os.listdir(tmp_path)) == ["model", "words.csv"]
