"""Plots of the kept figures of ``benchmarks/scale.py``: seconds and memory against documents."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["scale_svg"]

_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#000000",
    "#8b4513", "#999933", "#7b3294", "#1b7837",
)  # fmt: skip
_WIDTH, _LEFT, _TOP, _ACROSS, _DOWN = 860, 70, 40, 380, 320


def scale_svg(found: list[dict[str, Any]], key: str, title: str) -> str:
    """Draw a figure against the number of documents, a line for each name, on logarithmic axes.

    Parameters
    ----------
    found : list of dict
        The figures; those without the key are left out.
    key : str
        Which one to draw, such as "processor".
    title : str
        What it is, with its unit.
    """
    rows = [row for row in found if row.get(key)]
    names = list(dict.fromkeys(row["name"] for row in rows))
    across = _Axis([row["documents"] for row in rows], _LEFT, _ACROSS)
    up = _Axis([row[key] for row in rows], _TOP + _DOWN, -_DOWN)
    height = max(_TOP + _DOWN + 60, _TOP + 24 * len(names) + 20)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{title}, by documents">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<path d="M{_LEFT} {_TOP}V{_TOP + _DOWN}H{_LEFT + _ACROSS}" fill="none" stroke="#999"/>',
        f'<text x="{_LEFT}" y="{_TOP - 16}">{title}</text>',
        f'<text x="{_LEFT + _ACROSS / 2}" y="{_TOP + _DOWN + 42}" text-anchor="middle">'
        "documents</text>",
    ]
    for tick in across.ticks():
        parts.append(
            f'<text x="{across(tick):.1f}" y="{_TOP + _DOWN + 18}" text-anchor="middle">'
            f"{tick:,.0f}</text>"
        )
    for tick in up.ticks():
        parts.append(
            f'<text x="{_LEFT - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:,g}</text>'
        )
    for place, name in enumerate(names):
        colour = _COLOURS[place % len(_COLOURS)]
        points = sorted((row["documents"], row[key]) for row in rows if row["name"] == name)
        drawn = [f"{across(n):.1f},{up(value):.1f}" for n, value in points]
        parts.append(
            f'<polyline points="{" ".join(drawn)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        for point in drawn:
            x, y = point.split(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}"/>')
        y_name = _TOP + 24 * place
        x_name = _LEFT + _ACROSS + 30
        parts.append(
            f'<rect x="{x_name}" y="{y_name - 10}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{x_name + 18}" y="{y_name}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Axis:
    """Places on a logarithmic axis from one power of ten to another."""

    def __init__(self, values: list[float], start: float, length: float) -> None:
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.length = start, length

    def __call__(self, value: float) -> float:
        return self.start + self.length * (math.log10(value) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return the powers of ten."""
        return [10.0**power for power in range(self.low, self.high + 1)]
