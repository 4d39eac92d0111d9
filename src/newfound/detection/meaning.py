"""What texts mean: vectors of an encoder, compared with those of known documents.

An encoder turns texts into vectors, so that texts of similar meaning have similar vectors. Two
parts of the novelty come of them: how unlike a text is to the five most similar known documents,
each divided by the root of its density as in `newfound.detection.class_statistics`; and, with
classes, the relative Mahalanobis distance of the nearest class: its distance, with the covariance
that the classes share, less the distance of the mean of all documents, with that of all. Both are
computed from vectors of whole numbers, whose products are exact in any order.

How much they count is decided by known documents alone: by how well the vectors tell documents of
a class (or of a group of words) from others, compared with how well words do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.detection.encoder_shelf import shelf, shelved_encoder
from newfound.linear import Tfidf, dense_product, k_means, principal_axes, product, unit_rows

__all__ = [
    "MEANING_PARTS",
    "UNIT",
    "ClassShapes",
    "Meaning",
    "TextEncoder",
    "Vectors",
    "check_encoder",
    "encoded",
    "encoder_name",
    "usefulness",
]

MEANING_PARTS = ("similar_documents", "similar_class")

# Vectors of length 1 are rounded to whole numbers of 1/2,048. Sums of their products are then below
# 2**24, so that they are exact in single precision, whatever order a library adds them up in.
UNIT = 2048
_MAX_DIMENSIONS = 10_000
_BLOCK = 8192  # texts, or vectors, that are worked on at a time
_NEAREST = 5
_SPARSE = 0.1  # added to densities, so that a document unlike all others does not count too much
_MAX_OTHERS = 2000  # documents that a density is measured with
_SHRUNK = 0.1  # share of a covariance that is replaced by that of independent dimensions
_CELLS = 4_000_000  # similarities that are computed at a time
# The weight of each part, in units of its spread over known documents, for short and for long ones,
# without and with classes: lab/notes/meaning.md.
_WEIGHTS = (((4.0, 0.0), (2.0, 2.0)), ((2.0, 0.0), (1.0, 0.0)))
_LEAST_OF_LONG, _UP_TO_WHOLE = 0.9, 0.2  # usefulness from which on vectors of long texts count
_GROUPS, _DIMENSIONS = 20, 50  # of words, where there are no classes
_IN_GROUPS = 1.5  # vectors tell groups of words less well than words do
_MAX_JUDGED, _MAX_LEARNED, _MIN_JUDGED = 1000, 4000, 30
_SAME = 0.04  # squared distance of the vectors of one text by an encoder on other processors
_PROBES = ("Please pay the electricity bill.", "How far is the moon?", "rugby")
_UNEVEN = 1e-9
_LEAST_SPREAD = 0.05  # of similarities

Floats = NDArray[np.float64]
Vectors = NDArray[np.int16]


class TextEncoder(Protocol):
    """Anything that turns texts into vectors, such as a model of sentence-transformers."""

    def encode(self, texts: list[str], /) -> Any:
        """Return an array with a row for each text."""


def check_encoder(encoder: object) -> None:
    """Raise a ValueError unless this is None or can encode."""
    can = callable(getattr(encoder, "encode", None)) and not isinstance(encoder, str)
    if encoder is not None and not can:
        raise ValueError(
            f"encoder={encoder!r:.60} cannot encode; pass an object with a method encode(texts) "
            "that returns an array, or newfound.load_encoder(folder)."
        )


def encoder_name(encoder: object) -> str:
    """Return a name of an encoder, for messages."""
    name = getattr(encoder, "name", None)
    return name if isinstance(name, str) else type(encoder).__name__


def encoded(encoder: Any, texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts, of length 1, in whole numbers of 1/2,048.

    A ValueError if an encoder does not give a row of finite numbers for each text.
    """
    starts = range(0, max(len(texts), 1), _BLOCK)
    blocks = [_encoded_block(encoder, texts[start : start + _BLOCK]) for start in starts]
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def _encoded_block(encoder: Any, texts: Sequence[str]) -> Vectors:
    given = np.asarray(encoder.encode(list(texts)))
    name = encoder_name(encoder)
    if given.ndim != 2 or len(given) != len(texts) or not 0 < given.shape[1] < _MAX_DIMENSIONS:
        raise ValueError(
            f"The encoder {name} returned an array of the shape {given.shape} for {len(texts):,} "
            f"texts; expected a row for each, of fewer than {_MAX_DIMENSIONS:,} numbers."
        )
    rows = given.astype(np.float64)
    if not np.isfinite(rows).all():
        raise ValueError(f"The encoder {name} returned numbers that are not finite.")
    vectors: Vectors = np.rint(unit_rows(rows) * UNIT).astype(np.int16)
    return vectors


