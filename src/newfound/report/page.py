"""From plain data to one self-contained HTML file.

The template escapes everything. The data are a block of JSON in which no character can end the
block, and the scripts insert every text as text. A content security policy allows the scripts and
styles of the page by their hashes and forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from newfound.marks import visible

if TYPE_CHECKING:
    import jinja2

__all__ = [
    "PLOT_STYLE_HASH",
    "data_of",
    "embedded_json",
    "page_environment",
    "render",
    "render_static",
    "script_names",
    "static_text",
]

_ESCAPE = re.compile(r"(\\r(?=\\n))|\\(?:u[0-9a-f]{4}|.)")  # of JSON
# Characters that could end the block or start another, or that browsers replace.
_UNSAFE = re.compile("[<>&\x00-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufeff\ufffe\uffff]")
_DATA = re.compile('<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
_LIBRARIES = {"report.html": ("d3", "plot"), "periods.html": ("d3",)}
_SCRIPTS = {
    "report.html": (
        "page", "table", "card", "themes", "time", "words", "rules", "context", "documents",
        "certainty", "made", "main",
    ),
    "periods.html": ("page", "table", "themes", "time", "periods", "made", "main"),
}  # fmt: skip
# The style that Observable Plot adds to every chart of the class "chart".
_PLOT_STYLE = (
    ":where(.chart) {\n  --plot-background: white;\n  display: block;\n  height: auto;\n"
    "  height: intrinsic;\n  max-width: 100%;\n}\n:where(.chart text),\n:where(.chart tspan) {\n"
    "  white-space: pre;\n}"
)


PLOT_STYLE_HASH = base64.b64encode(hashlib.sha256(_PLOT_STYLE.encode()).digest()).decode()


def render(data: dict[str, Any]) -> str:
    """Return the page for some data, as `collect` or `collect_periods` returns them."""
    template = "periods.html" if data.get("periods") else "report.html"
    scripts = [static_text(name) for name in script_names(template)]
    style = static_text("report.css")
    return _template(template).render(
        policy=_policy(scripts, [style, _PLOT_STYLE]),
        title=data["title"],
        summary=data["summary"],
        style=style,
        scripts=scripts,
        data=embedded_json(data),
    )


def render_static(template: str, **values: Any) -> str:
    """Return a page that has no script, from a template and its values."""
    style = static_text("report.css")
    return _template(template).render(policy=_policy([], [style]), style=style, **values)


def script_names(template: str) -> list[str]:
    """Return the scripts of a page, libraries first, in the order in which they are needed.

    Examples
    --------
    >>> script_names("report.html")[:3]
    ['vendor/d3.min.js', 'vendor/plot.min.js', 'page.js']
    """
    return [
        *(f"vendor/{name}.min.js" for name in _LIBRARIES[template]),
        *(f"{name}.js" for name in _SCRIPTS[template]),
    ]


def _template(name: str) -> jinja2.Template:
    return page_environment("newfound.report").get_template(name)


def page_environment(*packages: str) -> jinja2.Environment:
    """Return an environment with the templates of packages, which escapes everything.

    Parameters
    ----------
    *packages : str
        The packages with templates; a template is taken from the first one that has it.
    """
    import jinja2

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in packages]),
        autoescape=True,
        finalize=_finalized,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )


def _finalized(value: object) -> object:
    """Return a value of a template as it is shown; HTML that was made before stays as it is."""
    return visible(value) if type(value) is str else value


def embedded_json(data: object) -> str:
    r"""Return JSON that is safe inside a script element of HTML, with `visible` texts.

    Examples
    --------
    >>> embedded_json({"a": "</script><!-- &"})
    '{"a":"\\u003c/script\\u003e\\u003c!-- \\u0026"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = _ESCAPE.sub(_visible_escape, visible(text))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _visible_escape(found: re.Match[str]) -> str:
    """Return an escape of JSON, or the symbol of the control character that it stands for."""
    if found[1]:
        return " "  # a carriage return before a newline
    character = json.loads(f'"{found[0]}"')
    shown = visible(character)
    return found[0] if shown == character else shown


def data_of(page: str) -> dict[str, Any]:
    """Return the data of a page that `render` made.

    Raises
    ------
    ValueError
        If the page has no data.
    """
    found = _DATA.search(page)
    if found is None:
        raise ValueError("The page has no data; expected a report.")
    data: dict[str, Any] = json.loads(found[1])
    return data


def _policy(scripts: list[str], styles: list[str]) -> str:
    def hashes(contents: list[str]) -> str:
        digests = (hashlib.sha256(content.encode()).digest() for content in contents)
        return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)

    allowed = f"script-src {hashes(scripts)}; " if scripts else ""
    return (
        f"default-src 'none'; {allowed}style-src {hashes(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def static_text(name: str) -> str:
    """Return a script or style of the report; a library has its licence, as all copies must."""
    text = (files("newfound.report") / "static" / name).read_text(encoding="utf-8")
    if "</script" in text or "<!--" in text or "</style" in text:
        raise ValueError(f"{name} contains text that would end its HTML element; remove it.")
    if name.startswith("vendor/") and name.endswith(".min.js"):
        licence = static_text(name.replace(".min.js", ".LICENSE.txt"))
        return f"/*!\n{licence}*/\n{text}"
    return text
