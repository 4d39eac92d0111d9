"""A model file is complete, small, stays readable, and other tools can open it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from model_files import (
    KNOWN,
    LABELS,
    NOVEL,
    Array,
    assemble,
    document,
    fitted,
    made_up,
    results,
    saved,
    take_apart,
)
from newfound.description.describer import NoveltyDescriber
from newfound.description.learning import PRESETS
from newfound.models import load, save
from newfound.storage import model_file
from newfound.storage.model_file import FORMAT, load_model, memory_limit, save_model

KEPT = Path(__file__).resolve().parents[1] / "data" / f"describer-format-{FORMAT}.newfound"


@pytest.fixture(scope="module")
def describer() -> NoveltyDescriber:
    return fitted()


@pytest.fixture(scope="module")
def raw(describer: NoveltyDescriber, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound file."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(describer, path)
    return path.read_bytes()


def keep() -> None:
    """Write the file of this format that stays in the tests, and what it answers."""
    describer = fitted(n_machines=2, n_clauses=10)
    save(describer, KEPT, with_automata=True, force=True)
    answers = json.dumps(results(describer), ensure_ascii=False, indent=1)
    KEPT.with_suffix(".json").write_text(f"{answers}\n", encoding="utf-8")


def through_a_file(state: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Save and load a state without a model around it."""
    save_model(folder / "state", "anything", lambda: state, force=True)
    return load_model(folder / "state", {"anything": dict})


