"""Methods of a lower room that an upper room carries out.

``describer.report(path)`` is carried out by `newfound.report`, which lies above
`newfound.description`. No room imports one above it; the root of the package says here, by name,
which function carries a method out. It is imported when it is first called.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["call_registered", "connect"]

_targets: dict[str, str] = {}


def connect(targets: Mapping[str, str]) -> None:
    """Say which function carries out each method.

    Parameters
    ----------
    targets : mapping of str to str
        From the name of a method to ``"module:function"``.
    """
    _targets.update(targets)


def call_registered(method: str, *arguments: Any, **options: Any) -> Any:
    """Call the function that carries out a method, and return what it returns."""
    module, _, function = _targets[method].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)
