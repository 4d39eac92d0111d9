"""Texts as arrays of numbers: which words, and which pairs of neighbouring words, each text has.

`TextVectorizer` and `BagReader` share these parts. An `Encoder` numbers the words of texts,
`Occurrences` tells which word stands in which text, and a `TermIndex` maps numbers to the columns
of a vocabulary. A pair of words is one int64 key, made of the numbers of its two words.

A detector and a describer have different vocabularies, stop words and pairs, but what counts as a
word is the same for both. `TokenizedTexts` keeps the words of each text with their positions, so
that no text is split again for the next step.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.text.tokens import ASCII, CHUNK, ascii_chunks, chunks_and_breaks, fold, words_in

__all__ = [
    "BREAK",
    "END",
    "STOP",
    "Encoder",
    "Occurrences",
    "TermIndex",
    "TokenizedTexts",
    "WordsAndPairs",
    "encode",
    "pair_keys",
    "renumbered",
    "words_of_pairs",
]

# A stop word is skipped, a break separates the words of a pair, an end closes a text.
STOP, BREAK, END = -1, -2, -3

_LOW = (1 << 32) - 1
_NUL = "\0"
_BLOCK = 64  # texts that are split at a time


class Encoder(dict[str, int]):
    """The code of every chunk of text met so far.

    The code of a chunk with one word is that of the word: its number, `STOP` or `BREAK`. A chunk
    without words is a `BREAK`. A chunk with several words has a code below `END`, a key of
    `several`. Threads can share an encoder, because an entry is complete before it can be seen.

    `code_of` returns the code of a word form.
    """

    def __init__(self, code_of: Callable[[str], int]) -> None:
        super().__init__()
        self.code_of = code_of
        self.several: dict[int, list[int]] = {}
        self._free_codes = itertools.count(END - 1, -1)
        self[_NUL] = END

    def __missing__(self, chunk: str) -> int:
        codes = [self.code_of(form) for _, _, form in words_in(chunk)] or [BREAK]
        code = codes[0] if len(codes) == 1 else next(self._free_codes)
        if len(codes) > 1:
            self.several[code] = codes
        self[chunk] = code
        return code

    def encode(
        self, texts: Iterable[str], *, ordered: bool, breaks: bool | None = None
    ) -> NDArray[np.int32]:
        """Return the codes of all texts, with `END` after each text.

        With `ordered`, order and repetitions are kept; otherwise each text is a set. With `breaks`,
        by default as `ordered`, breaks between words are kept, as pairs need them.
        """
        flat = array("i")
        if ordered and breaks is not False:
            self._encode_ordered(texts, flat)
        else:
            for text in texts:
                if breaks:
                    chunks = _chunks_and_breaks(text)
                elif text.isascii():  # the same chunks as below, three times as fast
                    chunks = text.translate(ASCII).split()
                else:
                    chunks = CHUNK.findall(fold(text))
                found = map(self.__getitem__, chunks)
                flat.extend(found if ordered else set(found))
                flat.append(END)
        codes = np.frombuffer(flat, np.int32)
        compound = codes < END
        if not compound.any():
            return codes
        parts = [self.several[key] for key in codes[compound].tolist()]
        lengths = np.ones(len(codes), dtype=np.intp)
        lengths[compound] = [len(part) for part in parts]
        expanded = np.repeat(codes, lengths)
        expanded[np.repeat(compound, lengths)] = list(itertools.chain.from_iterable(parts))
        return expanded

    def _encode_ordered(self, texts: Iterable[str], flat: array[int]) -> None:
        """Append the codes of texts and their breaks; those of ASCII are split several at a time.

        The texts of a block are joined by `_NUL`, the code of which is `END`.
        """
        each = iter(texts)
        while block := list(itertools.islice(each, _BLOCK)):
            joined = f" {_NUL} ".join(block)
            if joined.isascii() and joined.count(_NUL) == len(block) - 1:
                flat.extend(map(self.__getitem__, ascii_chunks(joined)))
                flat.append(END)
                continue
            for text in block:
                flat.extend(map(self.__getitem__, _chunks_and_breaks(text)))
                flat.append(END)


def _chunks_and_breaks(text: str) -> list[str]:
    """Return the chunks and breaks of a text; a NUL is a break as any other sign."""
    found: list[str] = chunks_and_breaks(text).findall(fold(text))
    return [chunk.replace(_NUL, ".") for chunk in found] if _NUL in text else found


class Occurrences:
    """The words of texts, and the keys of their pairs, each with the row of its text.

    `codes` are what `Encoder.encode` returns; for pairs they must be ordered, and stop words
    between two words are skipped. `word_rows` and `key_rows` are the rows of `words` and of `keys`.
    """

    def __init__(self, codes: NDArray[np.int32], *, pairs: bool) -> None:
        rows = np.cumsum(codes == END, dtype=np.int32)
        self.n_texts = int(rows[-1]) if len(rows) else 0
        is_word = codes >= 0
        self.words, self.word_rows = codes[is_word], rows[is_word]
        if not pairs:
            codes = codes[:0]
        in_line = codes != STOP
        codes, rows = codes[in_line], rows[: len(codes)][in_line]
        is_pair = (codes[:-1] >= 0) & (codes[1:] >= 0)
        self.keys = pair_keys(codes[:-1][is_pair], codes[1:][is_pair])
        self.key_rows = rows[:-1][is_pair]

    def matrix(self, words: NDArray[Any], pairs: NDArray[Any], n_columns: int) -> Any:
        """Return the Boolean CSR matrix for given columns of all words and pairs; -1 is none."""
        columns = np.concatenate((words, pairs))
        rows = np.concatenate((self.word_rows, self.key_rows))[columns >= 0]
        columns = columns[columns >= 0]
        data = np.ones(len(columns), dtype=bool)
        X = sparse.coo_matrix((data, (rows, columns)), shape=(self.n_texts, n_columns)).tocsr()
        X.sum_duplicates()
        return X


class WordsAndPairs:
    """Words, numbered from 0, and after them pairs of these words."""

    def __init__(self, words: Iterable[str], keys: NDArray[np.int64]) -> None:
        self.words = list(words)
        self.keys = keys

    def __len__(self) -> int:
        return len(self.words) + len(self.keys)

    def names(self, numbers: Iterable[int]) -> list[str]:
        """Return the names of some words and pairs; a pair has a space between its words."""
        words, n = self.words, len(self.words)
        return [words[i] if i < n else self._pair(int(self.keys[i - n])) for i in numbers]

    def _pair(self, key: int) -> str:
        return f"{self.words[key >> 32]} {self.words[key & _LOW]}"


class TermIndex:
    """The columns of a vocabulary of words and pairs, by the numbers of words.

    `numbers` has the number of each word that is a term or part of one, from 0.
    """

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self.numbers: dict[str, int] = {}
        pairs = []
        for term, column in vocabulary.items():
            parts = [self.numbers.setdefault(word, len(self.numbers)) for word in term.split(" ")]
            if len(parts) == 2:
                pairs.append((parts[0] << 32 | parts[1], column))
        pairs.sort()
        # The last key and column stand for every pair that is not in the vocabulary.
        self.pair_keys = np.array([*(key for key, _ in pairs), np.iinfo(np.int64).max])
        self.columns_of_pairs = np.array([*(column for _, column in pairs), -1], dtype=np.int32)
        columns = [vocabulary.get(word, -1) for word in self.numbers]
        self._word_columns = np.array([*columns, -1], dtype=np.int32)

    def word_columns(self, words: NDArray[Any]) -> NDArray[np.int32]:
        """Return the columns of words, -1 for a number that is not in `numbers`."""
        found: NDArray[np.int32] = self._word_columns[np.minimum(words, len(self.numbers))]
        return found

    def pair_columns(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the columns of pairs by their keys, -1 for a pair that is not a term."""
        places = np.searchsorted(self.pair_keys, keys)
        found: NDArray[np.int32] = np.where(
            self.pair_keys[places] == keys, self.columns_of_pairs[places], np.int32(-1)
        )
        return found


