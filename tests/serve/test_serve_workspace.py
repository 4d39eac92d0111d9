"""What a service keeps on disk: in a folder of its own, for its owner only, whole after a kill."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from newfound.serve.jobs import Jobs
from newfound.serve.settings import ServiceLimits
from newfound.serve.workspace import Run, Upload, Workspace, WorkspaceError, now
from serve_client import DESCRIBE, LONG, OCTETS, client, ended, wait_for_end
from waiting import PATIENCE, wait_for


def test_the_end_of_a_run_is_noted_when_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("newfound.serve.jobs._PAUSE", 0.01)

    async def end() -> Run | None:
        workspace = Workspace(tmp_path)
        jobs, run = Jobs(workspace, ServiceLimits()), Run("x", "describe", "x", "running")
        workspace.put_run(run)
        index = workspace._db
        pages = index.execute("PRAGMA page_count").fetchone()[0]
        index.execute(f"PRAGMA max_page_count = {pages}")  # as on a full disk
        note, tried = workspace.end, 0

        def end(*given: Any) -> None:
            nonlocal tried
            tried += 1
            note(*given)

        monkeypatch.setattr(workspace, "end", end)
        noting = asyncio.create_task(jobs._end(run, "failed", "x" * 100_000))
        while tried < 3:
            await asyncio.sleep(0.001)
        assert not noting.done()
        index.execute(f"PRAGMA max_page_count = {pages + 100}")
        await noting
        found = workspace.run("x")
        workspace.close()
        return found

    found = asyncio.run(end())
    assert found is not None and found.state == "failed"


def test_old_uploads_are_deleted_at_the_start(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for id, created in (("old", "2024-01-01T00:00:00.000Z"), ("new", now())):
        upload = Upload(id, "a.txt", 1, created)
        workspace.upload_path(upload).parent.mkdir()
        workspace.upload_path(upload).write_text("a")
        workspace.put_upload(upload)
    (tmp_path / "uploads" / workspace.new_id()).mkdir()
    workspace.close()
    workspace = Workspace(tmp_path)
    assert [upload.id for upload in workspace.uploads()] == ["new"]
    assert [path.name for path in (tmp_path / "uploads").iterdir()] == ["new"]
    workspace.close()


def test_old_uploads_are_deleted_when_there_is_a_new_one(tmp_path: Path) -> None:
    with client(tmp_path) as service:
        with contextlib.closing(sqlite3.connect(tmp_path / "workspace.db")) as db:
            db.execute("INSERT INTO uploads VALUES ('old', 'a.txt', 1, '2024-01-01T00:00:00Z')")
            db.commit()
        (tmp_path / "uploads" / "old").mkdir()
        answer = service.post("/v1/uploads?name=b.txt", content=b"one\ntwo\n", headers=OCTETS)
    assert [path.name for path in (tmp_path / "uploads").iterdir()] == [answer.json()["id"]]


@pytest.mark.parametrize("name", ["runs", "uploads", "notes"])
def test_a_folder_of_others_is_no_workspace(tmp_path: Path, name: str) -> None:
    """What is not known is deleted from a workspace at the start, but never from other folders."""
    theirs = tmp_path / name / "experiment-1"
    theirs.mkdir(parents=True)
    with pytest.raises(WorkspaceError, match=f"has {name}, but no workspace.db"):
        Workspace(tmp_path)
    assert theirs.exists()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_only_what_a_service_has_made_is_deleted_from_a_workspace(tmp_path: Path) -> None:
    Workspace(tmp_path).close()
    for name in ("runs", "uploads"):
        (tmp_path / name / "my notes").mkdir()
    Workspace(tmp_path).close()
    assert all((tmp_path / name / "my notes").exists() for name in ("runs", "uploads"))


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others there")
def test_only_its_owner_can_read_a_workspace(tmp_path: Path) -> None:
    Workspace(tmp_path / "made" / "workspace").close()
    assert (tmp_path / "made" / "workspace").stat().st_mode & 0o077 == 0


def test_a_workspace_has_one_service(tmp_path: Path) -> None:
    open_one = Workspace(tmp_path)
    with pytest.raises(WorkspaceError, match="Another service"):
        Workspace(tmp_path)
    open_one.close()
    Workspace(tmp_path).close()
    (tmp_path / "workspace.db").write_bytes(b"no database, but long enough to be read as one" * 99)
    with pytest.raises(WorkspaceError, match="not a workspace"):
        Workspace(tmp_path)


@pytest.mark.slow
def test_kill_at_any_point(tmp_path: Path) -> None:
    """Finished runs stay; the running one is interrupted and can be restarted."""
    command = [sys.executable, "-m", "newfound", "serve", "--port", "0", "--json", "--jobs", "1",
               "--workspace", tmp_path]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            headers = {"Authorization": f"Bearer {said['token']}"}
            with httpx.Client(
                base_url=said["address"], headers=headers, trust_env=False, timeout=PATIENCE
            ) as service:
                done = service.post("/v1/describe", json=DESCRIBE).json()["id"]
                assert ended(service, done)["state"] == "finished"
                before = service.get(f"/v1/jobs/{done}/result").json()
                long = {"sample": True, "parameters": LONG}
                running = service.post("/v1/describe", json=long).json()["id"]
                waiting = service.post("/v1/describe", json=DESCRIBE).json()["id"]
                wait_for(lambda: service.get(f"/v1/jobs/{running}").json()["progress"])
        finally:
            process.kill()
    wait_for_end(running)
    with client(tmp_path, jobs=1) as service:
        assert service.get(f"/v1/jobs/{done}").json()["state"] == "finished"
        assert service.get(f"/v1/jobs/{done}/result").json() == before
        for id in (running, waiting):
            assert service.get(f"/v1/jobs/{id}").json()["state"] == "interrupted"
        job = service.post(f"/v1/jobs/{waiting}/restart", json={}).json()
        assert ended(service, job["id"])["state"] == "finished"


@pytest.mark.parametrize("state", ["queued", "running"])
@pytest.mark.parametrize("complete", [False, True, None])
def test_what_a_killed_service_leaves(tmp_path: Path, state: str, complete: bool | None) -> None:
    """The result is written last: with it a run is finished, whatever the index says."""
    workspace = Workspace(tmp_path)
    run = Run(workspace.new_id(), "describe", "left", state)
    folder = workspace.run_folder(run.id)
    folder.mkdir()
    workspace.put_run(run)
    half_made = tmp_path / "runs" / workspace.new_id()
    half_made.mkdir()
    if complete:
        (folder / "result.json").write_text('{"about": {"summary": "Found."}, "data": {}}')
    elif complete is None:  # damaged
        (folder / "result.json").write_text('{"about"')
    workspace.close()
    workspace = Workspace(tmp_path)
    left = workspace.run(run.id)
    assert left is not None and left.state == ("finished" if complete else "interrupted")
    assert left.summary == ("Found." if complete else None)
    assert not half_made.exists()
    workspace.close()
