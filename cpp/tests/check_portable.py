"""Check that only compiler.hpp uses what some compilers do not know.

MSVC has no __int128, no __builtin functions, no attributes of GCC and no std::aligned_alloc. Files
of one instruction set (lanes_avx2.hpp and the like) may use its intrinsics: every compiler has
them.

Usage: check_portable.py
"""

import re
import sys
from pathlib import Path

CPP = Path(__file__).resolve().parent.parent
GUARDED = {CPP / "compiler.hpp", CPP / "tests" / "compiler_test.cpp"}
NOT_PORTABLE = {
    "a type of GCC": r"\b(?:unsigned\s+)?__int128\b|\b__u?int128_t\b|\b_{0,2}typeof(?:__)?\s*\(",
    "a function of GCC": r"\b__builtin_\w+|\b__sync_\w+|\b__atomic_\w+",
    "an attribute of GCC": r"\b__attribute__\b|\[\[\s*gnu::|\b__(?:restrict|extension)(?:__)?\b",
    "a pragma": r"#\s*pragma\s+(?!once\b)\w+|\b_Pragma\b",
    "assembly": r"\b(?:__)?asm(?:__)?\b",
    "a compiler by name": r"\b(?:__GNUC__|__clang__|_MSC_VER)\b",
    "a processor by name": r"\b(?:__x86_64__|__aarch64__|_M_\w+)\b",
    "a name that MSVC does not have": r"\b(?:aligned_alloc|posix_memalign|ssize_t|M_PI)\b",
}


def without_comments(source: str) -> str:
    """Return C++ source with its comments blanked, every line in its place."""
    return re.sub(r"//[^\n]*", "", source)


def found_in(path: Path) -> list[str]:
    """Return what is not portable in a file, with the numbers of its lines."""
    lines = without_comments(path.read_text()).splitlines()
    return [
        f"{path.relative_to(CPP)}:{number}: {what}: {match[0]}"
        for number, line in enumerate(lines, 1)
        for what, pattern in NOT_PORTABLE.items()
        for match in re.finditer(pattern, line)
    ]


def main() -> None:
    """Check all files of the core."""
    files = [p for p in sorted(CPP.rglob("*")) if p.suffix in {".cpp", ".hpp", ".inl"}]
    if not all(found_in(path) for path in GUARDED):
        raise SystemExit("nothing was found where something must be: the patterns do not work")
    found = [line for path in files if path not in GUARDED for line in found_in(path)]
    print(*found, f"{len(files)} files, {len(found)} places that are not portable", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
