"""A file that was altered or forged is refused in one line, before it costs much."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
    made_up,
    npy,
    npy_header,
    patched,
    plain,
    saved,
    sealed,
    take_apart,
    zipped,
)
from newfound.description.describer import NoveltyDescriber
from newfound.detection.detector import NoveltyDetector
from newfound.models import ModelFileError, load, save
from newfound.storage.archive import ArrayHeader
from newfound.storage.model_file import FORMAT, json_memory_estimate, memory_limit, save_model
from newfound.text.sample import load_sample

SOUND = json.dumps(document({})).encode()
JUNK: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", [], [[]], {}, {"x": "y"}, ["x", 1]]
quick = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture(scope="module")
def describer() -> NoveltyDescriber:
    return fitted()


@pytest.fixture(scope="module")
def raw(describer: NoveltyDescriber, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound file."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(describer, path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def raw_with_automata(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound file, of two machines, with their automata."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(fitted(n_machines=2), path, with_automata=True)
    return path.read_bytes()


def refused(content: bytes, tmp_path: Path, message: str) -> None:
    """Expect one line that names the file, within 20 s of the processor and 100 MB."""
    path = tmp_path / "hostile"
    path.write_bytes(content)
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(ModelFileError, match=message) as caught:
            load(path)
        used = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    is_a_plain_line(str(caught.value), path)
    assert used < 20  # a tenth of a second
    assert peak < 100e6


def is_a_plain_line(message: str, path: Path) -> None:
    assert "\n" not in message
    assert len(message) <= 300
    assert message.startswith(str(path))
    assert message.endswith(".")
    assert "; " in message  # what is wrong; what to do
    assert "Error(" not in message


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


class TestArchives:
    """Archives that Python's zipfile opens, or that deceive one tool and not another."""

    MEMBERS = (("model.json", SOUND), ("a.npy", npy(np.arange(5))))

    def test_a_sound_one_gets_as_far_as_its_state(self, tmp_path: Path) -> None:
        refused(zipped(self.MEMBERS[:1]), tmp_path, "lacks the field parameters")

    @pytest.mark.parametrize(
        "name",
        ["../a.npy", "/a.npy", "a/b.npy", "a\\b.npy", "A.npy", "ä.npy", "a", "", ".npy", "a..npy",
         "a.npy/", "a\n.npy", "x" * 200 + ".npy"],
    )  # fmt: skip
    def test_names(self, tmp_path: Path, name: str) -> None:
        content = zipped([self.MEMBERS[0], (name, npy(np.arange(5)))])
        refused(content, tmp_path, "impossible entry|is encrypted|not as long|truncated|damaged")

    def test_a_name_twice(self, tmp_path: Path) -> None:
        with pytest.warns(UserWarning, match="Duplicate name"):
            content = zipped([*self.MEMBERS, self.MEMBERS[1]])
        refused(content, tmp_path, "the member a.npy is there twice")

    def test_members_in_another_order_or_of_another_kind(self, tmp_path: Path) -> None:
        refused(zipped(self.MEMBERS[::-1]), tmp_path, "expected model.json and then .npy")
        refused(zipped(self.MEMBERS[1:]), tmp_path, "expected model.json and then .npy")
        refused(zipped([*self.MEMBERS, ("a.pkl", b"x")]), tmp_path, "expected model.json and then")
        refused(zipped([]), tmp_path, "not a newfound model")

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    def test_other_methods(self, tmp_path: Path, method: int) -> None:
        refused(zipped(self.MEMBERS, method=method), tmp_path, "model.json is encrypted, split or")

    @pytest.mark.parametrize(
        "mode", [0o120777, 0o040755, 0o020644, 0o010644, 0o644], ids=lambda mode: f"{mode:o}"
    )
    def test_symbolic_links_folders_and_devices(self, tmp_path: Path, mode: int) -> None:
        info = plain("a.npy")
        info.external_attr = mode << 16
        refused(
            zipped([self.MEMBERS[0], (info, b"/etc/passwd")]), tmp_path, "is not a regular file"
        )

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [
            (8, "<H", 1),  # encrypted
            (8, "<H", 8),  # sizes follow the data
            (8, "<H", 0x800),
            (10, "<H", 9),
            (10, "<H", 0),
            (16, "<L", 0),  # checksum
            (20, "<L", 0xFFFFFFFF),  # 64-bit sizes
            (20, "<L", 0),
            (24, "<L", 0xFFFFFFFF),
            (24, "<L", 1),
            (28, "<H", 500),
            (28, "<H", 0),
            (30, "<H", 4),
            (32, "<H", 4),
            (34, "<H", 1),  # on another disk
            (42, "<L", 7),
            (42, "<L", 0xFFFFFFFF),
        ],
    )
    @pytest.mark.parametrize("number", [0, 1])
    def test_lies_in_the_list_of_members(
        self, tmp_path: Path, number: int, place: int, form: str, value: int
    ) -> None:
        content = zipped(self.MEMBERS)
        refused(
            patched(content, central(content, number) + place, form, value), tmp_path, "is damaged"
        )

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [(0, "<L", 7), (6, "<H", 1), (8, "<H", 0), (14, "<L", 7), (18, "<L", 7), (22, "<L", 7),
         (26, "<H", 9), (28, "<H", 2), (30, "<B", 65)],
    )  # fmt: skip
    def test_lies_before_a_member(self, tmp_path: Path, place: int, form: str, value: int) -> None:
        content = zipped(self.MEMBERS)
        second = content.index(b"PK\x03\x04", 4)
        refused(patched(content, second + place, form, value), tmp_path, "is damaged")

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [
            (4, "<H", 1), (6, "<H", 1), (8, "<H", 1), (8, "<H", 0xFFFF), (10, "<H", 1),
            (10, "<H", 0xFFFF), (12, "<L", 0), (12, "<L", 0xFFFFFFFF), (16, "<L", 0),
            (16, "<L", 0xFFFFFFFF), (20, "<H", 5), (20, "<H", 0xFFFF),
        ],
    )  # fmt: skip
    def test_lies_in_the_end_record(
        self, tmp_path: Path, place: int, form: str, value: int
    ) -> None:
        content = zipped(self.MEMBERS)
        end = content.rindex(b"PK\x05\x06")
        refused(patched(content, end + place, form, value), tmp_path, "damaged|truncated")

    def test_a_count_of_members_without_members(self, tmp_path: Path) -> None:
        content = bytearray(zipped(self.MEMBERS))
        end = content.rindex(b"PK\x05\x06")
        struct.pack_into("<HH", content, end + 8, 60_000, 60_000)
        refused(sealed(bytes(content)), tmp_path, "it has 60,000 members, expected 1 to 4,096")
        struct.pack_into("<HH", content, end + 8, 3, 3)
        refused(sealed(bytes(content)), tmp_path, "its list of members is incomplete")
        struct.pack_into("<HH", content, end + 8, 1, 1)
        refused(sealed(bytes(content)), tmp_path, "its list of members is longer than declared")

    def test_too_many_members(self, tmp_path: Path) -> None:
        members = [(f"a{i}.npy", b"") for i in range(5000)]
        refused(zipped([self.MEMBERS[0], *members]), tmp_path, "it has 5,001 members")

    def test_members_that_overlap(self, tmp_path: Path) -> None:
        """Let two entries stand for the same bytes, as bombs without recursion do."""
        bomb = npy(np.zeros(1 << 20, np.uint8))
        content = bytearray(zipped([self.MEMBERS[0], ("a.npy", bomb), ("b.npy", bomb)]))
        first, second = (central(bytes(content), i) for i in (1, 2))
        struct.pack_into("<L", content, second + 42, *struct.unpack_from("<L", content, first + 42))
        refused(sealed(bytes(content)), tmp_path, "b.npy is not where the list says")

    def test_bytes_that_belong_to_no_member(self, tmp_path: Path) -> None:
        content = zipped(self.MEMBERS)
        at = central(content)
        longer = content[:at] + b"hidden" + content[at:]
        longer = patched(longer, longer.rindex(b"PK\x05\x06") + 16, "<L", at + 6)
        refused(longer, tmp_path, "bytes that belong to no member")

    def test_a_checksum_of_a_member_that_does_not_match(self, tmp_path: Path) -> None:
        content = bytearray(zipped(self.MEMBERS, method=zipfile.ZIP_STORED))
        content[content.index(b'"format": 1') + 10] = ord("2")
        refused(sealed(bytes(content)), tmp_path, "the checksum of the member model.json")

    def test_the_checksum_of_the_file_is_looked_at_first(self, tmp_path: Path) -> None:
        content = zipped(self.MEMBERS)
        refused(content[:-64] + b"0" * 64, tmp_path, "its checksum does not match its contents")
        other = COMMENT.replace(b"blake2b-256", b"blake2b-257") + b"0" * 64
        refused(zipped(self.MEMBERS, comment=other), tmp_path, "its checksum does not match")


