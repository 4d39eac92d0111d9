"""Copied text counts once: copies of documents, and passages that several documents share.

Wire stories, templates, signatures and quoted lines are written once and stand in many documents.
A word of theirs has the evidence of one document, not of many. `fold_copies` finds such text and
returns the bag of words in which each word of a copied passage is kept in one document only.

Three rules say what a copy is. Stop words are skipped in the first two.

* A *passage* is a run of `PASSAGE` words or more. It is a copy if another document has the same
  words in the same order, however its lines are broken, quoted or punctuated.
* A *document* is a copy if it shares a passage with another one and has nearly the same words: the
  Jaccard similarity of the two sets of words is at least `SIMILARITY`, if both have `LONG` words or
  more. Of shorter documents the sets are equal: in a headline of six words, one other word is
  another event.
* A text too short for a passage is a copy if all its words, stop words included, are those of
  another text, in the same order, and it has at least `MIN_WORDS` words or `MIN_CHARACTERS`
  characters. People write shorter texts ("thank you") independently of one another.

Of all documents that share a passage, known and novel alike, one keeps it: the first one in an
order that is random, but the same in every run. Over many passages, each side then keeps them in
proportion to its share of the copies. Keeping one copy on each side instead would favour the
smaller side: text that recurs everywhere would count once in 5 % of the documents, and once in the
other 95 %.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.marks import counted
from newfound.sides import SIDES
from newfound.text.documents import Documents
from newfound.text.encoding import END, STOP, Encoder, TermIndex, TokenizedTexts, encode, pair_keys
from newfound.text.tokens import CHUNK, UNSPACED, stop_words_by_language
from newfound.text.tokens import fold as fold_case
from newfound.text.validation import check_texts
from newfound.text.vectorizer import TextVectorizer
from newfound.timing import step

__all__ = ["Copies", "copy_groups", "fold_copies", "read_summary", "text_keys"]

PASSAGE = 6  # words, without stop words
SIMILARITY = 0.7
LONG = 10  # different words, without stop words
MIN_WORDS, MIN_CHARACTERS = 4, 25

_DIGITS = re.compile(r"\d+")
_FIRST_STOP = 1 << 30  # numbers from here are those of stop words, while texts are read
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Copies:
    """Documents with each copied passage kept in one of them.

    `first` has the words of each document that are not part of a passage kept elsewhere; the row of
    a copy is empty, or has the few words that its original lacks. `copy_of` has the row of the
    document that each one is a copy of, its own row if it is none, and `passages` the number of
    passages that are kept elsewhere, 0 for a document that is a copy as a whole. `stops` has the
    default stop words of each document, which this reading of the texts finds on its way, in the
    columns of `stop_words`; there are none if other stop words are in use, and none in the row of a
    copy.
    """

    first: Any
    copy_of: NDArray[np.intp]
    passages: NDArray[np.intp]
    novel: NDArray[np.bool_]
    stop_words: dict[str, int]
    stops: Any

    @property
    def is_copy(self) -> NDArray[np.bool_]:
        """Which documents are copies as a whole."""
        copies: NDArray[np.bool_] = self.copy_of != np.arange(len(self.copy_of))
        return copies

    @property
    def n_documents(self) -> dict[str, int]:
        """Number of documents folded as a whole, by side."""
        counts = (self.is_copy & ~self.novel).sum(), (self.is_copy & self.novel).sum()
        return dict(zip(SIDES, map(int, counts), strict=True))

    def summary(self) -> str:
        """Return one sentence on what was folded; empty if there is nothing to say."""
        documents, passages = int(self.is_copy.sum()), int(self.passages.sum())
        parts = []
        if documents:
            originals = len(np.unique(self.copy_of[self.is_copy]))
            parts.append(f"{counted(documents, 'document')} (copies of {originals:,})")
        if passages:
            parts.append(counted(passages, "passage"))
        return f"Copied text counts once: folded {' and '.join(parts)}." if parts else ""


def read_summary(documents: Documents, *, fold: bool) -> str:
    """Return `Documents.summary`, with the number of duplicates that count once as evidence.

    `fold` says whether copies are folded.

    Examples
    --------
    >>> from newfound.text.documents import as_documents
    >>> read_summary(as_documents(["Lions win the cup"] * 3 + ["thank you"] * 2), fold=True)
    '5 documents from a list; 3 duplicates kept, 2 of them counted once as evidence'
    """
    if not fold or not documents.found.get("duplicate"):
        return documents.summary()
    seen: set[str] = set()
    counted_once = 0
    for text in documents:
        key = " ".join(text.split())
        if key in seen:
            counted_once += _is_foldable(CHUNK.findall(fold_case(key)))
        seen.add(key)
    return documents.summary(counted_once=counted_once)


@step("copies")
def fold_copies(
    texts: Sequence[str], novel: NDArray[np.bool_], matrix: Any, vectorizer: TextVectorizer
) -> Copies:
    """Find copied documents and passages, and keep each in one document.

    The cost is linear in the length of the texts, apart from one sort. The result depends on the
    texts and on their order, never on the side a document is on.

    The matrix is what the vectorizer returns for the texts; `novel` is only for the counts by side.

    Examples
    --------
    >>> texts = ["Lions win the cup. Posted by Ann Lee, Leeds Rugby News",
    ...          "Bears lose again. Posted by Ann Lee, Leeds Rugby News"]
    >>> vectorizer = TextVectorizer()
    >>> matrix = vectorizer.fit_transform(texts)
    >>> copies = fold_copies(texts, np.array([False, True]), matrix, vectorizer)
    >>> matrix.sum(axis=1).A1.tolist(), copies.first.sum(axis=1).A1.tolist()
    ([9, 9], [3, 9])
    >>> copies.summary()
    'Copied text counts once: folded 1 passage.'
    """
    novel = np.asarray(novel, dtype=bool)
    if not len(texts) == len(novel) == matrix.shape[0]:
        raise ValueError(
            f"There are {len(texts)} texts, {len(novel)} sides and {matrix.shape[0]} rows of the "
            "matrix; pass one of each for every document."
        )
    stream = _Stream(texts, vectorizer)
    order = _random_order(len(texts))
    owners = _owners(stream, order)
    is_copied = _covered(owners != stream.starts_rows, stream)
    copy_of = _whole_copies(stream, owners, order)
    short = _short_copies(texts, np.bincount(stream.rows, minlength=len(texts)), order)
    copy_of[short >= 0] = short[short >= 0]
    is_copied |= short[stream.rows] >= 0
    copy_of = _roots(copy_of)
    first = _without(matrix, stream, is_copied, copy_of, order)
    begins = is_copied.copy()
    begins[1:] &= ~is_copied[:-1] | (stream.rows[1:] != stream.rows[:-1])
    passages = np.bincount(stream.rows[begins], minlength=len(texts))
    passages[copy_of != np.arange(len(texts))] = 0
    kept = sparse.diags(copy_of == np.arange(len(texts)), dtype=bool)
    return Copies(first, copy_of, passages, novel, stream.stop_words, kept @ stream.stops)


def text_keys(texts: Sequence[str], *, numbers: bool = True) -> NDArray[np.int64]:
    """Return a number for the words of each text; texts of the same words have the same number.

    Case, punctuation and spaces do not count. Without `numbers`, digits do not count either: texts
    of one template have the same number.

    Examples
    --------
    >>> texts = ["Pay bill 17!", "pay bill 4 to 5", "pay bill to"]
    >>> [len(set(text_keys(texts, numbers=numbers).tolist())) for numbers in (True, False)]
    [3, 2]
    """
    made = (" ".join(_chunks(text, numbers=numbers)).encode("utf-8", "replace") for text in texts)
    digests = (hashlib.blake2b(text, digest_size=8).digest() for text in made)
    return np.array([int.from_bytes(digest, "little") >> 1 for digest in digests], dtype=np.int64)


def copy_groups(texts: Sequence[str], language: str = "en") -> NDArray[np.intp]:
    """Return for each text the row of one text of its group of copies.

    Two texts are copies by the rules of this module, where words with digits are left out, so that
    the texts of a template are copies; and texts of the same words are, however short they are.
    Which texts are together depends neither on their order nor on how often each occurs.

    Examples
    --------
    >>> texts = ["pay bill 17", "thanks", "Pay bill 4!", "thanks", "pay the fee"]
    >>> copy_groups(texts).tolist()
    [0, 1, 0, 1, 4]
    """
    keys = text_keys(texts, numbers=False)
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    one_each = [texts[i] for i in first.tolist()]  # in the order of their keys, not of the texts
    stream = _Stream(one_each, _PlainWords(language))
    order = np.arange(len(one_each))
    copies = _roots(_whole_copies(stream, _owners(stream, order), order))[same]
    # The first row of each group.
    roots = np.full(len(one_each), len(texts))
    np.minimum.at(roots, copies, np.arange(len(texts)))
    found: NDArray[np.intp] = roots[copies].astype(np.intp)
    return found


def _chunks(text: str, *, numbers: bool) -> list[str]:
    words = CHUNK.findall(fold_case(text))
    if numbers:
        return words
    if UNSPACED.search(text):  # a sentence is one chunk
        return [_DIGITS.sub("", word) for word in words]
    return [word for word in words if not _has_digit(word)]


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


class _Words(Protocol):
    """What of a vectorizer tells which words of a text count."""

    @property
    def vocabulary_(self) -> Mapping[str, int]: ...

    @property
    def ngram_range(self) -> tuple[int, int]: ...

    def term(self, form: str) -> str | None: ...

    def default_stop_word(self, form: str) -> str | None: ...


@dataclass(frozen=True)
class _PlainWords:
    """Words as they are, without stop words and without words that have a digit."""

    language: str
    vocabulary_: Mapping[str, int] = field(default_factory=dict)
    ngram_range: ClassVar[tuple[int, int]] = (1, 1)

    def term(self, form: str) -> str | None:
        listed = stop_words_by_language().get(self.language, frozenset())
        return None if form in listed or _has_digit(form) else form

    def default_stop_word(self, form: str) -> str | None:
        return None


class _Stream:
    """The words of all texts in one array, without stop words.

    `words` are numbers; words that are not in the vocabulary have numbers after those that are.
    `rows` are the rows of their texts. `starts` is where `PASSAGE` words of one text begin, in the
    texts `starts_rows`. `stop_words` and `stops` are as in `Copies`.
    """

    def __init__(self, texts: Sequence[str], vectorizer: _Words) -> None:
        self.index = TermIndex(vectorizer.vocabulary_)
        numbers = dict(self.index.numbers)
        self.stop_words: dict[str, int] = {}

        def code_of(form: str) -> int:
            term = vectorizer.term(form)
            if term is not None:
                return numbers.setdefault(term, len(numbers))
            word = vectorizer.default_stop_word(form)
            if word is None:
                return STOP
            return _FIRST_STOP + self.stop_words.setdefault(word, len(self.stop_words))

        self.pairs = vectorizer.ngram_range[1] == 2
        codes = encode(Encoder(code_of), check_texts(texts), ordered=True, breaks=self.pairs)
        self.stops = self._take_stops(codes, len(texts))
        is_word = codes >= 0
        if isinstance(texts, TokenizedTexts):  # a text without an order of words has no passages
            is_word &= np.append(texts.has_order, True)[np.cumsum(codes == END)]
        self.words = codes[is_word]
        self.rows: NDArray[np.int32] = np.cumsum(codes == END, dtype=np.int32)[is_word]
        self.shape = (len(texts), len(numbers))
        in_line = codes != STOP  # stop words do not separate the words of a pair
        left = np.flatnonzero((is_word[in_line][:-1] & is_word[in_line][1:]) if self.pairs else [])
        self.pair_starts = (np.cumsum(is_word[in_line]) - 1)[left]
        ends = self.rows[PASSAGE - 1 :]
        self.starts = np.flatnonzero(self.rows[: len(ends)] == ends)
        self.starts_rows = self.rows[self.starts]

    def _take_stops(self, codes: NDArray[np.int32], n_texts: int) -> Any:
        """Return the stop words of each text, and leave `STOP` in their places."""
        places = np.flatnonzero(codes >= _FIRST_STOP)
        columns = codes[places] - _FIRST_STOP
        rows = np.searchsorted(np.flatnonzero(codes == END), places)
        codes[places] = STOP
        entries = np.ones(len(places), dtype=bool), (rows, columns)
        return sparse.coo_matrix(entries, shape=(n_texts, len(self.stop_words))).tocsr()

    def hashes(self) -> NDArray[np.uint64]:
        """Return a number for the words of each passage; equal passages have equal numbers."""
        values = _scrambled(np.arange(self.shape[1], dtype=np.uint64))[self.words]
        found = np.zeros(len(self.starts), dtype=np.uint64)
        for offset in range(PASSAGE):
            found = found * _MULTIPLIER + values[self.starts + offset]
        return found

    def bags(self) -> Any:
        """Return the words of each text as a Boolean matrix, one column for each number."""
        data = np.ones(len(self.words), dtype=bool)
        return sparse.coo_matrix((data, (self.rows, self.words)), shape=self.shape).tocsr()

    def columns(self, where: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return rows and columns of the terms that have a word in given places."""
        pairs = self.pair_starts
        pairs = pairs[where[pairs] | where[pairs + 1]] if len(pairs) else pairs
        keys = pair_keys(self.words[pairs], self.words[pairs + 1])
        columns = self.index.word_columns(self.words[where]), self.index.pair_columns(keys)
        rows = np.concatenate((self.rows[where], self.rows[pairs]))
        joined = np.concatenate(columns)
        return rows[joined >= 0], joined[joined >= 0]


