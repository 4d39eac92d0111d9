"""Sums of passes, or scored batches, in a folder: a run that was killed goes on where it was.

Sums of whole numbers do not depend on when they were added, so that a run that goes on ends with
the same bits as one that was not interrupted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from newfound.scale.arrow import pyarrow
from newfound.storage.files import replacing

__all__ = ["Checkpoint", "CheckpointError", "Parts"]

_BATCHES = 16  # of a part


class CheckpointError(ValueError):
    """Raised for a folder that has the checkpoint of another run, or a damaged one."""


class Checkpoint:
    """What has been added up so far.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    run : mapping
        What tells this run from others, as plain data: its documents and its parameters. The
        version of newfound does, too.

    Raises
    ------
    CheckpointError
        If the folder has the checkpoint of another run, or other files.
    """

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
    """The batches that were done, in files of 16 batches each; a row group is a batch.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    run : mapping
        As in `Checkpoint`.
    schema : pyarrow.Schema
        That of the batches.
    """

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
