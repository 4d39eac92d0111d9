"""Whole fits of the machine: the paper's setting, focused negatives, a core taken by others.

    NEWFOUND_DATA=folder python benchmarks/fits.py

About five minutes on two idle cores. The tables are printed and written to
benchmarks/results/fits.md and fits.json.

- *The paper's setting*: 10,000 clauses a class, T = 50, s = 25, 100 epochs, on the paper's groups
  of BBC Sport (cricket and football against rugby) and of 20 Newsgroups (graphics and guns against
  baseball, all posts without headers), every word that is no stop word; by the number of threads.
- *Focused negatives*: the 150 intents of CLINC150, 40 clauses a class, T = 10, s = 3, at most 8
  literals, 10 epochs, with the other class drawn uniformly and by its votes.
- *A busy neighbour*: the fit on BBC Sport while another process computes on one of the cores.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the lab is not installed

from lab.datasets import load_20newsgroups, load_bbcsport, load_clinc150
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.storage.files import replacing
from newfound.text.vectorizer import TextVectorizer

RESULTS = Path(__file__).resolve().parent / "results"
PAPER = {"n_clauses": 10_000, "T": 50, "s": 25.0, "epochs": 100}
INTENTS = {"n_clauses": 40, "T": 10, "s": 3.0, "epochs": 10, "max_literals": 8}
GROUPS = {
    "BBC Sport": (load_bbcsport, ("cricket", "football"), ("rugby",)),
    "20 Newsgroups": (
        load_20newsgroups,
        ("comp.graphics", "talk.politics.guns"),
        ("rec.sport.baseball",),
    ),
}

Row = dict[str, Any]
Task = tuple[Any, list[Any]]


def fit(task: Task, threads: int, **parameters: Any) -> Row:
    """Return seconds by the clock and of the processor, and the epochs of a fit."""
    machine = TsetlinMachineClassifier(n_jobs=threads, random_state=1, **parameters)
    clock, processor = time.perf_counter(), time.process_time()
    machine.fit(*task)
    return {
        "threads": threads,
        "seconds": time.perf_counter() - clock,
        "processor seconds": time.process_time() - processor,
        "epochs": machine.n_epochs_,
    }


def paper_task(name: str) -> Task:
    """Return the bags of the paper's groups, and which are novel."""
    load, known, novel = GROUPS[name]
    corpus = load().only(*known, *novel)
    bags = TextVectorizer().fit_transform(corpus.texts)
    return bags, [label in novel for label in corpus.labels or ()]


def intents_task() -> Task:
    """Return the requests of the training split of CLINC150 with their intents."""
    corpus = load_clinc150()
    intents = sorted(set(corpus.labels or ()) - {"oos"})
    train = corpus.only(*intents, split="train")
    bags = TextVectorizer(min_df=2, stop_words=None).fit_transform(train.texts)
    return bags, list(train.labels or ())


def compute(core: int) -> None:
    """Compute on one core for ever."""
    os.sched_setaffinity(0, {core})
    while True:
        pass


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Let another process compute on the last of this one's cores."""
    process = multiprocessing.get_context("spawn").Process(
        target=compute, args=(max(os.sched_getaffinity(0)),), daemon=True
    )
    process.start()
    time.sleep(2)  # until it has started
    try:
        yield
    finally:
        process.kill()
        process.join()


def threads_to_try() -> list[int]:
    """Return powers of two up to the cores of this process."""
    cores = len(os.sched_getaffinity(0))
    return [n for n in (1, 2, 4, 8, 16) if n <= cores]


def measure() -> dict[str, list[Row]]:
    """Run all fits, one after the other."""
    found: dict[str, list[Row]] = {"paper": [], "focused": [], "neighbour": []}
    tasks = {name: paper_task(name) for name in GROUPS}
    for name, task in tasks.items():
        about = {"corpus": name, "documents": task[0].shape[0], "words": task[0].shape[1]}
        for threads in threads_to_try():
            found["paper"].append(about | fit(task, threads, **PAPER))
            print(found["paper"][-1], flush=True)
    task = intents_task()
    for how in ("uniform", "focused", "uniform", "focused"):
        found["focused"].append({"negatives": how} | fit(task, 1, negative_sampling=how, **INTENTS))
        print(found["focused"][-1], flush=True)
    for neighbour in (False, True, False, True):
        for threads in (1, max(threads_to_try())):
            beside = {"neighbour": "busy" if neighbour else "none"}
            if neighbour:
                with busy_neighbour():
                    row = fit(tasks["BBC Sport"], threads, **PAPER)
            else:
                row = fit(tasks["BBC Sport"], threads, **PAPER)
            found["neighbour"].append(beside | row)
            print(found["neighbour"][-1], flush=True)
    return found


def table(rows: list[Row]) -> list[str]:
    """Return rows as lines of a table."""
    columns = list(rows[0])
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    for row in rows:
        cells = [
            f"{cell:.2f}"
            if isinstance(cell, float)
            else f"{cell:,}"
            if isinstance(cell, int)
            else cell
            for cell in row.values()
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def mean_seconds(rows: list[Row], **wanted: Any) -> float:
    """Return the mean seconds of the rows with these values."""
    times: list[float] = [
        row["seconds"]
        for row in rows
        if all(row[column] == value for column, value in wanted.items())
    ]
    return sum(times) / len(times)


def page(kept: dict[str, Any]) -> str:
    """Return the page of a run."""
    rows = kept["rows"]
    focused = mean_seconds(rows["focused"], negatives="focused") / mean_seconds(
        rows["focused"], negatives="uniform"
    )
    lines = [
        "# Whole fits of the machine",
        "",
        f"`python benchmarks/fits.py`, {kept['date']}, {kept['cores']} cores, load before the run "
        f"{kept['load']:.1f}. *seconds* are by the clock.",
        "",
        "## The paper's setting: 10,000 clauses a class, T = 50, s = 25, 100 epochs",
        "",
        *table(rows["paper"]),
        "",
        "## Focused negatives: 150 intents of CLINC150, 40 clauses a class, 10 epochs",
        "",
        f"A focused fit takes {focused:.2f} times as long as a uniform one.",
        "",
        *table(rows["focused"]),
        "",
        "## The fit on BBC Sport while another process computes on one of the cores",
        "",
        *table(rows["neighbour"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the page."""
    load = os.getloadavg()[0]
    kept = {
        "date": time.strftime("%Y-%m-%d"),
        "cores": len(os.sched_getaffinity(0)),
        "load": load,
        "rows": measure(),
    }
    for name, text in (
        ("fits.json", json.dumps(kept, indent=1) + "\n"),
        ("fits.md", page(kept)),
    ):
        with replacing(RESULTS / name, force=True) as aside:
            Path(aside).write_text(text, encoding="utf-8")
    print(page(kept))


if __name__ == "__main__":
    main()
