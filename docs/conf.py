"""Build the site: ``make docs``. Nothing is loaded from the network, neither here nor by a page."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from sphinx.addnodes import desc_signature

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the lab is not installed

project = "newfound"
author = "the newfound developers"
copyright = author
version = release = installed_version("newfound")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "_static"]
default_role = "py:obj"  # `describe` in a docstring links to the entry of describe
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc sections name the types, in words
# Members of our own base classes are shown with a class, those of other libraries are not.
OTHERS = (
    "BaseEstimator",
    "ClassifierMixin",
    "OutlierMixin",
    "TransformerMixin",
    "_SetOutputMixin",
    "tuple",
    "ValueError",
)
autodoc_default_options = {
    "members": True,
    "inherited-members": ",".join(OTHERS),
    "show-inheritance": False,
}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes are also properties, with a place of their own
napoleon_preprocess_types = False
viewcode_line_numbers = True

html_theme = "furo"
html_title = "newfound"
html_static_path = ["_static"]
html_css_files = ["newfound.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
suppress_warnings: list[str] = []

# Pages that lie outside of docs/, and where they are on the site.
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "experiments/README.md": "experiments.md",
    **{
        f"{folder}/{path.name}": f"{Path(folder).name}/{path.name}"
        for folder in ("benchmarks/results", "lab/notes")
        for path in sorted((ROOT / folder).glob("*.md"))
    },
}
OUTSIDE = {source: page for source, page in OUTSIDE.items() if (ROOT / source).exists()}
HERE = "_outside"  # written at each build, not kept
LINK = re.compile(r"\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def write_outside_pages(*_: Any) -> None:
    """Copy the pages that lie outside of docs/, with links that hold on the site."""
    for source, page in OUTSIDE.items():
        target = ROOT / "docs" / HERE / page
        target.parent.mkdir(parents=True, exist_ok=True)
        text = relink((ROOT / source).read_text("utf-8"), ROOT / source, target)
        if not target.exists() or target.read_text("utf-8") != text:
            target.write_text(text, encoding="utf-8")


def relink(text: str, source: Path, target: Path) -> str:
    """Return a page with each link to a file rewritten for the place that the file has here."""

    def new(match: re.Match[str]) -> str:
        wanted = (source.parent / match[1]).resolve()
        if not wanted.is_relative_to(ROOT):
            return match[0]
        name = wanted.relative_to(ROOT).as_posix()
        if name in OUTSIDE:
            wanted = ROOT / "docs" / HERE / OUTSIDE[name]
        elif wanted.is_dir() and f"{name}/README.md" in OUTSIDE:
            wanted = ROOT / "docs" / HERE / OUTSIDE[f"{name}/README.md"]
        elif not wanted.is_relative_to(ROOT / "docs") and wanted.is_dir():
            return f"](#nowhere-{name})"  # no page: the build says so
        path = Path(*[".."] * len(target.parent.relative_to(ROOT).parts))
        return f"]({(path / wanted.relative_to(ROOT)).as_posix()}{match[2] or ''})"

    return LINK.sub(new, text)


def relink_page(app: Any, name: str, content: list[str]) -> None:
    """Rewrite the links of a page of docs/ that lead out of docs/."""
    if not name.startswith(HERE):
        path = ROOT / "docs" / f"{name}.md"
        content[0] = relink(content[0], path, path)


def skip_member(app: Any, what: str, name: str, *_: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator, and how a model is written to a file."""
    hidden = r"[sg]et_\w+_request|get_metadata_routing|to_state|from_state|from_parts"
    return True if re.fullmatch(hidden, name) else None


def link_pages(app: Any, what: str, name: str, about: Any, options: Any, lines: list[str]) -> None:
    """Make links of the pages that docstrings name by their path."""
    lines[:] = [re.sub(r"(`{1,2})docs/([\w-]+)\.md\1", r":doc:`/\2`", line) for line in lines]


def keep_shapes(app: Any, what: str, name: str, about: Any, options: Any, lines: list[str]) -> None:
    """Show the shape of an array as it is: `n_documents` in it is no attribute of a class."""
    shape = re.compile(r"^(:(?:type|vartype) .*?)(\([\w, *+]+\))")
    lines[:] = [shape.sub(r"\1``\2``", line) for line in lines]


def leave_out_source(app: Any, doctree: Any) -> None:
    """Link no source of a class that is documented below a module of public names.

    viewcode expects all names of a file below one module, and `Explanation` is `newfound`'s.
    """
    for signature in doctree.findall(desc_signature):
        if signature.get("module") == "newfound.explanation":
            signature["module"] = ""


def setup(app: Any) -> None:
    """Connect the steps above with the build."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", link_pages)
    app.connect("autodoc-process-docstring", keep_shapes, priority=900)  # after napoleon
    app.connect("doctree-read", leave_out_source, priority=400)  # before viewcode
    app.connect("builder-inited", write_outside_pages)
    app.connect("source-read", relink_page)
