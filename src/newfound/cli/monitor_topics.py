"""``newfound monitor topics`` and the other commands on the topics of a state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.console import outcome, print_json, print_line, show
from newfound.cli.options import Encoder, Json
from newfound.marks import visible

if TYPE_CHECKING:
    from newfound.monitor.monitor import Monitor
    from newfound.monitor.records import Document, Topic
    from newfound.monitor.store import Store

__all__ = [
    "alerts",
    "digest",
    "dismiss",
    "log",
    "merge",
    "promote",
    "rename",
    "rules",
    "show_topic",
    "topics",
    "undo",
]

_SHOWN = 10  # documents of a topic

State = Annotated[Path, typer.Option(metavar="FILE", help="File with the state of a monitor.")]
Number = Annotated[int, typer.Argument(metavar="N", help="Number of the topic.")]


def topics(
    state: State,
    json: Json = False,
) -> None:
    """List the topics of a state, also while a monitor runs."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.topics import joined_topics

        shown, lives = (
            joined_topics({topic.number: topic for topic in store.topics()}),
            _lives(store),
        )
        if json:
            print_json([topic.to_dict(lives[topic.number]) for topic in shown])
        elif not shown:
            show("There is no topic yet.")
        else:
            show(_table(shown, lives))


def alerts(state: State, json: Json = False) -> None:
    """List the alerts of a state, the oldest first, also while a monitor runs."""
    with outcome(), _reading(state) as store:
        found = store.alerts()
        if json:
            print_json([alert.to_dict() for alert in found])
        elif not found:
            show("There was no alert yet.")
        for alert in () if json else found:
            print_line(alert.line())


def digest(
    state: State,
    since: Annotated[
        str, typer.Option(help="How far back: a span of time, 1d, or a number of documents.")
    ] = "1d",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    json: Json = False,
) -> None:
    """Print what the last windows brought: new topics, updates, and older topics."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.digest import Digest

        found = Digest.of(store, since)
        if json:
            print_json(found.to_dict())
            return
        for line in found.lines(markdown=markdown):
            print_line(line)


def show_topic(number: Number, state: State, json: Json = False) -> None:
    """Show a topic: its words, rules, typical and last documents, and counts by window."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.topics import joined_topic, life_of, topic_parts, windows_of_topic

        found = {topic.number: topic for topic in store.topics()}
        topic = joined_topic(found, number)
        last = store.documents(topics=topic_parts(found, number))[-_SHOWN:]
        counts = windows_of_topic(found, number, store.topic_counts())
        life = life_of(topic, counts, int(store.get("window", 1)) - 1)
        if json:
            print_json(_topic_data(topic, last, counts, _starts(store), life))
            return
        for line in _topic_lines(topic, last, counts, _starts(store), life):
            print_line(line)


def _topic_data(
    topic: Topic, last: list[Document], counts: dict[int, int], starts: dict[int, float], life: str
) -> dict[str, Any]:
    """Return a topic as plain data, with its last documents and its documents by window."""
    from newfound.monitor.records import format_time

    by_window = [
        {"window": window, "start": format_time(starts.get(window)), "documents": n}
        for window, n in counts.items()
    ]
    documents = [
        {"id": d.id, "time": format_time(d.time), "text": d.text, "p_value": d.p_value}
        for d in last
    ]
    return {**topic.to_dict(life), "by_window": by_window, "last": documents}


def _topic_lines(
    topic: Topic, last: list[Document], counts: dict[int, int], starts: dict[int, float], life: str
) -> list[str]:
    """Return the lines that show a topic, as `_topic_data` has it."""
    from newfound.monitor.records import format_time

    words = ", ".join(str(word["word"]) for word in topic.words)
    windows = (f"{format_time(starts.get(w)) or w}: {n}" for w, n in counts.items())
    return [
        f"Topic {topic.number}, {topic.name} ({_status(topic, life)})",
        topic.seen(counts),
        f"words: {words}",
        f"rules: {'; '.join(topic.to_dict()['rules'])}",
        "typical documents:",
        *(f"  {_short(text)}" for text in topic.typical),
        "last documents:",
        *(f"  {_short(document.text)}" for document in last),
        f"documents by window: {', '.join(windows)}",
    ]


def promote(
    number: Number,
    state: State,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="Name of the class.")],
    encoder: Encoder = None,
) -> None:
    """Make a topic a known class; the detector learns it."""
    with outcome(), _opened(state, encoder) as monitor:
        topic = monitor.promote(number, name)
        n = len(monitor.detector.classes_)
        print_line(f"Topic {number}, {topic.name}, is now the class {name}, one of {n}.")


def dismiss(number: Number, state: State, encoder: Encoder = None) -> None:
    """Make a topic part of the class noise."""
    with outcome(), _opened(state, encoder) as monitor:
        topic = monitor.dismiss(number)
        print_line(f"Topic {number}, {topic.name}, is now known as noise.")


