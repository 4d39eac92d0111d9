"""Rooms import only rooms below them, in functions too, and no two modules import each other."""

from __future__ import annotations

import ast
import shutil
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "newfound"
ROOTS = ("newfound", "newfound.__main__")  # the root imports by name; see its __getattr__
CORE = "newfound._core"  # the extension lies below all layers

Graph = dict[str, set[str]]


def layers() -> list[list[str]]:
    """Return the layers of the linter's contract, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    return [[room.strip() for room in layer.split("|")] for layer in contract["layers"]]


@cache
def allowed() -> frozenset[tuple[str, str]]:
    """Return the imports that the contract lets go up: those of a method of a lower room."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    pairs = (edge.split(" -> ") for edge in contract["ignore_imports"])
    return frozenset((name, target) for name, target in pairs)


def modules(folder: Path) -> dict[str, Path]:
    """Return all modules of a package by name."""
    found = {}
    for path in [*folder.rglob("*.py"), *folder.glob("_*.pyi")]:
        parts = ("newfound", *path.relative_to(folder).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _name(node: ast.AST) -> str | None:
    """Return a name, without the module that it is of."""
    return getattr(node, "attr", None) or getattr(node, "id", None)


def imports(tree: ast.AST, package: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each module that is imported anywhere, and the names that are taken from it."""
    if isinstance(tree, ast.Import):
        yield from ((alias.name, ()) for alias in tree.names)
    elif isinstance(tree, ast.ImportFrom):
        parents = package.split(".")[: package.count(".") + 2 - tree.level] if tree.level else []
        module = ".".join((*parents, *filter(None, [tree.module])))
        yield module, tuple(alias.name for alias in tree.names)
    elif (
        isinstance(tree, ast.Call)
        and _name(tree.func) == "import_module"
        and tree.args
        and isinstance(tree.args[0], ast.Constant)
    ):
        yield str(tree.args[0].value), ()
    types_only = isinstance(tree, ast.If) and _name(tree.test) == "TYPE_CHECKING"
    for node in tree.orelse if types_only else ast.iter_child_nodes(tree):
        yield from imports(node, package)


@cache
def imports_of(code: str, package: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the imports of a module; most modules are the same in every test."""
    return tuple(imports(ast.parse(code), package))


def import_graph(folder: Path) -> Graph:
    """Return which modules each module imports, at its top or in a function, if not allowed to."""
    paths = modules(folder)
    graph: Graph = {name: set() for name in paths}
    for name, path in paths.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for module, names in imports_of(path.read_text(encoding="utf-8"), package):
            below = {f"{module}.{taken}" for taken in names} & paths.keys()
            rest = {taken for taken in names if f"{module}.{taken}" not in below}
            graph[name] |= below
            if module in paths and (rest or not names):
                graph[name].add(module)
        graph[name] -= {name, *(target for owner, target in allowed() if owner == name)}
    return graph


def cycles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    names = sorted(graph)
    edges = np.array([[other in graph[name] for other in names] for name in names])
    _, labels = connected_components(edges, directed=True, connection="strong")
    groups = [[name for name, own in zip(names, labels, strict=True) if own == k] for k in labels]
    return [group for k, group in enumerate(groups) if len(group) > 1 and group not in groups[:k]]


def violations(graph: Graph) -> list[str]:
    """Return the imports that go up, or sideways between rooms of one layer."""
    places = {room: place for place, layer in enumerate(layers()) for room in layer}

    def room(name: str) -> str:
        return next(r for r in places if name == r or name.startswith(f"{r}."))

    found = []
    for name, targets in graph.items():
        for target in sorted(targets):
            if name in ROOTS or target == CORE:
                continue
            if target in ROOTS:
                found.append(f"{name} -> {target}")
                continue
            own, other = room(name), room(target)
            if own != other and places[own] >= places[other]:
                found.append(f"{name} -> {target}")
    return found


@pytest.fixture(scope="module")
def graph() -> Graph:
    return import_graph(SOURCE)


def test_every_module_is_in_a_layer(graph: Graph) -> None:
    rooms = [room for layer in layers() for room in layer]
    homeless = [
        name
        for name in graph
        if name not in (*ROOTS, CORE)
        and not any(name == room or name.startswith(f"{room}.") for room in rooms)
    ]
    assert homeless == []


def test_no_import_goes_up(graph: Graph) -> None:
    assert violations(graph) == []


def test_what_goes_up_is_one_function_that_is_imported_late() -> None:
    """What the contract allows is there, and is an import of one function inside a method."""
    for name, target in allowed():
        tree = ast.parse(modules(SOURCE)[name].read_text(encoding="utf-8"))
        assert target not in imported_at_once(tree), name
        taken = [names for module, names in imports(tree, "") if module == target]
        assert taken and all(len(names) == 1 for names in taken), (name, target)


def test_no_two_modules_import_each_other(graph: Graph) -> None:
    assert cycles(graph) == []


class TestPlanted:
    """What the tests above look for is found when it is there."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        ignored = shutil.ignore_patterns("*.so", "__pycache__", "static", "data")
        return Path(shutil.copytree(SOURCE, tmp_path / "newfound", ignore=ignored))

    def planted(self, folder: Path, module: str, code: str) -> Graph:
        path = folder / module
        path.write_text(path.read_text(encoding="utf-8") + code, encoding="utf-8")
        return import_graph(folder)

    @pytest.mark.parametrize(
        "code",
        [
            "from newfound.show.page import render\n",
            "import newfound.show.page\n",
            "def late():\n    from newfound.show import page\n",
            "def late():\n    from .show.page import render\n",
            "def late():\n    import_module('newfound.show.page')\n",
            "class A:\n    def late(self):\n        if a:\n            import newfound.show.page",
            "if TYPE_CHECKING:\n    pass\nelse:\n    from newfound.show.page import render\n",
        ],
    )
    def test_an_import_that_goes_up_is_found(self, folder: Path, code: str) -> None:
        graph = self.planted(folder, "table.py", f"\n{code}")
        assert "newfound.table -> newfound.show.page" in violations(graph)

    def test_an_import_of_the_root_is_found(self, folder: Path) -> None:
        graph = self.planted(folder, "table.py", "\nfrom newfound import describe\n")
        assert "newfound.table -> newfound" in violations(graph)

    def test_rooms_of_one_layer_do_not_import_each_other(self, folder: Path) -> None:
        graph = self.planted(folder, "marks.py", "\nimport newfound.table\n")
        assert "newfound.marks -> newfound.table" in violations(graph)

    def test_a_cycle_inside_a_room_is_found(self, folder: Path) -> None:
        code = "\ndef late():\n    from newfound.rules.table import ClauseTable\n"
        found = cycles(self.planted(folder, "rules/rule.py", code))
        assert ["newfound.rules.rule", "newfound.rules.table"] in found

    def test_imports_for_type_checkers_do_not_count(self, folder: Path) -> None:
        before = import_graph(folder)
        code = "\nif TYPE_CHECKING:\n    from newfound.show.page import render\n"
        assert self.planted(folder, "table.py", code) == before


POSIX_ONLY = {"fcntl", "grp", "posix", "pwd", "resource", "termios", "uvloop"}


def imported_at_once(tree: ast.Module) -> set[str]:
    """Return the modules that importing a module imports, those inside functions left out."""
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        found.update(imported_by(node))
        waiting.extend(ast.iter_child_nodes(node))
    return found


def imported_by(node: ast.AST) -> list[str]:
    """Return the modules that one statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def test_windows_can_import_all() -> None:
    at_once = {
        name: imported_at_once(ast.parse(path.read_text("utf-8")))
        for name, path in modules(SOURCE).items()
    }
    assert at_once and not {name for name, found in at_once.items() if found & POSIX_ONLY}


def test_the_package_does_not_know_the_lab() -> None:
    imported = {
        module
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for module in imported_by(node)
    }
    assert "newfound.table" in imported
    assert not {module for module in imported if module.partition(".")[0] == "lab"}


def test_the_name_of_a_class_means_one_thing() -> None:
    """Two rooms may not call different things the same."""
    homes: dict[str, list[str]] = {}
    for name, path in modules(SOURCE).items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and name != CORE:
                homes.setdefault(node.name, []).append(name)
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert twice.keys() <= {"Rules"}  # those of a model, and of a page


def test_a_file_of_tests_has_one_subject() -> None:
    """One that grows past 700 lines is parted by subject."""
    sizes = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "tests").rglob("*.py")
    }
    assert {name: lines for name, lines in sizes.items() if lines > 700} == {}
