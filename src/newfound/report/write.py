"""Write a report to a file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from newfound.report.collect import collect
from newfound.report.corpus import gather, pile_data
from newfound.report.detection import collect_detection
from newfound.report.limits import MAX_BYTES, Limits
from newfound.report.page import render
from newfound.report.trim import trim
from newfound.storage.files import check_writable, replacing

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.detection.detection import Detection
    from newfound.text.documents import Documents

__all__ = ["write_detection_report", "write_report"]

_TITLE = 120  # characters


def write_report(
    path: str | os.PathLike[str],
    describer: NoveltyDescriber,
    *,
    known: object = None,
    novel: object = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
    force: bool = False,
) -> None:
    """Write one self-contained HTML page about a description.

    It works offline and has at most 1.5 MB, for a corpus of any size.

    Parameters
    ----------
    path : path
        The file.
    describer : NoveltyDescriber
        Fitted.
    known, novel : iterable of str, series, frame or Documents, optional
        The documents it was fitted on, needed if it was loaded from a file, which holds no texts.
        Without texts the page has no examples.
    title : str, optional
        The title of the page.
    seconds : mapping of str to float, optional
        The time that each step took, for the section on how it was made.
    force : bool, default=False
        Overwrite an existing file.
    """
    check_writable(path, force=force)
    began = time.perf_counter()
    data = collect(describer, gather(describer, known, novel), Limits())
    spent = {**getattr(describer, "_seconds", {}), **(seconds or {})}
    _write(path, data, title or "What is new", began, spent, force=force)


def write_detection_report(
    path: str | os.PathLike[str],
    detection: Detection,
    *,
    known: Documents | None = None,
    incoming: Documents | None = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
    force: bool = False,
) -> None:
    """Write one self-contained HTML page about a detection.

    Parameters
    ----------
    path : path
        The file.
    detection : Detection
        What a detector found.
    known, incoming : Documents, optional
        The documents, for the section on how it was made.
    title : str, optional
        The title of the page.
    seconds : mapping of str to float, optional
        The time that each step took, for the section on how it was made.
    force : bool, default=False
        Overwrite an existing file.
    """
    check_writable(path, force=force)
    began = time.perf_counter()
    read = {"known": known, "incoming": incoming}
    piles = {name: pile_data(pile) for name, pile in read.items() if pile is not None}
    title = title or "What is new among incoming documents"
    data = collect_detection(detection, Limits(), piles)
    _write(path, data, title, began, seconds or {}, force=force)


def _write(
    path: str | os.PathLike[str],
    data: dict[str, Any],
    title: str,
    began: float,
    seconds: Mapping[str, float],
    *,
    force: bool,
) -> None:
    """Trim the data until the page fits its size limit, and write it."""
    if not isinstance(title, str):
        raise ValueError(f"title={title!r}: expected a str, got {type(title).__name__}.")
    spent = {**seconds, "making this page": time.perf_counter() - began}
    made = {
        **data["made"],
        "seconds": {name: round(value, 2) for name, value in spent.items()},
        "at": datetime.now().astimezone().isoformat(" ", "minutes"),
    }
    data = {**data, "title": title[:_TITLE], "made": made}
    limits = Limits()
    page = render(data).encode("utf-8", "replace")
    while len(page) > MAX_BYTES and limits != limits.halved():
        limits = limits.halved()
        data = trim(data, limits)
        page = render(data).encode("utf-8", "replace")
    with replacing(path, force=force) as aside, open(aside, "wb") as stream:
        stream.write(page)
