"""A browser, and a report of each kind, made once for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from browsers import Page, launched
from newfound.description.describe import describe_periods
from newfound.show.page import report_page_of_periods, write_report
from newfound.text.documents import as_documents
from report_browsing import HOSTILE, KNOWN, NOVEL, SMALL, Open, Watched
from waiting import PAGE_PATIENCE


@pytest.fixture(scope="module")  # while it runs, this process can run no other event loop
def browser() -> Iterator[Any]:
    with launched() as made:
        yield made


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
        context.set_default_timeout(1000 * PAGE_PATIENCE)
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


@pytest.fixture(scope="session")
def described() -> newfound.NoveltyDescriber:
    return newfound.describe(KNOWN, NOVEL, **SMALL)


@pytest.fixture(scope="session")
def report(described: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    described.report(path, known=KNOWN, novel=NOVEL, title="Rugby against cricket")
    return path


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
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
