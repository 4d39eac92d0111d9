"""A file takes no more memory than the limit for files of its length."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hostile_files import SOUND
from model_files import (
    assemble,
    document,
    made_up,
    saved,
    take_apart,
    zipped,
)
from newfound.description.describer import NoveltyDescriber
from newfound.detection.detector import NoveltyDetector
from newfound.storage.archive import ArrayHeader
from newfound.storage.model_file import json_memory_estimate, memory_limit, save_model
from newfound.text.sample import load_sample

PEAK = """
import sys
import newfound.description.describer, newfound.detection.detector  # load imports them late
from newfound.models import ModelFileError, load

def kilobytes(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))

before = kilobytes("VmRSS")
try:
    load(sys.argv[1])
except ModelFileError as error:
    print(error, file=sys.stderr)
print((kilobytes("VmHWM") - before) * 1024)
"""


def memory_estimate(content: bytes) -> int:
    """Return what the memory of a file is estimated at."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        text = archive.read("model.json")
    arrays = take_apart(content)[1].values()
    return json_memory_estimate(text) + sum(
        ArrayHeader(a.dtype, a.shape, 0).memory_estimate for a in arrays
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
class TestMemory:
    """A file that is estimated just below the limit takes no more memory than the limit."""

    def check(self, content: bytes, tmp_path: Path, *, sound: bool = False) -> None:
        path = tmp_path / "hostile"
        path.write_bytes(content)
        limit = memory_limit(len(content))
        assert 0.9 * limit < memory_estimate(content) <= limit
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
        )
        assert "bytes of memory" not in done.stderr
        assert (done.stderr == "") == sound
        assert int(done.stdout) < limit + 28e6

    @pytest.mark.parametrize(("dtype", "each"), [("<i8", 8), ("<i4", 4), ("|u1", 3)])
    def test_automata(self, tmp_path: Path, dtype: str, each: int) -> None:
        array = np.zeros((1, 1, 64_000_000 // each), dtype)
        self.check(assemble(document({}), {"a": array}, tmp_path), tmp_path)

    @pytest.mark.parametrize(("dtype", "each"), [("|u1", 32), ("<f8", 56), ("<f4", 28)])
    def test_vectors(self, tmp_path: Path, dtype: str, each: int) -> None:
        array = np.zeros(64_000_000 // each, dtype)
        self.check(assemble(document({}), {"a": array}, tmp_path), tmp_path)

    def test_a_file_of_1_mb(self, tmp_path: Path) -> None:
        noise = np.random.default_rng(0).integers(0, 256, (1, 1, 1_000_000), np.uint8)
        zeros = np.zeros((1, 1, 124_000_000 // 3), np.uint8)
        self.check(assemble(document({}), {"noise": noise, "zeros": zeros}, tmp_path), tmp_path)

    @pytest.mark.parametrize("item", [b"[],", b"{},", b'"ab",', b'{"a":{"b":1}},'])
    def test_states(self, tmp_path: Path, item: bytes) -> None:
        n = 63_000_000 // json_memory_estimate(item)
        text = SOUND.replace(b"{}", b'{"a":[' + item * n + b"0]}")
        self.check(zipped([("model.json", text)]), tmp_path)

    @pytest.mark.parametrize("letter", ["\N{GRINNING FACE}", r"\ud83d\ude00"])
    def test_a_wide_letter_among_narrow_ones(self, tmp_path: Path, letter: str) -> None:
        text = SOUND.replace(b"{}", b'{"a":"%s%s"}' % (letter.encode(), b"a" * (63_000_000 // 12)))
        self.check(zipped([("model.json", text)]), tmp_path)

    @pytest.mark.parametrize("forms", [0, 1])
    def test_many_words(self, describer: NoveltyDescriber, tmp_path: Path, forms: int) -> None:
        n = 60_000 if forms else 70_000

        def content(n: int) -> bytes:
            names = [f"{i:05x}" for i in range(n)]
            state = made_up(describer, np.ones(20, int), 10)
            state["clauses"]["n_features"] = n
            state["vectorizer"] |= {
                "vocabulary": names,
                "forms": [{name: 1} if forms else {} for name in names],
                "document_frequencies": np.ones(n, np.uint8),
            }
            state["words"] = {
                name: np.zeros(n) for name in ("novelty", "times", "low", "high", "q")
            }
            state["words"]["documents"] = np.ones((2, n), np.uint8)
            state["calibration"] |= {"weights": np.zeros(n), "idf": np.ones(n)}
            return saved(state, tmp_path)

        self.check(near_the_limit(content, n), tmp_path, sound=True)

    @pytest.mark.parametrize("words_a_clause", [1, 16, 16_000])
    def test_models(self, describer: NoveltyDescriber, tmp_path: Path, words_a_clause: int) -> None:
        """Take sound models, all of whose clauses are the same: they compress to nothing."""
        words = max(10, words_a_clause // 2)
        template = made_up(describer, np.ones(20, int), words)

        def content(n: int) -> bytes:
            n = n // 20 * 20
            clauses = dict(template["clauses"])
            row = np.arange(words_a_clause, dtype=np.uint16)
            clauses |= {"lengths": np.full(n, words_a_clause), "literals": np.tile(row, n)}
            for name in ("class_index", "polarity", "matches", "agrees"):
                clauses[name] = np.resize(clauses[name], n)
            clauses["held_out"] = np.zeros((2, n), np.uint8)
            chosen = {**template["chosen"], "n_clauses": n // 10}
            return saved({**template, "clauses": clauses, "chosen": chosen}, tmp_path)

        start = 60_000_000 // (32 * (words_a_clause + 7))
        self.check(near_the_limit(content, start), tmp_path, sound=True)

    @pytest.mark.parametrize("n_classes", [1, 300])
    def test_detectors(self, tmp_path: Path, n_classes: int) -> None:
        """Take sound detectors of many terms, or of many classes, which compress to nothing."""
        known, _ = load_sample()
        made = NoveltyDetector(random_state=1, alpha=0.2).fit(known.texts[::16])
        template = made.to_state()

        def content(n: int) -> bytes:
            terms = [f"{i:05x}" for i in range(n)]
            texts = template["held_back"]["texts"]
            documents = {
                "indices": np.tile(np.arange(n), 3),
                "indptr": np.arange(4) * n,
                "codes": np.zeros(3, np.uint8),
                "density": np.ones(3),
                "keys": np.arange(3),
                "copies": 0,
            }
            state = {
                **template,
                "classes": [f"class {i}" for i in range(n_classes)],
                "vectorizer": {
                    **template["vectorizer"],
                    "vocabulary": terms,
                    "forms": [{term: 1} for term in terms],
                    "document_frequencies": np.ones(n, np.uint8),
                },
                "documents": documents,
                "weights": np.zeros((n_classes, n + 1), np.float32),
                "held_back": {**template["held_back"], "nearest": np.zeros(len(texts), np.uint8)},
            }
            save_model(tmp_path / "saved", "detector", lambda: state, force=True)
            return (tmp_path / "saved").read_bytes()

        self.check(near_the_limit(content, 50_000 // n_classes + 5000), tmp_path, sound=True)

    def test_many_machines(self, describer: NoveltyDescriber, tmp_path: Path) -> None:
        """Take 1,000 machines of 4 clauses each, over many words."""
        state = made_up(describer, np.ones(20, int), 10)
        state["n_machines"] = state["chosen"]["n_machines"] = 1000
        state["chosen"]["n_clauses"] = 2
        clauses, n = state["clauses"], 150_000
        for name in ("class_index", "polarity", "matches", "agrees"):
            clauses[name] = np.resize(clauses[name], 4000)
        clauses |= {"lengths": np.ones(4000, np.uint8), "literals": np.zeros(4000, np.uint8)}
        clauses |= {"held_out": np.zeros((2, 4000), np.uint8), "n_features": n}
        state["vectorizer"] |= {
            "vocabulary": [f"{i:05x}" for i in range(n)],
            "forms": [{}] * n,
            "document_frequencies": np.ones(n, np.uint8),
        }
        state["words"] = {name: np.zeros(n) for name in ("novelty", "times", "low", "high", "q")}
        state["words"]["documents"] = np.ones((2, n), np.uint8)
        state["calibration"] |= {"weights": np.zeros(n), "idf": np.ones(n)}
        saved(state, tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(tmp_path / "saved")],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr == ""
        assert int(done.stdout) < 200e6  # 2,400e6 if the bags of all machines were kept

    @pytest.mark.parametrize("letters", [5, 1000])
    def test_many_phrases(self, describer: NoveltyDescriber, tmp_path: Path, letters: int) -> None:
        """Compress phrases of long words to nothing, as many as the limit allows."""
        state = made_up(describer, np.ones(20, int), 10)
        state["vectorizer"]["vocabulary"][0] = "x" * letters

        def content(n: int) -> bytes:
            phrases = {
                "lengths": np.full(n, 2, np.uint8),
                "words": np.zeros(2 * n, np.uint8),
                "novel": np.zeros(n, np.uint8),
                "counts": np.zeros((3, n), np.uint8),
                "values": np.zeros((4, n)),
            }
            return saved({**state, "phrases": phrases}, tmp_path)

        self.check(near_the_limit(content, 140_000), tmp_path)


def near_the_limit(content: Callable[[int], bytes], n: int) -> bytes:
    """Return the content for about as many things as the limit allows."""
    most = 20 * n  # a file of a large model is not compressed, and its limit is far away
    for _ in range(8):
        assert n < most, "no size is near the limit"
        found = content(n)
        ratio = memory_estimate(found) / memory_limit(len(found))
        if 0.9 < ratio <= 1:
            return found
        n = int(n * 0.95 / ratio)
    raise AssertionError(f"no size is near the limit: {ratio:.2f}")
