"""Python files that lie in the working folder, such as a folder of downloads, are never run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import httpx
import pytest

import newfound
from newfound.processes import clean_environment, python_command, safe_path
from serve_client import KNOWN, NOVEL, OCTETS, SMALL, ended, make_models
from waiting import PATIENCE

COMMAND = str(Path(sysconfig.get_path("scripts"), "newfound"))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a file for each module that can be imported; it notes that it was run."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    names = {*sys.stdlib_module_names, *packages_distributions()}
    names |= {"newfound", "sitecustomize", "usercustomize"}  # newfound may be installed editable
    for name in filter(str.isidentifier, names):
        text = f"print({name!r}, file=open({str(tmp_path / 'ran')!r}, 'a'))\n"
        (folder / f"{name}.py").write_text(text)
    assert {"html", "numpy", "newfound", "multiprocessing"} <= names
    return folder


def ran(hostile: Path) -> list[str]:
    """Return the modules of the folder that were run."""
    noted = hostile.parent / "ran"
    return sorted(set(noted.read_text().split())) if noted.exists() else []


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}


def done(service: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Have a service do a job; return the job when it has ended."""
    started = service.post(path, json=body)
    assert started.status_code == 202, started.text
    return ended(service, started.json()["id"])


def work_of(service: httpx.Client) -> None:
    """Have a service start each of its processes."""
    model = make_models()["detector"].read_bytes()
    imported = service.post("/v1/models?name=intents", content=model, headers=OCTETS)
    assert imported.status_code == 201, imported.text
    table = "text\n" + "\n".join(NOVEL)
    sent = service.post("/v1/uploads?name=new.csv", content=table, headers=OCTETS).json()
    assert sent["columns"] == ["text"]
    checked = service.post(f"/v1/uploads/{sent['id']}/check", json={}).json()
    assert checked["documents"] == len(NOVEL)
    piles = {"known": {"texts": KNOWN[::2]}, "novel": {"upload": sent["id"]}}
    described = done(service, "/v1/describe", {**piles, "parameters": SMALL})
    assert described["state"] == "finished", described
    asked = {"model": imported.json()["id"], "incoming": {"upload": sent["id"]}}
    detected = done(service, "/v1/detect", asked)
    assert detected["state"] == "finished", detected


def test_a_service_runs_no_file_of_the_folder_it_is_started_in(hostile: Path) -> None:
    (hostile / "relative").mkdir()
    command = [COMMAND, "serve", "--port", "0", "--json", "--jobs", "1", "--workspace", "work"]
    paths = {**environment(), "PYTHONPATH": "relative"}  # jobs have it, too
    marker = hostile.parent / "on path"
    text = f"open({str(marker)!r} + str(__import__('os').getpid()), 'w')\n"
    (hostile / "relative" / "sitecustomize.py").write_text(text)
    with subprocess.Popen(
        command, cwd=hostile, stdout=subprocess.PIPE, text=True, env=paths
    ) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            headers = {"Authorization": f"Bearer {said['token']}"}
            with httpx.Client(
                base_url=said["address"], headers=headers, trust_env=False, timeout=PATIENCE
            ) as service:
                work_of(service)
        finally:
            process.terminate()
    assert ran(hostile) == []
    assert len(list(hostile.parent.glob("on path*"))) == 6  # the service, three looks, two jobs
    assert (hostile / "work" / "workspace.db").exists()


def test_processes_of_a_stream_run_no_file_of_the_working_folder(hostile: Path) -> None:
    (hostile / "new.txt").write_text("\n".join(NOVEL * 600))
    model = make_models()["detector"]
    command = [COMMAND, "detect", "--model", model, "--incoming", "new.txt", "--stream",
               "--jobs", "2", "--output", "rows.csv"]  # fmt: skip
    done = subprocess.run(
        command, cwd=hostile, capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 0, done.stderr
    assert ran(hostile) == []


def test_a_command_of_python_runs_no_file_of_the_working_folder(hostile: Path) -> None:
    command = python_command("newfound", "--version")
    done = subprocess.run(command, cwd=hostile, capture_output=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    assert ran(hostile) == []


def test_there_is_one_home_of_commands_of_python() -> None:
    """Nothing else starts Python, and each pool of processes looks at no working folder."""
    begins = re.compile(r"sys\.executable|\[\"python")
    pools = re.compile(r"ProcessPoolExecutor\(|= Parallel\(|\.Process\(")
    package = Path(newfound.__file__).parent
    sources = {str(path.relative_to(package)): path.read_text("utf-8")
               for path in package.rglob("*.py")}  # fmt: skip
    assert [name for name, text in sources.items() if begins.search(text)] == ["processes.py"]
    for name, text in sources.items():
        assert not pools.search(text) or "safe_path()" in text, name


def test_the_environment_is_as_before_after_a_process_was_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with safe_path(), safe_path():
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert "PYTHONSAFEPATH" not in os.environ
    monkeypatch.setenv("PYTHONSAFEPATH", "yes")
    with safe_path():
        pass
    assert os.environ["PYTHONSAFEPATH"] == "yes"


def test_relative_folders_of_pythonpath_stay_the_same_in_another_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", "own", "/else"]))
    expected = os.pathsep.join([str(tmp_path / "own"), "/else"])
    assert clean_environment()["PYTHONPATH"] == expected
    monkeypatch.delenv("PYTHONPATH")
    assert "PYTHONPATH" not in clean_environment()
