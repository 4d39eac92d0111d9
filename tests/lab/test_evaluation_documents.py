"""The suites for detection: baselines, deletion, and every suite on a small corpus."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score as auroc
from typer.testing import CliRunner

import newfound
from lab.__main__ import app
from lab.datasets import LabelledDocuments
from lab.evaluate import DOCUMENT_SUITES, WORD_SUITES
from lab.evaluation import documents, sentences, words
from lab.evaluation.deletion import deletion
from lab.evaluation.document_baselines import DOCUMENT_BASELINES, DocumentBaselines
from lab.evaluation.documents import SUITES, Setting, false_alarms
from lab.evaluation.suites import run_suites
from newfound import NoveltyDetector

MARKS = {"20newsgroups-each": "quality", "meaning": "slow", "groups": "quality", "bbcsport": "slow"}

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


@pytest.fixture
def small_corpora(sample, monkeypatch):
    """Let the suites run on parts of the sample, in the form of the corpora that they load."""
    texts, labels, novel = sample
    kept = np.isin(labels, ["routing", "pay_bill", "balance", "transfer", "report_fraud"])
    texts, labels = [t for t, keep in zip(texts, kept, strict=True) if keep], labels[kept]
    splits = np.resize(["train", "train", "train", "val", "test"], len(texts))
    requests = LabelledDocuments(
        (*texts, *novel[:60]),
        tuple(map(str, range(len(texts) + 60))),
        (*labels, *["oos"] * 60),
        splits=(*splits, *["test"] * 60),
    )
    groups = replace(requests, splits=tuple("train" if s == "val" else s for s in requests.splits))
    monkeypatch.setattr(documents, "load_clinc150", lambda path: requests)
    monkeypatch.setattr(documents, "load_bbcsport", lambda path: groups)
    monkeypatch.setattr(documents, "load_20newsgroups", lambda path: groups)
    monkeypatch.setattr(documents, "PAPER_KNOWN", ("routing", "balance"))
    monkeypatch.setattr(documents, "PAPER_NOVEL", "oos")
    monkeypatch.setattr(documents, "N_KNOWN_GROUPS", 3)
    monkeypatch.setattr(documents, "BBC_SEEDS", 1)
    monkeypatch.setattr(documents, "N_GROUPS_WITH_MEANING", 1)
    monkeypatch.setattr(documents, "UNSEEN_DRAWS", 2)
    monkeypatch.setattr(documents, "REASON_DRAWS", 1)
    monkeypatch.setattr(documents, "SENTENCE_DRAWS", 1)
    for name, value in (("N_GROUPS", 2), ("WORDS", (3, 40)), ("LEAST", 1), ("N_DOCUMENTS", 20)):
        monkeypatch.setattr(sentences, name, value)
    monkeypatch.setattr(documents, "N_DELETION_TEXTS", 10)
    monkeypatch.setattr(
        documents, "FALSE_ALARM_SIZES", {"CLINC150": (300, 100), "BBC Sport": (300, 100)}
    )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=getattr(pytest.mark, MARKS[name]) if name in MARKS else ())
        for name in SUITES
    ],
)
def test_every_suite_runs_on_a_small_corpus(name, small_corpora):
    if name == "groups" and not os.environ.get("NEWFOUND_DATA"):
        pytest.skip("NEWFOUND_DATA does not name the folder with the corpora")  # 15 intents
    table, seconds = run_suites(SUITES, Setting(splits=2), [name])[name]
    assert seconds > 0 and len(table) >= (2 if name == "groups" else 3)
    for row in table:
        for column, value in row.items():
            if column == "AUROC, rules alone" and row["scorer"] != "newfound":
                assert value is None
            elif "AUROC" in column or column in (
                "recall at 5 %",
                "false alarms",
                "rate",
                "flipped",
            ):
                assert 0 <= value <= 1
    if name in ("clinc150", "20newsgroups", "20newsgroups-each", "bbcsport"):
        assert table["scorer"].tolist() == ["newfound", *DOCUMENT_BASELINES]


@pytest.mark.parametrize("name", ["clinc150", "20newsgroups"])
def test_baselines_can_be_left_out(name, small_corpora):
    table = SUITES[name](Setting(baselines=False))
    assert table["scorer"].tolist() == ["newfound"]


def test_unseen_intents_are_open_and_published_figures_are_beside_ours(small_corpora):
    rows = list(documents.unseen_intents(Setting()))
    ours = [row for row in rows if row["scorer"].startswith("newfound")]
    assert [row["known intents"] for row in ours] == [0.25] * 3 + [0.5] * 3 + [0.75] * 3
    half = {row["scorer"]: row for row in ours if row["known intents"] == 0.5}
    strict, loose = half["newfound, alpha=0.05"], half["newfound, alpha=0.15"]
    assert strict["F1 open"] > 0.5 and strict["F1 known"] > 0.5
    assert strict["F1 open, sd"] > 0
    # Which is higher depends on the corpus: a loose alpha refuses more of both.
    assert strict["F1 known"] != loose["F1 known"] and strict["F1 open"] != loose["F1 open"]
    by_alpha = [
        [r["F1 known"] for r in ours if r["scorer"].endswith(a)] for a in ("=0.05", "=0.15")
    ]
    assert by_alpha[0] != by_alpha[1]
    published = {row["scorer"]: row["F1 open"] for row in rows if "published" in row["scorer"]}
    assert published["ADB (BERT, published)"] == 0.849


def test_the_command_writes_a_page_and_json(small_corpora, tmp_path):
    given = ["evaluate", "documents", "20newsgroups", "-o", str(tmp_path / "kept"), "--quiet"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 0, done.output
    page = (tmp_path / "kept.md").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert page.strip() == done.stdout.strip()
    assert "C of logistic regression and of LinearSVC is chosen by 3-fold" in page
    assert results["date"] in page and results["command"] in page
    rows = results["suites"]["20newsgroups"]["rows"]
    for row in rows:
        assert f"| {row['scorer']} | {row['AUROC']:.4f} |" in page


@pytest.mark.quality
@needs_data
def test_false_alarms_are_counted_on_fresh_documents():
    table = false_alarms(Setting(splits=4, say=lambda what: None))
    assert table["alpha"].tolist() == [0.01, 0.05, 0.1] * 2
    assert (np.abs(table["rate"] - table["alpha"]) < 0.06).all()


def test_a_suite_that_is_not_there_is_refused():
    code = "from lab.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "evaluate", "documents", "nothing"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is none of clinc150" in " ".join(done.stderr.replace("│", " ").split())
    assert tuple(SUITES) == DOCUMENT_SUITES and tuple(words.SUITES) == WORD_SUITES
