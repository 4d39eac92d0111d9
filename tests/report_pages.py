"""Reads the data of a report back from its page."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any


class PageReader(HTMLParser):
    """Reads the block of data, and counts elements."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.text = ""
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.inside = ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.text += data


def read(path: Path) -> dict[str, Any]:
    """Return the data of a page."""
    parser = PageReader()
    parser.feed(path.read_text(encoding="utf-8"))
    data: dict[str, Any] = json.loads(parser.text)
    return data


def text_of(excerpt: dict[str, Any]) -> str:
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in excerpt["pieces"])
