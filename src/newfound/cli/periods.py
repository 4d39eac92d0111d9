"""``newfound describe --by``: each period against all before, or each value against the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from newfound.cli.console import Unbroken, legend, print_json, say, show, words_table, working
from newfound.cli.described import spelled, sure_first, themes_part, words_title
from newfound.cli.outputs import table_of, which_table, write
from newfound.marks import visible
from newfound.output import periods_data, top_words, word_curves
from newfound.sides import Names

if TYPE_CHECKING:
    from newfound.description.periods import Period
    from newfound.table import Table
    from newfound.text.documents import Documents

__all__ = ["describe_each"]

_COMPARED = {"other": "others", "earlier": "before"}  # each is compared with so many ...


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
    names = [which_table(path) for path in outputs]
    tables = [
        (name, _all_rows(found.periods, name), path)
        for name, path in zip(names, outputs, strict=True)
    ]
    write(tables, force=force, quiet=quiet)
    if report is not None:
        from newfound.report import report_page_of_periods, write_page

        write_page(report, report_page_of_periods(found, title=title, seconds=seconds), force=force)
        if not quiet:
            say(f"wrote the report to {report}; open it in any browser.")
    against = "other" if labels else "earlier"
    if json:
        print_json(periods_data(found, top=top, by=rank_by))
        return
    parts = (_period_parts(period, top, rank_by, against) for period in found.periods)
    show(legend(f"than in {against} documents"), *(part for some in parts for part in some))


def _steps(update: Any) -> Any:
    """Return a callback that moves one bar from period to period."""
    return lambda name, done, total: update("Describing", done, total)


def _all_rows(periods: tuple[Period, ...], name: str) -> Table:
    """Return the words, rules, ... of all periods in one table, the period first."""
    from newfound.table import Table

    return Table.stacked(
        "period", {period.name: table_of(period.description, name) for period in periods}
    )


def _period_parts(period: Period, top: int, by: str, against: str) -> list[RenderableType]:
    """Return what the terminal shows of a period."""
    from newfound.report.summary import description_sentence

    description, names = period.description, Names.of_part(period.name, against)
    new, n_sure = sure_first(description, top_words(description, top, by), by)
    return [
        Text.assemble(
            (visible(period.name), "bold"),
            f": {len(period.novel):,} documents, compared with {len(period.known):,} "
            f"{_COMPARED[against]}.",
        ),
        Unbroken(visible(description_sentence(description, names))),
        *themes_part(description, names),
        *(
            [
                words_table(
                    spelled(description, new),
                    "novel",
                    words_title(description, "novel", names),
                    word_curves(description, new),
                    names,
                    n_sure,
                )
            ]
            if new
            else [Text()]
        ),
    ]
