"""Look for inputs that break newfound, by coverage (atheris): ``make fuzz``.

Each target of `tests/fuzz_targets.py` gets its share of the time, in a process of its own. New
inputs that reach new code are added to the corpus in ``tests/data/fuzz``, which
``tests/everywhere/test_fuzz.py`` tries in every run of the tests; an input that breaks something
is kept there as ``crash-...``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
LARGEST = 4096  # bytes of an input that is kept
MOST_KEPT = 40  # inputs of a target that are kept


def drive(target: str, arguments: list[str]) -> None:
    """Fuzz one target; libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["newfound"]):
        import fuzz_targets
    atheris.Setup([sys.argv[0], *arguments], fuzz_targets.TARGETS[target])
    atheris.Fuzz()


def keep(target: str, found: Path) -> int:
    """Add what reached new code to the kept corpus, the smallest inputs first."""
    from fuzz_targets import CORPUS

    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    inputs = sorted((path for path in found.iterdir()), key=lambda path: path.stat().st_size)
    for path in inputs:
        if len(list(folder.iterdir())) < MOST_KEPT and path.stat().st_size <= LARGEST:
            (folder / path.name).write_bytes(path.read_bytes())
    return len(inputs)


def main() -> None:
    """Fuzz all targets, one after the other."""
    if len(sys.argv) > 2 and sys.argv[1] == "--target":
        drive(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="for all targets together")
    seconds = parser.parse_args().seconds
    from fuzz_targets import CORPUS, TARGETS, seeds

    first, broken = seeds(), []
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as place:
            new, begin = Path(place) / "new", Path(place) / "begin"
            new.mkdir()
            begin.mkdir()
            for number, content in enumerate(first[target]):
                (begin / f"seed-{number}").write_bytes(content)
            kept = CORPUS / target
            kept.mkdir(parents=True, exist_ok=True)
            command = [
                sys.executable, __file__, "--target", target, str(new), str(begin), str(kept),
                f"-max_total_time={seconds // len(TARGETS)}", "-timeout=30", "-rss_limit_mb=2048",
                f"-artifact_prefix={kept}/", "-max_len=65536",
            ]  # fmt: skip
            ended = subprocess.run(command, check=False, capture_output=True, text=True)
            told = [line for line in ended.stderr.splitlines() if line.startswith(("#", "Done"))]
            print(
                f"{target}: {keep(target, new)} new inputs; {told[-1] if told else ''}", flush=True
            )
            if ended.returncode:
                broken.append(target)
                print(ended.stderr[-3000:])
    if broken:
        raise SystemExit(f"Broken: {', '.join(broken)}; see {CORPUS}.")


if __name__ == "__main__":
    main()
