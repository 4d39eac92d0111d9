"""Boolean bags of words of texts, and the positions of their words.

`newfound.text.tokens` defines what a word is. A *term* is what a column of the matrix stands for:
the lemma of a word, or the word itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from newfound.checks import check_switch
from newfound.text.encoding import (
    BREAK,
    STOP,
    Encoder,
    Occurrences,
    TermIndex,
    TokenizedTexts,
    WordsAndPairs,
    encode,
    pair_keys,
    renumbered,
    words_of_pairs,
)
from newfound.text.filters import compile_ignore
from newfound.text.lemmas import (
    check_language,
    lemma_of,
    lemmas_from_texts,
    warn_if_foreign,
    without_clitics,
)
from newfound.text.spelling import Capitals
from newfound.text.tokens import Token, fold, normal, stop_words, words_and_breaks
from newfound.text.validation import NothingToLearnError, check_texts, is_count
from newfound.timing import step

__all__ = ["TextVectorizer"]

_MAX_CACHED = 1 << 20  # chunks of text that `transform` remembers


class TextVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Turn texts into a Boolean matrix with one row for each text and one column for each term.

    Parameters
    ----------
    language : str, default="en"
        Language of lemmas and stop words, as an ISO 639 code.
    stop_words : "default", None or iterable of str, default="default"
        Words to leave out: those of `stop_words`, none, or the given ones. A word is left out if
        the word, the word without ``'s`` and the like, or its lemma is on the list.
    lemmatize : bool, default=True
        Replace each word by its lemma, so that its forms share one column.
    min_df, max_df : int or float, default=1 and 1.0
        Leave out terms that occur in fewer or in more documents; a float is a share of all.
    max_features : int or None, default=None
        Keep the terms that occur in most documents; ties are broken alphabetically.
    ngram_range : (1, 1), (1, 2) or (2, 2), default=(1, 1)
        Words, words and pairs, or pairs only. A pair is two terms, joined by a space, that follow
        one another after stop words are left out: *change my pin* has *change pin*. A pair does not
        cross punctuation or a blank line.
    min_word_length : int, default=1
        Leave out shorter words, like stop words.
    ignore : str or None, default=None
        Leave out words that this regular expression matches as a whole, in lower case or as a
        lemma, like stop words; see `newfound.text.filters.compile_ignore`.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The column of each term, in alphabetical order.
    document_frequencies_ : ndarray of shape (n_terms,)
        Number of documents that have each term.
    forms_ : dict of str to dict of str to int
        The forms of each term, in lower case, the most frequent first, each with the number of
        documents that have it.
    lemmas_ : dict of str to str
        The terms of words and of lemmas for which the texts contradict the dictionary; see
        `newfound.text.lemmas.lemmas_from_texts`.
    stop_words_ : frozenset of str
        The stop words in use.
    n_documents_ : int
        Number of documents that were fitted.

    Examples
    --------
    >>> vectorizer = TextVectorizer()
    >>> X = vectorizer.fit_transform(["Rugby matches", "A cricket match: England's team"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['cricket', 'england', 'match', 'rugby', 'team']
    >>> X.astype(int).toarray().tolist()
    [[0, 0, 1, 1, 0], [1, 1, 1, 0, 1]]
    >>> vectorizer.forms_["match"]
    {'match': 1, 'matches': 1}
    >>> vectorizer.tokens("Two Matches")[1]
    Token(term='match', start=4, end=11, surface='Matches', index=2)
    """

    vocabulary_: dict[str, int]
    document_frequencies_: NDArray[np.int64]
    forms_: dict[str, dict[str, int]]
    lemmas_: dict[str, str]
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
        ignore: str | None = None,
    ) -> None:
        self.language = language
        self.stop_words = stop_words
        self.lemmatize = lemmatize
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.ngram_range = ngram_range
        self.min_word_length = min_word_length
        self.ignore = ignore

    def fit(self, raw_documents: Iterable[str], y: object = None) -> TextVectorizer:
        """Learn the terms of an iterable of texts, in one pass."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: object = None) -> Any:
        """Learn the terms and return the Boolean CSR matrix, in one pass over the texts.

        `lemmas_` are found in the texts, unless these are `TokenizedTexts` that have their own.
        """
        given = raw_documents.lemmas if isinstance(raw_documents, TokenizedTexts) else None
        return self._fit(raw_documents, given)

    def fitted_on(self, raw_documents: Iterable[str]) -> TextVectorizer:
        """Return a vectorizer with the same parameters and `lemmas_`, fitted on other texts."""
        other = TextVectorizer(**self.get_params())
        other._fit(raw_documents, self.lemmas_)
        return other

    @step("tokenising")
    def _fit(self, texts: Iterable[str], lemmas: Mapping[str, str] | None) -> Any:
        """Learn the terms; without given `lemmas_`, find them in the texts."""
        self.check_parameters()
        self.__dict__.pop("_cache", None)
        self.stop_words_ = self._stop_words()
        self.lemmas_ = dict(lemmas or {})
        capitals = Capitals() if self.lemmatize and lemmas is None else None
        forms, words, X = self._read_forms(texts, capitals)
        counts = np.bincount(X.indices, minlength=len(forms))
        if self.language == "en" and lemmas is None:
            warn_if_foreign(dict(zip(forms.words, counts.tolist(), strict=False)), X.shape[0])
        if capitals is not None:
            self.lemmas_ = self._lemmas(forms, words, counts, capitals)
        terms, term_of_form = self._merge_forms(forms, words)
        X = renumbered(X, term_of_form, len(terms))
        frequencies = np.bincount(X.indices, minlength=len(terms))
        columns = self._keep_terms(terms, frequencies)
        self.forms_ = self._forms_of_terms(forms, counts, columns[term_of_form])
        return renumbered(X, columns, len(self.vocabulary_))

    def fit_counts(
        self, counts: Mapping[str, int], n_documents: int, capitals: Capitals
    ) -> TextVectorizer:
        """Learn the terms from the number of documents that have each word, without the texts.

        Which documents have several forms of a term cannot be told from these counts. The
        `document_frequencies_` are sums over the forms of each term, and too high where documents
        have several of them.

        Parameters
        ----------
        counts : mapping of str to int
            The number of documents that have each word, in lower case, not lemmatised.
        n_documents : int
            The number of documents.
        capitals : Capitals
            The words that they write with a capital.

        Returns
        -------
        self

        Examples
        --------
        >>> counts = {"match": 2, "matches": 1, "the": 3}
        >>> vectorizer = TextVectorizer().fit_counts(counts, 3, Capitals())
        >>> vectorizer.vocabulary_, vectorizer.document_frequencies_.tolist()
        ({'match': 0}, [3])
        """
        self.check_parameters()
        if self.ngram_range != (1, 1):
            raise ValueError(f"ngram_range={self.ngram_range!r}: counts of words have no pairs.")
        self.__dict__.pop("_cache", None)
        self.stop_words_, self.lemmas_ = self._stop_words(), {}
        self.n_documents_ = n_documents
        found = {form: self._word_and_lemma(form) for form in sorted(counts)}
        words = [pair for pair in found.values() if pair is not None]
        kept = [form for form, pair in found.items() if pair is not None]
        forms = WordsAndPairs(kept, np.zeros(0, np.int64))
        numbers = np.array([counts[form] for form in kept], np.int64)
        if self.lemmatize:
            self.lemmas_ = self._lemmas(forms, words, numbers, capitals)
        terms, term_of_form = self._merge_forms(forms, words)
        frequencies = np.zeros(len(terms), np.int64)
        np.add.at(frequencies, term_of_form, numbers)
        columns = self._keep_terms(terms, frequencies)
        self.forms_ = self._forms_of_terms(forms, numbers, columns[term_of_form])
        return self

    def _lemmas(
        self,
        forms: WordsAndPairs,
        words: list[tuple[str, str]],
        counts: NDArray[np.int64],
        capitals: Capitals,
    ) -> dict[str, str]:
        """Return the terms of words for which the texts contradict the dictionary."""
        documents = dict(zip(forms.words, counts.tolist(), strict=False))
        with_clitics = ((f, w) for f, (w, _) in zip(forms.words, words, strict=True) if f != w)
        for form, word in with_clitics:
            documents[word] = documents.get(word, 0) + documents.pop(form)
        return lemmas_from_texts(documents, dict(words), capitals, self.language)

    def _keep_terms(
        self, terms: WordsAndPairs, frequencies: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Set the vocabulary; return the column of each term, -1 if it is not kept."""
        chosen = self._choose(terms, frequencies)
        columns = np.full(len(terms), -1, dtype=np.int32)
        columns[chosen] = np.arange(len(chosen))
        self.vocabulary_ = {term: column for column, term in enumerate(terms.names(chosen))}
        self.document_frequencies_ = frequencies[chosen]
        return columns

    def transform(self, raw_documents: Iterable[str]) -> Any:
        """Return the Boolean CSR matrix of texts; words that are not terms are left out."""
        check_is_fitted(self, "vocabulary_")
        cache: tuple[TermIndex, Encoder] | None = self.__dict__.get("_cache")
        if cache is None or len(cache[1]) > _MAX_CACHED:
            cache = self._cache = self._new_cache()
        index, encoder = cache
        found = self._occurrences(encoder, check_texts(raw_documents))
        columns = index.word_columns(found.words), index.pair_columns(found.keys)
        return found.matrix(*columns, len(self.vocabulary_))

    def tokens(self, text: str) -> list[Token]:
        """Return the terms of a text, in order, with their positions in the raw text.

        Stop words are left out. A term that is not in the vocabulary has the index -1. A pair
        spans everything from its first word to its second.
        """
        check_is_fitted(self, "vocabulary_")
        (text,) = check_texts([text])
        return self.tokens_of(text, words_and_breaks(text))

    def tokens_of(self, text: str, words: Iterable[tuple[int, int, str]]) -> list[Token]:
        """Return the same as `tokens`, for a text that was split into words.

        Parameters
        ----------
        text : str
            The text.
        words : iterable of (int, int, str)
            Start, end and form of its words; the form of a break between two words is empty.

        Returns
        -------
        list of Token
        """
        first, last = self.ngram_range
        found: list[Token] = []
        terms: dict[str, str | None] = {"": None}
        previous: Token | None = None
        for start, end, form in words:
            if form not in terms:
                terms[form] = self.term(form)
            term = terms[form]
            if not form:
                previous = None
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

    def keep(self, columns: NDArray[np.intp]) -> None:
        """Keep only the terms of some columns, in their order; all others are forgotten.

        Examples
        --------
        >>> vectorizer = TextVectorizer().fit(["Rugby in 2003", "A rugby match"])
        >>> vectorizer.keep(np.array([1, 2]))
        >>> vectorizer.vocabulary_
        {'match': 0, 'rugby': 1}
        """
        check_is_fitted(self, "vocabulary_")
        self.__dict__.pop("_cache", None)
        terms = list(self.vocabulary_)
        kept = [terms[column] for column in columns.tolist()]
        self.vocabulary_ = {term: column for column, term in enumerate(kept)}
        self.document_frequencies_ = self.document_frequencies_[columns]
        self.forms_ = {term: self.forms_[term] for term in kept}

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the terms in the order of the columns."""
        check_is_fitted(self, "vocabulary_")
        return np.array(list(self.vocabulary_), dtype=object)

    def term(self, form: str) -> str | None:
        """Return the term of a word in lower case, or None for a word that is left out.

        Examples
        --------
        >>> vectorizer = TextVectorizer().fit(["Rugby matches"])
        >>> vectorizer.term("matches"), vectorizer.term("the")
        ('match', None)
        """
        found = self._word_and_lemma(form)
        if found is None:
            return None
        word, lemma = found
        return self.lemmas_.get(word) or self.lemmas_.get(lemma, lemma)

    def default_stop_word(self, form: str) -> str | None:
        """Return the default stop word that a word in lower case is left out as, or None.

        Examples
        --------
        >>> vectorizer = TextVectorizer(ignore="of").fit(["Rugby matches"])
        >>> [vectorizer.default_stop_word(word) for word in ("the", "who's", "of", "match")]
        ['the', 'who', None, None]
        """
        if not isinstance(self.stop_words, str):
            return None
        listed = (form, without_clitics(form, self.language))
        found = next((word for word in listed if word in self.stop_words_), None)
        if found is None or self.ignore is None or not compile_ignore(self.ignore).fullmatch(found):
            return found
        return None

    def _word_and_lemma(self, form: str) -> tuple[str, str] | None:
        """Return a form without clitics and its lemma in the dictionary; None for a stop word."""
        word = without_clitics(form, self.language)
        lemma = lemma_of(form, self.language) if self.lemmatize else form
        if len(form) < self.min_word_length or not self.stop_words_.isdisjoint((form, word, lemma)):
            return None
        if self.ignore is not None:
            ignored = compile_ignore(self.ignore)
            if ignored.fullmatch(form) or ignored.fullmatch(lemma):
                return None
        return word, lemma

    def _token(self, text: str, term: str, start: int, end: int) -> Token:
        return Token(term, start, end, text[start:end], self.vocabulary_.get(term, -1))

    def _occurrences(self, encoder: Encoder, texts: Iterable[str]) -> Occurrences:
        pairs = self.ngram_range[1] == 2
        return Occurrences(encode(encoder, texts, ordered=pairs), pairs=pairs)

    def _read_forms(
        self, texts: Iterable[str], capitals: Capitals | None
    ) -> tuple[WordsAndPairs, list[tuple[str, str]], Any]:
        """Return the word forms of texts, what `_word_and_lemma` says of each, and the matrix.

        Words with capitals are counted in the same pass.
        """
        words: dict[str, int] = {}
        lemmas: list[tuple[str, str]] = []

        def code_of(form: str) -> int:
            if form not in words:
                found = self._word_and_lemma(form)
                if found is None:
                    return STOP
                lemmas.append(found)
                words[form] = len(words)
            return words[form]

        texts = check_texts(texts)
        if capitals is not None:
            texts = capitals.counted(texts)
        found = self._occurrences(Encoder(code_of), texts)
        self.n_documents_ = found.n_texts
        keys, numbers = np.unique(found.keys, return_inverse=True)
        forms = WordsAndPairs(words, keys)
        return forms, lemmas, found.matrix(found.words, len(words) + numbers, len(forms))

    def _merge_forms(
        self, forms: WordsAndPairs, lemmas: list[tuple[str, str]]
    ) -> tuple[WordsAndPairs, NDArray[np.int64]]:
        """Return the terms of forms, and the number of the term of each form."""
        numbers: dict[str, int] = {}
        renamed = self.lemmas_.get
        terms = [renamed(word) or renamed(lemma, lemma) for word, lemma in lemmas]
        words = np.array([numbers.setdefault(term, len(numbers)) for term in terms], np.int64)
        left, right = words_of_pairs(forms.keys)
        keys, pairs = np.unique(pair_keys(words[left], words[right]), return_inverse=True)
        return WordsAndPairs(numbers, keys), np.concatenate((words, len(numbers) + pairs))

    def _new_cache(self) -> tuple[TermIndex, Encoder]:
        index = TermIndex(self.vocabulary_)

        def code_of(form: str) -> int:
            term = self.term(form)
            return STOP if term is None else index.numbers.get(term, BREAK)

        return index, Encoder(code_of)

    def _choose(self, terms: WordsAndPairs, frequencies: NDArray[np.int64]) -> list[int]:
        """Return the numbers of the terms to keep, in alphabetical order."""
        n = self.n_documents_
        if not len(terms):
            raise NothingToLearnError(
                f"Nothing is left after cleaning: the {n} documents hold no words other than stop "
                "words and too short words; pass other texts, or stop_words=None."
                if n
                else "There are no documents to learn from; pass at least one text."
            )
        least, most = (df * n if isinstance(df, float) else df for df in (self.min_df, self.max_df))
        kept = (frequencies >= least) & (frequencies <= most)
        if self.ngram_range[0] == 2:
            kept[: len(terms.words)] = False
        if not kept.any():
            raise NothingToLearnError(
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

    def _forms_of_terms(
        self, forms: WordsAndPairs, counts: NDArray[np.int64], columns: NDArray[np.int32]
    ) -> dict[str, dict[str, int]]:
        terms = list(self.vocabulary_)
        found: dict[str, dict[str, int]] = {term: {} for term in terms}
        kept = np.flatnonzero(columns >= 0)
        names = forms.names(kept.tolist())
        rows = zip(names, counts[kept].tolist(), columns[kept].tolist(), strict=True)
        for form, n, column in rows:
            found[terms[column]][form] = n
        for term, by_form in found.items():
            if len(by_form) > 1:
                found[term] = dict(sorted(by_form.items(), key=lambda item: (-item[1], item[0])))
        return found

    def _stop_words(self) -> frozenset[str]:
        given = self._given_stop_words()
        return stop_words(self.language) if given is None else given

    def _given_stop_words(self) -> frozenset[str] | None:
        """Return the stop words that were given; None for the default ones."""
        given = self.stop_words
        if given is None:
            return frozenset()
        if isinstance(given, str) and given == "default":
            return None
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise ValueError(f"stop_words={given!r}: expected 'default', None or a list of words.")
        words = list(given)
        if not all(isinstance(word, str) for word in words):
            raise ValueError("stop_words holds something that is not a str; pass words only.")
        return frozenset(normal(fold(word)) for word in words)

    def check_parameters(self) -> None:
        """Raise a `ValueError` that names the first parameter with a wrong value."""
        if not isinstance(self.language, str):
            raise ValueError(f"language={self.language!r}: expected a code such as 'en'.")
        check_switch("lemmatize", self.lemmatize)
        if self.lemmatize:
            check_language(self.language)
        if not isinstance(self.stop_words, Iterator):  # which can be read once only
            self._given_stop_words()
        for name in ("min_df", "max_df"):
            df = getattr(self, name)
            if not is_count(df) and not (isinstance(df, float) and 0 <= df <= 1):
                raise ValueError(
                    f"{name}={df!r}: expected a number of documents from 1 (int), or a share of "
                    "them from 0.0 to 1.0 (float)."
                )
        for name in ("max_features", "min_word_length"):
            value = getattr(self, name)
            if not is_count(value) and not (name == "max_features" and value is None):
                raise ValueError(f"{name}={value!r}: expected an int of at least 1.")
        if self.ignore is not None:
            compile_ignore(self.ignore)
        if self.ngram_range not in ((1, 1), (1, 2), (2, 2)):
            raise ValueError(
                f"ngram_range={self.ngram_range!r}: expected (1, 1), (1, 2) or (2, 2)."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the cache of words."""
        return {k: v for k, v in super().__getstate__().items() if k != "_cache"}

    def __sklearn_tags__(self) -> Any:
        """Return the tags of an estimator that takes texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags
