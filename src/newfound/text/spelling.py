"""Typing errors: the known spelling of a word that is one edit away."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import simplemma
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from newfound.text.vectorizer import TextVectorizer

__all__ = ["Spelling"]

_SHORTEST = 5  # letters; too many shorter words are one edit apart
_MIN_DOCUMENTS = 2  # documents that have the known spelling
_MAX_FORMS = 50_000  # the most frequent known spellings; each has an entry for each letter


class Spelling:
    """The spellings that known documents have.

    A word is taken for a typing error of a known spelling if it has at least five letters, no known
    document and no dictionary has it, and one edit makes it the known spelling: a letter added,
    left out or replaced, or two neighbouring letters exchanged, but not the first letter. Of
    several spellings the most frequent one is taken. Languages without a dictionary have no
    corrections.

    Parameters
    ----------
    documents : mapping of str to int
        The number of known documents that have each word form.
    language : str
        The language of the dictionary.

    Examples
    --------
    >>> spelling = Spelling({"account": 7, "house": 3}, "en")
    >>> [spelling.corrected(form) for form in ("acount", "accuont", "mouse", "zyxwv")]
    ['account', 'account', 'mouse', 'zyxwv']
    """

    def __init__(self, documents: Mapping[str, int], language: str) -> None:
        self.documents, self.language = documents, language

    @classmethod
    def of(cls, vectorizer: TextVectorizer) -> Spelling:
        """Return the spellings of the documents that a vectorizer was fitted on."""
        documents = {
            form: n
            for term, forms in vectorizer.forms_.items()
            if " " not in term
            for form, n in forms.items()
        }
        return cls(documents, vectorizer.language)

    def corrected(self, form: str) -> str:
        """Return the known spelling of a word form, or the form itself if there is none."""
        if (
            len(form) < _SHORTEST
            or not form.isalpha()
            or form in self.documents
            or self.language not in SUPPORTED_LANGUAGES
        ):
            return form
        found = {
            known
            for shorter in _deletions(form)
            for known in self._by_deletion.get(shorter, ())
            if _one_edit_apart(form, known)
        }
        # The dictionary is asked last, because that takes longest.
        if not found or simplemma.is_known(form, lang=self.language):
            return form
        return min(found, key=lambda known: (-self.documents[known], known))

    @cached_property
    def _by_deletion(self) -> dict[str, list[str]]:
        """Known spellings, by themselves and by what is left of them without one letter."""
        usable = [
            form
            for form, n in self.documents.items()
            if n >= _MIN_DOCUMENTS and len(form) >= _SHORTEST and form.isalpha()
        ]
        usable.sort(key=lambda form: (-self.documents[form], form))
        index: dict[str, list[str]] = {}
        for form in usable[:_MAX_FORMS]:
            for shorter in _deletions(form):
                index.setdefault(shorter, []).append(form)
        return index


def _deletions(form: str) -> set[str]:
    """Return a form, and what is left of it without each of its letters but the first.

    Two forms that are one edit apart have one of these in common.
    """
    return {form, *(form[:i] + form[i + 1 :] for i in range(1, len(form)))}


def _one_edit_apart(one: str, other: str) -> bool:
    """Return whether one edit, not of the first letter, makes two different forms equal."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    i = 0
    while i < len(one) and one[i] == other[i]:
        i += 1
    if not i:
        return False
    if len(one) < len(other):
        return one[i:] == other[i + 1 :]
    exchanged = one[i : i + 2] == other[i : i + 2][::-1] and one[i + 2 :] == other[i + 2 :]
    return exchanged or one[i + 1 :] == other[i + 1 :]
