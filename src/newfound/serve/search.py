"""Search in all documents of a run."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from newfound.serve.worker import DOCUMENTS

__all__ = ["search_documents"]

_WORD = re.compile(r"\w+")
_SHOWN = 2000  # characters of a document


def search_documents(
    folder: Path, query: str, *, side: str = "", start: int = 0, n: int = 20
) -> dict[str, Any]:
    """Return the documents of a run that have all words of a query; the last word may be begun.

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
    words = [f'"{word}"' for word in _WORD.findall(query)[:20]]
    wanted, values = [], []
    if words:
        wanted.append("documents MATCH ?")
        values.append("text : (" + " AND ".join(words) + "*)")
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
