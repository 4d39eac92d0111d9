"""Rows written as they come: to a file aside, which gets its name when it is complete."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from newfound.scale.arrow import pyarrow
from newfound.storage.files import replacing
from newfound.table import csv_row

__all__ = ["FORMATS", "row_writer"]

FORMATS = (".csv", ".parquet")

Write = Callable[[Any], None]


@contextmanager
def row_writer(
    path: str | os.PathLike[str], schema: Any, *, force: bool = False
) -> Iterator[Write]:
    r"""Return a function that writes record batches to a file, which exists once all are written.

    Parameters
    ----------
    path : path
        A file that ends in .csv or .parquet.
    schema : pyarrow.Schema
        That of the batches.
    force : bool, default=False
        Replace an existing file.

    Raises
    ------
    OSError
        If it cannot be written, as on a full disk; then no file is left.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> folder = tempfile.TemporaryDirectory()
    >>> batch, file = pa.record_batch({"word": ["try"]}), pathlib.Path(folder.name, "rows.csv")
    >>> with row_writer(file, batch.schema) as write:
    ...     write(batch)
    ...     write(batch)
    >>> file.read_text()
    'word\ntry\ntry\n'
    >>> folder.cleanup()
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix not in FORMATS:
        raise ValueError(f"{os.fspath(path)} must end in {' or '.join(FORMATS)}.")
    with replacing(path, force=force) as temporary:
        if suffix == ".parquet":
            with pyarrow("parquet").ParquetWriter(temporary, schema) as writer:
                yield writer.write_batch
            return
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(csv_row(schema.names))

            def write(batch: Any) -> None:
                for row in batch.to_pylist():
                    if "reasons" in row:  # as in Detection.to_csv
                        row["reasons"] = [reason["word"] for reason in row["reasons"]]
                    rows.writerow(csv_row(row.values()))

            yield write