class TestBombs:
    def test_a_bomb_that_declares_its_size(self, tmp_path: Path) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy(np.zeros(200 << 20, np.uint8)))])
        refused(content, tmp_path, r"needs up to 209,7.* bytes of memory, more than the 7\d,")

    def test_a_bomb_whose_entries_become_objects(self, tmp_path: Path) -> None:
        content = assemble(document({}), {"a": np.zeros(4 << 20, np.uint8)}, tmp_path)
        refused(content, tmp_path, "needs up to 134,2.* bytes of memory")

    def test_many_bombs(self, tmp_path: Path) -> None:
        arrays = {f"a{i}": np.zeros((1, 1, 1 << 20), np.uint8) for i in range(50)}
        refused(assemble(document({}), arrays, tmp_path), tmp_path, "bytes of memory")

    @pytest.mark.parametrize("declared", [0, 1, 1000, 1 << 20])
    def test_a_bomb_that_hides_its_size(self, tmp_path: Path, declared: int) -> None:
        """Declare less than comes out of it, everywhere and with the checksum of that much."""
        bomb = npy(np.zeros(200 << 20, np.uint8))
        content = zipped([("model.json", SOUND), ("a.npy", bomb)])
        local = content.index(b"PK\x03\x04", 4)
        for place in (central(content, 1) + 16, local + 14):
            content = patched(content, place, "<L", zlib.crc32(bomb[:declared]))
            content = patched(content, place + 8, "<L", declared)
        refused(content, tmp_path, "a.npy is not a")

    def test_a_bomb_in_a_header_that_fits(self, tmp_path: Path) -> None:
        """Hide behind an array of few numbers, which the header declares truthfully."""
        small = npy(np.zeros(5, np.uint8))
        bomb = small + b"\0" * (100 << 20)
        content = zipped([("model.json", json.dumps(document({"b": 1})).encode()), ("a.npy", bomb)])
        local = content.index(b"PK\x03\x04", 4)
        for place in (central(content, 1) + 16, local + 14):
            content = patched(content, place, "<L", zlib.crc32(small))
            content = patched(content, place + 8, "<L", len(small))
        refused(content, tmp_path, "a.npy is not as long as declared")

    def test_a_ratio_that_deflate_cannot_reach(self, tmp_path: Path) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy(np.zeros(1 << 10, np.uint8)))])
        size = 1 << 31
        for place in (central(content, 1) + 24, content.index(b"PK\x03\x04", 4) + 22):
            content = patched(content, place, "<L", size)
        refused(content, tmp_path, "a.npy declares an impossible size")

    def test_a_bomb_in_the_state(self, tmp_path: Path) -> None:
        text = b'{"a":[' + b"[]," * (1 << 20) + b"[]]}"
        refused(zipped([("model.json", text)]), tmp_path, "bytes of memory")

    def test_more_clauses_than_a_file_of_this_length_can_hold(
        self, raw: bytes, tmp_path: Path
    ) -> None:
        """Declare millions of empty clauses, which compress to nothing."""
        content, arrays = take_apart(raw)
        n = 3_000_000
        for name in ("class_index", "polarity", "lengths", "matches", "agrees"):
            arrays[f"clauses.{name}"] = np.full(n, name == "polarity", np.uint8)
        arrays["clauses.held_out"] = np.zeros((2, n), np.uint8)
        refused(assemble(content, arrays, tmp_path), tmp_path, "bytes of memory, more than the")


