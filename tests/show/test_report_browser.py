"""The report in a real browser: it answers, asks the network nothing, and obeys no document.

Needs Chromium (Debian: ``apt-get install chromium``) and Playwright; skipped, visibly, without.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from formulas import GUARDED, KEPT
from newfound.description.describe import describe_periods
from newfound.show.collect import Limits, collect, gather
from newfound.show.page import MAX_BYTES, render, report_page_of_periods, write_report
from newfound.table import guard_formula
from newfound.text.documents import as_documents
from report_pages import read, text_of
from waiting import PATIENCE

BROWSER = os.environ.get("NEWFOUND_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
try:
    from playwright.sync_api import Page, sync_playwright
except ImportError:
    sync_playwright = None  # type: ignore[assignment]

REQUIRED = os.environ.get("NEWFOUND_REQUIRE_BROWSER") == "1"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        (BROWSER is None or sync_playwright is None) and not REQUIRED,
        reason="needs Chromium and playwright",
    ),
]

LINES = """element => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getClientRects().length;
}"""
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe.min.js"
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


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    assert sync_playwright is not None, "playwright is not installed"
    assert BROWSER is not None, "there is no Chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield launched
        launched.close()


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


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def open_page(browser: Any, watched: Watched) -> Iterator[Open]:
    """Open a report; in the end it has asked for nothing but itself and said nothing."""
    opened: list[Path] = []

    def open_it(
        path: Path,
        *,
        width: int = 1280,
        height: int = 900,
        ready: str = "html[data-ready]",
        **options: Any,
    ) -> Page:
        context = browser.new_context(
            offline=True,
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            **options,
        )
        context.set_default_timeout(1000 * PATIENCE)
        watched.contexts.append(context)
        page: Page = context.new_page()
        watched.watch(page)
        page.goto(path.as_uri())
        page.wait_for_selector(ready)
        opened.append(path)
        return page

    yield open_it
    for context in watched.contexts:
        context.close()
    assert set(watched.requests) <= {path.as_uri() for path in opened} | {"about:srcdoc"}
    assert watched.messages == []


@pytest.fixture(scope="module")
def described() -> newfound.NoveltyDescriber:
    return newfound.describe(KNOWN, NOVEL, **SMALL)


@pytest.fixture(scope="module")
def report(described: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    described.report(path, known=KNOWN, novel=NOVEL, title="Rugby against cricket")
    return path


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of the bundled sample, enough for every section."""
    known, novel = newfound.load_sample()
    describer = newfound.describe(
        known, novel, n_machines=3, n_clauses=200, epochs=4, random_state=1
    )
    path = tmp_path_factory.mktemp("sample") / "sample.html"
    write_report(
        path, describer.description_, known=known, novel=novel, title="Travel against banking"
    )
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    novel = replace(
        as_documents([*NOVEL, *HOSTILE]),
        ids=tuple(f"<b onclick=hacked=8>{i}</b>\u202e" for i in range(len(NOVEL + HOSTILE))),
        source="<script>window.hacked = 9</script>",
    )
    known = replace(as_documents(KNOWN), ids=tuple(f"=old{i}" for i in range(len(KNOWN))))
    describer = newfound.describe(known, novel, **SMALL)
    path = tmp_path_factory.mktemp("hostile") / "hostile.html"
    title = "<script>window.hacked = 10</script>\u202e"
    write_report(path, describer.description_, known=known, novel=novel, title=title)
    return path


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of the bundled sample with dates: known in 2003, novel in 2004."""
    known, novel = newfound.load_sample()
    dates = [
        [f"{year}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(len(pile))]
        for year, pile in ((2003, known), (2004, novel))
    ]
    describer = newfound.describe(
        known,
        novel,
        dates=(dates[0], dates[1]),
        n_machines=2,
        n_clauses=50,
        epochs=2,
        random_state=1,
    )
    path = tmp_path_factory.mktemp("dated") / "dated.html"
    write_report(path, describer.description_, title="Travel against banking")
    return path


@pytest.fixture(scope="module")
def periods(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of three months of the bundled sample, travel in the last one."""
    known, novel = newfound.load_sample()
    texts = [*known.texts[:800], *novel.texts[:300]]
    dates = [f"2003-0{1 + (i >= 400) + (i >= 800)}-{1 + i % 28:02}" for i in range(1100)]
    found = describe_periods(
        texts, reading={"dates": dates}, n_machines=2, n_clauses=50, epochs=2, random_state=1
    )
    path = tmp_path_factory.mktemp("periods") / "periods.html"
    path.write_bytes(report_page_of_periods(found, title="Month by month"))
    return path


