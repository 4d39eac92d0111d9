"""``newfound monitor``: a stream of documents, its new topics, and alerts."""

from __future__ import annotations

import json as json_format
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.console import outcome, print_json, print_line, say, show
from newfound.cli.options import (
    Force,
    Json,
    Quiet,
    Report,
    TextColumn,
    Title,
    check_distinct,
    check_outputs,
)
from newfound.marks import visible

if TYPE_CHECKING:
    from newfound.monitor.batches import Batch
    from newfound.monitor.monitor import Monitor
    from newfound.monitor.records import Alert, Topic
    from newfound.monitor.store import Store

__all__ = ["app"]

_PATIENCE = 60  # seconds that the command of --on-alert may take
_SHOWN = 10  # documents of a topic

app = typer.Typer(
    help="Watch a stream of documents: new topics and alerts, with few false alarms.",
    invoke_without_command=True,
)
State = Annotated[
    Path, typer.Option(metavar="FILE", help="File with the state; made if it is not there.")
]
Number = Annotated[int, typer.Argument(metavar="N", help="Number of the topic.")]


_KEEPS_NUMBERS = (
    "has a detector that keeps numbers, e-mail addresses and URLs; learn it with newfound detect "
    "--redact --save."
)


@app.callback()
def watch(
    context: typer.Context,
    incoming: Annotated[
        str | None,
        typer.Option(
            help="Documents: - for standard input, a file of JSON lines or of lines, a folder, or "
            "kafka://HOST:PORT/TOPIC. A file and a folder may grow. CSV and other "
            "tables are refused."
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the state; made if it is not there."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Detector written by detect --save. A state has it after the first run."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="Length of a window: documents, such as 500 (default), or time, 1h, 1d."),
    ] = None,
    false_alarm_every: Annotated[
        str | None,
        typer.Option(
            help="How far apart false alarms may be on average, such as 50000 documents or 30d; by "
            "default 100 windows."
        ),
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(help="Share of false discoveries among the documents counted as new; 0.1."),
    ] = None,
    keep: Annotated[
        int | None, typer.Option(help="Windows for which texts of topics are kept; 1000.")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            help="Run the past as if it came now: a file of JSON lines with times. The state is "
            "in memory unless --state is given."
        ),
    ] = None,
    report: Report = None,
    title: Title = None,
    force: Force = False,
    text_column: TextColumn = None,
    time_column: Annotated[
        str | None,
        typer.Option(help="Field with the time; by default time, timestamp or date, if there."),
    ] = None,
    on_alert: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Command to run for each alert, which is JSON on its standard input. No shell.",
        ),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Only watch with a detector that replaces numbers, e-mail addresses and URLs: one "
            "that was written by detect --redact --save.",
        ),
    ] = False,
    once: Annotated[
        bool,
        typer.Option(
            "--once",
            help="End with what is there now; for cron. The last window stays open for the next "
            "call.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print alerts as JSON, one a line.")] = False,
    quiet: Quiet = False,
) -> None:
    """Watch a stream of documents, and print an alert when something new begins.

    After each window it is tested whether words, or novel documents, are more frequent than in the
    known documents and earlier windows. If nothing changes, false alarms are as far apart as
    --false-alarm-every says, on average. Everything is kept in the state: a monitor that was
    killed goes on where it was.
    """
    if context.invoked_subcommand is not None:
        return
    if replay is not None:
        if incoming is not None:
            raise typer.BadParameter("--replay is read instead of --incoming; leave one out.")
        incoming, once = str(replay), True
    elif incoming is None or state is None:
        missing = "--incoming" if incoming is None else "--state"
        raise typer.BadParameter(f"{missing} is missing; see newfound monitor --help.")
    if report is not None and not once:
        raise typer.BadParameter("--report is written at the end; give --once or --replay, too.")
    check_distinct({"--report": report, "--state": state}, {"--incoming": incoming})
    settings = {
        "every": every,
        "false_alarm_every": false_alarm_every,
        "fdr": fdr,
        "keep": keep,
    }
    with outcome():
        from newfound.monitor.batches import Columns
        from newfound.monitor.sources import check_kind, dated, open_source

        check_kind(incoming)  # before there is a state
        command = _command(on_alert)
        check_outputs(report, force=force)
        with _monitor(state, model, settings, redact=redact) as monitor:
            emit = _Emitter(monitor, command, json=json)
            if not quiet:
                say(_beginning(monitor))
            emit.all()
            columns = Columns(text_column, time_column)
            problem = (lambda message: None) if quiet else say
            position = monitor.position
            source = open_source(incoming, columns, position, once=once, problem=problem)
            if replay is not None and position is None:
                source = dated(source, incoming)
            for batch in source:
                _take(monitor, batch, problem)
                emit.all()
            if replay is not None:
                monitor.close_window()
                emit.all()
            if not quiet:
                say(monitor.summary())
                if (warning := monitor.warning()) is not None:
                    say(f"warning: {warning}")
            if report is not None:
                monitor.report(report, title=title, force=force)
                if not quiet:
                    say(f"wrote the report to {report}; open it in any browser.")