def _scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each number (splitmix64)."""
    x = (numbers + np.uint64(1)) * _MULTIPLIER
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _random_order(n: int) -> NDArray[np.intp]:
    """Return rows in random order; the order of two rows is the same for every n."""
    return np.argsort(_scrambled(np.arange(n, dtype=np.uint64)), kind="stable")


def _ranks(order: NDArray[np.intp]) -> NDArray[np.intp]:
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order))
    return ranks


def _owners(stream: _Stream, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for each place where a passage begins, the row of the text that keeps it."""
    hashes = stream.hashes()
    sort = np.argsort(hashes)
    ranks = _ranks(order)[stream.starts_rows[sort]]
    begins = np.flatnonzero(np.diff(hashes[sort], prepend=~hashes[sort][:1]) != 0)
    owners = np.empty(len(hashes), dtype=np.intp)
    if len(begins):
        lowest = np.minimum.reduceat(ranks, begins)
        owners[sort] = np.repeat(order[lowest], np.diff(begins, append=len(hashes)))
    return owners


def _covered(is_copied: NDArray[np.bool_], stream: _Stream) -> NDArray[np.bool_]:
    """Return which words are part of a copied passage."""
    starts = stream.starts[is_copied]
    covered = np.zeros(len(stream.words), dtype=bool)
    for offset in range(PASSAGE):
        covered[starts + offset] = True
    return covered


