"""A data set: where its copies lie, which layouts they have, and which contents are expected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.datasets.corpus import DatasetError, Post, check_content
from lab.datasets.download import Source, cache_folder, fetch
from lab.datasets.layouts import is_archive, read_archive, read_jsonl, read_tree

__all__ = ["Dataset"]


@dataclass(frozen=True)
class Dataset:
    """The name, contents, sources and layouts of a data set.

    `counts` returns the expected numbers of documents by split and label, `content` is their hash.
    `member` matches the names of the files that are documents; `post` makes a document of such a
    file. `json_posts` reads the file `json_file`. `required` are the keys that JSON lines must
    have. `download_command` is a command that downloads it, if there is one.
    """

    name: str
    title: str
    sources: tuple[Source, ...]
    content: str
    counts: Callable[[Iterable[Post]], Mapping[tuple[str, str], int]]
    member: re.Pattern[str] | None = None
    archives: tuple[str, ...] = ()
    post: Callable[[re.Match[str], bytes], tuple[Post, bool]] | None = None
    json_file: str = ""
    json_posts: Callable[[Path], Iterable[Post]] | None = None
    required: tuple[str, ...] = ("id", "text", "label")
    download_command: str = ""

    def load(self, path: Any, *, download: bool, verify: bool) -> tuple[list[Post], str, int]:
        """Return the documents, the path that they were read from, and how many were not UTF-8."""
        if path is not None:
            found = self.find(Path(path))
            if found is None:
                gone = "" if Path(path).exists() else ", which does not exist"
                raise DatasetError(self._missing(f"There is no {self.title} at {path}{gone}"))
            return self._read(found, verify=verify)
        data, cache = os.environ.get("NEWFOUND_DATA"), cache_folder() / self.name
        for folder in (Path(data) if data else None, cache):
            found = None if folder is None else self.find(folder)
            if found is not None:
                return self._read(found, verify=verify)
        if not download:
            where = f" in NEWFOUND_DATA ({data})" if data else " here"
            raise DatasetError(self._missing(f"{self.title} is not{where}"))

        def check(folder: Path) -> None:
            fetched = self.find(folder)
            assert fetched is not None
            self._read(fetched, verify=verify)

        fetch(self.sources, cache, check)
        found = self.find(cache)
        assert found is not None
        return self._read(found, verify=verify)

    def _missing(self, beginning: str) -> str:
        copy = "name a copy (--data PATH, or the environment variable NEWFOUND_DATA)"
        if not self.sources:
            return f"{beginning}; {copy}."
        command = f"{self.download_command}, " if self.download_command else ""
        return (
            f"{beginning}; {copy}, or allow its download from {self.sources[0].urls[0]} ({command}"
            f"in Python lab.load_{self.name}(download=True))."
        )

    def find(self, path: Path) -> Path | None:
        """Return a copy: the path itself if it is a file, or one in that folder."""
        if path.is_file():
            return path
        for folder in (path / self.name, path):
            names = [f"{self.name}.jsonl.gz", f"{self.name}.jsonl", *self.archives]
            names += [self.json_file] if self.json_file else []
            for name in names:
                if (folder / name).is_file():
                    return folder / name
            if self.member is not None and next(read_tree(folder, self.member), None) is not None:
                return folder
        return None

    def _read(self, path: Path, *, verify: bool) -> tuple[list[Post], str, int]:
        recoded = 0
        if path.name.endswith((".jsonl", ".jsonl.gz")):
            posts = list(read_jsonl(path, required=self.required))
        elif path.name.endswith(".json") and self.json_posts is not None:
            posts = list(self.json_posts(path))
        elif (
            self.post is not None
            and self.member is not None
            and (path.is_dir() or is_archive(path))
        ):
            read = read_tree if path.is_dir() else read_archive
            pairs = [self.post(match, raw) for match, raw in read(path, self.member)]
            posts = [post for post, _ in pairs]
            recoded = sum(other for _, other in pairs)
        else:
            raise DatasetError(f"{path} has none of the known layouts of {self.title}.")
        if verify:
            check_content(
                posts,
                self.counts(posts),
                self.content,
                name=self.title,
                source=str(path),
                dated="date" in self.required,
            )
        return posts, str(path), recoded