def _take(monitor: Monitor, batch: Batch, problem: Any) -> None:
    """Hand a batch to the monitor; close a window of time that is over if nothing came."""
    from newfound.monitor.clock import parse_time

    if not batch.texts:
        monitor.close_if_over()
        return
    times: list[float | None] = []
    for time in batch.times:
        try:
            times.append(parse_time(time))
        except ValueError as error:
            problem(f"{error} It is taken in without a time.")
            times.append(None)
    monitor.update(batch.texts, times, batch.ids, position=batch.position)


@contextmanager
def _monitor(
    state: Path | None, model: Path | None, settings: dict[str, Any], *, redact: bool = False
) -> Iterator[Monitor]:
    """Open a state, or begin one with a model; with `redact` only one that redacts.

    A state that is begun, and gets no document because of an error, is removed.
    """
    from newfound.detection.detector import NoveltyDetector
    from newfound.monitor.monitor import Monitor
    from newfound.monitor.store import StateError, remove_state

    given = {name: value for name, value in settings.items() if value is not None}
    unused = begun = state is not None and not state.exists()
    detector = None if model is None else NoveltyDetector.load(model)
    if redact and detector is not None and not detector.redact:
        raise ValueError(f"{model} {_KEEPS_NUMBERS}")  # before there is a state
    if detector is not None:
        if state is not None and state.exists() and not given:
            with Monitor.open(state) as monitor:
                monitor.check_begun_with(detector)
                yield monitor
            return
        monitor = Monitor(detector, state=state, **given)
    elif state is None:
        raise StateError("--replay needs --model FILE, or --state FILE of an earlier run.")
    elif not state.exists():
        raise StateError(f"There is no state {state} yet; begin it with --model FILE.")
    elif given:
        raise StateError(
            f"--{next(iter(given)).replace('_', '-')} is set when a state is begun; leave it out, "
            "or name --model, too."
        )
    else:
        monitor = Monitor.open(state)
    try:
        with monitor:
            if redact and not monitor.detector.redact:
                raise ValueError(f"{state} {_KEEPS_NUMBERS}")
            try:
                yield monitor
            finally:
                unused = begun and not monitor.n_documents
    except Exception:
        if unused and state is not None:
            remove_state(state)
        raise


def _beginning(monitor: Monitor) -> str:
    """Return what a run goes on with, or the settings of a state that has no documents yet."""
    if monitor.n_documents:
        return f"Going on after {monitor.summary()}"
    fewest, apart = monitor.fewest_discoveries, monitor.false_alarm_every
    about = f"Windows of {monitor.every}; at most one false alarm in {apart}, on average."
    if fewest is not None:
        about += (
            f" With {monitor.detector.n_documents_['held_back']:,} held-back documents, a window "
            f"needs {fewest:,} or more clearly new documents for any of them to be counted as new."
        )
    return about


def _command(given: str | None) -> list[str] | None:
    if given is None:
        return None
    try:
        command = shlex.split(given)
    except ValueError as error:
        raise ValueError(f"--on-alert {given!r} cannot be split into words: {error}.") from error
    if not command:
        raise ValueError("--on-alert is empty; name a command.")
    return command


class _Emitter:
    """Prints alerts and hands them to a command, each until that has succeeded."""

    def __init__(self, monitor: Monitor, command: list[str] | None, *, json: bool) -> None:
        self.monitor, self.command, self.json = monitor, command, json
        self._printed: set[int] = set()

    def all(self) -> None:
        """Send the alerts that were not sent yet; stop at one that the command does not take."""
        alerts = self.monitor.unsent_alerts()
        for alert in alerts:
            if alert.number not in self._printed:
                self._print(alert)
                self._printed.add(alert.number)
        for alert in alerts:
            if self.command is not None and not self._run(self.command, alert):
                return
            self.monitor.mark_sent(alert)

    def _print(self, alert: Alert) -> None:
        data = alert.to_dict()
        if self.json:
            print_json(data, indent=None)
        else:
            print_line(f"{data['time'] or f'window {alert.window}'}  {alert.summary}")

    def _run(self, command: list[str], alert: Alert) -> bool:
        sent = json_format.dumps(alert.to_dict()).encode() + b"\n"
        try:
            done = subprocess.run(command, input=sent, timeout=_PATIENCE, check=False)
        except OSError as error:
            raise OSError(f"--on-alert: cannot run {command[0]}: {error.strerror}.") from error
        except subprocess.TimeoutExpired:
            say(f"{command[0]} took more than {_PATIENCE} s; alert {alert.number} is sent again.")
            return False
        if done.returncode:
            say(
                f"{command[0]} ended with status {done.returncode}; alert {alert.number} is sent "
                "again later."
            )
        return not done.returncode


