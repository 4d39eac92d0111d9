"""The state of a monitor in one SQLite file: written in transactions, never half."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from newfound.monitor.records import Alert, Document, Topic, Window
from newfound.storage.files import HeldByAnotherError, begin_database, locked_file, transaction
from newfound.stories.profile import Profile

__all__ = ["StateError", "StateInUseError", "Store", "remove_state", "writing_errors"]

FORMAT = 2
_APPLICATION = 0x6E66_6D6F  # "nfmo", in the header of the file
_LOCK_ENDING = "-lock"

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE models (version INTEGER PRIMARY KEY, content BLOB);
CREATE TABLE windows (number INTEGER PRIMARY KEY, closed INTEGER NOT NULL, data TEXT NOT NULL,
    words TEXT);
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, text TEXT NOT NULL,
    time REAL, window INTEGER NOT NULL, p_value REAL NOT NULL, novel INTEGER NOT NULL,
    topic INTEGER NOT NULL, words TEXT, counted INTEGER NOT NULL);
CREATE INDEX documents_by_topic ON documents (topic, window);
CREATE TABLE topics (number INTEGER PRIMARY KEY, data TEXT NOT NULL);
CREATE TABLE topic_counts (topic INTEGER, window INTEGER, documents INTEGER NOT NULL,
    PRIMARY KEY (topic, window)) WITHOUT ROWID;
CREATE TABLE alerts (number INTEGER PRIMARY KEY, sent INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE log (number INTEGER PRIMARY KEY, time REAL NOT NULL, action TEXT NOT NULL,
    undone INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE seen (digest BLOB PRIMARY KEY, window INTEGER NOT NULL) WITHOUT ROWID;
"""


class StateError(ValueError):
    """Raised for a state that cannot be used; the message says why and what to do."""


class StateInUseError(StateError):
    """Raised for a state that another process writes."""


