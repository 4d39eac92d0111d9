"""Texts to learn static vectors from, and the learning of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from typer.testing import CliRunner

from encoder_files import write_static, write_tokenizer
from lab.__main__ import app
from lab.distillation.texts import Synset, make_texts, read_synsets, requests
from lab.distillation.vectors import (
    Constants,
    distil,
    teacher_vectors,
    token_means,
    write_encoder,
)
from newfound.detection.encoder_shelf import load_encoder
from newfound.linear import unit_rows

WORDS = ["cat", "dog", "horse", "lamp", "chair", "table", "the", "of"]
LINES = {
    "noun": "00000001 05 n 02 cat 0 tom_cat 0 000 | a small animal (kept at home); \"the cat sat\"",
    "verb": "00000002 30 v 01 run 0 000 01 + 01 00 | move fast; \"run home\"; \"he ran\"",
    "adj": "00000003 00 a 01 green(p) 0 000 | of a colour",
    "adv": "00000004 02 r 01 soon 0 000 | in a short time",
}  # fmt: skip

# Few texts make one step of Adam an epoch, and the teacher's vectors are on two sides of 0.
FEW = Constants(dimensions=6, held_back=0.2, epochs=200, rate=1e-2, common=0.0)


class MeaningsOfWords:
    """A teacher: animals are near each other, furniture too, and "the" and "of" say nothing."""

    name = "words"

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        topics = np.repeat(random.normal(size=(2, 12)), 3, axis=0)
        rows = topics + 0.2 * random.normal(size=(6, 12))
        self.rows = dict(zip(WORDS, np.vstack((rows, np.full((2, 12), 1e-3))), strict=True))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        none = np.full(12, 1e-6)
        return np.array(
            [sum((self.rows.get(w, none) for w in text.split()), none) for text in texts]
        )


def texts(n: int = 400, seed: int = 1) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, int(random.integers(3, 7)))) for _ in range(n)]


def tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    write_tokenizer(folder, ["[UNK]", *WORDS])
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def learned(folder: Path) -> tuple[NDArray[np.float64], dict[str, float]]:
    made = tokenizer(folder)
    rows = teacher_vectors(MeaningsOfWords(), made, texts())
    return distil(rows, token_means(made, texts()), FEW)


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    for kind, line in LINES.items():
        (tmp_path / f"data.{kind}").write_text(f"  1 a licence\n{line}  \n")
    return tmp_path


def test_a_sense_of_wordnet_has_words_a_definition_without_asides_and_examples(
    wordnet: Path,
) -> None:
    noun, verb, adjective, _ = read_synsets(wordnet)
    assert noun == Synset("noun", 5, ("cat", "tom cat"), "a small animal", ("the cat sat",))
    assert verb.examples == ("run home", "he ran")
    assert adjective.words == ("green",)


def test_requests_use_common_words_only() -> None:
    common = Synset("noun", 6, ("lamp",), "lamp " * 20, ())
    rare = Synset("noun", 6, ("gnomon",), "a pin", ())
    made = " ".join(requests([common, rare], 200)).split()
    assert "lamp" in made
    assert "gnomon" not in made


def test_texts_are_different_and_the_same_for_the_same_seed(wordnet: Path) -> None:
    synsets, sizes = read_synsets(wordnet), {"requests": 30, "others": 2}
    made = list(make_texts(synsets, ["One", "one", "two", "three"], sizes))
    assert made == list(make_texts(synsets, ["One", "one", "two", "three"], sizes))
    assert len({text.lower() for text in made}) == len(made)
    assert "run home" in made


def test_the_mean_of_token_vectors_is_near_what_the_teacher_gives(tmp_path: Path) -> None:
    vectors, figures = learned(tmp_path)
    assert vectors.shape == (9, 6)
    assert figures["texts"] == 400
    assert figures["cosine"] > 0.9


def test_what_is_learned_is_better_than_the_teachers_vectors_of_words_alone(
    tmp_path: Path,
) -> None:
    made, teacher = tokenizer(tmp_path), MeaningsOfWords()
    vectors, _ = learned(tmp_path)
    fresh = texts(100, seed=2)
    means = token_means(made, fresh)
    wanted = unit_rows(teacher.encode(fresh))
    similar = wanted @ wanted.T
    alone = unit_rows(teacher.encode(["[UNK]", *WORDS]))

    def error(rows: NDArray[np.float64]) -> float:
        given = unit_rows(np.asarray(means @ rows))
        return float(np.abs(given @ given.T - similar).mean())

    assert error(vectors) < 0.8 * error(alone)


def test_the_same_texts_and_seed_give_the_same_vectors(tmp_path: Path) -> None:
    first, second = (learned(tmp_path / name)[0] for name in "ab")
    np.testing.assert_array_equal(first, second)


def test_means_of_a_text_without_tokens_are_zero(tmp_path: Path) -> None:
    means = token_means(tokenizer(tmp_path), ["", "cat dog"])
    assert isinstance(means, sparse.csr_array)
    assert means.sum(axis=1).tolist() == [0.0, 1.0]


def test_vectors_of_8_bits_are_read_as_they_were_learned(tmp_path: Path) -> None:
    vectors, _ = learned(tmp_path / "tokens")
    write_encoder(tmp_path / "made", tokenizer(tmp_path / "tokens"), vectors)
    read = load_encoder(tmp_path / "made").encode(WORDS)
    np.testing.assert_allclose(read, vectors[1:], atol=np.abs(vectors).max() / 100)


def test_the_command_writes_an_encoder_and_reads_what_was_encoded_before(tmp_path: Path) -> None:
    rows = np.vstack((np.zeros(12), *MeaningsOfWords().rows.values()))
    write_static(tmp_path / "teacher", ["[UNK]", *WORDS], rows)
    (tmp_path / "texts.txt").write_text("\n".join(texts()), encoding="utf-8")
    asked = ["distil", "vectors", "--teacher", tmp_path / "teacher", "--dimensions", 4,
             "--corpus", tmp_path / "texts.txt", "--encoded", tmp_path / "rows.npy"]  # fmt: skip
    for folder in "ab":
        call(*asked, "--output", tmp_path / folder)
    first, second = (tmp_path / folder / "model.safetensors" for folder in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert load_encoder(tmp_path / "a").encode(["cat dog"]).shape == (1, 4)
    (tmp_path / "texts.txt").write_text("cat dog", encoding="utf-8")
    failed = call(*asked, "--output", tmp_path / "c", fails=True)
    assert "has the vectors of other texts" in failed


def call(*arguments: object, fails: bool = False) -> str:
    """Call the command of the lab, and return what it writes."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert (result.exit_code != 0) is fails, result.output
    return " ".join(result.output.split())
