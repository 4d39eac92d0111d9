"""The detector at its limits: broken-off learning, huge texts, ties, small classes, one by one."""

import copy
import csv

import numpy as np
import pytest

import newfound
from lab.evaluation.deletion import needs_at_most_as_many
from newfound import NoveltyDetector
from newfound.detection import attribution
from newfound.detection.calibration import PARTS, Calibration, share_of_new
from newfound.detection.scoring import Scorer
from newfound.rules import weighted
from newfound.text.tokens import words_and_breaks


@pytest.fixture(scope="module")
def sample():
    known, novel = newfound.load_sample()
    return list(known.texts[::4]), np.array(known.labels[::4]), list(novel.texts)


@pytest.fixture(scope="module")
def fitted(sample):
    return NoveltyDetector(random_state=1, n_clauses=6, epochs=2).fit(*sample[:2])


@pytest.fixture
def detector(fitted):
    return copy.deepcopy(fitted)


def test_learning_that_is_refused_or_broken_off_leaves_the_detector_as_it_was(
    detector, sample, monkeypatch
):
    texts, labels, novel = sample
    before = detector.novelty(novel[:20])
    votes = detector.rule_votes(novel[:20])

    def unharmed():
        assert set(detector.classes_) == set(labels)
        assert np.array_equal(detector.novelty(novel[:20]), before)
        assert np.array_equal(detector.rule_votes(novel[:20]), votes)
        assert len(detector.calibration_) == len(detector.held_back_texts_)

    with pytest.raises(ValueError, match="Nothing is left after cleaning"):
        detector.fit(["?!"] * 100, ["other", "more"] * 50)
    unharmed()

    def interrupted(self, texts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Scorer, "score_texts", interrupted)  # held-back documents are scored last
        with pytest.raises(KeyboardInterrupt):
            detector.fit(novel[:100], ["other", "more"] * 50)
        with pytest.raises(KeyboardInterrupt):
            detector.partial_fit([*texts[:30], *novel[:30]], [*labels[:30], *["travel"] * 30])
    unharmed()


def test_one_huge_message_does_not_stop_the_others_from_being_detected(detector, sample, tmp_path):
    huge = "zyxw vutsr qponm lkjih " * 50_000
    assert len(huge) > 1_000_000
    found = detector.detect([huge, *sample[2][:8]], describe=False)
    assert found["novel"][0] and found["why"][0] == "too long to explain"
    assert "too long" not in " ".join(found["why"][1:])
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "too long to explain" in page and len(page) < len(huge)


def test_a_class_called_novel_is_refused(detector, sample):
    texts, labels, _ = sample
    message = "y has a class 'novel', which stands for what is new; rename it"
    with pytest.raises(ValueError, match=message):
        NoveltyDetector().fit(texts, np.where(labels == labels[0], "novel", labels))
    with pytest.raises(ValueError, match=message):
        detector.partial_fit(texts[:3], ["novel"] * 3)


def test_an_explanation_never_disagrees_with_the_prediction_even_at_ties(detector, sample):
    texts = [*detector.held_back_texts_, *sample[2][:30]]  # held-back scores are where ties are
    novelty, p, labels = detector.novelty(texts), detector.p_values(texts), detector.predict(texts)
    for i, text in enumerate(texts):
        verdict = detector.explain(text)
        assert (verdict.novelty, verdict.p_value) == (novelty[i], p[i])
        assert (verdict.verdict == "novel") == (labels[i] == "novel")


def test_a_text_is_read_for_its_explanation_as_among_others(detector, sample, monkeypatch):
    odd = ["", "?!", "zyxw", "pay. pay, my\n\nbill - zyxw vuts", "l'été naïve 6-4", "my my my card"]
    texts = [*sample[0][:30], *sample[2][:30], *odd]
    read, score = detector.scorer_.read(texts), Scorer.score
    alone = []
    monkeypatch.setattr(Scorer, "score", lambda self, bags: alone.append(bags) or score(self, bags))
    for i, text in enumerate(texts):
        detector.explain(text)
        bag, among = alone.pop(), read.part(i, i + 1)
        for name in ("indptr", "indices", "n_words", "n_pairs", "unseen_words", "unseen_pairs"):
            assert np.array_equal(getattr(bag, name), getattr(among, name)), (text, name)
        unseen = [among.unseen_terms[place] for place in among.unseen_places]
        assert [bag.unseen_terms[place] for place in bag.unseen_places] == unseen
        assert np.array_equal(bag.unseen_rows, among.unseen_rows)


