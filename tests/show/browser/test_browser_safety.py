"""The report asks the network nothing, obeys no document, and can be read by everyone."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from browsers import needs_browser
from formulas import GUARDED, KEPT
from newfound.table import guard_formula
from report_browsing import FOREIGN, Open, saved, violations

pytestmark = needs_browser


class TestHostile:
    def test_documents_do_nothing_and_break_nothing(self, open_page: Open, hostile: Path) -> None:
        page = open_page(hostile, width=390)
        while page.locator("#documents .foot > button:visible").count():
            page.click("#documents .foot > button")
        texts = "\n".join(page.locator("#documents .original").all_inner_texts())
        assert "<script>window.hacked = 1</script>" in texts
        assert "onerror" in texts
        for word in ("rugby", "try", "scrum"):
            page.fill("#words-search", word)
            page.press("#words-search", "Enter")
            page.keyboard.press("Escape")
        assert page.evaluate("window.hacked") is None
        assert page.locator(FOREIGN).count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        title = page.locator("h1").inner_text()
        assert "<script>window.hacked = 10</script>" in title

    def test_downloads_hold_no_formula(self, open_page: Open, hostile: Path) -> None:
        page = open_page(hostile)
        text = saved(page, "Download the documents as CSV")
        table = list(csv.DictReader(io.StringIO(text)))
        assert any("HYPERLINK" in row["text"] for row in table)
        assert any(row["document"].startswith("'=old") for row in table)
        for row in table:
            for name, cell in row.items():
                if name not in ("novelty", "rank"):
                    assert cell.strip("\u202e\u200f \t")[:1] not in tuple("=+-@"), cell
        records = json.loads(saved(page, "Download the documents as JSON"))
        assert any(row["text"].startswith("=HYPERLINK") for row in records)

    def test_downloads_guard_the_same_texts_as_tables(self, open_page: Open, report: Path) -> None:
        call = "texts => newfound.csv(['=name'], texts.map((text) => ({ '=name': text })))"
        texts = [*GUARDED, *KEPT]
        saved = open_page(report).evaluate(call, texts)
        table = list(csv.reader(io.StringIO(saved, newline="")))
        expected = [f"'{text}" if text in GUARDED else text for text in texts]
        assert [row[0] if row else "" for row in table] == ["'=name", *expected]
        assert expected == [guard_formula(text) for text in texts]

    def test_the_policy_stops_what_is_not_of_the_page(self, browser: Any, hostile: Path) -> None:
        context = browser.new_context(offline=True)
        page = context.new_page()
        page.goto(hostile.as_uri())
        page.wait_for_selector("html[data-ready]")
        page.evaluate(
            """() => {
                window.refused = [];
                document.addEventListener("securitypolicyviolation", (violation) =>
                    window.refused.push(violation.effectiveDirective));
                const script = document.createElement("script");
                script.textContent = "window.hacked = 11";
                document.body.append(script);
                const image = document.createElement("img");
                image.setAttribute("onerror", "window.hacked = 12");
                image.src = "https://example.org/x.png";
                document.body.append(image);
            }"""
        )
        while page.evaluate("window.refused.length") < 3:  # the script, the handler, the image
            page.wait_for_timeout(20)
        assert page.evaluate("window.hacked") is None
        context.close()


class TestForEveryone:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_no_violation(self, open_page: Open, sample: Path, scheme: Any) -> None:
        page = open_page(sample, color_scheme=scheme)
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert violations(page) == []
        page.locator("#words-table button.word").first.click()
        assert violations(page) == []

    def test_axe_finds_no_violation_on_a_phone(self, open_page: Open, sample: Path) -> None:
        assert violations(open_page(sample, width=360, height=740)) == []

    @pytest.mark.parametrize("width", [320, 390, 768, 1280, 1920])
    def test_nothing_sticks_out_sideways(self, open_page: Open, sample: Path, width: int) -> None:
        page = open_page(sample, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator("#words-table button.word").first.click()
        assert page.evaluate("document.getElementById('card').scrollWidth") <= width

    def test_dark_follows_the_system_or_the_button(self, open_page: Open, report: Path) -> None:
        ground = "getComputedStyle(document.body).backgroundColor"
        page = open_page(report, color_scheme="light")
        light = page.evaluate(ground)
        page.click("#theme")
        assert page.evaluate(ground) == light
        page.click("#theme")
        dark = page.evaluate(ground)
        assert dark != light
        assert open_page(report, color_scheme="dark").evaluate(ground) == dark

    def test_paper_is_light_and_without_controls(self, open_page: Open, report: Path) -> None:
        page = open_page(report, color_scheme="dark")
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert page.locator(".bar").is_hidden()
        assert page.locator("#words .filters").is_hidden()
        assert page.locator("#words-table").is_visible()

    def test_without_scripts_the_sentence_is_there(self, browser: Any, report: Path) -> None:
        context = browser.new_context(java_script_enabled=False, offline=True)
        page = context.new_page()
        page.goto(report.as_uri())
        assert "novel documents" in page.inner_text(".sentence")
        assert "allow them to see it" in page.inner_text("noscript")
        context.close()