def _similarities(
    vectors: Vectors, known: NDArray[np.float32]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Yield the products of some vectors with those of known documents, and which they are.

    There is a row for each vector. The known ones are whole numbers, too, as floats.
    """
    step = max(_CELLS // len(known), 1)
    for start in range(0, len(vectors), step):
        rows = slice(start, start + step)
        similar = vectors[rows].astype(np.float32) @ known.T
        similar /= UNIT**2
        yield rows, similar


def _highest(rows: NDArray[Any]) -> Floats:
    """Return the mean of the highest five numbers of each row."""
    n = min(_NEAREST, rows.shape[1])
    highest = np.sort(np.partition(rows, rows.shape[1] - n, axis=1)[:, -n:], axis=1)
    total = np.zeros(len(rows))
    for column in highest.T:
        total += column
    mean: Floats = total / n
    return mean


def _density(vectors: Vectors, seed: int) -> Floats:
    """Return how similar each document is to the five most similar of up to 2,000 others."""
    others = np.sort(np.random.RandomState(seed).permutation(len(vectors))[:_MAX_OTHERS])
    density = np.ones(len(vectors))
    if len(others) > 1:
        for rows, similar in _similarities(vectors, vectors[others].astype(np.float32)):
            numbers = np.arange(len(vectors))[rows]
            similar[numbers[:, None] == others] = -1.0  # itself
            density[rows] = np.maximum(_highest(similar), 0.0)
    return density


def _whitening(covariance: Floats) -> Floats:
    """Return a matrix W, so that W'W is the inverse of a covariance, shrunk.

    Examples
    --------
    >>> (_whitening(np.array([[2.0, 0.0], [0.0, 2.0]])) ** 2).round(9).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    d = len(covariance)
    mean = max(float(np.trace(covariance)) / d, _UNEVEN)
    rest = (1 - _SHRUNK) * covariance + _SHRUNK * mean * np.eye(d)
    inverse = np.eye(d)
    for j in range(d):  # Gauss's elimination of the columns of Cholesky's factor
        column = rest[j:, j] / np.sqrt(rest[j, j])
        inverse[j] /= column[0]
        below = column[1:, None]
        inverse[j + 1 :] -= below * inverse[j]
        rest[j + 1 :, j + 1 :] -= below * column[1:]
    return inverse


@dataclass(frozen=True, eq=False)
class ClassShapes:
    """Where classes lie in the space of vectors.

    `centre` is the mean of all documents. `within` and `whole` make vectors without it independent,
    by the covariance within classes and by that of all documents; `means` has those of classes,
    made independent by `within`.
    """

    centre: Floats
    within: Floats
    whole: Floats
    means: Floats

    @classmethod
    def of(cls, vectors: NDArray[Any], codes: NDArray[np.int64], n_classes: int) -> ClassShapes:
        """Learn the shapes of classes from their documents."""
        n, d = vectors.shape
        sums, squares = np.zeros((n_classes, d)), np.zeros((d, d))
        for start in range(0, n, _BLOCK):
            rows = vectors[start : start + _BLOCK].astype(np.float64)
            of_rows = codes[start : start + _BLOCK]
            ones, places = np.ones(len(rows)), np.arange(len(rows))
            sums += product(
                sparse.csr_array((ones, (of_rows, places)), (n_classes, len(rows))), rows
            )
            squares += dense_product(rows.T, rows.T)
        sizes = np.maximum(np.bincount(codes, minlength=n_classes), 1)[:, None]
        centre = sums.sum(axis=0) / n
        between = (sums / np.sqrt(sizes)).T
        inside = (squares - dense_product(between, between)) / max(n - n_classes, 1)
        within = _whitening(inside)
        whole = _whitening(squares / n - centre[:, None] * centre)
        return cls(centre, within, whole, dense_product(sums / sizes - centre, within))

    def distances(self, vectors: NDArray[Any]) -> Floats:
        """Return the relative distance of the nearest class."""
        rows = vectors.astype(np.float64) - self.centre
        own, of_all = dense_product(rows, self.within), dense_product(rows, self.whole)
        away = (self.means**2).sum(axis=1) - 2 * dense_product(own, self.means)
        nearest: Floats = away.min(axis=1) + (own**2).sum(axis=1) - (of_all**2).sum(axis=1)
        return nearest


@dataclass(frozen=True, eq=False)
class Meaning:
    """What is known of the vectors of known documents.

    Attributes
    ----------
    name : str
        The encoder that made them.
    vectors : (n_documents, n_dimensions) ndarray of int16
        The vectors of the documents that were learned from.
    density : ndarray of float64
        How similar each is to the most similar others.
    shapes : ClassShapes or None
        Where the classes lie, if there are labels and the distance counts.
    probes : ndarray of int16
        The vectors of three texts, by which another encoder is noticed.
    centre, scale : (2,) ndarray of float64
        Parts are centred and multiplied by these.
    encoder : object
        What has the method `encode`; None in a detector that was read from a file.
    examples : tuple of str
        Held-back documents, to quote the one that is most like a text; empty if they were
        forgotten.
    example_vectors : ndarray of int16
        Their vectors.
    """

    name: str
    vectors: Vectors
    density: Floats
    shapes: ClassShapes | None
    probes: Vectors
    centre: Floats
    scale: Floats
    encoder: Any = None
    examples: tuple[str, ...] = ()
    example_vectors: Vectors | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what is made again when it is needed."""
        return {k: v for k, v in self.__dict__.items() if k not in ("_known", "reader")}

    @classmethod
    def of(
        cls,
        encoder: Any,
        vectors: Vectors,
        codes: NDArray[np.int64],
        n_classes: int,
        *,
        seed: int,
        with_classes: bool,
    ) -> Meaning:
        """Learn from the vectors of known documents; parts are as they are until `scaled`."""
        return cls(
            encoder_name(encoder),
            vectors,
            _density(vectors, seed),
            ClassShapes.of(vectors, codes, n_classes) if with_classes else None,
            encoded(encoder, _PROBES),
            np.zeros(2),
            np.ones(2),
            encoder,
        )

    def part(self, rows: NDArray[np.int64], codes: NDArray[np.int64], n_classes: int) -> Meaning:
        """Return what is known of some documents, with the densities among all of them."""
        vectors = self.vectors[rows]
        shapes = None if self.shapes is None else ClassShapes.of(vectors, codes, n_classes)
        return replace(self, vectors=vectors, density=self.density[rows], shapes=shapes)

    def grown(
        self, vectors: Vectors, codes: NDArray[np.int64], n_classes: int, seed: int
    ) -> Meaning:
        """Return what is known with the vectors of more documents; all have these codes."""
        every = np.concatenate((self.vectors, vectors))
        shapes = None if self.shapes is None else ClassShapes.of(every, codes, n_classes)
        return replace(self, vectors=every, density=_density(every, seed), shapes=shapes)

    def with_examples(self, texts: Sequence[str], vectors: Vectors | None) -> Meaning:
        """Return the same with other documents to quote."""
        return replace(self, examples=tuple(texts), example_vectors=vectors)

    def most_like(self, vector: Vectors) -> str | None:
        """Return the held-back document that is most like a text."""
        if self.example_vectors is None or not self.examples:
            return None
        ((_, similar),) = _similarities(vector[None], self.example_vectors.astype(np.float32))
        return self.examples[int(similar[0].argmax())]

    def with_encoder(self, encoder: Any) -> Meaning:
        """Return the same with an encoder; a ValueError if its vectors are not the same."""
        self._check_same(encoder)
        return replace(self, encoder=encoder)

    def _check_same(self, encoder: Any) -> None:
        probes = encoded(encoder, _PROBES)
        same = probes.shape == self.probes.shape
        if same:
            apart = (probes.astype(np.float64) - self.probes) / UNIT
            same = bool(((apart**2).sum(axis=1) <= _SAME).all())
        if not same:
            raise ValueError(
                f"The detector learned with the encoder {self.name}, and {encoder_name(encoder)} "
                "gives other vectors; pass the encoder that it learned with."
            )

    @cached_property
    def reader(self) -> Any:
        """The encoder, or the one of its name on the shelf; a ValueError if there is none."""
        if self.encoder is not None:
            return self.encoder
        found = shelved_encoder(self.name)
        if found is None:
            raise ValueError(
                f"This detector reads texts with the encoder {self.name}, which is not in its "
                f"file, and not in {shelf()}; copy it there with newfound encoder add FOLDER, or "
                "pass it: --encoder, or detector.use_encoder(encoder)."
            )
        self._check_same(found)
        return found

    def encoded(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts."""
        if not texts:
            return np.zeros((0, self.vectors.shape[1]), np.int16)
        found = encoded(self.reader, texts)
        if found.shape[1] != self.vectors.shape[1]:
            raise ValueError(
                f"The encoder {self.name} returned vectors of {found.shape[1]:,} numbers; expected "
                f"{self.vectors.shape[1]:,}."
            )
        return found

    @cached_property
    def _known(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The known documents as floats, and one through the root of their density."""
        weights = 1 / np.sqrt(self.density + _SPARSE)
        return self.vectors.astype(np.float32), weights.astype(np.float32)

    def parts(self, vectors: Vectors) -> Floats:
        """Return the two parts of the novelty of texts."""
        raw = np.zeros((len(vectors), len(MEANING_PARTS)))
        known, weights = self._known
        for rows, similar in _similarities(vectors, known):
            similar *= weights
            raw[rows, 0] = -_highest(similar)
        if self.shapes is not None:
            raw[:, 1] = self.shapes.distances(vectors)
        scaled: Floats = (raw - self.centre) * self.scale
        return scaled

    def scaled(self, sample: Vectors, use: float, *, is_long: bool, labelled: bool) -> Meaning:
        """Return the same with the scales of parts, by known documents that it has not learned.

        `use` is how useful the vectors are; see `usefulness`. Those of long documents count only if
        they are about as useful as words.
        """
        raw = self.parts(sample)
        use = (use - _LEAST_OF_LONG) / _UP_TO_WHOLE if is_long else use
        weights = float(np.clip(use, 0.0, 1.0)) * np.array(_WEIGHTS[is_long][labelled])
        least = np.array([_LEAST_SPREAD, np.sqrt(self.vectors.shape[1])])
        spread = np.maximum(raw.std(axis=0), least)  # near copies have none
        return replace(self, centre=raw.sum(axis=0) / max(len(raw), 1), scale=weights / spread)


def usefulness(
    vectors: tuple[Vectors, Vectors],
    bags: tuple[Any, Any],
    codes: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    seed: int,
) -> float:
    """Return how useful vectors are, from 0 (as random ones) to 1 (as words) and more.

    Known documents are compared with those that were learned from, without the documents of their
    own class, and without those of another class; without classes (`codes`), of groups of words.
    The AUROC of the difference is compared with that of words.

    Parameters
    ----------
    vectors, bags, codes : pair
        The vectors, words and classes of learned documents, and those of others.
    seed : int
        The seed of samples and groups.
    """
    random = np.random.RandomState(seed)
    sizes = [len(each) for each in vectors]
    chosen = [
        np.sort(random.permutation(size)[:most])
        for size, most in zip(sizes, (_MAX_LEARNED, _MAX_JUDGED), strict=True)
    ]
    if min(map(len, chosen)) < _MIN_JUDGED:
        return 1.0
    learned, judged = (each[rows] for each, rows in zip(vectors, chosen, strict=True))
    old, new = (each[rows] for each, rows in zip(bags, chosen, strict=True))
    weigh = Tfidf.of(old)
    old, new = weigh(old), weigh(new)
    allowed = 1.0
    if codes is None:
        groups, allowed = _groups_of_words(old, new, seed), _IN_GROUPS
    else:
        groups = (codes[0][chosen[0]], codes[1][chosen[1]])
    # As many documents are left out of the others, so that random vectors tell nothing.
    order = random.permutation(len(groups[1]))
    away = groups[1][np.roll(order, 1)][np.argsort(order)]
    apart = away != groups[1]
    if not apart.any():
        return 1.0
    sides = [each[apart, None] == groups[0] for each in (away, groups[1])]
    by_words = _told_apart((new @ old.T).toarray()[apart], *sides)
    ((_, similar),) = _similarities(judged[apart], learned.astype(np.float32))
    by_vectors = _told_apart(similar, *sides)
    return float(allowed * (by_vectors - 0.5) / max(by_words - 0.5, 0.05))


def _groups_of_words(old: Any, new: Any, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return groups of documents by their words."""
    n = min(_DIMENSIONS, *(size - 1 for size in old.shape))
    if n < 1:
        return np.zeros(old.shape[0], np.int64), np.zeros(new.shape[0], np.int64)
    axes = principal_axes(old, n, seed=seed)
    both = [unit_rows(product(rows, axes), _UNEVEN) for rows in (old, new)]
    k = min(_GROUPS, len(both[0]) // _MIN_JUDGED + 1)
    groups = k_means(both[0], k, n_starts=1, seed=seed)
    members = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    means = unit_rows(product(members, both[0]), _UNEVEN)
    return groups, dense_product(both[1], means).argmax(axis=1)


def _told_apart(similar: NDArray[Any], other: NDArray[np.bool_], own: NDArray[np.bool_]) -> float:
    """Return the AUROC of similarity without documents of another group and of the own one."""
    known = _highest(np.where(other, -1.0, similar))
    novel = _highest(np.where(own, -1.0, similar))
    order = np.sort(known)
    below = np.searchsorted(order, novel, "left") + np.searchsorted(order, novel, "right")
    return float(1 - below.sum() / (2 * len(known) * len(novel)))
