"""``newfound describe --by``: each period against all before, or each value against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from newfound.cli.console import print_json, say, show, working
from newfound.cli.outputs import save_report, table_of, which_table, write_table
from newfound.show.data import periods_data
from newfound.show.tables import period_parts

if TYPE_CHECKING:
    from newfound.text.documents import Documents

__all__ = ["describe_each"]


def describe_each(
    documents: Documents,
    by: str,
    start: str | None,
    parameters: dict[str, Any],
    *,
    labels: bool,
    outputs: Sequence[Path],
    report: Path | None,
    force: bool,
    top: int,
    rank_by: str,
    json: bool,
    quiet: bool,
    seconds: dict[str, float],
    title: str | None = None,
) -> None:
    """Describe each period against all before, or each label, and print or write the result."""
    from newfound.description.describer import NoveltyDescriber
    from newfound.description.periods import describe_periods, describe_values
    from newfound.table import Table
    from newfound.text.copies import read_summary

    if not quiet:
        fold = NoveltyDescriber(**parameters).resolve_parameters()["fold_copies"]
        say(read_summary(documents, fold=fold))
    with working(quiet=quiet) as update:
        callback = None if update is None else _steps(update)
        if labels:
            found = describe_values(documents, by=by, callback=callback, **parameters)
        else:
            found = describe_periods(documents, by=by, start=start, callback=callback, **parameters)
    for path in outputs:
        kind = which_table(path)
        tables = {part.name: table_of(part.description, kind) for part in found.periods}
        write_table(kind, Table.stacked("period", tables), path, force=force, quiet=quiet)
    if report is not None:
        from newfound.show.page import report_page_of_periods

        page = report_page_of_periods(found, title=title, seconds=seconds)
        save_report(page, report, force=force, quiet=quiet)
    if json:
        print_json(periods_data(found, top=top, by=rank_by))
    else:
        show(*period_parts(found, top=top, by=rank_by))


def _steps(update: Any) -> Any:
    """Return a callback that moves one bar from period to period."""
    return lambda name, done, total: update("Describing", done, total)
