"""Make a report, and write it to a file."""

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
from newfound.report.periods import collect_periods
from newfound.report.trim import trim
from newfound.sides import Names
from newfound.storage.files import check_writable, replacing

if TYPE_CHECKING:
    from newfound.description.description import Description
    from newfound.description.periods import Periods
    from newfound.detection.detection import Detection
    from newfound.text.documents import Documents

__all__ = [
    "detection_page",
    "report_page",
    "report_page_of_periods",
    "write_detection_report",
    "write_page",
    "write_periods_report",
    "write_report",
]

_MAX_TITLE = 120  # characters


def report_page(
    description: Description,
    *,
    known: object = None,
    novel: object = None,
    known_name: str | None = None,
    novel_name: str | None = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return one self-contained HTML page about a description.

    It works offline and has at most 1.5 MB, for a corpus of any size.

    Parameters
    ----------
    description : Description
        Fitted.
    known, novel : iterable of str, series, frame or Documents, optional
        The documents it was fitted on, needed if it was loaded from a file, which holds no texts.
        Without texts the page has no examples.
    known_name, novel_name : str, optional
        What the two sides are called on the page, instead of known and novel.
    title : str, optional
        The title of the page.
    seconds : mapping of str to float, optional
        The time that other steps than learning took, for the section on how it was made.

    Returns
    -------
    bytes
        UTF-8.
    """
    began = time.perf_counter()
    names = Names(known_name, novel_name)
    data = collect(description, gather(description, known, novel), Limits(), names)
    spent = {**(seconds or {}), **description.seconds}
    return _page(data, "What is new" if title is None else title, began, spent)


def detection_page(
    detection: Detection,
    *,
    known: Documents | None = None,
    incoming: Documents | None = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return one self-contained HTML page about a detection.

    Parameters
    ----------
    detection : Detection
        What a detector found.
    known, incoming : Documents, optional
        The documents, for the section on how it was made.
    title, seconds
        As in `report_page`.

    Returns
    -------
    bytes
        UTF-8.
    """
    began = time.perf_counter()
    read = {"known": known, "incoming": incoming}
    piles = {name: pile_data(pile) for name, pile in read.items() if pile is not None}
    data = collect_detection(detection, Limits(), piles)
    title = "What is new among incoming documents" if title is None else title
    return _page(data, title, began, seconds or {})


def report_page_of_periods(
    periods: Periods,
    *,
    title: str | None = None,
    known: Documents | None = None,
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return one self-contained HTML page about several periods.

    It has a strip of all periods and, for each, its themes and its most novel words.

    Parameters
    ----------
    periods : Periods
        Each described against all documents before it.
    title : str, optional
        The title of the page.
    known : Documents, optional
        The documents of all periods, for the section on how it was made.
    seconds : mapping of str to float, optional
        The time that each step took, for the same section.

    Returns
    -------
    bytes
        UTF-8.
    """
    began = time.perf_counter()
    fold = any(period.description.copies is not None for period in periods.periods)
    piles = {} if known is None else {"all": pile_data(known, fold=fold)}
    data = collect_periods(periods, Limits(), piles)
    learning = sum(period.description.seconds.get("learning", 0.0) for period in periods.periods)
    if title is None:
        each = f"What is new, {periods.by} by {periods.by}"
        title = f"What sets each {periods.by} apart" if periods.timeline is None else each
    return _page(data, title, began, {"learning": learning, **(seconds or {})})


def write_report(
    path: str | os.PathLike[str],
    description: Description,
    *,
    force: bool = False,
    **options: Any,
) -> None:
    """Write the page of `report_page` to a file, completely or not at all.

    Parameters
    ----------
    path : path
        The file.
    description : Description
        Fitted.
    force : bool, default=False
        Overwrite an existing file.
    **options
        Those of `report_page`.
    """
    check_writable(path, force=force)
    write_page(path, report_page(description, **options), force=force)


def write_periods_report(
    path: str | os.PathLike[str], periods: Periods, *, force: bool = False, **options: Any
) -> None:
    """Write the page of `report_page_of_periods` to a file, completely or not at all.

    Parameters
    ----------
    path : path
        The file.
    periods : Periods
        Each described against all documents before it.
    force : bool, default=False
        Overwrite an existing file.
    **options
        Those of `report_page_of_periods`.
    """
    check_writable(path, force=force)
    write_page(path, report_page_of_periods(periods, **options), force=force)


def write_detection_report(
    path: str | os.PathLike[str], detection: Detection, *, force: bool = False, **options: Any
) -> None:
    """Write the page of `detection_page` to a file, completely or not at all.

    Parameters
    ----------
    path : path
        The file.
    detection : Detection
        What a detector found.
    force : bool, default=False
        Overwrite an existing file.
    **options
        Those of `detection_page`.
    """
    check_writable(path, force=force)
    write_page(path, detection_page(detection, **options), force=force)


def write_page(path: str | os.PathLike[str], page: bytes, *, force: bool) -> None:
    """Write a page to a file, completely or not at all."""
    with replacing(path, force=force) as temporary:
        temporary.write_bytes(page)


def _page(data: dict[str, Any], title: str, began: float, seconds: Mapping[str, float]) -> bytes:
    """Render a page; trim its data until it fits its size limit."""
    if not isinstance(title, str):
        raise ValueError(f"title={title!r}: expected a str, got {type(title).__name__}.")
    spent = {**seconds, "making this page": time.perf_counter() - began}
    made = {
        **data["made"],
        "seconds": {name: round(value, 2) for name, value in spent.items()},
        "at": datetime.now().astimezone().isoformat(" ", "minutes"),
    }
    data = {**data, "title": title[:_MAX_TITLE], "made": made}
    limits = Limits()
    page = render(data).encode("utf-8", "replace")
    while len(page) > MAX_BYTES and limits != limits.halved():
        limits = limits.halved()
        data = trim(data, limits)
        page = render(data).encode("utf-8", "replace")
    return page
