"""Learn from known documents: a scorer and its calibration, one value that is never changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.checks import check_switch, check_whole_number
from newfound.detection.calibration import Calibration, Scales, check_alpha
from newfound.detection.class_statistics import ClassStatistics
from newfound.detection.linear import MAX_NGRAMS, ngrams_of
from newfound.detection.meaning import Meaning, check_encoder, encoded, usefulness
from newfound.detection.scoring import Scorer
from newfound.detection.sentences import HeldBackSentences
from newfound.detection.split import (
    DistinctTexts,
    TooFewError,
    check_given,
    check_share,
    draw_more_held_back,
    group_classes,
    n_held_back,
    sample_for_scales,
    split_held_back,
    warn_if_copies_count,
    warn_if_few_held_back,
    warn_single_document_classes,
)
from newfound.machine.native import EpochInfo
from newfound.rules.classifier import MOST_COEFFICIENTS, RuleClassifier, learn_rules, new_classifier
from newfound.stories.clusters import find_known_groups
from newfound.text.copies import copy_groups, text_keys
from newfound.text.vectorizer import TextVectorizer

__all__ = [
    "Knowledge",
    "available_memory",
    "check_memory",
    "check_parameters",
    "extended_classes",
    "grow",
    "learn",
    "learn_scorer",
    "memory_needed",
    "new_vectorizer",
]

_PER_TERM = 20  # bytes by class: counts, weights, neighbours, coefficients in training
# Bytes by class, for the regression that weighs the rules, and for the one of many coefficients.
_PER_WORD, _PER_WORD_OF_MANY = 200, 12
_PER_NGRAM = 12  # bytes by class: coefficients and weights
_PER_ENTRY = 60  # bytes for each n-gram of each document while the classifier is trained
_PER_NUMBER = 14  # bytes of each number of a vector: two copies of 16 bits, two of floats, and more
_FEWEST = 100  # words and pairs that are worth advising
_CGROUP = Path("/sys/fs/cgroup")
_WORSE = 0.01  # by which rules may name fewer classes right than the linear classifier
_FEW = 5  # documents of a class whose words are all of use, those of one document too
_SHORT = 20  # if documents have a median of fewer words, function words are kept


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError that names the first parameter of a detector with an impossible value."""
    check_alpha(parameters["alpha"])
    check_share(parameters["held_back"])
    check_whole_number("n_groups", parameters["n_groups"], 1)
    if parameters["max_literals"] is not None:
        check_whole_number("max_literals", parameters["max_literals"], 1)
    for name in ("classwise", "correct_typos", "redact"):
        check_switch(name, parameters.get(name, False))
    check_encoder(parameters.get("encoder"))
    new_classifier(parameters, 0).check_parameters()
    new_vectorizer(parameters, []).check_parameters()


def learn_scorer(
    texts: list[str],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    parameters: Mapping[str, Any],
    seed: int,
    callback: Callable[[EpochInfo], bool | None] | None = None,
    *,
    labelled: bool = True,
    groups: NDArray[np.intp] | None = None,
) -> Scorer:
    """Learn a scorer from known documents.

    `groups` are those of copies, of which one is measured, and none is learned from meanwhile.

    Whether rules name the class, and the spread of the parts, are measured on a sample, by a scorer
    that learned from the other documents only. They have to be known before held-back documents
    are scored, or p-values would not be exact.

    Classes that are not labels (`labelled`) are groups that were found. Groups are made of words,
    so that what a word tells of its group is no evidence.
    """
    others, sample = sample_for_scales(codes, seed, groups)

    def learn_from(
        rows: NDArray[np.int64],
        scales: Scales | None = None,
        *,
        by_rules: bool = True,
        informed: bool | None = None if labelled else False,
        meaning: Meaning | None = None,
    ) -> Scorer:
        mine, of_mine = [texts[i] for i in rows.tolist()], codes[rows]
        vectorizer = new_vectorizer(parameters, mine)
        classifier = new_classifier(parameters, seed)
        matrix = vectorizer.fit_transform(mine)
        check_memory(vectorizer, len(classes), classifier.n_clauses)
        terms = list(vectorizer.vocabulary_)
        statistics = ClassStatistics(
            matrix, of_mine, len(classes), terms, seed=seed, informed=informed
        )
        usable, groups = _usable_terms(statistics), None
        rules = learn_rules(classifier, matrix, of_mine, len(classes), usable, callback)
        if scales is not None and len(classes) == 1:
            groups = find_known_groups(
                matrix, terms, usable, statistics.rarity, classifier=classifier, seed=seed
            )
        return Scorer(
            classes,
            vectorizer,
            statistics,
            rules,
            scales,
            correct_typos=parameters["correct_typos"],
            by_rules=by_rules,
            groups=groups,
            meaning=meaning,
        )

    first = learn_from(others)
    measured = first.read([texts[i] for i in sample.tolist()])
    by_rules, scales = first.measure(measured, codes[sample], worse=_WORSE, labelled=labelled)
    informed, meaning = first.statistics.informed, None
    if parameters.get("encoder") is not None:
        meaning = _learn_meaning(
            first, texts, codes, (others, sample), parameters["encoder"], seed, labelled=labelled
        )
    del first  # before the second scorer needs its memory
    every = np.arange(len(texts))
    return learn_from(every, scales, by_rules=by_rules, informed=informed, meaning=meaning)


