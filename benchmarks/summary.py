"""From measurements to rows of a table, and from rows to the main figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from contenders import CONTENDERS, OURS

BUSY_EPOCHS = 5  # the busy start is the mean of the first five epochs
LAST_EPOCHS = 3  # an epoch that was not run is estimated by the mean of the last three
MEGABYTE = 1e6
GROWTH = {"documents": 10, "vocabulary": 4, "clauses": 10}  # factors of the highlights


@dataclass
class Row:
    """One contender at one size with so many threads."""

    corpus: str
    clauses: int
    threads: int
    contender: str
    counts: str
    automata: int = 0
    whole_fit_s: float | None = None  # extrapolated: as if every epoch not run were a quiet one
    at_most_s: float | None = None  # extrapolated: as if none were
    extrapolated: bool = False
    epochs_run: int = 0
    stop_reason: str = ""
    busy_epoch_s: float | None = None
    quiet_epoch_s: float | None = None
    predict_us: float | None = None  # its own clauses
    predict_same_us: float | None = None  # our clauses
    agreement: float | None = None  # of its predictions with ours, on our clauses
    memory_mb: float | None = None  # added by the machine, at its peak
    total_memory_mb: float | None = None
    bytes_an_automaton: float | None = None
    accuracy: float | None = None
    accuracy_epochs: int = 0
    spread: float | None = None  # of the repeated fits: largest over smallest
    error: str = ""


@dataclass(frozen=True)
class Highlight:
    """A main figure of the run."""

    name: str
    measured: str


Key = tuple[str, str, int, int, str]
Grouped = dict[Key, list[dict[str, Any]]]


def _group(measurements: Iterable[dict[str, Any]]) -> Grouped:
    grouped: Grouped = {}
    for m in measurements:
        key = (m["task"], m["corpus"], m["clauses"], m["threads"], m["contender"])
        grouped.setdefault(key, []).append(m["result"])
    return grouped


def summarise(
    measurements: list[dict[str, Any]], corpora: dict[str, dict[str, Any]], epochs: int
) -> list[Row]:
    """Return a row for each (corpus, clauses, threads, contender) that was fitted."""
    grouped = _group(measurements)
    rows = []
    for (task, corpus, clauses, threads, name), results in grouped.items():
        if task != "fit":
            continue
        row = Row(corpus, clauses, threads, name, CONTENDERS[name].counts)
        good = [result for result in results if "error" not in result]
        row.error = "; ".join(result["error"] for result in results if "error" in result)
        if good:
            same = grouped.get(("same_clauses", corpus, clauses, threads, name), [{}])[0]
            _fill_times(row, good, same, epochs)
            row.automata = 2 * clauses * 2 * corpora[corpus]["words"]
            row.memory_mb = max(r["memory_machine"] for r in good) / MEGABYTE
            row.total_memory_mb = max(r["memory_peak"] for r in good) / MEGABYTE
            row.bytes_an_automaton = row.memory_mb * MEGABYTE / row.automata
        for (other, *where), held_out in grouped.items():
            known = held_out[0].get("accuracy")
            if other == "held_out" and where[:2] == [corpus, clauses] and where[3] == name:
                row.accuracy = known
                row.accuracy_epochs = len(held_out[0].get("epoch_seconds", []))
        rows.append(row)
    return rows


def _fill_times(row: Row, fits: list[dict[str, Any]], same: dict[str, Any], epochs: int) -> None:
    seconds = fits[0]["epoch_seconds"]
    row.epochs_run = len(seconds)
    row.stop_reason = fits[0].get("stop_reason", "")
    row.extrapolated = row.contender != OURS and len(seconds) < epochs
    row.busy_epoch_s = fmean(fmean(fit["epoch_seconds"][:BUSY_EPOCHS]) for fit in fits)
    fitted = [fit["fit_seconds"] for fit in fits]
    row.spread = max(fitted) / min(fitted)
    row.predict_us = 1e6 * min(fit["predict_seconds"]["best"] for fit in fits)
    if "predict_seconds" in same:
        row.predict_same_us = 1e6 * same["predict_seconds"]["best"]
        row.agreement = same["agreement"]
    row.quiet_epoch_s = fmean(fmean(fit["epoch_seconds"][-BUSY_EPOCHS:]) for fit in fits)
    row.whole_fit_s = row.at_most_s = fmean(fitted)
    if row.extrapolated:
        left = epochs - len(seconds)
        last = fmean(seconds[-LAST_EPOCHS:])
        quiet = min([last, *same.get("quiet_epoch_seconds", [])])
        row.quiet_epoch_s = quiet
        row.at_most_s += left * last
        row.whole_fit_s += left * quiet


def find(rows: Iterable[Row], **values: Any) -> Row | None:
    """Return the first measured row with these values."""
    for row in rows:
        if row.whole_fit_s and all(getattr(row, k) == v for k, v in values.items()):
            return row
    return None


def _ours_beside(rows: list[Row], peer: Row) -> Row | None:
    return find(
        rows, corpus=peer.corpus, clauses=peer.clauses, threads=peer.threads, contender=OURS
    )


def speed_up(rows: list[Row], peer: Row) -> tuple[float, float] | None:
    """Return how many times faster ours is: the lower and the upper estimate."""
    ours = _ours_beside(rows, peer)
    if ours is None or not ours.whole_fit_s or not peer.whole_fit_s or not peer.at_most_s:
        return None
    return peer.whole_fit_s / ours.whole_fit_s, peer.at_most_s / ours.whole_fit_s


def highlights(rows: list[Row], growth: list[dict[str, Any]], corpus: str) -> list[Highlight]:
    """Return the main figures of one corpus; an extrapolated peer counts at its fastest."""
    here = [row for row in rows if row.corpus == corpus]
    return [
        *(_speed(here, row) for row in here if row.contender != OURS and row.whole_fit_s),
        *_predictions(here),
        *_threads(here),
        *(_growth(growth, axis, factor) for axis, factor in GROWTH.items() if growth),
    ]


def _speed(rows: list[Row], peer: Row) -> Highlight:
    name = f"whole fit against {peer.contender}, {_size(peer)}"
    times = speed_up(rows, peer)
    if times is None:
        return Highlight(name, "not measured")
    shown = f"{'~' * peer.extrapolated}{times[0]:.1f}× faster"
    ours = _ours_beside(rows, peer)
    if ours and ours.busy_epoch_s and peer.busy_epoch_s:
        shown += f" (first epochs alone: {peer.busy_epoch_s / ours.busy_epoch_s:.1f}×)"
    return Highlight(name, shown)


def _predictions(rows: list[Row]) -> list[Highlight]:
    """Compare with the fastest peer: on our clauses, and on its own if its fit is complete."""
    result = []
    for ours in (r for r in rows if r.contender == OURS and r.predict_us):
        peers: list[tuple[float, str]] = []
        for row in rows:
            beside = row.clauses == ours.clauses and row.threads in (ours.threads, 1)
            if not beside or row.contender == OURS:
                continue
            if row.predict_same_us:
                peers.append((row.predict_same_us, f"{row.contender}, our clauses"))
            if row.predict_us and not row.extrapolated:
                peers.append((row.predict_us, f"{row.contender}, its own clauses"))
        shown = f"{ours.predict_us:.1f} µs a document"
        if peers:
            shown += "; fastest peer {:.1f} µs ({})".format(*min(peers))
        result.append(Highlight(f"prediction, {_size(ours)}", shown))
    return result


def _threads(rows: list[Row]) -> list[Highlight]:
    result = []
    for clauses in sorted({row.clauses for row in rows}):
        one, two = (find(rows, contender=OURS, clauses=clauses, threads=n) for n in (1, 2))
        if one and two and one.whole_fit_s and two.whole_fit_s:
            name = f"two threads against one, {clauses:,} clauses a class"
            result.append(Highlight(name, f"{one.whole_fit_s / two.whole_fit_s:.2f}×"))
    return result


def _growth(growth: list[dict[str, Any]], axis: str, factor: int) -> Highlight:
    ratios = [p["ratio"] for p in growth if p["axis"] == axis and p["factor"] == factor]
    shown = f"×{ratios[0]:.2f}" if ratios else "not measured"
    return Highlight(f"seconds an epoch with {factor} times the {axis}", shown)


def _size(row: Row) -> str:
    return f"{row.clauses:,} clauses a class, threads: {row.threads}"
