"""From measurements to rows of a table, and from rows to bars that pass or fail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from contenders import CONTENDERS, OURS

BUSY_EPOCHS = 5  # the busy start: the mean of the first five epochs
LAST_EPOCHS = 3  # what an epoch not run is taken to cost: the mean of the last three run
MEGABYTE = 1e6
FASTER_THAN_GREEN = {200: 8.0, 2_000: 15.0, 10_000: 100.0}
FASTER_THAN_TMU = {10_000: 200.0}
TWO_THREADS = 1.7
BYTES_AN_AUTOMATON = 1.1
FIXED_MEGABYTES = 64.0
GROWTH = {"documents": (10, 11.0), "vocabulary": (4, 4.5), "clauses": (10, 11.0)}


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
class Bar:
    """A promise, and what became of it; ``passed`` is None when it was not measured."""

    name: str
    needed: str
    measured: str
    passed: bool | None


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
    """One row for each (corpus, clauses, threads, contender) that was fitted."""
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


def find(rows: Iterable[Row], **wanted: Any) -> Row | None:
    """Return the first measured row with these values."""
    for row in rows:
        if row.whole_fit_s and all(getattr(row, k) == v for k, v in wanted.items()):
            return row
    return None


def _ours_beside(rows: list[Row], peer: Row) -> Row | None:
    return find(
        rows, corpus=peer.corpus, clauses=peer.clauses, threads=peer.threads, contender=OURS
    )


def speed_up(rows: list[Row], peer: Row) -> tuple[float, float] | None:
    """How many times faster ours is, at the least and at the most."""
    ours = _ours_beside(rows, peer)
    if ours is None or not ours.whole_fit_s or not peer.whole_fit_s or not peer.at_most_s:
        return None
    return peer.whole_fit_s / ours.whole_fit_s, peer.at_most_s / ours.whole_fit_s


def bars(rows: list[Row], growth: list[dict[str, Any]], corpus: str) -> list[Bar]:
    """Judge every promise on one corpus; an extrapolated peer counts at its fastest."""
    here = [row for row in rows if row.corpus == corpus]
    judged: list[Bar] = []
    for peer, needs in (
        ("green-tsetlin", FASTER_THAN_GREEN),
        ("tmu", FASTER_THAN_TMU),
        ("tmu-coalesced", FASTER_THAN_TMU),
    ):
        for clauses, need in needs.items():
            judged += _speed_bars(here, peer, clauses, need)
    judged += _prediction_bars(here)
    judged.append(_threads_bar(here))
    judged += _memory_bars(here)
    judged += [_growth_bar(growth, axis) for axis in GROWTH]
    return judged


def _speed_bars(rows: list[Row], peer: str, clauses: int, need: float) -> list[Bar]:
    found = [r for r in rows if r.contender == peer and r.clauses == clauses and r.whole_fit_s]
    name = f"whole fit against {peer}, {clauses:,} clauses a class"
    if not found:
        return [Bar(name, f"≥ {need:g}×", "not measured", None)]
    result = []
    for row in found:
        times = speed_up(rows, row)
        title = f"{name}, threads: {row.threads}"
        if times is None:
            result.append(Bar(title, f"≥ {need:g}×", "not measured", None))
            continue
        shown = f"{'~' * row.extrapolated}{times[0]:.1f}×"
        ours = _ours_beside(rows, row)
        if ours and ours.busy_epoch_s and row.busy_epoch_s:
            shown += f" (the busy start alone: {row.busy_epoch_s / ours.busy_epoch_s:.1f}×)"
        result.append(Bar(title, f"≥ {need:g}×", shown, times[0] >= need))
    return result


def _prediction_bars(rows: list[Row]) -> list[Bar]:
    """Ours against the fastest peer: on our clauses, and on its own where its fit is complete."""
    result = []
    for ours in (r for r in rows if r.contender == OURS and r.predict_us):
        rivals: list[tuple[float, str]] = []
        for row in rows:
            beside = row.clauses == ours.clauses and row.threads in (ours.threads, 1)
            if not beside or row.contender == OURS:
                continue
            if row.predict_same_us:
                rivals.append((row.predict_same_us, f"{row.contender}, our clauses"))
            if row.predict_us and not row.extrapolated:
                rivals.append((row.predict_us, f"{row.contender}, its own clauses"))
        name = f"prediction, {ours.clauses:,} clauses a class, threads: {ours.threads}"
        need = "≤ fastest peer"
        if not rivals or ours.predict_us is None:
            result.append(Bar(name, need, "no peer measured", None))
            continue
        best, who = min(rivals)
        shown = f"{ours.predict_us:.1f} µs a document; {best:.1f} µs ({who})"
        result.append(Bar(name, need, shown, ours.predict_us <= best))
    return result


def _threads_bar(rows: list[Row]) -> Bar:
    name = "two threads against one, 10,000 clauses a class"
    one = find(rows, contender=OURS, clauses=10_000, threads=1)
    two = find(rows, contender=OURS, clauses=10_000, threads=2)
    if one is None or two is None or not one.whole_fit_s or not two.whole_fit_s:
        return Bar(name, f"≥ {TWO_THREADS:g}×", "not measured", None)
    gain = one.whole_fit_s / two.whole_fit_s
    return Bar(name, f"≥ {TWO_THREADS:g}×", f"{gain:.2f}×", gain >= TWO_THREADS)


def _memory_bars(rows: list[Row]) -> list[Bar]:
    result = []
    for row in rows:
        if row.contender != OURS or row.memory_mb is None:
            continue
        limit = BYTES_AN_AUTOMATON * row.automata / MEGABYTE + FIXED_MEGABYTES
        name = f"memory, {row.clauses:,} clauses a class, threads: {row.threads}"
        need = (
            f"≤ {BYTES_AN_AUTOMATON:g} bytes an automaton + {FIXED_MEGABYTES:g} MB: {limit:.0f} MB"
        )
        result.append(Bar(name, need, f"{row.memory_mb:.0f} MB", row.memory_mb <= limit))
    return result


def _growth_bar(growth: list[dict[str, Any]], axis: str) -> Bar:
    factor, need = GROWTH[axis]
    name = f"growth, {axis} ×{factor}, seconds an epoch"
    for point in growth:
        if point["axis"] == axis and point["factor"] == factor:
            ratio = point["ratio"]
            return Bar(name, f"≤ ×{need:g}", f"×{ratio:.2f}", ratio <= need)
    return Bar(name, f"≤ ×{need:g}", "not measured", None)
