"""Tables and models that commands write."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from newfound.cli.console import say

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.detection.detector import NoveltyDetector

__all__ = ["check_table_format", "write"]


class _Rows(Protocol):
    def to_csv(self, path: Path, *, force: bool) -> Any: ...
    def to_json(self, path: Path, *, force: bool) -> Any: ...
    def to_records(self) -> list[dict[str, Any]]: ...


def check_table_format(output: Path | None) -> None:
    """Reject a table format that cannot be written."""
    if output is not None and output.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise typer.BadParameter(f"--output {output} must end in .csv, .json or .parquet.")


def write(
    output: tuple[str, _Rows, Path | None],
    save: tuple[str, NoveltyDescriber | NoveltyDetector, Path | None] | None = None,
    *,
    force: bool,
    quiet: bool,
) -> None:
    """Write a table and a model to the paths given, and print a message for each."""
    from newfound.models import save as save_model

    _, rows, path = output
    if path is not None:
        _write_rows(rows, path, force=force)
    written = [(output[0], path)]
    if save is not None:
        what, model, path = save
        if path is not None:
            save_model(model, path, force=force)
        written.append((what, path))
    for what, path in written:
        if path is not None and not quiet:
            say(f"wrote the {what} to {path}.")


def _write_rows(rows: _Rows, path: Path, *, force: bool) -> None:
    from newfound.storage.files import replacing

    suffix = path.suffix.lower()
    if suffix == ".csv":
        rows.to_csv(path, force=force)
    elif suffix == ".json":
        rows.to_json(path, force=force)
    else:
        table = import_module("pyarrow").Table.from_pylist(rows.to_records())
        with replacing(path, force=force) as temporary:
            import_module("pyarrow.parquet").write_table(table, temporary)
