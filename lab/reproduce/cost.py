"""The time and the peak memory of a fit."""

from __future__ import annotations

import resource
import sys
import time
from types import TracebackType
from typing import Self

__all__ = ["Cost"]


class Cost:
    """Measure the time and the peak memory of a with block.

    Attributes
    ----------
    seconds : float
        The wall time.
    peak_mb : float
        The peak memory of the process during the block, in MB (10^6 bytes). Where the system
        cannot reset the peak, it is the peak since the process started.

    Examples
    --------
    >>> with Cost() as cost:
    ...     numbers = list(range(1000))
    >>> cost.seconds >= 0 and cost.peak_mb > 1
    True
    """

    seconds: float
    peak_mb: float

    def __enter__(self) -> Self:
        self._exact = _reset_peak()
        self._start = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.seconds = time.perf_counter() - self._start
        self.peak_mb = _peak_bytes(self._exact) / 1e6

    def to_dict(self) -> dict[str, float]:
        """Return both figures, rounded."""
        return {"seconds": round(self.seconds, 3), "peak_mb": round(self.peak_mb, 1)}


def _reset_peak() -> bool:
    """Reset the peak; only Linux can."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return False
    return True


def _peak_bytes(exact: bool) -> int:
    if exact:
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