def test_explanations_do_not_depend_on_those_before(detector, sample, monkeypatch):
    texts = [*sample[0][:20], *sample[2][:20]]
    before = [detector.explain(text) for text in texts]
    assert [detector.explain(text) for text in reversed(texts)] == before[::-1]
    monkeypatch.setattr(weighted, "_MAX_MADE", 0)  # no rule is kept
    assert [copy.deepcopy(detector).explain(text) for text in texts] == before


def test_no_constant_decides_and_a_word_counts_against_what_its_weight_leads_to_expect(
    detector, sample
):
    for text in [*sample[0][:20], *sample[2][:20], "pay pay bill zyxw bill", "zyxw", "bill"]:
        verdict = detector.explain(text)
        assert abs(verdict.baseline) < 1e-9, text
    assert detector.explain("?!").baseline == detector.novelty(["?!"])[0]
    scorer = detector.scorer_
    verdict = detector.explain("bill")  # a single word adds what the text has
    assert verdict.words[0].contribution == pytest.approx(verdict.novelty)
    # What the text lacks is shared by its words as they weigh.
    terms = attribution.Terms(scorer, words_and_breaks("zyxw pay"))
    columns = np.array([j for j in terms.words.values() if j >= 0])
    weights = [scorer.statistics.evidence[columns[0]], scorer.statistics.unseen_evidence]
    one = np.eye(len(PARTS))[PARTS.index("surprise")]
    found = attribution.contributions(scorer, terms, 0, np.zeros(len(PARTS)), [])
    more = attribution.contributions(scorer, terms, 0, one, [])
    lacks = {word: more[word] - found[word] for word in found}
    assert lacks["zyxw"] / lacks["pay"] == pytest.approx(weights[1] / weights[0])
    assert sum(lacks.values()) == pytest.approx(1)