class Store:
    """An open state file, made if it is not there; without a path the state is in memory.

    Only one process at a time may change it (`writing`).
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, writing: bool = True) -> None:
        self.path = None if path is None else Path(path)
        self._lock: BinaryIO | None = None
        if self.path is not None:
            if not writing and not self.path.exists():
                raise StateError(f"There is no state {self.path}; newfound monitor makes it.")
            if writing:
                self._lock = _lock(self.path)
        try:
            self._db = sqlite3.connect(
                ":memory:" if self.path is None else self.path,
                isolation_level=None,
                timeout=20,
                check_same_thread=False,
            )
            self._open(writing)
        except sqlite3.OperationalError as error:
            self.close()
            raise StateError(f"Cannot open the state {self.path}: {error}.") from error
        except sqlite3.DatabaseError as error:
            self.close()
            raise StateError(f"{self.path} is not the state of a monitor: {error}.") from error
        except BaseException:
            self.close()
            raise

    def _open(self, writing: bool) -> None:
        db = self._db
        application = db.execute("PRAGMA application_id").fetchone()[0]
        empty = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if empty and writing:
            begin_database(db, _SCHEMA, application=_APPLICATION, version=FORMAT)
        elif application != _APPLICATION:
            raise StateError(f"{self.path} is not the state of a monitor; name another file.")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise StateError(f"{self.path} was made by a newer newfound; use that one.")
        if version < FORMAT:
            raise StateError(f"{self.path} was made by an older newfound; begin another state.")
        # A power failure may lose the last transactions of a WAL file, but never tears it.
        db.execute("PRAGMA synchronous = NORMAL")
        if not writing:
            db.execute("PRAGMA query_only = ON")

    def close(self) -> None:
        """Close the file and give up the lock."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def transaction(self) -> AbstractContextManager[None]:
        """Keep all that is written inside, or nothing."""
        return transaction(self._db)

    # Single values

    def get(self, name: str, default: Any = None) -> Any:
        """Return a value by name."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def put(self, name: str, value: Any) -> None:
        """Keep a value by name."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    # Models

    def put_model(self, content: bytes | None) -> int:
        """Keep a model, or a place for it, and return its version."""
        found = self._db.execute("INSERT INTO models (content) VALUES (?)", (content,))
        return int(found.lastrowid or 0)

    def fill_model(self, version: int, content: bytes) -> None:
        """Keep a model in the place of a version that has none."""
        self._db.execute(
            "UPDATE models SET content = ? WHERE version = ? AND content IS NULL",
            (content, version),
        )

    def model(self, version: int) -> bytes:
        """Return a model."""
        row = self._db.execute(
            "SELECT content FROM models WHERE version = ?", (version,)
        ).fetchone()
        if row is None or row[0] is None:
            raise StateError(f"Version {version} of the detector is no longer in {self.path}.")
        return bytes(row[0])

    def drop_models(self, keep: Iterable[int]) -> None:
        """Remove the content of all versions but some."""
        places = ",".join(str(int(version)) for version in keep)
        self._db.execute(f"UPDATE models SET content = NULL WHERE version NOT IN ({places})")

    # Windows

    def put_window(self, window: Window) -> None:
        """Keep a window as it is now."""
        data = {
            name: value
            for name, value in vars(window).items()
            if name not in ("number", "closed", "words", "novel_words")
        }
        words = json.dumps([window.words, window.novel_words])
        self._db.execute(
            "INSERT OR REPLACE INTO windows VALUES (?, ?, ?, ?)",
            (window.number, window.closed, json.dumps(data), words),
        )

    def windows(self, *, after: int = 0, words: bool = False) -> Iterator[Window]:
        """Iterate over windows in order, with their words or without."""
        rows = self._db.execute(
            "SELECT number, closed, data, words FROM windows WHERE number > ? ORDER BY number",
            (after,),
        )
        for number, closed, data, found in rows.fetchall():
            window = Window(number, closed=bool(closed), **json.loads(data))
            if words and found is not None:
                window.words, window.novel_words = map(Counter, json.loads(found))
            yield window

    def words_of(self, first: int, last: int) -> Iterator[tuple[Counter[str], Counter[str]]]:
        """Iterate over the words of windows, of all documents and of novel ones."""
        rows = self._db.execute(
            "SELECT words FROM windows WHERE number BETWEEN ? AND ? ORDER BY number", (first, last)
        )
        for (found,) in rows.fetchall():
            all_words, novel_words = ({}, {}) if found is None else json.loads(found)
            yield Counter(all_words), Counter(novel_words)

    # Documents

    def put_documents(self, documents: Iterable[Document]) -> None:
        """Keep documents."""
        self._db.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(_row, documents),
        )

    def set_topics(self, documents: Iterable[Document]) -> None:
        """Keep the topics of documents that are already there."""
        self._db.executemany(
            "UPDATE documents SET topic = ? WHERE number = ?",
            ((document.topic, document.number) for document in documents),
        )

    def documents(
        self, *, topics: Iterable[int] | None = None, after: int = 0, last: int | None = None
    ) -> list[Document]:
        """Return documents of some topics, or of the windows after one."""
        where, values = "window > ?", [after]
        if topics is not None:
            where += f" AND topic IN ({','.join(str(int(topic)) for topic in topics)})"
        limit = "" if last is None else f" LIMIT {int(last)}"
        rows = self._db.execute(
            f"SELECT * FROM documents WHERE {where} ORDER BY number DESC{limit}", values
        ).fetchall()
        return [
            Document(
                id,
                text,
                time,
                p,
                bool(novel),
                frozenset((words or "").split()),
                number,
                window,
                topic,
                bool(counted),
            )
            for number, id, text, time, window, p, novel, topic, words, counted in reversed(rows)
        ]

    def add_seen(self, digest: bytes, window: int) -> bool:
        """Remember an id; return whether it is new."""
        found = self._db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?)", (digest, window))
        return found.rowcount == 1

    # Topics and alerts

    def put_topic(self, topic: Topic) -> None:
        """Keep a topic as it is now."""
        own = {name: value for name, value in vars(topic).items() if name != "number"}
        data = json.dumps({**own, "profile": vars(topic.profile)})
        self._db.execute("INSERT OR REPLACE INTO topics VALUES (?, ?)", (topic.number, data))

    def topics(self) -> list[Topic]:
        """Return all topics, in order."""
        rows = self._db.execute("SELECT number, data FROM topics ORDER BY number").fetchall()
        found = []
        for number, data in rows:
            own = json.loads(data)
            found.append(Topic(number, **{**own, "profile": Profile(**own["profile"])}))
        return found

    def count_topic(self, topic: int, window: int, documents: int) -> None:
        """Add to the number of documents of a topic in a window."""
        self._db.execute(
            "INSERT INTO topic_counts VALUES (?, ?, ?) ON CONFLICT (topic, window) "
            "DO UPDATE SET documents = documents + excluded.documents",
            (topic, window, documents),
        )

    def topic_counts(self) -> dict[int, dict[int, int]]:
        """Return the number of documents of each topic by window."""
        found: dict[int, dict[int, int]] = {}
        for topic, window, n in self._db.execute("SELECT * FROM topic_counts").fetchall():
            found.setdefault(topic, {})[window] = n
        return found

    def put_alert(self, alert: Alert) -> None:
        """Keep an alert that was not sent yet."""
        data = {name: value for name, value in vars(alert).items() if name != "number"}
        self._db.execute("INSERT INTO alerts VALUES (?, 0, ?)", (alert.number, json.dumps(data)))

    def alerts(self, *, unsent: bool = False) -> list[Alert]:
        """Return the alerts, in order."""
        where = "WHERE NOT sent" if unsent else ""
        rows = self._db.execute(f"SELECT number, data FROM alerts {where} ORDER BY number")
        return [Alert(number, **json.loads(data)) for number, data in rows.fetchall()]

    def mark_sent(self, number: int) -> None:
        """Remember that an alert was sent."""
        self._db.execute("UPDATE alerts SET sent = 1 WHERE number = ?", (number,))

    # What people did

    def add_log(self, time: float, action: str, data: dict[str, Any]) -> None:
        """Keep a step that can be undone."""
        self._db.execute(
            "INSERT INTO log (time, action, undone, data) VALUES (?, ?, 0, ?)",
            (time, action, json.dumps(data)),
        )

    def log(self) -> list[dict[str, Any]]:
        """Return all steps, in order."""
        rows = self._db.execute("SELECT * FROM log ORDER BY number").fetchall()
        return [
            {"number": n, "time": t, "action": a, "undone": bool(u), **json.loads(d)}
            for n, t, a, u, d in rows
        ]

    def mark_undone(self, number: int) -> None:
        """Remember that a step was undone."""
        self._db.execute("UPDATE log SET undone = 1 WHERE number = ?", (number,))

    # What expires

    def expire(self, *, recent: int, words: int, keep: int) -> None:
        """Remove what is no longer needed of windows up to these.

        It is documents outside of topics up to `recent`, words of windows and ids up to `words`,
        and texts and counts of topics up to `keep`.
        """
        db = self._db
        db.execute("DELETE FROM documents WHERE topic = 0 AND window <= ?", (recent,))
        db.execute("DELETE FROM documents WHERE topic != 0 AND window <= ?", (keep,))
        db.execute(
            "UPDATE documents SET words = NULL WHERE window <= ? AND words NOT NULL", (recent,)
        )
        db.execute("UPDATE windows SET words = NULL WHERE number <= ?", (words,))
        db.execute("DELETE FROM windows WHERE number <= ?", (keep,))
        db.execute("DELETE FROM topic_counts WHERE window <= ?", (keep,))
        db.execute("DELETE FROM seen WHERE window <= ?", (words,))
        db.execute("DELETE FROM alerts WHERE sent AND json_extract(data, '$.window') <= ?", (keep,))


def _row(d: Document) -> tuple[Any, ...]:
    words = "\n".join(sorted(d.bag))
    return d.number, d.id, d.text, d.time, d.window, d.p_value, d.novel, d.topic, words, d.counted


@contextmanager
def writing_errors(path: Path | None) -> Iterator[None]:
    """Raise a `StateError` for what SQLite cannot write, such as on a full disk."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StateError(
            f"Cannot write the state {path}: {error}. What was written before is kept; when this "
            "is mended, the same command goes on there."
        ) from error


def remove_state(path: Path) -> None:
    """Remove a state that no process uses: its file, and those that are kept beside it."""
    for ending in ("", "-wal", "-shm", _LOCK_ENDING):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _lock(path: Path) -> BinaryIO:
    """Return the lock of a state, which only one monitor can have.

    It is a separate file: closing any handle of a database drops SQLite's locks on it.
    """
    try:
        return locked_file(path.with_name(path.name + _LOCK_ENDING))
    except HeldByAnotherError as error:
        raise StateInUseError(
            f"Another monitor uses the state {path}; stop it first, or name another file."
        ) from error
    except OSError as error:
        raise StateError(f"Cannot write the state {path}: {error.strerror}.") from error
