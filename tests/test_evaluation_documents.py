"""The benchmarks of detection: baselines, deletion, and the suites that are quick."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score as auroc

import newfound
from newfound import NoveltyDetector
from newfound.cli.evaluate import DOCUMENT_SUITES
from newfound.lab.evaluation.deletion import deletion
from newfound.lab.evaluation.document_baselines import DOCUMENT_BASELINES, DocumentBaselines
from newfound.lab.evaluation.documents import SUITES, Setting, false_alarms

needs_data = pytest.mark.skipif("NEWFOUND_DATA" not in os.environ, reason="NEWFOUND_DATA is unset")


@pytest.fixture(scope="module")
def sample():
    known, novel = newfound.load_sample()
    return list(known.texts), np.array(known.labels), list(novel.texts)


@pytest.mark.parametrize("name", DOCUMENT_BASELINES)
def test_each_baseline_scores_new_requests_higher(sample, name):
    texts, labels, novel = sample
    baselines = DocumentBaselines(texts[::4], labels[::4], stop_words=False)
    known, new = (
        DOCUMENT_BASELINES[name](baselines, texts[1:400:4]),
        DOCUMENT_BASELINES[name](baselines, novel[:100]),
    )
    area = auroc(np.repeat([False, True], [len(known), len(new)]), np.concatenate((known, new)))
    assert area > (0.5 if "local outlier factor" in name else 0.75)  # it goes by density


def test_with_two_classes_the_side_of_a_decision_does_not_matter():
    texts = ["pay bill", "pay card", "book flight", "book hotel"] * 3
    baselines = DocumentBaselines(texts, [0, 0, 1, 1] * 3, stop_words=False)
    known = baselines.word_svm(["pay bill", "book flight"])
    assert (known < baselines.word_svm(["zyxw"])).all()


def test_the_deletion_test_counts_words(sample):
    texts, labels, novel = sample
    detector = NoveltyDetector(random_state=1).fit(texts[::2], labels[::2])
    table = deletion(detector, novel[:30], say=lambda what: None)
    rows = {row["words"]: row for row in table}
    ours = rows["newfound, counterfactual"]
    assert ours["flipped"] >= 0.9
    assert ours["mean words"] <= rows["newfound, by contribution"]["mean words"]
    assert ours["mean words"] < rows["random words, 1"]["mean words"]


@pytest.mark.slow
@needs_data
def test_false_alarms_are_counted_on_fresh_documents():
    table = false_alarms(Setting(splits=2, say=lambda what: None))
    assert table["alpha"].tolist() == [0.01, 0.05, 0.1] * 2
    assert (np.abs(table["rate"] - table["alpha"]) < 0.06).all()


def test_a_suite_that_is_not_there_is_refused():
    code = "from newfound.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", "documents", "nothing"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is none of clinc150" in " ".join(done.stderr.replace("│", " ").split())
    assert tuple(SUITES) == DOCUMENT_SUITES