def merge(
    number: Number,
    other: Annotated[int, typer.Argument(metavar="M", help="Topic that becomes part of N.")],
    state: State,
) -> None:
    """Make topic M a part of topic N."""
    with outcome(), _opened(state) as monitor:
        topic = monitor.merge(number, other)
        print_line(f"Topic {other} is now part of topic {number}, {topic.name}.")


def rename(
    number: Number, name: Annotated[str, typer.Argument(help="Its name from now on.")], state: State
) -> None:
    """Give a topic another name."""
    with outcome(), _opened(state) as monitor:
        print_line(f"Topic {number} is now called {monitor.rename(number, name).name}.")


def rules(
    number: Number,
    state: State,
    remove: Annotated[
        str | None, typer.Option(metavar="WORD", help="Rule to take away; documents stay.")
    ] = None,
) -> None:
    """Print the rules of a topic, or take one away."""
    with outcome():
        if remove is not None:
            with _opened(state) as monitor:
                topic = monitor.remove_rule(number, remove)
        else:
            from newfound.monitor.topics import joined_topic

            with _reading(state) as store:
                topic = joined_topic({topic.number: topic for topic in store.topics()}, number)
        for rule in topic.to_dict()["rules"]:
            print_line(rule)


def undo(state: State) -> None:
    """Undo the last change of a topic by a person: promote, dismiss, merge, rename or rules."""
    with outcome(), _opened(state) as monitor:
        step = monitor.undo()
        print_line(f"Undone: {_step(step)}.")


def log(state: State, json: Json = False) -> None:
    """List what people have changed in topics, and when."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.records import format_time

        steps = [{**step, "time": format_time(step["time"])} for step in store.log()]
        if json:
            print_json(steps)
            return
        for step in steps:
            undone = " (undone)" if step["undone"] else ""
            print_line(f"{step['time']}  {_step(step)}{undone}")


@contextmanager
def _reading(state: Path) -> Iterator[Store]:
    from newfound.monitor.store import Store

    store = Store(state, writing=False)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _opened(state: Path, encoder: str | None = None) -> Iterator[Monitor]:
    from newfound.detection.encoder_shelf import load_encoder
    from newfound.monitor.monitor import Monitor
    from newfound.monitor.store import writing_errors

    reader = None if encoder is None else load_encoder(encoder)
    with writing_errors(state), Monitor.open(state, encoder=reader) as monitor:
        yield monitor


def _starts(store: Store) -> dict[int, float]:
    """Return when each window of time starts; nothing for windows of a number of documents."""
    from newfound.monitor.records import parse_length

    size = parse_length(store.get("settings")["every"]).size
    return {w.number: float(w.key * size) for w in store.windows() if w.key is not None}


def _step(step: dict[str, Any]) -> str:
    """Return what a person did, in words."""
    topic = f"topic {step['topic']}, {step['name']}"
    if step["action"] == "merge":
        part = f"topic {step['part']}"
        if step.get("part_name"):
            part += f", {step['part_name']},"
        return f"merge of {part} into {topic}"
    if step["action"] == "rename":
        return f"rename of {topic}, to {step['to']}"
    if step["action"] == "rules":
        return f"removal of the rule {step['word']} from {topic}"
    as_class = f", as {step['known_as']}" if step["action"] == "promote" else ""
    return f"{step['action']} of {topic}{as_class}"


def _lives(store: Store) -> dict[int, str]:
    """Return where each topic is in its life."""
    from newfound.monitor.topics import lives

    found = {topic.number: topic for topic in store.topics()}
    return lives(found, store.topic_counts(), int(store.get("window", 1)) - 1)


def _status(topic: Topic, life: str) -> str:
    return life if topic.known_as is None else f"{topic.status} as {topic.known_as}, {life}"


def _short(text: str, most: int = 160) -> str:
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _table(topics: list[Topic], lives: dict[int, str]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    rows = [(topic, topic.to_dict(lives[topic.number])) for topic in topics]
    table = Table(box=SIMPLE_HEAD)
    for name in ("number", "documents"):
        table.add_column(name, justify="right")
    for name in ("name", "status"):
        table.add_column(name)
    for name in ("first_seen", "last_seen"):  # a time that is cut tells nothing
        width = max(len(data[name] or "") for _, data in rows)
        table.add_column(name.replace("_", " "), min_width=width)
    table.add_column("rules")
    for topic, data in rows:
        table.add_row(
            str(topic.number),
            f"{topic.documents:,}",
            visible(topic.name),
            visible(_status(topic, data["life"])),
            data["first_seen"] or "",
            data["last_seen"] or "",
            visible("; ".join(data["rules"])),
        )
    return table
