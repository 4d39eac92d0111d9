"""Several machines: who learns from what, on how many threads, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from newfound.description.describer import NoveltyDescriber
from newfound.machine.classifier import TsetlinMachineClassifier
from newfound.machine.committee import held_out_rows, member_rows, member_seeds, train
from newfound.machine.native import EpochInfo
from newfound.text.vectorizer import TextVectorizer
from waiting import PATIENCE, wait_for_work


def made_texts(n: int = 60, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return texts of 200 words with labels; novel ones use some words more often."""
    rng = np.random.default_rng(seed)
    chance = np.full((2, 200), 0.05)
    chance[0, :20] = chance[1, 20:40] = 0.2
    novel = np.arange(n) % 2
    there = rng.random((n, 200)) < chance[novel]
    there[:, 40] = True  # no text is empty
    texts = [" ".join(f"word{i}" for i in np.flatnonzero(row)) for row in there]
    return texts, [("known", "novel")[side] for side in novel]


SMALL: dict[str, Any] = {"n_clauses": 30, "T": 15, "s": 4.0, "epochs": 4, "random_state": 3}
TEXTS, LABELS = made_texts()
NOVEL = np.array(LABELS) == "novel"


def fitted(**parameters: Any) -> NoveltyDescriber:
    return NoveltyDescriber(**SMALL | parameters).fit(TEXTS, LABELS)


def arrays_of(state: Any, place: str = "") -> dict[str, Any]:
    """Return every array of a state by its place."""
    if isinstance(state, np.ndarray):
        return {place: state}
    items = state.items() if isinstance(state, dict) else ()
    items = enumerate(state) if isinstance(state, list) else items
    return {k: v for key, item in items for k, v in arrays_of(item, f"{place}.{key}").items()}


def bits(describer: NoveltyDescriber) -> dict[str, Any]:
    """Return every array of a describer's state, its tables and what it thinks of its documents."""
    assert describer.corpus_ is not None
    arrays = arrays_of(describer.to_state(with_automata=True))
    tables = {"words": describer.words_, "phrases": describer.phrases_}
    return {
        **{name: (array.dtype, array.tobytes()) for name, array in arrays.items()},
        **{name: table.to_json() for name, table in tables.items()},
        "clauses": [clause.to_dict() for clause in describer.clauses_],
        "votes": describer.corpus_.held_out.tobytes(),
    }


