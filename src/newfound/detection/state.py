"""The state of a detector in a model file; docs/model-file.md lists its fields."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.calibration import PARTS, Calibration, Scales
from newfound.detection.class_statistics import ClassStatistics
from newfound.detection.learning import Knowledge, check_parameters
from newfound.detection.linear import Subwords
from newfound.detection.meaning import MEANING_PARTS, UNIT, ClassShapes, Meaning, Vectors
from newfound.detection.scoring import Scorer
from newfound.detection.sentences import HeldBackSentences
from newfound.rules.classifier import LARGEST_WEIGHT
from newfound.rules.weighted import WeightedRules
from newfound.storage.fields import (
    MAX_DOCUMENTS,
    Fields,
    is_text,
    parameters_from_state,
    parameters_state,
)
from newfound.storage.files import one_line
from newfound.stories.clusters import KnownGroups
from newfound.text.state import vectorizer_from_state, vectorizer_state
from newfound.text.vectorizer import TextVectorizer

__all__ = ["detector_from_state", "detector_state"]

_MAX_COEFFICIENTS = 3  # of the polynomials of the scales
_VECTORIZER = ("language", "stop_words", "lemmatize", "max_features", "ignore")


def detector_state(parameters: Mapping[str, Any], knowledge: Knowledge) -> dict[str, Any]:
    """Return the state of a detector: plain values and arrays.

    It holds the held-back texts in full, because they are scored again when more is learned.
    """
    scorer, calibration = knowledge.scorer, knowledge.calibration
    vectorizer, statistics = scorer.vectorizer, scorer.statistics
    classes = scorer.classes.tolist()
    if not all(isinstance(label, str | int | float) for label in classes):
        raise ValueError("Only classes that are strings or numbers can be saved.")
    texts = [text.encode("utf-8", "replace").decode() for text in knowledge.held_back]
    state = {
        "parameters": parameters_state(parameters, vectorizer.stop_words_),
        "seed": knowledge.seed,
        "classes": classes,
        "keeps_function_words": not vectorizer.stop_words_,
        "vectorizer": vectorizer_state(vectorizer),
        "documents": {
            "indptr": statistics.matrix.indptr,
            "indices": statistics.matrix.indices,
            "codes": statistics.codes,
            "density": statistics.density,
            "keys": knowledge.keys,
            "copies": knowledge.n_copies,
        },
        "weights": statistics.weights,
        "words_tell_classes": statistics.informed,
        "scales": {
            "centre": scorer.scales.centre,
            "scale": scorer.scales.scale,
            "lengths": np.array([scorer.scales.low, scorer.scales.high]),
        },
        "named_by_rules": scorer.by_rules,
        "held_back": {
            **({"texts": texts} if texts else {}),
            "scores": calibration.scores,
            "nearest": calibration.nearest,
            "terms": list(scorer.held_back_terms),
            "documents": np.array(list(scorer.held_back_terms.values()), np.int64),
            **_sentences_state(knowledge.sentences),
        },
    }
    if scorer.rules is not None:
        state["rules"] = _rules_state(scorer.rules)
    if scorer.groups is not None:
        rules = _rules_state(scorer.groups.rules)
        state["groups"] = {"names": list(scorer.groups.names), **rules}
    if scorer.meaning is not None:
        state["meaning"] = _meaning_state(scorer.meaning)
    if statistics.subwords is not None:
        state["subwords"] = _subwords_state(statistics.subwords)
    return state


def detector_from_state(fields: Fields, names: Iterable[str]) -> tuple[dict[str, Any], Knowledge]:
    """Return the parameters and the knowledge of a state that `detector_state` made.

    `names` are the parameters of the constructor. A ValueError says which value is missing, has the
    wrong type or range, or contradicts another one.
    """
    parameters = _parameters(fields.fields("parameters"), names)
    seed = fields.integer("seed", most=2**32)
    classes = _classes(fields)
    chosen = {name: parameters[name] for name in _VECTORIZER}
    if chosen["stop_words"] == "auto":
        chosen["stop_words"] = None if fields.boolean("keeps_function_words") else "default"
    vectorizer = vectorizer_from_state(
        fields.fields("vectorizer"), {**chosen, "ngram_range": (1, 2)}
    )
    n_terms = len(vectorizer.vocabulary_)
    held_back = fields.fields("held_back")
    shape = held_back.array("scores").shape
    held_back.require(len(shape) == 1 and shape[0] > 0, "scores", "at least one score")
    scores = held_back.floats("scores", shape)
    texts = held_back.texts("texts") if "texts" in held_back else []
    if "texts" in held_back:
        held_back.require(len(texts) == len(scores), "texts", "one text for each score")
    calibration = Calibration(
        scores,
        held_back.integers("nearest", np.int64, (len(scores),), most=len(classes) - 1),
        float(parameters["alpha"]),
        classwise=parameters["classwise"],
    )
    scorer = Scorer(
        classes,
        vectorizer,
        _statistics(fields, vectorizer, len(classes)),
        _rules(fields.fields("rules"), n_terms, len(classes)) if "rules" in fields else None,
        _scales(fields.fields("scales")),
        correct_typos=parameters["correct_typos"],
        by_rules=fields.boolean("named_by_rules"),
        groups=_groups(fields, n_terms, len(classes)),
        meaning=_meaning(fields, len(classes), texts) if "meaning" in fields else None,
    )
    terms = held_back.texts("terms")
    counts = held_back.integers(
        "documents", np.int64, (len(terms),), least=1, most=max(len(scores), 1)
    )
    scorer.held_back_terms = dict(zip(terms, counts.tolist(), strict=True))
    documents = fields.fields("documents")
    n_copies = documents.integer("copies", most=MAX_DOCUMENTS)
    keys = documents.integers("keys", np.int64, (documents.length("keys"),), most=2**63 - 1)
    documents.require(bool((np.diff(keys) > 0).all()), "keys", "ascending numbers")
    sentences = _sentences(held_back)
    return parameters, Knowledge(scorer, calibration, tuple(texts), seed, n_copies, keys, sentences)


def _sentences_state(sentences: HeldBackSentences | None) -> dict[str, Any]:
    if sentences is None:
        return {}
    return {"sentences": {"scores": sentences.scores, "sizes": sentences.sizes}}


def _sentences(held_back: Fields) -> HeldBackSentences | None:
    """Return the scores of the sentences of held-back documents, if the file has them."""
    if "sentences" not in held_back:
        return None
    fields = held_back.fields("sentences")
    shapes = [fields.array(name).shape for name in ("scores", "sizes")]
    fields.require(all(len(shape) == 1 for shape in shapes), "sizes", "one number a document")
    scores = fields.floats("scores", shapes[0])
    sizes = fields.integers("sizes", np.int64, shapes[1], most=len(scores))
    fields.require(
        bool((sizes > 0).all()) and int(sizes.sum()) == len(scores),
        "sizes",
        "numbers above 0 that add up to the number of scores",
    )
    return HeldBackSentences(scores, sizes)


def _parameters(fields: Fields, names: Iterable[str]) -> dict[str, Any]:
    parameters = parameters_from_state(fields, names)
    for name in names:
        fields.value(name)
    for name in ("classwise", "lemmatize", "correct_typos", "redact"):
        fields.boolean(name)
    check_parameters(parameters)
    return parameters


def _classes(fields: Fields) -> NDArray[Any]:
    classes = fields.entries("classes")
    names = [label for label in classes if is_text(label) or isinstance(label, int | float)]
    finite = all(math.isfinite(label) for label in names if isinstance(label, float))
    sound = len(names) == len(classes) == len(set(names)) > 0 and finite
    fields.require(sound, "classes", "strings or finite numbers, each once")
    mixed = len({type(label) for label in classes}) > 1
    return np.array(classes, dtype=object if mixed else None)


def _statistics(fields: Fields, vectorizer: TextVectorizer, n_classes: int) -> ClassStatistics:
    documents, n_terms = fields.fields("documents"), len(vectorizer.vocabulary_)
    size, n = documents.length("indices"), documents.length("codes")
    indptr = documents.integers("indptr", np.int64, (n + 1,), most=size)
    indices = documents.integers("indices", np.int32, (size,), most=n_terms - 1)
    sound = indptr[0] == 0 and indptr[-1] == size and bool((np.diff(indptr) >= 0).all())
    documents.require(bool(n and sound), "indptr", "ascending positions of all indices")
    codes = documents.integers("codes", np.int64, (n,), most=n_classes - 1)
    weights = fields.floats("weights", (n_classes, n_terms + 1), np.float32)
    matrix = sparse.csr_matrix((np.ones(size, bool), indices, indptr), shape=(n, n_terms))
    documents.require(
        bool(matrix.has_canonical_format), "indices", "ascending terms in each document"
    )
    subwords = _subwords(fields.fields("subwords"), n_classes) if "subwords" in fields else None
    density = documents.floats("density", (n,))
    documents.require(bool((density >= 0).all()), "density", "numbers from 0")
    return ClassStatistics(
        matrix,
        codes,
        n_classes,
        list(vectorizer.vocabulary_),
        weights=weights,
        subwords=subwords,
        informed=fields.boolean("words_tell_classes"),
        density=density,
    )


def _scales(fields: Fields) -> Scales:
    n_parts = len(PARTS)
    scale = fields.floats("scale", (n_parts,))
    shape = fields.array("centre").shape
    rows = min(max(shape[0], 1), _MAX_COEFFICIENTS) if shape else 1
    low, high = fields.floats("lengths", (2,)).tolist()
    fields.require(0 <= low <= high, "lengths", "two ascending numbers from 0")
    return Scales(fields.floats("centre", (rows, n_parts)), scale, low, high)


def _groups(fields: Fields, n_terms: int, n_classes: int) -> KnownGroups | None:
    if "groups" not in fields or n_classes > 1:
        return None
    groups = fields.fields("groups")
    names = groups.texts("names")
    groups.require(len(names) > 1, "names", "at least two names")
    return KnownGroups(tuple(names), _rules(groups, n_terms, len(names)))


def _meaning_state(meaning: Meaning) -> dict[str, Any]:
    state: dict[str, Any] = {
        "encoder": meaning.name,
        "vectors": meaning.vectors,
        "density": meaning.density,
        "probes": meaning.probes,
        "centre": meaning.centre,
        "scale": meaning.scale,
    }
    if meaning.example_vectors is not None:
        state["held_back"] = meaning.example_vectors
    if meaning.shapes is not None:
        state["shapes"] = dict(vars(meaning.shapes))
    return state


def _meaning(fields: Fields, n_classes: int, examples: list[str]) -> Meaning:
    """Return what is known of vectors, without the encoder."""
    n = fields.fields("documents").length("codes")
    own = fields.fields("meaning")
    shape = own.array("vectors").shape
    own.require(len(shape) == 2 and shape[0] == n and shape[1] > 0, "vectors", "one a document")
    d, two = shape[1], (len(MEANING_PARTS),)
    density = own.floats("density", (n,))
    own.require(bool((density >= 0).all()), "density", "numbers from 0")
    shapes = None
    if "shapes" in own:
        of_classes = own.fields("shapes")
        shapes = ClassShapes(
            of_classes.floats("centre", (d,)),
            of_classes.floats("within", (d, d)),
            of_classes.floats("whole", (d, d)),
            of_classes.floats("means", (n_classes, d)),
        )
    kept = None
    if examples and "held_back" in own:
        kept = _vectors(own, "held_back", (len(examples), d))
    probes = own.array("probes").shape
    own.require(len(probes) == 2 and probes[1] == d, "probes", "vectors")
    return Meaning(
        one_line(own.text("encoder"), 100),
        _vectors(own, "vectors", (n, d)),
        density,
        shapes,
        _vectors(own, "probes", probes),
        own.floats("centre", two),
        own.floats("scale", two),
        examples=tuple(examples) if kept is not None else (),
        example_vectors=kept,
    )


def _vectors(fields: Fields, name: str, shape: tuple[int, ...]) -> Vectors:
    return fields.integers(name, np.int16, shape, least=-UNIT, most=UNIT)


def _subwords_state(subwords: Subwords) -> dict[str, Any]:
    return {
        "ngrams": list(subwords.ngrams),
        "rarity": subwords.rarity,
        "unseen_rarity": subwords.unseen_rarity,
        "weights": subwords.weights,
    }


def _subwords(fields: Fields, n_classes: int) -> Subwords:
    names = fields.texts("ngrams")
    numbers = {name: number for number, name in enumerate(names)}
    fields.require(len(numbers) == len(names), "ngrams", "n-grams, each once")
    return Subwords(
        numbers,
        fields.floats("rarity", (len(names),)),
        fields.number("unseen_rarity"),
        fields.floats("weights", (len(names), n_classes), np.float32),
    )


def _rules_state(rules: WeightedRules) -> dict[str, Any]:
    return {
        "lengths": rules.lengths.astype(np.int8),
        "words": rules.literals,
        "rarity": rules.rarity,
        "unit": rules.unit,
        "base": rules.base,
        "base_rarity": rules.base_rarity,
        "weights": _sparse_state(rules.weights),
        "counts": _sparse_state(rules.counts),
    }


def _rules(fields: Fields, n_terms: int, n_classes: int) -> WeightedRules:
    n = fields.length("lengths")
    lengths = fields.integers("lengths", np.int64, (n,), least=1, most=127)
    fields.require(n > 0, "lengths", "the length of at least one rule")
    words = fields.integers("words", np.int64, (int(lengths.sum()),), most=n_terms - 1)
    ends = np.cumsum(lengths)
    inside = np.ones(len(words), bool)
    inside[ends[:-1]] = False  # the first word of each rule but the first one
    ascending = bool((np.diff(words)[inside[1:]] > 0).all())
    fields.require(ascending, "words", "ascending terms in each rule")
    rarity, unit = fields.floats("rarity", (n,)), fields.number("unit")
    fields.require(unit > 0 and bool((rarity >= 0).all()), "unit", "positive numbers")
    shape = (n, n_classes)
    weights = _sparse(fields.fields("weights"), shape, least=-LARGEST_WEIGHT, most=LARGEST_WEIGHT)
    counts = _sparse(fields.fields("counts"), shape, least=0, most=2**31)
    most = LARGEST_WEIGHT
    base = fields.integers("base", np.int64, (n_classes,), least=-most, most=most)
    base_rarity = fields.number("base_rarity")
    fields.require(base_rarity > 0, "base_rarity", "a positive number")
    return WeightedRules(
        np.concatenate((np.zeros(1, np.int64), ends)),
        words.astype(np.int32),
        n_terms,
        weights,
        counts,
        rarity,
        unit,
        base,
        base_rarity,
    )


def _sparse_state(matrix: Any) -> dict[str, Any]:
    return {"indptr": matrix.indptr, "indices": matrix.indices, "data": matrix.data}


def _sparse(fields: Fields, shape: tuple[int, int], *, least: int, most: int) -> Any:
    """Return a sparse array of whole numbers, as rows."""
    size = fields.length("indices")
    indptr = fields.integers("indptr", np.int64, (shape[0] + 1,), most=size)
    sound = indptr[0] == 0 and indptr[-1] == size and bool((np.diff(indptr) >= 0).all())
    fields.require(bool(sound), "indptr", "ascending positions of all indices")
    indices = fields.integers("indices", np.int32, (size,), most=shape[1] - 1)
    data = fields.integers("data", np.int64, (size,), least=least, most=most)
    matrix = sparse.csr_array((data, indices, indptr), shape)
    fields.require(bool(matrix.has_canonical_format), "indices", "ascending columns in each row")
    return matrix
