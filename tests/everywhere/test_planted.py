"""Behaviours that errors planted in the code once broke without a test that noticed."""

from __future__ import annotations

import io
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from detector_files import small_detector
from newfound.detection import learning
from newfound.detection.scoring import Scorer
from newfound.detection.split import draw_held_back, n_held_back, sample_for_scales
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.clauses import clauses_from_state, clauses_state
from newfound.storage.archive import Member, contents
from newfound.storage.fields import Fields
from newfound.storage.files import Refusal, replacing
from newfound.text.vectorizer import TextVectorizer

# the core


@pytest.mark.parametrize("quiet_share", [0.0, 2.0])
@pytest.mark.parametrize("foreseen_blocks", [0, 1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_features_that_are_copies_have_automata_that_are_copies(
    seed: int, quiet_share: float, foreseen_blocks: int
) -> None:
    # With s = 1 and boosting nothing is left to chance within an event. Of many copies, some are
    # in the list of a clause and some in its row, some in a foreseen line and some in one that is
    # not: all have to count alike, at the clamps too.
    core = pytest.importorskip("newfound._core_test", reason="built without the test module")
    rng = np.random.default_rng(seed)
    y = np.arange(300, dtype=np.int32) % 2
    base = rng.random((300, 4)) < np.where(y[:, None] == np.arange(4) % 2, 0.97, 0.4)
    copies = 17
    X = sparse.csr_array(np.repeat(base, copies, axis=1))
    machine = core.Machine(
        2, 4 * copies, 10, 1000, 1.0, boost_true_positive=True, seed=seed,
        quiet_share=quiet_share, foreseen_blocks=foreseen_blocks,
    )  # fmt: skip
    machine.fit(X.indptr.astype(np.int64), X.indices.astype(np.int32), y, 30)
    states = machine.states().reshape(2, 10, 2, 4, copies)
    assert states.max() == 255 and len(np.unique(states)) > 3
    np.testing.assert_array_equal(states, np.repeat(states[..., :1], copies, axis=-1))


def test_a_literal_is_counted_once_however_many_events_its_clause_has() -> None:
    # Each document of a class is the same, so each clause ends with the same four literals and
    # matches: with a budget of four it never gets Type Ib feedback again.
    X = np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 100, bool)
    machine = TsetlinMachineClassifier(
        n_clauses=4, T=1000, s=1.0, epochs=60, boost_true_positive=True, max_literals=4,
        random_state=1,
    ).fit(X, np.arange(200) % 2)  # fmt: skip
    history = machine.history_
    assert history["type_ia"][10:].min() > 0
    assert history["type_ib"][10:].max() == 0


@pytest.mark.parametrize("seed", range(10))
def test_nothing_changes_any_more_once_training_of_many_classes_has_converged(seed: int) -> None:
    # An epoch draws one other class for each document: that no document gave feedback in it does
    # not say that none can.
    X, y = np.repeat(np.eye(4, dtype=bool), 3, axis=1), np.arange(4)
    machine = TsetlinMachineClassifier(
        n_clauses=20, T=2, s=3.0, epochs=300, boost_true_positive=True, random_state=seed
    ).fit(X, y)
    assert machine.stop_reason_ == "converged"
    states = machine.states_
    for _ in range(5):
        machine.partial_fit(X, y)
    np.testing.assert_array_equal(machine.states_, states)


# the detector


def test_the_spread_of_scores_is_measured_on_documents_that_were_not_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learned: list[set[str]] = []
    measured: list[set[str]] = []
    learn, read = TextVectorizer.fit_transform, Scorer.read

    def watched_learn(vectorizer: TextVectorizer, texts: list[str], *more: Any) -> Any:
        learned.append(set(texts))
        return learn(vectorizer, texts, *more)

    def watched_read(scorer: Scorer, texts: list[str]) -> Any:
        if len(learned) == 1:  # the held-back documents are read after all is learned
            measured.append(set(texts))
        return read(scorer, texts)

    monkeypatch.setattr(TextVectorizer, "fit_transform", watched_learn)
    monkeypatch.setattr(Scorer, "read", watched_read)
    small_detector()
    assert len(learned) == 2 and len(measured) == 1 and measured[0]
    assert not learned[0] & measured[0]
    assert measured[0] < learned[1]
    assert learning.sample_for_scales is sample_for_scales


def test_documents_are_held_back_at_random_and_not_by_class() -> None:
    codes = np.repeat([0, 1], [80, 40])
    shares = [int(codes[draw_held_back(codes, 30, seed)[1]].sum()) for seed in range(400)]
    # Hypergeometric: mean 10, variance 30 * (1/3) * (2/3) * (90/119) = 5.04; by class it is 0.
    assert abs(np.mean(shares) - 10) < 0.5
    assert 3.8 < np.var(shares) < 6.5


# model files


@pytest.mark.parametrize(("alpha", "needed"), [(0.001, 999), (0.05, 19)])
def test_at_least_half_as_many_documents_are_learned_from_as_are_held_back(
    alpha: float, needed: int
) -> None:
    least = needed + max(5, needed // 2)
    assert n_held_back(least, alpha, 0.2) == needed
    with pytest.raises(ValueError, match=f"pass at least {least:,}"):
        n_held_back(least - 1, alpha, 0.2)


def test_the_largest_literal_is_the_negation_of_the_last_feature() -> None:
    X = np.eye(4, dtype=bool)
    machine = TsetlinMachineClassifier(n_clauses=4, T=2, epochs=2, random_state=1)
    state = clauses_state(machine.fit(X, [0, 1, 0, 1]).clauses_)
    lengths = np.zeros_like(state["lengths"])
    lengths[0] = 1
    for literal, sound in ((7, True), (8, False), (-1, False)):
        forged = {**state, "lengths": lengths, "literals": np.array([literal], np.int32)}
        if sound:
            assert clauses_from_state(Fields(forged), 4).literals.tolist() == [literal]
        else:
            with pytest.raises(Refusal, match="literals"):
                clauses_from_state(Fields(forged), 4)


def test_bounds_of_values_are_exact() -> None:
    array = np.array([2, 5])
    fields = Fields({"n": 3, "x": 1.5, "t": "a" * 1000, "long": "a" * 1001, "a": array})
    assert fields.integer("n", least=3, most=3) == 3
    assert fields.number("x", least=1.5, most=1.5) == 1.5
    assert fields.text("t") == "a" * 1000 and fields.text("long", most=1001)
    assert fields.integers("a", np.int64, (2,), least=2, most=5).tolist() == [2, 5]
    for wrong in (
        lambda: fields.integer("n", least=4),
        lambda: fields.integer("n", most=2),
        lambda: fields.number("x", least=1.6),
        lambda: fields.number("x", most=1.4),
        lambda: fields.text("long"),
        lambda: fields.integers("a", np.int64, (2,), least=3, most=5),
        lambda: fields.integers("a", np.int64, (2,), least=2, most=4),
    ):
        with pytest.raises(Refusal, match="expected"):
            wrong()


@pytest.mark.parametrize("n", [10, 1 << 20])
@pytest.mark.parametrize("after", [b"x", b"x" * 300_000])
def test_data_after_the_end_of_a_compressed_member_is_refused(n: int, after: bytes) -> None:
    text = bytes(n)
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    packed = packer.compress(text) + packer.flush()
    for extra in (b"", after):
        member = Member("a.npy", 0, len(packed) + len(extra), n, zlib.crc32(text), True)
        pieces = contents(io.BytesIO(packed + extra), member)
        if extra:
            with pytest.raises(Refusal, match="not as long as declared"):
                list(pieces)
        else:
            assert b"".join(pieces) == text


# files


def test_a_file_is_on_the_disk_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle: int) -> None:
        happened.append(f"fsync {os.readlink(f'/proc/self/fd/{handle}')}")
        fsync(handle)

    def watched_replace(source: Any, target: Any) -> None:
        happened.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    with replacing(tmp_path / "words.csv") as temporary:
        temporary.write_text("word")
    assert happened == [f"fsync {temporary}", "rename", f"fsync {tmp_path}"]
