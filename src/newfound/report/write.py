"""Write a report to a file."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from newfound.files import refuse_path, written_aside
from newfound.report.collect import collect
from newfound.report.limits import MAX_BYTES, Limits
from newfound.report.material import gather
from newfound.report.page import render

if TYPE_CHECKING:
    from newfound.describer import NoveltyDescriber

__all__ = ["write_report"]

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

    It works offline, and is at most 1.5 MB large however large the corpus.

    Parameters
    ----------
    path : path
        The file.
    describer : NoveltyDescriber
        Fitted.
    known, novel : iterable of str, series, frame or Documents, optional
        The documents it has learned from, where it comes from a file: that holds no texts. They
        also say where the documents came from. Without texts the page has no examples.
    title : str, optional
        What stands on top.
    seconds : mapping of str to float, optional
        How long each step took, for the section on how it was made.
    force : bool, default=False
        Replace a file that is there.
    """
    if not isinstance(title, str | None):
        raise ValueError(f"title={title!r}: expected a str, got {type(title).__name__}.")
    refuse_path(path, force=force)
    began = time.perf_counter()
    material = gather(describer, known, novel)
    limits = Limits()
    while True:
        data = collect(describer, material, limits)
        data["title"] = (title or "What is new")[:_TITLE]
        spent = {**(seconds or {}), "making this page": time.perf_counter() - began}
        data["made"]["seconds"] = {name: round(value, 2) for name, value in spent.items()}
        data["made"]["at"] = datetime.now().astimezone().isoformat(" ", "minutes")
        page = render(data).encode()
        if len(page) <= MAX_BYTES or limits == limits.halved():
            break
        limits = limits.halved()
    with written_aside(path, force=force) as aside, open(aside, "wb") as stream:
        stream.write(page)
