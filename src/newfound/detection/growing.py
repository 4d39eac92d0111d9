"""Learn more known documents without reading the old ones again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.class_rules import learn_rules
from newfound.detection.class_statistics import ClassStatistics
from newfound.detection.memory import check_memory
from newfound.detection.scoring import Scorer, usable_terms
from newfound.rules.classifier import RuleClassifier
from newfound.text.vectorizer import TextVectorizer

__all__ = ["extended_classes", "grow"]


def extended_classes(
    classes: NDArray[Any], labels: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the classes with new ones appended, and the index of the class of each label.

    Examples
    --------
    >>> classes, codes = extended_classes(np.array(["b", "c"]), np.array(["c", "a", "b", "a"]))
    >>> classes.tolist(), codes.tolist()
    (['b', 'c', 'a'], [1, 2, 0, 2])
    """
    number = {label: k for k, label in enumerate(classes.tolist())}
    codes = [number.setdefault(label, len(number)) for label in labels.tolist()]
    mixed = len({type(label) for label in number}) > 1
    named = np.array(list(number), dtype=object if mixed else None)
    return named, np.array(codes, dtype=np.int64)


def grow(
    scorer: Scorer,
    texts: list[str],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    *,
    classifier: RuleClassifier,
    seed: int,
) -> Scorer:
    """Return a scorer that has learned more documents; the given one stays as it is.

    Parameters
    ----------
    scorer : Scorer
        What was learned so far.
    texts : list of str
        More known documents.
    codes : ndarray of int
        The index of the class of each.
    classes : ndarray
        The names of all classes: those of the scorer first, then new ones.
    classifier : RuleClassifier
        Not fitted.
    seed : int
        Seed of the linear classifier.

    Returns
    -------
    Scorer
    """
    vectorizer = _extended(scorer.vectorizer, texts)
    check_memory(vectorizer, len(classes), classifier.n_clauses)
    before = scorer.statistics.matrix
    widened = sparse.csr_matrix(
        (before.data, before.indices, before.indptr),
        (before.shape[0], len(vectorizer.vocabulary_)),
    )
    new = vectorizer.transform(texts)
    statistics = ClassStatistics(
        sparse.vstack((widened, new)).tocsr(),
        np.concatenate((scorer.statistics.codes, codes)),
        len(classes),
        list(vectorizer.vocabulary_),
        seed=seed,
        informed=scorer.statistics.informed,
    )
    usable = usable_terms(statistics)
    rules = learn_rules(classifier, statistics.matrix, statistics.codes, len(classes), usable)
    groups = scorer.groups if len(classes) == 1 else None
    return Scorer(
        classes,
        vectorizer,
        statistics,
        rules,
        scorer.scales,
        correct_typos=scorer.spelling is not None,
        by_rules=scorer.by_rules,
        groups=None if groups is None else groups.with_terms(len(vectorizer.vocabulary_)),
    )


def _extended(vectorizer: TextVectorizer, texts: list[str]) -> TextVectorizer:
    """Return a vectorizer with the terms of more texts; known terms keep their columns."""
    extended = TextVectorizer(**vectorizer.get_params())
    extended.vocabulary_ = dict(vectorizer.vocabulary_)
    extended.forms_ = {term: dict(forms) for term, forms in vectorizer.forms_.items()}
    extended.stop_words_ = vectorizer.stop_words_
    extended.lemmas_ = vectorizer.lemmas_
    frequencies = vectorizer.document_frequencies_.tolist()
    extended.n_documents_ = vectorizer.n_documents_ + len(texts)
    try:
        fresh = vectorizer.fitted_on(texts)
    except ValueError:  # texts of stop words only add no term
        extended.document_frequencies_ = vectorizer.document_frequencies_
        return extended
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
