"""An encoder beside words: parts of the novelty, files, explanations, encoders from folders."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import newfound
from command_line import call
from encoder_files import (
    KNOWN,
    LABELS,
    NEW,
    SYNONYMS,
    TOKENS,
    TOPICS,
    WORDS,
    safetensors,
    topic_vectors,
    write_static,
    write_tokenizer,
)
from newfound.detection.encoder_shelf import load_encoder
from newfound.detection.encoders import OnnxEncoder, StaticEncoder
from newfound.detection.meaning import ClassShapes, usefulness


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an encoder with static vectors."""
    folder = tmp_path_factory.mktemp("encoder") / "words"
    write_static(folder, TOKENS, topic_vectors())
    return folder


@pytest.fixture(scope="module")
def onnx_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same vectors as a model in ONNX: a vector for each token."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    folder = tmp_path_factory.mktemp("encoder") / "tokens"
    write_tokenizer(folder, TOKENS)
    shape = ["batch", "sequence"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["vectors", "input_ids"], ["last_hidden_state"])],
        "tokens",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, 16])],
        [numpy_helper.from_array(topic_vectors(), "vectors")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(made, folder / "model.onnx")
    return folder


@pytest.fixture(scope="module")
def encoder(static: Path) -> StaticEncoder:
    found = load_encoder(static)
    assert isinstance(found, StaticEncoder)
    return found


def two_tables() -> bytes:
    """A transformer in safetensors, of which no table has the vectors of texts."""
    about = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    other = {**about, "data_offsets": [16, 32]}
    header = json.dumps({"position": about, "layer.0.query": other}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(32)


def fitted(encoder: Any, labels: list[str] | None = None, **more: Any) -> newfound.NoveltyDetector:
    options = {"correct_typos": False, "random_state": 1, "held_back": 0.3, **more}
    return newfound.NoveltyDetector(0.1, encoder=encoder, **options).fit(KNOWN, labels)


@pytest.mark.parametrize("labels", [None, LABELS])
def test_synonyms_are_less_new_than_another_topic(encoder: Any, labels: list[str] | None) -> None:
    words, both = (fitted(each, labels) for each in (None, encoder))

    def told_apart(detector: newfound.NoveltyDetector) -> float:
        known, new = detector.novelty(SYNONYMS), detector.novelty(NEW)
        return float((new[:, None] > known).mean() + 0.5 * (new[:, None] == known).mean())

    assert told_apart(words) < 0.8  # all of their words were never seen
    assert told_apart(both) > 0.9


def test_vectors_that_tell_nothing_do_not_count() -> None:
    rng = np.random.default_rng(0)
    groups = np.arange(400) % 4
    told, noise = rng.normal(size=(4, 16))[groups], rng.normal(size=(400, 16))
    bags = np.eye(4)[groups]
    halves = slice(0, 300), slice(300, 400)

    def use(rows: np.ndarray, codes: np.ndarray | None) -> float:
        return usefulness(
            tuple(rows[half] for half in halves),  # type: ignore[arg-type]
            tuple(sparse.csr_array(bags[half]) for half in halves),  # type: ignore[arg-type]
            None if codes is None else tuple(codes[half] for half in halves),  # type: ignore[arg-type]
            0,
        )

    for codes in (groups, None):
        assert use(told, codes) > 0.9
        assert use(noise, codes) < 0.2


@pytest.mark.parametrize("labels", [None, LABELS])
def test_words_and_baseline_add_up_to_the_novelty(encoder: Any, labels: list[str] | None) -> None:
    detector = fitted(encoder, labels)
    for text in ("pay the moon rocket", "goal", "invoice debt"):
        verdict = detector.explain(text)
        total = sum(word.contribution for word in verdict.words) + verdict.baseline
        assert total == pytest.approx(verdict.novelty) == pytest.approx(sum(verdict.parts.values()))
        assert verdict.novelty == pytest.approx(detector.novelty([text])[0])
    verdict = detector.explain("pay bill moon rocket comet")
    assert {"moon", "rocket", "comet"} >= {word.word for word in verdict.words[:2]}
    assert labels is not None or verdict.counterfactual


@pytest.mark.filterwarnings("ignore:.*are in no known document")
def test_groups_of_new_documents_are_of_one_meaning(encoder: Any) -> None:
    topics, random = np.arange(90) % 2, np.random.default_rng(3)
    empty = ["lately", "really", "almost", "quite", "rather", "nearly"]  # the encoder has none
    new = [
        " ".join(
            [*random.choice(TOPICS[("space", "food")[topic]].split(), 2, replace=False),
             *random.choice(empty, 3, replace=False)]
        )
        for topic in topics.tolist()
    ]  # fmt: skip

    def agreement(detector: newfound.NoveltyDetector) -> float:
        found = detector.detect(new, describe=False)
        assert found["novel"].all()
        return float(adjusted_rand_score(topics, found["group"]))

    assert agreement(fitted(encoder)) > 0.9
    assert agreement(fitted(None)) < 0.5


def test_the_most_similar_known_text_is_quoted(encoder: Any) -> None:
    detector = fitted(encoder, LABELS)
    quoted = detector.explain("invoice debt fee").most_like
    assert quoted in detector.held_back_texts_ and set(quoted.split()) <= set(WORDS[:10])
    assert any(quoted in line for line in detector.explain("invoice debt fee").lines())
    detector.forget_texts()
    assert detector.explain("invoice debt fee").most_like is None


@pytest.mark.parametrize("labels", [None, LABELS])
def test_a_file_gives_the_same_scores_with_its_encoder_only(
    encoder: Any, labels: list[str] | None, tmp_path: Path
) -> None:
    detector = fitted(encoder, labels)
    detector.save(tmp_path / "d.nf")
    loaded = newfound.load(tmp_path / "d.nf")
    with pytest.raises(ValueError, match=r"reads texts with the encoder words, .*use_encoder"):
        loaded.novelty(NEW)
    loaded.use_encoder(encoder)
    assert loaded.novelty(NEW).tolist() == detector.novelty(NEW).tolist()
    assert loaded.explain(NEW[0]).to_dict() == detector.explain(NEW[0]).to_dict()
    loaded.save(tmp_path / "again.nf")
    assert (tmp_path / "again.nf").read_bytes() == (tmp_path / "d.nf").read_bytes()

    class Other:
        name = "other"

        def encode(self, texts: list[str]) -> Any:
            return encoder.encode([text[::-1] for text in texts]) + np.arange(16)

    with pytest.raises(ValueError, match="learned with the encoder words, and other gives other"):
        newfound.load(tmp_path / "d.nf").use_encoder(Other())


def test_batches_and_growth_change_nothing_else(encoder: Any) -> None:
    detector = fitted(encoder, LABELS)
    one_by_one = [float(detector.novelty([text])[0]) for text in NEW]
    assert one_by_one == detector.novelty(NEW).tolist()
    before = detector.p_values(NEW)
    detector.partial_fit(NEW[::2], ["space"] * len(NEW[::2]))
    assert detector.p_values(NEW[1::2]).mean() > 3 * before[1::2].mean()
    assert len(detector.scorer_.meaning.vectors) == detector.n_documents_["learned"]


def test_relative_distances_are_those_of_two_gaussians() -> None:
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 3
    rows = rng.normal(size=(300, 5)) * [1, 2, 1, 1, 3] + 4 * np.eye(5)[codes]
    found = ClassShapes.of(rows, codes, 3).distances(rows)
    means = np.stack([rows[codes == k].mean(axis=0) for k in range(3)])

    def inverse(deviations: np.ndarray, n: int) -> np.ndarray:
        covariance = deviations.T @ deviations / n
        covariance = 0.9 * covariance + 0.1 * np.trace(covariance) / 5 * np.eye(5)
        return np.linalg.inv(covariance)

    within, whole = rows - means[codes], rows - rows.mean(axis=0)
    away = rows[:, None] - means
    own = np.einsum("nki,ij,nkj->nk", away, inverse(within, 297), away).min(axis=1)
    every = np.einsum("ni,ij,nj->n", whole, inverse(whole, 300), whole)
    # Products are rounded, so that their sums are exact.
    np.testing.assert_allclose(found, own - every, atol=1e-5)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.zeros(n), "of the shape .* expected a row for each"),
        (lambda n: np.zeros((n + 1, 3)), "expected a row for each"),
        (lambda n: np.full((n, 3), np.nan), "not finite"),
    ],
)
def test_an_encoder_that_gives_nonsense_is_refused(answer: Any, message: str) -> None:
    class Bad:
        def encode(self, texts: list[str]) -> Any:
            return answer(len(texts))

    with pytest.raises(ValueError, match=message):
        fitted(Bad())
    with pytest.raises(ValueError, match="encoder='minilm' cannot encode"):
        fitted("minilm")


