"""Commands that reject an input that is given twice: only the last one would be read."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["OneInputCommand", "OneInputGroup"]

_INPUTS = ("known", "novel", "documents", "incoming")


class _OneInput:
    """What commands and groups of them have in common: each input may be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left, as any command does."""
        given = list(args)
        rest: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]
        _reject_repeated(self, ctx, given)
        return rest


class OneInputCommand(_OneInput, TyperCommand):
    """A command each of whose inputs may be given once."""


class OneInputGroup(_OneInput, TyperGroup):
    """The same for a command that has commands of its own."""


def _reject_repeated(command: Any, ctx: Any, args: list[str]) -> None:
    if ctx.resilient_parsing:  # the shell completes a command that is being typed
        return
    _, _, order = command.make_parser(ctx).parse_args(args=args)
    names = [parameter.name for parameter in order]
    for name in _INPUTS:
        if names.count(name) > 1:
            raise typer.BadParameter(
                f"--{name} was given {names.count(name)} times and names one input; put the "
                "documents into one file, or pass a folder.",
                ctx=ctx,
            )
