"""Write the results as JSON, Markdown, CSV and SVG."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from contenders import OURS
from summary import BUSY_EPOCHS, GROWTH, LAST_EPOCHS, Highlight, Row, speed_up

COLOURS = {"documents": "#4269d0", "vocabulary": "#efb118", "clauses": "#ff725c"}


def write(path: Path, text: str) -> None:
    """Write to a temporary file and rename it, so that a reader never sees an incomplete file."""
    aside = path.with_name(path.name + ".new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


def write_all(
    folder: Path,
    about: dict[str, Any],
    rows: list[Row],
    growth: list[dict[str, Any]],
    main: list[Highlight],
    measurements: list[dict[str, Any]],
) -> None:
    """Write every file of the results."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = {
        **about,
        "rows": [asdict(row) for row in rows],
        "growth": growth,
        "highlights": [asdict(figure) for figure in main],
        "measurements": measurements,
    }
    write(folder / "peers.json", json.dumps(everything, indent=1) + "\n")
    write(folder / "peers.md", markdown(about, rows, growth, main))
    write(folder / "peers.csv", _csv([field.name for field in fields(Row)], map(asdict, rows)))
    if growth:
        write(folder / "growth.csv", _csv(list(growth[0]), growth))
        write(folder / "growth.svg", growth_svg(growth))