def test_what_was_not_tried_is_not_claimed_and_long_texts_take_bounded_time(detector, monkeypatch):
    short = detector.explain("zyxw vuts")
    assert "would stay novel unless all its words were removed" in short.to_terminal(colour=False)
    words = [f"zyxw{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(120)]
    many = detector.explain(" ".join(words))
    assert many.counterfactual is None
    said = many.to_terminal(colour=False)
    assert "would stay novel without 60 words" in said and "unless all" not in said
    scored = 0
    read = detector.scorer_.read

    def counted(texts):
        nonlocal scored
        scored += sum(map(len, texts))
        return read(texts)

    monkeypatch.setattr(detector.scorer_, "read", counted)
    long = detector.explain(" ".join(words * 120))
    assert len(long.text) > 100_000
    said = long.to_terminal(colour=False)
    assert "would stay novel without" in said and "without 60" not in said
    assert scored < 11_000_000


@pytest.mark.parametrize("n_held_back", [19, 60, 200, 1000])
def test_the_interval_of_the_share_of_new_holds_whatever_number_is_held_back(n_held_back):
    rng = np.random.RandomState(n_held_back)
    nearest, covered = np.zeros(1000, int), 0
    for _ in range(300):
        calibration = Calibration(rng.randn(n_held_back), nearest[:n_held_back], 0.05)
        scores = np.concatenate((rng.randn(700), np.full(300, 9.0)))
        found = share_of_new(calibration.p_values(scores, nearest), n_held_back)
        covered += found.low <= 0.3 <= found.high
    assert 0.8 <= covered / 300 <= 0.98


def test_the_interval_of_a_detection_counts_the_documents_held_back(detector, sample):
    found = detector.detect([*sample[0][:40], *sample[2][:20]], describe=False, group=False)
    exact, told = share_of_new(found["p_value"]), found.share
    assert told == share_of_new(found["p_value"], len(detector.calibration_))
    assert told.high - told.low > exact.high - exact.low


def test_a_text_that_nobody_makes_known_is_no_win():
    won = needs_at_most_as_many([2, None, 3, None], [2, None, 1, 4], np.array([5, 5, 5, 5]))
    assert won.tolist() == [True, False, False, False]


@pytest.mark.slow
def test_documents_that_come_one_at_a_time_are_held_back_as_those_that_come_at_once(
    sample,
):
    texts, labels, _ = sample
    detector = NoveltyDetector(n_clauses=4, epochs=1, random_state=0)
    detector.fit(texts[100:], labels[100:])
    at_once = copy.deepcopy(detector).partial_fit(texts[:100], labels[:100])
    before = detector.n_documents_["held_back"]
    assert 8 <= at_once.n_documents_["held_back"] - before <= 34  # 20, give or take 3.5 sigma
    for text, label in zip(texts[:60], labels[:60], strict=True):
        detector.partial_fit([text], [label])
    held_back = detector.n_documents_["held_back"]
    assert 2 <= held_back - before <= 23  # 12, give or take 3.5 sigma
    assert sum(detector.n_documents_.values()) == len(texts) - 40


def test_batches_of_one_size_hold_back_other_places(sample):
    texts, labels, _ = sample
    detector = NoveltyDetector(n_clauses=4, epochs=1, random_state=0)
    detector.fit(texts[120:], labels[120:])
    places = []
    for start in (0, 40, 80):
        before, some = len(detector.held_back_texts_), slice(start, start + 40)
        detector.partial_fit(texts[some], labels[some])
        new = detector.held_back_texts_[before:]
        places.append(tuple(texts.index(text) - start for text in new))
    assert len(set(places)) == 3


def test_the_first_document_of_a_new_class_is_learned_from(fitted):
    detector = copy.deepcopy(fitted)
    for name in ("lamp", "sofa", "tree", "fish", "moon", "rain", "shoe", "bell"):
        detector.partial_fit([f"zyxw vuts {name}"], [name])
        assert detector.nearest([f"vuts {name} zyxw"])[0] == name


def test_a_detector_from_a_file_goes_on_as_the_one_that_was_saved(detector, sample, tmp_path):
    texts, labels, novel = sample
    detector.save(tmp_path / "bare.nf")
    detector.save(tmp_path / "asked.nf", with_automata=True)  # it has none to give
    grown = [newfound.load(tmp_path / f"{name}.nf") for name in ("bare", "asked")]
    more, codes = [*texts[:30], *novel[:30]], [*labels[:30], *["travel"] * 30]
    detector.partial_fit(more, codes)
    for other in grown:
        other.partial_fit(more, codes)
        assert np.array_equal(other.rule_votes(novel), detector.rule_votes(novel))
        assert np.array_equal(other.novelty(novel), detector.novelty(novel))
    assert detector.rule_votes(novel[30:60])[:, detector.classes_ == "travel"].any()


def test_a_detection_written_from_python_has_no_formulas_either(detector, tmp_path):
    found = detector.detect(["=1+1 zyxw evil", "+pay my bill", "pay my bill"], describe=False)
    found.to_csv(tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["text"] for row in rows] == ["'=1+1 zyxw evil", "'+pay my bill", "pay my bill"]
    assert [float(row["novelty"]) for row in rows] == found["novelty"].tolist()


def test_other_columns_have_a_value_for_each_document(detector):
    found = detector.detect(["pay my bill", "book a flight"], describe=False)
    assert found.with_columns({"id": [7, 8], "group": [1, 2]})["id"].tolist() == [7, 8]
    for values in ([7], [7, 8, 9]):
        with pytest.raises(ValueError, match=f"'id' has {len(values)} values for 2 documents"):
            found.with_columns({"id": values})
