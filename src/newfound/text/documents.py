"""Documents in: folders, files, standard input, lists and frames, with nothing silently lost.

What is read is UTF-8, with or without a byte-order mark. A line that is not (in a folder: a file)
is read as Windows-1252 instead, and the summary counts it. A document with a NUL character is not
text. Empty, blank and non-text documents are left out, duplicates (the same text as an earlier one
but for white space) stay, and all are counted.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from newfound.text.readers import (
    MAX_DOCUMENT_BYTES,
    Columns,
    DocumentError,
    Reader,
    Record,
    as_text,
    choose_columns,
    is_missing,
    make_record,
)

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "DocumentError",
    "Documents",
    "as_documents",
    "read_documents",
    "with_text",
]

_KEPT = {
    "duplicate": "",
    "recoded": "not UTF-8, read as Windows-1252",
    "repaired": "with half a surrogate pair, replaced by a question mark",
}


@dataclass(frozen=True)
class Documents:
    """Texts, where each came from, and what was found on the way.

    Attributes
    ----------
    texts : tuple of str
        The documents that hold text.
    ids : tuple of str
        A name for each: its id column, file in the folder, or place (``file:line``, position).
    labels : tuple of str or None
        The labels, where a label column was named or the folder has one subfolder for each.
    source : str
        What was read.
    found : dict of str to int
        What else there was. Left out: ``empty``, ``blank`` and ``non-text`` documents, in a folder
        ``hidden`` and ``table`` files. Kept: a ``duplicate`` of an earlier document, unless
        `duplicates_dropped`; lines or files ``recoded``, as they are not UTF-8; documents with
        half a surrogate pair ``repaired``.

    Examples
    --------
    >>> documents = as_documents(["a match", "", "a match"])
    >>> len(documents), documents.ids
    (2, ('0', '2'))
    >>> print(documents.summary())
    2 documents from a list; left out: 1 empty; 1 duplicate kept
    """

    texts: tuple[str, ...]
    ids: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    source: str = ""
    found: Mapping[str, int] = field(default_factory=dict)
    duplicates_dropped: bool = False

    def __len__(self) -> int:
        """Give the number of texts."""
        return len(self.texts)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts."""
        return iter(self.texts)

    def summary(self) -> str:
        """Say in one line what was read, what was left out and why."""
        left_out = {kind: n for kind, n in self.found.items() if kind not in _KEPT}
        duplicates = self.found.get("duplicate", 0)
        if duplicates and self.duplicates_dropped:
            left_out["duplicate"] = duplicates
            duplicates = 0
        parts = [
            f"{len(self):,} document{'s' if len(self) != 1 else ''} from {self.source}",
            left_out and "left out: " + ", ".join(f"{n:,} {kind}" for kind, n in left_out.items()),
            duplicates and f"{duplicates:,} duplicate{'s' if duplicates != 1 else ''} kept",
            *(f"{n:,} {_KEPT[kind]}" for kind, n in self.found.items() if _KEPT.get(kind)),
        ]
        return "; ".join(part for part in parts if part)


def read_documents(
    path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    drop_duplicates: bool = False,
) -> Documents:
    r"""Read the documents of a folder, a file, or standard input.

    Parameters
    ----------
    path : path
        A folder (each file a document, subfolders included), a ``.txt`` file (each line a
        document), a ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet`` file (each row), one of these
        with ``.gz``, or ``-`` for standard input. All but folders and packed Parquet are streamed.
    text_column : str or None, default=None
        The column with the texts. By default the one called *text*, or the only column that holds
        strings.
    label_column : str or None, default=None
        The column with the labels. A folder takes its labels from its subfolders.
    encoding : str or None, default=None
        The encoding, and then no other; by default UTF-8 or else Windows-1252.
    format : {"txt", "csv", "tsv", "jsonl", "parquet"} or None, default=None
        The format, where it is not that of the name; standard input is "txt" by default.
    drop_duplicates : bool, default=False
        Leave out a document with the same text as an earlier one, white space aside.

    Raises
    ------
    DocumentError
        Where nothing could be read, or a row is malformed: with the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "news.csv")
    >>> _ = file.write_text("id,text\na,Rugby\nb,Cricket\nc,\n")
    >>> documents = read_documents(file)
    >>> documents.texts, documents.ids, documents.found
    (('Rugby', 'Cricket'), ('a', 'b'), {'empty': 1})
    >>> folder.cleanup()
    """
    reader = Reader(os.fspath(path), Columns(text_column, label_column), encoding)
    with reader.errors():
        documents = _collect(reader.records(format), reader.file, reader.counts, drop_duplicates)
    if reader.guessed is not None:
        source = f"{documents.source} (column {reader.guessed!r})"
        documents = replace(documents, source=source)
    return documents


