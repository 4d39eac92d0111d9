"""The site: pages made from the code are up to date, and every public name has an entry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import newfound
import newfound.baselines
import newfound.scale
from tools_of_repository import load_tool

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not (DOCS / "conf.py").exists(), reason="only in the repository")


def test_the_page_of_the_command_line_is_made_from_the_commands() -> None:
    made = load_tool("cli_docs").page()
    assert (DOCS / "cli.md").read_text("utf-8") == made, "run python tools/cli_docs.py"
    for command in ("describe", "detect", "monitor promote", "explain"):
        assert f"# newfound {command}\n" in made


def test_every_public_name_has_an_entry_in_the_reference() -> None:
    pages = "\n".join(path.read_text("utf-8") for path in (DOCS / "api").glob("*.md"))
    entries = re.findall(r"^\.\. auto(?:function|class|exception):: newfound\.(\w+)$", pages, re.M)
    assert sorted(entries) == sorted(set(newfound.__all__) - {"__version__"})
    modules = re.findall(r"^\.\. automodule:: (newfound\.[\w.]+)$", pages, re.M)
    assert {"newfound.baselines", "newfound.scale"} <= set(modules)


def test_a_page_without_an_anchor_and_a_page_that_loads_a_font_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a><a href="b.html#gone">b</a><a href="c.html">c</a>'
        '<a href="https://example.org">away</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here"></p><link href="https://example.org/f.css">')
    found = load_tool("check_site").problems(tmp_path)
    assert [problem.split()[-1] for problem in found] == [
        "have",
        "site",
        "https://example.org/f.css",
    ]
    assert "b.html#gone" in found[0] and "c.html" in found[1]
