"""A model file is whole, small and stays readable; a hostile one is refused at no cost."""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import stat
import struct
import subprocess
import sys
import time
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from newfound.description.describer import NoveltyDescriber
from newfound.description.novelty import evidence_of_counts
from newfound.description.presets import PRESETS
from newfound.storage import model_file as persistence
from newfound.storage.files import written_aside
from newfound.storage.model_file import FORMAT, ModelFileError, load, save

KNOWN = ["the batsman hit six", "a cricket match for England", "six wickets in the match"] * 8
NOVEL = ["the scrum won the ball", "a rugby match for England", "old rugby try in the match"] * 8
LABELS = ["known"] * len(KNOWN) + ["novel"] * len(NOVEL)
DATA = Path(__file__).parent / "data"
KEPT = DATA / f"describer-format-{FORMAT}.newfound"
TEXTS = ["a rugby scrum for England", "six wickets", "nothing known here", ""]


def fitted(**parameters: Any) -> NoveltyDescriber:
    settings = {"n_machines": 5, "n_clauses": 20, "T": 8, "s": 3.0, "epochs": 10}
    settings |= {"random_state": 7, **parameters}
    return NoveltyDescriber(**settings).fit([*KNOWN, *NOVEL], LABELS)


@pytest.fixture(scope="module")
def describer() -> NoveltyDescriber:
    return fitted()


