"""Make the pictures of the README and of the tutorial: reports, as Chromium shows them.

``python tools/picture.py`` writes ``docs/report.png`` and ``docs/tutorial.png``; it needs Chromium
and playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import run_docs

import newfound
from newfound.show.page import write_report

DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Describe, report, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=DOCS, help="where to write the pictures")
    parser.add_argument("--dark", action="store_true", help="as on a dark desktop")
    asked = parser.parse_args()
    browser = os.environ.get("NEWFOUND_BROWSER") or shutil.which("chromium")
    if browser is None:
        sys.exit("There is no Chromium; install it, or name a browser in NEWFOUND_BROWSER.")
    scheme, target = "dark" if asked.dark else "light", asked.folder.resolve()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        known, novel = newfound.load_sample()
        describer = newfound.describe(known, novel, random_state=0)
        title = "Requests about travel, against requests about banking"
        write_report(path, describer.description_, known=known, novel=novel, title=title)
        take(path, target / "report.png", browser, scheme)
    with run_docs.empty_folder():
        run_docs.run_page(DOCS / "tutorial.md")
        take(Path("may.html").resolve(), target / "tutorial.png", browser, scheme)


def take(report: Path, picture: Path, browser: str, scheme: str) -> None:
    """Show the top of a report, down to the end of the first themes."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(
            viewport={"width": 1120, "height": 2400},
            color_scheme=scheme,  # type: ignore[arg-type,unused-ignore]
            reduced_motion="reduce",
        )
        page.goto(report.as_uri())
        page.click(".theme summary")
        page.wait_for_selector(".theme .original")
        shown = ".themes > li:nth-child(-n + 6)"  # the first six, or all of fewer
        end = page.eval_on_selector_all(shown, "e => e.at(-1).getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": 1120, "height": int(end) + 8}
        page.screenshot(path=picture, clip=clip)  # type: ignore[arg-type,unused-ignore]
        chromium.close()
    print(f"wrote {picture}")


if __name__ == "__main__":
    main()