def _csv(names: list[str], records: Any) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _number(value: float | None, digits: int = 3) -> str:
    """Return a number with three significant digits, without an exponent."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def markdown(
    about: dict[str, Any],
    rows: list[Row],
    growth: list[dict[str, Any]],
    main: list[Highlight],
) -> str:
    """Return the report as Markdown."""
    machine, setting = about["machine"], about["setting"]
    lines = [
        "# Speed against peers",
        "",
        f"Made by `{about['command']}` on {about['date']}: {machine['cpu']}, "
        f"{machine['cores']} cores, {machine['system']}; load before the run "
        f"{machine['load_before']:.2f}, after it {machine['load_after']:.2f}. "
        f"T = {setting['T']}, s = {setting['s']:g}, {setting['epochs']} epochs. "
        "All figures of a page come from one run.",
        "",
        *(f"> {note}" for note in about["notes"]),
        "",
        "Versions: "
        + "; ".join(
            f"{name}: " + ", ".join(f"{k} {v}" for k, v in versions.items())
            for name, versions in about["versions"].items()
        )
        + ".",
        "",
        *_highlights_table(main),
        *_explanation(),
    ]
    for corpus, facts in about["corpora"].items():
        lines += [
            f"## {corpus}: {facts['documents']} documents, {facts['words']:,} words, "
            f"{facts['words_a_document']:.0f} in a document",
            "",
        ]
        sizes = sorted({(r.clauses, r.threads) for r in rows if r.corpus == corpus})
        for clauses, threads in sizes:
            lines += _size_table(rows, corpus, clauses, threads)
    lines += _growth_table(growth)
    return "\n".join(lines) + "\n"


def _highlights_table(main: list[Highlight]) -> list[str]:
    if not main:
        return []
    table = ["## Main figures", "", "| figure | measured |", "|---|---|"]
    table += [f"| {figure.name} | {figure.measured} |" for figure in main]
    return [*table, ""]


def _explanation() -> list[str]:
    return [
        "## How to read the tables",
        "",
        "- *Clauses*: the total is the same for all machines. A machine that counts clauses in all "
        "gets twice the number of one that counts them for each class.",
        "- *Whole fit*: all documents, all epochs, early exits off. newfound stops when every vote "
        "has reached T, because no clause can change any more. Its time is the mean of a run "
        "before the peers and one after them. `~`: the peer ran fewer epochs, and the rest is "
        "extrapolated in its favour, at the time of a quiet epoch: our finished clauses are put "
        "into the peer and T is set to 1, so that it only evaluates. *At most* extrapolates by "
        f"the mean of its last {LAST_EPOCHS} epochs.",
        f"- *Busy*: mean of the first {BUSY_EPOCHS} epochs (ours: with set-up). *Quiet*: mean of "
        f"the last {BUSY_EPOCHS}; for an extrapolated fit, the quiet epoch described above.",
        "- *Prediction*: the held-out documents as one batch, best of up to five calls after a "
        "first one. *Own*: the peer's clauses after the epochs that it ran. *Ours*: our finished "
        "clauses put into the peer, so that all machines evaluate the same clauses; *agreement* "
        "is the share of documents where it then predicts what ours does.",
        "- *Memory*: peak during the fit minus the memory used just before the machine was made.",
        "- *Accuracy*: on the held-out fifth, after training on the rest for that many epochs.",
        "",
    ]


def _size_table(rows: list[Row], corpus: str, clauses: int, threads: int) -> list[str]:
    table = [
        f"### {clauses:,} clauses a class ({2 * clauses:,} in all), threads: {threads}",
        "",
        "| machine | counts clauses | epochs run | whole fit, s | ours is faster | busy / quiet "
        "epoch, s | prediction, µs: own / ours (agreement) | memory, MB (bytes an automaton) "
        "| accuracy (epochs) |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(rows, key=lambda row: row.contender != OURS):
        alone = row.threads == 1 and row.contender.startswith("tmu")
        if (row.corpus, row.clauses) != (corpus, clauses) or not (row.threads == threads or alone):
            continue
        if row.whole_fit_s is None:
            table.append(
                f"| {row.contender} | {row.counts} | failed: {row.error} " + "| " * 6 + "|"
            )
            continue
        table.append(_table_line(rows, row, threads))
    return [*table, ""]


def _table_line(rows: list[Row], row: Row, threads: int) -> str:
    about = "~" if row.extrapolated else ""
    whole = f"{about}{_number(row.whole_fit_s)}"
    if row.extrapolated:
        whole += f" (at most {_number(row.at_most_s)})"
    times = speed_up(rows, row)
    faster = "–"
    if row.contender != OURS and times:
        faster = f"{about}{_number(times[0])}×"
        if row.extrapolated:
            faster += f" (at most {_number(times[1])}×)"
    name = row.contender
    if row.threads != threads:
        name += " (has one thread; compared with one thread of ours)"
    epochs = f"{row.epochs_run}" + (f", {row.stop_reason}" if row.stop_reason else "")
    same = ""
    if row.predict_same_us is not None and row.agreement is not None:
        same = f" / {_number(row.predict_same_us)} ({100 * row.agreement:.0f} %)"
    accuracy = "–"
    if row.accuracy is not None:
        accuracy = f"{row.accuracy:.3f} ({row.accuracy_epochs})"
    cells = [
        name,
        row.counts,
        epochs,
        whole,
        faster,
        f"{_number(row.busy_epoch_s)} / {_number(row.quiet_epoch_s)}",
        f"{_number(row.predict_us)}{same}",
        f"{row.memory_mb:.0f} ({row.bytes_an_automaton:.2f})",
        accuracy,
    ]
    return "| " + " | ".join(cells) + " |"


def _growth_table(growth: list[dict[str, Any]]) -> list[str]:
    if not growth:
        return []
    lines = [
        "## Growth of ours",
        "",
        "Generated corpus, one thread; the base ran before and after the others. Runs with more "
        "documents get fewer epochs, so that the number of visits is the same.",
        "",
        "| axis | factor | epochs | seconds an epoch | ratio |",
        "|---|---|---|---|---|",
    ]
    for point in growth:
        seconds, ratio = _number(point["seconds_an_epoch"]), _number(point["ratio"])
        size = f"| {point['axis']} | ×{point['factor']} | {point['epochs']} "
        lines.append(f"{size}| {seconds} | ×{ratio} |")
    return [*lines, "", "![Growth of the time of an epoch](growth.svg)", ""]


def growth_svg(growth: list[dict[str, Any]]) -> str:
    """Draw ratio against factor on logarithmic axes, with linear growth as a dashed line."""
    width, height, left, top, side = 520, 400, 60, 30, 320
    most = max(12.0, *(1.1 * point["ratio"] for point in growth))

    def x(value: float) -> float:
        return left + side * math.log(value) / math.log(most)

    def y(value: float) -> float:
        return top + side - side * math.log(max(value, 1.0)) / math.log(most)

    grey = 'stroke="#999"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" role="img" '
        'aria-label="Seconds an epoch against growth of documents, vocabulary and clauses">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<line x1="{x(1)}" y1="{y(1)}" x2="{x(most)}" y2="{y(most)}" {grey} '
        'stroke-dasharray="4 4"/>',
        f'<text x="{x(most) + 8}" y="{y(most) + 4}" fill="#666">linear</text>',
        f'<path d="M{left} {top}V{top + side}H{left + side}" fill="none" {grey}/>',
    ]
    for tick in (1, 2, 3, 4, 5, 10):
        parts.append(
            f'<text x="{x(tick):.1f}" y="{top + side + 18}" text-anchor="middle">×{tick}</text>'
        )
        parts.append(f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">×{tick}</text>')
    for place, axis in enumerate(GROWTH):
        points = [(p["factor"], p["ratio"]) for p in growth if p["axis"] == axis]
        colour = COLOURS[axis]
        path = " ".join(f"{x(factor):.1f},{y(ratio):.1f}" for factor, ratio in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for factor, ratio in points:
            parts.append(
                f'<circle cx="{x(factor):.1f}" cy="{y(ratio):.1f}" r="4" fill="{colour}"/>'
            )
        row = top + side - 60 + 20 * place
        parts.append(
            f'<rect x="{left + side + 20}" y="{row - 10}" width="12" height="12" fill="{colour}"/>'
        )
        parts.append(f'<text x="{left + side + 38}" y="{row}">{axis}</text>')
    parts.append(
        f'<text x="{left + side / 2}" y="{top + side + 40}" text-anchor="middle">growth</text>'
        f'<text x="{left}" y="{top - 12}">seconds an epoch, relative</text></svg>'
    )
    return "\n".join(parts) + "\n"
