"""Typed access to the state of a model file.

Nothing in a file is trusted: every value is read by a method that says its type and its range, and
an array also by its shape. Numbers are compared as they were stored, before a conversion could
wrap them. What does not fit is a `Refusal` that names the field.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from newfound.storage.files import Refusal, one_line

__all__ = ["MAX_DOCUMENTS", "Fields", "is_text", "parameters_from_state", "parameters_state"]

_MAX_INTEGER = 2**53  # up to here integers are exact as floats, too
MAX_DOCUMENTS = 2**31 - 1
_MAX_NUMBER = 1e60  # far beyond any sound value, and products of a few are still finite
_ADVICE = "save the model again"


class Fields:
    """The fields of one object of the state: what should be a mapping of names to values.

    `place` is the path of the object, for messages.

    Examples
    --------
    >>> fields = Fields({"seed": 3, "words": ["try", "scrum"], "counts": np.array([1, 2])})
    >>> fields.integer("seed"), fields.texts("words")
    (3, ['try', 'scrum'])
    >>> fields.integers("counts", np.int64, (2,), most=9).tolist()
    [1, 2]
    >>> fields.integer("seed", most=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    newfound.storage.files.Refusal: has 3 in the field seed, expected a whole number from 0 to 2...
    """

    def __init__(self, values: object, place: str = "") -> None:
        self.place = place
        if not isinstance(values, Mapping):
            raise self.refusal("", values, "named values")
        self._values = values

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def path(self, name: str) -> str:
        """Return the full name of a field."""
        return f"{self.place}.{name}" if self.place and name else self.place or name

    def refusal(self, name: str, value: object, expected: str) -> Refusal:
        """Return a refusal that names a field, its value and what was expected."""
        return Refusal(
            f"has {_shown(value)} in the field {one_line(self.path(name), 60)}, "
            f"expected {expected}",
            _ADVICE,
        )

    def require(self, holds: bool, name: str, expected: str) -> None:
        """Raise a refusal that names a field and what was expected, unless it holds."""
        if not holds:
            raise self.refusal(name, self._values.get(name), expected)

    def value(self, name: str) -> Any:
        """Return any value; a missing one is a `Refusal`."""
        if name not in self._values:
            raise Refusal(f"lacks the field {self.path(name)}", _ADVICE)
        return self._values[name]

    def fields(self, name: str) -> Fields:
        """Return the fields of an object within this one."""
        return Fields(self.value(name), self.path(name))

    def entries(self, name: str) -> list[Any]:
        """Return a list of anything."""
        value = self.value(name)
        if not isinstance(value, list):
            raise self.refusal(name, value, "a list")
        return value

    def items(self, name: str) -> list[Fields]:
        """Return the objects of a list."""
        path = self.path(name)
        return [Fields(item, f"{path}.{i}") for i, item in enumerate(self.entries(name))]

    def integer(self, name: str, *, least: int = 0, most: int = _MAX_INTEGER) -> int:
        """Return a whole number from `least` to `most`."""
        value = self.value(name)
        if type(value) is not int or not least <= value <= most:
            raise self.refusal(name, value, f"a whole number from {least:,} to {most:,}")
        return value

    def number(self, name: str, *, least: float = -_MAX_NUMBER, most: float = _MAX_NUMBER) -> float:
        """Return a finite number from `least` to `most`."""
        value = self.value(name)
        sound = type(value) in (int, float) and math.isfinite(value) and least <= value <= most
        if not sound:
            raise self.refusal(name, value, f"a finite number from {least:g} to {most:g}")
        return float(value)

    def boolean(self, name: str) -> bool:
        """Return true or false."""
        value = self.value(name)
        if not isinstance(value, bool):
            raise self.refusal(name, value, "true or false")
        return value

    def text(self, name: str, *, most: int = 1000) -> str:
        """Return a text of at most so many characters."""
        value = self.value(name)
        if not is_text(value) or len(value) > most:
            raise self.refusal(name, value, f"a text of up to {most:,} characters")
        return str(value)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts."""
        values = self.entries(name)
        wrong = next((i for i, value in enumerate(values) if not is_text(value)), None)
        if wrong is not None:
            raise self.refusal(f"{name}.{wrong}", values[wrong], "a list of texts")
        return values

    def array(self, name: str) -> NDArray[Any]:
        """Return an array of any type and shape."""
        value = self.value(name)
        if not isinstance(value, np.ndarray):
            raise self.refusal(name, value, "an array")
        return value

    def length(self, name: str) -> int:
        """Return how many entries a vector has."""
        value = self.array(name)
        if value.ndim != 1:
            raise self.refusal(name, value, "an array of one dimension")
        return len(value)

    def integers(
        self, name: str, dtype: DTypeLike, shape: tuple[int, ...], *, least: int = 0, most: int
    ) -> NDArray[Any]:
        """Return an array of whole numbers from `least` to `most`, as the type asked for."""
        array = self.array(name)
        if array.shape != shape or array.dtype.kind not in "iu":
            raise self.refusal(name, array, f"whole numbers of the shape {shape}")
        if array.size:
            low, high = int(array.min()), int(array.max())
            if low < least or high > most:
                wrong = low if low < least else high
                raise self.refusal(name, wrong, f"whole numbers from {least:,} to {most:,}")
        return np.ascontiguousarray(array, dtype)

    def floats(
        self, name: str, shape: tuple[int, ...], dtype: DTypeLike = np.float64, *, nan: bool = False
    ) -> NDArray[Any]:
        """Return an array of finite numbers of the type asked for; nan only if that is allowed."""
        array = self.array(name)
        kind = np.dtype(dtype)
        if array.shape != shape or array.dtype != kind:
            raise self.refusal(name, array, f"{kind} numbers of the shape {shape}")
        most = min(_MAX_NUMBER, float(np.finfo(kind).max))
        sound = np.abs(array) <= most  # false for nan
        if nan:
            sound |= np.isnan(array)
        if not sound.all():
            expected = f"finite numbers from {-most:g} to {most:g}"
            raise self.refusal(name, float(array[~sound][0]), expected)
        return array

    def only(self, names: Iterable[str]) -> None:
        """Refuse names other than these."""
        unknown = sorted(map(str, set(self._values) - set(names)))
        if unknown:
            raise Refusal(
                f"has the unknown field {one_line(self.path(unknown[0]), 60)}",
                "load it with the version of newfound that saved it",
            )


def is_text(value: object) -> bool:
    """Return whether a value is a text that can be written as UTF-8."""
    if not isinstance(value, str):
        return False
    if not value.isascii():
        try:  # half of a surrogate pair cannot be written or printed later
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


def _shown(value: object) -> str:
    """Return a short description of a value."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of the shape {one_line(str(value.shape), 40)}"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, Mapping):
        return "an object"
    return one_line(repr(value), 40)


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

    Types and sizes are checked here, ranges by the estimator; `names` are those that may occur.
    Lists of texts stay lists, other lists become tuples. The number of threads is always None.
    """
    fields.only(names)
    parameters = {name: _parameter(fields, name) for name in fields}
    if "n_jobs" in parameters:
        parameters["n_jobs"] = None
    if parameters.get("random_state") is not None:
        fields.integer("random_state", least=-_MAX_SEED, most=_MAX_SEED)
    return parameters


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
