"""The tools of the repository as modules; they are in no package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

__all__ = ["ROOT", "load_tool"]

ROOT = Path(__file__).resolve().parents[1]


def load_tool(name: str) -> ModuleType:
    """Return a module of the folder tools."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
