"""Check that kernel object files share no function with the rest of the program.

A kernel file is compiled for instructions that not every processor has. If it defined a weak symbol
(an inline function or a template of a shared header), the linker could choose that copy for the
whole program, and a processor without those instructions would crash. So every weak symbol that
such an object file defines must be in the namespace of its instruction set.

Usage: check_symbols.py NM OBJECT...
"""

import re
import subprocess
import sys
from pathlib import Path

# W, V: weak; u: unique global. Lower-case w and v are references without a definition.
WEAK = {"W", "V", "u"}


def shared_symbols(nm: str, path: Path) -> list[str]:
    """Return the weak symbols that an object file defines outside of its own namespace."""
    found = re.search(r"kernels_(avx2|avx512)", path.name)
    own = f"{len(found[1])}{found[1]}" if found else "no namespace"
    allowed = re.compile(rf"_Z[A-Z]*NK?8newfound{own}")
    listing = subprocess.run(
        [nm, "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    symbols = [line.split()[-2:] for line in listing.splitlines() if line]
    if not symbols:
        raise SystemExit(f"{path} defines nothing: is it an object file?")
    return [name for kind, name in symbols if kind in WEAK and not allowed.match(name)]


def main() -> None:
    """Check every object file given on the command line."""
    nm, *paths = sys.argv[1:]
    if not paths:
        raise SystemExit(__doc__)
    failed = False
    for path in map(Path, paths):
        names = shared_symbols(nm, path)
        failed |= bool(names)
        print(f"{path}: {len(names)} weak symbols outside of its namespace", *names, sep="\n  ")
    sys.exit(failed)


if __name__ == "__main__":
    main()