@app.command()
def topics(
    state: State,
    json: Json = False,
) -> None:
    """List the topics of a state, also while a monitor runs."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.topics import joined_topic

        found = {topic.number: topic for topic in store.topics()}
        shown = [joined_topic(found, n) for n, t in found.items() if t.merged_into is None]
        if json:
            print_json([topic.to_dict() for topic in shown])
        elif not shown:
            show("There is no topic yet.")
        else:
            show(_table(shown))


@app.command("show")
def show_topic(number: Number, state: State, json: Json = False) -> None:
    """Show a topic: its words, rules, typical and last documents, and counts by window."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.clock import format_time
        from newfound.monitor.topics import joined_topic, topic_parts

        found = {topic.number: topic for topic in store.topics()}
        parts = topic_parts(found, number)
        topic, documents = joined_topic(found, number), store.documents(topics=parts)
        by_topic = store.topic_counts()
        counts: dict[int, int] = {}
        for part in parts:
            for window, n in by_topic.get(part, {}).items():
                counts[window] = counts.get(window, 0) + n
        starts = _starts(store)
        if json:
            last = [
                {"id": d.id, "time": format_time(d.time), "text": d.text, "p_value": d.p_value}
                for d in documents[-_SHOWN:]
            ]
            by_window = [
                {"window": w, "start": format_time(starts.get(w)), "documents": n}
                for w, n in sorted(counts.items())
            ]
            print_json({**topic.to_dict(), "by_window": by_window, "last": last})
            return
        data = topic.to_dict()
        words = ", ".join(str(word["word"]) for word in topic.words)
        lines = [
            f"Topic {topic.number}, {topic.name} ({_status(topic)})",
            topic.seen(counts),
            f"words: {words}",
            f"rules: {'; '.join(data['rules'])}",
            "typical documents:",
            *(f"  {_short(text)}" for text in topic.typical),
            "last documents:",
            *(f"  {_short(document.text)}" for document in documents[-_SHOWN:]),
            "documents by window: "
            + ", ".join(
                f"{format_time(starts.get(w)) or w}: {n}" for w, n in sorted(counts.items())
            ),
        ]
        for line in lines:
            print_line(line)


@app.command()
def promote(
    number: Number,
    state: State,
    name: Annotated[str, typer.Option("--as", metavar="NAME", help="Name of the class.")],
) -> None:
    """Make a topic a known class; the detector learns it."""
    with outcome(), _opened(state) as monitor:
        topic = monitor.promote(number, name)
        n = len(monitor.detector.classes_)
        print_line(f"Topic {number}, {topic.name}, is now the class {name}, one of {n}.")


@app.command()
def dismiss(number: Number, state: State) -> None:
    """Teach that a topic is noise; it raises no further alert."""
    with outcome(), _opened(state) as monitor:
        topic = monitor.dismiss(number)
        print_line(f"Topic {number}, {topic.name}, is now known as noise.")


@app.command()
def merge(
    number: Number,
    other: Annotated[int, typer.Argument(metavar="M", help="Topic that becomes part of N.")],
    state: State,
) -> None:
    """Make topic M a part of topic N."""
    with outcome(), _opened(state) as monitor:
        topic = monitor.merge(number, other)
        print_line(f"Topic {other} is now part of topic {number}, {topic.name}.")


@app.command()
def undo(state: State) -> None:
    """Take back the last promote, dismiss or merge."""
    with outcome(), _opened(state) as monitor:
        step = monitor.undo()
        print_line(f"Undone: {_step(step)}.")


@app.command()
def log(state: State, json: Json = False) -> None:
    """List what was promoted, dismissed and merged, and when."""
    with outcome(), _reading(state) as store:
        from newfound.monitor.clock import format_time

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
def _opened(state: Path) -> Iterator[Monitor]:
    from newfound.monitor.monitor import Monitor

    with Monitor.open(state) as monitor:
        yield monitor


def _starts(store: Store) -> dict[int, float]:
    """Return when each window of time starts; nothing for windows of a number of documents."""
    from newfound.monitor.clock import parse_length

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
    as_class = f", as {step['known_as']}" if step["action"] == "promote" else ""
    return f"{step['action']} of {topic}{as_class}"


def _status(topic: Topic) -> str:
    return topic.status if topic.known_as is None else f"{topic.status} as {topic.known_as}"


def _short(text: str, most: int = 160) -> str:
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _table(topics: list[Topic]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for name in ("number", "documents"):
        table.add_column(name, justify="right")
    for name in ("name", "status", "first seen", "last seen", "rules"):
        table.add_column(name)
    for topic in topics:
        data = topic.to_dict()
        table.add_row(
            str(topic.number),
            f"{topic.documents:,}",
            visible(topic.name),
            visible(_status(topic)),
            data["first_seen"] or "",
            data["last_seen"] or "",
            visible("; ".join(data["rules"])),
        )
    return table
