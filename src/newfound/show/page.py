"""Pages: from values to self-contained HTML files that work offline.

`report_page`, `report_page_of_periods` and `detection_page` collect plain data, with smaller limits
until the page fits its size limit, and `render` makes the page. The template escapes everything.
The data are a block of JSON in which no character can end the block, and the scripts insert every
text as text. A content security policy allows the scripts and styles of the page by their hashes
and forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from newfound.marks import visible
from newfound.show.collect import Limits, collect, gather, pile_data
from newfound.sides import Names
from newfound.storage.files import check_writable, replacing

if TYPE_CHECKING:
    import jinja2

    from newfound.description.describe import Periods
    from newfound.description.description import Description
    from newfound.detection.detection import Detection
    from newfound.text.documents import Documents

__all__ = [
    "MAX_BYTES",
    "PLOT_STYLE_HASH",
    "data_of",
    "detection_page",
    "embedded_json",
    "page_environment",
    "render",
    "render_static",
    "report_page",
    "report_page_of_periods",
    "script_names",
    "static_text",
    "write_detection_report",
    "write_page",
    "write_periods_report",
    "write_report",
]

MAX_BYTES = 1_500_000
_MAX_TITLE = 120  # characters

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


def report_page(
    description: Description,
    *,
    known: object = None,
    novel: object = None,
    known_name: str | None = None,
    novel_name: str | None = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return one self-contained HTML page about a description.

    It works offline and has at most 1.5 MB, for a corpus of any size.

    Parameters
    ----------
    description : Description
        What was learned.
    known, novel : iterable of str, series, frame or Documents, optional
        The documents it was fitted on, needed if it was loaded from a file, which holds no texts.
        Without texts the page has no examples.
    known_name, novel_name : str, optional
        What the two sides are called on the page, instead of known and novel.
    title : str, optional
        The title of the page.
    seconds : mapping of str to float, optional
        The time that other steps than learning took, for the section on how it was made.
    """
    began = time.perf_counter()
    names = Names(known_name, novel_name)
    corpus = gather(description, known, novel)
    return _page(
        lambda limits: collect(description, corpus, limits, names),
        "What is new" if title is None else title,
        began,
        {**(seconds or {}), **description.seconds},
    )


def detection_page(
    detection: Detection,
    *,
    known: Documents | None = None,
    incoming: Documents | None = None,
    title: str | None = None,
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return one self-contained HTML page about a detection."""
    from newfound.show.detection import collect_detection

    began = time.perf_counter()
    read = {"known": known, "incoming": incoming}
    piles = {name: pile_data(pile) for name, pile in read.items() if pile is not None}
    return _page(
        lambda limits: collect_detection(detection, limits, piles),
        "What is new among incoming documents" if title is None else title,
        began,
        seconds or {},
    )


def report_page_of_periods(
    periods: Periods,
    *,
    title: str | None = None,
    known: Documents | None = None,
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return one self-contained HTML page about several periods.

    It has a strip of all periods and, for each, its themes and its most novel words.
    """
    from newfound.show.periods import collect_periods

    began = time.perf_counter()
    fold = any(period.description.copies is not None for period in periods.periods)
    piles = {} if known is None else {"all": pile_data(known, fold=fold)}
    learning = sum(period.description.seconds.get("learning", 0.0) for period in periods.periods)
    if title is None:
        each = f"What is new, {periods.by} by {periods.by}"
        title = f"What sets each {periods.by} apart" if periods.timeline is None else each
    return _page(
        lambda limits: collect_periods(periods, limits, piles),
        title,
        began,
        {"learning": learning, **(seconds or {})},
    )


def write_report(
    path: str | os.PathLike[str], description: Description, *, force: bool = False, **options: Any
) -> None:
    """Write the page of `report_page` to a file, completely or not at all.

    An existing file is overwritten only with `force`; the other options are those of `report_page`.
    """
    check_writable(path, force=force)
    write_page(path, report_page(description, **options), force=force)


def write_periods_report(
    path: str | os.PathLike[str], periods: Periods, *, force: bool = False, **options: Any
) -> None:
    """Write the page of `report_page_of_periods` to a file; see `write_report`."""
    check_writable(path, force=force)
    write_page(path, report_page_of_periods(periods, **options), force=force)


def write_detection_report(
    path: str | os.PathLike[str], detection: Detection, *, force: bool = False, **options: Any
) -> None:
    """Write the page of `detection_page` to a file; see `write_report`."""
    check_writable(path, force=force)
    write_page(path, detection_page(detection, **options), force=force)


def write_page(path: str | os.PathLike[str], page: bytes, *, force: bool) -> None:
    """Write a page to a file, completely or not at all."""
    with replacing(path, force=force) as temporary:
        temporary.write_bytes(page)


def _page(
    collected: Callable[[Limits], dict[str, Any]],
    title: str,
    began: float,
    seconds: Mapping[str, float],
) -> bytes:
    """Render a page, collected again with smaller limits until it fits its size limit."""
    if not isinstance(title, str):
        raise ValueError(f"title={title!r}: expected a str, got {type(title).__name__}.")
    limits = Limits()
    while True:
        data = collected(limits)
        spent = {**seconds, "making this page": time.perf_counter() - began}
        made = {
            **data["made"],
            "seconds": {name: round(value, 2) for name, value in spent.items()},
            "at": datetime.now().astimezone().isoformat(" ", "minutes"),
        }
        page = render({**data, "title": title[:_MAX_TITLE], "made": made})
        encoded = page.encode("utf-8", "replace")
        if len(encoded) <= MAX_BYTES or limits == limits.halved():
            return encoded
        limits = limits.halved()


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
    return page_environment("newfound.show").get_template(name)


def page_environment(*packages: str) -> jinja2.Environment:
    """Return an environment with the templates of packages, which escapes everything."""
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
    text = (files("newfound.show") / "static" / name).read_text(encoding="utf-8")
    if "</script" in text or "<!--" in text or "</style" in text:
        raise ValueError(f"{name} contains text that would end its HTML element; remove it.")
    if name.startswith("vendor/") and name.endswith(".min.js"):
        licence = static_text(name.replace(".min.js", ".LICENSE.txt"))
        return f"/*!\n{licence}*/\n{text}"
    return text
