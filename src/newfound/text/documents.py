"""Read documents from folders, files, standard input, lists and frames, and count what is left out.

The encoding is the one that a byte-order mark tells, or else UTF-8. A line that is not UTF-8 (in a
folder: a file) is read as Windows-1252 and counted. A document with a NUL character is not text.
Empty, blank and non-text documents are left out. Duplicates, which differ from an earlier document
in white space at most, are kept unless the caller drops them. All of them are counted.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import narwhals as nw
from narwhals.exceptions import DuplicateError

from newfound.sides import SIDES
from newfound.text.dates import Dates, parse_dates
from newfound.text.records import (
    Columns,
    DocumentError,
    Record,
    Row,
    as_text,
    by_column,
    checked_guess,
    choose_columns,
    is_missing,
    make_record,
    records_with_text,
)
from newfound.text.redaction import redact_all
from newfound.text.source import Reader, every_column

__all__ = [
    "KEPT",
    "DocumentError",
    "Documents",
    "as_documents",
    "as_sides",
    "collect",
    "is_frame",
    "read_documents",
    "stream_documents",
    "with_text",
]

_SPACES = bytes.maketrans(b"\t\n\r\x0b\f", b"     ")
# What `Documents.found` counts of documents that are kept, and how the summary says it.
KEPT = {
    "duplicate": "",
    "recoded": "not UTF-8, read as Windows-1252",
    "utf-16": "in UTF-16",
    "utf-32": "in UTF-32",
    "repaired": "with half a surrogate pair, replaced by a question mark",
    "redacted": "redacted",
}


@dataclass(frozen=True)
class Documents:
    """Texts with their ids and labels, and a count of what was left out.

    Attributes
    ----------
    texts : tuple of str
        The documents that have text.
    ids : tuple of str
        The id of each: from the id column, or else the file in the folder, ``file:line`` or the
        position.
    labels : tuple of str or None
        The label of each, from the label column or the subfolder; None without labels.
    source : str
        Where the documents come from.
    found : dict of str to int
        Counts of special cases. Left out: ``empty``, ``blank`` and ``non-text`` documents, and in a
        folder ``hidden`` and ``table`` files and folders that are links (``linked folder``). Kept:
        a ``duplicate`` of an earlier document, unless `duplicates_dropped`; lines or files
        ``recoded`` from Windows-1252; files in ``utf-16`` or ``utf-32``; documents ``repaired``
        that had half a surrogate pair, or ``redacted``.
    duplicates_dropped : bool
        Whether duplicates were left out.
    dates : tuple of datetime.date or None
        The day of each, None where it is missing; None without dates.
    columns : mapping of str to tuple
        The other columns of the table, under their own names, if `read_documents` was to keep them.

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
    dates: Dates | None = None
    columns: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.texts)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the texts."""
        return iter(self.texts)

    def take(self, rows: Iterable[int]) -> Self:
        """Return some of the documents, given by their positions; `found` is then empty.

        Examples
        --------
        >>> as_documents(["a match", "a try", "a goal"]).take([2, 0]).texts
        ('a goal', 'a match')
        """
        places = list(rows)
        fields = {name: value for name, value in vars(self).items() if isinstance(value, tuple)}
        chosen: dict[str, Any] = _chosen(fields, places)
        return replace(self, **chosen, columns=_chosen(self.columns, places), found={})

    def redacted(self) -> Self:
        """Return the documents with numbers, e-mail addresses and URLs replaced; see `redact`.

        Ids and labels stay as they are. Other columns, which may hold anything, are left out.

        Examples
        --------
        >>> as_documents(["room 12", "a match"]).redacted().texts
        ('room [#]', 'a match')
        """
        texts = tuple(redact_all(self.texts))
        n = sum(old != new for old, new in zip(self.texts, texts, strict=True))
        found = {**self.found, "redacted": self.found.get("redacted", 0) + n} if n else self.found
        return replace(self, texts=texts, found=found, columns={})

    def summary(self, *, counted_once: int = 0) -> str:
        """Return one line that says what was read, and what was left out and why.

        Parameters
        ----------
        counted_once : int, default=0
            The number of duplicates that are kept, but count once as evidence; see
            `newfound.text.copies.read_summary`.
        """
        left_out = {kind: n for kind, n in self.found.items() if kind not in KEPT}
        duplicates = self.found.get("duplicate", 0)
        if duplicates and self.duplicates_dropped:
            left_out["duplicate"] = duplicates
            duplicates = 0
        parts = [
            f"{len(self):,} document{'s' if len(self) != 1 else ''} from {self.source}",
            left_out and "left out: " + ", ".join(f"{n:,} {kind}" for kind, n in left_out.items()),
            duplicates and _kept_duplicates(duplicates, counted_once),
            *(f"{n:,} {KEPT[kind]}" for kind, n in self.found.items() if KEPT.get(kind)),
        ]
        return "; ".join(part for part in parts if part)


def _chosen(
    columns: Mapping[str, tuple[Any, ...]], places: list[int]
) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(values[place] for place in places) for name, values in columns.items()}


def _kept_duplicates(n: int, counted_once: int) -> str:
    """Return how many duplicates are kept, and how many of them count once as evidence."""
    kept = f"{n:,} duplicate{'s' if n != 1 else ''} kept"
    if not counted_once:
        return kept
    which = "but" if counted_once >= n else f"{counted_once:,} of them"
    return f"{kept}, {which} counted once as evidence"


def read_documents(
    path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    date_column: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    drop_duplicates: bool = False,
    redact: bool = False,
    keep_columns: bool = False,
) -> Documents:
    r"""Read the documents of a folder, a file, or standard input.

    Parameters
    ----------
    path : path
        A folder (each file a document, subfolders included), a ``.txt`` file (each line a
        document), a ``.csv``, ``.tsv``, ``.jsonl``, ``.json`` (an array) or ``.parquet`` file (each
        row), one of these with ``.gz``, or ``-`` for standard input. All but folders, JSON arrays
        and compressed Parquet are streamed.
    text_column : str or None, default=None
        The column with the texts. By default the column *text*, or the only column of strings.
    label_column : str or None, default=None
        The column with the labels. A folder takes its labels from its subfolders.
    date_column : str or None, default=None
        The column with the dates, written as in `newfound.text.dates.parse_dates`.
    encoding : str or None, default=None
        The only encoding to try; by default that of a byte-order mark, else UTF-8, then
        Windows-1252.
    format : {"txt", "csv", "tsv", "jsonl", "json", "parquet"} or None, default=None
        The format, if the file name does not tell it; standard input is JSON if it begins so, else
        "txt".
    drop_duplicates : bool, default=False
        Leave out a document with the same text as an earlier one, apart from white space.
    redact : bool, default=False
        Replace numbers, e-mail addresses and URLs in the texts; see `newfound.redact`.
    keep_columns : bool, default=False
        Keep the other columns of a table, too, in `columns`; none with `redact`.

    Raises
    ------
    DocumentError
        If nothing can be read, or a row is malformed; the message names the file and the line.

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
    given = Columns(text_column, label_column, date_column)
    keep = every_column if keep_columns and not redact else None
    reader = Reader(os.fspath(path), given, encoding, keep=keep)
    documents = collect(reader, format, drop_duplicates=drop_duplicates)
    return documents.redacted() if redact else documents


