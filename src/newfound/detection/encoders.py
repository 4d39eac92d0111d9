"""Encoders from a folder: a transformer in ONNX, or the static vectors of model2vec.

A folder has ``tokenizer.json`` and either ``model.onnx`` or ``model.safetensors``, as the models of
sentence-transformers and model2vec on the Hugging Face Hub do. Nothing is downloaded, and no code
of the folder is run.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.linear import product

__all__ = ["OnnxEncoder", "StaticEncoder", "load_encoder"]

_BATCH = 32
_MAX_TOKENS = 256
_MAX_HEADER = 100_000_000
_INSTALL = "pip install 'newfound[meaning]'"
_TYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64, "I8": np.int8}


def load_encoder(folder: str | os.PathLike[str], *, n_jobs: int = 1) -> OnnxEncoder | StaticEncoder:
    """Read an encoder from a folder, for `NoveltyDetector(encoder=...)`.

    Parameters
    ----------
    folder : path
        A folder with ``tokenizer.json`` and ``model.onnx`` (also in a subfolder ``onnx``), or
        ``model.safetensors`` with static vectors.
    n_jobs : int, default=1
        Number of threads of a model in ONNX.

    Returns
    -------
    OnnxEncoder or StaticEncoder

    Raises
    ------
    ValueError
        If the folder has no such files, or they are damaged.
    ImportError
        If the libraries of the extra ``meaning`` are not installed.
    """
    path = Path(folder)
    files = [path / "tokenizer.json", path / "model.onnx", path / "onnx" / "model.onnx"]
    static = path / "model.safetensors"
    if not files[0].is_file():
        raise ValueError(
            f"The folder {str(path)!r} has no tokenizer.json; pass the folder of an encoder, with "
            "tokenizer.json and model.onnx or model.safetensors."
        )
    model = next((file for file in files[1:] if file.is_file()), None)
    if model is not None:
        return OnnxEncoder(files[0], model, n_jobs=n_jobs)
    if static.is_file():
        return StaticEncoder(files[0], static)
    raise ValueError(f"The folder {str(path)!r} has neither model.onnx nor model.safetensors.")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"An encoder needs {name}: {_INSTALL}.") from error


def _tokenizer(path: Path) -> Any:
    try:
        found = _library("tokenizers").Tokenizer.from_file(str(path))
    except ImportError:
        raise
    except Exception as error:  # the library raises this type
        raise ValueError(f"{str(path)!r} is no tokenizer: {error}") from error
    found.enable_truncation(_MAX_TOKENS)
    return found


class OnnxEncoder:
    """A transformer in ONNX; the vector of a text is the mean of those of its tokens.

    At most 256 tokens of a text are read.
    """

    def __init__(self, tokenizer: Path, model: Path, *, n_jobs: int = 1) -> None:
        runtime = _library("onnxruntime")
        self.name = model.resolve().parent.name
        self._tokenizer = _tokenizer(tokenizer)
        self._tokenizer.enable_padding()
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = max(n_jobs, 1), 1
        try:
            self._session = runtime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime has many types of its own
            raise ValueError(f"{str(model)!r} is no model in ONNX that can be run.") from error
        self._inputs = {each.name for each in self._session.get_inputs()}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text; texts of similar length are encoded together."""
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), texts[i]))
        found: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            found.update(zip(rows, self._vectors([texts[i] for i in rows]), strict=True))
        return np.array([found[i] for i in range(len(texts))], dtype=np.float32)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        tokens = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in tokens], dtype=np.int64)
        mask = np.array([each.attention_mask for each in tokens], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        inputs = {name: value for name, value in given.items() if name in self._inputs}
        (states, *_) = self._session.run(None, inputs)
        if states.ndim == 2:
            return np.asarray(states, np.float32)
        weights = mask[:, :, None].astype(np.float32)
        means = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        return np.asarray(means, np.float32)


class StaticEncoder:
    """A vector for each token; that of a text is their mean. Thousands of texts a second."""

    def __init__(self, tokenizer: Path, vectors: Path) -> None:
        self.name = vectors.resolve().parent.name
        self._tokenizer = _tokenizer(tokenizer)
        self._tokenizer.no_padding()
        self._vectors = _read_vectors(vectors)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a row for each text."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ids = [[i for i in each.ids if i < len(self._vectors)] for each in found]
        sizes = np.array([len(each) for each in ids])
        indices = np.array([i for each in ids for i in each], dtype=np.int32)
        data = np.repeat(1.0 / np.maximum(sizes, 1), sizes)
        shape = (len(ids), len(self._vectors))
        means = sparse.csr_array((data, indices, np.append(0, np.cumsum(sizes))), shape=shape)
        return product(means, self._vectors)


def _read_vectors(path: Path) -> NDArray[np.float64]:
    """Return the only table of numbers in a file of safetensors, or the one named "embeddings".

    Each row is multiplied by its number in "scales", if there are any. A ValueError if the file is
    damaged.
    """
    content = path.read_bytes()
    try:
        size = int.from_bytes(content[:8], "little")
        if not 0 < size <= min(len(content) - 8, _MAX_HEADER):
            raise ValueError("its header is cut off")
        header = json.loads(content[8 : 8 + size])
        tables = {
            name: about
            for name, about in header.items()
            if name != "__metadata__" and len(about["shape"]) == 2
        }
        about = tables["embeddings"] if "embeddings" in tables else next(iter(tables.values()))
        vectors = _numbers(content[8 + size :], about)
        if "scales" in header:
            scales = _numbers(content[8 + size :], header["scales"])
            if scales.shape != vectors.shape[:1]:
                raise ValueError("its scales are not one a row")
            vectors *= scales[:, None]
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration) as error:
        raise ValueError(f"{str(path)!r} has no table of vectors: {error}") from error
    if not np.isfinite(vectors).all():
        raise ValueError(f"{str(path)!r} has vectors that are not finite.")
    return vectors


def _numbers(content: bytes, about: Any) -> NDArray[np.float64]:
    """Return an array of a file of safetensors; a ValueError if its shape does not fit its size."""
    shape = [int(number) for number in about["shape"]]
    begin, end = (int(number) for number in about["data_offsets"])
    kind = np.dtype(_TYPES[about["dtype"]]).newbyteorder("<")
    if min(shape) < 1 or math.prod(shape) * kind.itemsize != end - begin:
        raise ValueError("its shape does not fit its size")
    return np.frombuffer(content[begin:end], kind).reshape(shape).astype(np.float64)