class TestMembers:
    @settings(max_examples=100)
    @given(
        n_known=st.integers(2, 60),
        n_novel=st.integers(2, 60),
        seed=st.integers(-(2**70), 2**70),
        n_machines=st.integers(2, 9),
    )
    def test_each_sees_70_percent_of_each_side_and_at_least_two(
        self, n_known: int, n_novel: int, seed: int, n_machines: int
    ) -> None:
        order = np.random.default_rng(abs(seed)).permutation(n_known + n_novel)
        novel = order < n_novel
        rows = member_rows(novel, seed, n_machines)
        assert (np.diff(rows) > 0).all()
        for side, n in ((novel, n_novel), (~novel, n_known)):
            seen = int(side[rows].sum())
            assert seen == max(2, -(-7 * n // 10))
        np.testing.assert_array_equal(rows, member_rows(novel, seed, n_machines))

    def test_machines_see_different_documents_and_together_all_but_a_fifth(self) -> None:
        seen = [member_rows(NOVEL, seed, 5).tolist() for seed in member_seeds(3, 5)]
        assert len({tuple(rows) for rows in seen}) == 5
        held_out = held_out_rows(NOVEL)
        assert (len(held_out), int(NOVEL[held_out].sum())) == (12, 6)
        assert {row for rows in seen for row in rows} == set(range(60)) - set(held_out.tolist())

    def test_a_single_one_sees_all(self) -> None:
        np.testing.assert_array_equal(member_rows(NOVEL, 3, 1), np.arange(60))

    @pytest.mark.parametrize("seed", [0, -1, 2**80, np.int32(7)])
    def test_seeds_are_the_seed_and_others(self, seed: Any) -> None:
        seeds = member_seeds(seed, 50)
        assert seeds[0] == int(seed)
        assert seeds == member_seeds(seed, 50)
        assert seeds[:7] == member_seeds(seed, 7)
        assert len(set(seeds)) == 50
        assert not set(seeds[1:]) & set(member_seeds(int(seed) + 1, 50))

    def test_without_a_seed_they_differ_each_time(self) -> None:
        assert member_seeds(None, 3) != member_seeds(None, 3)
        generator = np.random.RandomState(0)
        assert member_seeds(generator, 3) != member_seeds(generator, 3)
        again = np.random.RandomState(0), np.random.RandomState(0)
        assert member_seeds(again[0], 3) == member_seeds(again[1], 3)


class TestOneResult:
    def test_on_any_number_of_threads(self) -> None:
        one = bits(fitted(n_jobs=1))
        for n_jobs in (2, 4, 16, -1, None):
            assert bits(fitted(n_jobs=n_jobs)) == one
        assert bits(fitted(n_jobs=2, random_state=4)) != one

    def test_when_training_goes_on_on_any_number_of_threads(self) -> None:
        more, labels = made_texts(30, seed=1)
        found = [
            bits(fitted(n_jobs=n_jobs).partial_fit(more, labels, epochs=2)) for n_jobs in (1, 4)
        ]
        assert found[0] == found[1]

    def test_a_single_machine_is_a_plain_one(self) -> None:
        describer = fitted(n_machines=1, boost_true_positive=False, max_literals=0)
        matrix = describer.vectorizer_.transform(TEXTS)
        plain = TsetlinMachineClassifier(**SMALL).fit(matrix, LABELS)
        (mine,) = describer.machines_
        np.testing.assert_array_equal(mine.states_, plain.states_)
        for name in ("literals", "indptr", "matches", "agrees", "class_index", "polarity"):
            np.testing.assert_array_equal(
                getattr(describer.all_clauses_.arrays, name), getattr(plain.clauses_, name)
            )
        assert not describer.clauses_.held_out.any()
        assert describer.corpus_ is not None
        assert np.isnan(describer.corpus_.held_out).all()

    def test_each_of_several_is_a_plain_one_on_its_documents(self) -> None:
        describer = fitted(n_machines=3, boost_true_positive=False, max_literals=0)
        matrix = describer.vectorizer_.transform(TEXTS)
        labels = np.array(LABELS)
        for mine, seed in zip(describer.machines_, member_seeds(3, 3), strict=True):
            rows = member_rows(NOVEL, seed, 3)
            plain = TsetlinMachineClassifier(**SMALL | {"random_state": seed})
            plain.fit(matrix[rows], labels[rows])
            np.testing.assert_array_equal(mine.states_, plain.states_)


class TestHeldOut:
    def test_counts_are_those_of_a_recount_by_hand(self) -> None:
        """Go clause by clause and document by document."""
        describer = fitted(n_machines=3)
        table, matrix = describer.all_clauses_, describer.vectorizer_.transform(TEXTS)
        assert len(table) == 3 * 60
        columns = [matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]] for i in range(60)]
        matching = np.array([table.matching(column) for column in columns])
        assert matching.any()
        learned = {
            row for seed in member_seeds(3, 3) for row in member_rows(NOVEL, seed, 3).tolist()
        }
        assert len(learned) == 48
        for k, clause in enumerate(table):
            found = [i for i in range(60) if matching[i, k]]
            own = [i for i in found if LABELS[i] == clause.side]
            assert clause.matches_known + clause.matches_novel == len(found)
            assert clause.support == len(own)
            assert clause.held_out_matches == len(set(found) - learned)
            assert clause.held_out_support == len(set(own) - learned)
        assert table.held_out[1].sum() > 0

    def test_folded_clauses_keep_them(self) -> None:
        describer = fitted()
        folded = describer.clauses_
        every = {str(clause): clause for clause in describer.all_clauses_}
        for clause in folded:
            same = every[str(clause)]
            assert clause.held_out_matches == same.held_out_matches
            assert clause.held_out_support == same.held_out_support
        for clause in folded[folded.held_out[0] > 0][:20]:
            share = clause.held_out_support / clause.held_out_matches
            assert clause.held_out_precision == share == clause.to_dict()["held_out_precision"]

    def test_votes_are_those_of_the_machines_that_have_not_learned_from_it(self) -> None:
        describer = fitted(n_machines=4)
        matrix = describer.vectorizer_.transform(TEXTS)
        assert describer.corpus_ is not None
        votes: list[list[float]] = [[] for _ in TEXTS]
        for machine, seed in zip(describer.machines_, member_seeds(3, 4), strict=True):
            decision = machine.decision_function(matrix) / (2 * machine.T)
            for i in set(range(60)) - set(member_rows(NOVEL, seed, 4).tolist()):
                votes[i].append(min(max(decision[i], -1), 1))
        expected = [np.mean(those) if those else np.nan for those in votes]
        np.testing.assert_allclose(describer.corpus_.held_out, expected)
        assert np.isnan(expected).any()

    def test_rules_of_chance_are_right_by_chance_only_on_documents_held_out(self) -> None:
        """Learn labels that mean nothing: the precision is high, the honest one a half."""
        labels = [("known", "novel")[i] for i in np.random.default_rng(0).integers(0, 2, 60)]
        describer = NoveltyDescriber(**SMALL | {"epochs": 30}).fit(TEXTS, labels)
        trained = [machine.clauses_ for machine in describer.machines_]
        held_out = describer.all_clauses_.held_out
        share = max(np.mean(np.array(labels) == side) for side in ("known", "novel"))
        learned = sum(own.agrees.sum() for own in trained) / sum(a.matches.sum() for a in trained)
        assert learned > 0.8
        assert held_out[1].sum() / held_out[0].sum() < share + 0.1

    def test_where_nothing_is_new_the_best_rules_are_right_by_chance_too(self) -> None:
        """Split documents at random: the first ten of any order have the base rate, 50 %."""
        rng, shares = np.random.default_rng(5), {}
        for seed in range(30):
            texts, _ = made_texts(200, seed=seed)
            labels = np.array(["known", "novel"])[rng.permutation(200) % 2].tolist()
            clauses = NoveltyDescriber(**SMALL | {"random_state": seed}).fit(texts, labels).clauses_
            for by in ("gain", "count", "support", "precision"):
                ranked = clauses.sorted(by, plain_first=True)
                first = ranked[ranked.held_out[0] > 0][:10]
                matches, support = first.held_out.sum(axis=1)
                shares.setdefault(by, []).append(support / matches)
        for by, found in shares.items():  # each split has its own error, of all its rules together
            error = np.std(found, ddof=1) / np.sqrt(len(found))
            assert error < 0.03, by
            assert abs(np.mean(found) - 0.5) < 3 * error, by

    def test_what_is_held_out_stays_so_when_training_goes_on(self) -> None:
        labels = [("known", "novel")[i] for i in np.random.default_rng(0).integers(0, 2, 60)]
        describer = NoveltyDescriber(**SMALL).fit(TEXTS, labels)
        for _ in range(6):
            describer.partial_fit(TEXTS, labels, epochs=5)
        held_out = describer.all_clauses_.held_out
        share = max(np.mean(np.array(labels) == side) for side in ("known", "novel"))
        assert held_out[1].sum() / held_out[0].sum() < share + 0.1


