"""Marked texts look alike wherever they come from, and nothing in a text steers a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import newfound
from newfound.cli.console import print_json
from newfound.description.explanation import SideExplanation
from newfound.detection.verdict import Verdict
from newfound.explanation import Explanation, Word
from newfound.marks import INK, STEERING, Mark, cut_up, escaped, to_terminal, visible
from newfound.rules import Rule
from newfound.show.page import data_of, embedded_json


@dataclass(frozen=True, kw_only=True)
class Shown(Explanation):
    verdict: str = "novel"
    words: tuple[Word, ...] = ()
    baseline: float = 0.0
    rules: Sequence[Rule] = ()
    most_shown: ClassVar[int | None] = 30

    def mark(self, word: Word) -> tuple[float, str]:
        return word.contribution, f"{word.word}: {word.role}"

    def to_dict(self, max_rules: int | None = None) -> dict[str, Any]:
        return {}

    @property
    def sentence(self) -> str:
        return "New: <b> \x1b[2J"

    def summary(self) -> str:
        return "p = 0.01 & \x1b[2J"

    def lines(self) -> Sequence[str]:
        return ("because & \x9b2J",)


class TestVisible:
    def test_every_control_character_is_replaced_by_one_symbol(self) -> None:
        controls = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
        controls += "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
        shown = visible("".join(controls))
        assert len(shown) == len(controls)
        assert set(shown) & set(controls) == {"\t", "\n"}

    @given(st.text())
    def test_other_characters_stay(self, text: str) -> None:
        shown = visible(text)
        assert len(shown) == len(text)
        changed = [a for a, b in zip(text, shown, strict=True) if a != b]
        assert all(map(STEERING.match, changed))
        assert not STEERING.search(shown)

    def test_a_line_that_ends_as_on_windows_has_no_symbol(self) -> None:
        assert visible("a\r\nb\rc") == "a \nb␍c"

    def test_there_is_one_of_it(self) -> None:
        sources = Path(newfound.__file__).parent.rglob("*.py")
        homes = [path.name for path in sources if "def visible(" in path.read_text("utf-8")]
        assert homes == ["marks.py"]


class TestMarks:
    @given(
        st.text(max_size=30),
        st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=8),
    )
    def test_the_parts_add_up_to_the_text(self, text: str, found: list[tuple[int, int]]) -> None:
        marks = [(start, start + length, number) for number, (start, length) in enumerate(found)]
        parts = list(cut_up(text, marks))
        assert "".join(part for part, _ in parts) == text
        free = [True] * len(text)
        for start, end, number in marks:  # the first ones that fit
            fits = end <= len(text) and all(free[start:end])
            assert fits == ((text[start:end], number) in parts)
            free[start:end] = [fits is False and free[i] for i in range(start, min(end, len(text)))]

    @pytest.mark.parametrize(
        ("mark", "style"),
        [
            (Mark(0, 1, 0.05), ""),
            (Mark(0, 1, 0.2), "red"),
            (Mark(0, 1, -0.5), "bold blue"),
            (Mark(0, 1, 0.0, underlined=True), "underline"),
            (Mark(0, 1, 0.9, underlined=True), "bold underline red"),
        ],
    )
    def test_style_of_a_terminal(self, mark: Mark, style: str) -> None:
        assert mark.style() == style

    def test_html_is_escaped(self) -> None:
        found = Mark(0, 3, 3.0, '"<script>').to_html("<i>")
        assert found == (
            '<mark style="background:rgba(214,96,40,0.65);color:inherit" '
            'title="&quot;&lt;script&gt;">&lt;i&gt;</mark>'
        )
        unknown = Mark(0, 1, 0.0, "unknown", underlined=True).to_html("a")
        assert unknown == '<span style="border-bottom:1px dotted" title="unknown">a</span>'


class TestExplanation:
    def test_nothing_steers_the_terminal_or_the_page(self) -> None:
        words = (Word("scrum", 1.0, ((0, 5),), "novel"),)
        shown = Shown(text="scrum \x1b]0;x\x07 <img> " + "x" * 40, words=words)
        plain = shown.to_terminal(colour=False)
        assert not set("\x1b\x07\x9b") & set(plain)
        assert "(29 more characters)" in plain
        coloured = shown.to_terminal()
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
        page = shown._repr_html_()
        assert page.count("<mark") == 1
        assert "<img>" not in page
        assert "<b>New: &lt;b&gt;" in page
        assert page.index("<b>New") < page.index("<mark") < page.index("<li>p = 0.01 &amp;")
        assert "<li>because &amp;" in page
        assert not STEERING.search(page)
        assert not STEERING.search(Mark(0, 1, 1.0, "\u202e").to_html("\u2066"))

    def test_description_and_detection_share_it(self) -> None:
        for kind in (SideExplanation, Verdict):
            assert issubclass(kind, Explanation)
            for name in ("__rich__", "_repr_html_", "to_terminal", "marks", "contributions"):
                assert getattr(kind, name) is getattr(Explanation, name)

    def test_of_marks_that_overlap_the_strongest_is_shown(self) -> None:
        words = (
            Word("fly half", 0.9, ((0, 8),), "novel"),
            Word("zyx", 0.0, ((9, 12),), "unknown"),
            Word("fly", -0.2, ((0, 3), (13, 16)), "known"),
        )
        shown = Shown(text="fly half zyx fly", words=words)
        parts = [(part, mark and (mark.strength, mark.underlined))
                 for part, mark in shown.marked_parts()]  # fmt: skip
        assert parts == [
            ("fly half", (0.9, False)), (" ", None), ("zyx", (0.0, True)), (" ", None),
            ("fly", (-0.2, False)),
        ]  # fmt: skip
        assert shown.contributions == {"fly half": 0.9, "zyx": 0.0, "fly": -0.2}


def test_only_marks_have_colours() -> None:
    assert to_terminal("12 of 'these' are True: http://example.org") == (
        "12 of 'these' are True: http://example.org\n"
    )


def test_a_marked_text_is_printed_as_a_terminal_without_colours_shows_it() -> None:
    shown = Shown(text="hello \x1b[31mworld", words=(Word("hello", 1.0, ((0, 5),), "novel"),))
    assert str(shown) == shown.to_terminal(colour=False).rstrip("\n")
    assert str(shown).startswith("New: <b> ␛[2J\n\nhello ") and "\x1b" not in str(shown)


def test_plots_and_page_have_the_same_colours() -> None:
    css = Path(newfound.__file__).parent.joinpath("show/static/report.css").read_text("utf-8")
    names = {"novel": "novel", "known": "known", "neither": "soft", "shared": "ink"}
    for side, name in names.items():
        assert re.search(rf"--{name}: light-dark\({INK[side]},", css)


@pytest.mark.parametrize(
    ("strength", "underlined", "tag"),
    [(0.5, True, "mark"), (0.5, False, "mark"), (0.0, True, "span"), (-0.5, True, "mark")],
)
def test_a_mark_without_strength_is_only_underlined(
    strength: float, underlined: bool, tag: str
) -> None:
    html = Mark(0, 1, strength, "why", underlined).to_html("a")
    assert html.startswith(f"<{tag} ") and html.endswith(f">a</{tag}>")
    assert ("background" in html) == (tag == "mark") and ("dotted" in html) == underlined


HOSTILE = "a\x1b[2J\x9b1m\u202eb\u2066\x07 \\u001b \\\\r\\n \r\n\rend"


def test_the_data_of_a_page_steer_nothing() -> None:
    page = embedded_json({HOSTILE: [HOSTILE, 1.5, None, {"a": HOSTILE}]})
    assert not STEERING.search(page)
    found = json.loads(page)
    assert found == {visible(HOSTILE): [visible(HOSTILE), 1.5, None, {"a": visible(HOSTILE)}]}
    assert "\\u001b \\\\r\\n" in found[visible(HOSTILE)][0]  # backslashes of the text itself


def test_json_in_a_terminal_steers_nothing_and_is_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_json({"a": HOSTILE})
    printed = capsys.readouterr().out
    assert not STEERING.search(printed) and json.loads(printed) == {"a": HOSTILE}


def test_reports_steer_nothing(tmp_path: Path) -> None:
    known = [f"{HOSTILE} six wickets in the match {n}" for n in range(9)]
    novel = [f"{HOSTILE} a rugby scrum in the match {n}" for n in range(9)]
    described = newfound.describe(
        known, novel, n_machines=2, n_clauses=20, T=5, epochs=3, random_state=1
    )
    described.report(tmp_path / "report.html", title=HOSTILE)
    page = (tmp_path / "report.html").read_bytes().decode()
    assert "<title>" + escaped(HOSTILE).split("\n")[0] in page
    assert not STEERING.search(page)
    assert not STEERING.search(json.dumps(data_of(page), ensure_ascii=False))
