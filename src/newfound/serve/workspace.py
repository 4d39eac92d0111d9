"""The folder that keeps runs, models, uploads and monitors, with a SQLite file as its index.

Each run has a folder. Its result is written last and completely, so that after a kill at
any moment a run is either finished or was interrupted.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import sqlite3
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from newfound.storage.files import HeldByAnotherError, begin_database, locked_file

__all__ = [
    "ENDED",
    "RESULT",
    "Entry",
    "Run",
    "Upload",
    "Workspace",
    "WorkspaceError",
    "kind_of",
    "now",
]

RESULT = "result.json"
ENDED = ("finished", "failed", "cancelled", "interrupted")
_INDEX = "workspace.db"
_FOLDERS = ("runs", "models", "uploads", "monitors")
_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{6}")  # see `Workspace.new_id`
_FORMAT = 1
_UPLOADS_KEPT = timedelta(days=1)
_APPLICATION = 0x6E66_7365  # "nfse", in the header of the file
_SCHEMA = """
CREATE TABLE runs (id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
    created TEXT NOT NULL, started TEXT, ended TEXT, progress TEXT, error TEXT, warnings TEXT,
    summary TEXT, memory INTEGER, attempts INTEGER NOT NULL);
CREATE TABLE models (id TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL,
    created TEXT NOT NULL);
CREATE TABLE uploads (id TEXT PRIMARY KEY, name TEXT NOT NULL, bytes INTEGER NOT NULL,
    created TEXT NOT NULL);
CREATE TABLE monitors (id TEXT PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL,
    created TEXT NOT NULL);
"""


class WorkspaceError(ValueError):
    """Raised for a workspace that cannot be used; the message says why and what to do."""


def now() -> str:
    """Return the time now, as the workspace notes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Run:
    """A job and what became of it.

    Attributes
    ----------
    id, kind, name : str
        Its id, "describe" or "detect", and what people call it.
    state : str
        "queued", "running", "finished", "failed", "cancelled" or "interrupted".
    created, started, ended : str or None
        When.
    progress : dict or None
        The stage, and how much of it is done.
    error : str or None
        Why it failed, in a sentence.
    warnings : list of str
        What was said on the way.
    summary : str or None
        What was found, in a sentence.
    memory : int or None
        The most memory that it has used, in bytes.
    attempts : int
        How many times it was started.
    """

    id: str
    kind: str
    name: str
    state: str = "queued"
    created: str = field(default_factory=now)
    started: str | None = None
    ended: str | None = None
    progress: dict[str, Any] | None = None
    error: str | None = None
    warnings: list[str] = field(default_factory=list)
    summary: str | None = None
    memory: int | None = None
    attempts: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True)
class Upload:
    """A file that was uploaded."""

    id: str
    name: str
    bytes: int
    created: str


@dataclass(frozen=True)
class Entry:
    """A model file.

    Attributes
    ----------
    id : str
        The id to use in requests.
    name : str
        What people call it.
    kind : str
        "describer" or "detector".
    path : Path
        Its file.
    source : str
        "file" if it was named when the service was started, "import" if it was uploaded, "run" if
        a run made it.
    created : str or None
        When it was created here.
    """

    id: str
    name: str
    kind: str
    path: Path
    source: str
    created: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "source": self.source,
            "created": self.created,
        }


