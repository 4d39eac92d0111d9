"""More known documents for a detector, without starting over."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from newfound.detection.rulebank import RuleBank, learn_rules
from newfound.detection.split import known_texts
from newfound.machine.validation import whole
from newfound.text.vectorizer import TextVectorizer

if TYPE_CHECKING:
    from newfound.detection.detector import NoveltyDetector

    Detector = TypeVar("Detector", bound=NoveltyDetector)

__all__ = ["grow"]

_MOST_BANKS = 8  # from so many on, one machine learns the rules of all classes again


def grow(detector: Detector, X: Iterable[str], y: ArrayLike | None, epochs: int) -> Detector:
    """Take in more known documents; see `NoveltyDetector.partial_fit`."""
    grown = copy.copy(detector)  # one that is refused or broken off leaves the detector as it was
    _grow(grown, X, y, epochs)
    detector.__dict__.update(grown.__dict__)
    return detector


def _grow(detector: NoveltyDetector, X: Iterable[str], y: ArrayLike | None, epochs: int) -> None:
    whole("epochs", epochs, 1)
    texts, labels = known_texts(X, y)
    if not texts:
        raise ValueError("There is no known document with text to take in; pass at least one.")
    if labels is None:
        labels = detector.nearest(texts)
    classes = detector.classes_.tolist()
    number = {label: k for k, label in enumerate(classes)}
    old = len(classes)
    for label in np.asarray(labels).tolist():
        if label not in number:
            number[label] = len(number)
    codes = np.array([number[label] for label in np.asarray(labels).tolist()], dtype=np.int64)
    evidence = detector.evidence_
    aside = _drawn(detector, codes, old)
    train = np.setdiff1d(np.arange(len(codes)), aside)
    learned = [texts[i] for i in train.tolist()]
    vectorizer = _extended(detector.vectorizer_, learned)
    before = evidence.matrix
    width = len(vectorizer.vocabulary_)
    widened = sparse.csr_matrix(
        (before.data, before.indices, before.indptr), (before.shape[0], width)
    )
    fresh = vectorizer.transform(learned)
    mixed = {type(label) for label in number}
    detector.classes_ = np.array(list(number), dtype=object if len(mixed) > 1 else None)
    detector.vectorizer_ = vectorizer
    detector._held_back = [*detector._held_back, *(texts[i] for i in aside.tolist())]
    detector._learn(
        sparse.vstack((widened, fresh)).tocsr(), np.concatenate((evidence.codes, codes[train]))
    )
    _grow_rules(detector, fresh, codes[train], old, epochs)
    detector._calibrate()


def _drawn(detector: NoveltyDetector, codes: NDArray[np.int64], old: int) -> NDArray[np.int64]:
    """Draw the documents to hold back, each by itself, so that one at a time is as good as many.

    Of a new class the first document is always learned from.
    """
    seen = detector.evidence_.n_documents + len(detector._held_back)
    random = np.random.RandomState([detector._seed, seen])
    drawn = random.random_sample(len(codes)) < detector.held_back
    classes, first = np.unique(codes, return_index=True)
    drawn[first[classes >= old]] = False
    return np.flatnonzero(drawn)


def _grow_rules(
    detector: NoveltyDetector, fresh: Any, codes: NDArray[np.int64], old: int, epochs: int
) -> None:
    """Let rules of known classes go on learning, and give rules to new classes.

    Where a file kept no automata, the rules of all classes are learned again from all documents.
    """
    banks = []
    anew = not all(bank.goes_on for bank in detector.banks_)
    for bank in detector.banks_:
        here = np.flatnonzero(np.isin(codes, bank.classes))
        if len(here) and not anew:
            bank = RuleBank(copy.deepcopy(bank.machine), bank.columns, bank.classes)
            bank.partial_fit(fresh[here], codes[here], epochs)
        banks.append(bank)
    detector.banks_ = banks
    new = np.unique(codes[codes >= old])
    evidence = detector.evidence_
    anew = anew or not detector.banks_ or len(detector.banks_) >= _MOST_BANKS
    if not len(new) and not anew:
        return
    learned = learn_rules(
        detector._new_machine(),
        evidence.matrix,
        evidence.codes,
        detector._usable(),
        None if anew else new,
    )
    if learned is not None:
        detector.banks_ = [learned] if anew else [*detector.banks_, learned]


def _extended(vectorizer: TextVectorizer, texts: list[str]) -> TextVectorizer:
    """Give a vectorizer with the terms of more texts; known ones keep their columns."""
    extended = TextVectorizer(**vectorizer.get_params())
    extended.vocabulary_ = dict(vectorizer.vocabulary_)
    extended.forms_ = {term: dict(forms) for term, forms in vectorizer.forms_.items()}
    extended.stop_words_ = vectorizer.stop_words_
    frequencies = vectorizer.document_frequencies_.tolist()
    extended.n_documents_ = vectorizer.n_documents_ + len(texts)
    fresh = TextVectorizer(**vectorizer.get_params())
    try:
        fresh.fit(texts)
    except ValueError:  # texts of stop words only add no word
        fresh.vocabulary_, fresh.forms_ = {}, {}
        fresh.document_frequencies_ = np.zeros(0, np.int64)
    for term, count in zip(fresh.vocabulary_, fresh.document_frequencies_.tolist(), strict=True):
        if term not in extended.vocabulary_:
            extended.vocabulary_[term] = len(extended.vocabulary_)
            extended.forms_[term] = {}
            frequencies.append(0)
        frequencies[extended.vocabulary_[term]] += count
        forms = extended.forms_[term]
        for form, n in fresh.forms_[term].items():
            forms[form] = forms.get(form, 0) + n
    extended.document_frequencies_ = np.array(frequencies, dtype=np.int64)
    return extended
