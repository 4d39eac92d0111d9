"""The documents that a describer has learned from, kept while it is in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from newfound.text.vectorizer import TextVectorizer

__all__ = ["LearnedCorpus", "sentence_around"]

_ENDS = re.compile(r"[.!?…]+[\"')\]]*\s+|\n\s*\n|[。！？]")
_LONGEST = 240


@dataclass(frozen=True)
class LearnedCorpus:
    """Documents with their sides.

    Attributes
    ----------
    texts : list of str
        The texts as they are.
    novel : (n_documents,) ndarray of bool
        Which of them are novel.
    matrix : (n_documents, n_words) CSR matrix
        The words of each.
    held_out : (n_documents,) ndarray of float64
        How the machines that have not learned from a document vote on it, from -1 (known) to 1
        (novel) on average; nan if all have learned from it.
    """

    texts: list[str]
    novel: NDArray[np.bool_]
    matrix: Any
    held_out: NDArray[np.float64]

    def example(
        self, vectorizer: TextVectorizer, terms: Sequence[str], documents: Sequence[int]
    ) -> str:
        """Give a sentence with all of these terms, or else with the first, from some documents.

        Parameters
        ----------
        vectorizer : TextVectorizer
            What turned the texts into words.
        terms : sequence of str
            Words of the vocabulary.
        documents : sequence of int
            Where to look, in this order.

        Returns
        -------
        str
            Empty if the first term is nowhere.
        """
        found = ""
        for document in documents:
            text = self.texts[document]
            places: dict[str, list[int]] = {term: [] for term in terms}
            for token in vectorizer.tokens(text):
                if token.term in places:
                    places[token.term].append(token.start)
            for start in places[terms[0]]:
                begin, end = sentence_around(text, start)
                inside = (any(begin <= at < end for at in places[term]) for term in terms)
                if all(inside):
                    return " ".join(text[begin:end].split())
                found = found or " ".join(text[begin:end].split())
        return found


def sentence_around(text: str, at: int) -> tuple[int, int]:
    """Find where the sentence around a place begins and ends; of a long one, what is near.

    Examples
    --------
    >>> text = "It rained. The fly half kicked! Nobody saw it."
    >>> begin, end = sentence_around(text, 15)
    >>> text[begin:end].strip()
    'The fly half kicked!'
    """
    nearest = max(0, at - _LONGEST)
    begins = [match.end() for match in _ENDS.finditer(text, nearest, at)]
    begin = begins[-1] if begins else nearest
    match = _ENDS.search(text, at, min(len(text), at + _LONGEST))
    end = match.end() if match else min(len(text), at + _LONGEST)
    if not begins and begin:
        begin = text.find(" ", begin, at) + 1 or begin
    if match is None and end < len(text):
        end = max(text.rfind(" ", at, end), at + 1) if " " in text[at:end] else end
    return begin, end
