"""A vector for each token, so that the mean over a text's tokens is near the teacher's vector."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.linear import unit_rows

__all__ = ["Constants", "Teacher", "distil", "teacher_vectors", "token_means", "write_encoder"]

_LEAST = 1e-9
_BATCH, _ROWS = 4096, 1024  # texts encoded, and texts of a step of Adam
_HOLD = 1e-5  # how strongly Adam is held to its start
Seen = Callable[[int], None]


class Teacher(Protocol):
    """What has sentence vectors to learn from."""

    def encode(self, texts: Sequence[str], /) -> NDArray[Any]:
        """Return a row for each text."""
        ...


@dataclass(frozen=True)
class Constants:
    """The constants of `distil`.

    Attributes
    ----------
    dimensions : int
        The numbers of a vector.
    penalty : float
        How strongly a token's vector is held to the one that the teacher's vector of the token
        alone gives, in number of texts.
    steps : int
        The steps of conjugate gradients.
    held_back : float
        The share of texts that nothing is learned from.
    epochs : int
        How often all texts are seen by Adam, after the least squares.
    rate : float
        The first step of Adam; it falls to 0 in the second half.
    common : float
        The share of the mean vector of texts that is taken off every token.
    """

    dimensions: int = 160
    penalty: float = 1.0
    steps: int = 15
    held_back: float = 0.03
    epochs: int = 4
    rate: float = 2e-3
    common: float = 0.5


def token_means(tokenizer: Any, texts: Sequence[str]) -> sparse.csr_array:
    """Return a matrix that, times the vectors of tokens, gives the means of texts."""
    ids = [each.ids for each in tokenizer.encode_batch(list(texts), add_special_tokens=False)]
    sizes = np.array([len(each) for each in ids])
    indices = np.array([i for each in ids for i in each], dtype=np.int32)
    data = np.repeat(1.0 / np.maximum(sizes, 1), sizes).astype(np.float32)
    shape = (len(ids), tokenizer.get_vocab_size())
    return sparse.csr_array((data, indices, np.append(0, np.cumsum(sizes))), shape=shape)


def teacher_vectors(
    teacher: Teacher, tokenizer: Any, texts: Sequence[str], seen: Seen = lambda n: None
) -> NDArray[np.float16]:
    """Return the teacher's unit vectors: of each token alone, then of each text.

    Parameters
    ----------
    teacher : object with encode
        The encoder to learn from.
    tokenizer : tokenizers.Tokenizer
        The tokenizer of the vectors.
    texts : sequence of str
        The texts to learn from.
    seen : callable, optional
        Called with the number of texts that are encoded.
    """
    given = [*_token_texts(tokenizer), *texts]
    parts = []
    for start in range(0, len(given), _BATCH):
        rows = np.asarray(teacher.encode(given[start : start + _BATCH]), np.float64)
        parts.append(np.asarray(unit_rows(rows), np.float16))
        seen(min(start + _BATCH, len(given)))
    return np.vstack(parts)


def _token_texts(tokenizer: Any) -> list[str]:
    """Return each token as a text of its own."""
    names = sorted(tokenizer.get_vocab().items(), key=lambda each: int(each[1]))
    return [str(name).removeprefix("##") for name, _ in names]


def _linear_map(rows: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.float32]:
    """Return the least-squares map from rows to targets, with a little ridge for stability."""
    products = rows.T.astype(np.float64) @ rows
    ridge = 1e-3 * np.trace(products) / len(products) * np.eye(len(products))
    return np.linalg.solve(products + ridge, rows.T @ targets).astype(np.float32)


def _differences(
    means: sparse.csr_array, missing: NDArray[Any], constants: Constants
) -> NDArray[np.float32]:
    """Return what tokens add, by conjugate gradients on all columns at once."""
    transposed = means.T.tocsr()
    diagonal = np.asarray(means.multiply(means).sum(axis=0)).ravel() + constants.penalty
    inverse = (1.0 / diagonal)[:, None].astype(np.float32)
    residual = np.asarray(transposed @ missing, np.float32)
    found = np.zeros_like(residual)
    scaled = inverse * residual
    direction, norms = scaled.copy(), (residual * scaled).sum(axis=0)
    for _ in range(constants.steps):
        image = transposed @ (means @ direction) + np.float32(constants.penalty) * direction
        step = norms / np.maximum((direction * image).sum(axis=0), _LEAST)
        found += step * direction
        residual -= step * image
        scaled = inverse * residual
        last, norms = norms, (residual * scaled).sum(axis=0)
        direction = scaled + norms / np.maximum(last, _LEAST) * direction
    return found


def _turned(
    means: sparse.csr_array,
    targets: NDArray[np.float32],
    start: NDArray[np.float32],
    constants: Constants,
    seed: int,
) -> NDArray[np.float32]:
    """Return vectors whose means have a higher cosine to the targets, by Adam."""
    vectors, random = start.copy(), np.random.default_rng(seed)
    first, second = np.zeros_like(vectors), np.zeros_like(vectors)
    total = constants.epochs * -(-len(targets) // _ROWS)
    step = 0
    for _ in range(constants.epochs):
        order = random.permutation(len(targets))
        for begin in range(0, len(order), _ROWS):
            rows = order[begin : begin + _ROWS]
            sums = means[rows] @ vectors
            norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6)
            units, wanted = sums / norms, targets[rows]
            cosines = (units * wanted).sum(axis=1, keepdims=True)
            slope = means[rows].T @ ((cosines * units - wanted) / norms / len(rows))
            slope += _HOLD * (vectors - start)
            step += 1
            first += np.float32(0.1) * (slope - first)
            second += np.float32(0.001) * (slope * slope - second)
            rate = constants.rate * min(1.0, 2.0 * (1.0 - step / total)) / (1.0 - 0.9**step)
            scale = np.sqrt(second / np.float32(1.0 - 0.999**step)) + np.float32(1e-8)
            vectors -= np.float32(rate) * first / scale
    return vectors


def _main_axes(rows: NDArray[Any], n: int) -> NDArray[np.float32]:
    """Return the main axes of unit vectors, not centred, because their cosines are kept."""
    values, axes = np.linalg.eigh(rows.T.astype(np.float64) @ rows)
    return axes[:, np.argsort(-values)[:n]].astype(np.float32)


def _cosine(found: NDArray[Any], right: NDArray[Any]) -> float:
    pairs = np.asarray(unit_rows(found.astype(np.float64))) * unit_rows(right.astype(np.float64))
    return float(pairs.sum(axis=1).mean())


def write_encoder(folder: Path, tokenizer: Any, vectors: NDArray[Any]) -> None:
    """Write ``tokenizer.json``, and ``model.safetensors`` in 8 bits with a scale for each token."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (folder / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    scales = (np.abs(vectors).max(axis=1) / 127.0).astype(np.float16)
    scales[scales == 0] = 1
    whole = np.rint(vectors / scales.astype(np.float64)[:, None])
    parts = {"embeddings": whole.clip(-127, 127).astype(np.int8), "scales": scales}
    header, place = {}, 0
    for name, part in parts.items():
        kind = {"int8": "I8", "float16": "F16"}[part.dtype.name]
        ends = [place, place + part.nbytes]
        header[name] = {"dtype": kind, "shape": list(part.shape), "data_offsets": ends}
        place += part.nbytes
    about = json.dumps(header).encode()
    about += b" " * (-len(about) % 8)  # the format wants numbers at a multiple of 8
    content = b"".join(part.tobytes() for part in parts.values())
    (folder / "model.safetensors").write_bytes(len(about).to_bytes(8, "little") + about + content)


