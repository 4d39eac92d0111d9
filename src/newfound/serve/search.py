"""Search in all documents of a run.

SQLite finds words between spaces. A text in a script without spaces (Chinese, Japanese, Thai, ...)
is indexed a second time with each character as a word; a word of a query is a phrase of them.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from newfound.storage.files import replacing
from newfound.text.tokens import UNSPACED

__all__ = ["DOCUMENTS", "search_documents", "write_documents"]

DOCUMENTS = "documents.db"
_WORD = re.compile(r"\w+")
_SHOWN = 2000  # characters of a document


def write_documents(path: Path, rows: Iterable[tuple[str, str, str, float | None]]) -> None:
    """Write id, text, side and novelty of documents to a file in which they can be searched."""
    path.unlink(missing_ok=True)
    with replacing(path, force=True) as temporary, closing(sqlite3.connect(temporary)) as db:
        db.execute("CREATE VIRTUAL TABLE documents USING fts5 (id, text, side, novelty, spaced)")
        db.executemany(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?)",
            ((*row, _spaced(row[1]) if UNSPACED.search(row[1]) else "") for row in rows),
        )
        db.commit()


def _spaced(text: str) -> str:
    """Return a text with the characters of scripts without spaces as words.

    Examples
    --------
    >>> _spaced("新図書館 opens").split()
    ['新', '図', '書', '館', 'opens']
    """
    return UNSPACED.sub(r" \g<0> ", text)


def search_documents(
    folder: Path, query: str, *, side: str = "", start: int = 0, n: int = 20
) -> dict[str, Any]:
    """Return the documents of a run with all words of a query; the last may be incomplete.

    Parameters
    ----------
    folder : Path
        The folder of the run.
    query : str
        Words; without any, all documents are found.
    side : str
        "known" or "novel", or empty for both.
    start, n : int
        How many to skip, and how many to return.
    """
    words = [f'"{_spaced(word).strip()}"' for word in _WORD.findall(query)[:20]]
    wanted, values = [], []
    if words:
        wanted.append("documents MATCH ?")
        values.append(f"{{text spaced}} : ({' AND '.join(words)}*)")
    if side:
        wanted.append("side = ?")
        values.append(side)
    where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
    address = f"{(folder / DOCUMENTS).resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as db:
        total = db.execute(f"SELECT count(*) FROM documents {where}", values).fetchone()[0]
        rows = db.execute(
            f"SELECT id, substr(text, 1, {_SHOWN}), side, novelty FROM documents {where} "
            f"ORDER BY novelty DESC, rowid LIMIT {int(n)} OFFSET {int(start)}",
            values,
        ).fetchall()
    names = ("document", "text", "side", "novelty")
    return {"total": total, "documents": [dict(zip(names, row, strict=True)) for row in rows]}
