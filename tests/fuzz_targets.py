"""What is fuzzed: each target takes any bytes and raises only for a defect.

`tools/fuzz.py` drives them by coverage, `tests/everywhere/test_fuzz.py` with the corpus that it
kept.
"""

from __future__ import annotations

import atexit
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse

from model_files import sealed
from newfound import DocumentError, ModelFileError, TsetlinMachineClassifier, load, read_documents
from newfound.marks import visible
from newfound.text.encoding import TokenizedTexts
from newfound.text.redaction import redact
from newfound.text.tokens import words_and_breaks

__all__ = ["CORPUS", "TARGETS", "seeds"]

CORPUS = Path(__file__).parent / "data" / "fuzz"
SUFFIXES = (
    ".txt",
    ".csv",
    ".tsv",
    ".jsonl",
    ".json",
    ".parquet",
    ".txt.gz",
    ".csv.gz",
    ".jsonl.gz",
)
ENCODINGS = (None, None, "utf-8", "utf-16", "latin-1", "cp1252")
SENTENCE = "Call +47 22 12, write an e-mail to ann@x.org or see https://x.org;"
LONGEST = 300  # characters of a refusal, besides the path


@cache
def _folder() -> str:
    kept = tempfile.TemporaryDirectory()
    _kept.append(kept)
    return kept.name


atexit.register(lambda: _machine.cache_clear())  # before the interpreter ends
_kept: list[tempfile.TemporaryDirectory[str]] = []


def readers(data: bytes) -> None:
    """Read a file of any format; its first two bytes choose the format and the encoding."""
    if len(data) < 2:
        return
    path = os.path.join(_folder(), "x" + SUFFIXES[data[0] % len(SUFFIXES)])
    Path(path).write_bytes(data[2:])
    try:
        found = read_documents(path, encoding=ENCODINGS[data[1] % len(ENCODINGS)])
    except DocumentError as error:
        message = str(error)
        assert "\n" not in message and len(message) <= LONGEST + len(path), message
    else:
        assert len(found.texts) == len(found.ids) > 0
        for text in found.texts:
            assert text.strip() and "\0" not in text
            text.encode()
        found.summary()


def model(data: bytes) -> None:
    """Load a model file whose checksum is sound."""
    path = os.path.join(_folder(), "model")
    Path(path).write_bytes(sealed(data))
    try:
        loaded = load(path)
    except ModelFileError as error:
        message = str(error)
        assert "\n" not in message and len(message) <= LONGEST, message
        assert "Error(" not in message, message
    else:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            loaded.explain("a rugby match").to_dict()


CONTROLS = set(map(chr, [*range(0x20), *range(0x7F, 0xA0)])) - set("\t\n")


def text(data: bytes) -> None:
    """Split a text into words, redact it and make it visible."""
    given = data.decode("utf-8", "replace")
    end = 0
    words = [word for word in words_and_breaks(given) if word[2]]
    for start, stop, form in words:
        assert 0 <= start < stop <= len(given) and form == form.lower(), (start, stop, form)
        assert start >= end or stop > end, (start, stop, end)
        end = stop
    split = TokenizedTexts.of([given])
    assert [word for word in split.words(0) if word[2]] == words
    assert not set(visible(given)) & CONTROLS and len(visible(given)) == len(given)
    redacted = redact(given)
    assert not any(letter.isdecimal() for letter in redacted), redacted
    assert redact(redacted) == redacted, redacted


@cache
def _machine() -> TsetlinMachineClassifier:
    machine = TsetlinMachineClassifier(n_clauses=4, T=2, epochs=2, random_state=1)
    return machine.fit(np.eye(5, dtype=bool), [0, 1, 0, 1, 0])


def csr(data: bytes) -> None:
    """Hand any arrays to the core as the rows of a matrix; the first byte is the number of rows."""
    if not data:
        return
    numbers = np.frombuffer(data[1:], np.int8)
    rows = min(data[0], len(numbers))
    indptr, indices = numbers[:rows].astype(np.int64), numbers[rows:].astype(np.int32)
    machine = _machine()
    sound = (
        rows > 0
        and indptr[0] == 0
        and indptr[-1] == len(indices)
        and bool((np.diff(indptr) >= 0).all())
        and bool(((indices >= 0) & (indices < 5)).all())
    )
    if sound:
        matrix = sparse.csr_matrix((np.ones(len(indices), bool), indices, indptr), (rows - 1, 5))
        sound = matrix.has_canonical_format
    for call in (
        lambda: machine.class_sums_csr(indptr, indices),
        lambda: machine._machine.fit(
            (indptr, indices), np.zeros(max(rows - 1, 0), np.int32), epochs=1
        ),
    ):
        try:
            call()
        except ValueError as error:
            assert not sound or "document" in str(error), error
        else:
            assert sound


TARGETS: dict[str, Callable[[bytes], None]] = {
    "readers": readers,
    "model": model,
    "text": text,
    "csr": csr,
}


def seeds() -> dict[str, list[bytes]]:
    """Return inputs to begin with, for each target."""
    from model_files import fitted

    place = Path(_folder()) / "seed"
    fitted(n_machines=1, n_clauses=4).save(place, force=True)
    rows = [{"text": "a match, 3 goals", "id": 1}, {"text": "Grüße", "id": None}]
    table = 'id,text\n1,"a ""match"", 3 goals"\n2,Grüße\n'
    return {
        "readers": [
            b"\x00\x00one\ntwo\n\n",
            b"\x01\x02" + table.encode(),
            b"\x02\x00" + table.replace(",", "\t").encode(),
            b"\x03\x00" + "\n".join(map(json.dumps, rows)).encode(),
            b"\x04\x00" + json.dumps(rows).encode(),
            b"\x00\x03" + "zwei\nWörter".encode("utf-16"),
        ],
        "model": [place.read_bytes()],
        "text": [f"{SENTENCE} 日本代表 l'école 👍🏽\x1b[31m".encode()],
        "csr": [b"\x03\x00\x01\x03\x00\x02\x04", b"\x01\x00", b"\x02\x00\x02\x01\x00"],
    }
