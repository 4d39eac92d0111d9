"""A real browser for tests: Chromium (Debian: ``apt-get install chromium``) and Playwright.

Tests that need it are skipped, visibly, without; `NEWFOUND_REQUIRE_BROWSER=1` makes them fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSER = os.environ.get("NEWFOUND_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
try:
    from playwright.sync_api import Page, sync_playwright
except ImportError:
    Page = sync_playwright = None  # type: ignore[assignment,misc]

_REQUIRED = os.environ.get("NEWFOUND_REQUIRE_BROWSER") == "1"
needs_browser = [
    pytest.mark.slow,
    pytest.mark.skipif(
        (BROWSER is None or sync_playwright is None) and not _REQUIRED,
        reason="needs Chromium and playwright",
    ),
]
AXE = Path(__file__).resolve().parent / "vendor" / "axe.min.js"

__all__ = ["AXE", "Page", "launched", "needs_browser"]


@contextmanager
def launched() -> Iterator[Any]:
    """Start the browser; in the end, close it."""
    assert sync_playwright is not None, "playwright is not installed"
    assert BROWSER is not None, "there is no Chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()