def as_documents(
    obj: object,
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    drop_duplicates: bool = False,
) -> Documents:
    """Take documents from Python: an iterable of str, or a frame or series of pandas or polars.

    A missing value (None, NaN) counts as empty. Column names and `drop_duplicates` are those of
    `read_documents`; the ids are the column *id* of a frame, or positions from 0.

    Examples
    --------
    >>> as_documents(text for text in ("Rugby", " ", "Cricket")).found
    {'blank': 1}
    """
    if isinstance(obj, Documents):
        return obj
    kind = type(obj).__name__
    if isinstance(obj, str | bytes | os.PathLike):
        raise DocumentError(
            f"Expected several documents, got a single {kind}; wrap it in a list, or call "
            "read_documents to read a file or folder."
        )
    if hasattr(obj, "collect"):
        raise DocumentError(f"A {kind} is lazy; collect it first.")
    if hasattr(obj, "columns"):
        records = _frame_records(obj, Columns(text_column, label_column))
    elif isinstance(obj, Mapping) or not isinstance(obj, Iterable):
        raise DocumentError(f"Expected a list of texts or a frame, got {kind}.")
    elif text_column is not None or label_column is not None:
        raise DocumentError(f"A {kind} has no columns; leave text_column and label_column out.")
    else:
        records = _records(obj)
    return _collect(records, f"a {kind}", Counter(), drop_duplicates)


def with_text(texts: Iterable[object]) -> Iterator[tuple[int, str]]:
    """Give position and text of those that `as_documents` would keep of a list, and count nothing.

    Examples
    --------
    >>> list(with_text(["Rugby", " ", None, "Cricket"]))
    [(0, 'Rugby'), (3, 'Cricket')]
    """
    for record in _kept(_records(texts), Counter()):
        yield int(record.id), record.text or ""


def _records(texts: Iterable[object]) -> Iterator[Record]:
    for i, value in enumerate(texts):
        yield Record(str(i), as_text(value, f"Document {i}"))


def _frame_records(frame: Any, given: Columns) -> Iterator[Record]:
    """Read a frame by what pandas, polars and pyarrow have in common."""
    names = list(getattr(frame, "column_names", frame.columns))

    def values(name: Any) -> list[Any]:
        column = frame[name]
        to_list = column.to_pylist if hasattr(column, "to_pylist") else column.to_list
        return cast("list[Any]", to_list())

    def holds_strings(name: Any) -> bool:
        return isinstance(next((v for v in values(name) if not is_missing(v)), None), str)

    wanted = given.text is None and "text" not in names
    strings = [name for name in names if holds_strings(name)] if wanted else []
    columns = choose_columns(names, strings, given, "The frame")
    chosen = [name for name in columns if name is not None]
    for i, row in enumerate(zip(*map(values, chosen), strict=True)):
        yield make_record(dict(zip(chosen, row, strict=True)), columns, str(i), f"Row {i}")


def _kept(records: Iterable[Record], counts: Counter[str]) -> Iterator[Record]:
    """Sort out what is no document, and count it."""
    for record in records:
        text = record.text
        if not text or text.isspace():
            counts["blank" if text else "empty"] += 1
            continue
        if "\0" in text:
            counts["non-text"] += 1
            continue
        try:
            text.encode()
        except UnicodeEncodeError:
            counts["repaired"] += 1
            record = record._replace(text=text.encode("utf-8", "replace").decode())
        yield record


def _collect(
    records: Iterable[Record], source: str, counts: Counter[str], drop_duplicates: bool
) -> Documents:
    """Keep the documents, and find the duplicates."""
    kept: list[Record] = []
    seen: set[bytes] = set()
    for record in _kept(records, counts):
        words = b" ".join((record.text or "").encode().split())
        digest = hashlib.blake2b(words, digest_size=16).digest()
        if digest in seen:
            counts["duplicate"] += 1
            if drop_duplicates:
                continue
        seen.add(digest)
        kept.append(record)
    if not kept:
        raise DocumentError(_nothing(source, counts))
    labels = tuple(record.label for record in kept if record.label is not None)
    return Documents(
        texts=tuple(record.text or "" for record in kept),
        ids=tuple(record.id for record in kept),
        labels=labels if len(labels) == len(kept) else None,
        source=source,
        found=dict(+counts),
        duplicates_dropped=drop_duplicates,
    )


def _nothing(source: str, counts: Counter[str]) -> str:
    found = ", ".join(f"{n:,} {kind}" for kind, n in (+counts).items())
    hint = ""
    if counts["table"]:
        hint = "; give a table itself, not its folder"
    elif counts["non-text"]:
        hint = "; pass encoding='utf-16' if that is what it is"
    return f"There are no documents in {source} ({found or 'it is empty'}){hint}."
