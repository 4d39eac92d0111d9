"""Make every kept result again: ``python tools/figures.py``, or ``make figures``.

Runs the commands below one after the other, two to five hours on two cores; needs the corpora in
the folder that NEWFOUND_DATA names. ``--list`` shows them, ``--only words themes`` runs some. A
command that fails does not stop the others. The last line of each page says of which commit and day
it is, and how busy the machine was before. At the end, tests/lab/test_figures.py says which pages
quote other figures than the kept ones. Run it on a quiet machine, with no open changes.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = "benchmarks/results"
# The name of a kept page, and what makes it; the lab's `evaluate` also gets --output and --force.
COMMANDS = {
    "peers": "python benchmarks/peers.py --corpora bbcsport clinc150 abcnews"
    " --clauses 200 2000 10000 --threads 1 2",
    "fits": "python benchmarks/fits.py",
    "words": "python -m lab evaluate words --seeds 3 --jobs 1",
    "themes": "python -m lab evaluate themes shift stability",
    "themes-other": "python -m lab evaluate themes other",
    "themes-no-novelty": "python -m lab evaluate themes no-novelty",
    "themes-names": "python -m lab evaluate themes names",
    "topic_models": "python -m lab evaluate themes topic-models",
    "verdicts": "python -m lab evaluate verdicts --seeds 5 --seed 60",
    "documents": "python -m lab evaluate documents clinc150 clinc150-unlabelled 20newsgroups"
    " bbcsport false-alarms deletion speed",
    "documents_each": "python -m lab evaluate documents 20newsgroups-each --no-baselines",
    "noise": "python -m lab evaluate documents noise",
    "meaning": "python -m lab evaluate documents meaning",  # with NEWFOUND_ENCODER
    "meaning_speed": "python -m lab evaluate documents speed",  # with NEWFOUND_ENCODER
    "repeats": "python -m lab evaluate documents repeats --splits 20",
    "detection_speed": "python -m lab evaluate documents speed",
    "groups": "python -m lab evaluate documents groups",
    "reasons": "python -m lab evaluate documents reasons sentences deletion",
    "unseen_intents": "python -m lab evaluate documents unseen-intents",
    "rules": "python -m lab evaluate rules clinc150 bbcsport 20newsgroups",
    "rule_votes": "python -m lab evaluate rules votes",
    "stream-false-alarms": "python -m lab evaluate stream false-alarms --streams 300",
    "stream-new-class": "python -m lab evaluate stream new-class",
    "stream-abcnews": "python -m lab evaluate stream abcnews",
    "stream-events": "python -m lab evaluate stream events events-each event-alerts",
    "stream-speed": "python -m lab evaluate stream speed --documents 2000000",
    "speed": "python -m lab evaluate speed --runs 2",
    "scale": "python benchmarks/scale.py",
    "serve": "python benchmarks/serve.py --seconds 12 --requests 40000",
    "describe_defaults": "python benchmarks/describe_defaults.py",
    "novelty_constants": "python benchmarks/novelty_constants.py",
    "reproduce": "python -m lab reproduce all --seeds 5 --preset paper"
    " --output experiments/results --resume",
}
# Kept, but not made again: a run of an older detector.
OLDER = {"documents_older"}
# Pages on the tests, which have no figures of a user; `make mutants` and `make soak` write them.
CHECKS = {"mutants", "soak"}
# The last line of a page; a page that is made again gets a new one.
MADE = re.compile(r"\n+Made at commit [0-9a-f]{12}.*\n*$")


def command_of(name: str) -> str:
    """Return the command that makes a kept result."""
    command = COMMANDS[name]
    if command.startswith("python -m lab evaluate "):
        command += f" --output {RESULTS}/{name} --force"
    return command


def words_of(command: str) -> list[str]:
    """Return a command as a list, with the programs of this environment."""
    program, *others = shlex.split(command)
    if program == "python":
        return [sys.executable, *others]
    return [str(Path(sysconfig.get_path("scripts"), program)), *others]


def page_of(name: str) -> Path:
    """Return the page that shows a kept result."""
    return ROOT / ("experiments/README.md" if name == "reproduce" else f"{RESULTS}/{name}.md")


def commit() -> str:
    """Return the commit of the code, and whether files other than results differ from it."""

    def ask(words: str) -> str:
        return subprocess.run(
            shlex.split(words), cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.strip()

    others = f". :!{RESULTS} :!experiments"
    changed = ask(f"git status --porcelain --untracked-files=no -- {others}")
    name = ask("git rev-parse --short=12 HEAD")
    return f"{name}, with changes that are not committed" if changed else name


def say_when(page: Path, line: str) -> None:
    """Write at the end of a page at which commit it was made."""
    text = MADE.sub("", page.read_text("utf-8")).rstrip("\n")
    aside = page.with_name(page.name + ".new")
    aside.write_text(f"{text}\n\n{line}\n", "utf-8")
    aside.replace(page)


def make(name: str) -> bool:
    """Run the command of a kept result; return whether it succeeded."""
    load, code = os.getloadavg()[0], commit()
    print(f"{name}: load {load:.1f}; {command_of(name)}", flush=True)
    began = time.monotonic()
    done = subprocess.run(words_of(command_of(name)), cwd=ROOT, check=False)
    took = time.monotonic() - began
    print(f"{name}: exit status {done.returncode}, {took:.0f} s", flush=True)
    if done.returncode == 0:
        today = time.strftime("%Y-%m-%d")
        line = f"Made at commit {code}, {today}, in {took:,.0f} s; load before it {load:.1f}."
        say_when(page_of(name), line)
    return done.returncode == 0


def main() -> None:
    """Make the results that are asked for, and compare the pages with them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="show the commands and do nothing")
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(f"{name}: {command_of(name)}" for name in asked.only))
        return
    failed = [name for name in asked.only if not make(name)]
    check = [sys.executable, "-m", "pytest", "--quiet", "tests/lab/test_figures.py"]
    quoted = subprocess.run(check, cwd=ROOT, check=False).returncode
    if failed:
        print(f"could not be made: {', '.join(failed)}")
    sys.exit(1 if failed or quoted else 0)


if __name__ == "__main__":
    main()
