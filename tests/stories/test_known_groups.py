"""Without labels: groups of known documents, found and named, whose rules explain texts."""

import numpy as np
import pyarrow as pa
import pytest

import newfound
from model_files import changed
from newfound import NoveltyDetector
from newfound.scale.scoring import score_batch
from newfound.serve.library import score_texts

ASKED = [
    "how do i pay my phone bill",
    "how tall is the eiffel tower",
    "please freeze my account",
    "",
]


@pytest.fixture(scope="module")
def detector(sample):
    return NoveltyDetector(random_state=1).fit(sample[0][::2])


def test_an_explanation_without_labels_has_rules(detector, sample):
    assert detector.classes_.tolist() == ["known"]
    verdicts = [detector.explain(text) for text in sample[0][1:200:2]]
    assert np.mean([any(rule.plain for rule in verdict.rules) for verdict in verdicts]) > 0.9
    verdict = detector.explain("how do i pay my phone bill")
    assert "pay" in verdict.nearest_group.split(", ")
    assert {rule.class_name for rule in verdict.rules} == {verdict.nearest_group}
    assert any(f"for {verdict.nearest_group}: pay" in line for line in verdict.lines())
    assert verdict.to_dict()["nearest_group"] == verdict.nearest_group
    assert detector.explain("").nearest_group is None


def test_without_classes_no_class_is_named(detector, sample, tmp_path):
    texts = [sample[0][1], "how do i pay my phone bill", *sample[2][:5], "?!", "zyxw vuts"]
    for text in texts:
        verdict = detector.explain(text)
        said = " ".join([verdict.sentence, verdict.summary(), *verdict.lines()])
        assert "class" not in said and "like *known*" not in said and "of known;" not in said
        assert not any("class" in mark.title for mark in verdict.marks())
        data = verdict.to_dict()
        assert data["nearest"] is None and data["decided_by"] is None
    known = detector.explain("how do i pay my phone bill")
    assert f"; nearest group of known documents: {known.nearest_group}" in known.summary()
    assert known.sentence.startswith("Known: like known documents: ")
    assert "nearest" not in detector.explain("zyxw vuts").summary()
    found = detector.detect(texts, describe=False)
    assert set(found["nearest"].tolist()) == {None}
    assert "Known: like known documents." in found["why"].tolist()
    assert {row["nearest"] for row in score_texts(detector, texts)} == {None}
    for reasons in (True, False):
        batch = pa.record_batch({"text": texts})
        scored = score_batch(batch, detector, reasons=reasons).column("nearest")
        assert scored.type == pa.string() and scored.null_count == len(texts)
    found.report(tmp_path / "page.html")
    assert '"nearest":"' not in (tmp_path / "page.html").read_text("utf-8")


def test_a_single_class_that_has_a_name_is_named(sample):
    detector = NoveltyDetector(random_state=1).fit(
        sample[0][::5], ["banking"] * len(sample[0][::5])
    )
    verdict = detector.explain("how do i pay my phone bill")
    assert verdict.summary().endswith("; nearest class: banking")
    assert verdict.to_dict()["nearest"] == "banking"
    assert detector.detect(sample[0][1:3], describe=False)["nearest"].tolist() == ["banking"] * 2


def test_groups_follow_the_intents_that_the_detector_was_not_told(detector, sample):
    from sklearn.metrics import adjusted_rand_score

    texts, labels, _ = sample
    groups = detector.scorer_.groups
    matrix = detector.scorer_.read(texts[1::2]).matrix
    codes = [groups.rules.nearest(row.indices) for row in matrix]
    assert 5 <= len(set(groups.names)) == len(groups.names) <= 30
    assert adjusted_rand_score(labels[1::2], codes) > 0.3


def test_the_rules_of_groups_do_not_change_the_novelty(detector):
    for text, novelty in zip(ASKED, detector.novelty(ASKED), strict=True):
        verdict = detector.explain(text)
        added = verdict.baseline + sum(word.contribution for word in verdict.words)
        assert added == pytest.approx(novelty, abs=1e-9)
        assert verdict.parts["rules"] == 0 == verdict.parts["margin"]
        assert not detector.rule_votes([text]).any()


def test_the_same_seed_finds_the_same_groups(detector, sample):
    again = NoveltyDetector(random_state=1).fit(sample[0][::2])
    assert again.scorer_.groups.names == detector.scorer_.groups.names
    for text in ASKED:
        assert again.explain(text).rules == detector.explain(text).rules


def test_labels_need_no_groups(sample):
    texts, labels, _ = sample
    labelled = NoveltyDetector(random_state=1, n_clauses=4, epochs=1).fit(texts[::4], labels[::4])
    assert labelled.scorer_.groups is None
    assert labelled.explain(ASKED[0]).nearest_group is None


def test_a_file_keeps_the_groups(detector, tmp_path):
    detector.save(tmp_path / "d.nf")
    loaded = newfound.load(tmp_path / "d.nf")
    for text in ASKED:
        assert loaded.explain(text).to_dict() == detector.explain(text).to_dict()
    loaded.partial_fit(["what is the exchange rate for yen"] * 5)
    assert loaded.scorer_.groups.names == detector.scorer_.groups.names
    assert loaded.explain(ASKED[0]).rules == detector.explain(ASKED[0]).rules


def test_groups_that_do_not_fit_are_refused(detector):
    state = detector.to_state()
    for name, change in (
        ("groups.names", lambda names: names[:-1]),
        ("groups.names", lambda names: [*names[:-1], 3]),
        ("groups.names", lambda names: names[:1]),
        ("groups.words", lambda words: words + 10**6),
    ):
        with pytest.raises(ValueError, match="in the field groups"):
            NoveltyDetector.from_state(changed(state, name, change))


def test_documents_that_are_all_alike_still_have_rules():
    texts = ["pay my bill", "pay my card", "check my bill", "check my card"] * 10
    detector = NoveltyDetector(random_state=1, alpha=0.2).fit(texts)
    assert len(detector.scorer_.groups.names) >= 2
    assert detector.explain("pay my bill").nearest_group in detector.scorer_.groups.names
