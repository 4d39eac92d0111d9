"""How a monitor tests, and the checks of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from newfound.checks import check_whole_number
from newfound.monitor.clock import Length, parse_length

__all__ = ["SPANS", "Settings", "make_settings"]

SPANS = (1, 4, 16)  # numbers of windows that are tested together
_FALSE_ALARMS = 100  # windows to one false alarm, by default


@dataclass(frozen=True)
class Settings:
    """How a monitor tests; see `newfound.monitor.monitor.Monitor`."""

    every: str
    false_alarm_every: str
    fdr: float
    reference: int
    delay: int
    keep: int

    @property
    def length(self) -> Length:
        """The length of a window."""
        return parse_length(self.every)

    @property
    def level(self) -> float:
        """The probability of a false alarm in a window."""
        return self.length.size / parse_length(self.false_alarm_every).size


def make_settings(
    every: int | str,
    false_alarm_every: int | str | None,
    fdr: float,
    reference: int,
    delay: int,
    keep: int,
) -> Settings:
    """Return settings; raise a ValueError for those that cannot be used.

    Examples
    --------
    >>> settings = make_settings("1h", None, 0.1, 200, 16, 1000)
    >>> settings.false_alarm_every, settings.level
    ('360000s', 0.01)
    """
    length = parse_length(every)
    apart = (
        Length(length.size * _FALSE_ALARMS, length.timed)
        if false_alarm_every is None
        else parse_length(false_alarm_every, "false_alarm_every")
    )
    check_whole_number("reference", reference, 1)
    check_whole_number("delay", delay, SPANS[-1])
    check_whole_number("keep", keep, reference + delay + 1)
    if isinstance(fdr, bool) or not isinstance(fdr, Real) or not 0 < fdr < 1:
        raise ValueError(f"fdr={fdr!r}: expected a share between 0 and 1, such as 0.1.")
    _check_apart(length, apart)
    return Settings(_plain(length), _plain(apart), float(fdr), reference, delay, keep)


def _plain(length: Length) -> str:
    return f"{length.size}s" if length.timed else str(length.size)


def _check_apart(every: Length, apart: Length) -> None:
    """Check that false alarms are further apart than two windows, in the same unit."""
    if every.timed != apart.timed:
        raise ValueError(
            f"A window is {every}, but false alarms are counted in {apart}; give both as numbers "
            "of documents, or both as spans of time."
        )
    if apart.size < 2 * every.size:
        raise ValueError(
            f"false_alarm_every is {apart}: expected at least two windows, and a window is {every}."
        )
