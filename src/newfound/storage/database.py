"""SQLite files: transactions, and the beginning of a new file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["begin_database", "transaction"]


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Keep all that is written inside, or nothing.

    Parameters
    ----------
    database : sqlite3.Connection
        With ``isolation_level=None``.

    Examples
    --------
    >>> database = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(database):
    ...     _ = database.execute("CREATE TABLE words (word TEXT)")
    >>> database.execute("SELECT count(*) FROM words").fetchone()
    (0,)
    >>> database.close()
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # not after an error for which SQLite itself has rolled back
            database.execute("ROLLBACK")
        raise


def begin_database(
    database: sqlite3.Connection, schema: str, *, application: int, version: int
) -> None:
    """Write the tables of a new file and what tells it from those of other programs.

    Parameters
    ----------
    database : sqlite3.Connection
        Empty, with ``isolation_level=None``.
    schema : str
        SQL statements, each ended by a semicolon.
    application, version : int
        The number of the program, and that of the format, in the header of the file.
    """
    database.execute("PRAGMA journal_mode = WAL")
    with transaction(database):
        for statement in filter(str.strip, schema.split(";")):
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {application}")
        database.execute(f"PRAGMA user_version = {version}")
