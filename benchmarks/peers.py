"""Train newfound and its peers in one run, on the same documents.

    python benchmarks/peers.py --data DIR

See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import corpora
import growth
import report
from contenders import CONTENDERS, EPOCHS, FASTEST, LARGE, OURS, Contender, Runner, S, T, budget
from environments import ENVIRONMENTS, build
from summary import highlights, summarise

HERE = Path(__file__).resolve().parent
BUSY_LOAD = 0.5


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--data", type=Path, help="folder with the corpora (or NEWFOUND_DATA)")
    peers = [name for name in CONTENDERS if name != OURS]
    add("--only", nargs="+", choices=peers, metavar="NAME", help=f"peers: {', '.join(peers)}")
    names = (*corpora.REAL, "zipf")
    add(
        "--corpora",
        nargs="+",
        choices=names,
        default=["bbcsport", "clinc150", "abcnews"],
        metavar="NAME",
        help=", ".join(names),
    )
    add("--clauses", nargs="+", type=int, help="for each class (200 2000 10000)")
    add("--threads", nargs="+", type=int, default=[1, 2])
    add("--no-growth", action="store_true", help="leave out the growth of ours")
    add("--only-growth", action="store_true", help="measure growth anew, keep the other results")
    add("--quick", action="store_true", help="a minute, to see that everything works")
    add("--cache", type=Path, default=HERE.parent / ".cache" / "peers", help="environments")
    add("--output", type=Path, help="default: benchmarks/results; with --quick nothing is written")
    chosen = parser.parse_args(arguments)
    chosen.data = chosen.data or (Path(os.environ["NEWFOUND_DATA"]) if _has_data() else None)
    chosen.clauses = chosen.clauses or ([20, 200] if chosen.quick else [200, 2_000, 10_000])
    if any(clauses < 2 or clauses % 2 for clauses in chosen.clauses):
        parser.error("--clauses must be even numbers: half of them vote for, half against")
    if chosen.output is None and not chosen.quick:
        chosen.output = HERE / "results"
    return chosen


def _has_data() -> bool:
    return bool(os.environ.get("NEWFOUND_DATA"))


def _command(chosen: argparse.Namespace) -> str:
    """Return the command without the folders of this machine."""
    words = ["python benchmarks/peers.py"]
    for name in ("only", "corpora", "clauses", "threads"):
        values = getattr(chosen, name) or []
        words += [f"--{name}"] * bool(values) + [str(value) for value in values]
    words += ["--no-growth"] * chosen.no_growth + ["--quick"] * chosen.quick
    return " ".join(words)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _corpora(chosen: argparse.Namespace, folder: Path, notes: list[str]) -> dict[str, Any]:
    """Make the corpora, save them for the workers and return their sizes."""
    made = []
    for name, (path, read) in corpora.REAL.items():
        if name not in chosen.corpora:
            continue
        if chosen.data is not None and (chosen.data / path).exists():
            made.append(read(chosen.data))
        else:
            where = f"--data or NEWFOUND_DATA must name a folder with {path}"
            notes.append(f"{name} skipped: {where}.")
    if "zipf" in chosen.corpora:
        made.append(corpora.zipf(200, 2_000) if chosen.quick else corpora.zipf())
    facts = {}
    for corpus in made:
        corpus.save(folder / f"{corpus.name}.npz")
        facts[corpus.name] = {
            "documents": corpus.n_documents,
            "words": corpus.n_words,
            "words_a_document": corpus.words_per_document,
        }
    return facts


def _threads(chosen: argparse.Namespace, notes: list[str]) -> list[int]:
    cores = os.cpu_count() or 1
    asked = sorted(set(chosen.threads))
    too_many = [threads for threads in asked if threads > cores]
    notes += [f"Skipped {n} threads: this machine has {cores} cores." for n in too_many]
    return [threads for threads in asked if threads <= cores]


def measure_size(
    runner: Runner,
    peers: list[Contender],
    corpus: str,
    clauses: int,
    threads: list[int],
    *,
    further: bool,
    quick: bool,
) -> None:
    """Fit all machines at one size: ours, the peers, ours again; then all on the training split."""
    ours = CONTENDERS[OURS]
    model = runner.folder / f"{corpus}-{clauses}-clauses.npz"
    for n in threads:
        size: dict[str, Any] = {"clauses": clauses, "threads": n}
        runner.run(ours, corpus, task="fit", **size, model=str(model))
        for peer in peers:
            if not peer.threaded and n != threads[0]:
                continue
            size = {"clauses": clauses, "threads": n if peer.threaded else 1}
            given = budget(peer, clauses, further=further, quick=quick)
            cap = {"cap_seconds": given.fit_seconds, "min_epochs": given.min_epochs}
            runner.run(peer, corpus, task="fit", **size, **cap)
            if peer.learns and model.exists():
                size["epochs"] = 1 if clauses > LARGE else 2
                runner.run(peer, corpus, task="same_clauses", **size, model=str(model))
        runner.run(ours, corpus, task="fit", clauses=clauses, threads=n)
    for contender in (ours, *peers):
        n = max(threads) if contender.threaded else 1
        size = {"clauses": clauses, "threads": n}
        if contender is not ours:
            given = budget(contender, clauses, further=further, quick=quick)
            if not given.held_out_seconds:
                continue
            size["cap_seconds"] = given.held_out_seconds
        runner.run(contender, corpus, task="held_out", **size)


def _versions(measurements: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    return {m["contender"]: m["result"].get("versions", {}) for m in measurements}


def grow_anew(folder: Path) -> int:
    """Measure growth again, and replace the old figures in the results."""
    kept = json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    measurements = kept.pop("measurements")
    for derived in ("rows", "growth", "highlights"):
        del kept[derived]
    with tempfile.TemporaryDirectory(prefix="newfound-peers-") as scratch:
        grown = growth.measure(Runner({OURS: sys.executable}, Path(scratch)), growth.Base())
    said = f"Growth measured again by --only-growth on {time.strftime('%Y-%m-%d')}, load {_load()}."
    kept["notes"] = [note for note in kept["notes"] if not note.startswith("Growth")] + [said]
    fits = [m for m in measurements if m["corpus"] in kept["corpora"]]
    rows = summarise(fits, kept["corpora"], kept["setting"]["epochs"])
    main_figures = highlights(rows, grown, next(iter(kept["corpora"]), ""))
    report.write_all(folder, kept, rows, grown, main_figures, fits)
    for point in grown:
        print(f"{point['axis']} ×{point['factor']}: ×{point['ratio']:.2f}")
    return 0


def main() -> int:
    """Measure, write the results, print the main figures."""
    chosen = parse()
    if chosen.only_growth:
        return grow_anew(chosen.output)
    begin = time.perf_counter()
    notes: list[str] = []
    load_before = _load()
    if load_before > BUSY_LOAD:
        notes.append(f"The machine was not quiet: load {load_before:.2f} before the run.")
    if find_spec("newfound") is None:
        notes.append("newfound is not installed in this environment: only peers are measured.")
    names = chosen.only or [c.name for c in CONTENDERS.values() if c.default and c.name != OURS]
    peers = [CONTENDERS[name] for name in names]
    pythons = {OURS: sys.executable}
    for peer in peers:
        pythons[peer.name] = str(build(ENVIRONMENTS[peer.environment], chosen.cache))
    with tempfile.TemporaryDirectory(prefix="newfound-peers-") as scratch:
        runner = Runner(pythons, Path(scratch), epochs=6 if chosen.quick else EPOCHS)
        facts = _corpora(chosen, runner.folder, notes)
        threads = _threads(chosen, notes)
        fastest = [peer for peer in peers if peer.name == FASTEST] or peers[:1]
        for place, corpus in enumerate(facts):
            for clauses in chosen.clauses:
                if place and clauses > LARGE:
                    notes.append(f"{corpus}: {clauses:,} clauses left out, to save time.")
                    continue
                options = {"further": place > 0, "quick": chosen.quick}
                here = (fastest, threads[:1]) if place else (peers, threads)
                measure_size(runner, here[0], corpus, clauses, here[1], **options)
            if place:
                notes.append(f"{corpus}: {fastest[0].name} alone, one thread, to save time.")
        rows = summarise(runner.measurements, facts, runner.epochs)
        base = growth.QUICK if chosen.quick else growth.Base()
        grown = [] if chosen.no_growth else growth.measure(runner, base)
    main_figures = [] if chosen.quick else highlights(rows, grown, next(iter(facts), ""))
    if chosen.quick:
        notes.append("Quick run: sizes and epochs are too small to compare.")
    about = {
        "command": _command(chosen),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "load_before": load_before,
            "load_after": _load(),
        },
        "setting": {"T": T, "s": S, "epochs": runner.epochs},
        "notes": notes,
        "versions": _versions(runner.measurements),
        "corpora": facts,
        "seconds": round(time.perf_counter() - begin, 1),
    }
    if chosen.output:
        report.write_all(chosen.output, about, rows, grown, main_figures, runner.measurements)
        print(f"results in {chosen.output}")
    else:
        print(report.markdown(about, rows, grown, main_figures))
    for note in notes:
        print(f"note: {note}")
    for figure in main_figures:
        print(f"{figure.name}: {figure.measured}")
    print(f"{about['seconds']:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
