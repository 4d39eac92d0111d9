"""Words that both sides use, but in a different context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.description.senses import find_senses
from newfound.report.excerpts import Excerpts
from newfound.report.limits import Limits
from newfound.sides import SIDES
from newfound.table import Table
from newfound.text.corpus import Corpus

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["senses"]

_CANDIDATES = 100
_FEWEST = 5  # documents of each side that have the word
_PARTNERS = 3


def senses(
    description: Description,
    names: Sequence[str],
    corpus: Corpus,
    excerpts: Excerpts,
    limits: Limits,
) -> list[dict[str, Any]]:
    """Return the words whose context differs most between the two sides.

    Parameters
    ----------
    description : Description
        Fitted.
    names : sequence of str
        The words of the page.
    corpus : Corpus
        The documents.
    excerpts : Excerpts
        Cuts sentences out of the texts.
    limits : Limits
        The number of words, and the length of their examples.
    """
    vocabulary = description.vectorizer.vocabulary_
    columns = np.array([vocabulary[name] for name in names], np.intp)
    found = []
    for column in _candidates(corpus, columns)[: limits.senses]:
        word = names[int(np.flatnonzero(columns == column)[0])]
        context = description.context(word, n=1)
        sense = find_senses(word, int(column), corpus, excerpts.finder, context, n=_PARTNERS)
        sides = {side: _partners(sense[side], excerpts, limits) for side in SIDES}
        if all(sides.values()):
            found.append({"word": word, **sides})
    return found


def _candidates(corpus: Corpus, columns: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rank words by how strongly their context differs between the sides.

    The context of a word on a side is the words that are in documents with it more often than by
    chance, in standard deviations. The rank of a word is that of the weaker of its two sides.
    """
    bags = sparse.csr_array(corpus.matrix, dtype=np.float64)
    sides = [bags[~corpus.novel], bags[corpus.novel]]
    frequencies = np.stack([np.asarray(side.sum(axis=0)).ravel() for side in sides])
    shares = (frequencies / [[max(side.shape[0], 1)] for side in sides])[:, columns].min(axis=0)
    shares[frequencies[:, columns].min(axis=0) < _FEWEST] = 0
    order = np.argsort(-shares, kind="stable")[:_CANDIDATES]
    chosen: NDArray[np.intp] = columns[order[shares[order] > 0]]
    if not len(chosen):
        return chosen
    drawn = []
    for side, frequency in zip(sides, frequencies, strict=True):
        together = (side[:, chosen].T @ side).tocoo()
        chance = frequency[chosen][together.row] * frequency[together.col] / side.shape[0]
        together.data = np.maximum(together.data - chance, 0) / np.sqrt(chance + 1)
        together.data[chosen[together.row] == together.col] = 0
        drawn.append(together.tocsr())
    strength = np.stack([_best(drawn[0] - drawn[1]), _best(drawn[1] - drawn[0])]).min(axis=0)
    ranked: NDArray[np.intp] = chosen[np.argsort(-strength, kind="stable")]
    return ranked


def _best(company: Any) -> NDArray[np.float64]:
    """Return the sum of the strongest context of each word."""
    company = sparse.csr_array(company)
    return np.array(
        [
            np.sort(company.data[begin:end])[-_PARTNERS:].clip(0).sum()
            for begin, end in zip(company.indptr[:-1], company.indptr[1:], strict=True)
        ]
    )


def _partners(table: Table, excerpts: Excerpts, limits: Limits) -> list[dict[str, Any]]:
    return [
        {
            "word": row["word"],
            "documents_known": row["documents_known"],
            "documents_novel": row["documents_novel"],
            "example": excerpts.opening(row["example"], limits.excerpt) if row["example"] else None,
        }
        for row in table.take(slice(_PARTNERS))
    ]