def collect(
    reader: Reader, format: str | None = None, *, drop_duplicates: bool = False
) -> Documents:
    """Return the documents of a reader; see `read_documents`."""
    source = reader.file
    with reader.errors():
        documents = _collect(reader.records(format), source, reader.counts, drop_duplicates)
    non_text, recoded, n_kept = reader.counts["non-text"], reader.counts["recoded"], len(documents)
    if non_text > n_kept and 2 * recoded > n_kept and os.path.isfile(reader.path):
        raise DocumentError(
            f"{source} looks like a binary file, not text: {non_text:,} of its lines have null "
            f"characters, and of the other {n_kept:,} most are not UTF-8; name its encoding "
            "(--encoding) if it is text."
        )
    if reader.guessed is not None:
        documents = replace(documents, source=f"{source} (column {reader.guessed!r})")
    return documents


def stream_documents(
    path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    date_column: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
) -> Iterator[tuple[str, str, Row]]:
    """Iterate over documents as they are read, also from a pipe: id, text, and other columns.

    The parameters are those of `read_documents`. Nothing is counted, and duplicates are not looked
    for. A row of a table, or a JSON object, without text is a document, too: whoever has sent it
    waits for an answer; so is one whose text has NUL characters, with an empty text. Blank lines of
    text are left out.
    """
    given = Columns(text_column, None, date_column)
    reader = Reader(os.fspath(path), given, encoding, rows_looked_at=1, keep=every_column)
    with reader.errors():
        for record in reader.records(format):
            text = record.text or ""
            if record.others is not None and ("\0" in text or not text.strip()):
                yield record.id, "" if "\0" in text else text, record.others
            for kept in records_with_text([record], reader.counts):
                yield kept.id, kept.text or "", kept.others or {}


