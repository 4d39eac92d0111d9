"""Documents that wait: for late ones before them, or until others agree with their time.

A document whose time is beyond the window after the open one may have a wrong clock. It waits until
more documents agree with it than not. If documents go on coming in the open window, they are right:
it gets the time of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from newfound.monitor.records import Document

__all__ = ["AGREE", "Waiting"]

AGREE = 3  # documents that are believed
_GIVEN_UP = 20  # documents of the open window after which one that waits is not believed

Data = dict[str, list[dict[str, Any]] | int]


@dataclass
class Waiting:
    """Documents that have come, but are in no window yet.

    Attributes
    ----------
    early : list of Document
        Those of later windows, while documents of the open one may be late.
    ahead : list of Document
        Those that are far ahead of the others.
    others : int
        How many documents have come in time since the first of these.
    """

    early: list[Document] = field(default_factory=list)
    ahead: list[Document] = field(default_factory=list)
    others: int = 0

    def __len__(self) -> int:
        return len(self.early) + len(self.ahead)

    def take_early(self) -> list[Document]:
        """Return those of later windows, which wait no longer."""
        found, self.early = self.early, []
        return found

    def take_ahead(self) -> list[Document]:
        """Return those that are far ahead, which wait no longer."""
        found, self.ahead, self.others = self.ahead, [], 0
        return found

    def agree(self) -> bool:
        """Return whether those that are far ahead are believed."""
        return len(self.ahead) >= max(AGREE, self.others + 1)

    def are_wrong(self) -> bool:
        """Return whether those that are far ahead are not believed."""
        return bool(self.ahead) and self.others >= max(_GIVEN_UP, len(self.ahead))

    def to_data(self) -> Data:
        """Return it as plain data."""
        return {"early": _data(self.early), "ahead": _data(self.ahead), "others": self.others}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Waiting:
        """Return what `to_data` has."""
        return cls(_documents(data["early"]), _documents(data["ahead"]), int(data["others"]))


def _data(documents: Iterable[Document]) -> list[dict[str, Any]]:
    return [{**vars(document), "bag": sorted(document.bag)} for document in documents]


def _documents(data: Iterable[Mapping[str, Any]]) -> list[Document]:
    return [Document(**{**row, "bag": frozenset(row["bag"])}) for row in data]
