"""The constructor parameters of an estimator, as plain values of a model file and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from newfound.storage.fields import Fields

__all__ = ["parameters_from_state", "parameters_state"]

_LONGEST_PATTERN = 10_000  # characters of a regular expression
_MAX_SEED = 2**127
_SCALARS = (bool, int, float, str)


def parameters_state(parameters: Mapping[str, Any], stop_words: Iterable[str]) -> dict[str, Any]:
    """Return parameters as plain values.

    The number of threads depends on the computer, and a random generator cannot be saved: both
    become None. A collection of stop words becomes the sorted list of those in use.

    Examples
    --------
    >>> parameters_state({"T": np.int64(5), "n_jobs": 4, "stop_words": {"b", "a"}}, {"a", "b"})
    {'T': 5, 'n_jobs': None, 'stop_words': ['a', 'b']}
    """
    plain = {name: _plain(value) for name, value in parameters.items()}
    if not isinstance(plain.get("stop_words"), str | None):
        plain["stop_words"] = sorted(stop_words)
    seed = plain.get("random_state")
    if seed is not None and not (isinstance(seed, int) and abs(seed) <= _MAX_SEED):
        plain["random_state"] = None
    if "n_jobs" in plain:
        plain["n_jobs"] = None
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def parameters_from_state(fields: Fields, names: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that `parameters_state` made plain.

    Types and sizes are checked here, ranges by the estimator. Lists of texts stay lists, other
    lists become tuples. The number of threads is always None.

    Parameters
    ----------
    fields : Fields
        The plain values.
    names : iterable of str
        The names that may occur.
    """
    fields.only(names)
    found = {name: _parameter(fields, name) for name in fields}
    if "n_jobs" in found:
        found["n_jobs"] = None
    if "random_state" in found and found["random_state"] is not None:
        fields.integer("random_state", least=-_MAX_SEED, most=_MAX_SEED)
    return found


def _parameter(fields: Fields, name: str) -> Any:
    value = fields.value(name)
    if isinstance(value, str):
        return fields.text(name, most=_LONGEST_PATTERN if name == "ignore" else 100)
    if isinstance(value, list) and name == "stop_words":
        return fields.texts(name)
    if isinstance(value, list):
        sound = len(value) == 2 and all(type(item) is int for item in value)
        fields.require(sound, name, "two whole numbers")
        return tuple(value)
    fields.require(value is None or isinstance(value, _SCALARS), name, "a plain value")
    return value
