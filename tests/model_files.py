"""Model files for tests: sound ones taken apart, and forged ones that look sound."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from newfound.description.describer import NoveltyDescriber
from newfound.storage.archive import write_archive
from newfound.storage.model_file import FORMAT, save_model
from newfound.stories.state import themes_state
from newfound.stories.themes import Themes

KNOWN = ["the batsman hit six", "a cricket match for England", "six wickets in the match"] * 8
NOVEL = ["the scrum won the ball", "a rugby match for England", "old rugby try in the match"] * 8
LABELS = ["known"] * len(KNOWN) + ["novel"] * len(NOVEL)
TEXTS = ["a rugby scrum for England", "six wickets", "nothing known here", ""]
COMMENT = f"newfound model, format {FORMAT}, blake2b-256 ".encode()

Array = np.ndarray[Any, Any]


def fitted(**parameters: Any) -> NoveltyDescriber:
    """Return a small describer."""
    settings = {"n_machines": 5, "n_clauses": 20, "T": 8, "s": 3.0, "epochs": 10}
    settings |= {"random_state": 7, "fold_copies": False, **parameters}
    return NoveltyDescriber(**settings).fit([*KNOWN, *NOVEL], LABELS)


def results(describer: NoveltyDescriber) -> dict[str, Any]:
    """Return everything that a describer answers."""
    return {
        "words": describer.words_.to_records(),
        "clauses": [clause.to_dict() for clause in describer.clauses_],
        "phrases": describer.phrases_.to_records(),
        "context": describer.context("rugby").both.to_records(),
        "explain": [describer.explain(text).to_dict() for text in TEXTS],
        "parameters": describer.get_params(),
    }


def take_apart(raw: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return model.json and the arrays of a file, read as any other tool would read them."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
            for name in archive.namelist()[1:]
        }
        return json.loads(archive.read("model.json")), arrays


def assemble(
    document: Any, arrays: Mapping[str, Array], folder: Path, *, compress: bool = True
) -> bytes:
    """Return the bytes of a file with a sound archive around whatever is given.

    Arrays are written in the type they have, and the limit on memory is not looked at.
    """
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    members: dict[str, Any] = {"model.json": text}
    members |= {f"{name}.npy": array for name, array in arrays.items()}
    write_archive(folder / "assembled", members, format=FORMAT, compress=compress)
    return (folder / "assembled").read_bytes()


def document(state: Any, kind: Any = "describer") -> dict[str, Any]:
    """Return model.json around a state."""
    return {"kind": kind, "format": FORMAT, "newfound": "0", "state": state}


def saved(state: Mapping[str, Any], folder: Path) -> bytes:
    """Return the bytes of a file that holds a state, written as `save` would."""
    save_model(folder / "saved", "describer", lambda: state, force=True)
    return (folder / "saved").read_bytes()


def sealed(raw: bytes) -> bytes:
    """Return a file with the checksum that it needs."""
    return raw[:-64] + hashlib.blake2b(raw[:-64], digest_size=32).hexdigest().encode()


def zipped(
    members: Sequence[tuple[str | zipfile.ZipInfo, bytes]],
    *,
    method: int = zipfile.ZIP_DEFLATED,
    comment: bytes = COMMENT + b"0" * 64,
) -> bytes:
    """Return a zip file of any members, with a sound checksum."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members:
            info = name if isinstance(name, zipfile.ZipInfo) else plain(name, method)
            archive.writestr(info, content)
        archive.comment = comment
    content = stream.getvalue()
    return sealed(content) if comment.endswith(b"0" * 64) else content


def plain(name: str, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    """Return the entry of a regular file, as `save` writes it."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type, info.external_attr = method, 0o100644 << 16
    return info


def npy(array: Array) -> bytes:
    """Return an array as the content of a member."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npy_header(descr: str, shape: str, *, fortran: str = "False") -> bytes:
    """Return a .npy file without numbers, with any header."""
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header


def central(raw: bytes, number: int = 0) -> int:
    """Return where the entry of a member begins in the list at the end of a file."""
    at = struct.unpack_from("<L", raw, raw.rindex(b"PK\x05\x06") + 16)[0]
    for _ in range(number):
        at += 46 + struct.unpack_from("<H", raw, at + 28)[0]
    return int(at)


def patched(raw: bytes, at: int, form: str, value: int) -> bytes:
    """Return a file with another number at a place, and a sound checksum."""
    content = bytearray(raw)
    struct.pack_into(form, content, at, value)
    return sealed(bytes(content))


def made_up(describer: NoveltyDescriber, lengths: Array, words: int) -> dict[str, Any]:
    """Return the state of a describer with about so many words in its clauses, all of them random.

    The number of clauses has to be one that the machines of the describer could have.
    """
    rng = np.random.default_rng(0)
    state = describer.to_state()
    assert len(lengths) % (4 * state["n_machines"]) == 0
    state["chosen"]["n_clauses"] = len(lengths) // 2 // state["n_machines"]
    names = [f"{rng.integers(36**5):x}{i:x}" for i in range(words)]
    n, rows = len(lengths), [np.unique(rng.integers(0, 2 * words, size)) for size in lengths]
    matches = rng.integers(0, 500, n)
    held_out = rng.integers(0, matches + 1)
    phrase_lengths = rng.integers(2, 5, 200)
    state["n_documents"] = {"known": 500, "novel": 500}
    state["themes"] = themes_state(Themes(), {}, (500, 500))
    state["vectorizer"] |= {
        "vocabulary": names,
        "forms": [{word: 3, f"{word}s": 1} for word in names],
        "document_frequencies": np.full(words, 4),
    }
    state["words"] = {
        "documents": rng.integers(0, 500, (2, words)),
        **{name: rng.normal(size=words) for name in ("novelty", "times", "low", "high", "q")},
    }
    state["phrases"] = {
        "lengths": phrase_lengths,
        "words": rng.integers(0, words, phrase_lengths.sum()),
        "novel": rng.integers(0, 2, 200),
        "counts": rng.integers(0, 500, (3, 200)),
        "values": rng.normal(size=(4, 200)),
    }
    state["clauses"] = {
        "n_features": words,
        "held_out": np.stack((held_out, rng.integers(0, held_out + 1))),
        "class_index": (np.arange(n) % 2).astype(np.uint8),
        "polarity": rng.choice(np.array([-1, 1], np.int8), n),
        "lengths": np.array([len(row) for row in rows], np.int32),
        "literals": np.concatenate(rows),
        "matches": matches,
        "agrees": rng.integers(0, matches + 1),
    }
    state["calibration"] |= {"weights": rng.normal(size=words), "idf": 1 + rng.random(words)}
    return state


def changed(state: Mapping[str, Any], place: str, change: Any) -> dict[str, Any]:
    """Return a state with another value at a place; `change` is called with the one there."""
    name, _, rest = place.partition(".")
    copy: Any = list(state) if isinstance(state, list) else dict(state)
    key: Any = int(name) if isinstance(state, list) else name
    old = copy.get(key) if isinstance(copy, dict) else copy[key]
    copy[key] = changed(old, rest, change) if rest else change(old)
    return copy
