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

if TYPE_CHECKING:
    import jinja2

__all__ = ["embedded_json", "render", "render_static"]

# Characters that could end the block or start another, or that browsers replace.
_UNSAFE = re.compile("[<>&\x00-\x1f\x7f-\x9f\u2028\u2029\ufdd0-\ufdef\ufeff\ufffe\uffff]")
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


def render(data: dict[str, Any]) -> str:
    """Return the page for some data, as `collect` or `collect_periods` returns them."""
    template = "periods.html" if data.get("periods") else "report.html"
    scripts = [
        *map(_library, _LIBRARIES[template]),
        *(_static(f"{name}.js") for name in _SCRIPTS[template]),
    ]
    style = _static("report.css")
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
    style = _static("report.css")
    return _template(template).render(policy=_policy([], [style]), style=style, **values)


def _template(name: str) -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("newfound.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def embedded_json(data: object) -> str:
    r"""Return JSON that is safe inside a script element of HTML.

    Examples
    --------
    >>> embedded_json({"a": "</script><!-- &"})
    '{"a":"\\u003c/script\\u003e\\u003c!-- \\u0026"}'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
def _static(name: str) -> str:
    text = (files("newfound.report") / "static" / name).read_text(encoding="utf-8")
    if "</script" in text or "<!--" in text or "</style" in text:
        raise ValueError(f"{name} contains text that would end its HTML element; remove it.")
    return text


def _library(name: str) -> str:
    """Return a vendored library with its licence, which must be part of all copies."""
    licence = _static(f"vendor/{name}.LICENSE.txt")
    return f"/*!\n{licence}*/\n{_static(f'vendor/{name}.min.js')}"
