"""What is asked of Arrow: columns of text, files written as rows come, and checkpoints.

A run that was killed goes on from the sums of passes, or the scored batches, in a folder. Sums of
whole numbers do not depend on when they were added, so that it ends with the same bits as one that
was not interrupted.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from newfound.storage.files import replacing
from newfound.table import csv_row
from newfound.text.formats import check_text_column
from newfound.text.redaction import redact_all

__all__ = [
    "FORMATS",
    "Checkpoint",
    "CheckpointError",
    "Parts",
    "pyarrow",
    "reasons_type",
    "redact_batch",
    "row_writer",
    "rows_with_text",
    "texts_of",
]

FORMATS = (".csv", ".parquet")

Write = Callable[[Any], None]
_BATCHES = 16  # of a part


def pyarrow(module: str = "") -> Any:
    """Return pyarrow, or one of its modules; without it, say how to install it."""
    try:
        return import_module(f"pyarrow.{module}" if module else "pyarrow")
    except ImportError as error:
        raise ImportError(
            "newfound.scale and --stream need pyarrow: pip install 'newfound[scale]'"
        ) from error


def reasons_type() -> Any:
    """Return the type of the reasons of a document: words, contributions, and where seen.

    Without it, pyarrow before 21 sorts the fields by name, and reasons that are all empty have no
    type.
    """
    pa = pyarrow()
    word = [("word", pa.string()), ("contribution", pa.float64()), ("seen", pa.string())]
    return pa.list_(pa.struct(word))


def texts_of(batch: Any, name: str) -> list[str | None]:
    """Return a column of text as a list; None for a missing value."""
    check_text_column(batch.schema, name, "The batch")
    texts: list[str | None] = batch.column(batch.schema.get_field_index(name)).to_pylist()
    return texts


def rows_with_text(texts: Sequence[str | None]) -> list[int]:
    """Return the places of texts that are neither missing nor blank.

    Examples
    --------
    >>> rows_with_text(["a", None, " ", "b"])
    [0, 3]
    """
    return [place for place, text in enumerate(texts) if text and not text.isspace()]


def redact_batch(batch: Any, name: str) -> Any:
    """Return a record batch with the texts of a column redacted; see `newfound.redact`.

    Examples
    --------
    >>> redact_batch(pyarrow().record_batch({"text": ["room 12", None]}), "text").to_pydict()
    {'text': ['room [#]', None]}
    """
    place = batch.schema.get_field_index(name)
    texts = pyarrow().array(redact_all(texts_of(batch, name)), batch.schema.field(place).type)
    return batch.set_column(place, batch.schema.field(place), texts)


@contextmanager
def row_writer(
    path: str | os.PathLike[str], schema: Any, *, force: bool = False
) -> Iterator[Write]:
    r"""Return a function that writes record batches to a file, which exists once all are written.

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


class CheckpointError(ValueError):
    """Raised for a folder that has the checkpoint of another run, or a damaged one."""


class Checkpoint:
    """What has been added up so far."""

    def __init__(self, folder: str | os.PathLike[str], run: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        told_apart = {**run, "newfound": version("newfound")}
        described = json.dumps(told_apart, sort_keys=True, default=str)
        path = self.folder / "run.json"
        if not path.exists():
            others = [name for name in os.listdir(folder) if not name.startswith(".")]
            if others:
                raise CheckpointError(
                    f"{folder} has other files, such as {min(others)}; name an empty or a new "
                    "folder."
                )
            with replacing(path) as temporary:
                temporary.write_text(described, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != described:
            raise CheckpointError(
                f"{folder} has the checkpoint of other documents or options, or of another "
                "version; remove it, or name another folder."
            )

    def _path(self, number: int) -> Path:
        return self.folder / f"pass-{number}.parquet"

    def load(self, number: int, schema: Any) -> tuple[int, Any | None]:
        """Return the number of batches of a pass that are done, -1 for all, and their sums."""
        path = self._path(number)
        if not path.exists():
            return 0, None
        try:
            table = pyarrow("parquet").read_table(path)
            done = int(table.schema.metadata[b"done"])
            return done, table.replace_schema_metadata().cast(schema)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"{path} is damaged; remove it to begin this pass anew."
            ) from error

    def save(self, number: int, done: int, table: Any) -> None:
        """Keep the sums of a pass; the file is complete or the earlier one."""
        with replacing(self._path(number), force=True) as temporary:
            named = table.replace_schema_metadata({"done": str(done)})
            pyarrow("parquet").write_table(named, temporary)


class Parts:
    """The batches that were done, in files of 16 batches each; a row group is a batch."""

    def __init__(self, folder: str | os.PathLike[str], run: dict[str, Any], schema: Any) -> None:
        self.folder, self.schema = Checkpoint(folder, run).folder, schema
        self._waiting: list[Any] = []
        self.n_parts = 0
        while self._path(self.n_parts).exists():
            self.n_parts += 1

    def _path(self, number: int) -> Any:
        return self.folder / f"part-{number:06d}.parquet"

    @property
    def n_batches(self) -> int:
        """The number of batches that are kept."""
        return _BATCHES * self.n_parts

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the batches that are kept, in their order."""
        for number in range(self.n_parts):
            path = self._path(number)
            try:
                with pyarrow("parquet").ParquetFile(path) as file:
                    for group in range(file.metadata.num_row_groups):
                        table = file.read_row_group(group).cast(self.schema).combine_chunks()
                        yield from table.to_batches()
            except (OSError, ValueError) as error:
                said = f"{path} is damaged; remove the folder to begin anew."
                raise CheckpointError(said) from error

    def add(self, batch: Any) -> None:
        """Keep one more batch; a file is written when there are 16."""
        self._waiting.append(batch)
        if len(self._waiting) < _BATCHES:
            return
        with (
            replacing(self._path(self.n_parts), force=True) as temporary,
            pyarrow("parquet").ParquetWriter(temporary, self.schema) as writer,
        ):
            for kept in self._waiting:
                writer.write_batch(kept)
        self._waiting, self.n_parts = [], self.n_parts + 1
