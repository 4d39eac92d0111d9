"""Texts that are split into words once, and then read by any vectorizer.

A detector and a describer have different vocabularies, stop words and pairs, but what counts as a
word is the same for both. `TokenizedTexts` keeps the words of each text with their positions, so
that no text is split again for the next step.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from newfound.text.encoding import BREAK, END, Encoder
from newfound.text.tokens import chunks_and_breaks, fold, words_in

__all__ = ["TokenizedTexts", "encode"]


class TokenizedTexts(Sequence[str]):
    """A sequence of texts with the words of each.

    Use it wherever `TextVectorizer` takes texts.

    Parameters
    ----------
    texts : list of str
        The texts.
    forms : list of str
        The distinct words, in lower case, not lemmatised.
    codes : ndarray of int32
        For all texts, one after the other: the number of each word in `forms`, `BREAK` where words
        are separated by more than a space, and `END` after each text.
    starts, ends : ndarray of int32
        Where in its text each word is; of the length of `codes`.
    has_order : ndarray of bool, optional
        Which texts have their words in order; False for those that `from_bags` made. By default
        all.
    lemmas : mapping of str to str, optional
        The `lemmas_` that a vectorizer has to use; by default it finds them in the texts.

    Examples
    --------
    >>> from newfound.text.vectorizer import TextVectorizer
    >>> texts = TokenizedTexts.of(["Pay my bill.", "A new card, please"])
    >>> list(texts.words(0))
    [(0, 3, 'pay'), (4, 6, 'my'), (7, 11, 'bill'), (11, 12, '')]
    >>> TextVectorizer().fit(texts).get_feature_names_out().tolist()
    ['bill', 'card', 'new', 'pay', 'please']
    """

    def __init__(
        self,
        texts: list[str],
        forms: list[str],
        codes: NDArray[np.int32],
        starts: NDArray[np.int32],
        ends: NDArray[np.int32],
        has_order: NDArray[np.bool_] | None = None,
        lemmas: Mapping[str, str] | None = None,
    ) -> None:
        self.texts, self.forms, self.codes = texts, forms, codes
        self.starts, self.ends, self.lemmas = starts, ends, lemmas
        self.has_order = np.ones(len(texts), bool) if has_order is None else has_order
        closes = np.flatnonzero(codes == END)
        self._bounds = np.concatenate(([0], closes + 1))

    @classmethod
    def of(cls, texts: Iterable[str]) -> TokenizedTexts:
        """Split texts into words."""
        kept: list[str] = []
        chunks = _Chunks()
        codes, starts, ends = array("i"), array("i"), array("i")
        for text in texts:
            kept.append(text)
            for match in chunks_and_breaks(text).finditer(fold(text)):
                at = match.start()
                for code, start, end in chunks[match[0]]:
                    codes.append(code)
                    starts.append(at + start)
                    ends.append(at + end)
            codes.append(END)
            starts.append(0)
            ends.append(0)
        arrays = [np.frombuffer(found, np.int32) for found in (codes, starts, ends)]  # no copies
        return cls(kept, list(chunks.numbers), arrays[0], arrays[1], arrays[2])

    @classmethod
    def from_bags(cls, matrix: Any, words: Sequence[str]) -> TokenizedTexts:
        """Return texts of which only the words are known, not their order; the texts are empty.

        Parameters
        ----------
        matrix : Boolean CSR matrix
            One row for each text, one column for each word.
        words : sequence of str
            The word of each column.

        Examples
        --------
        >>> from scipy.sparse import csr_matrix
        >>> texts = TokenizedTexts.from_bags(csr_matrix([[1, 0, 1]]), ["bill", "card", "pay"])
        >>> list(texts), [form for _, _, form in texts.words(0) if form]
        ([''], ['bill', 'pay'])
        """
        n, lengths = matrix.shape[0], np.diff(matrix.indptr)
        # Each word is followed by a break, so that no two words are a pair.
        codes = np.full(2 * len(matrix.indices) + n, BREAK, np.int32)
        closes = np.cumsum(2 * lengths + 1) - 1
        codes[closes] = END
        rows = np.repeat(np.arange(n), lengths)
        codes[2 * np.arange(len(matrix.indices)) + rows] = matrix.indices
        nowhere = np.zeros(len(codes), np.int32)
        unordered = np.zeros(n, bool)
        return cls([""] * n, list(words), codes, nowhere, nowhere, unordered)._compact()

    @classmethod
    def concatenate(
        cls, parts: Sequence[TokenizedTexts], lemmas: Mapping[str, str] | None = None
    ) -> TokenizedTexts:
        """Return the texts of several sequences as one, with lemmas if they are given."""
        numbers: dict[str, int] = {}
        codes = []
        for part in parts:
            codes.append(part.encode(lambda form: numbers.setdefault(form, len(numbers))))
        return cls(
            [text for part in parts for text in part.texts],
            list(numbers),
            np.concatenate(codes),
            np.concatenate([part.starts for part in parts]),
            np.concatenate([part.ends for part in parts]),
            np.concatenate([part.has_order for part in parts]),
            lemmas,
        )

    def with_lemmas(self, lemmas: Mapping[str, str]) -> TokenizedTexts:
        """Return the same texts, with the `lemmas_` that a vectorizer has to use."""
        return TokenizedTexts(
            self.texts, self.forms, self.codes, self.starts, self.ends, self.has_order, lemmas
        )

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        return self.texts[i]

    def take(self, rows: NDArray[Any]) -> TokenizedTexts:
        """Return some of the texts."""
        bounds = self._bounds.tolist()
        spans = [slice(bounds[i], bounds[i + 1]) for i in rows.tolist()] or [slice(0)]
        return TokenizedTexts(
            [self.texts[i] for i in rows.tolist()],
            self.forms,
            np.concatenate([self.codes[span] for span in spans]),
            np.concatenate([self.starts[span] for span in spans]),
            np.concatenate([self.ends[span] for span in spans]),
            self.has_order[rows],
            self.lemmas,
        )._compact()

    def _compact(self) -> TokenizedTexts:
        """Leave out the words that no text has."""
        is_word = self.codes >= 0
        used = np.bincount(self.codes[is_word], minlength=len(self.forms)) > 0
        numbers = np.cumsum(used, dtype=np.int32) - 1
        codes = self.codes.copy()
        codes[is_word] = numbers[codes[is_word]]
        forms = [self.forms[j] for j in np.flatnonzero(used).tolist()]
        return TokenizedTexts(
            self.texts, forms, codes, self.starts, self.ends, self.has_order, self.lemmas
        )

    def words(self, row: int) -> Iterator[tuple[int, int, str]]:
        """Iterate over start, end and form of the words of a text; the form of a break is empty."""
        span = slice(self._bounds[row], self._bounds[row + 1] - 1)
        arrays = (self.starts[span], self.ends[span], self.codes[span])
        for start, end, code in zip(*(a.tolist() for a in arrays), strict=True):
            yield start, end, self.forms[code] if code >= 0 else ""

    def encode(self, code_of: Callable[[str], int]) -> NDArray[np.int32]:
        """Return the codes with other numbers for words, as `Encoder.encode` does."""
        numbers = np.array([code_of(form) for form in self.forms], np.int32)
        codes, is_word = self.codes.copy(), self.codes >= 0
        codes[is_word] = numbers[codes[is_word]]
        return codes


class _Chunks(dict[str, tuple[tuple[int, int, int], ...]]):
    """The number, start and end of the words of every chunk of text met so far."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: dict[str, int] = {}

    def __missing__(self, chunk: str) -> tuple[tuple[int, int, int], ...]:
        numbers = self.numbers
        found = words_in(chunk)
        if len(found) == 1:  # most chunks; in fewer steps
            start, end, form = found[0]
            words: tuple[tuple[int, int, int], ...]
            words = ((numbers.setdefault(form, len(numbers)), start, end),)
        else:
            words = tuple(
                [(numbers.setdefault(form, len(numbers)), start, end) for start, end, form in found]
            ) or ((BREAK, 0, len(chunk)),)
        self[chunk] = words
        return words


def encode(
    encoder: Encoder, texts: Iterable[str], *, ordered: bool, breaks: bool | None = None
) -> NDArray[np.int32]:
    """Return the codes of texts, as `Encoder.encode` does.

    `TokenizedTexts` are not split again; their codes are always in order and with breaks.
    """
    if isinstance(texts, TokenizedTexts):
        return texts.encode(encoder.code_of)
    return encoder.encode(texts, ordered=ordered, breaks=breaks)