def as_documents(
    obj: object,
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    date_column: str | None = None,
    dates: Iterable[Any] | None = None,
    drop_duplicates: bool = False,
    redact: bool = False,
) -> Documents:
    """Return the documents of a Python object.

    Parameters
    ----------
    obj : iterable of str, frame, series or Documents
        The texts. A frame or series of any library that narwhals supports will do, such as pandas,
        polars or pyarrow. A missing value (None, NaN) is an empty document.
    text_column, label_column, date_column, drop_duplicates, redact
        As in `read_documents`.
    dates : iterable, optional
        The date of each document, if they are not in a column.

    Returns
    -------
    Documents
        The ids are the column *id* of a frame, or positions from 0.

    Examples
    --------
    >>> as_documents(text for text in ("Rugby", " ", "Cricket")).found
    {'blank': 1}
    """
    if isinstance(obj, Documents):
        given = obj if dates is None else replace(obj, dates=_as_many(dates, len(obj)))
        return given.redacted() if redact else given
    kind = type(obj).__name__
    if isinstance(obj, str | bytes | os.PathLike):
        raise DocumentError(
            f"Expected several documents, got a single {kind}; wrap it in a list, or call "
            "read_documents to read a file or folder."
        )
    data = _from_native(obj)
    if isinstance(data, nw.LazyFrame):
        raise DocumentError(f"A {kind} is lazy; collect it first.")
    if isinstance(data, nw.DataFrame):
        records = _frame_records(data, Columns(text_column, label_column, date_column))
    elif isinstance(obj, Mapping) or not isinstance(obj, Iterable):
        raise DocumentError(f"Expected a list of texts or a frame, got {kind}.")
    elif (text_column, label_column, date_column) != (None, None, None):
        raise DocumentError(f"A {kind} has no columns; do not name any column.")
    else:
        records = _records(data)
    if dates is not None:
        found = list(records)
        days = _as_many(dates, len(found))
        records = (
            record._replace(date=day, dated=True) for record, day in zip(found, days, strict=True)
        )
    documents = _collect(records, f"a {kind}", Counter(), drop_duplicates)
    return documents.redacted() if redact else documents


def _as_many(dates: Iterable[Any], n: int) -> Dates:
    days = parse_dates(dates)
    if len(days) != n:
        raise DocumentError(
            f"There are {len(days):,} dates for {n:,} documents; pass one for each."
        )
    return days


def as_sides(
    known: object,
    novel: object,
    dates: tuple[Iterable[Any], Iterable[Any]] | None = None,
    *,
    redact: bool = False,
) -> dict[str, Documents]:
    """Return the documents of both sides by side; an error names the side.

    The dates are those of the documents of each side.

    Examples
    --------
    >>> {side: len(documents) for side, documents in as_sides(["a", "b"], ["c"]).items()}
    {'known': 2, 'novel': 1}
    """
    sides = {}
    for side, documents, days in zip(SIDES, (known, novel), dates or (None, None), strict=True):
        try:
            sides[side] = as_documents(documents, dates=days, redact=redact)
        except ValueError as error:
            raise DocumentError(f"{side}: {error}") from error
    return sides


