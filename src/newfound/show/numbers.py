"""How numbers are written, and texts cut, wherever they are read."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["number", "percent", "q_value", "rounded", "shortened"]


def number(value: float) -> str:
    """Return a number with three significant digits, or two if it is below 0.1.

    Examples
    --------
    >>> number(1234.5), number(2.114), number(0.00252)
    ('1,234', '2.11', '0.0025')
    """
    if not math.isfinite(value):
        return str(value)
    least = 2 if abs(value) >= 0.1 else 1
    digits = max(0, least - int(f"{abs(value):e}".partition("e")[2])) if value else 0
    return f"{value:,.{min(digits, 6)}f}"


def percent(share: float, *, whole: bool = False) -> str:
    """Return a share in per cent, with a decimal place below 10 % unless it is to be whole.

    Examples
    --------
    >>> percent(0.0384), percent(0.00047), percent(0.0), percent(0.445), percent(1.0)
    ('3.8 %', '<0.1 %', '0 %', '45 %', '100 %')
    >>> percent(0.0384, whole=True)
    '4 %'
    """
    value = 100 * share
    if whole:
        return f"{value:.0f} %"
    if 0 < value < 0.1:
        return "<0.1 %"
    # Halves are rounded up, as the page does.
    step = Decimal(1) if value >= 9.95 or not value else Decimal("0.1")
    return f"{Decimal(value).quantize(step, ROUND_HALF_UP)} %"


def q_value(value: float) -> str:
    """Return a q-value with three decimals, or "< 0.001"."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Return a number with some significant digits, for JSON; None if it is not finite.

    Examples
    --------
    >>> rounded(123.456), rounded(0.0012345678), rounded(float("nan"))
    (123.5, 0.001235, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters; one that is cut ends with "…".

    Examples
    --------
    >>> shortened("accommodation", 8), shortened("hotel", 8)
    ('accommo…', 'hotel')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
