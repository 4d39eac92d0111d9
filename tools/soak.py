"""Use newfound for a long time with changing input, and watch what it holds: ``make soak``.

One process describes, detects and monitors in a loop; a service beside it scores, explains and runs
jobs. After each round the memory, the threads and the open files of both are noted. At the end the
last quarter of the rounds is compared with the second one: the first is for warming up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from newfound import Monitor, NoveltyDetector, describe, load, load_sample

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "benchmarks/results/soak.md"
MORE_MEMORY = 0.1  # share by which memory may have grown
MORE_OF_OTHERS = 2  # threads or files by which they may have grown


def held(process: int) -> dict[str, float]:
    """Return what a process holds: memory in MB, threads, open files."""
    status = Path(f"/proc/{process}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return {
        "memory in MB": int(fields["VmRSS"].split()[0]) / 1024,
        "threads": int(fields["Threads"]),
        "open files": len(os.listdir(f"/proc/{process}/fd")),
    }


@contextmanager
def service(folder: Path, model: Path) -> Iterator[tuple[int, httpx.Client]]:
    """Run a service with a model; yield its process and a client."""
    command = [
        sys.executable, "-m", "newfound", "serve", "--port", "0", "--no-browser", "--json",
        "--workspace", str(folder / "workspace"), "--model", f"soak={model}", "--jobs", "1",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        headers = {"Authorization": f"Bearer {told['token']}"}
        try:
            with httpx.Client(base_url=told["address"], headers=headers, timeout=120) as client:
                yield process.pid, client
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


class Rounds:
    """One round after the other, each with other documents."""

    def __init__(self, folder: Path) -> None:
        known, novel = load_sample()
        self.known, self.novel = list(known.texts), list(novel.texts)
        self.folder, self.draw = folder, random.Random(1)
        self.detector = NoveltyDetector(random_state=1).fit(self.known[:600])
        self.detector.save(folder / "model")
        self.monitor = Monitor(self.detector, every=100, state=folder / "state", keep=217)

    def texts(self, n: int, new: float) -> list[str]:
        """Draw documents, of which a share is new, each with a word that never came before."""
        draw = self.draw
        some = [draw.choice(self.novel if draw.random() < new else self.known) for _ in range(n)]
        return [f"{text} w{draw.getrandbits(40):x}" for text in some]

    def run(self, client: httpx.Client) -> None:
        """Do everything once."""
        old, new = self.texts(60, 0), self.texts(60, 1)
        described = describe(old, new, n_machines=2, n_clauses=50, epochs=3, random_state=1)
        described.report(self.folder / "page.html", force=True)
        described.save(self.folder / "describer", force=True)
        load(self.folder / "describer")
        detector = NoveltyDetector.load(self.folder / "model")
        incoming = self.texts(60, 0.3)
        detector.detect(incoming, describe=False).to_csv(self.folder / "rows.csv", force=True)
        detector.explain(incoming[0])
        self.monitor.update(self.texts(100, 0.1))
        self.ask(client, "/v1/score", {"model": "soak", "texts": incoming})
        self.ask(client, "/v1/explain", {"model": "soak", "text": incoming[0]})
        refused = client.post("/v1/score", json={"model": "none", "texts": ["a"]})
        assert refused.status_code == 404, refused.text
        sides = {"known": {"texts": old}, "novel": {"texts": new}}
        job = self.ask(client, "/v1/describe", {**sides, "name": "soak"})
        while job["state"] in ("queued", "running"):
            time.sleep(0.1)
            job = client.get(f"/v1/jobs/{job['id']}").json()
        assert job["state"] == "finished", job
        gone = client.request("DELETE", f"/v1/jobs/{job['id']}", json={})
        assert gone.is_success, gone.text

    @staticmethod
    def ask(client: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of the service."""
        answer = client.post(path, json=body)
        assert answer.is_success, answer.text
        found: dict[str, Any] = answer.json()
        return found


def compare(noted: list[dict[str, float]]) -> dict[str, tuple[float, float]]:
    """Return the medians of the second and of the last quarter of the rounds."""
    quarter = max(1, len(noted) // 4)
    second, last = noted[quarter : 2 * quarter] or noted, noted[-quarter:]

    def median(some: list[dict[str, float]], name: str) -> float:
        return statistics.median(one[name] for one in some)

    return {name: (median(second, name), median(last, name)) for name in noted[0]}


def grew(name: str, before: float, after: float) -> bool:
    """Return whether a process holds more than it did."""
    if name.startswith("memory"):
        return after > before * (1 + MORE_MEMORY)
    return after > before + MORE_OF_OTHERS


def main() -> None:
    """Run rounds for some minutes, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    noted: dict[str, list[dict[str, float]]] = {"library": [], "service": []}
    with tempfile.TemporaryDirectory() as place:
        rounds = Rounds(Path(place))
        with service(Path(place), Path(place) / "model") as (process, client):
            began = time.monotonic()
            while time.monotonic() - began < 60 * options.minutes:
                rounds.run(client)
                noted["library"].append(held(os.getpid()))
                noted["service"].append(held(process))
        rounds.monitor.close()
        state = (Path(place) / "state").stat().st_size / 2**20
    n = len(noted["library"])
    lines = [
        "# A long run",
        "",
        f"`python tools/soak.py --minutes {options.minutes:g} --page`: {n} rounds of describe, "
        "report, save, load, detect, explain and monitor in one process, and of score, explain and "
        f"a job in a service beside it, each with other documents; {time.strftime('%Y-%m-%d')}. "
        "Medians of the second and of the last quarter of the rounds.",
        "",
        "| process | holds | second quarter | last quarter |",
        "|---|---|---|---|",
    ]
    more = []
    for which, some in noted.items():
        for name, (before, after) in compare(some).items():
            lines.append(f"| {which} | {name} | {before:.0f} | {after:.0f} |")
            if grew(name, before, after):
                more.append(f"{which}: {name}")
    lines += ["", f"The state of the monitor has {state:.1f} MB after {100 * n:,} documents."]
    print("\n".join(lines))
    if options.page:
        PAGE.write_text("\n".join(lines) + "\n", "utf-8")
    if more:
        raise SystemExit(f"Grew: {'; '.join(more)}.")


if __name__ == "__main__":
    main()
