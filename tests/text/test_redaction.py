"""Numbers, e-mail addresses and URLs are replaced before anything is kept or shown."""

from __future__ import annotations

import json
import re
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from newfound import (
    Documents,
    Monitor,
    NoveltyDescriber,
    NoveltyDetector,
    as_documents,
    describe,
    describe_values,
    load,
    read_documents,
    redact,
)
from newfound.cli import app
from newfound.text.encoding import TokenizedTexts

SECRETS = ("4711815", "ann.secret@example.org", "https://secret.example.org/page?q=1")
NEEDLES = ("4711815", "secret")


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("call +47 22 12 34 56 now", "call +[#] now"),
        ("on 2024-05-01 at 10:30, 5th time", "on [#] at [#] time"),
        ("card 4111-1111 1111/1111.", "card [#]."),
        ("IBAN NO9386011117947", "IBAN [#]"),
        ("(ann.o'neil+x@mail.example.co.uk)", "([@])"),
        ("write to user@localhost.", "write to [@]."),
        ("see https://example.org/a?b=c#d, then", "see [//], then"),
        ("(www.example.org/x) and example.com.", "([//]) and [//]."),
        ("ftp://user:password@host/x", "[//]"),
        ("1http://x.org 12345678901234567890123456789012://y", "[//] [//]"),
        ("在2024年，joe@x.com写道", "在[#]年，[@]写道"),
        ("第12々、12ー", "第[#]々、[#]ー"),
        ("почта@пример.рф", "[@]"),
        ("٣ ducks, five ducks", "[#] ducks, five ducks"),
        ("e.g. he said.no, U.S. and Node.js", "e.g. he said.no, U.S. and Node.js"),
        ("@handle, a [#] b", "@handle, a [#] b"),
    ],
)
def test_what_is_replaced(text: str, redacted: str) -> None:
    assert redact(text) == redacted


PIECES = ["a", "com", "1", "٣", "年", *".@/:-+%'[]#(), w", "www.", "://", "[#]", "[@]", "[//]"]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_nothing_is_left_to_replace(text: str) -> None:
    redacted = redact(text)
    assert not re.search(r"\d", redacted)
    assert not re.search(r"[a-z]@", redacted)
    assert redact(redacted) == redacted


def test_what_stands_instead_has_no_words() -> None:
    assert TokenizedTexts.of([redact(" ".join(SECRETS))]).forms == []


@pytest.mark.parametrize(
    "part", ["a", "a.", "1 ", "a@", "a-", "://", "www.", ")", "a.com.", "+", "x'@"]
)
def test_time_is_proportional_to_the_length(part: str) -> None:
    text = "http://" + part * (200_000 // len(part)) + "x"
    start = time.process_time()
    redact(text)
    assert time.process_time() - start < 20  # a hundredth of a second; else minutes


def hidden(kept: object) -> bool:
    shown = kept if isinstance(kept, str) else json.dumps(kept, default=str)
    return not any(needle in shown for needle in NEEDLES)


def members(path: Path) -> str:
    """Return all that a model file holds, as text."""
    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(name).decode("latin-1") for name in archive.namelist())


def texts_of(verb: str, thing: str) -> list[str]:
    rest = ("again", "today", "now", "soon", "later", "for me")
    return [
        f"{verb} {number} {thing} {when}, {SECRETS[number % 3]}"
        for number, when in enumerate(rest * 6)
    ]


KNOWN, NOVEL = texts_of("pay my", "bill"), texts_of("book a", "flight")


def write(path: Path, texts: list[str]) -> str:
    path.write_text("".join(f"{text}\n" for text in texts))
    return str(path)


def test_documents(tmp_path: Path) -> None:
    documents = read_documents(write(tmp_path / "a.txt", [*KNOWN, "no number"]), redact=True)
    assert hidden(documents.texts) and len(documents) == len(KNOWN) + 1
    assert documents.found["redacted"] == len(KNOWN)
    assert "36 redacted" in documents.summary()
    again = as_documents(documents, redact=True)
    assert again == documents
    assert hidden(as_documents(KNOWN, redact=True).texts)


