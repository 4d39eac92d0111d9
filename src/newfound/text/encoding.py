"""Texts as arrays of numbers: which words, and which pairs of neighbouring words, each text has.

`TextVectorizer` and `BagReader` share these parts. An `Encoder` numbers the words of texts,
`Occurrences` tells which word stands in which text, and a `TermIndex` maps numbers to the columns
of a vocabulary. A pair of words is one int64 key, made of the numbers of its two words.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
    "WordsAndPairs",
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

    Parameters
    ----------
    code_of : callable
        Returns the code of a word form.
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

        Parameters
        ----------
        texts : iterable of str
            Any texts.
        ordered : bool
            Keep order and repetitions; otherwise each text is a set.
        breaks : bool, optional
            Keep breaks between words, as pairs need them. By default as `ordered`.
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

    Parameters
    ----------
    codes : ndarray of int32
        What `Encoder.encode` returns.
    pairs : bool
        Find pairs too; the codes must be ordered. Stop words between two words are skipped.

    Attributes
    ----------
    words, word_rows : ndarray
        The number of each word, and its row.
    keys, key_rows : ndarray
        The key of each pair, and its row.
    n_texts : int
        The number of texts.
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
    """Words, numbered from 0, and after them pairs of these words.

    Parameters
    ----------
    words : iterable of str
        The words, in the order of their numbers.
    keys : ndarray of int64
        The keys of the pairs.
    """

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

    Parameters
    ----------
    vocabulary : mapping of str to int
        The column of each term.

    Attributes
    ----------
    numbers : dict of str to int
        The number of each word that is a term or part of one, from 0.
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