class TestSmallSides:
    @pytest.mark.parametrize(("known", "novel"), [(2, 2), (2, 40), (40, 2), (3, 3)])
    @pytest.mark.parametrize("n_jobs", [1, 3])
    def test_two_documents_will_do(self, known: int, novel: int, n_jobs: int) -> None:
        texts = [f"cricket wicket common k{i}" for i in range(known)]
        texts += [f"rugby scrum common n{i}" for i in range(novel)]
        labels = ["known"] * known + ["novel"] * novel
        settings = SMALL | {"n_machines": 3, "epochs": 60, "n_jobs": n_jobs, "min_df": 1}
        describer = NoveltyDescriber(**settings)
        describer.fit(texts, labels)
        assert describer.explain(texts[0]).verdict == "known"
        assert describer.explain(texts[-1]).verdict == "novel"
        words = describer.words_
        assert words.row("rugby")["novelty"] > 0 > words.row("wicket")["novelty"]
        assert np.isfinite([words[name] for name in ("novelty", "low", "high", "q")]).all()
        describer.partial_fit(texts, labels)
        assert describer.n_machines_ == 3


class TestCallback:
    @pytest.mark.parametrize("n_jobs", [1, 2, 5])
    def test_it_counts_the_epochs_of_all_machines_one_at_a_time(self, n_jobs: int) -> None:
        seen: list[EpochInfo] = []
        inside = threading.Lock()

        def watch(info: EpochInfo) -> None:
            assert inside.acquire(blocking=False), "two machines called at the same time"
            seen.append(info)
            time.sleep(0.001)
            inside.release()

        describer = NoveltyDescriber(**SMALL | {"T": 200}, n_machines=5, n_jobs=n_jobs)
        describer.fit(TEXTS, LABELS, callback=watch)
        assert [info.epoch for info in seen] == list(range(1, 21))
        assert {info.epochs for info in seen} == {20}
        assert {info.documents for info in seen} == {42}
        seen.clear()
        describer.partial_fit(TEXTS, LABELS, epochs=2, callback=watch)
        assert [info.epoch for info in seen] == list(range(1, 11))

    def test_machines_that_have_nothing_left_to_learn_count_as_done(self) -> None:
        """Stop early where all is learned; the count still never goes back, nor beyond the end."""
        texts = ["cricket wicket"] * 10 + ["rugby scrum"] * 10
        seen: list[EpochInfo] = []
        settings = {"n_machines": 5, "n_clauses": 20, "T": 2, "s": 3.0, "epochs": 50}
        describer = NoveltyDescriber(**settings, random_state=0)
        describer.fit(texts, [0] * 10 + [1] * 10, callback=seen.append)
        assert {machine.stop_reason_ for machine in describer.machines_} == {"converged"}
        counts = [info.epoch for info in seen]
        assert counts == sorted(counts)
        assert counts[-1] <= seen[-1].epochs == 250
        assert counts[-1] > 200  # four machines are done, the last one has begun

    @pytest.mark.parametrize("n_jobs", [1, 2, 5])
    @pytest.mark.parametrize("last", [1, 3, 7])
    def test_it_can_end_training(self, n_jobs: int, last: int) -> None:
        seen: list[int] = []

        def stop(info: EpochInfo) -> bool:
            seen.append(info.epoch)
            return info.epoch >= last

        describer = NoveltyDescriber(**SMALL | {"T": 200, "epochs": 2000}, n_jobs=n_jobs)
        describer.fit(TEXTS, LABELS, callback=stop)
        assert seen == list(range(1, last + 1))
        assert 1 <= describer.n_machines_ == len(describer.machines_) <= max(n_jobs, 1)
        assert {machine.stop_reason_ for machine in describer.machines_} == {"callback"}
        # Those that run when one ends do so after their epoch.
        total = sum(machine.n_epochs_ for machine in describer.machines_)
        assert last <= total <= last + n_jobs
        assert len(describer.all_clauses_) == 60 * describer.n_machines_
        describer.explain(TEXTS[0])
        describer.partial_fit(TEXTS, LABELS)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_no_machine_is_lost_when_it_ends_training_that_goes_on(self, n_jobs: int) -> None:
        describer = fitted(n_machines=5, n_jobs=n_jobs)
        more, labels = made_texts(20, seed=2)
        describer.partial_fit(more, labels, epochs=9, callback=lambda info: True)
        assert describer.n_machines_ == len(describer.machines_) == 5
        begun = [machine.n_epochs_ > 4 for machine in describer.machines_]
        assert 1 <= sum(begun) <= n_jobs
        for number, was in enumerate(begun):
            part = describer.all_clauses_[60 * number : 60 * (number + 1)]
            matches = part.matches_known + part.matches_novel
            assert (part.held_out[0] <= matches).all()
            if not was:  # its counts are those of all documents of this call
                columns = describer.vectorizer_.transform(more)
                rows = np.split(columns.indices, columns.indptr[1:-1])
                recount = sum(part.matching(row).astype(int) for row in rows)
                np.testing.assert_array_equal(matches, recount)
            assert matches.max() <= 20
        NoveltyDescriber.from_state(describer.to_state(with_automata=True))

    def test_a_machine_that_comes_too_late_is_not_mistaken_for_another(self) -> None:
        """The third machine begins, then training ends, and only then the second is due."""
        third_began, ended = threading.Event(), threading.Event()

        class SecondComesLate(ThreadPoolExecutor):
            def submit(self, call: Any, /, number: Any) -> Any:
                def run() -> Any:
                    assert number != 1 or ended.wait(PATIENCE)
                    return call(number)

                return super().submit(run)

        class Third(TsetlinMachineClassifier):
            def fit(self, *arguments: Any, **options: Any) -> Any:
                third_began.set()
                return super().fit(*arguments, **options)

        def stop(info: EpochInfo) -> bool:
            assert third_began.wait(PATIENCE)
            ended.set()
            return True

        seeds = member_seeds(3, 3)
        machines = [
            kind(n_clauses=30, T=200, epochs=4, random_state=seed)
            for kind, seed in zip(
                (TsetlinMachineClassifier, TsetlinMachineClassifier, Third), seeds, strict=True
            )
        ]
        matrix = TextVectorizer().fit_transform(TEXTS)
        rows = train(machines, matrix, NOVEL, 4, n_jobs=3, callback=stop, executor=SecondComesLate)
        assert rows[0].tolist() == member_rows(NOVEL, seeds[0], 3).tolist()
        assert rows[1].tolist() == []
        assert rows[2].tolist() == member_rows(NOVEL, seeds[2], 3).tolist()
        assert [hasattr(machine, "classes_") for machine in machines] == [True, False, True]

    @pytest.mark.parametrize("n_jobs", [1, 2, 5])
    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
    def test_what_it_raises_reaches_the_caller(
        self, n_jobs: int, error: type[BaseException]
    ) -> None:
        seen: list[int] = []

        def fail(info: EpochInfo) -> None:
            seen.append(info.epoch)
            if info.epoch == 3:
                raise error("the third")

        describer = NoveltyDescriber(**SMALL | {"T": 200, "epochs": 500}, n_jobs=n_jobs)
        before = threading.active_count()
        with pytest.raises(error, match="the third"):
            describer.fit(TEXTS, LABELS, callback=fail)
        assert threading.active_count() == before
        assert seen[:3] == [1, 2, 3]
        assert len(seen) <= 3 + n_jobs
        with pytest.raises(NotFittedError):
            describer.explain("word1")
        assert not hasattr(describer, "machines_")

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_a_failed_fit_leaves_what_was_there(self, n_jobs: int) -> None:
        def fail(info: EpochInfo) -> None:
            raise RuntimeError

        describer = fitted(n_jobs=n_jobs)
        before = bits(describer)
        with pytest.raises(RuntimeError):
            describer.fit(*made_texts(40, seed=9), callback=fail)
        assert bits(describer) == before

    def test_wrong_epochs_are_told_from_a_pool_too(self) -> None:
        for n_jobs in (1, 2):
            with pytest.raises(ValueError, match="epochs=0"):
                fitted(n_jobs=n_jobs).partial_fit(TEXTS, LABELS, epochs=0)


