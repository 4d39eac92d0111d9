"""The memory of a detector: estimated before it is used, and refused if there is not enough."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import newfound
from newfound import NoveltyDetector
from newfound.detection import learning
from newfound.detection.learning import available_memory, check_memory, memory_needed
from newfound.text.vectorizer import TextVectorizer

MEASURED = """
import json
import numpy as np
from newfound import NoveltyDetector
from newfound.detection import learning

def peak():  # not ru_maxrss, which a process has from its parent
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


random = np.random.RandomState(0)
words = np.array([a + b + c for a in "bdfgklmnprst" for b in ("a", "e", "ul", "on")
                  for c in ("ta", "ri", "lo", "mend", "ker", "sun", "pol", "dra", "vin", "gam")])
texts = [" ".join(words[random.randint(len(words), size=7)]) for _ in range(2400)]
estimates, estimate = [], learning._needed
learning._needed = lambda *given: estimates.append(estimate(*given)) or estimates[-1]
NoveltyDetector(random_state=0, n_clauses=2, epochs=1, alpha=0.2).fit(texts[:60], [0, 1, 2] * 20)
before = peak()
NoveltyDetector(random_state=0, n_clauses=2, epochs=1).fit(texts, np.arange(2400) % 600)
print(json.dumps([peak() - before, max(estimates)]))
"""


@pytest.fixture(scope="module")
def sample():
    known, _ = newfound.load_sample()
    return list(known.texts[::4]), list(known.labels[::4])


def test_what_does_not_fit_is_refused_with_what_it_needs(sample, monkeypatch):
    monkeypatch.setattr(learning, "available_memory", lambda: 1_000_000)
    detector = NoveltyDetector(random_state=1)
    with pytest.raises(
        ValueError,
        match=r"^15 classes with [\d,]+ words and pairs need about \d+ MB of memory, and 1 MB are "
        r"free: pass (max_features=\d+, or )?fewer classes or documents\.$",
    ):
        detector.fit(*sample)
    assert not hasattr(detector, "scorer_")


def test_the_advice_helps(sample, monkeypatch):
    texts, _ = sample
    vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2)).fit(texts)
    terms = np.array(list(vectorizer.vocabulary_), dtype=object)
    room = learning._needed(terms, vectorizer.document_frequencies_, 15, 40) * 3 // 4
    monkeypatch.setattr(learning, "available_memory", lambda: room)
    with pytest.raises(ValueError, match="max_features=") as refused:
        check_memory(vectorizer, 15, 40)
    fewer = int(str(refused.value).split("max_features=")[1].split(",")[0])
    vectorizer = TextVectorizer(stop_words=None, ngram_range=(1, 2), max_features=fewer)
    check_memory(vectorizer.fit(texts), 15, 40)


def test_learning_more_is_refused_too_and_the_detector_stays(sample, monkeypatch):
    detector = NoveltyDetector(random_state=1, n_clauses=4, epochs=1).fit(*sample)
    before = detector.novelty(["pay my bill"])
    monkeypatch.setattr(learning, "available_memory", lambda: 1_000_000)
    with pytest.raises(ValueError, match="16 classes with"):
        detector.partial_fit(["what is the exchange rate"] * 3, ["exchange_rate"] * 3)
    assert np.array_equal(detector.novelty(["pay my bill"]), before)
    assert len(detector.classes_) == 15


def test_5000_classes_need_what_is_stated():
    """5,000 classes, 20,000 words and 100,000 pairs: words and classes decide."""
    needed = memory_needed(
        5000,
        120_000,
        n_words=20_000,
        n_ngrams=30_000,
        n_entries=10_000_000,
        n_automata=2 * 5000 * 40 * 20_000,
    )
    assert 20e9 < needed < 25e9
    fewer = memory_needed(
        5000,
        10_000,
        n_words=5000,
        n_ngrams=30_000,
        n_entries=10_000_000,
        n_automata=2 * 5000 * 10 * 5000,
    )
    assert fewer < 4e9


def test_one_class_needs_little(monkeypatch):
    monkeypatch.setattr(learning, "available_memory", lambda: 50_000_000)
    texts = [f"pay bill{i % 97} card{i % 89}" for i in range(5000)]
    NoveltyDetector(random_state=1).fit(texts)


def test_the_system_says_how_much_memory_is_free(monkeypatch, tmp_path):
    free = available_memory()
    assert free is None or free > 10_000_000
    monkeypatch.setattr(learning, "_CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("3000000\n")
    (tmp_path / "memory.current").write_text("1000000\n")
    assert available_memory() == 2_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert available_memory() != 2_000_000


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak is read on Linux")
def test_the_estimate_is_not_exceeded():
    """Learn 600 classes in a process of its own, and compare its peak with the estimate."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED], capture_output=True, text=True, check=True
    )
    used, estimate = json.loads(done.stdout)
    assert used < 1.1 * estimate
    assert used > 0.2 * estimate  # the estimate is not far too high either