def test_a_model_in_onnx_gives_the_same_vectors_as_static_ones(
    encoder: Any, onnx_folder: Path
) -> None:
    found = load_encoder(onnx_folder)
    assert isinstance(found, OnnxEncoder) and found.name == "tokens"
    some = ["moon", "pay the bill", "goal team coach win kick", ""]
    np.testing.assert_allclose(found.encode(some), encoder.encode(some), atol=1e-6)


def test_a_copy_of_an_encoder_for_another_process_is_the_same(
    encoder: Any, onnx_folder: Path
) -> None:
    for one in (encoder, load_encoder(onnx_folder, n_jobs=2)):
        copy = pickle.loads(pickle.dumps(one))
        assert copy.encode(KNOWN).tolist() == one.encode(KNOWN).tolist()
        assert (copy.name, copy.files) == (one.name, one.files)


def test_vectors_depend_on_no_other_text(onnx_folder: Path) -> None:
    one, two = (load_encoder(onnx_folder, n_jobs=n) for n in (1, 2))
    texts = [*KNOWN[:20], "moon " * 300, "", "goal"]
    together = two.encode(texts)
    assert together.tolist() == [one.encode([text])[0].tolist() for text in texts]


def test_folders_without_an_encoder_are_refused(static: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has no tokenizer\.json"):
        load_encoder(tmp_path)
    content = (static / "tokenizer.json").read_bytes()
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"neither model\.onnx nor model\.safetensors"):
        load_encoder(tmp_path)
    good = (static / "model.safetensors").read_bytes()
    wrong = [b"", b"x" * 50, good[:-1], good[:20], b"\xff" * 8 + good[8:],
             good.replace(b"F32", b"I32"), good.replace(b"[41, 16]", b"[16, 16]"),
             safetensors(np.full((3, 2), np.nan, np.float32)), two_tables()]  # fmt: skip
    for bad in wrong:
        (tmp_path / "model.safetensors").write_bytes(bad)
        with pytest.raises(ValueError, match=r"no table of vectors|not finite"):
            load_encoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"\0" * 99)
    with pytest.raises(ValueError, match="is no model in ONNX"):
        load_encoder(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match="is no tokenizer"):
        load_encoder(tmp_path)


def test_the_command_line_takes_a_folder(static: Path, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("\n".join(KNOWN), encoding="utf-8")
    (tmp_path / "new.txt").write_text("\n".join([*SYNONYMS, *NEW]), encoding="utf-8")
    model, out = tmp_path / "d.nf", tmp_path / "out.jsonl"
    learn = ["detect", "--known", tmp_path / "old.txt", "--save", model, "--alpha", "0.1", "-q"]
    assert call(*learn, "--encoder", static).returncode == 0
    judge = ["detect", "--model", model, "--incoming", tmp_path / "new.txt", "-q", "-o", out]
    failed = call(*judge)
    assert failed.returncode == 1 and "--encoder" in failed.stderr
    assert call(*judge, "--encoder", static).returncode == 0
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    novelty = np.array([row["novelty"] for row in rows])
    assert novelty[len(SYNONYMS) :].min() > np.median(novelty[: len(SYNONYMS)])
    explained = call("explain", model, "invoice debt fee", "--encoder", static)
    assert explained.returncode == 0 and "most like:" in explained.stdout
    assert call("explain", model, "invoice").returncode == 1
