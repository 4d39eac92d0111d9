"""Plant errors in the code, one at a time, and list those that no test notices: ``make mutants``.

Errors are of the kinds that `KINDS` lists. They are drawn from the modules of `MATCHING`, the same
for a seed, and each is planted in a copy of the package; then the tests of that module run until
the first one fails. `NAMED` has errors that were found by hand, those of the core included, which
is built again for each (``--core``). Errors that change nothing a caller can see are listed with
the reason in `HARMLESS`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "benchmarks/results/mutants.md"
NOT_LONG = "not slow and not law and not exhaustive"
SECONDS = 300  # after which tests of a mutant count as hanging, which is noticed, too

KINDS = {
    "comparison": "< for <=, > for >=, == for !=, in for not in, is for is not, and the reverse",
    "condition": "the condition of an if negated",
    "logic": "and for or, and the reverse",
    "number": "a whole number one larger",
    "arithmetic": "+ for -, * for //, and the reverse",
    "no error": "a raise left out",
    "no call": "a call whose result is not used left out",
    "flag": "True for False, and the reverse; not in strict=True, frozen=True and slots=True",
    "by hand": "an error of another kind, planted by hand",
    "core": "an error in the core, planted by hand",
}

# The tests that have to notice errors in a module; with them run the examples of its docstrings.
TERMINAL = "tests/everywhere/test_terminals.py::test_no_control_character_reaches_a_terminal"
RATES = [
    "tests/everywhere/test_attacks.py::test_a_rate_that_no_collection_can_hold_is_refused_at_once",
    "tests/everywhere/test_attacks.py::test_how_many_documents_are_enough_is_found_in_constant_time",
]
CALIBRATED = [
    f"tests/detection/test_detector.py::{name}"
    for name in (
        "test_p_values_are_ranks_among_held_back_documents_and_ties_are_cautious",
        "test_the_threshold_is_where_the_p_value_reaches_alpha",
        "test_classes_with_many_held_back_documents_have_their_own_threshold",
        "test_a_class_no_held_back_document_is_nearest_to_is_held_against_all",
        "test_documents_held_back_by_hand_set_the_threshold",
        "test_new_documents_and_new_classes_are_taken_in",
        "test_the_share_of_new_documents_is_estimated",
        "test_a_class_of_one_document_is_learned_from_with_a_warning",
        "test_what_cannot_be_learned_from_is_refused_in_a_sentence",
        "test_the_number_of_documents_it_asks_for_is_enough",
        "test_a_missing_label_is_an_error_also_as_pandas_writes_it",
    )
]
HOSTILE = [
    "tests/storage/test_hostile_files.py",
    "tests/storage/test_hostile_archives.py",
    "tests/storage/test_hostile_states.py",
]
MATCHING: dict[str, list[str]] = {
    "storage/files.py": [
        "tests/storage/test_files.py",
        "tests/everywhere/test_planted.py::test_a_file_is_on_the_disk_before_it_gets_its_name",
        "tests/cli/test_interrupts.py::test_a_process_that_ends_at_once_removes_its_unfinished_files",
        "tests/cli/test_interrupts.py"
        "::test_files_of_killed_writers_are_removed_when_nobody_has_written_for_an_hour",
    ],
    "storage/fields.py": [
        "tests/everywhere/test_planted.py::test_bounds_of_values_are_exact",
        *HOSTILE,
    ],
    "storage/archive.py": [
        "tests/everywhere/test_planted.py::test_data_after_the_end_of_a_compressed_member_is_refused",
        *HOSTILE,
    ],
    "text/redaction.py": [
        "tests/text/test_redaction.py::test_what_is_replaced",
        "tests/text/test_redaction.py::test_nothing_is_left_to_replace",
        "tests/text/test_redaction.py::test_what_stands_instead_has_no_words",
        "tests/text/test_redaction.py::test_documents",
    ],
    "text/dates.py": ["tests/text/test_dates.py", "tests/description/test_timeline.py"],
    "text/copies.py": ["tests/text/test_copies.py"],
    "text/filters.py": ["tests/text/test_filters.py", "tests/text/test_calendar.py"],
    "text/corpus.py": ["tests/text/test_sentences.py"],
    "marks.py": ["tests/show/test_marks.py", TERMINAL],
    "table.py": ["tests/show/test_table.py", TERMINAL],
    "detection/calibration.py": [*RATES, *CALIBRATED],
    "detection/split.py": [
        "tests/everywhere/test_planted.py::test_documents_are_held_back_at_random_and_not_by_class",
        "tests/everywhere/test_planted.py"
        "::test_at_least_half_as_many_documents_are_learned_from_as_are_held_back",
        *RATES,
        *CALIBRATED,
    ],
    "monitor/laws.py": ["tests/monitor/test_monitor_laws.py"],
    "metrics.py": ["tests/detection/test_metrics.py"],
}


@dataclass(frozen=True)
class Mutant:
    """An error: `old` at a place of a file becomes `new`."""

    kind: str
    file: str
    line: int
    start: int
    end: int
    old: str
    new: str
    context: str

    @property
    def name(self) -> str:
        """A name that stays the same as long as the line does."""
        change = f"{one_line(self.old)} -> {one_line(self.new)}"
        return f"{self.file}: {self.context}: {change}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What `HARMLESS` is looked up by."""
        return self.file, self.kind, self.context


