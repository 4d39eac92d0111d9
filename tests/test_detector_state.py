"""A detector's file: what does not fit together is refused, whatever was altered."""

import tracemalloc

import numpy as np
import pytest

import newfound
from model_files import changed
from newfound import NoveltyDetector


@pytest.fixture(scope="module")
def state():
    known, novel = newfound.load_sample()
    detector = NoveltyDetector(random_state=1, n_clauses=6, epochs=2)
    detector.fit(known.texts[::4], known.labels[::4])
    return detector, detector.to_state(with_automata=True), list(novel.texts)


def altered(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


def test_the_state_makes_the_same_detector(state):
    detector, kept, novel = state
    again = NoveltyDetector.from_state(kept)
    assert np.array_equal(again.novelty(novel), detector.novelty(novel))
    assert again.get_params() == detector.get_params()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("documents.indices", lambda a: altered(a, 0, -1)),
        ("documents.indices", lambda a: altered(a, 0, 10**6)),
        ("documents.indices", lambda a: altered(a, 1, a[0])),
        ("documents.indptr", lambda a: altered(a, 1, 10**6)),
        ("documents.indptr", lambda a: a[:-1]),
        ("documents.codes", lambda a: altered(a, 0, 99)),
        ("documents.codes", lambda a: a[:0]),
        ("weights", lambda a: a[:, :-1]),
        ("weights", lambda a: altered(a, (0, 0), np.nan)),
        ("scales.scale", lambda a: a[:2]),
        ("scales.centre", lambda a: altered(a, 0, np.inf)),
        ("held_back.scores", lambda a: a[:-1]),
        ("held_back.nearest", lambda a: altered(a, 0, 99)),
        ("rules.0.columns", lambda a: altered(a, 0, a[1])),
        ("rules.0.columns", lambda a: altered(a, -1, 10**6)),
        ("rules.0.classes", lambda a: altered(a, 0, 10**6)),
        ("rules.0.clauses.literals", lambda a: altered(a, 0, 10**6)),
        ("rules.0.clauses.lengths", lambda a: altered(a, 0, a[0] + 1)),
        ("rules.0.clauses.matches", lambda a: altered(a, 0, -1)),
        ("rules.0.machine.position", lambda a: a[:-1]),
        ("vectorizer.document_frequencies", lambda a: a[:-1]),
    ],
)
def test_altered_arrays_are_refused(state, name, change):
    _, kept, _ = state
    with pytest.raises(ValueError, match=r"in the field"):
        NoveltyDetector.from_state(changed(kept, name, change))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classes", []),
        ("classes", ["a", "a"]),
        ("classes", [{}]),
        ("held_back.texts", []),
        ("held_back.texts", [1]),
        ("held_back.texts", "text"),
        ("rules", {}),
        ("seed", -1),
        ("seed", 1.0),
        ("classes", [float("inf"), 1]),
        ("classes", [[1], [2]]),
        ("parameters.alpha", True),
        ("parameters.classwise", 1),
        ("parameters.lemmatize", "yes"),
        ("parameters.stop_words", [1]),
        ("parameters.language", "x" * 500),
        ("parameters.language", ["en"]),
        ("parameters.held_back", {}),
        ("keeps_function_words", 0),
        ("vectorizer.n_documents", 2**53),
        ("vectorizer.n_documents", 0),
        ("vectorizer.forms", []),
        ("vectorizer.vocabulary", ["a", "a"]),
        ("rules", [{}]),
        ("rules", [None]),
    ],
)
def test_altered_data_is_refused(state, name, value):
    _, kept, _ = state
    with pytest.raises(ValueError, match=rf"field {name.split('.')[0]}|alpha=True"):
        NoveltyDetector.from_state(changed(kept, name, lambda _: value))


def test_a_file_can_not_ask_for_more_automata_than_it_has(state):
    _, kept, _ = state
    with pytest.raises(ValueError, match=r"in the field rules\.0\.machine\.states"):
        NoveltyDetector.from_state(changed(kept, "parameters.n_clauses", lambda _: 2**28))


def test_without_automata_rules_vote_as_the_machine_does(state):
    detector, _, novel = state
    bare = NoveltyDetector.from_state(detector.to_state())
    assert [bank.machine for bank in bare.scorer_.banks] == [None]
    assert np.array_equal(bare.rule_votes(novel), detector.rule_votes(novel))
    assert np.array_equal(bare.novelty(novel), detector.novelty(novel))
    assert bare.rule_votes(novel).any()


def test_without_automata_a_file_takes_memory_by_its_size(state):
    """Declare many classes, clauses and words: stand-ins for automata would take gigabytes."""
    _, kept, _ = state
    n, size = 400, len(kept["rules"][0]["columns"])
    clauses = {
        "n_features": size,
        "class_index": np.repeat(np.arange(2), n // 2 * 1000),
        "polarity": np.ones(n * 1000, np.int8),
        "lengths": np.zeros(n * 1000, np.uint8),
        "literals": np.zeros(0, np.uint8),
        "matches": np.zeros(n * 1000, np.uint8),
        "agrees": np.zeros(n * 1000, np.uint8),
    }
    bank = {**kept["rules"][0], "classes": np.array([0, 1]), "clauses": clauses}
    del bank["machine"]
    tracemalloc.start()
    try:
        loaded = NoveltyDetector.from_state({**kept, "rules": [bank]})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not loaded.rule_votes(["pay my bill"]).any()
    assert peak < 100e6  # 400,000 clauses over 500 words have 400 MB of automata


def test_threads_are_not_for_a_file_to_say(state):
    _, kept, _ = state
    many = changed(kept, "parameters.n_jobs", lambda _: 1000)
    assert NoveltyDetector.from_state(many).n_jobs is None


def test_classes_that_are_numbers_stay_numbers(tmp_path):
    known, _ = newfound.load_sample()
    names = sorted(set(known.labels))
    labels = [names.index(label) for label in known.labels[::4]]
    detector = NoveltyDetector(random_state=1, n_clauses=4, epochs=1).fit(known.texts[::4], labels)
    detector.save(tmp_path / "d.nf")
    loaded = newfound.load(tmp_path / "d.nf")
    assert loaded.classes_.dtype.kind == "i"
    assert loaded.predict(known.texts[:5]).tolist() == detector.predict(known.texts[:5]).tolist()