def _learn_meaning(
    first: Scorer,
    texts: list[str],
    codes: NDArray[np.int64],
    parts: tuple[NDArray[np.int64], NDArray[np.int64]],
    encoder: Any,
    seed: int,
    *,
    labelled: bool,
) -> Meaning:
    """Learn from the vectors of known documents, as the words of the scorer `first` were learned.

    `parts` are the documents that it learned from, and those that parts are measured on.
    """
    others, sample = parts
    n_classes, is_long = len(first.classes), first.statistics.is_long
    labelled = labelled and n_classes > 1
    check_vectors(len(texts), encoded(encoder, texts[:1]).shape[1])
    vectors = encoded(encoder, first.meant(texts))
    with_classes = labelled and not is_long
    whole = Meaning.of(encoder, vectors, codes, n_classes, seed=seed, with_classes=with_classes)
    learned = whole.part(others, codes[others], n_classes)
    single = ~first.statistics.is_pair
    measured = first.read([texts[i] for i in sample.tolist()])
    use = usefulness(
        (vectors[others], vectors[sample]),
        (first.statistics.matrix[:, single], measured.matrix[:, single]),
        (codes[others], codes[sample]) if labelled else None,
        seed,
    )
    scaled = learned.scaled(vectors[sample], use, is_long=is_long, labelled=labelled)
    return replace(whole, centre=scaled.centre, scale=scaled.scale)


def _usable_terms(statistics: ClassStatistics) -> NDArray[np.bool_]:
    """Return which terms rules may use: words of two documents, or of a class of few documents."""
    few = statistics.class_sizes < _FEW
    usable = (statistics.frequencies >= 2) | (statistics.counts[few] > 0).any(axis=0)
    words: NDArray[np.bool_] = usable & ~statistics.is_pair
    return words