def with_text(texts: Iterable[object]) -> Iterator[tuple[int, str]]:
    """Iterate over position and text of what `as_documents` keeps of a list.

    Examples
    --------
    >>> list(with_text(["Rugby", " ", None, "Cricket"]))
    [(0, 'Rugby'), (3, 'Cricket')]
    """
    for record in records_with_text(_records(texts), Counter()):
        yield int(record.id), record.text or ""


def is_frame(obj: object) -> bool:
    """Return whether an object is a data frame of any library that narwhals supports.

    Examples
    --------
    >>> is_frame(["Rugby"])
    False
    """
    return isinstance(_from_native(obj), nw.DataFrame | nw.LazyFrame)


def _from_native(obj: Any) -> Any:
    try:
        return nw.from_native(obj, pass_through=True, allow_series=True)
    except DuplicateError as error:
        raise DocumentError("The frame has several columns of one name; rename them.") from error


def _records(texts: Iterable[object]) -> Iterator[Record]:
    for i, value in enumerate(texts):
        yield Record(str(i), as_text(value, f"Document {i}"))


def _frame_records(frame: nw.DataFrame[Any], given: Columns) -> Iterator[Record]:
    def has_strings(name: Any) -> bool:
        values = (value for value in frame.get_column(name) if not is_missing(value))
        return isinstance(next(values, None), str)

    must_guess = given.text is None and "text" not in frame.columns
    strings = filter(has_strings, frame.columns) if must_guess else ()
    columns = choose_columns(frame.columns, strings, given, "The frame")
    chosen = [name for name in columns if name is not None]
    values = [frame.get_column(name).to_list() for name in chosen]
    records: Iterator[Record] = (
        make_record(dict(zip(chosen, row, strict=True)), columns, str(i), f"Row {i}")
        for i, row in enumerate(zip(*values, strict=True))
    )
    if must_guess:
        records = checked_guess(records, frame.columns, columns.text, "the frame")
    return records


def _collect(
    records: Iterable[Record], source: str, counts: Counter[str], drop_duplicates: bool
) -> Documents:
    """Return the documents, with duplicates counted."""
    kept: list[Record] = []
    seen: set[bytes] = set()
    for record in records_with_text(records, counts):
        digest = hashlib.blake2b(_spaced((record.text or "").encode()), digest_size=16).digest()
        if digest in seen:
            counts["duplicate"] += 1
            if drop_duplicates:
                continue
        seen.add(digest)
        kept.append(record)
    if not kept:
        raise DocumentError(_no_documents(source, counts))
    labels = tuple(record.label for record in kept if record.label is not None)
    return Documents(
        texts=tuple(record.text or "" for record in kept),
        ids=tuple(record.id for record in kept),
        labels=labels if len(labels) == len(kept) else None,
        source=source,
        found=dict(+counts),
        duplicates_dropped=drop_duplicates,
        dates=tuple(record.date for record in kept) if kept[0].dated else None,
        columns=by_column([record.others or {} for record in kept]),
    )


def _spaced(raw: bytes) -> bytes:
    r"""Return a text with one space wherever it has white space, and none at its ends.

    Not by split and join: a list of all words takes forty times the memory of a long text.

    Examples
    --------
    >>> _spaced(b"\t a  match\n\nof  rugby ")
    b'a match of rugby'
    """
    raw = raw.translate(_SPACES).strip()
    while b"  " in raw:
        raw = raw.replace(b"  ", b" ")
    return raw


def _no_documents(source: str, counts: Counter[str]) -> str:
    found = ", ".join(f"{n:,} {kind}" for kind, n in (+counts).items())
    hint = ""
    if counts["table"]:
        hint = "; pass the table itself, not its folder"
    elif counts["non-text"]:
        hint = "; pass encoding='utf-16' (--encoding utf-16) if that is the encoding"
    return f"There are no documents in {source} ({found or 'it is empty'}){hint}."
