"""Why a model file is refused."""

from __future__ import annotations

from typing import Self

__all__ = ["ModelFileError", "Refusal", "one_line"]

_MAX_LINE = 300
_MAX_NAME = 120
_AGAIN = "copy the file again, or save the model again"


class ModelFileError(ValueError):
    """The file is not a sound model; the message names the file, the defect and what to do."""


class Refusal(ValueError):
    """A reason to refuse a file, without the name of the file.

    Parameters
    ----------
    reason : str
        What follows the name of the file: "is damaged: its checksum does not match".
    advice : str
        What to do.
    """

    def __init__(self, reason: str, advice: str = _AGAIN) -> None:
        super().__init__(f"{reason}; {advice}.")
        self.reason, self.advice = reason, advice

    @classmethod
    def foreign(cls) -> Self:
        """Return the refusal of a file that newfound did not write."""
        return cls("is not a newfound model", "pass a file that newfound.save wrote")

    @classmethod
    def truncated(cls) -> Self:
        """Return the refusal of a file whose end is missing."""
        return cls("is truncated or was altered: it has no end record")

    @classmethod
    def damaged(cls, defect: str) -> Self:
        """Return the refusal of a file that was altered."""
        return cls(f"is damaged: {defect}")

    def of(self, name: str) -> ModelFileError:
        """Return the error of a file: one line of at most 300 characters."""
        name = one_line(name, _MAX_NAME, keep_end=True)
        room = _MAX_LINE - len(name) - len(self.advice) - 4
        return ModelFileError(f"{name} {one_line(self.reason, room)}; {self.advice}.")


def one_line(text: str, most: int, *, keep_end: bool = False) -> str:
    r"""Return a text on one line, without control characters, shortened to `most` characters.

    Examples
    --------
    >>> one_line("a\nlong text", 8), one_line("a long path", 5, keep_end=True)
    ('a long …', '…path')
    """
    cut = text[: most + 1] if not keep_end else text[-most - 1 :]
    line = "".join(letter if letter.isprintable() else " " for letter in cut)
    if len(line) <= most:
        return line
    return f"…{line[1 - most :]}" if keep_end else f"{line[: most - 1]}…"
