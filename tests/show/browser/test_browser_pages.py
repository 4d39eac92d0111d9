"""Pages of themes, periods, detections, streams and odd sizes in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from browsers import Page, needs_browser
from newfound.show.collect import Limits, collect, gather
from newfound.show.page import MAX_BYTES, render, write_report
from report_browsing import FOREIGN, HOSTILE, KNOWN, LINES, NOVEL, SMALL, Open, saved, violations

pytestmark = needs_browser


class TestNames:
    def test_no_sentence_calls_the_piles_known_or_novel(
        self, open_page: Open, described: Any, tmp_path: Path
    ) -> None:
        path = tmp_path / "named.html"
        names = {"known_name": "cricket", "novel_name": "<i>March</i> 2024"}
        described.report(path, known=KNOWN, novel=NOVEL, **names)
        page = open_page(path)
        page.locator("#words-table tbody button").first.click()
        # All that can be read or heard, also what only a pointer shows, and options of a list.
        said = page.evaluate(
            """() => [...document.querySelectorAll("body *:not(script)")].flatMap((element) => [
                 ...[...element.childNodes].filter((node) => node.nodeType === 3)
                   .map((node) => node.data),
                 element.getAttribute("title"), element.getAttribute("aria-label")])
               .filter(Boolean).join("\\n")"""
        )
        assert "“<i>March</i> 2024” documents" in said and "cricket documents" in said
        left = re.findall(r".*\b(?:known|novel)\b.*", said, re.IGNORECASE)
        left = [line for line in left if not line.startswith("The most novel first.")]
        assert not left
        assert page.locator("body i").count() == 0


class TestThemes:
    def test_they_come_first_and_open_by_keyboard(self, open_page: Open, dated: Path) -> None:
        page = open_page(dated)
        assert page.locator("main > section:not([hidden])").nth(1).get_attribute("id") == "themes"
        name = page.locator(".theme h3").first.inner_text()
        assert name in page.inner_text(".sentence")
        page.focus(".theme summary")
        page.keyboard.press("Enter")
        opened = page.locator(".theme").first
        assert opened.get_attribute("open") is not None
        opened.locator(".original").first.wait_for()
        assert opened.locator(".original").count() == 3
        assert opened.locator(".original mark.novel").count() >= 3
        assert "novel document" in opened.locator(".rules").inner_text()
        assert "are in no sure theme" in page.inner_text("#themes .lead")
        word = opened.locator(".chips button.word").first
        text = word.inner_text()
        word.click()
        assert page.locator("#card h3 bdi").inner_text() == text
        assert "first seen 200" in page.inner_text("#card")
        assert page.locator("#card svg.bars .novel").count() >= 1

    def test_the_strip_has_all_documents_and_every_theme(
        self, open_page: Open, dated: Path
    ) -> None:
        page = open_page(dated)
        names = page.locator(".strip .of bdi").all_inner_texts()
        assert names == ["All documents", *page.locator(".theme h3:visible").all_inner_texts()]
        assert "the novel documents begin on 2004-01-01" in page.inner_text("#time .legend")
        assert page.locator(".strip .boundary").count() == len(names)
        page.click("#time details > summary")
        assert page.locator("#time-table thead th").count() == 4 + len(names) - 1
        records = json.loads(saved(page, "Download the documents over time as JSON"))
        assert sum(row["all"] for row in records) == 3000

    def test_what_may_be_chance_stands_apart_and_what_went_is_told(
        self, open_page: Open, tmp_path: Path, described: Any
    ) -> None:
        data = collect(described.description_, gather(described.description_), Limits())
        first = {**data["themes"]["rows"][0], "parts": [], "curve": None}
        data["themes"] = {
            "rows": [
                {**first, "name": "sure", "parts": [{**first, "name": "a part"}]},
                {**first, "name": "unsure", "may_be_chance": True},
            ],
            "total": 2,
            "may_be_chance": 1,
            "gone": [{**first, "name": "went", "gone": True}],
            "loose": [{"word": "alone", "example": "it stands alone <b>here</b>"}],
            "n_loose": 3,
            "unexplained": 0.25,
        }
        path = tmp_path / "apart.html"
        path.write_text(render({**data, "title": "x"}), encoding="utf-8")
        page = open_page(path)
        themes = page.locator("#themes")
        assert themes.locator("h3:visible").all_inner_texts()[:1] == ["sure"]
        assert not themes.get_by_text("unsure", exact=True).is_visible()
        page.click("#themes summary:has-text('1 more theme may be chance')")
        themes.get_by_text("unsure", exact=True).wait_for()
        page.click("#themes summary:has-text('Also new, mostly in no sure theme: 3 words')")
        themes.get_by_text("it stands alone").wait_for()
        assert "alone it stands alone <b>here</b>" in themes.inner_text().replace("\n", " ")
        assert "and 2 other words" in themes.inner_text()
        assert themes.locator(".gone h4").all_inner_texts() == ["went"]
        page.click("#themes .theme summary >> nth=0")
        themes.get_by_text("a part", exact=True).wait_for()
        assert "1 part" in themes.locator(".theme").first.inner_text()

    def test_no_theme_is_said(self, open_page: Open, tmp_path: Path, described: Any) -> None:
        data = collect(described.description_, gather(described.description_), Limits())
        none: dict[str, Any] = {"rows": [], "gone": [], "loose": [], "n_loose": 0}
        data["themes"] = {**none, "total": 0, "unexplained": None}
        path = tmp_path / "none.html"
        path.write_text(render({**data, "title": "x"}), encoding="utf-8")
        page = open_page(path)
        assert "No theme was found" in page.inner_text("#themes")
        assert page.locator("#new .dozen").count() == 1

    def test_twelve_hostile_and_very_long_themes(
        self, open_page: Open, tmp_path: Path, described: Any
    ) -> None:
        data = collect(described.description_, gather(described.description_), Limits())
        first = data["themes"]["rows"][0]
        names = [*HOSTILE[:6], "w" * 100, "a " * 50, "\u202ertl", "=1+1", "☃", "x"]
        data["themes"]["rows"] = [
            {
                **first,
                "name": name,
                "words": [name, *first["words"]],
                "rules": [{**first["rules"][0], "words": [name]}],
                "joined": [[name, name, 0.5]],
                "documents": [{"name": name, "date": None, "pieces": [name]}],
            }
            for name in names
        ]
        path = tmp_path / "hostile.html"
        path.write_text(render({**data, "title": "x"}), encoding="utf-8")
        page = open_page(path, width=360)
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        page.locator(".theme .original").nth(11).wait_for()
        assert page.locator(".theme h3").all_inner_texts()[0] == names[0]
        assert page.evaluate("window.hacked") is None
        assert page.locator(FOREIGN).count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 360

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_no_violation(self, open_page: Open, dated: Path, scheme: Any) -> None:
        for width in (1280, 360):
            page = open_page(dated, color_scheme=scheme, width=width)
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
            page.locator(".theme .original").first.wait_for()
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


class TestPeriods:
    def test_the_index_leads_to_each_period(self, open_page: Open, periods: Path) -> None:
        page = open_page(periods)
        assert page.locator(".index a").all_inner_texts() == ["2003-02", "2003-03"]
        assert page.locator(".period h2").all_inner_texts() == ["2003-02", "2003-03"]
        page.click(".index a:has-text('2003-03')")
        assert page.evaluate("location.hash") == "#period-2"
        last = page.locator("#period-2")
        assert "300 documents, compared with 800 before" in last.inner_text()
        name = last.locator(".theme h3").first.inner_text()
        assert name in page.inner_text(".index")
        last.locator(".theme summary").first.click()
        last.locator(".original").first.wait_for()
        assert last.locator(".original mark.novel").count()
        assert last.locator("tbody tr").count() == 10
        assert last.locator("tbody svg.bars").count() == 10
        assert f"2003-03: {name}" in page.locator(".strip .of bdi").all_inner_texts()

    def test_long_names_of_values_have_room(self, open_page: Open, periods: Path) -> None:
        for width, lines in ((1280, 1), (360, 2)):
            page = open_page(periods, width=width)
            link = page.locator(".index a").first
            link.evaluate("link => { link.textContent = 'comp.sys.ibm.pc.hardware'; }")
            assert link.evaluate(LINES) <= lines
            assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_its_words_are_saved(self, open_page: Open, periods: Path) -> None:
        page = open_page(periods)
        text = saved(page, "Download the words of 2003-03 as CSV")
        table = list(csv.DictReader(io.StringIO(text)))
        assert {row["period"] for row in table} == {"2003-03"}
        assert len(table) == 20

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_no_violation(self, open_page: Open, periods: Path, scheme: Any) -> None:
        for width in (1280, 360):
            page = open_page(periods, color_scheme=scheme, width=width)
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
            page.locator(".theme .original").first.wait_for()
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


class TestDetection:
    @pytest.fixture
    def page(self, open_page: Open, detected: Path) -> Page:
        return open_page(detected)

    def test_documents_come_with_p_values_reasons_and_groups(self, page: Page) -> None:
        assert "of the 140 incoming documents are called new" in page.inner_text(".sentence")
        first = page.locator("#documents article").first
        assert "p 0.0" in first.inner_text()
        assert "nearest: " in page.inner_text("#documents")
        assert "New: *" in first.locator(".reasons").inner_text()
        assert first.locator("mark.novel").count()
        assert page.locator("#documents svg.chart").count() == 1
        assert page.locator(".groups li").count() >= 1

    def test_documents_are_filtered_by_group(self, page: Page) -> None:
        name = page.locator(".groups b").first.inner_text()
        page.select_option("#documents-group", name)
        shown = page.locator("#documents article").all_inner_texts()
        assert shown
        assert all(f"group: {name}" in text for text in shown)
        page.select_option("#documents-group", "")
        page.select_option("#documents-side", "known")
        sides = page.locator("#documents header .side").all_inner_texts()
        assert {side.split()[-1] for side in sides} == {"known"}

    def test_the_table_of_documents_is_saved(self, page: Page) -> None:
        text = saved(page, "Download the documents as CSV")
        table = list(csv.DictReader(io.StringIO(text)))
        assert {"document", "novel", "p_value", "nearest", "group", "text"} <= set(table[0])
        assert float(table[0]["p_value"]) <= 0.05

    def test_axe_finds_no_violation(self, page: Page) -> None:
        assert violations(page) == []


class TestSizes:
    def test_one_novel_word(self, open_page: Open, tmp_path: Path) -> None:
        known = ["A wicket fell", "An over of spin", "The bat and ball", "A late spin over"] * 10
        novel = [f"{text} scrum" for text in known]
        describer = newfound.describe(known, novel, **SMALL)
        path = tmp_path / "one.html"
        write_report(path, describer.description_, known=known, novel=novel)
        page = open_page(path)
        assert page.inner_text(".sentence").replace("\u00a0", " ") == (
            "New above all in the 40 novel documents: scrum (100 % of them, 0 % of the known ones)."
        )
        page.click(".dozen button:has-text('scrum')")
        assert page.locator("#card h3").inner_text().endswith("scrum")
        assert page.locator("#card .none", has_text="No known document has it").count() == 1

    def test_no_novel_word(self, open_page: Open, tmp_path: Path) -> None:
        generator = np.random.default_rng(3)
        words = np.array(["bat", "ball", "spin", "wicket", "umpire", "innings", "pitch", "stump"])
        texts = [" ".join(generator.choice(words, 4)) for _ in range(80)]
        known, novel = texts[:40], texts[40:]
        describer = newfound.describe(known, novel, n_clauses=4, epochs=1, random_state=1)
        path = tmp_path / "none.html"
        write_report(path, describer.description_, known=known, novel=novel)
        page = open_page(path)
        assert "Nothing stands out" in page.inner_text(".sentence")
        assert page.locator(".dozen").count() == 0
        assert page.locator("#words-table tbody tr").count()
        assert page.locator("#documents .original").count()

    def test_without_texts(self, open_page: Open, described: Any, tmp_path: Path) -> None:
        described.save(tmp_path / "model")
        path = tmp_path / "x.html"
        newfound.load(tmp_path / "model").report(path)
        page = open_page(path)
        assert "need the texts" in page.inner_text("#documents")
        page.click(".dozen button")
        assert "Sentences need the texts" in page.inner_text("#card")

    def test_200_000_documents(self, open_page: Open, tmp_path: Path) -> None:
        generator = np.random.default_rng(1)
        words = np.array([f"word{i}" for i in range(400)])
        places = generator.zipf(1.3, size=(200_000, 6)) % len(words)
        texts = [" ".join(row) for row in words[places]]
        known = texts[:150_000]
        novel = [
            f"{text} scrum{i % 50} rugby" if i % 2 else text
            for i, text in enumerate(texts[150_000:])
        ]
        describer = newfound.describe(
            known, novel, n_machines=2, n_clauses=20, epochs=1, random_state=1
        )
        path = tmp_path / "large.html"
        write_report(path, describer.description_, known=known, novel=novel)
        assert path.stat().st_size <= MAX_BYTES
        page = open_page(path)
        assert "50,000 novel documents" in page.inner_text(".sentence")
        page.fill("#words-search", "rugby")
        page.press("#words-search", "Enter")
        assert "25,000 (50 %)" in page.inner_text("#card .facts")


class TestMonitor:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_no_violation(self, open_page: Open, monitored: Path, scheme: Any) -> None:
        page = open_page(monitored, ready="#settings", color_scheme=scheme)
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert violations(page) == []

    def test_alerts_rate_and_topics_are_read_by_keyboard(
        self, open_page: Open, monitored: Path
    ) -> None:
        page = open_page(monitored, ready="#settings")
        assert "1 alert, 1 topic;" in page.inner_text(".sentence")
        assert "first seen in window 9, last in window 12" in page.inner_text("#topics")
        assert "zeppelin" in page.inner_text("#alerts")
        assert page.locator("#rate svg rect").count() >= 5
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        numbers = page.locator("#rate details")
        assert numbers.locator("table").is_hidden()
        numbers.locator("summary").focus()
        page.keyboard.press("Enter")
        assert numbers.locator("tbody tr").count() == 12
        numbers.locator("table").wait_for()

    @pytest.mark.parametrize("width", [320, 1280])
    def test_dates_do_not_wrap(self, open_page: Open, monitored: Path, width: int) -> None:
        page = open_page(monitored, width=width, ready="#settings")
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        for table in ("#alerts", "#rate"):
            cell = page.locator(f"{table} tbody tr:first-child > :first-child")
            cell.evaluate("cell => { cell.textContent = '2003-05-05 10:00'; }")
            page.eval_on_selector_all(
                f"{table} tbody tr:first-child > :last-child",
                "all => all.forEach(one => { one.textContent = 'what is new '.repeat(50); })",
            )
            assert cell.evaluate(LINES) == 1

    @pytest.mark.parametrize("width", [320, 1280])
    def test_alerts_need_no_scrolling_and_lead_to_their_topics(
        self, open_page: Open, monitored: Path, width: int
    ) -> None:
        page = open_page(monitored, width=width, ready="#settings")
        page.locator("#alerts .when").first.evaluate(
            "cell => { cell.textContent = '2003-05-05T10:00:00Z'; }"
        )
        table = page.locator("#alerts .scroll")
        assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
        page.locator("#alerts tbody a").first.click()
        assert page.locator(":target").get_attribute("id") == "topic-1"

    def test_texts_do_nothing(self, open_page: Open, monitored: Path) -> None:
        page = open_page(monitored, ready="#settings")
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert page.evaluate("window.hacked") is None
        assert page.locator(FOREIGN).count() == 0
        assert "<script>window.hacked = 11</script>" in page.inner_text("h1")

    @pytest.mark.parametrize("width", [320, 1280])
    def test_nothing_sticks_out_sideways(
        self, open_page: Open, monitored: Path, width: int
    ) -> None:
        page = open_page(monitored, width=width, ready="#settings")
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
