"""The pages for people: rendered here, with the report's templates, styles and scripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from starlette.responses import HTMLResponse

from newfound.detection.encoder_shelf import encoder_names
from newfound.marks import Mark
from newfound.models import Model
from newfound.serve.api import json_answer
from newfound.serve.context import UNREADABLE, ServiceParts
from newfound.serve.guard import POLICY
from newfound.serve.openapi import openapi, operations
from newfound.serve.requests import (
    ColumnsRequest,
    ExplainRequest,
    Problem,
    SignInRequest,
    json_body,
)
from newfound.serve.search import search_documents
from newfound.serve.uploads_api import inspect
from newfound.serve.worker import REPORT
from newfound.show.monitor import monitor_data
from newfound.show.page import (
    PLOT_STYLE_HASH,
    data_of,
    embedded_json,
    page_environment,
    script_names,
    static_text,
)
from newfound.text.dates import UNITS

if TYPE_CHECKING:
    import jinja2

__all__ = ["compare", "error_page", "router"]

router = APIRouter(include_in_schema=False)
_RECENT = 5
_FOUND = 20  # documents of a search that are shown
_SHADES = 5
_TITLED = ("live.html", "watch.html")  # they show their title as a heading, too
_KINDS = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_OWN = ("serve.css", "app.js", "icon.svg", "htmx.min.js")
_DATES = ("date", "day", "time", "timestamp", "created", "published")
_SAME = 1 / 3  # share of the words of two themes that both have, from which on they are the same
_WORDS = 10  # of a theme or group
_LABELS = ("label", "class", "intent", "topic", "category")


@cache
def _environment() -> jinja2.Environment:
    return page_environment("newfound.serve", "newfound.show")


def _page(template: str, title: str, here: str = "", status: int = 200, **values: Any) -> Response:
    """Return a page."""
    text = (
        _environment()
        .get_template(template)
        .render(
            title=title if template in _TITLED else f"{title} · newfound",
            here=here,
            sheets=("/static/report.css", "/static/serve.css"),
            icon="/static/icon.svg",
            **values,
        )
    )
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def _part(template: str, **values: Any) -> Response:
    """Return a part of a page."""
    text = _environment().get_template(template).render(**values)
    return HTMLResponse(text.encode("utf-8", "replace"))


def error_page(status: int, detail: str, headers: Any = None) -> Response:
    """Return a page that says what is wrong."""
    heading = {404: "There is nothing here.", 500: "Something went wrong."}
    page = _page(
        "error.html", "Error", status=status, code=status, detail=detail,
        heading=heading.get(status, "That was not possible."),
    )  # fmt: skip
    page.headers.update(headers or {})
    return page


@router.get("/")
async def start(request: Request) -> Response:
    """Show the first page: the sample, and one's own documents."""
    context = ServiceParts.of(request)
    return _page(
        "start.html", "Start", "/",
        recent=context.workspace.runs()[:_RECENT],
        models=context.library.entries(),
        encoders=encoder_names(),
        most=context.settings.limits.upload_bytes >> 20,
        units=UNITS,
    )  # fmt: skip


@router.get("/pages/uploads/{id}")
async def preview(request: Request, id: str, wants: str = "text") -> Response:
    """Show the first rows of an uploaded file, and let its columns be chosen."""
    context = ServiceParts.of(request)
    workspace = context.workspace
    upload = workspace.upload(id)
    if upload is None:
        raise Problem(404, "There is no such upload.")
    path = workspace.upload_path(upload)
    found = json.loads(await inspect(context, "preview", str(path), upload.name))
    columns = {column.lower(): column for column in found["columns"]}
    return _part(
        "preview.html", upload=upload, preview=found, wants=wants.split(),
        dates=next((columns[name] for name in _DATES if name in columns), None),
        labels=next((columns[name] for name in _LABELS if name in columns), None),
    )  # fmt: skip


@router.post("/pages/uploads/{id}/check")
async def check(request: Request, id: str) -> Response:
    """Show what can be read of an uploaded file with the columns chosen."""
    context = ServiceParts.of(request)
    workspace = context.workspace
    upload = workspace.upload(id)
    if upload is None:
        raise Problem(404, "There is no such upload.")
    try:
        given = json.loads(await request.body())
        given.pop("upload", None)
        columns = ColumnsRequest.model_validate(given)
    except (AttributeError, ValueError, RecursionError) as error:
        raise Problem(422, "The columns cannot be read.") from error
    path = workspace.upload_path(upload)
    try:
        printed = await inspect(context, "check", str(path), upload.name, columns.model_dump_json())
    except Problem as problem:
        return _part("checked.html", error=problem.detail, checked=None)
    return _part("checked.html", error=None, checked=json.loads(printed))


