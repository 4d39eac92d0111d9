"""Checks of parameters; each failure names the parameter, its value and what is expected."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_count", "check_number", "check_switch", "check_verbose", "check_whole_number"]


def check_whole_number(name: str, value: Any, least: int) -> None:
    """Raise a ValueError unless the value is a whole number of at least `least`."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or not least <= int(value) < 2**30
    ):
        raise ValueError(
            f"{name}={value!r} must be a whole number of at least {least} and below 2^30."
        )


def check_count(name: str, value: Any, what: str, least: int) -> None:
    """Raise a ValueError unless the value is how many of something are asked for."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name}={value!r}: expected a number of {what} from {least}.")


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Raise a ValueError unless the value is a number from `least` to `most`.

    Examples
    --------
    >>> check_number("s", float("nan"), 1, 8000)
    Traceback (most recent call last):
    ...
    ValueError: s=nan must be a number from 1 to 8000.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) <= most:
        raise ValueError(f"{name}={value!r} must be a number from {least:g} to {most:g}.")


def check_switch(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is True or False, or 1 or 0 for these."""
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_verbose(value: Any) -> None:
    """Raise a ValueError unless the value is how much to say: True, False or a whole number."""
    if not isinstance(value, bool | Integral) or value < 0:
        raise ValueError(f"verbose={value!r} must be True, False or a whole number from 0.")
