"""The texts of a report: those that the describer keeps, or those that are passed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.sides import SIDES
from newfound.text.copies import read_summary
from newfound.text.corpus import Corpus
from newfound.text.documents import Documents, as_sides

if TYPE_CHECKING:
    from newfound.description.description import Description

__all__ = ["gather", "pile_data"]


def gather(description: Description, known: object = None, novel: object = None) -> Corpus | None:
    """Return the texts that a describer was fitted on, as it keeps them or as they are passed.

    Parameters
    ----------
    description : Description
        Fitted.
    known, novel : what `as_documents` takes, optional
        The documents; needed if the describer was loaded from a file, which holds no texts.

    Returns
    -------
    Corpus or None
        None if there are no texts.
    """
    if (known is None) != (novel is None):
        side, other = SIDES if known is None else SIDES[::-1]
        raise ValueError(f"There are {other} documents but no {side} ones; pass both or neither.")
    corpus = description.corpus
    if known is None:
        return corpus
    fold = description.copies is not None
    piles = as_sides(known, novel, redact=description.given["redact"])
    texts = [*piles["known"].texts, *piles["novel"].texts]
    more: dict[str, Any] = {
        "sources": {side: pile_data(pile, fold=fold) for side, pile in piles.items()}
    }
    if all(map(_has_names, piles.values())):
        more["names"] = [*piles["known"].ids, *piles["novel"].ids]
    if corpus is not None and list(corpus.texts) == texts:
        return replace(corpus, **more)
    is_novel = np.arange(len(texts)) >= len(piles["known"])
    matrix = description.vectorizer.transform(texts)
    more["notes"] = _differences(description, matrix, is_novel)
    return Corpus.without_votes(texts, is_novel, matrix, **more)


def pile_data(pile: Documents, *, fold: bool = False) -> dict[str, Any]:
    """Return where documents came from, how many there are, and what was left out.

    `fold` says whether their copies count once as evidence.
    """
    return {
        "source": pile.source[:200],
        "documents": len(pile),
        "found": dict(pile.found),
        "summary": read_summary(pile, fold=fold)[:500],
    }


def _has_names(pile: Documents) -> bool:
    """Return whether the documents have names, not only positions in a list."""
    return not all(name.isdigit() for name in pile.ids[:100])


def _differences(
    description: Description, matrix: Any, novel: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Return a note if the texts are not those that the describer was fitted on."""
    counts = np.stack([matrix[side].sum(axis=0) for side in (~novel, novel)]).reshape(2, -1)
    words = description.words
    columns = [description.vectorizer.vocabulary_[word] for word in words["word"]]
    learned = np.stack((words["documents_known"], words["documents_novel"]))
    if np.array_equal(counts[:, columns], learned):
        return ()
    return (
        "The texts given for this report are not those that the model was trained on: examples "
        "and documents come from the texts given, counts from the training texts.",
    )