@router.get("/runs/{id}")
async def run(request: Request, id: str) -> Response:
    """Show a run: its progress, why it has ended, or the report."""
    context = ServiceParts.of(request)
    found = context.jobs.run(id)
    result = await asyncio.to_thread(context.workspace.result, id)
    if found.state != "finished" or result is None:
        return _page("run.html", found.name, run=found)
    path = context.workspace.run_folder(id) / REPORT
    if not path.is_file():
        raise Problem(404, "The report of this run is no longer in the workspace.")
    data = await asyncio.to_thread(lambda: data_of(path.read_text(encoding="utf-8")))
    report = "periods.html" if data.get("periods") else "report.html"
    answer = _page(
        "live.html", data["title"],
        summary=data["summary"], data=embedded_json(data), run=found, about=result["about"],
        report=report, scripts=script_names(report),
    )  # fmt: skip
    style = f"style-src 'self' 'sha256-{PLOT_STYLE_HASH}'"
    answer.headers["content-security-policy"] = POLICY.replace("style-src 'self'", style)
    return answer


@router.get("/pages/runs/{id}/documents")
async def documents(
    request: Request, id: str, q: str = "", side: str = "", start: int = 0
) -> Response:
    """Show the documents of a run that have some words."""
    context = ServiceParts.of(request)
    if context.jobs.run(id).state != "finished":
        raise Problem(409, "The run has no result.")
    folder = context.workspace.run_folder(id)
    side, start = side if side in ("known", "novel") else "", min(max(start, 0), 10**9)
    found = await asyncio.to_thread(search_documents, folder, q, side=side, start=start, n=_FOUND)
    return _part("found.html", id=id, start=start, n=_FOUND, **found)


@router.get("/explain")
async def explain(request: Request, model: str = "", text: str = "") -> Response:
    """Show the page on which texts are explained as they are typed."""
    models = ServiceParts.of(request).library.entries()
    return _page("explain.html", "Explain", "/explain", models=models, chosen=model, text=text)


@router.post("/pages/explain")
async def explained(request: Request) -> Response:
    """Show why a text is known or novel."""
    context = ServiceParts.of(request)
    given = await json_body(request, ExplainRequest)
    if not (given.text or "").strip():
        return _part("explained.html", error=None, found=None)
    model = await context.library.model(given.model)
    try:
        found = await asyncio.get_running_loop().run_in_executor(
            context.scoring, _explained, model, given.text or ""
        )
    except ValueError as error:
        return _part("explained.html", error=str(error), found=None)
    context.metrics.count_texts("explain", 1)
    return _part("explained.html", error=None, found=found, side=found["side"])


def _explained(model: Model, text: str) -> dict[str, Any]:
    found = model.explain(text)
    lines = (found.newest_line(), *found.lines())
    return {
        "side": found.verdict,
        "sentence": found.sentence,
        "summary": found.summary(),
        "parts": [(newest, list(_marked(parts))) for newest, parts in found.shown_parts()],
        "lines": [line.split(": ", 1) if ": " in line else ["", line] for line in lines if line],
        "notes": list(found.notes()),
    }


def _marked(parts: Iterable[tuple[str, Mark | None]]) -> Iterator[tuple[str, str, str]]:
    for part, mark in parts:
        if mark is None:
            yield part, "", ""
        else:
            shade = round(_SHADES * min(abs(mark.strength), 1.0))
            never = " never" if mark.underlined else ""
            yield part, f"{mark.side} w{shade}{never}", mark.title


@router.get("/history")
async def history(request: Request) -> Response:
    """Show all runs and models."""
    context = ServiceParts.of(request)
    runs, models = context.workspace.runs(), context.library.entries()
    return _page("history.html", "History", "/history", runs=runs, models=models)


@router.get("/compare")
async def compared(request: Request) -> Response:
    """Show what differs between two runs."""
    context = ServiceParts.of(request)
    ids = request.query_params.getlist("run")
    found = [context.jobs.run(id) for id in ids[:3]]
    results = [context.workspace.result(one.id) for one in found]
    alike = len(found) == 2 and found[0].kind == found[1].kind
    if not alike or not all(one is not None and "novel_words" in one["data"] for one in results):
        error = "Choose two finished runs of the same kind, not of periods."
        return _page("compare.html", "Compare", "/history", error=error)
    if found[0].created > found[1].created:
        found.reverse()
        results.reverse()
    first, second = (dict(one or {})["data"] for one in results)
    return _page(
        "compare.html", "Compare", "/history",
        error=None, first=found[0], second=found[1], **compare(first, second),
    )  # fmt: skip


@router.get("/monitors")
async def monitors(request: Request) -> Response:
    """Show all monitors."""
    context = ServiceParts.of(request)
    shown = await context.monitors.states()
    models = [entry for entry in context.library.entries() if entry.kind == "detector"]
    return _page(
        "monitors.html", "Monitor", "/monitors",
        monitors=shown, models=models, unreadable=UNREADABLE["summary"],
    )  # fmt: skip