def distil(
    rows: NDArray[np.float16],
    means: sparse.csr_array,
    constants: Constants | None = None,
    seed: int = 0,
) -> tuple[NDArray[np.float64], dict[str, float]]:
    """Learn a vector for each token from the teacher's.

    First a linear map from the teacher's vector of a token alone, the same for all tokens, then
    what each token adds to it: both by least squares against the teacher's vectors of texts. Then,
    on the main axes, the cosine to the teacher's vectors is raised by Adam. At the end a share of
    the mean vector of texts is taken off, because it makes all long texts alike.

    Parameters
    ----------
    rows : ndarray
        What `teacher_vectors` returned.
    means : sparse array
        What `token_means` returned for the same texts.
    constants : Constants, optional
        Those of the published vectors by default.
    seed : int, default=0
        The seed of the draw of held-back texts.

    Returns
    -------
    vectors : ndarray
        A row for each token of the tokenizer.
    figures : dict of float
        The number of texts, and the mean cosine to the teacher's vectors on the main axes for
        held-back texts, before the mean is taken off.
    """
    constants = constants or Constants()
    n_tokens = means.shape[1]
    alone, wanted = rows[:n_tokens].astype(np.float32), rows[n_tokens:].astype(np.float32)
    held_back = np.random.default_rng(seed).random(len(wanted)) < constants.held_back
    learned, targets = means[~held_back], wanted[~held_back]
    vectors = alone @ _linear_map(np.asarray(learned @ alone), targets)
    vectors += _differences(learned, targets - learned @ vectors, constants)
    axes = _main_axes(targets, constants.dimensions)
    reduced = unit_rows((targets @ axes).astype(np.float64)).astype(np.float32)
    start = np.asarray(vectors @ axes, np.float32)
    vectors = _turned(learned, reduced, start, constants, seed)
    figures = {"texts": float(len(wanted))}
    if held_back.any():
        figures["cosine"] = _cosine(means[held_back] @ vectors, wanted[held_back] @ axes)
    common = np.asarray(learned @ vectors).mean(axis=0)
    return np.asarray(vectors - constants.common * common, np.float64), figures
