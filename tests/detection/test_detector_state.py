"""A detector's file: what does not fit together is refused, whatever was altered."""

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
    return detector, detector.to_state(), list(novel.texts)


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
        ("documents.density", lambda a: altered(a, 0, -1.0)),
        ("documents.density", lambda a: altered(a, 0, np.nan)),
        ("documents.density", lambda a: a[:-1]),
        ("held_back.scores", lambda a: a[:-1]),
        ("held_back.nearest", lambda a: altered(a, 0, 99)),
        ("rules.words", lambda a: altered(a, 0, 10**6)),
        ("rules.words", lambda a: altered(a, -1, a[-2])),
        ("rules.words", lambda a: a[:-1]),
        ("rules.lengths", lambda a: altered(a, 0, a[0] + 1)),
        ("rules.lengths", lambda a: altered(a, 0, 0)),
        ("rules.lengths", lambda a: a[:0]),
        ("rules.rarity", lambda a: altered(a, 0, -1.0)),
        ("rules.rarity", lambda a: altered(a, 0, np.nan)),
        ("rules.weights.data", lambda a: altered(a, 0, 101)),
        ("rules.weights.indices", lambda a: altered(a, 0, 99)),
        ("rules.weights.indptr", lambda a: altered(a, 1, 10**6)),
        ("rules.weights.indptr", lambda a: a[:-1]),
        ("rules.counts.data", lambda a: altered(a, 0, -1)),
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
        ("rules.unit", 0.0),
        ("named_by_rules", 1),
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
        ("words_tell_classes", 1),
        ("documents.density", np.full(3, 0.5)),
        ("rules", 1),
        ("rules", "none"),
    ],
)
def test_altered_data_is_refused(state, name, value):
    _, kept, _ = state
    with pytest.raises(ValueError, match=rf"field {name.split('.')[0]}|alpha=True"):
        NoveltyDetector.from_state(changed(kept, name, lambda _: value))


def test_a_file_says_who_names_the_class(state):
    detector, kept, novel = state
    for by_rules in (True, False):
        made = NoveltyDetector.from_state({**kept, "named_by_rules": by_rules})
        expected = detector.scorer_.naming(by_rules=by_rules).score_texts(novel)
        assert np.array_equal(made.novelty(novel), expected.novelty)
        assert set(expected.by_rules) <= {by_rules, False}


def test_a_file_says_whether_words_count_by_what_they_tell_of_classes(state):
    detector, kept, novel = state
    assert kept["words_tell_classes"] is False  # the messages are short
    told = NoveltyDetector.from_state({**kept, "words_tell_classes": True})
    assert told.to_state()["words_tell_classes"] is True
    assert not np.array_equal(told.novelty(novel), detector.novelty(novel))
    told.partial_fit(["what is the exchange rate"] * 3, ["exchange_rate"] * 3)
    assert told.scorer_.statistics.informed


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