@pytest.fixture(scope="module")
def detected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a detection: 100 requests about banking, then 40 about travel."""
    known, novel = newfound.load_sample()
    order = np.random.default_rng(1).permutation(1500)
    texts, labels = np.array(known.texts)[order], np.array(known.labels)[order]
    incoming = [*texts[1000:1100].tolist(), *np.array(novel.texts)[order[:40]].tolist()]
    detector = newfound.NoveltyDetector(random_state=1).fit(texts[:1000].tolist(), labels[:1000])
    small = {"n_machines": 2, "n_clauses": 40, "epochs": 3}
    detection = detector.detect(incoming, known=texts[:1000].tolist(), **small)
    path = tmp_path_factory.mktemp("detected") / "detected.html"
    detection.report(path)
    return path


@pytest.fixture(scope="module")
def monitored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a stream that begins to be about a hostile zeppelin."""
    known, _ = newfound.load_sample()
    texts = np.random.default_rng(2).permutation(np.array(known.texts)).tolist()
    detector = newfound.NoveltyDetector(random_state=1).fit(texts[:600])
    hostile = [f"the zeppelin {i} {HOSTILE[i % 6]} https://example.org/{i}" for i in range(40)]
    stream = texts[600:1200]
    stream[400::5] = hostile
    path = tmp_path_factory.mktemp("monitored") / "monitor.html"
    with newfound.Monitor(detector, every=50) as monitor:
        monitor.update(stream)
        assert any("zeppelin" in topic.rules for topic in monitor.topics_)
        monitor.report(path, title="<script>window.hacked = 11</script>")
    return path


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
        assert "of the novelty is in documents of no theme" in page.inner_text("#themes .lead")
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
        assert names == ["All documents", *page.locator(".theme h3").all_inner_texts()]
        assert "the novel documents begin on 2004-01-01" in page.inner_text("#time .legend")
        assert page.locator(".strip .boundary").count() == len(names)
        page.click("#time details > summary")
        assert page.locator("#time-table thead th").count() == 4 + len(names) - 1
        records = json.loads(
            TestDownloads().saved(page, "Download the documents over time as JSON")
        )
        assert sum(row["all"] for row in records) == 3000

    def test_no_theme_is_said(self, open_page: Open, tmp_path: Path, described: Any) -> None:
        data = collect(described.description_, gather(described.description_), Limits())
        data["themes"] = {"rows": [], "total": 0, "unexplained": None}
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
            assert TestForEveryone().violations(page) == []
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
        text = TestDownloads().saved(page, "Download the words of 2003-03 as CSV")
        table = list(csv.DictReader(io.StringIO(text)))
        assert {row["period"] for row in table} == {"2003-03"}
        assert len(table) == 20

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_no_violation(self, open_page: Open, periods: Path, scheme: Any) -> None:
        for width in (1280, 360):
            page = open_page(periods, color_scheme=scheme, width=width)
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
            page.locator(".theme .original").first.wait_for()
            assert TestForEveryone().violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


class TestDownloads:
    def saved(self, page: Page, label: str) -> str:
        with page.expect_download() as waiting:
            page.click(f"button[aria-label='{label}']")
        return Path(waiting.value.path()).read_text(encoding="utf-8-sig")

    def test_tables_are_saved_as_csv_and_json(
        self, open_page: Open, report: Path, described: Any
    ) -> None:
        page = open_page(report)
        records = json.loads(self.saved(page, "Download the words as JSON"))
        table = list(csv.DictReader(io.StringIO(self.saved(page, "Download the words as CSV"))))
        assert [row["word"] for row in table] == [row["word"] for row in records]
        for row in records:
            source = described.words_.row(row["word"])
            assert row["documents_novel"] == source["documents_novel"]
            assert row["F_N"] == source["F_N"]
        for what in ("rules", "documents", "context matrix", "strongest pairs"):
            page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
            assert json.loads(self.saved(page, f"Download the {what} as JSON"))
            assert len(self.saved(page, f"Download the {what} as CSV").splitlines()) > 1

    def test_a_filtered_table_is_saved_filtered(self, open_page: Open, report: Path) -> None:
        page = open_page(report)
        page.fill("#words-search", "scrum")
        records = json.loads(self.saved(page, "Download the words as JSON"))
        assert sorted(row["word"] for row in records) == ["scrum", "scrum-half"]


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
        text = TestDownloads().saved(page, "Download the documents as CSV")
        table = list(csv.DictReader(io.StringIO(text)))
        assert any("HYPERLINK" in row["text"] for row in table)
        assert any(row["document"].startswith("'=old") for row in table)
        for row in table:
            for name, cell in row.items():
                if name not in ("novelty", "rank"):
                    assert cell.strip("\u202e\u200f \t")[:1] not in tuple("=+-@"), cell
        records = json.loads(TestDownloads().saved(page, "Download the documents as JSON"))
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
    def violations(self, page: Page) -> list[str]:
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{rule['id']}: {node['target']} {node['failureSummary']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_no_violation(self, open_page: Open, sample: Path, scheme: Any) -> None:
        page = open_page(sample, color_scheme=scheme)
        page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
        assert self.violations(page) == []
        page.locator("#words-table button.word").first.click()
        assert self.violations(page) == []

    def test_axe_finds_no_violation_on_a_phone(self, open_page: Open, sample: Path) -> None:
        assert self.violations(open_page(sample, width=360, height=740)) == []

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


class TestDetection:
    @pytest.fixture
    def page(self, open_page: Open, detected: Path) -> Page:
        return open_page(detected)

    def test_documents_come_with_p_values_reasons_and_groups(self, page: Page) -> None:
        assert "of the 140 incoming documents are called new" in page.inner_text(".sentence")
        first = page.locator("#documents article").first
        assert "p 0.0" in first.inner_text()
        assert "nearest: " in first.inner_text()
        assert "never seen" in first.locator(".reasons").inner_text()
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
        text = TestDownloads().saved(page, "Download the documents as CSV")
        table = list(csv.DictReader(io.StringIO(text)))
        assert {"document", "novel", "p_value", "nearest", "group", "text"} <= set(table[0])
        assert float(table[0]["p_value"]) <= 0.05

    def test_axe_finds_no_violation(self, page: Page) -> None:
        assert TestForEveryone().violations(page) == []


class TestSizes:
    def test_one_novel_word(self, open_page: Open, tmp_path: Path) -> None:
        known = ["A wicket fell", "An over of spin", "The bat and ball", "A late spin over"] * 10
        novel = [f"{text} scrum" for text in known]
        describer = newfound.describe(known, novel, **SMALL)
        path = tmp_path / "one.html"
        write_report(path, describer.description_, known=known, novel=novel)
        page = open_page(path)
        assert page.inner_text(".sentence") == (
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
        assert TestForEveryone().violations(page) == []

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
        assert numbers.locator("table").is_visible()

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