def pair_keys(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    """Return the keys of pairs of word numbers."""
    keys: NDArray[np.int64] = left.astype(np.int64)
    keys <<= 32
    keys |= right
    return keys


def words_of_pairs(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of the left and of the right words of pairs."""
    return keys >> 32, keys & _LOW


def renumbered(X: Any, numbers: NDArray[Any], n_columns: int) -> Any:
    """Return a Boolean matrix with new column numbers; equal ones are merged, -1 is dropped."""
    columns = numbers[X.indices]
    kept = columns >= 0
    indptr = np.concatenate(([0], np.cumsum(kept)))[X.indptr]
    parts = (X.data[kept], columns[kept], indptr)
    merged = sparse.csr_matrix(parts, shape=(X.shape[0], n_columns))
    merged.sum_duplicates()
    return merged


@dataclass(frozen=True, eq=False, repr=False)
class TokenizedTexts(Sequence[str]):
    """A sequence of texts with the words of each.

    Use it wherever `TextVectorizer` takes texts.

    `forms` are the distinct words, in lower case, not lemmatised. `codes` has, for all texts one
    after the other, the number of each word in `forms`, `BREAK` where words are separated by more
    than a space, and `END` after each text; `starts` and `ends` are where in its text each word is.
    `has_order` is False for texts that `from_bags` made. A vectorizer uses `lemmas`, if there are
    any, instead of those it finds in the texts.

    Examples
    --------
    >>> from newfound.text.vectorizer import TextVectorizer
    >>> texts = TokenizedTexts.of(["Pay my bill.", "A new card, please"])
    >>> list(texts.words(0))
    [(0, 3, 'pay'), (4, 6, 'my'), (7, 11, 'bill'), (11, 12, '')]
    >>> TextVectorizer().fit(texts).get_feature_names_out().tolist()
    ['bill', 'card', 'new', 'pay', 'please']
    """

    texts: list[str]
    forms: list[str]
    codes: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    has_order: NDArray[np.bool_]
    lemmas: Mapping[str, str] | None = None

    @cached_property
    def _bounds(self) -> NDArray[np.int64]:
        return np.concatenate(([0], np.flatnonzero(self.codes == END) + 1))

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
        in_order = np.ones(len(kept), bool)
        return cls(kept, list(chunks.numbers), arrays[0], arrays[1], arrays[2], in_order)

    @classmethod
    def from_bags(cls, matrix: Any, words: Sequence[str]) -> TokenizedTexts:
        """Return texts of which only the words are known, not their order; the texts are empty.

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
        codes = [part.encode(lambda form: numbers.setdefault(form, len(numbers))) for part in parts]
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
        return replace(self, lemmas=lemmas)

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
        codes, starts, ends = (
            np.concatenate([values[span] for span in spans])
            for values in (self.codes, self.starts, self.ends)
        )
        texts = [self.texts[i] for i in rows.tolist()]
        return replace(
            self, texts=texts, codes=codes, starts=starts, ends=ends, has_order=self.has_order[rows]
        )._compact()

    def _compact(self) -> TokenizedTexts:
        """Leave out the words that no text has."""
        is_word = self.codes >= 0
        used = np.bincount(self.codes[is_word], minlength=len(self.forms)) > 0
        numbers = np.cumsum(used, dtype=np.int32) - 1
        codes = self.codes.copy()
        codes[is_word] = numbers[codes[is_word]]
        forms = [self.forms[j] for j in np.flatnonzero(used).tolist()]
        return replace(self, forms=forms, codes=codes)

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