def one_line(text: str) -> str:
    """Return a text on one line, shortened."""
    line = " ".join(text.split())
    return line if len(line) <= 70 else line[:67] + "..."


# errors that are drawn

OTHER: dict[type[ast.AST], Any] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
}  # fmt: skip


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Iterate over the errors that can be made of a node: kind, what is replaced, by what."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        new = copy.deepcopy(node)
        new.ops = [OTHER[type(node.ops[0])]()]
        yield "comparison", node, new
    elif isinstance(node, ast.BoolOp):
        new_logic = copy.deepcopy(node)
        new_logic.op = OTHER[type(node.op)]()
        yield "logic", node, new_logic
    elif isinstance(node, ast.If):
        yield "condition", node.test, ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "number", node, ast.Constant(node.value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "flag", node, ast.Constant(not node.value)
    elif isinstance(node, ast.BinOp) and type(node.op) in OTHER:
        new_sum = copy.deepcopy(node)
        new_sum.op = OTHER[type(node.op)]()
        yield "arithmetic", node, new_sum
    elif isinstance(node, ast.Raise):
        yield "no error", node, ast.Pass()
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield "no call", node, ast.Pass()


def inner(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over the nodes within one; not over annotations, imports for types and messages."""
    yield node
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from inner(child)


def possible(file: str, source: str) -> list[Mutant]:
    """Return all errors that can be planted in a module."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    raw, found = source.encode(), []
    for node in inner(ast.parse(source)):
        for kind, old, new in changed(node):
            place = (old.lineno, old.col_offset, old.end_lineno, old.end_col_offset)  # type: ignore[attr-defined]
            start, end = lines[place[0] - 1] + place[1], lines[place[2] - 1] + place[3]
            text = ast.unparse(ast.fix_missing_locations(new))
            by = text if kind in ("no error", "no call") else f"({text})"
            context = source.splitlines()[place[0] - 1].strip()
            changed_text = raw[start:end].decode()
            found.append(Mutant(kind, file, place[0], start, end, changed_text, by, context))
    return found


def drawn(each: int, seed: int) -> list[Mutant]:
    """Draw errors from every module, of all kinds alike as far as there are some."""
    chosen: list[Mutant] = []
    for file in MATCHING:
        draw = random.Random(f"{seed} {file}")
        kinds: dict[str, list[Mutant]] = {}
        source = (ROOT / "src/newfound" / file).read_text("utf-8")
        for mutant in possible(file, source):
            kinds.setdefault(mutant.kind, []).append(mutant)
        for kind, some in kinds.items():
            draw.shuffle(some)
            kinds[kind] = [mutant for mutant in some if not is_check(mutant)]
        mine: list[Mutant] = []
        while len(mine) < each and any(kinds.values()):
            mine += [some.pop() for some in kinds.values() if some]
        chosen += mine[:each]
    return chosen


def is_check(mutant: Mutant) -> bool:
    """Return whether it only switches off a check of the code itself, as of a type."""
    checks = ("strict=True", "frozen=True", "slots=True")
    return mutant.kind == "flag" and any(check in mutant.context for check in checks)


# the run


def planted(mutant: Mutant, source: str) -> str:
    """Return the source with the error."""
    raw = source.encode()
    return (raw[: mutant.start] + mutant.new.encode() + raw[mutant.end :]).decode()


def run_tests(package: Path, arguments: list[str]) -> int:
    """Run tests on a copy of the package in a child process; return 0 if all pass.

    The child is a fork, so that NumPy and scikit-learn need not be imported again.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(os.open(package.parent / "told", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.path.insert(0, str(package.parent))
        os.environ["PYTHONPATH"] = str(package.parent)
        import pytest

        status = 1
        try:
            options = ["-x", "-q", "-p", "no:cacheprovider", "-m", NOT_LONG]
            options += ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
            status = int(pytest.main([*options, *arguments]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 124


def with_examples(package: Path, file: str, tests: list[str]) -> list[str]:
    """Return the arguments of pytest for a module: the examples in it, and its tests."""
    return ["--doctest-modules", str(package / file), *tests]


def noticed(package: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Plant an error, run tests, and remove it again."""
    path = package / mutant.file
    source = path.read_text("utf-8")
    path.write_text(planted(mutant, source), "utf-8")
    try:
        return run_tests(package, with_examples(package, mutant.file, tests)) != 0
    finally:
        path.write_text(source, "utf-8")


def by_hand(kind: str, file: str, old: str, new: str) -> Mutant:
    """Return an error of `NAMED`; what it replaces has to be there exactly once."""
    folder = ROOT / ("cpp" if kind == "core" else "src/newfound")
    raw = (folder / file).read_bytes()
    if raw.count(old.encode()) != 1:
        raise SystemExit(f"{file} has {old!r} {raw.count(old.encode())} times; expected once.")
    start = raw.index(old.encode())
    line = raw[:start].count(b"\n") + 1
    return Mutant(kind, file, line, start, start + len(old.encode()), old, new, "by hand")


PLANTED = ["tests/everywhere/test_planted.py"]
CORE = [
    "tests/everywhere/test_planted.py",
    "tests/machine/test_concurrency.py::test_the_core_refuses_indices_that_do_not_ascend",
    "tests/machine/test_machine.py",
]
# Errors that no test noticed once: kind, file, what is replaced, by what, the tests.
NAMED: list[tuple[str, str, str, str, list[str]]] = [
    (
        "by hand", "detection/learning.py",
        "others = np.setdiff1d(np.arange(len(texts)), sample)", "others = np.arange(len(texts))",
        PLANTED,
    ),
    (
        "by hand", "detection/split.py",
        "for i in np.random.RandomState(seed).permutation(len(codes)).tolist():",
        "for i in _spread(codes, np.random.RandomState(seed)).tolist():", PLANTED,
    ),
    ("by hand", "machine/clauses.py", "most=2 * n_features - 1", "most=2 * n_features", PLANTED),
    (
        "by hand", "storage/archive.py", " or (unpacker and unpacker.unused_data):", ":", PLANTED,
    ),
    ("by hand", "storage/files.py", "os.fsync(stream.fileno())", "pass", PLANTED),
    (
        "by hand", "storage/files.py",
        "_check_existing(path, force=force)  # someone else may have created it meanwhile", "pass",
        ["tests/storage/test_files.py"],
    ),
    (
        "by hand", "marks.py",
        "**dict.fromkeys((*range(0x80, 0xA0), *_DIRECTIONS), 0xFFFD),", "", [TERMINAL],
    ),
    (
        "core", "trainer.cpp", "} else if (at_target && n_classes() == 2) {",
        "} else if (at_target) {", CORE,
    ),
    ("core", "python/machine.hpp", "(j > indptr_[i] && f[j] <= f[j - 1]))", "false)", CORE),
    (
        "core", "clause_store.cpp", "if (++state.uncleared == kEventsToClear) {",
        "if (++state.uncleared == 2 * kEventsToClear) {", CORE,
    ),
    (
        "core", "clause_store.cpp",
        "void ClauseStore::type_ia(std::uint32_t c, const OpenDocument& document) {\n"
        "  settle_list(c);",
        "void ClauseStore::type_ia(std::uint32_t c, const OpenDocument& document) {", CORE,
    ),
]  # fmt: skip

# Why an error that no test notices does no harm, by file, kind and line.
AGE = "if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_AFTER:"
HARMLESS: dict[tuple[str, str, str], str] = {
    ("storage/files.py", "flag", AGE): "links are left out before",
    ("storage/files.py", "comparison", AGE): "an age is hardly ever that number exactly",
    (
        "text/corpus.py",
        "flag",
        "for all_sentences in (False, True):",
    ): "only slower",
    (
        "table.py",
        "logic",
        "if kind is str or kind is int or kind is bool or value is None:",
    ): "a short way to what the checks below do, too",
    (
        "detection/split.py",
        "number",
        "sizes = range(n, 100 * needed + 100)  # with more documents, enough stays enough",
    ): "the end of a search, far beyond what it finds",
    (
        "monitor/laws.py",
        "comparison",
        "below = np.flatnonzero(p <= fdr * np.arange(1, len(p) + 1) / max(size, 1) * (1 + 1e-12))",
    ): "the bound has a margin for rounding, so that it is never met exactly",
}


def build(folder: Path, package: Path) -> bool:
    """Build the core of a copy of the repository into the package; return whether it compiles."""
    where = folder / "build"
    if not where.exists():
        command = [sys.executable, "-m", "nanobind", "--cmake_dir"]
        nanobind = subprocess.run(command, check=True, capture_output=True, text=True)
        options = ["-DSKBUILD=ON", "-DNEWFOUND_TEST_MODULE=ON", "-DCMAKE_BUILD_TYPE=Release"]
        python = f"-DPython_EXECUTABLE={sys.executable}"
        options += [python, f"-Dnanobind_DIR={nanobind.stdout.strip()}"]
        subprocess.run(
            ["cmake", "-S", folder, "-B", where, *options], check=True, capture_output=True
        )
    made = subprocess.run(["cmake", "--build", where], check=False, capture_output=True)
    if made.returncode == 0:
        for library in where.glob("_core*.so"):
            shutil.copy(library, package / library.name)
    return made.returncode == 0


def core_noticed(folder: Path, package: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Plant an error in the core, build it, run tests, and remove it again."""
    path = folder / "cpp" / mutant.file
    source = path.read_text("utf-8")
    path.write_text(planted(mutant, source), "utf-8")
    try:
        return not build(folder, package) or run_tests(package, tests) != 0
    finally:
        path.write_text(source, "utf-8")


def asked() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=8, help="errors drawn for each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--module", action="append", help="only this module; can be repeated")
    parser.add_argument("--core", action="store_true", help="also those of the core, built again")
    parser.add_argument(
        "--resume",
        type=Path,
        help="file that keeps what was found; errors in it are not tried again",
    )
    parser.add_argument("--no-check", action="store_true", help="the tests are known to pass")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    return parser.parse_args()


def main() -> None:
    """Plant errors, one at a time, and list those that no test notices."""
    options = asked()
    sys.dont_write_bytecode = True  # a changed source may have the size and the time of the old one
    import numpy as np  # noqa: F401
    import pytest  # noqa: F401
    import scipy.sparse  # noqa: F401
    import sklearn.linear_model  # noqa: F401

    work: list[tuple[Mutant, list[str]]] = [
        (mutant, MATCHING[mutant.file]) for mutant in drawn(options.each, options.seed)
    ]
    work += [(by_hand(*named[:4]), named[4]) for named in NAMED]
    if options.module:
        work = [(mutant, tests) for mutant, tests in work if mutant.file in options.module]
    if not options.core:
        work = [(mutant, tests) for mutant, tests in work if mutant.kind != "core"]
    done: dict[str, bool] = {}
    if options.resume is not None and options.resume.exists():
        done = dict(map(json.loads, options.resume.read_text("utf-8").splitlines()))
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder, package = Path(place), Path(place) / "src/newfound"
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "cpp", folder / "cpp")
        for name in ("CMakeLists.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")
        os.chdir(ROOT)
        new = [(mutant, tests) for mutant, tests in work if mutant.name not in done]
        if not options.no_check:
            check_sound(package, new)
        if any(mutant.kind == "core" for mutant, _ in new):
            if not build(folder, package) or run_tests(package, CORE):
                raise SystemExit("The core does not build, or its tests fail, without an error.")
            print("the core: its tests pass", flush=True)
        survivors = []
        for number, (mutant, tests) in enumerate(work, 1):
            if mutant.name in done:
                found = done[mutant.name]
            elif mutant.kind == "core":
                found = core_noticed(folder, package, mutant, tests)
            else:
                found = noticed(package, mutant, tests)
            if options.resume is not None and mutant.name not in done:
                with open(options.resume, "a", encoding="utf-8") as stream:
                    stream.write(json.dumps([mutant.name, found]) + "\n")
            if not found:
                survivors.append(mutant)
            print(f"{number}/{len(work)} {'noticed' if found else 'SURVIVED'} {mutant.kind}, "
                  f"line {mutant.line}, {mutant.name}", flush=True)  # fmt: skip
    page = report([mutant for mutant, _ in work], survivors, time.monotonic() - began)
    print(page)
    if options.page:
        PAGE.write_text(page, "utf-8")
    if any(mutant.key not in HARMLESS for mutant in survivors):
        raise SystemExit(1)


def check_sound(package: Path, work: list[tuple[Mutant, list[str]]]) -> None:
    """Run all tests without an error first: a test that fails anyhow would notice everything."""
    for file in dict.fromkeys(mutant.file for mutant, _ in work if mutant.kind != "core"):
        tests = [test for mutant, some in work if mutant.file == file for test in some]
        began = time.monotonic()
        if run_tests(package, with_examples(package, file, list(dict.fromkeys(tests)))):
            told = (package.parent / "told").read_text("utf-8", "replace")
            raise SystemExit(f"{told}\nThe tests of {file} fail without an error planted.")
        print(f"{file}: its tests pass, {time.monotonic() - began:.0f} s", flush=True)


def report(mutants: list[Mutant], survivors: list[Mutant], seconds: float) -> str:
    """Return the page: errors by kind and by module, and those that no test noticed."""
    command = "make mutants"
    lines = [
        "# Planted errors",
        "",
        f"`{command}` planted {len(mutants)} errors, one at a time, and ran the tests of the "
        f"module until one failed; {len(survivors)} were noticed by none. "
        f"{seconds / 60:.0f} minutes, {time.strftime('%Y-%m-%d')}.",
        "",
        "| kind | what | planted | not noticed |",
        "|---|---|---|---|",
    ]
    counts, left = Counter(m.kind for m in mutants), Counter(m.kind for m in survivors)
    lines += [
        f"| {kind} | {what} | {counts[kind]} | {left[kind]} |"
        for kind, what in KINDS.items()
        if counts[kind]
    ]
    lines += ["", "| file | planted | not noticed |", "|---|---|---|"]
    counts, left = Counter(m.file for m in mutants), Counter(m.file for m in survivors)
    lines += [f"| {file} | {n} | {left[file]} |" for file, n in sorted(counts.items())]
    if survivors:
        lines += ["", "Not noticed:", ""]
    for mutant in survivors:
        reason = HARMLESS.get(mutant.key, "no reason known: a test is missing")
        lines.append(
            f"- {mutant.file}, line {mutant.line}: `{one_line(mutant.old)}` became "
            f"`{one_line(mutant.new)}`: {reason}."
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