def new_vectorizer(parameters: Mapping[str, Any], texts: Sequence[str]) -> TextVectorizer:
    """Return an unfitted vectorizer with the parameters of a detector.

    Stop words that are "auto" depend on how long the texts are.
    """
    names = ("language", "stop_words", "lemmatize", "max_features", "ignore")
    chosen = {name: parameters[name] for name in names}
    if isinstance(chosen["stop_words"], str) and chosen["stop_words"] == "auto":
        lengths = [text.count(" ") + 1 for text in texts[:1000]]
        chosen["stop_words"] = None if np.median(lengths or [0]) < _SHORT else "default"
    return TextVectorizer(**chosen, ngram_range=(1, 2))


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

    `classes` are those of the scorer first, then new ones; `classifier` is not fitted.
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
    usable = _usable_terms(statistics)
    rules = learn_rules(classifier, statistics.matrix, statistics.codes, len(classes), usable)
    groups = scorer.groups if len(classes) == 1 else None
    meaning = scorer.meaning
    if meaning is not None:
        more = meaning.encoded(scorer.meant(texts))
        meaning = meaning.grown(more, statistics.codes, len(classes), seed)
    return Scorer(
        classes,
        vectorizer,
        statistics,
        rules,
        scorer.scales,
        correct_typos=scorer.spelling is not None,
        by_rules=scorer.by_rules,
        groups=None if groups is None else groups.with_terms(len(vectorizer.vocabulary_)),
        meaning=meaning,
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


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What a detector has learned from known documents.

    `NoveltyDetector.fit` learns one, and holds it as ``knowledge_``. Learning more makes another.

    There are no held-back texts if they were forgotten. `n_copies` counts the known documents that
    were left out as copies of others, and `keys` has those of the learned ones, ascending (see
    `newfound.text.copies.text_keys`); it is empty if there are too few different ones to tell
    copies apart. `kept_sentences` has the scores of the sentences of held-back texts in a detector
    that was read from a file, or whose texts were forgotten.
    """

    scorer: Scorer
    calibration: Calibration
    held_back: tuple[str, ...]
    seed: int
    n_copies: int
    keys: NDArray[np.int64]
    kept_sentences: HeldBackSentences | None = None

    @cached_property
    def sentences(self) -> HeldBackSentences | None:
        """The scores of the sentences of held-back documents; None if they are not known."""
        if self.kept_sentences is not None or not self.held_back:
            return self.kept_sentences
        return HeldBackSentences.of(self.scorer, self.held_back)

    def held_back_sentences(self) -> HeldBackSentences | None:
        """Return `sentences`, computed when they are first needed."""
        return self.sentences

    @classmethod
    def of(
        cls,
        scorer: Scorer,
        held_back: list[str],
        parameters: Mapping[str, Any],
        seed: int,
        n_copies: int,
        keys: NDArray[np.int64],
    ) -> Knowledge:
        """Score the held-back documents with what was learned from the others."""
        scores = scorer.score_texts(held_back)
        calibration = Calibration(
            scores.novelty,
            scores.nearest,
            float(parameters["alpha"]),
            classwise=parameters["classwise"],
        )
        scorer = scorer.with_held_back(scores.bags)
        if scorer.meaning is not None:
            examples = scorer.meaning.with_examples(held_back, scores.bags.vectors)
            scorer = scorer.with_meaning(examples)
        return cls(scorer, calibration, tuple(held_back), seed, n_copies, keys)

    @property
    def n_documents(self) -> dict[str, int]:
        """How many known documents were "learned", "held_back", and left out as "copies"."""
        return {
            "learned": self.scorer.statistics.n_documents,
            "held_back": len(self.calibration),
            "copies": self.n_copies,
        }

    def grown(
        self, texts: list[str], labels: NDArray[Any], parameters: Mapping[str, Any]
    ) -> Knowledge:
        """Return what is known with more documents, of known classes or of new ones.

        A share of them is held back, too, and all held-back documents are scored again. Copies of
        learned documents are learned, and those of held-back ones left out, unless their class is
        new; then the held-back ones are.
        """
        given, n_old, language = len(texts), len(self.held_back), parameters["language"]
        apart = len(self.keys) > 0  # otherwise copies counted when the first ones were learned
        every = DistinctTexts.of(texts, labels, language) if apart else DistinctTexts.each(texts)
        texts, labels = every.texts, labels[every.rows]
        classes, codes = extended_classes(self.scorer.classes, labels)
        n_known = len(self.scorer.classes)
        both = [*self.held_back, *texts]
        groups = copy_groups(both, language) if apart else np.arange(len(both))
        tested = np.isin(groups[n_old:], groups[:n_old])
        learned = np.isin(text_keys(texts, numbers=False), self.keys) | (
            tested & (codes >= n_known)
        )
        spoiled = np.isin(groups[:n_old], groups[n_old:][learned])
        learned = np.isin(groups[n_old:], groups[n_old:][learned])
        drawn = draw_more_held_back(
            codes,
            parameters["held_back"],
            n_known_classes=n_known,
            seed=(self.seed, sum(self.n_documents.values())),
            groups=every.groups,
        )
        aside = drawn & ~learned & ~tested
        aside &= every.groups == np.arange(len(codes))  # one of each group
        train = np.flatnonzero(learned | ~(drawn | tested))
        held_back = [text for text, gone in zip(self.held_back, spoiled, strict=True) if not gone]
        held_back += [texts[i] for i in np.flatnonzero(aside).tolist()]
        check_given(len(held_back), float(parameters["alpha"]))
        new = [texts[i] for i in train.tolist()]
        scorer = self.scorer
        if new:
            scorer = grow(
                scorer,
                new,
                codes[train],
                classes,
                classifier=new_classifier(parameters, self.seed),
                seed=self.seed,
            )
        n_copies = self.n_copies + n_old + given - len(new) - len(held_back)
        keys = np.union1d(self.keys, text_keys(new, numbers=False)) if apart else self.keys
        return Knowledge.of(scorer, held_back, parameters, self.seed, n_copies, keys)


def learn(
    texts: list[str],
    labels: NDArray[Any] | None,
    held_back: list[str] | None,
    parameters: Mapping[str, Any],
    seed: int,
    callback: Callable[[EpochInfo], bool | None] | None = None,
) -> Knowledge:
    """Learn from known documents; copies count once.

    Without labels all are in one class, or in groups. Given `held_back` documents take the place of
    a share of the texts; copies of the texts, and of one another, are left out. `callback` is
    called after each epoch of a machine.
    """
    alpha = float(parameters["alpha"])
    if held_back is None:
        n_held_back(len(texts), alpha, parameters["held_back"])
    else:
        check_given(len(held_back), alpha)
    if labels is not None:
        warn_single_document_classes(labels)
    known = DistinctTexts.of(texts, labels, parameters["language"])
    try:
        parts = _Divided.of(known, labels, held_back, parameters, seed, apart=True)
    except TooFewError:
        warn_if_copies_count(len(texts), known.n_groups)
        known = DistinctTexts.each(texts)
        parts = _Divided.of(known, labels, held_back, parameters, seed, apart=False)
    scorer = learn_scorer(
        parts.texts,
        parts.codes,
        parts.classes,
        parameters,
        seed,
        callback,
        labelled=labels is not None,
        groups=parts.groups,
    )
    n_given = len(texts) + len(held_back or ())
    n_copies = n_given - len(parts.texts) - len(parts.held_back)
    found = Knowledge.of(scorer, parts.held_back, parameters, seed, n_copies, parts.keys)
    warn_if_few_held_back(found.calibration)
    return found


@dataclass(frozen=True)
class _Divided:
    """Known documents to learn from, with their classes and groups of copies, and those held back.

    `keys` are those of `Knowledge`.
    """

    texts: list[str]
    codes: NDArray[np.int64]
    classes: NDArray[Any]
    groups: NDArray[np.intp]
    held_back: list[str]
    keys: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        known: DistinctTexts,
        labels: NDArray[Any] | None,
        held_back: list[str] | None,
        parameters: Mapping[str, Any],
        seed: int,
        *,
        apart: bool,
    ) -> _Divided:
        """Divide known documents; of given held-back ones, no copy is left if they are `apart`."""
        alpha, texts, groups = float(parameters["alpha"]), known.texts, known.groups
        if labels is None:
            vectorizer = new_vectorizer(parameters, texts)
            labels = group_classes(texts, parameters["n_groups"], vectorizer, seed)
        else:
            labels = labels[known.rows]
        classes, every = np.unique(labels, return_inverse=True)
        codes = every.astype(np.int64)
        if held_back is None:
            train, aside = split_held_back(
                codes, alpha, parameters["held_back"], seed, groups, known.times
            )
            held_back = [texts[i] for i in aside.tolist()]
            texts, codes = [texts[i] for i in train.tolist()], codes[train]
            groups = np.unique(groups[train], return_inverse=True)[1]
        elif apart:
            both = copy_groups([*texts, *held_back], parameters["language"])
            held_back = [text for i, text in enumerate(held_back, len(texts)) if both[i] == i]
            check_given(len(held_back), alpha)
        keys = np.unique(text_keys(texts, numbers=False)) if apart else np.zeros(0, np.int64)
        return cls(texts, codes, classes, groups, held_back, keys)


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


def memory_needed(
    n_classes: int, n_terms: int, *, n_words: int, n_ngrams: int, n_entries: int, n_automata: int
) -> int:
    """Return the bytes that learning needs at its peak, about.

    `n_words` are those that rules use, `n_entries` the n-grams of all known documents, and an
    automaton takes a byte.

    Examples
    --------
    >>> memory_needed(
    ...     150, 45_000, n_words=2_400, n_ngrams=18_000, n_entries=1_500_000, n_automata=30_000_000
    ... )
    329400000
    """
    many = n_classes * n_words > MOST_COEFFICIENTS
    per_word = _PER_WORD_OF_MANY if many else _PER_WORD
    by_class = n_terms * _PER_TERM + n_ngrams * _PER_NGRAM
    rules = max(n_automata, n_classes * n_words * per_word)  # one after the other
    return n_classes * by_class + n_entries * _PER_ENTRY + rules


def available_memory() -> int | None:
    """Return the bytes that this process can still use, or None if the system does not say."""
    found = [_cgroup_left(), _system_left()]
    return min((size for size in found if size is not None), default=None)


def check_memory(vectorizer: TextVectorizer, n_classes: int, n_clauses: int) -> None:
    """Raise a ValueError if learning needs more memory than there is."""
    terms = np.array(list(vectorizer.vocabulary_), dtype=object)
    frequencies = vectorizer.document_frequencies_
    left, needed = available_memory(), _needed(terms, frequencies, n_classes, n_clauses)
    if left is None or needed <= left:
        return
    # The most frequent terms are kept, as max_features does.
    order, fewer = np.argsort(-frequencies, kind="stable"), len(terms)
    less = needed
    while less > left and fewer > _FEWEST:
        fewer //= 2
        kept = order[:fewer]
        less = _needed(terms[kept], frequencies[kept], n_classes, n_clauses)
    advice = f"max_features={fewer}, or " if less <= left else ""
    raise ValueError(
        f"{n_classes:,} class{'es' if n_classes > 1 else ''} with {len(terms):,} words and pairs "
        f"need about {_size(needed)} of memory, and {_size(left)} are free: pass {advice}fewer "
        "classes or documents."
    )


def check_vectors(n: int, n_dimensions: int) -> None:
    """Raise a ValueError if the vectors of n documents need more memory than there is."""
    left, needed = available_memory(), n * n_dimensions * _PER_NUMBER
    if left is not None and needed > left:
        raise ValueError(
            f"The vectors of {n:,} documents, of {n_dimensions:,} numbers, need about "
            f"{_size(needed)} of memory, and {_size(left)} are free: pass fewer documents, or an "
            "encoder of shorter vectors."
        )


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"


def _needed(
    terms: NDArray[np.object_], frequencies: NDArray[np.int64], n_classes: int, n_clauses: int
) -> int:
    """Return what is needed for terms and the number of documents that have each."""
    if n_classes < 2:  # no linear classifier, and no rules
        return memory_needed(
            1, len(terms), n_words=0, n_ngrams=0, n_entries=int(frequencies.sum()), n_automata=0
        )
    single = np.array([" " not in term for term in terms.tolist()], bool)
    sizes = np.array([len(ngrams_of(word)) for word in terms[single].tolist()], np.int64)
    documents = frequencies[single]
    n_words = int((documents >= 2).sum())
    return memory_needed(
        n_classes,
        len(terms),
        n_words=n_words,
        n_ngrams=min(int(sizes.sum()), MAX_NGRAMS),
        n_entries=int(sizes @ documents + frequencies.sum()),
        n_automata=2 * n_classes * n_clauses * n_words,
    )


def _system_left() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if "MemAvailable" in line) * 1024
    except (OSError, StopIteration, ValueError):
        pass
    try:  # another system: all of its memory
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _cgroup_left() -> int | None:
    """Return what the limit of a container leaves."""
    try:
        limit = (_CGROUP / "memory.max").read_text(encoding="ascii").strip()
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        return None if limit == "max" else max(int(limit) - used, 0)
    except (OSError, ValueError):
        return None
