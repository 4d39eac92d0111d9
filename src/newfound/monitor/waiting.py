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

AGREE, _ENOUGH = 3, 20  # documents that are believed, at least; in windows of many, at most
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
        """Return those that are far ahead, the earliest first, which wait no longer."""
        found, self.ahead, self.others = sorted(self.ahead, key=_time), [], 0
        return found

    def take_agreed(self, span: float, usual: int) -> list[Document]:
        """Return those that are far ahead and agree on where the stream is, the earliest first.

        They are within a span of time, and more than the documents that have come in time since.
        A window has `usual` documents. The others go on waiting.
        """
        last = _time(self.ahead[-1])
        found = [one for one in self.ahead if abs(_time(one) - last) <= span]
        if len(found) <= max(self.others, min(max(AGREE, usual // 4), _ENOUGH) - 1):
            return []
        kept = {id(one) for one in found}
        self.ahead, self.others = [one for one in self.ahead if id(one) not in kept], 0
        return sorted(found, key=_time)

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


def _time(document: Document) -> float:
    return document.time or 0.0


def _data(documents: Iterable[Document]) -> list[dict[str, Any]]:
    return [{**vars(document), "bag": sorted(document.bag)} for document in documents]


def _documents(data: Iterable[Mapping[str, Any]]) -> list[Document]:
    return [Document(**{**row, "bag": frozenset(row["bag"])}) for row in data]