def _whole_copies(
    stream: _Stream, owners: NDArray[np.intp], order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the row that each text is a copy of as a whole, or its own row.

    Each text is compared with one other: that which keeps most of its passages.
    """
    n = stream.shape[0]
    copy_of = np.arange(n)
    copied = owners != stream.starts_rows
    keys, counts = np.unique(
        stream.starts_rows[copied].astype(np.int64) * n + owners[copied], return_counts=True
    )
    best = np.lexsort((_ranks(order)[keys % n], -counts, keys // n))
    rows, at = np.unique(keys[best] // n, return_index=True)
    others = keys[best][at] % n
    bags = stream.bags()
    sizes = np.diff(bags.indptr)
    common = bags[rows].multiply(bags[others]).sum(axis=1).A1
    either = sizes[rows] + sizes[others] - common
    is_long = np.minimum(sizes[rows], sizes[others]) >= LONG
    alike = common >= np.where(is_long, SIMILARITY, 1.0) * either
    copy_of[rows[alike]] = others[alike]
    return copy_of


def _short_copies(
    texts: Sequence[str], lengths: NDArray[np.intp], order: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the row that each text too short for a passage is a copy of, or -1."""
    kept: dict[str, int] = {}
    copy_of = np.full(len(texts), -1, dtype=np.intp)
    for row in order[(lengths < PASSAGE)[order]].tolist():
        words = CHUNK.findall(fold_case(texts[row]))
        if _is_foldable(words):
            keeper = kept.setdefault(" ".join(words), row)
            if keeper != row:
                copy_of[row] = keeper
    return copy_of


def _is_foldable(words: Sequence[str]) -> bool:
    """Return whether a text of these words is long enough to be a copy of an equal one."""
    return len(words) >= MIN_WORDS or len(" ".join(words)) >= MIN_CHARACTERS


def _roots(copy_of: NDArray[np.intp]) -> NDArray[np.intp]:
    """Follow copies of copies to the document that is none."""
    while not np.array_equal(copy_of, copy_of[copy_of]):
        copy_of = copy_of[copy_of]
    return copy_of


def _without(
    matrix: Any,
    stream: _Stream,
    is_copied: NDArray[np.bool_],
    copy_of: NDArray[np.intp],
    order: NDArray[np.intp],
) -> Any:
    """Return the matrix without words that stand in copied passages only."""
    n, width = matrix.shape
    touched = np.zeros(n, dtype=bool)
    touched[stream.rows[is_copied]] = True
    touched |= np.bincount(copy_of, minlength=n)[copy_of] > 1
    rows, columns = stream.columns(touched[stream.rows] & ~is_copied)
    # In a group of copies, a word counts in the first document that has it.
    groups = copy_of[rows]
    sort = np.lexsort((_ranks(order)[rows], columns, groups))
    rows, columns, groups = rows[sort], columns[sort], groups[sort]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (columns[1:] != columns[:-1]) | (groups[1:] != groups[:-1])
    kept = np.unique(rows[new].astype(np.int64) * width + columns[new])
    entries = np.repeat(np.arange(n, dtype=np.int64), np.diff(matrix.indptr))
    stays = ~touched[entries]
    places = entries[~stays] * width + matrix.indices[~stays]
    stays[~stays] = np.isin(places, kept, assume_unique=True)
    indptr = np.concatenate(([0], np.cumsum(stays)))[matrix.indptr]
    parts = (np.ones(int(stays.sum()), dtype=bool), matrix.indices[stays], indptr)
    return sparse.csr_matrix(parts, shape=matrix.shape)
