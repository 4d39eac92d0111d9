"""The report in a real browser: search, sorting, addresses, downloads and keyboard."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from browsers import Page, needs_browser
from newfound.show.collect import Limits, collect, gather
from newfound.show.page import render, write_report
from report_browsing import KNOWN, NOVEL, Open, column, rows, saved
from report_pages import read, text_of

pytestmark = needs_browser


class TestReading:
    def test_from_the_file_to_the_card_of_a_word(
        self, open_page: Open, report: Path, described: Any
    ) -> None:
        page = open_page(report)
        word = page.locator(".dozen button").first.inner_text().lower()
        assert word in page.inner_text(".sentence").lower()
        page.click(".dozen button")
        card = page.locator("#card")
        assert card.locator("h3 bdi").inner_text() == word
        row = described.words_.row(word)
        share = round(100 * row["documents_novel"] / len(NOVEL))
        assert f"{row['documents_novel']} ({share} %)" in card.locator(".facts").inner_text()
        sentences = card.locator(".original").all_inner_texts()
        assert sentences
        assert all(any(shown in text for text in KNOWN + NOVEL) for shown in sentences)
        hits = card.locator(".hit").all_inner_texts()
        assert {hit.lower() for hit in hits} <= set(row["forms"])
        assert len(hits) >= len(sentences)

    def test_every_section_is_there(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        shown = page.eval_on_selector_all(
            "main > section:not([hidden])", "sections => sections.map(section => section.id)"
        )
        wanted = ["new", "themes", "words", "rules", "context", "documents", "certainty", "made"]
        assert [name for name in shown if name != "senses"] == wanted
        links = page.locator("nav a").all_inner_texts()
        assert len(links) == len(shown) - 1
        assert page.locator("svg.chart").count() >= 4

    def test_search_filters_table_and_scatter(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        everything = rows(page)
        page.fill("#words-search", "scrum")
        assert sorted(rows(page)) == ["scrum", "scrum-half"]
        assert page.locator("#words .count").inner_text().startswith("2 of ")
        labels = page.locator("#words .labels text").all_text_contents()
        assert set(labels) <= {"scrum", "scrum-half"}
        page.fill("#words-search", "wickets")  # a form finds its word
        assert rows(page) == ["wicket"]
        page.fill("#words-search", "")
        page.select_option("#words-side", "known")
        sides = page.locator("#words-table tbody td:nth-child(2)").all_inner_texts()
        assert set(sides) == {"known"}
        page.select_option("#words-side", "")
        page.fill("#words-least", "10")
        assert 0 < len(rows(page)) < len(everything)

    def test_nothing_found_is_said(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        page.fill("#words-search", "qqqq")
        assert rows(page) == []
        assert page.locator("#words .count").inner_text().startswith("0 of ")

    def test_sorting_by_each_column(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        heads = page.locator("#words-table thead th")
        for number in range(2, heads.count()):
            if (
                "interval" in heads.nth(number).inner_text()
                or "%"
                in page.locator("#words-table tbody tr")
                .first.locator("td")
                .nth(number - 1)
                .inner_text()
            ):
                continue
            button = heads.nth(number).locator("button")
            already = heads.nth(number).get_attribute("aria-sort") == "descending"
            if not already:
                button.click()
            assert heads.nth(number).get_attribute("aria-sort") == "descending"
            if "<" not in page.inner_text("#words-table tbody"):
                values = column(page, number)
                assert values == sorted(values, reverse=True)
            button.click()
            assert heads.nth(number).get_attribute("aria-sort") == "ascending"
        heads.first.locator("button").click()
        assert rows(page) == sorted(rows(page), key=str.casefold)

    def test_by_keyboard_alone(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.focus("#words-search")
        page.keyboard.type("flanker")
        page.keyboard.press("Enter")
        assert page.locator("#card h3").inner_text().endswith("flanker")
        assert page.evaluate("document.activeElement.id") == "card-word"
        page.keyboard.press("ArrowLeft")
        other = page.locator("#card h3").inner_text()
        assert not other.endswith("flanker")
        page.keyboard.press("ArrowRight")
        assert page.locator("#card h3").inner_text().endswith("flanker")
        page.keyboard.press("Escape")
        assert page.locator("#card[open]").count() == 0
        assert page.evaluate("document.activeElement.id") == "words-search"
        page.focus("#words-table thead th:nth-child(3) button")
        page.keyboard.press("Enter")
        assert page.get_attribute("#words-table thead th:nth-child(3)", "aria-sort") == "ascending"

    def test_hover_and_click_in_the_scatter(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        mark = page.locator("#words svg [data-part=dot] path").last
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_selector("#words svg [aria-label=tip] text")
        tip = page.locator("#words svg [aria-label=tip]").text_content() or ""
        page.mouse.down()
        page.mouse.up()
        word = page.locator("#card h3 bdi").inner_text()
        assert word in tip

    def test_labels_do_not_overlap(self, open_page: Open, sample: Path) -> None:
        for width in (1280, 390):
            page = open_page(sample, width=width)
            for picture in ("#words .labels text", "#context .network rect"):
                boxes = page.eval_on_selector_all(
                    picture,
                    "texts => texts.map(text => { const b = text.getBoundingClientRect();"
                    " return [b.left, b.top, b.right, b.bottom]; })",
                )
                assert len(boxes) >= 5
                for i, a in enumerate(boxes):
                    for b in boxes[i + 1 :]:
                        apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1
                        assert apart or a[3] <= b[1] + 4 or b[3] <= a[1] + 4

    def test_words_of_rules_and_documents_open_their_card(
        self, open_page: Open, report: Path
    ) -> None:
        page = open_page(report)
        for place in ("#rules-table tbody button.word", "#documents .why button.word"):
            button = page.locator(place).first
            word = button.inner_text()
            button.click()
            assert page.locator("#card h3 bdi").inner_text() == word
            page.click("#card .close")

    def test_rules_are_searched_by_the_words_that_are_shown(
        self, open_page: Open, sample: Path
    ) -> None:
        page = open_page(sample)
        rules = page.locator("#rules-table tbody tr")
        first = rules.first.locator("button.word").first.inner_text()
        page.fill("#rules-search", first.lower())
        assert rules.count()
        assert all(first in text for text in rules.locator(".rule").all_inner_texts())
        hidden = page.evaluate(
            """() => {
              const rows = newfound.data.rules.rows.filter((row) => row.listed);
              const shown = new Set(rows.flatMap((row) =>
                [...row.plain, ...row.negated.slice(0, newfound.negatedShown(row))]));
              return rows.flatMap((row) => row.negated)
                .find((word) => ![...shown].some((other) => other.includes(word)));
            }"""
        )
        assert hidden
        page.fill("#rules-search", hidden)
        assert rules.count() == 0

    @pytest.mark.parametrize(("width", "novel", "known"), [(1280, 10, 5), (390, 4, 2)])
    def test_the_strongest_words_have_labels(
        self, open_page: Open, sample: Path, width: int, novel: int, known: int
    ) -> None:
        page = open_page(sample, width=width)
        page.wait_for_selector("#words .labels text")
        labels = page.locator("#words .labels text").all_text_contents()
        columns = read(sample)["words"]["columns"]
        sure = [
            word
            for word, side in zip(columns["word"], columns["side"], strict=True)
            if side != "neither"
        ]
        wanted = [*sure[:novel], *sure[-known:]]
        assert [word for word in wanted if word not in labels] == []

    def test_the_page_says_what_makes_a_word_unsure_and_what_a_bar_is(
        self, open_page: Open, sample: Path
    ) -> None:
        columns = read(sample)["words"]["columns"]
        weak = [
            abs(novelty) < 2
            for side, q, novelty in zip(
                columns["side"], columns["q"], columns["novelty"], strict=True
            )
            if side == "neither" and q <= 0.05
        ]
        assert weak and all(weak)  # so q alone does not tell
        page = open_page(sample)
        page.click("#words .meaning summary")
        assert "or where the novelty is below 2" in page.inner_text("#words .meaning")
        assert "range in which the true ratio lies" in page.inner_text("#certainty")

    def test_a_search_says_how_many_documents_are_not_in_the_page(
        self, open_page: Open, sample: Path
    ) -> None:
        data = read(sample)["documents"]
        page = open_page(sample)
        last = data["rows"][-1]
        page.fill("#documents-search", text_of(last)[:60])
        assert page.locator("#documents article").count() >= 1
        said = page.locator("#documents .count").inner_text()
        assert f"of {len(data['rows'])} in this page match" in said
        missing = data["total"] - len(data["rows"])
        assert missing and f"{missing:,} other documents are not in this page" in said
        page.fill("#documents-search", "no document has this")
        said = page.locator("#documents .count").inner_text()
        assert said.startswith(f"None of the {len(data['rows'])} documents in this page matches; ")

    def test_a_search_says_how_many_words_are_not_in_the_table(
        self, open_page: Open, tmp_path: Path
    ) -> None:
        texts = [" ".join(f"w{number}x" for number in range(i, 1200, 20)) for i in range(20)] * 4
        known, novel = texts[:40], [f"rugby {text}" for text in texts[40:]]
        describer = newfound.describe(
            known, novel, n_clauses=4, epochs=1, random_state=1, fold_copies=False
        )
        path = tmp_path / "many.html"
        write_report(path, describer.description_, known=known, novel=novel)
        page = open_page(path)
        page.fill("#words-search", "nosuchword")
        said = page.locator("#words .count").first.inner_text()
        assert said == "0 of 1,000 rows match; the rows are the most important of 1,201 words"

    def test_documents_are_searched_and_filtered(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        page.fill("#documents-search", "umpire")
        texts = page.locator("#documents .original").all_inner_texts()
        assert texts
        assert all("umpire" in text for text in texts)
        page.fill("#documents-search", "")
        page.select_option("#documents-side", "known")
        sides = page.locator("#documents header .side").all_inner_texts()
        assert {side.split()[-1] for side in sides} == {"known"}


class TestLeftOut:
    def test_a_section_left_out_says_why(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        assert page.locator("#time").is_hidden()
        assert "Time: the documents have no dates" in page.inner_text("#made .left-out")

    @pytest.mark.parametrize("together", [0, 9])
    def test_a_matrix_of_dots_is_not_shown(
        self, open_page: Open, tmp_path: Path, described: Any, together: int
    ) -> None:
        data = collect(
            described.description_, gather(described.description_, KNOWN, NOVEL), Limits()
        )
        words = data["words"]["columns"]["word"][:8]
        counts = [[together] * 8 for _ in words]
        side = {"F_i": [9] * 8, "F_ij": counts, "lift": [[2.0] * 8 for _ in words]}
        empty = {**side, "F_ij": [[0] * 8 for _ in words]}
        data["context"] = {"words": words, "novel": side, "known": empty, "both": side}
        path = tmp_path / "dots.html"
        made = {**data["made"], "seconds": {}, "at": ""}
        path.write_text(render({**data, "title": "Dots", "made": made}), encoding="utf-8")
        page = open_page(path)
        assert page.locator("#context table.matrix").count() == (1 if together else 0)
        said = "The context matrix is left out" in page.inner_text("#context")
        assert said == (not together)
        if together:  # the rules for known are all dots
            assert page.locator("#context-side option").count() == 2


class TestShares:
    def test_small_shares_can_be_seen(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        n = read(sample)["n_documents"]
        found = page.evaluate(
            """() => newfound.data.summary.words.map((number, i) => [
                 newfound.words[number].documents_novel, newfound.words[number].documents_known,
                 ...[...document.querySelectorAll(".dozen li")[i].querySelectorAll(".part")]
                   .map((part) => part.getBoundingClientRect().width
                     / part.parentElement.getBoundingClientRect().width)])"""
        )
        assert len(found) > 5
        shares = np.array([[a / n["novel"], b / n["known"]] for a, b, *_ in found])
        widths = np.array([row[2:] for row in found])
        expected = np.sqrt(shares / shares.max())
        assert widths == pytest.approx(np.where(shares > 0, expected.clip(0.015), 0), abs=0.02)
        assert (widths.max(axis=1) > 0.2).all()
        for where in ("#words", "#themes"):
            assert "square-root scale" in page.locator(f"{where} .legend").first.inner_text()


class TestLinks:
    def at(self, page: Page, report: Path, address: str) -> None:
        page.goto("about:blank")
        page.goto(f"{report.as_uri()}{address}")
        page.wait_for_selector("html[data-ready]")

    def test_a_word_has_an_address(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        page.locator("#words-table tbody button").nth(3).click()
        word = page.locator("#card-word bdi").inner_text()
        address = page.evaluate("location.hash")
        assert page.locator("#card .link").get_attribute("href") == address
        page.keyboard.press("Escape")
        page.wait_for_function(
            "location.hash === '#words'"
        )  # a closed card tells so a little later
        self.at(page, sample, address)
        assert page.locator("#card-word bdi").inner_text() == word

    def test_a_theme_has_an_address(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        theme = page.locator("details.theme").nth(1)
        theme.locator("summary").click()
        address = theme.get_by_text("Link to this theme").get_attribute("href")
        assert address
        self.at(page, sample, address)
        assert page.locator("details.theme[open]").count() == 1
        assert page.locator("details.theme").nth(1).get_attribute("open") is not None

    def test_a_document_has_an_address(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        page.get_by_role("button", name="Show 16 more").last.click()
        article = page.locator("#documents article").nth(12)
        text, address = article.inner_text(), article.locator(".link").get_attribute("href")
        assert address
        self.at(page, sample, address)
        assert page.locator("#documents li:focus article").inner_text() == text
        page.evaluate("location.hash = '#document=1'")  # a link followed within the page
        page.wait_for_selector("#document-1:focus")

    def test_an_address_that_leads_nowhere_is_told(self, open_page: Open, sample: Path) -> None:
        page = open_page(sample)
        self.at(page, sample, "#word=%3Cimg%20src=x%3E")
        assert "not in this page" in page.inner_text("#new-body")


class TestDownloads:
    def test_tables_are_saved_as_csv_and_json(
        self, open_page: Open, report: Path, described: Any
    ) -> None:
        page = open_page(report)
        records = json.loads(saved(page, "Download the words as JSON"))
        table = list(csv.DictReader(io.StringIO(saved(page, "Download the words as CSV"))))
        assert [row["word"] for row in table] == [row["word"] for row in records]
        for row in records:
            source = described.words_.row(row["word"])
            assert row["documents_novel"] == source["documents_novel"]
            assert row["F_N"] == source["F_N"]
        for what in ("rules", "documents", "context matrix", "strongest pairs"):
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
            assert json.loads(saved(page, f"Download the {what} as JSON"))
            assert len(saved(page, f"Download the {what} as CSV").splitlines()) > 1

    def test_a_filtered_table_is_saved_filtered(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        page.fill("#words-search", "scrum")
        records = json.loads(saved(page, "Download the words as JSON"))
        assert sorted(row["word"] for row in records) == ["scrum", "scrum-half"]
