"""A detector's file: what does not fit together is refused, whatever was altered."""

import copy

import numpy as np
import pytest

import newfound
from newfound import NoveltyDetector


@pytest.fixture(scope="module")
def state():
    known, novel = newfound.load_sample()
    detector = NoveltyDetector(random_state=1, n_clauses=6, epochs=2)
    detector.fit(known.texts[::4], known.labels[::4])
    return detector, *detector._state(), list(novel.texts)


def altered(array, place, value):
    changed = array.copy()
    changed[place] = value
    return changed


def test_the_state_makes_the_same_detector(state):
    detector, meta, arrays, novel = state
    again = NoveltyDetector._from_state(meta, arrays)
    assert np.array_equal(again.novelty(novel), detector.novelty(novel))
    assert again.get_params() == detector.get_params()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", lambda a: altered(a, 0, -1)),
        ("indices", lambda a: altered(a, 0, 10**6)),
        ("indices", lambda a: altered(a, 1, a[0])),
        ("indptr", lambda a: altered(a, 1, 10**6)),
        ("indptr", lambda a: a[:-1]),
        ("codes", lambda a: altered(a, 0, 99)),
        ("codes", lambda a: a[:0]),
        ("weights", lambda a: a[:, :-1]),
        ("weights", lambda a: altered(a, (0, 0), np.nan)),
        ("scale", lambda a: a[:2]),
        ("centre", lambda a: altered(a, 0, np.inf)),
        ("scores", lambda a: a[:-1]),
        ("nearest", lambda a: altered(a, 0, 99)),
        ("columns 0", lambda a: altered(a, 0, a[1])),
        ("columns 0", lambda a: altered(a, -1, 10**6)),
        ("classes 0", lambda a: altered(a, 0, 10**6)),
        ("literals 0", lambda a: altered(a, 0, 10**6)),
        ("lengths 0", lambda a: altered(a, 0, a[0] + 1)),
        ("matches 0", lambda a: altered(a, 0, -1)),
        ("position 0", lambda a: a[:-1]),
        ("document_frequencies", lambda a: a[:-1]),
    ],
)
def test_altered_arrays_are_refused(state, name, change):
    _, meta, arrays, _ = state
    with pytest.raises(ValueError, match=r"damaged|does not fit"):
        NoveltyDetector._from_state(meta, {**arrays, name: change(arrays[name])})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("classes", []),
        ("classes", ["a", "a"]),
        ("classes", [{}]),
        ("held_back", []),
        ("held_back", [1]),
        ("held_back", "text"),
        ("banks", {}),
        ("seed", -1),
    ],
)
def test_altered_data_is_refused(state, name, value):
    _, meta, arrays, _ = state
    changed = copy.deepcopy(meta)
    changed[name] = value
    with pytest.raises((ValueError, LookupError, TypeError)):
        NoveltyDetector._from_state(changed, arrays)


def test_a_file_can_not_ask_for_more_automata_than_fit(state):
    _, meta, arrays, _ = state
    changed = copy.deepcopy(meta)
    changed["parameters"]["n_clauses"] = 2**28
    with pytest.raises(ValueError, match="automata are not too many"):
        NoveltyDetector._from_state(changed, arrays)


def test_threads_are_not_for_a_file_to_say(state):
    _, meta, arrays, _ = state
    changed = copy.deepcopy(meta)
    changed["parameters"]["n_jobs"] = 1000
    assert NoveltyDetector._from_state(changed, arrays).n_jobs is None


def test_classes_that_are_numbers_stay_numbers(tmp_path):
    known, _ = newfound.load_sample()
    names = sorted(set(known.labels))
    labels = [names.index(label) for label in known.labels[::4]]
    detector = NoveltyDetector(random_state=1, n_clauses=4, epochs=1).fit(known.texts[::4], labels)
    detector.save(tmp_path / "d.nf")
    loaded = newfound.load(tmp_path / "d.nf")
    assert loaded.classes_.dtype.kind == "i"
    assert loaded.predict(known.texts[:5]).tolist() == detector.predict(known.texts[:5]).tolist()
