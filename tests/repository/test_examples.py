"""The notebooks of examples/ run, cell by cell, and are kept without outputs."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
if not NOTEBOOKS:
    pytest.skip("the notebooks are not beside the tests", allow_module_level=True)


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def show(value: object) -> str:
    """Return what a notebook would show for the last expression of a cell."""
    if hasattr(value, "_repr_html_"):
        html = value._repr_html_()
        assert re.search(r"<\w+", html), html
        return str(html)
    return repr(value)


def run(source: str, names: dict[str, Any], name: str) -> str:
    """Run a cell as a kernel does; return what is printed and shown."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, name, "exec", dont_inherit=True), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    return printed.getvalue() + ("" if value is None else show(value))


@pytest.mark.filterwarnings("ignore:.* no words left after cleaning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in read(path)["cells"] if cell["cell_type"] == "code"]
    shown = [run("".join(cell["source"]), names, path.name) for cell in cells]
    expected = {
        "1-describe-two-piles": "travel",
        "2-detect-and-explain": "were found",
        "3-watch-a-stream": "New topic 1",
        "4-the-machine-by-itself": "True",
    }[path.stem]
    assert any(expected in text for text in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_is_one_of_format_4_without_outputs(path: Path) -> None:
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            assert not any(line.startswith(("%", "!")) for line in cell["source"])
