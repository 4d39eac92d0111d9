"""``newfound monitor``: a stream of documents, its new topics, and alerts."""

from __future__ import annotations

import json as json_format
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli import monitor_topics
from newfound.cli.console import outcome, print_json, print_line, say
from newfound.cli.options import (
    Encoder,
    Force,
    OneInputGroup,
    Quiet,
    Report,
    Title,
    check_distinct,
    check_outputs,
)

if TYPE_CHECKING:
    from newfound.monitor.growing import Batch, Problem
    from newfound.monitor.monitor import Monitor
    from newfound.monitor.records import Alert
    from newfound.text.records import Columns

__all__ = ["app"]

_PROBLEMS = 10  # documents that cannot be read and are told in a run
_PATIENCE = 60  # seconds that the command of --on-alert may take

app = typer.Typer(
    cls=OneInputGroup,
    help="Watch a stream of documents: new topics and alerts, with few false alarms.",
    invoke_without_command=True,
)
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
        typer.Option(metavar="FILE", help="File with the state; created if it does not exist."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Detector written by detect --save. The state keeps it after the first run."
        ),
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
        typer.Option(
            help="Share of false discoveries among documents counted as new; 0.1 by default."
        ),
    ] = None,
    late: Annotated[
        str | None,
        typer.Option(
            help="How long a window of time waits for late documents, such as 2h; by default not."
        ),
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(help="Number of windows to keep texts of topics for; 1000 by default."),
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
    text_column: Annotated[
        str | None, typer.Option(help="Field with the text; by default text.")
    ] = None,
    time_column: Annotated[
        str | None,
        typer.Option(help="Field with the time; by default time, timestamp or date."),
    ] = None,
    on_alert: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Command to run for each alert, which is JSON on its standard input. No shell.",
        ),
    ] = None,
    encoder: Encoder = None,
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
            help="Read what is there now and end, for cron. The last window stays open for the "
            "next call.",
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
        "late": late,
        "keep": keep,
    }
    with outcome():
        from newfound.monitor.sources import check_kind
        from newfound.text.records import Columns

        check_kind(incoming)  # before there is a state
        command = _command(on_alert)
        check_outputs(report, force=force)
        with _monitor(state, model, settings, encoder=encoder, redact=redact) as monitor:
            emit = _Emitter(monitor, command, json=json)
            if not quiet:
                say(_beginning(monitor))
            emit.all()
            columns = Columns(text_column, date=time_column)
            problem = _ignore if quiet else _FewProblems()
            note = _ignore if quiet else say
            _follow(emit, incoming, columns, problem, note, once=once, replay=replay is not None)
            if not quiet:
                say(monitor.summary())
                if (left_out := monitor.left_out()) is not None:
                    say(left_out)
                if (warning := monitor.warning()) is not None:
                    say(f"warning: {warning}")
            if report is not None:
                monitor.report(report, title=title, force=force)
                if not quiet:
                    say(f"wrote the report to {report}; open it in any browser.")


def _ignore(message: str) -> None:
    """Print nothing."""


class _FewProblems:
    """Prints the first problems of a run; a stream in a wrong form has one in each line."""

    def __init__(self) -> None:
        self._left = _PROBLEMS

    def __call__(self, message: str) -> None:
        if self._left > 0:
            say(message)
        elif self._left == 0:
            say("More such messages are not shown in this run.")
        self._left -= 1


def _follow(
    emit: _Emitter,
    incoming: str,
    columns: Columns,
    problem: Problem,
    note: Callable[[str], object],
    *,
    once: bool,
    replay: bool,
) -> None:
    """Hand the documents of a source to the monitor as they come, and send its alerts."""
    from newfound.monitor.sources import dated, open_source

    monitor = emit.monitor
    position = monitor.position
    source = open_source(incoming, columns, position, once=once, problem=problem)
    if replay and position is None:
        source = dated(source, incoming)
    for batch in source:
        if batch.note:
            note(batch.note)
        _take(monitor, batch, problem)
        emit.all()
    if replay:
        monitor.close_window()
        emit.all()


def _take(monitor: Monitor, batch: Batch, problem: Problem) -> None:
    """Hand a batch to the monitor; close a window of time that is over if nothing came."""
    from newfound.monitor.records import parse_time

    if not batch.texts:
        monitor.close_if_over()
        return
    times: list[float | None] = []
    for time, place in zip(batch.times, batch.places, strict=True):
        try:
            times.append(parse_time(time, place))
        except ValueError as error:
            problem(f"{error} It is taken in without a time.")
            times.append(None)
    monitor.update(batch.texts, times, batch.ids, position=batch.position)


@contextmanager
def _monitor(
    state: Path | None,
    model: Path | None,
    settings: dict[str, Any],
    *,
    encoder: str | None = None,
    redact: bool = False,
) -> Iterator[Monitor]:
    """Open a state, or begin one with a model; with `redact` only one that redacts.

    A state that is begun, and gets no document because of an error, is removed.
    """
    from newfound.detection.detector import NoveltyDetector
    from newfound.detection.encoder_shelf import load_encoder
    from newfound.monitor.monitor import Monitor
    from newfound.monitor.store import StateError, StateInUseError, remove_state, writing_errors

    given = {name: value for name, value in settings.items() if value is not None}
    detector = None if model is None else NoveltyDetector.load(model)
    reader = None if encoder is None else load_encoder(encoder)
    if detector is not None and reader is not None:
        detector.use_encoder(reader)
    if redact and detector is not None and not detector.redact:
        raise ValueError(f"{model} {_KEEPS_NUMBERS}")  # before there is a state
    unused = begun = state is not None and not state.exists()
    if detector is not None:
        if state is not None and state.exists() and not given:
            with writing_errors(state), Monitor.open(state, encoder=reader) as monitor:
                monitor.check_begun_with(detector)
                yield monitor
            return
        make = partial(Monitor, detector, state=state, **given)
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
        make = partial(Monitor.open, state, encoder=reader)
    try:
        with writing_errors(state), make() as monitor:
            if redact and not monitor.detector.redact:
                raise ValueError(f"{state} {_KEEPS_NUMBERS}")
            monitor.detector.require_encoder()
            try:
                yield monitor
            finally:
                unused = begun and not monitor.n_documents
    except Exception as error:
        if unused and state is not None and not isinstance(error, StateInUseError):
            remove_state(state)
        raise


def _beginning(monitor: Monitor) -> str:
    """Return what a run goes on with, or the settings of a state that has no documents yet."""
    if monitor.n_documents:
        return f"Going on after {monitor.summary()}"
    fewest, apart = monitor.fewest_discoveries, monitor.false_alarm_every
    about = (
        f"Windows of {monitor.every}; at most one false alarm in {apart} on average, if nothing "
        "changes."
    )
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
    if shutil.which(command[0]) is None:  # now, and not when the first alert comes
        raise ValueError(f"--on-alert: there is no command {command[0]} that can be run.")
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
        if self.json:
            print_json(alert.to_dict(), indent=None)
        else:
            print_line(alert.line())

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


app.command()(monitor_topics.alerts)
app.command()(monitor_topics.digest)
app.command()(monitor_topics.topics)
app.command("show")(monitor_topics.show_topic)
app.command()(monitor_topics.promote)
app.command()(monitor_topics.dismiss)
app.command()(monitor_topics.merge)
app.command()(monitor_topics.rename)
app.command()(monitor_topics.rules)
app.command()(monitor_topics.undo)
app.command()(monitor_topics.log)
