"""The stub of the core says what the binary has.

stubtest compares names; of nanobind's functions it cannot read the parameters, so they are compared
here.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import newfound
from newfound import _core

CLASSES = ("Machine", "RuleSet", "Rules", "TextScorer")


def stub() -> list[ast.stmt]:
    """Return what the stub declares."""
    return ast.parse((Path(newfound.__file__).parent / "_core.pyi").read_text()).body


def functions_in(body: list[ast.stmt]) -> dict[str, list[tuple[str, Any]]]:
    """Return the parameters of each function of the stub, with defaults or `...`."""
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args]
            defaults = [ast.literal_eval(value) for value in node.args.defaults]
            filled = [...] * (len(names) - len(defaults)) + defaults
            found[node.name] = list(zip(names, filled, strict=True))
    return found


def stub_methods(name: str) -> dict[str, list[tuple[str, Any]]]:
    """Return the parameters of each method of a class in the stub."""
    found = {node.name: node.body for node in stub() if isinstance(node, ast.ClassDef)}
    assert found.keys() == set(CLASSES)
    assert all(isinstance(node, ast.FunctionDef) for node in found[name])
    return functions_in(found[name])


def binary_method(function: Any) -> list[tuple[str, Any]]:
    """Return the parameters of a function of the binary, from what nanobind says of it."""
    ((signature, _, defaults),) = function.__nb_signature__
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    inside = re.sub(r"\[[^\]]*\]", "", inside)  # the commas within types
    parameters = []
    for part in inside.split(", "):
        name, _, default = part.partition(" = ")
        place = re.fullmatch(r"\\(\d+)", default)
        parameters.append((name.split(":")[0], defaults[int(place[1])] if place else ...))
    return parameters


@pytest.mark.parametrize("name", CLASSES)
def test_every_method_has_the_parameters_of_the_stub(name: str) -> None:
    methods, bound = stub_methods(name), getattr(_core, name)
    public = {method for method in vars(bound) if not method.startswith("_")}
    assert public == methods.keys() - {"__init__"}
    for method, parameters in methods.items():
        assert binary_method(getattr(bound, method)) == parameters, method


def test_every_function_has_the_parameters_of_the_stub() -> None:
    for name, parameters in functions_in(stub()).items():
        assert binary_method(getattr(_core, name)) == parameters, name


def test_the_shipped_module_has_no_switches() -> None:
    public = {name for name in vars(_core) if not name.startswith("_")}
    assert public == {"HISTORY_COLUMNS", "INSTRUCTION_SET", *CLASSES, *functions_in(stub())}