class Workspace:
    """An open workspace, made if it is not there; only one service at a time may have it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder = folder.absolute()  # jobs have another working folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_own(folder)
            for name in _FOLDERS:
                (folder / name).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise WorkspaceError(f"Cannot make the workspace {folder}: {error}.") from error
        self._lock = _lock(folder / "lock")
        try:
            self._db = sqlite3.connect(
                folder / _INDEX, isolation_level=None, check_same_thread=False, timeout=20
            )
            self._db.row_factory = sqlite3.Row
            self._open()
            self._recover()
        except sqlite3.DatabaseError as error:
            self.close()
            raise WorkspaceError(
                f"{folder / _INDEX} is not a workspace: {error}; name another folder."
            ) from error
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        db = self._db
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            begin_database(db, _SCHEMA, application=_APPLICATION, version=_FORMAT)
        if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
            raise WorkspaceError(f"{self.folder} has a workspace.db of another program.")
        if db.execute("PRAGMA user_version").fetchone()[0] > _FORMAT:
            raise WorkspaceError(f"{self.folder} was made by a newer newfound; use that one.")
        db.execute("PRAGMA synchronous = NORMAL")

    def _recover(self) -> None:
        """Note what became of runs that a killed service has left."""
        for run in self.runs():
            if run.state not in ENDED:
                self.end(run, "finished" if self.result(run.id) else "interrupted")
        known = {run.id for run in self.runs()}
        for left in (self.folder / "runs").iterdir():
            if _ID.fullmatch(left.name) and left.name not in known:
                shutil.rmtree(left, ignore_errors=True)  # it was about to be made or deleted
        self.delete_old_uploads()
        uploads = {upload.id for upload in self.uploads()}
        for left in (self.folder / "uploads").iterdir():
            if _ID.fullmatch(left.name) and left.name not in uploads:
                shutil.rmtree(left, ignore_errors=True)

    def check(self) -> None:
        """Raise an error unless the index can be read."""
        self._db.execute("SELECT count(*) FROM runs").fetchone()

    def close(self) -> None:
        """Close the index and give up the lock."""
        if hasattr(self, "_db"):
            self._db.close()
        self._lock.close()

    # Runs

    def runs(self) -> list[Run]:
        """Return all runs, the last one first."""
        rows = self._db.execute("SELECT * FROM runs ORDER BY created DESC, rowid DESC").fetchall()
        return [_run(row) for row in rows]

    def run(self, id: str) -> Run | None:
        """Return a run, or None."""
        row = self._db.execute("SELECT * FROM runs WHERE id = ?", (id,)).fetchone()
        return None if row is None else _run(row)

    def put_run(self, run: Run) -> None:
        """Keep a run as it is now."""
        data = run.to_dict()
        for name in ("progress", "warnings"):
            data[name] = json.dumps(data[name])
        names = ", ".join(data)
        places = ", ".join("?" for _ in data)
        self._db.execute(
            f"INSERT OR REPLACE INTO runs ({names}) VALUES ({places})", list(data.values())
        )

    def end(self, run: Run, state: str, error: str | None = None) -> None:
        """Note how a run has ended."""
        run.state, run.error, run.ended, run.progress = state, error, now(), None
        result = self.result(run.id) if state == "finished" else None
        if result is not None:
            run.summary = result["about"]["summary"]
        self.put_run(run)

    def new_id(self) -> str:
        """Return an id that sorts by time."""
        return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"

    def run_folder(self, id: str) -> Path:
        """Return the folder of a run."""
        return self.folder / "runs" / id

    def result(self, id: str) -> dict[str, Any] | None:
        """Return what a run has found, with ``about`` and ``data``, or None."""
        try:
            found: dict[str, Any] = json.loads((self.run_folder(id) / RESULT).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return found

    def delete_run(self, id: str) -> None:
        """Delete a run and all its files."""
        self._db.execute("DELETE FROM runs WHERE id = ?", (id,))
        shutil.rmtree(self.run_folder(id), ignore_errors=True)

    # Models

    def models(self) -> dict[str, Entry]:
        """Return the models of finished runs and those that were imported, by id."""
        found = {}
        for run in self.runs():
            path = self.run_folder(run.id) / "model.newfound"
            if run.state == "finished" and path.exists():
                kind = "describer" if run.kind == "describe" else "detector"
                found[run.id] = Entry(run.id, run.name, kind, path, "run", run.created)
        rows = self._db.execute("SELECT * FROM models ORDER BY created DESC").fetchall()
        for id, name, kind, created in rows:
            found[id] = Entry(id, name, kind, self.model_path(id), "import", created)
        return found

    def model_path(self, id: str) -> Path:
        """Return the file of an imported model."""
        return self.folder / "models" / f"{id}.newfound"

    def put_model(self, id: str, name: str, kind: str) -> None:
        """Note a model whose file is there."""
        self._db.execute("INSERT INTO models VALUES (?, ?, ?, ?)", (id, name, kind, now()))

    def delete_model(self, id: str) -> None:
        """Delete an imported model."""
        self._db.execute("DELETE FROM models WHERE id = ?", (id,))
        self.model_path(id).unlink(missing_ok=True)

    # Uploads

    def uploads(self) -> list[Upload]:
        """Return all uploads."""
        return [Upload(*row) for row in self._db.execute("SELECT * FROM uploads").fetchall()]

    def upload(self, id: str) -> Upload | None:
        """Return an upload, or None."""
        row = self._db.execute("SELECT * FROM uploads WHERE id = ?", (id,)).fetchone()
        return None if row is None else Upload(*row)

    def upload_path(self, upload: Upload) -> Path:
        """Return the file of an upload; only its ending comes from the name that was given."""
        return self.folder / "uploads" / upload.id / f"documents{_ending(upload.name)}"

    def put_upload(self, upload: Upload) -> None:
        """Note an upload whose file is there."""
        self._db.execute(
            "INSERT INTO uploads VALUES (?, ?, ?, ?)",
            (upload.id, upload.name, upload.bytes, upload.created),
        )

    def delete_old_uploads(self) -> None:
        """Delete the uploads of the day before; runs have their own copies."""
        old = datetime.now(UTC) - _UPLOADS_KEPT
        for upload in self.uploads():
            if datetime.fromisoformat(upload.created) < old:
                self.delete_upload(upload.id)

    def delete_upload(self, id: str) -> None:
        """Delete an upload."""
        self._db.execute("DELETE FROM uploads WHERE id = ?", (id,))
        shutil.rmtree(self.folder / "uploads" / id, ignore_errors=True)

    # Monitors

    def monitors(self) -> list[dict[str, str]]:
        """Return all monitors: id, name, model and created."""
        rows = self._db.execute("SELECT * FROM monitors ORDER BY created DESC").fetchall()
        return [dict(row) for row in rows]

    def monitor_path(self, id: str) -> Path:
        """Return the state of a monitor."""
        return self.folder / "monitors" / f"{id}.state"

    def put_monitor(self, id: str, name: str, model: str) -> None:
        """Note a monitor whose state is there."""
        self._db.execute("INSERT INTO monitors VALUES (?, ?, ?, ?)", (id, name, model, now()))

    def delete_monitor(self, id: str) -> None:
        """Delete a monitor and its state."""
        self._db.execute("DELETE FROM monitors WHERE id = ?", (id,))
        for path in (self.folder / "monitors").glob(f"{id}.state*"):
            path.unlink(missing_ok=True)


def kind_of(path: Path) -> str:
    """Return what a model file has, "describer" or "detector"; an error if it cannot be read."""
    from newfound.description.describer import NoveltyDescriber
    from newfound.models import load

    return "describer" if isinstance(load(path), NoveltyDescriber) else "detector"


def _run(row: sqlite3.Row) -> Run:
    data = dict(row)
    for name in ("progress", "warnings"):
        data[name] = json.loads(data[name])
    return Run(**data)


def _ending(name: str) -> str:
    """Return the format of a file name and .gz, if it has one that can be read.

    Examples
    --------
    >>> _ending("../News 2024.CSV.gz"), _ending("x.ndjson"), _ending("notes.exe"), _ending("x.gz")
    ('.csv.gz', '.jsonl', '', '.gz')
    """
    from newfound.text.formats import format_of_name

    format = format_of_name(name)
    return (f".{format}" if format else "") + (".gz" if name.lower().endswith(".gz") else "")


def _check_own(folder: Path) -> None:
    """Raise a `WorkspaceError` for a folder that has files of others; runs are deleted in ours."""
    if (folder / _INDEX).exists():
        return
    for path in folder.iterdir():
        own = path.name == "lock" or (path.name in _FOLDERS and not any(path.iterdir()))
        if not own:
            raise WorkspaceError(
                f"{folder} has {path.name}, but no {_INDEX}: it is not a workspace. Name an empty "
                "or a new folder."
            )


def _lock(path: Path) -> BinaryIO:
    try:
        return locked_file(path)
    except HeldByAnotherError as error:
        raise WorkspaceError(
            f"Another service uses the workspace {path.parent}; stop it first, or name another one."
        ) from error