class TestStates:
    @pytest.mark.parametrize(
        "text",
        [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 5000 + b"]" * 5000],
        ids=["lists", "objects", "closed"],
    )
    def test_nested_deep(self, tmp_path: Path, text: bytes) -> None:
        refused(zipped([("model.json", text)]), tmp_path, "model.json is not JSON, or nested")

    @pytest.mark.parametrize("text", [b"\xff", b"{", b"", b"\xef\xbb\xbf{}", b"'a'", b"{}{}"])
    def test_not_json(self, tmp_path: Path, text: bytes) -> None:
        refused(zipped([("model.json", text)]), tmp_path, "model.json is not JSON")

    @pytest.mark.parametrize("text", [b"[]", b"1", b'"x"', b"null"])
    def test_not_an_object(self, tmp_path: Path, text: bytes) -> None:
        refused(zipped([("model.json", text)]), tmp_path, "expected named values")

    @pytest.mark.parametrize("state", [b"[]", b"1", b'"x"', b"null"])
    def test_a_state_that_is_not_an_object(self, tmp_path: Path, state: bytes) -> None:
        text = SOUND.replace(b"{}", state)
        refused(zipped([("model.json", text)]), tmp_path, "in the field state, expected named")

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e400"])
    def test_numbers_that_are_not_finite(self, tmp_path: Path, number: str) -> None:
        text = SOUND.replace(b"{}", b'{"a": %s}' % number.encode())
        refused(zipped([("model.json", text)]), tmp_path, f"the number {number}, which is not fin")

    @pytest.mark.parametrize("digits", [41, 5000, 500_000])
    def test_huge_integers(self, tmp_path: Path, digits: int) -> None:
        text = SOUND.replace(b"{}", b'{"a": 1%s}' % (b"0" * (digits - 1)))
        refused(zipped([("model.json", text)]), tmp_path, f"a number of {digits:,} digits")

    def test_a_name_twice(self, tmp_path: Path) -> None:
        text = SOUND.replace(b"{}", b'{"a": 1, "a": 2}')
        refused(zipped([("model.json", text)]), tmp_path, "a name twice in one object")

    def test_half_a_surrogate_pair(self, raw: bytes, tmp_path: Path) -> None:
        content, arrays = take_apart(raw)
        content["state"]["vectorizer"]["vocabulary"][0] = "\ud800"
        refused(
            assemble(content, arrays, tmp_path), tmp_path, r"in the field vectorizer.vocabulary.0"
        )

    @pytest.mark.parametrize("name", ["b.a", "some.2.a", "some.a", "some.0.x", "text.a", "twice"])
    def test_arrays_without_a_place(self, tmp_path: Path, name: str) -> None:
        state = {"some": [{}, {}], "text": "x", "twice": 1}
        state["some"][0] = {"x": 1}
        content = assemble(document(state), {name: np.arange(3)}, tmp_path)
        refused(content, tmp_path, f"no place for the array {name}")


