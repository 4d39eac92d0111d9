"""The machines that are compared, how long each trains, and how one measurement is run."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from environments import WORKERS

T = 50
S = 25.0
EPOCHS = 100
SEED = 1  # green-tsetlin refuses 0, tmu hangs with it

OURS = "newfound"
FASTEST = "green-tsetlin"  # of the peers
LARGE = 2_000  # clauses a class; above, a peer's epoch takes 5 to 30 s
NO_CAP = 1e9  # seconds; JSON has no infinity


@dataclass(frozen=True)
class Contender:
    """A machine in one of its variants."""

    name: str
    worker: str
    environment: str = ""  # ours runs in the environment that runs this script
    variant: str = ""
    counts: str = "for each class"  # how its own parameter counts clauses
    threaded: bool = True
    learns: bool = True  # whether it can load the clauses of another machine
    min_epochs: int = 3  # above LARGE
    default: bool = True


CONTENDERS = {
    c.name: c
    for c in (
        Contender(OURS, "worker_newfound.py"),
        Contender(
            "green-tsetlin", "worker_green.py", "green-tsetlin", "dense", "in all", min_epochs=6
        ),
        Contender(
            "green-tsetlin-sparse",
            "worker_green.py",
            "green-tsetlin",
            "sparse",
            "in all",
            learns=False,
            default=False,
        ),
        Contender("tmu", "worker_tmu.py", "tmu", "vanilla", threaded=False),
        Contender("tmu-coalesced", "worker_tmu.py", "tmu", "coalesced", "in all", threaded=False),
        Contender(
            "pyTsetlinMachineParallel",
            "worker_parallel.py",
            "pyTsetlinMachineParallel",
            min_epochs=2,
        ),
    )
}


@dataclass(frozen=True)
class Budget:
    """How long a peer trains before its whole fit is extrapolated."""

    fit_seconds: float
    held_out_seconds: float  # 0: not at all
    min_epochs: int


def budget(contender: Contender, clauses: int, *, further: bool, quick: bool) -> Budget:
    """Return how long a peer trains; ``further`` for the corpora after the first."""
    if quick:
        return Budget(2.0, 2.0, 2)
    if further:
        return Budget(60.0, 8.0, 2)
    if clauses > LARGE:
        return Budget(40.0, 0.0, contender.min_epochs)
    return Budget(20.0, 15.0, max(5, contender.min_epochs))


@dataclass
class Runner:
    """Starts workers, one at a time, and remembers every measurement."""

    pythons: dict[str, str]
    folder: Path
    epochs: int = EPOCHS
    measurements: list[dict[str, Any]] = field(default_factory=list)

    def run(self, contender: Contender, corpus: str, **job: Any) -> dict[str, Any]:
        """Run one job in the contender's environment; a failure is a result with an ``error``."""
        whole = {
            "corpus": str(self.folder / f"{corpus}.npz"),
            "variant": contender.variant,
            "epochs": self.epochs,
            "cap_seconds": NO_CAP,
            "T": T,
            "s": S,
            "seed": SEED,
            **job,
        }
        threads = str(whole["threads"])
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
        command = [self.pythons[contender.name], str(WORKERS / contender.worker), json.dumps(whole)]
        done = subprocess.run(
            command, env={**os.environ, **limits}, capture_output=True, text=True, check=False
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        result: dict[str, Any]
        if done.returncode == 0 and lines:
            result = json.loads(lines[-1])
        else:
            reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
            result = {"error": f"exit {done.returncode}: {reason[:300]}"}
        kept = {key: whole[key] for key in ("task", "clauses", "threads")}
        self.measurements.append(
            {"contender": contender.name, "corpus": corpus, **kept, "result": result}
        )
        shown = result.get("error") or _in_short(result)
        print(
            f"  {contender.name:25}{corpus:10}{whole['clauses']:>7} clauses "
            f"{threads} thread(s)  {whole['task']:13}{shown}",
            flush=True,
        )
        return result


def _in_short(result: dict[str, Any]) -> str:
    words = []
    if "fit_seconds" in result:
        words.append(f"{len(result['epoch_seconds'])} epochs in {result['fit_seconds']:.2f} s")
    if "predict_seconds" in result:
        words.append(f"{result['predict_seconds']['best'] * 1e6:.1f} us a document")
    if "accuracy" in result:
        words.append(f"accuracy {result['accuracy']:.3f}")
    if "agreement" in result:
        words.append(f"agreement {result['agreement']:.3f}")
    if result.get("quiet_epoch_seconds"):
        words.append(f"quiet epoch {result['quiet_epoch_seconds'][-1]:.2f} s")
    return ", ".join(words)
