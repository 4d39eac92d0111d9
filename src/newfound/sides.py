"""The two sides of a comparison, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PLAIN_NAMES", "SIDES", "UNCLEAR", "Names"]

SIDES = ("known", "novel")
UNCLEAR = "unclear"  # the verdict on a text that cannot be judged
_MAX_NAME = 40  # characters


@dataclass(frozen=True)
class Names:
    """What the known and the novel documents are called in sentences and headings.

    Parameters
    ----------
    known, novel : str or None, default=None
        The names; None for "known" and "novel".

    Examples
    --------
    >>> names = Names("2023", "rugby")
    >>> names["novel"], names.quoted("novel"), names.quoted("known")
    ('rugby', 'rugby', '“2023”')
    """

    known: str | None = None
    novel: str | None = None

    def __post_init__(self) -> None:
        for side in SIDES:
            name = getattr(self, side)
            if name is not None:
                _check(name, f"{side}_name")
        if self["known"] == self["novel"]:
            raise ValueError(
                f"Both sides are called {self['known']!r}; known_name and novel_name must differ."
            )

    @classmethod
    def of_part(cls, novel: str, known: str) -> Names:
        """Return names for a part of documents, such as a month, and for what it is compared with.

        The part may be called anything: its name is cut, and left out if it cannot be used.

        Examples
        --------
        >>> Names.of_part("athletics", "other")
        Names(known='other', novel='athletics')
        >>> Names.of_part("a  b", "other"), Names.of_part("other", "other")
        (Names(known='other', novel='a b'), Names(known=None, novel=None))
        """
        name = " ".join("".join(c if c.isprintable() else " " for c in novel).split())
        if len(name) > _MAX_NAME:
            name = name[: _MAX_NAME - 1].rstrip() + "…"
        return cls(known, name) if name and name != known else cls()

    def __getitem__(self, side: str) -> str:
        """Return the name of a side."""
        return {"known": self.known, "novel": self.novel}[side] or side

    def quoted(self, side: str) -> str:
        """Return a name as it is put before "documents": in quotation marks unless it is a word."""
        name = self[side]
        return name if name[0].isalpha() and " " not in name else f"“{name}”"

    def to_dict(self) -> dict[str, dict[str, str]]:
        """Return plain data, for a page."""
        return {side: {"name": self[side], "quoted": self.quoted(side)} for side in SIDES}


PLAIN_NAMES = Names()


def _check(name: object, where: str) -> None:
    """Raise ValueError unless a name is a short printable text."""
    if not isinstance(name, str):
        raise ValueError(f"{where}={name!r}: expected a str, got {type(name).__name__}.")
    if not name.strip() or name != name.strip():
        raise ValueError(f"{where}={name!r}: expected a text without spaces at its ends.")
    if len(name) > _MAX_NAME:
        raise ValueError(f"{where} has {len(name)} characters; use at most {_MAX_NAME}.")
    if not name.isprintable():
        raise ValueError(f"{where}={name!r}: expected characters that can be printed on a line.")
