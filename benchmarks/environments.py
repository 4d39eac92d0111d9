"""One virtual environment for each peer, built once and kept in a cache folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

WORKERS = Path(__file__).parent / "workers"


@dataclass(frozen=True)
class Environment:
    """What pip installs for one peer."""

    name: str
    requirements: tuple[str, ...]
    note: str = ""


ENVIRONMENTS = {
    "green-tsetlin": Environment(
        "green-tsetlin", ("green-tsetlin==1.1.0",), "compiles for about two minutes"
    ),
    # tmu does not work with numpy 2.
    "tmu": Environment("tmu", ("tmu==0.8.3", "numpy<2")),
    # Not beside pyTsetlinMachine: both install a file of the same name.
    "pyTsetlinMachineParallel": Environment(
        "pyTsetlinMachineParallel", ("pyTsetlinMachineParallel==0.2.1", "numpy")
    ),
}


def _python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def build(environment: Environment, cache: Path) -> Path:
    """Return the peer's Python, building its environment when it is not there yet.

    A half-built environment is never used: the receipt is written last.
    """
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    folder = cache / f"{environment.name}-{version}"
    receipt = folder / "built.json"
    requirements = list(environment.requirements)
    if receipt.exists() and json.loads(receipt.read_text())["requirements"] == requirements:
        return _python_of(folder)
    note = f" ({environment.note})" if environment.note else ""
    print(f"building the environment of {environment.name}{note}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(_python_of(folder)), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
    subprocess.run([*pip, *requirements], check=True)
    seconds = round(time.perf_counter() - begin, 1)
    receipt.write_text(json.dumps({"requirements": requirements, "seconds": seconds}) + "\n")
    return _python_of(folder)
