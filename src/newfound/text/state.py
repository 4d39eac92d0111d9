"""The state of a vectorizer in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from newfound.storage.fields import MAX_DOCUMENTS, Fields, is_text
from newfound.text.vectorizer import TextVectorizer

__all__ = ["vectorizer_from_state", "vectorizer_state"]


def vectorizer_state(vectorizer: TextVectorizer) -> dict[str, Any]:
    """Return what a vectorizer has learned; its parameters are saved by its owner."""
    return {
        "vocabulary": list(vectorizer.vocabulary_),
        "forms": [vectorizer.forms_[term] for term in vectorizer.vocabulary_],
        "lemmas": [[word, term] for word, term in vectorizer.lemmas_.items()],
        "stop_words": sorted(vectorizer.stop_words_),
        "n_documents": vectorizer.n_documents_,
        "document_frequencies": vectorizer.document_frequencies_,
    }


def vectorizer_from_state(fields: Fields, parameters: Mapping[str, Any]) -> TextVectorizer:
    """Return the vectorizer of a state that `vectorizer_state` made."""
    vectorizer = TextVectorizer(**parameters)
    vectorizer.check_parameters()
    terms = fields.texts("vocabulary")
    vectorizer.vocabulary_ = {term: column for column, term in enumerate(terms)}
    distinct = len(vectorizer.vocabulary_) == len(terms) > 0
    fields.require(distinct, "vocabulary", "at least one term, each once")
    n = vectorizer.n_documents_ = fields.integer("n_documents", most=MAX_DOCUMENTS)
    forms = fields.entries("forms")
    fields.require(len(forms) == len(terms), "forms", "one entry for each term")
    sound = all(isinstance(form, dict) and _are_counts(form, n) for form in forms)
    fields.require(sound, "forms", f"word forms with counts of documents from 0 to {n:,}")
    vectorizer.forms_ = dict(zip(terms, forms, strict=True))
    lemmas = fields.entries("lemmas")
    fields.require(all(map(_is_pair, lemmas)), "lemmas", "words with their terms")
    vectorizer.lemmas_ = dict(lemmas)
    vectorizer.stop_words_ = frozenset(fields.texts("stop_words"))
    vectorizer.document_frequencies_ = fields.integers(
        "document_frequencies", np.int64, (len(terms),), most=n
    )
    return vectorizer


def _is_pair(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(map(is_text, entry))


def _are_counts(forms: Mapping[Any, Any], most: int) -> bool:
    return all(
        is_text(form) and type(count) is int and 0 <= count <= most for form, count in forms.items()
    )