@router.get("/monitors/{id}")
async def monitor(request: Request, id: str) -> Response:
    """Show a monitor: rate, alerts and topics over time, and what can be done with topics."""
    context = ServiceParts.of(request)
    entry = context.monitors.entry(id)

    def look(one: Any) -> dict[str, Any]:
        data = monitor_data(one, title=entry["name"])
        is_open = {topic.number for topic in one.topics_ if topic.status == "open"}
        for topic in data["topics"]:
            topic["open"] = topic["number"] in is_open
        return {**data, "steps": one.log}

    data = await context.monitors.use(id, look)
    title = data.pop("title")
    shown = [topic for topic in data["topics"] if topic["open"]]
    return _page("watch.html", title, "/monitors", id=id, open_topics=shown, **data)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Show the interface for programs."""
    return _page("docs.html", "For programs", "/docs", groups=operations(openapi(request.app)))


@router.get("/sign-in")
async def sign_in_page() -> Response:
    """Ask for the token."""
    return _page("sign_in.html", "Sign in", "/sign-in")


@router.post("/sign-in")
async def sign_in(request: Request) -> Response:
    """Give the cookie to a browser that has the token."""
    given = await json_body(request, SignInRequest)
    guard = ServiceParts.of(request).guard
    if guard is None or not guard.is_token(given.token.strip()):
        raise Problem(403, "That is not the token.")
    answer = json_answer({"status": "ok"})
    answer.set_cookie(**guard.session_cookie())
    return answer


@router.get("/static/{name:path}")
async def static(name: str) -> Response:
    """Return a style, a script or an icon."""
    text = _static_files().get(name)
    if text is None:
        raise Problem(404, "There is no such file.")
    kind = _KINDS[name.rpartition(".")[2]]
    headers = {"Cache-Control": "private, max-age=300"}
    return Response(text, headers=headers, media_type=f"{kind}; charset=utf-8")


@cache
def _static_files() -> dict[str, str]:
    own = files("newfound.serve") / "static"
    found = {name: (own / name).read_text("utf-8") for name in _OWN if name != "htmx.min.js"}
    licence = (own / "vendor" / "htmx.LICENSE.txt").read_text("utf-8")
    library = (own / "vendor" / "htmx.min.js").read_text("utf-8")
    found["htmx.min.js"] = f"/*!\n{licence}*/\n{library}"
    found["report.css"] = static_text("report.css")
    for name in {*script_names("report.html"), *script_names("periods.html")}:
        found[f"report/{name}"] = static_text(name)
    return found


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came, went and moved from one result to another.

    Returns
    -------
    dict
        ``themes`` and ``words``, each with the names that ``came`` and ``went``, and those that
        ``moved``: name, place before and place now; and the ``parameters`` that differ.

    Examples
    --------
    >>> def result(*words): return {"novel_words": [{"word": word} for word in words]}
    >>> compare(result("scrum", "try"), result("try", "ruck"))["words"]
    {'came': ['ruck'], 'went': ['scrum'], 'moved': [('try', 2, 1)]}
    """
    before, now = (
        {row["word"]: place for place, row in enumerate(result["novel_words"], 1)}
        for result in (first, second)
    )
    words = {
        "came": [word for word in now if word not in before],
        "went": [word for word in before if word not in now],
        "moved": [(word, before[word], place) for word, place in now.items() if word in before],
    }
    return {
        "themes": _themes(_named(first), _named(second)),
        "words": words,
        "parameters": _parameters(first, second),
    }


def _named(result: Mapping[str, Any]) -> list[tuple[str, set[str]]]:
    """Return the themes of a description, or the groups of a detection, with their words."""
    if "themes" in result:
        return [(theme["name"], set(theme["words"][:_WORDS])) for theme in result["themes"]]
    return [
        (group["name"], {row["word"] for row in group["words"][:_WORDS]})
        for group in result.get("groups", ())
    ]


def _themes(
    first: Sequence[tuple[str, set[str]]], second: Sequence[tuple[str, set[str]]]
) -> dict[str, Any]:
    left = dict(enumerate(first, 1))
    came, moved = [], []
    for place, (name, words) in enumerate(second, 1):
        shared = {
            number: len(words & others) / max(len(words | others), 1)
            for number, (_, others) in left.items()
        }
        best = max(shared, key=shared.__getitem__, default=0)
        if best and shared[best] >= _SAME:
            left.pop(best)
            moved.append((name, best, place))
        else:
            came.append(name)
    return {"came": came, "went": [name for name, _ in left.values()], "moved": moved}


def _parameters(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    before, now = (
        {"alpha": result.get("alpha"), **result.get("parameters", {})} for result in (first, second)
    )
    return [
        (name, before.get(name), now.get(name))
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    ]
