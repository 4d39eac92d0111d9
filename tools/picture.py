"""Make the README's picture: the report of the bundled sample, as Chromium shows it.

``python tools/picture.py`` writes ``docs/report.png``; it needs Chromium and playwright.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

import newfound
from newfound.report import write_report

TARGET = Path(__file__).resolve().parent.parent / "docs" / "report.png"


def main() -> None:
    """Describe, report, take the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=TARGET, help="where to write the picture")
    parser.add_argument("--dark", action="store_true", help="as on a dark desktop")
    asked = parser.parse_args()
    browser = os.environ.get("NEWFOUND_BROWSER") or shutil.which("chromium")
    if browser is None:
        sys.exit("There is no Chromium; install it, or name a browser in NEWFOUND_BROWSER.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        known, novel = newfound.load_sample()
        describer = newfound.describe(known, novel, random_state=0)
        title = "Requests about travel, against requests about banking"
        write_report(path, describer, known=known, novel=novel, title=title)
        take(path, asked.output, browser, "dark" if asked.dark else "light")
    print(f"wrote {asked.output}")


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
        shown = ".themes > li:nth-child(6)"
        end = page.eval_on_selector(shown, "e => e.getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": 1120, "height": int(end) + 8}
        page.screenshot(path=picture, clip=clip)  # type: ignore[arg-type,unused-ignore]
        chromium.close()


if __name__ == "__main__":
    main()
