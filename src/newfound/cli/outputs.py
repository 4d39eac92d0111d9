"""What commands write: tables and models, each aside first, and the results of measurements."""

from __future__ import annotations

import json as json_format
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from newfound.cli.console import print_json, say
from newfound.cli.options import refuse_paths

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber
    from newfound.detection.detector import NoveltyDetector
    from newfound.table import Table

__all__ = ["Suites", "known_suites", "measurements_to", "publish", "refuse_ending", "write"]

Suites = Mapping[str, "tuple[Table, float]"]  # tables and seconds, by the names of the suites


class _Rows(Protocol):
    def to_csv(self, path: Path) -> Any: ...
    def to_json(self, path: Path) -> Any: ...
    def to_records(self) -> list[dict[str, Any]]: ...


def refuse_ending(output: Path | None) -> None:
    """Refuse a table in a format that is not written."""
    if output is not None and output.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise typer.BadParameter(f"--output {output} must end in .csv, .json or .parquet.")


def write(
    output: tuple[str, _Rows, Path | None],
    save: tuple[str, NoveltyDescriber | NoveltyDetector, Path | None],
    *,
    force: bool,
    quiet: bool,
) -> None:
    """Write a table and a model where paths are given, and say so."""
    from newfound.storage.files import written_aside
    from newfound.storage.model_file import save as save_model

    _, rows, path = output
    if path is not None:
        with written_aside(path, force=force) as aside:
            _write_rows(rows, aside)
    _, model, path = save
    if path is not None:
        save_model(model, path, force=force)
    for what, _, path in (output, save):
        if path is not None and not quiet:
            say(f"wrote the {what} to {path}.")


def _write_rows(rows: _Rows, path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        rows.to_csv(path)
    elif suffix == ".json":
        rows.to_json(path)
    else:
        table = import_module("pyarrow").Table.from_pylist(rows.to_records())
        import_module("pyarrow.parquet").write_table(table, path)


def known_suites(names: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Refuse suites that there are not."""
    for name in names or ():
        if name not in known:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}.")
    return list(names or ())


def measurements_to(output: Path | None, *, force: bool) -> list[Path]:
    """Name the files of measurements, and refuse what could not be written."""
    paths = [Path(f"{output}{ending}") for ending in (".md", ".json")] if output else []
    for path in paths:
        refuse_paths(path, force=force)
    return paths


def publish(
    found: Suites,
    paths: Sequence[Path],
    page: Callable[[dict[str, Any], Suites], str],
    *,
    force: bool,
    json: bool,
    **more: Any,
) -> None:
    """Print measurements, and write them as a page and as JSON."""
    from newfound.storage.files import written_aside

    results = {
        "newfound": version("newfound"),
        "python": platform.python_version(),
        "command": shlex.join(["newfound", *sys.argv[1:]]),
        **more,
        "suites": {
            name: {"seconds": round(seconds, 1), "rows": table.to_records()}
            for name, (table, seconds) in found.items()
        },
    }
    text = page(results, found)
    for path, content in zip(paths, (text, json_format.dumps(results, indent=1)), strict=False):
        with written_aside(path, force=force) as aside:
            aside.write_text(content + "\n", encoding="utf-8")
    if json:
        print_json(results)
    else:
        print(text)
