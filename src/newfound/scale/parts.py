"""Scored batches in a folder, so that a stream that was killed goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from newfound.scale.arrow import pyarrow
from newfound.scale.checkpoint import Checkpoint, CheckpointError
from newfound.storage.files import replacing

__all__ = ["Parts"]

_BATCHES = 16  # of a part


class Parts:
    """The batches that were done, in files of 16 batches each; a row group is a batch.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    run : mapping
        As in `newfound.scale.checkpoint.Checkpoint`.
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
