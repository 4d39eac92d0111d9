"""``newfound detect --json-lines``: a line of JSON for each document, as the documents come."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from newfound.cli.console import print_json

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector
    from newfound.text.documents import Documents
    from newfound.text.records import Row

__all__ = ["print_lines"]

_BATCH = 500  # documents of a file; those of a pipe are answered one by one


def print_lines(
    detector: NoveltyDetector, path: str, options: dict[str, Any], encoding: str | None
) -> int:
    """Print a JSON object a line for each document of a path; return how many are novel."""
    from newfound.table import jsonable
    from newfound.text.documents import DocumentError, stream_documents

    incoming = stream_documents(path, **options, encoding=encoding)
    n_novel = n = 0
    with warnings.catch_warnings():
        # It is about many texts together, and would be said of single ones.
        warnings.filterwarnings("ignore", ".*are in no known document")
        for some, rows in _batches(incoming, 1 if path == "-" else _BATCH):
            found = detector.detect(some, describe=False, group=False)
            for row, others in zip(found, rows, strict=True):
                # Other columns are not redacted; ours come first, and stay if one is called alike.
                more = {} if detector.redact else jsonable(others)
                print_json({**row, **more, **row}, indent=None)
            n, n_novel = n + len(some), n_novel + found.n_novel
    if not n:
        raise DocumentError("There are no incoming documents with text.")
    return n_novel


def _batches(
    documents: Iterator[tuple[str, str, Row]], size: int
) -> Iterator[tuple[Documents, tuple[Row, ...]]]:
    from newfound.text.documents import Documents

    while some := list(islice(documents, size)):
        names, texts, rows = zip(*some, strict=True)
        yield Documents(texts, names), rows
