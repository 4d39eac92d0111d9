"""Check the built site: ``python tools/check_site.py build/docs``.

Every link inside the site leads to a file, and to an anchor of it where it names one. No page loads
anything from another host.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("img", "src"), ("script", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what a tag names."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADS:
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)


@cache
def page_of(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path)


def problems(site: Path) -> list[str]:
    """Return a sentence for each link that leads nowhere and for each load from another host."""
    found = []
    for path in sorted(site.rglob("*.html")):
        page = page_of(path)
        name = path.relative_to(site)
        for link in [*page.links, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{name} loads {link}")
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if not target.is_file():
                found.append(f"{name}: {link} is not a file of the site")
            elif (
                target.suffix == ".html" and unquote(parts.fragment) not in page_of(target).anchors
            ):
                found.append(f"{name}: {link} names an anchor that the page does not have")
    for path in sorted(site.rglob("*.css")):
        if "url(http" in path.read_text("utf-8").replace('"', ""):
            found.append(f"{path.relative_to(site)} loads from another host")
    return found


def main() -> None:
    """Print what is wrong; the exit status is 1 if anything is."""
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    pages = len(list(site.rglob("*.html")))
    print("\n".join(found) or f"{pages} pages: every link leads somewhere, all of it is local")
    sys.exit(1 if found or not pages else 0)


if __name__ == "__main__":
    main()