@pytest.fixture(scope="module")
def raw(describer: NoveltyDescriber, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the bytes of a sound file."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(describer, path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def raw_with_automata(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Give the bytes of a sound file, of two machines, that can be trained on."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(fitted(n_machines=2), path, with_automata=True)
    return path.read_bytes()


def results(describer: NoveltyDescriber) -> dict[str, Any]:
    """Give everything that a model answers."""
    return {
        "words": describer.words_.to_records(),
        "clauses": [clause.to_dict() for clause in describer.clauses_],
        "phrases": describer.phrases_.to_records(),
        "context": describer.context("rugby").both.to_records(),
        "explain": [describer.explain(text).to_dict() for text in TEXTS],
        "parameters": describer.get_params(),
    }


def keep() -> None:
    """Write the file of this format that stays in the tests, and what it answers."""
    describer = fitted(n_machines=2, n_clauses=10)
    save(describer, KEPT, with_automata=True, force=True)
    answers = json.dumps(results(describer), ensure_ascii=False, indent=1)
    KEPT.with_suffix(".json").write_text(f"{answers}\n", encoding="utf-8")


def refused(content: bytes, tmp_path: Path, message: str) -> None:
    """Expect one sentence that names the file, within a second and 100 MB."""
    path = tmp_path / "hostile"
    path.write_bytes(content)
    tracemalloc.start()
    start = time.perf_counter()
    try:
        with pytest.raises(ModelFileError, match=message) as caught:
            load(path)
        elapsed = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert elapsed < 1
    assert peak < 100e6


def forge(
    parts: list[list[Any]],
    packed: list[bytes],
    *,
    kind: str = "describer",
    number: int = FORMAT,
    header: bytes | None = None,
) -> bytes:
    """Build a file with a sound length and checksum around whatever is given."""
    if header is None:
        header = json.dumps({"kind": kind, "newfound": "0", "parts": parts}).encode()
    total = 24 + len(header) + sum(map(len, packed)) + 32
    content = struct.pack("<8sIIQ", b"\x89nfound\n", number, len(header), total)
    content += header + b"".join(packed)
    return content + hashlib.blake2b(content, digest_size=32).digest()


def take_apart(raw: bytes) -> tuple[list[list[Any]], list[bytes]]:
    """Give the parts and the packed bytes of a sound file."""
    length = struct.unpack_from("<I", raw, 12)[0]
    parts = json.loads(raw[24 : 24 + length])["parts"]
    packed, at = [], 24 + length
    for part in parts:
        packed.append(raw[at : at + part[-1]])
        at += part[-1]
    return parts, packed


def made_up(
    describer: NoveltyDescriber, lengths: np.ndarray[Any, Any], words: int
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Give the state of a describer with about so many words in its clauses, all of them random.

    The number of clauses is to be one that the machines of the describer could have.
    """
    rng = np.random.default_rng(0)
    meta, arrays = describer._state()
    assert len(lengths) % (4 * meta["n_machines"]) == 0
    meta["chosen"]["n_clauses"] = len(lengths) // 2 // meta["n_machines"]
    names = [f"{rng.integers(36**5):x}{i:x}" for i in range(words)]
    meta["vectorizer"] |= {"vocabulary": names, "forms": [{w: 3, f"{w}s": 1} for w in names]}
    meta["n_documents"], meta["clauses"] = {"known": 500, "novel": 500}, {"n_features": words}
    n, rows = len(lengths), [np.unique(rng.integers(0, 2 * words, size)) for size in lengths]
    matches = rng.integers(0, 500, n)
    held_out = rng.integers(0, matches + 1)
    phrase_lengths = rng.integers(2, 5, 200)
    return meta, arrays | {
        "held_out": np.stack((held_out, rng.integers(0, held_out + 1))),
        **{name: rng.normal(size=words) for name in ("novelty", "low", "high", "q")},
        "phrase_lengths": phrase_lengths,
        "phrase_words": rng.integers(0, words, phrase_lengths.sum()),
        "phrase_novel": rng.integers(0, 2, 200),
        "phrase_counts": rng.integers(0, 500, (3, 200)),
        "phrase_values": rng.normal(size=(4, 200)),
        "document_frequencies": np.full(words, 4),
        "documents": rng.integers(0, 500, (2, words)),
        "class_index": (np.arange(n) % 2).astype(np.uint8),
        "polarity": rng.choice(np.array([-1, 1], np.int8), n),
        "lengths": np.array([len(row) for row in rows], np.int32),
        "literals": np.concatenate(rows).astype(np.min_scalar_type(2 * words)),
        "matches": matches,
        "agrees": rng.integers(0, matches + 1),
    }


JUNK: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", [], [[]], {}, {"x": "y"}, ["x", 1]]


def refused_or_usable(content: bytes, tmp_path: Path) -> None:
    """Expect a refusal, or a model that answers everything and can be trained on."""
    path = tmp_path / "changed"
    path.write_bytes(content)
    try:
        describer = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
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


def state_of(content: bytes) -> tuple[list[Any], bytes]:
    """Pack bytes as the state."""
    packed = zlib.compress(content)
    return ["", "|u1", [len(content)], "|u1", False, len(packed)], packed


def with_array(name: str, array: np.ndarray[Any, Any]) -> tuple[list[list[Any]], list[bytes]]:
    """Give an empty state and one array, packed as it is."""
    row, state = state_of(b"{}")
    packed = zlib.compress(array.tobytes())
    return [row, [name, array.dtype.str, list(array.shape), array.dtype.str, False, len(packed)]], [
        state,
        packed,
    ]


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
        """Read a file that was written once, by this, run in the folder of the tests.

        ``python -c "import test_persistence; test_persistence.keep()"``
        """
        answers = KEPT.with_suffix(".json").read_text(encoding="utf-8")
        assert rounded(json.dumps(results(load(KEPT)))) == rounded(answers)
        assert load(KEPT).n_machines_ == 2

    def test_the_kept_file_of_format_1_stays_readable(self) -> None:
        """Read a file of a single machine, which answers as it did, and more."""
        path = DATA / "describer-format-1.newfound"
        loaded = load(path)
        now = rounded(json.dumps(results(loaded)))
        old = rounded(path.with_suffix(".json").read_text(encoding="utf-8"))
        for answers in (now, old):  # they were ranked by their scores
            answers["words"].sort(key=lambda row: row["word"])
        assert holds(now, old)
        old["words"][0]["F_K"] += 1
        assert not holds(now, old)
        assert (loaded.n_machines_, len(loaded.machines_), len(loaded.phrases_)) == (1, 1, 0)
        assert set(loaded.clauses_.held_out.ravel()) == {0}
        evidence = evidence_of_counts(loaded._documents, (24, 24))
        columns = [loaded._table.column(word) for word in loaded.words_["word"]]
        np.testing.assert_array_equal(loaded.words_["novelty"], evidence.novelty[columns])
        assert loaded.words_["word"][0] == "rugby"

    def test_a_model_of_format_1_can_go_on_and_be_saved(self, tmp_path: Path) -> None:
        loaded = load(DATA / "describer-format-1.newfound")
        save(loaded, tmp_path / "again", with_automata=True)
        again = load(tmp_path / "again")
        assert results(again) == results(loaded)
        for describer in (loaded, again):
            describer.partial_fit([*KNOWN, *NOVEL], LABELS)
        assert results(again) == results(loaded)
        assert len(loaded.phrases_) > 0

    @pytest.mark.parametrize(
        "array",
        [
            np.array([0, 2**64 - 1, 5], np.uint64),
            np.array([-(2**63), 2**63 - 1, 0]),
            np.array([3, -1, 70000], ">i4"),
            np.array([[1, 300], [-7, 0]], np.int64),
            np.array([True, False, True]),
            np.array([0.1, -np.inf, np.nan]),
            np.array(2.5, np.float32),
            np.empty(0, np.int64),
            np.empty((0, 3), np.uint16),
            np.arange(10_000, dtype=np.int32)[::-2],
        ],
        ids=str,
    )
    def test_every_array_comes_back_as_it_was(self, array: np.ndarray[Any, Any]) -> None:
        back = through_a_stream({}, {"a": array})[1]["a"]
        assert back.dtype == array.dtype.newbyteorder("=")
        assert back.shape == array.shape
        np.testing.assert_array_equal(back, array)

    def test_what_packs_like_a_bomb_is_still_read(self) -> None:
        array = np.zeros((4, 20 << 20), np.uint8)
        assert np.array_equal(through_a_stream({}, {"a": array})[1]["a"], array)

    def test_20000_clauses_over_8000_words_take_at_most_10_mb(
        self, describer: NoveltyDescriber, tmp_path: Path
    ) -> None:
        lengths = np.random.default_rng(1).integers(20, 80, 20_000)
        large = NoveltyDescriber._from_state(*made_up(describer, lengths, 8_000))
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

    def test_a_model_that_costs_more_than_its_file_may_is_padded(self) -> None:
        meta = {"words": [f"word{i}" for i in range(1_000_000)]}
        stream = io.BytesIO()
        persistence._write(stream, "describer", meta, {})
        assert 10e6 < stream.tell() < 20e6
        stream.seek(0)
        assert persistence._read(stream, "stream")[1:] == (meta, {})

    def test_results_do_not_hang_on_the_presets_of_the_reader(
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
        monkeypatch.setattr("newfound.description.presets.PRESETS", {**PRESETS, "default": default})
        assert NoveltyDescriber()._resolved()["s"] == 2.0
        loaded = load(tmp_path / "model")
        assert results(loaded) == results(saved)
        save(loaded, tmp_path / "again", with_automata=True)
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
        for describer in (loaded, saved):
            describer.partial_fit(texts, LABELS, epochs=3)
        assert results(loaded) == results(saved)

    def test_a_file_says_nothing_of_threads(self, raw: bytes, tmp_path: Path) -> None:
        kind, state, arrays = persistence._read(io.BytesIO(raw), "stream")
        assert state["parameters"]["n_jobs"] is None
        state["parameters"]["n_jobs"] = 5000
        with open(tmp_path / "model", "wb") as stream:
            persistence._write(stream, kind, state, arrays)
        assert load(tmp_path / "model").n_jobs is None

    def test_something_else_is_not_saved(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="Cannot save a dict; expected one of: Novelty"):
            save({}, tmp_path / "model")
        assert os.listdir(tmp_path) == []


def rounded(text: str) -> Any:
    """Read JSON with the digits that all processors agree on."""
    return json.loads(text, parse_float=lambda digits: f"{float(digits):.9g}")


def holds(now: Any, old: Any) -> bool:
    """Say whether an answer has all that an old one had; it may have more in its tables."""
    if isinstance(old, dict) and isinstance(now, dict):
        return all(key in now and holds(now[key], value) for key, value in old.items())
    if isinstance(old, list) and isinstance(now, list):
        return len(now) == len(old) and all(map(holds, now, old))
    return bool(now == old)


def through_a_stream(
    meta: dict[str, Any], arrays: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Write and read without a model around it."""
    stream = io.BytesIO()
    persistence._write(stream, "describer", meta, arrays)
    stream.seek(0)
    return persistence._read(stream, "stream")[1:]


class TestHostileFiles:
    @pytest.mark.parametrize("share", [0.0005, 0.01, 0.3, 0.99, 0.9999])
    def test_cut_short(self, raw: bytes, tmp_path: Path, share: float) -> None:
        refused(raw[: max(1, int(len(raw) * share))], tmp_path, "is cut short")

    def test_longer_than_it_says(self, raw: bytes, tmp_path: Path) -> None:
        refused(raw + b"\0", tmp_path, "altered or damaged")

    def test_every_flipped_byte_is_found(self, raw: bytes, tmp_path: Path) -> None:
        path = tmp_path / "flipped"
        places = {*range(300), *range(300, len(raw), 97), *range(len(raw) - 40, len(raw))}
        for place in places:
            content = bytearray(raw)
            content[place] ^= 1 << place % 8
            path.write_bytes(content)
            with pytest.raises(ModelFileError):
                load(path)

    @settings(
        max_examples=200,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(data=st.data())
    def test_any_change_is_refused_or_harmless(
        self, raw: bytes, tmp_path: Path, data: st.DataObject
    ) -> None:
        at = data.draw(st.integers(0, len(raw)))
        removed = data.draw(st.integers(0, 64))
        put = data.draw(st.binary(max_size=64))
        content = raw[:at] + put + raw[at + removed :]
        if data.draw(st.booleans()):
            content = content[:-32] + hashlib.blake2b(content[:-32], digest_size=32).digest()
        path = tmp_path / "mutated"
        path.write_bytes(content)
        try:
            load(path)
        except ModelFileError as error:
            assert "\n" not in str(error)
        else:
            assert content == raw

    @settings(
        max_examples=200,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(data=st.data())
    def test_other_numbers_in_sound_arrays_never_crash_later(
        self, raw_with_automata: bytes, tmp_path: Path, data: st.DataObject
    ) -> None:
        """Change numbers inside the arrays, and mend every length and checksum."""
        parts, packed = take_apart(raw_with_automata)
        i = data.draw(st.integers(1, len(parts) - 1))
        numbers = bytearray(zlib.decompress(packed[i]))
        for place in data.draw(st.lists(st.integers(0, len(numbers) - 1), max_size=3)):
            numbers[place] = data.draw(st.integers(0, 255))
        packed[i] = zlib.compress(numbers)
        parts[i][-1] = len(packed[i])
        refused_or_usable(forge(parts, packed), tmp_path)

    @settings(
        max_examples=200,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(data=st.data())
    def test_other_values_in_a_sound_state_never_crash_later(
        self, raw_with_automata: bytes, tmp_path: Path, data: st.DataObject
    ) -> None:
        """Put something else, or nothing, in any place of the JSON."""
        parts, packed = take_apart(raw_with_automata)
        state = json.loads(zlib.decompress(packed[0]))
        at = state
        while True:
            key = data.draw(st.sampled_from(range(len(at)) if isinstance(at, list) else sorted(at)))
            if not (isinstance(at[key], dict | list) and at[key]) or data.draw(st.booleans()):
                break
            at = at[key]
        if data.draw(st.booleans()):
            del at[key]
        else:
            at[key] = data.draw(st.sampled_from(JUNK))
        row, packed[0] = state_of(json.dumps(state).encode())
        refused_or_usable(forge([row, *parts[1:]], packed), tmp_path)

    @pytest.mark.parametrize(
        "part",
        [
            "class_index", "literals", "matches", "documents", "held_out", "novelty", "q",
            "phrase_lengths", "phrase_words", "phrase_novel", "phrase_counts", "phrase_values",
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("change", ["shorter", "longer", "gone"])
    def test_arrays_that_do_not_fit_together(
        self, raw: bytes, tmp_path: Path, part: str, change: str
    ) -> None:
        stream = io.BytesIO(raw)
        kind, state, arrays = persistence._read(stream, "stream")
        array = arrays.pop(part)
        if change != "gone":
            arrays[part] = array[:-1] if change == "shorter" else np.concatenate((array, array))
        stream = io.BytesIO()
        persistence._write(stream, kind, state, arrays)
        refused(stream.getvalue(), tmp_path, "holds no sound describer")

    def test_lengths_that_wrap(self, raw: bytes, tmp_path: Path) -> None:
        """Refuse clauses whose lengths add up to the right number modulo 2 to the 64th."""
        kind, state, arrays = persistence._read(io.BytesIO(raw), "stream")
        for name in ("class_index", "polarity", "matches", "agrees"):
            arrays[name] = arrays[name][:4]
        arrays["literals"] = np.arange(20, dtype=np.uint8) % 5
        arrays["lengths"] = np.full(4, 2**62 + 5)
        assert int(np.cumsum(arrays["lengths"])[-1]) == 20
        stream = io.BytesIO()
        persistence._write(stream, kind, state, arrays)
        refused(stream.getvalue(), tmp_path, "holds no sound describer: .* lengths has numbers")
        arrays["lengths"] = np.full(4, 5)
        stream = io.BytesIO()
        persistence._write(stream, kind, state, arrays)
        refused_or_usable(stream.getvalue(), tmp_path)

    def test_a_newer_version_says_so(self, raw: bytes, tmp_path: Path) -> None:
        newer = raw[:8] + struct.pack("<I", FORMAT + 1) + raw[12:]
        refused(newer, tmp_path, f"in format {FORMAT + 1}; .* up to format {FORMAT}: upgrade")

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04" + b"\0" * 100, b"\x80\x04K\x01."])
    def test_something_else(self, tmp_path: Path, content: bytes) -> None:
        refused(content, tmp_path, "is not a model of newfound")

    def test_a_folder_and_a_device(self, tmp_path: Path) -> None:
        for path in (tmp_path, Path("/dev/zero")):
            with pytest.raises(ModelFileError, match="is not a file"):
                load(path)

    def test_a_missing_file_is_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "missing")

    def test_a_bomb_that_declares_its_size(self, tmp_path: Path) -> None:
        parts, packed = with_array("a", np.zeros(200 << 20, np.uint8))
        refused(forge(parts, packed), tmp_path, "asks for 6,710,886,402 bytes of memory")

    def test_a_bomb_that_hides_its_size(self, tmp_path: Path) -> None:
        parts, packed = with_array("a", np.zeros(200 << 20, np.uint8))
        parts[1][2] = [1000]
        refused(forge(parts, packed), tmp_path, "'a' is not as long as declared")

    def test_a_bomb_in_the_state(self, tmp_path: Path) -> None:
        row, state = state_of(b'{"a":[' + b"[]," * (2 << 20) + b"[]]}")
        refused(forge([row], [state]), tmp_path, "out of proportion")

    def test_more_clauses_than_a_file_of_this_length_can_hold(
        self, raw: bytes, tmp_path: Path
    ) -> None:
        """Declare millions of empty clauses, which pack to nothing."""
        arrays = persistence._read(io.BytesIO(raw), "stream")[2]
        n = 3_000_000
        for name in ("class_index", "polarity", "lengths", "matches", "agrees"):
            arrays[name] = np.ones(n, arrays[name].dtype) * (name == "polarity")
        arrays["held_out"] = np.zeros((2, n), np.int64)
        parts, packed = take_apart(raw)
        for i, row in enumerate(parts):
            if row[0] in ("class_index", "polarity", "lengths", "matches", "agrees", "held_out"):
                block, packed[i] = persistence._packed(row[0], arrays[row[0]])
                parts[i] = block.to_json()
        refused(forge(parts, packed), tmp_path, "is refused: it has .* bytes and asks for")

    def test_a_state_nested_deep(self, tmp_path: Path) -> None:
        row, state = state_of(b"[" * 500_000)
        refused(forge([row], [state]), tmp_path, "altered or damaged")

    def test_a_header_nested_deep(self, tmp_path: Path) -> None:
        refused(forge([], [], header=b"[" * 100_000), tmp_path, "altered or damaged")

    @pytest.mark.parametrize("state", [b"[]", b'{"a": NaN}', b"\xff", b"{", b"1" * 5000])
    def test_a_state_that_is_none(self, tmp_path: Path, state: bytes) -> None:
        row, packed = state_of(state)
        refused(forge([row], [packed]), tmp_path, "altered or damaged")

    def test_a_number_that_no_machine_holds(self, tmp_path: Path) -> None:
        row, packed = state_of(b'{"a": 1' + b"0" * 30 + b"}")
        refused(forge([row], [packed]), tmp_path, "a number of 31 digits")

    def test_a_truth_value_that_is_none(self, tmp_path: Path) -> None:
        parts, packed = with_array("a", np.array([0, 1, 2], np.uint8))
        parts[1][1] = "|b1"
        refused(forge(parts, packed), tmp_path, "'a' is not Boolean")

    @pytest.mark.parametrize(
        ("place", "value"),
        [
            (1, "|O"),
            (1, "<U9"),
            (1, "|V8"),
            (1, "<f8"),
            (1, 8),
            (2, [-1]),
            (2, [2**40, 2**40]),
            (2, [0, 2**62]),
            (2, [2**70]),
            (2, [1.0]),
            (2, [True]),
            (2, [1] * 40),
            (2, 5),
            (2, None),
            (3, "|O"),
            (3, "<f4"),
            (3, "|b1"),
            (4, 1),
            (5, -1),
            (5, 2**63),
            (5, "9"),
            (0, 3),
            (0, ""),
        ],
    )
    def test_absurd_parts(self, tmp_path: Path, place: int, value: Any) -> None:
        parts, packed = with_array("a", np.arange(5, dtype=np.int32))
        parts[1][place] = value
        refused(forge(parts, packed), tmp_path, "altered or damaged|is refused")

    @pytest.mark.parametrize("rows", [[], [[]], [["a"]], {"": 1}, "abc", [None] * 3, [0] * 9999])
    def test_absurd_headers(self, tmp_path: Path, rows: Any) -> None:
        refused(forge(rows, []), tmp_path, "altered or damaged")

    @pytest.mark.parametrize("kind", ["os.system", "", None, ["describer"]])
    def test_an_unknown_kind(self, tmp_path: Path, kind: Any) -> None:
        row, state = state_of(b"{}")
        refused(forge([row], [state], kind=kind), tmp_path, "altered or damaged")

    def test_a_sound_file_of_nothing(self, tmp_path: Path) -> None:
        row, state = state_of(b"{}")
        refused(forge([row], [state]), tmp_path, "holds no sound describer")


LIMIT = 72_000_000
PEAK = """
import sys
from newfound.description.describer import NoveltyDescriber
from newfound.storage.model_file import ModelFileError, load

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


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
class TestMemory:
    """What costs nearly as much as a file of up to 10 MB may takes less than 100 MB."""

    def peak(self, content: bytes, tmp_path: Path, *, sound: bool = False) -> int:
        path = tmp_path / "hostile"
        path.write_bytes(content)
        length = struct.unpack_from("<I", content, 12)[0]
        _, blocks = persistence._parse_header(content[24 : 24 + length])
        state = zlib.decompress(take_apart(content)[1][0])
        price = persistence._state_price(state) + sum(block.price for block in blocks)
        assert 0.97 * LIMIT < price <= LIMIT
        assert len(content) <= 10e6
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
        )
        assert ("holds no sound describer" in done.stderr) != sound
        assert (done.stderr == "") == sound
        return int(done.stdout)

    @pytest.mark.parametrize(
        ("dtype", "stored", "price"),
        [("<i8", "<i8", 8), ("<i8", "|u1", 9), ("|u1", "<i8", 9), ("|u1", "|u1", 3)],
    )
    def test_arrays(self, tmp_path: Path, dtype: str, stored: str, price: int) -> None:
        parts, packed = with_array("a", np.zeros((1, (LIMIT - 1000) // price), stored))
        parts[1][1] = dtype
        assert self.peak(forge(parts, packed), tmp_path) < 100e6

    def test_a_file_of_10_mb(self, tmp_path: Path) -> None:
        noise = np.random.default_rng(0).integers(0, 256, (1, 9_900_000), np.uint8)
        parts, packed = with_array("noise", noise)
        rest = (LIMIT - 3 * noise.size - 1000) // 9
        more, (_, zeros) = with_array("a", np.zeros((1, rest), np.uint8))
        more[1][1] = "<i8"
        content = forge([*parts, more[1]], [*packed, zeros])
        assert self.peak(content, tmp_path) < 100e6

    @pytest.mark.parametrize("item", [b"[],", b"{},", b'"ab",', b'{"a":{"b":1}},'])
    def test_states(self, tmp_path: Path, item: bytes) -> None:
        n = (LIMIT - 1000) // (persistence._state_price(item) + len(item))
        row, packed = state_of(b'{"a":[' + item * n + b"0]}")
        assert self.peak(forge([row], [packed]), tmp_path) < 100e6

    @pytest.mark.parametrize("letter", ["\N{GRINNING FACE}", r"\ud83d\ude00"])
    def test_a_wide_letter_among_narrow_ones(self, tmp_path: Path, letter: str) -> None:
        row, packed = state_of(b'{"a":"%s%s"}' % (letter.encode(), b"a" * (LIMIT // 13 - 50)))
        assert self.peak(forge([row], [packed]), tmp_path) < 100e6

    @pytest.mark.parametrize("forms", [0, 1])
    def test_many_words(self, describer: NoveltyDescriber, tmp_path: Path, forms: int) -> None:
        meta, arrays = made_up(describer, np.ones(20, int), 10)

        def state(words: int) -> dict[str, Any]:
            names = [f"{i:05x}" for i in range(words)]
            meta["vectorizer"] |= {"vocabulary": names, "forms": [{w: 1} for w in names]}
            if not forms:
                meta["vectorizer"]["forms"] = [{}] * words
            return meta | {"clauses": {"n_features": words}}

        a_word = len(json.dumps(state(11))) - len(json.dumps(state(10)))
        price = persistence._state_price(json.dumps(state(11), separators=(",", ":")).encode())
        price -= persistence._state_price(json.dumps(state(10), separators=(",", ":")).encode())
        n = (LIMIT - 300_000) // (price + a_word + 5 * persistence._VECTOR + 6)
        arrays["document_frequencies"] = np.ones(n, np.uint8)
        arrays |= {name: np.zeros(n) for name in ("novelty", "low", "high", "q")}
        arrays["documents"] = np.ones((2, n), np.uint8)
        stream = io.BytesIO()
        persistence._write(stream, "describer", state(n), arrays)
        assert self.peak(stream.getvalue(), tmp_path, sound=True) < 100e6

    @pytest.mark.parametrize("words_a_clause", [1, 16, 16_000])
    def test_models(self, describer: NoveltyDescriber, tmp_path: Path, words_a_clause: int) -> None:
        """Take sound models, all of whose clauses are the same: they pack to nothing."""
        words = max(10, words_a_clause // 2)
        meta, arrays = made_up(describer, np.ones(20, int), words)
        stream = io.BytesIO()
        persistence._write(stream, "describer", meta, arrays)
        state = zlib.decompress(take_apart(stream.getvalue())[1][0])
        free = LIMIT - persistence._state_price(state) - 200 * words - 100_000
        n = free // (persistence._VECTOR * (words_a_clause + 5) + 6) // 20 * 20
        meta["chosen"]["n_clauses"] = n // 10
        row = np.arange(words_a_clause, dtype=arrays["literals"].dtype)
        arrays |= {"lengths": np.full(n, words_a_clause, np.int32), "literals": np.tile(row, n)}
        for name in ("class_index", "polarity", "matches", "agrees"):
            arrays[name] = np.resize(arrays[name], n)
        arrays["held_out"] = np.zeros((2, n), np.uint8)
        stream = io.BytesIO()
        persistence._write(stream, "describer", meta, arrays)
        assert self.peak(stream.getvalue(), tmp_path, sound=True) < 100e6

    def test_many_machines(self, describer: NoveltyDescriber, tmp_path: Path) -> None:
        """Take 1,000 machines of 4 clauses each, over as many words as there can be."""
        meta, arrays = made_up(describer, np.ones(20, int), 10)
        meta["n_machines"] = meta["chosen"]["n_machines"] = 1000
        meta["chosen"]["n_clauses"] = 2
        for name in ("class_index", "polarity", "matches", "agrees"):
            arrays[name] = np.resize(arrays[name], 4000)
        arrays |= {"lengths": np.ones(4000, np.uint8), "literals": np.zeros(4000, np.uint8)}
        arrays["held_out"] = np.zeros((2, 4000), np.uint8)
        n = 150_000
        names = [f"{i:05x}" for i in range(n)]
        meta["vectorizer"] |= {"vocabulary": names, "forms": [{}] * n}
        meta["clauses"] = {"n_features": n}
        arrays["document_frequencies"] = np.ones(n, np.uint8)
        arrays["documents"] = np.ones((2, n), np.uint8)
        arrays |= {name: np.zeros(n) for name in ("novelty", "low", "high", "q")}
        stream = io.BytesIO()
        persistence._write(stream, "describer", meta, arrays)
        path = tmp_path / "model"
        path.write_bytes(stream.getvalue())
        done = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        assert int(done.stdout) < 200e6  # 2,400e6 if the bags of all machines were kept

    @pytest.mark.parametrize("letters", [5, 1000])
    def test_many_phrases(self, describer: NoveltyDescriber, tmp_path: Path, letters: int) -> None:
        """Pack phrases of long words to nothing, as many as the price allows."""
        meta, arrays = made_up(describer, np.ones(20, int), 10)
        meta["vectorizer"]["vocabulary"][0] = "x" * letters
        n = (LIMIT - 300_000) // (4 * persistence._VECTOR + 3 * 3 + 4 * 8)
        arrays |= {
            "phrase_lengths": np.full(n, 2, np.uint8),
            "phrase_words": np.zeros(2 * n, np.uint8),
            "phrase_novel": np.zeros(n, np.uint8),
            "phrase_counts": np.zeros((3, n), np.uint8),
            "phrase_values": np.zeros((4, n)),
        }
        stream = io.BytesIO()
        persistence._write(stream, "describer", meta, arrays)
        assert self.peak(stream.getvalue(), tmp_path) < 100e6


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

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "there").write_text("old")
        (tmp_path / "link").symlink_to(tmp_path / "there")
        with written_aside(tmp_path / "link", force=True) as aside:
            aside.write_text("new")
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there").read_text() == "new"

    def test_the_rights_are_those_of_any_new_file(self, tmp_path: Path) -> None:
        (tmp_path / "plain").write_text("")
        with written_aside(tmp_path / "model") as aside:
            aside.write_text("")
        modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        assert len(modes) == 1

    @pytest.mark.parametrize("rights", [0o600, 0o640, 0o400, 0o666])
    def test_the_rights_of_a_file_that_is_replaced_stay(self, tmp_path: Path, rights: int) -> None:
        path = tmp_path / "model"
        path.write_text("old")
        path.chmod(rights)
        with written_aside(path, force=True) as aside:
            assert stat.S_IMODE(aside.stat().st_mode) & 0o077 == 0
            aside.write_text("new")
        assert stat.S_IMODE(path.stat().st_mode) == rights
        assert path.read_text() == "new"

    @pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
    def test_nothing_is_left_of_a_failure(self, tmp_path: Path, error: type[BaseException]) -> None:
        path = tmp_path / "model.csv"
        path.write_text("precious")
        with pytest.raises(error), written_aside(path, force=True) as aside:
            assert aside.suffix == ".csv"
            aside.write_text("half")
            raise error
        assert os.listdir(tmp_path) == ["model.csv"]
        assert path.read_text() == "precious"

    @pytest.mark.parametrize(
        ("name", "message"), [("no/model", "Cannot write .*: No such file"), ("", "it is a folder")]
    )
    def test_a_place_that_cannot_be_written(
        self, describer: NoveltyDescriber, tmp_path: Path, name: str, message: str
    ) -> None:
        with pytest.raises(OSError, match=message):
            save(describer, tmp_path / name)

    def test_a_full_disk_leaves_nothing(self, tmp_path: Path) -> None:
        """Let the system refuse the write half-way, by a limit on the size of files."""
        (tmp_path / "model").write_text("precious")
        script = (
            "import resource, signal, sys, numpy as np\n"
            "from newfound.storage import files, model_file as persistence\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
            "noise = np.random.default_rng(0).random(100_000)\n"
            "with files.written_aside(sys.argv[1], force=True) as aside:\n"
            "    with open(aside, 'wb') as stream:\n"
            "        persistence._write(stream, 'describer', {}, {'noise': noise})\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / "model")], capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "File too large" in done.stderr
        assert os.listdir(tmp_path) == ["model"]
        assert (tmp_path / "model").read_text() == "precious"

    def test_an_interrupt_while_writing_leaves_nothing(self, tmp_path: Path) -> None:
        script = (
            "import sys, time\n"
            "from newfound.storage.files import written_aside\n"
            "with written_aside(sys.argv[1]) as aside:\n"
            "    aside.write_text('half')\n"
            "    print('now', flush=True)\n"
            "    time.sleep(30)\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "model")],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        with process, process.stdout:
            process.stdout.readline()
            assert len(os.listdir(tmp_path)) == 1
            process.send_signal(signal.SIGINT)
            process.wait(10)
        assert os.listdir(tmp_path) == []