def test_a_describer_learns_and_explains_redacted_texts(tmp_path: Path) -> None:
    fast: dict[str, Any] = {"n_machines": 2, "n_clauses": 20, "T": 5, "random_state": 1}
    plain = describe(KNOWN, NOVEL, **fast, calendar=True)
    assert not hidden(list(plain.vectorizer_.vocabulary_))
    describer = describe(KNOWN, NOVEL, redact=True, **fast, calendar=True)
    assert hidden(list(describer.vectorizer_.vocabulary_))
    assert describer.corpus_ is not None and hidden(list(describer.corpus_.texts))
    fitted = NoveltyDescriber(redact=True, **fast).fit(
        [*KNOWN, *NOVEL], ["known"] * len(KNOWN) + ["novel"] * len(NOVEL)
    )
    assert fitted.corpus_ is not None and hidden(list(fitted.corpus_.texts))
    describer.save(tmp_path / "model")
    assert hidden(members(tmp_path / "model"))
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, NoveltyDescriber) and loaded.redact
    assert hidden(loaded.explain(NOVEL[0]).to_dict()) and hidden(loaded.explain(NOVEL[0]).text)
    loaded.report(tmp_path / "page.html", known=KNOWN, novel=NOVEL)
    assert hidden((tmp_path / "page.html").read_text())
    loaded.remember(KNOWN, NOVEL)
    assert loaded.corpus_ is not None and hidden(list(loaded.corpus_.texts))
    labels = ["a", "b"] * (len(KNOWN) // 2) + ["c"] * len(NOVEL)
    numbers = tuple(map(str, range(len(labels))))
    piles = Documents((*KNOWN, *NOVEL), numbers, tuple(labels))
    values = describe_values(piles, redact=True, **fast)
    assert all(
        period.describer.corpus_ is not None and hidden(list(period.describer.corpus_.texts))
        for period in values.periods
    )


@pytest.fixture(scope="module")
def detector() -> NoveltyDetector:
    return NoveltyDetector(0.2, redact=True, n_clauses=4, epochs=2, random_state=1).fit(KNOWN * 3)


def test_a_detector_keeps_redacted_texts(detector: NoveltyDetector, tmp_path: Path) -> None:
    detector.save(tmp_path / "model")
    assert hidden(members(tmp_path / "model"))
    loaded = NoveltyDetector.load(tmp_path / "model")
    assert loaded.redact and loaded.held_back_texts_ and hidden(loaded.held_back_texts_)
    loaded.partial_fit(NOVEL[:6], ["flights"] * 6)
    assert hidden(loaded.held_back_texts_)
    given = NoveltyDetector(0.2, redact=True, n_clauses=4, epochs=2, random_state=1)
    given.fit(KNOWN[:20], held_back=KNOWN[20:])
    assert hidden(given.held_back_texts_)


def test_a_detector_reads_redacted_and_raw_texts_alike(detector: NoveltyDetector) -> None:
    raw, redacted = [*KNOWN[:4], *NOVEL[:4]], [redact(t) for t in [*KNOWN[:4], *NOVEL[:4]]]
    for method in ("novelty", "p_values", "predict", "nearest", "rule_votes", "score_samples"):
        one, other = (getattr(detector, method)(texts) for texts in (raw, redacted))
        np.testing.assert_array_equal(one, other, err_msg=method)
    assert hidden(detector.explain(NOVEL[0]).text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detection = detector.detect([*NOVEL, *KNOWN[:3]], known=KNOWN, n_clauses=20, epochs=2)
    assert hidden(detection.to_records())
    assert detection.description is not None
    assert hidden(list(detection.description.vectorizer_.vocabulary_))
    assert detection.description.redact


STREAM = [*KNOWN * 2, *KNOWN[:8], *(KNOWN[:22] + NOVEL[:18]) * 3]


def test_a_monitor_keeps_what_its_detector_reads(detector: NoveltyDetector) -> None:
    monitor = Monitor(detector, every=40)
    monitor.update(STREAM)
    kept = [document.text for t in monitor.topics_ for document in monitor.documents(t.number)]
    assert any("flight" in text for text in kept) and hidden(kept)


# the command line

runner = CliRunner()


def run(*arguments: str, status: int = 0) -> str:
    ended = runner.invoke(app, [*arguments])
    assert ended.exit_code == status, ended.output
    return " ".join(ended.output.split())


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    known, novel = write(tmp_path / "known.txt", KNOWN), write(tmp_path / "novel.txt", NOVEL)
    sides = ("--known", known, "--novel", novel)
    fast = ("--machines", "1", "--n-clauses", "20", "--epochs", "2")
    told = run(
        "describe", *sides, *fast, "--redact", "--calendar", "--save", "d", "--report", "d.html",
        "-o", "w.json", "--json",
    )  # fmt: skip
    assert hidden(told) and "36 redacted" in told
    for name in ("d.html", "w.json"):
        assert hidden((tmp_path / name).read_text()), name
    assert hidden(members(tmp_path / "d"))
    assert hidden(run("explain", "d", NOVEL[0], "--json"))
    told = run(
        "detect", "--known", known, "--incoming", novel, "--redact", "--alpha", "0.2",
        "--save", "m", "--report", "m.html", "-o", "m.csv",
    )  # fmt: skip
    assert hidden(told) and hidden(members(tmp_path / "m"))
    model = ("detect", "--model", "m", "--incoming", novel, "--no-description")
    assert hidden(run(*model, "--json")) and hidden(run(*model[:-1], "--json-lines"))
    rows = [f'"{text}",me@example.org' for text in NOVEL]
    table = write(tmp_path / "novel.csv", ["text,mail", *rows])
    of_table = ("detect", "--model", "m", "--incoming", table, "--no-description")
    assert hidden(run(*of_table[:-1], "--json-lines"))
    run(*of_table, "-o", "o.csv")
    assert "mail" not in (tmp_path / "o.csv").read_text()
    run(*model, "--report", "n.html", "-o", "n.csv")
    for name in ("m.html", "m.csv", "n.html", "n.csv", "o.csv"):
        assert hidden((tmp_path / name).read_text()), name
    assert "is part of the model" in run(*model, "--redact", status=2)


def test_a_monitor_can_insist(
    detector: NoveltyDetector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    novel = write(tmp_path / "novel.txt", STREAM)
    detector.save("m")
    NoveltyDetector(0.2, n_clauses=4, epochs=2, random_state=1).fit(KNOWN).save("raw")
    watch = ("monitor", "--incoming", novel, "--once", "--redact", "--every", "40")
    assert "keeps numbers" in run(*watch, "--model", "raw", "--state", "s", status=1)
    assert not Path("s").exists()
    assert hidden(run(*watch, "--model", "m", "--state", "s", "--report", "s.html"))
    state = Path("s").read_bytes().decode("latin-1")
    assert hidden(state) and "book a [#] flight" in state
    assert hidden(Path("s.html").read_text())
    run("monitor", "--incoming", novel, "--once", "--model", "raw", "--state", "t")
    open_raw = ("monitor", "--incoming", novel, "--once", "--redact", "--state", "t")
    assert "t has a detector that keeps numbers" in run(*open_raw, status=1)


# documents larger than memory


def test_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'scale' is not installed")
    monkeypatch.chdir(tmp_path)
    known, novel = write(tmp_path / "known.txt", KNOWN), write(tmp_path / "novel.txt", NOVEL)
    fast = ("--machines", "1", "--n-clauses", "20", "--epochs", "2", "--jobs", "1")
    for sample in ("100", "10"):
        told = run(
            "describe", "--known", known, "--novel", novel, *fast, "--redact", "--calendar",
            "--stream", "--sample", sample, "--save", "d", "--force", "-o", "w.csv", "--json",
        )  # fmt: skip
        assert hidden(told) and hidden(members(Path("d"))) and hidden(Path("w.csv").read_text())
    told = run(
        "detect", "--known", known, "--incoming", novel, "--redact", "--alpha", "0.2", "--stream",
        "-o", "m.csv", "--checkpoint", "parts", "--json", "--jobs", "1",
    )  # fmt: skip
    assert hidden(told) and hidden(Path("m.csv").read_text())
    for part in Path("parts").rglob("*"):
        if part.is_file():
            assert hidden(part.read_bytes().decode("latin-1")), part
