"""Reports in a browser: what they are made from, and what is read off their tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from browsers import AXE, Page

LINES = """element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getClientRects().length;
}"""
KNOWN = [
    "The batsman hit six in England.",
    "A cricket match against England, and spin bowling.",
    "Six wickets fell in the match; the umpire waited.",
    "The bowler took a wicket with spin.",
] * 8
NOVEL = [
    "The scrum won the ball, and the fly-half kicked.",
    "A rugby match in England with a late try.",
    "Old rugby try by the flanker, no wicket.",
    "The scrum-half fed the scrum before the try.",
] * 8
SMALL: dict[str, Any] = {
    "n_machines": 3, "n_clauses": 60, "epochs": 10, "min_df": 1, "fold_copies": False,
    "random_state": 1,
}  # fmt: skip
# Each would do something if a browser ever read it as anything but text.
HOSTILE = [
    "<script>window.hacked = 1</script> rugby scrum",
    "</script><script>window.hacked = 2</script> rugby try",
    "<img src=x onerror='window.hacked = 3'> rugby scrum",
    "<a href='javascript:window.hacked=4'>rugby</a> try",
    "<svg onload=window.hacked=5> rugby <style>body{display:none}</style> scrum",
    "<iframe srcdoc='<script>parent.hacked=6</script>'></iframe> rugby try <!-- ",
    "\u202ertl rugby\u202d scrum \u2066isolate\u2067 try \u200frugby",
    "=HYPERLINK(1) rugby scrum",
    "+cmd|' /C calc'!A0 rugby try",
    '@SUM(A1) rugby, "quoted"\nscrum',
    "-2+3 rugby \t=1+1 try",
    "x" * 100_000 + " rugby scrum",
    "rugby " + "y" * 100_000 + " try",
    "{{ 7*7 }} ${window.hacked = 7} {% x %} rugby 😀 scrum \u2028\u2029 try",
]

# What only a document could have put on the page. Its own links lead to other places on it.
FOREIGN = 'main :is(img, iframe, script, a:not([href^="#"]), :not(svg) > style)'
Open = Callable[..., "Page"]


class Watched:
    """A page opened from disk without a network; in the end nothing went wrong on it."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []
        self.requests: list[str] = []
        self.messages: list[str] = []

    def watch(self, page: Page) -> None:
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("dialog", lambda dialog: self.messages.append(f"dialog: {dialog.message}"))


def rows(page: Page, table: str = "words") -> list[str]:
    """Return the first cells of a table, without marks and forms."""
    words: list[str] = page.eval_on_selector_all(
        f"#{table}-table tbody tr", "rows => rows.map(row => row.querySelector('bdi').textContent)"
    )
    return words


def column(page: Page, number: int, table: str = "words") -> list[float]:
    cells: list[str] = page.eval_on_selector_all(
        f"#{table}-table tbody tr", f"rows => rows.map(row => row.cells[{number}].textContent)"
    )
    return [float(cell.replace("−", "-").replace(",", "").replace("+", "")) for cell in cells]


def saved(page: Page, label: str) -> str:
    """Save a table by its button; return the file."""
    with page.expect_download() as waiting:
        page.click(f"button[aria-label='{label}']")
    return Path(waiting.value.path()).read_text(encoding="utf-8-sig")


def violations(page: Page) -> list[str]:
    """Return what is hard to read or use for some, as axe says."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
