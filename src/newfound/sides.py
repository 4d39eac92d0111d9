"""The two sides of a comparison."""

__all__ = ["SIDES"]

SIDES = ("known", "novel")
