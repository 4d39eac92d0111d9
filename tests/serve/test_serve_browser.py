"""The pages in a real browser: every flow, no foreign request, no violation found by axe."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from browsers import AXE, Page, launched, needs_browser
from serve_client import KNOWN, NOVEL, TOKEN, make_models, site
from waiting import PAGE_PATIENCE, PATIENCE

SHOTS = os.environ.get("NEWFOUND_SCREENSHOTS")  # a folder, to look at the pages
pytestmark = needs_browser
HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=2> "
    "\"'><svg onload=window.hacked=3> {{ 7*7 }} \u202e book a flight"
)
SMALL = {"n_machines": 2, "n_clauses": 20, "T": 5, "epochs": 2}


class Site:
    """A service, a browser that is signed in, and a program that uses it, too."""

    def __init__(self, browser: Any, settings: Any) -> None:
        self.address = settings.address.rstrip("/")
        self.browser = browser
        self.messages: list[str] = []
        self.requests: set[str] = set()
        self.contexts: list[Any] = []
        headers = {"Authorization": f"Bearer {TOKEN}"}
        self.program = httpx.Client(
            base_url=self.address, headers=headers, trust_env=False, timeout=PATIENCE
        )
        self.page = self.open(first=f"{self.address}/sign-in?code=the-code")

    def open(self, *, width: int = 1280, scheme: str = "light", first: str | None = None) -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        context.set_default_timeout(1000 * PAGE_PATIENCE)
        if first is None:
            context.add_cookies(self.page.context.cookies())
        self.contexts.append(context)
        page: Page = context.new_page()
        page.on("request", lambda request: self.requests.add(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        if first is not None:
            page.goto(first)
        return page

    def go(self, path: str, page: Page | None = None) -> Page:
        page = page or self.page
        page.goto(f"{self.address}{path}")
        page.wait_for_selector("html[data-served]")
        return page

    def described(self, **more: Any) -> str:
        """Let a program describe something; return the id of the finished run."""
        body = {"known": {"texts": KNOWN[::2]}, "novel": {"texts": NOVEL}, "parameters": SMALL}
        return self.done("/v1/describe", {**body, **more})

    def done(self, path: str, body: dict[str, Any]) -> str:
        job = self.program.post(path, json=body).json()
        while job["state"] in ("queued", "running"):
            time.sleep(0.1)
            job = self.program.get(f"/v1/jobs/{job['id']}").json()
        assert job["state"] == "finished", job
        return str(job["id"])


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    models = make_models()
    with (
        site(tmp_path_factory.mktemp("workspace"), models=models) as settings,
        launched() as browser,
    ):
        made = Site(browser, settings)
        yield made
        for context in made.contexts:
            context.close()
        made.program.close()
    assert made.messages == []
    assert all(url.startswith((made.address, "data:", "blob:")) for url in made.requests)


@pytest.fixture(scope="module")
def hostile(served: Site) -> str:
    """A run whose names and texts are hostile."""
    novel = [*NOVEL, *(f"{HOSTILE} {n}" for n in range(9))]
    return served.described(
        novel={"texts": novel}, name=HOSTILE[:100], known_name="<b>x", novel_name="<i>{{ 1 }}"
    )


def violations(page: Page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document).then(result => result.violations)")
    return [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]]


def until(page: Page, expression: str) -> None:
    """Wait until an expression is true; the content policy forbids the page to evaluate it."""
    end = time.monotonic() + PAGE_PATIENCE
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(50)


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def test_the_sample_is_one_click_away(served: Site) -> None:
    page = served.go("/")
    page.click("text=Describe the sample")
    page.wait_for_url("**/runs/*")
    assert page.locator("progress").count() or page.locator("#themes").count()
    page.wait_for_selector("html[data-ready]")
    assert "travel" in page.inner_text("#new").lower() or page.locator(".theme h3").count() >= 3
    assert page.locator(".theme h3").first.inner_text()
    page.fill("#q", "passport")
    until(page, "document.querySelectorAll('#found li').length > 0")
    count = page.inner_text("#found .count")
    page.select_option("#side", "known")
    until(page, f"document.querySelector('#found .count').innerText != {count!r}")
    page.locator("button.word:visible").first.click()
    assert page.locator("dialog[open] h3").count() == 1  # a card, as in the report
    page.keyboard.press("Escape")
    served.go("/history")
    assert "Sample: banking and travel" in page.inner_text("main")


def test_two_piles_are_uploaded_and_described(served: Site, tmp_path: Path) -> None:
    rows = "\n".join(f"{n},{text}" for n, text in enumerate(KNOWN[::2]))
    (tmp_path / "old.csv").write_text(f"number,message\n{rows}\n9,\n", encoding="utf-8")
    (tmp_path / "new <b>.txt").write_text("\n".join([*NOVEL, HOSTILE] * 2), encoding="utf-8")
    page = served.go("/")
    page.click("text=Go")
    assert "Choose a file first: known documents." in page.inner_text("#problem")
    page.set_input_files("#known-file", tmp_path / "old.csv")
    known = page.locator("[data-slot=known]")
    known.locator("select[name=text_column]").wait_for()
    assert known.locator("tbody tr").count() == 5
    known.locator(".checked", has_text="left out: 1 empty").wait_for()
    known.locator("select[name=text_column]").select_option("number")
    known.locator(".checked", has_text="76 documents").wait_for()
    known.locator("select[name=text_column]").select_option("message")
    known.locator(".checked", has_text="75 documents").wait_for()
    page.set_input_files("#novel-file", tmp_path / "new <b>.txt")
    page.locator("[data-slot=novel] .checked", has_text="documents from new b.txt").wait_for()
    shot(page, "start-filled")
    page.fill("#novel-name", "travel")
    page.click("text=Options")
    page.fill("#run-name", f"My run {HOSTILE[:60]}")
    page.click("button:text-is('Go')")
    page.wait_for_selector("html[data-ready]")
    assert "travel" in page.inner_text("main")
    page.fill("#q", "hacked")
    until(page, "document.querySelectorAll('#found li').length == 2")
    assert page.evaluate("window.hacked") is None


def test_one_file_with_dates_and_known_documents_with_classes(served: Site, tmp_path: Path) -> None:
    lines = [("2024-01-05", text) for text in KNOWN] + [("2024-02-05", text) for text in NOVEL]
    table = "\n".join(f"{day},{text},{text.split()[-1]}" for day, text in lines)
    (tmp_path / "all.csv").write_text(f"date,text,label\n{table}\n", encoding="utf-8")
    (tmp_path / "in.txt").write_text("\n".join([*KNOWN[:20], *NOVEL[:20]]), encoding="utf-8")
    page = served.go("/")
    page.check("input[value=dates]")
    page.set_input_files("#documents-file", tmp_path / "all.csv")
    slot = page.locator("[data-slot=documents]")
    slot.locator(".checked", has_text="From 2024-01-05 to 2024-02-05").wait_for()
    page.fill("#dates-from", "2024-02-01")
    page.fill("#novel-name", "February")
    page.click("summary")
    page.fill("#stop-words", "rome, oslo")
    page.click("button:text-is('Go')")
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#time").is_visible() and "February" in page.inner_text("main h1, main")
    assert not page.get_by_text("oslo", exact=True).count()
    served.go("/")
    page.check("input[value=dates]")
    page.set_input_files("#documents-file", tmp_path / "all.csv")
    slot.locator(".checked", has_text="From 2024-01-05 to 2024-02-05").wait_for()
    page.select_option("#by", "month")
    page.click("button:text-is('Go')")
    page.wait_for_selector("html[data-ready]")
    assert "2024-02" in page.inner_text("main") and page.locator("#found li").first.is_visible()
    served.go("/")
    page.check("input[value=dates]")
    page.set_input_files("#documents-file", tmp_path / "all.csv")
    page.get_by_label("Compare the values of").select_option("label")
    slot.locator(".checked", has_text="9 classes").wait_for()
    page.click("button:text-is('Go')")
    page.wait_for_selector("html[data-ready]")
    assert {"mortgage", "Tokyo"} <= set(page.inner_text("main").split())
    served.go("/")
    page.check("input[value=detect]")
    page.set_input_files("#learned-file", tmp_path / "all.csv")
    page.locator("[data-slot=learned] .checked", has_text="9 classes").wait_for()
    page.set_input_files("#incoming-file", tmp_path / "in.txt")
    page.locator("[data-slot=incoming] .checked", has_text="40 documents").wait_for()
    page.click("button:text-is('Go')")
    page.wait_for_selector("html[data-ready]")
    assert "incoming" in page.inner_text("main")


def test_a_problem_of_the_form_is_gone_when_something_is_changed(
    served: Site, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("\n".join([*KNOWN[:20], *NOVEL[:20]]), encoding="utf-8")
    page = served.go("/")
    page.check("input[value=detect]")
    page.click("button:text-is('Go')")
    assert page.inner_text("#problem") == "Choose a file first: known documents."  # the first one
    page.set_input_files("#incoming-file", tmp_path / "in.txt")
    page.locator("[data-slot=incoming] .checked", has_text="40 documents").wait_for()
    assert page.locator("#problem").is_hidden()
    page.select_option("#use-model", "detector")
    page.fill("#alpha", "0.1")
    page.click("button:text-is('Go')")
    page.wait_for_selector("html[data-ready]")
    run = page.url.rpartition("/")[2]
    day = re.compile(r"in\.txt .*\d{4}-\d\d-\d\d \d\d:\d\d")  # models of one name differ in it
    served.go("/")
    assert day.match(page.locator(f"#use-model option[value='{run}']").text_content() or "")
    served.go("/history")
    assert page.locator("li", has_text=day).count() >= 1


def test_texts_are_explained_as_they_are_typed(served: Site) -> None:
    page = served.go("/explain?model=detector")
    page.locator("#text").press_sequentially("book a flight to Lima", delay=20)
    page.locator(".verdict.novel").wait_for()
    assert page.locator("#explained mark").count() >= 2
    assert "words never seen" in page.inner_text("#explained")
    shot(page, "explain")
    page.fill("#text", "pay my old bill")
    page.locator(".verdict.known").wait_for()
    assert "rule for bill" in page.inner_text("#explained")
    page.select_option("#model", "describer")
    page.locator(".verdict", has_text="More like").wait_for()
    page.select_option("#model", "detector")
    page.fill("#text", HOSTILE)
    page.locator(".verdict.novel").wait_for()
    assert page.locator("#explained :is(script, img, svg)").count() == 0
    assert page.evaluate("window.hacked") is None
    page.fill("#text", "")
    until(page, "!document.querySelector('#explained').innerText.trim()")


def test_a_run_can_be_cancelled_restarted_and_deleted(served: Site) -> None:
    long = {"n_machines": 500, "n_clauses": 2000, "epochs": 5000}
    job = served.program.post("/v1/describe", json={"sample": True, "parameters": long}).json()
    page = served.go(f"/runs/{job['id']}")
    until(page, "/Learning rules: \\d+ %/.test(document.body.innerText)")
    assert re.search(r"about \d+ (s|min|h) left", page.inner_text("#stage"))
    shot(page, "progress")
    page.click("text=Cancel")
    page.locator("text=This run was cancelled.").wait_for()
    page.click("text=Run it again")
    page.locator("progress").wait_for()
    page.click("text=Cancel")
    page.locator("text=This run was cancelled.").wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    page.click("text=Delete")
    page.wait_for_url("**/history")
    assert served.program.get(f"/v1/jobs/{job['id']}").status_code == 404
    # A page that is not there is one sentence; the failed request is what the console tells.
    assert served.page.goto(f"{served.address}/runs/{job['id']}").status == 404  # type: ignore[union-attr]
    served.messages[:] = [one for one in served.messages if "404 (Not Found)" not in one]


def test_two_runs_are_compared(served: Site, hostile: str) -> None:
    first = hostile
    novel = [text.replace("flight", "ferry") for text in NOVEL]
    second = served.described(novel={"texts": novel}, name="after")
    page = served.go("/history")
    for id in (second, first):
        page.check(f"input[value='{id}']")
    page.click("text=Compare two runs")
    assert "ferry" in page.inner_text("#Words-title ~ .panels .came")
    assert "flight" in page.inner_text("#Words-title ~ .panels .went")
    assert page.locator("#Words-title ~ .panels tbody tr").count() > 3
    shot(page, "compare")
    served.go("/compare?run=" + first)
    assert "Choose two finished runs" in page.inner_text("main")


def test_a_stream_is_watched_and_its_topics_are_promoted(served: Site) -> None:
    page = served.go("/monitors")
    page.fill("#name", "Inbox")
    page.select_option("#model", "detector")
    page.fill("#every", "20")
    page.click("text=Begin")
    page.locator("tbody a:has-text('Inbox')").wait_for()
    monitors = served.program.get("/v1/monitors").json()["monitors"]
    id = next(one["id"] for one in monitors if one["name"] == "Inbox")
    new = [f"the printer {what}" for what in ("jams", "smokes", "beeps", "is broken", "died")]
    texts = [*KNOWN[::7][:20], *new, *KNOWN[3::7][:15]]
    body = {"documents": [{"text": text} for text in texts]}
    served.program.post(f"/v1/monitors/{id}/documents", json=body)
    page.click(f"a[href$='{id}']")
    page.locator("h3:has-text('printer')").wait_for()
    assert page.inner_text("h1") == "Inbox" == page.title()
    assert page.locator(".brand:visible").count() == 1
    shot(page, "monitor")
    page.fill("#as-1", "printers")
    page.click("text=Promote")
    page.locator("text=promoted as printers").wait_for()
    page.click("text=Undo the last step")
    page.locator("h3 small:text-is('new')").wait_for()
    assert "(undone)" in page.inner_text("main")


def test_a_model_of_the_command_line_is_imported(served: Site, tmp_path: Path) -> None:
    content = served.program.get("/v1/models/detector/file").content
    (tmp_path / "mine.newfound").write_bytes(content)
    page = served.go("/history")
    page.set_input_files("#import", tmp_path / "mine.newfound")
    page.locator("li:has-text('mine')").wait_for()


def test_hostile_texts_stay_texts_on_every_page(served: Site, hostile: str) -> None:
    id = hostile
    body = {"name": HOSTILE[:100], "model": "detector", "every": 20}
    watch = served.program.post("/v1/monitors", json=body).json()["id"]
    documents = [{"text": f"{HOSTILE} {n}", "id": HOSTILE} for n in range(20)]
    served.program.post(f"/v1/monitors/{watch}/documents", json={"documents": documents})
    paths = ("/", "/history", f"/runs/{id}", "/monitors", f"/monitors/{watch}", "/docs",
             f"/explain?model={HOSTILE}&text={HOSTILE}", f"/compare?run={id}&run={id}")  # fmt: skip
    for path in paths:
        page = served.go(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.hacked") is None, path
        assert page.locator("main :is(img, iframe, script)").count() == 0, path
        assert "49" not in page.title()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_every_page_is_for_everyone(served: Site, hostile: str, width: int, scheme: str) -> None:
    """Axe finds nothing; nothing is wider than a phone; all can be reached by the keyboard."""
    id = hostile
    watches = served.program.get("/v1/monitors").json()["monitors"]
    if not watches:  # in a process of tests that has not watched a stream yet
        body = {"name": "Inbox", "model": "detector", "every": 20}
        watches = [served.program.post("/v1/monitors", json=body).json()]
    page = served.open(width=width, scheme=scheme)
    failed = served.program.post(
        "/v1/describe", json={"known": {"texts": [""]}, "novel": {"texts": ["a"]}}
    ).json()["id"]
    paths = {
        "start": "/", "explain-page": "/explain?model=detector&text=book a flight to Lima",
        "history": "/history", "run": f"/runs/{id}", "compare-page": f"/compare?run={id}&run={id}",
        "monitors": "/monitors", "watch": f"/monitors/{watches[0]['id']}", "docs": "/docs",
        "failed": f"/runs/{failed}", "sign-in": "/sign-in",
    }  # fmt: skip
    if width > 1000:  # a phone shows all that a wide page does, and more can go wrong there
        paths = {name: paths[name] for name in ("start", "explain-page", "history", "run", "watch")}
    for name, path in paths.items():
        served.go(path, page)
        page.wait_for_load_state("networkidle")
        shot(page, f"{name}-{scheme}")
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    served.go("/", page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_a_stranger_can_sign_in_with_the_token_only(served: Site) -> None:
    page = served.open(first=f"{served.address}/")
    assert page.url.endswith("/sign-in")
    assert "--token-file" in page.inner_text("main")  # with it, no token is printed
    page.fill("#token", "wrong")
    page.click("text=Sign in")
    page.locator("#problem:has-text('not the token')").wait_for()
    served.messages[:] = [one for one in served.messages if "403" not in one]
    page.fill("#token", TOKEN)
    page.click("text=Sign in")
    page.locator("text=Describe the sample").wait_for()
