"""How large the package is, and how much of it a job runs: ``python tools/house.py``.

Prints the lines of the package and how long help takes, then for each main job the modules of which
it ran a function or defined a class, counted by a profiler in a process of its own, on the sample.
``--list`` names these modules.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import newfound

PACKAGE = Path(newfound.__file__).parent
JOBS = ("describe --report", "detect", "monitor --replay", "POST /v1/score")


def write_sample(folder: Path) -> None:
    """Write the sample as files, the novel documents also as a stream with times."""
    known, novel = newfound.load_sample()
    for name, texts in (("known", known.texts), ("novel", novel.texts)):
        (folder / f"{name}.txt").write_text("\n".join(texts))
    stream = [*known.texts, *novel.texts]
    rows = [{"text": text, "time": 1_000_000_000 + 60 * i} for i, text in enumerate(stream)]
    (folder / "stream.jsonl").write_text("\n".join(map(json.dumps, rows)))


def command(*arguments: str) -> None:
    """Run a command of newfound in this process."""
    from newfound.__main__ import main

    sys.argv = ["newfound", *arguments]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise


def score() -> None:
    """Have a service judge a message."""
    from starlette.testclient import TestClient

    from newfound.serve.app import create_app
    from newfound.serve.settings import Settings

    settings = Settings(Path("workspace"), models={"bank": Path("model.nf")})
    with TestClient(create_app(settings), base_url=settings.address) as client:
        headers = {"Authorization": f"Bearer {settings.token}"}
        body = {"model": "bank", "texts": ["Where is my card?", "Book a flight to Oslo"]}
        client.post("/v1/score", json=body, headers=headers).raise_for_status()


def work_of(job: str) -> Callable[[], None]:
    """Return what does a job, after what it needs has been made."""
    if job == "describe --report":
        return lambda: command(
            "describe", "--known", "known.txt", "--novel", "novel.txt", "--report", "page.html"
        )
    if job == "detect":
        return lambda: command("detect", "--known", "known.txt", "--incoming", "novel.txt")
    command("detect", "--known", "known.txt", "--save", "model.nf")
    if job == "monitor --replay":
        options = ("--model", "model.nf", "--every", "50", "--replay", "stream.jsonl")
        return lambda: command("monitor", *options)
    return score


def profile(job: str) -> list[str]:
    """Return the modules of which the job ran a function or defined a class."""
    modules: set[str] = set()
    root = f"{PACKAGE}{os.sep}"

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root) and code.co_name != "<module>":
            modules.add(code.co_filename.removeprefix(root))

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_sample(Path(folder))
        work = work_of(job)
        threading.setprofile(note)
        sys.setprofile(note)
        work()
        sys.setprofile(None)
        os.chdir("/")
    return sorted(modules)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the modules of each job")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job:
        print(json.dumps(profile(asked.job)))
        return
    sizes = [len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py")]
    print(f"{sum(sizes):,} lines of Python in {len(sizes)} modules")
    help_of = [sys.executable, "-P", "-m", "newfound", "--help"]
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(help_of, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - began)
    print(f"newfound --help: {min(seconds):.2f} s")
    for job in JOBS:
        done = subprocess.run(
            [sys.executable, "-P", __file__, "--job", job], check=True, capture_output=True
        )
        modules = json.loads(done.stdout.splitlines()[-1])
        print(f"{job}: functions of {len(modules)} modules")
        if asked.list:
            print("\n".join(f"    {name}" for name in modules))


if __name__ == "__main__":
    main()
