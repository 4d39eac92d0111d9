"""Encoders from a folder: a transformer in ONNX, or the static vectors of model2vec.

A folder has ``tokenizer.json`` and either ``model.onnx`` or ``model.safetensors``, as the models of
sentence-transformers and model2vec on the Hugging Face Hub do. Nothing is downloaded, and no code
of the folder is run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from newfound.linear import product
from newfound.machine.validation import thread_count

__all__ = ["OnnxEncoder", "StaticEncoder", "files_of", "read_encoder"]

_MANY = 8  # texts that are worth threads
_MAX_TOKENS = 256
_MAX_HEADER = 100_000_000
_INSTALL = "pip install 'newfound[meaning]'"
_TYPES = {"F16": np.float16, "F32": np.float32, "F64": np.float64, "I8": np.int8}


def files_of(folder: Path) -> tuple[Path, Path]:
    """Return the tokenizer and the model of an encoder; a ValueError if one is missing."""
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise ValueError(
            f"The folder {str(folder)!r} has no tokenizer.json; pass the folder of an encoder, "
            "with tokenizer.json and model.onnx or model.safetensors."
        )
    for name in ("model.onnx", "onnx/model.onnx", "model.safetensors"):
        if (folder / name).is_file():
            return tokenizer, folder / name
    raise ValueError(f"The folder {str(folder)!r} has neither model.onnx nor model.safetensors.")


def read_encoder(folder: Path, *, n_jobs: int | None = None) -> OnnxEncoder | StaticEncoder:
    """Read an encoder from its folder; see `newfound.load_encoder`."""
    tokenizer, model = files_of(folder)
    if model.suffix == ".onnx":
        return OnnxEncoder(tokenizer, model, n_jobs=n_jobs)
    return StaticEncoder(tokenizer, model)


def _name(tokenizer: Path) -> str:
    """Return the name of an encoder, which is that of its folder."""
    return tokenizer.parent.absolute().name


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

    At most 256 tokens of a text are read. Each text is read by itself, so that its vector does not
    depend on the texts beside it; threads read several texts at a time.
    """

    def __init__(self, tokenizer: Path, model: Path, *, n_jobs: int | None = None) -> None:
        runtime = _library("onnxruntime")
        self.name = _name(tokenizer)
        self.files, self.n_jobs = (tokenizer, model), thread_count(n_jobs)
        self._tokenizer = _tokenizer(tokenizer)
        self._tokenizer.no_padding()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self._session = runtime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the runtime has many types of its own
            raise ValueError(f"{str(model)!r} is no model in ONNX that can be run.") from error
        self._inputs = {each.name for each in self._session.get_inputs()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Read the files again in the process that gets the encoder."""
        return partial(OnnxEncoder, n_jobs=self.n_jobs), self.files

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row for each text."""
        if self.n_jobs == 1 or len(texts) < _MANY:
            return np.array(list(map(self._vector, texts)), np.float32)
        with ThreadPoolExecutor(self.n_jobs) as threads:
            return np.array(list(threads.map(self._vector, texts)), np.float32)

    def _vector(self, text: str) -> NDArray[np.float32]:
        tokens = self._tokenizer.encode(text)
        # A model may refuse a text without a token.
        ids = np.array([tokens.ids or [0]], dtype=np.int64)
        mask = np.full_like(ids, 1 if tokens.ids else 0)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        inputs = {name: value for name, value in given.items() if name in self._inputs}
        (states, *_) = self._session.run(None, inputs)
        if states.ndim == 2:
            return np.asarray(states[0], np.float32)
        total = (states[0] * mask[0][:, None].astype(np.float32)).sum(axis=0)
        return np.asarray(total / max(len(tokens.ids), 1), np.float32)


class StaticEncoder:
    """A vector for each token; that of a text is their mean. Thousands of texts a second."""

    def __init__(self, tokenizer: Path, vectors: Path) -> None:
        self.name, self.files = _name(tokenizer), (tokenizer, vectors)
        self._tokenizer = _tokenizer(tokenizer)
        self._tokenizer.no_padding()
        self._vectors = _read_vectors(vectors)
        size = self._tokenizer.get_vocab_size()
        if size > len(self._vectors):
            raise ValueError(
                f"{str(vectors)!r} has {len(self._vectors):,} vectors for the {size:,} tokens of "
                "its tokenizer; expected one for each."
            )

    def __reduce__(self) -> tuple[Any, ...]:
        """Read the files again in the process that gets the encoder."""
        return StaticEncoder, self.files

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
        if "embeddings" not in tables and len(tables) != 1:
            raise ValueError(f"it has {len(tables):,} tables, none called embeddings")
        about = tables["embeddings"] if "embeddings" in tables else next(iter(tables.values()))
        vectors = _numbers(content[8 + size :], about)
        if "scales" in header:
            scales = _numbers(content[8 + size :], header["scales"])
            if scales.shape != vectors.shape[:1]:
                raise ValueError("its scales are not one a row")
            vectors *= scales[:, None]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
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
