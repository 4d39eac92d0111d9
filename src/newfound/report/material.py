"""What a page is made from: a describer, and the texts where they are at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from newfound.sides import SIDES
from newfound.text.documents import DocumentError, Documents, as_documents

if TYPE_CHECKING:
    from newfound.description.describer import NoveltyDescriber

__all__ = ["Material", "gather", "pile_data"]


@dataclass(frozen=True)
class Material:
    """Texts beside their words.

    Attributes
    ----------
    texts : sequence of str
        The documents.
    novel : ndarray of bool
        Which of them are novel.
    matrix : CSR matrix
        Documents by words, in the columns of the describer's vocabulary.
    held_out : ndarray of float or None
        The novelty of each document by machines that did not learn from it; nan where none.
    names : sequence of str
        What each document is called.
    piles : dict
        By side, where the documents came from and what was left out.
    notes : tuple of str
        What a reader has to know about them.
    """

    texts: Sequence[str]
    novel: NDArray[np.bool_]
    matrix: Any
    held_out: NDArray[np.float64] | None
    names: Sequence[str]
    piles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def columns(self) -> Any:
        """The matrix by columns: the documents of each word."""
        return self.matrix.tocsc()

    def with_word(self, column: int) -> NDArray[np.intp]:
        """Give the documents that have a word."""
        begin, end = self.columns.indptr[column : column + 2]
        rows: NDArray[np.intp] = self.columns.indices[begin:end]
        return np.sort(rows)


def gather(
    describer: NoveltyDescriber, known: object = None, novel: object = None
) -> Material | None:
    """Give the texts that a describer has learned from, as it kept them or as they are given.

    Parameters
    ----------
    describer : NoveltyDescriber
        Fitted.
    known, novel : what `as_documents` takes, optional
        The documents; needed where the describer comes from a file, which holds no texts.

    Returns
    -------
    Material or None
        None where there are no texts.
    """
    if (known is None) != (novel is None):
        side, other = SIDES if known is None else SIDES[::-1]
        raise ValueError(f"There are {other} documents and no {side} ones; pass both, or neither.")
    corpus = describer.corpus_
    if known is None:
        if corpus is None:
            return None
        return Material(
            texts=corpus.texts,
            novel=np.asarray(corpus.novel, bool),
            matrix=corpus.matrix,
            held_out=corpus.held_out,
            names=_names(np.asarray(corpus.novel, bool)),
        )
    piles = {}
    for side, given in zip(SIDES, (known, novel), strict=True):
        try:
            piles[side] = as_documents(given)
        except DocumentError as error:
            raise DocumentError(f"{side}: {error}") from error
    texts = [*piles["known"].texts, *piles["novel"].texts]
    is_novel = np.arange(len(texts)) >= len(piles["known"])
    kept = corpus if corpus is not None and list(corpus.texts) == texts else None
    matrix = describer.vectorizer_.transform(texts) if kept is None else kept.matrix
    return Material(
        texts=texts,
        novel=is_novel,
        matrix=matrix,
        held_out=None if kept is None else kept.held_out,
        names=[*piles["known"].ids, *piles["novel"].ids]
        if all(map(_has_names, piles.values()))
        else _names(is_novel),
        piles={side: pile_data(pile) for side, pile in piles.items()},
        notes=_differences(describer, matrix, is_novel) if kept is None else (),
    )


def pile_data(pile: Documents) -> dict[str, Any]:
    """Say where documents came from, how many there are, and what was left out."""
    return {
        "source": pile.source[:200],
        "documents": len(pile),
        "found": dict(pile.found),
        "summary": pile.summary()[:500],
    }


def _has_names(pile: Documents) -> bool:
    """Tell names from mere positions in a list."""
    return not all(name.isdigit() for name in pile.ids[:100])


def _names(novel: NDArray[np.bool_]) -> list[str]:
    """Call documents by their place in their side, from 1."""
    places = np.where(novel, np.cumsum(novel), np.cumsum(~novel))
    return [f"no. {place}" for place in places.tolist()]


def _differences(
    describer: NoveltyDescriber, matrix: Any, novel: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Say so where the texts are not those that the describer has counted."""
    counts = np.stack([matrix[side].sum(axis=0) for side in (~novel, novel)]).reshape(2, -1)
    words = describer.words_
    columns = [describer.vectorizer_.vocabulary_[word] for word in words["word"]]
    learned = np.stack((words["documents_known"], words["documents_novel"]))
    if np.array_equal(counts[:, columns], learned):
        return ()
    return (
        "The texts given for this report are not those that the model has learned from: examples "
        "and documents come from the texts given, counts from the others.",
    )
