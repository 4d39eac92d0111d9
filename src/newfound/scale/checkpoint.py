"""Sums of passes in a folder, so that a run that was killed goes on where it was.

Sums of whole numbers do not depend on when they were added, so that a run that goes on ends with
the same bits as one that was not interrupted.
"""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from newfound.scale.arrow import pyarrow
from newfound.storage.files import replacing

__all__ = ["Checkpoint", "CheckpointError"]


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