INTERRUPTED = """
import json, signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path[:] = json.loads(sys.argv[1])
from newfound.description.describer import NoveltyDescriber

def watch(info):
    if info.epoch == 2:
        print("now", flush=True)

describer = NoveltyDescriber(
    n_clauses=200, T=5000, epochs=10**6, random_state=0, n_jobs=int(sys.argv[2])
)
try:
    describer.fit(*json.loads(sys.argv[3]), callback=watch)
except KeyboardInterrupt:
    print(json.dumps([hasattr(describer, "clauses_"), threading.active_count()]), flush=True)
    raise SystemExit(77)
print("it went on", flush=True)
"""


@pytest.mark.parametrize("n_jobs", [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2)), 8])
def test_control_c_ends_endless_work_of_a_pool_and_leaves_no_half_made_model(n_jobs: int) -> None:
    with subprocess.Popen(
        [
            *(sys.executable, "-c", INTERRUPTED),
            *(json.dumps(sys.path), str(n_jobs), json.dumps(made_texts(200))),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stdout.readline() == "now\n"
            wait_for_work(process.pid, 0.3)
            process.send_signal(signal.SIGINT)
            status = process.wait(PATIENCE)
        except BaseException:
            process.kill()
            raise
        assert (status, process.stderr.read()) == (77, "")
        assert json.loads(process.stdout.read()) == [False, 1]
