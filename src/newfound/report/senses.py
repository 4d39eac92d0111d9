"""Words that both sides use, each in its own company."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from newfound.clauses import SIDES
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.tables import Table

if TYPE_CHECKING:
    from newfound.describer import NoveltyDescriber

__all__ = ["senses"]

_TRIED = 4  # words looked at for each that is shown
_PARTNERS = 4


def senses(describer: NoveltyDescriber, excerpts: Excerpts, limits: Limits) -> list[dict[str, Any]]:
    """Give the words that both sides use most, of those that have other company on each.

    A word counts by the share of the documents that have it, on the side that has it less.
    """
    words, n = describer.words_, describer.n_documents_
    shares = np.stack([words[f"documents_{side}"] / max(n[side], 1) for side in SIDES]).min(axis=0)
    shares[words["group"] != "shared"] = 0
    found = []
    for row in np.argsort(-shares, kind="stable")[: _TRIED * limits.senses].tolist():
        word = words["word"][row]
        if not shares[row] or word not in excerpts.numbers:
            continue
        sense = describer.senses(word)
        sides = {side: _partners(getattr(sense, side), excerpts, limits) for side in SIDES}
        if all(sides.values()):
            found.append({"word": word, **sides})
        if len(found) == limits.senses:
            break
    return found


def _partners(table: Table, excerpts: Excerpts, limits: Limits) -> list[dict[str, Any]]:
    return [
        {
            "word": row["word"],
            "documents_known": row["documents_known"],
            "documents_novel": row["documents_novel"],
            "example": excerpts.opening(row["example"].strip(), limits.excerpt)
            if row["example"]
            else None,
        }
        for row in table.take(slice(_PARTNERS))
    ]
