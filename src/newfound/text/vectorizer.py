"""Texts to a Boolean bag of words, with where each word stood on request.

`newfound.text.tokens` defines what a word is. A *term* is what a column of the matrix stands for:
the lemma of a word, or the word itself.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from newfound.text.documents import DocumentError
from newfound.text.tokens import (
    ASCII,
    CHUNK,
    CHUNK_OR_BREAK,
    Token,
    check_language,
    fold,
    lemma_of,
    normal,
    stop_words,
    without_clitics,
    words_in,
)

__all__ = ["TextVectorizer"]

_STOP, _BREAK, _END = -1, -2, -3
_LOW = (1 << 32) - 1
_MAX_CACHED = 1 << 20


class _Encoder(dict[str, int]):
    """The code of every chunk met so far: its word's number, _STOP, _BREAK or a key of `several`.

    `code_of` gives the code of a word. Threads may share an encoder: an entry is complete before
    it can be seen.
    """

    def __init__(self, code_of: Callable[[str], int]) -> None:
        super().__init__()
        self.code_of = code_of
        self.several: dict[int, list[int]] = {}
        self._keys = itertools.count(_END - 1, -1)

    def __missing__(self, chunk: str) -> int:
        codes = [self.code_of(form) for _, _, form in words_in(chunk)] or [_BREAK]
        code = codes[0] if len(codes) == 1 else next(self._keys)
        if len(codes) > 1:
            self.several[code] = codes
        self[chunk] = code
        return code

    def encode(self, texts: Iterable[str], *, ordered: bool) -> NDArray[np.int32]:
        """Give the codes of all texts with _END after each; unless `ordered`, as sets."""
        flat = array("i")
        for text in texts:
            if ordered:
                flat.extend(map(self.__getitem__, CHUNK_OR_BREAK.findall(fold(text))))
            elif text.isascii():  # the same chunks as below, three times as fast
                flat.extend(set(map(self.__getitem__, text.translate(ASCII).split())))
            else:
                flat.extend(set(map(self.__getitem__, CHUNK.findall(fold(text)))))
            flat.append(_END)
        codes = np.array(flat, dtype=np.int32)
        compound = codes < _END
        parts = [self.several[key] for key in codes[compound].tolist()]
        lengths = np.ones(len(codes), dtype=np.intp)
        lengths[compound] = [len(part) for part in parts]
        expanded = np.repeat(codes, lengths)
        expanded[np.repeat(compound, lengths)] = list(itertools.chain.from_iterable(parts))
        return expanded


class _Cells:
    """Which words, and which pairs of words by their keys, stand in which of the texts."""

    def __init__(self, codes: NDArray[np.int32], *, pairs: bool) -> None:
        rows = np.cumsum(codes == _END)
        self.n_texts = int(rows[-1]) if len(rows) else 0
        is_word = codes >= 0
        self.words, self.word_rows = codes[is_word], rows[is_word]
        line = codes != _STOP if pairs else np.zeros(len(codes), dtype=bool)
        left, right = codes[line][:-1], codes[line][1:]
        is_pair = (left >= 0) & (right >= 0)
        self.keys, self.key_rows = _keys(left[is_pair], right[is_pair]), rows[line][:-1][is_pair]

    def matrix(self, words: NDArray[Any], pairs: NDArray[Any], n_columns: int) -> Any:
        """Build the Boolean matrix from the columns of all words and pairs, -1 for none."""
        columns = np.concatenate((words, pairs))
        rows = np.concatenate((self.word_rows, self.key_rows))[columns >= 0]
        columns = columns[columns >= 0]
        data = np.ones(len(columns), dtype=bool)
        X = sparse.coo_matrix((data, (rows, columns)), shape=(self.n_texts, n_columns)).tocsr()
        X.sum_duplicates()
        return X


class _Units:
    """Words, and pairs of them by their keys, numbered in this order."""

    def __init__(self, words: Iterable[str], keys: NDArray[np.int64]) -> None:
        self.words = list(words)
        self.keys = keys

    def __len__(self) -> int:
        return len(self.words) + len(self.keys)

    def names(self, numbers: list[int]) -> list[str]:
        words, n = self.words, len(self.words)
        return [words[i] if i < n else self._pair(i - n) for i in numbers]

    def _pair(self, i: int) -> str:
        key = int(self.keys[i])
        return f"{self.words[key >> 32]} {self.words[key & _LOW]}"


class _Lookup:
    """A vocabulary turned round: from the words of a text, and pairs of them, to columns."""

    def __init__(self, vocabulary: Mapping[str, int], term_of: Callable[[str], str | None]) -> None:
        numbers: dict[str, int] = {}
        pairs = []
        for term, column in vocabulary.items():
            parts = [numbers.setdefault(word, len(numbers)) for word in term.split(" ")]
            if len(parts) == 2:
                pairs.append((parts[0] << 32 | parts[1], column))
        pairs.sort()
        # The last key and column stand for every pair that is not in the vocabulary.
        self.keys = np.array([*(key for key, _ in pairs), np.iinfo(np.int64).max])
        self.pair_columns = np.array([*(column for _, column in pairs), -1], dtype=np.int32)
        self.word_columns = np.array([vocabulary.get(word, -1) for word in numbers], dtype=np.int32)

        def code_of(form: str) -> int:
            term = term_of(form)
            return _STOP if term is None else numbers.get(term, _BREAK)

        self.encoder = _Encoder(code_of)

    def matrix(self, cells: _Cells, n_columns: int) -> Any:
        places = np.searchsorted(self.keys, cells.keys)
        pairs = np.where(self.keys[places] == cells.keys, self.pair_columns[places], -1)
        return cells.matrix(self.word_columns[cells.words], pairs, n_columns)


def _keys(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = left.astype(np.int64) << 32 | right
    return keys


def _relabelled(X: Any, labels: NDArray[Any], n_columns: int) -> Any:
    """Give the columns of a Boolean matrix new numbers: the same to merge some, -1 to drop one."""
    columns = labels[X.indices]
    kept = columns >= 0
    indptr = np.concatenate(([0], np.cumsum(kept)))[X.indptr]
    parts = (X.data[kept], columns[kept], indptr)
    merged = sparse.csr_matrix(parts, shape=(X.shape[0], n_columns))
    merged.sum_duplicates()
    return merged


class TextVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Turn texts into a Boolean bag of words, one row a text and one column a term.

    Parameters
    ----------
    language : str, default="en"
        Language of lemmas and stop words, as an ISO 639 code.
    stop_words : "default", None or iterable of str, default="default"
        Words to leave out: those of `stop_words`, none, or these. A word is left out if it, or it
        without ``'s`` and the like, or its lemma is on the list.
    lemmatize : bool, default=True
        Fold the forms of a word into its lemma.
    min_df, max_df : int or float, default=1 and 1.0
        Leave out terms that occur in fewer or in more documents; a float is a share of them.
    max_features : int or None, default=None
        Keep the terms that occur in most documents (ties: in order of the alphabet).
    ngram_range : (1, 1), (1, 2) or (2, 2), default=(1, 1)
        Words, words and pairs, or pairs only. A pair is two terms joined by a space that follow
        one another once stop words are left out (*change my pin* has *change pin*); punctuation
        and blank lines part them.
    min_word_length : int, default=1
        Leave out shorter words, as if they were stop words.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each term, in order of the alphabet.
    document_frequencies_ : ndarray of shape (n_terms,)
        In how many documents each term occurs.
    forms_ : dict of str to dict of str to int
        The word forms behind each term, in lower case, the most frequent first, each with the
        number of documents that it occurs in.
    stop_words_ : frozenset of str
        The stop words in use.
    n_documents_ : int
        How many documents `fit` saw.

    Examples
    --------
    >>> vectorizer = TextVectorizer()
    >>> X = vectorizer.fit_transform(["Rugby matches", "A cricket match: England's innings"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['cricket', 'england', 'innings', 'match', 'rugby']
    >>> X.astype(int).toarray().tolist()
    [[0, 0, 0, 1, 1], [1, 1, 1, 1, 0]]
    >>> vectorizer.forms_["match"]
    {'match': 1, 'matches': 1}
    >>> vectorizer.tokens("Two Matches")[1]
    Token(term='match', start=4, end=11, surface='Matches', index=3)
    """

    vocabulary_: dict[str, int]
    document_frequencies_: NDArray[np.int64]
    forms_: dict[str, dict[str, int]]
    stop_words_: frozenset[str]
    n_documents_: int

    def __init__(
        self,
        *,
        language: str = "en",
        stop_words: str | Iterable[str] | None = "default",
        lemmatize: bool = True,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        min_word_length: int = 1,
    ) -> None:
        self.language = language
        self.stop_words = stop_words
        self.lemmatize = lemmatize
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.ngram_range = ngram_range
        self.min_word_length = min_word_length

    def fit(self, raw_documents: Iterable[str], y: object = None) -> TextVectorizer:
        """Learn the terms of an iterable of texts, in one pass."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: object = None) -> Any:
        """Learn the terms and give the Boolean CSR matrix, in one pass over the texts."""
        self._check_parameters()
        self.__dict__.pop("_lookup", None)
        self.stop_words_ = self._stop_words()
        words: dict[str, int] = {}
        lemmas: dict[str, int] = {}
        lemma_of_word: list[int] = []

        def code_of(form: str) -> int:
            if form not in words:
                term = self._term(form)
                if term is None:
                    return _STOP
                lemma_of_word.append(lemmas.setdefault(term, len(lemmas)))
                words[form] = len(words)
            return words[form]

        cells = self._cells(_Encoder(code_of), raw_documents)
        self.n_documents_ = cells.n_texts
        keys, pairs = np.unique(cells.keys, return_inverse=True)
        forms = _Units(words, keys)
        X = cells.matrix(cells.words, len(words) + pairs, len(forms))
        counts = np.bincount(X.indices, minlength=len(forms))
        folded = np.array(lemma_of_word, dtype=np.int64)
        keys, pairs = np.unique(_keys(folded[keys >> 32], folded[keys & _LOW]), return_inverse=True)
        terms, folded = _Units(lemmas, keys), np.concatenate((folded, len(lemmas) + pairs))
        X = _relabelled(X, folded, len(terms))
        frequencies = np.bincount(X.indices, minlength=len(terms))
        chosen = self._choose(terms, frequencies)
        columns = np.full(len(terms), -1, dtype=np.int32)
        columns[chosen] = np.arange(len(chosen))
        self.vocabulary_ = {term: column for column, term in enumerate(terms.names(chosen))}
        self.document_frequencies_ = frequencies[chosen]
        self.forms_ = self._forms_behind(forms, counts, columns[folded])
        return _relabelled(X, columns, len(chosen))

    def transform(self, raw_documents: Iterable[str]) -> Any:
        """Give the Boolean CSR matrix of the texts; words that `fit` did not keep are left out."""
        check_is_fitted(self, "vocabulary_")
        lookup: _Lookup | None = self.__dict__.get("_lookup")
        if lookup is None or len(lookup.encoder) > _MAX_CACHED:
            lookup = self._lookup = _Lookup(self.vocabulary_, self._term)
        return lookup.matrix(self._cells(lookup.encoder, raw_documents), len(self.vocabulary_))

    def tokens(self, text: str) -> list[Token]:
        """Give the terms of a text, in order, and where in the raw text each stood.

        Stop words are left out; a term that is not in the vocabulary has the index -1. A pair
        spans everything from its first word to its second.
        """
        check_is_fitted(self, "vocabulary_")
        (text,) = _checked([text])
        first, last = self.ngram_range
        found: list[Token] = []
        previous: Token | None = None
        for chunk in (CHUNK_OR_BREAK if last == 2 else CHUNK).finditer(fold(text)):
            words = words_in(chunk[0], chunk.start())
            if not words:
                previous = None
            for start, end, form in words:
                term = self._term(form)
                if term is None:
                    continue
                token = self._token(text, term, start, end)
                if first == 1:
                    found.append(token)
                if last == 2 and previous is not None:
                    pair = f"{previous.term} {term}"
                    found.append(self._token(text, pair, previous.start, end))
                previous = token
        return sorted(found, key=lambda token: (token.start, token.end))

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Give the terms in the order of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def _token(self, text: str, term: str, start: int, end: int) -> Token:
        return Token(term, start, end, text[start:end], self.vocabulary_.get(term, -1))

    def _term(self, form: str) -> str | None:
        """Give the term of a word, None for a stop word."""
        bare = without_clitics(form) if self.language == "en" else form
        term = lemma_of(form, self.language) if self.lemmatize else form
        if len(form) < self.min_word_length or not self.stop_words_.isdisjoint((form, bare, term)):
            return None
        return term

    def _cells(self, encoder: _Encoder, texts: Iterable[str]) -> _Cells:
        pairs = self.ngram_range[1] == 2
        return _Cells(encoder.encode(_checked(texts), ordered=pairs), pairs=pairs)

    def _choose(self, terms: _Units, frequencies: NDArray[np.int64]) -> list[int]:
        """Give the numbers of the terms to keep, in order of the alphabet."""
        n = self.n_documents_
        if not len(terms):
            raise ValueError(
                f"Nothing is left after cleaning: the {n} documents hold no words but stop words "
                "and too short ones; pass other texts, or stop_words=None."
                if n
                else "There are no documents to learn from; pass at least one text."
            )
        least, most = (df * n if isinstance(df, float) else df for df in (self.min_df, self.max_df))
        kept = (frequencies >= least) & (frequencies <= most)
        if self.ngram_range[0] == 2:
            kept[: len(terms.words)] = False
        if not kept.any():
            raise ValueError(
                f"Nothing is left after cleaning: of {len(terms)} terms in {n} documents none has "
                f"min_df={self.min_df}, max_df={self.max_df}, ngram_range={self.ngram_range}; "
                "loosen these."
            )
        numbers = np.flatnonzero(kept).tolist()
        named = zip(terms.names(numbers), (-frequencies[numbers]).tolist(), numbers, strict=True)
        in_order = sorted(named)
        if self.max_features is not None:
            in_order = sorted(sorted(in_order, key=itemgetter(1))[: self.max_features])
        return [number for _, _, number in in_order]

    def _forms_behind(
        self, forms: _Units, counts: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> dict[str, dict[str, int]]:
        terms = list(self.vocabulary_)
        behind: dict[str, dict[str, int]] = {term: {} for term in terms}
        kept = np.flatnonzero(columns >= 0)
        names = forms.names(kept.tolist())
        rows = zip((-counts[kept]).tolist(), names, columns[kept].tolist(), strict=True)
        for negative, form, column in sorted(rows):
            behind[terms[column]][form] = -negative
        return behind

    def _stop_words(self) -> frozenset[str]:
        given = self.stop_words
        if given is None:
            return frozenset()
        if isinstance(given, str) and given == "default":
            return stop_words(self.language)
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise ValueError(f"stop_words={given!r}: expected 'default', None or a list of words.")
        words = list(given)
        if not all(isinstance(word, str) for word in words):
            raise ValueError("stop_words holds something that is not a str; pass words only.")
        return frozenset(normal(fold(word)) for word in words)

    def _check_parameters(self) -> None:
        if not isinstance(self.language, str):
            raise ValueError(f"language={self.language!r}: expected a code such as 'en'.")
        if self.lemmatize:
            check_language(self.language)
        for name in ("min_df", "max_df"):
            df = getattr(self, name)
            if not _is_count(df) and not (isinstance(df, float) and 0 <= df <= 1):
                raise ValueError(
                    f"{name}={df!r}: expected a number of documents from 1 (int), or a share of "
                    "them from 0.0 to 1.0 (float)."
                )
        for name in ("max_features", "min_word_length"):
            value = getattr(self, name)
            if not _is_count(value) and not (name == "max_features" and value is None):
                raise ValueError(f"{name}={value!r}: expected an int of at least 1.")
        if self.ngram_range not in ((1, 1), (1, 2), (2, 2)):
            raise ValueError(
                f"ngram_range={self.ngram_range!r}: expected (1, 1), (1, 2) or (2, 2)."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave the cache of words behind."""
        return {k: v for k, v in super().__getstate__().items() if k != "_lookup"}

    def __sklearn_tags__(self) -> Any:
        """Declare texts as input."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _checked(texts: Iterable[str]) -> Iterator[str]:
    """Pass on the texts, and refuse what is not one."""
    if isinstance(texts, str | bytes):
        raise DocumentError(
            f"Expected several texts, got a single {_kind(texts)}; wrap it in a list."
        )
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or not isinstance(texts, Iterable):
        raise DocumentError(
            f"Expected an iterable of texts, got {_kind(texts)}; pass a list of str, or one column."
        )
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            hint = "decode it" if isinstance(text, bytes) else "convert it to str or leave it out"
            raise DocumentError(f"Document {position} is {_kind(text)}, not a str; {hint}.")
        yield text


def _kind(value: object) -> str:
    missing = value is None or (isinstance(value, float) and value != value)
    return f"{value} (missing)" if missing else type(value).__name__


def _is_count(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 1
