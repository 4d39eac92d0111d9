"""A file that was altered or forged is refused in one line, before it costs much."""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostile_files import SOUND, is_a_plain_line, refused
from model_files import (
    COMMENT,
    KNOWN,
    LABELS,
    NOVEL,
    TEXTS,
    assemble,
    central,
    document,
    fitted,
    sealed,
    take_apart,
    zipped,
)
from newfound.detection.detector import NoveltyDetector
from newfound.models import ModelFileError, load, save
from newfound.storage.model_file import FORMAT
from newfound.text.sample import load_sample

JUNK: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", [], [[]], {}, {"x": "y"}, ["x", 1]]
quick = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def raw_with_automata(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound file, of two machines, with their automata."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(fitted(n_machines=2), path, with_automata=True)
    return path.read_bytes()


def refused_or_usable(content: bytes, tmp_path: Path) -> None:
    """Expect a refusal, or a model that answers everything and can be trained further."""
    path = tmp_path / "changed"
    path.write_bytes(content)
    try:
        describer = load(path)
    except ModelFileError as error:
        is_a_plain_line(str(error), path)
        return
    for text in TEXTS:
        describer.explain(text).to_dict()
    describer.words_.to_csv()
    describer.phrases_.to_csv()
    describer.remember(KNOWN, NOVEL).senses(describer.words_["word"][0]).to_dict()
    describer.context_matrix(list(describer.vectorizer_.vocabulary_)[:3])
    list(describer.clauses_)
    if describer.machines_:
        describer.partial_fit([*KNOWN, *NOVEL], LABELS)


def with_other_numbers(raw: bytes, seed: int, folder: Path) -> bytes:
    """Return a file with up to three bytes of one array changed; lengths and checksums fit."""
    content, arrays = take_apart(raw)
    draw = random.Random(seed)
    name = draw.choice(sorted(name for name in arrays if arrays[name].size))
    array = np.array(arrays[name], order="C")
    numbers = array.reshape(-1).view(np.uint8)
    for _ in range(draw.randint(1, 3)):
        numbers[draw.randrange(len(numbers))] = draw.randrange(256)
    arrays[name] = array
    return assemble(content, arrays, folder)


def with_another_value(raw: bytes, seed: int, folder: Path) -> bytes:
    """Return a file with something else, or nothing, in any place of the JSON."""
    content, arrays = take_apart(raw)
    draw = random.Random(seed)
    at = content["state"]
    while True:
        key = draw.choice(range(len(at)) if isinstance(at, list) else sorted(at))
        if not (isinstance(at[key], dict | list) and at[key]) or draw.random() < 0.3:
            break
        at = at[key]
    if draw.random() < 0.3:
        del at[key]
    else:
        at[key] = draw.choice(JUNK)
    return assemble(content, arrays, folder)


CHANGES = pytest.mark.parametrize("change", [with_other_numbers, with_another_value])
SEEDS = [
    pytest.param(range(20)),
    pytest.param(range(20, 100), marks=pytest.mark.slow),
    pytest.param(range(100, 300), marks=[pytest.mark.slow, pytest.mark.exhaustive]),
]


class TestAlteredFiles:
    @pytest.mark.parametrize("share", [0.0005, 0.01, 0.3, 0.99, 0.9999])
    def test_truncated(self, raw: bytes, tmp_path: Path, share: float) -> None:
        refused(raw[: max(1, int(len(raw) * share))], tmp_path, "is truncated")

    @pytest.mark.parametrize("n", [1, 10, 63, 64, 65, 110, 130])
    def test_truncated_in_its_end(self, raw: bytes, tmp_path: Path, n: int) -> None:
        refused(raw[:-n], tmp_path, "is truncated")

    def test_longer_than_it_says(self, raw: bytes, tmp_path: Path) -> None:
        for content in (raw + b"\0", raw + raw, b"\0" + raw, raw[:100] + raw, raw + b"x" * 300):
            refused(content, tmp_path, "damaged|not a newfound model|truncated")

    def test_every_flipped_byte_is_found(self, raw: bytes, tmp_path: Path) -> None:
        path = tmp_path / "flipped"
        directory = central(raw)
        places = {*range(300), *range(300, directory, 97), *range(directory, len(raw), 7)}
        places |= set(range(len(raw) - 150, len(raw)))
        for place in places:
            content = bytearray(raw)
            content[place] ^= 1 << place % 8
            path.write_bytes(content)
            with pytest.raises(ModelFileError):
                load(path)

    @quick
    @given(data=st.data())
    def test_any_change_is_refused_or_harmless(
        self, raw: bytes, tmp_path: Path, data: st.DataObject
    ) -> None:
        at = data.draw(st.integers(0, len(raw)))
        removed = data.draw(st.integers(0, 64))
        put = data.draw(st.binary(max_size=64))
        content = raw[:at] + put + raw[at + removed :]
        forged = data.draw(st.booleans())
        path = tmp_path / "mutated"
        path.write_bytes(sealed(content) if forged else content)
        try:
            load(path)
        except ModelFileError as error:
            is_a_plain_line(str(error), path)
        else:
            loaded = path.read_bytes()
            assert loaded == raw or (forged and same_members(loaded, raw))

    @CHANGES
    @pytest.mark.parametrize("seeds", SEEDS)
    def test_a_forged_change_is_refused_or_never_crashes_later(
        self, raw_with_automata: bytes, tmp_path: Path, change: Any, seeds: range
    ) -> None:
        for seed in seeds:
            refused_or_usable(change(raw_with_automata, seed, tmp_path), tmp_path)

    @pytest.mark.parametrize(
        "name",
        [
            "clauses.class_index", "clauses.literals", "clauses.matches", "clauses.held_out",
            "words.documents", "words.novelty", "words.q", "phrases.lengths", "phrases.words",
            "phrases.novel", "phrases.counts", "phrases.values",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("change", ["shorter", "longer", "gone"])
    def test_arrays_that_do_not_fit_together(
        self, raw: bytes, tmp_path: Path, name: str, change: str
    ) -> None:
        content, arrays = take_apart(raw)
        array = arrays.pop(name)
        if change != "gone":
            arrays[name] = array[:-1] if change == "shorter" else np.concatenate((array, array))
        message = f"lacks the field {name}; save" if change == "gone" else "in the field "
        refused(assemble(content, arrays, tmp_path), tmp_path, message)

    def test_lengths_that_wrap(self, raw: bytes, tmp_path: Path) -> None:
        """Refuse clauses whose lengths add up to the right number modulo 2 to the 64th."""
        content, arrays = take_apart(raw)
        for name in ("class_index", "polarity", "matches", "agrees"):
            arrays[f"clauses.{name}"] = arrays[f"clauses.{name}"][:4]
        arrays["clauses.literals"] = np.arange(20, dtype=np.uint8) % 5
        arrays["clauses.lengths"] = np.full(4, 2**62 + 5)
        assert int(np.cumsum(arrays["clauses.lengths"])[-1]) == 20
        refused(assemble(content, arrays, tmp_path), tmp_path, "in the field clauses.lengths")
        arrays["clauses.lengths"] = np.full(4, 5)
        refused_or_usable(assemble(content, arrays, tmp_path), tmp_path)


class TestDetectors:
    """The same for the file of a detector."""

    @pytest.fixture(scope="class")
    @staticmethod
    def detector() -> bytes:
        """Return the bytes of a sound file of a small detector."""
        known, _ = load_sample()
        made = NoveltyDetector(random_state=1, n_clauses=6, epochs=2, alpha=0.2)
        made.fit(known.texts[::16], known.labels[::16])
        with tempfile.TemporaryDirectory() as folder:
            made.save(Path(folder) / "model")
            return (Path(folder) / "model").read_bytes()

    def refused_or_usable(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "changed"
        path.write_bytes(content)
        try:
            detector = load(path)
        except ModelFileError as error:
            is_a_plain_line(str(error), path)
            return
        with np.errstate(all="ignore"):
            detector.predict(TEXTS)
            detector.explain("pay my bill to the bank").to_dict()
            if detector.held_back_texts_:  # a file without them is that of forget_texts
                labels = [detector.classes_[0]] * 2
                detector.partial_fit(["pay the bill", "what is my balance"], labels)

    @CHANGES
    @pytest.mark.parametrize("seeds", SEEDS)
    def test_a_forged_change_is_refused_or_never_crashes_later(
        self, detector: bytes, tmp_path: Path, change: Any, seeds: range
    ) -> None:
        for seed in seeds:
            self.refused_or_usable(change(detector, seed, tmp_path), tmp_path)

    def test_many_rules_that_compress_to_nothing(self, detector: bytes, tmp_path: Path) -> None:
        """Take 100,000 rules of the same word in a small file."""
        content, arrays = take_apart(detector)
        n, n_classes = 100_000, len(content["state"]["classes"])
        zeros = {name: np.zeros(n, np.uint8) for name in ("indices", "data")}
        arrays |= {
            "rules.lengths": np.ones(n, np.uint8),
            "rules.words": np.zeros(n, np.uint8),
            "rules.rarity": np.ones(n),
            "rules.weights.indptr": np.arange(n + 1, dtype=np.uint32),
            "rules.weights.indices": zeros["indices"],
            "rules.weights.data": zeros["data"] + np.uint8(1),
            "rules.counts.indptr": np.zeros(n + 1, np.uint8),
            "rules.counts.indices": zeros["indices"][:0],
            "rules.counts.data": zeros["data"][:0],
        }
        path = tmp_path / "model"
        path.write_bytes(assemble(content, arrays, tmp_path))
        assert path.stat().st_size < 400_000
        tracemalloc.start()
        try:
            loaded = load(path)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 60e6
        word = next(iter(loaded.vectorizer_.vocabulary_))
        votes = loaded.rule_votes([word]) - loaded.scorer_.rules.base
        assert votes.tolist() == [[n, *[0] * (n_classes - 1)]]


def same_members(one: bytes, other: bytes) -> bool:
    """Whether two archives hold the same; dates and the like may differ."""
    (first, arrays), (second, others) = take_apart(sealed(one)), take_apart(other)
    return first == second and all(np.array_equal(arrays[n], others[n]) for n in others)


class TestMessages:
    @pytest.mark.parametrize(
        ("place", "value", "message"),
        [
            ("n_machines", "x" * 5000, r"has 'x{30,}… in the field n_machines, expected a whole"),
            (
                "n_documents",
                [1] * 999,
                "has a list of 999 in the field n_documents, expected named",
            ),
            ("n_documents", {"known": 3}, r"lacks the field n_documents\.novel; save the model"),
            ("n_documents", {"known": 2**53, "novel": 1}, r"n_documents\.known, expected .* to 2,"),
            ("parameters", {"seed\n" * 900: 1}, "has the unknown field parameters.seed seed"),
            ("chosen", {"n_clauses": 7}, "n_clauses=7 must be even"),
            ("vectorizer", None, "has None in the field vectorizer"),
        ],
    )
    def test_a_refusal_names_the_field_and_what_was_expected(
        self, raw: bytes, tmp_path: Path, place: str, value: Any, message: str
    ) -> None:
        content, arrays = take_apart(raw)
        if isinstance(value, dict) and place == "chosen":
            value = {**content["state"]["chosen"], **value}
        content["state"][place] = value
        arrays = {name: a for name, a in arrays.items() if not name.startswith(f"{place}.")}
        refused(assemble(content, arrays, tmp_path), tmp_path, message)

    def test_a_long_path_is_shortened(self, tmp_path: Path) -> None:
        folder = tmp_path
        for _ in range(10):
            folder = folder / ("deep" * 20)
        folder.mkdir(parents=True)
        (folder / "model").write_text("hello")
        with pytest.raises(ModelFileError, match=r"^….*deep/model is not a newfound") as caught:
            load(folder / "model")
        assert len(str(caught.value)) <= 300

    def test_a_newer_version_says_so(self, raw: bytes, tmp_path: Path) -> None:
        number = str(FORMAT + 1).encode()
        newer = raw.replace(b"model, format 1,", b"model, format %s," % number)
        refused(newer, tmp_path, f"newer newfound, in format {FORMAT + 1}; .* upgrade newfound")
        refused(newer[:-64] + b"another end", tmp_path, "truncated|damaged")

    def test_a_format_that_contradicts_itself(self, raw: bytes, tmp_path: Path) -> None:
        content, arrays = take_apart(raw)
        content["format"] = FORMAT + 1
        refused(assemble(content, arrays, tmp_path), tmp_path, "in the field format, expected")


class TestSomethingElse:
    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"hello",
            b"\x80\x04K\x01.",
            b"\x89nfound\n" + b"\0" * 100,
            zipped([("a.txt", b"hello")], comment=b""),
            zipped([("model.json", SOUND)], comment=b""),
            zipped([("model.json", SOUND)], comment=b"x" * 100),
        ],
        ids=["empty", "text", "pickle", "earlier", "zip", "without comment", "other comment"],
    )
    def test_other_files(self, tmp_path: Path, content: bytes) -> None:
        refused(content, tmp_path, "is not a newfound model; pass a file")

    def test_a_zip_that_is_cut(self, tmp_path: Path) -> None:
        refused(b"PK\x03\x04" + b"\0" * 100, tmp_path, "is truncated")

    def test_folders_devices_and_pipes(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "link").symlink_to("/dev/zero")
        for path in (tmp_path, Path("/dev/zero"), tmp_path / "pipe", tmp_path / "link"):
            with pytest.raises(ModelFileError, match="is not a file"):
                load(path)

    def test_a_missing_file_is_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "missing")

    @pytest.mark.parametrize("kind", ["os.system", "", "x" * 40])
    def test_an_unknown_kind(self, tmp_path: Path, kind: str) -> None:
        refused(assemble(document({}, kind), {}, tmp_path), tmp_path, "not a describer or a detec")

    @pytest.mark.parametrize("kind", [None, ["describer"], 1, "x" * 41, {"describer": 1}])
    def test_a_kind_that_is_no_name(self, tmp_path: Path, kind: Any) -> None:
        refused(assemble(document({}, kind), {}, tmp_path), tmp_path, "in the field kind")

    @pytest.mark.parametrize("kind", ["describer", "detector"])
    def test_a_sound_file_of_nothing(self, tmp_path: Path, kind: str) -> None:
        refused(assemble(document({}, kind), {}, tmp_path), tmp_path, "lacks the field parameters")


def test_the_digest_is_the_one_that_the_page_names(raw: bytes) -> None:
    digest = hashlib.blake2b(raw[:-64], digest_size=32).hexdigest()
    assert raw.endswith(COMMENT + digest.encode())
