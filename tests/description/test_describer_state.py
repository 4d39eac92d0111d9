"""A describer as a state: restored whole, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import newfound
from model_files import changed
from newfound.description.describe import describe
from newfound.description.describer import NoveltyDescriber
from newfound.sides import Names
from small_describer import KNOWN, NOVEL, SMALL, restored, same


@pytest.fixture(scope="module")
def described() -> NoveltyDescriber:
    return describe(KNOWN, NOVEL, **SMALL)


class TestState:
    def test_a_restored_describer_is_the_same(self, described: NoveltyDescriber) -> None:
        copy = restored(described)
        assert same(copy, described)
        assert copy.machines_ == ()
        assert copy.get_params() == described.get_params()
        assert same(restored(copy), described)

    def test_training_goes_on_with_the_automata_only(self) -> None:
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**SMALL, epochs=1).fit(KNOWN + NOVEL, labels)
        with pytest.raises(ValueError, match="no automata, so training cannot continue"):
            restored(describer).partial_fit(KNOWN + NOVEL, labels)
        with pytest.raises(ValueError, match="no automata to save"):
            restored(describer).to_state(with_automata=True)
        copy = restored(describer, with_automata=True)
        assert len(copy.machines_) == len(describer.machines_) > 1
        for mine, theirs in zip(copy.machines_, describer.machines_, strict=True):
            np.testing.assert_array_equal(mine.clauses_.literals, theirs.clauses_.literals)
            np.testing.assert_array_equal(mine.states_, theirs.states_)
        for one in (describer, copy):
            one.partial_fit(KNOWN + NOVEL, labels, epochs=2)
        assert same(describer, copy)
        assert {machine.n_epochs_ for machine in copy.machines_} == {3}
        assert [machine.n_epochs_ for machine in describer.machines_] == [3] * len(copy.machines_)

    @pytest.mark.parametrize("seed", [None, -5, 2**70, np.int64(3), "a generator"])
    def test_training_goes_on_from_any_seed(self, seed: Any) -> None:
        """See that machines of a file go on with the same documents, also without a seed."""
        if seed == "a generator":
            seed = np.random.RandomState(0)
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**{**SMALL, "random_state": seed}, epochs=1, n_machines=3)
        describer.fit(KNOWN + NOVEL, labels)
        copy = restored(describer, with_automata=True)
        for one in (describer, copy):
            one.partial_fit(KNOWN + NOVEL, labels)
        assert same(describer, copy)

    def test_odd_parameters_survive(self) -> None:
        parameters: dict[str, Any] = {
            "stop_words": {"The", "a"},
            "ngram_range": (1, 2),
            "random_state": np.random.RandomState(0),
            "n_clauses": np.int64(20),
        }
        describer = describe(KNOWN, NOVEL, **parameters)
        copy = restored(describer)
        assert same(copy, describer)
        assert copy.vectorizer_.stop_words_ == {"the", "a"}

    @pytest.mark.parametrize(
        ("name", "damage"),
        [
            ("clauses.literals", lambda a: a.astype(np.int32) + 10_000),
            ("clauses.literals", lambda a: a[:-1]),
            ("clauses.literals", lambda a: -a.astype(np.int32) - 1),
            ("clauses.polarity", lambda a: a * 3),
            ("clauses.class_index", lambda a: a + 1),
            ("clauses.lengths", lambda a: -a),
            ("clauses.agrees", lambda a: a + 10_000),
            ("clauses.literals", lambda a: a.astype(np.int64) + 2**32),
            ("clauses.literals", lambda a: a[::-1]),
            ("clauses.literals", np.zeros_like),
            ("clauses.polarity", np.zeros_like),
            ("clauses.polarity", lambda a: a.astype(np.int64) + 256),
            ("clauses.class_index", lambda a: a.astype(np.int64) + 2**32),
            ("clauses.lengths", lambda a: a.astype(np.int64) + 2**32),
            ("clauses.lengths", lambda a: a.astype(np.int64) + 2**62),
            ("clauses.lengths", lambda a: a.astype(float)),
            ("clauses.agrees", lambda a: -a - 1),
            ("clauses.matches", lambda a: a + 10_000),
            ("clauses.matches", lambda a: a.astype(np.uint64) + np.uint64(2**63)),
            ("words.documents", lambda a: a[:1]),
            ("words.documents", lambda a: a + 0.5),
            ("words.documents", lambda a: a + 100),
            ("words.documents", lambda a: a - 100),
            ("vectorizer.document_frequencies", lambda a: a.astype(float)),
            ("vectorizer.document_frequencies", lambda a: a + 100),
            ("machines.0.states", lambda a: a[:, :, :, 1:]),
            ("machines.0.states", lambda a: a.astype(np.int64) + 256),
            ("machines.4.states", lambda a: a[:, :2]),
            ("machines.0.position", lambda a: a.astype(np.int64) + 2**32),
            ("machines.4.position", np.zeros_like),
            ("machines.0.draws", lambda a: a.astype(float)),
            ("machines.4.draws", lambda a: a[1:]),
            ("machines.0.history", lambda a: a[:, 1:]),
            ("machines.4.history", lambda a: a[1:]),
            ("clauses.held_out", lambda a: a[:1]),
            ("clauses.held_out", lambda a: a[:, 1:]),
            ("clauses.held_out", lambda a: a.astype(float)),
            ("clauses.held_out", lambda a: a - 1),
            ("clauses.held_out", lambda a: a + 1000),
            ("clauses.held_out", lambda a: a + np.array([[0], [1000]])),
            ("words.novelty", lambda a: a[1:]),
            ("words.novelty", lambda a: a.astype(np.int64)),
            ("words.novelty", lambda a: a.astype(np.float32)),
            ("words.novelty", lambda a: a * np.nan),
            ("words.times", lambda a: a[1:]),
            ("words.low", lambda a: a - np.inf),
            ("words.high", lambda a: np.where(np.arange(len(a)) == 2, np.nan, a)),
            ("words.q", lambda a: np.stack((a, a))),
            ("words.q", lambda a: a / 0.0),
            ("phrases.lengths", lambda a: a[1:]),
            ("phrases.lengths", lambda a: a + 1),
            ("phrases.lengths", lambda a: a * 0),
            ("phrases.lengths", lambda a: np.concatenate(([1, a.sum() - 1], a[2:] * 0))),
            ("phrases.lengths", lambda a: a.astype(np.int64) + 2**32),
            ("phrases.lengths", lambda a: a.astype(float)),
            ("phrases.words", lambda a: a + 1000),
            ("phrases.words", lambda a: -a - 1),
            ("phrases.words", lambda a: a[:-1]),
            ("phrases.words", lambda a: a.astype(np.int64) + 2**32),
            ("phrases.novel", lambda a: a + 2),
            ("phrases.novel", lambda a: a[1:]),
            ("phrases.counts", lambda a: a[:2]),
            ("phrases.counts", lambda a: a - 1000),
            ("phrases.counts", lambda a: a + 1000),
            ("phrases.counts", lambda a: a.astype(float)),
            ("phrases.values", lambda a: a[:, 1:]),
            ("phrases.values", lambda a: a[1:]),
            ("phrases.values", lambda a: a + np.inf),
        ],
    )
    def test_a_damaged_state_is_refused(
        self, described: NoveltyDescriber, name: str, damage: Any
    ) -> None:
        state = described.to_state(with_automata=True)
        assert len(described.phrases_) > 2
        with np.errstate(all="ignore"), pytest.raises(ValueError):
            NoveltyDescriber.from_state(changed(state, name, damage))

    def test_a_state_that_lacks_a_field_is_refused(self, described: NoveltyDescriber) -> None:
        state = described.to_state(with_automata=True)
        for part in ("vectorizer", "clauses", "words", "phrases", "machines.9"):
            *_, number = part.split(".")
            owner = state["machines"][9] if number == "9" else state[part]
            for name in owner:
                lacking = changed(state, part, lambda o, n=name: {k: o[k] for k in o if k != n})
                with pytest.raises(ValueError, match=rf"lacks the field {part}\.{name}"):
                    NoveltyDescriber.from_state(lacking)

    def test_more_or_longer_phrases_than_there_can_be(self, described: NoveltyDescriber) -> None:
        state = described.to_state()
        n = 6_000
        many = {
            "lengths": np.full(n, 2),
            "words": np.zeros(2 * n, np.int64),
            "novel": np.zeros(n, np.uint8),
            "counts": np.zeros((3, n), np.int64),
            "values": np.zeros((4, n)),
        }
        with pytest.raises(ValueError, match="at most 10,000 words of phrases"):
            NoveltyDescriber.from_state({**state, "phrases": many})
        words = ["x" * 100_000, *state["vectorizer"]["vocabulary"][1:]]
        fewer = {name: array[..., : len(array.T) // 100] for name, array in many.items()}
        long = changed({**state, "phrases": fewer}, "vectorizer.vocabulary", lambda _: words)
        with pytest.raises(ValueError, match="at most 1,000,000 letters"):
            NoveltyDescriber.from_state(long)

    @pytest.mark.parametrize(
        ("part", "name", "value"),
        [
            ("clauses", "n_features", 2**40),
            ("clauses", "n_features", 7.0),
            ("n_documents", "novel", -1),
            ("n_documents", "novel", 2**60),
            ("n_documents", "known", 3.9),
            ("vectorizer", "n_documents", True),
            ("vectorizer", "stop_words", "the"),
            ("machines", "seed", -1),
            ("machines", "epochs_drawn", 2**64),
            ("machines", "n_epochs", 1),
            ("machines", "history_columns", []),
            ("machines", "stop_reason", 1),
            ("parameters", "random_state", "x"),
            ("chosen", "n_clauses", 4),
            ("chosen", "n_machines", 4),
            ("chosen", "n_machines", "5"),
            ("chosen", "shared_low", 9.0),
            ("chosen", "unheard_of", 1),
        ],
    )
    def test_a_number_that_does_not_fit_is_refused(
        self, described: NoveltyDescriber, part: str, name: str, value: Any
    ) -> None:
        state = described.to_state(with_automata=True)
        place = f"machines.9.{name}" if part == "machines" else f"{part}.{name}"
        with pytest.raises(ValueError):
            NoveltyDescriber.from_state(changed(state, place, lambda _: value))

    @pytest.mark.parametrize("number", [0, 1, 4, 6, 10, 1000, 10**6, -5, 5.0, "5", None, True])
    def test_another_number_of_machines_is_refused(self, number: Any) -> None:
        labels = [0] * 32 + [1] * 32
        described = NoveltyDescriber(**SMALL, n_machines=5, epochs=1).fit(KNOWN + NOVEL, labels)
        for with_automata in (False, True):
            state = described.to_state(with_automata=with_automata)
            state["chosen"]["n_machines"] = max(5, number) if type(number) is int else 5
            with pytest.raises(ValueError):
                NoveltyDescriber.from_state({**state, "n_machines": number})

    @pytest.mark.parametrize("change", [lambda m: m[:-1], lambda m: [*m, m[0]], lambda m: m[0]])
    def test_automata_of_other_machines_are_refused(
        self, described: NoveltyDescriber, change: Any
    ) -> None:
        state = described.to_state(with_automata=True)
        with pytest.raises(ValueError, match="in the field machines, expected"):
            NoveltyDescriber.from_state(changed(state, "machines", change))

    def test_parameters_set_after_fit_do_not_change_what_is_saved(self) -> None:
        describer = describe(KNOWN, NOVEL, **SMALL)
        describer.set_params(n_clauses=6, shared_low=0.9, n_jobs=2)
        copy = restored(describer, with_automata=True)
        assert same(copy, describer)
        labels = [0] * 32 + [1] * 32
        for one in (copy, describer):
            one.partial_fit(KNOWN + NOVEL, labels)
        assert copy.n_jobs is None
        assert same(copy, describer)

    def test_threads_are_shared_among_machines(self) -> None:
        labels = [0] * 32 + [1] * 32
        describer = NoveltyDescriber(**SMALL, n_machines=2, epochs=1, n_jobs=5)
        describer.fit(KNOWN + NOVEL, labels)
        assert [machine.n_jobs for machine in describer.machines_] == [2, 2]
        describer.set_params(n_jobs=1).partial_fit(KNOWN + NOVEL, labels)
        assert [machine.n_jobs for machine in describer.machines_] == [1, 1]


def test_a_model_keeps_the_names_of_its_sides(tmp_path: Path) -> None:
    known, novel = ["A wicket fell", "An over of spin"] * 5, ["A scrum", "A try"] * 5
    described = describe(known, novel, n_clauses=10, T=5, random_state=1)
    assert "votes for novel" in described.explain("A scrum").summary()
    described.names_ = Names("cricket", "2003")
    described.save(tmp_path / "d.nf")
    told = newfound.load(tmp_path / "d.nf").explain("A scrum")
    assert told.summary().startswith("“2003” (probability of “2003”")
    assert "for cricket" in told.summary() and told.verdict == "novel"
    assert any("→ “2003”" in line for line in told.lines())
    state = described.to_state()
    for names in ({"known": "a", "novel": "a"}, {"known": 1, "novel": None}, {"known": "a"}, []):
        with pytest.raises(ValueError, match="names"):
            NoveltyDescriber.from_state({**state, "names": names})