class TestArrays:
    def test_pickled_objects(self, tmp_path: Path) -> None:
        class Exploit:
            def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
                return os.system, ("touch exploited",)

        array = np.array([Exploit()])
        content = zipped([("model.json", SOUND), ("a.npy", npy(array))])
        refused(content, tmp_path, "a.npy is not an array of plain numbers")

    @pytest.mark.parametrize(
        "array",
        [
            np.array(["text"]),
            np.array([b"text"]),
            np.zeros(3, "V8"),
            np.zeros(3, [("a", int)]),
            np.zeros(3, ">i4"),
            np.zeros(3, np.float16),
            np.zeros(3, complex),
            np.zeros(3, "M8[s]"),
            np.zeros((3, 3), order="F"),
            np.zeros((1,) * 9),
        ],
        ids=lambda array: str(array.dtype),
    )
    def test_other_types_and_orders(self, tmp_path: Path, array: Any) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy(array))])
        refused(content, tmp_path, "a.npy is not an array of plain numbers")

    @pytest.mark.parametrize(
        ("descr", "shape"),
        [
            ("'|O'", "(1,)"),
            ("'<i4'", "(-1,)"),
            ("'<i4'", "(1099511627776, 1099511627776)"),
            ("'<i4'", "(0, 4611686018427387904)"),
            ("'<i4'", "(1180591620717411303424,)"),
            ("'<i4'", "(1.0,)"),
            ("'<i4'", "(True,)"),
            ("'<i4'", "5"),
            ("'<i4'", "None"),
            ("'<i4'", "(__import__('os').getpid(),)"),
            ("[('a', '<i4')]", "(1,)"),
            ("8", "(1,)"),
            ("'<i4'" + " " * 600, "(1,)"),
            ("'<i4'", "(" * 100 + "1," + ")" * 100),
            ("'<i3'", "(1,)"),
            ("'|i4'", "(1,)"),
        ],
    )
    def test_absurd_headers(self, tmp_path: Path, descr: str, shape: str) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy_header(descr, shape) + b"\0" * 20)])
        refused(content, tmp_path, "the member a.npy is not")

    @pytest.mark.parametrize("shape", ["(100000000, 0)", "(0, 100000000)", "(10000, 0, 10000)"])
    def test_a_dimension_of_0_does_not_make_the_others_free(
        self, tmp_path: Path, shape: str
    ) -> None:
        content = zipped([("model.json", SOUND), ("a.npy", npy_header("'|u1'", shape))])
        refused(content, tmp_path, "bytes of memory")

    @pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x02\x00", b"x" * 100])
    def test_no_header(self, tmp_path: Path, content: bytes) -> None:
        refused(
            zipped([("model.json", SOUND), ("a.npy", content)]), tmp_path, "a.npy is not an array"
        )

    def test_more_or_fewer_numbers_than_the_header_says(self, tmp_path: Path) -> None:
        for content in (npy(np.arange(5)) + b"\0", npy(np.arange(5))[:-1]):
            refused(
                zipped([("model.json", SOUND), ("a.npy", content)]),
                tmp_path,
                "a.npy is not as long as its shape says",
            )

    def test_a_truth_value_that_is_none(self, tmp_path: Path) -> None:
        array = npy(np.array([True, False]))[:-1] + b"\x02"
        content = zipped([("model.json", SOUND), ("a.npy", array)])
        refused(content, tmp_path, "a.npy has truth values other than 0 and 1")


PEAK = """
import sys
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


def test_the_digest_is_the_one_that_the_page_names(raw: bytes) -> None:
    digest = hashlib.blake2b(raw[:-64], digest_size=32).hexdigest()
    assert raw.endswith(COMMENT + digest.encode())
