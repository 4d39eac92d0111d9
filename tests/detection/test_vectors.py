"""The static vectors in the folder ``vectors``: what is near what, size, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import newfound
from encoder_files import write_tokenizer
from newfound.detection.encoders import StaticEncoder
from newfound.linear import unit_rows

pytest.importorskip("tokenizers")
FOLDER = Path(__file__).parents[2] / "vectors/src/newfound_vectors/newfound-vectors"
# A text, one of like meaning with other words, and one of another meaning.
TRIPLES = [
    ("car", "automobile", "banana"),
    ("doctor", "physician", "guitar"),
    ("happy", "glad", "concrete"),
    ("buy", "purchase", "sleep"),
    ("money", "cash", "forest"),
    ("child", "kid", "engine"),
    ("a lawyer in court", "the attorney and the judge", "a recipe with onions"),
    ("my luggage is missing", "the airline lost my suitcase", "what is the weather today"),
    ("how do i repair my bicycle", "fix a bike", "book a table for two"),
    ("turn the music up", "make the song louder", "pay my electricity bill"),
]


@pytest.fixture(scope="module")
def encoder() -> StaticEncoder:
    found = newfound.load_encoder(FOLDER)
    assert isinstance(found, StaticEncoder)
    return found


@pytest.mark.parametrize("triple", TRIPLES, ids=lambda triple: triple[0])
def test_a_text_of_like_meaning_is_nearer_than_another(
    encoder: StaticEncoder, triple: tuple[str, str, str]
) -> None:
    text, near, far = unit_rows(encoder.encode(list(triple)))
    assert text @ near > text @ far + 0.2


def test_common_words_say_little(encoder: StaticEncoder) -> None:
    short, long = unit_rows(encoder.encode(["volcano", "there is the volcano that i was at"]))
    assert short @ long > 0.6


def test_case_is_ignored_and_the_same_text_has_the_same_vector(encoder: StaticEncoder) -> None:
    first, second, third = encoder.encode(["A New Car", "a new car", "a new car"])
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, third)
    np.testing.assert_array_equal(newfound.load_encoder(FOLDER).encode(["a new car"])[0], third)


def test_vectors_are_finite_and_of_one_size(encoder: StaticEncoder) -> None:
    rows = encoder.encode(["", "日本語 🙂", "word " * 1000, "unbelievablyunknownword"])
    assert rows.shape == (4, 160)
    assert np.isfinite(rows).all()
    assert not rows[0].any()


def test_scales_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    write_tokenizer(tmp_path, ["[UNK]", "word"])
    numbers = np.array([[1, -2], [3, 4]], np.int8).tobytes()

    def write(scales: np.ndarray) -> None:
        ends = [4, 4 + scales.nbytes]
        about = {
            "embeddings": {"dtype": "I8", "shape": [2, 2], "data_offsets": [0, 4]},
            "scales": {"dtype": "F32", "shape": [scales.size], "data_offsets": ends},
        }
        header = json.dumps(about).encode()
        content = len(header).to_bytes(8, "little") + header + numbers + scales.tobytes()
        (tmp_path / "model.safetensors").write_bytes(content)

    write(np.array([1, 2], np.float32))
    newfound.load_encoder(tmp_path)
    write(np.array([1, 2, 3], np.float32))
    with pytest.raises(ValueError, match="scales are not one a row"):
        newfound.load_encoder(tmp_path)
    write(np.array([1, np.nan], np.float32))
    with pytest.raises(ValueError, match="not finite"):
        newfound.load_encoder(tmp_path)


def test_the_folder_is_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 6_000_000


def test_new_topics_are_found_by_words_that_no_known_document_has(
    encoder: StaticEncoder,
) -> None:
    known = [
        f"{verb} my {noun} {end}"
        for verb in ("pay", "check", "close", "open", "show", "transfer", "settle", "freeze")
        for noun in ("bank account", "credit card", "loan", "mortgage", "savings", "invoice")
        for end in ("", "now", "please", "today")
    ]
    like = ["settle the debt with cash", "the lender charges a fee", "deposit a cheque"]
    other = ["the striker scored a goal", "bake the cake in an oven", "an elephant in the jungle"]
    detector = newfound.NoveltyDetector(0.1, random_state=0, encoder=encoder).fit(known)
    assert detector.novelty(other).min() > detector.novelty(like).max()