class TestRoundTrip:
    def test_a_loaded_model_gives_identical_results(
        self, describer: NoveltyDescriber, tmp_path: Path
    ) -> None:
        save(describer, tmp_path / "model")
        assert results(load(tmp_path / "model")) == results(describer)

    def test_a_loaded_model_can_be_saved_again_to_the_same_bytes(
        self, raw: bytes, tmp_path: Path
    ) -> None:
        (tmp_path / "first").write_bytes(raw)
        save(load(tmp_path / "first"), tmp_path / "second")
        assert (tmp_path / "second").read_bytes() == raw

    def test_automata_are_kept_on_request(
        self, describer: NoveltyDescriber, raw: bytes, tmp_path: Path
    ) -> None:
        save(describer, tmp_path / "model", with_automata=True)
        assert (tmp_path / "model").stat().st_size > len(raw)
        loaded = load(tmp_path / "model")
        assert results(loaded) == results(describer)
        more = [fresh.partial_fit([*KNOWN, *NOVEL], LABELS) for fresh in (loaded, fitted())]
        assert results(more[0]) == results(more[1])

    def test_the_kept_file_of_this_format_stays_readable(self) -> None:
        """Read a file that was written once, by this, run in this folder.

        ``python -c "import test_persistence; test_persistence.keep()"``
        """
        answers = KEPT.with_suffix(".json").read_text(encoding="utf-8")
        assert json.loads(json.dumps(results(load(KEPT)))) == json.loads(answers)
        assert load(KEPT).n_machines_ == 2

    @pytest.mark.parametrize(
        "array",
        [
            np.array([0, 2**64 - 1, 5], np.uint64),
            np.array([-(2**63), 2**63 - 1, 0]),
            np.array([3, -1, 70000], ">i4"),
            np.array([[1, 300], [-7, 0]], np.int64),
            np.array([[1, 300], [-7, 0]], np.int64, order="F"),
            np.array([True, False, True]),
            np.array([0.1, -np.inf, np.nan]),
            np.array([0.1, 2.0], ">f8"),
            np.array(2.5, np.float32),
            np.empty(0, np.int64),
            np.empty((0, 3), np.uint16),
            np.arange(10_000, dtype=np.int32)[::-2],
        ],
        ids=str,
    )
    def test_every_array_comes_back_with_its_numbers(self, array: Array, tmp_path: Path) -> None:
        state = {"one": {"a": array}, "some": [{"b": array}, {"c": 1}], "d": array}
        back = through_a_file(state, tmp_path)
        for found in (back["one"]["a"], back["some"][0]["b"], back["d"]):
            assert found.shape == array.shape
            np.testing.assert_array_equal(found, array)
            if array.dtype.kind not in "iu":
                assert found.dtype == array.dtype.newbyteorder("=")
            else:
                assert found.dtype.kind in "iu"
                assert found.dtype.itemsize <= array.dtype.itemsize
        assert back["some"][1] == {"c": 1}

    def test_an_array_of_objects_is_not_saved(self, tmp_path: Path) -> None:
        for array in (np.array([{}]), np.array(["text"]), np.array([1j])):
            with pytest.raises(TypeError, match=r"Cannot save the array a\.b of type"):
                save_model(tmp_path / "model", "x", lambda a=array: {"a": {"b": a}})
        assert os.listdir(tmp_path) == []

    def test_results_do_not_depend_on_the_presets_of_the_reader(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Save with the defaults of today, and load with those of a later version."""
        texts = [*KNOWN, *NOVEL]
        saved = NoveltyDescriber(n_clauses=20, T=8, epochs=2, random_state=7).fit(texts, LABELS)
        save(saved, tmp_path / "model", with_automata=True)
        other = {"shared_low": 0.99, "shared_high": 1.01, "s": 2.0, "max_literals": 3}
        other |= {"lemmatize": False, "ngram_range": (1, 2), "stop_words": None, "n_clauses": 6}
        other |= {"boost_true_positive": False, "n_machines": 2}
        default = {**PRESETS["default"], **other}
        presets = {**PRESETS, "default": default}
        monkeypatch.setattr("newfound.description.learning.PRESETS", presets)
        assert NoveltyDescriber().resolve_parameters()["s"] == 2.0
        loaded = load(tmp_path / "model")
        assert results(loaded) == results(saved)
        save(loaded, tmp_path / "again", with_automata=True)
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
        for describer in (loaded, saved):
            describer.partial_fit(texts, LABELS, epochs=3)
        assert results(loaded) == results(saved)

    @pytest.mark.parametrize("seed", [2**70, -5, 2**200])
    def test_any_seed_can_be_saved(self, tmp_path: Path, seed: int) -> None:
        save(fitted(random_state=seed, n_machines=2, epochs=1), tmp_path / "model")
        assert load(tmp_path / "model").random_state == (None if seed == 2**200 else seed)

    def test_a_file_does_not_choose_the_number_of_threads(self, raw: bytes, tmp_path: Path) -> None:
        content, arrays = take_apart(raw)
        assert content["state"]["parameters"]["n_jobs"] is None
        content["state"]["parameters"]["n_jobs"] = 5000
        (tmp_path / "model").write_bytes(assemble(content, arrays, tmp_path))
        assert load(tmp_path / "model").n_jobs is None

    def test_something_else_is_not_saved(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="Cannot save a dict; expected a NoveltyDescriber"):
            save({}, tmp_path / "model")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"Cannot save a Tsetlin.*can be pickled, or dumped"):
            save(newfound.TsetlinMachineClassifier(), tmp_path / "model")  # type: ignore[arg-type]
        assert os.listdir(tmp_path) == []


class TestOtherTools:
    def test_five_lines_of_python_open_it(self, raw: bytes, tmp_path: Path) -> None:
        """Run what docs/model-file.md shows."""
        (tmp_path / "model.newfound").write_bytes(raw)
        page = (Path(__file__).resolve().parents[2] / "docs" / "model-file.md").read_text("utf-8")
        code = page.split("```python\n")[1].split("```")[0]
        script = f"{code}\nprint(sorted(arrays))\nprint(document['kind'], document['format'])"
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        names, kind = done.stdout.splitlines()[-2:]
        assert kind == f"describer {FORMAT}"
        assert names == str(sorted(f"{name}.npy" for name in take_apart(raw)[1]))

    def test_the_numbers_are_those_of_the_model(
        self, describer: NoveltyDescriber, raw: bytes
    ) -> None:
        content, arrays = take_apart(raw)
        assert content["newfound"] == newfound.__version__
        words = describer.words_
        order = [words.number(word) for word in content["state"]["vectorizer"]["vocabulary"]]
        np.testing.assert_array_equal(arrays["words.novelty"], words["novelty"][order])
        np.testing.assert_array_equal(arrays["words.documents"][1], words["documents_novel"][order])

    def test_an_unzipped_file_has_no_surprises(self, raw: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            assert archive.testzip() is None
            for info in archive.infolist():
                assert "/" not in info.filename
                assert info.date_time == (1980, 1, 1, 0, 0, 0)
                assert info.external_attr >> 16 == 0o100644

    @pytest.mark.parametrize("kind", ["describer", "detector"])
    def test_the_page_names_every_field(self, kind: str) -> None:
        page = (Path(__file__).resolve().parents[2] / "docs" / "model-file.md").read_text("utf-8")
        if kind == "describer":
            state = fitted(n_machines=2).to_state(with_automata=True)
        else:
            known, _ = newfound.load_sample()
            detector = newfound.NoveltyDetector(random_state=1, n_clauses=6, epochs=1, alpha=0.2)
            detector.fit(known.texts[::16], known.labels[::16])
            state = detector.to_state()
        missing = {name for name in field_names(state) if f"`{name}`" not in page}
        assert not missing


def field_names(state: dict[str, Any]) -> set[str]:
    """Return the names of all fields but those of parameters and word forms."""
    names = set(state)
    for name, value in state.items():
        parts = value if isinstance(value, list) else [value]
        for part in parts if name not in ("parameters", "chosen", "forms") else ():
            names |= field_names(part) if isinstance(part, dict) else set()
    return names


class TestSizes:
    def test_20000_clauses_over_8000_words_take_at_most_10_mb(
        self, describer: NoveltyDescriber, tmp_path: Path
    ) -> None:
        lengths = np.random.default_rng(1).integers(20, 80, 20_000)
        large = NoveltyDescriber.from_state(made_up(describer, lengths, 8_000))
        assert large.n_machines_ == 5
        large.save(tmp_path / "model")
        assert (tmp_path / "model").stat().st_size < 10e6
        loaded = load(tmp_path / "model")
        assert loaded.words_ == large.words_
        assert loaded.phrases_ == large.phrases_
        np.testing.assert_array_equal(loaded.clauses_.held_out, large.clauses_.held_out)
        np.testing.assert_array_equal(
            loaded.clauses_.arrays.literals, large.clauses_.arrays.literals
        )

    def test_the_automata_of_many_machines_are_kept(self, tmp_path: Path) -> None:
        """Write more arrays than a file of few machines has, and read them again."""
        many = fitted(n_machines=300, n_clauses=2, epochs=1)
        save(many, tmp_path / "model", with_automata=True)
        loaded = load(tmp_path / "model")
        assert len(loaded.machines_) == 300
        np.testing.assert_array_equal(loaded.machines_[299].states_, many.machines_[299].states_)
        assert loaded.words_ == many.words_

    def test_a_model_of_80000_words_loads_compressed(
        self, describer: NoveltyDescriber, tmp_path: Path
    ) -> None:
        state = made_up(describer, np.full(2000, 30), 80_000)
        content = saved(state, tmp_path)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            methods = {info.compress_type for info in archive.infolist()}
        assert methods == {zipfile.ZIP_DEFLATED}
        assert load(tmp_path / "saved").vectorizer_.vocabulary_["".join(
            state["vectorizer"]["vocabulary"][-1:]
        )] == 79_999  # fmt: skip

    @pytest.mark.slow
    def test_a_model_of_80000_words_with_automata_loads(self, tmp_path: Path) -> None:
        """Learn from texts of many words: the automata of most of them are alike."""
        texts = [" ".join(f"w{i}x{j}" for j in range(40)) for i in range(2000)]
        labels = ["known"] * 1000 + ["novel"] * 1000
        large = NoveltyDescriber(
            n_machines=1, n_clauses=10, T=5, epochs=1, min_df=1, rule_min_df=1, random_state=1
        ).fit(texts, labels)
        assert len(large.words_) == 80_000
        save(large, tmp_path / "model", with_automata=True)
        loaded = load(tmp_path / "model")
        assert loaded.words_ == large.words_
        np.testing.assert_array_equal(loaded.machines_[0].states_, large.machines_[0].states_)

    def test_a_model_that_compresses_beyond_the_limit_is_stored_as_it_is(
        self, tmp_path: Path
    ) -> None:
        """Take 300,000 words and automata that would shrink to almost nothing."""
        state = {
            "words": [f"word{i}" for i in range(300_000)],
            "automata": np.zeros((2, 10, 2, 1 << 20), np.uint8),
        }
        back = through_a_file(state, tmp_path)
        assert back["words"] == state["words"]
        np.testing.assert_array_equal(back["automata"], state["automata"])
        with zipfile.ZipFile(tmp_path / "state") as archive:
            assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
            used = sum(info.file_size for info in archive.infolist())
        assert (tmp_path / "state").stat().st_size < used + 2000  # nothing but the members

    def test_the_limit_grows_with_the_file(self) -> None:
        assert memory_limit(0) == 64_000_000
        assert memory_limit(1_000_000) == 128_000_000

    def test_more_than_a_zip_file_can_hold_is_refused_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100_000)
        state = {"a": np.random.default_rng(0).random((2, 3, 100_000))}
        with pytest.raises(ValueError, match="more than 2 GB; save it without its automata"):
            save_model(tmp_path / "model", "x", lambda: state)
        assert os.listdir(tmp_path) == []


class TestWriting:
    def test_an_existing_file_is_kept_unless_forced(
        self, describer: NoveltyDescriber, tmp_path: Path
    ) -> None:
        path = tmp_path / "model"
        path.write_text("precious")
        with pytest.raises(FileExistsError, match="exists; pass --force"):
            save(describer, path)
        assert path.read_text() == "precious"
        save(describer, path, force=True)
        assert results(load(path)) == results(describer)
        assert os.listdir(tmp_path) == ["model"]

    @pytest.mark.parametrize(
        ("name", "message"), [("no/model", "Cannot write .*: No such file"), ("", "it is a folder")]
    )
    def test_a_place_that_cannot_be_written(
        self, describer: NoveltyDescriber, tmp_path: Path, name: str, message: str
    ) -> None:
        with pytest.raises(OSError, match=message):
            save(describer, tmp_path / name)

    def test_a_path_is_checked_before_the_state_is_made(self, tmp_path: Path) -> None:
        def make_state() -> dict[str, Any]:
            raise AssertionError("the work was begun")

        with pytest.raises(OSError, match="Cannot write"):
            save_model(tmp_path / "no" / "model", "x", make_state)

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path) -> None:
        """Let the system refuse the write half-way, by a limit on the size of files."""
        (tmp_path / "model").write_text("precious")
        script = (
            "import resource, signal, sys, numpy as np\n"
            "from newfound.storage.model_file import save_model\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
            "noise = np.random.default_rng(0).random(100_000)\n"
            "save_model(sys.argv[1], 'x', lambda: {'noise': noise}, force=True)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "model")], capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "File too large" in done.stderr
        assert os.listdir(tmp_path) == ["model"]
        assert (tmp_path / "model").read_text() == "precious"


def test_a_describer_does_not_load_a_detector_nor_the_other_way_round(
    raw: bytes, tmp_path: Path
) -> None:
    (tmp_path / "model").write_bytes(raw)
    with pytest.raises(model_file.ModelFileError, match="holds a describer, not a detector; load"):
        newfound.NoveltyDetector.load(tmp_path / "model")
    (tmp_path / "other").write_bytes(assemble(document({}, "detector"), {}, tmp_path))
    with pytest.raises(model_file.ModelFileError, match="holds a detector, not a describer; load"):
        NoveltyDescriber.load(tmp_path / "other")
