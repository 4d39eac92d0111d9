"""Every answer of the package on fixed documents, as digests: ``python tests/answers.py``.

`test_same_everywhere.py` runs this in processes that use other kernels of the libraries beneath,
and compares. What is digested is exact: the bytes of arrays, not printed numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_info

import newfound
from newfound.table import AsTable, Table

_MAX_HEADLINES = 1500  # of each side


def feed(found: Any, value: Any) -> None:
    """Add a value to a digest, with all its bits."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        found.update(str((value.dtype.str, value.shape)).encode())
        found.update(np.ascontiguousarray(value).tobytes())
    elif sparse.issparse(value):
        matrix = value.tocsr()
        for part in (matrix.indptr, matrix.indices, matrix.data):
            feed(found, part)
    elif isinstance(value, Table):
        for name in value.columns:
            feed(found, (name, np.asarray(value[name])))
    elif isinstance(value, AsTable):
        feed(found, value.to_table())
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            feed(found, (field.name, getattr(value, field.name)))
    elif isinstance(value, dict):
        feed(found, list(value.items()))
    elif isinstance(value, frozenset):
        feed(found, sorted(value))
    elif isinstance(value, list | tuple | np.ndarray):
        found.update(f"[{len(value)}".encode())
        for each in value:
            feed(found, each)
    elif isinstance(value, float | np.floating):
        found.update(float(value).hex().encode())
    elif value is None or isinstance(value, str | int | bool | np.generic):
        found.update(repr(value).encode())
    else:
        raise TypeError(f"No exact form of {type(value)}")


def digest(value: Any) -> str:
    found = hashlib.sha256()
    feed(found, value)
    return found.hexdigest()[:16]


def model_bytes(model: Any, folder: Path) -> bytes:
    path = folder / "model.nf"
    model.save(path, force=True)
    return path.read_bytes()


def _plain(theme: Any) -> dict[str, Any]:
    return {**vars(theme), "parts": [_plain(part) for part in theme.parts]}


def of_description(
    known: list[str], novel: list[str], folder: Path, n_jobs: int
) -> Iterator[tuple[str, Any]]:
    found = newfound.describe(known, novel, random_state=1, n_jobs=n_jobs)
    yield "words", found.words_
    yield "rules", found.clauses_
    yield "phrases", found.phrases_
    yield "themes", [_plain(theme) for theme in (*found.themes_, *found.gone_)]
    yield "words in no theme", [vars(word) for word in found.loose_]
    yield "unexplained", found.unexplained_
    yield "calibration", found.calibration_.to_state()
    texts = [*known[:40], *novel[:40]]
    yield "verdicts", [found.explain(text).to_dict() for text in texts[::8]]
    yield "file", hashlib.sha256(model_bytes(found, folder)).hexdigest()


def of_detector(
    known: list[str], labels: Any, incoming: list[str], folder: Path, n_jobs: int
) -> Iterator[tuple[str, Any]]:
    found = newfound.NoveltyDetector(random_state=1, n_jobs=n_jobs).fit(known, labels)
    yield "scores", found.novelty(incoming)
    yield "p_values", found.p_values(incoming)
    yield "classes", found.predict(incoming)
    detection = found.detect(incoming)
    yield "groups", [(group.documents, group.words) for group in detection.groups]
    yield "explanations", [found.explain(text).to_dict() for text in incoming[::25]]
    yield "file", hashlib.sha256(model_bytes(found, folder)).hexdigest()


def of_monitor(known: list[str], stream: list[str]) -> Iterator[tuple[str, Any]]:
    detector = newfound.NoveltyDetector(random_state=1).fit(known)
    monitor = newfound.Monitor(detector, every=100, false_alarm_every=20_000)
    monitor.update(stream)
    yield "alerts", [vars(alert) for alert in monitor.alerts]
    yield "topics", [vars(topic) for topic in monitor.topics_]
    yield "windows", [vars(window) for window in monitor.windows_]


def answers(n_jobs: int) -> Iterator[tuple[str, Any]]:
    known, novel = newfound.load_sample()
    texts, labels, new = list(known.texts), np.array(known.labels), list(novel.texts)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, value in of_description(texts[::2], new[::2], folder, n_jobs):
            yield f"description of requests: {name}", value
        incoming = [*texts[1::4], *new[::4]]
        for name, value in of_detector(texts[::2], labels[::2], incoming, folder, n_jobs):
            yield f"detector with labels: {name}", value
        for name, value in of_detector(texts[::2], None, incoming, folder, n_jobs):
            yield f"detector without labels: {name}", value
        grouped = newfound.NoveltyDetector(n_groups=5, random_state=1).fit(texts)
        yield "detector with five groups: scores", grouped.novelty(incoming)
        rules = newfound.RuleClassifier(random_state=1)
        vectors = newfound.TextVectorizer().fit(texts)
        rules.fit(vectors.transform(texts), labels)
        yield "rules of classes", rules.decision_function(vectors.transform(incoming))
        stream = [text for pair in zip(texts[::2], texts[1::2], strict=False) for text in pair][
            :700
        ]
        for place in range(350, 700, 6):
            stream[place] = new[place % 97]
        for name, value in of_monitor(texts[::2], stream):
            yield f"monitor: {name}", value
        if os.environ.get("NEWFOUND_DATA"):
            from lab import load_abcnews

            dated = load_abcnews(os.environ["NEWFOUND_DATA"] + "/abcnews")
            months: dict[str, list[str]] = {}
            for text, date in zip(dated.texts, dated.dates, strict=True):
                months.setdefault(str(date)[:7], []).append(text)
            old, later = (months[m][:_MAX_HEADLINES] for m in ("2003-09", "2003-10"))
            for name, value in of_description(old, later, folder, n_jobs):
                yield f"description of headlines: {name}", value
            for name, value in of_detector(old, None, later, folder, n_jobs):
                yield f"detector of headlines: {name}", value


def kernels() -> dict[str, str]:
    """Return what tells the kernels of the libraries apart: names, or digests of what they give."""
    random = np.random.default_rng(0)
    x, square = random.uniform(-30, 30, 20_000), random.standard_normal((150, 150))
    # Two kernels may multiply matrices alike and differ elsewhere, so their names count as well.
    named = {str(library.get("architecture")) for library in threadpool_info()}
    return {
        "linear algebra": f"{' '.join(sorted(named))} {digest(square @ square)}",
        "NumPy": digest(np.log(np.exp(x))),
        "C library": digest([math.pow(value, 1.7) + math.sin(value) for value in np.abs(x)]),
    }


def main() -> None:
    n_jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    found = {name: digest(value) for name, value in answers(n_jobs)}
    json.dump({"kernels": kernels(), "answers": found}, sys.stdout)


if __name__ == "__main__":
    main()
